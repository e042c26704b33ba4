//! `tileheap replay`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use tileheap::units::Bytes;
use tileheap_textures::replay::Distribution;
use tileheap_textures::{Coherent, PolicyDesc};

use crate::caches::document::document;
use crate::caches::options::{Policies, parameters};
use crate::caches::replay::{ReplayOptions, ReplayResult, replay_trace};
use crate::documents::{self, Replay};
use crate::error::{Error, Result};
use crate::output::Output;
use crate::report::replay;
use crate::report::svg::{self, Background};
use crate::values::parse_bytes;

/// Replay a trace of texture requests through a cache policy
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/replay.txt"))]
#[command(after_help = include_str!("help/replay.txt"))]
#[command(after_long_help = format!("{}\n{}", parameters(), include_str!("help/replay.txt")))]
pub(crate) struct Arguments {
    /// The trace, as `tileheap trace` or the library's `TraceWriter` writes it
    #[arg(value_hint = ValueHint::FilePath)]
    trace: PathBuf,
    /// The memory budget of the cache: 2097152, 2MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    memory: Bytes,
    /// A policy, optionally with parameter values: `coherent:search-blocks=96:confidence=8`; may be repeated
    #[arg(long, value_name = "NAME", default_value = Coherent::DESC.name, value_parser = Policies)]
    policy: Vec<PolicyDesc<'static>>,
    /// Replay all policies
    #[arg(long, conflicts_with = "policy")]
    all: bool,
    /// Also compute a lower bound on the traffic of policies that upload whole textures (not coherent-levels or first-attempt); keeps the trace in
    /// memory
    #[arg(long)]
    lower_bound: bool,
    /// The seed of randomized policies
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write an SVG plot for each policy into a folder: bytes, hits and arena walls over frames
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    plot: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let policies = if arguments.all {
        tileheap_baselines::textures::ALL.to_vec()
    } else {
        arguments.policy.clone()
    };
    let options = ReplayOptions {
        budget: arguments.memory,
        policies,
        seed: arguments.seed,
        lower_bound: arguments.lower_bound,
    };
    let played = replay_trace(&arguments.trace, &options)?;
    if let Some(folder) = &arguments.plot {
        write_plots(folder, &played)?;
    }
    if arguments.json {
        return Output::to(arguments.output.clone()).write(&documents::write(&document(&played)));
    }
    Output::to(arguments.output.clone()).write_report(&text(&played))
}

/// Writes `<trace>-<policy>.svg` for each policy.
fn write_plots(folder: &Path, played: &ReplayResult) -> Result<()> {
    let failed =
        |path: &Path, error: std::io::Error| Error::cannot_write(path, &error, "another folder with --plot");
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let trace = &played.trace;
    let stem = trace.file_stem().unwrap_or(trace.as_os_str()).to_string_lossy();
    let document = document(played);
    for policy in &document.policies {
        let alone = Replay {
            policies: vec![policy.clone()],
            ..document.clone()
        };
        let path = folder.join(format!("{stem}-{}.svg", policy.policy.replace([':', '='], "-")));
        std::fs::write(&path, svg::draw(&[replay::chart(&alone)], Background::Viewer))
            .map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

/// Returns the results as text: tables with a row for each policy.
fn text(played: &ReplayResult) -> String {
    let ReplayResult {
        reports, lower_bound, ..
    } = played;
    let frames = reports.first().map_or(0, |report| report.summary.frames);
    let uses = reports.first().map_or(0, |report| report.summary.total.uses);
    let mut text = format!(
        "{}: {frames} frames, {uses} requests, budget {}\n\n",
        played.trace.display(),
        played.budget
    );
    text += "Bytes per frame, uploaded or bypassed\n";
    text += "  policy                  mean           p99           max  max/mean   hits  byte hits\n";
    let row = |name: &str, levels: Distribution| {
        let ratio = levels.max_to_mean() as f64 / 1000.0;
        format!(
            "  {name:<16} {:>11} {:>13} {:>13}  {ratio:>8.1}",
            levels.mean.0, levels.p99.0, levels.max.0
        )
    };
    for report in reports {
        let summary = &report.summary;
        let percent = |thousandths: u64| thousandths as f64 / 10.0;
        text += &row(&report.policy.to_string(), summary.traffic);
        text += &format!(
            "  {:>4.1} %     {:>4.1} %\n",
            percent(summary.hit_rate()),
            percent(summary.byte_hit_rate())
        );
    }
    if let Some(bound) = lower_bound {
        text += &row("lower bound", *bound);
        text.push('\n');
    }
    text += "\nEvictions, reloads and cost\n";
    text += "  policy           in use  bypasses  reloads within 1, 8, 60 frames    holes   padding  moved/frame  ns/request\n";
    for report in reports {
        let (summary, total) = (&report.summary, &report.summary.total);
        let reloads = format!("{}, {}, {}", total.reloads_1, total.reloads_8, total.reloads_60);
        text += &format!(
            "  {:<16} {:>6} {:>9}  {reloads:>30}  {:>5.1} % {:>9} {:>12} {:>11.0}\n",
            report.policy.to_string(),
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
        .filter(|report| report.summary.wall_stats.worst_gaps.0 > 0);
    for (index, report) in walled.enumerate() {
        if index == 0 {
            text += "\nArena walls\n";
        }
        let walls = report.summary.wall_stats;
        text += &format!(
            "  {:<16} largest gap {} (limit {}), {} moves, {} reversals\n",
            report.policy.to_string(),
            report.summary.worst_gap,
            walls.worst_gaps,
            walls.wall_moves,
            walls.reversals
        );
    }
    text
}
