//! A frame's plan as a chart.

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap::frame::Frame;

use super::chart::{Area, Chart, Item, Kind, Panel, Step, amount};

/// The chart of a plan as `tileheap plan --json` writes it; with its frame, where the command buffers and batches are.
pub(crate) fn chart(plan: &Value, frame: Option<&Frame>, advice: &BTreeMap<String, Vec<String>>) -> Chart {
    let passes = list(&plan["passes"]);
    let step_of: BTreeMap<&str, usize> = passes
        .iter()
        .enumerate()
        .map(|(step, pass)| (text(&pass["name"]), step))
        .collect();
    let steps = passes.iter().enumerate().map(|(step, pass)| Step {
        name: text(&pass["name"]).to_owned(),
        part: frame.map_or(String::new(), |frame| part_of(frame, step)),
        lines: barriers(pass),
    });
    let steps: Vec<Step> = steps.collect();
    let mut panels = panels(plan, passes);
    let mut items = Vec::new();
    for resource in list(&plan["resources"]) {
        let mut item = item(resource, passes);
        for change in advice.get(&item.name).into_iter().flatten() {
            item.facts
                .push(("would bring it on chip".to_owned(), change.clone()));
        }
        for place in list(&resource["placements"]) {
            let span = span(place, &step_of, steps.len());
            let object = place["object"]
                .as_u64()
                .and_then(|object| panels.objects.get(object as usize));
            let Some(&panel) = object else { continue };
            panels.all[panel].boxes.push(Area {
                item: items.len(),
                steps: span,
                offset: bytes(&place["offset"]),
                size: bytes(&place["size"]),
            });
        }
        items.push(item);
    }
    for panel in &mut panels.all {
        // The aliases of a ladder are one place.
        panel
            .boxes
            .dedup_by_key(|area| (area.item, area.steps, area.offset, area.size));
    }
    Chart {
        title: format!("{} on {}", text(&plan["frame"]), text(&plan["profile"]["name"])),
        facts: facts(plan),
        steps,
        panels: panels.all,
        items,
        notes: Vec::new(),
    }
}

/// All tile memory objects cover the heap from byte 0: one panel. Every other object is a panel of its own, but for those of
/// a single resource.
struct Panels {
    all: Vec<Panel>,
    /// The panel of each object.
    objects: Vec<usize>,
}

fn panels(plan: &Value, passes: &[Value]) -> Panels {
    let mut all = Vec::new();
    let heap = plan["profile"]["tile"]["heapIndex"].as_u64();
    let heap = heap.and_then(|heap| plan["profile"]["memoryHeaps"].get(heap as usize));
    if let Some(heap) = heap {
        all.push(Panel {
            name: "Tile heap".to_owned(),
            size: bytes(&heap["size"]),
            boxes: Vec::new(),
            reserved: passes.iter().map(|pass| bytes(&pass["bound_bytes"])).collect(),
        });
    }
    let mut objects = Vec::new();
    for (index, object) in list(&plan["objects"]).iter().enumerate() {
        let home = text(&object["home"]);
        if home == "tile" && !all.is_empty() {
            objects.push(0);
            continue;
        }
        objects.push(all.len());
        all.push(Panel {
            name: match home {
                "arena" => format!("Arena, object {index}"),
                "lazy" => format!("Lazily allocated, object {index}"),
                _ => format!("Allocation, object {index}"),
            },
            size: bytes(&object["size"]),
            ..Panel::default()
        });
    }
    Panels { all, objects }
}

fn item(resource: &Value, passes: &[Value]) -> Item {
    let places = list(&resource["placements"]);
    let kind = match places.first().map(|place| text(&place["home"])) {
        Some("tile") => Kind::Tile,
        Some("lazy") => Kind::Lazy,
        Some("arena") => Kind::Arena,
        _ => Kind::Own,
    };
    let size = places
        .iter()
        .map(|place| bytes(&place["size"]))
        .max()
        .unwrap_or(0);
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.to_owned(), value));
    if let Some(place) = places.first() {
        let (first, last) = (text(&place["first_pass"]), text(&place["last_pass"]));
        let life = if first.is_empty() {
            "the whole frame".to_owned()
        } else if first == last {
            first.to_owned()
        } else {
            format!("{first} … {last}")
        };
        fact("life", life);
        fact(
            "place",
            format!(
                "{}, {} at offset {}",
                kind.name(),
                amount(size),
                bytes(&place["offset"])
            ),
        );
    }
    fact("why", text(&resource["reason"]["text"]).to_owned());
    if let Some(worth) = resource["reason"]["worth"].as_u64() {
        fact("worth", format!("{} a frame", amount(worth)));
    }
    let uses = list(&resource["accesses"]).iter().map(|access| {
        let pass = text(&access["pass"]);
        let operations = passes
            .iter()
            .find(|other| text(&other["name"]) == pass)
            .into_iter()
            .flat_map(|other| list(&other["accesses"]))
            .find(|other| other["resource"] == resource["name"])
            .map(operations)
            .unwrap_or_default();
        format!("{pass}: {}{operations}", text(&access["kind"]).replace('_', " "))
    });
    fact("used in", uses.collect::<Vec<_>>().join("; "));
    Item {
        name: text(&resource["name"]).to_owned(),
        kind,
        size,
        facts,
        changed: false,
    }
}

/// ` (clear, store)`.
fn operations(access: &Value) -> String {
    let short = |value: &Value, prefix: &str| {
        let name = value.as_str()?.strip_prefix(prefix)?;
        Some(name.to_lowercase().replace('_', " "))
    };
    let load = short(&access["load_op"], "VK_ATTACHMENT_LOAD_OP_");
    let store = short(&access["store_op"], "VK_ATTACHMENT_STORE_OP_");
    match (load, store) {
        (Some(load), Some(store)) => format!(" ({load}, {store})"),
        _ => String::new(),
    }
}

/// Submit, batch and command buffer of a pass.
fn part_of(frame: &Frame, step: usize) -> String {
    let Some(pass) = frame.pass_ids().nth(step) else {
        return String::new();
    };
    let (batch, commands) = (frame.batch_of(pass), frame.pass(pass).command_buffer);
    let name = &frame.command_buffers()[commands.index()].name;
    format!("batch {}, {name}", batch.index())
}

fn barriers(pass: &Value) -> Vec<String> {
    let sides = [
        ("before", &pass["barriers_before"]),
        ("after", &pass["barriers_after"]),
    ];
    let lines = sides.into_iter().flat_map(|(side, barriers)| {
        list(barriers).iter().map(move |barrier| {
            let flags = |name: &str, prefix: &str| {
                let flags = list(&barrier[name]).iter().map(text);
                let flags = flags.map(|flag| {
                    let flag = flag.strip_prefix(prefix).unwrap_or(flag);
                    flag.strip_suffix("_BIT")
                        .unwrap_or(flag)
                        .to_lowercase()
                        .replace('_', " ")
                });
                let flags: Vec<String> = flags.collect();
                if flags.is_empty() {
                    "none".to_owned()
                } else {
                    flags.join(" + ")
                }
            };
            let layout = |name: &str| {
                let layout = text(&barrier[name]);
                layout
                    .strip_prefix("VK_IMAGE_LAYOUT_")
                    .unwrap_or(layout)
                    .to_lowercase()
                    .replace('_', " ")
            };
            format!(
                "{side}: {} ({}): {} → {}, {} → {}",
                text(&barrier["resource"]),
                text(&barrier["cause"]).replace('_', " "),
                flags("src_stages", "VK_PIPELINE_STAGE_2_"),
                flags("dst_stages", "VK_PIPELINE_STAGE_2_"),
                layout("old_layout"),
                layout("new_layout"),
            )
        })
    });
    lines.collect()
}

fn facts(plan: &Value) -> Vec<(String, String)> {
    let totals = &plan["totals"];
    let (kept, eligible) = (bytes(&totals["on_chip_bytes"]), bytes(&totals["eligible_bytes"]));
    let share = if eligible == 0 {
        String::new()
    } else {
        format!(", {}", crate::gate::percent(kept, eligible))
    };
    let mut facts = vec![
        (
            "traffic saved".to_owned(),
            format!("{} of {} a frame{share}", amount(kept), amount(eligible)),
        ),
        (
            "tile memory bound at most".to_owned(),
            amount(bytes(&totals["tile_bytes"])),
        ),
        (
            "reserved, summed over passes".to_owned(),
            format!(
                "{} for {} alive",
                amount(bytes(&totals["reserved_bytes"])),
                amount(bytes(&totals["live_bytes"]))
            ),
        ),
        (
            "arenas".to_owned(),
            format!(
                "{} ({} without aliasing)",
                amount(bytes(&totals["arena_bytes"])),
                amount(bytes(&totals["arena_bytes_without_aliasing"]))
            ),
        ),
        (
            "harm of reservations".to_owned(),
            format!("{} a frame", amount(bytes(&plan["harm_bytes"]))),
        ),
        (
            "strategy".to_owned(),
            text(&plan["options"]["strategy"]).to_owned(),
        ),
    ];
    if let Some(proved) = plan["optimality"]["proved"].as_bool() {
        let (value, bound) = (
            bytes(&plan["optimality"]["value"]),
            bytes(&plan["optimality"]["bound"]),
        );
        let words = if proved {
            "proved: no choice is better".to_owned()
        } else {
            format!(
                "at least {} of the best possible",
                crate::gate::percent(value, bound)
            )
        };
        facts.push(("optimality".to_owned(), words));
    }
    facts
}

fn span(place: &Value, step_of: &BTreeMap<&str, usize>, steps: usize) -> (usize, usize) {
    let (first, last) = (text(&place["first_pass"]), text(&place["last_pass"]));
    match (step_of.get(first), step_of.get(last)) {
        (Some(&first), Some(&last)) => (first, last + 1),
        _ => (0, steps),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn bytes(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
