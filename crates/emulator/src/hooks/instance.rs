//! Instances: settings, the next layer's commands, the physical devices queried so far.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;

use tileheap_layer::arrays::{c_strings, elements};
use tileheap_layer::chain::find;
use tileheap_layer::loader::{dispatch_key, take_instance_link};
use tileheap_layer::sharded::Sharded;

use super::physical_query::query;
use crate::model::objects::Object;
use crate::model::reporter::{Listener, Listeners, Reporter};
use crate::tables::emulation::Physical;
use crate::tables::instance_commands::{InstanceTable, has_name};
use crate::tables::messages::MessageId;
use crate::tables::settings::{
    LAYER_NAME, Settings, VALIDATION, environment_validates, from_environment, from_file,
};

/// An instance.
pub(crate) struct Instance {
    pub(crate) handle: vk::Instance,
    /// The requested version.
    pub(crate) version: u32,
    pub(crate) next: InstanceTable,
    pub(crate) next_look_up: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) settings: Settings,
    pub(crate) reporter: Reporter,
    physical: Mutex<HashMap<vk::PhysicalDevice, Arc<Physical>>>,
}

/// The instances, by dispatch key: that of their physical devices too.
static INSTANCES: LazyLock<Sharded<Arc<Instance>>> = LazyLock::new(Sharded::default);

/// The instance of a handle that shares its dispatch key.
pub(crate) fn instance_of(handle: impl Handle) -> Option<Arc<Instance>> {
    // SAFETY: The application, or the layer above, passes a live instance or physical device.
    let key = unsafe { dispatch_key(handle.as_raw()) };
    INSTANCES.get(key as u64)
}

/// The instance and the physical device.
pub(crate) fn physical_of(handle: vk::PhysicalDevice) -> Option<(Arc<Instance>, Arc<Physical>)> {
    let instance = instance_of(handle)?;
    let physical = instance.physical(handle);
    Some((instance, physical))
}

/// Declares entry points as `entry_points!` does, whose bodies run for the instance and the physical device of the first
/// argument; where there is none, the fallback is returned.
macro_rules! physical_entry_points {
    ($($(#[$doc:meta])* fn $name:ident($handle:ident: $handle_type:ty $(, $arg:ident: $type:ty)* $(,)?)
        $(-> $answer:ty)? |$instance:ident, $physical:ident| $body:block)+) => {
        tileheap_layer::entry_points! {$(
            $(#[$doc])*
            fn $name($handle: $handle_type $(, $arg: $type)*) $(-> $answer)? {
                let Some(($instance, $physical)) = $crate::hooks::instance::physical_of($handle) else {
                    return tileheap_layer::guard::Fallback::fallback();
                };
                $body
            }
        )+}
    };
}
pub(crate) use physical_entry_points;

fn lock(listeners: &Listeners) -> MutexGuard<'_, Vec<Listener>> {
    listeners.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Instance {
    /// Creates the instance in the next layer, and registers it.
    ///
    /// # Safety
    /// The arguments are those of `vkCreateInstance`, with the loader's chain.
    pub(crate) unsafe fn create(
        info: &vk::InstanceCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Instance,
    ) -> vk::Result {
        // SAFETY: The caller's promise.
        let Some(look_up) = (unsafe { take_instance_link(info.p_next) }) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let look_up_below = |instance, name: &CStr| {
            // SAFETY: The next layer's look-up, with null or the instance it created, and a C string.
            unsafe { look_up(instance, name.as_ptr()) }
        };
        let Some(create) = look_up_below(vk::Instance::null(), c"vkCreateInstance") else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: The command of that name.
        let create =
            unsafe { std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateInstance>(create) };
        // SAFETY: The application's arguments.
        let result = unsafe { create(info, allocator, out) };
        if result != vk::Result::SUCCESS {
            return result;
        }
        // SAFETY: The next layer succeeded and so has written it.
        let handle = unsafe { *out };
        // SAFETY: The create info is the application's, and valid.
        let version = unsafe { requested_version(info) };
        let look_up_own = |name: &CStr| look_up_below(handle, name).filter(|_| has_name(version, name));
        // SAFETY: The look-up gives nothing or the command of the name.
        let next = unsafe { InstanceTable::load(look_up_own) };
        // SAFETY: The chain is the application's, and valid.
        let structure = unsafe { from_structure(info) };
        let settings = Settings::read(&[&from_environment(), &from_file(), &structure]);
        // SAFETY: The chain is the application's, and valid.
        let listener = unsafe { find::<vk::DebugUtilsMessengerCreateInfoEXT<'_>>(info.p_next) };
        let listeners = Listeners::default();
        let at_creation = listener.map(|info| Listener::new(vk::DebugUtilsMessengerEXT::null(), info));
        lock(&listeners).extend(at_creation);
        // SAFETY: The create info is the application's, and valid.
        let mut layers = unsafe { c_strings(info.pp_enabled_layer_names, info.enabled_layer_count) };
        let is_validated = environment_validates() || layers.any(|layer| layer == VALIDATION);
        let rules = settings.report.beside_validation(is_validated);
        let instance = Instance {
            handle,
            version,
            next,
            next_look_up: look_up,
            reporter: Reporter::new(listeners.clone(), &settings, rules),
            settings,
            physical: Mutex::default(),
        };
        let about = Object(vk::ObjectType::INSTANCE, handle.as_raw());
        for error in &instance.settings.errors {
            instance.reporter.report(MessageId::Setting, about, error);
        }
        // From here on messages go to the application's messengers.
        lock(&listeners).clear();
        // SAFETY: Just created.
        let key = unsafe { dispatch_key(handle.as_raw()) };
        INSTANCES.insert(key as u64, Arc::new(instance));
        result
    }

    /// A messenger was created.
    pub(crate) fn listen(&self, listener: Listener) {
        lock(&self.reporter.listeners).push(listener);
    }

    /// A messenger is destroyed.
    pub(crate) fn stop_listening(&self, handle: vk::DebugUtilsMessengerEXT) {
        lock(&self.reporter.listeners).retain(|listener| listener.handle != handle);
    }

    /// Unregisters the instance; the caller destroys it.
    pub(crate) fn forget(handle: vk::Instance) -> Option<Arc<Instance>> {
        // SAFETY: A live instance.
        let key = unsafe { dispatch_key(handle.as_raw()) };
        INSTANCES.remove(key as u64)
    }

    /// The results of queries of a physical device.
    pub(crate) fn physical(&self, handle: vk::PhysicalDevice) -> Arc<Physical> {
        let known = |physical: &Mutex<HashMap<_, Arc<Physical>>>| {
            physical
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&handle)
                .cloned()
        };
        if let Some(physical) = known(&self.physical) {
            return physical;
        }
        // Without the lock, since a message may call back; of two threads the second finds what the first stored.
        let found = Arc::new(query(&self.next, &self.settings, &self.reporter, handle));
        if found.failure.is_some() {
            return found;
        }
        let mut physical = self.physical.lock().unwrap_or_else(PoisonError::into_inner);
        physical.entry(handle).or_insert(found).clone()
    }
}

/// The version of Vulkan that the application requests; 1.0 by default.
///
/// # Safety
/// `info` is valid.
unsafe fn requested_version(info: &vk::InstanceCreateInfo<'_>) -> u32 {
    // SAFETY: The caller's promise; null where there is none.
    let application = unsafe { info.p_application_info.as_ref() };
    application.map_or(vk::API_VERSION_1_0, |application| {
        application.api_version.max(vk::API_VERSION_1_0)
    })
}

/// This layer's settings in the instance's `VkLayerSettingsCreateInfoEXT`.
///
/// # Safety
/// The chain of `info` is valid.
unsafe fn from_structure(info: &vk::InstanceCreateInfo<'_>) -> HashMap<String, String> {
    // SAFETY: The caller's promise.
    let Some(given) = (unsafe { find::<vk::LayerSettingsCreateInfoEXT<'_>>(info.p_next) }) else {
        return HashMap::new();
    };
    // SAFETY: As above.
    let settings = unsafe { elements(given.p_settings, given.setting_count) };
    // SAFETY: As above.
    settings
        .iter()
        .filter_map(|setting| unsafe { setting_text(setting) })
        .collect()
}

/// A setting's name and its first value as text; `None` for other layers' settings.
///
/// # Safety
/// `setting` is valid.
unsafe fn setting_text(setting: &vk::LayerSettingEXT<'_>) -> Option<(String, String)> {
    use vk::LayerSettingTypeEXT as T;
    // SAFETY: Valid usage: a C string.
    let layer = unsafe { CStr::from_ptr(setting.p_layer_name) };
    // SAFETY: As above.
    let name = unsafe { CStr::from_ptr(setting.p_setting_name) };
    if layer != LAYER_NAME || setting.value_count == 0 || setting.p_values.is_null() {
        return None;
    }
    let values = setting.p_values;
    let text = match setting.ty {
        // SAFETY: The type says what the values are, and there is at least one; so in each arm.
        T::BOOL32 => unsafe { *values.cast::<u32>() != 0 }.to_string(),
        // SAFETY: As above.
        T::INT32 => unsafe { *values.cast::<i32>() }.to_string(),
        // SAFETY: As above.
        T::INT64 => unsafe { *values.cast::<i64>() }.to_string(),
        // SAFETY: As above.
        T::UINT32 => unsafe { *values.cast::<u32>() }.to_string(),
        // SAFETY: As above.
        T::UINT64 => unsafe { *values.cast::<u64>() }.to_string(),
        T::STRING => {
            // SAFETY: As above.
            let value = unsafe { *values.cast::<*const c_char>() };
            // SAFETY: Valid usage: a C string.
            unsafe { CStr::from_ptr(value) }.to_string_lossy().into_owned()
        }
        _ => return None,
    };
    Some((name.to_string_lossy().into_owned(), text))
}
