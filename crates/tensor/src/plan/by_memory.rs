//! Iterates over memories, for strategies: each memory is offered the unplaced items that it can hold, and those that it does not take are
//! offered to later ones.

use super::item::SpaceItem;
use super::memory::MemoryDesc;
use super::problem::problem;
use super::strategy::PlacedItems;
use super::types::{MemoryId, Region};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// The items offered to one memory.
pub(super) struct OfferedItems<'a> {
    pub(super) items: &'a [SpaceItem],
    pub(super) memory: &'a MemoryDesc,
    /// Every unplaced item that the memory can hold, in ascending order.
    pub(super) offered: Vec<u32>,
    /// The offered items that are pinned to the memory, or that no later memory can hold, in ascending order.
    pub(super) required: Vec<u32>,
}

/// The items that one memory takes, with their offsets, and the bytes reserved.
pub(super) struct TakenItems {
    pub(super) offsets: Vec<(u32, Bytes)>,
    pub(super) height: Bytes,
    /// An upper bound on the traffic of any selection; `None` if nothing had to be selected.
    pub(super) traffic_bound: Option<Bytes>,
    /// A lower bound on the height of every packing of these items; `None` if none was proved.
    pub(super) lower_bound: Option<Bytes>,
}

impl OfferedItems<'_> {
    /// The capacity, if the memory has one and may leave some of the offered items to a later memory.
    pub(super) fn spill_capacity(&self) -> Option<Bytes> {
        let may_spill = self.required.len() < self.offered.len();
        self.memory.capacity.filter(|_| may_spill)
    }

    pub(super) fn is_required(&self, item: u32) -> bool {
        self.required.binary_search(&item).is_ok()
    }

    /// Returns an error if items end above the capacity, naming the largest of them.
    pub(super) fn check_capacity(&self, which: &[u32], taken: TakenItems) -> Result<TakenItems> {
        let Some(capacity) = self.memory.capacity.filter(|&capacity| taken.height > capacity) else {
            return Ok(taken);
        };
        let bound = tileheap_pack::lower_bound(&problem(self.items, which, self.memory)?);
        let size = |item: u32| self.items[item as usize].size;
        let offsets = taken.offsets.iter();
        let outside = offsets.filter(|&&(item, offset)| offset + size(item) > capacity);
        let largest = outside.max_by_key(|&&(item, _)| size(item));
        let item = largest.map_or(which[0], |&(item, _)| item);
        Err(self.too_small(item, capacity, (bound > capacity).then_some(bound)))
    }

    pub(super) fn too_small(&self, item: u32, capacity: Bytes, needed: Option<Bytes>) -> Error {
        let item = &self.items[item as usize];
        Error::MemoryTooSmall {
            tensor: item.name.clone(),
            size: item.size,
            memory: self.memory.name.clone(),
            capacity,
            needed,
        }
    }
}

/// Offers each memory, in order, the unplaced items that it can hold, and places those that `take` returns; returns an error if any item remains
/// unplaced.
pub(super) fn by_memory(
    items: &[SpaceItem],
    memories: &[MemoryDesc],
    mut take: impl FnMut(&OfferedItems<'_>) -> Result<TakenItems>,
) -> Result<PlacedItems> {
    let mut placed: Vec<Option<Region>> = vec![None; items.len()];
    let (mut reserved, mut traffic_bounds, mut lower_bounds) = (Vec::new(), Vec::new(), Vec::new());
    for (number, memory) in memories.iter().enumerate() {
        let later = &memories[number + 1..];
        let offered: Vec<u32> = (0..items.len() as u32)
            .filter(|&item| placed[item as usize].is_none() && memory.can_hold(&items[item as usize]))
            .collect();
        let required = offered.iter().copied().filter(|&item| {
            let item = &items[item as usize];
            item.memory.is_some() || !later.iter().any(|memory| memory.can_hold(item))
        });
        let taken = take(&OfferedItems {
            items,
            memory,
            required: required.collect(),
            offered,
        })?;
        for (item, offset) in taken.offsets {
            placed[item as usize] = Some(Region {
                memory: MemoryId(number as u32),
                offset,
                size: items[item as usize].size,
            });
        }
        reserved.push(taken.height);
        traffic_bounds.push(taken.traffic_bound);
        lower_bounds.push(taken.lower_bound);
    }
    if let Some(missing) = placed.iter().position(Option::is_none) {
        let problem = "it cannot be placed: no memory has a type that can hold it";
        return Err(Error::tensor(&items[missing].name, problem));
    }
    let regions = placed.into_iter().flatten().collect();
    Ok(PlacedItems {
        regions,
        reserved,
        traffic_bounds,
        lower_bounds,
    })
}
