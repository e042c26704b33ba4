//! Every policy on every scenario, checked at every step, against what no policy can go below.

use std::collections::BTreeMap;
use std::fmt::Write;

use tileheap::cache::replay::{Levels, Replay, Summary};
use tileheap::cache::scenario::{Scenario, working_set};
use tileheap::cache::trace::Entry;
use tileheap::cache::{HeapCache, Order, Policy, PolicyKind, floor, next_uses};
use tileheap::units::Bytes;

/// Budgets in hundredths of the working set.
const BUDGETS: [u64; 5] = [50, 80, 95, 105, 150];

fn play<P: Policy>(policy: P, scenario: Scenario, budget: Bytes, entries: &[Entry], name: &str) -> Summary {
    let mut replay = Replay::new(policy, &scenario.geometry(), budget);
    for &entry in entries {
        if let Err(fault) = replay.play(entry) {
            panic!("{name} on {} in {budget}: {fault}", scenario.name());
        }
    }
    replay.finish()
}

/// Mean and 99th percentile of traffic per frame over seeds: medians.
struct Cell {
    mean: u64,
    p99: u64,
    wrongful: u64,
    bypasses: u64,
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

fn cell(summaries: &[Summary]) -> Cell {
    let of = |figure: &dyn Fn(&Summary) -> u64| median(summaries.iter().map(figure).collect());
    Cell {
        mean: of(&|summary| summary.traffic.mean.0),
        p99: of(&|summary| summary.traffic.p99.0),
        wrongful: of(&|summary| summary.total.wrongful),
        bypasses: of(&|summary| summary.total.bypasses),
    }
}

/// One scenario at one budget over all seeds, by policy; `floor` is the bound, `belady` the offline policy.
fn contest(scenario: Scenario, budget: u64, seeds: u64, frames: u32) -> BTreeMap<&'static str, Cell> {
    let mut all: BTreeMap<&'static str, Vec<Summary>> = BTreeMap::new();
    for seed in 0..seeds {
        // Thousands of textures in each frame.
        let frames = if scenario == Scenario::Switch {
            frames / 4
        } else {
            frames
        };
        let entries = scenario.entries(seed, frames);
        let geometry = scenario.geometry();
        let bytes = working_set(&entries, geometry.unit()).0 * budget / 100;
        let bytes = Bytes(bytes.max(geometry.largest().0));
        let bound = Summary {
            traffic: Levels::of(&floor(&entries, bytes)),
            ..Summary::default()
        };
        all.entry("floor").or_default().push(bound);
        let belady = HeapCache::new(&geometry, bytes, Order::Belady(next_uses(&entries)), seed);
        let belady = belady.expect("the budget holds a texture").compacting();
        let belady = play(belady, scenario, bytes, &entries, "belady");
        all.entry("belady").or_default().push(belady);
        for kind in PolicyKind::ALL {
            let policy = kind
                .build(&geometry, bytes, seed)
                .expect("the budget holds a texture");
            let summary = play(policy, scenario, bytes, &entries, kind.name());
            all.entry(kind.name()).or_default().push(summary);
        }
    }
    all.into_iter()
        .map(|(name, summaries)| (name, cell(&summaries)))
        .collect()
}

fn table(scenario: Scenario, budget: u64, cells: &BTreeMap<&'static str, Cell>) -> String {
    let floor = cells["floor"].mean;
    let mut text = format!(
        "{} at {}.{:02} of the working set\n",
        scenario.name(),
        budget / 100,
        budget % 100
    );
    let mut rows: Vec<_> = cells.iter().collect();
    rows.sort_by_key(|(_, cell)| cell.mean);
    for (name, cell) in rows {
        let ratio = cell.mean as f64 / floor.max(1) as f64;
        writeln!(
            text,
            "  {name:<18} mean {:>10}  x {ratio:>8.3}  p99 {:>10}  wrongful {:>8}  bypasses {:>8}",
            cell.mean, cell.p99, cell.wrongful, cell.bypasses
        )
        .expect("a string");
    }
    text
}

/// On every scenario and budget, ours is no worse than 1.05 of the best of the others in mean bytes, and nobody who uploads
/// whole chains goes below the bound.
#[test]
fn ours_is_the_best_of_the_online_policies() {
    for scenario in Scenario::ALL {
        for budget in BUDGETS {
            let cells = contest(scenario, budget, 1, 60);
            let text = table(scenario, budget, &cells);
            let ours = cells["coherent"].mean;
            let online = cells
                .iter()
                .filter(|(name, _)| !["coherent", "belady", "floor"].contains(name));
            let best = online.map(|(_, cell)| cell.mean).min().expect("others");
            assert!(ours * 100 <= best * 105, "{text}");
            for (name, cell) in &cells {
                assert!(
                    *name == "first-attempt" || cell.mean >= cells["floor"].mean,
                    "{name}\n{text}"
                );
            }
        }
    }
}

#[test]
#[ignore = "the whole table takes minutes: cargo test --no-default-features --test cache_tournament -- --ignored --nocapture"]
fn whole_table() {
    let seeds = std::env::var("TILEHEAP_SEEDS").map_or(10, |seeds| seeds.parse().expect("a number of seeds"));
    let frames =
        std::env::var("TILEHEAP_FRAMES").map_or(600, |frames| frames.parse().expect("a number of frames"));
    let only = std::env::var("TILEHEAP_SCENARIO").ok();
    for scenario in Scenario::ALL {
        if only.as_deref().is_some_and(|only| only != scenario.name()) {
            continue;
        }
        for budget in BUDGETS {
            let cells = contest(scenario, budget, seeds, frames);
            println!("{}", table(scenario, budget, &cells));
        }
    }
}
