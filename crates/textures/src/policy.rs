//! The trait of all policies, and the description by which one is chosen.

use std::fmt;

use crate::Geometry;
use crate::arenas::{ArenaView, WallStats};
use crate::error::{Error, Result};
use crate::ids::TextureId;
use crate::journal::Journal;
use crate::request::{Outcome, Request};
use crate::units::Bytes;

/// Decides which textures are resident in a fixed budget of linear memory, and at which offsets.
///
/// Frames are requests and [`end_frame`](Policy::end_frame). Releases may come anywhere.
/// All changes in memory are appended to the journal, in order. A policy depends on its inputs alone: no clock, no addresses.
pub trait Policy {
    /// Requests a texture for this frame.
    ///
    /// A hit if the texture is resident at the requested level or a finer one. An upgrade uploads the whole chain again.
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome;

    /// Releases a texture, or its former contents. Ignores unknown ids.
    fn release(&mut self, texture: TextureId, journal: &mut Journal);

    /// Ends a frame.
    fn end_frame(&mut self, _journal: &mut Journal) {}

    /// Changes the budget, between two frames.
    ///
    /// Textures that extend past a smaller budget are evicted with [`EvictionReason::Budget`](super::EvictionReason::Budget); all others
    /// stay in place.
    ///
    /// # Errors
    /// As at creation; nothing has changed in that case.
    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()>;

    /// An arena by its index from the left; `None` past the last one, and for policies without arenas.
    fn arena(&self, _index: usize) -> Option<ArenaView> {
        None
    }

    /// Figures of walls between arenas, at the end of a frame.
    fn wall_stats(&self) -> WallStats {
        WallStats::default()
    }
}

/// Describes a policy by name, with a constructor and what it does, so that one can be chosen before the geometry is known.
///
/// [`POLICIES`](crate::POLICIES) lists the built-in ones. A policy of your own, or a built-in one with other parameters, enters
/// by the same door:
///
/// ```
/// use tileheap_textures::arenas::{Arenas, ArenasDesc};
/// use tileheap_textures::replay::Replay;
/// use tileheap_textures::scenario::Scenario;
/// use tileheap_textures::units::Bytes;
/// use tileheap_textures::{POLICIES, PolicyDesc};
///
/// let slow = ArenasDesc { stride: 20, ..ArenasDesc::default() };
/// let slow_arenas = PolicyDesc {
///     name: "slow-arenas",
///     description: "Arenas whose walls move slowly.",
///     create: &move |geometry, budget, seed| Ok(Box::new(Arenas::new(geometry, budget, seed, slow)?)),
///     ..Arenas::DESC
/// };
/// let (geometry, budget) = (Scenario::Strafe.geometry(), Bytes::mib(2));
/// for policy in POLICIES.iter().chain([&slow_arenas]) {
///     let mut replay = Replay::new(policy.create(&geometry, budget, 1)?, &geometry, budget);
///     for entry in Scenario::Strafe.entries(0, 20) {
///         replay.play(entry)?;
///     }
///     println!("{}: {} a frame", policy.name, replay.finish().traffic.mean);
/// }
/// # Ok::<(), tileheap_textures::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct PolicyDesc<'a> {
    /// Name, in lower case with hyphens.
    pub name: &'a str,
    /// One sentence on what it does.
    pub description: &'a str,
    /// Whether a texture is uploaded with all its levels at once, into one block. [`UploadLimiter`](crate::limiter::UploadLimiter) and the
    /// Vulkan cache require it, and [`lower_bound`](crate::replay::lower_bound) holds for no others.
    pub uploads_whole: bool,
    /// Whether textures move within the cache ([`Event::Move`](crate::Event::Move) and
    /// [`Event::Shrink`](crate::Event::Shrink)).
    pub relocates: bool,
    /// Creates the policy; called by [`create`](PolicyDesc::create).
    pub create: &'a CreatePolicy,
}

/// Creates a policy for a geometry, a budget and a seed of random choices.
pub type CreatePolicy = dyn Fn(&Geometry, Bytes, u64) -> Result<Box<dyn Policy>> + Sync;

impl<'a> PolicyDesc<'a> {
    /// Creates the policy.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or exceeds what the policy can address.
    pub fn create(&self, geometry: &Geometry, budget: Bytes, seed: u64) -> Result<Box<dyn Policy>> {
        (self.create)(geometry, budget, seed)
    }

    /// The policy called `name` in a table.
    ///
    /// # Errors
    /// If there is none: the error lists the names there are.
    pub fn find(policies: &[PolicyDesc<'a>], name: &str) -> Result<PolicyDesc<'a>> {
        let found = policies.iter().find(|policy| policy.name == name);
        let unknown = || Error::UnknownPolicy(name.to_owned(), PolicyDesc::names(policies, |_| true));
        found.copied().ok_or_else(unknown)
    }

    /// The names of those policies of a table that satisfy a predicate, separated by commas.
    pub fn names(policies: &[PolicyDesc<'_>], satisfies: impl Fn(&PolicyDesc<'_>) -> bool) -> String {
        let found = policies.iter().filter(|policy| satisfies(policy));
        found.map(|policy| policy.name).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Debug for PolicyDesc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PolicyDesc").field(&self.name).finish()
    }
}
