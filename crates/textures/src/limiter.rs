//! An upload budget per frame; coarser levels stand in for textures that wait.

use crate::Geometry;
use crate::arenas::ArenaView;
use crate::error::Result;
use crate::ids::{Level, TextureId};
use crate::journal::{Event, Journal};
use crate::policy::Policy;
use crate::request::{Outcome, Request};
use crate::units::Bytes;

/// What a request can draw with in this frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// The requested level.
    Whole,
    /// A coarser level.
    Coarser(Level),
    /// Nothing is resident: draw with a fallback.
    Missing,
}

/// Outcome of the requests of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameUploads {
    /// Bytes placed, which are to be uploaded.
    pub uploaded: Bytes,
    /// Requests served at the requested level.
    pub whole: u32,
    /// Requests served at a coarser level.
    pub coarser: u32,
    /// Requests without a resident level.
    pub missing: u32,
    /// Bytes of requests that were not served at the requested level.
    pub waiting: Bytes,
}

/// A policy under an upload budget per frame; uploads that exceed it wait for a later frame.
///
/// ```text
/// requests, the most urgent first    a   b   c   d   e   f
/// uploads of this frame              █████████           ░       then coarse levels from a reserve
///                                    a   b   c           f
/// ```
/// Requests are served in order of priority; frames repeat those they still need. A texture larger than the budget of a frame is
/// uploaded alone, and the excess is subtracted from the following frames. A waiting texture keeps its resident levels; one
/// without any gets a level of less than a hundredth of the budget, from a reserve of an eighth.
///
/// A texture that the policy bypasses at the requested level is served at the finest level that the policy accepts. If it lost its
/// resident levels by that (policies evict the old block first), it is not requested in full again for 16 frames.
///
/// For policies that upload textures whole ([`PolicyDesc::uploads_whole`](crate::PolicyDesc::uploads_whole)).
///
/// ```
/// use tileheap_textures::limiter::UploadLimiter;
/// use tileheap_textures::*;
/// use tileheap_textures::units::Bytes;
///
/// let mut textures = Textures::new(Geometry::wulfram());
/// let policy = Coherent::DESC.create(textures.geometry(), Bytes::mib(2), 0)?;
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
///     assert!(cache.uploads().uploaded <= Bytes::kib(32 + 4)); // with the reserve
/// }
/// assert_eq!(cache.uploads().whole, 3);
/// # Ok::<(), tileheap_textures::Error>(())
/// ```
pub struct UploadLimiter {
    policy: Box<dyn Policy>,
    geometry: Geometry,
    journal: Journal,
    /// Number of events that were processed.
    seen: usize,
    states: Vec<TextureState>,
    frame: u32,
    /// Bytes per frame.
    uploads: i64,
    /// Remaining bytes of this frame; negative after an upload that exceeds the budget.
    left: i64,
    /// Remaining bytes of the reserve for coarse levels.
    reserve: i64,
    /// Whether the last frame had requests without a resident level: the reserve is then taken from the uploads.
    hungry: bool,
    figures: FrameUploads,
}

/// Number of frames before a bypassed texture is requested from the policy again.
const RETRY_FRAMES: u32 = 16;

#[derive(Clone, Copy, Debug, Default)]
struct TextureState {
    level: Option<Level>,
    /// The first frame in which a bypassed request is repeated.
    again: u32,
}

impl UploadLimiter {
    /// Limits a policy to `uploads` bytes per frame, or more if a single texture is larger.
    pub fn new(policy: Box<dyn Policy>, geometry: &Geometry, uploads: Bytes) -> UploadLimiter {
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

    /// Changes the upload budget from the next frame on.
    pub fn set_uploads(&mut self, uploads: Bytes) {
        self.uploads = i64::try_from(uploads.0).unwrap_or(i64::MAX / 4).max(1);
    }

    /// An arena of the policy, by its index from the left.
    pub fn arena(&self, index: usize) -> Option<ArenaView> {
        self.policy.arena(index)
    }

    /// The events since [`clear_events`](UploadLimiter::clear_events), in order.
    pub fn events(&self) -> &[Event] {
        self.journal.events()
    }

    /// Removes all events.
    pub fn clear_events(&mut self) {
        self.journal.clear();
        self.seen = 0;
    }

    /// Outcome of the requests of this frame so far.
    pub fn uploads(&self) -> FrameUploads {
        self.figures
    }

    /// The resident level of a texture.
    pub fn level(&self, texture: TextureId) -> Option<Level> {
        self.states.get(texture.index())?.level
    }

    /// Begins a frame.
    pub fn begin_frame(&mut self) {
        self.frame += 1;
        self.left = (self.left + self.uploads).min(self.uploads);
        // While some have no resident level, half of the uploads are reserved for coarse levels of them.
        self.hungry = self.figures.missing > 0;
        self.reserve = self.uploads / if self.hungry { 2 } else { 8 };
        self.figures = FrameUploads::default();
    }

    /// Requests a texture; the most urgent ones first.
    pub fn request(&mut self, request: Request) -> Served {
        let index = request.texture.index();
        if self.states.len() <= index {
            self.states.resize(index + 1, TextureState::default());
        }
        if self.states[index].level >= Some(request.level) {
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

    /// Releases a texture, or its former contents.
    pub fn release(&mut self, texture: TextureId) {
        self.policy.release(texture, &mut self.journal);
        self.follow();
        if let Some(state) = self.states.get_mut(texture.index()) {
            state.again = 0;
        }
    }

    /// Ends a frame.
    pub fn end_frame(&mut self) {
        self.policy.end_frame(&mut self.journal);
        self.follow();
    }

    /// Changes the memory budget.
    ///
    /// # Errors
    /// Those of [`Policy::set_budget`].
    pub fn set_budget(&mut self, budget: Bytes) -> Result<()> {
        self.policy.set_budget(budget, &mut self.journal)?;
        self.follow();
        self.states.iter_mut().for_each(|state| state.again = 0);
        Ok(())
    }

    /// Requests from the policy; whether the texture is resident then.
    fn offer(&mut self, request: Request) -> bool {
        let outcome = self.policy.request(request, &mut self.journal);
        if matches!(outcome, Outcome::Upload { .. }) {
            self.figures.uploaded += request.size;
        }
        self.follow();
        outcome != Outcome::Bypass
    }

    /// Serves a coarser level: the resident one, or one that can still be uploaded. If the policy bypassed the requested level,
    /// ever coarser ones are requested.
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
            // A bypassed texture uploads from the budget, as if this level had been requested; a waiting one from the reserve, a
            // little each, so that it suffices for all.
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

    /// Processes new events.
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
