//! Input to every stage of the planner.

use std::sync::Arc;

use super::timeline::Timeline;
use super::{OffChipReason, PlanOptions};
use crate::execute::ExecutedFrame;
use crate::frame::{Frame, PassId};
use crate::measure::Requirements;
use crate::profile::{DeviceProfile, TileHeap};
use crate::units::Bytes;
use tileheap_pack::StepCost;

/// Inputs to planning, and the results of the placement rules, which are applied before residents are chosen.
pub(super) struct Context<'a> {
    pub(super) frame: &'a Frame,
    /// The executed frame, paired with the described one.
    pub(super) executed: &'a ExecutedFrame,
    /// The executed frame without stores, paired with the described one.
    pub(super) input: &'a ExecutedFrame,
    pub(super) requirements: &'a Arc<Requirements>,
    pub(super) profile: &'a Arc<DeviceProfile>,
    pub(super) options: &'a PlanOptions,
    /// The tile heap, limited by the options; `None` if there is none, or the strategy does not use it.
    pub(super) heap: Option<TileHeap>,
    pub(super) timeline: Timeline,
    /// Per resource of the frame, the result of [`only_render_pass`](super::traffic::only_render_pass).
    pub(super) only_passes: Vec<Option<PassId>>,
    /// True if the savings of a resource are its traffic: no access has measured savings, and nothing is stored.
    pub(super) savings_are_traffic: bool,
    /// Per resource of the frame, the result of the placement rules.
    pub(super) rulings: Vec<Ruling>,
    /// Per pass, the cost of reserving tile memory; empty if the strategy does not weigh it.
    pub(super) binning_costs: Vec<StepCost>,
}

/// The result of the placement rules for one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    /// No pass uses the resource.
    Unused,
    /// The caller owns the resource.
    External,
    /// The resource can be lazily allocated: only this pass uses it.
    Lazy(PassId),
    /// The resource may be placed in tile memory, which saves this many bytes per frame.
    Tile(Bytes),
    /// The resource must be in ordinary memory.
    Ordinary(OffChipReason),
}
