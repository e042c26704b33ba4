//! Submits with timestamps, above a driver whose fences the tests control.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ash::vk::Handle;

use super::super::device::DEVICES;
use super::super::device::tests::register;
use super::*;
use crate::settings::{FrameBoundaryRule, FrameRule, Settings};
use crate::tables::DeviceTable;

/// The state of the driver.
#[derive(Default)]
struct Driver {
    /// The status of each fence.
    fences: BTreeMap<u64, vk::Result>,
    created: u64,
    /// The status of each fence that was destroyed, at that time.
    destroyed: Vec<vk::Result>,
    /// The result of waits for fences, which are signaled if it is `SUCCESS`.
    waits: vk::Result,
}

impl Driver {
    /// Changes the status of all submitted fences.
    fn set(&mut self, status: vk::Result) {
        self.fences.values_mut().for_each(|one| *one = status);
    }
}

static DRIVER: Mutex<Driver> = Mutex::new(Driver {
    fences: BTreeMap::new(),
    created: 0,
    destroyed: Vec::new(),
    waits: vk::Result::SUCCESS,
});

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "system" fn create_fence(
    _: vk::Device,
    _: *const vk::FenceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Fence,
) -> vk::Result {
    let mut driver = driver();
    driver.created += 1;
    let number = driver.created;
    driver.fences.insert(number, vk::Result::NOT_READY);
    // SAFETY: The layer's variable.
    unsafe { *out = vk::Fence::from_raw(number) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn destroy_fence(
    _: vk::Device,
    fence: vk::Fence,
    _: *const vk::AllocationCallbacks<'_>,
) {
    let mut driver = driver();
    let status = driver.fences.remove(&fence.as_raw()).expect("a fence");
    driver.destroyed.push(status);
}

unsafe extern "system" fn queue_submit(
    _: vk::Queue,
    _: u32,
    _: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    driver().fences.insert(fence.as_raw(), vk::Result::NOT_READY);
    vk::Result::SUCCESS
}

unsafe extern "system" fn fence_status(_: vk::Device, fence: vk::Fence) -> vk::Result {
    driver().fences[&fence.as_raw()]
}

unsafe extern "system" fn wait_for_fences(
    _: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    _: vk::Bool32,
    _: u64,
) -> vk::Result {
    let mut driver = driver();
    let result = driver.waits;
    for fence in tileheap_layer::array!(fences, count) {
        if result == vk::Result::SUCCESS {
            driver.fences.insert(fence.as_raw(), result);
        }
    }
    result
}

unsafe extern "system" fn reset_fences(_: vk::Device, _: u32, _: *const vk::Fence) -> vk::Result {
    vk::Result::SUCCESS
}

/// A device above this driver, which no other test uses meanwhile.
struct Scene {
    device: Arc<Device>,
    queue: vk::Queue,
    _turn: MutexGuard<'static, ()>,
}

impl Scene {
    fn new() -> Scene {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        *driver() = Driver::default();
        // SAFETY: It finds no commands.
        let mut next = unsafe { DeviceTable::load(|_| None) };
        next.vkCreateFence = Some(create_fence);
        next.vkDestroyFence = Some(destroy_fence);
        next.vkQueueSubmit = Some(queue_submit);
        next.vkGetFenceStatus = Some(fence_status);
        next.vkWaitForFences = Some(wait_for_fences);
        next.vkResetFences = Some(reset_fences);
        let settings = Settings {
            folder: std::env::temp_dir(),
            frames: FrameRule::Range(0..1),
            border: FrameBoundaryRule::Present,
            timestamps: true,
        };
        let (device, queue) = register(next, settings);
        Scene {
            device,
            queue,
            _turn: turn,
        }
    }

    /// Follows a submit of one command buffer.
    fn submit(&self) -> Arc<SubmittedTimes> {
        let times = Arc::new(SubmittedTimes::new(2, 64));
        self.device.follow_timestamps(self.queue, vec![times.clone()]);
        times
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        DEVICES.remove(self.device.handle);
    }
}

#[test]
fn fences_are_destroyed_once_they_are_signaled() {
    for (waits, expected) in [
        // The first one was free again, and was submitted again.
        (vk::Result::SUCCESS, &[vk::Result::SUCCESS; 2][..]),
        (vk::Result::ERROR_DEVICE_LOST, &[vk::Result::NOT_READY; 2]),
        // Left to the driver.
        (vk::Result::TIMEOUT, &[]),
    ] {
        let scene = Scene::new();
        scene.submit();
        driver().set(vk::Result::SUCCESS);
        scene.submit();
        scene.submit();
        driver().waits = waits;
        scene.device.destroy_fences();
        assert_eq!(driver().destroyed, expected, "{waits}");
        assert_eq!(driver().fences.len(), 2 - expected.len());
    }
}
