//! A Vulkan instance and device for programs without their own.

use std::fmt;

use ash::vk;

use super::choose::{Candidate, choose, create_device, queues_of};
use super::device::{Device, DeviceDesc};
use super::device_queue::DeviceQueue;
use super::instance::{Instance, load};
use super::support::DeviceSupport;
use crate::Result;

pub use super::context_desc::{ContextDesc, DeviceSelection, ExtensionNames, SurfaceCallback};
pub use super::instance::ValidationMessage;

/// A Vulkan instance, device and queues, with the runtime on them.
///
/// ```no_run
/// use tileheap::runtime::{Context, ContextDesc};
///
/// let context = Context::new(&ContextDesc::from_env("example"))?;
/// println!("{}", context.runtime().profile().name);
/// for reason in context.runtime().missing_requirements() {
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
    support: DeviceSupport,
    queues: Vec<DeviceQueue>,
    /// The runtime on the device; taken by [`Context::destroy`].
    runtime: Option<Device>,
}

impl Context {
    /// Loads Vulkan and creates an instance and a device.
    ///
    /// # Errors
    /// If there is no Vulkan loader, no suitable device, or a requested feature is missing.
    pub fn new(desc: &ContextDesc<'_>) -> Result<Context> {
        Context::on(load()?, desc)
    }

    /// Like [`Context::new`], with an already loaded Vulkan library.
    ///
    /// # Errors
    /// Same as [`Context::new`].
    pub fn on(entry: ash::Entry, desc: &ContextDesc<'_>) -> Result<Context> {
        // If it is dropped on an early return, it destroys everything that it has created.
        let mut instance = Instance::new(entry, desc)?;
        if let Some(maker) = desc.surface {
            instance.make_surface(maker)?;
        }
        let candidate = choose(&instance, desc)?;
        let (device, capabilities, optional_features) = create_device(&instance, &candidate, desc)?;
        instance.device = Some(device.clone());
        let queues = queues_of(&device, &candidate);
        let runtime_desc = DeviceDesc {
            queues: queues.clone(),
            enabled: capabilities,
            without: desc.without,
            optional_features: Some(optional_features),
            ..DeviceDesc::default()
        };
        let Candidate {
            physical_device,
            support,
            ..
        } = candidate;
        // SAFETY: just created together; the context destroys the runtime before them; `capabilities` is what was enabled.
        let runtime =
            unsafe { Device::new(&instance.raw, physical_device, &device, &support, runtime_desc) }?;
        instance.keep();
        Ok(Context {
            instance,
            physical_device,
            device,
            support,
            queues,
            runtime: Some(runtime),
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

    /// The capabilities that the physical device supports.
    pub fn support(&self) -> &DeviceSupport {
        &self.support
    }

    /// The runtime on the device.
    pub fn runtime(&self) -> &Device {
        self.runtime.as_ref().expect("only `destroy` takes the device")
    }

    /// The queues: the first one supports graphics and compute (and presentation, if there is a surface); then one of each other family.
    pub fn queues(&self) -> &[DeviceQueue] {
        &self.queues
    }

    /// The warnings and errors of the validation layer and the emulator so far, oldest first.
    pub fn messages(&self) -> Vec<ValidationMessage> {
        self.instance.messages()
    }

    /// Destroys the device and instance, after waiting for the device to be idle; returns the [messages](Context::messages).
    ///
    /// Every [`BoundFrame`](super::BoundFrame) must be retired or destroyed first, every clone of [`Context::runtime`] dropped, and every
    /// object that the caller created destroyed. If anything still uses the device, device and instance leak, which is reported through
    /// `tracing`.
    pub fn destroy(mut self) -> Vec<ValidationMessage> {
        let locked = self.runtime.as_ref().map(Device::lock_queues);
        // SAFETY: the context's own device, whose queues are locked: clones of its handle may submit on other threads.
        let idle = unsafe { self.device.device_wait_idle() };
        drop(locked);
        if let Err(error) = idle {
            tracing::warn!(?error, "the device did not become idle");
        }
        if let Some(runtime) = self.runtime.take() {
            if runtime.is_in_use() {
                tracing::error!(
                    "runtime::Context destroyed while its device is in use: device and instance leak"
                );
                return self.instance.messages();
            }
            // SAFETY: the device is idle or lost.
            unsafe { runtime.destroy() };
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
        if self.runtime.is_some() {
            tracing::warn!("runtime::Context dropped without Context::destroy: its device and instance leak");
        }
    }
}
