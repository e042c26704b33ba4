//! The layers that this code implements, and the one that the library was loaded as.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use tileheap_layer::layer_desc::LayerDesc;

use super::setting_descs::{ALIASING_SETTINGS, EMULATOR_SETTINGS};

/// A layer. Each is a separate library; the aliasing layer's library identifies itself when it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// The emulator: a strict tile heap, and checks of the contents of tile memory.
    Emulator,
    /// Only the checks, for ordinary memory that several resources share.
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

    /// The layer's names and settings.
    pub(crate) const fn desc(self) -> &'static LayerDesc {
        match self {
            Layer::Emulator => &EMULATOR,
            Layer::Aliasing => &ALIASING,
        }
    }

    /// The layer's name.
    pub(crate) const fn name(self) -> &'static CStr {
        self.desc().name
    }
}

/// The names and settings of the emulator.
pub static EMULATOR: LayerDesc = LayerDesc {
    name: LAYER_NAME,
    description: c"A strict VK_QCOM_tile_memory_heap on any driver",
    key: "tileheap_emulator",
    settings: EMULATOR_SETTINGS,
};

/// The names and settings of the aliasing check.
pub static ALIASING: LayerDesc = LayerDesc {
    name: ALIASING_LAYER_NAME,
    description: c"Checks synchronization and contents of memory that several resources share",
    key: "tileheap_aliasing",
    settings: ALIASING_SETTINGS,
};

/// The name of the emulator layer.
pub const LAYER_NAME: &CStr = c"VK_LAYER_TILEHEAP_emulator";
/// The name of the aliasing layer.
pub const ALIASING_LAYER_NAME: &CStr = c"VK_LAYER_TILEHEAP_aliasing";
