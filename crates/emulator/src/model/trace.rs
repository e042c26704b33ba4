//! The trace: every bind, discard and submit as a line of JSON, in the order in which the application made them.
//!
//! ```json
//! {"format":"tileheap-emulator-trace","version":1,"profile":"adreno-830","heap":8355840,"events":[
//! {"event":"bind","commandBuffer":"0x55d0","bytes":8355840},
//! {"event":"discard","commandBuffer":"0x55d0","first":4096,"end":8355840,"why":"smaller binding"},
//! {"event":"submit","queue":"0x55a0","batch":0,"commandBuffers":["0x55d0"],"live":8355840}
//! ],"messages":{"TILEHEAP-wrong-object":1}}
//! ```
//! A line reaches the file at the next submit, so of a program that is killed all is there up to its last one. The last line is
//! written when the device is destroyed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

/// A trace file. What cannot be written is dropped: a trace must not break the program it watches.
pub(crate) struct Trace {
    file: Mutex<Option<Writer>>,
}

struct Writer {
    file: BufWriter<File>,
    is_first: bool,
}

impl Trace {
    /// Begins a trace.
    pub(crate) fn new(path: &Path, profile: &str, heap: u64) -> Trace {
        let file = open(path).map(BufWriter::new).and_then(|mut file| {
            let profile = Value::from(profile);
            writeln!(
                file,
                r#"{{"format":"tileheap-emulator-trace","version":1,"profile":{profile},"heap":{heap},"events":["#
            )?;
            Ok(file)
        });
        if let Err(error) = &file {
            eprintln!(
                "VK_LAYER_TILEHEAP_emulator: no trace at {}: {error}",
                path.display()
            );
        }
        let writer = file.ok().map(|file| Writer { file, is_first: true });
        Trace {
            file: Mutex::new(writer),
        }
    }

    fn event(&self, event: &Value) {
        let mut writer = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = &mut *writer {
            let comma = if std::mem::take(&mut writer.is_first) {
                ""
            } else {
                ",\n"
            };
            let _ = write!(writer.file, "{comma}{event}");
        }
    }

    /// `vkCmdBindTileMemoryQCOM`, and what a secondary command buffer inherits.
    pub(crate) fn bind(&self, commands: u64, bytes: u64) {
        self.event(&json!({"event": "bind", "commandBuffer": hex(commands), "bytes": bytes}));
    }

    /// Contents become undefined.
    pub(crate) fn discard(&self, commands: u64, first: u64, end: u64, why: &str) {
        self.event(&json!({
            "event": "discard", "commandBuffer": hex(commands), "first": first, "end": end, "why": why
        }));
    }

    /// A batch, and how many bytes can be live after its last action command.
    pub(crate) fn submit(&self, queue: u64, batch: usize, commands: &[u64], live: u64) {
        let commands: Vec<_> = commands.iter().map(|commands| hex(*commands)).collect();
        self.event(&json!({
            "event": "submit", "queue": hex(queue), "batch": batch, "commandBuffers": commands, "live": live
        }));
    }

    /// Everything so far reaches the file.
    pub(crate) fn flush(&self) {
        let mut writer = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = &mut *writer {
            let _ = writer.file.flush();
        }
    }

    /// Completes the file.
    pub(crate) fn close(&self, counts: &[(&str, u64)]) {
        let writer = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut writer) = writer {
            let messages: serde_json::Map<_, _> = counts
                .iter()
                .map(|(name, count)| ((*name).to_owned(), Value::from(*count)))
                .collect();
            let _ = writeln!(writer.file, "\n],\"messages\":{}}}", Value::Object(messages));
            let _ = writer.file.flush();
        }
    }
}

/// The first trace of the process takes the path, those of further devices a number.
fn open(path: &Path) -> std::io::Result<File> {
    static OPENED: AtomicU32 = AtomicU32::new(1);
    match OPENED.fetch_add(1, Ordering::Relaxed) {
        1 => File::create(path),
        number => File::create(path.with_extension(format!("{number}.json"))),
    }
}

fn hex(handle: u64) -> String {
    format!("0x{handle:x}")
}
