//! Charts as one self-contained HTML page.

use serde_json::{Value, json};

use super::arrangement;
use super::chart::{Chart, Kind};
use super::numbers::{Curve, Table, Unit};
use super::words::escaped;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// Scripts for the drawing of a chart, the report about a captured frame, and the rest of the page.
const SCRIPTS: [&str; 3] = [
    include_str!("view.js"),
    include_str!("captured.js"),
    include_str!("page.js"),
];

pub(crate) fn page(charts: &[Chart], differences: &[Table]) -> String {
    let kinds = Kind::ALL
        .map(|kind| json!({ "name": kind.name(), "fill": kind.colors().0, "edge": kind.colors().1 }));
    let document = json!({
        "kinds": kinds,
        "charts": charts.iter().map(in_json).collect::<Vec<_>>(),
        "differences": (!differences.is_empty()).then_some(differences),
    });
    // No name may end the script element.
    let data = document.to_string().replace('<', "\\u003c");
    let title = match charts {
        [chart] => chart.title.as_str(),
        [chart, ..] if chart.report.is_some() => chart.title.as_str(),
        _ => "Memory plans",
    };
    let script = SCRIPTS.concat();
    let parts = [
        ("title", escaped(title)),
        ("style", STYLE.to_owned()),
        ("data", data),
        ("script", script),
    ];
    // In one pass: inserted text is not scanned.
    let mut page = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}").expect("every placeholder is closed");
        let part = parts.iter().find(|part| part.0 == name);
        page += before;
        page += &part.expect("every placeholder names a part").1;
        rest = behind;
    }
    page + rest
}

/// A chart in the form that the page's script reads.
fn in_json(chart: &Chart) -> Value {
    let mut value = json!(chart);
    value["arrangement"] = chart.arrangement.as_ref().map(arrangement::for_page).into();
    value["panels"] = chart.drawn_panels().map(|panel| json!(panel)).collect();
    value["curves"] = chart.curves.iter().map(curve_in_json).collect();
    value
}

/// Converts a curve to its drawing, and its numbers for screen readers.
fn curve_in_json(curve: &Curve) -> Value {
    json!({
        "title": curve.title,
        "across": curve.axis_name,
        "wide": curve.wide,
        "at": curve.at,
        "share": curve.unit == Unit::Share,
        "series": curve.series,
        "svg": super::curve::for_page(curve),
    })
}
