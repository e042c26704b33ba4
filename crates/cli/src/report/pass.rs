//! The facts of a pass of a plan: bound tile memory, accesses.

use serde_json::Value;

use super::chart::Step;
use super::fields::{bytes, list, text};
use super::words::amount;

/// The headings of the columns in which a pass lists its accesses.
pub(super) const LINES: [&str; 4] = ["resource", "as", "does", "version"];

pub(super) fn step(pass: &Value, resources: &[Value]) -> Step {
    let (bound, live) = (bytes(&pass["bound_bytes"]), bytes(&pass["live_tile_bytes"]));
    let mut facts = Vec::new();
    let mut fact = |name, value: String| facts.push((name, value));
    fact(
        "bound",
        match pass["bound_object"].as_u64() {
            Some(object) => format!(
                "{} of tile memory, object {object}; {} live",
                amount(bound),
                amount(live)
            ),
            None => "no tile memory".to_owned(),
        },
    );
    let within = &pass["within"];
    if within.is_object() {
        fact(
            "recorded in",
            format!(
                "{}, batch {} of {}",
                text(&within["command_buffer"]),
                bytes(&within["batch"]),
                text(&within["queue"])
            ),
        );
    }
    let lines = resources.iter().flat_map(|resource| {
        let accesses = list(&resource["accesses"]).iter();
        let mine = accesses.filter(|access| access["pass"] == pass["name"]);
        mine.map(|access| line(resource, access))
    });
    let lines: Vec<Vec<String>> = lines.collect();
    let uses: Vec<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    if !uses.is_empty() {
        fact("accesses", uses.join(", "));
    }
    Step {
        name: text(&pass["name"]).to_owned(),
        facts,
        lines,
    }
}

fn line(resource: &Value, access: &Value) -> Vec<String> {
    let does = match (access["reads"].as_bool(), access["writes"].as_bool()) {
        (Some(true), Some(true)) => "reads and writes",
        (_, Some(true)) => "writes",
        _ => "reads",
    };
    vec![
        text(&resource["name"]).to_owned(),
        text(&access["kind"]).replace('_', " "),
        does.to_owned(),
        text(&access["version"]).to_owned(),
    ]
}
