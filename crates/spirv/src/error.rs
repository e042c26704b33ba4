//! Errors in reading words as a SPIR-V module.

use ash::vk;

/// An error in reading a SPIR-V module or finding an entry point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// A module that is too short for a header, or longer than any real shader.
    #[error("SPIR-V length of {words} words is not between 5 and {max}")]
    Size {
        /// The number of words.
        words: usize,
        /// The maximum number of words.
        max: usize,
    },
    /// The number of bytes is not a multiple of the word size.
    #[error("SPIR-V length {bytes} is not a multiple of 4")]
    Bytes {
        /// The number of bytes.
        bytes: usize,
    },
    /// A module whose first word is not the magic number of SPIR-V.
    #[error("SPIR-V magic number is 0x{found:08X} instead of 0x07230203")]
    Magic {
        /// The first word.
        found: u32,
    },
    /// An unsupported version of SPIR-V.
    #[error("SPIR-V version word 0x{found:08X} is not supported; supported versions are 1.0 to 1.6")]
    Version {
        /// The second word, which encodes the version.
        found: u32,
    },
    /// An invalid instruction.
    #[error("SPIR-V word {word}: {problem}")]
    Malformed {
        /// The position of the word.
        word: usize,
        /// A description of the problem.
        problem: String,
    },
    /// No entry point has this name and stage.
    #[error("the SPIR-V module has no {stage:?} entry point `{name}`: it has {available}")]
    EntryPoint {
        /// The requested name.
        name: String,
        /// The requested stage.
        stage: vk::ShaderStageFlags,
        /// The entry points of the module.
        available: String,
    },
}
