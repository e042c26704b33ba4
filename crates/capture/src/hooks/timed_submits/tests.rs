//! Submits with timestamps, on a fake driver whose fences the tests control.

use std::collections::BTreeMap;
use std::sync::Mutex;

use ash::vk::Handle;

use super::super::device::DEVICES;
use super::super::device::tests::{fill, first_document, register};
use super::*;
use crate::document::{Capture, SemaphoreUse};
use crate::settings::{FrameBoundaryRule, FrameRule, Settings};
use crate::tables::DeviceTable;

/// The state of the driver.
#[derive(Default)]
struct Driver {
    /// The status of each fence.
    fences: BTreeMap<u64, vk::Result>,
    created: u64,
    /// The status that each destroyed fence had when it was destroyed.
    destroyed: Vec<vk::Result>,
    /// The result of waits for fences, which are signaled if it is `SUCCESS`.
    waits: vk::Result,
    /// The result of submits.
    submits: vk::Result,
    /// The result of creating fences.
    creates: vk::Result,
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
    submits: vk::Result::SUCCESS,
    creates: vk::Result::SUCCESS,
    calls: 0,
    was_locked: false,
});

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the driver's state for a call.
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
    if driver.creates != vk::Result::SUCCESS {
        return driver.creates;
    }
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
    driver.submits
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

/// A device on this driver, which no other test uses at the same time.
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
            boundary: FrameBoundaryRule::Submits(1),
            timestamps: true,
        };
        let (device, queue) = register(next, settings);
        Scene {
            device,
            queue,
            _turn: turn,
        }
    }

    /// Follows the timestamps of a submit of one command buffer; `submit` has the objects that the program can wait on.
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

    /// Submits a frame of one command buffer.
    fn frame(&self) -> Arc<SubmittedTimes> {
        let times = Arc::new(SubmittedTimes::new(0, 2, 64));
        let batch = fill(Some(times.clone()));
        self.device.submit(self.queue, vec![batch], vk::Fence::null());
        let submit = TimedSubmit {
            queue: self.queue,
            times: vec![times.clone()],
            ..TimedSubmit::default()
        };
        let result = self.device.submitted(submit, vk::Result::SUCCESS);
        assert_eq!(result, vk::Result::SUCCESS);
        times
    }

    fn folder(&self) -> &std::path::Path {
        &self.device.settings.as_ref().expect("settings").folder
    }

    /// The document of the first frame.
    fn written(&self) -> Option<Capture> {
        first_document(self.folder())
    }

    /// The messages about documents that were written for the last time.
    fn messages(&self) -> String {
        std::fs::read_to_string(self.folder().join(crate::settings::LOG)).unwrap_or_default()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _may_not_exist = std::fs::remove_dir_all(self.folder());
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
    let times = scene.frame();
    scene.device.complete_timestamps();
    assert!(!driver().was_locked, "no lock is held while the driver is called");
    let before = driver().calls;
    scene.device.exit();
    assert_eq!(driver().calls, before, "no driver is called during exit");
    assert!(!scene.device.is_capturing() && times.is_pending());
    assert_eq!(scene.written().expect("a document").passes[0].nanoseconds, None);
}

/// The first frame is written for the last time when the second one ends, in a submit.
#[test]
fn a_frame_whose_timestamps_are_late_delays_no_call() {
    for comes in [true, false] {
        let scene = Scene::new();
        let times = scene.frame();
        let began = Instant::now();
        scene.frame();
        assert!(began.elapsed() < MAX_WAIT / 2, "{:?}", began.elapsed());
        assert!(scene.device.progress.try_lock().is_ok());
        assert!(scene.device.is_capturing() && !scene.messages().contains("wrote"));
        if comes {
            // Another thread of the program lets the device go on.
            driver().set(vk::Result::SUCCESS);
            scene.device.complete_timestamps();
            times.read(false, || Some(vec![10, 30]));
            scene.device.write_due();
            assert!(!scene.device.is_capturing() && scene.messages().contains("wrote"));
        }
        scene.device.end();
        assert!(!scene.device.is_capturing() && scene.messages().contains("wrote"));
        let written = scene.written().expect("a document");
        assert_eq!(written.passes[0].nanoseconds, comes.then_some(20));
    }
}

#[test]
fn failed_submits_and_lost_devices_have_no_timestamps() {
    let none = vk::Result::SUCCESS;
    let out_of_memory = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    for (creates, submits, program) in [
        (out_of_memory, none, none),
        (none, out_of_memory, none),
        (none, none, out_of_memory),
        (none, none, none),
    ] {
        let scene = Scene::new();
        driver().creates = creates;
        driver().submits = submits;
        let times = Arc::new(SubmittedTimes::new(0, 2, 64));
        let submit = TimedSubmit {
            queue: scene.queue,
            times: vec![times.clone()],
            ..TimedSubmit::default()
        };
        assert_eq!(scene.device.submitted(submit, program), program);
        let has_failed = [creates, submits, program] != [none; 3];
        assert_eq!(times.is_pending(), !has_failed, "{creates} {submits} {program}");
        driver().set(vk::Result::ERROR_DEVICE_LOST);
        scene.device.complete_timestamps();
        assert!(!times.is_pending());
    }
    // The program gets the error at once.
    let scene = Scene::new();
    scene.frame();
    let began = Instant::now();
    let lost = vk::Result::ERROR_DEVICE_LOST;
    assert_eq!(scene.device.lose(lost), lost);
    assert!(began.elapsed() < MAX_WAIT / 2 && !scene.device.is_capturing());
}
