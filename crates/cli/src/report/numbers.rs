//! Curves and tables that are shown with a chart.

use serde::Serialize;

use super::words::amount;

/// Series of numbers over an axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve {
    pub(crate) title: String,
    /// The name of the horizontal axis: `heap`, `frame`.
    pub(crate) axis_name: String,
    /// The name of each position.
    pub(crate) at: Vec<String>,
    pub(crate) unit: Unit,
    pub(crate) form: Form,
    /// The top of the axis; 0 for the largest value.
    pub(crate) top: u64,
    pub(crate) series: Vec<Series>,
    /// True if the curve is drawn at the width of the chart, with one position per step of the chart.
    pub(crate) wide: bool,
    /// A marked position, with a label.
    pub(crate) mark: Option<(usize, String)>,
}

impl Curve {
    /// The value at the top of the axis, at least 1.
    pub(crate) fn highest(&self) -> u64 {
        let values = self.series.iter().flat_map(|series| &series.values);
        match self.top {
            0 => values.max().copied().unwrap_or(0).max(1),
            top => top,
        }
    }
}

/// A named sequence of numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// One value per position.
    pub(crate) values: Vec<u64>,
    /// A note that is shown next to the name.
    #[serde(skip)]
    pub(crate) note: String,
    /// True for the best of several, which is marked.
    #[serde(skip)]
    pub(crate) best: bool,
}

/// The unit of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    #[default]
    Bytes,
    /// Thousandths of a total.
    Share,
}

impl Unit {
    pub(crate) fn shown(self, value: u64) -> String {
        match self {
            Unit::Bytes => amount(value),
            Unit::Share => format!("{}.{} %", value / 10, value % 10),
        }
    }
}

/// The drawing style of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// A line, with the area below it shaded.
    #[default]
    Line,
    /// A bar for each value.
    Bars,
    /// Stacked series: each fills the band from the previous series's values to its own.
    Bands,
}

/// A table with rows of words and numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: &'static [&'static str],
    pub(crate) rows: Vec<Vec<Cell>>,
    /// A marked row, if any, and its mark: `drawn`.
    pub(crate) chosen: Option<(usize, &'static str)>,
}

impl Table {
    /// Creates a table without a marked row.
    pub(crate) fn new(
        title: impl Into<String>,
        columns: &'static [&'static str],
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Table {
        Table {
            title: title.into(),
            columns,
            rows: rows.into_iter().collect(),
            chosen: None,
        }
    }
}

/// A word, or a number with its text; numbers sort by value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Word(String),
    Number(u64, String),
}

impl Series {
    /// A single series without a name.
    pub(crate) fn single(values: Vec<u64>) -> Vec<Series> {
        vec![Series {
            values,
            ..Series::default()
        }]
    }
}

impl Cell {
    pub(crate) fn word(text: impl Into<String>) -> Cell {
        Cell::Word(text.into())
    }

    pub(crate) fn bytes(bytes: u64) -> Cell {
        Cell::Number(bytes, amount(bytes))
    }

    pub(crate) fn count(count: u64) -> Cell {
        Cell::Number(count, count.to_string())
    }

    pub(crate) fn share(thousandths: u64) -> Cell {
        Cell::Number(thousandths, Unit::Share.shown(thousandths))
    }
}
