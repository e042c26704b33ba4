//! A lock for externally synchronized objects: threads only wait for it in programs that break Vulkan's rule.
//!
//! `std::sync::Mutex` takes 20 instructions instead of 6, since it also tracks poisoning: too much for every recorded
//! command, for which a driver takes 500.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A value that one thread uses at a time.
#[derive(Default)]
pub struct Exclusive<T> {
    is_used: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `lock` gives the value to one thread at a time.
unsafe impl<T: Send> Sync for Exclusive<T> {}

/// A lock guard: exclusive access to the value until it is dropped.
pub struct ExclusiveGuard<'a, T>(&'a Exclusive<T>);

impl<T> Exclusive<T> {
    /// Waits until no other thread uses the value, and locks it.
    #[inline]
    pub fn lock(&self) -> ExclusiveGuard<'_, T> {
        while self.is_used.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        ExclusiveGuard(self)
    }

    /// Locks the value; `None` if another thread uses it.
    #[inline]
    pub fn try_lock(&self) -> Option<ExclusiveGuard<'_, T>> {
        // Not `then_some`, which would release the lock of the other thread.
        (!self.is_used.swap(true, Ordering::Acquire)).then(|| ExclusiveGuard(self))
    }
}

impl<T> Deref for ExclusiveGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: There is one `ExclusiveGuard` at a time.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for ExclusiveGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: As above, and it is borrowed mutably.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for ExclusiveGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_used.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_uses_it_at_a_time() {
        let count = Exclusive::<u32>::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let mut count = count.lock();
                        let before = *count;
                        std::thread::yield_now();
                        *count = before + 1;
                    }
                });
            }
        });
        assert_eq!(*count.lock(), 4000);
    }

    #[test]
    fn a_failed_attempt_leaves_it_locked() {
        let value = Exclusive::<u32>::default();
        let used = value.lock();
        assert!(value.try_lock().is_none());
        assert!(value.try_lock().is_none(), "still locked");
        drop(used);
        assert!(value.try_lock().is_some());
        assert!(value.try_lock().is_some(), "released again");
    }

    #[test]
    fn a_panic_releases_it() {
        let value = Exclusive::<u32>::default();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut used = value.lock();
            *used = 7;
            panic!("on purpose");
        }));
        assert!(outcome.is_err());
        assert_eq!(*value.lock(), 7);
    }
}
