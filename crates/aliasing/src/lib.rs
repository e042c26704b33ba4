//! `VK_LAYER_TILEHEAP_aliasing`: checks synchronization and contents of memory that resources share, in any Vulkan program.
//!
//! `tileheap-emulator` implements the check. This library applies it to ordinary memory, without a tile heap, under its own layer name and
//! manifest. `README.md` describes the findings and the settings.
//!
//! The exported functions are those of `tileheap-emulator`, and the two look-ups under the name of this layer.

use tileheap_emulator::{become_aliasing, get_device_proc_addr, get_instance_proc_addr};

pub use tileheap_emulator::{ALIASING as LAYER, ALIASING_LAYER_NAME as LAYER_NAME};

tileheap_layer::export_look_ups! {
    "VK_LAYER_TILEHEAP_aliasingGetInstanceProcAddr" is get_instance_proc_addr,
    "VK_LAYER_TILEHEAP_aliasingGetDeviceProcAddr" is get_device_proc_addr
}

/// Runs when the library is loaded, before the loader's first call.
#[used]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(
    not(any(windows, target_vendor = "apple")),
    unsafe(link_section = ".init_array")
)]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    become_aliasing();
}
