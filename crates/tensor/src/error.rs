//! The crate's one error type.

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with a graph, its plan or its recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A graph, a layout, or the memories of a plan are impossible.
    #[error(transparent)]
    Tensor(#[from] crate::TensorError),
    /// A network cannot be created or run.
    #[cfg(feature = "vulkan")]
    #[error(transparent)]
    Network(#[from] crate::vulkan::NetworkError),
    /// The frame, the driver, or the way the runtime is used.
    #[cfg(feature = "vulkan")]
    #[error(transparent)]
    Tileheap(#[from] tileheap::Error),
}

#[cfg(feature = "vulkan")]
impl From<tileheap::runtime::RuntimeError> for Error {
    fn from(error: tileheap::runtime::RuntimeError) -> Error {
        Error::Tileheap(error.into())
    }
}

#[cfg(feature = "vulkan")]
impl From<tileheap::frame::shaders::ShaderError> for Error {
    fn from(error: tileheap::frame::shaders::ShaderError) -> Error {
        Error::Tileheap(error.into())
    }
}
