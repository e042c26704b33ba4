//! The flat tables of a frame, indexed by its ids.

use std::sync::Arc;

use ash::vk;
use serde::{Deserialize, Serialize};

pub use super::access::{Access, AccessFraction, HistoryVersion, ViewDesc};
use super::ids::{BatchId, CommandBufferId, PassId, QueueId, ResourceId, SemaphoreId, SubmitId};
pub use super::resource::{Resource, ResourceKind, SeparateLevel};
use super::subresources::SubresourceRange;
use crate::names;
use crate::units::{Bytes, Run, Span};
#[doc(inline)]
pub use tileheap_device::PassKind;
use tileheap_json::is_default;

/// A queue that the frame declares, with its name and capabilities; the runtime maps it to a `vk::Queue`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// The name, unique in the frame.
    pub name: String,
    /// Capabilities that the frame needs.
    #[serde(with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::json::schema::Bits<vk::QueueFlags>"))]
    pub capabilities: vk::QueueFlags,
}

/// A semaphore that the frame declares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Semaphore {
    /// The name, unique in the frame.
    pub name: String,
    /// Signaled or waited for outside the frame too (swapchain acquire and present); supplied by the caller.
    #[serde(default, skip_serializing_if = "is_default")]
    pub external: bool,
}

/// A batch's wait for, or signal of, a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemaphoreOp {
    /// The semaphore.
    pub semaphore: SemaphoreId,
    /// The stages that wait, or whose completion is signaled.
    pub stages: vk::PipelineStageFlags2,
}

/// One queue submission call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submit {
    /// The queue to submit to.
    pub queue: QueueId,
    /// The submit's batches.
    pub batches: Run,
}

/// Command buffers submitted together (`VkSubmitInfo2`). Tile memory keeps its contents at least until the batch ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The submit that the batch belongs to.
    pub submit: SubmitId,
    /// Semaphores that the batch waits for.
    pub waits: Vec<SemaphoreOp>,
    /// Semaphores that the batch signals.
    pub signals: Vec<SemaphoreOp>,
    /// The batch's command buffers.
    pub command_buffers: Run,
}

/// A primary command buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandBuffer {
    /// The name, unique in the frame.
    pub name: String,
    /// The batch that the command buffer belongs to.
    pub batch: BatchId,
    /// The command buffer's passes.
    pub passes: Run,
}

/// Origin of the commands of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandSource {
    /// In the primary command buffer.
    #[default]
    Inline,
    /// In secondary command buffers; render passes only.
    Secondary,
    /// Recorded by the runtime: the pass copies one resource into another one that is created identically. See [`Frame::split`].
    Store,
    /// Recorded by the runtime: the pass copies a part of an image into a strip's image, or out of it. See
    /// [`PassOrigin::Border`](crate::execute::PassOrigin::Border).
    Border {
        /// Source column minus destination column.
        x: i32,
        /// Source row minus destination row.
        y: i32,
    },
}

impl CommandSource {
    /// Returns true if the runtime, not the caller, records the commands.
    pub(crate) fn is_recorded_by_runtime(self) -> bool {
        matches!(self, CommandSource::Store | CommandSource::Border { .. })
    }
}

/// A pass: the unit whose accesses are declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The name, unique in the frame.
    pub name: String,
    /// The command buffer in which the pass is recorded.
    pub command_buffer: CommandBufferId,
    /// Render, compute or transfer.
    pub kind: PassKind,
    /// Origin of the commands: inline, secondary command buffers, or the runtime.
    pub contents: CommandSource,
    /// True for a render pass with tile shading (`VK_QCOM_tile_shading`).
    pub tile_shading: bool,
    /// The pass's accesses, in declaration order.
    pub accesses: Run,
    /// The declared render area; `None` for the area that all attachments cover: the smallest width and the smallest height.
    pub render_area: Option<vk::Rect2D>,
    /// Number of subpasses of a render pass; 1 for passes of other kinds.
    pub subpasses: u32,
    /// For a render pass: the area it renders to (the base extent if there is neither an attachment nor a declared area).
    pub area: vk::Rect2D,
    /// For a render pass: the number of layers that it renders to, which all its attachments have.
    pub layers: u32,
    /// For a render pass: the view mask of multiview, or 0 without multiview; view n renders to layer n.
    pub view_mask: u32,
    /// Cost of one more execution in addition to its accesses (vertices, indices, visibility), in bytes of memory traffic; `None` if the pass is not declared
    /// to honor a strip's origin, so that it cannot run strip by strip.
    pub repeat_bytes: Option<Bytes>,
    /// Set if a frame may skip the pass: the state of its outputs in that case.
    pub optional: Option<SkippedOutputs>,
    /// Number that the runtime passes to its [`Hooks`](crate::runtime::Hooks), which return structures to chain to the render pass; 0 for none.
    pub hook: u32,
    /// Sample count of its pipelines, if it differs from the attachments'.
    pub samples: Option<vk::SampleCountFlags>,
}

impl Pass {
    /// A pass for which nothing other than its accesses is declared.
    pub(super) fn new(name: String, command_buffer: CommandBufferId, kind: PassKind, accesses: Run) -> Pass {
        Pass {
            name,
            command_buffer,
            kind,
            contents: CommandSource::Inline,
            tile_shading: false,
            accesses,
            subpasses: 1,
            render_area: None,
            area: vk::Rect2D::default(),
            layers: 1,
            view_mask: 0,
            repeat_bytes: None,
            optional: None,
            hook: 0,
            samples: None,
        }
    }
}

/// State of the outputs of a skipped pass. Its barriers, and the clears of its attachments, are still recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SkippedOutputs {
    /// Outputs keep their earlier contents, or are cleared: the pass loads, clears or updates all that it writes.
    Kept,
    /// Outputs that the pass would overwrite are undefined; their readers must tolerate that.
    Lost,
}

/// A validated frame.
///
/// Cloning shares the description.
#[derive(Clone, Debug)]
pub struct Frame {
    pub(super) tables: Arc<Tables>,
}

impl PartialEq for Frame {
    fn eq(&self, other: &Frame) -> bool {
        self.shares_tables(other) || self.tables == other.tables
    }
}

impl Frame {
    /// Returns true if the two frames share their tables, as clones do.
    pub(crate) fn shares_tables(&self, other: &Frame) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }
}

/// The flat tables of a [`Frame`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tables {
    pub(super) name: String,
    pub(super) base_extent: vk::Extent2D,
    pub(super) queues: Vec<Queue>,
    pub(super) semaphores: Vec<Semaphore>,
    pub(super) submits: Vec<Submit>,
    pub(super) batches: Vec<Batch>,
    pub(super) command_buffers: Vec<CommandBuffer>,
    pub(super) passes: Vec<Pass>,
    pub(super) accesses: Vec<Access>,
    pub(super) resources: Vec<Resource>,
    /// Per resource, indices into `accesses` in timeline order.
    pub(super) uses: Vec<u32>,
    /// Per resource, its run in `uses`.
    pub(super) uses_of: Vec<Run>,
    /// Per resource, the span of passes from its first use to its last; see [`Frame::lifetime_of`].
    pub(super) lifetimes: Vec<Span>,
    /// The parts of every image.
    pub(super) parts: Vec<SubresourceRange>,
    /// Per resource, its run in `parts`.
    pub(super) parts_of: Vec<Run>,
    /// Per batch, a bit mask of the batches that happen before it; empty if one queue orders everything.
    pub(super) before: Vec<Vec<u64>>,
}

impl Tables {
    /// Changes the base extent, and the sizes of buffers of lists with it.
    pub(super) fn set_base_extent(&mut self, base_extent: vk::Extent2D) {
        for resource in &mut self.resources {
            resource.resize_lists(self.base_extent, base_extent);
        }
        self.base_extent = base_extent;
    }

    /// Clears the tables that validation derives.
    pub(super) fn clear_derived(&mut self) {
        self.uses.clear();
        self.uses_of.clear();
        self.lifetimes.clear();
        self.parts.clear();
        self.parts_of.clear();
        self.before.clear();
    }

    pub(super) fn queue_of(&self, pass: &Pass) -> QueueId {
        let batch = self.command_buffers[pass.command_buffer.index()].batch;
        self.submits[self.batches[batch.index()].submit.index()].queue
    }
}

impl Frame {
    /// The frame's name.
    pub fn name(&self) -> &str {
        &self.tables.name
    }

    /// The base extent of scaled images, in texels.
    pub fn base_extent(&self) -> vk::Extent2D {
        self.tables.base_extent
    }

    /// Every queue.
    pub fn queues(&self) -> &[Queue] {
        &self.tables.queues
    }

    /// Every semaphore.
    pub fn semaphores(&self) -> &[Semaphore] {
        &self.tables.semaphores
    }

    /// Every submit, in submission order.
    pub fn submits(&self) -> &[Submit] {
        &self.tables.submits
    }

    /// Every batch, in submission order.
    pub fn batches(&self) -> &[Batch] {
        &self.tables.batches
    }

    /// Every command buffer, in submission order.
    pub fn command_buffers(&self) -> &[CommandBuffer] {
        &self.tables.command_buffers
    }

    /// Every pass, in submission order: the timeline.
    pub fn passes(&self) -> &[Pass] {
        &self.tables.passes
    }

    /// Every access, ordered by pass.
    pub fn accesses(&self) -> &[Access] {
        &self.tables.accesses
    }

    /// Every resource.
    pub fn resources(&self) -> &[Resource] {
        &self.tables.resources
    }

    /// The resource with this id.
    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.tables.resources[id.index()]
    }

    /// The pass with this id.
    pub fn pass(&self, id: PassId) -> &Pass {
        &self.tables.passes[id.index()]
    }

    /// The accesses of one pass.
    pub fn accesses_of(&self, pass: PassId) -> &[Access] {
        self.tables.passes[pass.index()]
            .accesses
            .of(&self.tables.accesses)
    }

    /// Indices into [`Frame::accesses`] of every use of `resource`, in timeline order.
    pub fn uses_of(&self, resource: ResourceId) -> &[u32] {
        self.tables.uses_of[resource.index()].of(&self.tables.uses)
    }

    /// Every use of `resource`, in timeline order.
    pub fn accesses_to(&self, resource: ResourceId) -> impl DoubleEndedIterator<Item = &Access> + Clone {
        self.uses_of(resource)
            .iter()
            .map(|&index| &self.accesses()[index as usize])
    }

    /// The parts of `resource` that its accesses distinguish: disjoint, and each access covers some of them. A buffer is one part, as is an image of
    /// which no access names a part.
    pub(crate) fn parts_of(&self, resource: ResourceId) -> &[SubresourceRange] {
        self.tables.parts_of[resource.index()].of(&self.tables.parts)
    }

    /// The span of passes from the first use of `resource` to the last, inclusive; empty if nothing uses it.
    pub fn lifetime_of(&self, resource: ResourceId) -> Span {
        self.tables.lifetimes[resource.index()]
    }

    /// The batch that a pass belongs to.
    pub fn batch_of(&self, pass: PassId) -> BatchId {
        self.tables.command_buffers[self.tables.passes[pass.index()].command_buffer.index()].batch
    }

    /// The submit that a pass belongs to.
    pub fn submit_of(&self, pass: PassId) -> SubmitId {
        self.tables.batches[self.batch_of(pass).index()].submit
    }

    /// The queue that runs a pass.
    pub fn queue_of(&self, pass: PassId) -> QueueId {
        self.tables.submits[self.submit_of(pass).index()].queue
    }

    /// Returns true if pass `b` can wait for every command of pass `a`: they run on one queue in this order (a barrier then suffices), or semaphores
    /// lead from `a`'s batch to `b`'s.
    pub fn happens_before(&self, a: PassId, b: PassId) -> bool {
        if self.queue_of(a) == self.queue_of(b) {
            return a < b;
        }
        self.batch_happens_before(self.batch_of(a), self.batch_of(b))
    }

    /// Returns true if batch `b` can wait for every command of batch `a`: they are submitted to one queue in this order, or semaphores lead from `a` to `b`.
    pub(crate) fn batch_happens_before(&self, a: BatchId, b: BatchId) -> bool {
        let (a, b) = (a.index(), b.index());
        match self.tables.before.get(b) {
            Some(before) => before[a / 64] >> (a % 64) & 1 == 1,
            None => a < b,
        }
    }

    /// The pass with this name.
    pub fn pass_named(&self, name: &str) -> Option<PassId> {
        let index = self.tables.passes.iter().position(|pass| pass.name == name)?;
        Some(PassId(index as u32))
    }

    /// The names of all passes.
    pub(super) fn pass_names(&self) -> impl Iterator<Item = &str> {
        self.tables.passes.iter().map(|pass| pass.name.as_str())
    }

    /// The names of all resources.
    pub(super) fn resource_names(&self) -> impl Iterator<Item = &str> {
        self.tables
            .resources
            .iter()
            .map(|resource| resource.name.as_str())
    }

    /// The resource with this name.
    pub fn resource_named(&self, name: &str) -> Option<ResourceId> {
        let index = self
            .tables
            .resources
            .iter()
            .position(|resource| resource.name == name)?;
        Some(ResourceId(index as u32))
    }

    /// The ids of all resources.
    pub fn resource_ids(&self) -> impl ExactSizeIterator<Item = ResourceId> + use<> {
        (0..self.tables.resources.len() as u32).map(ResourceId)
    }

    /// The ids of all queues.
    pub fn queue_ids(&self) -> impl ExactSizeIterator<Item = QueueId> + use<> {
        (0..self.tables.queues.len() as u32).map(QueueId)
    }

    /// The ids of all semaphores.
    pub fn semaphore_ids(&self) -> impl ExactSizeIterator<Item = SemaphoreId> + use<> {
        (0..self.tables.semaphores.len() as u32).map(SemaphoreId)
    }

    /// The ids of all command buffers, in submission order.
    pub fn command_buffer_ids(&self) -> impl ExactSizeIterator<Item = CommandBufferId> + use<> {
        (0..self.tables.command_buffers.len() as u32).map(CommandBufferId)
    }

    /// The ids of all passes, in submission order.
    pub fn pass_ids(&self) -> impl ExactSizeIterator<Item = PassId> + use<> {
        (0..self.tables.passes.len() as u32).map(PassId)
    }
}
