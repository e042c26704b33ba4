//! Makes room without relocation: evicts neighbouring blocks that cost less than the new texture.

use super::state::Coherent;
use crate::journal::{EvictionReason, Journal};
use crate::list::NONE;

/// A run of neighbouring blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) cost: u64,
}

impl Coherent {
    /// A window of at least `size` bytes that costs at most `most`.
    ///
    /// First of stale textures only, as old as possible; then of any, the cheapest that a bounded search finds.
    pub(super) fn window(&mut self, size: u64, most: u64) -> Option<Window> {
        let mut seed = self.recency.first;
        let states = &self.states;
        let is_stale = |key: u32| key != NONE && self.is_stale(key);
        for _ in 0..self.desc.window_seeds {
            if !is_stale(seed) {
                break;
            }
            let oldest = states[seed as usize].requested;
            let found = self.around(states[seed as usize].node, size, most, |node| {
                let owner = self.heap.at(node).owner;
                let stale =
                    owner == NONE || states[owner as usize].requested <= oldest && self.is_stale(owner);
                stale.then(|| self.cost(node, 0)).flatten()
            });
            if found.is_some() {
                return found;
            }
            seed = self.links.next(seed);
        }
        let likely = self.likely();
        let cost = |node: u32| self.cost(node, likely);
        let mut best: Option<Window> = None;
        let mut seed = self.recency.first;
        for _ in 0..self.desc.window_seeds / 4 {
            if !is_stale(seed) {
                break;
            }
            best = cheaper(best, self.around(states[seed as usize].node, size, most, cost));
            seed = self.links.next(seed);
        }
        // Textures that this frame will request last.
        let mut seed = match self.first_now {
            NONE => self.recency.last,
            first => self.links.previous(first),
        };
        for _ in 0..self.desc.window_seeds / 4 {
            if seed == NONE {
                break;
            }
            best = cheaper(best, self.around(states[seed as usize].node, size, most, cost));
            seed = self.links.previous(seed);
        }
        cheaper(best, self.along(size, likely, most))
    }

    /// Grows a window around a node, toward the cheaper neighbour.
    pub(super) fn around(
        &self,
        node: u32,
        size: u64,
        most: u64,
        cost: impl Fn(u32) -> Option<u64>,
    ) -> Option<Window> {
        let mut window = Window {
            first: node,
            last: node,
            cost: cost(node)?,
        };
        let mut total = self.heap.at(node).size;
        while total < size {
            if window.cost > most {
                return None;
            }
            let look = |node: u32| {
                let cost = (node != NONE).then(|| cost(node)).flatten()?;
                Some((cost / (self.heap.at(node).size / self.limits.unit), cost))
            };
            let (left, right) = (self.heap.left(window.first), self.heap.right(window.last));
            let (added, cost) = match (look(left), look(right)) {
                (Some(l), Some(r)) if l.0 <= r.0 => (left, l.1),
                (Some(l), None) => (left, l.1),
                (_, Some(r)) => (right, r.1),
                (None, None) => return None,
            };
            if added == left {
                window.first = left;
            } else {
                window.last = right;
            }
            total += self.heap.at(added).size;
            window.cost += cost;
        }
        // The first blocks may not be needed any more.
        for _ in 0..2 {
            while window.first != window.last && total - self.heap.at(window.first).size >= size {
                total -= self.heap.at(window.first).size;
                window.cost -= cost(window.first)?;
                window.first = self.heap.right(window.first);
            }
            while window.first != window.last && total - self.heap.at(window.last).size >= size {
                total -= self.heap.at(window.last).size;
                window.cost -= cost(window.last)?;
                window.last = self.heap.left(window.last);
            }
        }
        (window.cost <= most).then_some(window)
    }

    /// The cheapest window among the next blocks by address, from where the last search ended.
    pub(super) fn along(&mut self, size: u64, likely: u64, most: u64) -> Option<Window> {
        let mut best = None;
        let mut node = self.heap.cursor();
        let (mut first, mut total, mut cost) = (NONE, 0, 0);
        for _ in 0..self.desc.search_blocks {
            if node == NONE {
                (node, first, total, cost) = (self.heap.first(), NONE, 0, 0);
            }
            match self.cost(node, likely) {
                None => (first, total, cost) = (NONE, 0, 0),
                Some(own) => {
                    if first == NONE {
                        first = node;
                    }
                    total += self.heap.at(node).size;
                    cost += own;
                    while total - self.heap.at(first).size >= size {
                        total -= self.heap.at(first).size;
                        let own = self.cost(first, likely);
                        cost -= own.expect("a window contains evictable blocks only");
                        first = self.heap.right(first);
                    }
                    if total >= size && cost <= most {
                        let last = node;
                        best = cheaper(best, Some(Window { first, last, cost }));
                    }
                }
            }
            node = self.heap.right(node);
        }
        self.heap.set_cursor(node);
        best
    }

    /// Evicts a window and returns the node that then covers it.
    pub(super) fn clear(&mut self, window: Window, journal: &mut Journal) -> u32 {
        let end = self.heap.at(window.last).offset;
        let mut node = window.first;
        loop {
            if self.heap.at(node).owner != NONE {
                node = self.evict(self.heap.at(node).owner, EvictionReason::Replaced, journal);
            }
            let here = self.heap.at(node);
            if here.offset + here.size > end {
                return node;
            }
            node = self.heap.right(node);
        }
    }
}

fn cheaper(best: Option<Window>, found: Option<Window>) -> Option<Window> {
    match (best, found) {
        (Some(best), Some(found)) if found.cost < best.cost => Some(found),
        (None, found) => found,
        (best, _) => best,
    }
}
