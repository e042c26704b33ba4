//! Stamps that distinguish valid detached objects of a bound frame from outdated ones.

use std::sync::atomic::{AtomicU64, Ordering};

/// Stamp of the last selection, begin or submission of a bound frame, unique within the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UseStamp(u64);

impl UseStamp {
    /// Returns a new stamp.
    pub(super) fn next() -> UseStamp {
        static LAST: AtomicU64 = AtomicU64::new(0);
        UseStamp(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
