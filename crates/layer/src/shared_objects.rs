//! A map from handles to objects that threads share; most look-ups take no lock.

use std::sync::{Arc, LazyLock};

use crate::given;
use crate::handle_table::HandleTable;
use crate::sharded::Sharded;

/// A map from handles to objects that threads share.
pub struct SharedObjects<T> {
    all: LazyLock<Sharded<Arc<T>>>,
    /// Most of the objects, for look-ups without a lock.
    table: HandleTable<T>,
}

impl<T> SharedObjects<T> {
    /// Creates an empty map.
    #[allow(clippy::new_without_default, reason = "`default` is not a const fn")]
    pub const fn new() -> SharedObjects<T> {
        SharedObjects {
            all: LazyLock::new(Sharded::default),
            table: HandleTable::new(),
        }
    }

    /// Inserts an object, replacing any that the handle already has.
    pub fn insert(&self, handle: u64, object: Arc<T>) {
        self.table.insert(handle, Arc::as_ptr(&object));
        self.all.insert(handle, object);
    }

    /// Returns the object of a handle. Another thread may remove the handle at the same time.
    pub fn get(&self, handle: u64) -> Option<Arc<T>> {
        self.all.get(handle)
    }

    /// Returns the object of an externally synchronized handle: Vulkan does not allow the program to destroy it during `'a`. If a program breaks this rule,
    /// the driver accesses freed memory as well.
    #[inline]
    pub fn synchronized<'a>(&self, handle: u64) -> Option<&'a T> {
        let object = match self.table.get(handle) {
            Some(object) => object,
            None => self.look_up(handle)?,
        };
        Some(given!(object))
    }

    /// Like [`synchronized`](SharedObjects::synchronized), but never takes a lock, and therefore misses some objects.
    #[inline]
    pub fn synchronized_at_once<'a>(&self, handle: u64) -> Option<&'a T> {
        self.table.get(handle).map(|object| given!(object))
    }

    #[cold]
    fn look_up(&self, handle: u64) -> Option<*const T> {
        self.all.with(handle, Arc::as_ptr)
    }

    /// Removes a handle, and returns its object.
    pub fn remove(&self, handle: u64) -> Option<Arc<T>> {
        self.table.remove(handle);
        self.all.remove(handle)
    }

    /// Removes every object for which `forget` returns true.
    pub fn remove_all(&self, forget: impl Fn(&T) -> bool) {
        self.all.retain(|handle, object| {
            let is_gone = forget(object);
            if is_gone {
                self.table.remove(handle);
            }
            !is_gone
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_objects_are_not_found_and_those_without_a_place_are() {
        // More than the table has places.
        const COUNT: u64 = 20_000;
        let objects = SharedObjects::new();
        (0..COUNT).for_each(|handle| objects.insert(handle * 16, Arc::new(handle)));
        for handle in 0..COUNT {
            assert_eq!(objects.synchronized(handle * 16), Some(&handle));
            assert_eq!(objects.get(handle * 16).as_deref(), Some(&handle));
        }
        objects.insert(16, Arc::new(7));
        assert_eq!(objects.synchronized(16), Some(&7), "a handle that returns");
        assert_eq!(objects.remove(16).as_deref(), Some(&7));
        objects.remove_all(|object| object % 2 == 0);
        for handle in 0..COUNT {
            let expected = Some(&handle).filter(|handle| **handle % 2 == 1 && **handle > 1);
            assert_eq!(objects.synchronized(handle * 16), expected);
            assert_eq!(objects.get(handle * 16).as_deref(), expected);
            let at_once = objects.synchronized_at_once(handle * 16);
            assert!(at_once.is_none() || at_once == expected);
        }
    }
}
