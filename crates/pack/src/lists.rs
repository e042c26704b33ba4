//! Functions that refill lists and reuse their memory.

/// Replaces the contents of a list.
pub(super) fn refill<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) {
    list.clear();
    list.extend(items);
}

/// Replaces the contents of a list with `count` copies of an item.
pub(super) fn reset<T: Clone>(list: &mut Vec<T>, count: usize, item: T) {
    list.clear();
    list.resize(count, item);
}
