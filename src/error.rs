//! The crate's one error type.

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong. *Does not fit* is no error: it is an answer inside a plan, with its reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The frame's description is impossible.
    #[error(transparent)]
    Frame(#[from] crate::frame::FrameFault),
    /// The driver or the way the runtime is used.
    #[cfg(feature = "runtime")]
    #[error(transparent)]
    Runtime(#[from] crate::runtime::RuntimeFault),
    /// Words are no SPIR-V module, or have no such entry point.
    #[cfg(feature = "reflect")]
    #[error(transparent)]
    Shader(#[from] crate::frame::shaders::ShaderFault),
    /// The frame cannot be planned for this device.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanFault),
    /// A text is no plan, or not one for the frame at hand.
    #[error(transparent)]
    PlanJson(#[from] crate::plan::PlanJsonFault),
    /// A packing problem is impossible.
    #[error(transparent)]
    Pack(#[from] crate::pack::PackFault),
    /// A texture cache is described or used in an impossible way.
    #[error(transparent)]
    Cache(#[from] crate::cache::CacheFault),
    /// A tensor graph, a layout, or the memories of a tensor plan are impossible.
    #[error(transparent)]
    Tensor(#[from] crate::tensor::TensorFault),
    /// A device profile is impossible, or a resource is larger than the device allows.
    #[error(transparent)]
    Profile(#[from] crate::profile::ProfileFault),
    /// A driver lacks a command of an extension.
    #[error(transparent)]
    Ffi(#[from] crate::ffi::MissingCommand),
    /// A plan breaks a rule.
    #[error(transparent)]
    Check(#[from] crate::plan::CheckFault),
}

#[cfg(all(feature = "runtime", feature = "reflect"))]
impl From<crate::runtime::tensors::NetworkFault> for Error {
    fn from(fault: crate::runtime::tensors::NetworkFault) -> Error {
        Error::Runtime(fault.into())
    }
}
