//! Residency on the published frames, side by side in one run: the vendor sample's policy, the fast mode, the greedy choice, the
//! exact one with its proof or gap, bytes bound over the passes with a ladder and with one object for each run, and the time of each
//! plan; then random frames of 30 passes and 40 resources, 40 and 45, and 256 and 400; what split lives add to all of them; and what one
//! pass less takes to repair.
//!
//! ```text
//! cargo bench --package tileheap --no-default-features --bench residency
//! ```
//! Whole plans are timed: residency, offsets, bindings, barriers, operations, reasons. Shares are of the traffic that the rules
//! admit to tile memory, sizes as the published tables count them. Times are medians of elapsed time on one thread: on a machine with
//! other work they say little, and ratios within one run more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::{Frame, import};
use tileheap::measure::{Requirements, estimate, raw};
use tileheap::plan::{Ladder, Plan, PlanOptions, Planner, Strategy, WindowRule, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use tileheap_testkit as support;

/// The published frames at the published extents.
const FRAMES: [(&str, (u32, u32)); 5] = [
    ("qualcomm_tile_memory_sample", (1280, 720)),
    ("qualcomm_tile_memory_sample", (1920, 1080)),
    ("granite_deferred_taa_bloom", (1280, 720)),
    ("granite_deferred_taa_bloom", (1920, 1080)),
    ("khronos_local_read_deferred", (1280, 720)),
];

/// As published tables count: accesses times size, in one window.
const COUNTED: PlanOptions = PlanOptions {
    strategy: Strategy::Optimal,
    windows: WindowRule::WholeFrame,
    aliasing: true,
    ladder: Ladder::Always,
    split: false,
    lazy: false,
    budget: 100_000, // All are proved with it.
    bin_cost: Bytes::ZERO,
    tile_limit: None,
};

/// A frame as it is handed to the planner.
struct Case {
    name: String,
    frame: Frame,
    needs: Arc<Requirements>,
    profile: Arc<DeviceProfile>,
    options: PlanOptions,
}

impl Case {
    fn plan(&self, strategy: Strategy) -> (Plan, Duration) {
        let options = PlanOptions {
            strategy,
            ..self.options
        };
        let run =
            || plan(&self.frame, &self.needs, &self.profile, &options).expect("the frame fits into memory");
        (run(), median(|| drop(std::hint::black_box(run()))))
    }
}

/// The median of as many runs as a fifth of a second holds, at least five.
fn median(mut run: impl FnMut()) -> Duration {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 5 || (start.elapsed() < Duration::from_millis(200) && times.len() < 2001) {
        let before = Instant::now();
        run();
        times.push(before.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn share(part: Bytes, whole: Bytes) -> String {
    format!("{:.1}", part.0 as f64 * 100.0 / whole.0.max(1) as f64)
}

fn times(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 10_000.0 {
        format!("{micros:.1} us")
    } else {
        format!("{:.1} ms", micros / 1e3)
    }
}

/// How good the exact answer is: proved, or so much more at best.
fn gap(plan: &Plan) -> String {
    let found = plan.optimality.expect("the exact strategy says so");
    if found.is_proved() {
        return "proved".to_owned();
    }
    format!(
        "{:.1} %",
        (found.upper_bound - found.value) as f64 * 100.0 / found.value.max(1) as f64
    )
}

fn row(case: &Case) {
    let [vendor, fast, greedy, exact] = [
        Strategy::FirstCome,
        Strategy::Fast,
        Strategy::Greedy,
        Strategy::Optimal,
    ]
    .map(|strategy| case.plan(strategy));
    let kept = |plan: &Plan| share(plan.totals.on_chip_bytes, plan.totals.eligible_bytes);
    let totals = exact.0.totals;
    println!(
        "{:42} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8} {:>10} {:>10} {:>10}",
        case.name,
        kept(&vendor.0),
        kept(&fast.0),
        kept(&greedy.0),
        kept(&exact.0),
        gap(&exact.0),
        share(totals.reserved_bytes, totals.live_bytes),
        share(totals.reserved_bytes_by_runs, totals.live_bytes),
        times(fast.1),
        times(greedy.1),
        times(exact.1),
    );
}

fn published() -> Vec<Case> {
    let folder = support::data("frames");
    let mut cases = Vec::new();
    for (name, (width, height)) in FRAMES {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).expect("the frame is there");
        let imported = import::import_sized(&text, vk::Extent2D { width, height }).expect("a frame");
        for heap in [4, 8, 12, 18] {
            let preset = DeviceProfile::preset("adreno-830").expect("the preset is there");
            let profile = preset.with_tile_heap_size(Bytes::mib(heap)).expect("a size");
            let needs = raw(
                &imported.frame,
                &profile,
                &imported.claims,
                &imported.raw_texel_bytes,
            )
            .expect("sizes");
            cases.push(Case {
                name: format!("{name} {height}p {heap} MiB"),
                frame: imported.frame.clone(),
                needs: Arc::new(needs),
                profile: Arc::new(profile),
                options: COUNTED,
            });
        }
    }
    cases
}

fn random(passes: u32, resources: u32, batches: u32, heap: u64) -> Case {
    let desc = SyntheticDesc {
        passes,
        resources,
        batches,
        ..SyntheticDesc::default()
    };
    let frame = synthetic(7, desc);
    let preset = DeviceProfile::preset("adreno-830").expect("the preset is there");
    let profile = preset.with_tile_heap_size(Bytes::mib(heap)).expect("a size");
    Case {
        name: format!("random {passes}/{resources}, {batches} batches, {heap} MiB"),
        needs: Arc::new(estimate(&frame, &profile).expect("the frame is no giant")),
        frame,
        profile: Arc::new(profile),
        options: PlanOptions::default(),
    }
}

/// What is kept on chip with split lives, less what the stores write.
fn split(case: &Case) {
    let with = |split| {
        let options = PlanOptions {
            split,
            ..case.options
        };
        plan(&case.frame, &case.needs, &case.profile, &options).expect("as before")
    };
    let (whole, parts) = (with(false), with(true));
    let time = median(|| drop(std::hint::black_box(with(true))));
    let kept = |plan: &Plan| share(plan.totals.on_chip_bytes, plan.totals.eligible_bytes);
    println!(
        "{:42} {:>6} -> {:>6}   {:>12} B a frame more, {} stores, {:>8} {:>10}",
        case.name,
        kept(&whole),
        kept(&parts),
        parts.totals.on_chip_bytes.0 - whole.totals.on_chip_bytes.0.min(parts.totals.on_chip_bytes.0),
        parts.stores().len(),
        gap(&parts),
        times(time),
    );
}

/// The case by the rules of its device, harm and all, at the sizes that its driver would say.
fn by_rules(case: &Case) -> Case {
    let needs = estimate(&case.frame, &case.profile).expect("the frame is no giant");
    Case {
        name: format!("{}, by the rules", case.name),
        frame: case.frame.clone(),
        needs: Arc::new(needs),
        profile: case.profile.clone(),
        options: PlanOptions::default(),
    }
}

/// A frame of which one pass is switched off and on: planned anew, and repaired.
fn repair(case: &Case) {
    let toggled = case
        .frame
        .pass_ids()
        .find_map(|pass| case.frame.without_pass(pass).ok());
    let Some(without) = toggled else {
        println!("{:42} no pass can go alone", case.name);
        return;
    };
    let full = median(|| {
        let plan = plan(&without, &case.needs, &case.profile, &case.options);
        drop(std::hint::black_box(plan.expect("as before")));
    });
    let mut planner = Planner::new();
    planner
        .plan(&case.frame, &case.needs, &case.profile, &case.options)
        .expect("as before");
    let mut repaired = None;
    let time = median(|| {
        let mut planner = planner.clone();
        repaired = Some(
            planner
                .plan_now(&without, &case.needs, &case.profile, &case.options)
                .expect("as before"),
        );
    });
    let anew = plan(&without, &case.needs, &case.profile, &case.options).expect("as before");
    let repaired = repaired.expect("it ran");
    println!(
        "{:42} anew {:>10} {:>6} %   repaired {:>10} {:>6} %   {:.2} of the time",
        case.name,
        times(full),
        share(anew.totals.on_chip_bytes, anew.totals.eligible_bytes),
        times(time),
        share(repaired.totals.on_chip_bytes, repaired.totals.eligible_bytes),
        time.as_secs_f64() / full.as_secs_f64(),
    );
}

fn main() {
    if std::env::args().any(|argument| argument == "--test") {
        // Cargo's way to ask whether a bench runs: the smallest case.
        row(&random(30, 40, 2, 8));
        split(&random(30, 40, 2, 8));
        repair(&random(30, 40, 2, 8));
        return;
    }
    println!(
        "{:42} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8} {:>10} {:>10} {:>10}",
        "% of eligible traffic kept on chip",
        "vendor",
        "fast",
        "greedy",
        "exact",
        "gap",
        "bound/%",
        "one/%",
        "fast",
        "greedy",
        "exact"
    );
    let published = published();
    published.iter().for_each(row);
    let mut cases = vec![
        random(30, 40, 2, 8),
        random(256, 400, 17, 8),
        random(256, 400, 1, 8),
    ];
    cases.extend([2, 8, 16, 24].map(|heap| random(40, 45, 1, heap)));
    // Counted as the published tables count, without harm.
    let counted = (1..=24).map(|heap| {
        let case = random(40, 45, 1, heap);
        Case {
            name: format!("{}, counted", case.name),
            options: COUNTED,
            ..case
        }
    });
    cases.extend(counted);
    cases.iter().for_each(row);
    println!("\nWith split lifetimes");
    published.iter().for_each(split);
    published.iter().map(by_rules).for_each(|case| split(&case));
    cases.iter().for_each(split);
    println!("\nOne pass switched off");
    published.iter().chain(&cases).for_each(repair);
}
