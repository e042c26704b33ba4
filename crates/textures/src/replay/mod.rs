#![doc = include_str!("../../docs/replay.md")]

mod checker;
mod judged;
mod lower_bound;
mod stats;
mod violation;

pub(crate) use judged::JudgedPolicy;
pub use lower_bound::lower_bound;
pub use stats::{Distribution, FrameStats, TraceSummary};
pub use violation::{PolicyRule, Violation};

use crate::Geometry;
use crate::arenas::WallStats;
use crate::error::Result;
use crate::ids::TextureId;
use crate::journal::{CacheEvent, EvictionReason};
use crate::policy::PolicyDesc;
use crate::request::{Request, RequestOutcome};
use crate::trace::TraceEntry;
use crate::units::Bytes;

/// Plays a trace through a policy, with checks and statistics.
pub struct Replay {
    policy: JudgedPolicy,
    /// For each texture, the frame of its last use, and the frame in which the policy last evicted
    /// it, counted from 1; 0 for never.
    used: Vec<(u64, u64)>,
    frame: FrameStats,
    last: FrameStats,
    summary: TraceSummary,
    traffic: Vec<u64>,
    /// For each texture, the unused bytes in its blocks; `internal` is the sum over all textures.
    unused_bytes: Vec<u64>,
    internal: u64,
    internal_sum: u128,
    samples: (u64, u64),
}

impl Replay {
    /// A replay of a policy, with a seed for its random choices.
    ///
    /// # Errors
    /// Those of [`PolicyDesc::create`].
    pub fn new(policy: &PolicyDesc<'_>, geometry: &Geometry, budget: Bytes, seed: u64) -> Result<Replay> {
        Ok(Replay {
            policy: JudgedPolicy::new(policy, geometry, budget, seed)?,
            used: Vec::new(),
            frame: FrameStats::default(),
            last: FrameStats::default(),
            summary: TraceSummary::default(),
            traffic: Vec::new(),
            unused_bytes: Vec::new(),
            internal: 0,
            internal_sum: 0,
            samples: (0, 0),
        })
    }

    /// Statistics of the last complete frame.
    pub fn last_frame(&self) -> &FrameStats {
        &self.last
    }

    /// Statistics of the walls between arenas.
    pub fn wall_stats(&self) -> WallStats {
        self.policy.policy.wall_stats()
    }

    /// The traffic of every frame so far, in bytes.
    pub fn traffic(&self) -> &[u64] {
        &self.traffic
    }

    /// Plays one entry of a trace.
    ///
    /// # Errors
    /// If the policy breaks a rule ([`Violation`]).
    pub fn play(&mut self, entry: TraceEntry) -> Result<()> {
        self.play_with(entry, |_| {})
    }

    /// Like [`play`](Replay::play), but calls `see` for each event.
    ///
    /// # Errors
    /// Those of [`play`](Replay::play).
    pub fn play_with(&mut self, entry: TraceEntry, see: impl FnMut(&CacheEvent)) -> Result<()> {
        self.policy.journal.clear();
        match entry {
            TraceEntry::Use(request) => {
                let outcome = self.policy.request(request)?;
                self.record_use(request.texture);
                self.count_events(Some(request));
                self.count(request, outcome);
            }
            TraceEntry::Release(texture) => {
                self.policy.release(texture)?;
                self.count_events(None);
            }
            TraceEntry::EndFrame => {
                self.policy.end_frame()?;
                self.count_events(None);
                self.end_frame();
            }
        }
        self.policy.journal.events().iter().for_each(see);
        Ok(())
    }

    /// Changes the budget, between two frames.
    ///
    /// # Errors
    /// If the policy refuses it, or a block extends past it.
    pub fn set_budget(&mut self, budget: Bytes) -> Result<()> {
        self.policy.journal.clear();
        self.policy.set_budget(budget)?;
        self.count_events(None);
        Ok(())
    }

    /// Statistics of all complete frames.
    pub fn finish(self) -> TraceSummary {
        let frames = self.summary.frames;
        TraceSummary {
            traffic: Distribution::of(&self.traffic),
            fragmentation: self.samples.0 / self.samples.1.max(1),
            internal: Bytes((self.internal_sum / u128::from(frames.max(1))) as u64),
            wall_stats: self.policy.policy.wall_stats(),
            ..self.summary
        }
    }

    fn record_use(&mut self, texture: TextureId) {
        if self.used.len() <= texture.index() {
            self.used.resize(texture.index() + 1, (0, 0));
            self.unused_bytes.resize(texture.index() + 1, 0);
        }
        self.used[texture.index()].0 = self.summary.frames + 1;
    }

    /// Counts the events of `request`, or of another call if it is `None`.
    fn count_events(&mut self, request: Option<Request>) {
        let now = self.summary.frames + 1;
        let mut upgraded = false;
        for &event in self.policy.journal.events() {
            match event {
                CacheEvent::Place {
                    texture,
                    block,
                    upload,
                    ..
                } => {
                    let left = self.used[texture.index()].1;
                    let ago = now - left;
                    self.frame.uploaded += upload;
                    self.frame.reloads_1 += u64::from(left > 0 && ago <= 1);
                    self.frame.reloads_8 += u64::from(left > 0 && ago <= 8);
                    self.frame.reloads_60 += u64::from(left > 0 && ago <= 60);
                    // Kept levels are in the block too.
                    let kept = request.filter(|request| upgraded && request.texture == texture);
                    let holds = kept.map_or(upload, |request| request.size);
                    self.unused_bytes[texture.index()] += (block - holds).0;
                    self.internal += (block - holds).0;
                    self.frame.moved += holds - upload;
                }
                CacheEvent::Evict { texture, reason, .. } => {
                    let (used, left) = &mut self.used[texture.index()];
                    upgraded |= reason == EvictionReason::Upgraded;
                    if matches!(reason, EvictionReason::Replaced | EvictionReason::Wall) {
                        *left = now;
                        self.frame.wrongful += u64::from(*used == now);
                    }
                    self.internal -= std::mem::take(&mut self.unused_bytes[texture.index()]);
                }
                CacheEvent::Move { block, .. } => self.frame.moved += block,
                // The remaining bytes count as moved, since they may have to be copied.
                CacheEvent::Shrink { texture, block, .. } => {
                    self.frame.moved += block;
                    self.internal -= std::mem::take(&mut self.unused_bytes[texture.index()]);
                }
                CacheEvent::Walls { .. } => {}
            }
        }
    }

    fn count(&mut self, request: Request, outcome: RequestOutcome) {
        let frame = &mut self.frame;
        frame.uses += 1;
        frame.used_bytes += request.size;
        match outcome {
            RequestOutcome::Hit { .. } => {
                frame.hits += 1;
                frame.hit_bytes += request.size;
            }
            RequestOutcome::Upload { .. } => frame.uploads += 1,
            RequestOutcome::Bypass => {
                frame.bypasses += 1;
                frame.bypassed += request.size;
            }
        }
    }

    fn end_frame(&mut self) {
        let (wall_stats, checker) = (self.policy.policy.wall_stats(), &self.policy.checker);
        if self.summary.frames % 16 == 0 {
            let free = checker.budget() - checker.taken();
            if free > Bytes::ZERO {
                let hole = checker.largest_hole();
                self.samples.0 += 1000 - (u128::from(hole.0) * 1000 / u128::from(free.0)) as u64;
                self.samples.1 += 1;
            }
        }
        self.summary.worst_gap = self.summary.worst_gap.max(wall_stats.gaps);
        self.internal_sum += u128::from(self.internal);
        self.summary.total.add(&self.frame);
        self.traffic.push(self.frame.traffic().0);
        self.last = std::mem::take(&mut self.frame);
        self.summary.frames += 1;
    }
}
