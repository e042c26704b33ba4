//! ExecuTorch's rules for assigning tensors to shared objects.

use std::cmp::Reverse;

use tileheap_tensor::plan::placement::{ObjectPool, SpaceItem};
use tileheap_tensor::units::Bytes;

use super::share::{by_start, share};

/// The documented rule: in the order of lifetime starts, each item takes the free object closest in size, or a new one of its own size if no object
/// is free.
///
/// A tensor larger than the closest object enlarges it.
///
/// Source: ExecuTorch's [document](crate#sources), "Algorithms". The text's "whose lifetime overlaps" is read as "does not overlap".
pub(super) fn document(items: &[&SpaceItem]) -> ObjectPool {
    shared(items, by_start(items), |size, object| Some(object.abs_diff(size)))
}

/// The implemented rule without overlapping allocations: in descending order of size (the later item first on a tie), each item takes the first free
/// object, or a new one if no object is free.
///
/// Source: `exir/memory_planning.py` at cff6f4d, `allow_overlapping_allocations=False`.
pub(super) fn objects(items: &[&SpaceItem]) -> ObjectPool {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| Reverse((items[index].size, index)));
    shared(items, order, |size, object| (object >= size).then_some(0))
}

fn shared(items: &[&SpaceItem], order: Vec<usize>, cost: impl Fn(u64, u64) -> Option<u64>) -> ObjectPool {
    let sizes: Vec<u64> = items.iter().map(|item| item.size.0).collect();
    let overlap = |a: usize, b: usize| items[a].overlaps(items[b]);
    let (objects, sizes) = share(&sizes, order.into_iter(), overlap, cost);
    let sizes = sizes.into_iter().map(Bytes).collect();
    ObjectPool { objects, sizes }
}
