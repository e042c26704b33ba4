//! What would bring more on chip, as it stands in a plan's field `advice` (see `tileheap advise --json`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::fields::{bytes, list, text};
use super::numbers::{Cell, Table};
use super::words::amount;

/// Changes by the name of the resource that they would bring on chip; `None` where nothing was tried.
pub(super) fn by_resource(plan: &Value) -> Option<BTreeMap<String, Vec<String>>> {
    let advice = plan["advice"].as_object()?;
    let resources = advice.get("resources").map_or(&[][..], list).iter().map(|tried| {
        let changes = list(&tried["changes"]).iter().map(|change| {
            let saves = amount(bytes(&change["saves_bytes"]));
            format!("{}: saves {saves} a frame", text(&change["change"]))
        });
        (text(&tried["resource"]).to_owned(), changes.collect())
    });
    Some(resources.collect())
}

/// Every change that was tried, by what it saves; `None` where none helps.
pub(super) fn table(plan: &Value) -> Option<Table> {
    let advice = &plan["advice"];
    let mut all: Vec<(u64, String, String)> = Vec::new();
    for tried in list(&advice["resources"]) {
        let name = text(&tried["resource"]);
        all.extend(list(&tried["changes"]).iter().map(|change| {
            let saves = bytes(&change["saves_bytes"]);
            (
                saves,
                format!("{name}: {}", text(&change["change"])),
                format!("{name} on chip"),
            )
        }));
    }
    all.extend(list(&advice["fusions"]).iter().map(|fusion| {
        let (first, last) = (bytes(&fusion["first"]), bytes(&fusion["last"]));
        let saves = bytes(&fusion["saves_bytes"]);
        (
            saves,
            format!("batches {first} to {last} as one"),
            "longer lives on chip".to_owned(),
        )
    }));
    all.extend(list(&advice["merges"]).iter().map(|merge| {
        let (first, second) = (text(&merge["first"]), text(&merge["second"]));
        let inside: Vec<&str> = list(&merge["inside"]).iter().map(text).collect();
        let what = format!("{} without memory", inside.join(", "));
        (
            bytes(&merge["saves_bytes"]),
            format!("{first} and {second} as one render pass"),
            what,
        )
    }));
    all.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let rows = all
        .into_iter()
        .map(|(saves, change, what)| vec![Cell::word(change), Cell::word(what), Cell::bytes(saves)]);
    let table = Table {
        title: "What would help, each change tried by itself".to_owned(),
        columns: ["change", "what it brings", "saves a frame"]
            .map(str::to_owned)
            .to_vec(),
        rows: rows.collect(),
        chosen: None,
    };
    Some(table).filter(|table| !table.rows.is_empty())
}

/// What a reader of a saved plan for a device with tile memory is told where nothing was tried.
pub(super) fn note(plan: &Value) -> Option<String> {
    let untried = plan["advice"].is_null() && plan["profile"]["tile"].is_object();
    untried.then(|| {
        "What would bring more on chip was not tried for this plan: tileheap plan --json --advice stores it with a plan, and a \
         report of the frame tries it."
            .to_owned()
    })
}
