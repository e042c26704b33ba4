//! Charts as one self-contained HTML page.

use serde_json::{Value, json};

use super::chart::{Chart, Kind};
use super::numbers::{Cell, Curve, Table, Unit};
use super::words::escaped;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The drawing of one chart, and the rest of the page.
const SCRIPTS: [&str; 2] = [include_str!("view.js"), include_str!("page.js")];

pub(crate) fn page(charts: &[Chart], differences: &[Table]) -> String {
    let kinds = Kind::ALL
        .map(|kind| json!({ "name": kind.name(), "fill": kind.colours().0, "edge": kind.colours().1 }));
    let document = json!({
        "kinds": kinds,
        "charts": charts.iter().map(in_json).collect::<Vec<_>>(),
        "differences": (!differences.is_empty()).then(|| differences.iter().map(table_in_json).collect::<Vec<_>>()),
    });
    // No name may end the script element.
    let data = document.to_string().replace('<', "\\u003c");
    let title = match charts {
        [chart] => chart.title.as_str(),
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
        let (name, behind) = after.split_once("}}").expect("braces of the page are closed");
        let part = parts.iter().find(|part| part.0 == name);
        page += before;
        page += &part.expect("the page names its parts").1;
        rest = behind;
    }
    page + rest
}

/// A chart as the page's script reads it.
fn in_json(chart: &Chart) -> Value {
    let steps = chart
        .steps
        .iter()
        .map(|step| json!({ "name": step.name, "facts": step.facts, "lines": step.lines }));
    let lanes = chart.lanes.iter().map(|lane| {
        let spans = lane
            .spans
            .iter()
            .map(|span| json!([span.first, span.end, span.name]));
        json!({ "name": lane.name, "ruled": lane.ruled, "spans": spans.collect::<Vec<_>>() })
    });
    let panels = chart.drawn_panels().map(|panel| {
        let boxes = panel
            .boxes
            .iter()
            .map(|area| json!([area.item, area.steps.0, area.steps.1, area.offset, area.size]));
        json!({
            "name": panel.name,
            "size": panel.size,
            "rows": panel.rows,
            "boxes": boxes.collect::<Vec<_>>(),
            "reserved": panel.reserved,
            "rules": panel.rules,
        })
    });
    let items = chart.items.iter().map(|item| {
        json!({
            "name": item.name,
            "kind": item.kind as usize,
            "size": item.size,
            "facts": item.facts,
            "changed": item.changed,
        })
    });
    json!({
        "title": chart.title,
        "facts": chart.facts,
        "steps": steps.collect::<Vec<_>>(),
        "lanes": lanes.collect::<Vec<_>>(),
        "marks": chart.marks,
        "panels": panels.collect::<Vec<_>>(),
        "what": if chart.what.is_empty() { "resources" } else { chart.what },
        "items": items.collect::<Vec<_>>(),
        "curves": chart.curves.iter().map(curve_in_json).collect::<Vec<_>>(),
        "tables": chart.tables.iter().map(table_in_json).collect::<Vec<_>>(),
        "lines": chart.lines,
        "notes": chart.notes,
    })
}

/// The drawing of a curve, and its numbers for screen readers.
fn curve_in_json(curve: &Curve) -> Value {
    let series = curve
        .series
        .iter()
        .map(|series| json!({ "name": series.name, "values": series.values }));
    json!({
        "title": curve.title,
        "across": curve.across,
        "wide": curve.wide,
        "at": curve.at,
        "share": curve.unit == Unit::Share,
        "series": series.collect::<Vec<_>>(),
        "svg": super::curve::for_page(curve),
    })
}

fn table_in_json(table: &Table) -> Value {
    let cell = |cell: &Cell| match cell {
        Cell::Word(text) => json!(text),
        Cell::Number(number, text) => json!([number, text]),
    };
    let rows = table
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>());
    json!({
        "title": table.title,
        "columns": table.columns,
        "rows": rows.collect::<Vec<_>>(),
        "chosen": table.chosen,
    })
}
