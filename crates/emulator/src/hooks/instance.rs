//! Instances: settings, the next layer's commands, the physical devices queried so far.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;

use tileheap_layer::arrays::c_strings;
use tileheap_layer::loader::create_instance;
use tileheap_layer::registry::Registry;
use tileheap_layer::settings::of_instance;
use tileheap_layer::{array, chained};

use super::physical_query::query;
use crate::model::objects::Object;
use crate::model::reporter::{Listener, Listeners, Reporter};
use crate::tables::emulation::PhysicalDeviceInfo;
use crate::tables::instance_commands::{InstanceTable, has_name};
use crate::tables::layer::Layer;
use crate::tables::messages::MessageId;
use crate::tables::settings::{Settings, VALIDATION, environment_validates};

/// The layer's state of an instance.
pub(crate) struct Instance {
    pub(crate) handle: vk::Instance,
    /// The version of Vulkan that the application requests.
    pub(crate) version: u32,
    pub(crate) next: InstanceTable,
    pub(crate) next_look_up: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) settings: Settings,
    pub(crate) reporter: Reporter,
    physical: Mutex<HashMap<vk::PhysicalDevice, Arc<PhysicalDeviceInfo>>>,
}

/// All instances, by dispatch key.
pub(crate) static INSTANCES: Registry<Instance> = Registry::new();

/// Looks up the instance and the physical device of a handle.
pub(crate) fn physical_of(handle: vk::PhysicalDevice) -> Option<(Arc<Instance>, Arc<PhysicalDeviceInfo>)> {
    let instance = INSTANCES.of(handle)?;
    let physical = instance.physical(handle);
    Some((instance, physical))
}

/// Declares entry points as `entry_points!` does. The bodies run for the instance and the physical device of the first argument; if there is none,
/// the fallback is returned.
macro_rules! physical_entry_points {
    ($($(#[$doc:meta])* $name:ident($handle:ident $(, $arg:ident)*) |$instance:ident, $physical:ident| $body:block)+) => {
        tileheap_layer::entry_points! { of $crate::tables::instance_commands::InstanceTable: $(
            $(#[$doc])*
            $name($handle $(, $arg)*) {
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
    /// # Errors
    /// Returns the next layer's error.
    ///
    /// # Safety
    /// The arguments are those of `vkCreateInstance`, with the loader's chain.
    pub(crate) unsafe fn create(
        info: &vk::InstanceCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Instance,
    ) -> Result<(), vk::Result> {
        // SAFETY: The caller's promise.
        let (handle, look_up) = unsafe { create_instance(info, allocator, out) }?;
        let version = requested_version(info);
        let look_up_own = |name: &CStr| {
            // SAFETY: The next layer's look-up, the instance that it created and a C string.
            unsafe { look_up(handle, name.as_ptr()) }.filter(|_| has_name(version, name))
        };
        // SAFETY: The look-up gives nothing or the command of the name.
        let next = unsafe { InstanceTable::load(look_up_own) };
        let settings = Settings::read(&of_instance(Layer::loaded().desc(), info));
        let listener = chained!(info.p_next => vk::DebugUtilsMessengerCreateInfoEXT<'_>);
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
        let about = Object::of(handle);
        for error in &instance.settings.errors {
            instance.reporter.report(MessageId::Setting, about, error);
        }
        // From here on messages go to the application's messengers.
        lock(&listeners).clear();
        INSTANCES.insert(handle, instance);
        Ok(())
    }

    /// Registers a new messenger.
    pub(crate) fn listen(&self, listener: Listener) {
        lock(&self.reporter.listeners).push(listener);
    }

    /// Unregisters a messenger before it is destroyed.
    pub(crate) fn stop_listening(&self, handle: vk::DebugUtilsMessengerEXT) {
        lock(&self.reporter.listeners).retain(|listener| listener.handle != handle);
    }

    /// The query results of a physical device, which is queried on first use, and again if a query failed.
    pub(crate) fn physical(&self, handle: vk::PhysicalDevice) -> Arc<PhysicalDeviceInfo> {
        let known = |physical: &Mutex<HashMap<_, Arc<PhysicalDeviceInfo>>>| {
            physical
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&handle)
                .cloned()
        };
        if let Some(physical) = known(&self.physical) {
            return physical;
        }
        // Not locked, since a message may call back; if two threads query, the second uses what the first stored.
        let found = Arc::new(query(&self.next, &self.settings, &self.reporter, handle));
        if found.failure.is_some() {
            return found;
        }
        let mut physical = self.physical.lock().unwrap_or_else(PoisonError::into_inner);
        physical.entry(handle).or_insert(found).clone()
    }
}

/// The version of Vulkan that the application requests; 1.0 by default.
fn requested_version(info: &vk::InstanceCreateInfo<'_>) -> u32 {
    let application = array!(info.p_application_info, 1).first();
    application.map_or(vk::API_VERSION_1_0, |application| {
        application.api_version.max(vk::API_VERSION_1_0)
    })
}
