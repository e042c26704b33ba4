//! Why words cannot be read as a SPIR-V module.

use ash::vk;

/// An error in reading a SPIR-V module or finding an entry point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// Too short for a header, or longer than any shader.
    #[error("SPIR-V length of {words} words is not between 5 and {most}")]
    Size {
        /// How many words there are.
        words: usize,
        /// How many there may be.
        most: usize,
    },
    /// Bytes that are no whole number of words.
    #[error("SPIR-V length {bytes} is not a multiple of 4")]
    Bytes {
        /// How many bytes there are.
        bytes: usize,
    },
    /// Something else than SPIR-V.
    #[error("SPIR-V magic number is 0x{found:08X} instead of 0x07230203")]
    Magic {
        /// The first word.
        found: u32,
    },
    /// A version that is not known.
    #[error("SPIR-V version word 0x{found:08X} is not supported: 1.0 to 1.6 are")]
    Version {
        /// The second word.
        found: u32,
    },
    /// An instruction that cannot be.
    #[error("SPIR-V word {word}: {problem}")]
    Malformed {
        /// Where.
        word: usize,
        /// What is wrong.
        problem: String,
    },
    /// No entry point of that name and stage.
    #[error("the SPIR-V module has no {stage:?} entry point `{name}`: it has {present}")]
    EntryPoint {
        /// The name asked for.
        name: String,
        /// The stage asked for.
        stage: vk::ShaderStageFlags,
        /// What the module has.
        present: String,
    },
}
