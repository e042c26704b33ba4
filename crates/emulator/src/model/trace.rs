//! The trace: a line of JSON for every bind, discard and submit, in the order in which the application made them.
//!
//! ```json
//! {"format":"tileheap-emulator-trace","version":2,"profile":"adreno-830","heap":8355840}
//! {"event":"bind","commandBuffer":"0x55d0","bytes":8355840}
//! {"event":"discard","commandBuffer":"0x55d0","first":4096,"end":8355840,"why":"an action command with less tile memory bound"}
//! {"event":"submit","number":1,"queue":"0x55a0","batch":0,"commandBuffers":["0x55d0"],"live":8355840}
//! {"event":"end","messages":{"TILEHEAP-wrong-object":1}}
//! ```
//! Lines are flushed at the next submit, so that the trace of a killed program is complete up to its last one. The last line is written when the
//! device is destroyed.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::discards::Discard;
use super::lines::Lines;
use super::position::Submit;

/// A trace file.
pub(crate) struct Trace(Lines);

impl Trace {
    /// Begins a trace. The first trace of the process is written to `path`; the file names of later ones have a number
    /// before the extension `json`.
    pub(crate) fn new(path: &Path, profile: &str, heap: u64) -> Trace {
        static OPENED: AtomicU32 = AtomicU32::new(1);
        let lines = match OPENED.fetch_add(1, Ordering::Relaxed) {
            1 => Lines::create(path),
            number => Lines::create(&path.with_extension(format!("{number}.json"))),
        };
        lines.write(&json!({
            "format": "tileheap-emulator-trace", "version": 2, "profile": profile, "heap": heap
        }));
        Trace(lines)
    }

    /// Writes the size of the tile memory that a command buffer binds or, if it is secondary, inherits.
    pub(crate) fn bind(&self, commands: u64, bytes: u64) {
        self.0
            .write(&json!({"event": "bind", "commandBuffer": hex(commands), "bytes": bytes}));
    }

    /// Records that bytes become undefined.
    pub(crate) fn discard(&self, commands: u64, discard: Discard) {
        let Discard { first, end, reason } = discard;
        self.0.write(&json!({
            "event": "discard", "commandBuffer": hex(commands), "first": first, "end": end, "why": reason.text()
        }));
    }

    /// Writes a batch, and the number of bytes that can be live after its last action command.
    pub(crate) fn submit(&self, submit: Submit, commands: impl Iterator<Item = u64>, live: u64) {
        let commands: Vec<_> = commands.map(hex).collect();
        self.0.write(&json!({
            "event": "submit", "number": submit.number, "queue": hex(submit.queue), "batch": submit.batch,
            "commandBuffers": commands, "live": live
        }));
    }

    /// Flushes the file.
    pub(crate) fn flush(&self) {
        self.0.flush();
    }

    /// Writes the last line, with the counts of messages.
    pub(crate) fn close(&self, counts: &Value) {
        self.0.write(&json!({"event": "end", "messages": counts}));
        self.flush();
    }
}

fn hex(handle: u64) -> String {
    format!("0x{handle:x}")
}
