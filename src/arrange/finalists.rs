//! The end of a search: its best results are planned, and the one whose plan moves the fewest bytes is returned.
//!
//! ```text
//! search      places whole lifetimes only           A 40 MB      B 41 MB      C 44 MB
//! plans       may split lifetimes                   A 38 MB      B 36 MB      C 44 MB      described 37 MB
//! ```

use std::sync::Arc;

use super::traffic::Model;
use super::types::Arrangement;
use crate::measure::{ResourceRequirements, estimate};
use crate::plan::{Plan, Runnable, Traffic, make};

/// Maximum number of results that are planned if a plan may split lifetimes; otherwise, only the best one is.
const MAX_PLANNED: usize = 4;

/// An arrangement and its traffic.
pub(super) type EvaluatedArrangement = (Arrangement, Traffic);

/// The best results of a search, in ascending order of the bytes that they move.
pub(super) struct Finalists {
    results: Vec<EvaluatedArrangement>,
    limit: usize,
}

impl Finalists {
    /// Creates an empty list for a frame that is planned like `plan`.
    pub(super) fn new(plan: &Plan) -> Finalists {
        Finalists {
            results: Vec::new(),
            limit: match plan.options.splits() {
                true => MAX_PLANNED,
                false => 1,
            },
        }
    }

    /// Adds a result if it is among the best and its arrangement is not listed yet.
    pub(super) fn add(&mut self, result: &EvaluatedArrangement) {
        let better = |other: &EvaluatedArrangement| other.1.off_chip() <= result.1.off_chip();
        let place = self.results.partition_point(better);
        if place < self.limit && !self.results.iter().any(|other| other.0 == result.0) {
            self.results.insert(place, result.clone());
            self.results.truncate(self.limit);
        }
    }

    /// The result whose plan moves the fewest bytes, with the traffic of that plan; `None` if none can be planned.
    pub(super) fn best_planned(self, model: &Model<'_>) -> Option<EvaluatedArrangement> {
        let planned = self.results.into_iter().filter_map(|(arrangement, traffic)| {
            let Traffic { moved, halos, .. } = Traffic::of(&planned(model, &arrangement)?);
            let traffic = Traffic {
                moved,
                halos,
                ..traffic
            };
            Some((arrangement, traffic))
        });
        planned.min_by_key(|(_, traffic)| traffic.off_chip())
    }
}

/// Plans an arrangement. Resources of the arranged frame have their known sizes, the images of strips estimated ones.
fn planned(model: &Model<'_>, arrangement: &Arrangement) -> Option<Plan> {
    let Plan {
        input,
        input_requirements,
        profile,
        options,
        ..
    } = model.plan;
    let executed = arrangement.apply_at(input, &model.costs, Some(model.described));
    let executed = executed.ok()?;
    let mut needs = estimate(executed.frame(), profile).ok()?;
    // The first resources are those of the arranged frame, possibly with more uses.
    for (needs, known) in needs.resources.iter_mut().zip(&input_requirements.resources) {
        *needs = ResourceRequirements {
            tile: needs.tile.and(known.tile),
            lazy_type_bits: needs.lazy_type_bits & known.lazy_type_bits,
            ..*known
        };
    }
    make(
        Runnable::new(&executed, profile).ok()?,
        &Arc::new(needs),
        options,
        None,
    )
    .ok()
}
