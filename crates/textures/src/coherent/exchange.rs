//! Decides on an exchange at the end of a frame, and makes room for it at the beginning of the next.

use super::state::Coherent;
use super::swap::cheapest_cover;
use crate::journal::{EvictionReason, Journal};
use crate::list::NONE;

impl Coherent {
    /// Chooses the exchange for the next frame: the largest missing texture for which evicting textures of this frame costs less than it saves, by
    /// [`accepted_cost`](super::CoherentDesc::accepted_cost), and the textures to evict, with few bytes in excess.
    pub(super) fn choose_swap(&mut self) {
        let mut swap = std::mem::take(&mut self.swap);
        (swap.incoming, swap.is_reserved) = (None, false);
        for &(size, key) in &swap.missing[..swap.count] {
            let short = size.saturating_sub(self.heap.free_bytes());
            if short == 0 || self.states[key as usize].node != NONE {
                continue;
            }
            swap.residents.clear();
            let mut resident = self.first_now;
            while resident != NONE && swap.residents.len() < swap.residents.capacity() {
                swap.residents
                    .push((self.heap.at(self.states[resident as usize].node).size, resident));
                resident = self.links.next(resident);
            }
            let cost = cheapest_cover(&mut swap.residents, short);
            // Fewer bytes than it saves: textures of the same size would be exchanged in every frame.
            let accepted = self.desc.accepted_cost.min(1023);
            let is_worth = |cost: u64| u128::from(cost) * 1024 <= u128::from(size) * u128::from(accepted);
            if cost.is_some_and(is_worth) {
                swap.incoming = Some((key, size));
                break;
            }
        }
        swap.count = 0;
        self.swap = swap;
    }

    /// At the first request of a frame, evicts the textures that the end of the last frame chose for exchange.
    pub(super) fn begin_swap(&mut self, journal: &mut Journal) {
        if self.swap.incoming.is_none() || self.swap.is_reserved {
            return;
        }
        self.swap.is_reserved = true;
        for index in 0..self.swap.residents.len() {
            let (_, key) = self.swap.residents[index];
            if self.states[key as usize].node != NONE {
                self.evict(key, EvictionReason::Replaced, journal);
            }
        }
    }
}
