//! What the program is played on: images in tile memory and outside, pipelines, a buffer to read the picture from.

use ash::vk;
use tileheap::ffi::{self, tile_memory_heap};
use tileheap::runtime::{Capabilities, Context};

use crate::bug::Program;
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::{Called, Error, Result};
use crate::support::pipeline::Module;
use crate::support::shaders::{EXHIBITION_FRAG, FULLSCREEN_VERT, PAINTING_FRAG, Shader};

pub(crate) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 360,
};
pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// An image with its view.
#[derive(Clone, Copy, Default)]
pub(crate) struct Image {
    pub(crate) handle: vk::Image,
    pub(crate) view: vk::ImageView,
}

/// A pipeline with its layout.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pipeline {
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
}

/// Everything that is recorded with. The process ends with it, so that nothing is destroyed after a fault.
pub(crate) struct Stage<'a> {
    pub(crate) context: &'a Context,
    pub(crate) device: &'a ash::Device,
    pub(crate) tile: tile_memory_heap::Device,
    /// What the dunes and the medallion are bound to, another object over the same bytes, and one that ends in the
    /// middle of the dunes.
    pub(crate) whole: vk::DeviceMemory,
    pub(crate) twin: vk::DeviceMemory,
    pub(crate) smaller: vk::DeviceMemory,
    pub(crate) whole_size: vk::DeviceSize,
    pub(crate) dunes: Image,
    pub(crate) medallion: Image,
    /// In the bytes of the medallion, and bound to the other object.
    pub(crate) other: Image,
    /// Between two submits.
    pub(crate) semaphore: vk::Semaphore,
    /// In ordinary memory: what the pass in between draws, and the picture that is shown.
    pub(crate) sketch: Image,
    pub(crate) picture: Image,
    pub(crate) texels: vk::Buffer,
    texels_memory: vk::DeviceMemory,
    ordinary: Vec<vk::DeviceMemory>,
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
        if context.support().version() < vk::API_VERSION_1_3 || !context.support().offers().contains(needed) {
            return Err(Error::Unsupported(
                "this program needs Vulkan 1.3: choose another device with TILEHEAP_DEVICE",
            ));
        }
        if let Some(missing) = context.tile().missing().first() {
            return Err(Error::NoTileMemory(missing.to_string()));
        }
        let device = context.device();
        let tile = tile_memory_heap::Device::new(context.instance(), device)
            .map_err(|missing| Error::NoTileMemory(missing.to_string()))?;
        let mut stage = Stage {
            context,
            device,
            tile,
            whole: vk::DeviceMemory::null(),
            twin: vk::DeviceMemory::null(),
            smaller: vk::DeviceMemory::null(),
            whole_size: 0,
            dunes: Image::default(),
            medallion: Image::default(),
            other: Image::default(),
            semaphore: vk::Semaphore::null(),
            sketch: Image::default(),
            picture: Image::default(),
            texels: vk::Buffer::null(),
            texels_memory: vk::DeviceMemory::null(),
            ordinary: Vec::new(),
            painting: Pipeline::default(),
            exhibition: Pipeline::default(),
            set_layout: SetLayout::default(),
            descriptors: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            commands: vk::CommandPool::null(),
        };
        stage.make_tile_images(program.apart)?;
        stage.make_ordinary_images()?;
        stage.make_texels()?;
        stage.make_pipelines()?;
        stage.make_descriptors()?;
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(context.queues()[0].family);
        // SAFETY: the family is one that the device was created with.
        stage.commands = unsafe { device.create_command_pool(&pool, None) }.called("vkCreateCommandPool")?;
        Ok(stage)
    }

    fn make_tile_images(&mut self, apart: bool) -> Result<()> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::SAMPLED
            | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let (dunes, medallion) = (self.create_image(usage)?, self.create_image(usage)?);
        let other = self.create_image(usage)?;
        let mut needs = ffi::TileMemoryRequirementsQCOM::default();
        let mut ordinary = vk::MemoryRequirements2::default().push_next(&mut needs);
        let info = vk::ImageMemoryRequirementsInfo2::default().image(dunes);
        // SAFETY: the image was just created, and the chained struct is known to the driver.
        unsafe { self.device.get_image_memory_requirements2(&info, &mut ordinary) };
        let (size, alignment) = (needs.size, needs.alignment);
        if size == 0 {
            return Err(Error::Unsupported(
                "the device refuses R8G8B8A8_UNORM in tile memory",
            ));
        }
        let half = (size / 2).next_multiple_of(alignment);
        // The medallion first; the dunes behind it, or from its middle on.
        let dunes_at = if apart {
            size.next_multiple_of(alignment)
        } else {
            half
        };
        self.whole_size = dunes_at + size;
        self.whole = self.allocate_tile(self.whole_size)?;
        self.twin = self.allocate_tile(self.whole_size)?;
        self.smaller = self.allocate_tile(dunes_at + half)?;
        for (image, memory, offset) in [
            (medallion, self.whole, 0),
            (dunes, self.whole, dunes_at),
            (other, self.twin, 0),
        ] {
            // SAFETY: the offset is a multiple of the alignment, and the image fits behind it.
            unsafe { self.device.bind_image_memory(image, memory, offset) }.called("vkBindImageMemory")?;
        }
        self.dunes = self.with_view(dunes)?;
        self.medallion = self.with_view(medallion)?;
        self.other = self.with_view(other)?;
        let semaphore = vk::SemaphoreCreateInfo::default();
        // SAFETY: the description is complete.
        self.semaphore =
            unsafe { self.device.create_semaphore(&semaphore, None) }.called("vkCreateSemaphore")?;
        Ok(())
    }

    fn allocate_tile(&self, size: vk::DeviceSize) -> Result<vk::DeviceMemory> {
        let heap = self.context.tile().profile().tile.as_ref().expect("asked before");
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(heap.memory_type);
        // SAFETY: the type is the tile heap's, and the feature is enabled.
        unsafe { self.device.allocate_memory(&info, None) }.called("vkAllocateMemory")
    }

    fn make_ordinary_images(&mut self) -> Result<()> {
        for picture in [false, true] {
            let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
            let image = self.create_image(usage)?;
            // SAFETY: the image was just created.
            let needs = unsafe { self.device.get_image_memory_requirements(image) };
            let memory = self.allocate(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            // SAFETY: the memory has the image's size and one of its types.
            unsafe { self.device.bind_image_memory(image, memory, 0) }.called("vkBindImageMemory")?;
            let image = self.with_view(image)?;
            *(if picture {
                &mut self.picture
            } else {
                &mut self.sketch
            }) = image;
            self.ordinary.push(memory);
        }
        Ok(())
    }

    fn make_texels(&mut self) -> Result<()> {
        let info = vk::BufferCreateInfo::default()
            .size(u64::from(EXTENT.width * EXTENT.height * 4))
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the description is complete.
        self.texels = unsafe { self.device.create_buffer(&info, None) }.called("vkCreateBuffer")?;
        // SAFETY: the buffer was just created.
        let needs = unsafe { self.device.get_buffer_memory_requirements(self.texels) };
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        self.texels_memory = self.allocate(needs, visible)?;
        // SAFETY: the memory has the buffer's size and one of its types.
        unsafe { self.device.bind_buffer_memory(self.texels, self.texels_memory, 0) }
            .called("vkBindBufferMemory")
    }

    fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        wanted: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory> {
        let profile = self.context.tile().profile();
        let fitting = profile.ordinary_type_bits() & profile.type_bits(|kind| kind.flags.contains(wanted));
        let candidates = fitting & needs.memory_type_bits;
        if candidates == 0 {
            return Err(Error::Unsupported("no memory type of the device fits"));
        }
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(candidates.trailing_zeros());
        // SAFETY: the type is one of the device's.
        unsafe { self.device.allocate_memory(&info, None) }.called("vkAllocateMemory")
    }

    fn create_image(&self, usage: vk::ImageUsageFlags) -> Result<vk::Image> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(FORMAT)
            .extent(EXTENT.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: the description is complete, and in the set that every device has.
        unsafe { self.device.create_image(&info, None) }.called("vkCreateImage")
    }

    fn with_view(&self, handle: vk::Image) -> Result<Image> {
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(FORMAT)
            .subresource_range(WHOLE_IMAGE);
        // SAFETY: the image is bound to memory.
        let view = unsafe { self.device.create_image_view(&info, None) }.called("vkCreateImageView")?;
        Ok(Image { handle, view })
    }

    fn make_pipelines(&mut self) -> Result<()> {
        self.set_layout = SetLayout::new(self.device, &[&EXHIBITION_FRAG], 0, &[])?;
        self.painting = self.make_pipeline(&[], &PAINTING_FRAG)?;
        self.exhibition = self.make_pipeline(&[self.set_layout.handle], &EXHIBITION_FRAG)?;
        Ok(())
    }

    /// A triangle over the whole target.
    fn make_pipeline(&self, sets: &[vk::DescriptorSetLayout], fragment: &Shader) -> Result<Pipeline> {
        let device = self.device;
        let layout = create_pipeline_layout(device, sets, &[&FULLSCREEN_VERT, fragment])?;
        let modules = [
            Module::new(device, &FULLSCREEN_VERT)?,
            Module::new(device, fragment)?,
        ];
        let stages = modules.each_ref().map(Module::stage);
        let vertices = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let (viewports, scissors) = ([whole_viewport()], [vk::Rect2D::from(EXTENT)]);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let blends =
            [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&[FORMAT]);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .layout(layout)
            .push_next(&mut rendering);
        // SAFETY: the state is complete, and the layout has what the shaders use.
        let made = unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        let handle = made
            .map_err(|(_, result)| result)
            .called("vkCreateGraphicsPipelines")?[0];
        Ok(Pipeline { handle, layout })
    }

    fn make_descriptors(&mut self) -> Result<()> {
        let (device, layout) = (self.device, &self.set_layout);
        self.descriptors = create_pool(device, 1, &layout.pool_sizes(1))?;
        self.set = layout.allocate(device, self.descriptors)?;
        for (binding, image) in (0..).zip([self.dunes, self.medallion]) {
            let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
            layout.write_image(device, self.set, binding, image.view, read);
        }
        Ok(())
    }

    /// The picture's texels; the device is done with them.
    pub(crate) fn read_texels(&self) -> Result<Vec<[u8; 4]>> {
        let count = (EXTENT.width * EXTENT.height) as usize;
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the memory is host visible and not mapped.
        let mapped = unsafe {
            self.device
                .map_memory(self.texels_memory, 0, vk::WHOLE_SIZE, flags)
        }
        .called("vkMapMemory")?;
        // SAFETY: so many texels were copied there.
        let texels = unsafe { std::slice::from_raw_parts(mapped.cast::<[u8; 4]>(), count) }.to_vec();
        // SAFETY: it was mapped above.
        unsafe { self.device.unmap_memory(self.texels_memory) };
        Ok(texels)
    }

    /// # Safety
    /// The device is done with all of it.
    pub(crate) unsafe fn destroy(self) {
        let device = self.device;
        // SAFETY: the caller's duty; users go before what they use.
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
                device.destroy_image_view(image.view, None);
                device.destroy_image(image.handle, None);
            }
            device.destroy_buffer(self.texels, None);
            let tile = [self.whole, self.twin, self.smaller, self.texels_memory];
            for memory in tile.into_iter().chain(self.ordinary) {
                device.free_memory(memory, None);
            }
        }
    }
}

pub(crate) const WHOLE_IMAGE: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};

fn whole_viewport() -> vk::Viewport {
    vk::Viewport {
        width: EXTENT.width as f32,
        height: EXTENT.height as f32,
        max_depth: 1.0,
        ..vk::Viewport::default()
    }
}
