//! The layers that this code implements, and which of them the library was loaded as.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// A layer. Each is a library of its own; the loader's first call decides which one this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// A strict tile heap, and the check of what it holds.
    Emulator,
    /// Only the check, for ordinary memory that several resources share.
    Aliasing,
}

static IS_ALIASING: AtomicBool = AtomicBool::new(false);

impl Layer {
    /// The layer that this library was loaded as.
    pub(crate) fn loaded() -> Layer {
        match IS_ALIASING.load(Ordering::Relaxed) {
            true => Layer::Aliasing,
            false => Layer::Emulator,
        }
    }

    /// Records that the library was loaded as this layer.
    pub(crate) fn set_loaded(self) {
        IS_ALIASING.store(self == Layer::Aliasing, Ordering::Relaxed);
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static CStr {
        match self {
            Layer::Emulator => LAYER_NAME,
            Layer::Aliasing => ALIASING_LAYER_NAME,
        }
    }

    /// One line about it.
    pub(crate) const fn description(self) -> &'static CStr {
        match self {
            Layer::Emulator => c"A strict VK_QCOM_tile_memory_heap on any driver",
            Layer::Aliasing => c"Checks order and contents of memory that resources share",
        }
    }

    /// The prefix of a setting's name in `vk_layer_settings.txt`.
    pub(crate) const fn file_prefix(self) -> &'static str {
        match self {
            Layer::Emulator => "tileheap_emulator.",
            Layer::Aliasing => "tileheap_aliasing.",
        }
    }

    /// The prefix of a setting's name in the environment.
    pub(crate) const fn environment_prefix(self) -> &'static str {
        match self {
            Layer::Emulator => "VK_TILEHEAP_EMULATOR_",
            Layer::Aliasing => "VK_TILEHEAP_ALIASING_",
        }
    }

    /// Every setting, as its manifest lists them.
    pub(crate) const fn settings(self) -> &'static [&'static str] {
        match self {
            Layer::Emulator => &SETTINGS,
            Layer::Aliasing => &ALIASING_SETTINGS,
        }
    }
}

/// The emulator's name.
pub const LAYER_NAME: &CStr = c"VK_LAYER_TILEHEAP_emulator";
/// The name of the aliasing check.
pub const ALIASING_LAYER_NAME: &CStr = c"VK_LAYER_TILEHEAP_aliasing";

/// Every setting of the emulator, as its manifest lists them.
pub const SETTINGS: [&str; 19] = [
    "profile",
    "heap_size",
    "alignment",
    "queue_submit_boundary",
    "tile_buffer_transfers",
    "poison",
    "order",
    "ordinary",
    "possible",
    "pedantic",
    "repeats",
    "force",
    "lazy_type",
    "tile_type_position",
    "tile_type_lazy",
    "report",
    "trace",
    "log",
    "message_log",
];

/// Every setting of the aliasing check.
pub const ALIASING_SETTINGS: [&str; 6] = ["possible", "pedantic", "repeats", "report", "log", "message_log"];
