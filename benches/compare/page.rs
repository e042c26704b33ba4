//! The results as JSON lines, as a Markdown page, and as a self-contained HTML page that renders the Markdown.

use std::fmt::Write as _;
use std::path::Path;

use tileheap::units::Bytes;

use crate::rows::{Better, Row, Rows, Side, Table, Unit};

const TITLE: &str = "tileheap compared with its baselines";

/// Writes `rows.json`, `index.md` and `index.html` into `folder`.
pub(crate) fn write(folder: &Path, machine: &[(&str, String)], rows: &Rows) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("rows.json"), rows.json_lines())?;
    let text = markdown(machine, rows);
    std::fs::write(folder.join("index.md"), &text)?;
    std::fs::write(folder.join("index.html"), html(&text))
}

/// A table with a line for each case and a column for each contender.
struct Grid<'a> {
    table: &'a Table,
    contenders: Vec<(&'a str, Side)>,
    lines: Vec<(&'a str, Vec<Option<f64>>)>,
}

fn grids(rows: &Rows) -> Vec<Grid<'_>> {
    let grid = |table| {
        let of: Vec<&Row> = rows.rows.iter().filter(|row| row.table == table).collect();
        let mut contenders: Vec<(&str, Side)> = Vec::new();
        let mut cases: Vec<&str> = Vec::new();
        for row in &of {
            if !contenders.iter().any(|(name, _)| *name == row.contender) {
                contenders.push((&row.contender, row.side));
            }
            if !cases.contains(&row.case.as_str()) {
                cases.push(&row.case);
            }
        }
        // Bounds first, then baselines, then ours.
        contenders.sort_by_key(|(_, side)| match side {
            Side::LowerBound => 0,
            Side::Baseline => 1,
            Side::Ours => 2,
        });
        let value = |case: &str, contender: &str| {
            let found = of
                .iter()
                .find(|row| row.case == case && row.contender == contender);
            found.and_then(|row| row.value)
        };
        let lines = cases.iter().map(|&case| {
            let values = contenders.iter().map(|(contender, _)| value(case, contender));
            (case, values.collect())
        });
        let lines: Vec<(&str, Vec<Option<f64>>)> = lines.collect();
        (lines, contenders)
    };
    let grids = rows.tables.iter().map(|table| {
        let (lines, contenders) = grid(table.name);
        Grid {
            table,
            contenders,
            lines,
        }
    });
    grids.collect()
}

impl Grid<'_> {
    /// The best value of a line, ignoring lower bounds.
    fn best(&self, values: &[Option<f64>]) -> Option<f64> {
        let rivals = values.iter().zip(&self.contenders);
        let rivals = rivals
            .filter(|(_, (_, side))| *side != Side::LowerBound)
            .filter_map(|(value, _)| *value);
        match self.table.better {
            Better::Lower => rivals.min_by(f64::total_cmp),
            Better::Higher => rivals.max_by(f64::total_cmp),
        }
    }

    fn heading(&self, contender: usize) -> String {
        let (name, side) = self.contenders[contender];
        match side {
            Side::Ours => format!("tileheap: {name}"),
            Side::Baseline | Side::LowerBound => name.to_owned(),
        }
    }

    fn cell(&self, value: Option<f64>) -> String {
        value.map_or("–".to_owned(), |value| text_of(value, self.table.unit))
    }
}

fn text_of(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Percent => format!("{value:.1} %"),
        Unit::Microseconds if value < 1000.0 => format!("{value:.1} µs"),
        Unit::Microseconds => format!("{:.2} ms", value / 1e3),
        Unit::Bytes | Unit::Count => {
            let grouped = Bytes(value.round() as u64).to_string();
            grouped.trim_end_matches(" B").to_owned()
        }
    }
}

/// Returns true if the value is printed in bold.
fn is_best(side: Side, value: Option<f64>, best: Option<f64>) -> bool {
    side != Side::LowerBound && value.is_some() && value == best
}

fn unit_of(table: &Table) -> &'static str {
    match (table.unit, table.better) {
        (Unit::Bytes, Better::Lower) => "Bytes; lower is better.",
        (Unit::Bytes, Better::Higher) => "Bytes; higher is better.",
        (Unit::Count, _) => "Lower is better.",
        (Unit::Microseconds, _) => "Median of runs, by the clock on the wall; lower is better.",
        (Unit::Percent, _) => "Percent; higher is better.",
    }
}

const CLOSING: &str =
    "The best of each line is in bold, equals too; – means no answer. Every number comes from this run.";

fn markdown(machine: &[(&str, String)], rows: &Rows) -> String {
    let mut text = format!("# {TITLE}\n\n");
    for (what, value) in machine {
        let _ = writeln!(text, "- {what}: {value}");
    }
    let _ = writeln!(text, "\n{CLOSING}");
    for grid in grids(rows) {
        let _ = writeln!(
            text,
            "\n## {}\n\n{} {}\n",
            grid.table.title,
            grid.table.says,
            unit_of(grid.table)
        );
        let skipped = rows.skipped_of(grid.table);
        if !grid.lines.is_empty() {
            let headings = (0..grid.contenders.len()).map(|index| format!(" {} |", grid.heading(index)));
            let _ = writeln!(text, "| |{}", headings.collect::<String>());
            let _ = writeln!(text, "|---|{}", "---:|".repeat(grid.contenders.len()));
        }
        for (case, values) in &grid.lines {
            let best = grid.best(values);
            let _ = write!(text, "| {case} |");
            for ((_, side), value) in grid.contenders.iter().zip(values) {
                let mark = if is_best(*side, *value, best) { "**" } else { "" };
                let _ = write!(text, " {mark}{}{mark} |", grid.cell(*value));
            }
            text.push('\n');
        }
        if !skipped.is_empty() {
            text.push_str("\nSkipped:\n");
        }
        for one in skipped {
            let _ = writeln!(text, "- {}: {}", one.what, one.why);
        }
    }
    text
}

/// The page as HTML: its script renders the embedded Markdown.
fn html(markdown: &str) -> String {
    let escaped = markdown.replace('&', "&amp;").replace('<', "&lt;");
    include_str!("page.html").replace("MARKDOWN", &escaped)
}
