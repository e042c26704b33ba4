//! Skipped tests: reported on stderr and in a log.

use std::fs::OpenOptions;
use std::io::Write;

/// Lists the calling test as skipped; the test then returns.
///
/// # Panics
/// If the skip log cannot be written.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let line = format!(
        "skipped: {}: {reason}\n",
        thread.name().unwrap_or("an unnamed thread")
    );
    eprint!("{line}");
    if let Some(log) = std::env::var_os("TILEHEAP_SKIP_LOG") {
        let file = OpenOptions::new().create(true).append(true).open(&log);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("TILEHEAP_SKIP_LOG={}: {error}", log.to_string_lossy()));
    }
}
