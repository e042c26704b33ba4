//! Options of the search: allowed changes, costs and limits.

use super::traffic::ArrangementCosts;

/// The changes that the search may make, their costs, and the limits of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// Passes may run in another order.
    pub order: bool,
    /// Render passes may run as one.
    pub merge: bool,
    /// Batches may be submitted as one.
    pub fuse: bool,
    /// Passes may run strip by strip.
    pub strips: bool,
    /// Images may use a narrower format with the same numeric type; the alpha channel may be dropped, and channels of more than 10 bits keep at least
    /// 10. Off by default.
    pub format: bool,
    /// Images may be smaller, together with all images that are attached with them: down to half of their width and height. Off by default.
    pub extent: bool,
    /// A use that keeps a resource off chip may be removed. Off by default.
    pub usage: bool,
    /// Limit on the texels computed, relative to the frame as described.
    pub shaded: f64,
    /// Costs of repeats, halos and merges.
    pub costs: ArrangementCosts,
    /// Limit on the frames evaluated in each phase of the search: without images at the border of strips, with them, from other results, in
    /// restarts near the best result, and around it.
    pub steps: u64,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            order: true,
            merge: true,
            fuse: true,
            strips: true,
            format: false,
            extent: false,
            usage: false,
            shaded: 1.5,
            costs: ArrangementCosts::default(),
            steps: 20_000,
        }
    }
}
