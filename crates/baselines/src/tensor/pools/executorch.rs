//! ExecuTorch's shared objects.

use std::cmp::Reverse;

use tileheap_tensor::plan::placement::{ObjectPool, SpaceItem};
use tileheap_tensor::units::Bytes;

use super::order::by_start;

/// As its document says it: in the order in which lifetimes start, the free object that is closest in size, else a new one of the size.
///
/// A tensor larger than the closest object makes that larger.
///
/// Source: ExecuTorch's [document](crate#sources), "Algorithms". The text's "whose lifetime overlaps" is read as does not overlap.
pub(super) fn document(items: &[&SpaceItem]) -> ObjectPool {
    let order = by_start(items);
    share(items, &order, |size, object| Some(object.0.abs_diff(size.0)))
}

/// As its code does without overlapping allocations: largest first and of equals the latest, the first object that is free.
///
/// Source: `exir/memory_planning.py` at cff6f4d, `allow_overlapping_allocations=False`.
pub(super) fn objects(items: &[&SpaceItem]) -> ObjectPool {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| Reverse((items[index].size, index)));
    share(items, &order, |size, object| (object >= size).then_some(0))
}

/// Each item to the free object of least cost, of equals the first; an object is free where nothing in it overlaps the item in time.
fn share(items: &[&SpaceItem], order: &[usize], cost: impl Fn(Bytes, Bytes) -> Option<u64>) -> ObjectPool {
    let mut sizes: Vec<Bytes> = Vec::new();
    let mut inside: Vec<Vec<usize>> = Vec::new();
    let mut objects = vec![usize::MAX; items.len()];
    for &index in order {
        let item = items[index];
        let free = (0..sizes.len())
            .filter(|&object| inside[object].iter().all(|&other| !items[other].overlaps(item)));
        let costs = free.filter_map(|object| Some((cost(item.size, sizes[object])?, object)));
        let object = costs.min().map(|(_, object)| object).unwrap_or_else(|| {
            sizes.push(item.size);
            inside.push(Vec::new());
            sizes.len() - 1
        });
        sizes[object] = sizes[object].max(item.size);
        inside[object].push(index);
        objects[index] = object;
    }
    ObjectPool { objects, sizes }
}
