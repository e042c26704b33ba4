//! The order in which lifetimes start.

use tileheap_tensor::plan::placement::SpaceItem;

/// Indices in the order in which lifetimes start, equals as they are given.
pub(super) fn by_start(items: &[&SpaceItem]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| items[index].span().first);
    order
}
