//! Writes the documents of frames.
//!
//! A frame is written several times while it is the best one, so that a document exists after a crash, and then a last time. The last write is put
//! off until the timestamps are read: the program may submit or signal only later what its passes wait for, so that no call of the program may wait
//! for them.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ash::vk;
use tileheap_layer::android::Severity;
use tileheap_layer::app_folder::fetch_hint;

use super::device::{Candidate, CaptureProgress, Device, DueDocument, WrittenDocuments};
use super::program_name::program_name;
use super::timed_submits::MAX_WAIT;
use crate::document::{FrameBoundary, FrameChoice};
use crate::model::build::{Origin, document};
use crate::model::objects::Resource;
use crate::model::timeline::ComparedFrames;
use crate::settings::{FrameRule, Settings};

/// The maximum time for which a document is put off while the program runs.
const MAX_DELAY: Duration = Duration::from_secs(5);

impl DueDocument {
    /// Returns true if some timestamps of the frame have not been read, but may still become available.
    fn is_pending(&self) -> bool {
        let mut times = self.candidate.frame.iter().flat_map(|frame| frame.times());
        times.any(|times| times.is_pending())
    }
}

impl Device {
    /// Writes the document of a frame. If this is the last version of the document and timestamps are still missing, adds it to the due documents
    /// instead.
    pub(super) fn write_candidate(
        &self,
        settings: &Settings,
        progress: &mut CaptureProgress,
        one: &Candidate,
        finally: bool,
    ) {
        let Some(frame) = &one.frame else { return };
        // Without a comparison, for a frame in place of a requested one.
        let choice = match settings.frames {
            FrameRule::Heaviest(_) => Some(progress.search.choice()),
            FrameRule::Range(_) if settings.frames.requests(frame.number) => None,
            FrameRule::Range(_) => Some(FrameChoice::default()),
        };
        let document = DueDocument {
            candidate: one.clone(),
            choice,
            addressed: self.addressed(),
            since: Instant::now(),
        };
        self.complete_timestamps();
        if finally && document.is_pending() {
            progress.due.push(document);
            self.has_due.store(true, Ordering::Relaxed);
        } else {
            self.write_document(settings, document, &mut progress.outcome, finally);
        }
    }

    /// Writes the documents that are due and whose timestamps are read, or that have been put off for too long.
    pub(crate) fn write_due(&self) {
        let has_due = self.has_due.load(Ordering::Relaxed);
        if let Some(settings) = self.settings.as_ref().filter(|_| has_due) {
            self.complete_timestamps();
            self.write_ready(settings, &mut self.progress(), MAX_DELAY);
        }
    }

    /// Writes the documents whose timestamps are read, or that have been put off for `max_delay`.
    pub(super) fn write_ready(
        &self,
        settings: &Settings,
        progress: &mut CaptureProgress,
        max_delay: Duration,
    ) {
        for document in std::mem::take(&mut progress.due) {
            if document.is_pending() && document.since.elapsed() < max_delay {
                progress.due.push(document);
            } else {
                self.write_document(settings, document, &mut progress.outcome, true);
            }
        }
        self.has_due.store(!progress.due.is_empty(), Ordering::Relaxed);
        if progress.has_stopped && progress.due.is_empty() {
            self.finish();
        }
    }

    /// Writes all documents that are due, after a short wait for their timestamps. Called when the program submits nothing more.
    pub(super) fn write_rest(&self, settings: &Settings) {
        let began = Instant::now();
        while self.has_due.load(Ordering::Relaxed) {
            self.complete_timestamps();
            let is_late = began.elapsed() > MAX_WAIT;
            let max_delay = if is_late { Duration::ZERO } else { Duration::MAX };
            self.write_ready(settings, &mut self.progress(), max_delay);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the buffers that shaders can access by address.
    pub(super) fn addressed(&self) -> Vec<Resource> {
        self.objects.buffers.fold(Vec::new(), |mut all, buffer| {
            let usage = buffer.desc.usage;
            if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
                all.push(Resource::Buffer(buffer.clone()));
            }
            all
        })
    }

    fn write_document(
        &self,
        settings: &Settings,
        document: DueDocument,
        outcome: &mut WrittenDocuments,
        finally: bool,
    ) {
        let DueDocument {
            candidate,
            choice,
            addressed,
            ..
        } = document;
        let Some(frame) = &candidate.frame else { return };
        let frames = ComparedFrames {
            before: candidate.before.as_deref(),
            captured: frame,
            next: candidate.next.as_deref(),
        };
        let origin = (candidate.boundary, choice, addressed);
        self.write(settings, frames, origin, outcome, finally);
    }

    pub(super) fn write(
        &self,
        settings: &Settings,
        frames: ComparedFrames<'_>,
        (boundary, choice, addressed): (FrameBoundary, Option<FrameChoice>, Vec<Resource>),
        outcome: &mut WrittenDocuments,
        finally: bool,
    ) {
        let frame = frames.captured;
        if frame.submits.is_empty() {
            if finally {
                let text = format!("frame {} was not written: it submits no work", frame.number);
                self.report(Severity::Warning, &text);
            }
            return;
        }
        let origin = Origin {
            program: program_name(std::env::current_exe().ok().as_deref(), std::env::args_os()),
            device: self.known.device.clone(),
            api_version: self.known.api_version,
            boundary,
            choice,
            addressed,
            granularity: self.known.granularity,
            has_maintenance9: self.known.has_maintenance9,
            timestamp_period: self.known.timestamp_period,
        };
        let name = match self.number {
            0 => format!("frame-{}.json", frame.number),
            number => format!("frame-{}-device-{number}.json", frame.number),
        };
        let path = settings.folder.join(&name);
        let written = document(frames, &origin).and_then(|text| save(&settings.folder, &name, &text));
        match written {
            Ok(()) => {
                // Only a search replaces its frame by another one.
                let is_search = matches!(settings.frames, FrameRule::Heaviest(_));
                let replaced = outcome.provisional.take();
                let replaced = replaced.filter(|other| is_search && *other != path);
                let _removed = replaced.map(std::fs::remove_file);
                if finally {
                    let choice = origin.choice.as_ref();
                    let compared = match choice.map_or(0, |choice| choice.moved_bytes.len()) {
                        0 => String::new(),
                        1 => ", the heaviest of 1 frame".to_owned(),
                        frames => format!(", the heaviest of {frames} frames"),
                    };
                    let hint = fetch_hint(&path);
                    let text = format!("wrote {}{compared}{hint}", path.display());
                    self.report(Severity::Info, &text);
                } else {
                    outcome.provisional = Some(path);
                }
            }
            Err(_) if frame.flats().all(|flat| flat.passes.is_empty()) => {
                if finally {
                    let text = format!(
                        "frame {} was not written: its submissions have no passes",
                        frame.number
                    );
                    self.report(Severity::Warning, &text);
                }
            }
            Err(error) if finally || !outcome.failed => {
                outcome.failed = true;
                self.report(Severity::Error, &error);
            }
            Err(_) => {}
        }
    }
}

/// Writes a file atomically.
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
