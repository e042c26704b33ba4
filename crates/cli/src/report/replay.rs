//! Replays of texture caches as a chart: curves over frames, and a table of policies, from the JSON of `tileheap replay`.

use super::chart::Chart;
use super::numbers::{Cell, Curve, Form, Series, Table, Unit};
use super::verdict::{Bar, Verdict};
use super::words::amount;
use crate::documents::{Policy, Replay};

pub(crate) fn chart(replay: &Replay) -> Chart {
    let facts = vec![
        ("memory budget", amount(replay.budget)),
        ("frames", replay.frames.to_string()),
        ("requests", replay.uses.to_string()),
    ];
    let path = std::path::Path::new(&replay.trace);
    let name = path
        .file_name()
        .map_or(path.to_string_lossy(), |name| name.to_string_lossy());
    Chart {
        title: format!("{name}, texture cache of {}", amount(replay.budget)),
        verdict: verdict(replay),
        facts,
        curves: curves(replay),
        tables: vec![table(replay)],
        ..Chart::default()
    }
}

/// The policy with the least mean traffic; `None` if there is only one policy.
fn winner(replay: &Replay) -> Option<usize> {
    let policies = &replay.policies;
    let best = (0..policies.len()).min_by_key(|&index| policies[index].traffic.mean);
    best.filter(|_| policies.len() > 1)
}

fn verdict(replay: &Replay) -> Verdict {
    let mut ranked: Vec<&Policy> = replay.policies.iter().collect();
    ranked.sort_by_key(|policy| policy.traffic.mean);
    let Some(best) = ranked.first() else {
        let sentence = "No policy was replayed.".to_owned();
        return Verdict::new(sentence, "Traffic per frame", Vec::new());
    };
    let bound = replay.lower_bound.map(|bound| bound.mean);
    let mean = best.traffic.mean;
    let above = match bound.filter(|&bound| bound > 0) {
        Some(bound) if bound == mean => ", the lower bound".to_owned(),
        Some(bound) => {
            let hundredths = (u128::from(mean) * 100).div_ceil(u128::from(bound));
            format!(
                ", {}.{:02} times the lower bound",
                hundredths / 100,
                hundredths % 100
            )
        }
        None => String::new(),
    };
    let does = if ranked.len() > 1 {
        "needs the least traffic of"
    } else {
        "uploads or bypasses"
    };
    let of = if ranked.len() > 1 {
        format!(" {} policies:", ranked.len())
    } else {
        String::new()
    };
    let sentence = format!("`{}` {does}{of} {} per frame{above}.", best.policy, amount(mean));
    // The best policy, the second best, and `lru`, which everybody knows.
    let mut bars = vec![Bar::result(best.policy.as_str(), mean, amount(mean))];
    for (rank, policy) in ranked.iter().enumerate().skip(1) {
        if rank == 1 || policy.policy == "lru" {
            let mean = policy.traffic.mean;
            bars.push(Bar::other(policy.policy.as_str(), mean, amount(mean)));
        }
    }
    bars.extend(bound.map(|bound| Bar::other("lower bound", bound, amount(bound))));
    Verdict::new(sentence, "Traffic per frame", bars)
}

fn curves(replay: &Replay) -> Vec<Curve> {
    let policies = &replay.policies;
    let best = winner(replay);
    let is_best = |index| best == Some(index);
    let named = |index, policy: &Policy| {
        let mark = if is_best(index) { ", least traffic" } else { "" };
        format!("{}{mark}", policy.policy)
    };
    let traffic = policies.iter().enumerate().map(|(index, policy)| Series {
        name: named(index, policy),
        best: is_best(index),
        values: policy.frame_bytes.clone(),
        note: format!(
            "mean {}, p99 {}, max {}",
            amount(policy.traffic.mean),
            amount(policy.traffic.p99),
            amount(policy.traffic.max)
        ),
    });
    let uses = &replay.frame_uses;
    let hits = policies.iter().enumerate().map(|(index, policy)| {
        let hits = &policy.frame_hits;
        Series {
            name: named(index, policy),
            best: is_best(index),
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
            ..Series::default()
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
        curve.axis_name = "frame".to_owned();
        curve.at = (0..frames.unwrap_or(0))
            .map(|frame| format!("frame {frame}"))
            .collect();
    }
    curves
}

/// `part` in thousandths of `whole`, rounded down.
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
    Table {
        chosen: winner(replay).map(|row| (row, "least traffic")),
        ..Table::new("Policies", &COLUMNS, rows)
    }
}
