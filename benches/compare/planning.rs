//! Whole plans: how long they take, and what share of the traffic they keep on chip.

use std::hint::black_box;
use std::sync::Arc;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::{Frame, import};
use tileheap::measure::{Requirements, estimate, estimate_unpadded};
use tileheap::plan::{DEFAULT_BUDGET, Ladder, Plan, PlanOptions, ResidencyStrategy, WindowRule, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use crate::rows::{Better, Rows, Side, Table, Unit, data};

/// The published frames at the published extents.
const FRAMES: [(&str, (u32, u32)); 5] = [
    ("qualcomm_tile_memory_sample", (1280, 720)),
    ("qualcomm_tile_memory_sample", (1920, 1080)),
    ("granite_deferred_taa_bloom", (1280, 720)),
    ("granite_deferred_taa_bloom", (1920, 1080)),
    ("khronos_local_read_deferred", (1280, 720)),
];

/// Planning strategies: the vendor sample's policy, and ours.
const CONTENDERS: [(&str, Side, ResidencyStrategy); 4] = [
    (
        "first come (vendor's sample)",
        Side::Baseline,
        ResidencyStrategy::FirstCome,
    ),
    ("fast", Side::Ours, ResidencyStrategy::Fast),
    ("greedy", Side::Ours, ResidencyStrategy::Greedy),
    ("exact", Side::Ours, ResidencyStrategy::Optimal),
];

/// A frame, with the other inputs to the planner.
struct Case {
    name: String,
    frame: Frame,
    needs: Arc<Requirements>,
    profile: Arc<DeviceProfile>,
    options: PlanOptions,
}

const FITS: &str = "the frame fits into memory";

impl Case {
    fn plan(&self, frame: &Frame, options: &PlanOptions) -> Checked<Plan> {
        plan(frame, &self.needs, &self.profile, options).expect(FITS)
    }

    fn plan_by(&self, strategy: ResidencyStrategy) -> Checked<Plan> {
        self.plan(
            &self.frame,
            &PlanOptions {
                strategy,
                ..self.options
            },
        )
    }
}

/// The share of the plan's traffic that stays on chip, in percent.
fn share(plan: &Plan) -> f64 {
    let totals = plan.totals;
    totals.on_chip_bytes.0 as f64 * 100.0 / totals.traffic_bytes.0.max(1) as f64
}

fn profile(heap: u64) -> DeviceProfile {
    let preset = DeviceProfile::preset("adreno-830").expect("the preset is there");
    preset.with_tile_heap_size(Bytes::mib(heap)).expect("a size")
}

pub(crate) fn random(passes: u32, resources: u32, batches: u32) -> Frame {
    let desc = SyntheticDesc {
        passes,
        resources,
        batches,
        ..SyntheticDesc::default()
    };
    synthetic(7, desc)
}

fn of_random(passes: u32, resources: u32, batches: u32, heap: u64) -> Case {
    let (frame, profile) = (random(passes, resources, batches), profile(heap));
    Case {
        name: format!("synthetic, {passes} passes, {resources} resources, {batches} batches, {heap} MiB"),
        needs: Arc::new(estimate(&frame, &profile).expect("sizes of the frame fit in 64 bits")),
        frame,
        profile: Arc::new(profile),
        options: PlanOptions::default(),
    }
}

fn published(heaps: &[u64]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, (width, height)) in FRAMES {
        let text = data(&format!("frames/{name}.json"));
        let imported = import::import_sized(&text, vk::Extent2D { width, height }).expect("a frame");
        for &heap in heaps {
            let profile = profile(heap);
            let needs = estimate_unpadded(
                &imported.frame,
                &profile,
                &imported.claims,
                &imported.raw_texel_bytes,
            );
            cases.push(Case {
                name: format!("{name} {height}p, {heap} MiB"),
                frame: imported.frame.clone(),
                needs: Arc::new(needs.expect("sizes")),
                profile: Arc::new(profile),
                // As published tables count: accesses times size, in one window.
                options: PlanOptions {
                    strategy: ResidencyStrategy::Optimal,
                    windows: WindowRule::WholeFrame,
                    aliasing: true,
                    ladder: Ladder::Always,
                    split: false,
                    tile_limit: None,
                    lazy: false,
                    budget: DEFAULT_BUDGET,
                    bin_cost: Bytes::ZERO,
                },
            });
        }
    }
    cases
}

/// Frames of several sizes, including those of the published measurements.
fn cases(rows: &Rows) -> Vec<Case> {
    let heaps: &[u64] = if rows.quick { &[8] } else { &[4, 8, 12, 18] };
    let mut cases = published(heaps);
    cases.push(of_random(30, 40, 2, 8));
    cases.push(of_random(40, 45, 1, 8));
    if !rows.quick {
        cases.push(of_random(256, 400, 17, 8));
        cases.push(of_random(1024, 2048, 68, 8));
    }
    cases
}

/// Measures the time that a whole plan takes.
pub(crate) fn speed(rows: &mut Rows) {
    rows.table(Table {
        name: "planning",
        title: "Planning speed",
        says: "Time of a whole plan (residency, offsets, bindings, barriers, operations, reasons) for one frame whose sizes are \
               known, on one thread: the vendor sample's policy as this project has it, and the three ways of ours. The exact one \
               searches for a proof within a budget of steps.",
        unit: Unit::Microseconds,
        better: Better::Lower,
    });
    for case in cases(rows) {
        for (name, side, strategy) in CONTENDERS {
            let time = rows.microseconds(|| drop(black_box(case.plan_by(strategy))));
            rows.add(&case.name, name, side, Some(time));
        }
    }
}

/// Measures the share of the traffic that stays on chip.
pub(crate) fn on_chip(rows: &mut Rows) {
    rows.table(Table {
        name: "on-chip",
        title: "Traffic kept on chip",
        says: "Share of the traffic that the rules admit to tile memory and that stays there, reads and writes times size. Published \
               frames are counted as their published tables count them: one window, any heap size.",
        unit: Unit::Percent,
        better: Better::Higher,
    });
    for case in cases(rows) {
        for (name, side, strategy) in CONTENDERS {
            rows.add(&case.name, name, side, Some(share(&case.plan_by(strategy))));
        }
    }
}

/// Measures the gain from split lifetimes.
pub(crate) fn splits(rows: &mut Rows) {
    rows.table(Table {
        name: "splits",
        title: "Split lifetimes",
        says: "Share of the traffic that the rules admit to tile memory and that stays there, less what stores write: lifetimes \
               whole, and split where that saves more.",
        unit: Unit::Percent,
        better: Better::Higher,
    });
    for case in cases(rows) {
        for (name, split) in [("whole lifetimes", false), ("split lifetimes", true)] {
            let options = PlanOptions {
                split,
                ..case.options
            };
            rows.add(
                &case.name,
                name,
                Side::Ours,
                Some(share(&case.plan(&case.frame, &options))),
            );
        }
    }
}
