//! `tileheap report`.
//!
//! ```text
//! frame ─► plan ───► document ┐
//! graph ─► plan ───► document ├─► Chart ─► page (HTML), image (SVG, PNG)
//! trace ─► replay ─► document ┘
//! ```
//! Everything is drawn from the JSON document of its own subcommand, so that the report of a saved document is the same.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use serde_json::Value;
use tileheap::plan::Plan;
use tileheap::units::Bytes;
use tileheap_tensor::file_kind::has_extension;
use tileheap_tensor::import;
use tileheap_textures::PolicyDesc;

use super::tensors::is_onnx;
use crate::caches::document::document;
use crate::caches::options::Policies;
use crate::caches::replay::{ReplayOptions, is_trace, replay_trace};
use crate::documents::{self, Document, Replay, SweepResult, Tensors, Trace};
use crate::error::{Error, Result};
use crate::frames::advice::with_advice;
use crate::frames::arrange::{ArrangeOptions, DescribedPlan};
use crate::frames::diff::{differences, moved_resources};
use crate::frames::plan::{FrameArguments, FrameOptions};
use crate::frames::sweep::sweep;
use crate::input::{is_stdin, read_bytes, require_text, shown, text_of};
use crate::interrupt::is_interrupted;
use crate::networks::network::Network;
use crate::networks::options::{
    TensorOptions, policies as storage_policies, strategies as tensor_strategies,
};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::chart::{Chart, share_scales};
use crate::report::numbers::{Cell, Table};
use crate::report::svg::{self, Background};
use crate::report::sweep::{chart as sweep_chart, curves};
use crate::report::{page, plan, replay, tensors, trace};
use crate::values::{Sweep, parse_bytes};

/// Draw plans, networks, texture caches and traces as an HTML page
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/report.txt"))]
#[command(after_help = include_str!("help/report.txt"))]
pub(crate) struct Arguments {
    /// Frames, plans, sweeps, tensor graphs, records and plans, texture traces, replays, emulator traces; - for standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    inputs: Vec<PathBuf>,
    /// Write the page to a file [default: standard output, unless that is a terminal; with --svg or --png, no page]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Write the charts as an SVG image
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    svg: Option<PathBuf>,
    /// Write the charts as a PNG image
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    png: Option<PathBuf>,
    /// Use dark colors for the PNG; the page and SVG follow the viewer's color scheme
    #[arg(long, requires = "png")]
    dark: bool,
    /// The results that the page shows in addition to the plan: advice, and a sweep (see --sweep)
    #[arg(long, value_enum, default_value_t, help_heading = "Frames")]
    detail: Detail,
    /// The range of the sweep: heap=2MiB..24MiB, size=640x360..2560x1440 or repeat=0..6MB [default: heap sizes from a quarter to three times the
    /// device's; with --best or --arrangement, repeat=0..6MB]
    #[arg(long, value_name = "RANGE", help_heading = "Frames")]
    sweep: Option<Sweep>,
    #[command(flatten, next_help_heading = "Frames")]
    options: FrameOptions,
    #[command(flatten, next_help_heading = "Frames")]
    arrange: ArrangeOptions,
    /// The strategy that places tensors (see `tileheap tensors --help`) [default: auto]
    #[arg(long, value_name = "NAME", hide_possible_values = true, value_parser = tensor_strategies(), help_heading = "Tensors")]
    tensor_strategy: Option<crate::networks::options::Strategy>,
    /// The policy that chooses between images and buffers [default: `given` if a file has texture scopes, else `balanced`]
    #[arg(long, value_name = "NAME", value_parser = storage_policies(), help_heading = "Tensors")]
    storage: Option<&'static dyn tileheap_tensor::StoragePolicy>,
    /// The memory budget of a texture cache: 2097152, 2MiB; or the memories of a network in order of preference: sram=1MiB,dram
    #[arg(
        long,
        value_name = "SIZE|NAME=SIZE",
        value_delimiter = ',',
        help_heading = "Tensors and texture caches"
    )]
    memory: Vec<String>,
    /// The cache policies, such as coherent,arenas,lru (see `tileheap replay --help`) [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_possible_values = true, value_parser = Policies, help_heading = "Texture caches")]
    policy: Vec<PolicyDesc<'static>>,
}

/// The results that the report of a frame contains in addition to the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// Everything for frames of up to 200 resources, otherwise only the plan
    #[default]
    Auto,
    /// Everything for frames of any size
    Full,
    /// Only the plan
    Plan,
}

/// The maximum number of resources in a frame for which `--detail auto` shows more than the plan.
const SMALL_FRAME: usize = 200;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.arrange.require_search()?;
    let to_terminal = arguments.output.is_none() && std::io::stdout().is_terminal();
    if to_terminal && arguments.svg.is_none() && arguments.png.is_none() {
        return Err(Error::usage(
            "standard output is a terminal: write the page to a file with -o, for example -o report.html",
        ));
    }
    let stdin = arguments.inputs.iter().filter(|input| is_stdin(input)).count();
    if stdin > 1 {
        return Err(Error::usage("only one input can be standard input"));
    }
    let mut inputs = Vec::new();
    for path in &arguments.inputs {
        inputs.push(read(arguments, path)?);
    }
    let given = [
        ("--tensor-strategy", arguments.tensor_strategy.is_some()),
        ("--storage", arguments.storage.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        if !inputs.iter().any(|input| input.is_planned_network) {
            return Err(Error::usage(format!(
                "{option} applies only to graphs and records of tensors, but no input is one: a finished plan is drawn as it is"
            )));
        }
    }
    if let [_, _, ..] = inputs[..] {
        for (input, path) in inputs.iter_mut().zip(&arguments.inputs) {
            input.chart.title = format!("{}: {}", path.display(), input.chart.title);
        }
    }
    let differences = mark_differences(&mut inputs);
    let mut charts: Vec<Chart> = inputs.into_iter().map(|input| input.chart).collect();
    share_scales(&mut charts);
    if let Some(file) = &arguments.svg {
        Output::to(Some(file.clone())).write(&svg::draw(&charts, Background::Viewer))?;
    }
    if let Some(file) = &arguments.png {
        let ground = if arguments.dark {
            Background::Dark
        } else {
            Background::Light
        };
        Output::to(Some(file.clone())).write_bytes(&svg::rasterize(&svg::draw(&charts, ground))?)?;
    }
    if arguments.output.is_some() || (arguments.svg.is_none() && arguments.png.is_none()) {
        Output::to(arguments.output.clone()).write(&page::page(&charts, &differences))?;
    }
    Ok(())
}

/// An input to draw, with its JSON if it is a plan.
struct Input {
    chart: Chart,
    plan: Option<Value>,
    /// True for a graph or records of tensors, which were planned for the report.
    is_planned_network: bool,
}

impl From<Chart> for Input {
    fn from(chart: Chart) -> Input {
        Input {
            chart,
            plan: None,
            is_planned_network: false,
        }
    }
}

/// Returns true if the text looks like a table, so that errors are reported for a table and not for JSON.
fn is_table(text: &str) -> bool {
    let text = text.trim_start();
    !text.starts_with(['{', '[']) && text.lines().next().is_some_and(|line| line.contains(','))
}

fn read(arguments: &Arguments, path: &Path) -> Result<Input> {
    if is_trace(path) {
        return played(arguments, path);
    }
    let text = read_text_unless_model(path)?;
    let name = || {
        path.file_stem()
            .map_or("input".into(), |name| name.to_string_lossy())
    };
    if let Some(trace) = Trace::read_lines(&text) {
        let trace = trace.map_err(|error| Error::of(shown(path), error))?;
        return Ok(trace::chart(&trace, &name()).into());
    }
    // Tables and JSON lines are not JSON.
    let document: Value = match serde_json::from_str(&text) {
        Ok(document) => document,
        Err(_) if is_table(&text) || import::ImportedInput::accepts(&text) => {
            return network(arguments, path, &text);
        }
        Err(error) => {
            return Err(Error::of(shown(path), format!("invalid JSON: {error}")));
        }
    };
    match document["format"].as_str() {
        Some("tileheap-plan") => {
            Plan::check_json(&text).map_err(|error| Error::of(shown(path), error))?;
            Ok(Input {
                chart: plan::chart(&document),
                plan: Some(document),
                is_planned_network: false,
            })
        }
        Some(Trace::FORMAT) => Ok(trace::chart(&saved(path, &text)?, &name()).into()), // Written by an older version.
        Some(Tensors::FORMAT) => Ok(tensors::chart(&saved(path, &text)?).into()),
        Some(Replay::FORMAT) => Ok(replay::chart(&saved(path, &text)?).into()),
        Some(SweepResult::FORMAT) => Ok(sweep_chart(&saved(path, &text)?, &name()).into()),
        Some("tileheap-graph") => network(arguments, path, &text),
        Some(other) if other != "tileheap-frame" => Err(Error::of(
            shown(path),
            format!(
                "the format `{other}` is not supported: give a frame, plan, sweep, tensor graph or plan, texture trace or replay, \
                 or a trace of the emulator"
            ),
        )),
        None if import::ImportedInput::accepts(&text) => network(arguments, path, &text),
        _ => {
            let frame = FrameArguments {
                frame: path.to_owned(),
                options: arguments.options.clone(),
            };
            planned(arguments, &frame, &text)
        }
    }
}

/// Reads the text of an input. An ONNX model needs the options of `tileheap tensors`, such as ranges of its dynamic dimensions.
fn read_text_unless_model(path: &Path) -> Result<String> {
    let form = "a JSON file";
    let bytes = read_bytes(path, "input", form)?;
    if has_extension(path, "onnx") || is_onnx(&bytes) {
        return Err(Error::new(format!(
            "{} is an ONNX model: plan it and draw the plan: tileheap tensors {} --json | tileheap report - -o report.html (with --range NAME=MIN..MAX for dynamic dimensions)",
            shown(path),
            path.display()
        )));
    }
    let text = text_of(&bytes, path, "input", form)?;
    require_text(&text, path, "input")?;
    Ok(text)
}

/// Reads a document that a `tileheap` subcommand wrote.
fn saved<T: Document>(path: &Path, text: &str) -> Result<T> {
    documents::read(text).map_err(|error| Error::of(shown(path), error))
}

/// Replays a trace of texture requests.
fn played(arguments: &Arguments, path: &Path) -> Result<Input> {
    let budget = match &arguments.memory[..] {
        [size] => parse_bytes(size).map_err(|error| Error::usage(format!("--memory {size}: {error}")))?,
        _ => {
            return Err(Error::usage(format!(
                "{} is a trace of texture requests: give one memory budget, for example --memory 2MiB",
                shown(path)
            )));
        }
    };
    let options = ReplayOptions {
        budget,
        policies: if arguments.policy.is_empty() {
            tileheap_baselines::textures::ALL.to_vec()
        } else {
            arguments.policy.clone()
        },
        seed: 1,
        lower_bound: true,
    };
    Ok(replay::chart(&document(&replay_trace(path, &options)?)).into())
}

/// Plans a graph, or records of tensors, with every strategy.
fn network(arguments: &Arguments, path: &Path, text: &str) -> Result<Input> {
    let mut options = TensorOptions {
        policy: arguments.storage,
        memory: arguments.memory.clone(),
        ..TensorOptions::default()
    };
    options.strategy = arguments.tensor_strategy.unwrap_or(options.strategy);
    let document = Network::read(text, path, &options)?.document(path, &options)?;
    Ok(Input {
        is_planned_network: true,
        ..tensors::chart(&document).into()
    })
}

/// Plans a frame. Depending on `--detail` and `--sweep`, also searches for advice and plans the points of a sweep.
fn planned(arguments: &Arguments, frame: &FrameArguments, text: &str) -> Result<Input> {
    let options = &frame.options;
    let imported = frame.frame_from(text, options.size)?;
    let progress = Progress::new("planning", 0);
    let described = options.plan(&imported, &options.read_profile()?)?;
    let arranged = arguments.arrange.arrange(options, &imported, &described)?;
    let plan = arranged.as_ref().map_or(&described, |arranged| &arranged.plan);
    let small = described.frame.resources().len() <= SMALL_FRAME;
    let thorough = match arguments.detail {
        Detail::Auto => small,
        Detail::Full => true,
        Detail::Plan => false,
    };
    let mut notes = options.ignored_rules(&imported.frame)?;
    notes.extend(imported.notes.iter().cloned());
    if thorough {
        progress.set_message("searching for advice");
    }
    let limits = thorough.then_some(&arguments.arrange.limits);
    let from = DescribedPlan {
        options,
        imported: &imported,
        plan: &described,
    };
    let document = with_advice(from, arranged.as_ref(), limits)?;
    if !thorough && arguments.detail == Detail::Auto {
        notes.push(format!(
            "the frame has more than {SMALL_FRAME} resources: give --detail full for advice and other heap sizes"
        ));
    }
    drop(progress);
    let mut chart = plan::chart(&document);
    let heap = plan.profile.tile.map(|tile| tile.size);
    let around = |heap| match arranged {
        Some(_) => Sweep::Repeat(Bytes(0), Bytes(6_000_000)),
        None => sweep_around(heap),
    };
    let is_swept = thorough && !is_interrupted();
    let range = arguments.sweep.or(heap.filter(|_| is_swept).map(around));
    if let Some(over) = range {
        let here = match over {
            Sweep::Heap(..) => heap.map(|heap| heap.0),
            Sweep::Size(..) => {
                let extent = plan.frame.base_extent();
                Some(u64::from(extent.width) * u64::from(extent.height))
            }
            Sweep::Repeat(..) => arguments.arrange.limits.repeat_cost.map(|cost| cost.0),
        };
        chart.curves = curves(&sweep(frame, text, over, &arguments.arrange.limits)?, here);
    }
    chart.notes = notes;
    Ok(Input {
        chart,
        plan: Some(document),
        is_planned_network: false,
    })
}

/// Returns a sweep from a quarter of a heap size to three times that size.
fn sweep_around(heap: Bytes) -> Sweep {
    Sweep::Heap(Bytes(heap.0 / 4), Bytes(heap.0.saturating_mul(3).max(1)))
}

/// Returns the differences between the plans if there are exactly two, and marks the differing items in both charts.
fn mark_differences(inputs: &mut [Input]) -> Vec<Table> {
    let plans: Vec<usize> = (0..inputs.len())
        .filter(|&index| inputs[index].plan.is_some())
        .collect();
    let [first, second] = plans[..] else {
        return Vec::new();
    };
    let (Some(old), Some(new)) = (&inputs[first].plan, &inputs[second].plan) else {
        return Vec::new();
    };
    let moved = moved_resources(old, new);
    let tables = differences(old, new).into_iter().map(|(title, differences)| {
        let value = |side: Option<String>| Cell::word(side.unwrap_or_else(|| "–".to_owned()));
        let rows = differences.into_iter().map(|one| {
            let reason = one
                .reason
                .map_or_else(String::new, |reason| format!(": {reason}"));
            let new = one.new.map(|new| new + &reason);
            vec![Cell::word(one.name), value(one.old), value(new)]
        });
        Table::new(title, &["name", "first plan", "second plan"], rows)
    });
    let tables = tables.collect();
    for index in [first, second] {
        for item in &mut inputs[index].chart.items {
            item.changed = moved.contains(&item.name);
        }
    }
    tables
}
