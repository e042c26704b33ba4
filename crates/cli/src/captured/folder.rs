//! The folder of a capture: its lock, its documents and its reports.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tileheap_capture::settings;

use crate::error::{Error, Result};
use crate::layers::absolute;

/// The report as a page.
const REPORT: &str = "report.html";

/// The report in machine-readable form.
const REPORT_JSON: &str = "report.json";

/// The file that a running capture locks.
const LOCK: &str = "capture.lock";

/// A folder that only one command captures to at a time.
pub(crate) struct CaptureFolder {
    path: PathBuf,
    /// The folder and its ancestors that did not exist before, innermost first.
    created: Vec<PathBuf>,
    /// Locked until the command ends, however it ends; removed when this is dropped.
    _lock: File,
}

impl CaptureFolder {
    /// Creates a folder if necessary, and locks it.
    ///
    /// # Errors
    /// If the folder is not writable, or another command captures to it.
    pub(crate) fn open(out: &Path) -> Result<CaptureFolder> {
        let named = |error: std::io::Error| cannot_write(out, &error);
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing = out.ancestors().take_while(is_missing);
        let created = missing.map(Path::to_owned).collect();
        fs::create_dir_all(out).map_err(named)?;
        let path = absolute(out)?;
        let lock = File::create(path.join(LOCK)).map_err(named)?;
        if is_locked(&lock) {
            return Err(Error::new(format!(
                "another `tileheap capture` is writing to `{}`: wait until it ends, or choose another folder with -o",
                out.display()
            )));
        }
        Ok(CaptureFolder {
            path,
            created,
            _lock: lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the report as a page.
    pub(crate) fn report(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    /// The path of the report in machine-readable form.
    pub(crate) fn report_json(&self) -> PathBuf {
        self.path.join(REPORT_JSON)
    }

    /// Removes the captures of earlier runs, and empties the layer's log.
    pub(crate) fn clear(&self) -> Result<()> {
        let named = |error: std::io::Error| cannot_write(&self.path, &error);
        fs::write(self.path.join(settings::LOG), "").map_err(named)?;
        for (_, earlier) in self.documents()? {
            fs::remove_file(earlier).map_err(named)?;
        }
        self.remove_reports()
    }

    /// Removes the reports of an earlier run, which must not remain if this one fails.
    pub(crate) fn remove_reports(&self) -> Result<()> {
        for report in [REPORT, REPORT_JSON] {
            match fs::remove_file(self.path.join(report)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(cannot_write(&self.path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the captured frames with their numbers, in order of frame and device number.
    pub(crate) fn documents(&self) -> Result<Vec<(u64, PathBuf)>> {
        let entries = fs::read_dir(&self.path).map_err(|error| Error::of(self.path.display(), error))?;
        let mut documents: Vec<(Vec<u64>, PathBuf)> = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let numbers = name
                .strip_prefix("frame-")
                .and_then(|name| name.strip_suffix(".json"));
            if let Some(Ok(numbers)) = numbers.map(|name| name.split("-device-").map(str::parse).collect()) {
                documents.push((numbers, path));
            }
        }
        documents.sort();
        let numbered = documents.into_iter().map(|(numbers, path)| (numbers[0], path));
        Ok(numbered.collect())
    }

    /// The lines that the layer logged.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path.join(settings::LOG)).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Removes a log without problems, and created folders that are empty. Errors are ignored, because the command has already failed.
    pub(crate) fn remove_empty(self) {
        if self.log().iter().all(|line| settings::is_device(line)) {
            let _ = fs::remove_file(self.path.join(settings::LOG));
        }
        // Before the folder; nothing follows that another command could disturb.
        let _ = fs::remove_file(self.path.join(LOCK));
        for empty in &self.created {
            let _ = fs::remove_dir(empty);
        }
    }
}

impl Drop for CaptureFolder {
    fn drop(&mut self) {
        // Before the lock is released, so that the file is not that of another command.
        let _ = fs::remove_file(self.path.join(LOCK));
    }
}

fn cannot_write(out: &Path, error: &std::io::Error) -> Error {
    Error::new(format!(
        "cannot write captures to `{}`: {error}: choose another folder with -o",
        out.display()
    ))
}

/// Locks a file; returns true if another process has locked it. Where files cannot be locked, none is.
#[cfg(unix)]
fn is_locked(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    flock(file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(unix))]
fn is_locked(_: &File) -> bool {
    false
}
