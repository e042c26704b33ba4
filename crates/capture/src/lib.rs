//! `VK_LAYER_TILEHEAP_capture`: writes a frame of any Vulkan program as a frame document.
//!
//! ```text
//! program ─► loader ─► capture ─► driver
//!                       │ objects, and commands as they are recorded
//!                       └ at the border of a frame: passes, accesses, lifetimes ──► frame-N.json ──► tileheap plan | advise | report
//! ```
//! `README.md` documents what is followed and what is not, [`settings`] the settings, and [`document`] the `capture` object of a document.
//!
//! ```text
//! document, settings, tables ◄── model ◄── hooks
//!                                 │         └ unpack arguments, update the model, call the next layer
//!                                 └ recordings, passes, lifetimes; independent of devices and command tables
//! ```
//! The library exports [`vkNegotiateLoaderLayerInterfaceVersion`] for desktop loaders, and the functions that Android's loader looks up
//! (`tileheap_layer::enumerate`).

pub mod check;
pub mod document;
mod hooks;
mod model;
pub mod settings;
mod tables;

pub use hooks::look_up::vkNegotiateLoaderLayerInterfaceVersion;
pub use settings::{LAYER, LAYER_NAME};
pub use tileheap_layer::loader::NegotiateLayerInterface;
