//! A cache of subjects that rules have accepted.

/// The rule-relevant properties of accepted subjects. Most subjects of a frame have one of a few sets of properties.
pub(super) struct Accepted<P> {
    /// For each value of a hash's highest byte, an index in `properties`.
    places: [u8; 256],
    /// The accepted properties, at most 255: index 255 means none.
    properties: Vec<P>,
}

impl<P> Default for Accepted<P> {
    fn default() -> Accepted<P> {
        Accepted {
            places: [u8::MAX; 256],
            properties: Vec::with_capacity(32),
        }
    }
}

/// The index in `places` for properties with these `bits`. The highest bits of a product depend on all bits of its factors.
fn place(bits: u64) -> usize {
    (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as usize
}

impl<P: PartialEq> Accepted<P> {
    /// Returns `true` if a subject with the same properties was accepted.
    pub(super) fn contains(&self, bits: u64, own: &P) -> bool {
        let index = usize::from(self.places[place(bits)]);
        self.properties.get(index) == Some(own)
    }

    /// Adds the properties of an accepted subject, in place of those with the same entry in `places`.
    pub(super) fn add(&mut self, bits: u64, own: P) {
        let (index, count) = (&mut self.places[place(bits)], self.properties.len());
        match self.properties.get_mut(usize::from(*index)) {
            Some(known) => *known = own,
            None if count < usize::from(u8::MAX) => {
                *index = count as u8;
                self.properties.push(own);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_changes_the_place() {
        assert!((0..u64::BITS).all(|bit| place(1 << bit) != place(0)));
    }

    #[test]
    fn only_accepted_properties_are_contained() {
        let mut accepted = Accepted::default();
        let mut found = 0;
        for own in 0..1000u64 {
            assert!(!accepted.contains(own, &own));
            accepted.add(own, own);
            found += u32::from(accepted.contains(own, &own));
            // Others with the same place are not taken for it.
            assert!(!accepted.contains(own, &(own + 1)));
        }
        assert!(found > 900 && accepted.properties.len() < 256, "{found}");
    }
}
