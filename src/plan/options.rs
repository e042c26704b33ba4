//! Options of the planner: the strategy, limits of the search, permitted techniques.

use serde::{Deserialize, Serialize};
use tileheap_json::is_default;

use super::model;
use crate::profile::{DeviceProfile, TileHeap};
use crate::units::Bytes;

/// The strategy for choosing residents of the tile heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResidencyStrategy {
    /// The best choice that a search finds, with a proof that it is optimal or a bound on how far from optimal it is.
    #[default]
    Optimal,
    /// The best of several greedy orders, such as savings per byte and step; resources share bytes over time.
    Greedy,
    /// A single greedy order, by savings per byte and step: the fast mode.
    Fast,
    /// The vendor sample's policy: resources in declaration order, first fit, no time slicing, whole heap always bound.
    FirstCome,
    /// Nothing in tile memory.
    Off,
}

/// The period for which tile memory keeps its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRule {
    /// A batch, or a submit if the device has `queueSubmitBoundary`.
    #[default]
    Device,
    /// The whole frame is one window, only the requirements determine what may be placed in tile memory, and savings are access count times size: for
    /// comparison with published tables, not for execution.
    WholeFrame,
}

/// Use of several tile memory objects for one connected run of lifetimes, each as large as the residents alive in its passes.
///
/// A resident that stays alive while another object is bound has an image in each (`VK_IMAGE_CREATE_ALIAS_BIT`, same offset), and all of them stay in
/// `GENERAL`: layouts are not shared between memory objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ladder {
    /// One object for each connected run of lifetimes.
    Off,
    /// Several objects if [`model`] gives them a lower binning cost. Only used by [`ResidencyStrategy::Optimal`].
    #[default]
    Auto,
    /// Several objects whenever that reserves fewer bytes.
    Always,
}

/// Options of the planner.
///
/// ```
/// use tileheap::plan::{Ladder, PlanOptions, ResidencyStrategy};
/// use tileheap::units::Bytes;
///
/// let usual = PlanOptions::default(); // the best that 2,000 branches find, lazy memory and aliasing allowed
/// let fast = PlanOptions { strategy: ResidencyStrategy::Fast, ..usual };
/// let half_a_heap = PlanOptions { tile_limit: Some(Bytes::mib(4)), ladder: Ladder::Off, ..usual };
/// let without_tile_memory = PlanOptions { strategy: ResidencyStrategy::Off, ..usual };
/// # let _ = (fast, half_a_heap, without_tile_memory);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanOptions {
    /// The strategy for choosing residents.
    pub strategy: ResidencyStrategy,
    /// The extent of a discard window.
    pub windows: WindowRule,
    /// True if resources with disjoint lifetimes may share bytes.
    pub aliasing: bool,
    /// Use of several tile memory objects within a run of lifetimes. Requires `aliasing`.
    pub ladder: Ladder,
    /// True if a resource may be in tile memory for only the first stretch of its lifetime, when that saves more than the store pass that ends the stretch
    /// costs. Only used by [`ResidencyStrategy::Optimal`], and requires `aliasing`. The runtime records the stores: [`Plan::frame`](super::Plan::frame) then
    /// has passes that [`Plan::described`](super::Plan::described) does not have.
    #[serde(default, skip_serializing_if = "is_default")]
    pub split: bool,
    /// True if lazily allocated memory may be used.
    pub lazy: bool,
    /// Limit on the steps of the search: branches evaluated and placements tried. `u64::MAX` for a proof at any cost;
    /// [`Planner::improve`](super::Planner::improve) increases it call by call.
    pub budget: u64,
    /// The binning cost of each bin that a reservation adds to a render pass, in bytes of traffic per frame; 0 for none.
    pub bin_cost: Bytes,
    /// Limit on the bytes of the tile heap that may be bound; `None` for all of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tile_limit: Option<Bytes>,
}

impl PlanOptions {
    /// Returns true if these options let the search split lifetimes.
    pub(crate) fn splits(&self) -> bool {
        self.split && self.strategy == ResidencyStrategy::Optimal && self.aliasing
    }

    /// The tile heap of a device, limited by these options; `None` if there is none.
    pub fn tile_heap(&self, profile: &DeviceProfile) -> Option<TileHeap> {
        let heap = profile.tile?;
        let size = self.tile_limit.map_or(heap.size, |limit| heap.size.min(limit));
        Some(TileHeap { size, ..heap })
    }
}

/// Default limit on the steps of the search: about a millisecond for 256 passes and 400 resources.
pub const DEFAULT_BUDGET: u64 = 2_000;

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            strategy: ResidencyStrategy::default(),
            windows: WindowRule::default(),
            aliasing: true,
            ladder: Ladder::default(),
            split: false,
            lazy: true,
            budget: DEFAULT_BUDGET,
            bin_cost: model::BIN_COST,
            tile_limit: None,
        }
    }
}
