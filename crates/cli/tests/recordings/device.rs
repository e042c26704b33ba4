//! A device with synchronization validation and the aliasing layer, and the messages of both.

use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use ash::vk;
use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};

const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";
const ALIASING: &CStr = c"VK_LAYER_TILEHEAP_aliasing";

/// Size in bytes of the memory that all resources are placed in.
const BLOCK: u64 = 4 << 20;

/// A message: its id and text.
pub(crate) type Message = (String, String);

pub(crate) struct Gpu {
    _entry: ash::Entry,
    instance: ash::Instance,
    utils: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    messages: Box<Mutex<Vec<Message>>>,
    pub(crate) device: ash::Device,
    pub(crate) labels: ash::ext::debug_utils::Device,
    pub(crate) queue: vk::Queue,
    pub(crate) family: u32,
    /// Memory for buffers and images of recordings.
    pub(crate) block: vk::DeviceMemory,
}

/// Sets the environment so that the loader finds the staged layer, in addition to those of the test bed.
fn prepare_environment() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/aliasing"));
    let library = folder.join("libVkLayer_tileheap_aliasing.so");
    assert!(
        library.is_file(),
        "no layer at {library:?}: run scripts/stage-aliasing.sh"
    );
    let mut path = std::env::var_os("VK_LAYER_PATH").unwrap_or_default();
    if !path.to_string_lossy().contains("target/aliasing") {
        path.push(":");
        path.push(folder);
        // SAFETY: before the loader is loaded, and no other thread of this program reads the environment.
        unsafe { std::env::set_var("VK_LAYER_PATH", path) };
    }
}

unsafe extern "system" fn listen(
    _: Severity,
    _: Kind,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: a layer passes valid data, with C strings or null.
    let (id, text) = unsafe { ((*data).message_id_name_as_c_str(), (*data).message_as_c_str()) };
    let text_of = |text: Option<&CStr>| text.unwrap_or_default().to_string_lossy().into_owned();
    let id = text_of(id);
    if id.starts_with("TILEHEAP-") || id.starts_with("SYNC-") || id.starts_with("VUID-") {
        // SAFETY: the messenger is destroyed before the messages.
        let messages = unsafe { &*messages.cast::<Mutex<Vec<Message>>>() };
        let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.push((id, text_of(text)));
    }
    vk::FALSE
}

/// A setting of a layer, as text or as a switch.
struct Settings {
    texts: Vec<(&'static CStr, CString, CString)>,
    pointers: Vec<*const std::ffi::c_char>,
    switches: Vec<(&'static CStr, CString, vk::Bool32)>,
}

impl Settings {
    fn new() -> Settings {
        let text = |text: &str| CString::new(text).expect("no NUL");
        let on = || text("true");
        let texts = vec![
            (ALIASING, text("possible"), on()),
            (ALIASING, text("repeats"), on()),
        ];
        let pointers = texts.iter().map(|(_, _, value)| value.as_ptr()).collect();
        let on = |name: &str| (VALIDATION, text(name), vk::TRUE);
        let off = |name: &str| (VALIDATION, text(name), vk::FALSE);
        let switches = vec![
            on("validate_sync"),
            on("syncval_full_validation"),
            off("syncval_record_time_validation"),
            on("syncval_shader_accesses_heuristic"),
            on("syncval_message_extra_properties"),
            on("syncval_load_op_after_store_op_validation"),
            off("enable_message_limit"),
        ];
        Settings {
            texts,
            pointers,
            switches,
        }
    }

    fn structures(&self) -> Vec<vk::LayerSettingEXT<'_>> {
        let texts = self.texts.iter().zip(&self.pointers);
        let texts = texts.map(|((layer, name, _), pointer)| vk::LayerSettingEXT {
            p_layer_name: layer.as_ptr(),
            p_setting_name: name.as_ptr(),
            ty: vk::LayerSettingTypeEXT::STRING,
            value_count: 1,
            p_values: std::ptr::from_ref(pointer).cast(),
            ..Default::default()
        });
        let switches = self
            .switches
            .iter()
            .map(|(layer, name, value)| vk::LayerSettingEXT {
                p_layer_name: layer.as_ptr(),
                p_setting_name: name.as_ptr(),
                ty: vk::LayerSettingTypeEXT::BOOL32,
                value_count: 1,
                p_values: std::ptr::from_ref(value).cast(),
                ..Default::default()
            });
        texts.chain(switches).collect()
    }
}

impl Gpu {
    /// Opens the first device.
    pub(crate) fn new() -> Gpu {
        prepare_environment();
        let messages: Box<Mutex<Vec<Message>>> = Box::default();
        let listener = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::INFO | Severity::WARNING | Severity::ERROR)
            .message_type(Kind::VALIDATION | Kind::GENERAL)
            .pfn_user_callback(Some(listen))
            .user_data((&raw const *messages).cast_mut().cast());
        let settings = Settings::new();
        let structures = settings.structures();
        let mut layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&structures);
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let layers = [VALIDATION.as_ptr(), ALIASING.as_ptr()];
        let extensions = [ash::ext::debug_utils::NAME.as_ptr()];
        let info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions)
            .push_next(&mut layer_settings);
        // SAFETY: the library found is a loader; the names are C strings; the messages outlive the messenger.
        unsafe {
            let entry = ash::Entry::load().expect("a Vulkan loader");
            let instance = entry
                .create_instance(&info, None)
                .expect("an instance with both layers");
            let utils = ash::ext::debug_utils::Instance::new(&entry, &instance);
            let messenger = utils
                .create_debug_utils_messenger(&listener, None)
                .expect("a messenger");
            let physical = tileheap_testkit::physical_device(&instance);
            let families = instance.get_physical_device_queue_family_properties(physical);
            let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
            let family = families.iter().position(|one| one.queue_flags.contains(wanted));
            let family = family.expect("a queue that draws and computes") as u32;
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0])];
            let mut of_1_3 = vk::PhysicalDeviceVulkan13Features::default()
                .synchronization2(true)
                .dynamic_rendering(true);
            let features = vk::PhysicalDeviceFeatures {
                fragment_stores_and_atomics: vk::TRUE,
                robust_buffer_access: vk::TRUE,
                ..Default::default()
            };
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features)
                .push_next(&mut of_1_3);
            let device = instance.create_device(physical, &info, None).expect("a device");
            let queue = device.get_device_queue(family, 0);
            let labels = ash::ext::debug_utils::Device::new(&instance, &device);
            let memory = instance.get_physical_device_memory_properties(physical);
            let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
            let kind = memory
                .memory_types_as_slice()
                .iter()
                .position(|one| one.property_flags.contains(local));
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(BLOCK)
                .memory_type_index(kind.expect("device-local memory") as u32);
            let block = device.allocate_memory(&info, None).expect("memory");
            Gpu {
                _entry: entry,
                instance,
                utils,
                messenger,
                messages,
                device,
                labels,
                queue,
                family,
                block,
            }
        }
    }

    /// The messages since the last call.
    pub(crate) fn take_messages(&self) -> Vec<Message> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Names an object, for messages.
    pub(crate) fn name(&self, object: impl vk::Handle, name: &str) {
        let name = CString::new(name).expect("no NUL");
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(&name);
        // SAFETY: an object of the device, used by no other thread.
        unsafe { self.labels.set_debug_utils_object_name(&info) }.expect("a name");
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: all objects of the device are destroyed, and it is idle.
        unsafe {
            self.device.free_memory(self.block, None);
            self.device.destroy_device(None);
            self.utils.destroy_debug_utils_messenger(self.messenger, None);
            self.instance.destroy_instance(None);
        }
    }
}
