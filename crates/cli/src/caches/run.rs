//! Replays a trace through one policy.

use std::path::Path;
use std::time::{Duration, Instant};

use tileheap::units::Bytes;
use tileheap_textures::replay::{Replay, TraceSummary};
use tileheap_textures::trace::TraceEntry;
use tileheap_textures::{CacheEvent, Geometry, Journal, Policy, PolicyDesc};

use super::trace::{Trace, next};
use crate::error::{Error, Result};

pub(super) struct Run {
    policy: PolicyDesc<'static>,
    replay: Replay,
    /// A second instance of the policy, for a timed run without checks.
    timed: Option<Box<dyn Policy>>,
    nanoseconds: f64,
    uses: Vec<u64>,
    hits: Vec<u64>,
    /// The current end of each arena.
    arena_ends: Vec<u64>,
    arena_end_history: Vec<Vec<u64>>,
}

/// The results of a policy.
pub(crate) struct Report {
    pub(crate) policy: PolicyDesc<'static>,
    pub(crate) summary: TraceSummary,
    /// Mean time per request, in nanoseconds.
    pub(crate) nanoseconds: f64,
    /// The traffic of each frame, in bytes.
    pub(crate) traffic: Vec<u64>,
    /// The number of requests in each frame; `hits` has the number of hits.
    pub(crate) uses: Vec<u64>,
    pub(crate) hits: Vec<u64>,
    /// The end of each arena per frame; empty for policies without arenas.
    pub(crate) arena_ends: Vec<Vec<u64>>,
}

impl Run {
    pub(super) fn new(
        policy: PolicyDesc<'static>,
        geometry: &Geometry,
        budget: Bytes,
        seed: u64,
    ) -> Result<Run, tileheap_textures::Error> {
        Ok(Run {
            policy,
            replay: Replay::new(&policy, geometry, budget, seed)?,
            timed: Some(policy.create(geometry, budget, seed)?),
            nanoseconds: 0.0,
            uses: Vec::new(),
            hits: Vec::new(),
            arena_ends: Vec::new(),
            arena_end_history: Vec::new(),
        })
    }

    pub(super) fn play(&mut self, entry: TraceEntry) -> Result<()> {
        let arena_ends = &mut self.arena_ends;
        let played = self.replay.play_with(entry, |event| {
            if let CacheEvent::Walls { arena, end, .. } = *event {
                let arena = arena as usize;
                if arena_ends.len() <= arena {
                    arena_ends.resize(arena + 1, 0);
                }
                arena_ends[arena] = end.0;
            }
        });
        played.map_err(|error| Error::new(error.to_string()))?;
        if entry == TraceEntry::EndFrame {
            let frame = self.replay.last_frame();
            self.uses.push(frame.uses);
            self.hits.push(frame.hits);
            if !self.arena_ends.is_empty() {
                self.arena_end_history.push(self.arena_ends.clone());
            }
        }
        Ok(())
    }

    /// Replays the trace again, timing whole frames.
    pub(super) fn time(&mut self, mut trace: Trace, path: &Path) -> Result<()> {
        let mut policy = self.timed.take().expect("a run is timed only once");
        let (mut spent, mut uses, mut frame) = (Duration::ZERO, 0_u64, Vec::new());
        let mut journal = Journal::new();
        while let Some(entry) = next(&mut trace, path)? {
            frame.push(entry);
            if entry != TraceEntry::EndFrame {
                continue;
            }
            journal.clear();
            let start = Instant::now();
            for &entry in &frame {
                match entry {
                    TraceEntry::Use(request) => {
                        uses += 1;
                        std::hint::black_box(policy.request(request, &mut journal));
                    }
                    TraceEntry::Release(texture) => policy.release(texture, &mut journal),
                    TraceEntry::EndFrame => policy.end_frame(&mut journal),
                }
            }
            spent += start.elapsed();
            frame.clear();
        }
        self.nanoseconds = spent.as_nanos() as f64 / uses.max(1) as f64;
        Ok(())
    }

    pub(super) fn finish(self) -> Report {
        Report {
            policy: self.policy,
            nanoseconds: self.nanoseconds,
            traffic: self.replay.traffic().to_vec(),
            uses: self.uses,
            hits: self.hits,
            summary: self.replay.finish(),
            arena_ends: self.arena_end_history,
        }
    }
}
