//! A partial packing whose changes can be undone.
//!
//! Every column is filled from below and has a *floor*: nothing more is placed under it. A piece is *ready* at the lowest offset that the floors of
//! its columns, its alignment and its bounds allow. A column's floor is raised to the lowest offset at which one of its pieces is ready, since
//! nothing can use the bytes below. A branch ends when a column's floor plus its unplaced pieces exceeds the capacity.
//! Two adjacent columns without a byte to spare are often *tied*: no proper subset of the pieces that end between them has the same sum as one of
//! those that begin there. Then both sets fill the same contiguous range, and placing the first piece of a range determines the offsets of all.

use super::model::{Model, NONE};
use crate::gap::align_up;
use crate::lists::{refill, reset};
use crate::units::{Alignment, CompactSort};

/// The `ready` value of placed pieces: above that of all others.
pub(crate) const PLACED: u64 = u64::MAX;

/// The state and its undo trail; the search allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) capacity: u64,
    /// Floor of each column.
    pub(crate) floors: Vec<u64>,
    /// Bytes still to place in each column.
    pub(crate) loads: Vec<u64>,
    /// For each column, the number of unplaced pieces that stand both in it and in the previous one.
    pub(crate) crossings: Vec<u32>,
    /// The lowest start of each unplaced piece; [`PLACED`] for placed ones.
    pub(crate) ready: Vec<u64>,
    /// Like `ready`, but ignoring skipped bytes: as low as the pieces placed below and the bounds allow.
    pub(crate) supported: Vec<u64>,
    /// The offset of each placed piece.
    pub(crate) offsets: Vec<u64>,
    /// Size and alignment of each piece, parallel to `offsets`.
    sizes: Vec<u64>,
    alignments: Vec<Alignment>,
    /// Number of branches that each column has ended.
    pub(crate) failures: Vec<u64>,
    /// The highest offset that each piece may have, given by its bound, the capacity, or a tie.
    limits: Vec<u64>,
    /// For each column, the length of the one range of bytes that passes from the pieces that end before it to the pieces that begin there; 0 if
    /// there may be several ranges.
    ties: Vec<u64>,
    /// True if most columns are full: then pieces level with their neighbors are tried first.
    pub(crate) is_tight: bool,
    /// Scratch memory: the subset sums of the sizes of the pieces that begin at a column, then of those that end there.
    sums: [Vec<u64>; 2],
    /// Changed fields, with their previous values.
    trail: Vec<(Change, u64)>,
    placements: Vec<u32>,
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
    /// Scratch memory: the starts and sizes of one column's pieces.
    starts: Vec<(u64, u64)>,
    /// True if each column is also checked against the `ready` offsets of its pieces.
    pub(crate) use_heads: bool,
}

/// A change that is undone by restoring the old value.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A column's floor.
    Floor(u32),
    /// The `ready` offset of a piece.
    Ready(u32),
    /// The `supported` offset of a piece.
    Supported(u32),
    /// The `ready` and `supported` offsets of a piece, which were equal.
    ReadyAndSupported(u32),
    /// The highest offset that a piece may have.
    Limit(u32),
}

/// A state to return to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    trail: u32,
    placements: u32,
}

/// The branch holds no packing.
#[derive(Debug)]
pub(crate) struct DeadEnd;

impl State {
    /// Starts with nothing placed; fails at once if a column's pieces exceed the capacity.
    pub(crate) fn start(&mut self, model: &Model, capacity: u64) -> Result<(), DeadEnd> {
        let (width, count) = (model.width(), model.pieces.len());
        self.capacity = capacity - capacity.checked_rem(model.grain).unwrap_or(0);
        reset(&mut self.floors, width, 0);
        reset(&mut self.loads, width, 0);
        reset(&mut self.crossings, width + 1, 0);
        self.failures.resize(width, 0);
        reset(&mut self.offsets, count, 0);
        refill(&mut self.sizes, model.pieces.iter().map(|piece| piece.size));
        refill(
            &mut self.alignments,
            model.pieces.iter().map(|piece| piece.alignment),
        );
        self.trail.clear();
        self.placements.clear();
        self.dirty.clear();
        reset(&mut self.is_dirty, width, false);
        self.ready.clear();
        self.supported.clear();
        self.limits.clear();
        for piece in &model.pieces {
            let room = self.capacity.checked_sub(piece.size).ok_or(DeadEnd)?;
            let limit = room.min(piece.high);
            let ready = align_up(piece.low, piece.alignment).filter(|&ready| ready <= limit);
            self.ready.push(ready.ok_or(DeadEnd)?);
            self.limits.push(limit);
            for (position, &column) in piece.columns.of(&model.columns).iter().enumerate() {
                self.loads[column as usize] += piece.size;
                self.crossings[column as usize] += u32::from(position > 0);
            }
        }
        self.supported.extend_from_slice(&self.ready);
        (0..width as u32).for_each(|column| self.mark_dirty(column));
        self.settle(model)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            trail: self.trail.len() as u32,
            placements: self.placements.len() as u32,
        }
    }

    /// Undoes all changes since `mark`.
    pub(crate) fn undo(&mut self, model: &Model, mark: Mark) {
        while self.placements.len() > mark.placements as usize {
            let index = self.placements.pop().expect("placements exceed the mark") as usize;
            self.ready[index] = self.offsets[index];
            let piece = &model.pieces[index];
            for (position, &column) in piece.columns.of(&model.columns).iter().enumerate() {
                self.loads[column as usize] += piece.size;
                self.crossings[column as usize] += u32::from(position > 0);
            }
        }
        while self.trail.len() > mark.trail as usize {
            let (change, value) = self.trail.pop().expect("the trail is longer than the mark");
            match change {
                Change::Floor(column) => self.floors[column as usize] = value,
                Change::Ready(piece) => self.ready[piece as usize] = value,
                Change::Supported(piece) => self.supported[piece as usize] = value,
                Change::Limit(piece) => self.limits[piece as usize] = value,
                Change::ReadyAndSupported(piece) => {
                    self.ready[piece as usize] = value;
                    self.supported[piece as usize] = value;
                }
            }
        }
    }

    /// Places a piece at its `ready` offset.
    pub(crate) fn place(&mut self, model: &Model, index: u32) -> Result<(), DeadEnd> {
        let piece = &model.pieces[index as usize];
        let offset = std::mem::replace(&mut self.ready[index as usize], PLACED);
        let end = offset + piece.size;
        self.offsets[index as usize] = offset;
        self.placements.push(index);
        for (position, &column) in piece.columns.of(&model.columns).iter().enumerate() {
            self.loads[column as usize] -= piece.size;
            self.crossings[column as usize] -= u32::from(position > 0);
        }
        let mut outcome = self.open_ties(model, index, offset);
        for &column in piece.columns.of(&model.columns) {
            if outcome.is_err() {
                break;
            }
            outcome = self.raise::<true>(model, column, end);
        }
        self.settled(model, outcome)
    }

    /// Finds the columns in which all bytes pass in one range at a capacity, and sets `ties`.
    pub(crate) fn find_ties(&mut self, model: &Model, capacity: u64) {
        self.is_tight = model.is_tight(capacity);
        let width = model.row_width();
        reset(&mut self.ties, model.width() + 1, 0);
        let mut before = false;
        for column in 0..if model.in_a_row { width } else { 0 } {
            let full = model.load(column) == capacity;
            if before && full {
                for sums in &mut self.sums {
                    sums.clear();
                    sums.push(0);
                }
                each_tied(model, column, |piece, ends_here| {
                    let sums = &mut self.sums[usize::from(ends_here)];
                    for index in 0..if sums.len() > MAX_SUMS { 0 } else { sums.len() } {
                        sums.push(sums[index] + model.pieces[piece as usize].size);
                    }
                });
                let [begins, ends] = &mut self.sums;
                let all = ends[ends.len() - 1];
                begins.compact_sort();
                let parts = ends.get(1..ends.len() - 1).unwrap_or_default();
                let known = ends.len().max(begins.len()) <= MAX_SUMS && all > 0;
                if known && !parts.iter().any(|part| begins.binary_search(part).is_ok()) {
                    self.ties[column] = all;
                }
            }
            before = full;
        }
    }

    /// Fixes the tied ranges that begin at `offset`, at either end of a piece that was just placed there: keeps the pieces of a range within it, and raises
    /// the pieces that cross its column boundary above it.
    fn open_ties(&mut self, model: &Model, index: u32, offset: u64) -> Result<(), DeadEnd> {
        let piece = &model.pieces[index as usize];
        let (first, end) = (piece.first as usize, piece.first as usize + piece.columns.len());
        for (column, beside) in [(first, first.wrapping_sub(1)), (end, end)] {
            // If the range has already begun, floors are not level.
            let length = self.ties.get(column).copied().unwrap_or(0);
            if length == 0 || self.floors[beside] != offset {
                continue;
            }
            let top = offset + length;
            let mut outcome = Ok(());
            each_tied(model, column, |piece, _| {
                let limit = top - self.sizes[piece as usize];
                let known = self.limits[piece as usize];
                if limit < known {
                    self.trail.push((Change::Limit(piece), known));
                    self.limits[piece as usize] = limit;
                    let ready = self.ready[piece as usize];
                    if ready != PLACED && ready > limit {
                        outcome = Err(DeadEnd);
                    }
                }
            });
            for &other in model.column_runs[column].of(&model.column_pieces) {
                if model.pieces[other as usize].first < column as u32 && outcome.is_ok() {
                    outcome = self.lift::<true>(model, other, top);
                }
            }
            if outcome.is_err() {
                self.failures[column] += 1;
                return outcome;
            }
        }
        Ok(())
    }

    /// Raises the floor of a column to `floor`, and leaves the bytes below unused.
    pub(crate) fn skip(&mut self, model: &Model, column: u32, floor: u64) -> Result<(), DeadEnd> {
        let outcome = self.raise::<false>(model, column, floor);
        self.settled(model, outcome)
    }

    fn settled(&mut self, model: &Model, outcome: Result<(), DeadEnd>) -> Result<(), DeadEnd> {
        let outcome = outcome.and_then(|()| self.settle(model));
        while let Some(column) = self.dirty.pop() {
            self.is_dirty[column as usize] = false;
        }
        outcome
    }

    fn mark_dirty(&mut self, column: u32) {
        if !self.is_dirty[column as usize] {
            self.is_dirty[column as usize] = true;
            self.dirty.push(column);
        }
    }

    /// Raises a column's floor, and the pieces that stand there: onto a piece if `ONTO`, otherwise over skipped bytes.
    fn raise<const ONTO: bool>(&mut self, model: &Model, column: u32, floor: u64) -> Result<(), DeadEnd> {
        self.trail
            .push((Change::Floor(column), self.floors[column as usize]));
        self.floors[column as usize] = floor;
        if self.loads[column as usize] == 0 {
            return Ok(());
        }
        self.mark_dirty(column);
        for &other in model.column_runs[column as usize].of(&model.column_pieces) {
            let outcome = self.lift::<ONTO>(model, other, floor);
            if outcome.is_err() {
                self.failures[column as usize] += 1;
                return outcome;
            }
        }
        Ok(())
    }

    /// Raises an unplaced piece to the lowest offset at or above `floor` at which it may start.
    fn lift<const ONTO: bool>(&mut self, model: &Model, piece: u32, floor: u64) -> Result<(), DeadEnd> {
        let index = piece as usize;
        let (old, supported) = (self.ready[index], self.supported[index]);
        if old >= floor {
            if ONTO && supported < floor && old != PLACED {
                self.trail.push((Change::Supported(piece), supported));
                self.supported[index] = align_up(floor, self.alignments[index]).unwrap_or(old);
            }
            return Ok(());
        }
        let ready = align_up(floor, self.alignments[index]).filter(|&ready| ready <= self.limits[index]);
        let ready = ready.ok_or(DeadEnd)?;
        self.ready[index] = ready;
        if !ONTO {
            self.trail.push((Change::Ready(piece), old));
        } else if supported == old {
            self.trail.push((Change::ReadyAndSupported(piece), old));
            self.supported[index] = ready;
        } else {
            self.trail
                .extend([(Change::Ready(piece), old), (Change::Supported(piece), supported)]);
            self.supported[index] = ready;
        }
        for &column in model.pieces[index].columns.of(&model.columns) {
            if self.floors[column as usize] == old {
                self.mark_dirty(column);
            }
        }
        Ok(())
    }

    /// Raises the floors of changed columns to the lowest `ready` offset of their pieces, and checks their load.
    fn settle(&mut self, model: &Model) -> Result<(), DeadEnd> {
        while let Some(column) = self.dirty.pop() {
            let here = column as usize;
            self.is_dirty[here] = false;
            if self.loads[here] == 0 {
                continue;
            }
            let column_pieces = model.column_runs[here].of(&model.column_pieces).iter();
            let least = column_pieces.fold(PLACED, |least, &piece| least.min(self.ready[piece as usize]));
            if least > self.floors[here] {
                self.trail.push((Change::Floor(column), self.floors[here]));
                self.floors[here] = least;
            }
            let over = self.loads[here] > self.capacity - self.floors[here];
            if over || (self.use_heads && self.ends_too_high(model, column)) {
                self.failures[here] += 1;
                return Err(DeadEnd);
            }
        }
        Ok(())
    }

    /// Returns true if a column's pieces, stacked with each starting no lower than its `ready` offset, exceed the capacity.
    fn ends_too_high(&mut self, model: &Model, column: u32) -> bool {
        self.starts.clear();
        for &piece in model.column_runs[column as usize].of(&model.column_pieces) {
            let ready = self.ready[piece as usize];
            if ready != PLACED {
                self.starts.push((ready, self.sizes[piece as usize]));
            }
        }
        self.starts.compact_sort();
        let starts = self.starts.iter();
        starts.fold(0, |end: u64, &(ready, size)| end.max(ready) + size) > self.capacity
    }

    /// Returns the bytes of a column that may stay unused.
    pub(crate) fn slack(&self, column: usize) -> u64 {
        self.capacity - self.floors[column] - self.loads[column]
    }

    /// Returns true if a piece may be placed on a column's floor now: supported there, and with its identical predecessor placed.
    ///
    /// A piece that was only raised there by skipped bytes would have to stand on an adjacent piece, and unplaced pieces end above this floor.
    pub(crate) fn may_start(&self, model: &Model, piece: u32, floor: u64) -> bool {
        let twin = model.pieces[piece as usize].twin;
        self.ready[piece as usize] == floor
            && self.supported[piece as usize] == floor
            && !(twin != NONE && self.ready[twin as usize] != PLACED)
    }

    /// Returns true if a piece placed at its `ready` offset would be level with a neighboring floor. Only used if most columns are full.
    pub(crate) fn is_flush(&self, model: &Model, piece: u32) -> bool {
        if !self.is_tight {
            return false;
        }
        let of = &model.pieces[piece as usize];
        let (first, end) = (of.first as usize, of.first as usize + of.columns.len());
        let top = self.end(piece);
        first > 0 && self.floors[first - 1] == top || self.floors.get(end) == Some(&top)
    }

    /// Returns the lowest possible end of a piece: its end if it starts at its `ready` offset.
    pub(crate) fn end(&self, piece: u32) -> u64 {
        self.ready[piece as usize].saturating_add(self.sizes[piece as usize])
    }
}

/// Maximum number of subset sums of the pieces that end or begin at a column; with more, ties are not looked for.
const MAX_SUMS: usize = 1 << 10;

/// Calls `visit` with each piece that ends before a column and was in the previous one, and with each piece that begins there.
fn each_tied(model: &Model, column: usize, mut visit: impl FnMut(u32, bool)) {
    for &piece in model.column_runs[column - 1].of(&model.column_pieces) {
        let of = &model.pieces[piece as usize];
        if of.first as usize + of.columns.len() == column {
            visit(piece, true);
        }
    }
    let begins = model.first_runs[column] as usize..model.first_runs[column + 1] as usize;
    let begins = model.by_first[begins].iter();
    begins.for_each(|&piece| visit(piece, false));
}
