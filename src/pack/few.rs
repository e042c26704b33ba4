//! At most 64 units, whatever is asked of them: who is in whose way fits in one word each, and the search is exact.
//!
//! ```text
//! floor of d ┄┄┄┄┄┌────┐           everything is pushed down, so that whatever starts lowest starts on its floor: on the end of
//!            ┌ b ┐│  d │           what is placed below it, or where its alignment and bounds hold it up. One decision takes
//!            ├───┴┤    │           something whose floor is below the ends of all that it has still to be placed with: either
//!            │  a └────┘           it starts there, or one of those goes below it, and its floor is raised to the lowest of
//!            └───────────►         their ends. No bytes are ever left unused on purpose.
//! ```
//! What is tied together no longer is solved apart; a set whose members are all in each other's way (a *clique*) ends a branch
//! when its members, stacked in the best order from their floors, pass the limit. Source: branching as for disjunctive
//! scheduling (Giffler and Thompson, 1960), with floors for heads.

use super::exact::{Table, gcd};
use super::gap::{ROOM, align_up};
use super::quest::Quest;
use super::{Packer, Problem};
use crate::units::Alignment;

/// So many units have one bit each.
pub(super) const MOST: usize = 64;
/// Cliques that are looked at.
const CLIQUES: usize = 128;
/// Cliques of up to so many members of different alignments are stacked in every order.
const STACKED: usize = 8;
/// Steps between two questions whether to go on.
const POLL_EVERY: u64 = 1024;

/// The search and its memory.
#[derive(Debug, Default)]
pub(super) struct Few {
    pieces: Vec<Piece>,
    cliques: Vec<u64>,
    /// Floors of each piece: as they are at first, and then a row for each decision under way.
    floors: Vec<u64>,
    /// Where each piece was placed.
    offsets: Vec<u64>,
    /// Lowest ends of all subsets of a clique.
    stacks: Vec<u64>,
    words: Vec<u128>,
    table: Table,
    /// All sizes, bounds and alignments are multiples of this.
    grain: u64,
    limit: u64,
    steps: u64,
    most_steps: u64,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    unit: u32,
    size: u64,
    alignment: Alignment,
    high: u64,
    /// The highest offset within the limit.
    last: u64,
    /// Those that must not share bytes with it.
    rivals: u64,
}

/// A search that ended without an answer.
struct Stopped;

impl Packer {
    /// Searches a problem of few units, `most` steps long; says whether all is known.
    pub(super) fn search_few(&mut self, problem: &Problem, most: u64, quest: &mut Quest<'_>) -> bool {
        if problem.units.len() > MOST {
            return false;
        }
        self.few.prepare(problem);
        quest.bound = quest.bound.max(self.few.lower_bound());
        let until = quest.steps.saturating_add(most);
        // The bound is reached most often; then from above.
        let mut limit = quest.bound.max(quest.target);
        while !quest.is_over() {
            let left = until.min(quest.budget).saturating_sub(quest.steps);
            let (found, steps) = self.few.fit(limit, left, &mut |steps| quest.ask(steps));
            quest.steps += steps;
            match found {
                Some(true) => {
                    self.few.write(problem, &mut self.offsets);
                    self.keep(problem, quest);
                }
                Some(false) => quest.bound = quest.bound.max(self.few.above(limit)),
                None => return false,
            }
            if quest.bound > quest.target && limit <= quest.target {
                break;
            }
            limit = quest.height.saturating_sub(1).max(quest.target);
        }
        true
    }
}

impl Few {
    /// Who is in whose way, and the cliques of that.
    fn prepare(&mut self, problem: &Problem) {
        self.pieces.clear();
        for (index, unit) in problem.units.iter().enumerate() {
            if unit.size > 0 && (!unit.hull.is_empty() || !unit.rivals.is_empty()) {
                self.pieces.push(Piece {
                    unit: index as u32,
                    size: unit.size,
                    alignment: unit.alignment,
                    high: unit.bounds().1,
                    last: 0,
                    rivals: 0,
                });
            }
        }
        let pieces = &mut self.pieces;
        for b in 0..pieces.len() {
            for a in 0..b {
                if problem.interfere(pieces[a].unit, pieces[b].unit) {
                    pieces[a].rivals |= 1 << b;
                    pieces[b].rivals |= 1 << a;
                }
            }
        }
        self.floors.clear();
        let lows = pieces.iter().map(|piece| {
            let (low, _) = problem.units[piece.unit as usize].bounds();
            align_up(low, piece.alignment).expect(ROOM)
        });
        self.floors.extend(lows);
        self.floors.resize((pieces.len() + 2) * pieces.len(), 0);
        self.offsets.clear();
        self.offsets.resize(pieces.len(), 0);
        let facts = self.floors.iter().zip(pieces.iter());
        self.grain = facts.fold(0, |grain, (&low, piece)| {
            gcd(gcd(gcd(grain, piece.size), low), piece.alignment.get())
        });
        let known = self.words.len();
        self.words
            .extend((known..pieces.len()).map(|fact| Table::word(fact as u64)));
        self.find_cliques();
    }

    /// Around every piece, and around every pair that no clique has yet, the largest others that go with all.
    fn find_cliques(&mut self) {
        self.cliques.clear();
        for a in 0..self.pieces.len() {
            self.add_clique(1 << a);
        }
        for a in 0..self.pieces.len() {
            let mut rivals = self.pieces[a].rivals >> a << a;
            while rivals != 0 && self.cliques.len() < CLIQUES {
                let pair = 1 << a | 1 << rivals.trailing_zeros();
                rivals &= rivals - 1;
                if self.cliques.iter().all(|clique| clique & pair != pair) {
                    self.add_clique(pair);
                }
            }
        }
    }

    fn add_clique(&mut self, seed: u64) {
        let mut clique = seed;
        let mut common = each(seed).fold(u64::MAX, |common, piece| common & self.pieces[piece].rivals);
        while common != 0 {
            let largest = each(common).max_by_key(|&piece| self.pieces[piece].size);
            let largest = largest.expect("something is left");
            clique |= 1 << largest;
            common &= self.pieces[largest].rivals;
        }
        if clique.count_ones() > 1 && !self.cliques.contains(&clique) {
            self.cliques.push(clique);
        }
    }

    /// What no packing goes below.
    fn lower_bound(&mut self) -> u64 {
        self.set_limit(u64::MAX);
        let mut bound = 0;
        for index in 0..self.cliques.len() {
            bound = bound.max(self.stack(self.cliques[index], 0, u64::MAX));
        }
        let alone = self.pieces.iter().zip(&self.floors);
        alone.fold(bound, |bound, (piece, &floor)| bound.max(floor + piece.size))
    }

    /// The next height above a limit that a packing may have.
    fn above(&self, limit: u64) -> u64 {
        let grain = self.grain.max(1);
        let next = (limit / grain).checked_add(1);
        next.and_then(|next| next.checked_mul(grain)).unwrap_or(u64::MAX)
    }

    fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
        for piece in &mut self.pieces {
            piece.last = piece.high.min(limit.saturating_sub(piece.size));
        }
    }

    /// Looks for a packing within `limit`; gives the steps used, and `None` if they were not enough.
    fn fit(&mut self, limit: u64, most_steps: u64, poll: &mut dyn FnMut(u64) -> bool) -> (Option<bool>, u64) {
        (self.steps, self.most_steps) = (0, most_steps);
        self.set_limit(limit);
        self.table.clear(if self.pieces.len() > 16 { 14 } else { 10 });
        let too_high = |(piece, &floor): (&Piece, &u64)| floor > piece.last || piece.size > limit;
        if self.pieces.iter().zip(&self.floors).any(too_high) {
            return (Some(false), 0);
        }
        let count = self.pieces.len();
        let all = if count == 0 { 0 } else { u64::MAX >> (64 - count) };
        self.floors.copy_within(..count, count);
        let found = self.solve(all, 1, poll);
        (found.ok(), self.steps)
    }

    /// Solves what is left to place, each part that nothing ties to the others alone.
    fn solve(&mut self, set: u64, row: usize, poll: &mut dyn FnMut(u64) -> bool) -> Result<bool, Stopped> {
        let mut rest = set;
        while rest != 0 {
            let (mut part, mut front) = (0, rest & rest.wrapping_neg());
            while front != 0 {
                part |= front;
                let next = each(front).fold(0, |next, piece| next | self.pieces[piece].rivals);
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
        loop {
            self.steps += 1;
            if self.steps > self.most_steps || (self.steps.is_multiple_of(POLL_EVERY) && !poll(self.steps)) {
                return Err(Stopped);
            }
            let now = self.key(part, row);
            if self.table.contains(now) {
                break;
            }
            key.get_or_insert(now);
            let Some(next) = self.choose(part, row) else {
                break;
            };
            let piece = self.pieces[next];
            let from = row * count;
            self.floors.copy_within(from..from + count, from + count);
            let offset = self.floors[from + next];
            if self.raise(piece.rivals & part, row + 1, offset + piece.size)
                && self.solve(part & !(1 << next), row + 1, poll)?
            {
                self.offsets[next] = offset;
                return Ok(true);
            }
            // It does not start here: one of its rivals goes below it.
            let lowest = self.lowest_end(piece.rivals & part, row);
            if !self.raise(1 << next, row, lowest) {
                break;
            }
        }
        if let Some(key) = key {
            self.table.insert(key);
        }
        Ok(false)
    }

    /// Raises floors; says whether everything may still start there.
    fn raise(&mut self, pieces: u64, row: usize, floor: u64) -> bool {
        let count = self.pieces.len();
        each(pieces).all(|piece| {
            let now = &mut self.floors[row * count + piece];
            if *now < floor {
                let of = &self.pieces[piece];
                match align_up(floor, of.alignment).filter(|&raised| raised <= of.last) {
                    Some(raised) => *now = raised,
                    None => return false,
                }
            }
            true
        })
    }

    /// The lowest end that one of them can have.
    fn lowest_end(&self, pieces: u64, row: usize) -> u64 {
        let floors = &self.floors[row * self.pieces.len()..];
        let ends = each(pieces).map(|piece| floors[piece] + self.pieces[piece].size);
        ends.min().unwrap_or(u64::MAX)
    }

    /// The piece to decide on: of the clique with the fewest bytes to spare, the lowest and of those the largest; if
    /// something else has to be decided before, that. `None` if some clique passes the limit.
    fn choose(&mut self, part: u64, row: usize) -> Option<usize> {
        let mut tightest = (u64::MAX, part);
        for index in 0..self.cliques.len() {
            let clique = self.cliques[index] & part;
            if clique & clique.wrapping_sub(1) == 0 {
                continue;
            }
            let end = self.stack(clique, row, self.limit);
            let slack = self.limit.checked_sub(end)?;
            if slack < tightest.0 {
                tightest = (slack, clique);
            }
        }
        let floors = &self.floors[row * self.pieces.len()..];
        let size = |piece: usize| self.pieces[piece].size;
        let lowest = each(tightest.1).min_by_key(|&piece| (floors[piece], !size(piece)));
        let mut next = lowest.expect("a part has pieces");
        // Down to what starts before any of its rivals can end.
        loop {
            let rivals = each(self.pieces[next].rivals & part);
            let below = rivals.filter(|&rival| floors[rival] + size(rival) <= floors[next]);
            match below.min_by_key(|&rival| (floors[rival] + size(rival), rival)) {
                Some(rival) => next = rival,
                None => return Some(next),
            }
        }
    }

    /// The lowest end of a clique's members, one above the other, each from its floor; or something lower that is easier to know.
    fn stack(&mut self, clique: u64, row: usize, limit: u64) -> u64 {
        let count = self.pieces.len();
        let floors = &self.floors[row * count..(row + 1) * count];
        let (mut sum, mut padding, mut lowest, mut highest) = (0u64, 0u64, u64::MAX, 0u64);
        for piece in each(clique) {
            let of = &self.pieces[piece];
            sum += of.size;
            padding += of.alignment.get() - self.grain.min(of.alignment.get());
            lowest = lowest.min(floors[piece]);
            highest = highest.max(floors[piece]);
        }
        if lowest == highest && padding == 0 {
            return lowest + sum;
        }
        // In any order they end by then.
        if highest.saturating_add(sum).saturating_add(padding) <= limit && limit < u64::MAX {
            return lowest + sum;
        }
        let members = clique.count_ones() as usize;
        if members > STACKED {
            return self.stack_by_floor(clique, row);
        }
        // Of every subset, the lowest end over whoever is on top.
        let mut of = [0usize; STACKED];
        for (place, piece) in each(clique).enumerate() {
            of[place] = piece;
        }
        self.stacks.clear();
        self.stacks.push(0);
        for subset in 1usize..1 << members {
            let mut least = u64::MAX;
            let mut tops = subset;
            while tops != 0 {
                let place = tops.trailing_zeros() as usize;
                tops &= tops - 1;
                let piece = &self.pieces[of[place]];
                let below = self.stacks[subset & !(1 << place)];
                if below == u64::MAX {
                    continue;
                }
                let start = align_up(below.max(floors[of[place]]), piece.alignment);
                if let Some(start) = start.filter(|&start| start <= piece.last) {
                    least = least.min(start + piece.size);
                }
            }
            self.stacks.push(least);
        }
        self.stacks[(1 << members) - 1]
    }

    /// The same without a look at alignments: from the lowest floor to the highest.
    fn stack_by_floor(&mut self, clique: u64, row: usize) -> u64 {
        let floors = &self.floors[row * self.pieces.len()..];
        let (mut left, mut end) = (clique, 0u64);
        while left != 0 {
            let lowest = each(left).min_by_key(|&piece| floors[piece]);
            let lowest = lowest.expect("something is left");
            end = end.max(floors[lowest]) + self.pieces[lowest].size;
            left &= !(1 << lowest);
        }
        end
    }

    /// What is left to place, and from where.
    fn key(&self, part: u64, row: usize) -> u128 {
        let floors = &self.floors[row * self.pieces.len()..];
        each(part).fold(Table::START, |key, piece| {
            key.wrapping_add(self.words[piece].wrapping_mul(u128::from(floors[piece]) + 1))
        })
    }

    /// Offsets of all units; those that are in nobody's way are as low as they may be.
    fn write(&self, problem: &Problem, offsets: &mut Vec<u64>) {
        offsets.clear();
        offsets.extend(problem.units.iter().map(|unit| {
            let (low, _) = unit.bounds();
            align_up(low, unit.alignment).expect(ROOM)
        }));
        for (piece, &offset) in self.pieces.iter().zip(&self.offsets) {
            offsets[piece.unit as usize] = offset;
        }
    }
}

/// Whether alignments may open gaps.
pub(super) fn is_padded(problem: &Problem) -> bool {
    let mut units = problem.units.iter().filter(|unit| unit.size > 0);
    let grain = units.clone().fold(0, |grain, unit| gcd(grain, unit.size));
    units.any(|unit| !grain.is_multiple_of(unit.alignment.get()))
}

/// The positions of the bits that are set, ascending.
fn each(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = bits.trailing_zeros();
        bits &= bits.checked_sub(1)?;
        Some(lowest as usize)
    })
}
