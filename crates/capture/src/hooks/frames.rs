//! Frames: where they end, which are written, and how.

use std::path::Path;
use std::sync::{MutexGuard, Once, PoisonError};
use std::time::Instant;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::host_waits::HostWait;

use super::device::{DEVICES, Device, Progress, say};
use crate::document::Border;
use crate::model::build::{Origin, document};
use crate::model::flatten::flatten;
use crate::model::objects::Resource;
use crate::model::recording::Op;
use crate::model::submits::{Batch, Completed, Submits};
use crate::settings::{BorderRule, Settings};

/// An unfinished frame is written when so many times as long as writing it takes has passed: a crash leaves it readable.
const PATIENCE: u32 = 20;

unsafe extern "C" {
    /// C's.
    safe fn atexit(call: extern "C" fn()) -> std::ffi::c_int;
}

/// The program ends without destroying its devices.
extern "C" fn at_exit() {
    // A thread that was stopped in the middle may hold the lock; and nothing may unwind into C.
    let end = |device: std::sync::Arc<Device>| {
        let free = device.progress.try_lock().is_ok();
        if free {
            device.end();
        }
    };
    let _ = std::panic::catch_unwind(|| DEVICES.all().into_iter().for_each(end));
}

fn has_label(ops: &[Op], name: &str) -> bool {
    ops.iter().any(|op| match op {
        Op::BeginLabel(label) => label == name,
        Op::Execute(all) => all.iter().any(|ops| has_label(ops, name)),
        _ => false,
    })
}

impl Device {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a submit to the frame.
    pub(crate) fn submit(&self, queue: vk::Queue, mut batches: Vec<Batch>, fence: vk::Fence) {
        static AT_EXIT: Once = Once::new();
        AT_EXIT.call_once(|| _ = atexit(at_exit));
        let Some(settings) = &self.settings else { return };
        let mut progress = self.progress();
        let begins = match &settings.border {
            BorderRule::Label(name) => {
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
        let is_wanted = settings.frames.contains(&progress.current.number);
        if is_wanted {
            // Descriptors may be updated once this is submitted.
            for commands in batches.iter_mut().flat_map(|batch| &mut batch.commands) {
                commands.flat = Some(flatten(&commands.ops));
            }
        }
        progress.completed.submit(queue, &mut batches, fence);
        let queue = self.queues.get(queue.as_raw()).unwrap_or_default();
        batches
            .iter_mut()
            .for_each(|batch| batch.sync.family = queue.family);
        progress.current.submits.push((queue, batches));
        progress.submits += 1;
        if is_wanted
            && progress
                .saved
                .is_none_or(|(at, took)| at.elapsed() > took * PATIENCE)
        {
            let began = Instant::now();
            let Progress {
                current,
                last,
                failed,
                ..
            } = &mut *progress;
            self.write(settings, (current, last.as_mut()), Border::End, failed, false);
            progress.saved = Some((Instant::now(), began.elapsed()));
        }
        let ends = match &settings.border {
            BorderRule::Submits(count) => progress.submits >= *count,
            BorderRule::Signal(file) => file.exists() && std::fs::remove_file(file).is_ok(),
            BorderRule::Present | BorderRule::Label(_) => false,
        };
        if ends {
            self.end_frame(settings, &mut progress);
        }
    }

    /// The host waited, and orders what it submits from here on.
    pub(crate) fn waited(&self, wait: HostWait) {
        if self.is_capturing() {
            self.progress().completed.waited(wait);
        }
    }

    /// Ends the frame if this is its border.
    pub(crate) fn border(&self, is_border: impl Fn(&BorderRule) -> bool) {
        if let Some(settings) = self
            .settings
            .as_ref()
            .filter(|all| self.is_capturing() && is_border(&all.border))
        {
            self.end_frame(settings, &mut self.progress());
        }
    }

    fn end_frame(&self, settings: &Settings, progress: &mut Progress) {
        let mut ended = std::mem::take(&mut progress.current);
        progress.current.number = ended.number + 1;
        (progress.submits, progress.saved) = (0, None);
        if settings.frames.contains(&ended.number) {
            let Progress { last, failed, .. } = &mut *progress;
            self.write(
                settings,
                (&mut ended, last.as_mut()),
                settings.border.kind(),
                failed,
                true,
            );
            progress.written += 1;
        }
        progress.last = Some(ended);
        if progress.current.number >= settings.frames.end {
            self.stop(progress);
        }
    }

    fn stop(&self, progress: &mut Progress) {
        (progress.current, progress.last) = (Submits::default(), None);
        progress.completed = Completed::default();
        self.finish();
    }

    /// Nothing follows: writes what there is, if it was not written.
    pub(crate) fn end(&self) {
        let Some(settings) = self.settings.as_ref().filter(|_| self.is_capturing()) else {
            return;
        };
        let progress = &mut *self.progress();
        let Progress {
            current,
            last,
            written,
            failed,
            ..
        } = progress;
        let has_work = |frame: &Submits| !frame.submits.is_empty();
        let first = settings.frames.start;
        if settings.frames.contains(&current.number) && has_work(current) {
            self.write(settings, (current, last.as_mut()), Border::End, failed, true);
        } else if *written == 0 {
            // A frame that a border ended before one that the end of the program did.
            let complete = last
                .as_mut()
                .filter(|last| has_work(last))
                .map(|last| (last, settings.border.kind()));
            let any = complete.or(Some((current, Border::End)).filter(|(current, _)| has_work(current)));
            match any {
                Some((frame, border)) => {
                    let number = frame.number;
                    say(&format!(
                        "the program ended before frame {first}; frame {number} is written instead"
                    ));
                    self.write(settings, (frame, None), border, failed, true);
                }
                None => say("the program ended, and submitted no work"),
            }
        }
        self.stop(progress);
    }

    /// A lost device submits nothing more.
    pub(crate) fn lose(&self, result: vk::Result) -> vk::Result {
        if result == vk::Result::ERROR_DEVICE_LOST && self.is_capturing() {
            say("the device is lost");
            self.end();
        }
        result
    }

    fn write(
        &self,
        settings: &Settings,
        (frame, before): (&mut Submits, Option<&mut Submits>),
        border: Border,
        failed: &mut bool,
        finally: bool,
    ) {
        let mut addressed = Vec::new();
        if frame.submits.is_empty() {
            if finally {
                say(&format!(
                    "frame {} submits no work; it is not written",
                    frame.number
                ));
            }
            return;
        }
        addressed = self.objects.buffers.fold(addressed, |mut all, buffer| {
            if buffer
                .desc
                .usage
                .contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS)
            {
                all.push(Resource::Buffer(buffer.clone()));
            }
            all
        });
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(Path::file_name);
        let origin = Origin {
            program: program.map_or_else(
                || "program".to_owned(),
                |name| name.to_string_lossy().into_owned(),
            ),
            device: self.known.device.clone(),
            api_version: self.known.api_version,
            border,
            addressed,
        };
        let name = match self.number {
            0 => format!("frame-{}.json", frame.number),
            number => format!("frame-{}-device-{number}.json", frame.number),
        };
        let path = settings.folder.join(&name);
        let written = document(frame, before, &origin).and_then(|text| save(&settings.folder, &name, &text));
        match written {
            Ok(()) if finally => say(&format!("wrote {}", path.display())),
            Ok(()) => {}
            Err(error) if finally || !*failed => {
                *failed = true;
                say(&error);
            }
            Err(_) => {}
        }
    }
}

/// Writes a file so that it is there whole or not at all.
fn save(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let path = folder.join(name);
    let write = || {
        std::fs::create_dir_all(folder)?;
        std::fs::write(&temporary, text)?;
        std::fs::rename(&temporary, &path)
    };
    write().map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tileheap::frame::AccessKind;

    use super::super::device::Known;
    use super::*;
    use crate::document::Capture;
    use crate::model::objects::Buffer;
    use crate::model::recording::{Access, Coverage};
    use crate::model::submits::{Queue, Submitted};
    use crate::tables::DeviceTable;

    #[test]
    fn a_lost_device_leaves_what_was_submitted() {
        let folder = std::env::temp_dir().join(format!("tileheap-lost-{}", std::process::id()));
        // What the loader tells handles apart by: the word that they point to.
        let words: &'static [usize; 2] = Box::leak(Box::new([0x7115; 2]));
        let [handle, queue] = [0, 1].map(|index| (&raw const words[index]) as u64);
        let (handle, queue) = (vk::Device::from_raw(handle), vk::Queue::from_raw(queue));
        // SAFETY: It finds nothing.
        let next = unsafe { DeviceTable::load(|_| None) };
        let settings = Settings {
            folder: folder.clone(),
            frames: 0..1,
            border: BorderRule::Present,
        };
        let known = Known {
            device: "none".to_owned(),
            api_version: vk::API_VERSION_1_3,
            families: Vec::new(),
        };
        Device::remember(handle, next, Some(Arc::new(settings)), known);
        let device = DEVICES.of(queue).expect("remembered");
        let known = Queue {
            capabilities: vk::QueueFlags::TRANSFER,
            ..Queue::default()
        };
        device.queues.insert(queue.as_raw(), known);
        let info = vk::BufferCreateInfo::default().size(256);
        let buffer = Arc::new(Buffer::new(1, &info));
        for _ in 0..3 {
            let fill = Access::of_buffer(&buffer, AccessKind::TransferDestination).writing(Coverage::Whole);
            let commands = Submitted {
                name: String::new(),
                ops: Arc::new(vec![Op::Transfer(vec![fill])]),
                flat: None,
            };
            let batch = Batch {
                commands: vec![commands],
                ..Batch::default()
            };
            device.submit(queue, vec![batch], vk::Fence::null());
        }
        let lost = vk::Result::ERROR_DEVICE_LOST;
        assert_eq!(device.lose(lost), lost);
        assert!(!device.is_capturing(), "nothing can follow");
        let text = std::fs::read_to_string(folder.join("frame-0.json")).expect("a document");
        let capture = Capture::from_json(&text)
            .expect("a document")
            .expect("of a capture");
        assert_eq!((capture.border, capture.batches.len()), (Border::End, 3));
        std::fs::remove_dir_all(&folder).expect("a folder that can be removed");
        DEVICES.remove(handle);
    }
}
