//! The two caches of Blow's paper (1998): whole textures in arenas, and the earlier one with a separate block for each level.

use super::desc::ArenasDesc;
use super::engine::Engine;
use super::view::{ArenaView, WallStats};
use crate::Geometry;
use crate::blocks::BlockTable;
use crate::error::Result;
use crate::ids::{Level, TextureId};
use crate::journal::{CacheEvent, EvictionReason, Journal};
use crate::policy::{ParameterValues, Policy, PolicyDesc, UploadMode};
use crate::request::{Request, RequestOutcome};
use crate::units::Bytes;

/// The cache of Blow's paper (1998): whole textures in arenas by block size, or its first attempt with single levels.
///
/// The first attempt is Descent 3's scheme as the paper first built it: a request at level n takes a block in each of the arenas
/// 0 to n, and an upgrade uploads only the missing levels. Walls and temperatures are the same: "the details of which we did not
/// know". A request is a bypass if a level finds no block; its other levels stay resident.
///
/// Source of that: Blow 1998, sections "Archetype System" and "First Attempt".
#[derive(Clone, Debug)]
pub struct Arenas {
    engine: Engine,
    geometry: Geometry,
}

impl Arenas {
    /// The policy with default parameters.
    pub const DESC: PolicyDesc<'static> = PolicyDesc::new(
        "arenas",
        "One arena per block size; the walls between arenas move according to the arenas' temperatures (Blow 1998).",
        &create::<false>,
    )
    .with_parameters(ArenasDesc::PARAMETERS)
    .evicting_in_use();

    /// The [first attempt](ArenasDesc::single_levels) with default parameters.
    pub const FIRST_ATTEMPT: PolicyDesc<'static> = PolicyDesc {
        name: "first-attempt",
        description: "Arenas that store every level of a texture in a separate block (Blow 1998).",
        uploads: UploadMode::SingleLevels,
        create: &create::<true>,
        ..Arenas::DESC
    };

    /// Creates a cache with the block classes of [`BlockTable::new`], or of [`BlockTable::per_mip`] for [single levels](ArenasDesc::single_levels).
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, seed: u64, desc: ArenasDesc) -> Result<Arenas> {
        let (table, levels) = match desc.single_levels {
            true => (BlockTable::per_mip(geometry), geometry.levels() as u32),
            false => (BlockTable::new(geometry), 1),
        };
        Ok(Arenas {
            engine: Engine::new(table, geometry, budget, seed, desc, levels)?,
            geometry: geometry.clone(),
        })
    }

    /// The arenas, from the left.
    pub fn arenas(&self) -> impl Iterator<Item = ArenaView> {
        (0..).map_while(|index| self.engine.view(index))
    }

    /// Bytes of a single level of the requested texture.
    fn size_of(&self, request: Request, level: u8) -> Bytes {
        let sizes = self.geometry.chains()[usize::from(request.chain.0)].sizes();
        let size = |level: u8| sizes[usize::from(level)];
        size(level) - level.checked_sub(1).map_or(Bytes::ZERO, size)
    }

    fn request_levels(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        let (mut missed, mut bypassed, mut offset) = (false, false, Bytes::ZERO);
        let first = request.texture.0 * self.engine.levels;
        // From the finest down: an eviction for a finer level cannot remove a coarser one that was just found resident.
        for level in (0..=request.level.0).rev() {
            let key = first + u32::from(level);
            let found = self.engine.hit(key, Level(level));
            missed |= found.is_none();
            let found = found.or_else(|| {
                let upload = self.size_of(request, level);
                let arena = self.engine.table.class_of(upload.max(Bytes(1)))?;
                let (offset, block) = self.engine.place(key, arena, Level(level), journal)?;
                journal.push(CacheEvent::Place {
                    texture: request.texture,
                    part: Level(level),
                    level: Level(level),
                    offset,
                    block,
                    upload,
                });
                Some(offset)
            });
            bypassed |= found.is_none();
            if level == request.level.0 {
                offset = found.unwrap_or_default();
            }
        }
        // Levels of the same block size share an arena: placing one may have evicted another.
        let mut whole = true;
        for level in 0..=request.level.0 {
            whole &= !missed || self.engine.hit(first + u32::from(level), Level(level)).is_some();
        }
        match (missed, bypassed || !whole) {
            (_, true) => RequestOutcome::Bypass,
            (true, false) => RequestOutcome::Upload { offset },
            (false, false) => RequestOutcome::Hit { offset },
        }
    }
}

fn create<const SINGLE_LEVELS: bool>(
    geometry: &Geometry,
    budget: Bytes,
    seed: u64,
    values: &ParameterValues,
) -> Result<Box<dyn Policy>> {
    let desc = ArenasDesc {
        single_levels: SINGLE_LEVELS,
        ..ArenasDesc::of(values)
    };
    Ok(Box::new(Arenas::new(geometry, budget, seed, desc)?))
}

impl Policy for Arenas {
    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        if self.engine.desc.single_levels {
            return self.request_levels(request, journal);
        }
        let key = request.texture.0;
        if let Some(offset) = self.engine.hit(key, request.level) {
            return RequestOutcome::Hit { offset };
        }
        let arena = self.engine.table.class_of(request.size);
        match arena.and_then(|arena| self.engine.place(key, arena, request.level, journal)) {
            Some((offset, block)) => journal.place(request, offset, block, request.size),
            None => RequestOutcome::Bypass,
        }
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        let first = texture.0 * self.engine.levels;
        for key in first..first + self.engine.levels {
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
