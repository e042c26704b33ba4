//! Selection with costs: reserving bytes costs something in each step, and some items exclude each other.
//!
//! 1. [`start`]: the best choice that is found without a search: by density, or by [`select`](super::select()), or by loads with the costs;
//! 2. [`prices`]: the price of a byte in each step, and the resulting bound;
//! 3. [`search`]: a depth-first search that takes or leaves out each item, with that bound; [`settle`] places each set that remains.

mod cost;
mod prices;
mod problem;
mod search;
mod settle;
mod start;
#[cfg(test)]
mod tests;

pub use cost::StepCost;
pub use problem::{CostedDesc, Reservation, WeightedItem};

use super::answer::Steps;
use super::error::{Error, Result};
use crate::units::{Bytes, CompactSort};
use problem::Problem;
use search::{PlacedChoice, choice_at, search};
use start::{Start, placed_again};

/// The result of [`select_with_costs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostedSelection {
    /// For each item, its offset; `None` if it is not selected.
    pub offsets: Vec<Option<Bytes>>,
    /// The total weight of the selected items.
    pub weight: u64,
    /// The total cost of the reserved bytes: at most `weight`.
    pub cost: u64,
    /// An upper bound on the value (weight minus cost) of any selection.
    pub bound: u64,
    /// True if it is proved that no selection of the same value reserves fewer bytes, summed over the steps.
    pub least_reserved: bool,
    /// Number of search steps used.
    pub steps: Steps,
}

impl CostedSelection {
    /// Returns the weight of the selection minus its cost.
    pub fn value(&self) -> u64 {
        self.weight - self.cost
    }
}

/// Selects items to place in a block, so that the sum of their weights, less the cost of the bytes that they reserve in each step, is as large as
/// possible; among equally valuable selections, prefers one that reserves fewer bytes.
///
/// `start` has an offset for each item that an earlier or simpler selection placed: the result is at least as valuable. The same problem and budget
/// give the same answer on every machine. [`select`](super::select()) is for problems without costs or exclusive groups.
///
/// ```
/// use tileheap_pack::{CostedDesc, Reservation, StepCost, Steps, WeightedItem, select_with_costs};
/// use tileheap_pack::units::{Alignment, Bytes, Run, Span};
///
/// let item = |end, size, weight| WeightedItem {
///     span: Span::new(0, end),
///     size: Bytes(size),
///     alignment: Alignment::ONE,
///     weight,
/// };
/// // Each byte costs 3 in the second step, and nothing in the first.
/// let costs = [StepCost::FREE, StepCost::sampled(Bytes(8), |bytes| bytes.0 * 3)];
/// let desc = CostedDesc {
///     items: vec![item(1, 4, 10), item(2, 4, 15), item(1, 4, 8)],
///     exclusive: vec![Run::new(0, 2)], // the whole lifetime of a buffer, or its first step
///     capacity: Bytes(8),
///     costs: costs.iter().collect(),
///     reservation: Reservation::PerStep,
/// };
/// let selected = select_with_costs(&desc, &[None; 3], Steps::default())?;
/// assert_eq!(selected.offsets, [Some(Bytes(0)), None, Some(Bytes(4))]);
/// assert_eq!((selected.value(), selected.bound), (18, 18));
/// # Ok::<(), tileheap_pack::Error>(())
/// ```
///
/// # Errors
/// A lifetime that is empty or ends after the last step, exclusive groups that overlap or do not ascend, sizes and alignments that sum past 2^64 - 1, or
/// weights that sum past 2^63. A start whose items overlap, exclude each other or do not fit.
///
/// # Panics
/// If `start` does not have exactly one element per item.
pub fn select_with_costs(
    desc: &CostedDesc<'_>,
    start: &[Option<Bytes>],
    budget: Steps,
) -> Result<CostedSelection> {
    assert_eq!(
        start.len(),
        desc.items.len(),
        "there is one start offset for each item"
    );
    let mut problem = desc.validate()?;
    let given = start_choice(&problem, desc, start)?;
    let (budget, mut steps) = (budget.0, 0);
    let start = Start::of(&problem, given, budget, &mut steps);
    let (prices, bound) = (start.prices, start.bound);
    let mut found = search(&problem, &prices, start.choice, budget - steps);
    steps += found.steps;
    let all: u64 = desc.items.iter().map(|item| item.weight).sum();
    let bound = found.bound.min(bound).min(i128::from(all));
    if problem.by_step && desc.reservation == Reservation::Cheapest && !found.choice.pays_by_step(&problem) {
        // If reserving per run is equally good, minimizes the bytes that it reserves.
        problem.by_step = false;
        let again = placed_again(&problem, found.choice, budget, &mut steps);
        found = search(&problem, &prices, again, budget - steps);
        steps += found.steps;
    }
    let choice = &found.choice;
    let mut offsets = vec![None; desc.items.len()];
    for (&item, &offset) in choice.items.iter().zip(&choice.offsets) {
        offsets[item as usize] = Some(Bytes(offset));
    }
    Ok(CostedSelection {
        offsets,
        weight: choice.weight,
        cost: choice.cost.cost,
        bound: u64::try_from(bound)
            .expect("a bound is at least the value of a choice, which is not negative"),
        least_reserved: found.complete,
        steps: Steps(steps),
    })
}

/// Returns `start` as a choice, or an empty choice if the weight of `start` does not exceed its cost.
fn start_choice(
    problem: &Problem<'_>,
    desc: &CostedDesc<'_>,
    start: &[Option<Bytes>],
) -> Result<PlacedChoice> {
    let placed = (0..)
        .zip(start)
        .filter_map(|(item, offset)| Some((item, (*offset)?)));
    let placed: Vec<(u32, Bytes)> = placed.collect();
    let item = |index: u32| &desc.items[index as usize];
    for &(index, offset) in &placed {
        let of = item(index);
        if !offset.is_aligned(of.alignment) {
            return Err(Error::Misaligned(index, offset, of.alignment));
        }
        let highest = problem.capacity.checked_sub(of.size.0);
        if highest.is_none_or(|highest| offset.0 > highest) {
            return Err(Error::OutOfBounds {
                item: index,
                offset,
                lowest: Bytes::ZERO,
                highest: Bytes(highest.unwrap_or(0)),
            });
        }
    }
    let mut by_first = placed.clone();
    by_first.compact_sort_by_key(|&(index, _)| (item(index).span.first, index));
    for (position, &(a, low)) in by_first.iter().enumerate() {
        let live = by_first[position + 1..].iter();
        for &(b, high) in live.take_while(|&&(b, _)| item(b).span.first < item(a).span.end) {
            let (offset, end) = (low.max(high), (low + item(a).size).min(high + item(b).size));
            if offset < end {
                let (a, b) = (a.min(b), a.max(b));
                let (a_span, b_span) = (item(a).span, item(b).span);
                return Err(Error::Overlap {
                    a,
                    b,
                    a_span,
                    b_span,
                    offset,
                    end,
                });
            }
        }
    }
    for choice in &problem.choices {
        let first = placed.partition_point(|one| one.0 < choice.first);
        if let [a, b, ..] = placed[first..] {
            if b.0 < choice.end {
                return Err(Error::Exclusive(a.0, b.0));
            }
        }
    }
    let (items, offsets) = placed.into_iter().map(|(item, offset)| (item, offset.0)).unzip();
    let choice = choice_at(problem, items, offsets);
    Ok(if choice.value() > 0 {
        choice
    } else {
        PlacedChoice::default()
    })
}
