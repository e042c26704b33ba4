//! A trace of the emulator as a chart: the bound tile memory, and the discarded bytes.

use super::chart::{Area, Chart, Item, Kind, Lane, Panel, Step};
use super::numbers::{Cell, Table};
use super::verdict::Verdict;
use super::words::amount;
use crate::documents::{Event, Trace};
use crate::values::counted;

/// The chart of a trace: every bind, discard and submission is a step.
pub(crate) fn chart(trace: &Trace, name: &str) -> Chart {
    let mut panel = Panel {
        name: "Tile heap".to_owned(),
        size: trace.heap,
        ..Panel::default()
    };
    let (mut steps, mut items) = (Vec::new(), Vec::new());
    let (mut reserved, mut commands, mut submits) = (0, "", 0u64);
    let (mut binds, mut lost) = (0, 0);
    let (mut submissions, mut submitted) = (Vec::new(), 0u64);
    for event in &trace.events {
        let (name, about) = match event {
            Event::Bind {
                command_buffer,
                bytes,
            } => {
                (reserved, commands, binds) = (*bytes, command_buffer, binds + 1);
                let name = format!("bind {}", amount(reserved));
                (name, vec![("command buffer", command_buffer.clone())])
            }
            Event::Discard {
                command_buffer,
                first,
                end,
                why,
            } => {
                // A command buffer starts with nothing bound.
                if command_buffer != commands && !command_buffer.is_empty() {
                    (reserved, commands) = (0, command_buffer);
                }
                let size = end.saturating_sub(*first);
                panel.boxes.push(Area {
                    item: items.len(),
                    steps: (steps.len(), steps.len() + 1),
                    offset: *first,
                    size,
                });
                let about = vec![
                    ("reason", why.clone()),
                    ("command buffer", command_buffer.clone()),
                ];
                let mut facts = vec![("bytes", format!("{first} … {end}"))];
                facts.extend(about.iter().cloned());
                items.push(Item {
                    name: format!("discard {}: {why}", items.len()),
                    kind: Kind::Discarded,
                    size,
                    facts,
                    changed: false,
                });
                lost += size;
                ("discard".to_owned(), about)
            }
            Event::Submit { queue, live, .. } => {
                submits += 1;
                reserved = 0;
                let name = format!("submit, {} live", amount(*live));
                (name, vec![("queue", queue.clone())])
            }
        };
        let mut facts = vec![("bound", amount(reserved))];
        facts.extend(about);
        let line = serde_json::to_string(event).expect("an event has string keys");
        steps.push(Step {
            name,
            facts,
            lines: vec![vec![line]],
        });
        // A submission ends the steps before it.
        submissions.push((submitted, format!("submission {submitted}")));
        submitted = submits;
        panel.reserved.push(reserved);
    }
    let verdict = verdict(trace, items.len(), lost);
    let mut notes = Vec::new();
    notes.extend(trace.messages.is_none().then(|| {
        "The program ended before it destroyed its device: the last events and the message counts may be missing.".to_owned()
    }));
    Chart {
        title: format!("{name}: emulator, profile {}", trace.profile),
        verdict,
        facts: vec![
            ("heap", amount(trace.heap)),
            ("binds", binds.to_string()),
            ("submissions", submits.to_string()),
        ],
        steps,
        lanes: vec![Lane::of("submission", true, submissions.into_iter())],
        panels: vec![panel],
        what: "discards",
        items,
        tables: messages(trace),
        lines: ("Events", &["as recorded"]),
        notes,
        ..Chart::default()
    }
}

/// Returns the verdict: the lost bytes, and the number of messages.
fn verdict(trace: &Trace, discards: usize, lost: u64) -> Verdict {
    let contents = match discards {
        0 => "No contents of tile memory were discarded".to_owned(),
        _ => format!(
            "{} of tile memory contents were lost in {}",
            amount(lost),
            counted(discards as u64, "discard")
        ),
    };
    let messages = match &trace.messages {
        None => "the number of messages is unknown".to_owned(),
        Some(messages) => match messages
            .values()
            .fold(0, |sum: u64, count| sum.saturating_add(*count))
        {
            0 if discards > 0 => {
                "the emulator reported no reads of lost contents and no other problems".to_owned()
            }
            0 => "the emulator reported nothing".to_owned(),
            count => format!("the emulator reported {}", counted(count, "message")),
        },
    };
    Verdict::new(format!("{contents}; {messages}."), "", Vec::new())
}

/// The table of the kinds of messages, the most frequent first; empty if there are no messages.
fn messages(trace: &Trace) -> Vec<Table> {
    let mut kinds: Vec<(&String, &u64)> = trace.messages.iter().flatten().collect();
    kinds.sort_by_key(|&(id, count)| (std::cmp::Reverse(*count), id));
    let rows = kinds
        .into_iter()
        .map(|(id, &count)| vec![Cell::word(id.as_str()), Cell::count(count)]);
    let table = Table::new("Messages", &["message", "times reported"], rows);
    if table.rows.is_empty() {
        Vec::new()
    } else {
        vec![table]
    }
}
