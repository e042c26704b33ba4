//! Our own policy: what a frame used stays for the frame, and memory goes to what the next frame will use.

use super::heap::Heap;
use super::list::{Links, List, NONE};
use super::policy::usable;
use super::{CacheFault, Event, Geometry, Journal, Level, Outcome, Policy, Reason, Request, TextureId};
use crate::units::Bytes;

/// What can be tuned, with what measurements on the generated traces speak for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherentDesc {
    /// How many of the longest unused textures are looked at as the start of a window.
    pub seeds: u32,
    /// How many blocks are looked at for a window when those have none.
    pub looks: u32,
    /// What a window may cost at most, in 1024ths of what the new texture is worth.
    pub accept: u64,
    /// How many requests of a frame it takes to doubt that it is like the last one.
    pub patience: u64,
}

impl Default for CoherentDesc {
    fn default() -> CoherentDesc {
        CoherentDesc {
            seeds: 8,
            looks: 48,
            accept: 768,
            patience: 16,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// [`NONE`]: not resident.
    node: u32,
    level: Level,
    /// The frame it was last asked for, resident or not.
    asked: u32,
}

const NEVER: Slot = Slot {
    node: NONE,
    level: Level(0),
    asked: 0,
};

/// Memory goes to the bytes that the next frame most likely asks for.
///
/// ```text
/// recency   stale …      │ used in the last frame, not yet in this one │ used in this frame
/// costs     little, less │ its size, times how much of a frame is like │ never goes
///           with age     │ the one before: learnt, and doubted as soon │
///                        │ as this frame turns out to be another       │
/// ```
/// A texture that is missing takes a free hole, or else the window of neighbouring blocks that costs least; if even that
/// costs more than the texture is worth, it is bypassed. So when frames need more than there is, a stable part stays, the
/// rest passes by, nothing is thrown out in the frame that uses it, and windows that gain bytes defragment as they go.
#[derive(Clone, Debug)]
pub struct Coherent {
    desc: CoherentDesc,
    heap: Heap,
    unit: u64,
    slots: Vec<Slot>,
    links: Links,
    /// Residents by recency.
    recency: List,
    /// Where the last search for a window ended.
    cursor: u32,
    frame: u32,
    /// Textures that the last frame asked for, those of this one, and of these those that the last one had too.
    before: u64,
    asked: u64,
    returned: u64,
    /// How much of a frame comes back in the next one, in 1024ths, over time.
    coherence: u64,
}

/// Neighbouring blocks, from the left.
#[derive(Clone, Copy, Debug)]
struct Window {
    first: u32,
    last: u32,
    cost: u64,
}

impl Coherent {
    /// A cache of `budget` bytes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, desc: CoherentDesc) -> Result<Coherent, CacheFault> {
        let unit = geometry.unit().get();
        Ok(Coherent {
            desc,
            heap: Heap::new(usable(geometry, budget)?, unit),
            unit,
            slots: Vec::new(),
            links: Links::default(),
            recency: List::default(),
            cursor: NONE,
            frame: 2,
            before: 0,
            asked: 0,
            returned: 0,
            coherence: 1024,
        })
    }

    /// Counts a texture once a frame.
    fn ask(&mut self, key: usize) {
        if self.slots.len() <= key {
            self.slots.resize(key + 1, NEVER);
            self.links.reach(key + 1);
        }
        let asked = std::mem::replace(&mut self.slots[key].asked, self.frame);
        self.asked += u64::from(asked != self.frame);
        self.returned += u64::from(asked + 1 == self.frame);
    }

    /// How likely it is that a texture of the last frame that was not asked for yet will be, in 1024ths.
    fn likely(&self) -> u64 {
        let left = self.before.saturating_sub(self.returned).max(1);
        let expected = (self.before * self.coherence).saturating_sub(self.returned * 1024);
        let rest = expected / left;
        let patience = self.desc.patience;
        let seen = (self.coherence * patience + 1024 * self.returned) / (patience + self.asked);
        rest.min(seen)
    }

    /// What it costs to evict who is in a node, in 1024ths of bytes; `None` for who was used in this frame.
    fn cost(&self, node: u32, likely: u64) -> Option<u64> {
        let node = self.heap.at(node);
        if node.owner == NONE {
            return Some(0);
        }
        let age = u64::from(self.frame - self.slots[node.owner as usize].asked);
        match age {
            0 => None,
            1 => Some(node.size * likely),
            _ => Some(node.size * 128 / age),
        }
    }

    /// The cheapest window of at least `size` bytes that was found, if it costs no more than `most`.
    fn window(&mut self, size: u64, most: u64) -> Option<Window> {
        let likely = self.likely();
        let mut best: Option<Window> = None;
        let mut seed = self.recency.first;
        for _ in 0..self.desc.seeds {
            if seed == NONE || self.slots[seed as usize].asked + 2 > self.frame {
                break;
            }
            let found = self.around(self.slots[seed as usize].node, size, likely, most);
            best = cheaper(best, found);
            seed = self.links.next(seed);
        }
        if best.is_none() {
            best = self.along(size, likely, most);
        }
        best
    }

    /// A window that grows around a node, toward the cheaper neighbour.
    fn around(&self, node: u32, size: u64, likely: u64, most: u64) -> Option<Window> {
        let mut window = Window {
            first: node,
            last: node,
            cost: self.cost(node, likely)?,
        };
        let mut total = self.heap.at(node).size;
        while total < size {
            let rate = |node: u32| {
                let cost = (node != NONE).then(|| self.cost(node, likely)).flatten()?;
                Some((cost / (self.heap.at(node).size / self.unit), cost))
            };
            let (left, right) = (self.heap.left(window.first), self.heap.right(window.last));
            let cost = match (rate(left), rate(right)) {
                (Some(l), Some(r)) if l <= r => {
                    window.first = left;
                    l.1
                }
                (Some(l), None) => {
                    window.first = left;
                    l.1
                }
                (_, Some(r)) => {
                    window.last = right;
                    r.1
                }
                (None, None) => return None,
            };
            let added = if window.first == left { left } else { right };
            total += self.heap.at(added).size;
            window.cost += cost;
            if window.cost > most {
                return None;
            }
        }
        Some(window)
    }

    /// The cheapest window among the next blocks by address, from where the last search ended.
    fn along(&mut self, size: u64, likely: u64, most: u64) -> Option<Window> {
        let mut best = None;
        let mut node = self.cursor;
        let (mut first, mut total, mut cost) = (NONE, 0, 0);
        for _ in 0..self.desc.looks {
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
                        cost -= self.cost(first, likely).expect("it was let in");
                        first = self.heap.right(first);
                    }
                    if total >= size && cost <= most {
                        best = cheaper(best, Some(Window { first, last: node, cost }));
                    }
                }
            }
            node = self.heap.right(node);
        }
        self.cursor = node;
        best
    }

    /// Frees a window; the node that then covers it.
    fn clear(&mut self, window: Window, journal: &mut Journal) -> u32 {
        let end = self.heap.at(window.last).offset;
        let mut node = window.first;
        loop {
            if self.heap.at(node).owner != NONE {
                node = self.evict(self.heap.at(node).owner, Reason::Replaced, journal);
            }
            let here = self.heap.at(node);
            if here.offset + here.size > end {
                return node;
            }
            node = self.heap.right(node);
        }
    }

    fn evict(&mut self, key: u32, reason: Reason, journal: &mut Journal) -> u32 {
        let slot = &mut self.slots[key as usize];
        let node = std::mem::replace(&mut slot.node, NONE);
        let &super::heap::Node { offset, size, .. } = self.heap.at(node);
        journal.push(Event::Evict {
            texture: TextureId(key),
            part: Level(0),
            offset: Bytes(offset),
            block: Bytes(size),
            reason,
        });
        self.links.remove(&mut self.recency, key);
        // Nodes merge: the cursor must not be left on one that is gone.
        let cursor = (self.cursor != NONE).then(|| self.heap.at(self.cursor).offset);
        let freed = self.heap.release(node);
        let here = self.heap.at(freed);
        if cursor.is_some_and(|cursor| cursor >= here.offset && cursor < here.offset + here.size) {
            self.cursor = freed;
        }
        freed
    }
}

fn cheaper(best: Option<Window>, found: Option<Window>) -> Option<Window> {
    match (best, found) {
        (Some(best), Some(found)) if found.cost < best.cost => Some(found),
        (None, found) => found,
        (best, _) => best,
    }
}

impl Policy for Coherent {
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome {
        let key = request.texture.0;
        self.ask(key as usize);
        let slot = self.slots[key as usize];
        if slot.node != NONE {
            if slot.level >= request.level {
                self.links.move_to_back(&mut self.recency, key);
                return Outcome::Hit {
                    offset: Bytes(self.heap.at(slot.node).offset),
                };
            }
            self.evict(key, Reason::Upgraded, journal);
        }
        let size = request.size.0.next_multiple_of(self.unit);
        let node = self.heap.best_fit(size).or_else(|| {
            let worth = size * self.coherence.max(512);
            let window = self.window(size, worth / 1024 * self.desc.accept)?;
            Some(self.clear(window, journal))
        });
        let Some(node) = node else {
            return Outcome::Bypass;
        };
        self.heap.take(node, size, key);
        self.slots[key as usize].node = node;
        self.slots[key as usize].level = request.level;
        self.links.push_back(&mut self.recency, key);
        let offset = Bytes(self.heap.at(node).offset);
        journal.push(Event::Place {
            texture: request.texture,
            part: Level(0),
            level: request.level,
            offset,
            block: Bytes(size),
            upload: request.size,
        });
        Outcome::Upload { offset }
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        if self.slots.get(texture.index()).is_some_and(|slot| slot.node != NONE) {
            self.evict(texture.0, Reason::Released, journal);
        }
    }

    fn end_frame(&mut self, _journal: &mut Journal) {
        if self.before > 0 {
            let observed = self.returned * 1024 / self.before;
            self.coherence = (3 * self.coherence + observed) / 4;
        }
        self.before = self.asked;
        (self.asked, self.returned) = (0, 0);
        self.frame += 1;
    }
}
