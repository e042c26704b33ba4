//! A Vulkan instance and device for programs that have none.

use std::ffi::CStr;

use ash::vk;

use super::{Capabilities, Device, DeviceQueue, Support};
use crate::Result;

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

/// Creates the surface that the device must be able to present to.
pub type SurfaceMaker<'a> = &'a dyn Fn(&ash::Entry, &ash::Instance) -> ash::prelude::VkResult<vk::SurfaceKHR>;

/// What a [`Context`] is made of.
#[derive(Clone, Default)]
pub struct ContextDesc<'a> {
    /// The program's name.
    pub application: String,
    /// Which device.
    pub device: DeviceChoice,
    /// Validation with `VK_LAYER_KHRONOS_validation`, synchronization validation on; its messages are collected.
    pub validate: bool,
    /// The highest Vulkan version to ask for (0: as high as there is, at most 1.3); 1.1 gives the oldest path.
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
    /// What not to use, although it is there: forces the fallbacks.
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

/// A message of the validation layers or the driver, a warning at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// How bad it is.
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    /// The VUID or other id.
    pub id: String,
    /// What it says.
    pub text: String,
}

/// A Vulkan instance, device and queues, with the runtime on them.
#[derive(Debug)]
pub struct Context {}

impl Context {
    /// Loads Vulkan and makes a device.
    ///
    /// # Errors
    /// When there is no loader, no device that fits, or something asked for is missing: one line that says what to do.
    pub fn new(_desc: &ContextDesc<'_>) -> Result<Context> {
        unimplemented!()
    }

    /// The loaded Vulkan library.
    pub fn entry(&self) -> &ash::Entry {
        unimplemented!()
    }

    /// The instance.
    pub fn instance(&self) -> &ash::Instance {
        unimplemented!()
    }

    /// The physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        unimplemented!()
    }

    /// The device.
    pub fn device(&self) -> &ash::Device {
        unimplemented!()
    }

    /// The surface, or null.
    pub fn surface(&self) -> vk::SurfaceKHR {
        unimplemented!()
    }

    /// What the physical device offers.
    pub fn support(&self) -> &Support {
        unimplemented!()
    }

    /// The runtime on the device.
    pub fn tile(&self) -> &Device {
        unimplemented!()
    }

    /// The queues: first one that draws and computes (and presents); where there are, then others.
    pub fn queues(&self) -> &[DeviceQueue] {
        unimplemented!()
    }

    /// The messages so far (validation, warnings and errors), oldest first.
    pub fn messages(&self) -> Vec<Message> {
        unimplemented!()
    }

    /// Destroys the device and instance. Waits for the device first; every [`Bound`](super::Bound) must be retired or destroyed.
    pub fn destroy(self) -> Vec<Message> {
        unimplemented!()
    }
}
