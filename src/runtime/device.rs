//! The runtime on one device.

use std::sync::{Arc, Mutex};

use ash::vk;

use super::{Bound, Capabilities, Missing, Support};
use crate::Result;
use crate::frame::Frame;
use crate::plan::{Plan, PlanOptions};
use crate::profile::{DeviceProfile, Requirements};

/// A queue of the caller's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceQueue {
    /// The queue.
    pub handle: vk::Queue,
    /// Its family.
    pub family: u32,
    /// What the family can do.
    pub capabilities: vk::QueueFlags,
}

/// What [`Device::new`] is told about the caller's device.
#[derive(Clone, Default)]
pub struct DeviceDesc {
    /// The queues that frames may be submitted to.
    ///
    /// A frame's queues take them in order: each the first one not taken that is capable of it, else the first capable one.
    pub queues: Vec<DeviceQueue>,
    /// What the device was created with: [`Enable::capabilities`](super::Enable::capabilities), or the caller's own knowledge.
    pub enabled: Capabilities,
    /// What not to use, although it is enabled: forces the fallbacks.
    pub without: Capabilities,
    /// The caller's allocator, to share its blocks; otherwise the runtime makes one of its own.
    pub allocator: Option<Arc<Mutex<gpu_allocator::vulkan::Allocator>>>,
}

/// The runtime on one device. Cloning gives another handle to the same.
#[derive(Clone, Debug)]
pub struct Device {
    profile: Arc<DeviceProfile>,
}

impl Device {
    /// Takes up work on a device of the caller.
    ///
    /// # Errors
    /// When a queue is missing or the allocator cannot be made.
    ///
    /// # Safety
    /// - The handles are alive and belong together, and live until [`Device::destroy`] has returned.
    /// - `desc.enabled` holds nothing that the device was not created with.
    pub unsafe fn new(
        _instance: &ash::Instance,
        _physical_device: vk::PhysicalDevice,
        _device: &ash::Device,
        _support: &Support,
        _desc: DeviceDesc,
    ) -> Result<Device> {
        unimplemented!()
    }

    /// The device in numbers, as it was enabled: what plans are made for.
    pub fn profile(&self) -> &Arc<DeviceProfile> {
        &self.profile
    }

    /// What keeps this device from using tile memory; empty where it does.
    pub fn missing(&self) -> &[Missing] {
        unimplemented!()
    }

    /// What the runtime uses: enabled, and not forced off.
    pub fn capabilities(&self) -> Capabilities {
        unimplemented!()
    }

    /// The caller's device.
    pub fn raw(&self) -> &ash::Device {
        unimplemented!()
    }

    /// Asks the driver what every resource of `frame` needs of memory.
    ///
    /// # Errors
    /// When an image's format, usage or size is not supported, naming it, or the driver fails.
    pub fn measure(&self, _frame: &Frame) -> Result<Arc<Requirements>> {
        unimplemented!()
    }

    /// Measures and plans `frame`; a lookup if that was done before.
    ///
    /// # Errors
    /// As [`Device::measure`] and [`plan`](crate::plan).
    pub fn plan(&self, _frame: &Frame, _options: &PlanOptions) -> Result<Arc<Plan>> {
        unimplemented!()
    }

    /// Creates and binds everything that `plan` asks for.
    ///
    /// If a created resource needs more than was planned, the frame is planned anew ([`Bound::plan`] has the plan that holds).
    /// A frame with history resources submits once to the queues that use them, and waits, to clear them to zero:
    /// no other thread may use the queues meanwhile.
    ///
    /// # Errors
    /// When memory runs out or the driver fails; whatever was created is destroyed again.
    pub fn bind(&self, _plan: &Arc<Plan>) -> Result<Bound> {
        unimplemented!()
    }

    /// [`Device::bind`] with the device queue (an index into [`DeviceDesc::queues`]) for each queue of the frame.
    ///
    /// # Errors
    /// As [`Device::bind`].
    pub fn bind_on(&self, _plan: &Arc<Plan>, _queues: &[usize]) -> Result<Bound> {
        unimplemented!()
    }

    /// Destroys what was retired and is no longer in use on the device; returns how many [`Bound`]s still wait.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn collect(&self) -> Result<usize> {
        unimplemented!()
    }

    /// Destroys everything that was retired, and the runtime's allocator.
    ///
    /// # Safety
    /// Nothing of it is in use on the device any more (`vkDeviceWaitIdle`), and every [`Bound`] was retired or destroyed.
    pub unsafe fn destroy(self) {
        unimplemented!()
    }
}
