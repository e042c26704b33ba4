//! Uploads kept level: so many bytes a frame, and something coarser for what has to wait.

use crate::Geometry;
use crate::arenas::ArenaView;
use crate::error::Result;
use crate::ids::{Level, TextureId};
use crate::journal::{Event, Journal};
use crate::policy::Policy;
use crate::request::{Outcome, Request};
use crate::units::Bytes;

/// What there is to draw with, in this frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// All that was asked for.
    Whole,
    /// Something coarser stands in.
    Coarser(Level),
    /// Nothing: draw with a colour of your own.
    Missing,
}

/// What a frame's requests came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameUploads {
    /// Bytes placed, and so to be uploaded.
    pub uploaded: Bytes,
    /// Requests that were served whole.
    pub whole: u32,
    /// Requests for which something coarser stands in.
    pub coarser: u32,
    /// Requests for which there is nothing.
    pub missing: u32,
    /// What those two still need, if nobody has to go for them.
    pub waiting: Bytes,
}

/// A policy under an upload budget: what does not fit in a frame waits for a later one.
///
/// ```text
/// requests, the most urgent first    a   b   c   d   e   f
/// uploads of this frame              █████████           ░       then coarse ones that stand in, out of a reserve
///                                    a   b   c           f
/// ```
/// Requests are served in their order: that is their priority, and what waits is asked for again by the frames that still need
/// it. A texture larger than a whole frame's budget is uploaded alone, and what it took too much is missing in the frames after
/// it. What waits keeps what it has; what has nothing gets a level of less than a hundredth of the budget, out of an eighth that
/// is there for that.
///
/// A texture that the policy refuses at the level asked for is served with the finest level that it takes. Where it lost what it
/// had by that (policies free the old block first), it is not offered in full again for [`RETRY_FRAMES`] frames.
///
/// For policies that upload textures whole ([`PolicyKind::uploads_whole`](super::PolicyKind::uploads_whole)).
///
/// ```
/// use tileheap_textures::*;
/// use tileheap_textures::units::Bytes;
///
/// let mut textures = Textures::new(Geometry::wulfram());
/// let policy = Coherent::new(textures.geometry(), Bytes::mib(2), CoherentDesc::default())?;
/// let mut cache = UploadLimiter::new(policy, textures.geometry(), Bytes::kib(32)); // of uploads a frame
/// let near: Vec<TextureId> = (0..3).map(TextureId).collect();
/// for &texture in &near {
///     textures.create(texture, ChainId(0))?;
/// }
/// for _ in 0..4 {
///     cache.begin_frame();
///     for &texture in &near {
///         cache.request(textures.request(texture, Level(7))?); // about 21 KiB each
///     }
///     cache.end_frame();
///     assert!(cache.uploads().uploaded <= Bytes::kib(32 + 4)); // with what stands in
/// }
/// assert_eq!(cache.uploads().whole, 3);
/// # Ok::<(), tileheap_textures::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct UploadLimiter<P> {
    policy: P,
    geometry: Geometry,
    journal: Journal,
    /// Events that were looked at.
    seen: usize,
    states: Vec<TextureState>,
    frame: u32,
    /// Bytes per frame.
    uploads: i64,
    /// What is left of them in this frame; what an upload took too much stays for the next one to make up.
    left: i64,
    /// What is left for what stands in.
    reserve: i64,
    /// Whether the last frame had nothing for some: the reserve is then part of the uploads.
    hungry: bool,
    figures: FrameUploads,
}

/// For so many frames a texture that was refused is not offered again.
const RETRY_FRAMES: u32 = 16;

#[derive(Clone, Copy, Debug, Default)]
struct TextureState {
    level: Option<Level>,
    /// The first frame in which the policy is asked again for what it refused.
    again: u32,
}

impl<P: Policy> UploadLimiter<P> {
    /// The policy with `uploads` bytes in each frame, or more where a single texture is larger.
    pub fn new(policy: P, geometry: &Geometry, uploads: Bytes) -> UploadLimiter<P> {
        let mut levelled = UploadLimiter {
            policy,
            geometry: geometry.clone(),
            journal: Journal::new(),
            seen: 0,
            states: Vec::new(),
            frame: 0,
            uploads: 0,
            left: 0,
            reserve: 0,
            hungry: false,
            figures: FrameUploads::default(),
        };
        levelled.set_uploads(uploads);
        levelled.left = levelled.uploads;
        levelled
    }

    /// Another number of bytes per frame, from the next one on.
    pub fn set_uploads(&mut self, uploads: Bytes) {
        self.uploads = i64::try_from(uploads.0).unwrap_or(i64::MAX / 4).max(1);
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// One of the policy's arenas.
    pub fn arena(&self, index: usize) -> Option<ArenaView> {
        self.policy.arena(index)
    }

    /// What happened in memory since [`forget`](UploadLimiter::forget), in order.
    pub fn events(&self) -> &[Event] {
        self.journal.events()
    }

    /// Forgets the events.
    pub fn forget(&mut self) {
        self.journal.clear();
        self.seen = 0;
    }

    /// What this frame's requests came to so far.
    pub fn uploads(&self) -> FrameUploads {
        self.figures
    }

    /// The level at which a texture is there.
    pub fn level(&self, texture: TextureId) -> Option<Level> {
        self.states.get(texture.index())?.level
    }

    /// A frame starts.
    pub fn begin_frame(&mut self) {
        self.frame += 1;
        self.left = (self.left + self.uploads).min(self.uploads);
        // While there is nothing at all for some, half of the uploads are for something coarser of them.
        self.hungry = self.figures.missing > 0;
        self.reserve = self.uploads / if self.hungry { 2 } else { 8 };
        self.figures = FrameUploads::default();
        self.policy.begin_frame(&mut self.journal);
        self.follow();
    }

    /// A texture is used; the most urgent ones come first.
    pub fn request(&mut self, request: Request) -> Served {
        let index = request.texture.index();
        if self.states.len() <= index {
            self.states.resize(index + 1, TextureState::default());
        }
        if self.states[index]
            .level
            .is_some_and(|level| level >= request.level)
        {
            self.offer(request);
            self.figures.whole += 1;
            return Served::Whole;
        }
        let had = self.states[index].level.is_some();
        let alone = self.left == self.uploads;
        let mut refused = self.states[index].again > self.frame;
        let withheld = if self.hungry { self.reserve.max(0) } else { 0 };
        if !refused && (alone || self.left - withheld >= request.size.0 as i64) {
            if self.offer(request) {
                self.left -= request.size.0 as i64;
                self.figures.whole += 1;
                return Served::Whole;
            }
            refused = true;
            if had && self.states[index].level.is_none() {
                self.states[index].again = self.frame + RETRY_FRAMES;
            }
        }
        self.figures.waiting += request.size;
        let served = self.stand_in(request, refused);
        match served {
            Served::Missing => self.figures.missing += 1,
            _ => self.figures.coarser += 1,
        }
        served
    }

    /// A texture's contents are gone.
    pub fn release(&mut self, texture: TextureId) {
        self.policy.release(texture, &mut self.journal);
        self.follow();
        if let Some(state) = self.states.get_mut(texture.index()) {
            state.again = 0;
        }
    }

    /// A frame ends.
    pub fn end_frame(&mut self) {
        self.policy.end_frame(&mut self.journal);
        self.follow();
    }

    /// Another budget of memory.
    ///
    /// # Errors
    /// Those of [`Policy::set_budget`].
    pub fn set_budget(&mut self, budget: Bytes) -> Result<()> {
        self.policy.set_budget(budget, &mut self.journal)?;
        self.follow();
        self.states.iter_mut().for_each(|state| state.again = 0);
        Ok(())
    }

    /// Asks the policy; whether the texture then is there.
    fn offer(&mut self, request: Request) -> bool {
        let outcome = self.policy.request(request, &mut self.journal);
        if matches!(outcome, Outcome::Upload { .. }) {
            self.figures.uploaded += request.size;
        }
        self.follow();
        outcome != Outcome::Bypass
    }

    /// Something coarser: what is there, or what can still be uploaded. What the policy refused in full is offered by ever
    /// coarser levels.
    fn stand_in(&mut self, request: Request, refused: bool) -> Served {
        let coarser = |level: Level, size: Bytes| Request {
            level,
            size,
            ..request
        };
        if let Some(level) = self.level(request.texture) {
            let size = self.geometry.size(request.chain, level);
            self.offer(coarser(level, size.expect("it is there at that level")));
            return Served::Coarser(level);
        }
        for level in (0..request.level.0).rev().map(Level) {
            let size = self.geometry.size(request.chain, level).expect("a coarser level");
            // What was refused takes its turn as if this were what was asked for; what waits takes of the reserve, a little
            // each, so that it goes round.
            let bytes = size.0 as i64;
            let from_reserve = !(refused && self.left >= bytes);
            let from = if !from_reserve {
                &mut self.left
            } else if level == Level(0) || bytes <= self.uploads / 128 {
                &mut self.reserve
            } else {
                continue;
            };
            if *from < bytes {
                continue;
            }
            *from -= bytes;
            if from_reserve && self.hungry {
                self.left -= bytes;
            }
            if self.offer(coarser(level, size)) {
                return Served::Coarser(level);
            }
        }
        Served::Missing
    }

    /// Takes note of who came and who went.
    fn follow(&mut self) {
        for event in &self.journal.events()[self.seen..] {
            match *event {
                Event::Place { texture, level, .. } | Event::Shrink { texture, level, .. } => {
                    self.states[texture.index()].level = Some(level);
                }
                Event::Evict { texture, .. } => self.states[texture.index()].level = None,
                Event::Move { .. } | Event::Walls { .. } => {}
            }
        }
        self.seen = self.journal.events().len();
    }
}
