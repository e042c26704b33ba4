//! Error objects, which receive messages.

use std::sync::{Mutex, PoisonError};

use ash::vk;

use crate::handles::{Handle, object};
use crate::opaque::{ErrorHandle, ErrorT};
use crate::status::Fault;

object!(ErrorT, ErrorObject: Error);

/// The last failure of the functions that this object was passed to.
#[derive(Default)]
pub struct ErrorObject {
    last: Mutex<Failure>,
}

/// The message of a failed function, with the rule that was broken or the result of the failed Vulkan call.
#[derive(Default)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// The rule of Vulkan that a description breaks; empty for other failures.
    pub(crate) rule: &'static str,
    /// The result of the Vulkan call that failed; success for other failures.
    pub(crate) result: vk::Result,
}

impl ErrorObject {
    /// Records a function's fault as the last failure of an error object; does nothing for a null handle.
    pub(crate) fn set(error: ErrorHandle, function: &str, fault: &Fault) {
        if let Ok(Some(object)) = error.get_if_any("error") {
            *object.last.lock().unwrap_or_else(PoisonError::into_inner) = Failure {
                message: fault.message_from(function),
                rule: fault.rule,
                result: fault.result,
            };
        }
    }

    /// Calls `with` with the last failure.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&Failure) -> R) -> R {
        with(&self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cfg(test)]
    pub(crate) fn create() -> ErrorHandle {
        Handle::create(ErrorObject::default()).unwrap()
    }

    #[cfg(test)]
    pub(crate) fn message_of(error: ErrorHandle) -> Option<String> {
        error
            .get("error")
            .ok()
            .map(|object| object.with(|last| last.message.clone()))
    }
}
