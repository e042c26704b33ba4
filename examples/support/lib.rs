//! What the examples share: errors in one line, their own memory, shaders, pipelines and descriptor sets, windows, pictures, overlays.

#![allow(missing_docs, clippy::missing_errors_doc, clippy::len_without_is_empty)]
// Examples are read, not linked.
// Every call of ash is unsafe, and here one follows the other: a comment says what a stretch of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]

pub mod commands;
pub mod descriptors;
pub mod error;
pub mod input;
pub mod layer;
pub mod memory;
pub mod output;
pub mod painter;
pub mod picture;
pub mod pipeline;
pub mod program;
pub mod progress;
pub mod shaders;
pub mod sheet;
pub mod sizes;
pub mod swapchain;
#[cfg(feature = "window")]
pub mod window;
#[cfg(not(feature = "window"))]
#[path = "no_window.rs"]
pub mod window;

/// How many frames may be under way: one is recorded while the device works on the other.
pub const FRAMES_IN_FLIGHT: usize = 2;

/// The code of the guide compiles.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../docs/guide/README.md")]
    mod readme {}
    #[doc = include_str!("../../docs/guide/tile_memory.md")]
    mod tile_memory {}
    #[doc = include_str!("../../docs/guide/integrate.md")]
    mod integrate {}
    #[doc = include_str!("../../docs/guide/reports.md")]
    mod reports {}
    #[doc = include_str!("../../docs/guide/arrangements.md")]
    mod arrangements {}
    #[doc = include_str!("../../docs/guide/emulator.md")]
    mod emulator {}
    #[doc = include_str!("../../docs/guide/test_bots.md")]
    mod test_bots {}
    #[doc = include_str!("../../docs/guide/tensors.md")]
    mod tensors {}
    #[doc = include_str!("../../docs/guide/textures.md")]
    mod textures {}
    #[doc = include_str!("../../docs/guide/measuring.md")]
    mod measuring {}
    #[doc = include_str!("../../docs/guide/limits.md")]
    mod limits {}
}
