//! Options of the planner: how residents are chosen, what bounds the search, what is allowed.

use serde::{Deserialize, Serialize};
use tileheap_json::is_default;

use super::model;
use crate::profile::{DeviceProfile, TileHeap};
use crate::units::Bytes;

/// How residency in the tile heap is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// The best possible, by a search that proves it or says how far from it the answer can be.
    #[default]
    Optimal,
    /// By savings per byte and step, with time slicing: the best of several greedy orders.
    Greedy,
    /// By savings per byte and step in one pass: the fast mode.
    Fast,
    /// The vendor sample's policy: resources in declaration order, first fit, no time slicing, whole heap always bound.
    FirstCome,
    /// Nothing in tile memory.
    Off,
}

/// The stretch over which tile memory keeps its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowRule {
    /// A batch, or a submit where the device says `queueSubmitBoundary`.
    #[default]
    Device,
    /// The whole frame is one window, the requirements alone say what may be placed in tile memory, and worth is access count
    /// times size: for comparison with published tables, not for execution.
    WholeFrame,
}

/// Whether one run of lifetimes is served by several tile memory objects, each as large as what is alive in its passes.
///
/// What lives on while another object is bound has an image in each (`VK_IMAGE_CREATE_ALIAS_BIT`, same offset), and all of
/// them stay in `GENERAL`: layouts are not shared between memory objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ladder {
    /// One object for each connected run of lifetimes.
    Off,
    /// Where [`model`] has a lower binning cost with several. Only [`Strategy::Optimal`] asks it.
    #[default]
    Auto,
    /// Wherever fewer bytes are reserved.
    Always,
}

/// Options of the planner besides frame, requirements and profile.
///
/// ```
/// use tileheap::plan::{Ladder, PlanOptions, Strategy};
/// use tileheap::units::Bytes;
///
/// let usual = PlanOptions::default(); // the best that 2,000 branches find, lazy memory and aliasing allowed
/// let fast = PlanOptions { strategy: Strategy::Fast, ..usual };
/// let half_a_heap = PlanOptions { tile_limit: Some(Bytes::mib(4)), ladder: Ladder::Off, ..usual };
/// let without_tile_memory = PlanOptions { strategy: Strategy::Off, ..usual };
/// # let _ = (fast, half_a_heap, without_tile_memory);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanOptions {
    /// How residency is chosen.
    pub strategy: Strategy,
    /// What a discard window is.
    pub windows: WindowRule,
    /// Whether resources of disjoint lifetimes may share bytes at all.
    pub aliasing: bool,
    /// Whether what is bound falls within a run of lifetimes. Not without `aliasing`.
    pub ladder: Ladder,
    /// Whether a resource may be placed in tile memory for a first stretch of its lifetime, where that saves more than the pass that then
    /// stores it. Only [`Strategy::Optimal`] asks it, and not without `aliasing`. The runtime records the stores:
    /// [`Plan::frame`](super::Plan::frame) has passes then that [`Plan::described`](super::Plan::described) has not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub split: bool,
    /// Whether lazily allocated memory may be used.
    pub lazy: bool,
    /// The most steps of the search: branches that it looks at, and placements that it tries. `u64::MAX` for a proof at any price;
    /// [`Planner::improve`](super::Planner::improve) spends more step by step.
    pub budget: u64,
    /// The binning cost of each bin that a reservation adds to a render pass, in bytes of traffic a frame; 0 for none.
    pub bin_cost: Bytes,
    /// The most bytes of the tile heap that may be bound; `None` for all of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tile_limit: Option<Bytes>,
}

impl PlanOptions {
    /// Whether these options let the search split lifetimes.
    pub(super) fn splits(&self) -> bool {
        self.split && self.strategy == Strategy::Optimal && self.aliasing
    }

    /// The tile heap of a device, as large as these options let it be; `None` where there is none.
    pub fn tile_heap(&self, profile: &DeviceProfile) -> Option<TileHeap> {
        let heap = profile.tile?;
        let size = self.tile_limit.map_or(heap.size, |limit| heap.size.min(limit));
        Some(TileHeap { size, ..heap })
    }
}

/// What a plan may cost to find, unless something else is said: a millisecond with 256 passes and 400 resources.
pub const DEFAULT_BUDGET: u64 = 2_000;

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions {
            strategy: Strategy::default(),
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
