//! The instance of a [`Context`](super::Context): loader, layers, messages, surface.

use std::ffi::{CStr, CString, c_void};
use std::sync::{Mutex, PoisonError};

use ash::vk;

use super::capabilities::Capabilities;
use super::context_desc::{ContextDesc, SurfaceCallback};
use super::error::{RuntimeError, VkResultExt};
use super::support::version_text;
use crate::Result;

const INSTALLATION: &str = "the Vulkan installation";
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// A warning or an error of the validation layer or of the emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationMessage {
    /// The severity of the message.
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    /// The VUID or other id.
    pub id: String,
    /// The text of the message.
    pub text: String,
}

/// Collected messages; boxed, since the messenger holds the address.
type Messages = Box<Mutex<Vec<ValidationMessage>>>;

/// An instance and everything that is destroyed with it: surface, messenger, and the device once it exists.
pub(super) struct Instance {
    pub(super) entry: ash::Entry,
    pub(super) raw: ash::Instance,
    pub(super) api_version: u32,
    pub(super) device: Option<ash::Device>,
    /// True if `VK_EXT_debug_utils` is enabled.
    has_debug_utils: bool,
    /// True if `VK_KHR_surface` is enabled, which swapchains require.
    has_surface_extension: bool,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    surface: Option<(ash::khr::surface::Instance, vk::SurfaceKHR)>,
    messages: Messages,
    /// True until the context is complete; until then, dropping this destroys the instance.
    unfinished: bool,
}

/// The available version and extensions for creating the instance.
struct InstanceSupport {
    api_version: u32,
    names: Vec<&'static CStr>,
    has_debug_utils: bool,
    portability: bool,
    has_surface_extension: bool,
    /// True if the validation layer accepts `VkLayerSettingsCreateInfoEXT`; `None` if validation is not requested.
    validation: Option<bool>,
}

impl Instance {
    pub(super) fn new(entry: ash::Entry, desc: &ContextDesc<'_>) -> Result<Instance> {
        let offer = look_up(&entry, desc)?;
        let messages: Messages = Box::default();
        let application = CString::new(desc.application.replace('\0', "")).expect("zero bytes were removed");
        let info = vk::ApplicationInfo::default()
            .application_name(&application)
            .engine_name(c"tileheap")
            .api_version(offer.api_version);
        let names: Vec<_> = offer
            .names
            .iter()
            .chain(desc.instance_extensions.names())
            .map(|name| name.as_ptr())
            .collect();
        let layers = [VALIDATION.as_ptr()];
        let mut messenger = messenger_info(&messages);
        let on = vk::TRUE.to_ne_bytes();
        let mut setting = vk::LayerSettingEXT::default()
            .layer_name(VALIDATION)
            .setting_name(c"validate_sync")
            .ty(vk::LayerSettingTypeEXT::BOOL32)
            .values(&on);
        // One boolean; ash counts its bytes.
        setting.value_count = 1;
        let settings = [setting];
        let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
        let mut create = vk::InstanceCreateInfo::default()
            .application_info(&info)
            .enabled_extension_names(&names);
        if offer.portability {
            create = create.flags(vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR);
        }
        if offer.has_debug_utils {
            create = create.push_next(&mut messenger);
        }
        if let Some(layer_settings) = offer.validation {
            create = create.enabled_layer_names(&layers);
            create = if layer_settings {
                create.push_next(&mut settings)
            } else {
                create.push_next(&mut features)
            };
        }
        // SAFETY: names, layers and structs were looked up; everything chained is alive.
        let raw = match unsafe { entry.create_instance(&create, None) } {
            // The loader's result if no driver is installed.
            Err(vk::Result::ERROR_INCOMPATIBLE_DRIVER) => return Err(no_device().into()),
            raw => raw.with_call("vkCreateInstance", || desc.application.as_str())?,
        };
        let mut instance = Instance {
            entry,
            raw,
            api_version: offer.api_version,
            device: None,
            has_debug_utils: offer.has_debug_utils,
            has_surface_extension: offer.has_surface_extension,
            messenger: None,
            surface: None,
            messages,
            unfinished: true,
        };
        if offer.has_debug_utils {
            instance.listen()?;
        }
        Ok(instance)
    }

    /// Creates the debug messenger.
    fn listen(&mut self) -> Result<()> {
        let debug = ash::ext::debug_utils::Instance::new(&self.entry, &self.raw);
        let info = messenger_info(&self.messages);
        // SAFETY: the extension is enabled; the list of messages lives as long as the messenger.
        let messenger = unsafe { debug.create_debug_utils_messenger(&info, None) }
            .with_call("vkCreateDebugUtilsMessengerEXT", || "the instance")?;
        self.messenger = Some((debug, messenger));
        Ok(())
    }

    pub(super) fn make_surface(&mut self, maker: SurfaceCallback<'_>) -> Result<()> {
        let surface = maker
            .make(&self.entry, &self.raw)
            .with_call("vkCreate…SurfaceKHR", || "the window")?;
        self.surface = Some((ash::khr::surface::Instance::new(&self.entry, &self.raw), surface));
        Ok(())
    }

    pub(super) fn surface(&self) -> vk::SurfaceKHR {
        self.surface
            .as_ref()
            .map_or(vk::SurfaceKHR::null(), |(_, surface)| *surface)
    }

    /// Returns true if the extension that swapchains require is enabled.
    pub(super) fn has_surfaces(&self) -> bool {
        self.has_surface_extension
    }

    /// Returns true if `VK_EXT_debug_utils` is enabled.
    pub(super) fn names_objects(&self) -> bool {
        self.has_debug_utils
    }

    /// Returns true if a queue family can present to the surface, and true for every family if the instance was created without one.
    pub(super) fn presents(&self, physical_device: vk::PhysicalDevice, family: u32) -> Result<bool> {
        let Some((functions, surface)) = &self.surface else {
            return Ok(true);
        };
        // SAFETY: device and surface are the instance's.
        let presents =
            unsafe { functions.get_physical_device_surface_support(physical_device, family, *surface) };
        Ok(presents.with_call("vkGetPhysicalDeviceSurfaceSupportKHR", || "the window")?)
    }

    pub(super) fn messages(&self) -> Vec<ValidationMessage> {
        self.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Marks the context as complete: from now on, the context destroys the instance.
    pub(super) fn keep(&mut self) {
        self.unfinished = false;
    }

    /// Destroys the device, surface, messenger and instance. None of their objects may be used afterwards.
    pub(super) fn destroy(&mut self) {
        self.unfinished = false;
        if let Some(device) = self.device.take() {
            // SAFETY: idle, and everything on it is destroyed (see `Context::destroy`), or it was just created.
            unsafe { device.destroy_device(None) };
        }
        if let Some((functions, surface)) = self.surface.take() {
            // SAFETY: its swapchains went with the device.
            unsafe { functions.destroy_surface(surface, None) };
        }
        if let Some((functions, messenger)) = self.messenger.take() {
            // SAFETY: the instance's own.
            unsafe { functions.destroy_debug_utils_messenger(messenger, None) };
        }
        // SAFETY: everything made from it is destroyed.
        unsafe { self.raw.destroy_instance(None) };
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.unfinished {
            self.destroy();
        }
    }
}

/// Loads the machine's Vulkan library.
pub(super) fn load() -> Result<ash::Entry> {
    // SAFETY: the system's Vulkan loader does nothing on loading but initialize itself.
    let entry = unsafe { ash::Entry::load() };
    let no_loader = |error: ash::LoadingError| RuntimeError::NoLoader {
        reason: error.to_string(),
    };
    Ok(entry.map_err(no_loader)?)
}

/// The error for a Vulkan installation without a device to run on.
pub(super) fn no_device() -> RuntimeError {
    let (wanted, found) = ("at all".to_owned(), "none".to_owned());
    RuntimeError::NoDevice { wanted, found }
}

/// Looks up which of the context's own extensions are available; an error if anything that the caller requested is missing.
fn look_up(entry: &ash::Entry, desc: &ContextDesc<'_>) -> Result<InstanceSupport> {
    // SAFETY: the loader is loaded.
    let version = unsafe { entry.try_enumerate_instance_version() }
        .with_call("vkEnumerateInstanceVersion", || "the loader")?
        .unwrap_or(vk::API_VERSION_1_0);
    let most = if desc.api_version == 0 {
        vk::API_VERSION_1_3
    } else {
        desc.api_version
    };
    let api_version = version.min(most);
    if api_version < vk::API_VERSION_1_1 {
        let (device, version) = ("the Vulkan loader".to_owned(), version_text(api_version));
        return Err(RuntimeError::OldVersion { device, version }.into());
    }
    let listed = extensions(entry, None)?;
    let has = |name: &CStr| listed.iter().any(|other| other.as_c_str() == name);
    for name in desc.instance_extensions.names() {
        if !has(name) {
            return Err(RuntimeError::missing(INSTALLATION, name.to_string_lossy()));
        }
    }
    let mut names = Vec::new();
    let validation = if desc.validate {
        Some(find_validation(entry)?)
    } else {
        None
    };
    if let Some(layer_settings) = validation {
        names.push(if layer_settings {
            ash::ext::layer_settings::NAME
        } else {
            ash::ext::validation_features::NAME
        });
    }
    // The validation layer provides the extension if the loader does not.
    let debug = (has(ash::ext::debug_utils::NAME) || desc.validate)
        && !desc.without.contains(Capabilities::DEBUG_UTILS);
    let asked = desc
        .instance_extensions
        .names()
        .contains(&ash::ext::debug_utils::NAME);
    if debug && !asked {
        names.push(ash::ext::debug_utils::NAME);
    }
    let portability = has(ash::khr::portability_enumeration::NAME);
    if portability
        && !desc
            .instance_extensions
            .names()
            .contains(&ash::khr::portability_enumeration::NAME)
    {
        names.push(ash::khr::portability_enumeration::NAME);
    }
    let surfaces = has(ash::khr::surface::NAME);
    if surfaces
        && !desc
            .instance_extensions
            .names()
            .contains(&ash::khr::surface::NAME)
    {
        names.push(ash::khr::surface::NAME);
    }
    Ok(InstanceSupport {
        api_version,
        names,
        has_debug_utils: debug,
        portability,
        has_surface_extension: surfaces,
        validation,
    })
}

/// Returns true if the validation layer accepts layer settings.
///
/// # Errors
/// The validation layer is not installed, or the loader's call fails.
fn find_validation(entry: &ash::Entry) -> Result<bool> {
    // SAFETY: the loader is loaded.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }
        .with_call("vkEnumerateInstanceLayerProperties", || "the loader")?;
    let mut names = layers.iter().map(|layer| layer.layer_name_as_c_str());
    if !names.any(|name| name == Ok(VALIDATION)) {
        // The usual reason if it is installed.
        let what = match std::env::var_os("VK_LAYER_PATH") {
            Some(_) => {
                "VK_LAYER_KHRONOS_validation (VK_LAYER_PATH is set and hides the layers of the system: use VK_ADD_LAYER_PATH instead, which adds to them)"
            }
            None => {
                "VK_LAYER_KHRONOS_validation (install vulkan-validationlayers, or set VK_ADD_LAYER_PATH to its folder)"
            }
        };
        return Err(RuntimeError::missing(INSTALLATION, what));
    }
    let mut brings = extensions(entry, Some(VALIDATION))?.into_iter();
    Ok(brings.any(|name| name.as_c_str() == ash::ext::layer_settings::NAME))
}

fn extensions(entry: &ash::Entry, layer: Option<&CStr>) -> Result<Vec<CString>> {
    // SAFETY: the loader is loaded, and the layer listed.
    let listed = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .with_call("vkEnumerateInstanceExtensionProperties", || "the loader")?;
    let names = listed.iter().filter_map(|one| one.extension_name_as_c_str().ok());
    Ok(names.map(CStr::to_owned).collect())
}

fn messenger_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};
    let messages: *const Mutex<Vec<ValidationMessage>> = &**messages;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR)
        // Not GENERAL: the loader's remarks about drivers that do not load.
        .message_type(Kind::VALIDATION)
        .pfn_user_callback(Some(collect))
        .user_data(messages.cast_mut().cast())
}

/// Adds a message to the list that `user_data` points to.
unsafe extern "system" fn collect(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_data: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layers hand in a valid struct.
    let Some(data) = (unsafe { data.as_ref() }) else {
        return vk::FALSE;
    };
    // SAFETY: `messenger_info` put the list there, which lives as long as the messenger and is shared by reference only.
    let Some(messages) = (unsafe {
        user_data
            .cast::<Mutex<Vec<ValidationMessage>>>()
            .cast_const()
            .as_ref()
    }) else {
        return vk::FALSE;
    };
    // SAFETY: null or a C string.
    let id = unsafe { data.message_id_name_as_c_str() };
    // SAFETY: null or a C string.
    let text = unsafe { data.message_as_c_str() };
    let owned = |text: Option<&CStr>| text.map_or(String::new(), |text| text.to_string_lossy().into_owned());
    let message = ValidationMessage {
        severity,
        id: owned(id),
        text: owned(text),
    };
    tracing::warn!(id = message.id, text = message.text, "validation");
    messages
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(message);
    vk::FALSE
}
