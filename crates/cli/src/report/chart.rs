//! A report as plain data: memory over steps, curves and tables. `page` and `svg` draw it.
//!
//! ```text
//! Chart   verdict  one sentence, and bars
//!         steps    passes, nodes, events: the horizontal axis
//!         lanes    groups of steps: windows, command buffers
//!         panels   one per heap or memory: bytes on the vertical axis
//!         items    resources or tensors, with their facts
//!         curves   numbers over steps, frames or sizes
//!         tables   strategies, policies, tensors live at the peak
//! boxes   item × steps × bytes, in a panel
//! ```

use serde::Serialize;
use serde_json::Value;

use super::numbers::{Curve, Table};
use super::verdict::Verdict;

/// One drawing of memory over time, with its texts.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// The result, shown first unless there is a report.
    pub(crate) verdict: Verdict,
    /// Names and values that are shown below the verdict.
    pub(crate) facts: Facts,
    /// The report about a captured frame, shown first, in place of the verdict.
    pub(crate) report: Option<Value>,
    /// A plan's field `arrangement`, with an additional field `costs_measured` that states whether its costs were measured.
    #[serde(skip)]
    pub(crate) arrangement: Option<Value>,
    pub(crate) steps: Vec<Step>,
    pub(crate) lanes: Vec<Lane>,
    /// Marked steps, with labels.
    pub(crate) marks: Vec<(usize, String)>,
    #[serde(skip)]
    pub(crate) panels: Vec<Panel>,
    pub(crate) items: Vec<Item>,
    /// The noun for items: `tensors`.
    pub(crate) what: &'static str,
    #[serde(skip)]
    pub(crate) curves: Vec<Curve>,
    pub(crate) tables: Vec<Table>,
    /// The heading of each step's lines, and the headings of their cells.
    pub(crate) lines: (&'static str, &'static [&'static str]),
    /// Sentences below the chart.
    pub(crate) notes: Vec<String>,
}

/// Names and values.
pub(crate) type Facts = Vec<(&'static str, String)>;

/// A step: a column of the chart.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) facts: Facts,
    /// Details shown on request; cells as in [`Chart::lines`].
    pub(crate) lines: Vec<Vec<String>>,
}

/// A row above the panels.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Lane {
    pub(crate) name: String,
    /// The spans of the lane, disjoint and in ascending order.
    pub(crate) spans: Vec<LaneSpan>,
    /// True if a line is drawn through the panels at the start of each span.
    pub(crate) ruled: bool,
}

/// A part of a lane: its first step, the step after its last, and its name.
pub(crate) type LaneSpan = (usize, usize, String);

impl Lane {
    /// Creates a lane: joins consecutive steps with equal parts into spans.
    pub(crate) fn of(name: &str, ruled: bool, parts: impl Iterator<Item = (u64, String)>) -> Lane {
        let mut spans: Vec<LaneSpan> = Vec::new();
        let mut before = None;
        for (step, part) in parts.enumerate() {
            match spans.last_mut() {
                Some(last) if before.as_ref() == Some(&part) => last.1 = step + 1,
                _ => spans.push((step, step + 1, part.1.clone())),
            }
            before = Some(part);
        }
        Lane {
            name: name.to_owned(),
            spans,
            ruled,
        }
    }
}

/// A drawing of one memory: a range of bytes, or rows for resources whose addresses are unknown.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Panel {
    pub(crate) name: String,
    /// The size of the memory in bytes, drawn from the bottom.
    pub(crate) size: u64,
    /// Bytes at the top of the drawing if that is more than `size`, for several charts on one scale.
    pub(crate) scale: u64,
    /// True if offsets are row numbers, as in the caller's memory.
    pub(crate) rows: bool,
    pub(crate) boxes: Vec<Area>,
    /// The size of the bound prefix in each step, in bytes; empty if nothing is bound.
    pub(crate) reserved: Vec<u64>,
    /// Horizontal lines with labels: the start of objects, the lower bound, the capacity.
    pub(crate) rules: Vec<(u64, String)>,
}

/// Bytes of an item over steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "(usize, usize, usize, u64, u64)")]
pub(crate) struct Area {
    pub(crate) item: usize,
    /// The first step, and the one after the last.
    pub(crate) steps: (usize, usize),
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Converts to the form that the page's script reads.
impl From<Area> for (usize, usize, usize, u64, u64) {
    fn from(area: Area) -> Self {
        (area.item, area.steps.0, area.steps.1, area.offset, area.size)
    }
}

impl Area {
    /// Returns true if two areas have bytes in common, at the same or at different steps.
    pub(crate) fn shares_bytes(&self, other: &Area) -> bool {
        self.offset < other.offset.saturating_add(other.size)
            && other.offset < self.offset.saturating_add(self.size)
    }
}

/// A resource or tensor.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The size in bytes: that of the largest placement if there are several.
    pub(crate) size: u64,
    /// Facts about the item, such as its lifetime, savings, reason and advice.
    pub(crate) facts: Facts,
    /// True if placed differently in the other plan.
    pub(crate) changed: bool,
}

/// The kind of an item, which determines its colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "usize")]
pub(crate) enum Kind {
    Tile,
    Lazy,
    Arena,
    #[default]
    Own,
    Buffer,
    Texture,
    Discarded,
}

/// Converts to an index in [`Kind::ALL`].
impl From<Kind> for usize {
    fn from(kind: Kind) -> usize {
        kind as usize
    }
}

impl Kind {
    pub(crate) const ALL: [Kind; 7] = [
        Kind::Tile,
        Kind::Lazy,
        Kind::Arena,
        Kind::Own,
        Kind::Buffer,
        Kind::Texture,
        Kind::Discarded,
    ];

    /// The name, and the colors of fill and edge, which suit light and dark backgrounds; text on the fill is dark.
    const fn shown(self) -> (&'static str, (&'static str, &'static str)) {
        match self {
            Kind::Tile => ("tile memory", ("#f2b134", "#8a5a00")),
            Kind::Lazy => ("lazily allocated", ("#8fd19e", "#2b6e3b")),
            Kind::Arena => ("arena", ("#9cc3e6", "#28587f")),
            Kind::Own => ("dedicated or external", ("#cfcfd6", "#5c5c66")),
            Kind::Buffer => ("buffer", ("#7fd0c8", "#1f6f68")),
            Kind::Texture => ("texture", ("#c9b4f2", "#5a4396")),
            Kind::Discarded => ("discarded", ("#ff7bff", "#8a008a")),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.shown().0
    }

    /// The colors of fill and edge.
    pub(crate) const fn colors(self) -> (&'static str, &'static str) {
        self.shown().1
    }
}

/// Puts memories with the same name, curves with the same title, and bars for the same quantity on one scale in all charts.
pub(crate) fn share_scales(charts: &mut [Chart]) {
    for index in 0..charts.len() {
        for number in 0..charts[index].panels.len() {
            let same = |panel: &&Panel| panel.name == charts[index].panels[number].name && !panel.rows;
            let panels = charts.iter().flat_map(|chart| &chart.panels);
            let scale = panels.filter(same).map(|panel| panel.size).max();
            charts[index].panels[number].scale = scale.unwrap_or(0);
        }
        for number in 0..charts[index].curves.len() {
            let same = |curve: &&Curve| curve.title == charts[index].curves[number].title;
            let curves = charts.iter().flat_map(|chart| &chart.curves);
            let top = curves.filter(same).map(Curve::highest).max();
            charts[index].curves[number].top = top.unwrap_or(0);
        }
        let same = |verdict: &&Verdict| verdict.measure == charts[index].verdict.measure;
        let verdicts = charts.iter().map(|chart| &chart.verdict);
        let longest = verdicts.filter(same).map(|verdict| verdict.longest).max();
        charts[index].verdict.longest = longest.unwrap_or(0);
    }
}

impl Panel {
    /// Bytes at the top of the drawing.
    pub(crate) fn top(&self) -> u64 {
        self.size.max(self.scale)
    }
}

impl Chart {
    /// The panels that are not empty.
    pub(crate) fn drawn_panels(&self) -> impl Iterator<Item = &Panel> {
        let seen = |panel: &&Panel| !panel.boxes.is_empty() || panel.reserved.iter().any(|&bytes| bytes > 0);
        self.panels.iter().filter(seen)
    }

    /// Adds to each item the names of up to 12 items that share bytes with it, and the number of the others.
    pub(crate) fn name_sharers(&mut self) {
        const NAMED: usize = 12;
        let mut sharers: Vec<Vec<usize>> = vec![Vec::new(); self.items.len()];
        for panel in self.panels.iter().filter(|panel| !panel.rows) {
            let mut areas: Vec<&Area> = panel.boxes.iter().collect();
            areas.sort_by_key(|area| area.offset);
            for (index, one) in areas.iter().enumerate() {
                // The remaining areas start at or after the end of this one.
                let behind = areas[index + 1..].iter();
                for other in behind.take_while(|other| other.offset < one.offset.saturating_add(one.size)) {
                    if one.item != other.item && one.shares_bytes(other) {
                        sharers[one.item].push(other.item);
                        sharers[other.item].push(one.item);
                    }
                }
            }
        }
        for (item, mut others) in sharers.into_iter().enumerate() {
            others.sort_unstable();
            others.dedup();
            if others.is_empty() {
                continue;
            }
            let named: Vec<&str> = others
                .iter()
                .take(NAMED)
                .map(|&other| self.items[other].name.as_str())
                .collect();
            let mut words = named.join(", ");
            if others.len() > NAMED {
                words += &format!(" and {} more", others.len() - NAMED);
            }
            self.items[item].facts.push(("shares memory with", words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Series;
    use super::super::verdict::Bar;
    use super::*;

    /// ```text
    /// 4 ─┬───┬───┐
    /// 2 ─┤ b │ c │   c has bytes of both, a and b have none in common
    /// 0 ─┤ a │   │
    /// ```
    #[test]
    fn sharers_are_named_once() {
        let area = |item, offset, size| Area {
            item,
            steps: (item, item + 1),
            offset,
            size,
        };
        let item = |name: &str| Item {
            name: name.to_owned(),
            ..Item::default()
        };
        let mut chart = Chart {
            items: vec![item("a"), item("b"), item("c")],
            panels: vec![Panel {
                size: 4,
                boxes: vec![area(0, 0, 2), area(1, 2, 2), area(2, 0, 4), area(2, 1, 3)],
                ..Panel::default()
            }],
            ..Chart::default()
        };
        chart.name_sharers();
        let names: Vec<&str> = chart.items.iter().map(|item| item.facts[0].1.as_str()).collect();
        assert_eq!(names, ["c", "c", "a, b"]);
    }

    /// Two charts have a memory of the same name; the smaller one is drawn on the scale of the larger one.
    #[test]
    fn several_charts_are_drawn_on_one_scale() {
        let of = |size, value| Chart {
            panels: vec![Panel {
                name: "Tile heap".to_owned(),
                size,
                ..Panel::default()
            }],
            curves: vec![Curve {
                title: "Live bytes".to_owned(),
                series: Series::single(vec![value]),
                ..Curve::default()
            }],
            verdict: Verdict::new(
                String::new(),
                "Traffic",
                vec![Bar::other("all", value, String::new())],
            ),
            ..Chart::default()
        };
        let mut charts = [of(4, 10), of(8, 7)];
        share_scales(&mut charts);
        for chart in &charts {
            assert_eq!(
                (chart.panels[0].top(), chart.curves[0].top, chart.verdict.longest),
                (8, 10, 10)
            );
        }
        assert_eq!(charts[0].panels[0].size, 4);
    }
}
