//! The errors of the examples, each in one line.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use ash::vk;
use tileheap::units::Bytes;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Tileheap(#[from] tileheap::Error),
    #[error(transparent)]
    Profile(#[from] tileheap_device::Error),
    #[cfg(feature = "terrain")]
    #[error(transparent)]
    Textures(#[from] tileheap_textures::Error),
    #[cfg(feature = "network")]
    #[error(transparent)]
    Tensor(#[from] tileheap_tensor::Error),
    #[error("{call} failed: {result}")]
    Vulkan { call: &'static str, result: vk::Result },
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    #[error("no Vulkan to draw with: {0}")]
    NoDevice(String),
    #[error("no tile memory here: {0}; enable the emulator, see emulator/README.md")]
    NoTileMemory(String),
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("no window: {0} (without --window the picture goes to a file)")]
    Window(String),
    #[error("two pictures that should be the same differ in {texels} of {of} texels")]
    Differ { texels: usize, of: usize },
    #[error("the pictures of {frames} frames differ that should be the same")]
    FramesDiffer { frames: usize },
    #[error(
        "{waiting} textures still wait after {frames} frames: this view needs {needs}, and the budget is {budget}"
    )]
    Behind {
        frames: u32,
        waiting: u32,
        needs: Bytes,
        budget: Bytes,
    },
    #[error("no resource `{name}`: the frame has {}", known.join(", "))]
    NoResource { name: String, known: Vec<String> },
    #[error("resource `{0}` is both pinned and excluded: pass either --pin or --exclude")]
    BothWays(String),
    #[error(
        "{network} in {variant}: the result is off by {error:.2e} of its largest element, and {tolerance:.0e} is allowed"
    )]
    Inexact {
        network: String,
        variant: &'static str,
        error: f64,
        tolerance: f64,
    },
    #[error("{network} in {variant}: {elements} elements of the result differ with and without aliasing")]
    AliasingChanges {
        network: String,
        variant: &'static str,
        elements: usize,
    },
    #[error("Vulkan's validation reported {0} errors, listed above")]
    Validation(usize),
}

/// Names the call that returned a `vk::Result`.
pub trait Called<T> {
    fn called(self, call: &'static str) -> Result<T>;
}

impl<T> Called<T> for std::result::Result<T, vk::Result> {
    fn called(self, call: &'static str) -> Result<T> {
        self.map_err(|result| Error::Vulkan { call, result })
    }
}

/// Names the file that something went wrong with.
pub fn file(path: &Path, why: impl ToString) -> Error {
    Error::File {
        path: path.to_owned(),
        why: why.to_string(),
    }
}

/// Creates a file, and the folders that lead to it.
pub fn create_file(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| file(folder, error))?;
    }
    File::create(path).map_err(|error| file(path, error))
}

/// Writes a file, and creates the folders that lead to it.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    create_file(path)?
        .write_all(text.as_bytes())
        .map_err(|error| file(path, error))
}
