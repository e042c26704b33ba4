//! Rules about buffers.

use ash::vk::BufferUsageFlags as U;

use super::rule::{NOT_SUPPORTED, Problem, Rule, Rules, Subject};
use crate::ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
use crate::frame::Persistence;
use crate::frame::tables::{Resource, ResourceKind};
use crate::names;
use crate::units::Bytes;

/// A buffer of a frame.
pub(super) struct Buffer<'a> {
    name: &'a str,
    pub(super) size: Bytes,
    /// Declared and derived usage.
    pub(super) usage: U,
    /// True if the caller creates it.
    pub(super) is_external: bool,
}

impl<'a> Buffer<'a> {
    /// The buffer of a resource; `None` for images.
    pub(super) fn of(resource: &'a Resource) -> Option<Buffer<'a>> {
        match &resource.kind {
            ResourceKind::Buffer { desc, usage } => Some(Buffer {
                name: &resource.name,
                size: desc.size,
                usage: *usage,
                is_external: matches!(resource.persistence, Persistence::External(_)),
            }),
            ResourceKind::Image { .. } => None,
        }
    }
}

impl Subject for Buffer<'_> {
    fn words(&self) -> String {
        format!("buffer `{}`", self.name)
    }
}

/// The buffer usages that a frame may declare or derive; the planner adds that of tile memory.
pub const BUFFER_USAGES: U = U::from_raw(
    U::TRANSFER_SRC.as_raw()
        | U::TRANSFER_DST.as_raw()
        | U::UNIFORM_TEXEL_BUFFER.as_raw()
        | U::STORAGE_TEXEL_BUFFER.as_raw()
        | U::UNIFORM_BUFFER.as_raw()
        | U::STORAGE_BUFFER.as_raw()
        | U::INDEX_BUFFER.as_raw()
        | U::VERTEX_BUFFER.as_raw()
        | U::INDIRECT_BUFFER.as_raw()
        | U::SHADER_DEVICE_ADDRESS.as_raw()
        | U::CONDITIONAL_RENDERING_EXT.as_raw()
        | U::TRANSFORM_FEEDBACK_BUFFER_EXT.as_raw()
        | U::TRANSFORM_FEEDBACK_COUNTER_BUFFER_EXT.as_raw()
        | U::SHADER_BINDING_TABLE_KHR.as_raw()
        | U::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR.as_raw()
        | U::ACCELERATION_STRUCTURE_STORAGE_KHR.as_raw()
        | U::SAMPLER_DESCRIPTOR_BUFFER_EXT.as_raw()
        | U::RESOURCE_DESCRIPTOR_BUFFER_EXT.as_raw()
        | U::PUSH_DESCRIPTORS_DESCRIPTOR_BUFFER_EXT.as_raw()
        | U::MICROMAP_BUILD_INPUT_READ_ONLY_EXT.as_raw()
        | U::MICROMAP_STORAGE_EXT.as_raw(),
);

pub(super) static USED: &Rules<fn(&Buffer<'_>) -> Problem> = &[
    Rule {
        rule: NOT_SUPPORTED,
        broken: |buffer| {
            let other = buffer.usage & !(BUFFER_USAGES | BUFFER_USAGE_TILE_MEMORY_BIT_QCOM);
            (!other.is_empty() && !buffer.is_external).then(|| {
                let named = names::bit_names(other).join(", ");
                format!("buffers with usage {named} can only be external resources")
            })
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |buffer| {
            buffer
                .usage
                .contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM)
                .then(|| "the planner sets the usage TILE_MEMORY: pin the buffer instead".to_owned())
        },
    },
];

/// Rules about buffers whose previous version is read: the runtime fills contents that no frame has written yet.
pub(super) static PREVIOUS: &Rules<fn(&Buffer<'_>) -> Problem> = &[Rule {
    rule: NOT_SUPPORTED,
    broken: |buffer| {
        (buffer.size.0 % 4 != 0).then(|| {
            format!(
                "vkCmdFillBuffer clears its previous version in the first frame, so its size must be a multiple of 4 B, but is {}",
                buffer.size
            )
        })
    },
}];
