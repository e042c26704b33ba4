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
    /// A plan breaks a rule.
    #[error(transparent)]
    Check(#[from] crate::plan::CheckFault),
}
