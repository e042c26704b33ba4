//! What every policy does, and the policies by name.

use super::{
    ArenaView, Arenas, ArenasDesc, CacheError, Coherent, CoherentDesc, FirstAttempt, Geometry, HeapCache,
    Journal, Order, Outcome, Request, Ring, Slab, TextureId,
};
use crate::units::Bytes;

/// A way to decide who is in a fixed budget of linear memory, and where.
///
/// Frames are [`begin_frame`](Policy::begin_frame), requests, [`end_frame`](Policy::end_frame). Releases may come anywhere.
/// Whatever changes in memory goes to the journal, in order; a policy never looks at a clock.
pub trait Policy {
    /// A frame starts.
    fn begin_frame(&mut self, _journal: &mut Journal) {}

    /// A texture is used.
    ///
    /// It hits if the texture is there at the wanted level or a finer one. An upgrade uploads the whole chain anew.
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome;

    /// A texture's contents are gone: it was released, or got new ones. Unknown ids are fine.
    fn release(&mut self, texture: TextureId, journal: &mut Journal);

    /// A frame ends.
    fn end_frame(&mut self, _journal: &mut Journal) {}

    /// Another budget from now on: between two frames.
    ///
    /// What reaches past a smaller one goes, with [`Reason::Budget`](super::Reason::Budget); everything else stays where it is.
    ///
    /// # Errors
    /// As at creation; nothing has changed then.
    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<(), CacheError>;

    /// One of its arenas, from the left; `None` past the last one, and for policies without arenas.
    fn arena(&self, _index: usize) -> Option<ArenaView> {
        None
    }

    /// What it has to say of itself at the end of a frame.
    fn gauges(&self) -> Gauges {
        Gauges::default()
    }
}

/// What a policy has to say of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Bytes lost between arenas.
    pub wall_gaps: Bytes,
    /// The most that those can be.
    pub worst_gaps: Bytes,
    /// Wall moves so far, of any number of blocks each.
    pub wall_moves: u64,
    /// How often an arena took space back from one that had just taken it.
    pub fights: u64,
}

/// The online policies by name. `TILEHEAP`'s own is [`PolicyKind::Coherent`].
///
/// ```
/// use tileheap_textures::PolicyKind;
/// use tileheap_textures::replay::Replay;
/// use tileheap_textures::scenario::Scenario;
/// use tileheap_textures::units::Bytes;
///
/// let (geometry, budget) = (Scenario::Strafe.geometry(), Bytes::mib(2));
/// let entries = Scenario::Strafe.entries(0, 20); // frames
/// for kind in PolicyKind::ALL {
///     let mut replay = Replay::new(kind.build(&geometry, budget, 1)?, &geometry, budget);
///     for &entry in &entries {
///         replay.play(entry)?;
///     }
///     println!("{}: {} a frame", kind.name(), replay.finish().traffic.mean);
/// }
/// assert_eq!("coherent".parse::<PolicyKind>()?, PolicyKind::Coherent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    /// The paper's arenas, walls and temperatures.
    Arenas,
    /// The paper's first attempt: every level in an arena of its own.
    FirstAttempt,
    /// The paper's legacy system: one cursor that wraps around.
    Ring,
    /// Least recently used, best fit.
    Lru,
    /// The same, and memory is compacted where no hole fits.
    LruCompacting,
    /// A hand that spares who was used since it last came by, best fit.
    Clock,
    /// Anyone, best fit.
    Random,
    /// Who was not used in this frame, the longest unused first; if all were, the most recently used. Best fit.
    FrameMru,
    /// Size classes with fixed shares, least recently used in each.
    Slab,
    /// Size classes that take pages from each other.
    SlabRebalancing,
    /// Our own.
    Coherent,
    /// Our own, which moreover uploads only the levels that are missing when a texture comes at a finer one.
    CoherentLevels,
    /// Our own, for who cannot move textures within the cache.
    CoherentStill,
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [PolicyKind; 13] = [
        PolicyKind::Arenas,
        PolicyKind::FirstAttempt,
        PolicyKind::Ring,
        PolicyKind::Lru,
        PolicyKind::LruCompacting,
        PolicyKind::Clock,
        PolicyKind::Random,
        PolicyKind::FrameMru,
        PolicyKind::Slab,
        PolicyKind::SlabRebalancing,
        PolicyKind::Coherent,
        PolicyKind::CoherentLevels,
        PolicyKind::CoherentStill,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            PolicyKind::Arenas => "arenas",
            PolicyKind::FirstAttempt => "first-attempt",
            PolicyKind::Ring => "ring",
            PolicyKind::Lru => "lru",
            PolicyKind::LruCompacting => "lru-compacting",
            PolicyKind::Clock => "clock",
            PolicyKind::Random => "random",
            PolicyKind::FrameMru => "frame-mru",
            PolicyKind::Slab => "slab",
            PolicyKind::SlabRebalancing => "slab-rebalancing",
            PolicyKind::Coherent => "coherent",
            PolicyKind::CoherentLevels => "coherent-levels",
            PolicyKind::CoherentStill => "coherent-still",
        }
    }

    /// Whether a texture is uploaded with all its levels at a time, into one block: then [`floor`](super::floor) holds.
    pub const fn uploads_whole(self) -> bool {
        !matches!(self, PolicyKind::FirstAttempt | PolicyKind::CoherentLevels)
    }

    /// Whether textures moreover stay where they were put, with all levels that they were put there with.
    pub const fn keeps_places(self) -> bool {
        self.uploads_whole() && !matches!(self, PolicyKind::LruCompacting | PolicyKind::Coherent)
    }

    /// The policy with its defaults.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the policy's tables.
    pub fn build(self, geometry: &Geometry, budget: Bytes, seed: u64) -> Result<Box<dyn Policy>, CacheError> {
        let heap = |order| HeapCache::new(geometry, budget, order, seed);
        Ok(match self {
            PolicyKind::Arenas => Box::new(Arenas::new(geometry, budget, seed, ArenasDesc::default())?),
            PolicyKind::FirstAttempt => {
                Box::new(FirstAttempt::new(geometry, budget, seed, ArenasDesc::default())?)
            }
            PolicyKind::Ring => Box::new(Ring::new(geometry, budget)?),
            PolicyKind::Lru => Box::new(heap(Order::Lru)?),
            PolicyKind::LruCompacting => Box::new(heap(Order::Lru)?.compacting()),
            PolicyKind::Clock => Box::new(heap(Order::Clock)?),
            PolicyKind::Random => Box::new(heap(Order::Random)?),
            PolicyKind::FrameMru => Box::new(heap(Order::FrameMru)?),
            PolicyKind::Slab => Box::new(Slab::new(geometry, budget, false)?),
            PolicyKind::SlabRebalancing => Box::new(Slab::new(geometry, budget, true)?),
            PolicyKind::Coherent => Box::new(Coherent::new(geometry, budget, CoherentDesc::default())?),
            PolicyKind::CoherentLevels => {
                Box::new(Coherent::new(geometry, budget, CoherentDesc::keeping_levels())?)
            }
            PolicyKind::CoherentStill => Box::new(Coherent::new(geometry, budget, CoherentDesc::still())?),
        })
    }
}

impl std::str::FromStr for PolicyKind {
    type Err = CacheError;

    fn from_str(name: &str) -> Result<PolicyKind, CacheError> {
        let found = PolicyKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| CacheError::UnknownPolicy {
            name: name.to_owned(),
            known: PolicyKind::ALL.map(PolicyKind::name).join(", "),
        })
    }
}

/// What budgets are judged by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    unit: u64,
    largest: Bytes,
}

impl Limits {
    pub(super) fn of(geometry: &Geometry) -> Limits {
        Limits {
            unit: geometry.unit().get(),
            largest: geometry.largest(),
        }
    }

    /// The budget in whole units, if it holds the largest texture.
    pub(super) fn usable(&self, budget: Bytes) -> Result<Bytes, CacheError> {
        let usable = Bytes(budget.0 / self.unit * self.unit);
        if usable < self.largest {
            let largest = self.largest;
            return Err(CacheError::BudgetTooSmall { budget, largest });
        }
        let blocks = u64::from(u32::MAX / 2);
        let most = Bytes(blocks.saturating_mul(self.unit));
        if usable > most {
            return Err(CacheError::BudgetTooLarge {
                budget,
                largest: most,
                blocks,
            });
        }
        Ok(usable)
    }
}
