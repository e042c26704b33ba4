//! A policy whose every result is checked before it takes effect.

use super::checker::{Call, Checker};
use crate::Geometry;
use crate::error::{Error, Result};
use crate::ids::{Level, TextureId};
use crate::journal::{CacheEvent, EvictionReason, Journal};
use crate::policy::{Policy, PolicyDesc, UploadMode};
use crate::request::{Request, RequestOutcome};
use crate::units::Bytes;

/// A policy with a checker of its results: a result that breaks a rule is an error and changes nothing.
///
/// The textures named by such a result stay unchanged until the end of the frame, when they are evicted. The policy is told
/// immediately that they were released, so that both agree on what is resident.
pub(crate) struct JudgedPolicy {
    name: String,
    uploads: UploadMode,
    pub(crate) policy: Box<dyn Policy>,
    pub(super) checker: Checker,
    pub(crate) journal: Journal,
    /// Textures that are resident, although the policy treats them as absent.
    disputed: Vec<TextureId>,
}

impl JudgedPolicy {
    /// Creates the policy and its checker.
    ///
    /// # Errors
    /// Those of [`PolicyDesc::create`].
    pub(crate) fn new(
        desc: &PolicyDesc<'_>,
        geometry: &Geometry,
        budget: Bytes,
        seed: u64,
    ) -> Result<JudgedPolicy> {
        Ok(JudgedPolicy {
            name: desc.name.to_owned(),
            uploads: desc.uploads,
            policy: desc.create(geometry, budget, seed)?,
            checker: Checker::new(geometry, budget, desc.evicts_in_use),
            journal: Journal::new(),
            disputed: Vec::new(),
        })
    }

    /// Offset and level of a resident texture.
    pub(crate) fn place(&self, texture: TextureId) -> Option<(Bytes, Level)> {
        self.checker.place(texture)
    }

    /// Offset of a resident part of a texture, and its level.
    pub(crate) fn part(&self, texture: TextureId, part: Level) -> Option<(Bytes, Level)> {
        self.checker.part(texture, part)
    }

    /// Bytes that a request uploads if the policy places the texture.
    pub(crate) fn upload_size(&self, request: Request) -> Bytes {
        let there = self.checker.size_of(request.texture).unwrap_or_default();
        match self.uploads {
            UploadMode::Whole => request.size,
            _ => request.size - there.min(request.size),
        }
    }

    /// Requests a texture, and checks the outcome.
    ///
    /// # Errors
    /// If the policy breaks a rule.
    pub(crate) fn request(&mut self, request: Request) -> Result<RequestOutcome> {
        if self.disputed.contains(&request.texture) {
            let resident = self
                .place(request.texture)
                .filter(|place| place.1 >= request.level);
            return Ok(
                resident.map_or(RequestOutcome::Bypass, |(offset, _)| RequestOutcome::Hit {
                    offset,
                }),
            );
        }
        let start = self.journal.events().len();
        let outcome = self.policy.request(request, &mut self.journal);
        self.judge(start, Call::Request(request, outcome))?;
        Ok(outcome)
    }

    /// Releases a texture, even if the policy breaks a rule.
    ///
    /// # Errors
    /// If the policy breaks a rule.
    pub(crate) fn release(&mut self, texture: TextureId) -> Result<()> {
        let start = self.journal.events().len();
        self.policy.release(texture, &mut self.journal);
        let mut judged = Ok(());
        if self.disputed.contains(&texture) {
            self.journal.truncate(start);
        } else {
            judged = self.judge(start, Call::Release(texture));
        }
        self.disputed.retain(|&disputed| disputed != texture);
        self.evict(texture, EvictionReason::Released);
        judged
    }

    /// Ends a frame, and checks the policy's events and its statistics of walls.
    ///
    /// # Errors
    /// If the policy breaks a rule. The frame has ended in any case.
    pub(crate) fn end_frame(&mut self) -> Result<()> {
        let start = self.journal.events().len();
        self.policy.end_frame(&mut self.journal);
        let judged = self.judge(start, Call::EndFrame(self.policy.wall_stats()));
        self.checker.end_frame();
        self.evict_disputed();
        judged
    }

    /// Changes the budget, between two frames.
    ///
    /// # Errors
    /// If the policy refuses it or breaks a rule; the budget is then unchanged.
    pub(crate) fn set_budget(&mut self, budget: Bytes) -> Result<()> {
        let (start, former) = (self.journal.events().len(), self.checker.budget());
        let changed = self.policy.set_budget(budget, &mut self.journal);
        if changed.is_err() {
            self.journal.truncate(start);
            return changed;
        }
        let judged = self.judge(start, Call::Budget(budget));
        if judged.is_err() {
            let start = self.journal.events().len();
            // It had that budget before.
            let _ = self.policy.set_budget(former, &mut self.journal);
            self.journal.truncate(start);
        }
        self.evict_disputed();
        judged
    }

    fn judge(&mut self, start: usize, call: Call) -> Result<()> {
        let events = &self.journal.events()[start..];
        let Err(mut violation) = self.checker.judge(call, events) else {
            return Ok(());
        };
        let known = self.disputed.len();
        self.disputed.extend(
            events
                .iter()
                .filter_map(CacheEvent::texture)
                .chain(call.texture()),
        );
        for &texture in &self.disputed[known..] {
            self.policy.release(texture, &mut self.journal);
        }
        self.journal.truncate(start);
        self.disputed.sort_unstable();
        self.disputed.dedup();
        self.disputed.retain(|&texture| self.checker.is_resident(texture));
        violation.policy.clone_from(&self.name);
        Err(Error::Violation(violation))
    }

    fn evict_disputed(&mut self) {
        while let Some(texture) = self.disputed.pop() {
            self.evict(texture, EvictionReason::Replaced);
        }
    }

    fn evict(&mut self, texture: TextureId, reason: EvictionReason) {
        if !self.checker.is_resident(texture) {
            return;
        }
        while let Some(block) = self.checker.evict(texture) {
            self.journal.push(CacheEvent::Evict {
                texture,
                part: block.part,
                offset: Bytes(block.offset),
                block: Bytes(block.end - block.offset),
                reason,
            });
        }
    }
}
