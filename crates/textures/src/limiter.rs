#![doc = include_str!("../docs/limiter.md")]

use crate::Geometry;
use crate::arenas::ArenaView;
use crate::error::{Error, Result};
use crate::ids::{Level, TextureId};
use crate::journal::CacheEvent;
use crate::policy::PolicyDesc;
use crate::replay::JudgedPolicy;
use crate::request::{Request, RequestOutcome};
use crate::units::Bytes;

/// The level at which a request is served in this frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedLevel {
    /// The requested level.
    Requested,
    /// A coarser level.
    Coarser(Level),
    /// Nothing is resident: draw with a fallback.
    Missing,
}

/// The outcome of a frame's texture requests, and the bytes to upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameUploads {
    /// Bytes to upload for the textures that were placed.
    pub uploaded: Bytes,
    /// Requests served at the requested level.
    pub at_requested_level: u32,
    /// Requests served at a coarser level.
    pub coarser: u32,
    /// Requests without a resident level.
    pub missing: u32,
    /// Bytes of requests that were not served at the requested level.
    pub waiting: Bytes,
    /// Prefetched textures that were placed.
    pub prefetched: u32,
    /// Bytes of evicted blocks.
    pub evicted: Bytes,
    /// Bytes of blocks that moved.
    pub moved: Bytes,
}

/// A policy under an upload budget per frame: see the [module](self).
pub struct UploadLimiter {
    policy: JudgedPolicy,
    geometry: Geometry,
    /// Number of journal events that have been counted.
    counted_events: usize,
    /// By texture: the first frame in which the requested level may be tried again, after the policy evicted the texture and did not place it.
    retry_from: Vec<u32>,
    frame: u32,
    /// Textures requested in every frame, before all others.
    pins: Vec<Request>,
    /// The upload budget per frame, without the reserve for coarse levels.
    uploads: i64,
    /// Remaining bytes of this frame's upload budget; negative after an upload that exceeds the budget.
    uploads_left: i64,
    /// Remaining bytes of the reserve for coarse levels.
    reserve: i64,
    /// True if the last frame had requests without a resident level; half of this frame's uploads is then reserved for coarse levels.
    had_missing: bool,
    frame_uploads: FrameUploads,
    /// A violation that `end_frame` will report.
    violation: Option<Error>,
}

/// Number of frames before the requested level is tried again for a texture that the policy evicted and did not place.
const RETRY_FRAMES: u32 = 16;

impl UploadLimiter {
    /// Limits a policy to `uploads` bytes per frame, or more if a single texture is larger.
    ///
    /// # Errors
    /// Those of [`PolicyDesc::create`].
    pub fn new(
        policy: &PolicyDesc<'_>,
        geometry: &Geometry,
        budget: Bytes,
        seed: u64,
        uploads: Bytes,
    ) -> Result<UploadLimiter> {
        let mut limiter = UploadLimiter {
            policy: JudgedPolicy::new(policy, geometry, budget, seed)?,
            geometry: geometry.clone(),
            counted_events: 0,
            retry_from: Vec::new(),
            frame: 0,
            pins: Vec::new(),
            uploads: 0,
            uploads_left: 0,
            reserve: 0,
            had_missing: false,
            frame_uploads: FrameUploads::default(),
            violation: None,
        };
        limiter.set_uploads(uploads);
        limiter.uploads_left = limiter.uploads;
        Ok(limiter)
    }

    /// Changes the upload budget from the next frame on.
    pub fn set_uploads(&mut self, uploads: Bytes) {
        let uploads = i64::try_from(uploads.0).unwrap_or(i64::MAX / 4);
        self.uploads = (uploads - uploads / 9).max(1);
    }

    /// An arena of the policy, by its index from the left.
    pub fn arena(&self, index: usize) -> Option<ArenaView> {
        self.policy.policy.arena(index)
    }

    /// The events since [`clear_events`](UploadLimiter::clear_events), in order.
    pub fn events(&self) -> &[CacheEvent] {
        self.policy.journal.events()
    }

    /// Removes all events.
    pub fn clear_events(&mut self) {
        self.policy.journal.clear();
        self.counted_events = 0;
    }

    /// Outcome of the requests of this frame so far.
    pub fn uploads(&self) -> FrameUploads {
        self.frame_uploads
    }

    /// The resident level of a texture.
    pub fn level(&self, texture: TextureId) -> Option<Level> {
        Some(self.place(texture)?.1)
    }

    /// Offset and level of a resident part of a texture: part 0 is the whole texture, unless levels have separate blocks.
    pub fn part(&self, texture: TextureId, part: Level) -> Option<(Bytes, Level)> {
        self.policy.part(texture, part)
    }

    /// Offset and level of a resident texture; with single levels, the offset of the coarsest level, and the finest level up to which all levels are
    /// resident.
    pub fn place(&self, texture: TextureId) -> Option<(Bytes, Level)> {
        self.policy.place(texture)
    }

    /// Begins a frame, and requests the pinned textures.
    pub fn begin_frame(&mut self) {
        self.frame += 1;
        // An excess over the budget is repaid from the reserve as well.
        let repaid = if self.uploads_left < 0 {
            self.uploads / 8
        } else {
            0
        };
        self.uploads_left = (self.uploads_left + self.uploads + repaid).min(self.uploads);
        // While some textures have no resident level, half of the uploads are reserved for their coarse levels.
        self.had_missing = self.frame_uploads.missing > 0;
        self.reserve = self.uploads / if self.had_missing { 2 } else { 8 };
        self.frame_uploads = FrameUploads::default();
        for index in 0..self.pins.len() {
            let violation = self.request(self.pins[index]).err();
            self.violation = self.violation.take().or(violation);
        }
    }

    /// Requests a texture in every frame from the next on, before all others.
    pub fn pin(&mut self, request: Request) {
        self.unpin(request.texture);
        self.pins.push(request);
    }

    /// Stops requesting a [pinned](UploadLimiter::pin) texture in every frame.
    pub fn unpin(&mut self, texture: TextureId) {
        self.pins.retain(|pinned| pinned.texture != texture);
    }

    /// The pinned textures.
    pub fn pins(&self) -> &[Request] {
        &self.pins
    }

    /// Uploads a texture that later frames will request, if this frame's requests left enough of the budget and all found a resident level; returns
    /// true if the texture is resident at that level. Call it after the frame's requests.
    ///
    /// # Errors
    /// If the policy breaks a rule.
    pub fn prefetch(&mut self, request: Request) -> Result<bool> {
        let is_there = self.level(request.texture) >= Some(request.level);
        let waits = self.retry_from.get(request.texture.index()) > Some(&self.frame);
        let fits = self.uploads_left >= self.policy.upload_size(request).0 as i64;
        if !is_there && (!fits || waits || self.frame_uploads.missing > 0) {
            return Ok(false);
        }
        let before = self.frame_uploads.uploaded;
        let is_there = self.request_from_policy(request)?;
        self.uploads_left -= (self.frame_uploads.uploaded - before).0 as i64;
        self.frame_uploads.prefetched += u32::from(self.frame_uploads.uploaded > before);
        Ok(is_there)
    }

    /// Requests a texture. Call it for the most urgent textures first.
    ///
    /// # Errors
    /// If the policy breaks a rule.
    pub fn request(&mut self, request: Request) -> Result<ServedLevel> {
        let index = request.texture.index();
        if self.retry_from.len() <= index {
            self.retry_from.resize(index + 1, 0);
        }
        if self.level(request.texture) >= Some(request.level) {
            self.request_from_policy(request)?;
            self.frame_uploads.at_requested_level += 1;
            return Ok(ServedLevel::Requested);
        }
        let had = self.level(request.texture).is_some();
        let alone = self.uploads_left == self.uploads;
        let mut refused = self.retry_from[index] > self.frame;
        let withheld = if self.had_missing { self.reserve.max(0) } else { 0 };
        let bytes = self.policy.upload_size(request).0 as i64;
        if !refused && (alone || self.uploads_left - withheld >= bytes) {
            let before = self.frame_uploads.uploaded;
            if self.request_from_policy(request)? {
                self.uploads_left -= bytes;
                // An upload larger than the rest of the budget also uses the reserve.
                self.reserve = match self.had_missing {
                    true => self.reserve.min(self.uploads_left),
                    false => self.reserve + self.uploads_left.min(0),
                };
                self.frame_uploads.at_requested_level += 1;
                return Ok(ServedLevel::Requested);
            }
            // Some of several levels may have been placed.
            self.uploads_left -= (self.frame_uploads.uploaded - before).0 as i64;
            refused = true;
            if had && self.level(request.texture).is_none() {
                self.retry_from[index] = self.frame + RETRY_FRAMES;
            }
        }
        self.frame_uploads.waiting += request.size;
        let served = self.serve_coarser(request, refused)?;
        match served {
            ServedLevel::Missing => self.frame_uploads.missing += 1,
            _ => self.frame_uploads.coarser += 1,
        }
        Ok(served)
    }

    /// Releases and unpins a texture that is destroyed, or whose contents are replaced. If the policy breaks a rule,
    /// [`end_frame`](UploadLimiter::end_frame) returns the error.
    pub fn release(&mut self, texture: TextureId) {
        let violation = self.policy.release(texture).err();
        self.violation = self.violation.take().or(violation);
        self.unpin(texture);
        self.count();
        if let Some(retry_from) = self.retry_from.get_mut(texture.index()) {
            *retry_from = 0;
        }
    }

    /// Ends a frame.
    ///
    /// # Errors
    /// If the policy breaks a rule, or broke one for a pinned or released texture. The frame has ended in any case.
    pub fn end_frame(&mut self) -> Result<()> {
        let ended = self.policy.end_frame();
        self.count();
        self.violation.take().map_or(ended, Err)
    }

    /// Changes the memory budget.
    ///
    /// # Errors
    /// Those of [`Policy::set_budget`](crate::Policy::set_budget), or if the policy breaks a rule; the budget is unchanged then.
    pub fn set_budget(&mut self, budget: Bytes) -> Result<()> {
        let changed = self.policy.set_budget(budget);
        self.count();
        changed?;
        self.retry_from.fill(0);
        Ok(())
    }

    /// Requests a texture from the policy; returns true if it is then resident.
    fn request_from_policy(&mut self, request: Request) -> Result<bool> {
        let outcome = self.policy.request(request)?;
        self.count();
        Ok(outcome != RequestOutcome::Bypass)
    }

    /// Serves a coarser level: the resident one, or the finest one that can still be uploaded; [`ServedLevel::Missing`] if there is none. If the
    /// policy bypassed the requested level, successively coarser ones are requested.
    fn serve_coarser(&mut self, request: Request, refused: bool) -> Result<ServedLevel> {
        let coarser = |level: Level, size: Bytes| Request {
            level,
            size,
            ..request
        };
        if let Some(level) = self.level(request.texture) {
            let size = self.geometry.size(request.chain, level);
            self.request_from_policy(coarser(level, size.expect("the resident level exists")))?;
            return Ok(ServedLevel::Coarser(level));
        }
        for level in (0..request.level.0).rev().map(Level) {
            let size = self.geometry.size(request.chain, level).expect("a coarser level");
            // A bypassed texture uses the budget, as if this level had been requested; a waiting one uses a little of the
            // reserve, so that it suffices for all.
            let bytes = size.0 as i64;
            let from_reserve = !(refused && self.uploads_left >= bytes);
            let from = if !from_reserve {
                &mut self.uploads_left
            } else if level == Level(0) || bytes <= self.uploads / 128 {
                &mut self.reserve
            } else {
                continue;
            };
            if *from < bytes {
                continue;
            }
            *from -= bytes;
            if from_reserve && self.had_missing {
                self.uploads_left -= bytes;
            }
            if self.request_from_policy(coarser(level, size))? {
                return Ok(ServedLevel::Coarser(level));
            }
        }
        Ok(ServedLevel::Missing)
    }

    /// Adds new journal events to the counts of this frame.
    fn count(&mut self) {
        for event in &self.policy.journal.events()[self.counted_events..] {
            match *event {
                CacheEvent::Place { upload, .. } => self.frame_uploads.uploaded += upload,
                CacheEvent::Evict { block, .. } => self.frame_uploads.evicted += block,
                CacheEvent::Move { block, .. } => self.frame_uploads.moved += block,
                CacheEvent::Shrink { .. } | CacheEvent::Walls { .. } => {}
            }
        }
        self.counted_events = self.policy.journal.events().len();
    }
}
