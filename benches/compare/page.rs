//! The page: rows as JSON lines, as Markdown, and as HTML that needs nothing else.

use std::fmt::Write as _;
use std::path::Path;

use crate::rows::{Better, Row, Rows, Side, Table, Unit};

const TITLE: &str = "tileheap beside its baselines";

/// Writes `rows.json`, `index.md` and `index.html`.
pub(crate) fn write(folder: &Path, machine: &[(&str, String)], rows: &Rows) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("rows.json"), rows.json_lines())?;
    std::fs::write(folder.join("index.md"), markdown(machine, rows))?;
    std::fs::write(folder.join("index.html"), html(machine, rows))
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
    /// The best of a line, bounds apart.
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
        Unit::Bytes => {
            let digits = format!("{value:.0}");
            let mut text = String::new();
            for (index, digit) in digits.chars().enumerate() {
                if index > 0 && (digits.len() - index) % 3 == 0 {
                    text.push(',');
                }
                text.push(digit);
            }
            text
        }
    }
}

/// Whether a value is in bold.
fn is_best(side: Side, value: Option<f64>, best: Option<f64>) -> bool {
    side != Side::LowerBound && value.is_some() && value == best
}

fn unit_of(table: &Table) -> &'static str {
    match (table.unit, table.better) {
        (Unit::Bytes, Better::Lower) => "Bytes; lower is better.",
        (Unit::Bytes, Better::Higher) => "Bytes; higher is better.",
        (Unit::Microseconds, _) => "Median of runs, by the clock on the wall; lower is better.",
        (Unit::Percent, _) => "Percent; higher is better.",
    }
}

const CLOSING: &str =
    "The best of each line is in bold, equals too; – is no answer. Every number was found by this run.";

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

fn html(machine: &[(&str, String)], rows: &Rows) -> String {
    let mut body = format!("<h1>{TITLE}</h1>\n<dl>\n");
    for (what, value) in machine {
        let _ = writeln!(body, "<dt>{}</dt><dd>{}</dd>", escaped(what), escaped(value));
    }
    let _ = writeln!(body, "</dl>\n<p>{CLOSING}</p>");
    for grid in grids(rows) {
        let _ = writeln!(
            body,
            "<h2 id=\"{}\">{}</h2>\n<p>{} {}</p>",
            grid.table.name,
            escaped(grid.table.title),
            escaped(grid.table.says),
            unit_of(grid.table)
        );
        if !grid.lines.is_empty() {
            body.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><td></td>");
            for (index, (_, side)) in grid.contenders.iter().enumerate() {
                let _ = write!(
                    body,
                    "<th scope=\"col\"{}>{}</th>",
                    class_of(*side),
                    escaped(&grid.heading(index))
                );
            }
            body.push_str("</tr></thead>\n<tbody>\n");
        }
        for (case, values) in &grid.lines {
            let best = grid.best(values);
            let _ = write!(body, "<tr><th scope=\"row\">{}</th>", escaped(case));
            for ((_, side), value) in grid.contenders.iter().zip(values) {
                let mut cell = grid.cell(*value);
                if is_best(*side, *value, best) {
                    cell = format!("<strong>{cell}</strong>");
                }
                let _ = write!(body, "<td{}>{cell}</td>", class_of(*side));
            }
            body.push_str("</tr>\n");
        }
        if !grid.lines.is_empty() {
            body.push_str("</tbody></table></div>\n");
        }
        let skipped = rows.skipped_of(grid.table);
        if !skipped.is_empty() {
            body.push_str("<p>Skipped:</p>\n<ul>\n");
            for one in skipped {
                let _ = writeln!(body, "<li>{}: {}</li>", escaped(&one.what), escaped(&one.why));
            }
            body.push_str("</ul>\n");
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{TITLE}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn class_of(side: Side) -> &'static str {
    match side {
        Side::Ours => " class=\"ours\"",
        Side::Baseline => "",
        Side::LowerBound => " class=\"bound\"",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1d2530; --paper: #fff; --rule: #d5dae1; --soft: #5b6776; --ours: #eaf3ee; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --paper: #14181d; --rule: #353d47; --soft: #9aa6b4; --ours: #1a2b22; }
}
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 90rem; margin: 0 auto; padding: 1.5rem; }
p { max-width: 60rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { border-bottom: 1px solid var(--rule); padding: .3rem .7rem; text-align: right; vertical-align: bottom; }
thead th { font-weight: 600; max-width: 9rem; }
tbody th { font-weight: 400; text-align: left; min-width: 15rem; }
td { white-space: nowrap; }
.ours { background: var(--ours); }
.bound { color: var(--soft); }
@media print { .wide { overflow: visible; } table { font-size: .7rem; } }
";
