//! The page: one file, without a network or another file.

use serde_json::{Value, json};

use super::chart::{Chart, Kind, Table};
use super::svg;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The drawing of one chart, and what is around it.
const SCRIPTS: [&str; 2] = [include_str!("view.js"), include_str!("page.js")];

pub(super) fn page(charts: &[Chart], differences: &[Table]) -> String {
    let kinds = Kind::ALL
        .map(|kind| json!({ "name": kind.name(), "fill": kind.colours().0, "edge": kind.colours().1 }));
    let differences = Chart {
        tables: differences.to_vec(),
        ..Chart::default()
    };
    let compared = !differences.tables.is_empty();
    let document = json!({
        "kinds": kinds,
        "charts": charts.iter().map(Chart::to_json).collect::<Vec<_>>(),
        "differences": if compared { differences.to_json()["tables"].clone() } else { Value::Null },
    });
    // Nothing in a name may end the script.
    let data = document.to_string().replace('<', "\\u003c");
    let title = match charts {
        [chart] => chart.title.as_str(),
        _ => "Memory, side by side",
    };
    let script = SCRIPTS.concat();
    let parts = [
        ("title", svg::escaped(title)),
        ("style", STYLE.to_owned()),
        ("data", data),
        ("script", script),
    ];
    // In one walk: what is put in is not looked at again.
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
