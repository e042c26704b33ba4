//! `VK_LAYER_TILEHEAP_emulator`: a strict `VK_QCOM_tile_memory_heap` on any Vulkan driver.
//!
//! ```text
//! application ─► loader ─► [validation] ─► emulator ─► driver
//!                                            │ memory types and heaps with the tile heap among them
//!                                            │ tile bits and structures taken away
//!                                            │ tile memory objects: one real allocation, bound at the same offsets
//!                                            └ poison wherever contents are undefined
//! ```
//! `README.md` describes the emulated device and the settings, `LIMITS.md` lists what cannot be emulated. `tileheap-aliasing` builds the same code as
//! another layer: it emulates nothing, and checks ordinary memory that resources share.
//!
//! ```text
//! tables ◄── model ◄── hooks
//! │          │         └ unpack arguments, query the model, call the driver
//! │          └ heap, resources, recordings, submissions; knows no device and no command table
//! └ what a driver offers, as plain data: commands, settings, messages, the emulated physical device
//! ```
//! The library exports [`vkNegotiateLoaderLayerInterfaceVersion`] for desktop loaders, and the functions that Android's loader looks up
//! (`tileheap_layer::enumerate`). All other entry points are found through these.
//!
//! The library is for loaders. Rust programs link it only for its constants:
//!
//! ```
//! use tileheap_emulator::{EMULATOR, LAYER_NAME, MessageId};
//!
//! assert_eq!(LAYER_NAME, c"VK_LAYER_TILEHEAP_emulator");
//! assert!(EMULATOR.keys().any(|setting| setting == "profile"));
//! assert_eq!(MessageId::WrongObject.name(), "TILEHEAP-wrong-object");
//! ```

mod hooks;
mod model;
mod tables;

pub use hooks::heap_memory::POISON;
pub use hooks::look_up::{
    become_aliasing, get_device_proc_addr, get_instance_proc_addr, vkNegotiateLoaderLayerInterfaceVersion,
};
pub use tables::layer::{ALIASING, ALIASING_LAYER_NAME, EMULATOR, LAYER_NAME};
pub use tables::messages::{MESSAGE_IDS, MessageId};
pub use tileheap_layer::loader::NegotiateLayerInterface;
