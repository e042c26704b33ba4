//! A slab allocator: pages of size classes, with least-recently-used eviction per class.

use tileheap_textures::blocks::{BlockClass, BlockTable};
use tileheap_textures::budget::BudgetLimits;
use tileheap_textures::list::{Links, List, NONE};
use tileheap_textures::units::Bytes;
use tileheap_textures::{
    EvictionReason, Geometry, Journal, Level, Policy, PolicyDesc, Request, RequestOutcome, Result, TextureId,
};

/// A slab allocator: pages as large as the largest block, each divided into blocks of one size class.
///
/// Fixed: pages are assigned to the classes round robin, the largest first. Rebalancing: pages are assigned on demand, and a class
/// without a free block takes the least recently used page, if that is older than its own least recently used texture.
#[derive(Clone, Debug)]
pub struct Slab {
    limits: BudgetLimits,
    table: BlockTable,
    rebalancing: bool,
    page: u64,
    classes: Vec<Class>,
    pages: Vec<Page>,
    /// Pages in the order of their last use.
    page_links: Links,
    page_recency: List,
    unassigned: Vec<u32>,
    residents: Vec<ResidentTexture>,
    recency: Links,
    /// The links of the lists of free blocks, by a block's offset in units.
    free: Links,
    owner: Vec<u32>,
    frame: u32,
}

#[derive(Clone, Debug)]
struct Class {
    block: u64,
    free: List,
    recency: List,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    class: u32,
    used: u32,
}

#[derive(Clone, Copy, Debug)]
struct ResidentTexture {
    /// The block's offset in units; [`NONE`] if the texture is not resident.
    at: u32,
    level: Level,
    used: u32,
}

const ABSENT: ResidentTexture = ResidentTexture {
    at: NONE,
    level: Level(0),
    used: 0,
};

impl Slab {
    /// The slab policy whose pages never change their class.
    pub const DESC: PolicyDesc<'static> = PolicyDesc::new(
        "slab",
        "Size classes with fixed shares of memory, each evicting its least recently used texture.",
        &|geometry, budget, _, _| Ok(Box::new(Slab::new(geometry, budget, false)?)),
    )
    .evicting_in_use();

    /// The slab policy whose pages can change their class.
    pub const REBALANCING: PolicyDesc<'static> = PolicyDesc::new(
        "slab-rebalancing",
        "Size classes that take pages from each other.",
        &|geometry, budget, _, _| Ok(Box::new(Slab::new(geometry, budget, true)?)),
    )
    .evicting_in_use();

    /// Creates a cache of `budget` bytes with the classes of [`BlockTable::new`].
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, rebalancing: bool) -> Result<Slab> {
        let limits = BudgetLimits::of(geometry);
        let usable = limits.usable(budget)?.0;
        let table = BlockTable::new(geometry);
        let page = geometry.largest().0;
        let class = |class: &BlockClass| Class {
            block: class.block.0,
            free: List::default(),
            recency: List::default(),
        };
        let mut slab = Slab {
            limits,
            classes: table.classes().iter().map(class).collect(),
            table,
            rebalancing,
            page,
            pages: Vec::new(),
            page_links: Links::default(),
            page_recency: List::default(),
            unassigned: Vec::new(),
            residents: Vec::new(),
            recency: Links::default(),
            free: Links::default(),
            owner: Vec::new(),
            frame: 1,
        };
        slab.add_pages((usable / page) as usize);
        Ok(slab)
    }

    /// Adds pages at the end, up to `count` in total; without rebalancing, assigns them to the classes round robin.
    fn add_pages(&mut self, count: usize) {
        let first = self.pages.len();
        self.pages.resize(count, Page { class: NONE, used: 0 });
        self.page_links.grow(count);
        let units = (count as u64 * self.page / self.limits.unit) as usize;
        self.owner.resize(units, NONE);
        self.free.grow(units);
        // In descending order, so that the lowest page is taken first.
        let before = self.unassigned.len();
        self.unassigned.extend((first as u32..count as u32).rev());
        self.unassigned.rotate_left(before);
        if !self.rebalancing {
            let classes = self.classes.len();
            for page in first..count {
                self.assign(classes - 1 - page % classes);
            }
        }
    }

    /// Removes the last page.
    fn remove_page(&mut self, journal: &mut Journal) {
        let page = self.pages.len() as u32 - 1;
        if self.pages[page as usize].class != NONE {
            self.reclaim(page, EvictionReason::Budget, journal);
        }
        self.unassigned.retain(|&other| other != page);
        self.pages.pop();
    }

    /// Assigns the next unassigned page to a class; returns false if all are assigned.
    fn assign(&mut self, class: usize) -> bool {
        let Some(page) = self.unassigned.pop() else {
            return false;
        };
        self.pages[page as usize] = Page {
            class: class as u32,
            used: self.frame,
        };
        self.page_links.push_back(&mut self.page_recency, page);
        for at in self.blocks_of(page) {
            self.free.push_back(&mut self.classes[class].free, at);
        }
        true
    }

    /// The blocks of a page that belongs to a class, as offsets in units.
    fn blocks_of(&self, page: u32) -> impl Iterator<Item = u32> + use<> {
        let block = self.classes[self.pages[page as usize].class as usize].block;
        let (start, unit) = (u64::from(page) * self.page, self.limits.unit);
        (0..self.page / block).map(move |index| ((start + index * block) / unit) as u32)
    }

    /// Takes a page from its class and evicts the textures in it.
    fn reclaim(&mut self, page: u32, reason: EvictionReason, journal: &mut Journal) {
        let class = self.pages[page as usize].class as usize;
        for at in self.blocks_of(page) {
            let owner = self.owner[at as usize];
            if owner != NONE {
                self.evict(owner, reason, journal);
            }
            self.free.remove(&mut self.classes[class].free, at);
        }
        self.page_links.remove(&mut self.page_recency, page);
        self.pages[page as usize].class = NONE;
        self.unassigned.push(page);
    }

    fn page_of(&self, at: u32) -> u32 {
        (u64::from(at) * self.limits.unit / self.page) as u32
    }

    fn class_at(&self, at: u32) -> usize {
        self.pages[self.page_of(at) as usize].class as usize
    }

    fn touch(&mut self, key: u32) {
        let at = self.residents[key as usize].at;
        let (page, class) = (self.page_of(at), self.class_at(at));
        self.residents[key as usize].used = self.frame;
        self.recency.move_to_back(&mut self.classes[class].recency, key);
        self.pages[page as usize].used = self.frame;
        self.page_links.move_to_back(&mut self.page_recency, page);
    }

    fn evict(&mut self, key: u32, reason: EvictionReason, journal: &mut Journal) {
        let at = std::mem::replace(&mut self.residents[key as usize], ABSENT).at;
        let class = self.class_at(at);
        let class = &mut self.classes[class];
        journal.evict(key, u64::from(at) * self.limits.unit, class.block, reason);
        self.owner[at as usize] = NONE;
        self.recency.remove(&mut class.recency, key);
        self.free.push_back(&mut class.free, at);
    }

    /// Returns a free block of a class. If there is none, takes a page (if rebalancing) or evicts the least recently used texture of the class. `None` if
    /// the class has no blocks.
    fn room(&mut self, class: usize, journal: &mut Journal) -> Option<u32> {
        if self.classes[class].free.first == NONE {
            let oldest = self.classes[class].recency.first;
            if self.rebalancing && !self.assign(class) {
                let page = self.page_recency.first;
                let longest = self.pages[page as usize].used;
                if oldest == NONE || longest < self.residents[oldest as usize].used {
                    self.reclaim(page, EvictionReason::Replaced, journal);
                    self.assign(class);
                }
            }
            if self.classes[class].free.first == NONE && oldest != NONE {
                self.evict(oldest, EvictionReason::Replaced, journal);
            }
        }
        let at = self.classes[class].free.first;
        (at != NONE).then_some(at)
    }
}

impl Policy for Slab {
    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        let (key, end) = (request.texture.0, request.texture.index() + 1);
        if self.residents.len() < end {
            self.residents.resize(end, ABSENT);
            self.recency.grow(end);
        }
        let resident = self.residents[key as usize];
        if resident.at != NONE {
            if resident.level >= request.level {
                self.touch(key);
                let offset = Bytes(u64::from(resident.at) * self.limits.unit);
                return RequestOutcome::Hit { offset };
            }
            self.evict(key, EvictionReason::Upgraded, journal);
        }
        let class = self.table.class_of(request.size);
        let Some((class, at)) = class.and_then(|class| Some((class, self.room(class, journal)?))) else {
            return RequestOutcome::Bypass;
        };
        self.free.remove(&mut self.classes[class].free, at);
        self.owner[at as usize] = key;
        self.residents[key as usize] = ResidentTexture {
            at,
            level: request.level,
            used: self.frame,
        };
        self.recency.push_back(&mut self.classes[class].recency, key);
        self.touch(key);
        let offset = Bytes(u64::from(at) * self.limits.unit);
        journal.place(request, offset, Bytes(self.classes[class].block), request.size)
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        let resident = self.residents.get(texture.index());
        if resident.is_some_and(|resident| resident.at != NONE) {
            self.evict(texture.0, EvictionReason::Released, journal);
        }
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()> {
        let pages = (self.limits.usable(budget)?.0 / self.page) as usize;
        while self.pages.len() > pages {
            self.remove_page(journal);
        }
        self.add_pages(pages);
        Ok(())
    }

    fn end_frame(&mut self, _journal: &mut Journal) {
        self.frame += 1;
    }
}
