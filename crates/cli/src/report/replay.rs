//! Replays of texture caches as a chart: curves over frames, and a table of policies, from the JSON of `tileheap replay`.

use super::chart::Chart;
use super::numbers::{Cell, Curve, Form, Series, Table, Unit};
use super::words::amount;
use crate::documents::Replay;

pub(crate) fn chart(replay: &Replay) -> Chart {
    let mut facts = vec![
        ("memory budget", amount(replay.budget)),
        ("frames", replay.frames.to_string()),
        ("requests", replay.uses.to_string()),
    ];
    let policies = &replay.policies;
    let best = policies.iter().min_by_key(|policy| policy.traffic.mean);
    if let Some(best) = best.filter(|_| policies.len() > 1) {
        let words = format!("{}, {} per frame", best.policy, amount(best.traffic.mean));
        facts.insert(0, ("least traffic", words));
    }
    if let Some(bound) = replay.lower_bound {
        let words = format!("{} per frame", amount(bound.mean));
        facts.push(("lower bound", words));
    }
    let path = std::path::Path::new(&replay.trace);
    let name = path
        .file_name()
        .map_or(path.to_string_lossy(), |name| name.to_string_lossy());
    Chart {
        title: format!("{name}, texture cache of {}", amount(replay.budget)),
        facts,
        curves: curves(replay),
        tables: vec![table(replay)],
        ..Chart::default()
    }
}

fn curves(replay: &Replay) -> Vec<Curve> {
    let policies = &replay.policies;
    let traffic = policies.iter().map(|policy| Series {
        name: policy.policy.clone(),
        values: policy.frame_bytes.clone(),
        note: format!(
            "mean {}, p99 {}, max {}",
            amount(policy.traffic.mean),
            amount(policy.traffic.p99),
            amount(policy.traffic.max)
        ),
    });
    let uses = &replay.frame_uses;
    let hits = policies.iter().map(|policy| {
        let hits = &policy.frame_hits;
        Series {
            name: policy.policy.clone(),
            note: format!(
                "{} of all requests",
                Unit::Share.shown(share(hits.iter().sum(), uses.iter().sum()))
            ),
            // A frame without requests has no misses.
            values: hits
                .iter()
                .zip(uses)
                .map(|(&hits, &uses)| if uses == 0 { 1000 } else { share(hits, uses) })
                .collect(),
        }
    });
    let mut curves = vec![
        Curve {
            title: "Uploaded or bypassed per frame".to_owned(),
            form: Form::Bars,
            series: traffic.collect(),
            ..Curve::default()
        },
        Curve {
            title: "Hit rate per frame".to_owned(),
            unit: Unit::Share,
            top: 1000,
            series: hits.collect(),
            ..Curve::default()
        },
    ];
    for policy in policies {
        let ends = &policy.arena_ends;
        let arenas = ends.iter().map(Vec::len).max().unwrap_or(0);
        if arenas == 0 {
            continue;
        }
        // In the order of the arenas, the smallest blocks first; an arena that does not exist yet ends at 0.
        let end = |ends: &Vec<u64>, arena: usize| ends.get(arena).copied().unwrap_or(0);
        let series = (0..arenas).map(|arena| Series {
            name: format!("arena {arena}"),
            values: ends.iter().map(|ends| end(ends, arena)).collect(),
            note: String::new(),
        });
        curves.push(Curve {
            title: format!("Arena walls: {}", policy.policy),
            form: Form::Bands,
            top: replay.budget,
            series: series.collect(),
            ..Curve::default()
        });
    }
    curves.retain(|curve| !curve.series.is_empty());
    for curve in &mut curves {
        let frames = curve.series.iter().map(|series| series.values.len()).max();
        curve.across = "frame".to_owned();
        curve.at = (0..frames.unwrap_or(0))
            .map(|frame| format!("frame {frame}"))
            .collect();
    }
    curves
}

/// Thousandths.
fn share(part: u64, whole: u64) -> u64 {
    (u128::from(part) * 1000 / u128::from(whole.max(1))) as u64
}

fn table(replay: &Replay) -> Table {
    const COLUMNS: [&str; 11] = [
        "policy",
        "mean per frame",
        "p99",
        "max",
        "hits",
        "byte hits",
        "evicted in use",
        "bypasses",
        "reloads within 8 frames",
        "moved",
        "ns per request",
    ];
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for policy in &replay.policies {
        rows.push(vec![
            Cell::word(policy.policy.as_str()),
            Cell::bytes(policy.traffic.mean),
            Cell::bytes(policy.traffic.p99),
            Cell::bytes(policy.traffic.max),
            Cell::share(share(policy.hits, replay.uses)),
            Cell::share(share(policy.hit_bytes, policy.used_bytes)),
            Cell::count(policy.wrongful_evictions),
            Cell::count(policy.bypasses),
            Cell::count(policy.reloads.within_8),
            Cell::bytes(policy.moved_bytes),
            Cell::count(policy.nanoseconds_per_request as u64),
        ]);
    }
    if let Some(bound) = replay.lower_bound {
        let levels = [bound.mean, bound.p99, bound.max];
        let mut row = vec![Cell::word("lower bound")];
        row.extend(levels.map(Cell::bytes));
        row.resize(COLUMNS.len(), Cell::word(""));
        rows.push(row);
    }
    Table::new("Policies", &COLUMNS, rows)
}
