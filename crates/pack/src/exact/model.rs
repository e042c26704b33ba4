//! The model of the exact search: pieces that stand in columns.
//!
//! ```text
//! steps    0 1 2 3 4 5 6 7 8          a column is a maximal set of lifetimes that overlap at one step;
//! a        ■ ■ ■                      steps between two columns add no constraint:
//! b          ■ ■ ■ ■                    column 0: a b      column 1: b c      column 2: c d
//! c                ■ ■ ■ ■            and one more column for each pair in conflict
//! d                      ■ ■
//! ```

use crate::Problem;
use crate::lists::{refill, reset};
use crate::units::{Alignment, CompactSort, Run};

/// A problem reduced to what the search reads, with the scratch memory of the reduction.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) pieces: Vec<Piece>,
    /// Columns of each piece, in runs, ascending.
    pub(crate) columns: Vec<u32>,
    /// Pieces of each column, in runs.
    pub(crate) column_pieces: Vec<u32>,
    pub(crate) column_runs: Vec<Run>,
    row_width: u32,
    /// True if every piece stands in consecutive columns, so that the row of columns can be cut wherever no piece crosses.
    pub(crate) in_a_row: bool,
    /// Pieces by first column, and the start of each column's run.
    pub(crate) by_first: Vec<u32>,
    pub(crate) first_runs: Vec<u32>,
    /// The greatest common divisor of all sizes, lowest offsets and alignments.
    pub(crate) grain: u64,
    /// The units that are searched.
    units: Vec<u32>,
    lifetimes: Vec<Lifetime>,
    events: Vec<(u32, bool, u32)>,
    /// Pairs of a piece and a column that represents one of its conflicts.
    conflicts: Vec<(u32, u32)>,
    piece_of: Vec<u32>,
    /// Scratch list: counts of columns, columns with conflicts, or pieces in some order.
    scratch: Vec<u32>,
}

/// A span of a piece: its first column, and the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lifetime {
    piece: u32,
    first: u32,
    end: u32,
}

/// A unit to place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The unit that the piece represents.
    pub(crate) unit: u32,
    pub(crate) size: u64,
    pub(crate) alignment: Alignment,
    pub(crate) low: u64,
    pub(crate) high: u64,
    pub(crate) columns: Run,
    pub(crate) first: u32,
    /// The preceding identical piece; [`NONE`] if there is none.
    pub(crate) twin: u32,
}

/// Marks a missing piece.
pub(crate) const NONE: u32 = u32::MAX;

impl Model {
    /// Reduces a problem.
    ///
    /// `within` lists the units to include; `None` includes all of them.
    pub(crate) fn new(problem: &Problem, within: Option<&[u32]>) -> Model {
        let mut model = Model::default();
        model.reduce(problem, within);
        model
    }

    /// Like [`Model::new`], reusing the memory of the last problem.
    pub(crate) fn reduce(&mut self, problem: &Problem, within: Option<&[u32]>) {
        let taking = |&unit: &u32| problem.units[unit as usize].size > 0;
        self.units.clear();
        match within {
            Some(units) => self.units.extend(units.iter().copied().filter(taking)),
            None => self.units.extend((0..problem.units.len() as u32).filter(taking)),
        }
        self.sweep(problem);
        self.pieces.clear();
        self.columns.clear();
        self.in_a_row = true;
        self.row_width = 0;
        let mut lifetimes = self.lifetimes.iter().peekable();
        for (index, &unit) in self.units.iter().enumerate() {
            let from = self.columns.len() as u32;
            // Members of a group may overlap in time.
            let mut reached = 0;
            while let Some(lifetime) = lifetimes.next_if(|lifetime| lifetime.piece == index as u32) {
                self.columns.extend(lifetime.first.max(reached)..lifetime.end);
                reached = reached.max(lifetime.end);
                self.row_width = self.row_width.max(lifetime.end);
            }
            let of = problem.units[unit as usize];
            let (low, high) = of.bounds();
            self.pieces.push(Piece {
                unit,
                size: of.size,
                alignment: of.alignment,
                low,
                high,
                columns: Run::from([from, self.columns.len() as u32]),
                first: 0,
                twin: NONE,
            });
        }
        self.add_conflicts(problem);
        self.index();
        self.pair_twins();
        let facts = |piece: &Piece| [piece.size, piece.low, piece.alignment.get()];
        self.grain = self.pieces.iter().flat_map(facts).fold(0, gcd);
    }

    /// Returns the number of columns.
    pub(crate) fn width(&self) -> usize {
        self.column_runs.len()
    }

    /// Returns true if most step columns are full at a capacity: then the pieces that begin and end between two of them have equal total sizes.
    pub(crate) fn is_tight(&self, capacity: u64) -> bool {
        let full = (0..self.row_width()).filter(|&column| self.load(column) == capacity);
        full.count() * 2 > self.row_width()
    }

    /// Returns the total size of a column's pieces.
    pub(crate) fn load(&self, column: usize) -> u64 {
        let column_pieces = self.column_runs[column].of(&self.column_pieces).iter();
        column_pieces.map(|&piece| self.pieces[piece as usize].size).sum()
    }

    /// Returns the number of columns that represent steps; the columns after them represent declared conflicts.
    pub(crate) fn row_width(&self) -> usize {
        self.row_width as usize
    }

    /// Finds the columns of every lifetime, in ascending order of piece and column.
    fn sweep(&mut self, problem: &Problem) {
        // Deaths at a step come before the births there.
        self.events.clear();
        self.lifetimes.clear();
        for (index, &unit) in self.units.iter().enumerate() {
            for span in problem.spans(&problem.units[unit as usize]) {
                if !span.is_empty() {
                    let lifetime = self.lifetimes.len() as u32;
                    self.events
                        .extend([(span.first.0, true, lifetime), (span.end.0, false, lifetime)]);
                    self.lifetimes.push(Lifetime {
                        piece: index as u32,
                        first: 0,
                        end: 0,
                    });
                }
            }
        }
        self.events.compact_sort();
        let (mut column, mut grew) = (0, false);
        for &(_, birth, lifetime) in &self.events {
            let lifetime = &mut self.lifetimes[lifetime as usize];
            if birth {
                lifetime.first = column;
                grew = true;
            } else {
                column += u32::from(grew);
                grew = false;
                lifetime.end = column;
            }
        }
        self.lifetimes.compact_sort();
    }

    /// Adds a column for each conflicting pair that does not share one already.
    fn add_conflicts(&mut self, problem: &Problem) {
        if problem.unit_conflicts.is_empty() {
            return;
        }
        reset(&mut self.piece_of, problem.units.len(), NONE);
        for (index, piece) in self.pieces.iter().enumerate() {
            self.piece_of[piece.unit as usize] = index as u32;
        }
        self.conflicts.clear();
        let mut column = self.row_width;
        for (a, piece) in self.pieces.iter().enumerate() {
            let unit = &problem.units[piece.unit as usize];
            for &rival in unit.conflicts.of(&problem.unit_conflicts) {
                let b = self.piece_of[rival as usize];
                let columns = |piece: &Piece| piece.columns.of(&self.columns);
                let is_new = |b: u32| !shares(columns(piece), columns(&self.pieces[b as usize]));
                if b != NONE && b as usize > a && is_new(b) {
                    self.conflicts.extend([(a as u32, column), (b, column)]);
                    column += 1;
                }
            }
        }
        self.conflicts.compact_sort();
        let mut conflicts = self.conflicts.iter().peekable();
        self.scratch.clear();
        for (index, piece) in self.pieces.iter_mut().enumerate() {
            let first = self.scratch.len() as u32;
            self.scratch.extend_from_slice(piece.columns.of(&self.columns));
            while let Some(&(_, column)) = conflicts.next_if(|&&(owner, _)| owner == index as u32) {
                self.scratch.push(column);
            }
            piece.columns = Run {
                first,
                end: self.scratch.len() as u32,
            };
        }
        std::mem::swap(&mut self.columns, &mut self.scratch);
    }

    /// Builds the lists of the pieces in each column, and of those that begin there.
    fn index(&mut self) {
        let width = self.columns.iter().max().map_or(0, |&last| last as usize + 1);
        let counts = &mut self.scratch;
        reset(counts, width + 1, 0);
        for &column in &self.columns {
            counts[column as usize + 1] += 1;
        }
        for column in 0..width {
            counts[column + 1] += counts[column];
        }
        refill(
            &mut self.column_runs,
            (0..width).map(|column| Run::from([counts[column], counts[column + 1]])),
        );
        reset(&mut self.column_pieces, self.columns.len(), 0);
        self.by_first.clear();
        for (index, piece) in self.pieces.iter_mut().enumerate() {
            let columns = piece.columns.of(&self.columns);
            piece.first = columns.first().copied().unwrap_or(0);
            for &column in columns {
                self.column_pieces[counts[column as usize] as usize] = index as u32;
                counts[column as usize] += 1;
            }
            self.in_a_row &= columns.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            if !columns.is_empty() {
                self.by_first.push(index as u32);
            }
        }
        let pieces = &self.pieces;
        self.by_first
            .compact_sort_by_key(|&piece| (pieces[piece as usize].first, piece));
        let mut begun = 0;
        self.first_runs.clear();
        for column in 0..=width as u32 {
            let before = |piece: &&u32| pieces[**piece as usize].first < column;
            begun += self.by_first[begun..].iter().take_while(before).count();
            self.first_runs.push(begun as u32);
        }
    }

    /// Links each piece to the identical one before it.
    fn pair_twins(&mut self) {
        let order = &mut self.scratch;
        refill(order, 0..self.pieces.len() as u32);
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
        order.compact_sort_by_key(|&piece| (key(pieces, piece), piece));
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

/// Returns true if two ascending lists have a common element.
fn shares(a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|column| b.binary_search(column).is_ok())
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    // Usually one of them is a power of two, which takes no division.
    if b != 0 && a.is_power_of_two() {
        return 1 << (a | b).trailing_zeros();
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
