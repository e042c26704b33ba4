//! `pack` and `select`.

use std::num::NonZeroU64;

use pyo3::prelude::*;
use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Problem, ProblemDesc, Steps, Strategy, fit, minimize};

use crate::error::{error, of_packing};
use crate::search::Interrupts;

pub(crate) const NUMBERS: &str = "numbers and names can be written as JSON";

/// The fields of an item: span, size, alignment, fixed, lowest and highest offset, group.
type Row = (
    [u32; 2],
    u64,
    NonZeroU64,
    Option<u64>,
    u64,
    Option<u64>,
    Option<u32>,
);

/// The fields of `tileheap.Problem`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Fields {
    pub(crate) names: Vec<String>,
    items: Vec<Row>,
    conflicts: Vec<(u32, u32)>,
    capacity: Option<u64>,
}

impl Fields {
    pub(crate) fn items(&self) -> impl Iterator<Item = Item> {
        let items = self.items.iter();
        items.map(
            |&([first, end], size, alignment, fixed, lowest, highest, together)| Item {
                fixed: fixed.map(Bytes),
                lowest: Bytes(lowest),
                highest: highest.map(Bytes),
                together,
                ..Item::new(
                    Span::new(first, end),
                    Bytes(size),
                    Alignment::new(alignment.get()).expect("not 0"),
                )
            },
        )
    }

    fn problem(&self, py: Python<'_>) -> PyResult<Problem> {
        let desc = ProblemDesc {
            items: self.items().collect(),
            conflicts: self.conflicts.clone(),
            capacity: self.capacity.map(Bytes),
        };
        let problem = py.detach(|| desc.build());
        problem.map_err(|error| of_packing(&error, &self.names, py))
    }
}

/// Returns the strategy with this name.
pub(crate) fn strategy_of(name: &str, py: Python<'_>) -> PyResult<Strategy> {
    name.parse().map_err(|problem: tileheap_pack::Error| {
        let others = "the planners of other frameworks, such as `litert-best`, are only in the command `tileheap tensors --strategy`";
        error(format!("{problem}; {others}"), None::<u32>, py)
    })
}

/// Implements `tileheap.pack`; returns as JSON the answer of `fit` if there is a capacity, otherwise that of
/// `minimize`.
#[pyfunction]
pub(crate) fn pack(
    py: Python<'_>,
    fields: Fields,
    strategy: &str,
    steps: Option<u64>,
    seconds: Option<f64>,
) -> PyResult<String> {
    let strategy = strategy_of(strategy, py)?;
    let problem = fields.problem(py)?;
    let interrupts = Interrupts::new(seconds);
    let steps = steps.map_or(Steps::UNLIMITED, Steps);
    let answer = py.detach(|| {
        let search = if problem.capacity().is_some() {
            fit
        } else {
            minimize
        };
        let answer = search(&problem, strategy, steps, &mut |_| interrupts.check());
        serde_json::to_string(&answer).expect(NUMBERS)
    });
    interrupts.finish(answer)
}

/// Implements `tileheap.select`; returns the selection as JSON.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    fields: Fields,
    weights: Vec<u64>,
    steps: Option<u64>,
    seconds: Option<f64>,
) -> PyResult<String> {
    let problem = fields.problem(py)?;
    let interrupts = Interrupts::new(seconds);
    let steps = steps.map_or(Steps::UNLIMITED, Steps);
    let selection = py.detach(|| {
        let found = tileheap_pack::select(&problem, &weights, steps, &mut |_| interrupts.check());
        serde_json::to_string(&found).expect(NUMBERS)
    });
    interrupts.finish(selection)
}
