//! What a report shows: memory over steps, as plain data.
//!
//! ```text
//! Chart   panels   one per heap or block: bytes up
//!         steps    passes, nodes, events: time across
//!         items    what lives somewhere, with what is to be said of it
//! boxes   item × steps × bytes, in a panel
//! ```

use serde_json::{Value, json};

/// One picture of memory over time, and the words that go with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// Name and value, for the head of the chart.
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) steps: Vec<Step>,
    pub(crate) panels: Vec<Panel>,
    pub(crate) items: Vec<Item>,
    /// Sentences below the chart.
    pub(crate) notes: Vec<String>,
}

/// A column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) name: String,
    /// What it is part of: a rule is drawn where this changes.
    pub(crate) part: String,
    /// What happens before it, on demand.
    pub(crate) lines: Vec<String>,
}

/// A range of bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panel {
    pub(crate) name: String,
    /// The bytes that there are.
    pub(crate) size: u64,
    pub(crate) boxes: Vec<Area>,
    /// Bytes from 0 that are reserved in each step; empty where nothing is.
    pub(crate) reserved: Vec<u64>,
}

/// Bytes of an item over steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) item: usize,
    /// The first step, and the one after the last.
    pub(crate) steps: (usize, usize),
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Something that lives in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Bytes, the largest where it has several places.
    pub(crate) size: u64,
    /// Name and value: its life, its worth, the reason, what would admit it.
    pub(crate) facts: Vec<(String, String)>,
    /// Another plan beside this one has it elsewhere.
    pub(crate) changed: bool,
}

/// What an item is drawn as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    Tile,
    Lazy,
    Arena,
    #[default]
    Own,
    Discarded,
}

impl Kind {
    pub(crate) const ALL: [Kind; 5] = [Kind::Tile, Kind::Lazy, Kind::Arena, Kind::Own, Kind::Discarded];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Tile => "tile memory",
            Kind::Lazy => "lazily allocated",
            Kind::Arena => "arena",
            Kind::Own => "own or the caller's",
            Kind::Discarded => "discarded",
        }
    }

    /// Fill and edge on light ground; the fill takes dark text.
    pub(crate) const fn colours(self) -> (&'static str, &'static str) {
        match self {
            Kind::Tile => ("#f2b134", "#8a5a00"),
            Kind::Lazy => ("#8fd19e", "#2b6e3b"),
            Kind::Arena => ("#9cc3e6", "#28587f"),
            Kind::Own => ("#cfcfd6", "#5c5c66"),
            Kind::Discarded => ("#ff7bff", "#8a008a"),
        }
    }
}

impl Chart {
    /// As the page's script reads it.
    pub(crate) fn to_json(&self) -> Value {
        let steps = self
            .steps
            .iter()
            .map(|step| json!({ "name": step.name, "part": step.part, "lines": step.lines }));
        let panels = self.panels.iter().map(|panel| {
            let boxes = panel
                .boxes
                .iter()
                .map(|area| json!([area.item, area.steps.0, area.steps.1, area.offset, area.size]));
            json!({
                "name": panel.name,
                "size": panel.size,
                "boxes": boxes.collect::<Vec<_>>(),
                "reserved": panel.reserved,
            })
        });
        let items = self.items.iter().map(|item| {
            json!({
                "name": item.name,
                "kind": item.kind as usize,
                "size": item.size,
                "facts": item.facts,
                "changed": item.changed,
            })
        });
        json!({
            "title": self.title,
            "facts": self.facts,
            "steps": steps.collect::<Vec<_>>(),
            "panels": panels.collect::<Vec<_>>(),
            "items": items.collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

/// Bytes with a unit, three digits or so.
pub(crate) fn amount(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (unit, scale) in UNITS {
        if bytes >= scale {
            let tenths = (u128::from(bytes) * 10 + u128::from(scale) / 2) / u128::from(scale);
            return if tenths % 10 == 0 {
                format!("{} {unit}", tenths / 10)
            } else {
                format!("{}.{} {unit}", tenths / 10, tenths % 10)
            };
        }
    }
    format!("{bytes} B")
}
