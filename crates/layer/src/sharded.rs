//! Maps from handles to values that many threads read concurrently.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tileheap_units::{IdMap, spread};

/// A map keyed by handles.
pub type HandleMap<T> = IdMap<u64, T>;

const SHARDS: usize = 16;

/// A map that is divided into parts, each with its own lock.
pub struct Sharded<T> {
    shards: [RwLock<HandleMap<T>>; SHARDS],
}

impl<T> Default for Sharded<T> {
    fn default() -> Self {
        Sharded {
            shards: std::array::from_fn(|_| RwLock::default()),
        }
    }
}

impl<T> Sharded<T> {
    fn shard(&self, handle: u64) -> &RwLock<HandleMap<T>> {
        &self.shards[(spread(handle) >> 48) as usize % SHARDS]
    }

    fn read(&self, handle: u64) -> RwLockReadGuard<'_, HandleMap<T>> {
        self.shard(handle).read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, handle: u64) -> RwLockWriteGuard<'_, HandleMap<T>> {
        self.shard(handle).write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the value of a handle.
    pub fn insert(&self, handle: u64, value: T) {
        self.write(handle).insert(handle, value);
    }

    /// Removes a handle, and returns its value.
    pub fn remove(&self, handle: u64) -> Option<T> {
        // Most destroyed handles were never inserted.
        if !self.read(handle).contains_key(&handle) {
            return None;
        }
        let mut shard = self.write(handle);
        let removed = shard.remove(&handle);
        free_empty(&mut shard);
        removed
    }

    /// Applies `use_it` to the value of a handle, and returns the result; `None` if the handle has no value.
    pub fn with<R>(&self, handle: u64, use_it: impl FnOnce(&T) -> R) -> Option<R> {
        self.read(handle).get(&handle).map(use_it)
    }

    /// Removes every handle for which `forget` returns true.
    pub fn remove_all(&self, forget: impl Fn(&T) -> bool) {
        self.retain(|_, value| !forget(value));
    }

    /// Removes every handle for which `keep` returns false.
    pub fn retain(&self, keep: impl Fn(u64, &T) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|handle, value| keep(*handle, value));
            free_empty(&mut shard);
        }
    }

    /// Folds over the values of all handles, in no particular order.
    pub fn fold<R>(&self, start: R, take: impl Fn(R, &T) -> R) -> R {
        self.shards.iter().fold(start, |so_far, shard| {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            shard.values().fold(so_far, &take)
        })
    }
}

/// Frees the memory of an empty map: a program that destroys everything leaves no memory allocated in the layer.
fn free_empty<T>(shard: &mut HandleMap<T>) {
    if shard.is_empty() {
        *shard = HandleMap::default();
    }
}

impl<T: Clone> Sharded<T> {
    /// The value of a handle.
    pub fn get(&self, handle: u64) -> Option<T> {
        self.with(handle, T::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_keeps_no_memory() {
        let map = Sharded::default();
        (0..1000u64).for_each(|handle| map.insert(handle, handle));
        (0..500).for_each(|handle| assert_eq!(map.remove(handle), Some(handle)));
        map.remove_all(|_| true);
        for shard in &map.shards {
            assert_eq!(shard.read().unwrap().capacity(), 0);
        }
    }
}
