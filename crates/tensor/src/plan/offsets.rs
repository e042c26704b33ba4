//! Offsets in one block per memory, from a strategy of the packing crate.

use std::ops::ControlFlow;

use super::by_memory::{OfferedItems, TakenItems, by_memory};
use super::item::SpaceItem;
use super::memory::MemoryDesc;
use super::problem::{gather, problem};
use super::strategy::{PlacedItems, PlacementStrategy};
use crate::error::Result;
use crate::units::Bytes;
use tileheap_pack::{Packer, Packing, PackingStrategy, Problem, Steps, Strategy};

/// Places each tensor at its own offset in a memory, with a packing strategy: a built-in [`Strategy`], or the caller's
/// [`PackingStrategy`]. The default is [`Strategy::Auto`].
///
/// With several memories, each keeps the items with the most traffic that fit, pinned items first; the rest spills into the next. The strategy does not
/// choose the items of a limited memory, but packs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets<S>(pub S);

/// Maximum number of search steps if the heuristics do not reach the bound: about a second for a thousand tensors.
const BUDGET: Steps = Steps(60_000);

impl<S: PackingStrategy> PlacementStrategy for Offsets<S> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn description(&self) -> &str {
        self.0.description()
    }

    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems> {
        let mut packer = Packer::default();
        by_memory(items, memories, |offer| match offer.spill_capacity() {
            Some(capacity) => select(offer, capacity, &self.0, &mut packer),
            None => pack(offer, &self.0, &mut packer),
        })
    }
}

/// Packs all items into one memory.
fn pack(offer: &OfferedItems<'_>, strategy: &dyn PackingStrategy, packer: &mut Packer) -> Result<TakenItems> {
    let problem = problem(offer.items, &offer.offered, offer.memory)?;
    let (packing, lower_bound) = packed(&problem, strategy, packer);
    let offsets: Vec<Option<Bytes>> = packing.offsets.into_iter().map(Some).collect();
    let taken = TakenItems {
        offsets: gather(offer.items, &offer.offered, &offsets),
        height: packing.height,
        traffic_bound: None,
        lower_bound,
    };
    offer.check_capacity(&offer.offered, taken)
}

/// A packing, and the lower bound on its height that the search proved, if any.
fn packed(
    problem: &Problem,
    strategy: &dyn PackingStrategy,
    packer: &mut Packer,
) -> (Packing, Option<Bytes>) {
    let mut go_on = |_| ControlFlow::Continue(());
    // Only searches use the budget; every other strategy runs once.
    let searches = [Strategy::Auto, Strategy::Exact]
        .map(Strategy::name)
        .contains(&strategy.name());
    let answer = match (problem.capacity(), searches) {
        (Some(_), true) => packer.fit(problem, strategy, BUDGET, &mut go_on).packing,
        (None, true) => {
            let answer = packer.minimize(problem, strategy, BUDGET, &mut go_on);
            if let Some(packing) = answer.packing {
                return (packing, Some(answer.bound));
            }
            None
        }
        _ => None,
    };
    let packing = answer.unwrap_or_else(|| packer.pack(problem, strategy));
    (packing, None)
}

/// Selects the items with the most traffic within a capacity, and packs them with the strategy; each required item weighs more than all optional
/// items combined. If the packing with which they were selected is lower, it is kept.
fn select(
    offer: &OfferedItems<'_>,
    capacity: Bytes,
    strategy: &dyn PackingStrategy,
    packer: &mut Packer,
) -> Result<TakenItems> {
    let (items, offered) = (offer.items, &offer.offered);
    let all_of = problem(items, offered, offer.memory)?;
    let traffic = |item: u32| u128::from(items[item as usize].traffic);
    let (all, required) = (
        offered.iter().map(|&item| traffic(item)).sum::<u128>(),
        offer.required.len() as u64,
    );
    // Weights must sum to at most 2^62; if they exceed it, the low bits are dropped.
    let shift = 128 - ((all + 1).saturating_mul(u128::from(required) + 1) >> 62).leading_zeros();
    let more = (all >> shift) as u64 + 1;
    let mut weights = Vec::with_capacity(all_of.items().len());
    for &item in offered {
        let first = if offer.is_required(item) { more } else { 0 };
        weights.push(first + (traffic(item) >> shift) as u64);
        let others = items[item as usize].lifetimes.len().max(1) - 1;
        weights.extend(std::iter::repeat_n(0, others));
    }
    let mut go_on = |_| ControlFlow::Continue(());
    let selection = packer.select(&all_of, &weights, BUDGET, &mut go_on);
    let offsets = gather(items, offered, &selection.offsets);
    let placed: Vec<u32> = offsets.iter().map(|&(item, _)| item).collect();
    let is_missing = |item: &&u32| offer.is_required(**item) && !placed.contains(item);
    if let Some(&item) = offered.iter().find(is_missing) {
        return Err(offer.too_small(item, capacity, None));
    }
    let bound = u128::from(selection.bound - required * more);
    let lost = if shift > 0 { offered.len() as u128 } else { 0 };
    let (mut offsets, mut height, mut lower_bound) = (offsets, selection.height, None);
    if !placed.is_empty() {
        let unlimited = MemoryDesc {
            capacity: None,
            ..offer.memory.clone()
        };
        let (packing, proved) = packed(&problem(items, &placed, &unlimited)?, strategy, packer);
        lower_bound = proved;
        if packing.height < height {
            height = packing.height;
            let found: Vec<Option<Bytes>> = packing.offsets.into_iter().map(Some).collect();
            offsets = gather(items, &placed, &found);
        }
    }
    Ok(TakenItems {
        offsets,
        height,
        lower_bound,
        traffic_bound: u64::try_from((bound + lost) << shift).ok().map(Bytes),
    })
}
