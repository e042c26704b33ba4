//! Resources shared by all programs of the gallery: pipelines, the picture, a readback buffer, submits.

use std::cell::RefCell;

use ash::vk;

use crate::gpu::Gpu;
use crate::support::commands::command_pool;
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::{Called, Result, bail};
use crate::support::memory::{Allocator, HostBuffer, Image, PICTURE_USAGE, create_image};
use crate::support::picture::Rendered;
use crate::support::pipeline::{Drawing, Module, plain_target};
use crate::support::shaders::{
    ALIAS_ACCUMULATE_COMP, ALIAS_COPY_COMP, ALIAS_STRIPES_COMP, EXHIBITION_FRAG, FULLSCREEN_VERT,
    PAINTING_FRAG, Shader,
};
use crate::support::sizes::extent;

pub(crate) const EXTENT: vk::Extent2D = extent(256, 144);
pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Bytes of a picture.
pub(crate) const SIZE: vk::DeviceSize = EXTENT.width as u64 * EXTENT.height as u64 * 4;

/// Destroys an object when the program ends.
type Destroy = Box<dyn FnOnce(&ash::Device)>;

/// The objects that every program uses, and those that a program creates in addition.
pub(crate) struct Stage<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) device: &'a ash::Device,
    /// True if the program has its bug.
    pub(crate) wrong: bool,
    /// The memory type of blocks, which every transient resource supports.
    pub(crate) transient_type: u32,
    pub(crate) commands: vk::CommandPool,
    /// Draws a motif (push constants) over the whole target.
    pub(crate) painting: Pipeline,
    /// Draws two images, one over the other.
    pub(crate) exhibition: Pipeline,
    /// Writes stripes to a storage image.
    pub(crate) stripes: Pipeline,
    /// Copies an image to a storage image.
    pub(crate) copy: Pipeline,
    /// Adds an image to a storage buffer.
    pub(crate) accumulate: Pipeline,
    pub(crate) screen: Screen,
    destroys: RefCell<Vec<Destroy>>,
}

/// A pipeline with its pipeline layout and descriptor set layouts.
pub(crate) struct Pipeline {
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    sets: SetLayout,
}

/// The final picture and its readback buffer, each with its own memory.
pub(crate) struct Screen {
    pub(crate) picture: Image,
    pub(crate) texels: HostBuffer,
}

/// The contents of a descriptor.
pub(crate) enum Descriptor {
    Image(vk::ImageView, vk::ImageLayout),
    Buffer(vk::Buffer),
}

impl<'a> Stage<'a> {
    pub(crate) fn new(gpu: &'a Gpu, wrong: bool) -> Result<Stage<'a>> {
        let device = &gpu.device;
        let stage = Stage {
            gpu,
            device,
            wrong,
            transient_type: transient_type(gpu)?,
            commands: command_pool(device, gpu.family)?,
            painting: graphics_pipeline(device, &PAINTING_FRAG)?,
            exhibition: graphics_pipeline(device, &EXHIBITION_FRAG)?,
            stripes: compute_pipeline(device, &ALIAS_STRIPES_COMP)?,
            copy: compute_pipeline(device, &ALIAS_COPY_COMP)?,
            accumulate: compute_pipeline(device, &ALIAS_ACCUMULATE_COMP)?,
            screen: Screen::new(gpu)?,
            destroys: RefCell::default(),
        };
        stage.gpu.set_name(stage.screen.picture.handle, c"picture")?;
        stage.gpu.set_name(stage.screen.texels.handle, c"texels")?;
        Ok(stage)
    }

    /// Schedules an object's destruction for the end; objects are destroyed in reverse order.
    pub(crate) fn keep(&self, destroy: impl FnOnce(&ash::Device) + 'static) {
        self.destroys.borrow_mut().push(Box::new(destroy));
    }

    /// Creates a descriptor set of a pipeline, with these descriptors at its bindings.
    pub(crate) fn set(&self, pipeline: &Pipeline, descriptors: &[Descriptor]) -> Result<vk::DescriptorSet> {
        let (device, sets) = (self.device, &pipeline.sets);
        let pool = create_pool(device, 1, &sets.pool_sizes(1))?;
        // SAFETY: run at the end.
        self.keep(move |device| unsafe { device.destroy_descriptor_pool(pool, None) });
        let set = sets.allocate(device, pool)?;
        for (binding, descriptor) in (0..).zip(descriptors) {
            match *descriptor {
                Descriptor::Image(view, layout) => sets.write_image(device, set, binding, view, layout),
                Descriptor::Buffer(buffer) => {
                    sets.write_buffer(device, set, binding, buffer, (0, vk::WHOLE_SIZE));
                }
            }
        }
        Ok(set)
    }

    /// Submits one command buffer.
    pub(crate) fn submit(&self, commands: vk::CommandBuffer) -> Result<()> {
        self.submit_with(commands, &[], &[])
    }

    /// Submits one command buffer, which waits for semaphores and signals others.
    pub(crate) fn submit_with(
        &self,
        commands: vk::CommandBuffer,
        waits: &[vk::SemaphoreSubmitInfo<'_>],
        signals: &[vk::SemaphoreSubmitInfo<'_>],
    ) -> Result<()> {
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        let batch = vk::SubmitInfo2::default()
            .command_buffer_infos(&commands)
            .wait_semaphore_infos(waits)
            .signal_semaphore_infos(signals);
        // SAFETY: the command buffer is recorded, and no other thread uses the queue.
        unsafe {
            self.device
                .queue_submit2(self.gpu.queue, &[batch], vk::Fence::null())
        }
        .called("vkQueueSubmit2")
    }

    /// Waits for all submitted work.
    pub(crate) fn wait(&self) -> Result<()> {
        // SAFETY: no other thread uses the queue.
        unsafe { self.device.queue_wait_idle(self.gpu.queue) }.called("vkQueueWaitIdle")
    }

    /// Destroys everything and returns the picture.
    ///
    /// # Safety
    /// The device is idle.
    pub(crate) unsafe fn finish(mut self) -> Rendered {
        let device = self.device;
        let texels = self.screen.texels.bytes().to_vec();
        for destroy in self.destroys.take().into_iter().rev() {
            destroy(device);
        }
        // SAFETY: the caller's duty; objects are destroyed before the objects that they use.
        unsafe {
            device.destroy_command_pool(self.commands, None);
            for pipeline in [
                self.painting,
                self.exhibition,
                self.stripes,
                self.copy,
                self.accumulate,
            ] {
                device.destroy_pipeline(pipeline.handle, None);
                device.destroy_pipeline_layout(pipeline.layout, None);
                device.destroy_descriptor_set_layout(pipeline.sets.handle, None);
            }
            self.screen.destroy(device);
        }
        Rendered {
            extent: EXTENT,
            texels,
        }
    }
}

impl Screen {
    pub(crate) fn new(gpu: &Gpu) -> Result<Screen> {
        let memory = Allocator::of_all(&gpu.device, &gpu.memory);
        let usage = PICTURE_USAGE | vk::ImageUsageFlags::SAMPLED;
        Ok(Screen {
            picture: Image::new(memory, FORMAT, EXTENT, usage)?,
            texels: HostBuffer::for_texels(memory, EXTENT)?,
        })
    }

    /// # Safety
    /// The device no longer uses it.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty.
        unsafe {
            self.picture.destroy(device);
            self.texels.destroy(device);
        }
    }
}

/// A device-local memory type that all of a program's transient resources support.
fn transient_type(gpu: &Gpu) -> Result<u32> {
    let device = &gpu.device;
    let usages = [
        (
            FORMAT,
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED,
        ),
        (
            FORMAT,
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC,
        ),
        (
            vk::Format::D16_UNORM,
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        ),
    ];
    let mut bits = u32::MAX;
    for (format, usage) in usages {
        let image = create_image(device, format, EXTENT, usage)?;
        // SAFETY: the image was just created on this device, and nothing uses it.
        unsafe {
            bits &= device.get_image_memory_requirements(image).memory_type_bits;
            device.destroy_image(image, None);
        }
    }
    let info = vk::BufferCreateInfo::default()
        .size(SIZE)
        .usage(vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST);
    // SAFETY: the info is complete and chains nothing.
    let buffer = unsafe { device.create_buffer(&info, None) }.called("vkCreateBuffer")?;
    // SAFETY: the buffer was just created on this device, and nothing uses it.
    unsafe {
        bits &= device.get_buffer_memory_requirements(buffer).memory_type_bits;
        device.destroy_buffer(buffer, None);
    }
    let mut types = (0..).zip(gpu.memory.memory_types_as_slice());
    let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let found = types.find(|(index, kind)| bits >> index & 1 == 1 && kind.property_flags.contains(local));
    match found {
        Some((index, _)) => Ok(index),
        None => bail!("no device-local memory type supports all images and buffers of this program"),
    }
}

/// Creates a pipeline that draws a triangle over the whole target.
fn graphics_pipeline(device: &ash::Device, fragment: &'static Shader) -> Result<Pipeline> {
    let sets = SetLayout::new(device, &[fragment], 0, &[])?;
    let layout = create_pipeline_layout(device, &[sets.handle], &[&FULLSCREEN_VERT, fragment])?;
    let target = plain_target(Some(FORMAT), vk::Format::UNDEFINED);
    let handle = Drawing::new(layout, &target, &FULLSCREEN_VERT, Some(fragment)).create(device)?;
    Ok(Pipeline { handle, layout, sets })
}

fn compute_pipeline(device: &ash::Device, shader: &'static Shader) -> Result<Pipeline> {
    let sets = SetLayout::new(device, &[shader], 0, &[])?;
    let layout = create_pipeline_layout(device, &[sets.handle], &[shader])?;
    let module = Module::new(device, shader)?;
    let info = [vk::ComputePipelineCreateInfo::default()
        .stage(module.stage())
        .layout(layout)];
    // SAFETY: the layout has what the shader uses.
    let handle = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) }
        .map_err(|(_, result)| result)
        .called("vkCreateComputePipelines")?[0];
    Ok(Pipeline { handle, layout, sets })
}
