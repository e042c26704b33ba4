//! The iterative depth-first search; independent parts are solved one by one.

use super::branch::{BranchingRule, Decision, Scratch, choose, raised};
use super::model::{Model, NONE};
use super::state::{DeadEnd, Mark, PLACED, State};
use super::table::Table;
use crate::units::CompactSort;

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunResult {
    /// Everything is placed.
    Packed,
    /// No packing stays within the capacity.
    Impossible,
    /// The step limit was reached.
    OutOfSteps,
    /// The caller ended the search.
    Interrupted,
}

/// An open decision.
#[derive(Clone, Copy, Debug)]
struct Frame {
    first: u32,
    end: u32,
    /// The decision whose latest alternative created this part; if the part cannot be packed, that alternative has failed.
    parent: u32,
    /// The head of the list of parts that were pending before this decision.
    pending: u32,
    /// The length of `Search::pending` before this decision.
    pending_len: u32,
    /// The pieces still to try: `next..candidates_end` in the stack of candidates.
    next: u32,
    candidates_end: u32,
    choice: Decision,
    mark: Mark,
    key: u128,
    tried_skip: bool,
}

/// A pending part, linked to the next one.
#[derive(Clone, Copy, Debug)]
struct PendingPart {
    first: u32,
    end: u32,
    parent: u32,
    next: u32,
}

/// The scratch memory of a search, reused by the next one.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) state: State,
    pub(crate) table: Table,
    /// For each piece, its position in the order in which candidates are tried.
    pub(crate) ranks: Vec<u32>,
    /// Steps so far: one for each decision, and more if many pieces are scanned.
    pub(crate) steps: u64,
    frames: Vec<Frame>,
    pending: Vec<PendingPart>,
    candidates: Vec<u32>,
    parts: Vec<(u32, u32, u32)>,
    scratch: Scratch,
    words: Vec<u128>,
}

impl Search {
    /// Looks for a packing within `capacity` until `limit` steps are done; `poll` is called periodically and returns whether to continue.
    pub(crate) fn run(
        &mut self,
        model: &Model,
        capacity: u64,
        rule: (BranchingRule, bool),
        limit: u64,
        poll: &mut dyn FnMut(u64) -> bool,
    ) -> RunResult {
        self.frames.clear();
        self.pending.clear();
        self.candidates.clear();
        self.state.use_heads = model.pieces.iter().any(|piece| piece.low > 0);
        if self.state.start(model, capacity).is_err() {
            return RunResult::Impossible;
        }
        let facts = model.width() + model.pieces.len();
        let known = self.words.len();
        self.words
            .extend((known..facts).map(|fact| Table::word(fact as u64)));
        let mut head = self.split(model, (0, model.width() as u32), NONE, NONE);
        let mut next_poll = self.steps + POLL_EVERY;
        let depth = (model.column_pieces.len() / model.width().max(1)) as u64;
        loop {
            let Some(&part) = self.pending.get(head as usize) else {
                return RunResult::Packed;
            };
            self.steps += 1 + u64::from(part.end - part.first) * depth / PLACES_PER_STEP;
            if self.steps >= limit {
                return RunResult::OutOfSteps;
            }
            if self.steps >= next_poll {
                next_poll = self.steps + POLL_EVERY;
                if !poll(self.steps) {
                    return RunResult::Interrupted;
                }
            }
            let opened = self.open(model, part, rule);
            let found = match opened {
                Some(frame) => self.advance(model, frame),
                None => self.fail(model, part.parent),
            };
            match found {
                Some(pending) => head = pending,
                None => return RunResult::Impossible,
            }
        }
    }

    /// Opens a decision in a part and returns its frame; `None` if the part is known to hold no packing.
    fn open(
        &mut self,
        model: &Model,
        part: PendingPart,
        (rule, mirrored): (BranchingRule, bool),
    ) -> Option<u32> {
        let columns = part.first as usize..part.end as usize;
        let key = self.key(model, columns.clone());
        if self.table.contains(key) {
            return None;
        }
        let choice = choose(model, &self.state, columns, rule, mirrored);
        let from = self.candidates.len();
        for &piece in model.column_runs[choice.column as usize].of(&model.column_pieces) {
            if self.state.may_start(model, piece, choice.floor) {
                self.candidates.push(piece);
            }
        }
        let (ranks, state) = (&self.ranks, &self.state);
        let rank = |&piece: &u32| (!state.is_flush(model, piece), ranks[piece as usize]);
        self.candidates[from..].compact_sort_by_key(rank);
        self.frames.push(Frame {
            first: part.first,
            end: part.end,
            parent: part.parent,
            pending: part.next,
            pending_len: self.pending.len() as u32,
            next: from as u32,
            candidates_end: self.candidates.len() as u32,
            choice,
            mark: self.state.mark(),
            key,
            tried_skip: false,
        });
        Some(self.frames.len() as u32 - 1)
    }

    /// Takes the next alternative of a decision, or of an earlier one, and returns the parts that are then pending. Returns `None` when all
    /// alternatives of all decisions are exhausted.
    fn advance(&mut self, model: &Model, mut frame: u32) -> Option<u32> {
        loop {
            let now = &mut self.frames[frame as usize];
            let (part, pending, choice) = ((now.first, now.end), now.pending, now.choice);
            let outcome: Result<(), DeadEnd> = if now.next < now.candidates_end {
                let piece = self.candidates[now.next as usize];
                now.next += 1;
                self.state.place(model, piece)
            } else if !now.tried_skip && self.state.slack(choice.column as usize) > 0 {
                now.tried_skip = true;
                let floor = raised(model, &self.state, choice, &mut self.scratch);
                self.state.skip(model, choice.column, floor)
            } else {
                let (key, parent) = (now.key, now.parent);
                self.table.insert(key);
                if parent == NONE {
                    return None;
                }
                self.back_to(model, parent);
                frame = parent;
                continue;
            };
            match outcome {
                Ok(()) => return Some(self.split(model, part, frame, pending)),
                Err(DeadEnd) => {
                    let mark = self.frames[frame as usize].mark;
                    self.state.undo(model, mark);
                }
            }
        }
    }

    /// Fails the alternative of `parent` that created a part without a packing, then advances to the next alternative.
    fn fail(&mut self, model: &Model, parent: u32) -> Option<u32> {
        (parent != NONE).then(|| self.back_to(model, parent))?;
        self.advance(model, parent)
    }

    /// Undoes every decision after `frame`, and the last alternative of `frame`.
    fn back_to(&mut self, model: &Model, frame: u32) {
        self.frames.truncate(frame as usize + 1);
        let now = self.frames[frame as usize];
        self.pending.truncate(now.pending_len as usize);
        self.candidates.truncate(now.candidates_end as usize);
        self.state.undo(model, now.mark);
    }

    /// Cuts a part wherever no unplaced piece crosses, and puts the resulting parts before `then`, the smallest first; returns the head of the list.
    fn split(&mut self, model: &Model, part: (u32, u32), parent: u32, then: u32) -> u32 {
        self.parts.clear();
        if model.in_a_row {
            let mut first = part.0;
            while first < part.1 {
                let mut end = first + 1;
                let mut open = self.state.loads[first as usize] > 0;
                while end < part.1 && self.state.crossings[end as usize] > 0 {
                    open |= self.state.loads[end as usize] > 0;
                    end += 1;
                }
                if open {
                    self.parts.push((end - first, first, end));
                }
                first = end;
            }
        } else if (part.0..part.1).any(|column| self.state.loads[column as usize] > 0) {
            self.parts.push((part.1 - part.0, part.0, part.1));
        }
        self.parts.compact_sort();
        let mut head = then;
        for &(_, first, end) in self.parts.iter().rev() {
            self.pending.push(PendingPart {
                first,
                end,
                parent,
                next: head,
            });
            head = self.pending.len() as u32 - 1;
        }
        head
    }

    /// Hashes a part's state: the unplaced pieces, their floors, and the supports of those raised off the floor.
    fn key(&self, model: &Model, columns: std::ops::Range<usize>) -> u128 {
        let (floors, pieces) = self.words.split_at(model.width());
        let first = model.first_runs[columns.start] as usize;
        let end = model.first_runs[columns.end] as usize;
        let mut key = Table::START;
        for &piece in &model.by_first[first..end] {
            let (ready, supported) = (
                self.state.ready[piece as usize],
                self.state.supported[piece as usize],
            );
            if ready != PLACED {
                let lifted = if ready == supported {
                    1
                } else {
                    u128::from(supported) + 2
                };
                key = key.wrapping_add(pieces[piece as usize].wrapping_mul(lifted));
            }
        }
        for column in columns {
            if self.state.loads[column] > 0 {
                let floor = u128::from(self.state.floors[column]) + 1;
                key = key.wrapping_add(floors[column].wrapping_mul(floor));
            }
        }
        key
    }
}

/// A decision that scans more (piece, column) pairs than this counts as more than one step.
pub(crate) const PLACES_PER_STEP: u64 = 4096;
/// Steps between two calls of the callback.
const POLL_EVERY: u64 = 1024;
