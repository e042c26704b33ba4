//! Memory, buffers and images of the rig; it destroys them all in the end.

use ash::vk;
use tileheap_device::ffi;

use super::Rig;

/// What the rig destroys, in this order.
#[derive(Default)]
pub struct Owned {
    pub queries: Vec<vk::QueryPool>,
    pub pipelines: Vec<vk::Pipeline>,
    pub layouts: Vec<vk::PipelineLayout>,
    pub set_layouts: Vec<vk::DescriptorSetLayout>,
    pub framebuffers: Vec<vk::Framebuffer>,
    pub passes: Vec<vk::RenderPass>,
    pub views: Vec<vk::ImageView>,
    pub buffer_views: Vec<vk::BufferView>,
    pub images: Vec<vk::Image>,
    pub buffers: Vec<vk::Buffer>,
    pub memory: Vec<vk::DeviceMemory>,
}

impl Owned {
    pub fn destroy(&mut self, device: &ash::Device) {
        // SAFETY: All of this device, idle, users before what they use.
        unsafe {
            self.queries
                .drain(..)
                .for_each(|handle| device.destroy_query_pool(handle, None));
            self.pipelines
                .drain(..)
                .for_each(|handle| device.destroy_pipeline(handle, None));
            self.layouts
                .drain(..)
                .for_each(|handle| device.destroy_pipeline_layout(handle, None));
            self.set_layouts
                .drain(..)
                .for_each(|handle| device.destroy_descriptor_set_layout(handle, None));
            self.framebuffers
                .drain(..)
                .for_each(|handle| device.destroy_framebuffer(handle, None));
            self.passes
                .drain(..)
                .for_each(|handle| device.destroy_render_pass(handle, None));
            self.views
                .drain(..)
                .for_each(|handle| device.destroy_image_view(handle, None));
            self.buffer_views
                .drain(..)
                .for_each(|handle| device.destroy_buffer_view(handle, None));
            self.images
                .drain(..)
                .for_each(|handle| device.destroy_image(handle, None));
            self.buffers
                .drain(..)
                .for_each(|handle| device.destroy_buffer(handle, None));
            self.memory
                .drain(..)
                .for_each(|handle| device.free_memory(handle, None));
        }
    }
}

/// A buffer in ordinary memory that the host reads.
#[derive(Clone, Copy)]
pub struct HostBuffer {
    pub buffer: vk::Buffer,
    pub words: usize,
    at: *const u32,
}

impl HostBuffer {
    /// Its words; the device is done with it.
    pub fn read(&self) -> Vec<u32> {
        // SAFETY: Mapped for as long as the rig lives, coherent, and idle.
        unsafe { std::slice::from_raw_parts(self.at, self.words) }.to_vec()
    }
}

impl Rig {
    pub fn own(&self, keep: impl FnOnce(&mut Owned)) {
        keep(&mut self.owned.lock().expect("no panic while creating"));
    }

    /// The index of the tile heap's memory type.
    pub fn tile_type(&self) -> u32 {
        let heaps = &self.types.memory_heaps;
        let is_tile = |kind: &vk::MemoryType| {
            heaps[kind.heap_index as usize]
                .flags
                .contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
        };
        self.types
            .memory_types_as_slice()
            .iter()
            .position(is_tile)
            .expect("a tile type") as u32
    }

    /// The size of the tile heap.
    pub fn heap_size(&self) -> u64 {
        let heap = self.types.memory_types[self.tile_type() as usize].heap_index;
        self.types.memory_heaps[heap as usize].size
    }

    pub fn allocate(&self, size: u64, memory_type: u32) -> Result<vk::DeviceMemory, vk::Result> {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(memory_type);
        // SAFETY: A type of the device.
        let memory = unsafe { self.device.allocate_memory(&info, None) }?;
        self.own(|owned| owned.memory.push(memory));
        Ok(memory)
    }

    /// A tile memory object.
    pub fn object(&self, size: u64) -> vk::DeviceMemory {
        self.allocate(size, self.tile_type())
            .expect("a tile memory object")
    }

    /// A pool of one occlusion query.
    pub fn query_pool(&self) -> vk::QueryPool {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::OCCLUSION)
            .query_count(1);
        // SAFETY: A live device.
        let pool = unsafe { self.device.create_query_pool(&info, None) }.expect("a query pool");
        self.own(|owned| owned.queries.push(pool));
        pool
    }

    /// A buffer, bound to nothing.
    pub fn buffer(&self, size: u64, usage: vk::BufferUsageFlags) -> vk::Buffer {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: Not empty.
        let buffer = unsafe { self.device.create_buffer(&info, None) }.expect("a buffer");
        self.own(|owned| owned.buffers.push(buffer));
        buffer
    }

    /// A tile buffer, bound to nothing.
    pub fn tile_buffer(&self, size: u64, usage: vk::BufferUsageFlags) -> vk::Buffer {
        self.buffer(size, usage | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM)
    }

    /// A storage buffer of so many words at `offset` of a tile memory object.
    pub fn tile_words(&self, words: u64, object: vk::DeviceMemory, offset: u64) -> vk::Buffer {
        let buffer = self.tile_buffer(words * 4, vk::BufferUsageFlags::STORAGE_BUFFER);
        // SAFETY: New, and the tests choose offsets that its tile requirements allow.
        unsafe { self.device.bind_buffer_memory(buffer, object, offset) }.expect("bound tile memory");
        buffer
    }

    /// What a buffer needs: its ordinary requirements, and tile size and alignment.
    pub fn buffer_needs(&self, buffer: vk::Buffer) -> (vk::MemoryRequirements, (u64, u64)) {
        let mut tile = ffi::TileMemoryRequirementsQCOM::default().size(77).alignment(77);
        let mut needs = vk::MemoryRequirements2::default().push_next(&mut tile);
        let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
        // SAFETY: A buffer of this device.
        unsafe { self.device.get_buffer_memory_requirements2(&info, &mut needs) };
        (needs.memory_requirements, (tile.size, tile.alignment))
    }

    /// What an image needs, likewise.
    pub fn image_needs(&self, image: vk::Image) -> (vk::MemoryRequirements, (u64, u64)) {
        let mut tile = ffi::TileMemoryRequirementsQCOM::default().size(77).alignment(77);
        let mut needs = vk::MemoryRequirements2::default().push_next(&mut tile);
        let info = vk::ImageMemoryRequirementsInfo2::default().image(image);
        // SAFETY: An image of this device.
        unsafe { self.device.get_image_memory_requirements2(&info, &mut needs) };
        (needs.memory_requirements, (tile.size, tile.alignment))
    }

    /// A buffer that the host reads, of zeros.
    pub fn host_buffer(&self, words: usize) -> HostBuffer {
        use vk::MemoryPropertyFlags as P;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let buffer = self.buffer(words as u64 * 4, usage | vk::BufferUsageFlags::TRANSFER_SRC);
        let needs = self.buffer_needs(buffer).0;
        let fits = |(index, kind): &(usize, &vk::MemoryType)| {
            needs.memory_type_bits >> index & 1 == 1
                && kind.property_flags.contains(P::HOST_VISIBLE | P::HOST_COHERENT)
        };
        let kind = self
            .types
            .memory_types_as_slice()
            .iter()
            .enumerate()
            .find(fits)
            .expect("host visible memory")
            .0;
        let memory = self.allocate(needs.size, kind as u32).expect("memory");
        // SAFETY: New, made for each other, mapped once, and at least that long.
        let at = unsafe {
            self.device
                .bind_buffer_memory(buffer, memory, 0)
                .expect("bound memory");
            let all = vk::MemoryMapFlags::empty();
            let at = self
                .device
                .map_memory(memory, 0, vk::WHOLE_SIZE, all)
                .expect("mapped memory")
                .cast::<u32>();
            at.write_bytes(0, words);
            at
        };
        HostBuffer { buffer, words, at }
    }

    /// What a tile image of that size and format is made of.
    pub fn image_info(
        format: vk::Format,
        side: u32,
        usage: vk::ImageUsageFlags,
    ) -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D {
                width: side,
                height: side,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM)
    }

    pub fn image(&self, info: &vk::ImageCreateInfo<'_>) -> vk::Image {
        // SAFETY: The tests' create infos are valid.
        let image = unsafe { self.device.create_image(info, None) }.expect("an image");
        self.own(|owned| owned.images.push(image));
        image
    }

    /// A square tile image at `offset` of an object, and a view of it.
    pub fn tile_image(
        &self,
        format: vk::Format,
        side: u32,
        usage: vk::ImageUsageFlags,
        object: vk::DeviceMemory,
        offset: u64,
    ) -> (vk::Image, vk::ImageView) {
        let image = self.image(&Rig::image_info(format, side, usage));
        // SAFETY: New, and the tests choose offsets that its tile requirements allow.
        unsafe { self.device.bind_image_memory(image, object, offset) }.expect("bound tile memory");
        (image, self.view(image, format))
    }

    pub fn view(&self, image: vk::Image, format: vk::Format) -> vk::ImageView {
        let aspects = match format {
            vk::Format::D32_SFLOAT | vk::Format::D16_UNORM => vk::ImageAspectFlags::DEPTH,
            _ => vk::ImageAspectFlags::COLOR,
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(super::work::whole(aspects));
        // SAFETY: An image of this device, bound.
        let view = unsafe { self.device.create_image_view(&info, None) }.expect("a view");
        self.own(|owned| owned.views.push(view));
        view
    }
}
