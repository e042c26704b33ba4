//! What a frame moves and what tile memory would keep of it, on one page: sums, and the passes to change first.

use std::collections::BTreeMap;

use tileheap::frame::{Frame, PassId, ResourceId};
use tileheap::plan::model::savings;
use tileheap::plan::{MemoryKind, NotTile, PlacementReason, Plan};
use tileheap_capture::document::{Border, Capture, Unresolved};

use super::chart::{Chart, Facts};
use super::numbers::{Cell, Table};
use super::words::amount;
use crate::frames::arrange::{ArrangedPlan, cap_in_words, changes};
use crate::values::percent;

/// Bytes that a pass moves per frame, and what of them stays on chip.
#[derive(Clone, Default)]
struct PassTraffic {
    all: u64,
    /// In the driver's own tiles, without a change to the program.
    today: u64,
    /// With tile memory, the frame as it is.
    tile: u64,
    /// Run in the best way found.
    best: u64,
}

/// So many passes are listed.
const LISTED: usize = 10;

/// The page of a captured frame: its plan as it is, and run in the best way found.
pub(crate) fn brief(described: &Plan, best: &ArrangedPlan<'_>, capture: &Capture) -> Chart {
    let frame = described.described();
    let passes = traffic(described, best);
    let sum = |part: fn(&PassTraffic) -> u64| passes.iter().map(part).sum::<u64>();
    let all = sum(|pass| pass.all);
    let (today, tile) = (sum(|pass| pass.today), sum(|pass| pass.tile));
    let charges = best.found.traffic.charges().0;
    let gained = sum(|pass| pass.best).saturating_sub(charges).max(tile);
    let of_all = |bytes: u64| format!("{} ({})", amount(bytes), percent(bytes, all));
    let facts: Facts = vec![
        ("traffic of the frame", amount(all)),
        ("on chip today, in the driver's own tiles", of_all(today)),
        ("on chip with tile memory, frame as it is", of_all(tile)),
        ("on chip with the best arrangement", of_all(gained)),
        ("costs of the arrangement, deducted", amount(charges)),
        ("passes", frame.passes().len().to_string()),
        ("followed", followed(capture)),
    ];
    let mut notes: Vec<String> = capture
        .unresolved
        .iter()
        .map(|one| unfollowed(frame, one))
        .collect();
    if capture.border == Border::End {
        notes.push("The program ended in this frame: it may be a part of one.".to_owned());
    }
    let gain = gained.saturating_sub(today);
    let rarely = match u128::from(gain) * 10 < u128::from(all) {
        true => ": below 10 % of the traffic it rarely pays for a second code path",
        false => "",
    };
    notes.push(format!(
        "Tile memory would keep {} more on chip than today{rarely}.",
        of_all(gain)
    ));
    let mut tables = vec![to_change(frame, &passes, best), caps(frame, best)];
    tables.retain(|table| !table.rows.is_empty());
    Chart {
        title: format!("{} on {}", frame.name(), described.profile.name),
        facts,
        tables,
        notes,
        what: "passes",
        ..Chart::default()
    }
}

pub(crate) fn text(page: &Chart) -> String {
    let mut text = format!("{}\n", page.title);
    for (name, value) in &page.facts {
        text += &format!("  {name:42} {value}\n");
    }
    for table in &page.tables {
        text += &format!("\n{}\n", table.title);
        for row in &table.rows {
            let cells = row.iter().zip(table.columns).map(|(cell, column)| match cell {
                Cell::Word(word) => word.clone(),
                Cell::Number(_, number) => format!("{column} {number}"),
            });
            text += &format!("  {}\n", cells.collect::<Vec<_>>().join(": "));
        }
    }
    text.push('\n');
    page.notes.iter().for_each(|note| text += &format!("  {note}\n"));
    text
}

fn traffic(described: &Plan, best: &ArrangedPlan<'_>) -> Vec<PassTraffic> {
    let frame = described.described();
    let needs = described.described_requirements();
    let kept = kept_by_best(best);
    let mut passes = vec![PassTraffic::default(); frame.passes().len()];
    for access in frame.accesses() {
        let (sums, id) = (&mut passes[access.pass.index()], access.resource);
        let bytes = savings(frame, access, needs.resources[id.index()].size).0;
        let driver = is_kept_by_driver(described.resources[id.index()].reason);
        let tile = described.memory_of(id) == Some(MemoryKind::Tile);
        let (on_chip, moved) = kept.get(&(access.pass, id)).copied().unwrap_or((1, 1));
        sums.all += bytes;
        sums.today += if driver { bytes } else { 0 };
        sums.tile += if driver || tile { bytes } else { 0 };
        sums.best += (u128::from(bytes) * u128::from(on_chip) / u128::from(moved.max(1))) as u64;
    }
    passes
}

/// Whether the driver keeps it in its own tiles: an attachment of one render pass.
fn is_kept_by_driver(reason: PlacementReason) -> bool {
    matches!(
        reason,
        PlacementReason::Lazy { .. }
            | PlacementReason::Arena(NotTile::OnePass { .. })
            | PlacementReason::Dedicated(NotTile::OnePass { .. })
    )
}

/// Of what each described pass moves of a described resource: the bytes on chip and all, as arranged, strips and merged passes included.
fn kept_by_best(best: &ArrangedPlan<'_>) -> BTreeMap<(PassId, ResourceId), (u64, u64)> {
    let (plan, arranged) = (&best.plan, &best.arranged);
    let frame = plan.described();
    let needs = plan.described_requirements();
    let mut kept: BTreeMap<_, (u64, u64)> = BTreeMap::new();
    for (pass, runs) in frame.pass_ids().zip(&arranged.passes) {
        for access in frame.accesses_of(pass) {
            let id = access.resource;
            let bytes = savings(frame, access, needs.resources[id.index()].size).0;
            let on_chip = plan.memory_of(id) == Some(MemoryKind::Tile)
                || is_kept_by_driver(plan.resources[id.index()].reason);
            for &described in &runs.described {
                let sums = kept
                    .entry((described, arranged.resources[id.index()]))
                    .or_default();
                sums.0 += if on_chip { bytes } else { 0 };
                sums.1 += bytes;
            }
        }
    }
    kept
}

/// The passes that gain the most from tile memory and the arrangement, with what changes about each.
fn to_change(frame: &Frame, passes: &[PassTraffic], best: &ArrangedPlan<'_>) -> Table {
    let changes = changes(frame, &best.found.arrangement, &best.arranged);
    let mut rows: Vec<(u64, Vec<Cell>)> = Vec::new();
    for (pass, traffic) in frame.passes().iter().zip(passes) {
        let gains = traffic.best.saturating_sub(traffic.today);
        if gains == 0 {
            continue;
        }
        let name = format!("`{}`", pass.name);
        let own = changes.iter().filter(|change| change.contains(&name));
        let mut how: Vec<&str> = own.map(String::as_str).collect();
        if how.is_empty() {
            how.push("place what it uses in tile memory");
        }
        let left = Cell::bytes(traffic.all - traffic.best.min(traffic.all));
        let row = vec![
            Cell::word(&pass.name),
            Cell::bytes(gains),
            left,
            Cell::word(how.join("; ")),
        ];
        rows.push((gains, row));
    }
    rows.sort_by_key(|(gains, _)| std::cmp::Reverse(*gains));
    let rows = rows.into_iter().take(LISTED).map(|(_, row)| row);
    Table::new(
        "Passes to change first",
        &["pass", "saves", "still off chip", "how"],
        rows,
    )
}

/// What no arrangement brings on chip.
fn caps(frame: &Frame, best: &ArrangedPlan<'_>) -> Table {
    let rows = best.found.caps.iter().take(LISTED).map(|cap| {
        let name = Cell::word(&frame.resource(cap.resource).name);
        vec![name, Cell::bytes(cap.bytes.0), Cell::word(cap_in_words(cap))]
    });
    Table::new(
        "What keeps the rest off chip",
        &["resource", "moves", "because"],
        rows,
    )
}

fn followed(capture: &Capture) -> String {
    match capture.followed() {
        Some(share) => format!("{:.1} % of accessed bytes", (share * 1000.0).floor() / 10.0),
        None => format!("{}, and accesses of unknown size", amount(capture.followed_bytes)),
    }
}

/// What could not be followed, in a sentence.
fn unfollowed(frame: &Frame, one: &Unresolved) -> String {
    let bytes = one.bytes.map_or("unknown size".to_owned(), |bytes| {
        format!("at most {}", amount(bytes))
    });
    let name = |pass: &u32| {
        frame
            .passes()
            .get(*pass as usize)
            .map(|pass| format!("`{}`", pass.name))
    };
    let names: Vec<String> = one.passes.iter().filter_map(name).take(3).collect();
    let (kind, count, first, names) = (one.kind.words(), one.count, &one.first, names.join(", "));
    format!("Not followed: {kind}, {count} times, of {bytes}, in {names}: {first}")
}
