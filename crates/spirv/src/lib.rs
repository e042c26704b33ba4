#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod certain;
mod certain_instructions;
mod code;
mod control_flow;
mod effect;
mod entry;
mod error;
mod extent;
mod flow;
mod guard;
mod guarded;
mod index;
mod live;
mod locals;
mod module;
mod packed_types;
mod pixel;
mod private;
mod reach;
mod types;
mod variable;

use ash::vk;

pub use entry::{AddressSource, AddressUse, Binding, ColorOutput, EntryPoint};
pub use error::ShaderError;
pub use extent::{AccessRange, AccessRegion, CertainAccess, ElementIndex, TexelIndex};
pub use guard::{Comparison, Dispatch, Guard, GuardValue, InvocationId, InvocationIndex};

/// A SPIR-V module, read and indexed.
#[derive(Clone, Debug)]
pub struct ShaderModule {
    module: module::Module,
}

impl ShaderModule {
    /// Reads a module's words, in either byte order. O(words x log words).
    ///
    /// # Errors
    /// [`ShaderError`] with the position of the first invalid word.
    pub fn parse(words: &[u32]) -> Result<ShaderModule, ShaderError> {
        let code = code::Code::read(words.to_vec())?;
        Ok(ShaderModule {
            module: module::Module::read(code)?,
        })
    }

    /// Reads a module's bytes, as stored in a file.
    ///
    /// # Errors
    /// Same as [`ShaderModule::parse`], and if the length is not a multiple of 4.
    pub fn from_bytes(bytes: &[u8]) -> Result<ShaderModule, ShaderError> {
        let words = bytes.chunks_exact(4);
        if !words.remainder().is_empty() {
            return Err(ShaderError::Bytes { bytes: bytes.len() });
        }
        let words = words
            .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
            .collect();
        Ok(ShaderModule {
            module: module::Module::read(code::Code::read(words)?)?,
        })
    }

    /// Returns the major and minor version of SPIR-V.
    pub fn version(&self) -> (u32, u32) {
        self.module.code.version()
    }

    /// Iterates over the name and stage of every entry point, in the module's order.
    pub fn entry_points(&self) -> impl ExactSizeIterator<Item = (&str, vk::ShaderStageFlags)> {
        let declared = self.module.entry_points.iter();
        declared.map(|entry| (entry.name.as_str(), entry.stage))
    }

    /// Analyzes the memory accesses of an entry point. O(words x log words).
    ///
    /// # Errors
    /// [`ShaderError::EntryPoint`] if none has this name and stage.
    pub fn entry_point(&self, name: &str, stage: vk::ShaderStageFlags) -> Result<EntryPoint, ShaderError> {
        entry::analyze(&self.module, name, stage)
    }
}
