//! Exact search for at most 64 units; conflicts are bit masks.
//!
//! ```text
//! floor of d ┄┄┄┄┄┌────┐           everything is pushed down, so that whatever starts lowest starts on its floor: on the end of
//!            ┌ b ┐│  d │           what is placed below it, or at its lowest aligned and allowed offset. One decision takes a
//!            ├───┴┤    │           piece whose floor is below the ends of all unplaced pieces that conflict with it: either it
//!            │  a └────┘           starts there, or one of those goes below it, and its floor is raised to the lowest of
//!            └───────────►         their ends. No bytes are ever left unused on purpose.
//! ```
//! Independent parts are solved separately; a set whose members all conflict with each other (a *clique*) ends a branch if its members, stacked in
//! the best order from their floors, exceed the limit. Source: branching as for disjunctive scheduling (Giffler and Thompson, 1960), with floors as
//! heads.

use tileheap_units::CompactSort;

use super::Problem;
use super::exact::{Table, gcd};
use super::gap::{ROOM, align_up, next_multiple};
use super::search_state::SearchState;
use crate::lists::reset;
use crate::units::{Alignment, Span, Step};

/// Maximum number of units: those that fit in a bit mask.
pub(super) const MAX_UNITS: usize = 64;
/// Maximum number of cliques that are kept.
const MAX_CLIQUES: usize = 128;
/// Maximum size of cliques with different alignments whose members are stacked in every order.
const MAX_STACKED: usize = 8;
/// A slack that is not computed yet.
const UNKNOWN: u64 = u64::MAX;
/// Steps between two calls of the callback.
const POLL_EVERY: u64 = 1024;

/// The search and its scratch memory.
#[derive(Debug, Default)]
pub(super) struct Small {
    pieces: Vec<Piece>,
    /// The lifetimes, sorted by first use.
    lifetimes: Vec<Lifetime>,
    live_now: Vec<Lifetime>,
    cliques: Vec<u64>,
    /// Floors of each piece: a row with the initial floors, then a row for each open decision.
    floors: Vec<u64>,
    /// The offset of each placed piece.
    offsets: Vec<u64>,
    /// For each row of `floors` and each clique, the limit minus the lowest possible end of the clique; [`UNKNOWN`] until it is computed.
    slacks: Vec<u64>,
    /// For each subset of a clique, the lowest end at which its pieces can be stacked, and the sum of their sizes.
    stacks: Vec<(u64, u64)>,
    words: Vec<u128>,
    table: Table,
    /// The greatest common divisor of all sizes, lowest offsets and alignments.
    grain: u64,
    limit: u64,
    steps: u64,
    max_steps: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    unit: u32,
    size: u64,
    alignment: Alignment,
    high: u64,
    /// The highest offset that the piece may have within the limit.
    last: u64,
    /// The mask of the pieces that must not share bytes with this one.
    conflicts: u64,
}

/// A span of steps in which a piece takes bytes.
#[derive(Clone, Copy, Debug)]
struct Lifetime {
    span: Span,
    /// The piece as a mask of one bit.
    piece: u64,
}

/// Bounds on the end of pieces stacked in the best order.
struct StackBounds {
    lowest: u64,
    highest: u64,
}

/// The search was stopped without an answer.
struct Stopped;

impl Small {
    /// Searches a problem of at most 64 units for at most `most` steps; returns false if there are more units, or if the steps did not suffice.
    pub(super) fn search(
        &mut self,
        problem: &Problem,
        most: u64,
        search: &mut SearchState<'_>,
        offsets: &mut Vec<u64>,
    ) -> bool {
        if problem.units.len() > MAX_UNITS {
            return false;
        }
        self.prepare(problem);
        search.bound = self.lower_bound(search.bound);
        let until = search.steps.saturating_add(most);
        // The bound is reached most often, so it is tried first; then the height is lowered from above.
        let mut limit = search.bound.max(search.target);
        while !search.is_over() {
            let left = until.min(search.budget).saturating_sub(search.steps);
            let (found, steps) = self.fit(limit, left, &mut |steps| search.report(steps));
            search.steps += steps;
            match found {
                Some(true) => {
                    self.write(problem, offsets);
                    search.keep(problem, offsets);
                }
                Some(false) => search.bound = search.bound.max(next_multiple(limit, self.grain)),
                None => return false,
            }
            if search.bound > search.target && limit <= search.target {
                break;
            }
            let below = search.found.then(|| search.height.saturating_sub(1));
            limit = below.unwrap_or(u64::MAX).max(search.target);
        }
        true
    }

    /// Finds the conflicts and their cliques.
    fn prepare(&mut self, problem: &Problem) {
        self.pieces.clear();
        self.lifetimes.clear();
        for (index, unit) in problem.units.iter().enumerate() {
            if unit.size > 0 && (!unit.hull.is_empty() || !unit.conflicts.is_empty()) {
                let spans = problem.spans(unit).filter(|span| !span.is_empty());
                let piece = 1 << self.pieces.len();
                self.lifetimes.extend(spans.map(|span| Lifetime { span, piece }));
                self.pieces.push(Piece {
                    unit: index as u32,
                    size: unit.size,
                    alignment: unit.alignment,
                    high: unit.bounds().1,
                    last: 0,
                    conflicts: 0,
                });
            }
        }
        self.find_live_sets();
        // With lifetimes with gaps or declared conflicts, conflicts are not only those of live sets.
        if !problem.unit_conflicts.is_empty() || self.lifetimes.len() > self.pieces.len() {
            self.add_conflicts(problem);
        }
        let pieces = &self.pieces;
        self.floors.clear();
        let lows = pieces.iter().map(|piece| {
            let (low, _) = problem.units[piece.unit as usize].bounds();
            align_up(low, piece.alignment).expect(ROOM)
        });
        self.floors.extend(lows);
        let facts = self.floors.iter().zip(pieces);
        self.grain = facts.fold(0, |grain, (&low, piece)| {
            gcd(gcd(gcd(grain, piece.size), low), piece.alignment.get())
        });
        self.floors.resize((pieces.len() + 2) * pieces.len(), 0);
        reset(&mut self.offsets, pieces.len(), 0);
        let known = self.words.len();
        self.words
            .extend((known..pieces.len()).map(|fact| Table::word(fact as u64)));
    }

    /// Finds conflicts of units live at one step: the maximal live sets, each at the last first use before an end.
    fn find_live_sets(&mut self) {
        let (pieces, lifetimes) = (&mut self.pieces, &mut self.lifetimes);
        let (live_now, cliques) = (&mut self.live_now, &mut self.cliques);
        lifetimes.compact_sort_by_key(|lifetime| lifetime.span.first);
        live_now.clear();
        cliques.clear();
        let (mut live, mut grew) = (0u64, false);
        let mut add = |live: u64, grew: bool| {
            if grew && !live.is_power_of_two() && cliques.len() < MAX_CLIQUES {
                cliques.push(live);
            }
        };
        let mut next_death = Step(u32::MAX);
        for lifetime in lifetimes.iter() {
            if next_death <= lifetime.span.first {
                add(live, grew);
                grew = false;
                live_now.retain(|other| other.span.end > lifetime.span.first);
                live = live_now.iter().fold(0, |live, other| live | other.piece);
                let deaths = live_now.iter().map(|other| other.span.end);
                next_death = deaths.min().unwrap_or(Step(u32::MAX));
            }
            next_death = next_death.min(lifetime.span.end);
            let piece = lifetime.piece.trailing_zeros() as usize;
            pieces[piece].conflicts |= live;
            each(live).for_each(|other| pieces[other].conflicts |= lifetime.piece);
            grew |= live & lifetime.piece == 0;
            live |= lifetime.piece;
            live_now.push(*lifetime);
        }
        add(live, grew);
        // Spans of one group may overlap.
        for (number, piece) in pieces.iter_mut().enumerate() {
            piece.conflicts &= !(1 << number);
        }
    }

    /// Adds declared conflicts, and cliques for them and for lifetimes with gaps: pieces that conflict with all members of a clique join it; every piece that
    /// conflicts with another one, and every conflicting pair that no clique contains, gets a clique of its own, up to [`MAX_CLIQUES`] in total.
    fn add_conflicts(&mut self, problem: &Problem) {
        for a in 0..self.pieces.len() {
            let unit = &problem.units[self.pieces[a].unit as usize];
            for rival in unit.conflicts.of(&problem.unit_conflicts) {
                if let Ok(b) = self.pieces.binary_search_by_key(rival, |piece| piece.unit) {
                    self.pieces[a].conflicts |= 1 << b;
                }
            }
        }
        for index in 0..self.cliques.len() {
            self.cliques[index] = self.extended(self.cliques[index]);
        }
        for a in 0..self.pieces.len() {
            let around = self.extended(1 << a);
            if self.cliques.len() < MAX_CLIQUES
                && !around.is_power_of_two()
                && !self.cliques.contains(&around)
            {
                self.cliques.push(around);
            }
            let mut conflicts = self.pieces[a].conflicts >> a << a;
            while conflicts != 0 && self.cliques.len() < MAX_CLIQUES {
                let pair = 1 << a | 1 << conflicts.trailing_zeros();
                conflicts &= conflicts - 1;
                if self.cliques.iter().all(|clique| clique & pair != pair) {
                    let clique = self.extended(pair);
                    self.cliques.push(clique);
                }
            }
        }
    }

    /// Extends a clique by the largest piece that conflicts with all its members, repeatedly.
    fn extended(&self, mut clique: u64) -> u64 {
        let mut common = each(clique).fold(u64::MAX, |common, piece| common & self.pieces[piece].conflicts);
        while common != 0 {
            let largest = each(common).max_by_key(|&piece| self.pieces[piece].size);
            let largest = largest.expect("some piece conflicts with all members");
            clique |= 1 << largest;
            common &= self.pieces[largest].conflicts;
        }
        clique
    }

    /// Returns a lower bound on the height; `known` is a bound that is already known.
    fn lower_bound(&mut self, known: u64) -> u64 {
        self.set_limit(u64::MAX);
        let alone = self.pieces.iter().zip(&self.floors);
        let mut bound = alone.fold(known, |bound, (piece, &floor)| bound.max(floor + piece.size));
        // The easy bounds first: few cliques remain that may exceed the highest of them.
        for stacked in [false, true] {
            for index in 0..self.cliques.len() {
                let clique = self.cliques[index];
                let bounds = self.stack_bounds(clique, 0);
                bound = bound.max(bounds.lowest);
                let held_down = || each(clique).any(|piece| self.pieces[piece].high < bounds.highest);
                if !stacked || !(bounds.highest > bound || held_down()) {
                    continue;
                }
                let most = self.stack_greedily(clique, 0);
                if most > bound {
                    bound = bound.max(self.stack(clique, 0, most));
                }
            }
        }
        bound
    }

    fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
        for piece in &mut self.pieces {
            piece.last = piece.high.min(limit.saturating_sub(piece.size));
        }
    }

    /// Looks for a packing within `limit`; returns the result, `None` if the search stopped early, and the steps used.
    fn fit(&mut self, limit: u64, max_steps: u64, poll: &mut dyn FnMut(u64) -> bool) -> (Option<bool>, u64) {
        (self.steps, self.max_steps) = (0, max_steps);
        self.set_limit(limit);
        self.table.clear(if self.pieces.len() > 16 { 14 } else { 10 });
        let too_high = |(piece, &floor): (&Piece, &u64)| floor > piece.last || piece.size > limit;
        if self.pieces.iter().zip(&self.floors).any(too_high) {
            return (Some(false), 0);
        }
        let count = self.pieces.len();
        let all = if count == 0 { 0 } else { u64::MAX >> (64 - count) };
        self.floors.copy_within(..count, count);
        reset(&mut self.slacks, (count + 2) * self.cliques.len(), UNKNOWN);
        let found = self.solve(all, 1, poll);
        (found.ok(), self.steps)
    }

    /// Places the remaining pieces, each independent part separately.
    fn solve(&mut self, set: u64, row: usize, poll: &mut dyn FnMut(u64) -> bool) -> Result<bool, Stopped> {
        let mut rest = set;
        while rest != 0 {
            let (mut part, mut front) = (0, rest & rest.wrapping_neg());
            while front != 0 {
                part |= front;
                let next = each(front).fold(0, |next, piece| next | self.pieces[piece].conflicts);
                front = next & rest & !part;
            }
            rest &= !part;
            if !self.solve_part(part, row, poll)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn solve_part(
        &mut self,
        part: u64,
        row: usize,
        poll: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, Stopped> {
        let count = self.pieces.len();
        if part & (part - 1) == 0 {
            let piece = part.trailing_zeros() as usize;
            self.offsets[piece] = self.floors[row * count + piece];
            return Ok(true);
        }
        let mut key = None;
        // On the first descent no state can be in the table.
        let is_first = self.steps < count as u64;
        loop {
            self.steps += 1;
            if self.steps > self.max_steps || (self.steps % POLL_EVERY == 0 && !poll(self.steps)) {
                return Err(Stopped);
            }
            if !is_first {
                let now = self.key(part, row);
                if self.table.contains(now) {
                    break;
                }
                key.get_or_insert(now);
            }
            let Some(next) = self.choose(part, row) else {
                break;
            };
            let piece = self.pieces[next];
            let from = row * count;
            self.floors.copy_within(from..from + count, from + count);
            let offset = self.floors[from + next];
            if let Some(raised) = self.raise(piece.conflicts & part, row + 1, offset + piece.size) {
                self.inherit_slacks(row, raised | 1 << next);
                if self.solve(part & !(1 << next), row + 1, poll)? {
                    self.offsets[next] = offset;
                    return Ok(true);
                }
            }
            // It does not start here: one of the pieces that conflict with it goes below it.
            let lowest = self.lowest_end(piece.conflicts & part, row);
            if self.raise(1 << next, row, lowest).is_none() {
                break;
            }
            let with_it = self.cliques.iter().map(|clique| clique >> next & 1 == 1);
            let slacks = self.slacks[row * self.cliques.len()..].iter_mut().zip(with_it);
            let changed = slacks.filter(|(_, with)| *with);
            changed.for_each(|(slack, _)| *slack = UNKNOWN);
        }
        if let Some(key) = key {
            self.table.insert(key);
        }
        Ok(false)
    }

    /// Raises the floors of pieces to at least `floor`, rounded up to their alignments; returns the pieces whose floors were raised, or `None` if one of them
    /// can no longer be placed.
    fn raise(&mut self, pieces: u64, row: usize, floor: u64) -> Option<u64> {
        let floors = &mut self.floors[row * self.pieces.len()..];
        let mut raised = 0;
        for piece in each(pieces) {
            if floors[piece] < floor {
                let of = &self.pieces[piece];
                floors[piece] = align_up(floor, of.alignment).filter(|&start| start <= of.last)?;
                raised |= 1 << piece;
            }
        }
        Some(raised)
    }

    /// Returns the lowest possible end of any of the pieces.
    fn lowest_end(&self, pieces: u64, row: usize) -> u64 {
        let floors = &self.floors[row * self.pieces.len()..];
        let ends = each(pieces).map(|piece| floors[piece] + self.pieces[piece].size);
        ends.min().unwrap_or(u64::MAX)
    }

    /// Returns the piece to decide on: the lowest piece of the clique with the fewest spare bytes (on a tie, the largest), or a piece that has to be decided
    /// before it. `None` if some clique exceeds the limit.
    fn choose(&mut self, part: u64, row: usize) -> Option<usize> {
        let mut tightest = (u64::MAX, part);
        for index in 0..self.cliques.len() {
            let clique = self.cliques[index] & part;
            if clique & clique.wrapping_sub(1) == 0 {
                continue;
            }
            let place = row * self.cliques.len() + index;
            if self.slacks[place] == UNKNOWN {
                self.slacks[place] = self.slack(clique, row)?;
            }
            let slack = self.slacks[place];
            if slack < tightest.0 {
                tightest = (slack, clique);
            }
        }
        let floors = &self.floors[row * self.pieces.len()..];
        let size = |piece: usize| self.pieces[piece].size;
        let lowest = each(tightest.1).min_by_key(|&piece| (floors[piece], !size(piece)));
        let mut next = lowest.expect("a part has pieces");
        // Descends to a piece that starts before any piece that conflicts with it can end.
        loop {
            let conflicts = each(self.pieces[next].conflicts & part);
            let below = conflicts.filter(|&rival| floors[rival] + size(rival) <= floors[next]);
            match below.min_by_key(|&rival| (floors[rival] + size(rival), rival)) {
                Some(rival) => next = rival,
                None => return Some(next),
            }
        }
    }

    /// Returns the spare bytes of a clique: from an end at which its members can be stacked, or a lower bound on that end, to the limit. `None` if the clique
    /// exceeds the limit.
    fn slack(&mut self, clique: u64, row: usize) -> Option<u64> {
        let bounds = self.stack_bounds(clique, row);
        let mut end = bounds.lowest;
        if end <= self.limit && bounds.highest > self.limit {
            // Any order within the limit is enough, and usually the first one tried is.
            end = self.stack_greedily(clique, row);
            if end > self.limit {
                end = self.stack(clique, row, self.limit);
            }
        }
        self.limit.checked_sub(end)
    }

    /// Copies the slacks of cliques to the next row, except those with pieces in `changed`.
    fn inherit_slacks(&mut self, row: usize, changed: u64) {
        let count = self.cliques.len();
        let (before, after) = self.slacks.split_at_mut((row + 1) * count);
        let known = before[row * count..].iter().zip(&self.cliques);
        for (slack, (&known, clique)) in after.iter_mut().zip(known) {
            *slack = if clique & changed == 0 { known } else { UNKNOWN };
        }
    }

    /// Returns bounds on the end of a clique's members, stacked in the best order, each at or above its floor.
    fn stack_bounds(&self, clique: u64, row: usize) -> StackBounds {
        let floors = &self.floors[row * self.pieces.len()..];
        let (mut sum, mut padding, mut lowest, mut highest) = (0u64, 0u64, u64::MAX, 0u64);
        for piece in each(clique) {
            let of = &self.pieces[piece];
            sum += of.size;
            padding += of.alignment.get() - self.grain.min(of.alignment.get());
            lowest = lowest.min(floors[piece]);
            highest = highest.max(floors[piece]);
        }
        StackBounds {
            lowest: lowest + sum,
            highest: highest.saturating_add(sum).saturating_add(padding),
        }
    }

    /// Returns the end of a clique's members when stacked greedily, the member with the lowest start next.
    fn stack_greedily(&self, clique: u64, row: usize) -> u64 {
        let floors = &self.floors[row * self.pieces.len()..];
        let (mut left, mut end) = (clique, 0u64);
        while left != 0 {
            let start = |piece: usize| align_up(end.max(floors[piece]), self.pieces[piece].alignment);
            let starts = each(left).map(|piece| (start(piece).unwrap_or(u64::MAX), piece));
            let (start, piece) = starts.min().expect("some piece is not stacked yet");
            if start > self.pieces[piece].last {
                return u64::MAX;
            }
            end = start + self.pieces[piece].size;
            left &= !(1 << piece);
        }
        end
    }

    /// Returns the lowest end of a clique's members when stacked, each at or above its floor; more than `most` if they do not fit. With more than [`MAX_STACKED`]
    /// members, returns a lower bound on the end.
    fn stack(&mut self, clique: u64, row: usize, most: u64) -> u64 {
        let count = self.pieces.len();
        let floors = &self.floors[row * count..(row + 1) * count];
        let members = clique.count_ones() as usize;
        if members > MAX_STACKED {
            return self.stack_by_floor(clique, row);
        }
        let (mut of, mut total) = ([0usize; MAX_STACKED], 0);
        for (place, piece) in each(clique).enumerate() {
            of[place] = piece;
            total += self.pieces[piece].size;
        }
        // For every subset, computed from smaller ones, the lowest end and its size; none if the rest does not fit above it.
        let all = (1usize << members) - 1;
        reset(&mut self.stacks, all + 1, (u64::MAX, 0));
        self.stacks[0] = (0, 0);
        for below in 0..all {
            let (end, taken) = self.stacks[below];
            if end == u64::MAX {
                continue;
            }
            for place in each((all & !below) as u64) {
                let piece = &self.pieces[of[place]];
                let lowest = end.max(floors[of[place]]);
                if lowest + (total - taken) > most {
                    continue;
                }
                let start = align_up(lowest, piece.alignment).filter(|&start| start <= piece.last);
                if let Some(start) = start.filter(|&start| start + (total - taken) <= most) {
                    let above = &mut self.stacks[below | 1 << place];
                    *above = (above.0.min(start + piece.size), taken + piece.size);
                }
            }
        }
        self.stacks[all].0
    }

    /// Like [`Self::stack`], but ignores alignments and stacks the members in ascending order of their floors.
    fn stack_by_floor(&mut self, clique: u64, row: usize) -> u64 {
        let floors = &self.floors[row * self.pieces.len()..];
        let (mut left, mut end) = (clique, 0u64);
        while left != 0 {
            let lowest = each(left).min_by_key(|&piece| floors[piece]);
            let lowest = lowest.expect("some piece is not stacked yet");
            end = end.max(floors[lowest]) + self.pieces[lowest].size;
            left &= !(1 << lowest);
        }
        end
    }

    /// Hashes the unplaced pieces and their floors.
    fn key(&self, part: u64, row: usize) -> u128 {
        let floors = &self.floors[row * self.pieces.len()..];
        each(part).fold(Table::START, |key, piece| {
            key.wrapping_add(self.words[piece].wrapping_mul(u128::from(floors[piece]) + 1))
        })
    }

    /// Writes offsets of all units; those without conflicts are at their lowest offset.
    fn write(&self, problem: &Problem, offsets: &mut Vec<u64>) {
        problem.lowest_offsets(offsets);
        for (piece, &offset) in self.pieces.iter().zip(&self.offsets) {
            offsets[piece.unit as usize] = offset;
        }
    }
}

/// Returns true if alignments may leave gaps between items.
pub(super) fn is_padded(problem: &Problem) -> bool {
    let mut units = problem.units.iter().filter(|unit| unit.size > 0);
    let grain = units.clone().fold(0, |grain, unit| gcd(grain, unit.size));
    units.any(|unit| grain % unit.alignment.get() != 0)
}

/// Iterates over the positions of the set bits, in ascending order.
fn each(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(lowest as usize)
    })
}
