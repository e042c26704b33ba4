//! A hash for maps whose keys come from the program itself: a few instructions per word, without the default's protection against chosen keys.

use std::hash::{BuildHasherDefault, Hasher};

/// The hasher for maps whose keys come from the program itself.
pub(crate) type QuickHash = BuildHasherDefault<QuickHasher>;

/// Multiplies word by word and folds the 128-bit products, so that all bits depend on all of the input.
#[derive(Clone, Copy)]
pub(crate) struct QuickHasher(u64);

impl Default for QuickHasher {
    /// The initial state: digits of pi, so that no likely word makes it zero.
    fn default() -> QuickHasher {
        QuickHasher(0x243F_6A88_85A3_08D3)
    }
}

/// 2^64 over the golden ratio: odd, with bits that are spread evenly.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl QuickHasher {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(5) ^ word) * u128::from(MULTIPLIER);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.split_at(bytes.len() / 8 * 8);
        for word in words.chunks_exact(8) {
            self.add(u64::from_le_bytes(word.try_into().expect("8 bytes")));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.add(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.add(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn names_that_differ_little_have_different_hashes() {
        let names: Vec<String> = (0..5000)
            .flat_map(|index| {
                [
                    format!("image {index}"),
                    format!("{index}"),
                    "x".repeat(index % 300),
                ]
            })
            .collect();
        let distinct: HashSet<&String> = names.iter().collect();
        let hashes: HashSet<u64> = names
            .iter()
            .map(|name| QuickHash::default().hash_one(name))
            .collect();
        assert_eq!(hashes.len(), distinct.len());
        // A map of 2^14 buckets uses most of them.
        let buckets: HashSet<u64> = hashes.iter().map(|hash| hash % (1 << 14)).collect();
        assert!(buckets.len() * 2 > hashes.len(), "{}", buckets.len());
    }
}
