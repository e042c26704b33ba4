//! What shaders do with memory: read from SPIR-V, compared with a pass's declared accesses, or taken as these.
//!
//! ```text
//! SPIR-V words ──parse──► ShaderModule ──entry_point──► EntryPoint: bindings, addresses, outputs
//!                                                          │  with resources: PipelineShaders
//!                               Frame, PassId ──check──────┴──► mismatches
//!                               PassBuilder::shaders ◄─────────┘ derived accesses
//! ```
//! Reads and writes are the loads, stores, samples and atomics that the entry point can reach, through access chains,
//! function calls, selected and stored pointers, and buffer device addresses; decorations only narrow what an unknown
//! instruction might do. Where it cannot be known what a pointer is, everything it might be is reported.
//!
//! The other way round, [`Binding::always_reads`] and [`Binding::read_extent`] claim only what is proved: accesses that every
//! invocation performs, and the bytes or texels that a dispatch covers with them. Computed indices, early returns, arrays of
//! descriptors, memory reached by address and specialized sizes give no claim. A loop that has an exit is taken to end.
//!
//! Any words can be given to [`ShaderModule::parse`], up to SPIR-V 1.6 and 64 MiB: it never panics, takes time and memory
//! in proportion to their number, and never recurses. It is no validator: an invalid module that can be read gets some
//! answer.
//!
//! ```no_run
//! use ash::vk;
//! use tileheap::frame::shaders::{PipelineShaders, ShaderModule, check};
//! # use tileheap::frame::{Frame, PassId, ResourceId};
//!
//! # fn with(frame: Frame, lighting: PassId, [albedo, lit]: [ResourceId; 2]) -> Result<(), Box<dyn std::error::Error>> {
//! let module = ShaderModule::from_bytes(&std::fs::read("lighting.comp.spv")?)?;
//! let entry = module.entry_point("main", vk::ShaderStageFlags::COMPUTE)?;
//! for binding in &entry.bindings {
//!     println!("set {} binding {}: {:?}", binding.set, binding.binding, binding.kind);
//! }
//! // What the pass binds there. Does it declare what the shader does?
//! let pipeline = PipelineShaders::new().shader(&entry).bind(0, 0, albedo).bind(0, 1, lit);
//! for mismatch in check(&frame, lighting, &[pipeline]) {
//!     println!("{mismatch}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `spirv-reflect` 0.2.3 is no part of this: safe to call, it crashes on modules with one damaged word that this reader
//! takes apart without harm (36 of 40 series of 200 such modules ended in a segmentation fault or abort, one in an endless
//! loop). It serves where its input is known to be sound: the tests compare the two on what our own compiler makes.

mod always;
mod certain;
mod check;
mod code;
mod effect;
mod entry;
mod error;
mod extent;
mod flow;
mod index;
mod live;
mod locals;
mod mismatch;
mod module;
mod pipeline;
mod pixel;
mod private;
mod reach;
mod solid;
mod types;

use ash::vk;

pub use check::check;
pub use entry::{AddressSource, AddressUse, Binding, EntryPoint, Output};
pub use error::ShaderError;
pub use extent::{AccessRegion, CertainAccess, ElementIndex, Extent, InvocationIndex, TexelIndex};
pub use mismatch::{Mismatch, MismatchKind};
pub use pipeline::{BindingTarget, PipelineShaders, ShaderBinding};

/// A SPIR-V module, read and indexed.
#[derive(Clone, Debug)]
pub struct ShaderModule {
    module: module::Module,
}

impl ShaderModule {
    /// Reads a module's words, in either byte order. O(words x log words).
    ///
    /// # Errors
    /// [`ShaderError`] with the place of the first word that is wrong.
    pub fn parse(words: &[u32]) -> Result<ShaderModule, ShaderError> {
        let code = code::Code::read(words.to_vec())?;
        Ok(ShaderModule {
            module: module::Module::read(code)?,
        })
    }

    /// Reads a module's bytes, as they are in a file.
    ///
    /// # Errors
    /// As [`ShaderModule::parse`], and where the bytes are no whole words.
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

    /// Major and minor version of SPIR-V.
    pub fn version(&self) -> (u32, u32) {
        self.module.code.version()
    }

    /// Name and stage of every entry point, as declared.
    pub fn entry_points(&self) -> impl ExactSizeIterator<Item = (&str, vk::ShaderStageFlags)> {
        let declared = self.module.entry_points.iter();
        declared.map(|entry| (entry.name.as_str(), entry.stage))
    }

    /// What an entry point does with memory. O(words x log words).
    ///
    /// # Errors
    /// [`ShaderError::EntryPoint`] where there is none of that name and stage.
    pub fn entry_point(&self, name: &str, stage: vk::ShaderStageFlags) -> Result<EntryPoint, ShaderError> {
        entry::analyze(&self.module, name, stage)
    }
}
