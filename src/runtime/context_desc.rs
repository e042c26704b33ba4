//! What a [`Context`](super::Context) is created from.

use super::support::Capabilities;

use std::ffi::CStr;
use std::fmt;

use ash::vk;

/// Creates the surface that the device must be able to present to.
pub type SurfaceMaker<'a> = &'a dyn Fn(&ash::Entry, &ash::Instance) -> ash::prelude::VkResult<vk::SurfaceKHR>;

/// What a [`Context`](super::Context) is made of.
#[derive(Clone, Default)]
pub struct ContextDesc<'a> {
    /// The program's name.
    pub application: String,
    /// Which device.
    pub device: DeviceChoice,
    /// Validation with `VK_LAYER_KHRONOS_validation`, synchronization validation on; its messages are collected.
    pub validate: bool,
    /// The highest Vulkan version to ask for; 0 for as high as there is (at most 1.3, the highest that `ash` knows).
    pub api_version: u32,
    /// Instance extensions beside the context's own (those of `ash_window::enumerate_required_extensions`).
    pub instance_extensions: Vec<&'a CStr>,
    /// Device extensions beside the runtime's own.
    pub device_extensions: Vec<&'a CStr>,
    /// Device features to enable; an error if one is not there.
    pub features: vk::PhysicalDeviceFeatures,
    /// Enables buffer device addresses; an error if they are not there.
    pub buffer_device_address: bool,
    /// Enables `VK_KHR_swapchain` and takes a device whose first queue presents to this surface, which the context owns.
    pub surface: Option<SurfaceMaker<'a>>,
    /// What not to enable, although it is there: forces the fallbacks.
    pub without: Capabilities,
}

impl ContextDesc<'_> {
    /// From the environment: `TILEHEAP_DEVICE` (an index or part of a name) and `TILEHEAP_VALIDATE=1`.
    pub fn from_env(application: &str) -> ContextDesc<'static> {
        let device = std::env::var("TILEHEAP_DEVICE");
        ContextDesc {
            application: application.to_owned(),
            device: device.map_or(DeviceChoice::Best, |text| DeviceChoice::parse(&text)),
            validate: std::env::var("TILEHEAP_VALIDATE").is_ok_and(|value| value == "1"),
            ..ContextDesc::default()
        }
    }
}

/// Which physical device to take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// One with tile memory, else discrete, integrated, virtual, software; the first of its kind.
    #[default]
    Best,
    /// The n-th that Vulkan lists.
    Index(usize),
    /// The first whose name contains this, in any case.
    Name(String),
}

impl DeviceChoice {
    /// A number is an index, anything else part of a name.
    pub fn parse(text: &str) -> DeviceChoice {
        match text.parse() {
            Ok(index) => DeviceChoice::Index(index),
            Err(_) => DeviceChoice::Name(text.to_owned()),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Best => f.write_str("that draws and computes with Vulkan 1.1"),
            DeviceChoice::Index(index) => {
                write!(f, "of index {index} that draws and computes with Vulkan 1.1")
            }
            DeviceChoice::Name(name) => {
                write!(
                    f,
                    "whose name contains `{name}` that draws and computes with Vulkan 1.1"
                )
            }
        }
    }
}
