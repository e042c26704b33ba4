//! Replacement policies of texture caches.
