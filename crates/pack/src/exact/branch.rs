//! Where to branch: a column whose lowest bytes are decided next, and the pieces that may start there.
//!
//! ```text
//! floors   ┌─┐     ┌─┐      columns 1 and 2 are a *valley*: whatever starts on their floor stands in them alone, since
//!          │ └─┐   │ └──    it would have to start higher elsewhere. So for each column of a valley, in some packing
//!          │   └───┘        that is pushed down as far as it goes, one of the pieces that are ready there starts on
//! column   0 1 2 3 4 5      its floor, or bytes of it stay unused.
//! ```

use super::model::Model;
use super::state::{PLACED, State};
use crate::gap::align_up;

/// Which column of which valley is decided first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// The fewest bytes to spare, divided by the number of branches that the column ended.
    LeastSlackBlamed,
    /// The fewest choices, divided by the number of branches that the column ended; ties by the fewest bytes to spare.
    FewestChoicesBlamed,
    /// As before, with ties by the lowest floor.
    FewestChoicesLow,
    /// The least product of choices and bytes to spare.
    Tightest,
    /// As before with some bytes more to spare, divided by the number of branches that the column ended.
    TightestBlamed,
}

/// A column to decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub(crate) column: u32,
    pub(crate) floor: u64,
}

/// Chooses among some columns: among all valleys, where the model allows it; otherwise only among the lowest columns of all.
pub(crate) fn choose(
    model: &Model,
    state: &State,
    columns: std::ops::Range<usize>,
    focus: Focus,
    mirrored: bool,
) -> Decision {
    let mut best: Option<((u64, u64), usize)> = None;
    let mut consider = |column: usize| {
        let floor = state.floors[column];
        let holders = model.column_runs[column].of(&model.holders).iter();
        let choices = holders.filter(|&&piece| state.may_start(model, piece, floor));
        let slack = state.slack(column);
        let choices = choices.count() as u64 + u64::from(slack > 0);
        let blame = 1 + state.blame[column];
        let key = match focus {
            Focus::LeastSlackBlamed => (slack / blame, choices),
            Focus::FewestChoicesBlamed => (choices * 1000 / blame, slack),
            Focus::FewestChoicesLow => (choices * 1000 / blame, floor),
            Focus::Tightest => (slack.saturating_mul(choices), floor),
            Focus::TightestBlamed => {
                let slack = slack.saturating_add(state.capacity / 64);
                (slack.saturating_mul(choices) / blame, floor)
            }
        };
        if best.is_none_or(|(least, _)| key < least || (mirrored && key == least)) {
            best = Some((key, column));
        }
    };
    if model.in_a_row {
        each_valley(state, columns, |valley| {
            // Without a byte to spare, few pieces begin at its borders.
            if state.is_tight && state.slack(valley.start) == 0 {
                consider(valley.start);
                consider(valley.end - 1);
            } else {
                valley.for_each(&mut consider);
            }
        });
    } else {
        let open = |&column: &usize| state.loads[column] > 0;
        let floors = columns.clone().filter(open).map(|column| state.floors[column]);
        let lowest = floors.min();
        let lowest = columns.filter(|column| open(column) && Some(state.floors[*column]) == lowest);
        lowest.for_each(consider);
    }
    let (_, column) = best.expect("a part with pieces to place has a lowest column");
    Decision {
        column: column as u32,
        floor: state.floors[column],
    }
}

/// Calls `visit` with every stretch of columns of equal floor, tied by pieces, between higher floors.
fn each_valley(
    state: &State,
    columns: std::ops::Range<usize>,
    mut visit: impl FnMut(std::ops::Range<usize>),
) {
    let mut first = columns.start;
    while first < columns.end {
        if state.loads[first] == 0 {
            first += 1;
            continue;
        }
        let floor = state.floors[first];
        let tied = |column: usize| column < columns.end && state.crossings[column] > 0;
        let mut end = first + 1;
        while tied(end) && state.floors[end] == floor {
            end += 1;
        }
        let lower_before = first > columns.start && tied(first) && state.floors[first - 1] < floor;
        let lower_after = tied(end) && state.floors[end] < floor;
        if !lower_before && !lower_after {
            visit(first..end);
        }
        first = end;
    }
}

/// The lowest start of a column's first piece if that is not on the floor, in a packing that is pushed down: what is placed
/// bears it there or its bounds hold it up, or it stands on top of a piece beside the column.
///
/// Complexity: the pieces of all columns beside it.
pub(crate) fn raised(model: &Model, state: &State, choice: Decision, scratch: &mut Scratch) -> u64 {
    let holders = model.column_runs[choice.column as usize].of(&model.holders);
    scratch.prepare(model);
    for &piece in holders {
        scratch.stands[piece as usize] = true;
    }
    let mut least = u64::MAX;
    for &index in holders {
        let ready = state.ready[index as usize];
        // What is placed bears it, and no bytes left unused below have lifted it any higher.
        if ready > choice.floor && ready == state.borne[index as usize] || ready == PLACED {
            least = least.min(ready);
            continue;
        }
        let piece = &model.pieces[index as usize];
        let mut top = u64::MAX;
        for &beside in piece.columns.of(&model.columns) {
            let known = &mut scratch.tops[beside as usize];
            if *known == 0 {
                scratch.known.push(beside);
                // A piece that also stands in the column would be its first.
                let others = model.column_runs[beside as usize].of(&model.holders).iter();
                let others = others.filter(|&&other| !scratch.stands[other as usize]);
                *known = others.map(|&other| state.end(other)).min().unwrap_or(u64::MAX);
            }
            top = top.min(*known);
        }
        // A piece beside may be lifted too: one that ends lower gives no bound.
        if let Some(start) = align_up(top, piece.alignment) {
            least = least.min(start.max(ready));
        }
    }
    for &piece in holders {
        scratch.stands[piece as usize] = false;
    }
    for column in scratch.known.drain(..) {
        scratch.tops[column as usize] = 0;
    }
    least
}

/// Scratch memory of [`raised`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Whether a piece stands in the column.
    stands: Vec<bool>,
    /// Of each column, the lowest end of a piece beside; 0 where that is not known.
    tops: Vec<u64>,
    known: Vec<u32>,
}

impl Scratch {
    fn prepare(&mut self, model: &Model) {
        self.stands.resize(model.pieces.len(), false);
        self.tops.resize(model.width(), 0);
    }
}
