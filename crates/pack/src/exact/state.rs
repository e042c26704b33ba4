//! A partial packing that can be undone.
//!
//! Every column is filled from below and has a *floor*: nothing more goes under it. A piece is *ready* at the lowest offset
//! that the floors of its columns, its alignment and its bounds leave. A column's floor is raised to where the first of its
//! pieces is ready, since nothing can use the bytes between. A column whose floor and pieces yet to place pass the capacity
//! ends the branch.
//!
//! Two columns side by side without a byte to spare are often *tied*: of the pieces that end between them and those that begin there,
//! no parts have equal sums. Then either kind fills one and the same stretch, and where its first piece is placed, the place of
//! all is known.

use super::model::{Model, NONE};
use crate::gap::align_up;
use crate::lists::{refill, reset};
use crate::units::{Alignment, CompactSort};

/// The readiness of what is placed: above that of all others.
pub(crate) const PLACED: u64 = u64::MAX;

/// The state and its trail; the search allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) capacity: u64,
    /// Of each column.
    pub(crate) floors: Vec<u64>,
    /// Bytes yet to place in each column.
    pub(crate) loads: Vec<u64>,
    /// Pieces yet to place that stand in both the column before and this one.
    pub(crate) crossings: Vec<u32>,
    /// Where each piece that is not placed may start; [`PLACED`] otherwise.
    pub(crate) ready: Vec<u64>,
    /// The same if no bytes were left unused: as low as pieces placed below and bounds allow.
    pub(crate) borne: Vec<u64>,
    /// Where each piece that is placed starts.
    pub(crate) offsets: Vec<u64>,
    /// Size and alignment of each piece, side by side with the above.
    sizes: Vec<u64>,
    alignments: Vec<Alignment>,
    /// How often each column ended a branch.
    pub(crate) blame: Vec<u64>,
    /// The highest offset of each piece: its bound, the capacity's, or that of the stretch it belongs to.
    limits: Vec<u64>,
    /// For each column, the length of the stretch that ties it to the column before; 0 where they are not tied.
    ties: Vec<u64>,
    /// Whether most columns are full: then pieces level with those beside them go first.
    pub(crate) is_tight: bool,
    /// Sums of the parts of what ends and of what begins at a column.
    sums: [Vec<u64>; 2],
    /// What was changed, and what it was before.
    trail: Vec<(Change, u64)>,
    placements: Vec<u32>,
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
    /// Starts and sizes of one column's pieces.
    starts: Vec<(u64, u64)>,
    /// Whether each column is also judged by the times its pieces are ready at.
    pub(crate) use_heads: bool,
}

/// A change that is undone by restoring the old value.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A column's floor.
    Floor(u32),
    /// Where a piece is ready.
    Ready(u32),
    /// Where a piece is borne.
    Borne(u32),
    /// Where a piece is ready and borne, both the same.
    Both(u32),
    /// The highest offset of a piece.
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
    /// Nothing is placed; ends at once where a column's pieces pass the capacity.
    pub(crate) fn start(&mut self, model: &Model, capacity: u64) -> Result<(), DeadEnd> {
        let (width, count) = (model.width(), model.pieces.len());
        self.capacity = capacity - capacity.checked_rem(model.grain).unwrap_or(0);
        reset(&mut self.floors, width, 0);
        reset(&mut self.loads, width, 0);
        reset(&mut self.crossings, width + 1, 0);
        self.blame.resize(width, 0);
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
        self.borne.clear();
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
        self.borne.extend_from_slice(&self.ready);
        (0..width as u32).for_each(|column| self.mark_dirty(column));
        self.settle(model)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            trail: self.trail.len() as u32,
            placements: self.placements.len() as u32,
        }
    }

    /// Undoes all changes since.
    pub(crate) fn undo(&mut self, model: &Model, mark: Mark) {
        while self.placements.len() > mark.placements as usize {
            let index = self.placements.pop().expect("more is placed than at the mark") as usize;
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
                Change::Borne(piece) => self.borne[piece as usize] = value,
                Change::Limit(piece) => self.limits[piece as usize] = value,
                Change::Both(piece) => {
                    self.ready[piece as usize] = value;
                    self.borne[piece as usize] = value;
                }
            }
        }
    }

    /// Places a piece where it is ready.
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

    /// Finds the columns that are tied at a capacity.
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
                    for index in 0..if sums.len() > MOST_SUMS { 0 } else { sums.len() } {
                        sums.push(sums[index] + model.pieces[piece as usize].size);
                    }
                });
                let [begins, ends] = &mut self.sums;
                let all = ends[ends.len() - 1];
                begins.compact_sort();
                let parts = ends.get(1..ends.len() - 1).unwrap_or_default();
                let known = ends.len().max(begins.len()) <= MOST_SUMS && all > 0;
                if known && !parts.iter().any(|part| begins.binary_search(part).is_ok()) {
                    self.ties[column] = all;
                }
            }
            before = full;
        }
    }

    /// Lays down the stretches of which a piece at an offset is the first.
    fn open_ties(&mut self, model: &Model, index: u32, offset: u64) -> Result<(), DeadEnd> {
        let piece = &model.pieces[index as usize];
        let (first, end) = (piece.first as usize, piece.first as usize + piece.columns.len());
        for (column, beside) in [(first, first.wrapping_sub(1)), (end, end)] {
            // Where the stretch has begun, floors are not even.
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
            for &other in model.column_runs[column].of(&model.holders) {
                if model.pieces[other as usize].first < column as u32 && outcome.is_ok() {
                    outcome = self.lift::<true>(model, other, top);
                }
            }
            if outcome.is_err() {
                self.blame[column] += 1;
                return outcome;
            }
        }
        Ok(())
    }

    /// Leaves the bytes below `floor` unused.
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

    /// Lifts a column's floor, and with it what stands there: `ONTO` a piece, or over bytes left unused.
    fn raise<const ONTO: bool>(&mut self, model: &Model, column: u32, floor: u64) -> Result<(), DeadEnd> {
        self.trail
            .push((Change::Floor(column), self.floors[column as usize]));
        self.floors[column as usize] = floor;
        if self.loads[column as usize] == 0 {
            return Ok(());
        }
        self.mark_dirty(column);
        for &other in model.column_runs[column as usize].of(&model.holders) {
            let outcome = self.lift::<ONTO>(model, other, floor);
            if outcome.is_err() {
                self.blame[column as usize] += 1;
                return outcome;
            }
        }
        Ok(())
    }

    /// Lifts a piece that is not placed to where it is ready from `floor` on.
    fn lift<const ONTO: bool>(&mut self, model: &Model, piece: u32, floor: u64) -> Result<(), DeadEnd> {
        let index = piece as usize;
        let (old, borne) = (self.ready[index], self.borne[index]);
        if old >= floor {
            if ONTO && borne < floor && old != PLACED {
                self.trail.push((Change::Borne(piece), borne));
                self.borne[index] = align_up(floor, self.alignments[index]).unwrap_or(old);
            }
            return Ok(());
        }
        let ready = align_up(floor, self.alignments[index]).filter(|&ready| ready <= self.limits[index]);
        let ready = ready.ok_or(DeadEnd)?;
        self.ready[index] = ready;
        if !ONTO {
            self.trail.push((Change::Ready(piece), old));
        } else if borne == old {
            self.trail.push((Change::Both(piece), old));
            self.borne[index] = ready;
        } else {
            self.trail
                .extend([(Change::Ready(piece), old), (Change::Borne(piece), borne)]);
            self.borne[index] = ready;
        }
        for &column in model.pieces[index].columns.of(&model.columns) {
            if self.floors[column as usize] == old {
                self.mark_dirty(column);
            }
        }
        Ok(())
    }

    /// Raises the floors of dirty columns to where their first piece is ready, and checks their load.
    fn settle(&mut self, model: &Model) -> Result<(), DeadEnd> {
        while let Some(column) = self.dirty.pop() {
            let here = column as usize;
            self.is_dirty[here] = false;
            if self.loads[here] == 0 {
                continue;
            }
            let holders = model.column_runs[here].of(&model.holders).iter();
            let least = holders.fold(PLACED, |least, &piece| least.min(self.ready[piece as usize]));
            if least > self.floors[here] {
                self.trail.push((Change::Floor(column), self.floors[here]));
                self.floors[here] = least;
            }
            let over = self.loads[here] > self.capacity - self.floors[here];
            if over || (self.use_heads && self.ends_too_high(model, column)) {
                self.blame[here] += 1;
                return Err(DeadEnd);
            }
        }
        Ok(())
    }

    /// Whether a column's pieces, each started where it is ready or later, one above the other, pass the capacity.
    fn ends_too_high(&mut self, model: &Model, column: u32) -> bool {
        self.starts.clear();
        for &piece in model.column_runs[column as usize].of(&model.holders) {
            let ready = self.ready[piece as usize];
            if ready != PLACED {
                self.starts.push((ready, self.sizes[piece as usize]));
            }
        }
        self.starts.compact_sort();
        let starts = self.starts.iter();
        starts.fold(0, |end: u64, &(ready, size)| end.max(ready) + size) > self.capacity
    }

    /// Bytes of a column that may stay unused.
    pub(crate) fn slack(&self, column: usize) -> u64 {
        self.capacity - self.floors[column] - self.loads[column]
    }

    /// Whether a piece may be placed on a column's floor now: borne there, and with its identical predecessor placed.
    ///
    /// One that is only lifted there would have to stand on a piece beside, and what is not placed ends above this floor.
    pub(crate) fn may_start(&self, model: &Model, piece: u32, floor: u64) -> bool {
        let twin = model.pieces[piece as usize].twin;
        self.ready[piece as usize] == floor
            && self.borne[piece as usize] == floor
            && !(twin != NONE && self.ready[twin as usize] != PLACED)
    }

    /// Whether a piece that starts where it is ready is level with what is beside it, where that tells something.
    pub(crate) fn is_flush(&self, model: &Model, piece: u32) -> bool {
        if !self.is_tight {
            return false;
        }
        let of = &model.pieces[piece as usize];
        let (first, end) = (of.first as usize, of.first as usize + of.columns.len());
        let top = self.end(piece);
        first > 0 && self.floors[first - 1] == top || self.floors.get(end) == Some(&top)
    }

    /// The lowest end of a piece if it starts where it is ready.
    pub(crate) fn end(&self, piece: u32) -> u64 {
        self.ready[piece as usize].saturating_add(self.sizes[piece as usize])
    }
}

/// Sums of parts of the pieces that end or begin at a column: of more, ties are not looked for.
const MOST_SUMS: usize = 1 << 10;

/// Calls `visit` with each piece that ends before a column and was in the one before, and with each that begins there.
fn each_tied(model: &Model, column: usize, mut visit: impl FnMut(u32, bool)) {
    for &piece in model.column_runs[column - 1].of(&model.holders) {
        let of = &model.pieces[piece as usize];
        if of.first as usize + of.columns.len() == column {
            visit(piece, true);
        }
    }
    let begins = model.first_runs[column] as usize..model.first_runs[column + 1] as usize;
    let begins = model.by_first[begins].iter();
    begins.for_each(|&piece| visit(piece, false));
}
