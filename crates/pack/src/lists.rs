//! Lists whose memory is used again.

/// Replaces the contents of a list.
pub(super) fn refill<T>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) {
    list.clear();
    list.extend(items);
}

/// Replaces the contents of a list by so many equal items.
pub(super) fn reset<T: Clone>(list: &mut Vec<T>, count: usize, item: T) {
    list.clear();
    list.resize(count, item);
}
