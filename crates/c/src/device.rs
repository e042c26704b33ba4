//! The program's device, on which dynamic frames run.

use std::ffi::c_void;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use ash::vk;
use tileheap::runtime::{Capabilities, Device, DeviceDesc as Desc, DeviceQueue as Queue};
use tileheap::units::Bytes;

use crate::additions::DeviceAdditionsObject;
use crate::blocks::{AllocateBlockCallback, Blocks, FreeBlockCallback};
use crate::boundary::run;
use crate::callbacks::{call_back, check_not_calling_back};
use crate::handles::{Handle, object};
use crate::loader;
use crate::opaque::*;
use crate::profile::ProfileObject;
use crate::status::{Fault, Status};
use crate::strings::counted;
use crate::structs::{Array, begin, check_array, need, put, read, sized};
use crate::text::put_text;
use crate::vulkan::OptionalGetInstanceProcAddr;

sized! { Input: DeviceDesc to memory_limit; }

object!(DeviceT, DeviceObject: Device);

/// A device and the number of its dynamic frames.
pub struct DeviceObject {
    /// The device; `None` after it was destroyed.
    device: RwLock<Option<Device>>,
    frames: AtomicU32,
}

/// A queue handle with its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DeviceQueue {
    /// The queue.
    pub queue: vk::Queue,
    /// The index of the queue's family.
    pub family: u32,
    /// The capabilities of the queue family, or the subset of them that frames may use.
    pub capabilities: vk::QueueFlags,
}

/// Describes a device that the program has created.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DeviceDesc {
    /// `sizeof(ThDeviceDesc)`.
    pub struct_size: u32,
    /// `apiVersion` of the `VkApplicationInfo` that the instance was created with; at least `VK_API_VERSION_1_1`.
    pub api_version: u32,
    /// `vkGetInstanceProcAddr` of the Vulkan loader.
    pub get_instance_proc_addr: OptionalGetInstanceProcAddr,
    /// The instance.
    pub instance: vk::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// The device, created with `thGetDeviceCreateInfo`.
    pub device: vk::Device,
    /// The additions that the device was created with; they can be destroyed afterwards.
    pub additions: DeviceAdditionsHandle,
    /// The number of elements of `queues`.
    pub queue_count: u32,
    /// `VK_TRUE` not to use tile memory, even if it is enabled on the device.
    pub without_tile_memory: vk::Bool32,
    /// The queues that frames may be submitted to, each once. Each queue of a frame gets the first unassigned one that has its capabilities, else the
    /// first one that has them.
    pub queues: *const DeviceQueue,
    /// Allocates blocks of ordinary memory.
    pub allocate_block: AllocateBlockCallback,
    /// Frees blocks of ordinary memory.
    pub free_block: FreeBlockCallback,
    /// The first argument of both callbacks.
    pub user_data: *mut c_void,
    /// The maximum number of bytes that all frames of the device may hold; 0 for no maximum. The limit of the system (`VK_EXT_memory_budget`) applies
    /// in either case.
    pub memory_limit: u64,
}

impl DeviceObject {
    /// Returns the device, locked against destruction during a call.
    pub(crate) fn device(&self) -> Result<DeviceInUse<'_>, Fault> {
        check_not_calling_back()?;
        let guard = match self.device.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::WouldBlock) => {
                return Err(Fault::in_use("another call is destroying the device"));
            }
            Err(TryLockError::Poisoned(_)) => return Err(Fault::unusable()),
        };
        match guard.is_some() {
            true => Ok(DeviceInUse(guard)),
            false => Err(Fault::new(Status::ErrorInvalidHandle, "the device was destroyed")),
        }
    }

    pub(crate) fn add_frame(&self) {
        self.frames.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn remove_frame(&self) {
        self.frames.fetch_sub(1, Ordering::AcqRel);
    }

    fn destroy(&self) -> Result<(), Fault> {
        check_not_calling_back()?;
        let mut guard = match self.device.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::WouldBlock) => return Err(Fault::in_use("another call is using the device")),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let frames = self.frames.load(Ordering::Acquire);
        if frames > 0 {
            return Err(Fault::in_use(format!(
                "the device still has {}: call thDestroyDynamicFrame or thAbandonDynamicFrame first",
                counted(frames as usize, "dynamic frame")
            )));
        }
        if let Some(device) = guard.take() {
            // SAFETY: the program has waited for the device, and its dynamic frames are gone.
            unsafe { device.destroy() };
        }
        Ok(())
    }
}

impl Drop for DeviceObject {
    fn drop(&mut self) {
        // Only if its lock was poisoned during a call: leaks its memory, since the program's device may no longer exist.
        let device = self.device.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = device.take() {
            std::mem::forget(device);
        }
    }
}

/// Access to a device, which cannot be destroyed while this value exists.
pub(crate) struct DeviceInUse<'a>(RwLockReadGuard<'a, Option<Device>>);

impl std::ops::Deref for DeviceInUse<'_> {
    type Target = Device;

    fn deref(&self) -> &Device {
        self.0.as_ref().expect("the guard is of an existing device")
    }
}

/// Wraps a device that the program has created: tileheap plans, binds, records and submits frames on it. The program keeps
/// ownership of the device, its queues and the instance.
///
/// Fails with `TH_STATUS_ERROR_VULKAN` if the driver lacks a function, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the physical device does
/// not have the family of a queue, or the family does not have the capabilities of the queue.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateDevice")]
pub unsafe extern "C" fn create_device(
    desc: *const DeviceDesc,
    device: *mut DeviceHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateDevice", error, || {
        // SAFETY: null or writable.
        unsafe { begin(device, "device") }?;
        // SAFETY: the caller's structure.
        let desc = unsafe { read(desc) }?;
        check_not_calling_back()?;
        let additions = desc.additions.get("ThDeviceDesc.additions")?;
        // SAFETY: the caller's handles and arrays.
        let made = unsafe { wrap(&desc, &additions) }.map_err(|fault| fault.within("ThDeviceDesc"))?;
        let object = DeviceObject {
            device: RwLock::new(Some(made)),
            frames: AtomicU32::new(0),
        };
        let handle = DeviceHandle::create(object)?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(device, handle, "device") }
    })
}

unsafe fn wrap(desc: &DeviceDesc, additions: &DeviceAdditionsObject) -> Result<Device, Fault> {
    let allocate = desc.allocate_block.ok_or_else(|| Fault::null("allocateBlock"))?;
    let free = desc.free_block.ok_or_else(|| Fault::null("freeBlock"))?;
    let differs = |field: &str| {
        let message = "is not the one that the additions were created with: use additions that were created for this device";
        Fault::argument(message).within(field)
    };
    if desc.instance == vk::Instance::null() {
        return Err(Fault::null("instance"));
    }
    if desc.physical_device == vk::PhysicalDevice::null() {
        return Err(Fault::null("physicalDevice"));
    }
    if desc.instance != additions.instance {
        return Err(differs("instance"));
    }
    if desc.physical_device != additions.physical_device {
        return Err(differs("physicalDevice"));
    }
    if desc.api_version != additions.api_version {
        return Err(differs("apiVersion"));
    }
    // SAFETY: the caller's array.
    let queues = unsafe { queues_of(desc) }?;
    let (function, instance) = (desc.get_instance_proc_addr, desc.instance);
    // SAFETY: the caller's handles.
    let (instance, support) =
        unsafe { loader::query(function, instance, desc.physical_device, desc.api_version) }?;
    // SAFETY: the physical device is one of the instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(desc.physical_device) };
    check_families(&queues, &families)?;
    // SAFETY: the caller's handle.
    let device =
        unsafe { loader::device(&instance, desc.device, support.version(), additions.capabilities) }?;
    let mut without = Capabilities::empty();
    without.set(Capabilities::TILE_MEMORY, desc.without_tile_memory != vk::FALSE);
    let blocks = Blocks {
        allocate,
        free,
        user_data: desc.user_data,
        device_address: additions
            .capabilities
            .contains(Capabilities::BUFFER_DEVICE_ADDRESS),
    };
    let own = Desc {
        queues,
        enabled: additions.capabilities,
        without,
        optional_features: Some(additions.optional_features),
        allocator: None,
        memory_limit: Some(Bytes(desc.memory_limit)).filter(|limit| *limit > Bytes::ZERO),
        hooks: None,
    };
    // SAFETY: the handles belong together and outlive the object, and the device was created with the additions (the caller's duty).
    let created = unsafe {
        let physical = desc.physical_device;
        Device::with_allocator(&instance, physical, &device, &support, own, Arc::new(blocks))
    };
    Ok(created?)
}

unsafe fn queues_of(desc: &DeviceDesc) -> Result<Vec<Queue>, Fault> {
    check_array(desc.queues, desc.queue_count, QUEUES)?;
    if desc.queue_count == 0 {
        return Err(Fault::argument("is 0: a device needs at least one queue").within("queueCount"));
    }
    let queue = |index: usize| {
        // SAFETY: the array has `queue_count` elements.
        let queue = unsafe { desc.queues.wrapping_add(index).read_unaligned() };
        if queue.queue == vk::Queue::null() {
            return Err(Fault::null("queue").at("queues", index));
        }
        Ok(Queue {
            handle: queue.queue,
            family: queue.family,
            capabilities: queue.capabilities,
        })
    };
    (0..desc.queue_count as usize).map(queue).collect()
}

const QUEUES: Array = Array("queues", "queueCount");

/// Checks that queues belong to families that the physical device has, and that each is listed once.
fn check_families(queues: &[Queue], families: &[vk::QueueFamilyProperties]) -> Result<(), Fault> {
    for (index, queue) in queues.iter().enumerate() {
        let problem =
            |field: &str, message: String| Err(Fault::argument(message).within(field).at("queues", index));
        let Some(family) = families.get(queue.family as usize) else {
            let (own, count) = (queue.family, families.len());
            return problem(
                "family",
                format!("is {own}, but the number of queue families of the physical device is {count}"),
            );
        };
        let lacking = queue.capabilities & !family.queue_flags;
        if !lacking.is_empty() {
            let own = queue.family;
            return problem(
                "capabilities",
                format!("has {lacking:?}, which queue family {own} does not support"),
            );
        }
        if let Some(first) = queues[..index]
            .iter()
            .position(|other| other.handle == queue.handle)
        {
            return problem(
                "queue",
                format!("is the same as that of queues[{first}]: list each queue once"),
            );
        }
    }
    Ok(())
}

/// Destroys everything that tileheap has created on a device, but not the `VkDevice`. A null handle is ignored.
///
/// The device must be idle: call `vkDeviceWaitIdle` first, which may return `VK_ERROR_DEVICE_LOST`.
///
/// Fails with `TH_STATUS_ERROR_IN_USE` if the device has dynamic frames, or another thread is inside of a function of the device, `thWaitForFrame`
/// included.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyDevice")]
pub extern "C" fn destroy_device(device: DeviceHandle, error: ErrorHandle) -> Status {
    run("thDestroyDevice", error, || {
        let Some(object) = device.get_if_any("device")? else {
            return Ok(());
        };
        object.destroy()?;
        device.destroy()
    })
}

/// Creates a profile of a device with the capabilities that tileheap uses on it. Destroy it with `thDestroyProfile`.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateDeviceProfile")]
pub unsafe extern "C" fn create_device_profile(
    device: DeviceHandle,
    profile: *mut ProfileHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateDeviceProfile", error, || {
        // SAFETY: null or writable.
        unsafe { begin(profile, "profile") }?;
        let object = device.get("device")?;
        let found = object.device()?.profile().clone();
        let handle = ProfileHandle::create(ProfileObject { profile: found })?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(profile, handle, "profile") }
    })
}

/// Writes the capabilities in use on a device, its tile memory or the reason that it has none, its queues, and the memory that its frames
/// hold. Destroy the text with `thDestroyText`.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateDeviceText")]
pub unsafe extern "C" fn create_device_text(
    device: DeviceHandle,
    text: *mut TextHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateDeviceText", error, || {
        let object = device.get("device")?;
        let device = object.device()?;
        // SAFETY: null or writable.
        unsafe { put_text(text, || Ok(words(&device))) }
    })
}

fn words(device: &Device) -> String {
    let profile = device.profile();
    let names: Vec<&str> = device.capabilities().iter_names().map(|(name, _)| name).collect();
    let mut text = format!("device        {}\n", profile.name);
    let mut line = |what: &str, value: String| {
        let _ = writeln!(text, "{what:<13} {value}");
    };
    line("in use", names.join(", ").to_lowercase());
    match profile.tile {
        Some(tile) => line("tile memory", format!("{} in heap {}", tile.size, tile.heap)),
        None => {
            for missing in device.missing_requirements() {
                line("no tile memory", missing.to_string());
            }
        }
    }
    for queue in device.queues() {
        line(
            "queue",
            format!("family {}, {:?}", queue.family, queue.capabilities),
        );
    }
    line("memory", format!("{} held by frames", device.pool_bytes()));
    text
}

/// Returns whether the device is lost: a call that tileheap made on it has returned `VK_ERROR_DEVICE_LOST`, or the program has reported it. A
/// lost device stays lost.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetDeviceLost")]
pub unsafe extern "C" fn get_device_lost(
    device: DeviceHandle,
    lost: *mut vk::Bool32,
    error: ErrorHandle,
) -> Status {
    run("thGetDeviceLost", error, || {
        need(lost, "lost")?;
        let object = device.get("device")?;
        let is_lost = object.device()?.is_device_lost();
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(lost, is_lost.into(), "lost") }
    })
}

/// Reports that one of the program's own calls has returned `VK_ERROR_DEVICE_LOST`.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thReportDeviceLost")]
pub extern "C" fn report_device_lost(device: DeviceHandle, error: ErrorHandle) -> Status {
    run("thReportDeviceLost", error, || {
        let object = device.get("device")?;
        object.device()?.report_device_lost("a call of the program");
        Ok(())
    })
}

/// A callback that uses the queues of a device while they are locked (`thUseQueues`).
pub type UseQueuesCallback = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// Calls `use_queues` while the queues of the device are locked: for the program's own submissions, presents and calls of `vkDeviceWaitIdle`, if
/// other threads may submit frames meanwhile. The callback must not call functions of devices and dynamic frames.
///
/// Thread safety: may be called by several threads at once; each waits until the queues are free.
#[unsafe(export_name = "thUseQueues")]
pub unsafe extern "C" fn use_queues(
    device: DeviceHandle,
    use_queues: UseQueuesCallback,
    user_data: *mut c_void,
    error: ErrorHandle,
) -> Status {
    run("thUseQueues", error, || {
        let callback = use_queues.ok_or_else(|| Fault::null("useQueues"))?;
        let object = device.get("device")?;
        let device = object.device()?;
        let locked = device.lock_queues();
        // SAFETY: the program's function.
        call_back(|| unsafe { callback(user_data) });
        drop(locked);
        Ok(())
    })
}

/// Destroys the objects of destroyed dynamic frames and of replaced descriptions if the device has completed the frames that use them, and frees all
/// memory that no frame uses. `waiting` receives the number of such descriptions that the device still uses; it may be null.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thTrimDevice")]
pub unsafe extern "C" fn trim_device(device: DeviceHandle, waiting: *mut u32, error: ErrorHandle) -> Status {
    run("thTrimDevice", error, || {
        let object = device.get("device")?;
        let left = object.device()?.trim()?;
        match waiting.is_null() {
            true => Ok(()),
            // SAFETY: not null; the caller lets it be written.
            false => unsafe { put(waiting, left as u32, "waiting") },
        }
    })
}
