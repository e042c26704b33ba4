//! Results of functions.

use std::ops::{Deref, DerefMut};

use ash::vk;
use tileheap::runtime::{RuntimeError, RuntimeRule};

/// The result of a function: 0 or more for success, negative for an error.
///
/// The message of an error is in the `ThError` that the function was called with. Functions without such a parameter, such as most `thDestroy...`
/// functions, do not change any message: only the status says why they failed.
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
    /// The object is in use: by another thread, although it allows one thread at a time; by objects that have to be destroyed first; or by the call
    /// that invoked the callback that is running.
    ErrorInUse = -4,
    /// A number, an index, a name or a string is not one that the function accepts.
    ErrorInvalidArgument = -5,
    /// The description of a frame breaks a rule.
    ErrorInvalidFrame = -6,
    /// A device profile contradicts itself, or a resource is larger than the largest allocation that it permits.
    ErrorInvalidProfile = -7,
    /// A string is not a document of the expected format.
    ErrorInvalidDocument = -8,
    /// The frame cannot be planned for this device, for example because a pinned resource does not fit.
    ErrorCannotPlan = -9,
    /// The frame cannot run in this arrangement.
    ErrorCannotArrange = -10,
    /// The plan cannot be lowered for these queues, or `thCreateAliasing` does not support it.
    ErrorCannotLower = -11,
    /// A checker refused a plan or tables.
    ErrorCheckFailed = -12,
    /// The Vulkan driver returned an error, or lacks a function.
    ErrorVulkan = -13,
    /// A defect in the library. The objects that were passed to the call can only be destroyed.
    ErrorInternal = -14,
    /// Functions were called in the wrong order; the message names the function to call first.
    ErrorWrongState = -15,
    /// The memory of the device or the host, or the memory limit, is used up.
    ErrorOutOfMemory = -16,
    /// The device is lost (`VK_ERROR_DEVICE_LOST`). Submitted work may still be executing until `vkDeviceWaitIdle` returns, with any result.
    ErrorDeviceLost = -17,
}

/// A status that is not success, and its message. As small as a pointer: every function returns it through several others.
#[derive(Debug)]
pub(crate) struct Fault(Box<FaultFields>);

/// The fields of a [`Fault`].
#[derive(Debug)]
pub(crate) struct FaultFields {
    pub(crate) status: Status,
    pub(crate) message: String,
    /// The argument or the field, in the notation of C: `ThFrameDesc.passes[1].name`. Empty if the message names it.
    place: String,
    /// The named part of a description that the fault belongs to; empty for none.
    part: String,
    /// `true` if the message comes from the Rust interface, whose messages name the object themselves.
    is_of_rust: bool,
    /// The rule of Vulkan that a description breaks; empty for other faults.
    pub(crate) rule: &'static str,
    /// The result of the Vulkan call that failed; success for other faults.
    pub(crate) result: vk::Result,
}

impl Deref for Fault {
    type Target = FaultFields;

    fn deref(&self) -> &FaultFields {
        &self.0
    }
}

impl DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut FaultFields {
        &mut self.0
    }
}

impl Fault {
    #[cold]
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Fault {
        Fault(Box::new(FaultFields {
            status,
            message: message.into(),
            place: String::new(),
            part: String::new(),
            is_of_rust: false,
            rule: "",
            result: vk::Result::SUCCESS,
        }))
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

    /// The fault for an object whose lock a panic has poisoned.
    pub(crate) fn unusable() -> Fault {
        Fault::new(
            Status::ErrorInternal,
            "an earlier call left the object unusable: destroy it",
        )
    }

    /// The fault for an argument or a field that is null.
    #[cold]
    pub(crate) fn null(place: &str) -> Fault {
        Fault::new(Status::ErrorNullPointer, "is null").within(place)
    }

    /// Adds the named part of a description that the fault belongs to, unless one is already set.
    #[cold]
    pub(crate) fn of(mut self, what: &str, name: &str) -> Fault {
        if self.part.is_empty() {
            self.part = format!("{what} `{name}`");
        }
        self
    }

    /// Prepends an argument or an enclosing field to the place.
    #[cold]
    #[inline(never)]
    pub(crate) fn within(mut self, outer: &str) -> Fault {
        let dot = if self.place.is_empty() || self.place.starts_with('[') {
            ""
        } else {
            "."
        };
        self.place = format!("{outer}{dot}{}", self.place);
        self
    }

    /// Prepends the array element that contains the fault to the place.
    #[cold]
    #[inline(never)]
    pub(crate) fn at(self, array: &str, index: usize) -> Fault {
        self.within(&format!("{array}[{index}]"))
    }

    /// The complete message of a fault of `function`.
    #[cold]
    pub(crate) fn message_from(&self, function: &str) -> String {
        if self.is_of_rust {
            return self.message.clone();
        }
        let mut told = format!("{function}: ");
        if !self.part.is_empty() {
            told += &self.part;
            told += ": ";
        }
        if !self.place.is_empty() {
            told += &self.place;
            // "`place` is null", but "`place`: the last call failed".
            let verbs = ["is ", "has "];
            let is_verb = verbs.iter().any(|verb| self.message.starts_with(verb));
            told += if is_verb { " " } else { ": " };
        }
        told + &self.message
    }

    /// Returns a conversion from an error of the library to a fault with this status.
    pub(crate) fn with(status: Status) -> impl Fn(tileheap::Error) -> Fault {
        move |error| {
            let mut fault = Fault::from(error);
            fault.status = status;
            fault
        }
    }
}

impl<E: Into<tileheap::Error>> From<E> for Fault {
    fn from(error: E) -> Fault {
        of_library(error.into())
    }
}

#[cold]
fn of_library(error: tileheap::Error) -> Fault {
    let mut fault = Fault::new(status_of(&error), with_c_names(with_causes(&error)));
    fault.is_of_rust = true;
    fault.rule = error.invalid_usage().map_or("", |broken| broken.rule);
    if let tileheap::Error::Runtime(RuntimeError::Vulkan { result, .. }) = error {
        fault.result = result;
    }
    fault
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

/// Names of the Rust interface that occur in messages, each with the header's name that replaces it; `tests/header.rs` finds missing ones.
const C_NAMES: [(&str, &str); 15] = [
    ("PassBuilder::in_strips", "TH_PASS_FLAG_STRIPS"),
    ("`separate_levels`", "TH_RESOURCE_FLAG_SEPARATE_LEVELS"),
    ("`Ladder::Off`", "TH_LADDER_OFF"),
    ("`PlanOptions::split`", "TH_PLAN_FLAG_SPLIT"),
    ("DeviceDesc::queues", "ThDeviceDesc.queues"),
    (
        "it is described with a hook, but DeviceDesc::hooks is None",
        "its hook is not 0, which dynamic frames do not support",
    ),
    ("add it to Imports", "add it to ThImports"),
    ("FrameRecorder::import", "thImportResources"),
    ("FrameRecorder::record", "thBeginCommands"),
    ("FrameRecorder::submit", "thSubmitFrame"),
    ("Commands::begin_pass", "thBeginPass"),
    ("Commands::end_pass", "thEndPass"),
    ("Commands::skip", "thSkipPass"),
    ("Commands::finish", "thEndCommands"),
    (
        "plan with Device::plan",
        "create its profile with thCreateDeviceProfile",
    ),
];

fn with_c_names(mut message: String) -> String {
    for (rust, c) in C_NAMES {
        if message.contains(rust) {
            message = message.replace(rust, c);
        }
    }
    message
}

/// An error with all of its causes, on one line.
fn with_causes(error: &dyn std::error::Error) -> String {
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
