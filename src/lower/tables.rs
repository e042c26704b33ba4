//! The tables of a lowered frame: rows of Vulkan parameters, with indices in place of handles.
//!
//! ```text
//! submits ─► batches ─► command_buffers ─► passes ─► instances ─► attachments ─► views ─► images ─► memory
//!               │                             │          └─► subpasses ─► references, indices, subpass_dependencies
//!               │                             ├─► image_barriers, buffer_barriers, memory_barriers
//!               └─► waits, signals            └─► memory (the tile memory that is bound), stores, clears
//! ```
//! An index is the position of a row in the table that the field names; a [`Run`](crate::units::Run) is a half-open range of them. Rows have C
//! layout, and executing them requires no further decisions: `examples/by_hand` does so without this crate's runtime.

mod abi;
pub mod clears;
pub mod commands;
pub mod instances;
pub mod objects;
pub mod submission;

use ash::vk;
use serde::{Deserialize, Serialize};

use self::clears::ClearRow;
use self::commands::{BufferBarrierRow, ImageBarrierRow, MemoryBarrierRow, PassRow, StoreRow};
use self::instances::{AttachmentRow, InstanceRow, ReferenceRow, SubpassDependencyRow, SubpassRow};
use self::objects::{AccessRow, BufferRow, ImageRow, MemoryRow, ViewRow};
use self::submission::{BatchRow, CommandBufferRow, SemaphoreRow, SubmitRow};
pub use super::ids::{DeviceQueueIndex, ImageOrBuffer, ObjectKind, ObjectRef, OptionalIndex};
use super::state::MemoryState;
use crate::names;

/// A frame as it is executed: every parameter of every Vulkan call, in flat tables.
///
/// One parity of one frame; names are those of the frame that was lowered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lowered {
    /// Per declared queue of the frame, the device queue that runs it.
    pub queues: Vec<DeviceQueueIndex>,
    /// Memory objects (`VkMemoryAllocateInfo`), in the order of the plan's objects.
    pub memory: Vec<MemoryRow>,
    /// Images (`VkImageCreateInfo`, `VkBindImageMemoryInfo`), created or imported.
    pub images: Vec<ImageRow>,
    /// Buffers (`VkBufferCreateInfo`, `VkBindBufferMemoryInfo`), created or imported.
    pub buffers: Vec<BufferRow>,
    /// Image views (`VkImageViewCreateInfo`).
    pub views: Vec<ViewRow>,
    /// Queue families of concurrent sharing; each row of `images` or `buffers` that needs them has a run of them.
    pub families: Vec<u32>,
    /// The view formats of images, and the color attachment formats of subpasses.
    #[serde(with = "formats")]
    pub formats: Vec<vk::Format>,
    /// Per access of the frame, the object, view and layouts that it uses.
    pub accesses: Vec<AccessRow>,
    /// The attachments of render pass instances.
    pub attachments: Vec<AttachmentRow>,
    /// The references of subpasses to attachments.
    pub references: Vec<ReferenceRow>,
    /// Preserved attachments, locations and input attachment indices; `VK_ATTACHMENT_UNUSED` for none.
    pub indices: Vec<u32>,
    /// Dependencies between subpasses.
    pub subpass_dependencies: Vec<SubpassDependencyRow>,
    /// Subpasses of render pass instances.
    pub subpasses: Vec<SubpassRow>,
    /// Render pass instances.
    pub instances: Vec<InstanceRow>,
    /// Clears of contents that no frame has written.
    pub clears: Vec<ClearRow>,
    /// Copies out of tile memory, or at the border of strips.
    pub stores: Vec<StoreRow>,
    /// Everything that is recorded, in order.
    pub passes: Vec<PassRow>,
    /// `VkImageMemoryBarrier2`.
    pub image_barriers: Vec<ImageBarrierRow>,
    /// `VkBufferMemoryBarrier2`.
    pub buffer_barriers: Vec<BufferBarrierRow>,
    /// `VkMemoryBarrier2`.
    pub memory_barriers: Vec<MemoryBarrierRow>,
    /// Command buffers.
    pub command_buffers: Vec<CommandBufferRow>,
    /// Waits of batches (`VkSemaphoreSubmitInfo`).
    pub waits: Vec<SemaphoreRow>,
    /// Signals of batches (`VkSemaphoreSubmitInfo`).
    pub signals: Vec<SemaphoreRow>,
    /// Batches (`VkSubmitInfo2`).
    pub batches: Vec<BatchRow>,
    /// Submits (`vkQueueSubmit2`).
    pub submits: Vec<SubmitRow>,
    /// The memory state that the frame leaves.
    pub after: MemoryState,
}

impl Lowered {
    /// The subpasses of a render pass instance, a row of [`Lowered::instances`].
    pub fn subpasses_of(&self, instance: u32) -> &[SubpassRow] {
        self.instances[instance as usize].subpasses.of(&self.subpasses)
    }

    /// Empties all tables, and keeps their memory.
    pub(super) fn clear(&mut self) {
        macro_rules! clear {
            ($($table:ident)*) => { $(self.$table.clear();)* };
        }
        clear!(queues memory images buffers views families formats accesses);
        clear!(attachments references indices subpass_dependencies subpasses instances);
        clear!(clears stores passes image_barriers buffer_barriers memory_barriers);
        clear!(command_buffers waits signals batches submits);
        self.after.bytes.clear();
        self.after.contents.clear();
    }
}

/// The `serde` form of a list of formats: their names.
mod formats {
    use super::{Deserialize, names, vk};

    #[derive(serde::Serialize, Deserialize)]
    #[serde(transparent)]
    struct Named(#[serde(with = "names::value")] vk::Format);

    pub(super) fn serialize<S: serde::Serializer>(formats: &[vk::Format], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(formats.iter().copied().map(Named))
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<vk::Format>, D::Error> {
        let named: Vec<Named> = Deserialize::deserialize(from)?;
        Ok(named.into_iter().map(|Named(format)| format).collect())
    }
}
