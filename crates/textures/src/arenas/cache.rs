//! The cache of the paper: whole textures in arenas.

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

/// The paper's cache: whole textures in arenas, by block size.
///
/// ```
/// use tileheap_textures::*;
/// use tileheap_textures::arenas::*;
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
/// # Ok::<(), tileheap_textures::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arenas {
    engine: Engine,
}

impl Arenas {
    /// The policy with default parameters.
    pub const DESC: PolicyDesc<'static> = PolicyDesc {
        name: "arenas",
        description: "An arena for each size of block, with walls that move by temperature (Blow 1998).",
        uploads_whole: true,
        relocates: false,
        create: &|geometry, budget, seed| {
            let arenas = Arenas::new(geometry, budget, seed, ArenasDesc::default())?;
            Ok(Box::new(arenas))
        },
    };

    /// A cache with the classes of [`BlockTable::new`].
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, seed: u64, desc: ArenasDesc) -> Result<Arenas> {
        Arenas::with_table(BlockTable::new(geometry), geometry, budget, seed, desc)
    }

    /// A cache with other classes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn with_table(
        table: BlockTable,
        geometry: &Geometry,
        budget: Bytes,
        seed: u64,
        desc: ArenasDesc,
    ) -> Result<Arenas> {
        let engine = Engine::new(table, geometry, budget, seed, desc, 1)?;
        Ok(Arenas { engine })
    }

    /// Its classes of blocks.
    pub fn table(&self) -> &BlockTable {
        &self.engine.table
    }

    /// The arenas, from the left.
    pub fn arenas(&self) -> impl Iterator<Item = ArenaView> {
        (0..).map_while(|index| self.engine.view(index))
    }
}

impl Policy for Arenas {
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome {
        let key = request.texture.0;
        if let Some(offset) = self.engine.hit(key, request.level) {
            return Outcome::Hit { offset };
        }
        let arena = self.engine.table.class_of(request.size);
        let placed = arena.and_then(|arena| self.engine.place(key, arena, request.level, journal));
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
        self.engine.evict(texture.0, EvictionReason::Released, journal);
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
