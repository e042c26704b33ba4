//! Policies that differ only in how they choose a victim: a best-fit heap from which textures are evicted until a free block fits.

use tileheap_textures::budget::BudgetLimits;
use tileheap_textures::heap::Heap;
use tileheap_textures::list::{Links, List, NONE};
use tileheap_textures::units::{Bytes, SplitMix64};
use tileheap_textures::{
    EvictionReason, Geometry, Journal, Level, Policy, PolicyDesc, Request, RequestOutcome, Result, TextureId,
};

/// The eviction policy.
#[derive(Clone, Debug)]
pub enum Order {
    /// Least recently used.
    Lru,
    /// CLOCK (second chance).
    Clock,
    /// Random replacement.
    Random,
    /// The least recently used of the textures that neither this frame nor the last one used; then the most recently used of those
    /// that the last frame used but this one has not; then the most recently used.
    ///
    /// Source: Blow 1998, section I: "LRU is a good replacement policy when we're considering textures that have been
    /// unused for more than one frame. But once we begin outputting more textures than can be held in RAM at once, LRU is
    /// an awful scheme".
    FrameMru,
    /// The texture whose next use is furthest away. The field has, for each request of a trace, the index of the next request
    /// of the same texture, or `u32::MAX`. Offline.
    ///
    /// Source: L. A. Belady, "A study of replacement algorithms", IBM Systems Journal 5(2), 1966.
    Belady(Box<[u32]>),
}

#[derive(Clone, Copy, Debug)]
struct ResidentTexture {
    /// The texture's node in the heap; [`NONE`] if the texture is not resident.
    node: u32,
    level: Level,
    /// The frame in which the texture was last used.
    used: u32,
    /// CLOCK: 1 if the texture was used since the hand last passed it, else 0. Random and Belady: the texture's index in `keys`.
    mark: u32,
}

const ABSENT: ResidentTexture = ResidentTexture {
    node: NONE,
    level: Level(0),
    used: 0,
    mark: 0,
};

/// Textures in a best-fit heap. A miss evicts by [`Order`] until a free block fits.
///
/// Requests and evictions are O(1), except O(log residents) for Belady's order.
#[derive(Clone, Debug)]
pub struct HeapCache {
    order: Order,
    compacting: bool,
    limits: BudgetLimits,
    heap: Heap,
    residents: Vec<ResidentTexture>,
    links: Links,
    /// Resident textures by recency; for CLOCK, in the order in which the hand visits them.
    list: List,
    /// FrameMru: textures last used before this frame; `list` has those used in this frame.
    older: List,
    /// Random: resident textures. Belady: a binary heap by next use, the furthest first.
    keys: Vec<u32>,
    /// Belady: for each texture, the index of its next request; `u32::MAX` if there is none.
    next_use: Vec<u32>,
    requests: usize,
    frame: u32,
    random: SplitMix64,
}

impl HeapCache {
    /// Least recently used, best fit.
    pub const LRU: PolicyDesc<'static> = PolicyDesc::new(
        "lru",
        "Least recently used, best fit.",
        &|geometry, budget, seed, _| boxed(HeapCache::new(geometry, budget, Order::Lru, seed)),
    )
    .evicting_in_use();

    /// Least recently used, best fit; compacts memory if no hole fits.
    pub const LRU_COMPACTING: PolicyDesc<'static> = PolicyDesc {
        name: "lru-compacting",
        description: "Least recently used, best fit; compacts memory if no hole fits.",
        relocates: true,
        create: &|geometry, budget, seed, _| {
            boxed(HeapCache::new(geometry, budget, Order::Lru, seed).map(HeapCache::compacting))
        },
        ..HeapCache::LRU
    };

    /// CLOCK (second chance), best fit.
    pub const CLOCK: PolicyDesc<'static> = PolicyDesc::new(
        "clock",
        "CLOCK (second chance), best fit.",
        &|geometry, budget, seed, _| boxed(HeapCache::new(geometry, budget, Order::Clock, seed)),
    )
    .evicting_in_use();

    /// Random replacement, best fit.
    pub const RANDOM: PolicyDesc<'static> = PolicyDesc::new(
        "random",
        "Random replacement, best fit.",
        &|geometry, budget, seed, _| boxed(HeapCache::new(geometry, budget, Order::Random, seed)),
    )
    .evicting_in_use();

    /// Least recently used across frames, most recently used within a frame; best fit.
    pub const FRAME_MRU: PolicyDesc<'static> = PolicyDesc::new(
        "frame-mru",
        "Least recently used across frames, most recently used within a frame; best fit.",
        &|geometry, budget, seed, _| boxed(HeapCache::new(geometry, budget, Order::FrameMru, seed)),
    )
    .evicting_in_use();

    /// Creates a cache of `budget` bytes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, order: Order, seed: u64) -> Result<HeapCache> {
        let limits = BudgetLimits::of(geometry);
        Ok(HeapCache {
            order,
            compacting: false,
            heap: Heap::new(limits.usable(budget)?, limits.unit),
            limits,
            residents: Vec::new(),
            links: Links::default(),
            list: List::default(),
            older: List::default(),
            keys: Vec::new(),
            next_use: Vec::new(),
            requests: 0,
            frame: 2,
            random: SplitMix64::new(seed),
        })
    }

    /// Makes the cache compact a part of its memory if enough bytes are free but no free block fits. This shows the policy without
    /// fragmentation, under the assumption that copies within the cache cost nothing.
    pub fn compacting(mut self) -> HeapCache {
        self.compacting = true;
        self
    }

    fn grow_tables(&mut self, texture: TextureId) {
        let end = texture.index() + 1;
        if self.residents.len() < end {
            self.residents.resize(end, ABSENT);
            self.next_use.resize(end, u32::MAX);
            self.links.grow(end);
            self.heap.reserve(end);
            self.keys.reserve(end - self.keys.len());
        }
    }

    fn used(&mut self, key: u32) {
        let resident = &mut self.residents[key as usize];
        match &self.order {
            Order::Lru => self.links.move_to_back(&mut self.list, key),
            Order::Clock => resident.mark = 1,
            Order::Random => {}
            Order::FrameMru => {
                let now = resident.used == self.frame;
                let list = if now { &mut self.list } else { &mut self.older };
                self.links.remove(list, key);
                self.links.push_back(&mut self.list, key);
            }
            Order::Belady(next) => {
                self.next_use[key as usize] = next.get(self.requests).copied().unwrap_or(u32::MAX);
                let at = resident.mark as usize;
                self.sift(at);
            }
        }
        self.residents[key as usize].used = self.frame;
    }

    fn admit(&mut self, key: u32) {
        match &self.order {
            Order::Lru | Order::Clock | Order::FrameMru => self.links.push_back(&mut self.list, key),
            Order::Random | Order::Belady(_) => {
                self.residents[key as usize].mark = self.keys.len() as u32;
                self.keys.push(key);
                self.used(key);
            }
        }
    }

    fn victim(&mut self) -> u32 {
        match self.order {
            Order::Lru => self.list.first,
            Order::Clock => loop {
                let key = self.list.first;
                if std::mem::take(&mut self.residents[key as usize].mark) == 0 {
                    return key;
                }
                self.links.move_to_back(&mut self.list, key);
            },
            Order::Random => self.keys[self.random.below(self.keys.len() as u64) as usize],
            Order::FrameMru => {
                let oldest = self.older.first;
                let stale = oldest != NONE && self.residents[oldest as usize].used + 1 < self.frame;
                match (stale, self.older.last) {
                    (true, _) => oldest,
                    (false, NONE) => self.list.last,
                    (false, latest) => latest,
                }
            }
            Order::Belady(_) => self.keys[0],
        }
    }

    fn evict(&mut self, key: u32, reason: EvictionReason, journal: &mut Journal) {
        let resident = std::mem::replace(&mut self.residents[key as usize], ABSENT);
        let node = self.heap.at(resident.node);
        journal.evict(key, node.offset, node.size, reason);
        self.heap.release(resident.node);
        match self.order {
            Order::Lru | Order::Clock => self.links.remove(&mut self.list, key),
            Order::FrameMru if resident.used == self.frame => self.links.remove(&mut self.list, key),
            Order::FrameMru => self.links.remove(&mut self.older, key),
            Order::Random | Order::Belady(_) => {
                let at = resident.mark as usize;
                self.keys.swap_remove(at);
                if at < self.keys.len() {
                    self.residents[self.keys[at] as usize].mark = at as u32;
                    if matches!(self.order, Order::Belady(_)) {
                        self.sift(at);
                    }
                }
            }
        }
    }

    /// Restores the heap property of `keys` after the element at `at` has changed.
    fn sift(&mut self, mut at: usize) {
        while at > 0 && self.distance((at - 1) / 2) < self.distance(at) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        loop {
            let children = (2 * at + 1..2 * at + 3).filter(|&child| child < self.keys.len());
            match children.max_by_key(|&child| self.distance(child)) {
                Some(child) if self.distance(child) > self.distance(at) => {
                    self.swap(at, child);
                    at = child;
                }
                _ => return,
            }
        }
    }

    /// The next use of the texture at position `at` of `keys`.
    fn distance(&self, at: usize) -> u32 {
        self.next_use[self.keys[at] as usize]
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.keys.swap(a, b);
        self.residents[self.keys[a] as usize].mark = a as u32;
        self.residents[self.keys[b] as usize].mark = b as u32;
    }
}

fn boxed(cache: Result<HeapCache>) -> Result<Box<dyn Policy>> {
    Ok(Box::new(cache?))
}

/// The maximum number of blocks that the search for the cheapest compaction visits.
const SEARCH_BLOCKS: u32 = 48;

impl Policy for HeapCache {
    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        self.grow_tables(request.texture);
        let key = request.texture.0;
        let resident = self.residents[key as usize];
        if resident.node != NONE && resident.level >= request.level {
            self.used(key);
            self.requests += 1;
            return RequestOutcome::Hit {
                offset: Bytes(self.heap.at(resident.node).offset),
            };
        }
        if resident.node != NONE {
            self.evict(key, EvictionReason::Upgraded, journal);
        }
        let size = request.size.0.next_multiple_of(self.limits.unit);
        let node = loop {
            if let Some(node) = self.heap.best_fit(size) {
                break node;
            }
            if self.compacting && self.heap.free_bytes() >= size {
                break self.heap.compact_to_fit(size, SEARCH_BLOCKS, journal);
            }
            let victim = self.victim();
            self.evict(victim, EvictionReason::Replaced, journal);
        };
        self.heap.take(node, size, key);
        self.residents[key as usize] = ResidentTexture {
            node,
            level: request.level,
            used: self.frame,
            mark: 0,
        };
        self.admit(key);
        self.requests += 1;
        let offset = Bytes(self.heap.at(node).offset);
        journal.place(request, offset, Bytes(size), request.size)
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        let resident = self.residents.get(texture.index());
        if resident.is_some_and(|resident| resident.node != NONE) {
            self.evict(texture.0, EvictionReason::Released, journal);
        }
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()> {
        let end = self.limits.usable(budget)?.0;
        while let Some(key) = self.heap.owner_past(end) {
            self.evict(key, EvictionReason::Budget, journal);
        }
        self.heap.set_end(end);
        Ok(())
    }

    fn end_frame(&mut self, _journal: &mut Journal) {
        self.frame += 1;
        if matches!(self.order, Order::FrameMru) {
            self.links.append(&mut self.older, &mut self.list);
        }
    }
}
