//! A Vulkan instance and device for programs that have none.

use std::ffi::CStr;
use std::fmt;

use ash::vk;

use super::choose::{Candidate, DeviceChoice, choose, create_device, queues_of};
use super::instance::{Instance, Message, load};
use super::{Capabilities, Device, DeviceDesc, DeviceQueue, Support};
use crate::Result;

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

/// A Vulkan instance, device and queues, with the runtime on them.
///
/// ```no_run
/// use tileheap::runtime::{Context, ContextDesc};
///
/// let context = Context::new(&ContextDesc::from_env("example"))?;
/// println!("{}", context.tile().profile().name);
/// for reason in context.tile().missing() {
///     println!("no tile memory: {reason}");
/// }
/// let messages = context.destroy();
/// assert!(messages.is_empty(), "the validation layers are content");
/// # Ok::<(), tileheap::Error>(())
/// ```
pub struct Context {
    instance: Instance,
    physical_device: vk::PhysicalDevice,
    device: ash::Device,
    support: Support,
    queues: Vec<DeviceQueue>,
    /// Taken by [`Context::destroy`].
    tile: Option<Device>,
}

impl Context {
    /// Loads Vulkan and makes a device.
    ///
    /// # Errors
    /// When there is no loader, no device that fits, or something asked for is missing: one line that says what to do.
    pub fn new(desc: &ContextDesc<'_>) -> Result<Context> {
        Context::on(load()?, desc)
    }

    /// [`Context::new`] on a Vulkan library that is loaded already.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn on(entry: ash::Entry, desc: &ContextDesc<'_>) -> Result<Context> {
        // Dropped on the way out of here, it destroys what it has.
        let mut instance = Instance::new(entry, desc)?;
        if let Some(maker) = desc.surface {
            instance.make_surface(maker)?;
        }
        let candidate = choose(&instance, desc)?;
        let (device, capabilities) = create_device(&instance, &candidate, desc)?;
        instance.device = Some(device.clone());
        let queues = queues_of(&device, &candidate);
        let tile_desc = DeviceDesc {
            queues: queues.clone(),
            enabled: capabilities,
            without: desc.without,
            allocator: None,
        };
        let Candidate {
            physical_device,
            support,
            ..
        } = candidate;
        // SAFETY: just created together; the context destroys the runtime before them; `capabilities` is what was enabled.
        let tile = unsafe { Device::new(&instance.raw, physical_device, &device, &support, tile_desc) }?;
        instance.keep();
        Ok(Context {
            instance,
            physical_device,
            device,
            support,
            queues,
            tile: Some(tile),
        })
    }

    /// The loaded Vulkan library.
    pub fn entry(&self) -> &ash::Entry {
        &self.instance.entry
    }

    /// The instance.
    pub fn instance(&self) -> &ash::Instance {
        &self.instance.raw
    }

    /// The physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.physical_device
    }

    /// The device.
    pub fn device(&self) -> &ash::Device {
        &self.device
    }

    /// The surface, or null.
    pub fn surface(&self) -> vk::SurfaceKHR {
        self.instance.surface()
    }

    /// What the physical device offers.
    pub fn support(&self) -> &Support {
        &self.support
    }

    /// The runtime on the device.
    pub fn tile(&self) -> &Device {
        self.tile.as_ref().expect("taken by `destroy` alone")
    }

    /// The queues: first one that draws and computes (and presents), then one of each other family.
    pub fn queues(&self) -> &[DeviceQueue] {
        &self.queues
    }

    /// What the layers that judge the program have said so far (warnings and errors), oldest first: validation, and the
    /// emulator of tile memory.
    pub fn messages(&self) -> Vec<Message> {
        self.instance.messages()
    }

    /// The version of the validation layer that checks; `None` if none does.
    pub fn validation_version(&self) -> Option<u32> {
        self.instance.validation
    }

    /// Destroys the device and instance, after waiting for the device; gives the [messages](Context::messages).
    ///
    /// Every [`BoundFrame`](super::Bound) must be retired or destroyed before, and every object of the caller's.
    pub fn destroy(mut self) -> Vec<Message> {
        // SAFETY: the context's own device; the caller of a `&self` method cannot submit meanwhile, as `self` is taken.
        let idle = unsafe { self.device.device_wait_idle() };
        if let Err(error) = idle {
            tracing::warn!(?error, "the device did not become idle");
        }
        if let Some(tile) = self.tile.take() {
            // SAFETY: the device is idle or lost.
            unsafe { tile.destroy() };
        }
        self.instance.destroy();
        self.instance.messages()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("device", &self.support.profile().name)
            .finish_non_exhaustive()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.tile.is_some() {
            tracing::warn!("runtime::Context dropped without Context::destroy: its device and instance leak");
        }
    }
}
