//! Tile shading rules that depend on the device: which attachments shaders may access in their tile, and at which stages.

use ash::vk::{ImageAspectFlags as Aspects, PipelineStageFlags2 as S};

use super::accesses::Use;
use super::device::lacks;
use super::passes::RenderPass;
use super::rule::{Problem, Rule, Rules};
use crate::frame::AccessKind;
use crate::frame::tables::{Access, Pass};
use crate::profile::{DeviceProfile, OptionalFeatures as Feature};

/// Returns `true` if shaders may make an access within their tile: the rules here apply to no other access.
pub(super) fn accesses_tile(pass: &Pass, access: &Access) -> bool {
    pass.tile_shading || access.kind == AccessKind::TileAttachment
}

/// Returns the problem if an access in a pass with tile shading can only be made by dispatches, but the device cannot run dispatches per tile. By default, a
/// tile attachment may be accessed by fragment shaders and by dispatches: the device has to support at least one of them.
fn dispatches(used: &Use<'_>, device: &DeviceProfile) -> Problem {
    let stages = used.access.stages;
    let either = used.access.kind == AccessKind::TileAttachment
        && stages == S::FRAGMENT_SHADER | S::COMPUTE_SHADER
        && !device.may_have(Feature::TILE_SHADING_FRAGMENT_STAGE);
    let shader = used.pass.tile_shading && used.access.kind.is_shader();
    let problem = || {
        let user = "a dispatch per tile";
        lacks(device, Feature::TILE_SHADING_PER_TILE_DISPATCH, user)
    };
    // Only dispatches store into tile attachments ("Tile Attachment Interface").
    let stored = used.access.kind == AccessKind::TileAttachment && used.access.writes;
    (shader && (stages == S::COMPUTE_SHADER || stored || either))
        .then(problem)
        .flatten()
}

/// Returns the problem if only fragment shaders access a tile attachment, and the device does not support that.
fn fragments(used: &Use<'_>, device: &DeviceProfile) -> Problem {
    let tile = used.access.kind == AccessKind::TileAttachment;
    let problem = || {
        let user = "access to a tile attachment in fragment shaders";
        lacks(device, Feature::TILE_SHADING_FRAGMENT_STAGE, user)
    };
    (tile && used.access.stages == S::FRAGMENT_SHADER)
        .then(problem)
        .flatten()
}

pub(super) static USES: &Rules<fn(&Use<'_>, &DeviceProfile) -> Problem> = &[
    Rule {
        rule: "VUID-vkCmdDispatch-None-10674",
        broken: dispatches,
    },
    Rule {
        rule: "VUID-RuntimeSpirv-TileShadingQCOM-10699",
        broken: fragments,
    },
];

/// Returns true if a pass also attaches the image of a tile attachment as `kind`.
fn attached(pass: &RenderPass<'_>, tile: &Access, kind: AccessKind) -> bool {
    pass.accesses.iter().any(|other| {
        let same = (other.resource, other.version) == (tile.resource, tile.version);
        same && other.kind == kind
    })
}

/// Returns the problem if a pass has a tile attachment of a kind that shaders cannot access on the device.
fn kind_lacks(
    pass: &RenderPass<'_>,
    device: &DeviceProfile,
    (feature, noun): (Feature, &str),
    is_kind: impl Fn(&Access) -> bool,
) -> Problem {
    let tile = |access: &&Access| access.kind == AccessKind::TileAttachment && is_kind(access);
    let found = pass.accesses.iter().find(tile)?;
    let name = pass.name_of(found);
    lacks(device, feature, &format!("{noun} `{name}` as a tile attachment"))
}

/// Like [`kind_lacks`], for an aspect of depth attachments. With both aspects, shaders access depth: a descriptor has one aspect.
fn aspect_lacks(
    pass: &RenderPass<'_>,
    device: &DeviceProfile,
    (feature, noun): (Feature, &str),
    aspect: Aspects,
) -> Problem {
    kind_lacks(pass, device, (feature, noun), |tile| {
        let accessed = match tile.range.aspects.contains(Aspects::DEPTH) {
            true => Aspects::DEPTH,
            false => tile.range.aspects,
        };
        attached(pass, tile, AccessKind::DepthStencilAttachment) && accessed == aspect
    })
}

pub(super) static RENDER_PASSES: &Rules<fn(&RenderPass<'_>, &DeviceProfile) -> Problem> = &[
    Rule {
        rule: "VUID-RuntimeSpirv-OpTypeImage-10707",
        broken: |pass, device| {
            let feature = Feature::TILE_SHADING_COLOR_ATTACHMENTS;
            kind_lacks(pass, device, (feature, "color attachment"), |tile| {
                attached(pass, tile, AccessKind::ColorAttachment)
            })
        },
    },
    Rule {
        rule: "VUID-RuntimeSpirv-OpTypeImage-10708",
        broken: |pass, device| {
            let feature = Feature::TILE_SHADING_DEPTH_ATTACHMENTS;
            aspect_lacks(pass, device, (feature, "depth attachment"), Aspects::DEPTH)
        },
    },
    Rule {
        rule: "VUID-RuntimeSpirv-OpTypeImage-10709",
        broken: |pass, device| {
            let feature = Feature::TILE_SHADING_STENCIL_ATTACHMENTS;
            aspect_lacks(pass, device, (feature, "stencil attachment"), Aspects::STENCIL)
        },
    },
    Rule {
        rule: "VUID-RuntimeSpirv-OpTypeImage-10710",
        broken: |pass, device| {
            let feature = Feature::TILE_SHADING_INPUT_ATTACHMENTS;
            kind_lacks(pass, device, (feature, "input attachment"), |tile| {
                let written = [AccessKind::ColorAttachment, AccessKind::DepthStencilAttachment];
                let written = written.into_iter().any(|kind| attached(pass, tile, kind));
                attached(pass, tile, AccessKind::InputAttachment) && !written
            })
        },
    },
];
