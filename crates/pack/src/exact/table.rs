//! States that are known to hold no packing.

/// A table of parts, keyed by 128 bits of their state; a later entry replaces an earlier one.
///
/// Two states would have to agree in all 128 bits to be confused. The bits are a sum of fixed random words, multiplied by the floor for a column; two
/// sums agree by chance once in about 2^120. The bits are a fixed function of the state, so a run is the same on every machine.
///
/// Cleared entries stay in place with a generation that no later entry has, so a small search after a large one does not have to wipe its table. The
/// position of an entry does not depend on its generation, and therefore answers do not either.
#[derive(Debug, Default)]
pub(crate) struct Table {
    slots: Vec<u128>,
    /// Mask of the slots in use.
    mask: usize,
    /// Number of times that the table was cleared, times [`Table::GENERATION_STEP`].
    generation: u128,
}

impl Table {
    /// The initial value of the hash from which keys are built.
    pub(crate) const START: u128 = 0x6a09_e667_f3bc_c908_bb67_ae85_84ca_a73b;

    /// Difference between two successive generations.
    const GENERATION_STEP: u128 = 0xbb67_ae85_84ca_a73b_3c6e_f372_fe94_f82b;

    /// Clears the table; `bits` is the logarithm of the number of slots.
    pub(crate) fn clear(&mut self, bits: u32) {
        let count = 1 << bits;
        if self.slots.len() < count {
            self.slots.resize(count, 0);
        }
        self.mask = count - 1;
        self.generation = self.generation.wrapping_add(Table::GENERATION_STEP);
    }

    pub(crate) fn contains(&self, key: u128) -> bool {
        self.slots[self.slot(key)] == key ^ self.generation
    }

    pub(crate) fn insert(&mut self, key: u128) {
        let slot = self.slot(key);
        self.slots[slot] = key ^ self.generation;
    }

    fn slot(&self, key: u128) -> usize {
        (key >> 64) as usize & self.mask
    }

    /// Returns 128 well-mixed bits that represent a fact, as an odd number.
    pub(crate) fn word(fact: u64) -> u128 {
        let seed = mix(fact);
        u128::from(seed) << 64 | u128::from(mix(seed ^ 0xa5a5_5a5a_c3c3_3c3c)) | 1
    }
}

/// Applies one round of SplitMix64.
pub(crate) const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
