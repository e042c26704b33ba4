//! Greedy sharing of objects, used by several rules.

use tileheap_tensor::plan::placement::SpaceItem;

/// Returns the indices of items in the order of lifetime starts; items that start at the same step keep their order.
pub(super) fn by_start(items: &[&SpaceItem]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| items[index].span().first);
    order
}

/// Assigns items, in the given order, to the cheapest free object (the first one on a tie), growing the object if needed, or to a new object. Returns
/// the object of each item, and the size of each object.
///
/// An object is free if none of its items overlaps the item in time. `cost` gets the sizes of the item and of the object, and returns `None` if the
/// object must not be used.
pub(super) fn share<C: Ord>(
    sizes_of: &[u64],
    order: impl Iterator<Item = usize>,
    overlap: impl Fn(usize, usize) -> bool,
    cost: impl Fn(u64, u64) -> Option<C>,
) -> (Vec<usize>, Vec<u64>) {
    let mut objects = vec![usize::MAX; sizes_of.len()];
    let mut inside: Vec<Vec<usize>> = Vec::new();
    let mut sizes: Vec<u64> = Vec::new();
    for index in order {
        let size = sizes_of[index];
        let is_free = |object: &usize| !inside[*object].iter().any(|&other| overlap(other, index));
        let free = (0..sizes.len()).filter(is_free);
        let costs = free.filter_map(|object| Some((cost(size, sizes[object])?, object)));
        let object = costs.min().map_or(sizes.len(), |(_, object)| object);
        if object == sizes.len() {
            sizes.push(0);
            inside.push(Vec::new());
        }
        sizes[object] = sizes[object].max(size);
        inside[object].push(index);
        objects[index] = object;
    }
    (objects, sizes)
}
