//! The facts of a pass of a plan: bound tile memory, accesses, barriers.

use serde_json::Value;

use super::chart::Step;
use super::fields::{bytes, list, text};
use super::resource::operations;
use super::words::{amount, plainly};

/// The columns of barriers.
pub(super) const LINES: [&str; 5] = ["when", "resource", "cause", "stages", "layouts"];

pub(super) fn step(pass: &Value) -> Step {
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
    let uses = list(&pass["accesses"])
        .iter()
        .map(|access| format!("{}{}", text(&access["resource"]), operations(access)));
    let uses: Vec<String> = uses.collect();
    if !uses.is_empty() {
        fact("accesses", uses.join(", "));
    }
    let (before, after) = (list(&pass["barriers_before"]), list(&pass["barriers_after"]));
    fact(
        "barriers",
        format!("{} before, {} after", before.len(), after.len()),
    );
    let sides = [("before", before), ("after", after)].into_iter();
    let lines = sides.flat_map(|(side, barriers)| barriers.iter().map(move |barrier| line(side, barrier)));
    Step {
        name: text(&pass["name"]).to_owned(),
        facts,
        lines: lines.collect(),
    }
}

fn line(side: &str, barrier: &Value) -> Vec<String> {
    let flags = |name: &str| {
        let flags = list(&barrier[name])
            .iter()
            .map(|flag| plainly(text(flag), "VK_PIPELINE_STAGE_2_"));
        let flags: Vec<String> = flags.collect();
        if flags.is_empty() {
            "none".to_owned()
        } else {
            flags.join(" + ")
        }
    };
    let layout = |name: &str| plainly(text(&barrier[name]), "VK_IMAGE_LAYOUT_");
    let queues = &barrier["transfer"];
    let transfer = if queues.is_object() {
        format!(
            ", {} of {} → {}",
            text(&queues["half"]),
            text(&queues["from"]),
            text(&queues["to"])
        )
    } else {
        String::new()
    };
    vec![
        side.to_owned(),
        text(&barrier["resource"]).to_owned(),
        format!("{}{transfer}", text(&barrier["cause"]).replace('_', " ")),
        format!("{} → {}", flags("src_stages"), flags("dst_stages")),
        format!("{} → {}", layout("old_layout"), layout("new_layout")),
    ]
}
