//! The errors of the examples, each on one line.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

pub use anyhow::{Error, Result, anyhow, bail};
use ash::vk;

/// Turns a `vk::Result` into an error that names the call that returned it.
pub trait Called<T> {
    fn called(self, call: &'static str) -> Result<T>;
}

impl<T> Called<T> for std::result::Result<T, vk::Result> {
    fn called(self, call: &'static str) -> Result<T> {
        self.map_err(|result| anyhow!("{call} failed: {result}"))
    }
}

/// An error about a file.
pub fn file(path: &Path, why: impl Display) -> Error {
    anyhow!("{}: {why}", path.display())
}

pub fn no_device(why: impl Display) -> Error {
    anyhow!("cannot draw with Vulkan: {why}")
}

pub fn no_tile_memory(missing: impl Display) -> Error {
    anyhow!("no tile memory: {missing}; enable the emulator, see docs/guide/emulator.md")
}

pub fn no_window(why: &str) -> Error {
    anyhow!("no window: {why} (without --window, the program writes a file)")
}

/// An error for two pictures that should be identical.
pub fn differ(texels: usize, of: usize) -> Error {
    anyhow!("two pictures that should be identical differ in {texels} of {of} texels")
}

pub fn create_file(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| file(folder, error))?;
    }
    File::create(path).map_err(|error| file(path, error))
}

/// Writes a file, and creates missing folders.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    create_file(path)?
        .write_all(text.as_bytes())
        .map_err(|error| file(path, error))
}
