//! Measures the savings of tile memory on a device and the costs of running passes in other ways, and writes them to the device's profile.
//!
//! ```text
//! cargo run --release --example calibrate                      target/demo/calibrated.json
//! tileheap plan frame.json --profile target/demo/calibrated.json --best
//! ```
//! Five variants of a frame differ in one thing each (docs/guide/measuring.md): tile memory off, its feature enabled, allocated, bound but
//! not used, used. Then the causes of costs are measured: more tile memory bound (bins), passes in strips (repeats), overlapping strips
//! (halos), merged passes. Times are converted to bytes by the bandwidth of a copy. It needs a device with tile memory and timestamps; on
//! the emulator it runs, but its numbers have no meaning.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod timed;
mod workload;
use tileheap_examples as support;

use std::path::PathBuf;
use std::process::ExitCode;

use ash::vk;
use clap::Parser;
use tileheap::arrange::{Arrangement, ArrangementCosts, GroupMode, SearchResult};
use tileheap::plan::{Ladder, PlanOptions, ResidencyStrategy};
use tileheap::profile::MeasuredCosts;
use tileheap::runtime::context::ValidationMessage;
use tileheap::runtime::{Capabilities, Context, ContextDesc};
use tileheap::units::Bytes;

use crate::support::error::{Called, Result, bail, no_tile_memory, write_file};
use crate::support::program::{context_desc, report, start, with_context};
use crate::support::progress::bar;
use crate::support::sizes::parse_extent;
use crate::support::statistics::{interval, median};
use crate::timed::Timed;
use crate::workload::{TEXEL, Workload, WorkloadDesc, copying, grouped, strips};

/// Measures tile memory on a device, and writes a profile with its costs.
#[derive(Debug, Parser)]
#[command(name = "calibrate")]
struct Args {
    /// Output file for the profile
    #[arg(long, value_name = "FILE", default_value = "target/demo/calibrated.json")]
    output: PathBuf,
    /// Number of runs of each variant; variants alternate
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(6..))]
    rounds: u32,
    /// Size of each image; two must fit in the tile heap together [default: two images fill three quarters of it]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_extent::<64>)]
    size: Option<vk::Extent2D>,
    /// Number of triangles that the repeated pass draws
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..10_000_000))]
    triangles: u32,
    /// The Vulkan device: its number, or part of its name (or TILEHEAP_DEVICE)
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Runs under VK_LAYER_KHRONOS_validation, and fails if it reports anything
    #[arg(long)]
    validate: bool,
}

fn main() -> ExitCode {
    start(run)
}

fn run(args: &Args) -> Result<()> {
    let desc = context_desc("tileheap: calibrate", args.device.as_deref(), args.validate);
    let mut without = desc.clone();
    without.without |= Capabilities::TILE_MEMORY;
    let messages = with_contexts(&[&without, &desc, &desc, &desc], Vec::new(), &|contexts| {
        if contexts[1].runtime().profile().tile.is_none() {
            let missing = contexts[1]
                .support()
                .missing_requirements()
                .iter()
                .map(ToString::to_string);
            return Err(no_tile_memory(missing.collect::<Vec<_>>().join(", ")));
        }
        calibrate(args, contexts)
    })?;
    report(&messages)
}

/// Calls `run` with the contexts in `open` and a new one for each description; returns Vulkan's messages.
fn with_contexts(
    descs: &[&ContextDesc<'_>],
    open: Vec<&Context>,
    run: &dyn Fn(&[&Context]) -> Result<()>,
) -> Result<Vec<ValidationMessage>> {
    let Some((desc, others)) = descs.split_first() else {
        run(&open)?;
        return Ok(Vec::new());
    };
    let mut below = Vec::new();
    let mut messages = with_context(desc, |context| {
        below = with_contexts(others, [&open[..], &[context]].concat(), run)?;
        Ok(())
    })?;
    messages.extend(below);
    Ok(messages)
}

const BLUR: u32 = 16;
const STRIPS: u32 = 4;
const COPIED: Bytes = Bytes::mib(32);

/// Measures on four devices: without tile memory, with the feature enabled, with tile memory allocated, and with it bound.
fn calibrate(args: &Args, contexts: &[&Context]) -> Result<()> {
    let [off, enabled, allocated, tile] = [0, 1, 2, 3].map(|number| contexts[number].runtime());
    let heap = tile.profile().tile.map_or(Bytes::ZERO, |heap| heap.size);
    let extent = args.size.unwrap_or_else(|| largest(heap));
    let desc = WorkloadDesc {
        extent,
        triangles: args.triangles,
        reach: 0,
        ballast: None,
    };
    let plain = desc.frame()?;
    let blurred = WorkloadDesc { reach: BLUR, ..desc }.frame()?;
    let copies = copying(COPIED)?;
    let used = PlanOptions {
        ladder: Ladder::Off,
        ..PlanOptions::default()
    };
    let unused = PlanOptions {
        strategy: ResidencyStrategy::Off,
        ..used
    };
    let on = Timed::new(tile, &plain, &Arrangement::described(&plain.frame), &used)?;
    let bound_bytes = on.totals().tile_bytes;
    if on.totals().on_chip_bytes < on.totals().eligible_bytes {
        bail!("the images do not fit in the tile heap: choose a smaller --size");
    }
    let quarters: Vec<Workload> = (1..=4)
        .map(|quarter| {
            let size = Bytes((bound_bytes.0 / 4 * quarter).max(4) & !3);
            let ballast = Some(size);
            WorkloadDesc { ballast, ..desc }.frame()
        })
        .collect::<Result<_>>()?;
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(bound_bytes.0)
        .memory_type_index(tile.profile().tile.map_or(0, |heap| heap.memory_type));
    // SAFETY: the type is the tile heap's, and the size is that of an object that the plan allocates.
    let memory = unsafe { allocated.raw().allocate_memory(&info, None) }.called("vkAllocateMemory")?;

    let mut figures = Figures(Vec::new());
    let once = Arrangement::described(&plain.frame);
    for (name, against, device) in [
        ("off", "", off),
        ("feature enabled", "off", enabled),
        ("allocated", "feature enabled", allocated),
    ] {
        figures.add(name, against, Timed::new(device, &plain, &once, &unused)?);
    }
    let names = [
        "a quarter bound, not used",
        "half bound, not used",
        "three quarters bound, not used",
        "bound, not used",
    ];
    for (workload, name) in quarters.iter().zip(names) {
        let described = Arrangement::described(&workload.frame);
        figures.add(name, "allocated", Timed::new(tile, workload, &described, &used)?);
    }
    figures.add("on", "bound, not used", on);
    let merged = grouped(&plain.frame, 2, GroupMode::Merged);
    let divided = grouped(&plain.frame, 3, strips(STRIPS));
    let described = Arrangement::described(&copies.frame);
    for (name, against, workload, arrangement, options) in [
        ("on, merged", "on", &plain, &merged, &used),
        ("off, at once", "", &plain, &once, &unused),
        ("off, in strips", "off, at once", &plain, &divided, &unused),
        ("off, blurred", "", &blurred, &once, &unused),
        (
            "off, blurred in strips",
            "off, blurred",
            &blurred,
            &divided,
            &unused,
        ),
        ("copies", "", &copies, &described, &unused),
    ] {
        figures.add(name, against, Timed::new(tile, workload, arrangement, options)?);
    }

    let progress = bar("calibrating", u64::from(args.rounds));
    for round in 0..=args.rounds {
        for variant in &mut figures.0 {
            let took = variant.timed.run()?;
            // The first round warms up.
            if round > 0 {
                variant.times.push(took);
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    let nothing_on_chip = PlanOptions {
        tile_limit: Some(Bytes(1)),
        ..unused
    };
    let plan = tile.plan(&blurred.frame, &nothing_on_chip)?;
    let moved =
        SearchResult::of(&plan, divided, ArrangementCosts::default()).map_err(tileheap::Error::from)?;
    let costs = figures.print(bound_bytes, moved.traffic.halos);
    for variant in figures.0 {
        variant.timed.destroy();
    }
    // SAFETY: nothing was bound to it.
    unsafe { allocated.raw().free_memory(memory, None) };

    let emulator = contexts[3].support().emulator();
    let mut profile = tileheap::profile::DeviceProfile::clone(tile.profile());
    profile.source += &format!("; costs by examples/calibrate, medians of {} rounds", args.rounds);
    if let Some(name) = emulator {
        let nothing = format!("emulated by {name}: the times say nothing about a device with tile memory");
        println!("{nothing}");
        profile.source += &format!(", {nothing}");
    }
    profile.costs = Some(costs);
    write_file(&args.output, &profile.to_json())?;
    println!("{}", args.output.display());
    Ok(())
}

/// The extent at which two images take three quarters of the heap.
fn largest(heap: Bytes) -> vk::Extent2D {
    let texels = heap.0 as f64 * 0.75 / (2 * TEXEL) as f64;
    let side = |ratio: f64| (((texels * ratio).sqrt() as u32).min(4096) & !63).max(64);
    vk::Extent2D {
        width: side(16.0 / 9.0),
        height: side(9.0 / 16.0),
    }
}

/// A measured frame that differs in one respect from that of another variant.
struct Variant<'a> {
    name: &'static str,
    /// The name of the variant to compare with; empty if there is none.
    against: &'static str,
    timed: Timed<'a>,
    /// The duration of each round, in nanoseconds.
    times: Vec<f64>,
}

struct Figures<'a>(Vec<Variant<'a>>);

impl<'a> Figures<'a> {
    fn add(&mut self, name: &'static str, against: &'static str, timed: Timed<'a>) {
        self.0.push(Variant {
            name,
            against,
            timed,
            times: Vec::new(),
        });
    }

    /// Prints every variant next to the one it is compared with, and the resulting costs.
    fn print(&self, bound: Bytes, halo_bytes: Bytes) -> MeasuredCosts {
        println!(
            "{:<32} {:>12}  compared with, and 95 % interval",
            "variant", "GPU time"
        );
        for Variant {
            name, against, times, ..
        } in &self.0
        {
            let versus = match *against {
                "" => String::new(),
                other => {
                    let percent = |ns: f64| ns / median(self.of(other)) * 100.0;
                    let differences = self.differences(name, other);
                    let (low, high) = interval(&differences).expect("enough rounds");
                    let [low, middle, high] = [low, median(&differences), high].map(percent);
                    format!("{other}: {middle:+.1} % ({low:+.1} to {high:+.1})")
                }
            };
            println!("{name:<32} {:>9.1} us  {versus}", median(times) / 1e3);
        }
        let bandwidth = 3.0 * COPIED.0 as f64 / median(self.of("copies"));
        let bytes = |ns: f64| Bytes((ns * bandwidth).max(0.0) as u64);
        let more = |name, other| median(&self.differences(name, other));
        let in_strips = more("off, in strips", "off, at once");
        let halo = more("off, blurred in strips", "off, blurred") - in_strips;
        let costs = MeasuredCosts {
            bin: self.each_bin().map(bytes),
            repeat: bytes(in_strips / f64::from(STRIPS - 1)),
            halo: (halo * bandwidth / halo_bytes.0.max(1) as f64).max(0.0),
            merged: bytes(more("on, merged", "on")),
        };
        println!("a copy moves {bandwidth:.2} GB/s; {bound} of tile memory were bound");
        let bin = costs.bin.map_or("unknown".to_owned(), |bytes| bytes.to_string());
        println!("cost of one more bin: {bin}");
        println!(
            "cost of one more execution of the passes in strips: {}",
            costs.repeat
        );
        println!("cost of a byte of a halo: {:.2} bytes", costs.halo);
        println!("cost of a merged pass: {}", costs.merged);
        costs
    }

    fn of(&self, name: &str) -> &[f64] {
        let variant = self.0.iter().find(|variant| variant.name == name);
        &variant.expect("a variant").times
    }

    fn differences(&self, name: &str, other: &str) -> Vec<f64> {
        let pairs = self.of(name).iter().zip(self.of(other));
        pairs.map(|(one, other)| one - other).collect()
    }

    /// Nanoseconds per bin, by least squares over the variants with bound but unused tile memory; `None` if the driver does not report
    /// the number of bins, or if the number does not depend on the bound size.
    fn each_bin(&self) -> Option<f64> {
        let bound = self.0.iter().filter(|one| one.name.ends_with("bound, not used"));
        let points = bound.map(|one| Some((f64::from(one.timed.bins()?), median(&one.times))));
        let points = points.collect::<Option<Vec<_>>>()?;
        let mean =
            |value: fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / points.len() as f64;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        let along: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        (spread > 0.0).then_some(along / spread)
    }
}
