//! Compares the policies of texture caches by the bytes that they upload.

use tileheap_baselines::textures::ALL;
use tileheap_testkit::contest::{BELADY, ContestDesc, LOWER_BOUND};
use tileheap_textures::scenario::Scenario;

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
    let contest = ContestDesc {
        policies: &ALL,
        belady: true,
        seeds: 0..1,
        frames,
    };
    for scenario in Scenario::ALL {
        for &budget in budgets {
            let case = format!("{}, {budget} % of the working set", scenario.name());
            for (name, cell) in contest.contest(scenario, budget) {
                let side = match name {
                    LOWER_BOUND | BELADY => Side::LowerBound,
                    "coherent" | "coherent-still" => Side::Ours,
                    _ => Side::Baseline,
                };
                let name = if name == LOWER_BOUND { "bound" } else { name };
                rows.add(&case, name, side, Some(cell.mean as f64));
            }
        }
    }
}
