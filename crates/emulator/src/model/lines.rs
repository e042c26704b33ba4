//! A file of JSON documents, one per line, for the log of messages and the trace. Failed writes are ignored: these files must not break the
//! application.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tileheap_layer::android::{Severity, print};
use tileheap_layer::app_folder::fetch_hint;

use crate::tables::layer::Layer;

/// A file that lines are appended to.
#[derive(Debug)]
pub(crate) struct Lines(Mutex<Option<BufWriter<File>>>);

impl Lines {
    /// Opens a file for appending, which several processes may do at the same time: a flushed line is one write.
    pub(crate) fn append(path: &Path) -> Lines {
        Lines::to(path, File::options().create(true).append(true).open(path))
    }

    /// Creates a file, or truncates an existing one.
    pub(crate) fn create(path: &Path) -> Lines {
        Lines::to(path, File::create(path))
    }

    fn to(at: &Path, file: std::io::Result<File>) -> Lines {
        let layer = Layer::loaded().name().to_string_lossy();
        let path = at.display();
        match &file {
            Err(error) => print(
                Severity::Error,
                &format!("{layer}: cannot write to {path}: {error}"),
            ),
            // On Android the user cannot see the folder.
            Ok(_) if cfg!(target_os = "android") => print(
                Severity::Info,
                &format!("{layer}: writes to {path}{}", fetch_hint(at)),
            ),
            Ok(_) => {}
        }
        Lines(Mutex::new(file.ok().map(BufWriter::new)))
    }

    /// Writes a line, which reaches the file once it is flushed.
    pub(crate) fn write(&self, line: &Value) {
        self.with(|file| writeln!(file, "{line}"));
    }

    /// Flushes the file.
    pub(crate) fn flush(&self) {
        self.with(BufWriter::flush);
    }

    fn with(&self, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) {
        if let Some(file) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = write(file);
        }
    }
}
