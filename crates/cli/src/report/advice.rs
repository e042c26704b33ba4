//! The advice in a plan's field `advice` (see `tileheap advise --json`).

use serde_json::Value;

use super::fields::{bytes, list, text};
use super::numbers::{Cell, Table};

/// Tables of the advice, empty ones omitted: combinations of changes, the resources and passes that cap the frame, and the causes of the gap between its best
/// share and the cap.
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
        words.into_iter().chain([share(cap)]).collect::<Vec<Cell>>()
    });
    let crowded = list(&advice["crowded"]).iter().map(|one| {
        let words = [&one["pass"], &one["why"]].map(|field| Cell::word(text(field)));
        words.into_iter().chain([share(one)]).collect::<Vec<Cell>>()
    });
    let best = match plan["arrangement"].is_null() {
        true => &advice["combinations"][0],
        false => &plan["arrangement"],
    };
    let told = list(&best["shortfalls"]).iter();
    let told = told.filter(|one| one["share"].as_f64() >= Some(0.01));
    let shortfalls = told.map(|one| {
        vec![
            Cell::word(text(&one["what"])),
            Cell::bytes(bytes(&one["bytes"])),
            share(one),
        ]
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
        Table::new(
            "Limits on the best share",
            &["resource or pass", "why", "share"],
            caps.chain(crowded),
        ),
        Table::new(
            "Gap between the best share and the cap",
            &["what", "bytes per frame", "share"],
            shortfalls,
        ),
    ];
    tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// A note for plans that were saved without advice, for devices with a tile heap.
pub(super) fn note(plan: &Value) -> Option<String> {
    let missing = plan["advice"].is_null() && plan["profile"]["tile"].is_object();
    missing.then(|| {
        "This plan was saved without advice: save it with tileheap plan --json --advice, or report the frame instead of \
         the plan."
            .to_owned()
    })
}
