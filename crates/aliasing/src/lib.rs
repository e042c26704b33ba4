//! `VK_LAYER_TILEHEAP_aliasing`: checks order and contents of memory that several resources share, in any Vulkan program.
//!
//! The check is the emulator's (`tileheap-emulator`), applied to ordinary memory, without a tile heap: this library gives it a name and a
//! manifest of its own. `README.md` describes what is found and the settings.
//!
//! The manifest names [`tileheapNegotiateAliasing`], by which the loader finds all else.

use ash::vk;
use tileheap_emulator::NegotiateLayerInterface;

pub use tileheap_emulator::{ALIASING_LAYER_NAME as LAYER_NAME, ALIASING_SETTINGS as SETTINGS};

/// Agrees on the interface with the loader.
///
/// # Safety
/// `interface` is null or points to the loader's structure.
#[allow(non_snake_case, reason = "named as the loader's own functions are")]
#[unsafe(no_mangle)]
pub unsafe extern "system" fn tileheapNegotiateAliasing(
    interface: *mut NegotiateLayerInterface,
) -> vk::Result {
    // SAFETY: The caller's promise.
    unsafe { tileheap_emulator::negotiate_aliasing(interface) }
}
