//! The creation parameters of a [`Context`](super::Context).

use super::capabilities::Capabilities;

use std::ffi::CStr;
use std::fmt;

use ash::vk;

/// Callback that creates the surface that the device must be able to present to.
#[derive(Clone, Copy)]
pub struct SurfaceCallback<'a>(&'a MakeSurface<'a>);

type MakeSurface<'a> = dyn Fn(&ash::Entry, &ash::Instance) -> ash::prelude::VkResult<vk::SurfaceKHR> + 'a;

impl<'a> SurfaceCallback<'a> {
    /// A callback that creates surfaces, which the context then owns and destroys.
    ///
    /// # Safety
    /// It creates surfaces of the instance that it is given. The window or display of a surface exists until the context is destroyed.
    pub unsafe fn new(make: &'a MakeSurface<'a>) -> SurfaceCallback<'a> {
        SurfaceCallback(make)
    }

    pub(super) fn make(
        &self,
        entry: &ash::Entry,
        instance: &ash::Instance,
    ) -> ash::prelude::VkResult<vk::SurfaceKHR> {
        (self.0)(entry, instance)
    }
}

/// Names of extensions of an instance or a device.
#[derive(Clone, Debug, Default)]
pub struct ExtensionNames<'a>(Vec<&'a CStr>);

impl<'a> ExtensionNames<'a> {
    /// Creates a list of names.
    ///
    /// # Safety
    /// Extensions that these extensions require are also listed, or are part of the Vulkan version in use
    /// (VUID-vkCreateInstance-ppEnabledExtensionNames-01388, VUID-vkCreateDevice-ppEnabledExtensionNames-01387).
    pub unsafe fn new(names: impl IntoIterator<Item = &'a CStr>) -> ExtensionNames<'a> {
        ExtensionNames(names.into_iter().collect())
    }

    pub(super) fn names(&self) -> &[&'a CStr] {
        &self.0
    }
}

/// The parameters of [`Context::new`](super::Context::new).
#[derive(Clone, Default)]
pub struct ContextDesc<'a> {
    /// The program's name.
    pub application: String,
    /// The physical device to use.
    pub device: DeviceSelection,
    /// Enables `VK_LAYER_KHRONOS_validation` with synchronization validation, and collects its messages.
    pub validate: bool,
    /// The Vulkan version to request; 0 for the highest available (at most 1.3, the highest that `ash` has).
    pub api_version: u32,
    /// Instance extensions in addition to the context's own, such as those of `ash_window::enumerate_required_extensions`.
    pub instance_extensions: ExtensionNames<'a>,
    /// Device extensions in addition to the runtime's own.
    pub device_extensions: ExtensionNames<'a>,
    /// Device features to enable; an error if one is not supported.
    pub features: vk::PhysicalDeviceFeatures,
    /// Enables buffer device addresses; an error if they are not supported.
    pub buffer_device_address: bool,
    /// Requires a device whose first queue can present to this surface. `VK_KHR_swapchain` is enabled wherever it is available.
    pub surface: Option<SurfaceCallback<'a>>,
    /// Capabilities not to enable even if supported: forces the fallbacks.
    pub without: Capabilities,
}

impl ContextDesc<'_> {
    /// Parameters from the environment: `TILEHEAP_DEVICE` (an index or part of a name) and `TILEHEAP_VALIDATE=1`.
    pub fn from_env(application: &str) -> ContextDesc<'static> {
        let device = std::env::var("TILEHEAP_DEVICE");
        ContextDesc {
            application: application.to_owned(),
            device: device.map_or(DeviceSelection::Best, |text| DeviceSelection::parse(&text)),
            validate: std::env::var("TILEHEAP_VALIDATE").is_ok_and(|value| value == "1"),
            ..ContextDesc::default()
        }
    }
}

/// Choice of the physical device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceSelection {
    /// The best device: those with tile memory come first, then discrete, integrated, virtual and software ones; on a tie, the first one.
    #[default]
    Best,
    /// The device at this index in the order of `vkEnumeratePhysicalDevices`.
    Index(usize),
    /// The best of the devices whose names contain this text, ignoring case.
    Name(String),
}

impl DeviceSelection {
    /// Parses a choice: a number is an index, anything else part of a name.
    pub fn parse(text: &str) -> DeviceSelection {
        match text.parse() {
            Ok(index) => DeviceSelection::Index(index),
            Err(_) => DeviceSelection::Name(text.to_owned()),
        }
    }
}

impl fmt::Display for DeviceSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceSelection::Best => f.write_str("that supports graphics and compute with Vulkan 1.1"),
            DeviceSelection::Index(index) => {
                write!(
                    f,
                    "at index {index} that supports graphics and compute with Vulkan 1.1"
                )
            }
            DeviceSelection::Name(name) => {
                write!(
                    f,
                    "that supports graphics and compute with Vulkan 1.1, and whose name contains `{name}`"
                )
            }
        }
    }
}
