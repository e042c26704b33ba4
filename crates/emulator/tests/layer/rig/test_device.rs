//! A device with tile memory: its memory, buffers, images, pipelines and descriptor sets, all destroyed at the end.

use ash::prelude::VkResult;
use ash::vk;
use tileheap_device::ffi;
use tileheap_testkit::glsl::{Stage, compile};
use tileheap_testkit::objects::{
    CreateInfo, Descriptor, Objects, command_buffers, descriptor_set, image_info, stage, view_info,
};

/// The usage bit of images in tile memory.
pub const TILE: vk::ImageUsageFlags = ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;

pub struct TestDevice {
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub family: u32,
    pub queue: vk::Queue,
    pub tile: ffi::tile_memory_heap::Device,
    pub types: vk::PhysicalDeviceMemoryProperties,
    pub pool: vk::CommandPool,
    sets: vk::DescriptorPool,
    objects: Objects,
}

/// A buffer in ordinary memory that is mapped by the host.
#[derive(Clone, Copy)]
pub struct HostBuffer {
    pub buffer: vk::Buffer,
    pub words: usize,
    at: *const u32,
}

impl HostBuffer {
    /// Returns its words; the device no longer uses it.
    pub fn read(&self) -> Vec<u32> {
        // SAFETY: Mapped as long as the rig exists, coherent, and idle.
        unsafe { std::slice::from_raw_parts(self.at, self.words) }.to_vec()
    }
}

/// A compute pipeline with storage buffers, or other descriptors, at bindings 0, 1, … and one word of constants.
#[derive(Clone, Copy)]
pub struct Pipeline {
    pub handle: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    pub set_layout: vk::DescriptorSetLayout,
}

/// The first family that draws and dispatches.
pub fn family(instance: &ash::Instance, physical: vk::PhysicalDevice) -> u32 {
    // SAFETY: A live device.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let found = families
        .iter()
        .position(|family| family.queue_flags.contains(wanted));
    found.expect("a queue") as u32
}

fn needs(ask: impl FnOnce(&mut vk::MemoryRequirements2<'_>)) -> (vk::MemoryRequirements, (u64, u64)) {
    let mut tile = ffi::TileMemoryRequirementsQCOM::default().size(77).alignment(77);
    let mut needs = vk::MemoryRequirements2::default().push_next(&mut tile);
    ask(&mut needs);
    (needs.memory_requirements, (tile.size, tile.alignment))
}

impl TestDevice {
    /// Wraps a device, with a queue of the first family that draws and dispatches.
    pub fn new(instance: &ash::Instance, physical: vk::PhysicalDevice, device: ash::Device) -> TestDevice {
        let objects = Objects::default();
        let family = family(instance, physical);
        let pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(family);
        use vk::DescriptorType as T;
        let counts = [
            (T::STORAGE_BUFFER, 512),
            (T::STORAGE_IMAGE, 64),
            (T::SAMPLED_IMAGE, 16),
            (T::STORAGE_TEXEL_BUFFER, 64),
            (T::INPUT_ATTACHMENT, 16),
        ];
        let sizes = counts.map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
        let sets = vk::DescriptorPoolCreateInfo::default()
            .max_sets(256)
            .pool_sizes(&sizes);
        // SAFETY: A live device with a queue of that family; the command pool is destroyed first.
        let (types, pool, queue) = unsafe {
            (
                instance.get_physical_device_memory_properties(physical),
                device.create_command_pool(&pool, None).expect("a command pool"),
                device.get_device_queue(family, 0),
            )
        };
        TestDevice {
            tile: ffi::tile_memory_heap::Device::new(instance, &device).expect("vkCmdBindTileMemoryQCOM"),
            sets: objects.create(&device, &sets),
            instance: instance.clone(),
            physical,
            device,
            family,
            queue,
            types,
            pool,
            objects,
        }
    }

    /// Destroys everything; command buffers first, in any state.
    pub fn destroy(&self) {
        // SAFETY: Idle, and destroyed once.
        unsafe {
            self.device.device_wait_idle().expect("an idle device");
            self.device.destroy_command_pool(self.pool, None);
            self.objects.destroy(&self.device);
            self.device.destroy_device(None);
        }
    }

    /// Creates an object.
    pub fn create<I: CreateInfo>(&self, info: &I) -> I::Handle {
        self.objects.create(&self.device, info)
    }

    /// Creates an object that a layer or a driver may refuse.
    pub fn try_create<I: CreateInfo>(&self, info: &I) -> VkResult<I::Handle> {
        self.objects.try_create(&self.device, info)
    }

    pub fn is_tile(&self, kind: &vk::MemoryType) -> bool {
        let heap = self.types.memory_heaps[kind.heap_index as usize];
        heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
    }

    /// The index of the tile heap's memory type.
    pub fn tile_type(&self) -> u32 {
        let mut types = self.types.memory_types_as_slice().iter();
        types.position(|kind| self.is_tile(kind)).expect("a tile type") as u32
    }

    /// The size of the tile heap.
    pub fn heap_size(&self) -> u64 {
        let heap = self.types.memory_types[self.tile_type() as usize].heap_index;
        self.types.memory_heaps[heap as usize].size
    }

    pub fn try_allocate(&self, size: u64, memory_type: u32) -> VkResult<vk::DeviceMemory> {
        let info = vk::MemoryAllocateInfo::default().allocation_size(size);
        self.try_create(&info.memory_type_index(memory_type))
    }

    pub fn allocate(&self, size: u64, memory_type: u32) -> vk::DeviceMemory {
        self.try_allocate(size, memory_type).expect("memory")
    }

    /// Allocates memory of the first type that a resource can have.
    pub fn memory_for(&self, needs: &vk::MemoryRequirements) -> vk::DeviceMemory {
        self.allocate(needs.size, needs.memory_type_bits.trailing_zeros())
    }

    /// Allocates a tile memory object.
    pub fn object(&self, size: u64) -> vk::DeviceMemory {
        self.allocate(size, self.tile_type())
    }

    pub fn try_bind_buffer(&self, buffer: vk::Buffer, memory: vk::DeviceMemory, offset: u64) -> VkResult<()> {
        // SAFETY: Handles of this device; the tests bind at wrong offsets on purpose, which is refused.
        unsafe { self.device.bind_buffer_memory(buffer, memory, offset) }
    }

    pub fn bind_buffer(&self, buffer: vk::Buffer, memory: vk::DeviceMemory, offset: u64) {
        self.try_bind_buffer(buffer, memory, offset)
            .expect("bound memory");
    }

    pub fn try_bind_image(&self, image: vk::Image, memory: vk::DeviceMemory, offset: u64) -> VkResult<()> {
        // SAFETY: As above.
        unsafe { self.device.bind_image_memory(image, memory, offset) }
    }

    pub fn bind_image(&self, image: vk::Image, memory: vk::DeviceMemory, offset: u64) {
        self.try_bind_image(image, memory, offset).expect("bound memory");
    }

    /// Creates a buffer that is not bound.
    pub fn buffer(&self, size: u64, usage: vk::BufferUsageFlags) -> vk::Buffer {
        self.create(&vk::BufferCreateInfo::default().size(size).usage(usage))
    }

    /// Creates a tile buffer that is not bound.
    pub fn tile_buffer(&self, size: u64, usage: vk::BufferUsageFlags) -> vk::Buffer {
        self.buffer(size, usage | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM)
    }

    /// Creates a storage buffer of `words` words at `offset` of a tile memory object.
    pub fn tile_words(&self, words: u64, object: vk::DeviceMemory, offset: u64) -> vk::Buffer {
        let buffer = self.tile_buffer(words * 4, vk::BufferUsageFlags::STORAGE_BUFFER);
        self.bind_buffer(buffer, object, offset);
        buffer
    }

    /// The requirements of a buffer: ordinary ones, and tile size and alignment.
    pub fn buffer_needs(&self, buffer: vk::Buffer) -> (vk::MemoryRequirements, (u64, u64)) {
        let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
        // SAFETY: A buffer of this device.
        needs(|out| unsafe { self.device.get_buffer_memory_requirements2(&info, out) })
    }

    /// The requirements of an image, in the same form.
    pub fn image_needs(&self, image: vk::Image) -> (vk::MemoryRequirements, (u64, u64)) {
        let info = vk::ImageMemoryRequirementsInfo2::default().image(image);
        // SAFETY: An image of this device.
        needs(|out| unsafe { self.device.get_image_memory_requirements2(&info, out) })
    }

    /// Creates a host-readable buffer of zeros.
    pub fn host_buffer(&self, words: usize) -> HostBuffer {
        use vk::{BufferUsageFlags as B, MemoryPropertyFlags as P};
        let usage = B::STORAGE_BUFFER | B::TRANSFER_DST | B::TRANSFER_SRC | B::INDIRECT_BUFFER;
        let is_visible =
            |kind: &vk::MemoryType| kind.property_flags.contains(P::HOST_VISIBLE | P::HOST_COHERENT);
        let each = (0u32..).zip(self.types.memory_types_as_slice());
        let visible = each.fold(0, |bits, (index, kind)| {
            bits | u32::from(is_visible(kind)) << index
        });
        let info = vk::BufferCreateInfo::default()
            .size(words as u64 * 4)
            .usage(usage);
        let (buffer, memory) = self.objects.buffer(&self.device, &info, visible);
        let all = vk::MemoryMapFlags::empty();
        // SAFETY: New, mapped once, and at least that long.
        let at = unsafe {
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

    /// Creates a square tile image at `offset` of an object, and a view of it.
    pub fn tile_image(
        &self,
        format: vk::Format,
        side: u32,
        usage: vk::ImageUsageFlags,
        object: vk::DeviceMemory,
        offset: u64,
    ) -> (vk::Image, vk::ImageView) {
        let image = self.create(&image_info(format, side, usage | TILE));
        self.bind_image(image, object, offset);
        (image, self.view(image, format))
    }

    /// Creates an image in ordinary memory, and a view of it.
    pub fn ordinary_image(&self, info: &vk::ImageCreateInfo<'_>) -> (vk::Image, vk::ImageView) {
        let image = self.create(info);
        let (needs, tile) = self.image_needs(image);
        assert_eq!(tile, (0, 0));
        self.bind_image(image, self.memory_for(&needs), 0);
        (image, self.view(image, info.format))
    }

    pub fn view(&self, image: vk::Image, format: vk::Format) -> vk::ImageView {
        self.create(&view_info(image, format, vk::ImageAspectFlags::COLOR))
    }

    pub fn module(&self, stage: Stage, source: &str) -> vk::ShaderModule {
        self.create(&vk::ShaderModuleCreateInfo::default().code(&compile(stage, source, 3)))
    }

    pub fn compute(&self, kinds: &[vk::DescriptorType], source: &str) -> Pipeline {
        self.compute_words(kinds, &compile(Stage::Compute, source, 3), 4)
    }

    /// Like `compute`, from SPIR-V and with `constants` bytes of push constants.
    pub fn compute_words(&self, kinds: &[vk::DescriptorType], words: &[u32], constants: u32) -> Pipeline {
        let stages = vk::ShaderStageFlags::COMPUTE;
        let (layout, set_layout) = self
            .objects
            .pipeline_layout(&self.device, &[], kinds, stages, constants);
        let module = self.create(&vk::ShaderModuleCreateInfo::default().code(words));
        let info = vk::ComputePipelineCreateInfo::default().layout(layout);
        Pipeline {
            handle: self.create(&info.stage(stage(vk::ShaderStageFlags::COMPUTE, module))),
            layout,
            set_layout,
        }
    }

    /// Creates a pipeline layout with these descriptors and without constants, and the layout of their set.
    pub fn layout(
        &self,
        kinds: &[vk::DescriptorType],
        stages: vk::ShaderStageFlags,
    ) -> (vk::PipelineLayout, vk::DescriptorSetLayout) {
        self.objects.pipeline_layout(&self.device, &[], kinds, stages, 4)
    }

    /// Creates a descriptor set for a pipeline.
    pub fn set(&self, pipeline: &Pipeline, descriptors: &[Descriptor]) -> vk::DescriptorSet {
        descriptor_set(&self.device, self.sets, pipeline.set_layout, descriptors)
    }

    /// Creates a compute pipeline for descriptors, and a set of them.
    pub fn work(&self, source: &str, descriptors: &[Descriptor]) -> (Pipeline, vk::DescriptorSet) {
        let kinds: Vec<_> = descriptors.iter().map(|descriptor| descriptor.kind()).collect();
        let pipeline = self.compute(&kinds, source);
        (pipeline, self.set(&pipeline, descriptors))
    }

    /// Records the binding of a compute pipeline and its set.
    pub fn bind_work(&self, commands: vk::CommandBuffer, pipeline: &Pipeline, set: vk::DescriptorSet) {
        let (device, point) = (&self.device, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: Recording; all of one device.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline.handle);
            device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[set], &[]);
        }
    }

    pub fn allocate_commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        command_buffers(&self.device, self.pool, level, 1)[0]
    }
}
