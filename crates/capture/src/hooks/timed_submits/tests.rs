//! Submits with timestamps, above a driver whose fences the tests control.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ash::vk::Handle;

use super::super::device::DEVICES;
use super::super::device::tests::{fill, first_document, register};
use super::*;
use crate::document::SemaphoreUse;
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
    calls: u32,
    /// True if the layer held the lock of its fences in a call.
    was_locked: bool,
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
    calls: 0,
    was_locked: false,
});

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver in a call.
fn called(handle: impl Handle) -> MutexGuard<'static, Driver> {
    let device = DEVICES.of(handle).expect("a live device");
    let mut driver = driver();
    driver.calls += 1;
    driver.was_locked |= device.fences.try_lock().is_err();
    driver
}

unsafe extern "system" fn create_fence(
    device: vk::Device,
    _: *const vk::FenceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Fence,
) -> vk::Result {
    let mut driver = called(device);
    driver.created += 1;
    let number = driver.created;
    driver.fences.insert(number, vk::Result::NOT_READY);
    // SAFETY: The layer's variable.
    unsafe { *out = vk::Fence::from_raw(number) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn destroy_fence(
    device: vk::Device,
    fence: vk::Fence,
    _: *const vk::AllocationCallbacks<'_>,
) {
    let mut driver = called(device);
    let status = driver.fences.remove(&fence.as_raw()).expect("a fence");
    driver.destroyed.push(status);
}

unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    _: u32,
    _: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let mut driver = called(queue);
    driver.fences.insert(fence.as_raw(), vk::Result::NOT_READY);
    vk::Result::SUCCESS
}

unsafe extern "system" fn fence_status(device: vk::Device, fence: vk::Fence) -> vk::Result {
    called(device).fences[&fence.as_raw()]
}

unsafe extern "system" fn wait_for_fences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    _: vk::Bool32,
    _: u64,
) -> vk::Result {
    let mut driver = called(device);
    let result = driver.waits;
    for fence in tileheap_layer::array!(fences, count) {
        if result == vk::Result::SUCCESS {
            driver.fences.insert(fence.as_raw(), result);
        }
    }
    result
}

unsafe extern "system" fn reset_fences(device: vk::Device, _: u32, _: *const vk::Fence) -> vk::Result {
    drop(called(device));
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
            folder: std::env::temp_dir().join(format!("tileheap-times-{}", std::process::id())),
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

    /// Follows a submit of one command buffer, with what the program can wait for.
    fn follow(&self, submit: TimedSubmit) -> Arc<SubmittedTimes> {
        let times = Arc::new(SubmittedTimes::new(0, 2, 64));
        self.device.follow_timestamps(TimedSubmit {
            queue: self.queue,
            times: vec![times.clone()],
            ..submit
        });
        times
    }

    fn submit(&self) -> Arc<SubmittedTimes> {
        self.follow(TimedSubmit::default())
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

/// Returns true if the values would be read, since the device has finished.
fn is_complete(times: &SubmittedTimes) -> bool {
    let mut asks = false;
    times.read(false, || {
        asks = true;
        None
    });
    asks
}

#[test]
fn waits_of_the_program_show_that_timestamps_are_written() {
    let (fence, semaphore) = (vk::Fence::from_raw(900), vk::Semaphore::from_raw(901));
    let signal = |stages| SemaphoreUse {
        semaphore: number_of(semaphore),
        value: 5,
        stages,
    };
    let other = vk::Fence::from_raw(902);
    for (wait, stages, expected) in [
        (HostWait::Fence(fence), S::COPY, true),
        (HostWait::Fence(other), S::ALL_COMMANDS, false),
        (HostWait::Semaphore(semaphore, 5), S::ALL_COMMANDS, true),
        (HostWait::Semaphore(semaphore, 4), S::ALL_COMMANDS, false),
        // The signal may come before the timestamps.
        (HostWait::Semaphore(semaphore, 5), S::COPY, false),
        (HostWait::Queue(vk::Queue::null()), S::ALL_COMMANDS, false),
        (HostWait::Device, S::COPY, true),
        (HostWait::AnyOf, S::ALL_COMMANDS, false),
    ] {
        let scene = Scene::new();
        let times = scene.follow(TimedSubmit {
            fence,
            signals: vec![signal(stages)],
            ..TimedSubmit::default()
        });
        scene.device.waited(wait);
        assert_eq!(is_complete(&times), expected, "{wait:?}");
    }
    let scene = Scene::new();
    let times = scene.submit();
    scene.device.waited(HostWait::Queue(scene.queue));
    assert!(is_complete(&times));
}

#[test]
fn a_program_that_ends_in_a_call_of_the_driver_leaves_its_frame() {
    let scene = Scene::new();
    let times = scene.submit();
    let batch = fill(Some(times.clone()));
    scene.device.submit(scene.queue, vec![batch], vk::Fence::null());
    scene.device.complete_timestamps();
    assert!(!driver().was_locked, "a thread in the driver holds no lock");
    let before = driver().calls;
    scene.device.exit();
    assert_eq!(driver().calls, before, "the driver may have ended");
    assert!(!scene.device.is_capturing() && times.is_pending());
    let folder = &scene.device.settings.as_ref().expect("settings").folder;
    let capture = first_document(folder).expect("a document");
    assert_eq!(capture.passes[0].nanoseconds, None);
    std::fs::remove_dir_all(folder).expect("a folder that can be removed");
}
