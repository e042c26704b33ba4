//! The advice in a plan's field `advice` (see `tileheap advise --json`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::fields::{bytes, list, text};
use super::numbers::{Cell, Table};
use super::words::amount;

/// The changes that bring each resource on chip; `None` if the plan has no advice.
pub(super) fn by_resource(plan: &Value) -> Option<BTreeMap<String, Vec<String>>> {
    let advice = plan["advice"].as_object()?;
    let resources = advice.get("resources").map_or(&[][..], list).iter().map(|tried| {
        let changes = list(&tried["changes"]).iter().map(|change| {
            let saves = amount(bytes(&change["saves_bytes"]));
            format!("{}: saves {saves} per frame", text(&change["change"]))
        });
        (text(&tried["resource"]).to_owned(), changes.collect())
    });
    Some(resources.collect())
}

/// Combinations of changes, what caps the frame, and single changes; without those that are empty.
pub(super) fn tables(plan: &Value) -> Vec<Table> {
    let advice = &plan["advice"];
    let share = |of: &Value| Cell::share((of["share"].as_f64().unwrap_or(0.0) * 1000.0) as u64);
    let combinations = list(&advice["combinations"]).iter().map(|one| {
        let words = |field: &str, between: &str| {
            let words: Vec<&str> = list(&one[field]).iter().map(text).collect();
            Cell::word(words.join(between))
        };
        let charges = ["repeats_bytes", "halos_bytes", "merges_bytes"].map(|field| bytes(&one[field]));
        vec![
            words("allow", ", "),
            words("changes", "; "),
            Cell::bytes(bytes(&one["saves_bytes"])),
            Cell::bytes(charges.iter().sum()),
            share(one),
        ]
    });
    let caps = list(&advice["caps"]).iter().map(|cap| {
        let words = [&cap["resource"], &cap["why"]].map(|field| Cell::word(text(field)));
        words.into_iter().chain([share(cap)]).collect()
    });
    let columns = &[
        "allowed",
        "changes",
        "savings per frame",
        "costs per frame",
        "share on chip",
    ];
    let tables = [
        Table::new("Advice: combinations of changes", columns, combinations),
        Table::new("What caps the frame", &["resource", "why", "share"], caps),
        changes(advice),
    ];
    tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// Every single change, by savings.
fn changes(advice: &Value) -> Table {
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
    all.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let rows = all
        .into_iter()
        .map(|(saves, change, what)| vec![Cell::word(change), Cell::word(what), Cell::bytes(saves)]);
    Table::new(
        "Advice: single changes that keep more on chip",
        &["change", "effect", "savings per frame"],
        rows,
    )
}

/// A note for saved plans without advice.
pub(super) fn note(plan: &Value) -> Option<String> {
    let missing = plan["advice"].is_null() && plan["profile"]["tile"].is_object();
    missing.then(|| {
        "This plan was saved without advice: save it with tileheap plan --json --advice, or report the frame instead of \
         the plan."
            .to_owned()
    })
}
