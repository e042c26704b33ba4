//! `tileheap report`: plans, replays and traces as a page that people look at.
//!
//! ```text
//! frame ─► plan ─► document ┐
//! graph ─► plan ─► document ├─► Chart ─► page (HTML), picture (SVG, PNG)
//! trace ─► play ─► document ┘
//! ```
//! Whatever is planned or played here goes through the document that the command for it writes as JSON: a report of a saved
//! document is the same.

mod advice;
mod chart;
mod curve;
mod fields;
mod frame;
mod numbers;
mod page;
mod pass;
mod replay;
mod resource;
mod svg;
mod sweep;
mod tensors;
mod trace;
mod words;

use std::io::IsTerminal;
use std::path::Path;

use serde_json::Value;
use tileheap::plan::Plan;
use tileheap::units::Bytes;
use tileheap_textures::PolicyKind;

use crate::arguments::{Detail, ReportArguments, What};
use crate::documents::{self, Document, Replay, Swept, Tensors, Trace};
use crate::failure::Failure;
use crate::input::{Sweep, read_text, shown};
use crate::output::Output;
use crate::progress::Progress;
use crate::replay::ReplayHow;
use crate::tensors::TensorHow;
use chart::Chart;
use numbers::{Cell, Table};
use svg::Ground;

/// With `--detail auto`, larger frames are not planned again and again.
const SMALL_FRAME: usize = 200;

pub(crate) fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let to_terminal = arguments.output.is_none() && std::io::stdout().is_terminal();
    if to_terminal && arguments.svg.is_none() && arguments.png.is_none() {
        return Err(Failure::bad_input(
            "a page of HTML is nothing for a terminal: say with -o where it goes, report.html for instance",
        ));
    }
    let stdin = arguments
        .inputs
        .iter()
        .filter(|input| input.as_os_str() == "-")
        .count();
    if stdin > 1 {
        return Err(Failure::new("standard input can be one of the inputs only"));
    }
    let mut inputs = Vec::new();
    for path in &arguments.inputs {
        inputs.push(read(arguments, path)?);
    }
    if let [_, _, ..] = inputs[..] {
        for (input, path) in inputs.iter_mut().zip(&arguments.inputs) {
            input.chart.title = format!("{}: {}", path.display(), input.chart.title);
        }
    }
    let differences = mark_differences(&mut inputs);
    let charts: Vec<Chart> = inputs.into_iter().map(|input| input.chart).collect();
    if let Some(file) = &arguments.svg {
        Output::to(Some(file.clone())).write(&svg::draw(&charts, Ground::Readers))?;
    }
    if let Some(file) = &arguments.png {
        let ground = if arguments.dark {
            Ground::Dark
        } else {
            Ground::Light
        };
        Output::to(Some(file.clone())).write_bytes(&svg::rasterize(&svg::draw(&charts, ground))?)?;
    }
    if arguments.output.is_some() || (arguments.svg.is_none() && arguments.png.is_none()) {
        Output::to(arguments.output.clone()).write(&page::page(&charts, &differences))?;
    }
    Ok(())
}

/// A replay as SVG.
pub(crate) fn replay_picture(replay: &Replay) -> String {
    svg::draw(&[replay::chart(replay)], Ground::Readers)
}

/// An input, drawn; and the plan it is, if it is one.
struct Input {
    chart: Chart,
    plan: Option<Value>,
}

impl From<Chart> for Input {
    fn from(chart: Chart) -> Input {
        Input { chart, plan: None }
    }
}

/// Whether a text is meant as a table, so that what is wrong with it is said of a table.
fn is_table(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    !text.starts_with(['{', '[']) && text.lines().next().is_some_and(|line| line.contains(','))
}

fn read(arguments: &ReportArguments, path: &Path) -> Result<Input, Failure> {
    if crate::replay::is_trace(path) {
        return played(arguments, path);
    }
    let text = read_text(path, "input")?;
    let name = || {
        path.file_stem()
            .map_or("input".into(), |name| name.to_string_lossy())
    };
    // Tables and lines of JSON are no JSON.
    let document: Value = match serde_json::from_str(&text) {
        Ok(document) => document,
        Err(_) if is_table(&text) || crate::tensors::is_network(&text) => {
            return network(arguments, path, &text);
        }
        Err(error) => {
            let cut = Trace::read_cut(&text).map(|trace| trace::chart(&trace, &name()).into());
            return cut.ok_or_else(|| Failure::of(shown(path), format!("the JSON: {error}")));
        }
    };
    match document["format"].as_str() {
        Some("tileheap-plan") => {
            Plan::check_json(&text).map_err(|error| Failure::of(shown(path), error))?;
            Ok(Input {
                chart: frame::chart(&document),
                plan: Some(document),
            })
        }
        Some(Trace::FORMAT) => Ok(trace::chart(&saved(path, &text)?, &name()).into()),
        Some(Tensors::FORMAT) => Ok(tensors::chart(&saved(path, &text)?).into()),
        Some(Replay::FORMAT) => Ok(replay::chart(&saved(path, &text)?).into()),
        Some(Swept::FORMAT) => Ok(sweep::chart(&saved(path, &text)?, &name()).into()),
        Some("tileheap-graph") => network(arguments, path, &text),
        Some(other) if other != "tileheap-frame" => Err(Failure::of(
            shown(path),
            format!(
                "a report shows frames, plans, sweeps, tensor graphs and plans, texture traces and replays, and traces of the \
                 emulator, not `{other}`"
            ),
        )),
        None if crate::tensors::is_network(&text) => network(arguments, path, &text),
        _ => {
            let what = What {
                frame: path.to_owned(),
                how: arguments.how.clone(),
            };
            planned(arguments, &what, &text)
        }
    }
}

/// What the command wrote before.
fn saved<T: Document>(path: &Path, text: &str) -> Result<T, Failure> {
    documents::read(text).map_err(|error| Failure::of(shown(path), error))
}

/// A trace of texture requests is played.
fn played(arguments: &ReportArguments, path: &Path) -> Result<Input, Failure> {
    let Some(budget) = arguments.cache else {
        return Err(Failure::bad_input(format!(
            "{} is a trace of texture requests: say with --cache what memory there is, 2MiB for instance",
            shown(path)
        )));
    };
    let how = ReplayHow {
        budget,
        kinds: if arguments.policy.is_empty() {
            PolicyKind::ALL.to_vec()
        } else {
            arguments.policy.clone()
        },
        seed: 1,
        bound: true,
    };
    Ok(replay::chart(&crate::replay::document_of(path, &how)?).into())
}

/// A graph or records are planned, by every strategy.
fn network(arguments: &ReportArguments, path: &Path, text: &str) -> Result<Input, Failure> {
    let how = TensorHow {
        strategy: arguments.tensor_strategy,
        policy: arguments.storage,
        memories: arguments.memory.clone(),
        in_place: true,
    };
    Ok(tensors::chart(&crate::tensors::document_of(text, path, &how)?).into())
}

/// A frame is planned; what would bring the rest on chip is tried, and other sizes of the heap.
fn planned(arguments: &ReportArguments, what: &What, text: &str) -> Result<Input, Failure> {
    let imported = crate::plan::frame_from(&what.frame, text, what.how.size)?;
    let imported = crate::plan::frame_weighed(what, imported)?;
    let progress = Progress::new("planning", 0);
    let plan = crate::plan::plan_of(what, &imported, &crate::plan::read_profile(what)?)?;
    let small = plan.frame.resources().len() <= SMALL_FRAME;
    let thorough = match arguments.detail {
        Detail::Auto => small,
        Detail::Full => true,
        Detail::Plan => false,
    };
    let mut notes = imported.notes;
    let document = if thorough {
        progress.say("trying what would help");
        crate::advise::with_advice(&plan)?
    } else {
        serde_json::from_str(&plan.to_json())
            .map_err(|error| Failure::new(format!("the plan's own JSON: {error}")))?
    };
    if !thorough && arguments.detail == Detail::Auto {
        notes.push(format!(
            "more than {SMALL_FRAME} resources: what would help and other heap sizes are tried with --detail full"
        ));
    }
    drop(progress);
    let mut chart = frame::chart(&document);
    let heap = plan.profile.tile.map(|tile| tile.size);
    let sweep = arguments.sweep.or(heap.filter(|_| thorough).map(around));
    if let Some(over) = sweep {
        let here = match over {
            Sweep::Heap(..) => heap.map(|heap| heap.0),
            Sweep::Size(..) => {
                let extent = plan.frame.base_extent();
                Some(u64::from(extent.width) * u64::from(extent.height))
            }
        };
        chart.curves = sweep::curves(&crate::sweep::swept(what, text, over)?, here);
    }
    chart.notes = notes;
    Ok(Input {
        chart,
        plan: Some(document),
    })
}

/// From a quarter of a heap to three of it.
fn around(heap: Bytes) -> Sweep {
    Sweep::Heap(Bytes(heap.0 / 4), Bytes(heap.0.saturating_mul(3).max(1)))
}

/// What the only two plans do differently; the items that it is about are marked in both.
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
    let moved = crate::diff::moved(old, new);
    let tables = crate::diff::differences(old, new)
        .into_iter()
        .map(|(title, differences)| {
            let said = |side: Option<String>| Cell::word(side.unwrap_or_else(|| "–".to_owned()));
            let rows = differences
                .into_iter()
                .map(|one| vec![Cell::word(one.name), said(one.old), said(one.new)]);
            Table {
                title: title.to_owned(),
                columns: ["name", "first plan", "second plan"].map(str::to_owned).to_vec(),
                rows: rows.collect(),
                chosen: None,
            }
        });
    let tables = tables.collect();
    for index in [first, second] {
        for item in &mut inputs[index].chart.items {
            item.changed = moved.contains(&item.name);
        }
    }
    tables
}
