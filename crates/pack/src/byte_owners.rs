//! The last owner of every byte.

/// Disjoint ranges of bytes in ascending order, each with its owner.
#[derive(Clone, Debug)]
pub struct ByteOwners<T>(Vec<(u64, u64, T)>);

impl<T> Default for ByteOwners<T> {
    fn default() -> ByteOwners<T> {
        ByteOwners(Vec::new())
    }
}

impl<T: Copy> ByteOwners<T> {
    /// Iterates over every range `[first, end)` with its owner, in ascending order.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64, T)> {
        self.0.iter().copied()
    }

    /// Makes `owner` the owner of `[first, end)`; appends the parts that already had an owner, with that owner, to `lost`.
    pub fn take(&mut self, first: u64, end: u64, owner: T, lost: &mut Vec<(u64, u64, T)>) {
        let from = self.0.partition_point(|&(_, before, _)| before <= first);
        let until = from + self.0[from..].partition_point(|&(after, _, _)| after < end);
        let mut kept = Vec::with_capacity(3);
        for &(start, stop, other) in &self.0[from..until] {
            lost.push((start.max(first), stop.min(end), other));
            if start < first {
                kept.push((start, first, other));
            }
            if stop > end {
                kept.push((end, stop, other));
            }
        }
        let at = kept.partition_point(|&(start, _, _)| start < first);
        kept.insert(at, (first, end, owner));
        self.0.splice(from..until, kept);
    }
}
