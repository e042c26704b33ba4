//! The fake driver does what it says: without that, tests built on it prove nothing.

use tileheap_testkit::counting;
use tileheap_testkit::fake_driver;

use std::ffi::CStr;

use ash::vk;
use ash::vk::Handle;
use fake_driver::{Call, Command, Config, FakeDriver, Object, Tile, Touched};
use tileheap::ffi::{self, tile_memory_heap};

/// The driver's own allocations do not count.
#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Calls a Vulkan command of `ash`: on the fake driver every call is sound, whatever its handles are.
macro_rules! vulkan {
    ($call:expr) => {{
        // SAFETY: The fake driver dereferences no handle, and what is pointed to here is alive.
        unsafe { $call }
    }};
}

mod chain;
mod commands;
mod objects;

/// A device with everything enabled that its driver offers.
struct Rig {
    driver: FakeDriver,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
}

impl Rig {
    fn new(config: Config) -> Rig {
        let (extension, feature) = (config.tile.extension, config.tile.feature);
        let modern = config.api_version >= vk::API_VERSION_1_3;
        let driver = FakeDriver::new(config);
        let entry = driver.entry();
        let instance = vulkan!(entry.create_instance(&vk::InstanceCreateInfo::default(), None)).unwrap();
        let physical = vulkan!(instance.enumerate_physical_devices()).unwrap()[0];
        let names = if extension {
            vec![tile_memory_heap::NAME.as_ptr()]
        } else {
            Vec::new()
        };
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let mut tile = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(feature);
        let mut newer = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true)
            .maintenance4(true);
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut tile);
        if modern {
            info = info.push_next(&mut newer).push_next(&mut timeline);
        }
        let device = vulkan!(instance.create_device(physical, &info, None)).unwrap();
        let queue = vulkan!(device.get_device_queue(0, 0));
        let pool = vulkan!(device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)).unwrap();
        Rig {
            driver,
            instance,
            physical,
            device,
            queue,
            pool,
        }
    }

    fn image_info(usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D {
                width: 480,
                height: 270,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage)
    }

    fn memory(&self, memory_type: u32, size: u64) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default()
            .memory_type_index(memory_type)
            .allocation_size(size);
        vulkan!(self.device.allocate_memory(&info, None)).unwrap()
    }

    /// An image in memory of `memory_type` (0 is the tile type) and its view.
    fn target(&self, memory_type: u32, memory: vk::DeviceMemory, offset: u64) -> (vk::Image, vk::ImageView) {
        let mut usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        if memory_type == 0 {
            usage |= ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        }
        let image = vulkan!(self.device.create_image(&Rig::image_info(usage), None)).unwrap();
        vulkan!(self.device.bind_image_memory(image, memory, offset)).unwrap();
        let info = vk::ImageViewCreateInfo::default().image(image);
        (
            image,
            vulkan!(self.device.create_image_view(&info, None)).unwrap(),
        )
    }

    fn commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(1);
        vulkan!(self.device.allocate_command_buffers(&info)).unwrap()[0]
    }

    fn begun(&self) -> vk::CommandBuffer {
        let commands = self.commands(vk::CommandBufferLevel::PRIMARY);
        vulkan!(
            self.device
                .begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())
        )
        .unwrap();
        commands
    }

    fn tile(&self) -> tile_memory_heap::Device {
        tile_memory_heap::Device::new(&self.instance, &self.device).unwrap()
    }

    fn begin_rendering(&self, commands: vk::CommandBuffer, view: vk::ImageView, flags: vk::RenderingFlags) {
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .color_attachments(&color);
        vulkan!(self.device.cmd_begin_rendering(commands, &info));
    }

    fn submit(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<(), vk::Result> {
        let buffers = [commands];
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        vulkan!(self.device.queue_submit(self.queue, &[info], fence))
    }

    /// The one violation, or none.
    fn violation(&self) -> String {
        self.driver.violations().join("\n")
    }
}
