//! Results: a value per table, case and contender.

use std::time::{Duration, Instant};

use serde::Serialize;
use tileheap_testkit::workspace;

/// Reads a file in `tests/data`.
pub(crate) fn data(path: &str) -> String {
    std::fs::read_to_string(tileheap_testkit::data(path)).expect("the file is readable")
}

/// A comparison: its title, an explanation, the unit, and whether lower or higher values are better.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Explains the numbers and the contenders.
    pub(crate) says: &'static str,
    pub(crate) unit: Unit,
    pub(crate) better: Better,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Bytes,
    Count,
    Microseconds,
    Percent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Better {
    Lower,
    Higher,
}

/// The kind of contender that a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    /// A result of this project.
    Ours,
    /// A method of another project: its own code, or this project's implementation of it.
    Baseline,
    /// A proved lower bound.
    LowerBound,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) table: &'static str,
    pub(crate) case: String,
    pub(crate) contender: String,
    pub(crate) side: Side,
    /// The value in the table's unit; `None` if the contender has no answer.
    pub(crate) value: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Skipped {
    pub(crate) table: &'static str,
    pub(crate) what: String,
    pub(crate) why: String,
}

/// The results so far.
#[derive(Debug)]
pub(crate) struct Rows {
    /// True to measure fewer and smaller cases.
    pub(crate) quick: bool,
    pub(crate) tables: Vec<Table>,
    pub(crate) rows: Vec<Row>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Rows {
    pub(crate) fn new(quick: bool) -> Rows {
        Rows {
            quick,
            tables: Vec::new(),
            rows: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Begins a table, to which the following rows belong.
    pub(crate) fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    pub(crate) fn add(&mut self, case: &str, contender: &str, side: Side, value: Option<f64>) {
        let row = Row {
            table: self.tables.last().expect("a table was begun").name,
            case: case.to_owned(),
            contender: contender.to_owned(),
            side,
            value,
        };
        self.rows.push(row);
    }

    pub(crate) fn skip(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let skipped = Skipped {
            table: self.tables.last().expect("a table was begun").name,
            what: what.into(),
            why: why.into(),
        };
        self.skipped.push(skipped);
    }

    pub(crate) fn skipped_of(&self, table: &Table) -> Vec<&Skipped> {
        self.skipped
            .iter()
            .filter(|one| one.table == table.name)
            .collect()
    }

    /// Reads a file of third-party data from `../shared`; if it cannot be read, lists it as skipped.
    pub(crate) fn shared(&mut self, path: &str) -> Option<String> {
        let file = workspace().join("../shared").join(path);
        match std::fs::read_to_string(file) {
            Ok(text) => Some(text),
            Err(error) => {
                self.skip(format!("../shared/{path}"), error.to_string());
                None
            }
        }
    }

    /// The median time of a run in microseconds: over as many runs as fit in 200 ms (50 ms if quick), at least five and at most 2,001.
    pub(crate) fn microseconds(&self, mut run: impl FnMut()) -> f64 {
        self.median_microseconds(|| {
            let before = Instant::now();
            run();
            before.elapsed()
        })
    }

    /// Like [`microseconds`](Self::microseconds), for runs that return the time to count.
    pub(crate) fn median_microseconds(&self, mut run: impl FnMut() -> Duration) -> f64 {
        let enough = Duration::from_millis(if self.quick { 50 } else { 200 });
        let mut times = Vec::new();
        let start = Instant::now();
        while times.len() < 5 || (start.elapsed() < enough && times.len() < 2001) {
            times.push(run());
        }
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e6
    }

    /// The tables, the rows and the skipped cases as JSON, one object per line.
    pub(crate) fn json_lines(&self) -> String {
        fn lines<T: Serialize>(kind: &str, of: &[T]) -> String {
            of.iter()
                .map(|one| {
                    let value = serde_json::json!({ kind: one });
                    format!("{value}\n")
                })
                .collect()
        }
        lines("table", &self.tables) + &lines("row", &self.rows) + &lines("skipped", &self.skipped)
    }
}
