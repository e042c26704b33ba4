//! The builder of a frame: everything is declared in submission order and gets an id.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;

use super::spare::SpareAllocations;
use super::tables::Tables;
use super::validate::finish;
use super::*;
use crate::frame::tables::{
    Access, Batch, CommandBuffer, CommandSource, HistoryVersion, Pass, PassKind, Queue, Resource,
    ResourceKind, Semaphore, SemaphoreOp, SeparateLevel, SkippedOutputs, Submit, ViewDesc,
};
use crate::units::{Bytes, Run};

/// Declares a frame, in submission order; see the [module](super) documentation.
///
/// ```
/// use ash::vk;
/// use tileheap::frame::{LoadOp, ClearValue, FrameBuilder, ImageDesc};
///
/// let extent = vk::Extent2D { width: 1280, height: 720 };
/// let mut frame = FrameBuilder::new("two passes", extent);
/// let albedo = frame.image("albedo", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
/// let lit = frame.image("lit", ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent));
/// let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
/// let submit = frame.submit(graphics);
/// let batch = frame.batch(submit);
/// let commands = frame.command_buffer(batch, "scene");
/// frame.render_pass(commands, "gbuffer").color(albedo, LoadOp::Clear(ClearValue::ZERO));
/// frame.render_pass(commands, "lighting").sampled(albedo).color(lit, LoadOp::DontCare);
/// let frame = frame.build()?;
/// assert_eq!(frame.passes().len(), 2);
/// # Ok::<(), tileheap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct FrameBuilder {
    pub(super) tables: Tables,
    /// The first declaration out of order, reported by `build`.
    pub(super) fault: Option<FrameError>,
    pub(super) spare: SpareAllocations,
}

impl FrameBuilder {
    /// An empty frame; the extents of scaled images are fractions of `base_extent`.
    pub fn new(name: impl AsRef<str>, base_extent: vk::Extent2D) -> FrameBuilder {
        FrameBuilder::from_tables(Tables {
            name: name.as_ref().to_owned(),
            base_extent,
            ..Tables::default()
        })
    }

    pub(super) fn from_tables(mut tables: Tables) -> FrameBuilder {
        tables.clear_derived();
        FrameBuilder {
            tables,
            ..FrameBuilder::default()
        }
    }

    /// Changes the extent that scaled images are a fraction of, and resizes buffers of [lists](TileLists) accordingly.
    pub fn set_base_extent(&mut self, base_extent: vk::Extent2D) {
        self.tables.set_base_extent(base_extent);
    }

    /// The extent that scaled images are a fraction of.
    pub fn base_extent(&self) -> vk::Extent2D {
        self.tables.base_extent
    }

    /// Declares a transient image.
    pub fn image(&mut self, name: impl AsRef<str>, desc: ImageDesc) -> ResourceId {
        self.resource(name, desc, Persistence::Transient)
    }

    /// Declares a transient buffer.
    pub fn buffer(&mut self, name: impl AsRef<str>, desc: BufferDesc) -> ResourceId {
        self.resource(name, desc, Persistence::Transient)
    }

    /// Declares an image or buffer that is transient, a history or external.
    pub fn resource(
        &mut self,
        name: impl AsRef<str>,
        desc: impl Into<ResourceKind>,
        persistence: Persistence,
    ) -> ResourceId {
        let name = self.named(name);
        self.tables.resources.push(Resource {
            name,
            kind: desc.into(),
            persistence,
            tile_constraint: TileConstraint::None,
            level_of: None,
        });
        ResourceId(self.tables.resources.len() as u32 - 1)
    }

    /// Requires or forbids the placement of a resource in tile memory.
    pub fn constrain(&mut self, resource: ResourceId, tile_constraint: TileConstraint) {
        self.tables.resources[resource.index()].tile_constraint = tile_constraint;
    }

    /// Sets or clears the image of which an image is a level; see [`separate_levels`](ImageDesc::separate_levels).
    pub(crate) fn set_level_of(&mut self, resource: ResourceId, level_of: Option<SeparateLevel>) {
        self.tables.resources[resource.index()].level_of = level_of;
    }

    /// Declares that a buffer consists of [lists](TileLists), one for each tile of the screen, or that it does not. Has no effect on an image.
    pub fn set_lists(&mut self, buffer: ResourceId, lists: Option<TileLists>) {
        self.tables.resources[buffer.index()].set_lists(lists);
    }

    /// Requires that a resource is placed in tile memory: planning fails, naming the rule, if it cannot be.
    pub fn pin(&mut self, resource: ResourceId) {
        self.constrain(resource, TileConstraint::Pinned);
    }

    /// Declares a queue with the capabilities that the frame needs from it.
    pub fn queue(&mut self, name: impl AsRef<str>, capabilities: vk::QueueFlags) -> QueueId {
        let name = self.named(name);
        self.tables.queues.push(Queue { name, capabilities });
        QueueId(self.tables.queues.len() as u32 - 1)
    }

    /// Declares a semaphore between batches of the frame.
    pub fn semaphore(&mut self, name: impl AsRef<str>) -> SemaphoreId {
        let name = self.named(name);
        self.tables.semaphores.push(Semaphore {
            name,
            external: false,
        });
        SemaphoreId(self.tables.semaphores.len() as u32 - 1)
    }

    /// Declares a semaphore that the caller supplies for every frame (swapchain acquire, present).
    pub fn external_semaphore(&mut self, name: impl AsRef<str>) -> SemaphoreId {
        let id = self.semaphore(name);
        self.tables.semaphores[id.index()].external = true;
        id
    }

    /// Appends a submit.
    pub fn submit(&mut self, queue: QueueId) -> SubmitId {
        let end = self.tables.batches.len() as u32;
        self.tables.submits.push(Submit {
            queue,
            batches: Run::new(end, end),
        });
        SubmitId(self.tables.submits.len() as u32 - 1)
    }

    /// Appends a batch to `submit`, which must be the last submit added; otherwise, `build` fails.
    pub fn batch(&mut self, submit: SubmitId) -> BatchId {
        let end = self.tables.command_buffers.len() as u32;
        let last = submit.index() + 1 == self.tables.submits.len();
        self.in_order(last, || "a batch".to_owned());
        if let Some(submit) = self.tables.submits.last_mut() {
            submit.batches.end += 1;
        }
        let [waits, signals] = [self.operations(), self.operations()];
        self.tables.batches.push(Batch {
            submit,
            waits,
            signals,
            command_buffers: Run::new(end, end),
        });
        BatchId(self.tables.batches.len() as u32 - 1)
    }

    /// Makes `stages` of a batch wait for a semaphore. A wait without stages, or only at the bottom of the pipe, orders no passes.
    pub fn wait(&mut self, batch: BatchId, semaphore: SemaphoreId, stages: vk::PipelineStageFlags2) {
        let operation = SemaphoreOp { semaphore, stages };
        self.tables.batches[batch.index()].waits.push(operation);
    }

    /// Signals a semaphore when `stages` of a batch have completed.
    pub fn signal(&mut self, batch: BatchId, semaphore: SemaphoreId, stages: vk::PipelineStageFlags2) {
        let operation = SemaphoreOp { semaphore, stages };
        self.tables.batches[batch.index()].signals.push(operation);
    }

    /// Appends a command buffer to `batch`, which must be the last batch added; otherwise, `build` fails.
    pub fn command_buffer(&mut self, batch: BatchId, name: impl AsRef<str>) -> CommandBufferId {
        let name = self.named(name);
        let end = self.tables.passes.len() as u32;
        let last = batch.index() + 1 == self.tables.batches.len();
        self.in_order(last, || format!("command buffer `{name}`"));
        if let Some(batch) = self.tables.batches.last_mut() {
            batch.command_buffers.end += 1;
        }
        self.tables.command_buffers.push(CommandBuffer {
            name,
            batch,
            passes: Run::new(end, end),
        });
        CommandBufferId(self.tables.command_buffers.len() as u32 - 1)
    }

    /// Appends a render pass to `commands`, which must be the last command buffer added; otherwise, `build` fails.
    pub fn render_pass(&mut self, commands: CommandBufferId, name: impl AsRef<str>) -> PassBuilder<'_> {
        self.pass(commands, name, PassKind::Render)
    }

    /// Appends a compute pass to `commands`, which must be the last command buffer added; otherwise, `build` fails.
    ///
    /// Any action commands outside a render pass may be declared as a compute pass, even without accesses (query resets, timestamps).
    pub fn compute_pass(&mut self, commands: CommandBufferId, name: impl AsRef<str>) -> PassBuilder<'_> {
        self.pass(commands, name, PassKind::Compute)
    }

    /// Appends a transfer pass to `commands`, which must be the last command buffer added; otherwise, `build` fails.
    pub fn transfer_pass(&mut self, commands: CommandBufferId, name: impl AsRef<str>) -> PassBuilder<'_> {
        self.pass(commands, name, PassKind::Transfer)
    }

    /// Appends a pass of any kind to `command_buffer`, which must be the last one added; otherwise, `build` fails.
    pub fn pass(
        &mut self,
        command_buffer: CommandBufferId,
        name: impl AsRef<str>,
        kind: PassKind,
    ) -> PassBuilder<'_> {
        let name = self.named(name);
        let last = command_buffer.index() + 1 == self.tables.command_buffers.len();
        self.in_order(last, || format!("pass `{name}`"));
        if let Some(commands) = self.tables.command_buffers.last_mut() {
            commands.passes.end += 1;
        }
        let end = self.tables.accesses.len() as u32;
        let pass = Pass::new(name, command_buffer, kind, Run::new(end, end));
        self.tables.passes.push(pass);
        PassBuilder {
            pass: PassId(self.tables.passes.len() as u32 - 1),
            kind,
            subpass: 0,
            frame: self,
        }
    }

    pub(super) fn set_repeat_bytes(&mut self, pass: PassId, repeat_bytes: Option<Bytes>) {
        self.tables.passes[pass.index()].repeat_bytes = repeat_bytes;
    }

    pub(super) fn set_reach(&mut self, pass: PassId, resource: ResourceId, reach: ReadReach) {
        let accesses = self.tables.passes[pass.index()].accesses;
        for access in &mut self.tables.accesses[accesses.indices()] {
            if access.resource == resource && access.reads {
                access.reach = Some(reach);
            }
        }
    }

    /// Validates the description.
    ///
    /// # Errors
    /// [`Error::Frame`](crate::Error::Frame) with the first fault found, naming the pass and resource.
    pub fn build(self) -> crate::Result<Frame> {
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        let tables = finish(self.tables)?;
        Ok(Frame {
            tables: Arc::new(tables),
        })
    }

    fn in_order(&mut self, in_order: bool, what: impl FnOnce() -> String) {
        if !in_order && self.fault.is_none() {
            self.fault = Some(FrameRule::OutOfOrder.broken(format!(
                "{what} is declared out of submission order: add it before anything that is \
                 submitted later",
                what = what()
            )));
        }
    }
}

impl Frame {
    /// Returns the description as a builder, to change and build again (for example at another size).
    pub fn to_builder(&self) -> FrameBuilder {
        FrameBuilder::from_tables((*self.tables).clone())
    }
}

/// Declares the accesses of one pass; returned by the pass methods of [`FrameBuilder`].
#[derive(Debug)]
pub struct PassBuilder<'a> {
    frame: &'a mut FrameBuilder,
    pass: PassId,
    kind: PassKind,
    pub(super) subpass: u32,
}

impl PassBuilder<'_> {
    /// The pass's id.
    pub fn id(self) -> PassId {
        self.pass
    }

    /// Declares that the pass is recorded in secondary command buffers.
    pub fn secondary(self) -> Self {
        self.contents(CommandSource::Secondary)
    }

    /// Marks a render pass as using tile shading: draws and dispatches may run once per tile, and shaders access attachments within their tile
    /// ([`tile_read`](PassBuilder::tile_read), [`tile_write`](PassBuilder::tile_write)). Record these draws and dispatches with
    /// `PassCommands::per_tile`.
    pub fn tile_shading(self) -> Self {
        let pass = &mut self.frame.tables.passes[self.pass.index()];
        pass.tile_shading = true;
        for access in &mut self.frame.tables.accesses[pass.accesses.indices()] {
            if access.stages == access.kind.default_stages(self.kind) {
                access.stages = access.kind.stages_in(self.kind, true);
            }
        }
        self
    }

    /// Begins the next subpass of a render pass: accesses declared from here on belong to it. A subpass can read what earlier ones left in attachments
    /// at the fragment's own pixel ([`input`](PassBuilder::input)), and continue to draw on attachments that it declares again with [`LoadOp::Load`].
    /// Only the first access of an attachment loads, clears or discards.
    pub fn next_subpass(self) -> Self {
        let next = self.subpass.saturating_add(1);
        self.in_subpass(next)
    }

    /// Sets the subpass of the accesses declared from here on.
    pub(crate) fn in_subpass(mut self, subpass: u32) -> Self {
        self.subpass = subpass;
        self.change(|pass| pass.subpasses = subpass.saturating_add(1))
    }

    /// Restricts rendering to an area; by default, the smallest width and the smallest height of all attachments, or the base extent if there are none.
    pub fn area(self, area: vk::Rect2D) -> Self {
        self.change(|pass| pass.render_area = Some(area))
    }

    /// Renders several views at once (`VK_KHR_multiview`): view n of the mask to layer n of every attachment.
    pub fn views(self, view_mask: u32) -> Self {
        self.change(|pass| pass.view_mask = view_mask)
    }

    /// Declares that the pass honors the origin and extent of a strip, so that it can run strip by strip. `repeat_bytes` is the cost of one more
    /// execution in addition to its accesses, in bytes of memory traffic. Not for passes with side effects (queries, atomics, appended lists).
    pub fn in_strips(self, repeat_bytes: Bytes) -> Self {
        self.change(|pass| pass.repeat_bytes = Some(repeat_bytes))
    }

    /// Declares that frames may skip the pass ([`Commands::skip`](crate::runtime::Commands::skip)): the plan stays the same, and its barriers and the
    /// clears of its attachments are recorded without its contents.
    pub fn optional(self, outputs: SkippedOutputs) -> Self {
        self.change(|pass| pass.optional = Some(outputs))
    }

    /// Chains structures to the render pass: those that the caller's [`Hooks`](crate::runtime::Hooks) return for `hook`, a number above 0.
    pub fn hook(self, hook: u32) -> Self {
        self.change(|pass| pass.hook = hook)
    }

    /// Draws with this number of samples per texel into attachments of another sample count: a [`hook`](Self::hook) chains the structure of
    /// `VK_EXT_multisampled_render_to_single_sampled`, and pipelines that of `VK_AMD_mixed_attachment_samples` or `VK_NV_framebuffer_mixed_samples`.
    pub fn samples(self, samples: vk::SampleCountFlags) -> Self {
        self.change(|pass| pass.samples = Some(samples))
    }

    /// Sets the distance from the pixel at which the most recently declared read may occur.
    pub fn reaching(self, reach: ReadReach) -> Self {
        self.change_last(|access| access.reach = Some(reach))
    }

    /// Declares the origin of the pass's commands: inline, secondary command buffers, or the runtime.
    pub fn contents(self, contents: CommandSource) -> Self {
        self.change(|pass| pass.contents = contents)
    }

    /// Declares a color attachment; those of a subpass are numbered from 0 in the order of declaration.
    pub fn color(self, resource: ResourceId, load_op: LoadOp) -> Self {
        self.attachment(resource, AccessKind::ColorAttachment, load_op)
    }

    /// Declares the depth and stencil attachment, tested and written.
    pub fn depth(self, resource: ResourceId, load_op: LoadOp) -> Self {
        self.attachment(resource, AccessKind::DepthStencilAttachment, load_op)
    }

    /// Declares the depth and stencil attachment, tested and not written.
    pub fn depth_read_only(self, resource: ResourceId) -> Self {
        self.read(resource, AccessKind::DepthStencilAttachment)
    }

    /// Declares `target` as the resolve attachment of attachment `source`: color is averaged; depth, stencil and integers take sample 0.
    pub fn resolve(self, source: ResourceId, target: ResourceId) -> Self {
        self.attachment(target, AccessKind::ResolveAttachment, LoadOp::DontCare)
            .resolving(source)
    }

    /// Declares an input attachment.
    pub fn input(self, resource: ResourceId) -> Self {
        self.read(resource, AccessKind::InputAttachment)
    }

    /// Declares a sampled image.
    pub fn sampled(self, resource: ResourceId) -> Self {
        self.read(resource, AccessKind::SampledImage)
    }

    /// Declares a sampled history image, as the previous frame left it.
    pub fn sampled_previous(self, resource: ResourceId) -> Self {
        self.read(resource, AccessKind::SampledImage).previous()
    }

    /// Declares a storage image or storage buffer that is only read.
    pub fn storage_read(self, resource: ResourceId) -> Self {
        let kind = self.storage_kind(resource);
        self.read(resource, kind)
    }

    /// Declares a storage image or storage buffer that is written; the pass must replace all contents that matter later.
    pub fn storage_write(self, resource: ResourceId) -> Self {
        let kind = self.storage_kind(resource);
        self.write(resource, kind)
    }

    /// Declares a storage image or storage buffer that is updated: read and written, or written in part.
    pub fn storage_update(self, resource: ResourceId) -> Self {
        let kind = self.storage_kind(resource);
        self.access(resource, kind, true, true, LoadOp::Load)
    }

    /// Declares a uniform buffer.
    pub fn uniform(self, resource: ResourceId) -> Self {
        self.read(resource, AccessKind::UniformBuffer)
    }

    /// Declares an attachment of the pass that is read by shaders within their tile (`VK_QCOM_tile_shading`): by fragment shaders and per-tile
    /// dispatches, unless [`at`](PassBuilder::at) names one of the two.
    pub fn tile_read(self, resource: ResourceId) -> Self {
        self.read(resource, AccessKind::TileAttachment)
    }

    /// Declares a color attachment of the pass that per-tile dispatches write, each within its own tile; texels that no dispatch writes keep their
    /// values.
    pub fn tile_write(self, resource: ResourceId) -> Self {
        self.access(resource, AccessKind::TileAttachment, true, true, LoadOp::Load)
    }

    /// Declares the source of a copy.
    pub fn transfer_source(self, resource: ResourceId) -> Self {
        self.read(resource, AccessKind::TransferSource)
    }

    /// Declares the destination of a copy, written as a whole.
    pub fn transfer_destination(self, resource: ResourceId) -> Self {
        self.write(resource, AccessKind::TransferDestination)
    }

    /// Declares a reading access of any kind.
    pub fn read(self, resource: ResourceId, kind: AccessKind) -> Self {
        self.access(resource, kind, true, false, LoadOp::Load)
    }

    /// Declares a writing access of any kind that replaces all contents that matter later.
    pub fn write(self, resource: ResourceId, kind: AccessKind) -> Self {
        self.access(resource, kind, false, true, LoadOp::DontCare)
    }

    /// Declares any access. `load_op` is used only for writing accesses.
    pub fn access(
        self,
        resource: ResourceId,
        kind: AccessKind,
        reads: bool,
        writes: bool,
        load_op: LoadOp,
    ) -> Self {
        let pass = self.pass;
        let stages = kind.stages_in(self.kind, self.frame.tables.passes[pass.index()].tile_shading);
        self.frame.tables.accesses.push(Access {
            pass,
            subpass: self.subpass,
            resource,
            kind,
            range: SubresourceRange::ALL,
            view: ViewDesc::default(),
            reads,
            writes,
            version: HistoryVersion::Current,
            stages,
            load_op,
            resolves: None,
            measured: None,
            share: None,
            reach: None,
            continues_attachment: false,
        });
        self.frame.tables.passes[pass.index()].accesses.end += 1;
        self
    }

    /// Replaces the stages of the most recently declared access.
    pub fn at(self, stages: vk::PipelineStageFlags2) -> Self {
        self.change_last(|access| access.stages = stages)
    }

    /// Restricts to fragment shaders all shader accesses that the pass has declared so far without stages of their own: vertex and other shaders of later
    /// draws then do not wait for them.
    pub fn fragment(self) -> Self {
        let accesses = self.frame.tables.passes[self.pass.index()].accesses;
        for access in &mut self.frame.tables.accesses[accesses.indices()] {
            let wide = [false, true].map(|tiles| access.kind.stages_in(self.kind, tiles));
            if access.kind.is_shader() && wide.contains(&access.stages) {
                access.stages = vk::PipelineStageFlags2::FRAGMENT_SHADER;
            }
        }
        self
    }

    /// Restricts the most recently declared access to a part of the image.
    pub fn part(self, range: SubresourceRange) -> Self {
        self.change_last(|access| access.range = range)
    }

    /// Restricts the most recently declared access to one level.
    pub fn level(self, level: u32) -> Self {
        self.levels(level..level + 1)
    }

    /// Restricts the most recently declared access to some levels.
    pub fn levels(self, levels: Range<u32>) -> Self {
        self.change_last(|access| access.range.levels = run(levels))
    }

    /// Restricts the most recently declared access to one layer; for a 3D image, to one slice.
    pub fn layer(self, layer: u32) -> Self {
        self.layers(layer..layer + 1)
    }

    /// Restricts the most recently declared access to some layers; for a 3D image, to some slices.
    pub fn layers(self, layers: Range<u32>) -> Self {
        self.change_last(|access| access.range.layers = run(layers))
    }

    /// Restricts the most recently declared access to depth or to stencil.
    pub fn aspect(self, aspect: vk::ImageAspectFlags) -> Self {
        self.change_last(|access| access.range.aspects = aspect)
    }

    /// Views the image of the most recently declared access as another type or in another format.
    pub fn viewed(self, view: ViewDesc) -> Self {
        self.change_last(|access| access.view = view)
    }

    /// Replaces the savings on chip of the most recently declared access by a measured value, in bytes of memory traffic per frame.
    pub fn measured(self, saves: Bytes) -> Self {
        self.change_last(|access| access.measured = Some(saves))
    }

    /// Names the attachment whose samples the most recently declared resolve attachment receives.
    pub fn resolving(self, source: ResourceId) -> Self {
        self.change_last(|access| access.resolves = Some(source))
    }

    /// Makes the most recently declared access refer to the previous frame's contents.
    pub fn previous(self) -> Self {
        self.change_last(|access| access.version = HistoryVersion::Previous)
    }

    fn attachment(self, resource: ResourceId, kind: AccessKind, load_op: LoadOp) -> Self {
        self.access(resource, kind, load_op == LoadOp::Load, true, load_op)
    }

    pub(super) fn change(self, change: impl FnOnce(&mut Pass)) -> Self {
        change(&mut self.frame.tables.passes[self.pass.index()]);
        self
    }

    /// Changes the most recently declared access; without one, a setting has no effect.
    pub(crate) fn change_last(self, change: impl FnOnce(&mut Access)) -> Self {
        let accesses = self.frame.tables.passes[self.pass.index()].accesses;
        if let Some(access) = self.frame.tables.accesses[accesses.indices()].last_mut() {
            change(access);
        }
        self
    }

    fn storage_kind(&self, resource: ResourceId) -> AccessKind {
        match self.frame.tables.resources.get(resource.index()) {
            Some(resource) if !resource.is_image() => AccessKind::StorageBuffer,
            _ => AccessKind::StorageImage,
        }
    }
}

fn run(Range { start, end }: Range<u32>) -> Run {
    Run::new(start, end)
}
