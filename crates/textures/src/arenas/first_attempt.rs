//! The paper's first attempt: each level of a texture in a block of its own.

use super::desc::ArenasDesc;
use super::engine::Engine;
use super::view::{ArenaView, WallStats};
use crate::Geometry;
use crate::blocks::BlockTable;
use crate::error::Result;
use crate::ids::{Level, TextureId};
use crate::journal::{Event, EvictionReason, Journal};
use crate::policy::{Policy, PolicyDesc};
use crate::request::{Outcome, Request};
use crate::units::Bytes;

/// Descent 3's scheme as the paper first built it: a request at level n takes a block in each of the arenas 0 to n. An upgrade
/// uploads only the missing levels.
///
/// Walls and temperatures are those of [`Arenas`](super::Arenas): "the details of which we did not know".
///
/// A request is a bypass if a level finds no block; its other levels stay resident.
///
/// ```
/// use tileheap_textures::*;
/// use tileheap_textures::arenas::*;
/// use tileheap_textures::units::Bytes;
///
/// let mut textures = Textures::new(Geometry::wulfram());
/// let grass = textures.next_id();
/// textures.create(grass, ChainId(0))?;
/// let mut cache = FirstAttempt::new(textures.geometry(), Bytes::mib(2), 1, ArenasDesc::default())?;
/// let mut journal = Journal::new();
/// cache.begin_frame(&mut journal);
/// let outcome = cache.request(textures.request(grass, Level(7))?, &mut journal);
/// cache.end_frame(&mut journal);
/// assert!(matches!(outcome, Outcome::Upload { .. }));
/// // Each of the levels 0 to 7 alone.
/// assert_eq!(journal.events().iter().filter(|event| matches!(event, Event::Place { .. })).count(), 8);
/// # Ok::<(), tileheap_textures::Error>(())
/// ```
///
/// Source: Blow 1998, sections "Archetype System" and "First Attempt".
#[derive(Clone, Debug)]
pub struct FirstAttempt {
    geometry: Geometry,
    engine: Engine,
    levels: u32,
}

impl FirstAttempt {
    /// The policy with default parameters.
    pub const DESC: PolicyDesc<'static> = PolicyDesc {
        name: "first-attempt",
        description: "Arenas that store every level of a texture in a block of its own (Blow 1998).",
        uploads_whole: false,
        relocates: false,
        create: &|geometry, budget, seed| {
            let arenas = FirstAttempt::new(geometry, budget, seed, ArenasDesc::default())?;
            Ok(Box::new(arenas))
        },
    };

    /// A cache with a class for each size of a single level.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, seed: u64, desc: ArenasDesc) -> Result<FirstAttempt> {
        let (table, levels) = (BlockTable::per_mip(geometry), geometry.levels() as u32);
        Ok(FirstAttempt {
            geometry: geometry.clone(),
            engine: Engine::new(table, geometry, budget, seed, desc, levels)?,
            levels,
        })
    }

    /// Size of one level alone.
    fn size_of(&self, request: &Request, level: u8) -> Bytes {
        let sizes = self.geometry.chains()[usize::from(request.chain.0)].sizes();
        let level = usize::from(level);
        let below = level.checked_sub(1).map_or(Bytes::ZERO, |below| sizes[below]);
        sizes[level] - below
    }
}

impl Policy for FirstAttempt {
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome {
        let (mut missed, mut bypassed, mut offset) = (false, false, Bytes::ZERO);
        // From the finest down: an eviction by a finer level cannot take a coarser one that was just seen to be there.
        for level in (0..=request.level.0).rev() {
            let key = request.texture.0 * self.levels + u32::from(level);
            let found = self.engine.hit(key, Level(level));
            missed |= found.is_none();
            let found = found.or_else(|| {
                let size = self.size_of(&request, level);
                let arena = self.engine.table.class_of(size.max(Bytes(1)))?;
                let placed = self.engine.place(key, arena, Level(level), journal)?;
                journal.push(Event::Place {
                    texture: request.texture,
                    part: Level(level),
                    level: Level(level),
                    offset: placed.offset,
                    block: placed.block,
                    upload: size,
                });
                Some(placed.offset)
            });
            bypassed |= found.is_none();
            if level == request.level.0 {
                offset = found.unwrap_or_default();
            }
        }
        // Levels of one block size share an arena: placing one may have evicted another.
        let mut whole = true;
        for level in 0..=request.level.0 {
            let key = request.texture.0 * self.levels + u32::from(level);
            whole &= !missed || self.engine.hit(key, Level(level)).is_some();
        }
        match (missed, bypassed || !whole) {
            (_, true) => Outcome::Bypass,
            (true, false) => Outcome::Upload { offset },
            (false, false) => Outcome::Hit { offset },
        }
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        for level in 0..self.levels {
            let key = texture.0 * self.levels + level;
            self.engine.evict(key, EvictionReason::Released, journal);
        }
    }

    fn end_frame(&mut self, journal: &mut Journal) {
        self.engine.update(journal);
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()> {
        self.engine.set_budget(budget, journal)
    }

    fn arena(&self, index: usize) -> Option<ArenaView> {
        self.engine.view(index)
    }

    fn wall_stats(&self) -> WallStats {
        self.engine.wall_stats()
    }
}
