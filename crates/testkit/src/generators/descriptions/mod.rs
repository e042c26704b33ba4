//! Random descriptions of frames; a seed gives the same description on every machine.
//!
//! In most descriptions every choice follows the rules; in the others, one choice in 60, 20 or 10 may have any value.

mod access;
mod description;
mod formats;
mod generator;
mod pass;
mod resource;
mod shrink;
mod vocabulary;

pub use description::{DescribedAccess, DescribedBatch, DescribedPass, DescribedResource, Description};
pub use shrink::shrink;

/// Generates the description of a frame for a seed.
pub fn describe(seed: u64) -> Description {
    generator::DescriptionGenerator::new(seed).finish()
}
