//! Tracks the bytes of the tile heap that are in use, and therefore have to be poisoned.

use std::sync::atomic::{AtomicU64, Ordering};

/// The tile heap of a device, in bytes.
pub(crate) struct Heap {
    /// The size of the emulated heap in bytes.
    pub(crate) size: u64,
    /// The end of the bytes that resources are bound to.
    used: AtomicU64,
    /// The end of the bytes that were poisoned at least once.
    poisoned: AtomicU64,
}

impl Heap {
    /// Creates a heap of `size` bytes without resources.
    pub(crate) fn new(size: u64) -> Heap {
        Heap {
            size,
            used: AtomicU64::new(0),
            poisoned: AtomicU64::new(0),
        }
    }

    /// Records that a resource ends at `end`.
    pub(crate) fn use_up_to(&self, end: u64) {
        self.used.fetch_max(end, Ordering::Relaxed);
    }

    /// The end of the bytes that need poison when they become undefined: the bytes after it are not in use, so nothing can read them.
    pub(crate) fn end(&self) -> u64 {
        self.used.load(Ordering::Relaxed).min(self.size)
    }

    /// The first of the bytes in use that still have the driver's initial contents; `None` if all are poisoned. They count as poisoned
    /// from now on.
    pub(crate) fn take_unpoisoned(&self) -> Option<u64> {
        let end = self.end();
        let first = self.poisoned.fetch_max(end, Ordering::Relaxed);
        (first < end).then_some(first)
    }

    /// Reverts `take_unpoisoned`: nothing was submitted.
    pub(crate) fn restore_unpoisoned(&self, first: u64) {
        self.poisoned.store(first, Ordering::Relaxed);
    }

    /// The offset of a word past the end of the heap, which no resource covers.
    pub(crate) fn guard(&self) -> u64 {
        self.size.next_multiple_of(4)
    }

    /// The range of whole words to fill if `[first, end)` becomes undefined; `None` if no byte needs poison.
    pub(crate) fn words(&self, first: u64, end: u64) -> Option<(u64, u64)> {
        let (first, end) = (first.next_multiple_of(4), end.min(self.end()).next_multiple_of(4));
        (first < end).then_some((first, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_in_use_is_raw_once() {
        let heap = Heap::new(4096);
        assert_eq!((heap.take_unpoisoned(), heap.words(0, 4096)), (None, None));
        heap.use_up_to(1000);
        assert_eq!(
            (heap.take_unpoisoned(), heap.words(10, 4096)),
            (Some(0), Some((12, 1000)))
        );
        assert_eq!(heap.take_unpoisoned(), None);
        heap.use_up_to(500);
        assert_eq!(heap.take_unpoisoned(), None);
        heap.use_up_to(8192);
        assert_eq!((heap.take_unpoisoned(), heap.end()), (Some(1000), 4096));
        heap.restore_unpoisoned(1000);
        assert_eq!(heap.take_unpoisoned(), Some(1000));
    }
}
