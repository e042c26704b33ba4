//! Space: lives, sizes and memories in, places and hand-overs out.

mod options;
mod types;

pub use options::{CarryRule, MemoryDesc};

pub use types::{
    CopyTime, Handover, Home, MemoryId, MemoryPlan, Moment, MultiView, Place, PlacedTensor, Region,
    TensorPlan, TensorRequirements, ValueCopy,
};
