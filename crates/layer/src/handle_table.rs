//! Finds live objects by handle, in a few instructions and without a lock.
//!
//! A per-thread cache of the last object found takes three times as many in a library that is loaded at run time, where access to a
//! thread-local variable is a call.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use tileheap_units::GOLDEN;

/// Binary logarithm of the number of slots.
const SLOT_BITS: u32 = 12;

/// `FREE` marks slots without an object, `BUSY` those that are being filled. Not valid handles, since handles are aligned or counted from low
/// numbers.
const FREE: u64 = u64::MAX;
const BUSY: u64 = u64::MAX - 1;

struct TableSlot<T> {
    handle: AtomicU64,
    object: AtomicPtr<T>,
}

/// Objects by handle. An object is not found if another live object occupies its slot.
///
/// A slot belongs to a handle from insertion to removal, so a caller that synchronizes both with its own use of the object, as Vulkan
/// requires for handles, finds that object.
pub struct HandleTable<T>([TableSlot<T>; 1 << SLOT_BITS]);

impl<T> HandleTable<T> {
    /// Creates an empty table.
    #[allow(clippy::new_without_default, reason = "`default` is not a const fn")]
    pub const fn new() -> HandleTable<T> {
        HandleTable(
            [const {
                TableSlot {
                    handle: AtomicU64::new(FREE),
                    object: AtomicPtr::new(std::ptr::null_mut()),
                }
            }; 1 << SLOT_BITS],
        )
    }

    #[inline]
    fn slot(&self, handle: u64) -> &TableSlot<T> {
        &self.0[(handle.wrapping_mul(GOLDEN) >> (u64::BITS - SLOT_BITS)) as usize]
    }

    /// Inserts an object, replacing one with the same handle; does nothing if another handle occupies the slot.
    pub fn insert(&self, handle: u64, object: *const T) {
        let slot = self.slot(handle);
        let takes = |from| {
            let taken = slot
                .handle
                .compare_exchange(from, BUSY, Ordering::Acquire, Ordering::Relaxed);
            taken.is_ok()
        };
        if takes(FREE) || takes(handle) {
            slot.object.store(object.cast_mut(), Ordering::Relaxed);
            slot.handle.store(handle, Ordering::Release);
        }
    }

    /// Removes the object of a handle, if it is in the table.
    pub fn remove(&self, handle: u64) {
        let (slot, order) = (self.slot(handle), Ordering::Relaxed);
        let _of_another = slot
            .handle
            .compare_exchange(handle, FREE, Ordering::Release, order);
    }

    /// The address of the object of a handle; `None` if it is not in the table.
    #[inline]
    pub fn get(&self, handle: u64) -> Option<*const T> {
        let slot = self.slot(handle);
        let is_it = slot.handle.load(Ordering::Acquire) == handle;
        is_it.then(|| slot.object.load(Ordering::Relaxed).cast_const())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_of_one_handle_until_it_is_removed() {
        let live: HandleTable<u64> = HandleTable::new();
        let objects: Vec<u64> = (0..20_000).map(|index| index * 16).collect();
        objects.iter().for_each(|object| live.insert(*object, object));
        let is_found = |handle: &&u64| live.get(**handle) == Some(&raw const **handle);
        let (found, missed): (Vec<&u64>, Vec<&u64>) = objects.iter().partition(is_found);
        assert!(found.len() > 1 << (SLOT_BITS - 1), "{}", found.len());
        assert!(missed.iter().all(|handle| live.get(**handle).is_none()));
        let other = missed[0];
        let shares = |first: &&&u64| std::ptr::eq(live.slot(***first), live.slot(*other));
        let first = *found.iter().find(shares).expect("the one that has its place");
        live.insert(*other, other);
        assert!(is_found(&first), "its place is taken");
        live.remove(*other);
        assert!(is_found(&first), "its place is another's");
        live.insert(*first, other);
        assert_eq!(live.get(*first), Some(&raw const *other), "a handle that returns");
        live.remove(*first);
        live.insert(*other, other);
        assert_eq!(
            (live.get(*first), live.get(*other)),
            (None, Some(&raw const *other))
        );
    }
}
