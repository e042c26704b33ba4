//! An emulator's trace as a chart: what is reserved from event to event, and which bytes were lost.

use serde_json::Value;

use super::chart::{Area, Chart, Item, Kind, Lane, Panel, Step, amount};

/// A step is a binding, a discard or a submission, in the order in which the application made them.
pub(crate) fn chart(trace: &Value, name: &str) -> Chart {
    let heap = trace["heap"].as_u64().unwrap_or(0);
    let events = trace["events"].as_array().map_or(&[][..], Vec::as_slice);
    let mut panel = Panel {
        name: "Tile heap".to_owned(),
        size: heap,
        ..Panel::default()
    };
    let (mut steps, mut items) = (Vec::new(), Vec::new());
    let (mut reserved, mut commands, mut submits) = (0, "", 0u64);
    let (mut binds, mut lost) = (0, 0);
    let (mut submissions, mut submitted) = (Vec::new(), 0u64);
    for event in events {
        let bytes = |field: &str| event[field].as_u64().unwrap_or(0);
        let of = event["commandBuffer"].as_str().unwrap_or("");
        let name = match event["event"].as_str().unwrap_or("") {
            "bind" => {
                (reserved, commands, binds) = (bytes("bytes"), of, binds + 1);
                format!("bind {}", amount(reserved))
            }
            "discard" => {
                // A command buffer begins with nothing bound.
                if of != commands && !of.is_empty() {
                    (reserved, commands) = (0, of);
                }
                let (first, end) = (bytes("first"), bytes("end"));
                let why = event["why"].as_str().unwrap_or("");
                panel.boxes.push(Area {
                    item: items.len(),
                    steps: (steps.len(), steps.len() + 1),
                    offset: first,
                    size: end.saturating_sub(first),
                });
                items.push(Item {
                    name: format!("discard {}: {why}", items.len()),
                    kind: Kind::Discarded,
                    size: end.saturating_sub(first),
                    facts: vec![
                        ("bytes".to_owned(), format!("{first} … {end}")),
                        ("why".to_owned(), why.to_owned()),
                        ("command buffer".to_owned(), of.to_owned()),
                    ],
                    changed: false,
                });
                lost += end.saturating_sub(first);
                "discard".to_owned()
            }
            "submit" => {
                submits += 1;
                reserved = 0;
                format!("submit, {} alive", amount(bytes("live")))
            }
            other => other.to_owned(),
        };
        let words = |name: &str| {
            event[name]
                .as_str()
                .map(|value| (name.to_owned(), value.to_owned()))
        };
        let mut facts: Vec<(String, String)> = ["why", "commandBuffer", "queue"]
            .into_iter()
            .filter_map(words)
            .collect();
        facts.insert(0, ("bound".to_owned(), amount(reserved)));
        steps.push(Step {
            name,
            facts,
            lines: vec![vec![event.to_string()]],
        });
        // A submission ends what came before it.
        submissions.push((submitted, format!("submission {submitted}")));
        submitted = submits;
        panel.reserved.push(reserved);
    }
    let messages = trace["messages"].as_object();
    let notes = messages
        .into_iter()
        .flatten()
        .map(|(id, count)| format!("{id}: reported {count} times"));
    let fact = |name: &str, value: String| (name.to_owned(), value);
    Chart {
        title: format!(
            "{name}: on the emulator as {}",
            trace["profile"].as_str().unwrap_or("")
        ),
        facts: vec![
            fact("heap", amount(heap)),
            fact("bindings", binds.to_string()),
            fact("submissions", submits.to_string()),
            fact("bytes discarded", amount(lost)),
        ],
        steps,
        lanes: vec![Lane::of("submission", true, submissions.into_iter())],
        panels: vec![panel],
        what: "discards",
        items,
        lines: ("Events".to_owned(), vec!["as recorded".to_owned()]),
        notes: notes.collect(),
        ..Chart::default()
    }
}
