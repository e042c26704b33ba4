//! Why words cannot be read as a SPIR-V module.

use ash::vk;

/// Why words are no SPIR-V module, or have no such entry point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShaderError {
    /// Too short for a header, or longer than any shader.
    #[error("a SPIR-V module has 5 to {most} words, and this has {words}")]
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
    #[error("a SPIR-V module begins with 0x07230203, and this with 0x{found:08X}")]
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
