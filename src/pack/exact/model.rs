//! What the exact search works on: pieces that stand in columns.
//!
//! ```text
//! steps    0 1 2 3 4 5 6 7 8          a column is a largest set of lives that overlap at one step; whatever
//! a        ■ ■ ■                      happens between two of them changes nothing:
//! b          ■ ■ ■ ■                    column 0: a b      column 1: b c      column 2: c d
//! c                ■ ■ ■ ■            and one more column for each pair in conflict
//! d                      ■ ■
//! ```

use crate::pack::Problem;
use crate::units::{Alignment, Run};

/// A problem reduced to what a search has to know.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) pieces: Vec<Piece>,
    /// Columns of each piece, in runs, ascending.
    pub(crate) columns: Vec<u32>,
    /// Pieces of each column, in runs.
    pub(crate) holders: Vec<u32>,
    pub(crate) column_runs: Vec<Run>,
    row_width: u32,
    /// Every piece stands in consecutive columns, so that the row of columns can be cut where nothing crosses.
    pub(crate) in_a_row: bool,
    /// Pieces by first column, and where each column's begin.
    pub(crate) by_first: Vec<u32>,
    pub(crate) first_runs: Vec<u32>,
    /// All sizes, bounds and alignments are multiples of this.
    pub(crate) grain: u64,
}

/// Something to place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The unit that it stands for.
    pub(crate) unit: u32,
    pub(crate) size: u64,
    pub(crate) alignment: Alignment,
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) columns: Run,
    pub(crate) first: u32,
    /// A piece that is the same in everything, of which this one is the next.
    pub(crate) twin: u32,
}

/// No such piece.
pub(crate) const NONE: u32 = u32::MAX;

impl Model {
    /// Reduces a problem.
    ///
    /// `within` are the units that take part; all of them for `None`.
    pub(crate) fn new(problem: &Problem, within: Option<&[u32]>) -> Model {
        let mut model = Model::default();
        let all: Vec<u32>;
        let within = match within {
            Some(units) => units,
            None => {
                all = (0..problem.units.len() as u32).collect();
                &all
            }
        };
        let taking = |&&unit: &&u32| problem.units[unit as usize].size > 0;
        let units: Vec<u32> = within.iter().filter(taking).copied().collect();
        let lives = lives_in_columns(problem, &units);
        model.in_a_row = true;
        let mut column_count = 0;
        for (index, &unit) in units.iter().enumerate() {
            let from = model.columns.len() as u32;
            let mine = lives.partition_point(|&(piece, ..)| piece < index as u32);
            for &(_, first, end) in lives[mine..]
                .iter()
                .take_while(|&&(piece, ..)| piece == index as u32)
            {
                // Members of a group may live at the same time.
                let reached = model.columns[from as usize..]
                    .last()
                    .map_or(first, |last| last + 1);
                model.columns.extend(first.max(reached)..end);
                column_count = column_count.max(end);
            }
            let of = problem.units[unit as usize];
            let (low, high) = of.bounds();
            model.pieces.push(Piece {
                unit,
                size: of.size,
                alignment: of.alignment,
                low,
                high,
                columns: Run {
                    first: from,
                    end: model.columns.len() as u32,
                },
                first: 0,
                twin: NONE,
            });
        }
        model.row_width = column_count;
        model.add_conflicts(problem, column_count);
        model.index();
        model.pair_twins();
        model.grain = model.pieces.iter().fold(0, |grain, piece| {
            [piece.size, piece.low, piece.alignment.get()]
                .into_iter()
                .fold(grain, gcd)
        });
        model
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.column_runs.len()
    }

    /// The number of columns that stand for steps; those after them are declared conflicts.
    pub(crate) fn row_width(&self) -> usize {
        self.row_width as usize
    }

    /// A column for each pair in conflict that does not share one already.
    fn add_conflicts(&mut self, problem: &Problem, mut column_count: u32) {
        if problem.rivals.is_empty() {
            return;
        }
        let mut piece_of = vec![NONE; problem.units.len()];
        for (index, piece) in self.pieces.iter().enumerate() {
            piece_of[piece.unit as usize] = index as u32;
        }
        let mut columns: Vec<Vec<u32>> = self
            .pieces
            .iter()
            .map(|piece| piece.columns.of(&self.columns).to_vec())
            .collect();
        for a in 0..self.pieces.len() {
            let unit = &problem.units[self.pieces[a].unit as usize];
            for &rival in unit.rivals.of(&problem.rivals) {
                let b = piece_of[rival as usize];
                if b == NONE || b as usize <= a || shares(&columns[a], &columns[b as usize]) {
                    continue;
                }
                columns[a].push(column_count);
                columns[b as usize].push(column_count);
                column_count += 1;
            }
        }
        self.columns.clear();
        for (piece, columns) in self.pieces.iter_mut().zip(&columns) {
            let first = self.columns.len() as u32;
            self.columns.extend(columns);
            piece.columns = Run {
                first,
                end: self.columns.len() as u32,
            };
        }
    }

    /// Who stands in each column, and who begins there.
    fn index(&mut self) {
        let width = self.columns.iter().max().map_or(0, |&last| last as usize + 1);
        let mut counts = vec![0u32; width + 1];
        for &column in &self.columns {
            counts[column as usize + 1] += 1;
        }
        for column in 0..width {
            counts[column + 1] += counts[column];
        }
        self.column_runs = (0..width)
            .map(|column| Run {
                first: counts[column],
                end: counts[column + 1],
            })
            .collect();
        self.holders = vec![0; self.columns.len()];
        for (index, piece) in self.pieces.iter_mut().enumerate() {
            let columns = piece.columns.of(&self.columns);
            piece.first = columns.first().copied().unwrap_or(0);
            for &column in columns {
                self.holders[counts[column as usize] as usize] = index as u32;
                counts[column as usize] += 1;
            }
            let in_a_row = columns.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            self.in_a_row &= in_a_row;
        }
        let pieces = &self.pieces;
        self.by_first = (0..pieces.len() as u32)
            .filter(|&piece| !pieces[piece as usize].columns.is_empty())
            .collect();
        self.by_first
            .sort_by_key(|&piece| (pieces[piece as usize].first, piece));
        let by_first = &self.by_first;
        self.first_runs = (0..=width as u32)
            .map(|column| by_first.partition_point(|&piece| pieces[piece as usize].first < column) as u32)
            .collect();
    }

    /// Of pieces that are the same in everything, each names the one before it.
    fn pair_twins(&mut self) {
        let mut order: Vec<u32> = (0..self.pieces.len() as u32).collect();
        let (pieces, columns) = (&mut self.pieces, &self.columns);
        let key = |pieces: &[Piece], piece: u32| {
            let piece = &pieces[piece as usize];
            (
                piece.first,
                piece.size,
                piece.alignment,
                piece.low,
                piece.high,
                piece.columns.len(),
            )
        };
        order.sort_by_key(|&piece| (key(pieces, piece), piece));
        for pair in order.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let same_columns =
                pieces[a as usize].columns.of(columns) == pieces[b as usize].columns.of(columns);
            if key(pieces, a) == key(pieces, b) && same_columns {
                pieces[b as usize].twin = a;
            }
        }
    }
}

/// (piece, first column, column after the last) for every life, ascending by piece and column.
fn lives_in_columns(problem: &Problem, units: &[u32]) -> Vec<(u32, u32, u32)> {
    // A death at a step comes before the births there.
    let mut events: Vec<(u32, bool, u32)> = Vec::with_capacity(units.len() * 2);
    let mut lives: Vec<(u32, u32, u32)> = Vec::with_capacity(units.len());
    for (index, &unit) in units.iter().enumerate() {
        for span in problem.spans(&problem.units[unit as usize]) {
            if !span.is_empty() {
                let life = lives.len() as u32;
                events.extend([(span.first.0, true, life), (span.end.0, false, life)]);
                lives.push((index as u32, 0, 0));
            }
        }
    }
    events.sort_unstable();
    let (mut column, mut grew) = (0, false);
    for (_, birth, life) in events {
        let life = &mut lives[life as usize];
        if birth {
            life.1 = column;
            grew = true;
        } else {
            column += u32::from(grew);
            grew = false;
            life.2 = column;
        }
    }
    lives.sort_unstable();
    lives
}

/// Whether two ascending lists have something in common.
fn shares(a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|column| b.binary_search(column).is_ok())
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
