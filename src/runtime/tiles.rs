//! The tiles of a render pass: structures that declare them, and the driver's choice of them.
//!
//! While tile memory is bound, the driver has less memory for binning, and its tiles are smaller. If tile properties can be queried, every render
//! pass therefore chains the size of the bound tile memory (`VkTileMemorySizeInfoQCOM`). It is taken from the plan, so it always matches. A pass
//! without bound tile memory chains a size of 0. An absent structure means the same, but the structure shows tools that the size is known.

use super::capabilities::Capabilities;
use super::device_state::DeviceState;
use crate::ffi::{
    RenderPassTileShadingCreateInfoQCOM, TileMemorySizeInfoQCOM, TileShadingRenderPassFlagsQCOM,
};
use crate::lower::tables::instances::InstanceRow;
use crate::units::Bytes;

/// The structures that describe tiles, chained to `VkRenderPassCreateInfo` or `VkRenderingInfo`.
pub(super) struct Tiles {
    /// Chained if tile properties can be queried, and the device has tile memory: the structure belongs to `VK_QCOM_tile_memory_heap`.
    pub(super) size: Option<TileMemorySizeInfoQCOM<'static>>,
    /// Chained in passes with tile shading.
    pub(super) shading: Option<RenderPassTileShadingCreateInfoQCOM<'static>>,
}

impl Tiles {
    /// Creates the structures for a render pass during which `bound` bytes of tile memory are bound.
    pub(super) fn new(state: &DeviceState, row: &InstanceRow, bound: Bytes) -> Tiles {
        let both = Capabilities::TILE_PROPERTIES | Capabilities::TILE_MEMORY;
        let known = state.capabilities.contains(both);
        let shaded = row.tile_shading && state.capabilities.contains(Capabilities::TILE_SHADING);
        let size = TileMemorySizeInfoQCOM::default().size(bound.0);
        let enable =
            RenderPassTileShadingCreateInfoQCOM::default().flags(TileShadingRenderPassFlagsQCOM::ENABLE);
        Tiles {
            size: known.then_some(size),
            shading: shaded.then_some(enable),
        }
    }
}
