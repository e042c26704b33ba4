//! Converts arrays of structures to a frame.

use ash::vk;
use tileheap::frame::external::{self, ExternalDesc, ResourceState};
use tileheap::frame::tables::{CommandSource, PassKind, SkippedOutputs as Skipped, ViewDesc};
use tileheap::frame::{
    self, AccessKind, BatchId, BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc,
    LoadOp, PassBuilder, QueueId, ReadReach, ResourceId, SemaphoreId, SubresourceRange,
};
use tileheap::units::{Bytes, Run};

use crate::enums::{
    AccessFlag, ExternalFamily, FromNumber, PassFlag, PassType, Persistence, ResourceFlag, ResourceType,
    SkippedOutputs, TileConstraint, access_kind, known_bits,
};
use crate::frame_desc::*;
use crate::status::Fault;
use crate::strings::{counted, needed_text};
use crate::structs::{Array, elements, read, reserved};

/// The bits of [`ResourceFlag`].
const RESOURCE_FLAGS: u32 =
    ResourceFlag::SeparateLevels as u32 | ResourceFlag::Image1d as u32 | ResourceFlag::Image3d as u32;
/// The bits of [`PassFlag`].
const PASS_FLAGS: u32 = PassFlag::Secondary as u32
    | PassFlag::TileShading as u32
    | PassFlag::RenderArea as u32
    | PassFlag::Strips as u32;
/// The bits of [`AccessFlag`].
const ACCESS_FLAGS: u32 = AccessFlag::Read as u32
    | AccessFlag::Write as u32
    | AccessFlag::Previous as u32
    | AccessFlag::ViewType as u32
    | AccessFlag::Reach as u32
    | AccessFlag::Measured as u32;

const RESOURCES: Array = Array("resources", "resourceCount");
const QUEUES: Array = Array("queues", "queueCount");
const SEMAPHORES: Array = Array("semaphores", "semaphoreCount");
const SUBMITS: Array = Array("submits", "submitCount");
const BATCHES: Array = Array("batches", "batchCount");
const WAITS: Array = Array("waits", "waitCount");
const SIGNALS: Array = Array("signals", "signalCount");
const COMMAND_BUFFERS: Array = Array("commandBuffers", "commandBufferCount");
const PASSES: Array = Array("passes", "passCount");
const ACCESSES: Array = Array("accesses", "accessCount");

/// All types of image views.
const VIEW_TYPES: [vk::ImageViewType; 7] = [
    vk::ImageViewType::TYPE_1D,
    vk::ImageViewType::TYPE_2D,
    vk::ImageViewType::TYPE_3D,
    vk::ImageViewType::CUBE,
    vk::ImageViewType::TYPE_1D_ARRAY,
    vk::ImageViewType::TYPE_2D_ARRAY,
    vk::ImageViewType::CUBE_ARRAY,
];

/// A frame that is being described, with the ids of declared objects. Its memory is reused.
#[derive(Default)]
pub(crate) struct Description {
    pub(crate) builder: FrameBuilder,
    resources: Vec<Declared>,
    queues: Vec<QueueId>,
    semaphores: Vec<SemaphoreId>,
}

/// A resource, and the parts of its description that its accesses need.
#[derive(Clone, Copy)]
struct Declared {
    id: ResourceId,
    flags: u32,
    format: vk::Format,
    depth: u32,
    mip_levels: u32,
    array_layers: u32,
}

/// Creates the frame that a structure describes.
///
/// # Safety
/// Same as [`Description::fill`].
pub(crate) unsafe fn frame(desc: *const FrameDesc) -> Result<Frame, Fault> {
    let mut description = Description::default();
    // SAFETY: the caller's duty.
    unsafe { description.fill(desc) }?;
    Ok(description.builder.build()?)
}

impl Description {
    /// Replaces the description with that of a structure.
    ///
    /// # Safety
    /// Every pointer in the structure is null or points to as many elements as its count says, and strings can be read.
    pub(crate) unsafe fn fill(&mut self, desc: *const FrameDesc) -> Result<(), Fault> {
        // SAFETY: the caller's duty.
        let desc = unsafe { read(desc) }?;
        // SAFETY: the caller's duty.
        unsafe { self.describe(&desc) }.map_err(|fault| fault.within("ThFrameDesc"))
    }

    unsafe fn describe(&mut self, desc: &FrameDesc) -> Result<(), Fault> {
        if desc.submit_count > 0 && desc.pass_count > 0 {
            return Err(Fault::argument(format!(
                "submitCount is {} and passCount is {}: set only one of them",
                desc.submit_count, desc.pass_count
            )));
        }
        // SAFETY: the caller's duty.
        let name = unsafe { needed_text(desc.name, "name") }?;
        self.builder.reset(name, desc.base_extent);
        self.resources.clear();
        self.queues.clear();
        self.semaphores.clear();
        // SAFETY: the caller's duty.
        unsafe { self.declare(desc) }?;
        if desc.submit_count > 0 {
            // SAFETY: the caller's duty.
            let submits = unsafe { elements(desc.submits, desc.submit_count, SUBMITS) }?;
            for (index, submit) in submits.enumerate() {
                // SAFETY: the caller's duty.
                unsafe { self.submit(&submit?) }.map_err(|fault| fault.at("submits", index))?;
            }
            return Ok(());
        }
        let batch = self.only_batch()?;
        let commands = self.builder.command_buffer(batch, "frame");
        // SAFETY: the caller's duty.
        unsafe { self.passes(commands, desc.passes, desc.pass_count) }
    }

    /// Declares resources, queues and semaphores.
    unsafe fn declare(&mut self, desc: &FrameDesc) -> Result<(), Fault> {
        // SAFETY: the caller's duty.
        let resources = unsafe { elements(desc.resources, desc.resource_count, RESOURCES) }?;
        for (index, resource) in resources.enumerate() {
            let resource = resource?;
            // SAFETY: the caller's duty.
            let id = unsafe { needed_text(resource.name, "name") }.and_then(|name| {
                self.resource(name, &resource)
                    .map_err(|fault| fault.of("resource", name))
            });
            let id = id.map_err(|fault| fault.at("resources", index))?;
            self.resources.push(Declared {
                id,
                flags: resource.flags,
                format: resource.format,
                depth: resource.extent.depth,
                mip_levels: resource.mip_levels,
                array_layers: resource.array_layers,
            });
        }
        // SAFETY: the caller's duty.
        let queues = unsafe { elements(desc.queues, desc.queue_count, QUEUES) }?;
        for (index, queue) in queues.enumerate() {
            let queue = queue?;
            // SAFETY: the caller's duty.
            let name = unsafe { needed_text(queue.name, "name") };
            let name = name.map_err(|fault| fault.at("queues", index))?;
            self.queues.push(self.builder.queue(name, queue.capabilities));
        }
        // SAFETY: the caller's duty.
        let semaphores = unsafe { elements(desc.semaphores, desc.semaphore_count, SEMAPHORES) }?;
        for (index, semaphore) in semaphores.enumerate() {
            let semaphore = semaphore?;
            // SAFETY: the caller's duty.
            let name = unsafe { needed_text(semaphore.name, "name") };
            let name = name.map_err(|fault| fault.at("semaphores", index))?;
            self.semaphores.push(match semaphore.external {
                vk::FALSE => self.builder.semaphore(name),
                _ => self.builder.external_semaphore(name),
            });
        }
        Ok(())
    }

    fn resource(&mut self, name: &str, desc: &ResourceDesc) -> Result<ResourceId, Fault> {
        reserved(desc.reserved)?;
        known_bits(desc.flags, RESOURCE_FLAGS, "ThResourceFlag", "flags")?;
        let persistence = match Persistence::from_number(desc.persistence, "persistence")? {
            Persistence::Transient => frame::Persistence::Transient,
            Persistence::History => frame::Persistence::History,
            Persistence::Swapchain => frame::Persistence::External(ExternalDesc::SWAPCHAIN),
            Persistence::ReadBack => frame::Persistence::External(ExternalDesc::READ_BACK),
            Persistence::External => frame::Persistence::External(ExternalDesc {
                entry: state(&desc.entry).map_err(|fault| fault.within("entry"))?,
                exit: state(&desc.exit).map_err(|fault| fault.within("exit"))?,
            }),
        };
        let constraint = TileConstraint::from_number(desc.tile_constraint, "tileConstraint")?;
        let id = match ResourceType::from_number(desc.resource_type, "resourceType")? {
            ResourceType::Image => self.builder.resource(name, image(desc)?, persistence),
            ResourceType::Buffer => {
                let buffer = BufferDesc {
                    size: Bytes(desc.size),
                    usage: desc.buffer_usage,
                    hook: desc.hook,
                    lists: None,
                };
                self.builder.resource(name, buffer, persistence)
            }
        };
        self.builder.constrain(id, constraint.into());
        Ok(id)
    }

    /// Declares the submit and the batch of a frame with a single command buffer.
    fn only_batch(&mut self) -> Result<BatchId, Fault> {
        let queue = match self.queues[..] {
            [] => self.builder.queue("graphics", vk::QueueFlags::GRAPHICS),
            [only] => only,
            _ => {
                return Err(Fault::argument(
                    "the frame has several queues: describe submits, which name their queue, instead of passes",
                ));
            }
        };
        let submit = self.builder.submit(queue);
        Ok(self.builder.batch(submit))
    }

    unsafe fn submit(&mut self, desc: &SubmitDesc) -> Result<(), Fault> {
        let queue = at(&self.queues, desc.queue, "queue").map_err(|fault| fault.within("queue"))?;
        let submit = self.builder.submit(queue);
        // SAFETY: the caller's duty.
        let batches = unsafe { elements(desc.batches, desc.batch_count, BATCHES) }?;
        for (index, desc) in batches.enumerate() {
            let desc = desc?;
            let batch = self.builder.batch(submit);
            // SAFETY: the caller's duty.
            unsafe { self.batch(batch, &desc) }.map_err(|fault| fault.at("batches", index))?;
        }
        Ok(())
    }

    unsafe fn batch(&mut self, batch: BatchId, desc: &BatchDesc) -> Result<(), Fault> {
        // SAFETY: the caller's duty.
        let waits = unsafe { elements(desc.waits, desc.wait_count, WAITS) }?;
        for (index, wait) in waits.enumerate() {
            let wait = wait?;
            let semaphore = self.semaphore(&wait).map_err(|fault| fault.at("waits", index))?;
            self.builder.wait(batch, semaphore, wait.stages);
        }
        // SAFETY: the caller's duty.
        let signals = unsafe { elements(desc.signals, desc.signal_count, SIGNALS) }?;
        for (index, signal) in signals.enumerate() {
            let signal = signal?;
            let semaphore = self
                .semaphore(&signal)
                .map_err(|fault| fault.at("signals", index))?;
            self.builder.signal(batch, semaphore, signal.stages);
        }
        let (first, count) = (desc.command_buffers, desc.command_buffer_count);
        // SAFETY: the caller's duty.
        for (index, desc) in unsafe { elements(first, count, COMMAND_BUFFERS) }?.enumerate() {
            let desc = desc?;
            // SAFETY: the caller's duty.
            let recorded = unsafe { needed_text(desc.name, "name") }.and_then(|name| {
                let commands = self.builder.command_buffer(batch, name);
                // SAFETY: the caller's duty.
                unsafe { self.passes(commands, desc.passes, desc.pass_count) }
            });
            recorded.map_err(|fault| fault.at("commandBuffers", index))?;
        }
        Ok(())
    }

    fn semaphore(&self, used: &SemaphoreUse) -> Result<SemaphoreId, Fault> {
        at(&self.semaphores, used.semaphore, "semaphore").map_err(|fault| fault.within("semaphore"))
    }

    unsafe fn passes(
        &mut self,
        commands: CommandBufferId,
        passes: *const PassDesc,
        count: u32,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's duty.
        for (index, desc) in unsafe { elements(passes, count, PASSES) }?.enumerate() {
            let desc = desc?;
            // SAFETY: the caller's duty.
            let described = unsafe { needed_text(desc.name, "name") }.and_then(|name| {
                // SAFETY: the caller's duty.
                let accesses = unsafe { elements(desc.accesses, desc.access_count, ACCESSES) };
                accesses
                    .and_then(|accesses| self.pass(commands, name, &desc, accesses))
                    .map_err(|fault| fault.of("pass", name))
            });
            described.map_err(|fault| fault.at("passes", index))?;
        }
        Ok(())
    }

    fn pass(
        &mut self,
        commands: CommandBufferId,
        name: &str,
        desc: &PassDesc,
        accesses: impl Iterator<Item = Result<AccessDesc, Fault>>,
    ) -> Result<(), Fault> {
        known_bits(desc.flags, PASS_FLAGS, "ThPassFlag", "flags")?;
        let kind = match PassType::from_number(desc.pass_type, "passType")? {
            PassType::Render => PassKind::Render,
            PassType::Compute => PassKind::Compute,
            PassType::Transfer => PassKind::Transfer,
        };
        let skipped = match SkippedOutputs::from_number(desc.skipped_outputs, "skippedOutputs")? {
            SkippedOutputs::None => None,
            SkippedOutputs::Kept => Some(Skipped::Kept),
            SkippedOutputs::Lost => Some(Skipped::Lost),
        };
        let has = |flag: PassFlag| desc.flags & flag as u32 != 0;
        if desc.repeat_bytes != 0 && !has(PassFlag::Strips) {
            return Err(unused("repeatBytes", "TH_PASS_FLAG_STRIPS"));
        }
        if desc.render_area != vk::Rect2D::default() && !has(PassFlag::RenderArea) {
            return Err(unused("renderArea", "TH_PASS_FLAG_RENDER_AREA"));
        }
        let mut pass = self.builder.pass(commands, name, kind);
        pass = pass.views(desc.view_mask).hook(desc.hook);
        if has(PassFlag::Secondary) {
            pass = pass.contents(CommandSource::Secondary);
        }
        if has(PassFlag::TileShading) {
            pass = pass.tile_shading();
        }
        if has(PassFlag::RenderArea) {
            pass = pass.area(desc.render_area);
        }
        if has(PassFlag::Strips) {
            pass = pass.in_strips(Bytes(desc.repeat_bytes));
        }
        if let Some(outputs) = skipped {
            pass = pass.optional(outputs);
        }
        if !desc.samples.is_empty() {
            pass = pass.samples(desc.samples);
        }
        let mut subpass = 0;
        for (index, desc) in accesses.enumerate() {
            let desc = desc?;
            if desc.subpass.wrapping_sub(subpass) == 1 {
                pass = pass.next_subpass();
                subpass += 1;
            }
            let described = match desc.subpass == subpass {
                true => access(pass, &desc, &self.resources),
                false => Err(wrong_subpass(desc.subpass, subpass)),
            };
            pass = described.map_err(|fault| fault.at("accesses", index))?;
        }
        Ok(())
    }
}

/// The fault for an access whose subpass is neither that of the previous access nor the next one.
fn wrong_subpass(own: u32, before: u32) -> Fault {
    let what_to_do = match own < before {
        true => "list accesses in the order of their subpasses",
        false => "every subpass between them needs an access",
    };
    Fault::argument(format!(
        "is {own} after an access of subpass {before}: {what_to_do}"
    ))
    .within("subpass")
}

/// The fault for a field that is set without the flag that uses it.
fn unused(field: &str, flag: &str) -> Fault {
    Fault::argument(format!("is set, but only used with {flag} in flags")).within(field)
}

/// Declares an access to one of the resources.
fn access<'a>(
    pass: PassBuilder<'a>,
    desc: &AccessDesc,
    resources: &[Declared],
) -> Result<PassBuilder<'a>, Fault> {
    known_bits(desc.flags, ACCESS_FLAGS, "ThAccessFlag", "flags")?;
    let kind = access_kind(desc.kind)?;
    let find = |index, field| find(resources, index, "resource").map_err(|fault| fault.within(field));
    let resource = find(desc.resource, "resource")?;
    let source = match kind {
        AccessKind::ResolveAttachment => Some(find(desc.resolve_source, "resolveSource")?.id),
        _ => None,
    };
    let has = |flag: AccessFlag| desc.flags & flag as u32 != 0;
    if desc.view_type != vk::ImageViewType::default() && !has(AccessFlag::ViewType) {
        return Err(unused("viewType", "TH_ACCESS_FLAG_VIEW_TYPE"));
    }
    if desc.reach_texels != 0 && !has(AccessFlag::Reach) {
        return Err(unused("reachTexels", "TH_ACCESS_FLAG_REACH"));
    }
    if desc.measured_savings != 0 && !has(AccessFlag::Measured) {
        return Err(unused("measuredSavings", "TH_ACCESS_FLAG_MEASURED"));
    }
    let (reads, writes) = match (has(AccessFlag::Read), has(AccessFlag::Write)) {
        (false, false) => default_access(kind, desc.load_op)?,
        named => named,
    };
    let load_op = load_op(desc, kind, resource, (reads, writes))?;
    let mut pass = pass.access(resource.id, kind, reads, writes, load_op);
    pass = pass.part(range(&desc.range, resource).map_err(|fault| fault.within("range"))?);
    if !desc.stages.is_empty() {
        pass = pass.at(desc.stages);
    }
    if has(AccessFlag::Previous) {
        pass = pass.previous();
    }
    if has(AccessFlag::ViewType) && !VIEW_TYPES.contains(&desc.view_type) {
        let number = desc.view_type.as_raw();
        return Err(Fault::argument(format!("is {number}, not a VkImageViewType")).within("viewType"));
    }
    if has(AccessFlag::ViewType) || desc.view_format != vk::Format::UNDEFINED {
        pass = pass.viewed(ViewDesc {
            view_type: has(AccessFlag::ViewType).then_some(desc.view_type),
            format: Some(desc.view_format).filter(|format| *format != vk::Format::UNDEFINED),
        });
    }
    if has(AccessFlag::Reach) {
        pass = pass.reaching(match desc.reach_texels {
            u32::MAX => ReadReach::Anywhere,
            texels => ReadReach::Texels(texels),
        });
    }
    if has(AccessFlag::Measured) {
        pass = pass.measured(Bytes(desc.measured_savings));
    }
    if let Some(source) = source {
        pass = pass.resolving(source);
    }
    Ok(pass)
}

/// Returns whether an access without flags reads, and whether it writes.
fn default_access(kind: AccessKind, load_op: vk::AttachmentLoadOp) -> Result<(bool, bool), Fault> {
    Ok(match kind {
        AccessKind::ResolveAttachment | AccessKind::TransferDestination => (false, true),
        AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment => {
            (load_op == vk::AttachmentLoadOp::LOAD, true)
        }
        AccessKind::TileAttachment
        | AccessKind::StorageImage
        | AccessKind::StorageBuffer
        | AccessKind::StorageTexelBuffer
        | AccessKind::DeviceAddress => {
            let message = format!(
                "has neither TH_ACCESS_FLAG_READ nor TH_ACCESS_FLAG_WRITE, but {} needs at least one of them",
                kind.noun()
            );
            return Err(Fault::argument(message).within("flags"));
        }
        _ => (true, false),
    })
}

/// The load operation of an access.
fn load_op(
    desc: &AccessDesc,
    kind: AccessKind,
    resource: &Declared,
    (reads, writes): (bool, bool),
) -> Result<LoadOp, Fault> {
    if !writes || kind == AccessKind::ResolveAttachment {
        return Ok(if writes { LoadOp::DontCare } else { LoadOp::Load });
    }
    if !kind.is_attachment() {
        return Ok(if reads { LoadOp::Load } else { LoadOp::DontCare });
    }
    match desc.load_op {
        vk::AttachmentLoadOp::LOAD => Ok(LoadOp::Load),
        vk::AttachmentLoadOp::DONT_CARE => Ok(LoadOp::DontCare),
        vk::AttachmentLoadOp::CLEAR => Ok(LoadOp::Clear(clear_value(&desc.clear, resource.format))),
        other => {
            let message = format!(
                "is {}: it must be VK_ATTACHMENT_LOAD_OP_LOAD, VK_ATTACHMENT_LOAD_OP_CLEAR or VK_ATTACHMENT_LOAD_OP_DONT_CARE",
                other.as_raw()
            );
            Err(Fault::argument(message).within("loadOp"))
        }
    }
}

/// Converts a clear value, reading the union member for the numeric type of the format.
fn clear_value(clear: &vk::ClearValue, format: vk::Format) -> ClearValue {
    // SAFETY: 16 bytes, regardless of the member that C has written: its other bytes are those of the structure before.
    let words = unsafe { clear.color.uint32 };
    match ClearValue::zero_of(format) {
        ClearValue::Float(_) => ClearValue::Float(words.map(f32::from_bits)),
        ClearValue::Int(_) => ClearValue::Int(words.map(|word| word as i32)),
        ClearValue::Uint(_) => ClearValue::Uint(words),
        ClearValue::DepthStencil(..) => ClearValue::DepthStencil(f32::from_bits(words[0]), words[1]),
    }
}

/// Converts a subresource range; an open end extends over all levels or layers from the first one on.
fn range(range: &vk::ImageSubresourceRange, resource: &Declared) -> Result<SubresourceRange, Fault> {
    let run = |what: &str, first: u32, count: u32, all: u32| match (first, count) {
        (0, 0 | vk::REMAINING_MIP_LEVELS) => Ok(Run::new(0, 0)),
        (_, 0 | vk::REMAINING_MIP_LEVELS) if first < all => Ok(Run::new(first, all)),
        (_, 0 | vk::REMAINING_MIP_LEVELS) => Err(Fault::argument(format!(
            "{what} {first} is out of range: the resource has {}",
            counted(all as usize, what)
        ))),
        _ => match first.checked_add(count) {
            Some(end) => Ok(Run::new(first, end)),
            None => Err(Fault::argument(format!(
                "{what} {first} plus a count of {count} exceeds 32 bits"
            ))),
        },
    };
    let layers = if resource.flags & ResourceFlag::Image3d as u32 != 0 {
        resource.depth >> range.base_mip_level.min(31)
    } else {
        resource.array_layers
    };
    Ok(SubresourceRange {
        aspects: range.aspect_mask,
        levels: run(
            "level",
            range.base_mip_level,
            range.level_count,
            resource.mip_levels.max(1),
        )?,
        layers: run("layer", range.base_array_layer, range.layer_count, layers.max(1))?,
    })
}

fn image(desc: &ResourceDesc) -> Result<ImageDesc, Fault> {
    let vk::Extent3D { width, height, depth } = desc.extent;
    let extent = match (desc.scale, (width, height, depth)) {
        ([0.0, 0.0], (0, 0, _)) => {
            return Err(Fault::argument("has neither extent nor scale: set one of them"));
        }
        ([0.0, 0.0], _) => frame::Extent::Texels(vk::Extent3D {
            depth: depth.max(1),
            ..desc.extent
        }),
        (scale, (0, 0, 0)) => frame::Extent::Scaled(scale),
        _ => return Err(Fault::argument("has both extent and scale: set only one of them")),
    };
    let has = |flag: ResourceFlag| desc.flags & flag as u32 != 0;
    let image_type = match (has(ResourceFlag::Image1d), has(ResourceFlag::Image3d)) {
        (false, false) => vk::ImageType::TYPE_2D,
        (true, false) => vk::ImageType::TYPE_1D,
        (false, true) => vk::ImageType::TYPE_3D,
        (true, true) => return Err(Fault::argument("is both 1D and 3D: set only one of the flags")),
    };
    let samples = match desc.samples.as_raw() {
        0 => vk::SampleCountFlags::TYPE_1,
        _ => desc.samples,
    };
    Ok(ImageDesc {
        image_type,
        mip_levels: desc.mip_levels.max(1),
        array_layers: desc.array_layers.max(1),
        samples,
        usage: desc.image_usage,
        flags: desc.image_flags,
        hook: desc.hook,
        separate_levels: has(ResourceFlag::SeparateLevels),
        ..ImageDesc::new(desc.format, extent)
    })
}

fn state(state: &ExternalState) -> Result<ResourceState, Fault> {
    let family = match ExternalFamily::from_number(state.family, "family")? {
        ExternalFamily::None => None,
        ExternalFamily::External => Some(external::ExternalFamily::External),
        ExternalFamily::Foreign => Some(external::ExternalFamily::Foreign),
    };
    let plain = ResourceState::new(state.layout, state.stages, state.access);
    Ok(ResourceState { family, ..plain })
}

/// Returns a copy of the element at an index from C.
pub(crate) fn at<T: Copy>(elements: &[T], index: u32, what: &str) -> Result<T, Fault> {
    find(elements, index, what).copied()
}

/// Returns the id at an index from C.
pub(crate) fn nth<T>(mut ids: impl ExactSizeIterator<Item = T>, index: u32, what: &str) -> Result<T, Fault> {
    let count = ids.len();
    ids.nth(index as usize).ok_or_else(|| {
        Fault::argument(format!(
            "{what} {index} is out of range: the frame has {}",
            counted(count, what)
        ))
    })
}

/// Returns the element at an index from C.
fn find<'a, T>(elements: &'a [T], index: u32, what: &str) -> Result<&'a T, Fault> {
    elements.get(index as usize).ok_or_else(|| {
        Fault::argument(format!(
            "{what} {index} is out of range: the frame has {}",
            counted(elements.len(), what)
        ))
    })
}
