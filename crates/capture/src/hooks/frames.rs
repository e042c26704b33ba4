//! Ends frames, and selects the frames to write.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::android::Severity;
use tileheap_layer::host_waits::HostWait;

use super::device::{Candidate, CaptureProgress, DEVICES, Device};
use crate::document::recording::RecordedStep;
use crate::document::{FrameBoundary, FrameChoice};
use crate::model::choice::FrameMeasure;
use crate::model::flatten::flatten;
use crate::model::objects::number_of;
use crate::model::recording::{Op, RecordedList};
use crate::model::submits::{Batch, Queue, Semaphores, Submits};
use crate::model::timeline::ComparedFrames;
use crate::settings::{FrameBoundaryRule, FrameRule, Settings};

/// The minimum time between two writes of a provisional document, as a multiple of the time that writing it takes. Provisional documents are written so
/// that a document exists if the program crashes.
const MIN_INTERVAL_FACTOR: u32 = 20;

unsafe extern "C" {
    /// `atexit` of the C library.
    safe fn atexit(call: extern "C" fn()) -> std::ffi::c_int;
}

/// Ends the captures of the devices that the program has not destroyed when it exits.
extern "C" fn at_exit() {
    // Nothing may unwind into C.
    let _ = std::panic::catch_unwind(|| DEVICES.all().iter().for_each(|device| device.exit()));
}

fn has_label(ops: &RecordedList, name: &str) -> bool {
    ops.iter().any(|one| match &one.op {
        Op::BeginLabel(label) => label == name,
        Op::Execute(_, all) => all.iter().any(|(_, ops)| has_label(ops, name)),
        _ => false,
    })
}

impl Device {
    pub(super) fn progress(&self) -> MutexGuard<'_, CaptureProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a submit to the frame.
    pub(crate) fn submit(&self, queue: vk::Queue, mut batches: Vec<Batch>, fence: vk::Fence) {
        static AT_EXIT: Once = Once::new();
        AT_EXIT.call_once(|| _ = atexit(at_exit));
        let Some(settings) = &self.settings else { return };
        let mut progress = self.progress();
        if progress.has_stopped {
            return;
        }
        let begins = match &settings.boundary {
            FrameBoundaryRule::Label(name) => {
                let commands = batches.iter().flat_map(|batch| &batch.commands);
                commands
                    .into_iter()
                    .any(|commands| has_label(&commands.ops, name))
            }
            _ => false,
        };
        if begins && !progress.current.submits.is_empty() {
            self.end_frame(settings, &mut progress);
        }
        let is_wanted = settings.frames.needs(progress.current.number);
        if is_wanted {
            // Descriptors may be updated after the submission.
            let resources = &mut progress.current.resources;
            for commands in batches.iter_mut().flat_map(|batch| &mut batch.commands) {
                commands.flat = Some(flatten(&commands.ops, resources));
            }
        }
        let CaptureProgress {
            current, semaphores, ..
        } = &mut *progress;
        for batch in &batches {
            batch.waits.iter().for_each(|one| semaphores.wait(one.semaphore));
            let signals = batch.signals.iter();
            signals.for_each(|one| semaphores.signal(one.semaphore, one.value));
        }
        let known = self.queues.get(queue.as_raw()).unwrap_or_default();
        let queue = Queue {
            handle: queue.as_raw(),
            ..known
        };
        let fence = (!fence.is_null()).then(|| number_of(fence));
        current.submit(queue, batches, fence);
        progress.submits += 1;
        let number = progress.current.number;
        let is_first = matches!(settings.frames, FrameRule::Heaviest(_)) && progress.best.frame.is_none();
        let has_passes = || progress.current.flats().any(|flat| !flat.passes.is_empty());
        if (settings.frames.requests(number) || is_first) && has_passes() {
            progress.write_at_intervals(|progress| {
                let CaptureProgress {
                    current,
                    recent,
                    outcome,
                    ..
                } = progress;
                let frames = ComparedFrames {
                    before: recent.back().map(|frame| &**frame),
                    captured: current,
                    next: None,
                };
                let choice = is_first.then(FrameChoice::default);
                let addressed = self.addressed();
                self.write(
                    settings,
                    frames,
                    (FrameBoundary::End, choice, addressed),
                    outcome,
                    false,
                );
            });
        }
        let ends = match &settings.boundary {
            FrameBoundaryRule::Submits(count) => progress.submits >= *count,
            FrameBoundaryRule::Signal(file) => file.exists() && std::fs::remove_file(file).is_ok(),
            FrameBoundaryRule::Present | FrameBoundaryRule::Label(_) => false,
        };
        if ends {
            self.end_frame(settings, &mut progress);
        }
    }

    /// Records a host wait.
    pub(crate) fn waited(&self, wait: HostWait) {
        self.complete_timestamps_after(wait);
        self.step(|_| {
            Some(match wait {
                HostWait::Fence(fence) => RecordedStep::WaitFence(number_of(fence)),
                HostWait::Semaphore(semaphore, value) => RecordedStep::WaitSemaphore {
                    semaphore: number_of(semaphore),
                    value,
                },
                HostWait::Queue(queue) => RecordedStep::WaitIdle(Some(number_of(queue))),
                HostWait::Device => RecordedStep::WaitIdle(None),
                HostWait::AnyOf => {
                    RecordedStep::Outside("a wait for any one of several fences or semaphores".to_owned())
                }
            })
        });
    }

    /// Adds a host step to the frame.
    pub(crate) fn step(&self, step: impl FnOnce(&mut Submits) -> Option<RecordedStep>) {
        if !self.is_capturing() {
            return;
        }
        let progress = &mut *self.progress();
        if progress.has_stopped {
            return;
        }
        let CaptureProgress {
            current, semaphores, ..
        } = progress;
        let Some(step) = step(current) else { return };
        match &step {
            RecordedStep::Submit(batch) => {
                batch.waits.iter().for_each(|one| semaphores.wait(one.semaphore));
                let signals = batch.signals.iter();
                signals.for_each(|one| semaphores.signal(one.semaphore, one.value));
            }
            RecordedStep::SignalSemaphore { semaphore, value } => semaphores.signal(*semaphore, *value),
            RecordedStep::Acquire {
                semaphore: Some(semaphore),
                ..
            } => semaphores.signal(*semaphore, 0),
            RecordedStep::Present { waits, .. } => waits.iter().for_each(|one| semaphores.wait(*one)),
            _ => {}
        }
        current.step(step);
    }

    /// Records the creation of a semaphore; `value` is the initial value of a timeline semaphore.
    pub(crate) fn create_semaphore(&self, number: u32, value: Option<u64>) {
        let progress = &mut *self.progress();
        progress.semaphores.create(number, value);
        progress.current.before.create(number, value);
    }

    /// Gives access to the state of semaphores.
    pub(crate) fn semaphores<T>(&self, with: impl FnOnce(&mut Semaphores) -> T) -> T {
        with(&mut self.progress().semaphores)
    }

    /// Returns the family of a queue.
    pub(crate) fn family_of(&self, queue: vk::Queue) -> u32 {
        self.queues.get(queue.as_raw()).unwrap_or_default().family
    }

    /// Ends the frame if its boundary has been reached.
    pub(crate) fn end_frame_at(&self, is_boundary: impl Fn(&FrameBoundaryRule) -> bool) {
        if let Some(settings) = self
            .settings
            .as_ref()
            .filter(|all| self.is_capturing() && is_boundary(&all.boundary))
        {
            self.end_frame(settings, &mut self.progress());
        }
    }

    fn end_frame(&self, settings: &Settings, progress: &mut CaptureProgress) {
        if progress.has_stopped {
            return;
        }
        let ended = std::mem::take(&mut progress.current);
        progress.current = Submits {
            number: ended.number + 1,
            before: progress.semaphores.clone(),
            created_before: self.last_number(),
            allocated_before: self.allocations(),
            ..Submits::default()
        };
        progress.submits = 0;
        let ended = Arc::new(ended);
        match settings.frames {
            FrameRule::Range(_) => {
                progress.last_write = None;
                self.write_requested(settings, progress, Some(&ended));
                if settings.frames.requests(ended.number) {
                    // The next frame may never end.
                    let alone = progress.candidate(ended.clone(), None, settings.boundary.kind());
                    self.write_candidate(settings, progress, &alone, false);
                }
            }
            FrameRule::Heaviest(_) => self.compare(settings, progress, Some(&ended)),
        }
        progress.recent.push_back(ended);
        if progress.recent.len() > 2 {
            progress.recent.pop_front();
        }
        if progress.current.number > settings.frames.last() {
            self.write_heaviest(settings, progress);
            self.stop(progress);
        }
    }

    /// Writes the last frame, compared with the next one, if it was requested.
    fn write_requested(
        &self,
        settings: &Settings,
        progress: &mut CaptureProgress,
        next: Option<&Arc<Submits>>,
    ) {
        let last = progress.recent.pop_back();
        let Some(frame) = last else { return };
        if settings.frames.requests(frame.number) {
            let one = progress.candidate(frame.clone(), next.cloned(), settings.boundary.kind());
            self.write_candidate(settings, progress, &one, true);
            progress.written += 1;
        }
        progress.recent.push_back(frame);
    }

    /// Compares the last frame with the best so far; if the search prefers it, keeps it, and writes a provisional document.
    fn compare(&self, settings: &Settings, progress: &mut CaptureProgress, next: Option<&Arc<Submits>>) {
        let measure = next.map(|next| FrameMeasure::of(next));
        let last = progress.recent.pop_back();
        if let Some(frame) = last {
            if progress.search.offer(progress.measure, measure) {
                progress.best = progress.candidate(frame.clone(), next.cloned(), settings.boundary.kind());
                progress.write_at_intervals(|progress| {
                    let best = progress.best.clone();
                    self.write_candidate(settings, progress, &best, false);
                });
            }
            progress.recent.push_back(frame);
        }
        progress.measure = measure.unwrap_or_default();
    }

    fn write_heaviest(&self, settings: &Settings, progress: &mut CaptureProgress) {
        let best = std::mem::take(&mut progress.best);
        if best.frame.is_some() {
            self.write_candidate(settings, progress, &best, true);
            progress.written += 1;
        }
    }

    /// Stops capturing frames.
    fn stop(&self, progress: &mut CaptureProgress) {
        progress.current = Submits::default();
        progress.recent.clear();
        progress.best = Candidate::default();
        progress.has_stopped = true;
        // Otherwise command buffers are followed until their timestamps are read.
        if progress.due.is_empty() {
            self.finish();
        }
    }

    /// Ends the capture: writes the frames that are still to be written; if no frame was written, writes the last complete one, or the unfinished one
    /// if there is none.
    pub(crate) fn end(&self) {
        let Some(settings) = self.settings.as_ref().filter(|_| self.is_capturing()) else {
            return;
        };
        self.end_capture(settings, &mut self.progress());
        self.write_rest(settings);
    }

    /// Ends the capture when the program exits without having destroyed the device. Only timestamps that were already read are used: drivers are not
    /// called, since their own exit handlers may have run, and a thread that was stopped in a call may hold their locks.
    pub(crate) fn exit(&self) {
        let Some(settings) = self.settings.as_ref().filter(|_| self.is_capturing()) else {
            return;
        };
        // A thread that was stopped in the middle may hold the lock.
        if let Ok(mut progress) = self.progress.try_lock() {
            self.is_exiting.store(true, Ordering::Relaxed);
            self.end_capture(settings, &mut progress);
            self.write_ready(settings, &mut progress, Duration::ZERO);
        }
    }

    fn end_capture(&self, settings: &Settings, progress: &mut CaptureProgress) {
        if progress.has_stopped {
            return;
        }
        let has_work = |frame: &Arc<Submits>| !frame.submits.is_empty();
        let unfinished = Arc::new(std::mem::take(&mut progress.current));
        let unfinished = Some(flattened(unfinished)).filter(has_work);
        match &settings.frames {
            FrameRule::Range(_) => {
                self.write_requested(settings, progress, unfinished.as_ref());
                let requested = unfinished.as_ref();
                if let Some(frame) = requested.filter(|frame| settings.frames.requests(frame.number)) {
                    let one = progress.candidate(frame.clone(), None, FrameBoundary::End);
                    self.write_candidate(settings, progress, &one, true);
                    progress.written += 1;
                }
            }
            FrameRule::Heaviest(_) => {
                self.compare(settings, progress, unfinished.as_ref());
                self.write_heaviest(settings, progress);
            }
        }
        if progress.written == 0 {
            // A frame that ended at a border is preferred to one that ended with the program.
            let complete = progress.recent.pop_back().map(flattened).filter(has_work);
            let complete = complete.map(|frame| (frame, settings.boundary.kind()));
            match complete.or(unfinished.map(|frame| (frame, FrameBoundary::End))) {
                Some((frame, boundary)) => {
                    if let FrameRule::Range(range) = &settings.frames {
                        let text = format!(
                            "the program ended before frame {}; frame {} is written instead",
                            range.start, frame.number
                        );
                        self.report(Severity::Warning, &text);
                    }
                    let one = Candidate {
                        frame: Some(frame),
                        boundary,
                        ..Candidate::default()
                    };
                    self.write_candidate(settings, progress, &one, true);
                }
                None => self.report(Severity::Warning, "the program ended without submitting work"),
            }
        }
        self.stop(progress);
    }

    /// Ends the capture if the device is lost, since a lost device runs no further submits.
    pub(crate) fn lose(&self, result: vk::Result) -> vk::Result {
        if result == vk::Result::ERROR_DEVICE_LOST && self.is_capturing() {
            self.report(Severity::Error, "the device is lost");
            self.lose_timestamps();
            self.end();
        }
        result
    }
}

impl CaptureProgress {
    /// Returns a candidate for a frame that follows the recent ones.
    fn candidate(
        &self,
        frame: Arc<Submits>,
        next: Option<Arc<Submits>>,
        boundary: FrameBoundary,
    ) -> Candidate {
        Candidate {
            before: self.recent.back().cloned(),
            frame: Some(frame),
            next,
            boundary,
        }
    }

    /// Calls `write` if enough time has passed since it last did so (see [`MIN_INTERVAL_FACTOR`]).
    fn write_at_intervals(&mut self, write: impl FnOnce(&mut CaptureProgress)) {
        if self
            .last_write
            .is_none_or(|(at, took)| at.elapsed() > took * MIN_INTERVAL_FACTOR)
        {
            let began = Instant::now();
            write(self);
            self.last_write = Some((Instant::now(), began.elapsed()));
        }
    }
}

/// Returns the frame with all command buffers flattened, including those that were not flattened at submission.
fn flattened(mut frame: Arc<Submits>) -> Arc<Submits> {
    if let Some(own) = Arc::get_mut(&mut frame) {
        own.flatten();
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::super::device::tests::{fill, first_document, register};
    use super::*;
    use crate::settings::LOG;
    use crate::tables::DeviceTable;

    #[test]
    fn a_lost_device_leaves_what_was_submitted() {
        let folder = std::env::temp_dir().join(format!("tileheap-lost-{}", std::process::id()));
        // SAFETY: It finds no commands.
        let next = unsafe { DeviceTable::load(|_| None) };
        let settings = Settings {
            folder: folder.clone(),
            frames: FrameRule::Range(0..1),
            boundary: FrameBoundaryRule::Present,
            timestamps: false,
        };
        let (device, queue) = register(next, settings);
        for _ in 0..3 {
            device.submit(queue, vec![fill(None)], vk::Fence::null());
        }
        let lost = vk::Result::ERROR_DEVICE_LOST;
        assert_eq!(device.lose(lost), lost);
        assert!(!device.is_capturing(), "nothing can follow");
        let capture = first_document(&folder).expect("a document");
        assert_eq!(
            (capture.border, capture.recording.steps.len()),
            (FrameBoundary::End, 3)
        );
        std::fs::remove_dir_all(&folder).expect("a folder that can be removed");
        DEVICES.remove(device.handle);
    }

    #[test]
    fn empty_submissions_are_not_invalid_frames() {
        let folder = std::env::temp_dir().join(format!("tileheap-empty-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        // SAFETY: It finds no commands.
        let next = unsafe { DeviceTable::load(|_| None) };
        let settings = Settings {
            folder: folder.clone(),
            frames: FrameRule::Range(0..2),
            boundary: FrameBoundaryRule::Present,
            timestamps: false,
        };
        let (device, queue) = register(next, settings);
        for batch in [Batch::default(), fill(None)] {
            device.submit(queue, vec![batch], vk::Fence::null());
        }
        device.end_frame_at(|_| true);
        device.submit(queue, vec![Batch::default()], vk::Fence::null());
        device.end();
        let log = std::fs::read_to_string(folder.join(LOG)).expect("a log");
        let problems: Vec<&str> = log.lines().filter(|line| line.contains("not written")).collect();
        assert_eq!(
            problems,
            ["frame 1 was not written: its submissions have no passes"]
        );
        assert!(first_document(&folder).is_some());
        std::fs::remove_dir_all(&folder).expect("a folder that can be removed");
        DEVICES.remove(device.handle);
    }

    #[test]
    fn a_program_that_ends_early_leaves_a_frame_that_nobody_chose() {
        for (frames, chosen) in [
            (FrameRule::Heaviest(120), true),
            (FrameRule::Range(10..11), true),
            (FrameRule::Range(0..1), false),
        ] {
            let folder = std::env::temp_dir().join(format!("tileheap-early-{}", std::process::id()));
            // SAFETY: It finds no commands.
            let next = unsafe { DeviceTable::load(|_| None) };
            let settings = Settings {
                folder: folder.clone(),
                frames,
                boundary: FrameBoundaryRule::Present,
                timestamps: false,
            };
            let (device, queue) = register(next, settings);
            device.submit(queue, vec![fill(None)], vk::Fence::null());
            device.end();
            let capture = first_document(&folder).expect("a document");
            assert_eq!(capture.choice, chosen.then(FrameChoice::default));
            let log = std::fs::read_to_string(folder.join(LOG)).expect("a log");
            assert!(!log.contains("heaviest"), "{log}");
            std::fs::remove_dir_all(&folder).expect("a folder that can be removed");
            DEVICES.remove(device.handle);
        }
    }
}
