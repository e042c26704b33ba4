//! `VK_LAYER_TILEHEAP_aliasing`: checks synchronization and contents of memory that resources share, in any Vulkan program.
//!
//! `tileheap-emulator` implements the check. This library applies it to ordinary memory, without a tile heap, under its own layer name and
//! manifest. `README.md` describes the findings and the settings.
//!
//! The manifest names [`tileheapNegotiateAliasing`], through which the loader finds every other entry point.

use ash::vk;
use tileheap_emulator::NegotiateLayerInterface;

pub use tileheap_emulator::{ALIASING_LAYER_NAME as LAYER_NAME, ALIASING_SETTINGS as SETTINGS};

/// Negotiates the loader-layer interface version (`vkNegotiateLoaderLayerInterfaceVersion`).
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
