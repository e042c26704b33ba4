//! What can go wrong in the program itself, each in one line.

use std::path::PathBuf;

use ash::vk;

pub(crate) type Result<T> = std::result::Result<T, Fault>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Tileheap(#[from] tileheap::Error),
    #[error("{call} failed: {result}")]
    Vulkan { call: &'static str, result: vk::Result },
    #[error("no tile memory here: {0}; enable the emulator, see emulator/README.md")]
    NoTileMemory(String),
    #[error("{0}")]
    Lacks(&'static str),
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
}

/// Names the call that returned a `vk::Result`.
pub(crate) trait Called<T> {
    fn called(self, call: &'static str) -> Result<T>;
}

impl<T> Called<T> for std::result::Result<T, vk::Result> {
    fn called(self, call: &'static str) -> Result<T> {
        self.map_err(|result| Fault::Vulkan { call, result })
    }
}
