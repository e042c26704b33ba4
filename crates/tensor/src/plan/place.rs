//! Placement: assigns items to memories with a strategy, and checks the result.

use std::collections::BTreeMap;
use std::ops::Range;

use tileheap_pack::ByteOwners;

use super::item::SpaceItem;
use super::memory::MemoryDesc;
use super::problem::problem;
use super::strategy::PlacementStrategy;
use super::types::{MemoryId, MemoryPlan, Region};
use crate::error::{Error, Result};
use crate::units::{Bytes, Span};

/// Placed items, and the memory that they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedRegions {
    /// The region of each item.
    pub regions: Vec<Region>,
    /// The plan of each memory.
    pub memories: Vec<MemoryPlan>,
}

/// Places items in memories, and checks the result.
///
/// # Errors
/// An item fits nowhere or is pinned to a memory that cannot hold it; the strategy's answer breaks a lifetime, an alignment or a capacity.
pub fn place(
    items: &[SpaceItem],
    memories: &[MemoryDesc],
    strategy: &dyn PlacementStrategy,
) -> Result<PlacedRegions> {
    place_bounded(items, memories, strategy, true)
}

/// Like [`place`]; if `takes_proved` is false, the bounds that the strategy proved are not used, since another plan may place other items.
pub(super) fn place_bounded(
    items: &[SpaceItem],
    memories: &[MemoryDesc],
    strategy: &dyn PlacementStrategy,
    takes_proved: bool,
) -> Result<PlacedRegions> {
    check_pins(items, memories)?;
    let placed = strategy.place(items, memories)?;
    check_regions(items, &placed.regions, memories).map_err(|problem| Error::Strategy {
        strategy: strategy.name().to_owned(),
        problem,
    })?;
    let plan_of = |(number, memory): (usize, &MemoryDesc)| {
        let inside = |item: &u32| placed.regions[*item as usize].memory.0 as usize == number;
        let which: Vec<u32> = (0..items.len() as u32).filter(inside).collect();
        let traffic = |of: Range<usize>| {
            let items = items.iter().zip(&placed.regions);
            let there = items
                .filter(|(item, region)| of.contains(&(region.memory.0 as usize)) && memory.can_hold(item));
            Bytes(there.fold(0, |sum, (item, _)| item.traffic.saturating_add(sum)))
        };
        let offered = traffic(number..memories.len());
        let traffic_bound = placed.traffic_bounds.get(number).copied().flatten();
        let ends = which.iter().map(|&item| placed.regions[item as usize].end());
        let reserved = placed.reserved.get(number).copied();
        let bound = match which.is_empty() {
            true => Bytes::ZERO,
            false => tileheap_pack::lower_bound(&problem(items, &which, memory)?),
        };
        let size = ends.chain(reserved).max().unwrap_or(Bytes::ZERO);
        // A bound above the size is not one.
        let proved = placed.lower_bounds.get(number).copied().flatten();
        let proved = proved.filter(|&proved| takes_proved && proved <= size);
        Ok(MemoryPlan {
            name: memory.name.clone(),
            size,
            lower_bound: proved.map_or(bound, |proved| proved.max(bound)),
            alignment: memory.alignment,
            capacity: memory.capacity,
            traffic: traffic(number..number + 1),
            traffic_bound: traffic_bound.map_or(offered, |bound| bound.min(offered)),
        })
    };
    Ok(PlacedRegions {
        memories: memories.iter().enumerate().map(plan_of).collect::<Result<_>>()?,
        regions: placed.regions,
    })
}

fn check_pins(items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<()> {
    for item in items {
        let Some(name) = &item.memory else { continue };
        let problem = match memories.iter().find(|memory| memory.name == *name) {
            None => "no memory has this name",
            Some(memory) if !memory.can_hold(item) => "none of its types can hold the tensor",
            Some(_) => continue,
        };
        let problem = format!("it cannot be placed in memory `{name}`: {problem}");
        return Err(Error::tensor(&item.name, problem));
    }
    Ok(())
}

/// Checks each region's memory, alignment, size and capacity, and that no two live regions overlap, independently of how the regions were found.
fn check_regions(items: &[SpaceItem], regions: &[Region], memories: &[MemoryDesc]) -> Result<(), String> {
    if regions.len() != items.len() {
        return Err(format!(
            "it must return one region per tensor, but returned {} regions for {} tensors",
            regions.len(),
            items.len()
        ));
    }
    for (item, region) in items.iter().zip(regions) {
        let name = &item.name;
        let Some(memory) = memories.get(region.memory.0 as usize) else {
            let (number, count) = (region.memory.0, memories.len());
            return Err(format!(
                "tensor `{name}` is in memory {number}, which is out of range: the plan has {count} memories"
            ));
        };
        if !memory.can_hold(item) {
            return Err(format!("tensor `{name}` cannot be in memory `{}`", memory.name));
        }
        for alignment in [item.alignment, memory.alignment] {
            if !region.offset.is_aligned(alignment) {
                return Err(format!(
                    "tensor `{name}` is at offset {} of memory `{}`, but must be at a multiple of {alignment}",
                    region.offset, memory.name
                ));
            }
        }
        if region.size < item.size {
            return Err(format!(
                "tensor `{name}` needs {}, but its region has {}",
                item.size, region.size
            ));
        }
        let end = region.end();
        let capacity = memory.capacity.unwrap_or(Bytes(u64::MAX - 1));
        if end > capacity {
            let memory = &memory.name;
            return Err(format!(
                "tensor `{name}` ends at {end}, but memory `{memory}` has {capacity}"
            ));
        }
    }
    let spans = |index: usize| {
        items[index]
            .lifetimes
            .iter()
            .map(move |&lifetime| (lifetime, index))
    };
    let mut spans: Vec<(Span, usize)> = (0..items.len()).flat_map(spans).collect();
    spans.retain(|&(lifetime, index)| !lifetime.is_empty() && regions[index].size > Bytes::ZERO);
    spans.sort_by_key(|&(lifetime, index)| (lifetime.first, index));
    let mut owners: BTreeMap<MemoryId, ByteOwners<(Span, usize)>> = BTreeMap::new();
    for (lifetime, index) in spans {
        let (region, mut previous) = (&regions[index], Vec::new());
        let owners = owners.entry(region.memory).or_default();
        owners.take(region.offset.0, region.end().0, (lifetime, index), &mut previous);
        let live = previous
            .iter()
            .find(|(.., (before, _))| before.end > lifetime.first);
        if let Some(&(.., (_, other))) = live {
            let (name, other) = (&items[index].name, &items[other].name);
            return Err(format!(
                "tensors `{other}` and `{name}` have overlapping lifetimes and share bytes"
            ));
        }
    }
    Ok(())
}
