//! Converts a replay to the JSON document that `tileheap report` draws.

use tileheap_textures::replay::Distribution;

use super::replay::ReplayResult;
use super::run::Report;
use crate::documents::{self, Policy, Reloads, Replay};

/// Returns a document with the results of each policy: bytes, hits and arena ends per frame.
pub(crate) fn document(played: &ReplayResult) -> Replay {
    let ReplayResult {
        reports, lower_bound, ..
    } = played;
    let levels = |levels: Distribution| documents::TrafficStatistics {
        mean: levels.mean.0,
        p99: levels.p99.0,
        max: levels.max.0,
    };
    let policy = |report: &Report| {
        let (summary, total) = (&report.summary, &report.summary.total);
        Policy {
            policy: report.policy.to_string(),
            traffic: levels(summary.traffic),
            hits: total.hits,
            uploads: total.uploads,
            bypasses: total.bypasses,
            used_bytes: total.used_bytes.0,
            hit_bytes: total.hit_bytes.0,
            uploaded_bytes: total.uploaded.0,
            bypassed_bytes: total.bypassed.0,
            moved_bytes: total.moved.0,
            wrongful_evictions: total.wrongful,
            reloads: Reloads {
                within_1: total.reloads_1,
                within_8: total.reloads_8,
                within_60: total.reloads_60,
            },
            fragmentation_thousandths: summary.fragmentation,
            internal_bytes: summary.internal.0,
            worst_gap_bytes: summary.worst_gap.0,
            wall_moves: summary.wall_stats.wall_moves,
            wall_reversals: summary.wall_stats.reversals,
            nanoseconds_per_request: report.nanoseconds,
            frame_bytes: report.traffic.clone(),
            frame_hits: report.hits.clone(),
            arena_ends: report.arena_ends.clone(),
        }
    };
    let first = reports.first();
    Replay {
        trace: played.trace.display().to_string(),
        budget: played.budget.0,
        seed: played.seed,
        frames: first.map_or(0, |report| report.summary.frames),
        uses: first.map_or(0, |report| report.summary.total.uses),
        frame_uses: first.map_or_else(Vec::new, |report| report.uses.clone()),
        lower_bound: lower_bound.map(levels),
        policies: reports.iter().map(policy).collect(),
    }
}
