//! Instances and devices by the loader's dispatch key.

use std::sync::{Arc, LazyLock};

use ash::vk::Handle;

use crate::loader::dispatch_key;
use crate::sharded::Sharded;

/// The instances or the devices of a layer, by the dispatch key that all handles of an instance or device share.
pub struct Registry<T>(LazyLock<Sharded<Arc<T>>>);

impl<T> Registry<T> {
    /// Creates an empty registry.
    #[allow(clippy::new_without_default, reason = "`default` is not a const fn")]
    pub const fn new() -> Registry<T> {
        Registry(LazyLock::new(Sharded::default))
    }

    /// The object of a live handle: of an instance or a device, or of one of its physical devices, queues or command buffers.
    pub fn of(&self, handle: impl Handle) -> Option<Arc<T>> {
        self.0.get(key(handle))
    }

    /// Registers a new object.
    pub fn insert(&self, handle: impl Handle, value: T) {
        self.0.insert(key(handle), Arc::new(value));
    }

    /// Unregisters the object of a handle, which the caller destroys.
    pub fn remove(&self, handle: impl Handle) -> Option<Arc<T>> {
        self.0.remove(key(handle))
    }

    /// All objects, in no particular order.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.0.fold(Vec::new(), |mut all, one| {
            all.push(one.clone());
            all
        })
    }
}

fn key(handle: impl Handle) -> u64 {
    // SAFETY: The application, or the layer above, passes a live handle.
    unsafe { dispatch_key(handle.as_raw()) as u64 }
}
