//! Captures a frame with the layer's library under Android's loader, which reads no manifest and does not negotiate.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use ash::vk;
use tileheap_capture::{LAYER, LAYER_NAME, settings};
use tileheap_testkit::android_loader::load;
use tileheap_testkit::objects::{Objects, command_buffers, record};

use super::{folder, read};

/// A setting as `VkLayerSettingEXT`.
fn setting(key: &'static std::ffi::CStr, value: &*const std::ffi::c_char) -> vk::LayerSettingEXT<'static> {
    vk::LayerSettingEXT {
        p_layer_name: LAYER_NAME.as_ptr(),
        p_setting_name: key.as_ptr(),
        ty: vk::LayerSettingTypeEXT::STRING,
        value_count: 1,
        p_values: std::ptr::from_ref(value).cast(),
        ..Default::default()
    }
}

#[test]
fn a_frame_is_captured_under_androids_loader() {
    let library = tileheap_testkit::workspace().join("target/capture/libVkLayer_tileheap_capture.so");
    if !library.is_file() {
        return tileheap_testkit::skip("the capture layer is not staged: bash scripts/stage-capture.sh");
    }
    if std::env::var_os(LAYER.variable(settings::FOLDER)).is_some() {
        return tileheap_testkit::skip("the environment sets a folder, which precedes that of the test");
    }
    let mut layers = load(&library);
    assert_eq!(layers.len(), 1, "{layers:?}");
    let layer = layers.remove(0);
    assert_eq!(&*layer.name, LAYER_NAME);
    assert!(layer.is_global && layer.device_extensions.is_empty(), "{layer:?}");
    assert_eq!(
        layer.instance_extensions,
        [ash::ext::layer_settings::NAME.to_owned()]
    );

    let folder = folder("capture_android");
    let text = std::ffi::CString::new(folder.to_str().expect("UTF-8")).expect("no NUL");
    let values = [text.as_ptr(), c"0".as_ptr(), c"submits:1".as_ptr()];
    let given = [
        setting(c"folder", &values[0]),
        setting(c"frames", &values[1]),
        setting(c"border", &values[2]),
    ];
    let mut given = vk::LayerSettingsCreateInfoEXT::default().settings(&given);
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .push_next(&mut given);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let device_info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    let objects = Objects::default();
    // SAFETY: The library found is a loader; family 0 has a queue; every object is destroyed once, after its last use.
    unsafe {
        let below = ash::Entry::load().expect("a Vulkan loader");
        let instance = layer.create_instance(&below, &info);
        let physical = tileheap_testkit::physical_device(&instance);
        let device = layer.create_device(&below, &instance, physical, &device_info);
        let buffer = vk::BufferCreateInfo::default()
            .size(4096)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        let (buffer, _) = objects.buffer(&device, &buffer, u32::MAX);
        let pool = objects.create(&device, &vk::CommandPoolCreateInfo::default());
        let commands = command_buffers(&device, pool, vk::CommandBufferLevel::PRIMARY, 1);
        record(&device, commands[0], &Default::default(), || {
            device.cmd_fill_buffer(commands[0], buffer, 0, vk::WHOLE_SIZE, 1);
        });
        let batch = vk::SubmitInfo::default().command_buffers(&commands);
        let queue = device.get_device_queue(0, 0);
        device
            .queue_submit(queue, &[batch], vk::Fence::null())
            .expect("a submit");
        device.device_wait_idle().expect("it ends");
        objects.destroy(&device);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
    let (frame, capture) = read(&folder.join("frame-0.json"));
    assert_eq!((frame.passes().len(), capture.frame), (1, 0));
}
