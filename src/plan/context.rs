//! What every stage of the planner reads.

use std::sync::Arc;

use super::eligible::{self, Ruling};
use super::residency::{BinningCost, binning_costs};
use super::timeline::Timeline;
use super::{PlanError, PlanOptions, Strategy};
use crate::frame::Frame;
use crate::measure::Requirements;
use crate::profile::{DeviceProfile, TileHeap};

/// The inputs of planning, and what the rules say of them before any choice.
pub(super) struct Context<'a> {
    pub(super) frame: &'a Frame,
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

impl<'a> Context<'a> {
    pub(super) fn new(
        frame: &'a Frame,
        requirements: &'a Arc<Requirements>,
        profile: &'a Arc<DeviceProfile>,
        options: &'a PlanOptions,
    ) -> Result<Context<'a>, PlanError> {
        if requirements.resources.len() != frame.resources().len() {
            return Err(PlanError::Requirements {
                frame: frame.name().to_owned(),
                resources: frame.resources().len(),
                requirements: requirements.resources.len(),
            });
        }
        let mut context = Context {
            frame,
            requirements,
            profile,
            options,
            heap: options
                .tile_heap(profile)
                .filter(|_| options.strategy != Strategy::Off),
            timeline: Timeline::new(frame, profile, options.windows),
            rulings: Vec::new(),
            binning_costs: Vec::new(),
        };
        context.rulings = eligible::judge(&context);
        if options.strategy == Strategy::Optimal && context.heap.is_some() {
            context.binning_costs = binning_costs(&context);
        }
        Ok(context)
    }
}
