//! Replays of texture caches as a chart: what `tileheap replay --json` writes in, curves over frames and a table of policies out.

use serde_json::Value;

use super::chart::{Chart, amount};
use super::frame::{bytes, list, text};
use super::numbers::{Cell, Curve, Form, Series, Table, Unit};

pub(crate) fn chart(replay: &Value) -> Chart {
    let policies = list(&replay["policies"]);
    let (budget, frames) = (bytes(&replay["budget"]), bytes(&replay["frames"]));
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("memory", amount(budget)),
        fact("frames", frames.to_string()),
        fact("uses", bytes(&replay["uses"]).to_string()),
    ];
    let best = policies
        .iter()
        .min_by_key(|policy| bytes(&policy["traffic"]["mean"]));
    if let Some(best) = best.filter(|_| policies.len() > 1) {
        let mean = amount(bytes(&best["traffic"]["mean"]));
        facts.insert(
            0,
            fact(
                "uploads least",
                format!("{}, {mean} a frame", text(&best["policy"])),
            ),
        );
    }
    if let Some(mean) = replay["bound"]["mean"].as_u64() {
        facts.push(fact(
            "no policy can go below",
            format!("{} a frame", amount(mean)),
        ));
    }
    let name = text(&replay["trace"]);
    let name = std::path::Path::new(name)
        .file_name()
        .map_or(name.into(), |name| name.to_string_lossy());
    Chart {
        title: format!("{name} through caches of {}", amount(budget)),
        facts,
        curves: curves(replay, policies, frames as usize),
        tables: vec![table(replay, policies)],
        ..Chart::default()
    }
}

fn curves(replay: &Value, policies: &[Value], frames: usize) -> Vec<Curve> {
    let numbers = |list: &Value| {
        list.as_array()
            .map(|list| list.iter().map(bytes).collect::<Vec<u64>>())
    };
    let at: Vec<String> = (0..frames).map(|frame| format!("frame {frame}")).collect();
    let traffic = policies.iter().filter_map(|policy| {
        let levels = &policy["traffic"];
        let level = |name: &str| amount(bytes(&levels[name]));
        Some(Series {
            name: text(&policy["policy"]).to_owned(),
            values: numbers(&policy["frame_bytes"])?,
            note: format!(
                "mean {}, p99 {}, most {}",
                level("mean"),
                level("p99"),
                level("max")
            ),
        })
    });
    let uses = numbers(&replay["frame_uses"]).unwrap_or_default();
    let hits = policies.iter().filter_map(|policy| {
        let hits = numbers(&policy["frame_hits"])?;
        let share = |hits: u64, uses: u64| (u128::from(hits) * 1000 / u128::from(uses.max(1))) as u64;
        Some(Series {
            name: text(&policy["policy"]).to_owned(),
            note: format!(
                "{} of all uses",
                Unit::Share.shown(share(hits.iter().sum(), uses.iter().sum()))
            ),
            // A frame that asks for nothing misses nothing.
            values: hits
                .iter()
                .zip(&uses)
                .map(|(&hits, &uses)| if uses == 0 { 1000 } else { share(hits, uses) })
                .collect(),
        })
    });
    let mut curves = vec![
        Curve {
            title: "Uploaded or bypassed in each frame".to_owned(),
            form: Form::Bars,
            series: traffic.collect(),
            ..Curve::default()
        },
        Curve {
            title: "Hit rate of each frame".to_owned(),
            unit: Unit::Share,
            top: 1000,
            series: hits.collect(),
            ..Curve::default()
        },
    ];
    for policy in policies {
        let ends = list(&policy["arena_ends"]);
        let arenas = ends.iter().map(|ends| list(ends).len()).max().unwrap_or(0);
        if arenas == 0 {
            continue;
        }
        // The smallest blocks first, as the arenas lie; an arena that is not there yet ends where memory begins.
        let series = (0..arenas).map(|arena| Series {
            name: format!("arena {arena}"),
            values: ends.iter().map(|ends| bytes(&ends[arena])).collect(),
            note: String::new(),
        });
        curves.push(Curve {
            title: format!("Arena walls: {}", text(&policy["policy"])),
            form: Form::Bands,
            top: bytes(&replay["budget"]),
            series: series.collect(),
            ..Curve::default()
        });
    }
    curves.retain(|curve| !curve.series.is_empty());
    for curve in &mut curves {
        curve.across = "frame".to_owned();
        curve.at.clone_from(&at);
    }
    curves
}

fn table(replay: &Value, policies: &[Value]) -> Table {
    let columns = [
        "policy",
        "mean a frame",
        "p99",
        "most",
        "hits",
        "byte hits",
        "wrongful",
        "bypasses",
        "reloads within 8",
        "moved",
        "ns a use",
    ];
    let share = |part: &Value, whole: &Value| {
        Cell::share((u128::from(bytes(part)) * 1000 / u128::from(bytes(whole).max(1))) as u64)
    };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for policy in policies {
        let levels = &policy["traffic"];
        let nanoseconds = policy["nanoseconds_per_use"].as_f64().unwrap_or(0.0) as u64;
        rows.push(vec![
            Cell::word(text(&policy["policy"])),
            Cell::bytes(bytes(&levels["mean"])),
            Cell::bytes(bytes(&levels["p99"])),
            Cell::bytes(bytes(&levels["max"])),
            share(&policy["hits"], &replay["uses"]),
            share(&policy["hit_bytes"], &policy["used_bytes"]),
            Cell::count(bytes(&policy["wrongful"])),
            Cell::count(bytes(&policy["bypasses"])),
            Cell::count(bytes(&policy["reloads"]["8"])),
            Cell::bytes(bytes(&policy["moved_bytes"])),
            Cell::count(nanoseconds),
        ]);
    }
    if replay["bound"].is_object() {
        let level = |name: &str| Cell::bytes(bytes(&replay["bound"][name]));
        let mut row = vec![Cell::word("at least"), level("mean"), level("p99"), level("max")];
        row.resize(columns.len(), Cell::word(""));
        rows.push(row);
    }
    Table {
        title: "Policies".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows,
        chosen: None,
    }
}
