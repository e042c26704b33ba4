//! Rules about accesses: the stages that make them, the values that they clear to, and writes to tile attachments.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

use super::accepted::Accepted;
use super::rule::{NOT_SUPPORTED, Problem, Rule, Rules, Subject};
use super::stages::{listed, unknown_stages};
use crate::frame::tables::{Access, Pass, PassKind, Resource};
use crate::frame::{AccessKind, ClearValue, LoadOp};
use tileheap_device::scopes;

/// An access with its pass and resource.
pub(super) struct Use<'a> {
    pub(super) pass: &'a Pass,
    pub(super) resource: &'a Resource,
    pub(super) access: &'a Access,
}

impl Use<'_> {
    /// The value that the access clears to; `None` if it does not clear.
    pub(super) fn clears_to(&self) -> Option<ClearValue> {
        match self.access.load_op {
            LoadOp::Clear(value) => Some(value),
            LoadOp::Load | LoadOp::DontCare => None,
        }
    }

    /// The format of the access's view.
    fn format(&self) -> vk::Format {
        self.access.view.format.unwrap_or(self.resource.format())
    }
}

impl Subject for Use<'_> {
    fn words(&self) -> String {
        let kind = if self.resource.is_image() {
            "image"
        } else {
            "buffer"
        };
        format!("pass `{}` uses {kind} `{}`", self.pass.name, self.resource.name)
    }
}

/// The properties of an access that the rules of this module and the rules about stages depend on. Tile attachments have none: their rules depend on more.
#[derive(Clone, Copy, PartialEq)]
struct UseProperties {
    pass: PassKind,
    tile_shading: bool,
    stages: S,
    access: A,
    /// For an access that clears, the value, and the format of the view.
    clear: Option<(ClearValue, vk::Format)>,
}

impl UseProperties {
    /// The properties of an access; `None` if rules depend on more than these.
    fn of(used: &Use<'_>) -> Option<UseProperties> {
        (used.access.kind != AccessKind::TileAttachment).then(|| UseProperties {
            pass: used.pass.kind,
            tile_shading: used.pass.tile_shading,
            stages: used.access.stages,
            access: used.access.flags(),
            clear: used.clears_to().map(|value| (value, used.format())),
        })
    }

    /// A hash: bits that differ for most pairs of different properties.
    fn bits(&self) -> u64 {
        let format = self.clear.map_or(0, |(_, format)| format.as_raw() as u64);
        let access = self.access.as_raw().rotate_left(29);
        self.stages.as_raw() ^ access ^ format << 40 ^ self.pass as u64
    }
}

/// A cache of accepted accesses.
#[derive(Default)]
pub(super) struct AcceptedUses(Accepted<UseProperties>);

impl AcceptedUses {
    /// Returns `true` if an access with the same properties was accepted.
    pub(super) fn contains(&self, used: &Use<'_>) -> bool {
        UseProperties::of(used).is_some_and(|own| self.0.contains(own.bits(), &own))
    }

    pub(super) fn add(&mut self, used: &Use<'_>) {
        if let Some(own) = UseProperties::of(used) {
            self.0.add(own.bits(), own);
        }
    }
}

pub(super) static USES: &Rules<fn(&Use<'_>) -> Problem> = &[
    Rule {
        rule: NOT_SUPPORTED,
        broken: |used| unknown_stages(used.access.stages),
    },
    Rule {
        rule: "VUID-VkRenderPassCreateInfo2-pDependencies-03054",
        broken: |used| {
            let graphics = scopes::expand(S::ALL_GRAPHICS) | S::ALL_GRAPHICS | S::ALL_COMMANDS;
            let tiles = if used.pass.tile_shading {
                S::COMPUTE_SHADER
            } else {
                S::NONE
            };
            let other = used.access.stages
                & !(graphics | tiles | ENDS | S::VERTEX_INPUT | S::PRE_RASTERIZATION_SHADERS);
            (used.pass.kind == PassKind::Render && !other.is_empty())
                .then(|| format!("render passes cannot use {}", listed(other)))
        },
    },
    Rule {
        rule: "section \"Pipeline Stages\"",
        broken: |used| {
            let (commands, allowed) = match used.pass.kind {
                PassKind::Render => return None,
                PassKind::Compute => ("compute passes", COMPUTE | TRANSFERS),
                PassKind::Transfer => ("transfer passes", TRANSFERS),
            };
            let other = used.access.stages & !(allowed | ENDS | S::ALL_COMMANDS);
            (!other.is_empty()).then(|| format!("{commands} cannot use {}", listed(other)))
        },
    },
    Rule {
        rule: "section \"Clear Values\"",
        broken: |used| {
            let (value, format) = (used.clears_to()?, used.format());
            let wanted = ClearValue::zero_of(format);
            let fits = match (wanted, value) {
                // The bits are the same.
                (ClearValue::Uint(_), ClearValue::Int(values)) => values.iter().all(|value| *value >= 0),
                (ClearValue::Int(_), ClearValue::Uint(values)) => {
                    values.iter().all(|value| *value <= i32::MAX as u32)
                }
                _ => std::mem::discriminant(&value) == std::mem::discriminant(&wanted),
            };
            let word = match wanted {
                ClearValue::Float(_) => "float",
                ClearValue::Int(_) => "int",
                ClearValue::Uint(_) => "uint",
                ClearValue::DepthStencil(..) => "depth_stencil",
            };
            // As in JSON, such as `{"float":[0.0,0.0,0.0,1.0]}`.
            let given = serde_json::to_string(&value).unwrap_or_default();
            // Zero has the same bits in every type.
            (!fits && value != ClearValue::ZERO)
                .then(|| format!("format {format:?} needs a clear value of type `{word}`, not {given}"))
        },
    },
    Rule {
        rule: "VUID-vkCmdDispatch-aspectMask-10673",
        broken: |used| {
            let written = used.access.writes && used.access.kind == AccessKind::TileAttachment;
            let color = used.resource.aspects().contains(vk::ImageAspectFlags::COLOR);
            (written && !color)
                .then(|| "shaders cannot write tile attachments that have depth or stencil".to_owned())
        },
    },
    Rule {
        rule: "section \"Tile Attachment Interface\"",
        broken: |used| {
            let written = used.access.writes && used.access.kind == AccessKind::TileAttachment;
            let dispatched = used.access.stages.contains(S::COMPUTE_SHADER);
            (written && !dispatched).then(|| {
                "only dispatches can write a tile attachment: use the stage COMPUTE_SHADER".to_owned()
            })
        },
    },
];

/// The stages `TOP_OF_PIPE` and `BOTTOM_OF_PIPE`, where no work is done.
const ENDS: S = S::from_raw(S::TOP_OF_PIPE.as_raw() | S::BOTTOM_OF_PIPE.as_raw());

/// The stages of copies, clears and acceleration structure commands.
const TRANSFERS: S = S::from_raw(
    S::ALL_TRANSFER.as_raw()
        | S::COPY.as_raw()
        | S::RESOLVE.as_raw()
        | S::BLIT.as_raw()
        | S::CLEAR.as_raw()
        | S::ACCELERATION_STRUCTURE_COPY_KHR.as_raw(),
);

/// The stages of dispatches, ray tracing and the commands that prepare them.
const COMPUTE: S = S::from_raw(
    S::COMPUTE_SHADER.as_raw()
        | S::DRAW_INDIRECT.as_raw()
        | S::RAY_TRACING_SHADER_KHR.as_raw()
        | S::ACCELERATION_STRUCTURE_BUILD_KHR.as_raw()
        | S::CONDITIONAL_RENDERING_EXT.as_raw()
        | S::COMMAND_PREPROCESS_NV.as_raw()
        | S::MICROMAP_BUILD_EXT.as_raw(),
);
