//! A frame's plan as a chart: heaps over passes, from the JSON of `tileheap plan`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::chart::{Area, Chart, Facts, Lane, Panel};
use super::fields::{bytes, list, text};
use super::verdict::{Bar, Verdict};
use super::words::amount;
use super::{advice, pass, resource};
use crate::values::percent;

/// The chart of a plan as `tileheap plan --json` writes it, with or without `--advice`.
pub(crate) fn chart(plan: &Value) -> Chart {
    let passes = list(&plan["passes"]);
    let mut panels = Panels::of(plan, passes);
    let mut items = Vec::new();
    let mut callers = Panel {
        name: "External memory".to_owned(),
        rows: true,
        ..Panel::default()
    };
    for resource in list(&plan["resources"]) {
        for place in list(&resource["placements"]) {
            let mut area = Area {
                item: items.len(),
                steps: span(place, passes),
                offset: bytes(&place["offset"]),
                size: bytes(&place["size"]),
            };
            match place["object"]
                .as_u64()
                .and_then(|object| panels.of.get(object as usize))
            {
                Some(&(panel, base)) => {
                    area.offset = area.offset.saturating_add(base);
                    let boxes = &mut panels.all[panel].boxes;
                    // The images of a ladder share one placement.
                    if boxes.last() != Some(&area) {
                        boxes.push(area);
                    }
                }
                None => {
                    (area.offset, area.size) = (callers.size, 1);
                    callers.size += 1;
                    callers.boxes.push(area);
                }
            }
        }
        items.push(resource::item(resource));
    }
    panels.all.push(callers);
    let mut chart = Chart {
        title: format!("{} on {}", text(&plan["frame"]), text(&plan["profile"]["name"])),
        verdict: verdict(plan),
        facts: facts(plan),
        arrangement: plan
            .get("arrangement")
            .filter(|arranged| arranged.is_object())
            .map(|arranged| {
                let mut arranged = arranged.clone();
                arranged["costs_measured"] = plan["profile"]["costs"].is_object().into();
                arranged
            }),
        steps: passes
            .iter()
            .map(|pass| pass::step(pass, list(&plan["resources"])))
            .collect(),
        lanes: lanes(plan, passes),
        panels: panels.all,
        items,
        what: "resources",
        lines: ("Accesses", &pass::LINES),
        tables: advice::tables(plan),
        notes: advice::note(plan).into_iter().collect(),
        ..Chart::default()
    };
    chart.name_sharers();
    chart
}

/// One panel for the tile heap, where every object starts at 0; one for each other heap and one for lazily allocated memory, with the plan's objects
/// stacked, arenas first.
struct Panels {
    all: Vec<Panel>,
    /// For each object, the index of its panel, and its offset in that panel.
    of: Vec<(usize, u64)>,
}

impl Panels {
    fn of(plan: &Value, passes: &[Value]) -> Panels {
        let mut all = Vec::new();
        let heaps = &plan["profile"]["memoryHeaps"];
        let tile = plan["profile"]["tile"]["heapIndex"].as_u64();
        if let Some(heap) = tile.and_then(|heap| heaps.get(heap as usize)) {
            all.push(Panel {
                name: "Tile heap".to_owned(),
                size: bytes(&heap["size"]),
                reserved: passes.iter().map(|pass| bytes(&pass["bound_bytes"])).collect(),
                ..Panel::default()
            });
        }
        let objects = list(&plan["objects"]);
        let mut of = vec![(0, 0); objects.len()];
        let mut panel_of: BTreeMap<String, usize> = BTreeMap::new();
        let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for homes in [&["tile"][..], &["arena"], &["lazy"], &["dedicated"]] {
            for (index, object) in objects.iter().enumerate() {
                let home = text(&object["memory"]);
                if !homes.contains(&home) || (home == "tile" && !all.is_empty()) {
                    continue;
                }
                let types = &plan["profile"]["memoryTypes"];
                let heap = types[bytes(&object["memory_type"]) as usize]["heapIndex"].as_u64();
                let name = match (home, heap) {
                    ("lazy", _) => "Lazily allocated memory".to_owned(),
                    (_, Some(heap)) => format!("Ordinary memory, heap {heap}"),
                    (_, None) => "Ordinary memory".to_owned(),
                };
                let panel = *panel_of.entry(name.clone()).or_insert_with(|| {
                    all.push(Panel {
                        name,
                        ..Panel::default()
                    });
                    all.len() - 1
                });
                let (arenas, own) = counts.entry(panel).or_default();
                let rule = match home {
                    "arena" => Some(format!("arena, object {index}")),
                    "dedicated" if *own == 0 => Some("dedicated allocations".to_owned()),
                    _ => None,
                };
                *(if home == "arena" { arenas } else { own }) += 1;
                let of_panel = &mut all[panel];
                of[index] = (panel, of_panel.size);
                of_panel.rules.extend(rule.map(|rule| (of_panel.size, rule)));
                of_panel.size = of_panel.size.saturating_add(bytes(&object["size"]));
            }
        }
        for (panel, (arenas, own)) in counts {
            // A panel with a single object needs no lines.
            if arenas + own == 1 {
                all[panel].rules.clear();
            }
        }
        Panels { all, of }
    }
}

/// The lanes above the panels: windows, each of which preserves the contents of tile memory, and command buffers.
fn lanes(plan: &Value, passes: &[Value]) -> Vec<Lane> {
    if passes.iter().any(|pass| pass["within"].is_null()) {
        return Vec::new(); // A plan without this information.
    }
    let by_submit = plan["profile"]["tile"]["queueSubmitBoundary"] == true;
    let whole = plan["options"]["windows"] == "whole-frame";
    let queues = passes
        .iter()
        .any(|pass| pass["within"]["queue"] != passes[0]["within"]["queue"]);
    let windows = passes.iter().map(|pass| {
        let within = &pass["within"];
        let unit = if by_submit { "submit" } else { "batch" };
        let number = bytes(&within[unit]);
        if whole {
            return (0, "whole frame".to_owned());
        }
        let on = if queues {
            format!(" on {}", text(&within["queue"]))
        } else {
            String::new()
        };
        (number, format!("{unit} {number}{on}"))
    });
    let commands = passes.iter().map(|pass| {
        let within = &pass["within"];
        (
            bytes(&within["batch"]),
            text(&within["command_buffer"]).to_owned(),
        )
    });
    vec![
        Lane::of(if by_submit { "submits" } else { "batches" }, true, windows),
        Lane::of("commands", true, commands),
    ]
}

/// Returns the verdict: the share of the traffic that stays on chip, or, on a device without tile memory, the memory that aliasing saves.
fn verdict(plan: &Value) -> Verdict {
    let totals = &plan["totals"];
    let total = |name: &str| bytes(&totals[name]);
    let (kept, all) = (total("on_chip_bytes"), total("traffic_bytes"));
    let bar = |name, bytes| Bar::other(name, bytes, amount(bytes));
    let this_plan = |bytes| Bar::result("this plan", bytes, amount(bytes));
    if !plan["profile"]["tile"].is_object() {
        let (apart, shared) = (total("arena_bytes_without_aliasing"), total("arena_bytes"));
        let sentence = format!(
            "This device has no tile memory: the frame's transient resources need {} of ordinary memory, {} without aliasing.",
            amount(shared),
            amount(apart),
        );
        let bars = vec![bar("without aliasing", apart), this_plan(shared)];
        return Verdict::new(sentence, "Ordinary memory", bars);
    }
    let sentence = match (kept, all) {
        (_, 0) => "No pass of this frame reads or writes a resource.".to_owned(),
        (0, _) => nothing_on_chip(plan),
        _ => format!(
            "{} of the frame's {} of memory traffic stays on chip{}.",
            percent(kept, all),
            amount(all),
            optimality(plan)
        ),
    };
    let bars = vec![
        bar("all in ordinary memory", all),
        this_plan(all.saturating_sub(kept)),
    ];
    Verdict::new(sentence, "Memory traffic per frame", bars)
}

/// The distance of a plan from the best choice of resources, as the end of a sentence.
fn optimality(plan: &Value) -> String {
    let found = &plan["optimality"];
    match found["proved"].as_bool() {
        Some(true) => "; no other choice of resources keeps more".to_owned(),
        Some(false) => format!(
            "; the plan reaches at least {} of the optimum",
            percent(bytes(&found["value"]), bytes(&found["upper_bound"]))
        ),
        None => String::new(),
    }
}

/// Says that nothing stays on chip, with the two rules that affect the most bytes, in descending order.
fn nothing_on_chip(plan: &Value) -> String {
    let mut rules: BTreeMap<&str, (u64, usize, &Value)> = BTreeMap::new();
    for resource in list(&plan["resources"]) {
        let sizes = list(&resource["placements"])
            .iter()
            .map(|place| bytes(&place["size"]));
        let size = sizes.max().unwrap_or(0);
        let rule = rules
            .entry(text(&resource["reason"]["kind"]))
            .or_insert((0, 0, resource));
        rule.0 = rule.0.saturating_add(size);
        rule.1 += 1;
    }
    let mut rules: Vec<_> = rules.into_values().collect();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.0));
    let reasons = rules.iter().take(2).map(|(_, count, resource)| {
        let (name, reason) = (text(&resource["name"]), text(&resource["reason"]["text"]));
        match count {
            1 => format!("`{name}`: {reason}"),
            _ => format!("`{name}` and {} more: {reason}", count - 1),
        }
    });
    let reasons: Vec<String> = reasons.collect();
    format!("Nothing stays on chip. {}.", reasons.join(". "))
}

fn facts(plan: &Value) -> Facts {
    let totals = &plan["totals"];
    let total = |name: &str| amount(bytes(&totals[name]));
    let mut facts = Vec::new();
    let mut fact = |name, value: String| facts.push((name, value));
    if let Some(saves @ 1..) = plan["arrangement"]["saves_bytes"].as_u64() {
        fact("traffic saved by the arrangement", amount(saves));
    }
    if plan["profile"]["tile"].is_object() {
        fact("most tile memory bound in a pass", total("tile_bytes"));
        fact(
            "tile memory bound, all passes added up",
            format!("{}, {} of it live", total("reserved_bytes"), total("live_bytes")),
        );
        fact("binning cost (model)", amount(bytes(&plan["binning_cost_bytes"])));
    }
    fact(
        "arenas",
        format!(
            "{}, {} without aliasing",
            total("arena_bytes"),
            total("arena_bytes_without_aliasing")
        ),
    );
    fact("passes", list(&plan["passes"]).len().to_string());
    fact("strategy", text(&plan["options"]["strategy"]).to_owned());
    facts
}

/// The steps of a placement, half-open; the whole frame if it has no passes.
fn span(place: &Value, passes: &[Value]) -> (usize, usize) {
    let step = |name: &str| place[name].as_u64().map(|step| (step as usize).min(passes.len()));
    let named = |name: &str| passes.iter().position(|pass| pass["name"] == place[name]);
    match (step("first"), step("end")) {
        (Some(first), Some(end)) if first < end => (first, end),
        (Some(_), Some(_)) => (0, passes.len()),
        _ => match (named("first_pass"), named("last_pass")) {
            (Some(first), Some(last)) => (first, last + 1),
            _ => (0, passes.len()),
        },
    }
}
