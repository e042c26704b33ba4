//! The paper's cache: an arena for each size, walls that slide, temperatures that say who grows.
//!
//! ```text
//!            cold 0.30               warm 0.70            boiling 1.84
//! ├─┬─┬─┬─┬─┬─┬─┬─┬─┤·├───┬───┬───┬───┬───┬───┤··├───────┬───────┬───────┤
//!  █ █ █                █   █   █   █              █ new ◄─ a random one goes
//!                                            walls ◄── slide once a frame
//! ```
//! A texture goes to the arena of the smallest block that holds it, to the free block nearest the cooler side. Where none
//! is free, the longest unused goes; where all were used in this frame the arena boils and a random one goes. Once per frame
//! each arena's recent temperature becomes 0.7 of what it was and 0.3 of its occupation by active textures, with a bonus
//! for each one that went wrongfully; then every arena that is substantially hotter than the average to its left grows to
//! the left, and likewise to the right.
//!
//! What the paper leaves open is in [`ArenasDesc`].
//!
//! Source: Blow 1998, section II.

mod arena;
mod desc;
mod engine;
mod first_attempt;
mod temperature;
mod walls;

pub use arena::Side;
pub use desc::{ArenasDesc, Average, Idle, InitialWalls};
pub use first_attempt::FirstAttempt;
pub use temperature::Temperature;

use super::policy::Limits;
use super::{
    BlockTable, CacheError, Event, Gauges, Geometry, Journal, Level, Outcome, Policy, Reason, Request,
    TextureId,
};
use crate::units::Bytes;
use engine::{Engine, Log};

/// The paper's cache.
///
/// ```
/// use tileheap_textures::*;
/// use tileheap_textures::units::Bytes;
///
/// let mut textures = Textures::new(Geometry::wulfram());
/// let grass = textures.next_id();
/// textures.create(grass, ChainId(0))?;
/// let mut cache = Arenas::new(textures.geometry(), Bytes::mib(2), 1, ArenasDesc::default())?;
/// let mut journal = Journal::new();
/// cache.begin_frame(&mut journal);
/// let outcome = cache.request(textures.request(grass, Level(7))?, &mut journal);
/// cache.end_frame(&mut journal);
/// assert!(matches!(outcome, Outcome::Upload { .. }));
/// let hottest = cache.arenas().max_by_key(|arena| arena.recent).expect("an arena for each size");
/// assert_eq!(hottest.taken, 1);
/// # Ok::<(), tileheap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arenas {
    limits: Limits,
    table: BlockTable,
    engine: Engine,
}

/// What can be seen of an arena: for figures 7 to 9 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaView {
    /// Size of its blocks.
    pub block: Bytes,
    /// First byte.
    pub start: Bytes,
    /// First byte after.
    pub end: Bytes,
    /// How many blocks are taken.
    pub taken: u32,
    /// How many hold textures that count as active now.
    pub active: u32,
    /// The recent temperature of the last cache update.
    pub recent: Temperature,
    /// The side at which textures are placed.
    pub side: Side,
}

impl Arenas {
    /// The cache with a class for each size, as [`BlockTable::new`] makes them.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(
        geometry: &Geometry,
        budget: Bytes,
        seed: u64,
        desc: ArenasDesc,
    ) -> Result<Arenas, CacheError> {
        Arenas::with_table(BlockTable::new(geometry), geometry, budget, seed, desc)
    }

    /// The cache with classes of one's own.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn with_table(
        table: BlockTable,
        geometry: &Geometry,
        budget: Bytes,
        seed: u64,
        desc: ArenasDesc,
    ) -> Result<Arenas, CacheError> {
        let limits = Limits::of(geometry);
        let usable = limits.usable(budget)?;
        let engine = Engine::new(&table, usable, seed, desc);
        Ok(Arenas {
            limits,
            table,
            engine,
        })
    }

    /// Its classes of blocks.
    pub fn table(&self) -> &BlockTable {
        &self.table
    }

    /// Every arena, from the left.
    pub fn arenas(&self) -> impl Iterator<Item = ArenaView> {
        (0..self.engine.arenas.len()).map(|index| self.engine.view(index))
    }
}

impl Policy for Arenas {
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome {
        let key = request.texture.0;
        if let Some(offset) = self.engine.hit(key, request.level) {
            return Outcome::Hit { offset };
        }
        let arena = self.table.class_of(request.size);
        let placed =
            arena.and_then(|arena| self.engine.place(key, arena, request.level, &mut Whole(journal)));
        let Some(placed) = placed else {
            return Outcome::Bypass;
        };
        journal.push(Event::Place {
            texture: request.texture,
            part: Level(0),
            level: request.level,
            offset: placed.offset,
            block: placed.block,
            upload: request.size,
        });
        Outcome::Upload {
            offset: placed.offset,
        }
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        self.engine
            .evict(texture.0, Reason::Released, &mut Whole(journal));
    }

    fn end_frame(&mut self, journal: &mut Journal) {
        self.engine.update(&mut Whole(journal));
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<(), CacheError> {
        let end = self.limits.usable(budget)?.0;
        self.engine.set_end(end, &mut Whole(journal));
        Ok(())
    }

    fn arena(&self, index: usize) -> Option<ArenaView> {
        (index < self.engine.arenas.len()).then(|| self.engine.view(index))
    }

    fn gauges(&self) -> Gauges {
        gauges(&self.engine, &self.table)
    }
}

fn gauges(engine: &Engine, table: &BlockTable) -> Gauges {
    Gauges {
        wall_gaps: Bytes(engine.gaps()),
        worst_gaps: table.worst_gaps(),
        wall_moves: engine.moves,
        fights: engine.fights,
    }
}

/// Keys that are textures.
struct Whole<'a>(&'a mut Journal);

impl Log for Whole<'_> {
    fn evict(&mut self, key: u32, offset: Bytes, block: Bytes, reason: Reason) {
        self.0.push(Event::Evict {
            texture: TextureId(key),
            part: Level(0),
            offset,
            block,
            reason,
        });
    }

    fn walls(&mut self, arena: u32, start: Bytes, end: Bytes) {
        self.0.push(Event::Walls { arena, start, end });
    }
}
