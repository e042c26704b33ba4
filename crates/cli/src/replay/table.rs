//! What replays came to: for people and for programs.

use tileheap_textures::replay::Levels;

use super::Played;
use super::run::Report;
use crate::documents::{self, Policy, Reloads, Replay};

/// A table with a row for each policy.
pub(super) fn text(played: &Played) -> String {
    let Played { reports, bound, .. } = played;
    let frames = reports.first().map_or(0, |report| report.summary.frames);
    let uses = reports.first().map_or(0, |report| report.summary.total.uses);
    let mut text = format!(
        "{}: {frames} frames, {uses} uses, budget {}\n\n",
        played.trace.display(),
        played.budget
    );
    text += "Bytes a frame, uploaded or bypassed\n";
    text += "  policy                  mean           p99           max  max/mean   hits  byte hits\n";
    let row = |name: &str, levels: Levels| {
        let ratio = levels.max_to_mean() as f64 / 1000.0;
        format!(
            "  {name:<16} {:>11} {:>13} {:>13}  {ratio:>8.1}",
            levels.mean.0, levels.p99.0, levels.max.0
        )
    };
    for report in reports {
        let summary = &report.summary;
        let percent = |thousandths: u64| thousandths as f64 / 10.0;
        text += &row(report.kind.name(), summary.traffic);
        text += &format!(
            "  {:>4.1} %     {:>4.1} %\n",
            percent(summary.hit_rate()),
            percent(summary.byte_hit_rate())
        );
    }
    if let Some(bound) = bound {
        text += &row("at least", *bound);
        text += "   what no policy can go below in sum\n";
    }
    text += "\nWhat it took\n";
    text += "  policy            wrongful  bypasses  reloads within 1, 8, 60 frames    holes  in blocks  moved a frame  ns a use\n";
    for report in reports {
        let (summary, total) = (&report.summary, &report.summary.total);
        let reloads = format!("{}, {}, {}", total.reloads_1, total.reloads_8, total.reloads_60);
        text += &format!(
            "  {:<16} {:>9} {:>9}  {reloads:>30}  {:>5.1} % {:>10} {:>14} {:>9.0}\n",
            report.kind.name(),
            total.wrongful,
            total.bypasses,
            summary.fragmentation as f64 / 10.0,
            summary.internal.0,
            total.moved.0 / summary.frames.max(1),
            report.nanoseconds
        );
    }
    let walled = reports
        .iter()
        .filter(|report| report.summary.gauges.worst_gaps.0 > 0);
    for (index, report) in walled.enumerate() {
        if index == 0 {
            text += "\nWalls\n";
        }
        let gauges = report.summary.gauges;
        text += &format!(
            "  {:<16} gaps of {} at most (bound {}), {} moves, {} fights\n",
            report.kind.name(),
            report.summary.worst_gap,
            gauges.worst_gaps,
            gauges.wall_moves,
            gauges.fights
        );
    }
    text
}

/// The same; and of every frame the bytes, requests, hits, and the end of every arena where there are some.
pub(super) fn document(played: &Played) -> Replay {
    let Played { reports, bound, .. } = played;
    let levels = |levels: Levels| documents::Levels {
        mean: levels.mean.0,
        p99: levels.p99.0,
        max: levels.max.0,
    };
    let policy = |report: &Report| {
        let (summary, total) = (&report.summary, &report.summary.total);
        Policy {
            policy: report.kind.name().to_owned(),
            traffic: levels(summary.traffic),
            hits: total.hits,
            uploads: total.uploads,
            bypasses: total.bypasses,
            used_bytes: total.used_bytes.0,
            hit_bytes: total.hit_bytes.0,
            uploaded_bytes: total.uploaded.0,
            bypassed_bytes: total.bypassed.0,
            moved_bytes: total.moved.0,
            wrongful: total.wrongful,
            reloads: Reloads {
                within_1: total.reloads_1,
                within_8: total.reloads_8,
                within_60: total.reloads_60,
            },
            fragmentation_thousandths: summary.fragmentation,
            internal_bytes: summary.internal.0,
            worst_gap_bytes: summary.worst_gap.0,
            wall_moves: summary.gauges.wall_moves,
            fights: summary.gauges.fights,
            nanoseconds_per_use: report.nanoseconds,
            frame_bytes: report.traffic.clone(),
            frame_hits: report.hits.clone(),
            arena_ends: report.walls.clone(),
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
        bound: bound.map(levels),
        policies: reports.iter().map(policy).collect(),
    }
}
