//! Whether learnt values or recency tell better which absent texture returns first.

/// Duels between textures: of two that might have been evicted, the one of less value and the one that was used longer ago. The one
/// that is requested first should have stayed.
#[derive(Clone, Debug)]
pub(super) struct Duels {
    /// Of less value, and used longer ago.
    pairs: [[u32; 2]; PAIRS],
    next: usize,
    /// Duels that values have won less those that recency has won, within limits.
    lead: i32,
}

const PAIRS: usize = 64;
const MOST: i32 = 32;

impl Default for Duels {
    fn default() -> Duels {
        Duels { pairs: [[u32::MAX; 2]; PAIRS], next: 0, lead: 0 }
    }
}

impl Duels {
    /// Whether values told better so far.
    pub(super) fn by_value(&self) -> bool {
        self.lead > 0
    }

    /// Begins a duel; its number.
    pub(super) fn begin(&mut self, by_value: u32, by_recency: u32) -> u32 {
        self.next = (self.next + 1) % PAIRS;
        self.pairs[self.next] = [by_value, by_recency];
        self.next as u32
    }

    /// Ends a texture's last duel, if that is not over.
    pub(super) fn end(&mut self, duel: u32, requested: u32) {
        let pair = &mut self.pairs[duel as usize];
        let won = match pair.iter().position(|&key| key == requested) {
            None => return,
            Some(0) => -1,
            Some(_) => 1,
        };
        *pair = [u32::MAX; 2];
        self.lead = (self.lead + won).clamp(-MOST, MOST);
    }
}
