//! The tables of a lowered frame: rows of Vulkan's parameters, with indices in place of handles.
//!
//! ```text
//! submits ─► batches ─► command_buffers ─► passes ─► renderings ─► attachments ─► views ─► images ─► memory
//!               │                             ├─► image_barriers, buffer_barriers, memory_barriers
//!               └─► waits, signals            └─► memory (the tile memory that is bound)
//! ```
//! An index is the position of a row in the table that the field names; a [`Run`] is a half-open range of them.

pub mod commands;
pub mod objects;
pub mod submission;

use ash::vk;
use serde::{Deserialize, Serialize};

use self::commands::{
    AttachmentRow, BufferBarrierRow, ImageBarrierRow, MemoryBarrierRow, PassRow, RenderingRow,
    SubpassDependencyRow,
};
use self::objects::{AccessRow, BufferRow, ImageRow, MemoryRow, ViewRow};
use self::submission::{BatchRow, CommandBufferRow, SemaphoreRow, SubmitRow};
pub use super::ids::{DeviceQueueIndex, Object};
use super::state::MemoryState;
use crate::names;
use crate::units::Run;

/// A frame as it is executed: every parameter of every Vulkan call, in flat tables.
///
/// One parity of one frame; names are those of the frame that was lowered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lowered {
    /// Per declared queue of the frame, the device queue that runs it.
    pub queues: Vec<DeviceQueueIndex>,
    /// Memory objects, in the order of the plan's (`VkMemoryAllocateInfo`).
    pub memory: Vec<MemoryRow>,
    /// Images (`VkImageCreateInfo`, `VkBindImageMemoryInfo`), created or imported.
    pub images: Vec<ImageRow>,
    /// Buffers (`VkBufferCreateInfo`, `VkBindBufferMemoryInfo`), created or imported.
    pub buffers: Vec<BufferRow>,
    /// Image views (`VkImageViewCreateInfo`).
    pub views: Vec<ViewRow>,
    /// Queue families of concurrent sharing: runs of images and buffers.
    pub families: Vec<u32>,
    /// Formats: the view formats of images, the colour formats of targets.
    #[serde(with = "formats")]
    pub formats: Vec<vk::Format>,
    /// Per access of the frame, what a descriptor names.
    pub accesses: Vec<AccessRow>,
    /// The attachments of renderings.
    pub attachments: Vec<AttachmentRow>,
    /// Between subpasses.
    pub subpass_dependencies: Vec<SubpassDependencyRow>,
    /// Render passes: how each is begun, and what pipelines and secondary command buffers in it are made for.
    pub renderings: Vec<RenderingRow>,
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
    /// What the frame leaves in memory.
    pub after: MemoryState,
}

impl Lowered {
    /// The subpasses of a render pass instance, of which `first` is the first row of renderings.
    pub fn subpasses_of(&self, first: u32) -> &[RenderingRow] {
        let rows = self.renderings.get(first as usize..).unwrap_or_default();
        let own = rows
            .iter()
            .zip(0..)
            .take_while(|(row, number)| row.subpass == *number);
        &rows[..own.count()]
    }

    /// Rows of the attachments of a render pass instance, each view once: colours, depth and stencil, resolve attachments, and what is
    /// only read; of each kind, subpass by subpass.
    pub fn attachments_of(&self, subpasses: &[RenderingRow]) -> Vec<u32> {
        let kinds: [fn(&RenderingRow) -> Run; 4] = [
            |row| row.colors,
            |row| {
                row.depth
                    .map_or(Run::default(), |depth| Run::new(depth, depth + 1))
            },
            |row| row.resolves,
            |row| row.inputs,
        ];
        let mut all: Vec<u32> = Vec::new();
        let rows = |kind: fn(&RenderingRow) -> Run| subpasses.iter().flat_map(move |row| kind(row).indices());
        for row in kinds.into_iter().flat_map(rows) {
            let view = |row: usize| self.attachments[row].view;
            if all.iter().all(|&other| view(other as usize) != view(row)) {
                all.push(row as u32);
            }
        }
        all
    }

    /// Whether shaders of a render pass instance read attachments in place in dynamic rendering
    /// (`VK_KHR_dynamic_rendering_local_read`).
    pub fn is_local_read(&self, subpasses: &[RenderingRow]) -> bool {
        subpasses[0].dynamic && (subpasses.len() > 1 || !subpasses[0].inputs.is_empty())
    }

    /// Rows of `pColorAttachments` of a render pass instance that is dynamic: those of
    /// [`attachments_of`](Lowered::attachments_of) that are of colour and no resolve attachments.
    pub fn color_attachments_of(&self, subpasses: &[RenderingRow]) -> Vec<u32> {
        let mut all = self.attachments_of(subpasses);
        let resolves = subpasses.iter().map(|one| one.resolves.indices());
        all.retain(|&row| {
            let aspects = crate::format::aspects(self.attachments[row as usize].format);
            let resolved = resolves.clone().any(|rows| rows.contains(&(row as usize)));
            aspects.contains(vk::ImageAspectFlags::COLOR) && !resolved
        });
        all
    }

    /// Empties all tables, and keeps their memory.
    pub(super) fn clear(&mut self) {
        macro_rules! clear {
            ($($table:ident)*) => { $(self.$table.clear();)* };
        }
        clear!(queues memory images buffers views families formats accesses attachments renderings passes);
        clear!(subpass_dependencies);
        clear!(image_barriers buffer_barriers memory_barriers command_buffers waits signals batches submits);
        self.after.bytes.clear();
        self.after.contents.clear();
    }
}

/// Formats, by name.
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
