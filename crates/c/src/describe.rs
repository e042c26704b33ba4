//! Converts arrays of structures to a frame.

use ash::vk;
use tileheap::frame::external::{self, ExternalDesc, ResourceState};
use tileheap::frame::tables::{CommandSource, PassKind, SkippedOutputs as Skipped};
use tileheap::frame::{
    self, AccessKind, BatchId, BufferDesc, CommandBufferId, Frame, FrameBuilder, ImageDesc, QueueId,
    ResourceId, SemaphoreId,
};
use tileheap::units::Bytes;

use crate::describe_access::{Declared, access, find, unused};
use crate::enums::{
    ExternalFamily, FromNumber, PassFlag, PassType, Persistence, ResourceFlag, ResourceType, SkippedOutputs,
    TileConstraint, access_kind, known_bits,
};
use crate::frame_desc::*;
use crate::status::{Fault, Status};
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

/// A frame that is being described, with the ids of declared objects. Its memory is reused.
#[derive(Default)]
pub(crate) struct Description {
    pub(crate) builder: FrameBuilder,
    resources: Vec<Declared>,
    queues: Vec<QueueId>,
    semaphores: Vec<SemaphoreId>,
    /// The name of the first render pass that has neither attachments nor an area.
    without_attachments: Option<String>,
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
        unsafe { self.describe(&desc) }.map_err(|fault| fault.within("ThFrameDesc"))?;
        match self.without_attachments.take() {
            None => Ok(()),
            // Other faults of the description may be the reason.
            Some(pass) => std::mem::take(&mut self.builder)
                .build()
                .map_err(Fault::from)
                .and(Err(without_attachments(&pass))),
        }
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
        self.without_attachments = None;
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
        let (mut subpass, mut is_attached) = (0, false);
        for (index, desc) in accesses.enumerate() {
            let desc = desc?;
            is_attached |= access_kind(desc.kind)
                .is_ok_and(|kind| kind.is_attachment() || kind == AccessKind::InputAttachment);
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
        if kind == PassKind::Render && !is_attached && !has(PassFlag::RenderArea) {
            self.without_attachments.get_or_insert_with(|| name.to_owned());
        }
        Ok(())
    }
}

/// The fault for a render pass without attachments and without an area: most likely, `passType` was left at 0.
#[cold]
fn without_attachments(pass: &str) -> Fault {
    Fault::new(
        Status::ErrorInvalidFrame,
        "it has no attachments: is it a compute pass (TH_PASS_TYPE_COMPUTE)? Otherwise set its render area (TH_PASS_FLAG_RENDER_AREA)",
    )
    .of("pass", pass)
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
