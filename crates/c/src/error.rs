//! Error objects: where messages go.

use std::sync::{Mutex, PoisonError};

use crate::handles::{Handle, object};
use crate::opaque::{ErrorHandle, ErrorT};

object!(ErrorT, ErrorObject: Error);

/// The message of the last function that failed with it.
#[derive(Default)]
pub struct ErrorObject {
    message: Mutex<String>,
}

impl ErrorObject {
    /// Replaces the message of an error object; nothing happens without one.
    pub(crate) fn set(error: ErrorHandle, message: String) {
        if let Ok(Some(object)) = error.get_if_any() {
            *object.message.lock().unwrap_or_else(PoisonError::into_inner) = message;
        }
    }

    /// Calls `with` with the message.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&str) -> R) -> R {
        with(&self.message.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cfg(test)]
    pub(crate) fn create() -> ErrorHandle {
        Handle::create(ErrorObject::default()).unwrap()
    }

    #[cfg(test)]
    pub(crate) fn message_of(error: ErrorHandle) -> Option<String> {
        error.get().ok().map(|object| object.with(str::to_owned))
    }
}
