//! The branching rule: chooses the column whose lowest bytes are decided next, and lists the pieces that may start there.
//!
//! ```text
//! floors   ┌─┐     ┌─┐      columns 1 and 2 are a *valley*: whatever starts on their floor stands in no other column,
//!          │ └─┐   │ └──    where it would have to start higher. So for each column of a valley, in some packing
//!          │   └───┘        that is pushed down as far as possible, one of the pieces that are ready there starts on
//! column   0 1 2 3 4 5      its floor, or bytes of it stay unused.
//! ```

use super::model::Model;
use super::state::{PLACED, State};
use crate::gap::align_up;

/// The criterion by which the column to decide next is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchingRule {
    /// The fewest spare bytes, divided by 1 + the number of branches that the column has ended; ties by the fewest choices.
    LeastSlackPerFailure,
    /// The fewest choices, divided by 1 + the number of branches that the column has ended; ties by the fewest spare bytes.
    FewestChoicesPerFailure,
    /// Like `FewestChoicesPerFailure`, but ties are broken by the lowest floor.
    FewestChoicesLowestFloor,
    /// The smallest product of choices and spare bytes; ties by the lowest floor.
    Tightest,
    /// Like `Tightest`, but a part of the capacity is added to the spare bytes, and the product is divided by 1 + the number of branches that
    /// the column has ended.
    TightestPerFailure,
}

/// A column to decide on, and its floor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub(crate) column: u32,
    pub(crate) floor: u64,
}

/// Chooses a column in `columns`: among all valleys if every piece stands in consecutive columns; otherwise only among the columns with the lowest
/// floor.
pub(crate) fn choose(
    model: &Model,
    state: &State,
    columns: std::ops::Range<usize>,
    rule: BranchingRule,
    mirrored: bool,
) -> Decision {
    let mut best: Option<((u64, u64), usize)> = None;
    let mut consider = |column: usize| {
        let floor = state.floors[column];
        let column_pieces = model.column_runs[column].of(&model.column_pieces).iter();
        let choices = column_pieces.filter(|&&piece| state.may_start(model, piece, floor));
        let slack = state.slack(column);
        let choices = choices.count() as u64 + u64::from(slack > 0);
        let failures = 1 + state.failures[column];
        let key = match rule {
            BranchingRule::LeastSlackPerFailure => (slack / failures, choices),
            BranchingRule::FewestChoicesPerFailure => (choices * 1000 / failures, slack),
            BranchingRule::FewestChoicesLowestFloor => (choices * 1000 / failures, floor),
            BranchingRule::Tightest => (slack.saturating_mul(choices), floor),
            BranchingRule::TightestPerFailure => {
                let slack = slack.saturating_add(state.capacity / 64);
                (slack.saturating_mul(choices) / failures, floor)
            }
        };
        if best.is_none_or(|(least, _)| key < least || (mirrored && key == least)) {
            best = Some((key, column));
        }
    };
    if model.in_a_row {
        each_valley(state, columns, |valley| {
            // If no byte is to spare, few pieces begin at the borders of the valley.
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

/// Calls `visit` with every valley: a run of columns of equal floor that pieces connect, between higher floors.
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

/// Returns the lowest possible start of a column's first piece if it does not stand on the floor, in a packing that is pushed down: then it stands on placed
/// pieces, is held up by its bounds, or stands on a piece in another of its columns.
///
/// Complexity: the number of pieces in all columns that the column's pieces also stand in.
pub(crate) fn raised(model: &Model, state: &State, choice: Decision, scratch: &mut Scratch) -> u64 {
    let column_pieces = model.column_runs[choice.column as usize].of(&model.column_pieces);
    scratch.prepare(model);
    for &piece in column_pieces {
        scratch.stands[piece as usize] = true;
    }
    let mut least = u64::MAX;
    for &index in column_pieces {
        let ready = state.ready[index as usize];
        // Placed pieces or bounds support it at this offset, and no skipped bytes have raised it further.
        if ready > choice.floor && ready == state.supported[index as usize] || ready == PLACED {
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
                let others = model.column_runs[beside as usize].of(&model.column_pieces).iter();
                let others = others.filter(|&&other| !scratch.stands[other as usize]);
                *known = others.map(|&other| state.end(other)).min().unwrap_or(u64::MAX);
            }
            top = top.min(*known);
        }
        // The piece there may be raised too: one that ends lower gives no bound.
        if let Some(start) = align_up(top, piece.alignment) {
            least = least.min(start.max(ready));
        }
    }
    for &piece in column_pieces {
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
    /// For each piece, true if it is in the chosen column.
    stands: Vec<bool>,
    /// For each other column, the lowest end of a piece that is not in the chosen column; 0 if not known.
    tops: Vec<u64>,
    known: Vec<u32>,
}

impl Scratch {
    fn prepare(&mut self, model: &Model) {
        self.stands.resize(model.pieces.len(), false);
        self.tops.resize(model.width(), 0);
    }
}
