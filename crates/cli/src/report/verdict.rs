//! The first lines of a report: one sentence, and bars on one scale.

use serde::Serialize;

/// The result of a report in one sentence, and its numbers as bars.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Verdict {
    /// One sentence; names stand between backticks.
    pub(crate) sentence: String,
    /// The quantity of the bars, for screen readers: `Memory traffic per frame`.
    pub(crate) measure: &'static str,
    /// The value for which a bar is as long as the page; the bars of several charts share it.
    pub(crate) longest: u64,
    pub(crate) bars: Vec<Bar>,
}

/// A bar: a named number.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: u64,
    /// The value with its unit.
    pub(crate) text: String,
    /// True for the result, false for a bar that it is compared with.
    pub(crate) result: bool,
}

impl Bar {
    /// Creates a bar for comparison.
    pub(crate) fn other(name: impl Into<String>, value: u64, text: String) -> Bar {
        Bar {
            name: name.into(),
            value,
            text,
            result: false,
        }
    }

    /// Creates the bar of the result.
    pub(crate) fn result(name: impl Into<String>, value: u64, text: String) -> Bar {
        Bar {
            result: true,
            ..Bar::other(name, value, text)
        }
    }
}

impl Verdict {
    pub(crate) fn new(sentence: String, measure: &'static str, bars: Vec<Bar>) -> Verdict {
        Verdict {
            sentence,
            measure,
            longest: bars.iter().map(|bar| bar.value).max().unwrap_or(0),
            bars,
        }
    }
}
