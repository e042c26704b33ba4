//! `VK_LAYER_TILEHEAP_capture`: writes a frame of any Vulkan program as a frame document.
//!
//! ```text
//! program ─► loader ─► capture ─► driver
//!                       │ objects, and commands as they are recorded
//!                       └ at the border of a frame: passes, accesses, lifetimes ──► frame-N.json ──► tileheap plan | advise | report
//! ```
//! `README.md` says what is followed and what is not. [`settings`] has the settings, [`document`] what a document says
//! besides its frame.
//!
//! ```text
//! document, settings, tables ◄── model ◄── hooks
//!                                │         └ unpack arguments, tell the model, call the next layer
//!                                └ recordings, passes, lifetimes; knows no device and no command table
//! ```
//! The library exports [`vkNegotiateLoaderLayerInterfaceVersion`] for desktop loaders, and what Android's loader looks up
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
