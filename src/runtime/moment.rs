//! Points in the use of a bound frame, which identify detached objects that are out of date.

use std::sync::atomic::{AtomicU64, Ordering};

/// The last selection, begin or submission of a bound frame. No other one in the process is equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment(u64);

impl Moment {
    /// A new one.
    pub(super) fn now() -> Moment {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Moment(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
