//! Our own policy: what a frame used stays for the frame, and memory goes to what the next frame will use.

use super::heap::Heap;
use super::list::{Links, List, NONE};
use super::policy::usable;
use super::{CacheFault, Event, Geometry, Journal, Level, Outcome, Policy, Reason, Request, TextureId};
use crate::units::Bytes;

/// What can be tuned, with what measurements on the generated traces speak for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherentDesc {
    /// Whether textures may be moved within the cache to make a hole out of several. Copies within memory are not traffic.
    pub moving: bool,
    /// How many of the longest unused textures are looked at as the start of a window.
    pub seeds: u32,
    /// How many blocks are looked at for a window when those have none.
    pub looks: u32,
    /// What a window may cost at most, in 1024ths of what the new texture is worth.
    pub accept: u64,
    /// How many requests of a frame it takes to doubt that it is like the last one.
    pub patience: u64,
}

impl CoherentDesc {
    /// Nothing is moved: for who cannot copy within the cache.
    pub fn still() -> CoherentDesc {
        CoherentDesc {
            moving: false,
            looks: 256,
            ..CoherentDesc::default()
        }
    }
}

impl Default for CoherentDesc {
    fn default() -> CoherentDesc {
        CoherentDesc {
            moving: true,
            seeds: 32,
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
    /// How many others that frame had asked for before.
    place: u32,
    /// At which level, and how much that is in bytes.
    wanted_level: Level,
    wanted: u64,
    /// Whether it is there at a finer level than that.
    is_over: bool,
}

const NEVER: Slot = Slot {
    node: NONE,
    level: Level(0),
    asked: 0,
    place: 0,
    wanted_level: Level(0),
    wanted: 0,
    is_over: false,
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
    /// Residents at finer levels than were asked for last, the longest so first. The latest are dropped first: what is
    /// coarse for long comes close again sooner (zoom at 1.05 of the working set: 1.02 of the bound, 1.72 the other way).
    over_links: Links,
    over: List,
    /// The first resident by recency that this frame asked for.
    first_now: u32,
    frame: u32,
    /// Textures that the last frame asked for, those of this one, and of these those that the last one had too.
    before: u64,
    asked: u64,
    returned: u64,
    /// The place after the last one in the last frame of those that came back in this one: who was before is overdue.
    passed: u64,
    /// Those of this frame that came back although they were overdue.
    late: u64,
    /// How much of a frame comes back in the next one, in 1024ths, over time.
    coherence: u64,
    /// How much of what is overdue comes back in the same frame, in 1024ths, over time.
    lateness: u64,
}

/// Who is overdue counts as gone if fewer come back after all, in 1024ths.
const OVERDUE: u64 = 256;

/// The most textures that are due and go for one that is not there.
const DUE: usize = 16;

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
            over_links: Links::default(),
            over: List::default(),
            first_now: NONE,
            frame: 2,
            before: 0,
            asked: 0,
            returned: 0,
            passed: 0,
            late: 0,
            coherence: 1024,
            lateness: 0,
        })
    }

    fn set_over(&mut self, key: u32, is_over: bool) {
        if std::mem::replace(&mut self.slots[key as usize].is_over, is_over) != is_over {
            match is_over {
                true => self.over_links.push_back(&mut self.over, key),
                false => self.over_links.remove(&mut self.over, key),
            }
        }
    }

    /// Drops the levels of a resident that were not asked for last.
    fn shrink(&mut self, key: u32, journal: &mut Journal) {
        self.set_over(key, false);
        let slot = &mut self.slots[key as usize];
        slot.level = slot.wanted_level;
        let &super::heap::Node { offset, size, .. } = self.heap.at(slot.node);
        if slot.wanted < size {
            self.heap.shrink(slot.node, slot.wanted);
        }
        journal.push(Event::Shrink {
            texture: TextureId(key),
            level: slot.level,
            offset: Bytes(offset),
            from: Bytes(size),
            block: Bytes(slot.wanted),
        });
    }

    /// Counts a texture once a frame; whether the last frame had it too.
    fn ask(&mut self, key: usize) -> bool {
        if self.slots.len() <= key {
            self.slots.resize(key + 1, NEVER);
            self.links.reach(key + 1);
            self.over_links.reach(key + 1);
        }
        let slot = &mut self.slots[key];
        let (asked, place) = (slot.asked, u64::from(slot.place));
        if asked != self.frame {
            slot.asked = self.frame;
            slot.place = self.asked as u32;
            self.asked += 1;
        }
        if asked + 1 == self.frame {
            self.returned += 1;
            self.late += u64::from(place < self.passed);
            self.passed = self.passed.max(place + 1);
        }
        asked + 1 >= self.frame
    }

    /// Puts a resident where those are that this frame asked for.
    fn touch(&mut self, key: u32) {
        if self.first_now == key {
            let next = self.links.next(key);
            self.first_now = if next == NONE { key } else { next };
        }
        self.links.move_to_back(&mut self.recency, key);
        if self.first_now == NONE {
            self.first_now = key;
        }
    }

    /// How likely it is that a texture of the last frame that is not overdue will be asked for, in 1024ths.
    fn likely(&self) -> u64 {
        let left = self.before.saturating_sub(self.passed).max(1);
        let expected = (self.before * self.coherence).saturating_sub(self.returned * 1024);
        let rest = (expected / left).min(1024);
        let patience = self.desc.patience;
        let seen = (self.coherence * patience + 1024 * self.returned) / (patience + self.asked);
        rest.min(seen)
    }

    /// Whether frames come without this texture, as far as can be told: the last one did, or this one has asked for others
    /// that came after it, and keeps the order of the last.
    fn is_gone(&self, key: u32) -> bool {
        let slot = &self.slots[key as usize];
        match self.frame - slot.asked {
            0 => false,
            1 => u64::from(slot.place) < self.passed && self.lateness < OVERDUE,
            _ => true,
        }
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
            1 if self.is_gone(node.owner) => Some(node.size * self.lateness.max(64)),
            1 => Some(self.slots[node.owner as usize].wanted * likely),
            _ => Some(node.size * 128 / age),
        }
    }

    /// A window of at least `size` bytes for a texture that is worth `most`.
    ///
    /// First of textures that no frame of late asked for, no younger than need be: least recently used, but only those that
    /// make the hole. Then of anyone, the cheapest that a bounded search finds.
    fn window(&mut self, size: u64, most: u64) -> Option<Window> {
        let mut seed = self.recency.first;
        let slots = &self.slots;
        let is_stale = |key: u32| key != NONE && self.is_gone(key);
        for _ in 0..self.desc.seeds {
            if !is_stale(seed) {
                break;
            }
            let oldest = slots[seed as usize].asked;
            let found = self.around(slots[seed as usize].node, size, most, |node| {
                let owner = self.heap.at(node).owner;
                let stale = owner == NONE || slots[owner as usize].asked <= oldest && self.is_gone(owner);
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
        for _ in 0..self.desc.seeds / 4 {
            if !is_stale(seed) {
                break;
            }
            best = cheaper(best, self.around(slots[seed as usize].node, size, most, cost));
            seed = self.links.next(seed);
        }
        // Of those that are due, the ones that are due last.
        let mut seed = match self.first_now {
            NONE => self.recency.last,
            first => self.links.previous(first),
        };
        for _ in 0..self.desc.seeds / 4 {
            if seed == NONE {
                break;
            }
            best = cheaper(best, self.around(slots[seed as usize].node, size, most, cost));
            seed = self.links.previous(seed);
        }
        cheaper(best, self.along(size, likely, most))
    }

    /// A window that grows around a node, toward the cheaper neighbour.
    fn around(&self, node: u32, size: u64, most: u64, cost: impl Fn(u32) -> Option<u64>) -> Option<Window> {
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
                Some((cost / (self.heap.at(node).size / self.unit), cost))
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
        // What came first may not be needed any more.
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
    fn along(&mut self, size: u64, likely: u64, most: u64) -> Option<Window> {
        let mut best = None;
        let mut node = self.heap.cursor();
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
                        best = cheaper(
                            best,
                            Some(Window {
                                first,
                                last: node,
                                cost,
                            }),
                        );
                    }
                }
            }
            node = self.heap.right(node);
        }
        self.heap.set_cursor(node);
        best
    }

    /// Frees `size` bytes or more, wherever they are; false, and nobody goes, if that costs more than `most`.
    ///
    /// First go those that are gone, the longest unused first; then the levels that are finer than what is
    /// asked for; then, of those that are due in this frame, the ones that are due last.
    fn make_room(&mut self, size: u64, most: u64, journal: &mut Journal) -> bool {
        let (mut free, mut stale) = (self.heap.free(), self.recency.first);
        while free < size && stale != NONE && self.is_gone(stale) {
            free += self.heap.at(self.slots[stale as usize].node).size;
            stale = self.links.next(stale);
        }
        let mut over = self.over.last;
        while free < size && over != NONE {
            if !self.is_gone(over) {
                let slot = &self.slots[over as usize];
                free += self.heap.at(slot.node).size - slot.wanted;
            }
            over = self.over_links.previous(over);
        }
        let mut due = [NONE; DUE];
        if free < size && !self.choose_due(size - free, most, &mut due) {
            return false;
        }
        while self.recency.first != stale {
            self.evict(self.recency.first, Reason::Replaced, journal);
        }
        for key in due.into_iter().filter(|&key| key != NONE) {
            self.evict(key, Reason::Replaced, journal);
        }
        while self.heap.free() < size {
            let mut key = self.over.last;
            while self.is_gone(key) {
                key = self.over_links.previous(key);
            }
            self.shrink(key, journal);
        }
        true
    }

    /// Of those that are due in this frame the last ones, as many as it takes; false if they cost more than `most`.
    fn choose_due(&self, size: u64, most: u64, due: &mut [u32; DUE]) -> bool {
        let likely = self.likely();
        let mut key = match self.first_now {
            NONE => self.recency.last,
            first => self.links.previous(first),
        };
        let (mut freed, mut cost, mut count) = (0, 0, 0);
        for _ in 0..self.desc.looks {
            if key == NONE || self.slots[key as usize].asked + 1 != self.frame || self.is_gone(key) {
                return false;
            }
            let slot = &self.slots[key as usize];
            let own = slot.wanted * likely;
            if cost + own <= most {
                due[count] = key;
                count += 1;
                cost += own;
                // What it has too much of was counted already.
                freed += if slot.is_over {
                    slot.wanted
                } else {
                    self.heap.at(slot.node).size
                };
                if freed >= size {
                    return true;
                }
                if count == DUE {
                    return false;
                }
            }
            key = self.links.previous(key);
        }
        false
    }

    fn gather(&mut self, size: u64, journal: &mut Journal) -> u32 {
        self.heap.gather(size, self.desc.looks, |owner, size, from, to| {
            journal.push(Event::Move {
                texture: TextureId(owner),
                from: Bytes(from),
                to: Bytes(to),
                block: Bytes(size),
            });
        })
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
        if self.first_now == key {
            self.first_now = self.links.next(key);
        }
        self.links.remove(&mut self.recency, key);
        self.set_over(key, false);
        self.heap.release(node)
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
        let size = request.size.0.next_multiple_of(self.unit);
        let again = self.ask(key as usize);
        self.slots[key as usize].wanted = size;
        self.slots[key as usize].wanted_level = request.level;
        let slot = self.slots[key as usize];
        if slot.node != NONE {
            if slot.level >= request.level {
                self.touch(key);
                self.set_over(key, slot.level > request.level);
                return Outcome::Hit {
                    offset: Bytes(self.heap.at(slot.node).offset),
                };
            }
            self.evict(key, Reason::Upgraded, journal);
        }
        let node = self.heap.best_fit(size).or_else(|| {
            let worth = size * self.coherence.max(512);
            let most = if again {
                worth / 1024 * self.desc.accept
            } else {
                worth
            };
            if !self.desc.moving {
                let window = self.window(size, most)?;
                return Some(self.clear(window, journal));
            }
            if !self.make_room(size, most, journal) {
                return None;
            }
            Some(
                self.heap
                    .best_fit(size)
                    .unwrap_or_else(|| self.gather(size, journal)),
            )
        });
        let Some(node) = node else {
            return Outcome::Bypass;
        };
        self.heap.take(node, size, key);
        self.slots[key as usize].node = node;
        self.slots[key as usize].level = request.level;
        self.links.push_back(&mut self.recency, key);
        if self.first_now == NONE {
            self.first_now = key;
        }
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
        if self
            .slots
            .get(texture.index())
            .is_some_and(|slot| slot.node != NONE)
        {
            self.evict(texture.0, Reason::Released, journal);
        }
    }

    fn end_frame(&mut self, _journal: &mut Journal) {
        if self.before > 0 {
            let observed = self.returned * 1024 / self.before;
            self.coherence = (3 * self.coherence + observed) / 4;
            let overdue = self.late + self.before - self.returned;
            if overdue > 0 {
                self.lateness = (3 * self.lateness + self.late * 1024 / overdue) / 4;
            }
        }
        self.before = self.asked;
        (self.asked, self.returned, self.passed, self.late) = (0, 0, 0, 0);
        self.first_now = NONE;
        self.frame += 1;
    }
}
