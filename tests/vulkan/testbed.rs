//! The test bed itself: checks that the validation layer of the other tests is recent enough and active.

use tileheap_testkit as support;
use tileheap_testkit::validation;

use std::ffi::c_void;
use std::sync::Mutex;

use ash::vk;

/// Collects the ids of messages in the `Mutex<Vec<String>>` that `ids` points to.
unsafe extern "system" fn collect(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    ids: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer hands over valid data.
    let data = unsafe { &*data };
    // SAFETY: the id is a C string or null.
    let id = unsafe { data.message_id_name_as_c_str() }.unwrap_or_default();
    // SAFETY: the messenger's creator keeps the vector alive.
    let ids = unsafe { &*ids.cast::<Mutex<Vec<String>>>() };
    ids.lock()
        .expect("no panic in here")
        .push(id.to_string_lossy().into_owned());
    vk::FALSE
}

/// Requests no layer: the environment of `scripts/run-in-testbed.sh` enables one in every program.
#[test]
fn the_layer_sees_every_program() {
    if !validation::is_requested() {
        return support::skip("the run is not validated: TILEHEAP_VALIDATE=1 is not set");
    }
    // SAFETY: the library found is a Vulkan loader.
    let entry = unsafe { ash::Entry::load() }.expect("a Vulkan loader");
    validation::assert_new_enough(&entry);

    let ids: Mutex<Vec<String>> = Mutex::default();
    let severity =
        vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR;
    let kinds = vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::GENERAL;
    let messenger_desc = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(severity)
        .message_type(kinds)
        .pfn_user_callback(Some(collect))
        .user_data((&raw const ids).cast_mut().cast());
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
    let extensions = [ash::ext::debug_utils::NAME.as_ptr()];
    let desc = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_extension_names(&extensions);
    // SAFETY: the names are C strings.
    let instance = unsafe { entry.create_instance(&desc, None) }.expect("an instance");
    let utils = ash::ext::debug_utils::Instance::new(&entry, &instance);
    // SAFETY: `ids` outlives the messenger.
    let messenger =
        unsafe { utils.create_debug_utils_messenger(&messenger_desc, None) }.expect("a messenger");
    let physical_device = tileheap_testkit::physical_device(&instance);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let desc = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: every device has a queue family 0 with a queue.
    let device = unsafe { instance.create_device(physical_device, &desc, None) }.expect("a device");

    // SAFETY: all created above, with a queue of family 0.
    unsafe { validation::make_mistakes(&instance, physical_device, &device, 0) };

    // SAFETY: nothing of the device is left.
    unsafe { device.destroy_device(None) };
    // SAFETY: created above.
    unsafe { utils.destroy_debug_utils_messenger(messenger, None) };
    // SAFETY: nothing of the instance is left.
    unsafe { instance.destroy_instance(None) };
    assert_eq!(
        *ids.lock().expect("no panic while collecting"),
        validation::DELIBERATE
    );
}
