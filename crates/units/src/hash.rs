//! A fast hash for small keys that the program itself creates: handles, counters, and pairs of them.
//!
//! The standard library's hash resists keys that are chosen to collide, and takes about 60 instructions for one number; this one takes four.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// 2^64 divided by the golden ratio, rounded to an odd number: its products with neighboring integers are far apart, and no two are equal.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes the bits of a value: a change of any bit affects both halves of the result.
#[inline]
pub const fn spread(value: u64) -> u64 {
    let product = value.wrapping_mul(GOLDEN);
    product ^ (product >> 32)
}

/// A hasher of small keys: handles, counters, and pairs of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = spread(self.0 ^ value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// A map with keys hashed by [`IdHasher`].
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// A set with keys hashed by [`IdHasher`].
pub type IdSet<K> = HashSet<K, BuildHasherDefault<IdHasher>>;

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits that a hash table uses: the lowest select the group, and the highest seven are compared.
    #[test]
    fn handles_and_counters_differ_in_the_bits_that_select_their_place() {
        let mut places = IdSet::default();
        for number in 0..1024u64 {
            for (step, kind) in [(1, 0), (16, 0), (4096, 0), (1, 1)] {
                let mut hasher = IdHasher::default();
                hasher.write_u32(kind);
                hasher.write_u64(number * step);
                places.insert((step, kind, hasher.finish() & 1023));
            }
        }
        // Of 1,024 random hashes, 647 would be different.
        assert!(places.len() > 4 * 500, "{}", places.len());
    }
}
