//! The properties of a device as plain numbers: heaps, memory types, the tile heap, limits, requirements of resources.
//!
//! ```text
//! driver ──► runtime::measure ─┐
//!                              ├─► DeviceProfile, Requirements ──► plan
//! preset or JSON ─► estimate ──┘
//! ```

pub mod binning;
mod device;
mod json;
mod limits;
mod presets;
mod sizes;
mod validate;

pub use device::{
    DeviceProfile, Features, MeasuredCosts, MemoryHeap, MemoryType, MergeLimits, TILE_HEAP_FLAG, TileBlock,
    TileHeap, TileRequirements,
};
pub use limits::{Limits, OptionalFeatures};
pub use presets::{MemoryTypePosition, PRESETS, Quirks};
pub use sizes::{
    IMAGE_ALIGNMENT, TILE_IMAGE_USES, content_bytes, ordinary_image_bytes, texel_bytes, tile_buffer_uses,
};
