//! Pools of whole objects: each object holds one item at a time, and objects are placed at consecutive offsets.

use super::by_memory::{TakenItems, by_memory};
use super::item::SpaceItem;
use super::memory::MemoryDesc;
use super::strategy::PlacedItems;
use crate::error::{Error, Result};
use crate::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Problem, Strategy};

/// The object of each item, and the size of each object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPool {
    /// For each item, an index into `sizes`.
    pub objects: Vec<usize>,
    /// Bytes of each object; an object is never smaller than its largest item.
    pub sizes: Vec<Bytes>,
}

/// Places items in whole objects, for strategies that share objects as tensor runtimes do.
///
/// `assign` returns the pool for the items of one memory. A memory with a capacity holds a pool of the items that must be in it; the
/// others go to the last memory that can hold them.
///
/// # Errors
/// If `assign` fails, or an item fits in no memory.
pub fn place_objects(
    items: &[SpaceItem],
    memories: &[MemoryDesc],
    assign: impl Fn(&[&SpaceItem]) -> Result<ObjectPool>,
) -> Result<PlacedItems> {
    by_memory(items, memories, |offer| {
        let which = match offer.spill_capacity() {
            Some(_) => &offer.required,
            None => &offer.offered,
        };
        let chosen: Vec<&SpaceItem> = which.iter().map(|&item| &items[item as usize]).collect();
        let pool = assign(&chosen)?;
        let (starts, height) = stack(&chosen, &pool, offer.memory)?;
        let objects = which.iter().zip(&pool.objects);
        let offsets = objects.map(|(&item, &object)| (item, starts[object])).collect();
        let taken = TakenItems {
            offsets,
            height,
            traffic_bound: None,
            lower_bound: None,
        };
        offer.check_capacity(which, taken)
    })
}

/// Places objects at consecutive offsets, each aligned for all of its items.
fn stack(items: &[&SpaceItem], pool: &ObjectPool, memory: &MemoryDesc) -> Result<(Vec<Bytes>, Bytes)> {
    let mut objects: Vec<(Bytes, Alignment)> =
        pool.sizes.iter().map(|&size| (size, memory.alignment)).collect();
    for (item, &object) in items.iter().zip(&pool.objects) {
        let (size, alignment) = &mut objects[object];
        *size = (*size).max(item.size);
        *alignment = alignment.lcm(item.alignment).unwrap_or(*alignment);
    }
    let always = Span::new(0, 1);
    let objects = objects
        .into_iter()
        .map(|(size, alignment)| Item::new(always, size, alignment));
    let problem = Problem::new(objects.collect()).map_err(|error| Error::tensor(&memory.name, error))?;
    let packing = tileheap_pack::pack(&problem, Strategy::Naive);
    Ok((packing.offsets, packing.height))
}
