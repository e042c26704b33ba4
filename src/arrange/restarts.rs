//! Restarts of the search: several random moves away from the best arrangement, followed by hill climbing.
//!
//! Single moves get stuck: two runs of strips that would be better as one, in another order, are several worse arrangements away from it.

use tileheap_units::SplitMix64;

use super::moves::Search;
use super::search::{Best, Moves};
use super::types::Arrangement;

/// The search ends after this many restarts in a row that find nothing better.
const MAX_FAILED_RESTARTS: u32 = 24;

/// Upper bound on the random moves of a restart, exclusive; the minimum is 2.
const MAX_MOVES: u64 = 6;

impl Search<'_> {
    /// Restarts near the best arrangement until that no longer helps. Deterministic.
    pub(super) fn restart(&mut self, best: &mut Best<'_>) {
        let mut random = SplitMix64::new(38);
        let mut vain = 0;
        while vain < MAX_FAILED_RESTARTS && !best.is_final(self) {
            let before = best.traffic.off_chip();
            let moves = 2 + random.below(MAX_MOVES - 2);
            if let Some(start) = self.moved(best.arrangement.clone(), moves, &mut random) {
                self.climb(start, Moves::Small, best);
            }
            vain = match best.traffic.off_chip() < before {
                true => 0,
                false => vain + 1,
            };
        }
    }

    /// Applies several random moves to an arrangement; `None` if no move is possible.
    fn moved(
        &mut self,
        arrangement: Arrangement,
        moves: u64,
        random: &mut SplitMix64,
    ) -> Option<Arrangement> {
        let mut here = arrangement;
        for _ in 0..moves {
            let mut all = self.small_moves(&here);
            here = loop {
                if all.is_empty() {
                    return None;
                }
                let chosen = random.below(all.len() as u64) as usize;
                let one = all.swap_remove(chosen);
                let changed = one.applied(&here);
                if self.fits(&changed) && self.evaluate(&changed).is_some() {
                    break changed;
                }
            };
        }
        Some(here)
    }
}
