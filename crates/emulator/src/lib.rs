//! `VK_LAYER_TILEHEAP_emulator`: a strict `VK_QCOM_tile_memory_heap` on any Vulkan driver.
//!
//! ```text
//! application ─► loader ─► [validation] ─► emulator ─► driver
//!                                            │ memory types and heaps with the tile heap among them
//!                                            │ tile bits and structures taken away
//!                                            │ tile memory objects: one real allocation, bound at the same offsets
//!                                            └ poison wherever contents are undefined
//! ```
//! What an application sees and what the layer's settings are: `README.md`. What cannot be emulated: `LIMITS.md`.
//!
//! The only symbol exported is [`vkNegotiateLoaderLayerInterfaceVersion`], but on Android. Everything else is reached through look-ups:
//! `hooks` holds the entry points by area, each of which calls a function of the module that does the work.

mod barriers;
mod chain;
mod chain_sizes;
mod contents;
mod descriptors;
mod device;
mod dispatch;
mod exclusive;
mod guard;
mod heap;
mod hooks;
mod instance;
mod loader;
mod memory;
mod messages;
mod newer_structures;
mod passes;
mod physical;
mod ranges;
mod recording;
mod remap;
mod render_passes;
mod resources;
mod settings;
mod shaders;
mod sharded;
mod strip;
mod submit;
mod tile_properties;
mod tile_shading;
mod trace;
mod wide_flags;

pub use heap::POISON;
pub use hooks::look_up::vkNegotiateLoaderLayerInterfaceVersion;
pub use loader::NegotiateLayerInterface;
pub use messages::{MESSAGE_IDS, MessageId};
pub use settings::{LAYER_NAME, SETTINGS};
