//! Results of functions.

use std::fmt;

use ash::vk;
use tileheap::runtime::{RuntimeError, RuntimeRule};

/// The result of a function: 0 or more for success, negative for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// The function succeeded.
    Success = 0,
    /// The array was too short: it has the first elements, and the count says how many were written.
    Incomplete = 1,
    /// Time ran out before the frame was complete on the device.
    Timeout = 2,
    /// A pointer that must point to something is null.
    ErrorNullPointer = -1,
    /// `structSize` of a structure is not its size in any version of the header that the library knows.
    ErrorStructSize = -2,
    /// A handle is null, was destroyed, or is not one of the expected type.
    ErrorInvalidHandle = -3,
    /// The object is in use: by another thread, although it allows one thread at a time; by objects that have to be destroyed first; or by the
    /// call that is calling back.
    ErrorInUse = -4,
    /// A number, an index, a name or a text is not one that the function accepts.
    ErrorInvalidArgument = -5,
    /// The description of a frame breaks a rule.
    ErrorInvalidFrame = -6,
    /// A device profile contradicts itself, or a resource exceeds its limits.
    ErrorInvalidProfile = -7,
    /// A text is not a document of the expected format.
    ErrorInvalidDocument = -8,
    /// The frame cannot be planned for this device, for example because a pinned resource does not fit.
    ErrorCannotPlan = -9,
    /// The frame cannot run in this arrangement.
    ErrorCannotArrange = -10,
    /// The plan cannot be lowered for these queues, or needs more than aliasing.
    ErrorCannotLower = -11,
    /// A checker refused a plan or tables.
    ErrorCheckFailed = -12,
    /// The Vulkan driver returned an error, or lacks a function.
    ErrorVulkan = -13,
    /// A defect of the library. The objects of the call can only be destroyed.
    ErrorInternal = -14,
    /// Functions were called in the wrong order; the message names the function to call first.
    ErrorWrongState = -15,
    /// The memory of the device or the host, or the memory limit, is used up.
    ErrorOutOfMemory = -16,
    /// The device is lost (`VK_ERROR_DEVICE_LOST`). Submitted work may still be executing until `vkDeviceWaitIdle` returns, with any result.
    ErrorDeviceLost = -17,
}

/// A status that is not success, and its message.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) status: Status,
    pub(crate) message: String,
    /// The rule of Vulkan that a description breaks; empty for other faults.
    pub(crate) rule: &'static str,
    /// The result of the Vulkan call that failed; success for other faults.
    pub(crate) result: vk::Result,
}

impl Fault {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Fault {
        Fault {
            status,
            message: message.into(),
            rule: "",
            result: vk::Result::SUCCESS,
        }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Fault {
        Fault::new(Status::ErrorInvalidArgument, message)
    }

    pub(crate) fn state(message: impl Into<String>) -> Fault {
        Fault::new(Status::ErrorWrongState, message)
    }

    pub(crate) fn in_use(message: impl Into<String>) -> Fault {
        Fault::new(Status::ErrorInUse, message)
    }

    /// The fault of an object whose lock a panic has poisoned.
    pub(crate) fn unusable() -> Fault {
        Fault::new(
            Status::ErrorInternal,
            "an earlier call left the object unusable: destroy it",
        )
    }

    pub(crate) fn null(what: impl fmt::Display) -> Fault {
        Fault::new(Status::ErrorNullPointer, format!("{what} is null"))
    }

    /// The fault of a named part of a description.
    pub(crate) fn of(self, what: &str, name: &str) -> Fault {
        Fault {
            message: format!("{what} `{name}`: {}", self.message),
            ..self
        }
    }

    /// The fault of an element of an array.
    pub(crate) fn at(self, what: &str, index: usize) -> Fault {
        Fault {
            message: format!("{what} {index}: {}", self.message),
            ..self
        }
    }

    /// Converts an error of the library with a status other than that of its type.
    pub(crate) fn with(status: Status) -> impl Fn(tileheap::Error) -> Fault {
        move |error| Fault {
            status,
            ..Fault::from(error)
        }
    }
}

impl<E: Into<tileheap::Error>> From<E> for Fault {
    fn from(error: E) -> Fault {
        let error = error.into();
        Fault {
            status: status_of(&error),
            message: in_full(&error),
            rule: error.invalid_usage().map_or("", |broken| broken.rule),
            result: match &error {
                tileheap::Error::Runtime(RuntimeError::Vulkan { result, .. }) => *result,
                _ => vk::Result::SUCCESS,
            },
        }
    }
}

fn status_of(error: &tileheap::Error) -> Status {
    use tileheap::arrange::ArrangeError;
    use tileheap::frame::FrameError;
    use tileheap_device::Error as DeviceError;
    match error {
        tileheap::Error::Frame(FrameError::Json(_) | FrameError::Weights(_)) => Status::ErrorInvalidDocument,
        tileheap::Error::Frame(_) | tileheap::Error::Unsupported(_) => Status::ErrorInvalidFrame,
        tileheap::Error::Profile(DeviceError::Json(_)) => Status::ErrorInvalidDocument,
        tileheap::Error::Profile(DeviceError::UnknownProfile { .. }) => Status::ErrorInvalidArgument,
        tileheap::Error::Profile(_) => Status::ErrorInvalidProfile,
        tileheap::Error::Plan(_) | tileheap::Error::Pack(_) => Status::ErrorCannotPlan,
        tileheap::Error::PlanJson(_) => Status::ErrorInvalidDocument,
        tileheap::Error::Arrange(
            ArrangeError::Syntax(_) | ArrangeError::Format { .. } | ArrangeError::Unknown(_),
        ) => Status::ErrorInvalidDocument,
        tileheap::Error::Arrange(_) => Status::ErrorCannotArrange,
        tileheap::Error::Lower(_) => Status::ErrorCannotLower,
        tileheap::Error::Check(_) | tileheap::Error::CheckLowered(_) => Status::ErrorCheckFailed,
        tileheap::Error::Runtime(error) => status_of_runtime(error),
        tileheap::Error::Ffi(_) => Status::ErrorVulkan,
        _ => Status::ErrorInternal,
    }
}

fn status_of_runtime(error: &RuntimeError) -> Status {
    use RuntimeRule as Rule;
    match error {
        RuntimeError::Vulkan { result, .. } => match *result {
            vk::Result::ERROR_DEVICE_LOST => Status::ErrorDeviceLost,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                Status::ErrorOutOfMemory
            }
            _ => Status::ErrorVulkan,
        },
        RuntimeError::OverBudget { .. } => Status::ErrorOutOfMemory,
        RuntimeError::NoQueue { .. }
        | RuntimeError::Unsupported { .. }
        | RuntimeError::UnsupportedPass { .. } => Status::ErrorCannotPlan,
        RuntimeError::Misuse { rule, .. } => match rule {
            Rule::Order | Rule::Recording | Rule::NotSubmitted | Rule::NotImported => Status::ErrorWrongState,
            Rule::QueuesWithoutTimelines => Status::ErrorCannotPlan,
            Rule::Grown => Status::ErrorVulkan,
            _ => Status::ErrorInvalidArgument,
        },
        _ => Status::ErrorVulkan,
    }
}

/// An error with all of its causes, on one line.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message += ": ";
            message += &text;
        }
        source = cause.source();
    }
    message
}
