//! The application: an instance and a device through the layer, and all operations in which the layer calls the driver.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::ffi::{CStr, CString};

use ash::prelude::VkResult;
use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::LAYER_NAME;
use tileheap_testkit::objects::{
    CreateInfo, Objects, area, color_attachment, framebuffer_info, image_info, view_info, with_subpasses,
};

use crate::driver::{Any, device_look_up};
use crate::loader::{LayerInfo, Unknown, layer, link, set_loader_data};

/// The objects of a program, which are destroyed even if it fails.
#[derive(Default)]
pub(crate) struct Owned {
    /// True if its device has a feature for dispatches per tile.
    pub(crate) per_tile: bool,
    /// A structure of an unknown type, for the chain of everything that is passed down.
    unknown: Option<Box<Unknown>>,
    pub(crate) instance: Option<ash::Instance>,
    pub(crate) device: Option<ash::Device>,
    objects: Objects,
    pub(crate) memory: vk::DeviceMemory,
    pub(crate) buffers: [vk::Buffer; 2],
    pub(crate) view: vk::ImageView,
    pool: vk::CommandPool,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: Idle, and destroyed in the order of use.
        unsafe {
            if let Some(device) = &self.device {
                let _ = device.device_wait_idle();
                self.objects.destroy(device);
                device.destroy_device(None);
            }
            if let Some(instance) = &self.instance {
                instance.destroy_instance(None);
            }
        }
    }
}

/// `VkPhysicalDeviceVulkan14Features`, which ash 0.38 lacks.
#[repr(C)]
struct Vulkan14Features {
    s_type: vk::StructureType,
    p_next: Any,
    features: [u32; 22],
}

/// Options of an instance.
pub(crate) struct Options {
    /// Adds structures of unknown types to its chain.
    pub(crate) strange: bool,
    /// Makes the layer emulate even if the driver has the extension.
    pub(crate) force: bool,
    pub(crate) version: u32,
    pub(crate) profile: &'static CStr,
    /// Makes the layer check ordinary memory, and append its messages to this file.
    pub(crate) ordinary_log: Option<CString>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            strange: false,
            force: false,
            version: vk::API_VERSION_1_3,
            profile: c"generous",
            ordinary_log: None,
        }
    }
}

pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub(crate) const SIDE: u32 = 64;

impl Owned {
    /// Creates an instance through the layer, its first device with tile memory, and a command pool.
    pub(crate) fn create(&mut self, strange: bool) -> VkResult<(vk::Queue, u32)> {
        self.create_with(&Options {
            strange,
            ..Options::default()
        })
    }

    /// Like `create`, with other options.
    pub(crate) fn create_with(&mut self, options: &Options) -> VkResult<(vk::Queue, u32)> {
        let strange = options.strange;
        let physical = self.create_instance(options)?;
        let made = self.create_device(strange, physical)?;
        self.unknown = strange.then(|| Box::new(Unknown::before(std::ptr::null())));
        self.pool = self.make(vk::CommandPoolCreateInfo::default())?;
        Ok(made)
    }

    /// Creates an instance through the layer.
    pub(crate) fn create_instance(&mut self, options: &Options) -> VkResult<vk::PhysicalDevice> {
        let values = [options.profile.as_ptr()];
        let force = vk::Bool32::from(options.force);
        let setting = vk::LayerSettingEXT {
            p_layer_name: LAYER_NAME.as_ptr(),
            p_setting_name: c"profile".as_ptr(),
            ty: vk::LayerSettingTypeEXT::STRING,
            value_count: 1,
            p_values: values.as_ptr().cast(),
            ..Default::default()
        };
        let force = vk::LayerSettingEXT {
            p_setting_name: c"force".as_ptr(),
            ty: vk::LayerSettingTypeEXT::BOOL32,
            p_values: (&raw const force).cast(),
            ..setting
        };
        let log = options
            .ordinary_log
            .as_ref()
            .map_or(std::ptr::null(), |log| log.as_ptr());
        let log = vk::LayerSettingEXT {
            p_setting_name: c"message_log".as_ptr(),
            p_values: (&raw const log).cast(),
            ..setting
        };
        let is_ordinary = vk::TRUE;
        let ordinary = vk::LayerSettingEXT {
            p_setting_name: c"ordinary".as_ptr(),
            p_values: (&raw const is_ordinary).cast(),
            ..force
        };
        let mut settings = vec![setting, force];
        if options.ordinary_log.is_some() {
            settings.extend([ordinary, log]);
        }
        let layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let unknown = Unknown::before((&raw const layer_settings).cast());
        let under = link();
        let chain = LayerInfo {
            s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            p_next: unknown.head(options.strange),
            function: 0,
            payload: (&raw const under).cast(),
        };
        let application = vk::ApplicationInfo::default().api_version(options.version);
        let extensions = [ash::khr::get_physical_device_properties2::NAME.as_ptr()];
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&extensions);
        info.p_next = (&raw const chain).cast();
        // SAFETY: A valid create info with the chain that a loader would pass.
        let instance = unsafe { layer().create_instance(&info, None) }?;
        let instance = self.instance.insert(instance);
        tileheap_testkit::try_physical_device(instance)
    }

    /// Creates a device with tile memory.
    pub(crate) fn create_device(
        &mut self,
        strange: bool,
        physical: vk::PhysicalDevice,
    ) -> VkResult<(vk::Queue, u32)> {
        let core13 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true);
        self.create_device_with(strange, physical, core13)
    }

    /// Like `create_device`, with features in place of those of Vulkan 1.3.
    pub(crate) fn create_device_with<F: vk::ExtendsDeviceCreateInfo + vk::TaggedStructure>(
        &mut self,
        strange: bool,
        physical: vk::PhysicalDevice,
        features: F,
    ) -> VkResult<(vk::Queue, u32)> {
        let instance = self.instance.as_ref().expect("created");
        // SAFETY: A live device.
        let types = unsafe { instance.get_physical_device_memory_properties(physical) };
        let is_tile = |kind: &vk::MemoryType| {
            let heap = types.memory_heaps[kind.heap_index as usize];
            heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
        };
        let tile_type = types.memory_types_as_slice().iter().position(is_tile);
        let mut under = link();
        under.device_look_up = device_look_up as Any;
        let shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default()
            .tile_shading(true)
            .tile_shading_per_tile_dispatch(self.per_tile);
        let heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
        let heap = before(heap, (&raw const shading).cast());
        let core14 = Vulkan14Features {
            s_type: vk::StructureType::from_raw(55),
            p_next: (&raw const heap).cast(),
            features: [0; 22],
        };
        let features = before(features, (&raw const core14).cast());
        let unknown = Unknown::before((&raw const features).cast());
        let callback = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: unknown.head(strange),
            function: 1,
            payload: set_loader_data as Any,
        };
        let chain = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: (&raw const callback).cast(),
            function: 0,
            payload: (&raw const under).cast(),
        };
        let queues = vk::DeviceQueueCreateInfo::default();
        let queues = [
            queues.queue_priorities(&[1.0, 1.0]),
            queues.queue_priorities(&[1.0]).queue_family_index(1),
        ];
        let extensions = [
            ffi::tile_memory_heap::NAME.as_ptr(),
            ffi::tile_properties::NAME.as_ptr(),
            ffi::tile_shading::NAME.as_ptr(),
            ash::khr::push_descriptor::NAME.as_ptr(),
        ];
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions);
        info.p_next = (&raw const chain).cast();
        // SAFETY: As above.
        let device = unsafe { instance.create_device(physical, &info, None) }?;
        // SAFETY: A queue that the device has.
        let queue = unsafe { device.get_device_queue(0, 1) };
        self.device = Some(device);
        Ok((queue, tile_type.expect("a tile type") as u32))
    }

    pub(crate) fn handles(&self) -> (&ash::Instance, &ash::Device) {
        let instance = self.instance.as_ref().expect("created");
        (instance, self.device.as_ref().expect("created"))
    }

    /// The commands that the extension adds.
    pub(crate) fn tile(&self) -> ffi::tile_memory_heap::Device {
        let (instance, device) = self.handles();
        ffi::tile_memory_heap::Device::new(instance, device).expect("vkCmdBindTileMemoryQCOM")
    }

    /// Null, or a structure of an unknown type.
    pub(crate) fn p_next(&self) -> Any {
        let unknown = self.unknown.as_deref();
        unknown.map_or(std::ptr::null(), |unknown| std::ptr::from_ref(unknown).cast())
    }

    /// Adds that chain to a structure.
    pub(crate) fn chained<T: vk::TaggedStructure>(&self, structure: T) -> T {
        before(structure, self.p_next())
    }

    /// Creates an object with that chain.
    pub(crate) fn make<I: CreateInfo + vk::TaggedStructure>(&self, info: I) -> VkResult<I::Handle> {
        self.make_as_is(&self.chained(info))
    }

    /// Creates an object whose chain is already set.
    pub(crate) fn make_as_is<I: CreateInfo>(&self, info: &I) -> VkResult<I::Handle> {
        self.objects.try_create(self.handles().1, info)
    }

    /// Takes ownership of a pipeline.
    pub(crate) fn keep(&self, pipeline: vk::Pipeline) {
        self.objects.keep(pipeline);
    }

    /// Allocates command buffers from the pool.
    pub(crate) fn allocate<const N: usize>(
        &self,
        level: vk::CommandBufferLevel,
    ) -> VkResult<[vk::CommandBuffer; N]> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(N as u32);
        // SAFETY: A pool of this device.
        let commands = unsafe { self.handles().1.allocate_command_buffers(&self.chained(info)) }?;
        Ok(commands.try_into().expect("so many"))
    }

    /// Begins a command buffer.
    pub(crate) fn begin(&self, commands: vk::CommandBuffer) -> VkResult<()> {
        let info = self.chained(vk::CommandBufferBeginInfo::default());
        // SAFETY: A new command buffer of this device.
        unsafe { self.handles().1.begin_command_buffer(commands, &info) }
    }

    /// Begins a secondary command buffer that inherits tile memory in addition to `of_pass`.
    pub(crate) fn begin_inside<T: vk::TaggedStructure>(
        &self,
        commands: vk::CommandBuffer,
        of_pass: impl FnOnce(Any) -> (vk::CommandBufferInheritanceInfo<'static>, Option<T>),
    ) -> VkResult<()> {
        let inherited = self.chained(ffi::TileMemoryBindInfoQCOM::default().memory(self.memory));
        let (mut inheritance, rendering) = of_pass((&raw const inherited).cast());
        if let Some(rendering) = &rendering {
            inheritance.p_next = std::ptr::from_ref(rendering).cast();
        }
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(&inheritance);
        // SAFETY: As above.
        unsafe {
            self.handles()
                .1
                .begin_command_buffer(commands, &self.chained(info))
        }
    }

    pub(crate) fn submit(&self, queue: vk::Queue, commands: &[vk::CommandBuffer]) -> VkResult<()> {
        let (device, info) = (
            self.handles().1,
            vk::SubmitInfo::default().command_buffers(commands),
        );
        // SAFETY: Recorded command buffers of this device.
        unsafe {
            device.queue_submit(queue, &[self.chained(info)], vk::Fence::null())?;
            device.queue_wait_idle(queue)
        }
    }

    pub(crate) fn submit2(&self, queue: vk::Queue, commands: &[vk::CommandBuffer]) -> VkResult<()> {
        let info = vk::CommandBufferSubmitInfo::default();
        let infos = commands
            .iter()
            .map(|commands| self.chained(info.command_buffer(*commands)));
        let infos: Vec<_> = infos.collect();
        let (device, info) = (
            self.handles().1,
            vk::SubmitInfo2::default().command_buffer_infos(&infos),
        );
        // SAFETY: Recorded command buffers of this device.
        unsafe {
            device.queue_submit2(queue, &[self.chained(info)], vk::Fence::null())?;
            device.queue_wait_idle(queue)
        }
    }

    /// Runs all operations in which the layer calls the driver.
    pub(crate) fn run_all(&mut self, strange: bool) -> VkResult<()> {
        let queue = self.run(strange)?;
        self.run_shaders(queue)?;
        self.run_passes(queue)
    }

    /// Runs objects, views, passes, recording, and both submit commands.
    pub(crate) fn run(&mut self, strange: bool) -> VkResult<vk::Queue> {
        let (queue, tile_type) = self.create(strange)?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(1 << 20);
        self.memory = self.make(info.memory_type_index(tile_type))?;
        let memory = self.memory;

        use vk::BufferUsageFlags as B;
        let usage = B::UNIFORM_TEXEL_BUFFER | B::STORAGE_BUFFER | B::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default()
            .size(4096)
            .usage(usage | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM);
        self.buffers = [self.make(info)?, self.make(info)?];
        let [first, second] = self.buffers;
        let bind = vk::BindBufferMemoryInfo::default().buffer(second).memory(memory);
        // SAFETY: New, and within the object.
        unsafe {
            self.handles().1.bind_buffer_memory(first, memory, 0)?;
            self.handles().1.bind_buffer_memory2(&[self.chained(bind)])?;
        }
        let info = vk::BufferViewCreateInfo::default()
            .buffer(first)
            .format(vk::Format::R32_UINT);
        self.make(info.range(vk::WHOLE_SIZE))?;

        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let info = image_info(FORMAT, SIDE, usage);
        let (first, second) = (self.make(info)?, self.make(info)?);
        let bind = vk::BindImageMemoryInfo::default().image(second).memory(memory);
        // SAFETY: As above.
        unsafe {
            self.handles().1.bind_image_memory(first, memory, 0)?;
            self.handles().1.bind_image_memory2(&[self.chained(bind)])?;
        }
        let color = vk::ImageAspectFlags::COLOR;
        self.view = self.make(view_info(first, FORMAT, color))?;
        self.make(view_info(second, FORMAT, color))?;
        let pass = with_subpasses(&[color_attachment(FORMAT)], 1, |info| self.make(info))?;
        let framebuffer = self.make_framebuffer(pass)?;

        let commands = self.allocate::<2>(vk::CommandBufferLevel::PRIMARY)?;
        let (tile, device) = (self.tile(), self.handles().1);
        // The second discards contents of the first: poison between them, and after them.
        for (bound, commands) in [(true, commands[0]), (false, commands[1])] {
            self.begin(commands)?;
            let bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
            let clears = [vk::ClearValue::default()];
            let info = vk::RenderPassBeginInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .render_area(area(SIDE, SIDE))
                .clear_values(&clears);
            // SAFETY: Recording by Vulkan's rules.
            unsafe {
                tile.cmd_bind_tile_memory(commands, bound.then_some(&bind));
                if bound {
                    device.cmd_fill_buffer(commands, self.buffers[0], 0, vk::WHOLE_SIZE, 1);
                    let contents = vk::SubpassContents::INLINE;
                    device.cmd_begin_render_pass(commands, &self.chained(info), contents);
                    device.cmd_end_render_pass(commands);
                } else {
                    // An action command, which also breaks a rule: no messenger receives the message.
                    device.cmd_fill_buffer(commands, self.buffers[1], 0, vk::WHOLE_SIZE, 2);
                }
                device.end_command_buffer(commands)?;
            }
        }
        self.submit(queue, &commands)?;
        self.submit2(queue, &commands)?;
        Ok(queue)
    }

    /// Creates a framebuffer of the first image.
    pub(crate) fn make_framebuffer(&self, pass: vk::RenderPass) -> VkResult<vk::Framebuffer> {
        self.make(framebuffer_info(pass, &[self.view], SIDE))
    }
}

/// Sets the chain of a structure.
fn before<T: vk::TaggedStructure>(mut structure: T, p_next: Any) -> T {
    // SAFETY: A tagged structure begins with type and next.
    unsafe { (*(&raw mut structure).cast::<vk::BaseInStructure<'_>>()).p_next = p_next.cast() };
    structure
}
