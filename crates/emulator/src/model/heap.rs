//! The extent of the tile heap: which of its bytes are in use, and so have to be poisoned.

use std::sync::atomic::{AtomicU64, Ordering};

/// Up to this size all of a heap is poisoned, also where no resource is bound.
const SMALL: u64 = 64 << 20;

/// The tile heap of a device, in bytes.
pub(crate) struct Heap {
    /// The emulated heap's size.
    pub(crate) size: u64,
    /// The end of the bytes that resources are bound to.
    used: AtomicU64,
}

impl Heap {
    /// A heap of `size` bytes without resources.
    pub(crate) fn new(size: u64) -> Heap {
        Heap {
            size,
            used: AtomicU64::new(0),
        }
    }

    /// Records that a resource ends at `end`.
    pub(crate) fn use_up_to(&self, end: u64) {
        self.used.fetch_max(end, Ordering::Relaxed);
    }

    /// The end of poisoning: of a large heap only what is in use is poisoned.
    pub(crate) fn end(&self) -> u64 {
        if self.size <= SMALL {
            return self.size;
        }
        self.used.load(Ordering::Relaxed).min(self.size)
    }

    /// The offset of a word behind the heap that no resource covers.
    pub(crate) fn guard(&self) -> u64 {
        self.size.next_multiple_of(4)
    }

    /// The words to fill if `[first, end)` becomes undefined; `None` if there are none.
    pub(crate) fn words(&self, first: u64, end: u64) -> Option<(u64, u64)> {
        let (first, end) = (first.next_multiple_of(4), end.min(self.end()).next_multiple_of(4));
        (first < end).then_some((first, end))
    }
}
