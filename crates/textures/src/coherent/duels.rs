//! Compares learned values with recency as predictors of which absent texture returns first.

use crate::list::NONE;

/// Pairs of absent textures that were candidates for eviction: the one with the lower value and the one that was used longer ago.
/// The one that is requested first should have been kept.
///
/// Textures passed back and forth return after many different times, so no age has a higher value; yet of two, the one that left last
/// returns first (scenario `turn-around` with a budget of 1.50 working sets: 1.01 times the lower bound by recency, 1.12 times by value).
#[derive(Clone, Debug)]
pub(super) struct Duels {
    /// Per pair, the texture with the lower value, then the one used longer ago.
    pairs: [[u32; 2]; PAIRS],
    /// The newest pair.
    last: usize,
    /// The number of pairs that values predicted correctly minus the number that recency predicted correctly, clamped to ±[`MAX_LEAD`].
    lead: i32,
}

const PAIRS: usize = 64;
const MAX_LEAD: i32 = 32;

impl Default for Duels {
    fn default() -> Duels {
        let (pairs, last, lead) = ([[NONE; 2]; PAIRS], 0, 0);
        Duels { pairs, last, lead }
    }
}

impl Duels {
    /// Returns true if values were right more often; without evidence, recency is preferred.
    pub(super) fn by_value(&self) -> bool {
        self.lead > 0
    }

    /// Adds a pair; returns its number.
    pub(super) fn begin(&mut self, of_less_value: u32, longer_ago: u32) -> u32 {
        self.last = (self.last + 1) % PAIRS;
        self.pairs[self.last] = [of_less_value, longer_ago];
        self.last as u32
    }

    /// Decides pair `pair` when texture `requested` is requested, unless the pair was decided or overwritten.
    pub(super) fn end(&mut self, pair: u32, requested: u32) {
        let pair = &mut self.pairs[pair as usize];
        let won = match pair.iter().position(|&key| key == requested) {
            None => return,
            Some(0) => -1,
            Some(_) => 1,
        };
        *pair = [NONE; 2];
        self.lead = (self.lead + won).clamp(-MAX_LEAD, MAX_LEAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texture_that_returns_first_should_have_stayed() {
        let mut duels = Duels::default();
        let pair = duels.begin(7, 8);
        duels.end(pair, 9);
        assert!(!duels.by_value());
        // The texture that left longer ago returns first: values were right. Its rival's return decides nothing any more.
        duels.end(pair, 8);
        assert!(duels.by_value());
        duels.end(pair, 7);
        assert!(duels.by_value());
        let pair = duels.begin(7, 8);
        duels.end(pair, 7);
        assert!(!duels.by_value());
    }
}
