//! Residency: which admitted resources live in tile memory, at which offsets, and what is bound when.
//!
//! ```text
//! heap   ┌─ albedo ────────┐ ┌─ bloom ─┐         a life takes its bytes from first write to last read
//!        └─────────────────┘ └─────────┘
//! passes   0    1    2    3    4    5    6
//! bound   [0,N)──────────────][0,M)─────] nothing   one object per connected run of lives
//! ```
//! Windows are planned apart, since contents never cross them. A greedy choice comes first; the search then looks for a
//! better one, and says how far from the best possible one the answer can be.

mod bind;
mod bound;
mod candidate;
mod first_come;
mod greedy;
mod harm;
mod problem;
mod search;
mod settle;
#[cfg(test)]
mod tests;

use self::bind::bind_runs;
use self::candidate::{Candidate, Order, candidates};
use self::first_come::{first_come, place_apart};
use self::greedy::{best_of_orders, in_one_order, resident};
use self::problem::Problem;
use self::search::{choice_of, search};
use super::eligible::Ruling;
use super::timeline::Timeline;
use super::{Home, Object, ObjectId, Optimality, PlanOptions, Strategy};
use crate::frame::{Frame, ResourceId};
use crate::profile::{DeviceProfile, Requirements, TileHeap};
use crate::units::{Bytes, Span};

/// Who lives in tile memory and what is bound.
pub(super) struct Residency {
    /// The residents.
    pub(super) residents: Vec<Resident>,
    /// Tile memory objects, one per size that is bound.
    pub(super) objects: Vec<Object>,
    /// Per pass, the object bound.
    pub(super) bound: Vec<Option<ObjectId>>,
    /// How good it is, where that was searched.
    pub(super) optimality: Option<Optimality>,
}

/// A resource in tile memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    pub(super) resource: ResourceId,
    pub(super) offset: Bytes,
    pub(super) size: Bytes,
    pub(super) span: Span,
    pub(super) object: ObjectId,
}

pub(super) fn choose(
    frame: &Frame,
    requirements: &Requirements,
    profile: &DeviceProfile,
    timeline: &Timeline,
    rulings: &[Ruling],
    options: &PlanOptions,
) -> Residency {
    let nothing = |passes| Residency {
        residents: Vec::new(),
        objects: Vec::new(),
        bound: vec![None; passes],
        optimality: None,
    };
    let Some(heap) = profile.tile else {
        return nothing(frame.passes().len());
    };
    let mut candidates = candidates(frame, requirements, timeline, rulings);
    if candidates.is_empty() {
        return nothing(frame.passes().len());
    }
    let (residents, optimality) = match options.strategy {
        Strategy::FirstCome => return first_come(frame, &heap, timeline, &candidates),
        _ if !options.aliasing => {
            candidates.sort_unstable_by(|a, b| Order::Density.compare(a, b));
            (place_apart(frame, &heap, &candidates), None)
        }
        Strategy::Fast => (in_one_order(&heap, &mut candidates), None),
        Strategy::Greedy | Strategy::Off => (best_of_orders(&heap, &mut candidates), None),
        Strategy::Optimal => {
            let greedy = best_of_orders(&heap, &mut candidates);
            let found = improve(frame, profile, &heap, timeline, options, &mut candidates, &greedy);
            (found.0, Some(found.1))
        }
    };
    Residency {
        optimality,
        ..bind_runs(frame, &heap, timeline, residents)
    }
}

/// Searches each window for something better than the greedy choice.
fn improve(
    frame: &Frame,
    profile: &DeviceProfile,
    heap: &TileHeap,
    timeline: &Timeline,
    options: &PlanOptions,
    candidates: &mut [Candidate],
    greedy: &[Resident],
) -> (Vec<Resident>, Optimality) {
    let harms = harm::harms(frame, profile, options.bin_cost);
    let mut residents = Vec::with_capacity(candidates.len());
    let mut optimality = Optimality {
        value: 0,
        bound: 0,
        least_reserved: true,
        steps: 0,
    };
    candidates.sort_unstable_by_key(|candidate| (candidate.window, candidate.resource));
    for window in greedy::windows(candidates) {
        let number = window[0].window;
        let steps: Vec<u32> = (0..frame.passes().len() as u32)
            .filter(|&pass| timeline.window[pass as usize] == number)
            .collect();
        let problem = Problem::of(window, &steps, heap.size, &harms);
        let chosen: Vec<u32> = (0..window.len() as u32)
            .filter(|&item| {
                greedy
                    .iter()
                    .any(|r| r.resource == window[item as usize].resource)
            })
            .collect();
        let start = choice_of(&problem, &chosen).unwrap_or_default();
        let found = search(&problem, start, options.budget - optimality.steps);
        optimality.steps += found.steps;
        optimality.least_reserved &= found.complete;
        optimality.value += found.choice.value() as i64;
        optimality.bound += found.bound as i64;
        for (&item, &offset) in found.choice.items.iter().zip(&found.choice.offsets) {
            residents.push(resident(&window[item as usize], Bytes(offset)));
        }
    }
    (residents, optimality)
}
