//! `tileheap report`: plans and traces as a page that people look at.

mod chart;
mod frame;
mod svg;
mod trace;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::arguments::{ReportArguments, What};
use crate::failure::Failure;
use crate::input::{read_text, shown};
use crate::output::Output;
use chart::{Chart, Kind};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(crate) fn run(arguments: &ReportArguments) -> Result<(), Failure> {
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
        Output::to(Some(file.clone())).write(&svg::draw(&charts))?;
    }
    if let Some(file) = &arguments.png {
        Output::to(Some(file.clone())).write_bytes(&svg::rasterize(&svg::draw(&charts))?)?;
    }
    if arguments.output.is_some() || (arguments.svg.is_none() && arguments.png.is_none()) {
        Output::to(arguments.output.clone()).write(&page(&charts, &differences))?;
    }
    Ok(())
}

/// An input, drawn; and the plan it is, if it is one.
struct Input {
    chart: Chart,
    plan: Option<Value>,
}

fn read(arguments: &ReportArguments, path: &Path) -> Result<Input, Failure> {
    let text = read_text(path, "input")?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::of(shown(path), format!("the JSON: {error}")))?;
    match document["format"].as_str() {
        Some("tileheap-plan") => Ok(Input {
            chart: frame::chart(&document, None, &BTreeMap::new()),
            plan: Some(document),
        }),
        Some("tileheap-emulator-trace") => {
            let name = path
                .file_stem()
                .map_or("trace".into(), |name| name.to_string_lossy());
            Ok(Input {
                chart: trace::chart(&document, &name),
                plan: None,
            })
        }
        Some(other) if other != "tileheap-frame" => Err(Failure::of(
            shown(path),
            format!("a report shows frames, plans and traces of the emulator, not `{other}`"),
        )),
        _ => planned(
            &What {
                frame: path.to_owned(),
                how: arguments.how.clone(),
            },
            &text,
        ),
    }
}

/// A frame is planned first, and what would bring the rest on chip is asked.
fn planned(what: &What, text: &str) -> Result<Input, Failure> {
    let imported = crate::plan::frame_from(&what.frame, text, what.how.size)?;
    let plan = crate::plan::plan_of(what, &imported, &crate::plan::read_profile(what)?)?;
    let mut advice: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for advised in tileheap::plan::advise(&plan)? {
        let name = plan.frame.resource(advised.resource).name.clone();
        let words = advised.changes.iter().map(|change| {
            let saves = chart::amount(change.saves.0);
            format!(
                "{}: saves {saves} a frame",
                crate::advise::in_words(&plan, change.kind)
            )
        });
        advice.insert(name, words.collect());
    }
    let document: Value = serde_json::from_str(&plan.to_json())
        .map_err(|error| Failure::new(format!("the plan's own JSON: {error}")))?;
    let mut chart = frame::chart(&document, Some(&plan.frame), &advice);
    chart.notes = imported.notes;
    Ok(Input {
        chart,
        plan: Some(document),
    })
}

/// What the first two plans do differently, in lines; the items that it is about are marked in both.
fn mark_differences(inputs: &mut [Input]) -> Vec<String> {
    let plans: Vec<usize> = (0..inputs.len())
        .filter(|&index| inputs[index].plan.is_some())
        .collect();
    let [first, second] = plans[..] else {
        return Vec::new();
    };
    let (Some(old), Some(new)) = (&inputs[first].plan, &inputs[second].plan) else {
        return Vec::new();
    };
    let report = crate::diff::report(old, new);
    let moved = crate::diff::moved(old, new);
    for index in [first, second] {
        for item in &mut inputs[index].chart.items {
            item.changed = moved.contains(&item.name);
        }
    }
    report.lines().map(str::to_owned).collect()
}

/// One file: no network, no other file.
fn page(charts: &[Chart], differences: &[String]) -> String {
    let kinds = Kind::ALL
        .map(|kind| json!({ "name": kind.name(), "fill": kind.colours().0, "edge": kind.colours().1 }));
    let document = json!({
        "kinds": kinds,
        "charts": charts.iter().map(Chart::to_json).collect::<Vec<_>>(),
        "differences": differences,
    });
    // Nothing in a name may end the script.
    let data = document.to_string().replace('<', "\\u003c");
    let title = match charts {
        [chart] => chart.title.as_str(),
        _ => "Memory, side by side",
    };
    PAGE.replace("{{title}}", &svg::escaped(title))
        .replace("{{style}}", STYLE)
        .replace("{{script}}", SCRIPT)
        .replace("{{data}}", &data)
}
