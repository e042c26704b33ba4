//! What every stage of the planner reads.

use std::sync::Arc;

use super::residency::BinningCost;
use super::timeline::Timeline;
use super::{NotTile, PlanOptions};
use crate::execute::Executed;
use crate::frame::{Frame, PassId};
use crate::measure::Requirements;
use crate::profile::{DeviceProfile, TileHeap};
use crate::units::Bytes;

/// The inputs of planning, and what the rules say of them before any choice.
pub(super) struct Context<'a> {
    pub(super) frame: &'a Frame,
    /// The frame, beside the described one.
    pub(super) executed: &'a Executed,
    /// The same without stores.
    pub(super) input: &'a Executed,
    pub(super) requirements: &'a Arc<Requirements>,
    pub(super) profile: &'a Arc<DeviceProfile>,
    pub(super) options: &'a PlanOptions,
    /// The tile heap, as large as the options let it be; `None` where there is none, or the strategy leaves it alone.
    pub(super) heap: Option<TileHeap>,
    pub(super) timeline: Timeline,
    /// Per resource of the frame, where the rules let it be placed.
    pub(super) rulings: Vec<Ruling>,
    /// Per pass, what reserving tile memory costs; empty where the strategy does not weigh it.
    pub(super) binning_costs: Vec<BinningCost>,
}

/// What the rules say of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    /// Nothing uses it.
    Unused,
    /// The caller owns it.
    External,
    /// Fits into lazily allocated memory.
    Lazy(PassId),
    /// May be placed in tile memory, where it saves so many bytes per frame.
    Tile(Bytes),
    /// Must live in ordinary memory.
    Ordinary(NotTile),
}
