//! Code that the examples share: errors on one line, memory, shaders, pipelines and descriptor sets, windows, pictures, overlays.

#![allow(missing_docs, clippy::missing_errors_doc, clippy::len_without_is_empty)]
// Examples are for reading, not a public API.
// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

pub mod arrangement;
pub mod commands;
pub mod descriptors;
pub mod device;
pub mod error;
pub mod layer;
pub mod memory;
pub mod output;
pub mod painter;
pub mod picture;
pub mod pipeline;
pub mod program;
pub mod progress;
pub mod shaders;
pub mod sizes;
pub mod statistics;
pub mod swapchain;
#[cfg(feature = "window")]
pub mod window;
#[cfg(not(feature = "window"))]
#[path = "no_window.rs"]
pub mod window;

/// Number of frames in flight: one is recorded while the device works on the other.
pub const FRAMES_IN_FLIGHT: usize = 2;

/// Compiles the code blocks of the guide as doctests.
#[cfg(doctest)]
mod guide {
    macro_rules! chapters {
        ($($name:ident $path:literal)*) => {$(#[doc = include_str!($path)] mod $name {})*};
    }
    chapters! {
        readme "../../docs/guide/README.md"
        tile_memory "../../docs/guide/tile_memory.md"
        window "../../docs/guide/window.md"
        integrate "../../docs/guide/integrate.md"
        cpp "../../docs/guide/cpp.md"
        dynamic_frames "../../docs/guide/dynamic_frames.md"
        command "../../docs/guide/command.md"
        frame_json "../../docs/guide/frame_json.md"
        reports "../../docs/guide/reports.md"
        arrangements "../../docs/guide/arrangements.md"
        capture "../../docs/guide/capture.md"
        emulator "../../docs/guide/emulator.md"
        aliasing "../../docs/guide/aliasing.md"
        test_bots "../../docs/guide/test_bots.md"
        tensors "../../docs/guide/tensors.md"
        graph_json "../../docs/guide/graph_json.md"
        onnx "../../docs/guide/onnx.md"
        judge "../../docs/guide/judge.md"
        python "../../docs/guide/python.md"
        textures "../../docs/guide/textures.md"
        measuring "../../docs/guide/measuring.md"
        phone "../../docs/guide/phone.md"
        terms "../../docs/guide/terms.md"
        faq "../../docs/guide/faq.md"
        messages "../../docs/guide/messages.md"
        limits "../../docs/guide/limits.md"
    }
}
