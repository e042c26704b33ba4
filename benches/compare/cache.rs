//! What texture caches upload, by every policy.

use tileheap::units::Bytes;
use tileheap_baselines::textures::{ALL, HeapCache, Order, next_uses};
use tileheap_textures::Policy;
use tileheap_textures::replay::{Distribution, Replay, lower_bound};
use tileheap_textures::scenario::{Scenario, working_set};
use tileheap_textures::trace::Entry;

use crate::rows::{Better, Rows, Side, Table, Unit};

pub(crate) fn compare(rows: &mut Rows) {
    rows.table(Table {
        name: "cache",
        title: "Cache traffic",
        says: "Bytes uploaded or bypassed a frame, mean over a generated trace (seed 0), every step of every policy checked. Budgets are \
               shares of the working set. Nobody who stores whole textures can go below the bound; Belady's policy knows the future. \
               The paper's first attempt splits mip chains and can go below it.",
        unit: Unit::Bytes,
        better: Better::Lower,
    });
    let (frames, budgets): (u32, &[u64]) = if rows.quick {
        (30, &[80])
    } else {
        (240, &[50, 80, 105])
    };
    for scenario in Scenario::ALL {
        // Thousands of textures in each frame.
        let frames = if scenario == Scenario::Switch {
            frames / 4
        } else {
            frames
        };
        let entries = scenario.entries(0, frames);
        let geometry = scenario.geometry();
        for &budget in budgets {
            let case = format!(
                "{}, {budget} % of the working set, {frames} frames",
                scenario.name()
            );
            let bytes = working_set(&entries, geometry.unit()).0 * budget / 100;
            let bytes = Bytes(bytes.max(geometry.largest().0));
            let bound = Distribution::of(&lower_bound(&entries, bytes)).mean;
            rows.add(&case, "bound", Side::LowerBound, Some(bound.0 as f64));
            let belady = HeapCache::new(&geometry, bytes, Order::Belady(next_uses(&entries)), 0);
            let belady = belady.expect("the budget holds a texture").compacting();
            rows.add(
                &case,
                "belady",
                Side::LowerBound,
                Some(play(Box::new(belady), scenario, bytes, &entries)),
            );
            for desc in ALL {
                let side = if matches!(desc.name, "coherent" | "coherent-still") {
                    Side::Ours
                } else {
                    Side::Baseline
                };
                let policy = desc
                    .create(&geometry, bytes, 0)
                    .expect("the budget holds a texture");
                rows.add(
                    &case,
                    desc.name,
                    side,
                    Some(play(policy, scenario, bytes, &entries)),
                );
            }
        }
    }
}

fn play(policy: Box<dyn Policy>, scenario: Scenario, budget: Bytes, entries: &[Entry]) -> f64 {
    let mut replay = Replay::new(policy, &scenario.geometry(), budget);
    for &entry in entries {
        replay
            .play(entry)
            .unwrap_or_else(|fault| panic!("{} in {budget}: {fault}", scenario.name()));
    }
    replay.finish().traffic.mean.0 as f64
}
