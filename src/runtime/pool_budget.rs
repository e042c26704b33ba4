//! The ordinary memory that a pool holds, and the limits that it stays within.
//!
//! Bytes are reserved before they are allocated and released after they are freed, so that the allocations of all threads together stay within the
//! limits, although no thread allocates under the pool's lock.

use ash::vk;

use crate::units::Bytes;

/// The bytes of ordinary memory that a pool holds and is allocating, and their limit.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// The bytes of all blocks, including those that are being allocated or freed.
    held: Bytes,
    /// Per heap, the bytes that are being allocated: the system may not count them yet.
    in_flight: [Bytes; vk::MAX_MEMORY_HEAPS],
    /// The maximum number of bytes of all blocks together; `None` if the program sets none.
    limit: Option<Bytes>,
}

/// A limit that an allocation would exceed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ExceededLimit {
    pub(super) name: &'static str,
    /// Bytes in use.
    pub(super) held: Bytes,
    pub(super) limit: Bytes,
}

impl Budget {
    pub(super) fn new(limit: Option<Bytes>) -> Budget {
        Budget {
            limit,
            ..Budget::default()
        }
    }

    /// The bytes of all blocks, including those that are being allocated or freed.
    pub(super) fn held(&self) -> Bytes {
        self.held
    }

    /// Reserves bytes of a heap before they are allocated; `system` is the heap's usage and budget as reported by the system.
    ///
    /// # Errors
    /// The limit that would be exceeded.
    pub(super) fn reserve(
        &mut self,
        bytes: Bytes,
        heap: usize,
        system: Option<(Bytes, Bytes)>,
    ) -> Result<(), ExceededLimit> {
        let own = self.limit.map(|limit| ExceededLimit {
            name: "memory limit of the device",
            held: self.held,
            limit,
        });
        let system = system.map(|(used, limit)| ExceededLimit {
            name: "memory budget of the system",
            held: used + self.in_flight[heap],
            limit,
        });
        let mut limits = own.into_iter().chain(system);
        if let Some(exceeded) = limits.find(|one| one.held + bytes > one.limit) {
            return Err(exceeded);
        }
        self.held += bytes;
        self.in_flight[heap] += bytes;
        Ok(())
    }

    /// Records that reserved bytes are allocated.
    pub(super) fn finish_allocation(&mut self, bytes: Bytes, heap: usize) {
        self.in_flight[heap] = self.in_flight[heap] - bytes;
    }

    /// Records that allocated bytes are freed.
    pub(super) fn release(&mut self, bytes: Bytes) {
        self.held = self.held - bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_bytes_count_as_held() {
        let mut budget = Budget::new(Some(Bytes(100)));
        assert_eq!(budget.reserve(Bytes(60), 0, None), Ok(()));
        let exceeded = budget.reserve(Bytes(60), 1, None).unwrap_err();
        assert_eq!((exceeded.held, exceeded.limit), (Bytes(60), Bytes(100)));
        assert_eq!(budget.reserve(Bytes(40), 0, None), Ok(()));
        budget.finish_allocation(Bytes(60), 0);
        budget.release(Bytes(60));
        assert_eq!(budget.held(), Bytes(40));
        assert_eq!(budget.reserve(Bytes(60), 0, None), Ok(()));
    }

    #[test]
    fn reserved_bytes_are_added_to_the_usage_that_the_system_reports() {
        let mut budget = Budget::default();
        let system = Some((Bytes(10), Bytes(100)));
        assert_eq!(budget.reserve(Bytes(60), 0, system), Ok(()));
        let exceeded = budget.reserve(Bytes(31), 0, system).unwrap_err();
        assert_eq!((exceeded.held, exceeded.limit), (Bytes(70), Bytes(100)));
        assert_eq!(budget.reserve(Bytes(31), 1, system), Ok(()));
        budget.finish_allocation(Bytes(60), 0);
        assert_eq!(budget.reserve(Bytes(31), 0, system), Ok(()));
    }
}
