//! Stamps that tell detached objects of a bound frame from those that are out of date.

use std::sync::atomic::{AtomicU64, Ordering};

/// The last selection, begin or submission of a bound frame. No other one in the process is equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UseStamp(u64);

impl UseStamp {
    /// The next stamp.
    pub(super) fn next() -> UseStamp {
        static LAST: AtomicU64 = AtomicU64::new(0);
        UseStamp(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
