//! Exchanges resident textures for a missing one that saves more bytes.
//!
//! ```text
//! every frame: ten of 64 KiB, two of 1.3 MiB; budget 1.5 MiB
//!   the ten small ones were first and stay: 2.7 MiB a frame
//!   one large and one small one instead:    1.9 MiB a frame, 1.02 of the bound
//! ```
//! When the missing texture is requested, the textures that this frame has requested are in use, and these include those of the last frame
//! if it requested them earlier. So the exchange is decided at the end of a frame and takes place at the beginning of the next: the bytes
//! are then reserved for the texture.

/// Maximum number of missing textures of a frame that are considered, in descending order of size.
const MAX_MISSING: usize = 8;

/// Maximum number of textures that are exchanged for one.
const MAX_EXCHANGED: usize = 1024;

/// The missing textures of a frame, and the exchange for the next frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Swap {
    /// Sizes and numbers of textures that the last two frames requested, and that the last one bypassed; in descending order of size.
    pub(super) missing: [(u64, u32); MAX_MISSING],
    pub(super) count: usize,
    /// Sizes and numbers of resident textures: all candidates during the choice, afterwards those that are exchanged.
    pub(super) residents: Vec<(u64, u32)>,
    /// The texture that `residents` are exchanged for, and its size.
    pub(super) incoming: Option<(u32, u64)>,
    /// True once `residents` have been evicted.
    pub(super) is_reserved: bool,
}

impl Swap {
    /// Reserves scratch memory for `textures` textures.
    pub(super) fn reserve(&mut self, textures: usize) {
        let most = textures.saturating_sub(self.residents.len());
        self.residents.reserve(most);
    }

    /// Adds a texture that was not placed to the missing ones if it is among the [`MAX_MISSING`] largest.
    pub(super) fn note_missing(&mut self, key: u32, size: u64) {
        if self.missing[..self.count].iter().any(|&(_, other)| other == key) {
            return;
        }
        let at = self.missing[..self.count].partition_point(|&(other, _)| other >= size);
        if at == MAX_MISSING {
            return;
        }
        self.count = (self.count + 1).min(MAX_MISSING);
        self.missing.copy_within(at..self.count - 1, at + 1);
        self.missing[at] = (size, key);
    }

    /// Bytes that are reserved for a texture other than this one.
    pub(super) fn reserved_from(&self, key: u32) -> u64 {
        match self.incoming {
            Some((incoming, size)) if self.is_reserved && incoming != key => size,
            _ => 0,
        }
    }

    /// Cancels the exchange.
    pub(super) fn cancel(&mut self) {
        self.incoming = None;
    }

    /// Forgets a texture that is released: no others are exchanged for it, and no bytes are reserved for it.
    pub(super) fn forget(&mut self, key: u32) {
        self.incoming = self.incoming.filter(|&(incoming, _)| incoming != key);
        if let Some(at) = self.missing[..self.count]
            .iter()
            .position(|&(_, other)| other == key)
        {
            self.missing.copy_within(at + 1..self.count, at);
            self.count -= 1;
        }
    }

    /// Ends the reservation if it is for this texture, which is now requested.
    pub(super) fn requested(&mut self, key: u32) {
        if self.is_reserved && self.incoming.is_some_and(|(incoming, _)| incoming == key) {
            self.incoming = None;
        }
    }
}

/// Reduces `residents` to a set whose total size is at least `short` bytes, and little more; returns the total. `None` if no set of at most
/// [`MAX_EXCHANGED`] is found.
pub(super) fn cheapest_cover(residents: &mut Vec<(u64, u32)>, short: u64) -> Option<u64> {
    residents.sort_unstable_by(|a, b| b.cmp(a));
    // The smallest that is large enough by itself.
    let single = residents
        .partition_point(|&(size, _)| size >= short)
        .checked_sub(1);
    let single = single.map(|at| residents[at]);
    // The largest ones that fit into the missing bytes, and then the smallest one that covers the rest.
    let (mut left, mut kept) = (short, 0);
    for at in 0..residents.len() {
        let one = residents[at];
        // One place is left for the one that covers the rest.
        if one.0 <= left && kept + 1 < MAX_EXCHANGED {
            residents.swap(kept, at);
            kept += 1;
            left -= one.0;
        }
    }
    if left > 0 {
        let rest = &residents[kept..];
        let place = (0..rest.len())
            .filter(|&at| rest[at].0 >= left)
            .min_by_key(|&at| rest[at])?;
        left = 0;
        residents.swap(kept, kept + place);
        kept += 1;
    }
    debug_assert!(left == 0, "the kept residents cover the missing bytes");
    residents.truncate(kept);
    // The last one may make others unnecessary.
    let mut over = residents.iter().map(|&(size, _)| size).sum::<u64>() - short;
    residents.retain(|&(size, _)| {
        let is_unnecessary = size <= over;
        over -= if is_unnecessary { size } else { 0 };
        !is_unnecessary
    });
    let cost: u64 = residents.iter().map(|&(size, _)| size).sum();
    match single.filter(|&(size, _)| size <= cost) {
        Some(single) => {
            residents.clear();
            residents.push(single);
            Some(single.0)
        }
        None => Some(cost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_have_few_bytes_too_many() {
        let cover = |sizes: &[u64], short: u64| {
            let mut residents: Vec<_> = sizes.iter().copied().zip(0..).collect();
            let cost = cheapest_cover(&mut residents, short);
            let total = residents.iter().map(|&(size, _)| size).sum::<u64>();
            assert_eq!(cost, cost.map(|_| total));
            cost
        };
        assert_eq!(cover(&[4; 10], 33), Some(36));
        assert_eq!(cover(&[50, 4, 4, 4], 11), Some(12));
        assert_eq!(cover(&[50, 4, 4, 4], 13), Some(50));
        assert_eq!(cover(&[9, 5, 3], 8), Some(8));
        assert_eq!(cover(&[9, 7, 3], 9), Some(9));
        assert_eq!(cover(&[5, 3], 9), None);
        assert_eq!(cover(&[], 1), None);
    }

    #[test]
    fn the_largest_missing_textures_are_noted() {
        let mut swap = Swap::default();
        for key in 0..20 {
            swap.note_missing(key, u64::from(key * 7 % 20));
            swap.note_missing(key, u64::from(key * 7 % 20));
        }
        let sizes = swap.missing.map(|(size, _)| size);
        assert_eq!(sizes, [19, 18, 17, 16, 15, 14, 13, 12]);
        let released = swap.missing[2].1;
        swap.forget(released);
        swap.forget(released);
        let sizes: Vec<u64> = swap.missing[..swap.count].iter().map(|&(size, _)| size).collect();
        assert_eq!(sizes, [19, 18, 16, 15, 14, 13, 12]);
    }
}
