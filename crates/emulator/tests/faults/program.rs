//! The application: an instance and a device through the layer, and everything through which the layer reaches down.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::ffi::CStr;

use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::LAYER_NAME;

use crate::driver::{Any, device_look_up};
use crate::loader::{LayerInfo, Unknown, layer, link, set_loader_data};

/// What a program has, destroyed in order whatever became of it.
#[derive(Default)]
pub(crate) struct Owned {
    /// Its device has a feature for dispatches per tile.
    pub(crate) per_tile: bool,
    pub(crate) instance: Option<ash::Instance>,
    pub(crate) device: Option<ash::Device>,
    pub(crate) memory: Vec<vk::DeviceMemory>,
    pub(crate) buffers: Vec<vk::Buffer>,
    pub(crate) images: Vec<vk::Image>,
    pub(crate) image_views: Vec<vk::ImageView>,
    pub(crate) buffer_views: Vec<vk::BufferView>,
    pub(crate) passes: Vec<vk::RenderPass>,
    pub(crate) framebuffers: Vec<vk::Framebuffer>,
    pub(crate) pools: Vec<vk::CommandPool>,
    pub(crate) modules: Vec<vk::ShaderModule>,
    pub(crate) pipelines: Vec<vk::Pipeline>,
    pub(crate) layouts: Vec<vk::PipelineLayout>,
    pub(crate) set_layouts: Vec<vk::DescriptorSetLayout>,
    pub(crate) set_pools: Vec<vk::DescriptorPool>,
    pub(crate) templates: Vec<vk::DescriptorUpdateTemplate>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: Idle, and destroyed in the order of use.
        unsafe {
            if let Some(device) = &self.device {
                let _ = device.device_wait_idle();
                self.pools
                    .iter()
                    .for_each(|handle| device.destroy_command_pool(*handle, None));
                self.modules
                    .iter()
                    .for_each(|handle| device.destroy_shader_module(*handle, None));
                self.pipelines
                    .iter()
                    .for_each(|handle| device.destroy_pipeline(*handle, None));
                self.templates
                    .iter()
                    .for_each(|handle| device.destroy_descriptor_update_template(*handle, None));
                self.layouts
                    .iter()
                    .for_each(|handle| device.destroy_pipeline_layout(*handle, None));
                self.set_pools
                    .iter()
                    .for_each(|handle| device.destroy_descriptor_pool(*handle, None));
                self.set_layouts
                    .iter()
                    .for_each(|handle| device.destroy_descriptor_set_layout(*handle, None));
                self.framebuffers
                    .iter()
                    .for_each(|handle| device.destroy_framebuffer(*handle, None));
                self.passes
                    .iter()
                    .for_each(|handle| device.destroy_render_pass(*handle, None));
                self.image_views
                    .iter()
                    .for_each(|handle| device.destroy_image_view(*handle, None));
                self.buffer_views
                    .iter()
                    .for_each(|handle| device.destroy_buffer_view(*handle, None));
                self.images
                    .iter()
                    .for_each(|handle| device.destroy_image(*handle, None));
                self.buffers
                    .iter()
                    .for_each(|handle| device.destroy_buffer(*handle, None));
                self.memory
                    .iter()
                    .for_each(|handle| device.free_memory(*handle, None));
                device.destroy_device(None);
            }
            if let Some(instance) = &self.instance {
                instance.destroy_instance(None);
            }
        }
    }
}

/// A chain for a create info: nothing, or a structure that nobody knows.
pub(crate) struct Chains {
    unknown: Option<Unknown>,
}

impl Chains {
    fn head(&self) -> Any {
        self.unknown
            .as_ref()
            .map_or(std::ptr::null(), |unknown| (&raw const *unknown).cast())
    }
}

/// `VkPhysicalDeviceVulkan14Features`, which ash 0.38 lacks.
#[repr(C)]
struct Vulkan14Features {
    s_type: vk::StructureType,
    p_next: Any,
    features: [u32; 22],
}

/// What an instance is made of.
pub(crate) struct Options {
    /// Structures that nobody knows are in its chain.
    pub(crate) strange: bool,
    /// The layer emulates whatever the driver has.
    pub(crate) force: bool,
    pub(crate) version: u32,
    pub(crate) profile: &'static CStr,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            strange: false,
            force: false,
            version: vk::API_VERSION_1_3,
            profile: c"generous",
        }
    }
}

pub(crate) const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

impl Owned {
    /// An instance through the layer, and its first device with tile memory.
    pub(crate) fn create(&mut self, strange: bool) -> Result<(vk::Queue, u32), vk::Result> {
        let physical = self.create_instance(&Options {
            strange,
            ..Options::default()
        })?;
        self.create_device(strange, physical)
    }

    /// An instance through the layer.
    pub(crate) fn create_instance(&mut self, options: &Options) -> Result<vk::PhysicalDevice, vk::Result> {
        let Options {
            strange,
            force,
            version,
            profile,
        } = *options;
        // SAFETY: The layer's look-up lives as long as the program.
        let entry = unsafe {
            ash::Entry::from_static_fn(ash::StaticFn {
                get_instance_proc_addr: layer(),
            })
        };
        let values = [profile.as_ptr()];
        let force = vk::Bool32::from(force);
        let setting = vk::LayerSettingEXT {
            p_layer_name: LAYER_NAME.as_ptr(),
            p_setting_name: c"profile".as_ptr(),
            ty: vk::LayerSettingTypeEXT::STRING,
            value_count: 1,
            p_values: values.as_ptr().cast(),
            ..Default::default()
        };
        let settings = [
            setting,
            vk::LayerSettingEXT {
                p_setting_name: c"force".as_ptr(),
                ty: vk::LayerSettingTypeEXT::BOOL32,
                p_values: (&raw const force).cast(),
                ..setting
            },
        ];
        let layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let unknown = Unknown::before((&raw const layer_settings).cast());
        let under = link();
        let chain = LayerInfo {
            s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            p_next: if strange {
                (&raw const unknown).cast()
            } else {
                unknown.p_next
            },
            function: 0,
            payload: (&raw const under).cast(),
        };
        let application = vk::ApplicationInfo::default().api_version(version);
        let extensions = [ash::khr::get_physical_device_properties2::NAME.as_ptr()];
        let mut info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&extensions);
        info.p_next = (&raw const chain).cast();
        // SAFETY: A valid create info with the chain that a loader would hand over.
        let instance = self
            .instance
            .insert(unsafe { entry.create_instance(&info, None) }?);
        // SAFETY: A live instance.
        let all = unsafe { instance.enumerate_physical_devices() }?;
        Ok(all[0])
    }

    /// A device with tile memory.
    pub(crate) fn create_device(
        &mut self,
        strange: bool,
        physical: vk::PhysicalDevice,
    ) -> Result<(vk::Queue, u32), vk::Result> {
        let core13 = vk::PhysicalDeviceVulkan13Features {
            synchronization2: vk::TRUE,
            dynamic_rendering: vk::TRUE,
            ..Default::default()
        };
        self.create_device_with(strange, physical, core13)
    }

    /// The same with features in place of those of Vulkan 1.3.
    pub(crate) fn create_device_with<F: vk::ExtendsDeviceCreateInfo + vk::TaggedStructure>(
        &mut self,
        strange: bool,
        physical: vk::PhysicalDevice,
        mut features: F,
    ) -> Result<(vk::Queue, u32), vk::Result> {
        let instance = self.instance.as_ref().expect("created");
        // SAFETY: A live device.
        let types = unsafe { instance.get_physical_device_memory_properties(physical) };
        let is_tile = |kind: &vk::MemoryType| {
            let heap = types.memory_heaps[kind.heap_index as usize];
            heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
        };
        let tile_type = types
            .memory_types_as_slice()
            .iter()
            .position(is_tile)
            .expect("a tile type");
        let mut under = link();
        under.device_look_up = device_look_up as Any;
        let shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default()
            .tile_shading(true)
            .tile_shading_per_tile_dispatch(self.per_tile);
        let mut heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
        heap.p_next = (&raw const shading).cast_mut().cast();
        let core14 = Vulkan14Features {
            s_type: vk::StructureType::from_raw(55),
            p_next: (&raw const heap).cast(),
            features: [0; 22],
        };
        // SAFETY: A tagged structure begins with type and next.
        unsafe {
            (*(&raw mut features).cast::<vk::BaseInStructure<'_>>()).p_next = (&raw const core14).cast()
        };
        let unknown = Unknown::before((&raw const features).cast());
        let callback = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: if strange {
                (&raw const unknown).cast()
            } else {
                unknown.p_next
            },
            function: 1,
            payload: set_loader_data as Any,
        };
        let chain = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: (&raw const callback).cast(),
            function: 0,
            payload: (&raw const under).cast(),
        };
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0, 1.0])];
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
        Ok((queue, tile_type as u32))
    }

    /// Everything through which the layer reaches down.
    pub(crate) fn run_all(&mut self, strange: bool) -> Result<(), vk::Result> {
        let queue = self.run(strange)?;
        let chains = Chains {
            unknown: strange.then(|| Unknown::before(std::ptr::null())),
        };
        let p_next = chains.head();
        self.run_shaders(queue, p_next)?;
        self.run_passes(queue, p_next)
    }

    /// A command buffer of the first pool.
    pub(crate) fn allocate(
        &self,
        level: vk::CommandBufferLevel,
        p_next: Any,
    ) -> Result<vk::CommandBuffer, vk::Result> {
        let info = vk::CommandBufferAllocateInfo {
            p_next,
            command_pool: self.pools[0],
            level,
            command_buffer_count: 1,
            ..Default::default()
        };
        let device = self.device.as_ref().expect("created");
        // SAFETY: A pool of this device.
        Ok(unsafe { device.allocate_command_buffers(&info) }?[0])
    }

    /// Objects, views, passes, recording, both kinds of submission.
    pub(crate) fn run(&mut self, strange: bool) -> Result<vk::Queue, vk::Result> {
        let (queue, tile_type) = self.create(strange)?;
        let (instance, device) = (
            self.instance.clone().expect("created"),
            self.device.clone().expect("created"),
        );
        let tile = ffi::tile_memory_heap::Device::new(&instance, &device).expect("vkCmdBindTileMemoryQCOM");
        let chains = Chains {
            unknown: strange.then(|| Unknown::before(std::ptr::null())),
        };
        let p_next = chains.head();
        let object = |size| vk::MemoryAllocateInfo {
            p_next,
            allocation_size: size,
            memory_type_index: tile_type,
            ..Default::default()
        };
        // SAFETY: Valid create infos, handles of this device, and recording as Vulkan wants it; `Owned` waits before it destroys.
        unsafe {
            let memory = device.allocate_memory(&object(1 << 20), None)?;
            self.memory.push(memory);

            use vk::BufferUsageFlags as B;
            let usage = B::UNIFORM_TEXEL_BUFFER
                | B::STORAGE_BUFFER
                | B::TRANSFER_DST
                | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
            for second in [false, true] {
                let info = vk::BufferCreateInfo {
                    p_next,
                    size: 4096,
                    usage,
                    ..Default::default()
                };
                let buffer = device.create_buffer(&info, None)?;
                self.buffers.push(buffer);
                if second {
                    let infos = [vk::BindBufferMemoryInfo {
                        p_next,
                        buffer,
                        memory,
                        ..Default::default()
                    }];
                    device.bind_buffer_memory2(&infos)?;
                } else {
                    device.bind_buffer_memory(buffer, memory, 0)?;
                }
            }
            let info = vk::BufferViewCreateInfo {
                p_next,
                buffer: self.buffers[0],
                format: vk::Format::R32_UINT,
                range: vk::WHOLE_SIZE,
                ..Default::default()
            };
            self.buffer_views.push(device.create_buffer_view(&info, None)?);

            use vk::ImageUsageFlags as I;
            let whole = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            for second in [false, true] {
                let info = vk::ImageCreateInfo {
                    p_next,
                    image_type: vk::ImageType::TYPE_2D,
                    format: FORMAT,
                    extent: vk::Extent3D {
                        width: 64,
                        height: 64,
                        depth: 1,
                    },
                    mip_levels: 1,
                    array_layers: 1,
                    samples: vk::SampleCountFlags::TYPE_1,
                    usage: I::COLOR_ATTACHMENT | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM,
                    ..Default::default()
                };
                let image = device.create_image(&info, None)?;
                self.images.push(image);
                if second {
                    let infos = [vk::BindImageMemoryInfo {
                        p_next,
                        image,
                        memory,
                        ..Default::default()
                    }];
                    device.bind_image_memory2(&infos)?;
                } else {
                    device.bind_image_memory(image, memory, 0)?;
                }
                let info = vk::ImageViewCreateInfo {
                    p_next,
                    image,
                    view_type: vk::ImageViewType::TYPE_2D,
                    format: FORMAT,
                    subresource_range: whole,
                    ..Default::default()
                };
                self.image_views.push(device.create_image_view(&info, None)?);
            }
            let attachments = [vk::AttachmentDescription {
                format: FORMAT,
                samples: vk::SampleCountFlags::TYPE_1,
                load_op: vk::AttachmentLoadOp::CLEAR,
                store_op: vk::AttachmentStoreOp::STORE,
                final_layout: vk::ImageLayout::GENERAL,
                ..Default::default()
            }];
            let references = [vk::AttachmentReference {
                attachment: 0,
                layout: vk::ImageLayout::GENERAL,
            }];
            let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
            let mut info = vk::RenderPassCreateInfo::default()
                .attachments(&attachments)
                .subpasses(&subpasses);
            info.p_next = p_next;
            let pass = device.create_render_pass(&info, None)?;
            self.passes.push(pass);
            let mut info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&self.image_views[..1])
                .width(64)
                .height(64)
                .layers(1);
            info.p_next = p_next;
            let framebuffer = device.create_framebuffer(&info, None)?;
            self.framebuffers.push(framebuffer);

            let info = vk::CommandPoolCreateInfo {
                p_next,
                ..Default::default()
            };
            let pool = device.create_command_pool(&info, None)?;
            self.pools.push(pool);
            let info = vk::CommandBufferAllocateInfo {
                p_next,
                command_pool: pool,
                command_buffer_count: 2,
                ..Default::default()
            };
            let commands = device.allocate_command_buffers(&info)?;
            // The second discards what the first leaves: poison between them, and behind them.
            for (bound, commands) in [(true, commands[0]), (false, commands[1])] {
                device.begin_command_buffer(
                    commands,
                    &vk::CommandBufferBeginInfo {
                        p_next,
                        ..Default::default()
                    },
                )?;
                let bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
                tile.cmd_bind_tile_memory(commands, bound.then_some(&bind));
                if bound {
                    device.cmd_fill_buffer(commands, self.buffers[0], 0, vk::WHOLE_SIZE, 1);
                    let clears = [vk::ClearValue::default()];
                    let area = vk::Rect2D {
                        extent: vk::Extent2D {
                            width: 64,
                            height: 64,
                        },
                        ..Default::default()
                    };
                    let mut info = vk::RenderPassBeginInfo::default()
                        .render_pass(pass)
                        .framebuffer(framebuffer)
                        .render_area(area)
                        .clear_values(&clears);
                    info.p_next = p_next;
                    device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
                    device.cmd_end_render_pass(commands);
                } else {
                    // An action command, which also breaks a rule: that is said to nobody.
                    device.cmd_fill_buffer(commands, self.buffers[1], 0, vk::WHOLE_SIZE, 2);
                }
                device.end_command_buffer(commands)?;
            }
            let mut info = vk::SubmitInfo::default().command_buffers(&commands);
            info.p_next = p_next;
            device.queue_submit(queue, &[info], vk::Fence::null())?;
            device.queue_wait_idle(queue)?;
            let infos: Vec<_> = commands
                .iter()
                .map(|commands| vk::CommandBufferSubmitInfo {
                    p_next,
                    command_buffer: *commands,
                    ..Default::default()
                })
                .collect();
            let mut info = vk::SubmitInfo2::default().command_buffer_infos(&infos);
            info.p_next = p_next;
            device.queue_submit2(queue, &[info], vk::Fence::null())?;
            device.queue_wait_idle(queue)?;
        }
        Ok(queue)
    }
}
