//! The resources of the program: images in tile memory and outside, pipelines, a buffer to read the picture from.

use ash::vk;
use tileheap::ffi::{self, tile_memory_heap};
use tileheap::runtime::{Capabilities, Context};

use crate::bug::Program;
use crate::support::commands::command_pool;
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::{Called, Result, bail, no_tile_memory};
use crate::support::memory::{HostBuffer, Image, PICTURE_USAGE, create_image};
use crate::support::picture::Rendered;
use crate::support::pipeline::{Drawing, plain_target};
use crate::support::shaders::{EXHIBITION_FRAG, FULLSCREEN_VERT, PAINTING_FRAG, Shader};

pub(crate) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 360,
};
pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// A pipeline with its layout.
#[derive(Clone, Copy)]
pub(crate) struct Pipeline {
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
}

/// All objects that recording uses. The process ends with it, so nothing is destroyed after an error.
pub(crate) struct Stage<'a> {
    pub(crate) context: &'a Context,
    pub(crate) device: &'a ash::Device,
    pub(crate) tile: tile_memory_heap::Device,
    /// The object that the dunes and the medallion are bound to, another object over the same bytes, and one that
    /// ends in the middle of the dunes.
    pub(crate) whole: vk::DeviceMemory,
    pub(crate) twin: vk::DeviceMemory,
    pub(crate) smaller: vk::DeviceMemory,
    pub(crate) dunes: Image,
    pub(crate) medallion: Image,
    /// An image that shares the medallion's bytes, bound to `twin`.
    pub(crate) other: Image,
    /// Orders the second submit after the first.
    pub(crate) semaphore: vk::Semaphore,
    /// In ordinary memory: the target of the interlude, and the final picture.
    pub(crate) sketch: Image,
    pub(crate) picture: Image,
    pub(crate) texels: HostBuffer,
    pub(crate) painting: Pipeline,
    pub(crate) exhibition: Pipeline,
    set_layout: SetLayout,
    descriptors: vk::DescriptorPool,
    pub(crate) set: vk::DescriptorSet,
    pub(crate) commands: vk::CommandPool,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(context: &'a Context, program: &Program) -> Result<Stage<'a>> {
        let needed = Capabilities::SYNCHRONIZATION_2 | Capabilities::DYNAMIC_RENDERING;
        if context.support().version() < vk::API_VERSION_1_3
            || !context.support().offered_capabilities().contains(needed)
        {
            bail!("this program needs Vulkan 1.3: choose another device with TILEHEAP_DEVICE");
        }
        if let Some(missing) = context.runtime().missing_requirements().first() {
            return Err(no_tile_memory(missing));
        }
        let device = context.device();
        let tile = tile_memory_heap::Device::new(context.instance(), device).map_err(no_tile_memory)?;

        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::SAMPLED
            | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let image = || create_image(device, FORMAT, EXTENT, usage);
        let (dunes, medallion, other) = (image()?, image()?, image()?);
        let mut needs = ffi::TileMemoryRequirementsQCOM::default();
        let mut ordinary = vk::MemoryRequirements2::default().push_next(&mut needs);
        let info = vk::ImageMemoryRequirementsInfo2::default().image(dunes);
        // SAFETY: the image was just created, and the driver supports the chained structure.
        unsafe { device.get_image_memory_requirements2(&info, &mut ordinary) };
        let (size, alignment) = (needs.size, needs.alignment);
        if size == 0 {
            bail!("the device refuses R8G8B8A8_UNORM in tile memory");
        }
        let half = (size / 2).next_multiple_of(alignment);
        // The medallion first; the dunes after it, or from its middle on.
        let dunes_at = if program.apart {
            size.next_multiple_of(alignment)
        } else {
            half
        };
        let whole = allocate_tile(context, dunes_at + size)?;
        let twin = allocate_tile(context, dunes_at + size)?;
        let smaller = allocate_tile(context, dunes_at + half)?;
        let bound = |image, memory, offset| {
            // SAFETY: the offset is a multiple of the alignment, and the image fits after it.
            unsafe { device.bind_image_memory(image, memory, offset) }.called("vkBindImageMemory")?;
            Image::viewed(device, image, FORMAT, vk::ImageAspectFlags::COLOR)
        };
        let (medallion, dunes) = (bound(medallion, whole, 0)?, bound(dunes, whole, dunes_at)?);
        // SAFETY: the description is complete.
        let semaphore = unsafe { device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }
            .called("vkCreateSemaphore")?;

        let set_layout = SetLayout::new(device, &[&EXHIBITION_FRAG], 0, &[])?;
        let descriptors = create_pool(device, 1, &set_layout.pool_sizes(1))?;
        let set = set_layout.allocate(device, descriptors)?;
        for (binding, image) in (0..).zip([dunes, medallion]) {
            let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
            set_layout.write_image(device, set, binding, image.view, read);
        }
        let commands = command_pool(device, context.queues()[0].family)?;
        let picture = || Image::new(context.runtime(), FORMAT, EXTENT, PICTURE_USAGE);
        Ok(Stage {
            context,
            device,
            tile,
            whole,
            twin,
            smaller,
            dunes,
            medallion,
            other: bound(other, twin, 0)?,
            semaphore,
            sketch: picture()?,
            picture: picture()?,
            texels: HostBuffer::for_texels(context.runtime(), EXTENT)?,
            painting: make_pipeline(device, &[], &PAINTING_FRAG)?,
            exhibition: make_pipeline(device, &[set_layout.handle], &EXHIBITION_FRAG)?,
            set_layout,
            descriptors,
            set,
            commands,
        })
    }

    /// Destroys everything and returns the picture.
    ///
    /// # Safety
    /// The device no longer uses any of it.
    pub(crate) unsafe fn finish(mut self) -> Rendered {
        let device = self.device;
        let texels = self.texels.bytes().to_vec();
        // SAFETY: the caller's duty; objects are destroyed before the objects that they use.
        unsafe {
            device.destroy_command_pool(self.commands, None);
            device.destroy_descriptor_pool(self.descriptors, None);
            for pipeline in [self.painting, self.exhibition] {
                device.destroy_pipeline(pipeline.handle, None);
                device.destroy_pipeline_layout(pipeline.layout, None);
            }
            device.destroy_descriptor_set_layout(self.set_layout.handle, None);
            device.destroy_semaphore(self.semaphore, None);
            for image in [self.dunes, self.medallion, self.other, self.sketch, self.picture] {
                image.destroy(device);
            }
            self.texels.destroy(device);
            for memory in [self.whole, self.twin, self.smaller] {
                device.free_memory(memory, None);
            }
        }
        Rendered {
            extent: EXTENT,
            texels,
        }
    }
}

fn allocate_tile(context: &Context, size: vk::DeviceSize) -> Result<vk::DeviceMemory> {
    let heap = context.runtime().profile().tile.as_ref().expect("asked before");
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(size)
        .memory_type_index(heap.memory_type);
    // SAFETY: the type is the tile heap's, and the feature is enabled.
    unsafe { context.device().allocate_memory(&info, None) }.called("vkAllocateMemory")
}

/// Creates a pipeline that draws a triangle over the whole target.
fn make_pipeline(
    device: &ash::Device,
    sets: &[vk::DescriptorSetLayout],
    fragment: &Shader,
) -> Result<Pipeline> {
    let layout = create_pipeline_layout(device, sets, &[&FULLSCREEN_VERT, fragment])?;
    let target = plain_target(Some(FORMAT), vk::Format::UNDEFINED);
    let handle = Drawing::new(layout, &target, &FULLSCREEN_VERT, Some(fragment)).create(device)?;
    Ok(Pipeline { handle, layout })
}
