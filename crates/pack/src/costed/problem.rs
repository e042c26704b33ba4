//! The input of a selection with costs, and the validated numbers that the search reads.

use super::cost::StepCost;
use crate::error::{Error, Result};
use crate::exact::gcd;
use crate::units::{Alignment, Bytes, Run, Span};

/// Items to select from, and the cost in each step of the bytes that are reserved for the selected ones.
///
/// ```text
/// block   ┌──── a ────┐┌── b ──┐       items: span × size, weight; at most one item of an exclusive group is selected
///         │┌─── c ────┴┤       │       selected: a, b, c at offsets
///         └┴───────────┴───────┘       reserved in a step: up to the highest end of what is live there
/// steps    0   1   2   3   4   5       value: weight of the selected, less the cost of what is reserved
/// ```
#[derive(Clone, Debug, Default)]
pub struct CostedDesc<'a> {
    /// The items; everything else refers to them by index.
    pub items: Vec<WeightedItem>,
    /// Exclusive groups: runs of items of which at most one may be selected, in ascending order. An item that is in no group can be selected independently of
    /// the others.
    pub exclusive: Vec<Run>,
    /// The size of the block.
    pub capacity: Bytes,
    /// For each step, the cost of the bytes that are reserved in it, in units of weight.
    pub costs: Vec<&'a StepCost>,
    /// The rule for the number of bytes that are reserved in each step.
    pub reservation: Reservation,
}

/// An item that can be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeightedItem {
    /// The item's lifetime: at least one step.
    pub span: Span,
    /// The item's size.
    pub size: Bytes,
    /// The alignment of the item's offset.
    pub alignment: Alignment,
    /// The gain from selecting the item.
    pub weight: u64,
}

/// The rule for how many bytes each step reserves, always from offset 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reservation {
    /// Every step of a connected run of lifetimes reserves up to the highest end of the run's items.
    #[default]
    PerRun,
    /// Each step reserves up to the highest end of the items that are live in it.
    PerStep,
    /// Like `PerStep` if that costs less in some step, otherwise like `PerRun`.
    Cheapest,
}

/// The validated problem, in plain numbers.
pub(super) struct Problem<'a> {
    pub(super) items: Vec<Item>,
    /// Runs of items; at most one item of each may be selected. Together, the runs contain all items in order.
    pub(super) choices: Vec<Run>,
    pub(super) capacity: u64,
    /// Per step, the cost of reserving bytes.
    pub(super) costs: &'a [&'a StepCost],
    /// True if each step reserves separately; otherwise all steps of a connected run reserve the same size.
    pub(super) by_step: bool,
}

/// An item that may be chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) size: u64,
    pub(super) alignment: u64,
    pub(super) weight: u64,
}

/// The cost of a choice and the bytes that it reserves, each summed over the steps; compared in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    pub(super) cost: u64,
    pub(super) reserved: u64,
}

/// The maximum sum of the weights.
const MAX_WEIGHT: u64 = 1 << 63;

impl CostedDesc<'_> {
    /// Validates the problem.
    pub(super) fn validate(&self) -> Result<Problem<'_>> {
        let steps = self.costs.len();
        let (mut sum, mut weights) = (0u64, 0u64);
        for (index, item) in (0..).zip(&self.items) {
            let WeightedItem {
                span,
                size,
                alignment,
                weight,
            } = *item;
            if span.is_empty() || span.end.0 as usize > steps {
                return Err(Error::OutsideSteps(index, span, steps));
            }
            let more = size.0.checked_add(alignment.get());
            sum = more
                .and_then(|more| sum.checked_add(more))
                .ok_or(Error::SumOverflow(index, size, alignment))?;
            let heavier = weights.checked_add(weight);
            weights = heavier
                .filter(|sum| *sum <= MAX_WEIGHT)
                .ok_or(Error::WeightOverflow(index))?;
        }
        let items = self.items.iter().map(|item| Item {
            first: item.span.first.0 as usize,
            end: item.span.end.0 as usize,
            size: item.size.0,
            alignment: item.alignment.get(),
            weight: item.weight,
        });
        let numbers = self
            .items
            .iter()
            .flat_map(|item| [item.size.0, item.alignment.get()]);
        // A common divisor of every offset and end.
        let grain = numbers.fold(0, gcd).max(1);
        Ok(Problem {
            items: items.collect(),
            choices: self.choices()?,
            capacity: self.capacity.0 - self.capacity.0 % grain,
            costs: &self.costs,
            by_step: match self.reservation {
                Reservation::PerRun => false,
                Reservation::PerStep => true,
                Reservation::Cheapest => self.costs.iter().any(|cost| !cost.is_free()),
            },
        })
    }

    /// Returns the exclusive groups, and a run of its own for each item that is in no group.
    fn choices(&self) -> Result<Vec<Run>> {
        let count = self.items.len() as u32;
        let mut choices = Vec::with_capacity(self.items.len());
        let mut next = 0;
        let alone = |first: u32, end: u32| (first..end).map(|item| Run::new(item, item + 1));
        for (index, &group) in self.exclusive.iter().enumerate() {
            if group.first < next || group.end < group.first || group.end > count {
                return Err(Error::ExclusiveGroup(index, group.first, group.end, count));
            }
            choices.extend(alone(next, group.first));
            if !group.is_empty() {
                choices.push(group);
            }
            next = group.end;
        }
        choices.extend(alone(next, count));
        Ok(choices)
    }
}

impl Problem<'_> {
    /// Returns true if some items exclude each other.
    pub(super) fn has_exclusive(&self) -> bool {
        self.choices.len() < self.items.len()
    }

    /// Returns true if reserving bytes is free in every step.
    pub(super) fn is_free(&self) -> bool {
        self.costs.iter().all(|cost| cost.is_free())
    }

    /// Returns the cost of reserving `bytes` in `step`.
    pub(super) fn cost(&self, step: usize, bytes: u64) -> Cost {
        Cost {
            cost: self.costs[step].of(Bytes(bytes)),
            reserved: bytes,
        }
    }
}

impl Cost {
    pub(super) const MAX: Cost = Cost {
        cost: u64::MAX,
        reserved: u64::MAX,
    };

    pub(super) fn plus(self, other: Cost) -> Cost {
        Cost {
            cost: self.cost.saturating_add(other.cost),
            reserved: self.reserved.saturating_add(other.reserved),
        }
    }
}
