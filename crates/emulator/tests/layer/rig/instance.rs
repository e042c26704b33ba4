//! An instance with the layer, and a messenger that collects all messages from the first call on.

use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, Once};

use ash::vk;
use tileheap_emulator::LAYER_NAME;
use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};

/// The oldest validation layer that knows all rules of tile memory.
const OLDEST_VALIDATION: u32 = vk::make_api_version(0, 1, 4, 341);

/// A message: its id, and its text.
pub type Message = (String, String);

/// Returns true if the run is validated.
pub fn is_validated() -> bool {
    std::env::var_os("TILEHEAP_VALIDATE").is_some_and(|value| value == "1")
}

/// Sets the environment so that the loader finds the layer.
pub fn prepare_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let staged = tileheap_testkit::workspace().join("target/emulator");
        let given = std::env::var_os("TILEHEAP_EMULATOR").map(PathBuf::from);
        let folder = given.as_ref().unwrap_or(&staged);
        let library = folder.join("libVkLayer_tileheap_emulator.so");
        let is_there = library.is_file();
        assert!(is_there, "no layer at {library:?}: run scripts/stage-emulator.sh");
        if given.is_none() {
            let mut path = std::env::var_os("VK_LAYER_PATH").unwrap_or_default();
            if !path.is_empty() {
                path.push(":");
            }
            path.push(folder);
            // SAFETY: Before the loader is loaded, which is its only reader, and under a lock that every test takes first.
            unsafe { std::env::set_var("VK_LAYER_PATH", path) };
        }
    });
}

/// Settings for the layer in the form that an application passes.
struct LayerSettings {
    values: Vec<(CString, CString)>,
    pointers: Vec<*const std::ffi::c_char>,
}

impl LayerSettings {
    fn new(settings: &[(&str, &str)]) -> LayerSettings {
        let text = |text: &str| CString::new(text).expect("no NUL in a setting");
        let pair = |(name, value): &(&str, &str)| (text(name), text(value));
        let values: Vec<_> = settings.iter().map(pair).collect();
        let pointers = values.iter().map(|(_, value)| value.as_ptr()).collect();
        LayerSettings { values, pointers }
    }

    fn structures(&self) -> Vec<vk::LayerSettingEXT<'_>> {
        let setting =
            |((name, _), pointer): (&(CString, CString), &*const std::ffi::c_char)| vk::LayerSettingEXT {
                p_layer_name: LAYER_NAME.as_ptr(),
                p_setting_name: name.as_ptr(),
                ty: vk::LayerSettingTypeEXT::STRING,
                value_count: 1,
                p_values: std::ptr::from_ref(pointer).cast(),
                ..Default::default()
            };
        self.values.iter().zip(&self.pointers).map(setting).collect()
    }
}

/// Options of an instance.
pub struct Ask<'a> {
    pub version: u32,
    pub settings: &'a [(&'a str, &'a str)],
    /// Layers above the emulator.
    pub layers: &'a [&'a CStr],
    /// Extensions in addition to that of messengers.
    pub extensions: &'a [&'a CStr],
    pub kinds: Kind,
    /// Returns true if a message is collected, by severity and id.
    pub counts: fn(Severity, &str) -> bool,
    /// True if a call with a message is not passed below the layer that reports it.
    pub stops: bool,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Ask {
            version: vk::API_VERSION_1_3,
            settings: &[("report", "all")],
            layers: &[],
            extensions: &[],
            kinds: Kind::VALIDATION | Kind::GENERAL,
            // The loader lists what the environment requests.
            counts: |_, id| id != "Loader Message",
            stops: false,
        }
    }
}

/// Collects messages.
struct Monitor {
    counts: fn(Severity, &str) -> bool,
    stops: bool,
    messages: Mutex<Vec<Message>>,
}

unsafe extern "system" fn listen(
    severity: Severity,
    _: Kind,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    monitor: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: A layer passes valid data, with C strings or null.
    let (id, text) = unsafe { ((*data).message_id_name_as_c_str(), (*data).message_as_c_str()) };
    let text_of = |text: Option<&CStr>| text.unwrap_or_default().to_string_lossy().into_owned();
    // SAFETY: Kept until after the instance.
    let monitor = unsafe { &*monitor.cast::<Monitor>() };
    let id = text_of(id);
    // Of the INFO messages, only the layer's findings.
    let is_told = severity != Severity::INFO || ["possible", "pedantic"].iter().any(|kind| id.contains(kind));
    if !is_told || !(monitor.counts)(severity, &id) {
        return vk::FALSE;
    }
    let mut messages = monitor.messages.lock().expect("no panic in here");
    messages.push((id, text_of(text)));
    monitor.stops.into()
}

/// An instance, which is destroyed when dropped.
pub struct Instance {
    pub entry: ash::Entry,
    pub instance: ash::Instance,
    utils: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    monitor: Box<Monitor>,
}

impl Instance {
    /// Creates an instance with these settings.
    pub fn new(settings: &[(&str, &str)]) -> Instance {
        let settings = [&[("report", "all")], settings].concat();
        let ask = Ask {
            settings: &settings,
            ..Ask::default()
        };
        Instance::create(&ask).expect("an instance with the layer")
    }

    /// Creates an instance; `None` if the driver lacks an extension.
    pub fn create(ask: &Ask<'_>) -> Option<Instance> {
        prepare_environment();
        let monitor = Box::new(Monitor {
            counts: ask.counts,
            stops: ask.stops,
            messages: Mutex::default(),
        });
        let listener = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::INFO | Severity::WARNING | Severity::ERROR)
            .message_type(ask.kinds)
            .pfn_user_callback(Some(listen))
            .user_data((&raw const *monitor).cast_mut().cast());
        let settings = LayerSettings::new(ask.settings);
        let structures = settings.structures();
        let mut layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&structures);
        let application = vk::ApplicationInfo::default().api_version(ask.version);
        let pointers = |names: &[&CStr]| names.iter().map(|name| name.as_ptr()).collect::<Vec<_>>();
        let layers = pointers(&[ask.layers, &[LAYER_NAME]].concat());
        let extensions = pointers(&[&[ash::ext::debug_utils::NAME], ask.extensions].concat());
        let mut first_listener = listener;
        let info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions)
            .push_next(&mut layer_settings)
            .push_next(&mut first_listener);
        // SAFETY: The library found is a loader; all names are C strings; the monitor outlives the messenger.
        unsafe {
            let entry = ash::Entry::load().expect("a Vulkan loader");
            assert_new_validation(&entry);
            let instance = match entry.create_instance(&info, None) {
                Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT) => return None,
                made => made.expect("an instance with the layer"),
            };
            let utils = ash::ext::debug_utils::Instance::new(&entry, &instance);
            let messenger = utils.create_debug_utils_messenger(&listener, None);
            Some(Instance {
                entry,
                instance,
                utils,
                messenger: messenger.expect("a messenger"),
                monitor,
            })
        }
    }

    /// The physical device that `TILEHEAP_DEVICE` selects.
    pub fn physical(&self) -> vk::PhysicalDevice {
        tileheap_testkit::physical_device(&self.instance)
    }

    /// Returns true if a device has a command of that name.
    pub fn has(&self, device: &ash::Device, name: &CStr) -> bool {
        // SAFETY: A live device and a C string.
        unsafe { (self.instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()) }.is_some()
    }

    /// Returns the messages since the last call.
    pub fn take_messages(&self) -> Vec<Message> {
        std::mem::take(&mut *self.monitor.messages.lock().expect("no panic while collecting"))
    }

    /// Returns the ids of the emulator's messages since the last call; only the listed validation messages are allowed.
    pub fn take_ids_but(&self, validated: &[&str]) -> Vec<String> {
        let messages = self.take_messages().into_iter();
        let (own, mut others): (Vec<_>, Vec<_>) = messages.partition(|(id, _)| id.starts_with("TILEHEAP-"));
        others.retain(|(id, _)| !validated.contains(&id.as_str()));
        assert!(others.is_empty(), "validation said: {others:#?}");
        own.into_iter().map(|(id, _)| id).collect()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: Its devices are gone.
        unsafe {
            self.utils.destroy_debug_utils_messenger(self.messenger, None);
            self.instance.destroy_instance(None);
        }
    }
}

fn assert_new_validation(entry: &ash::Entry) {
    if !is_validated() {
        return;
    }
    // SAFETY: Enumerating has no precondition.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.expect("the loader lists its layers");
    let is_it =
        |layer: &&vk::LayerProperties| layer.layer_name_as_c_str() == Ok(c"VK_LAYER_KHRONOS_validation");
    let validation = layers
        .iter()
        .find(is_it)
        .expect("a validated run needs validation");
    let is_new = validation.spec_version >= OLDEST_VALIDATION;
    assert!(
        is_new,
        "validation is older than 1.4.341 and does not know tile memory"
    );
}
