//! The crate's one error type.

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every error of this crate. A resource that does not fit in tile memory is an error only if it is pinned; otherwise, the plan states the reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The frame's description is invalid.
    #[error(transparent)]
    Frame(#[from] crate::frame::FrameError),
    /// The driver failed, or the runtime was misused.
    #[cfg(feature = "runtime")]
    #[error(transparent)]
    Runtime(#[from] crate::runtime::RuntimeError),
    /// The words are not a SPIR-V module, or the module lacks the entry point.
    #[cfg(feature = "reflect")]
    #[error(transparent)]
    Shader(#[from] crate::frame::shaders::ShaderError),
    /// The frame cannot run as arranged.
    #[cfg(feature = "arrange")]
    #[error(transparent)]
    Arrange(#[from] crate::arrange::ArrangeError),
    /// The frame cannot be planned for this device.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanError),
    /// The plan cannot be lowered for these queues, or after the given earlier work.
    #[error(transparent)]
    Lower(#[from] crate::lower::LowerError),
    /// The device does not support a resource.
    #[error(transparent)]
    Unsupported(#[from] crate::lower::UnsupportedResource),
    /// A text is not a plan, or is a plan for another frame.
    #[error(transparent)]
    PlanJson(#[from] crate::plan::PlanJsonError),
    /// A packing problem is invalid.
    #[error(transparent)]
    Pack(#[from] tileheap_pack::Error),
    /// A device profile is invalid, or a resource is larger than the device allows.
    #[error(transparent)]
    Profile(#[from] tileheap_device::Error),
    /// A driver lacks a command of an extension.
    #[error(transparent)]
    Ffi(#[from] tileheap_device::ffi::MissingCommand),
    /// The tables of a lowered frame break a rule.
    #[cfg(feature = "check")]
    #[error(transparent)]
    CheckLowered(#[from] crate::lower::check::LoweredCheckError),
    /// A plan breaks a rule.
    #[error(transparent)]
    Check(#[from] crate::plan::check::PlanCheckError),
    /// The map from a rewritten frame to the described one is wrong.
    #[error(transparent)]
    Origin(#[from] crate::execute::OriginError),
}

impl Error {
    /// Returns true if the error is that a Vulkan call returned `VK_ERROR_DEVICE_LOST`: nothing more runs on that device. See
    /// [`Device::is_device_lost`](crate::runtime::Device::is_device_lost).
    #[cfg(feature = "runtime")]
    pub fn is_device_lost(&self) -> bool {
        matches!(self, Error::Runtime(error) if error.is_device_lost())
    }

    /// The rule of Vulkan that a frame breaks, on every device or on the one that it was planned for; `None` for other errors.
    pub fn invalid_usage(&self) -> Option<&crate::frame::valid_usage::InvalidUsage> {
        match self {
            Error::Frame(crate::frame::FrameError::InvalidUsage(broken)) => Some(broken),
            Error::Plan(crate::plan::PlanError::InvalidUsage(broken)) => Some(broken),
            _ => None,
        }
    }
}
