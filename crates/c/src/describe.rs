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
use crate::strings::needed_text;
use crate::structs::{elements, read};

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

/// Every type of views.
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

/// The frame that a structure describes.
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
        if desc.submit_count > 0 && desc.pass_count > 0 {
            return Err(Fault::argument(
                "ThFrameDesc has both submits and passes: set only one of them",
            ));
        }
        // SAFETY: the caller's duty.
        let name = unsafe { needed_text(desc.name, &"the name of the frame") }?;
        self.builder.reset(name, desc.base_extent);
        self.resources.clear();
        self.queues.clear();
        self.semaphores.clear();
        // SAFETY: the caller's duty.
        unsafe { self.declare(&desc) }?;
        if desc.submit_count > 0 {
            // SAFETY: the caller's duty.
            for submit in unsafe { elements(desc.submits, desc.submit_count) }? {
                // SAFETY: the caller's duty.
                unsafe { self.submit(&submit?) }?;
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
        let resources = unsafe { elements(desc.resources, desc.resource_count) }?;
        for (index, resource) in resources.enumerate() {
            let resource = resource?;
            // SAFETY: the caller's duty.
            let name = unsafe { needed_text(resource.name, &format_args!("the name of resource {index}")) }?;
            let id = self
                .resource(name, &resource)
                .map_err(|fault| fault.of("resource", name))?;
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
        for (index, queue) in unsafe { elements(desc.queues, desc.queue_count) }?.enumerate() {
            let queue = queue?;
            // SAFETY: the caller's duty.
            let name = unsafe { needed_text(queue.name, &format_args!("the name of queue {index}")) }?;
            self.queues.push(self.builder.queue(name, queue.capabilities));
        }
        // SAFETY: the caller's duty.
        let semaphores = unsafe { elements(desc.semaphores, desc.semaphore_count) }?;
        for (index, semaphore) in semaphores.enumerate() {
            let semaphore = semaphore?;
            // SAFETY: the caller's duty.
            let name =
                unsafe { needed_text(semaphore.name, &format_args!("the name of semaphore {index}")) }?;
            self.semaphores.push(match semaphore.external {
                vk::FALSE => self.builder.semaphore(name),
                _ => self.builder.external_semaphore(name),
            });
        }
        Ok(())
    }

    fn resource(&mut self, name: &str, desc: &ResourceDesc) -> Result<ResourceId, Fault> {
        known_bits(desc.flags, RESOURCE_FLAGS, "ThResourceFlag")?;
        let persistence = match Persistence::from_number(desc.persistence)? {
            Persistence::Transient => frame::Persistence::Transient,
            Persistence::History => frame::Persistence::History,
            Persistence::Swapchain => frame::Persistence::External(ExternalDesc::SWAPCHAIN),
            Persistence::ReadBack => frame::Persistence::External(ExternalDesc::READ_BACK),
            Persistence::External => frame::Persistence::External(ExternalDesc {
                entry: state(&desc.entry)?,
                exit: state(&desc.exit)?,
            }),
        };
        let constraint = TileConstraint::from_number(desc.tile_constraint)?;
        let id = match ResourceType::from_number(desc.resource_type)? {
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

    /// The batch of a frame with a single command buffer.
    fn only_batch(&mut self) -> Result<BatchId, Fault> {
        let queue = match self.queues[..] {
            [] => self.builder.queue("graphics", vk::QueueFlags::GRAPHICS),
            [only] => only,
            _ => return Err(Fault::argument("ThFrameDesc has several queues and no submits")),
        };
        let submit = self.builder.submit(queue);
        Ok(self.builder.batch(submit))
    }

    unsafe fn submit(&mut self, desc: &SubmitDesc) -> Result<(), Fault> {
        let queue = at(&self.queues, desc.queue, "queue")?;
        let submit = self.builder.submit(queue);
        // SAFETY: the caller's duty.
        for batch_desc in unsafe { elements(desc.batches, desc.batch_count) }? {
            let batch_desc = batch_desc?;
            let batch = self.builder.batch(submit);
            // SAFETY: the caller's duty.
            for wait in unsafe { elements(batch_desc.waits, batch_desc.wait_count) }? {
                let wait = wait?;
                let semaphore = at(&self.semaphores, wait.semaphore, "semaphore")?;
                self.builder.wait(batch, semaphore, wait.stages);
            }
            // SAFETY: the caller's duty.
            for signal in unsafe { elements(batch_desc.signals, batch_desc.signal_count) }? {
                let signal = signal?;
                let semaphore = at(&self.semaphores, signal.semaphore, "semaphore")?;
                self.builder.signal(batch, semaphore, signal.stages);
            }
            // SAFETY: the caller's duty.
            let buffers = unsafe { elements(batch_desc.command_buffers, batch_desc.command_buffer_count) }?;
            for buffer in buffers {
                let buffer = buffer?;
                // SAFETY: the caller's duty.
                let name = unsafe { needed_text(buffer.name, &"the name of a command buffer") }?;
                let commands = self.builder.command_buffer(batch, name);
                // SAFETY: the caller's duty.
                unsafe { self.passes(commands, buffer.passes, buffer.pass_count) }?;
            }
        }
        Ok(())
    }

    unsafe fn passes(
        &mut self,
        commands: CommandBufferId,
        passes: *const PassDesc,
        count: u32,
    ) -> Result<(), Fault> {
        // SAFETY: the caller's duty.
        for (index, desc) in unsafe { elements(passes, count) }?.enumerate() {
            let desc = desc?;
            // SAFETY: the caller's duty.
            let name = unsafe { needed_text(desc.name, &format_args!("the name of pass {index}")) }?;
            // SAFETY: the caller's duty.
            let accesses = unsafe { elements(desc.accesses, desc.access_count) };
            let accesses = accesses.map_err(|fault| fault.of("pass", name))?;
            self.pass(commands, name, &desc, accesses)
                .map_err(|fault| fault.of("pass", name))?;
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
        known_bits(desc.flags, PASS_FLAGS, "ThPassFlag")?;
        let kind = match PassType::from_number(desc.pass_type)? {
            PassType::Render => PassKind::Render,
            PassType::Compute => PassKind::Compute,
            PassType::Transfer => PassKind::Transfer,
        };
        let skipped = match SkippedOutputs::from_number(desc.skipped_outputs)? {
            SkippedOutputs::None => None,
            SkippedOutputs::Kept => Some(Skipped::Kept),
            SkippedOutputs::Lost => Some(Skipped::Lost),
        };
        let has = |flag: PassFlag| desc.flags & flag as u32 != 0;
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
            let resource = find(&self.resources, desc.resource, "resource")?;
            if desc.subpass < subpass {
                let own = desc.subpass;
                let message = format!(
                    "access {index} of subpass {own} follows one of subpass {subpass}: list accesses by subpass"
                );
                return Err(Fault::argument(message));
            }
            if desc.subpass > subpass + 1 {
                let own = desc.subpass;
                let message = format!(
                    "access {index} of subpass {own} follows one of subpass {subpass}: every subpass between them needs an access"
                );
                return Err(Fault::argument(message));
            }
            if desc.subpass > subpass {
                pass = pass.next_subpass();
                subpass += 1;
            }
            let source = match access_kind(desc.kind)? {
                AccessKind::ResolveAttachment => {
                    Some(find(&self.resources, desc.resolve_source, "resource")?.id)
                }
                _ => None,
            };
            pass = access(pass, &desc, resource, source).map_err(|fault| fault.at("access", index))?;
        }
        Ok(())
    }
}

/// Declares an access.
fn access<'a>(
    pass: PassBuilder<'a>,
    desc: &AccessDesc,
    resource: &Declared,
    source: Option<ResourceId>,
) -> Result<PassBuilder<'a>, Fault> {
    known_bits(desc.flags, ACCESS_FLAGS, "ThAccessFlag")?;
    let kind = access_kind(desc.kind)?;
    let has = |flag: AccessFlag| desc.flags & flag as u32 != 0;
    let (reads, writes) = match (has(AccessFlag::Read), has(AccessFlag::Write)) {
        (false, false) => usual(kind, desc.load_op)?,
        named => named,
    };
    let load_op = load_op(desc, kind, resource, (reads, writes))?;
    let mut pass = pass.access(resource.id, kind, reads, writes, load_op);
    pass = pass.part(range(&desc.range, resource)?);
    if !desc.stages.is_empty() {
        pass = pass.at(desc.stages);
    }
    if has(AccessFlag::Previous) {
        pass = pass.previous();
    }
    if has(AccessFlag::ViewType) && !VIEW_TYPES.contains(&desc.view_type) {
        return Err(Fault::argument(format!(
            "viewType {} is not a VkImageViewType",
            desc.view_type.as_raw()
        )));
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

/// Returns `true` if an access without flags reads and writes.
fn usual(kind: AccessKind, load_op: vk::AttachmentLoadOp) -> Result<(bool, bool), Fault> {
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
            return Err(Fault::argument(format!(
                "{} is accessed with neither TH_ACCESS_FLAG_READ nor TH_ACCESS_FLAG_WRITE",
                kind.noun()
            )));
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
        other => Err(Fault::argument(format!(
            "loadOp {} is not load, clear or don't care",
            other.as_raw()
        ))),
    }
}

/// The union member of a format's numeric type.
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

/// The part of an image; an open end extends over all levels or layers from the first one on.
fn range(range: &vk::ImageSubresourceRange, resource: &Declared) -> Result<SubresourceRange, Fault> {
    let run = |what: &str, first: u32, count: u32, all: u32| match (first, count) {
        (0, 0 | vk::REMAINING_MIP_LEVELS) => Ok(Run::new(0, 0)),
        (_, 0 | vk::REMAINING_MIP_LEVELS) if first < all => Ok(Run::new(first, all)),
        (_, 0 | vk::REMAINING_MIP_LEVELS) => Err(Fault::argument(format!(
            "{what} {first} does not exist: there are {all}"
        ))),
        _ => match first.checked_add(count) {
            Some(end) => Ok(Run::new(first, end)),
            None => Err(Fault::argument(format!(
                "{what} {first} and {count} more exceed 32 bits"
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
        _ => return Err(Fault::argument("has both extent and scale: set one of them")),
    };
    let has = |flag: ResourceFlag| desc.flags & flag as u32 != 0;
    let image_type = match (has(ResourceFlag::Image1d), has(ResourceFlag::Image3d)) {
        (false, false) => vk::ImageType::TYPE_2D,
        (true, false) => vk::ImageType::TYPE_1D,
        (false, true) => vk::ImageType::TYPE_3D,
        (true, true) => return Err(Fault::argument("is both 1D and 3D: set one of the flags")),
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
    let family = match ExternalFamily::from_number(state.family)? {
        ExternalFamily::None => None,
        ExternalFamily::External => Some(external::ExternalFamily::External),
        ExternalFamily::Foreign => Some(external::ExternalFamily::Foreign),
    };
    let plain = ResourceState::new(state.layout, state.stages, state.access);
    Ok(ResourceState { family, ..plain })
}

/// A copy of an element, by an index from C.
pub(crate) fn at<T: Copy>(elements: &[T], index: u32, what: &str) -> Result<T, Fault> {
    find(elements, index, what).copied()
}

/// An id, by an index from C.
pub(crate) fn nth<T>(mut ids: impl ExactSizeIterator<Item = T>, index: u32, what: &str) -> Result<T, Fault> {
    let count = ids.len();
    ids.nth(index as usize)
        .ok_or_else(|| Fault::argument(format!("{what} {index} does not exist: there are {count}")))
}

/// An element, by an index from C.
fn find<'a, T>(elements: &'a [T], index: u32, what: &str) -> Result<&'a T, Fault> {
    elements.get(index as usize).ok_or_else(|| {
        Fault::argument(format!(
            "{what} {index} does not exist: there are {}",
            elements.len()
        ))
    })
}
