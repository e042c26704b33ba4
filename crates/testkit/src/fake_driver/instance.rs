//! Instance and physical device.

use std::ffi::{CStr, CString};

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi;
use tileheap::runtime::Capabilities;
use tileheap_layer::{array, chained, fill, given, store};

use super::config::Config;
use super::entry::{DEBUG_UTILS, Since, V1_0, attempt, entry_points};
use super::memory;
use super::records::{Detail, Enabled, ImageFacts};
use super::state::{enter, enter_current};
use super::tile_shading::read_parts;

/// Panic message if a string that the driver reports does not fit into Vulkan's structures.
const SHORT: &str = "names and versions that the driver reports fit into Vulkan's arrays";

fn extension(name: &CStr) -> vk::ExtensionProperties {
    let properties = vk::ExtensionProperties::default().spec_version(1);
    properties.extension_name(name).expect(SHORT)
}

/// Calls a macro with every feature structure, a bit of it, and the capability that the bit stands for.
macro_rules! feature_bits {
    ($visit:ident) => {
        $visit! {
            vk::PhysicalDeviceVulkan12Features<'_>: timeline_semaphore => TIMELINE_SEMAPHORE;
            vk::PhysicalDeviceVulkan12Features<'_>: buffer_device_address => BUFFER_DEVICE_ADDRESS;
            vk::PhysicalDeviceVulkan13Features<'_>: synchronization2 => SYNCHRONIZATION_2;
            vk::PhysicalDeviceVulkan13Features<'_>: dynamic_rendering => DYNAMIC_RENDERING;
            vk::PhysicalDeviceVulkan13Features<'_>: maintenance4 => MAINTENANCE_4;
            vk::PhysicalDeviceSynchronization2Features<'_>: synchronization2 => SYNCHRONIZATION_2;
            vk::PhysicalDeviceDynamicRenderingFeatures<'_>: dynamic_rendering => DYNAMIC_RENDERING;
            vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>: timeline_semaphore => TIMELINE_SEMAPHORE;
            vk::PhysicalDeviceMaintenance4Features<'_>: maintenance4 => MAINTENANCE_4;
            vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>: buffer_device_address => BUFFER_DEVICE_ADDRESS;
            vk::PhysicalDeviceSubpassMergeFeedbackFeaturesEXT<'_>: subpass_merge_feedback => SUBPASS_MERGE_FEEDBACK;
            ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>: tile_memory_heap => TILE_MEMORY;
            vk::PhysicalDeviceTilePropertiesFeaturesQCOM<'_>: tile_properties => TILE_PROPERTIES;
            ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>: tile_shading => TILE_SHADING;
        }
    };
}

entry_points! {
    look_up:
    Since::Global => vk::PFN_vkEnumerateInstanceVersion(version) {
        let call = enter_current("vkEnumerateInstanceVersion");
        store!(version, call.driver.config.api_version);
        vk::Result::SUCCESS
    }

    Since::Global => vk::PFN_vkEnumerateInstanceExtensionProperties(_, count, out) {
        let listed = [ash::ext::debug_utils::NAME, ash::khr::surface::NAME].map(extension);
        fill!(&listed, count, out)
    }

    Since::Global => vk::PFN_vkEnumerateInstanceLayerProperties(count, out) {
        fill!(&[], count, out)
    }

    Since::Global => vk::PFN_vkCreateInstance(info, _, out) {
        let mut call = enter_current("vkCreateInstance");
        attempt!(call, fail);
        let info = given!(info);
        let names = array!(info.pp_enabled_extension_names, info.enabled_extension_count);
        let extensions = names.iter().map(|name| {
            // SAFETY: Valid usage: names end in NUL.
            CString::from(unsafe { CStr::from_ptr(*name) })
        });
        let instance: vk::Instance = call.create(0, &[], Detail::Instance(extensions.collect()));
        call.make(
            vk::ObjectType::PHYSICAL_DEVICE,
            instance.as_raw(),
            &[],
            Detail::Nothing,
        );
        store!(out, instance);
        vk::Result::SUCCESS
    }

    Since::Instance => vk::PFN_vkDestroyInstance(instance, _) |call| {
        call.destroy(instance);
    }

    Since::Instance => vk::PFN_vkEnumeratePhysicalDevices(instance, count, out) |call may fail| {
        let devices: Vec<vk::PhysicalDevice> = (call.objects.iter())
            .filter(|(_, record)| {
                record.kind == vk::ObjectType::PHYSICAL_DEVICE && record.parent == instance.as_raw()
            })
            .map(|(handle, _)| vk::PhysicalDevice::from_raw(*handle))
            .collect();
        fill!(&devices, count, out)
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceProperties(device, out) |call| {
        store!(out, properties(&call.driver.config));
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceProperties2(device, out) |call| {
        let config = &call.driver.config;
        let out = given!(mut out);
        out.properties = properties(config);
        if let Some(limits) = chained!(mut out.p_next => vk::PhysicalDeviceMaintenance3Properties<'_>) {
            limits.max_memory_allocation_size = config.largest_allocation.unwrap_or(config.heap_size);
            limits.max_per_set_descriptors = 1024;
        }
        if let Some(views) = chained!(mut out.p_next => vk::PhysicalDeviceMultiviewProperties<'_>) {
            views.max_multiview_view_count = 6;
            views.max_multiview_instance_index = (1 << 27) - 1;
        }
        if let Some(driver) = chained!(mut out.p_next => vk::PhysicalDeviceDriverProperties<'_>) {
            *driver = driver.driver_name(c"fake").expect(SHORT);
            *driver = driver.driver_info(c"tracks objects").expect(SHORT);
        }
        if let Some(tile) = chained!(mut out.p_next => ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM<'_>) {
            if config.tile.extension {
                tile.queue_submit_boundary = config.tile.queue_submit_boundary.into();
                tile.tile_buffer_transfers = config.tile.buffer_transfers.into();
            }
        }
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceToolProperties(device, count, out) |call may fail| {
        let tool = |name| vk::PhysicalDeviceToolProperties::default().name(name).expect(SHORT);
        let emulator = tool(c"fake emulator").version(c"1.2").expect(SHORT);
        let tools = [tool(c"fake debugger"), emulator.layer(ffi::EMULATOR_LAYER_NAME).expect(SHORT)];
        let shown = if call.driver.config.tile.emulated { 2 } else { 1 };
        fill!(&tools[..shown], count, out)
    }

    DEBUG_UTILS => vk::PFN_vkCreateDebugUtilsMessengerEXT(instance, info, _, out) |call may fail| {
        if given!(info).pfn_user_callback.is_none() {
            // VUID-VkDebugUtilsMessengerCreateInfoEXT-pfnUserCallback-01914.
            call.violation("a messenger without a callback");
        }
        let messenger: vk::DebugUtilsMessengerEXT = call.create(instance.as_raw(), &[], Detail::Nothing);
        store!(out, messenger);
        vk::Result::SUCCESS
    }

    DEBUG_UTILS => vk::PFN_vkDestroyDebugUtilsMessengerEXT(instance, messenger, _) |call| {
        call.destroy(messenger);
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceFeatures(device, out) |_call| {
        store!(out, features());
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceFeatures2(device, out) |call| {
        let offered = call.driver.config.offered_features();
        let out = given!(mut out);
        out.features = features();
        macro_rules! report {
            ($($structure:ty: $bit:ident => $capability:ident;)*) => {$(
                if let Some(one) = chained!(mut out.p_next => $structure) {
                    one.$bit = offered.contains(Capabilities::$capability).into();
                }
            )*};
        }
        feature_bits!(report);
        if let Some(shading) = chained!(mut out.p_next => ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>) {
            (call.driver.config.tile_shading)(shading);
        }
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceMemoryProperties(device, out) |call| {
        store!(out, call.driver.config.memory());
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceMemoryProperties2(device, out) |call| {
        let out = given!(mut out);
        out.memory_properties = call.driver.config.memory();
        if let Some(budgets) = chained!(mut out.p_next => vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>) {
            (budgets.heap_budget[0], budgets.heap_usage[0]) = call.heap_use;
        }
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties(device, count, out) |_call| {
        let _: vk::Result = fill!(&Config::queue_families(), count, out);
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceFormatProperties(device, format, out) |_call| {
        let stored = !tileheap::format::info(format).is_some_and(|info| info.srgb);
        let mut features = vk::FormatFeatureFlags::from_raw(u32::MAX);
        if !stored {
            features &= !vk::FormatFeatureFlags::STORAGE_IMAGE;
        }
        given!(mut out).optimal_tiling_features = features;
    }

    Since::Instance => vk::PFN_vkGetPhysicalDeviceImageFormatProperties2(device, info, out) |call may fail| {
        let info = given!(info);
        let asked = ImageFacts {
            format: info.format,
            kind: info.ty,
            tiling: info.tiling,
            usage: info.usage,
            mips: 1,
            layers: 1,
            samples: 1,
            ..Default::default()
        };
        match image_format(&call.driver.config, &asked) {
            Ok(properties) => {
                given!(mut out).image_format_properties = properties;
                vk::Result::SUCCESS
            }
            Err(error) => error,
        }
    }

    Since::Instance => vk::PFN_vkEnumerateDeviceExtensionProperties(device, _, count, out) |call may fail| {
        let listed: Vec<vk::ExtensionProperties> =
            call.driver.config.listed_extensions().into_iter().map(extension).collect();
        fill!(&listed, count, out)
    }

    Since::Instance => vk::PFN_vkCreateDevice(physical_device, info, _, out) |call may fail| {
        let config = &call.driver.config;
        let info = given!(info);
        // SAFETY: Valid usage: the chain is valid.
        let enabled = unsafe { requested_features(info) };
        let listed = config.listed_extensions();
        if enabled
            .extensions
            .iter()
            .any(|name| !listed.contains(&name.as_c_str()))
        {
            return call.refuse(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        }
        if !config.offered_features().contains(enabled.features) {
            return call.refuse(vk::Result::ERROR_FEATURE_NOT_PRESENT);
        }
        // A physical device is not a parent: it cannot be destroyed.
        let instance = call.objects[&physical_device.as_raw()].parent;
        let device: vk::Device = call.create(instance, &[], Detail::Device(enabled));
        for queue in array!(info.p_queue_create_infos, info.queue_create_info_count) {
            for index in 0..queue.queue_count {
                let detail = Detail::Queue {
                    family: queue.queue_family_index,
                    index,
                };
                call.make(vk::ObjectType::QUEUE, device.as_raw(), &[], detail);
            }
        }
        store!(out, device);
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkDestroyDevice(device, _) {
        if device == vk::Device::null() {
            return;
        }
        let mut call = enter(device, "vkDestroyDevice");
        if !call.pending.is_empty() {
            call.violation("submissions are pending");
        }
        call.destroy(device);
    }
}

fn properties(config: &Config) -> vk::PhysicalDeviceProperties {
    let mut properties = vk::PhysicalDeviceProperties {
        api_version: config.api_version,
        driver_version: 1,
        vendor_id: 0x5143,
        device_id: 1,
        device_type: vk::PhysicalDeviceType::INTEGRATED_GPU,
        ..Default::default()
    };
    properties.limits = vk::PhysicalDeviceLimits {
        max_image_dimension1_d: 16_384,
        max_image_dimension2_d: 16_384,
        max_image_dimension_cube: 16_384,
        max_framebuffer_width: 16_384,
        max_framebuffer_height: 16_384,
        max_framebuffer_layers: 1024,
        max_image_dimension3_d: 2048,
        max_image_array_layers: 2048,
        max_color_attachments: 8,
        max_per_stage_descriptor_input_attachments: 8,
        max_memory_allocation_count: 4096,
        buffer_image_granularity: config.buffer_image_granularity,
        non_coherent_atom_size: 64,
        min_memory_map_alignment: 64,
        min_uniform_buffer_offset_alignment: 64,
        min_storage_buffer_offset_alignment: 64,
        min_texel_buffer_offset_alignment: 64,
        framebuffer_color_sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        framebuffer_depth_sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        framebuffer_stencil_sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        sampled_image_color_sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        sampled_image_integer_sample_counts: vk::SampleCountFlags::TYPE_1,
        sampled_image_depth_sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        sampled_image_stencil_sample_counts: vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4,
        storage_image_sample_counts: vk::SampleCountFlags::TYPE_1,
        timestamp_period: 1.0,
        ..Default::default()
    };
    properties.device_name(c"Fake tiler").expect(SHORT)
}

/// Features of Vulkan 1.0.
fn features() -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures::default()
        .independent_blend(true)
        .fragment_stores_and_atomics(true)
}

/// The properties of images with these parameters; an error if unsupported.
fn image_format(config: &Config, asked: &ImageFacts) -> Result<vk::ImageFormatProperties, vk::Result> {
    let tile = asked.usage.contains(ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM);
    let refused = config.refused_formats.contains(&asked.format)
        || asked.tiling != vk::ImageTiling::OPTIMAL
        || (tile && !(config.tile.feature && memory::tile_can_hold_image(asked)));
    if refused {
        return Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    }
    let many = if tile { 1 } else { 2048 };
    Ok(vk::ImageFormatProperties {
        max_extent: vk::Extent3D {
            width: 16_384,
            height: 16_384,
            depth: if tile { 1 } else { 2048 },
        },
        max_mip_levels: if tile { 1 } else { 15 },
        max_array_layers: many,
        sample_counts: if tile {
            vk::SampleCountFlags::TYPE_1
        } else {
            vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4
        },
        max_resource_size: config.heap_size,
    })
}

/// The features that a device create info enables.
///
/// # Safety
/// The chain of `info` is valid.
unsafe fn requested_features(info: &vk::DeviceCreateInfo<'_>) -> Enabled {
    let mut enabled = Enabled::default();
    macro_rules! read {
        ($($structure:ty: $bit:ident => $capability:ident;)*) => {$(
            if chained!(info.p_next => $structure).is_some_and(|one| one.$bit != 0) {
                enabled.features |= Capabilities::$capability;
            }
        )*};
    }
    feature_bits!(read);
    read_parts(info, &mut enabled);
    for name in array!(info.pp_enabled_extension_names, info.enabled_extension_count) {
        // SAFETY: Valid usage: names end in NUL.
        enabled
            .extensions
            .push(CString::from(unsafe { CStr::from_ptr(*name) }));
    }
    enabled
}
