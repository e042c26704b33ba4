//! What Vulkan layers share: the loader's protocol, command tables, guarded entry points, `pNext` chains and maps of handles.
//!
//! ```
//! use ash::vk;
//! use tileheap_layer::{call_down, command_table, entry_points};
//!
//! command_table! {
//!     /// Commands of the next layer.
//!     DeviceCommands {
//!         vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle;
//!         vkResetQueryPool: vk::PFN_vkResetQueryPool, or vkResetQueryPoolEXT;
//!     }
//! }
//!
//! # fn commands_of(_: vk::Device) -> Option<DeviceCommands> {
//! #     // SAFETY: It finds nothing.
//! #     Some(unsafe { DeviceCommands::load(|_| None) })
//! # }
//! entry_points! {
//!     /// Passed on as it is.
//!     fn vkDeviceWaitIdle(device: vk::Device) -> vk::Result {
//!         let Some(next) = commands_of(device) else { return vk::Result::ERROR_UNKNOWN };
//!         call_down!(next, vkDeviceWaitIdle(device))
//!     }
//! }
//! ```
//! Hooks of a layer call into this crate; it calls no hook, owns no instance or device, and decides nothing about a layer's
//! behaviour.

pub mod arrays;
pub mod chain;
pub mod dispatch;
pub mod exclusive;
pub mod guard;
pub mod loader;
pub mod sharded;
pub mod structure_sizes;
