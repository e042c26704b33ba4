//! Glues pieces that are probably adjacent, since there is not a byte to spare, then searches the reduced problem.
//!
//! ```text
//! ┌── a ──┬─ b ─┐        at step t both sides are full: between the items live across t, what ends and what begins fills the
//! ├───────┤     │        same bytes. The smallest subsets of equal size on both sides are assumed to form one *stretch*. Within it,
//! │   c   │     │        items of the same lifetime are stacked. The items that follow some items, stretch by stretch, until all
//! └───────┴─────┘        live ones end at one step, form a rectangle: it is searched separately, then treated as one piece.
//!         t
//! ```
//! Equal sums may be a coincidence, so this finds packings but proves nothing.

use super::exact::{Exact, RunResult, gcd, mix};
use super::problem::Unit;
use super::search_state::SearchState;
use super::{Item, Problem};
use crate::units::{Alignment, Bytes, CompactSort, Span, Step};

/// Maximum number of pieces on one side of a step; with more there are too many subsets.
const MAX_PIECES_PER_SIDE: usize = 14;
/// Maximum number of pieces of a rectangle.
const MAX_PIECES: usize = 32;
/// Maximum number of pieces with which a rectangle begins.
const MAX_BEGINS: usize = 3;
/// Budget of steps for the search of a rectangle.
const STEPS: u64 = 1000;
const ATTEMPTS: u64 = 8;

/// A rectangle of pieces.
#[derive(Debug)]
struct Block {
    span: Span,
    size: u64,
    alignment: Alignment,
    /// Units and their offsets in the block; empty once the block has become part of another one.
    parts: Vec<(u32, u64)>,
}

/// Blocks that end at a step, and those that begin there.
type Sides = [Vec<u32>; 2];

/// The state of gluing.
#[derive(Debug)]
struct Glue<'a> {
    exact: &'a mut Exact,
    blocks: Vec<Block>,
    steps: Vec<Step>,
    /// For each step, the blocks that end there, and those that begin there.
    sides: Vec<Sides>,
    /// For each step, its stretches: groups of blocks that end or begin there and fill the same bytes; `None` until they are
    /// computed.
    stretches: Vec<Option<Vec<Sides>>>,
    /// For each step, true if the live sizes just before and just after it both sum to the target height.
    is_full: Vec<bool>,
    /// A common divisor of all sizes.
    grain: u64,
    spent: u64,
}

/// Looks for a packing of plain items at the lower bound, after gluing as many items as possible; `offsets` is scratch memory.
pub(super) fn search_glued(
    problem: &Problem,
    exact: &mut Exact,
    share: u64,
    offsets: &mut Vec<u64>,
    search: &mut SearchState<'_>,
) {
    // A different order finds different stretches if several are possible.
    for attempt in 0..ATTEMPTS {
        let attempt = attempt ^ search.budget << 3;
        if search.is_over() || !search_once(problem, exact, share / ATTEMPTS, attempt, offsets, search) {
            return;
        }
    }
}

/// Makes one attempt; returns true if anything could be glued.
fn search_once(
    problem: &Problem,
    exact: &mut Exact,
    share: u64,
    attempt: u64,
    offsets: &mut Vec<u64>,
    search: &mut SearchState<'_>,
) -> bool {
    let mut glue = Glue::new(problem, search.bound, exact, attempt);
    // Cycles through the steps until a whole round changes nothing.
    let (mut step, mut unchanged) = (mix(attempt) as usize % glue.steps.len().max(1), 0);
    while unchanged < glue.steps.len() && glue.spent < share {
        if glue.join_at(step) {
            unchanged = 0;
        } else {
            (step, unchanged) = ((step + 1) % glue.steps.len(), unchanged + 1);
        }
        if !search.report(glue.spent) {
            break;
        }
    }
    let mut blocks: Vec<u32> = (0..glue.blocks.len() as u32).collect();
    blocks.retain(|&id| !glue.blocks[id as usize].parts.is_empty());
    if blocks.len() == problem.units.len() {
        return false;
    }
    let left = share.saturating_sub(glue.spent);
    let found = glue.pack(&blocks, search.bound, left, &mut |steps| search.report(steps));
    search.steps += glue.spent;
    if let Some(of_blocks) = found {
        problem.lowest_offsets(offsets);
        for (&id, above) in blocks.iter().zip(of_blocks) {
            for &(unit, offset) in &glue.blocks[id as usize].parts {
                offsets[unit as usize] = above + offset;
            }
        }
        search.keep(problem, offsets);
    }
    true
}

impl Glue<'_> {
    fn new<'a>(problem: &Problem, height: u64, exact: &'a mut Exact, attempt: u64) -> Glue<'a> {
        let units = (0..).zip(&problem.units).filter(|(_, unit)| unit.takes_bytes());
        let mut units: Vec<(u32, &Unit)> = units.collect();
        units.compact_sort_by_key(|&(index, _)| mix(attempt << 32 | u64::from(index)));
        let hulls = units.iter().map(|(_, unit)| unit.hull);
        let mut steps: Vec<Step> = hulls.flat_map(|hull| [hull.first, hull.end]).collect();
        steps.compact_sort();
        steps.dedup();
        let mut glue = Glue {
            exact,
            blocks: Vec::new(),
            sides: vec![Sides::default(); steps.len()],
            stretches: vec![None; steps.len()],
            is_full: vec![false; steps.len()],
            steps,
            grain: units.iter().fold(0, |grain, (_, unit)| gcd(grain, unit.size)),
            spent: problem.units.len() as u64 / 16,
        };
        for (index, unit) in units {
            glue.enter(Block {
                span: unit.hull,
                size: unit.size,
                alignment: unit.alignment,
                parts: vec![(index, 0)],
            });
        }
        let (mut live, mut before) = (0, 0);
        for (sides, is_full) in glue.sides.iter().zip(&mut glue.is_full) {
            let size = |&id: &u32| glue.blocks[id as usize].size;
            let sizes = |side: usize| sides[side].iter().map(size).sum::<u64>();
            live = live + sizes(1) - sizes(0);
            *is_full = live == height && before == height;
            before = live;
        }
        glue
    }

    fn index(&self, step: Step) -> usize {
        self.steps.partition_point(|&other| other < step)
    }

    fn enter(&mut self, block: Block) {
        let id = self.blocks.len() as u32;
        for (side, step) in [(1, block.span.first), (0, block.span.end)] {
            let step = self.index(step);
            self.sides[step][side].push(id);
            self.stretches[step] = None;
        }
        self.blocks.push(block);
    }

    /// Joins blocks into one, each at its given offset, if alignments allow it; returns true if they do.
    fn join(&mut self, span: Span, size: u64, members: &[(u32, u64)]) -> bool {
        let mut alignment = Some(Alignment::ONE);
        let mut parts = Vec::new();
        for &(id, above) in members {
            let of = &self.blocks[id as usize];
            // If sizes are not multiples of the alignment, all members must start at the start of the block.
            if self.grain % of.alignment.get() != 0 && members.iter().any(|member| member.1 != 0) {
                return false;
            }
            alignment = alignment.and_then(|alignment| alignment.lcm(of.alignment));
            parts.extend(of.parts.iter().map(|&(unit, offset)| (unit, offset + above)));
        }
        let Some(alignment) = alignment else {
            return false;
        };
        for &(id, _) in members {
            self.blocks[id as usize].parts.clear();
            let span = self.blocks[id as usize].span;
            for (side, step) in [(1, span.first), (0, span.end)] {
                let step = self.index(step);
                self.sides[step][side].retain(|&other| other != id);
                self.stretches[step] = None;
            }
        }
        self.enter(Block {
            span,
            size,
            alignment,
            parts,
        });
        true
    }

    /// Glues blocks that begin at a step; returns true if any could be glued.
    fn join_at(&mut self, step: usize) -> bool {
        self.spent += 1;
        for [_, side] in self.stretches_at(step) {
            if self.stack(&side) {
                return true;
            }
        }
        let begins = self.sides[step][1].clone();
        let mut chosen = Vec::new();
        self.join_from(&begins, &mut chosen)
    }

    /// Glues a rectangle that begins with the chosen blocks, or with these and some of `begins`; returns true if there is one.
    fn join_from(&mut self, begins: &[u32], chosen: &mut Vec<u32>) -> bool {
        if !chosen.is_empty() && self.rectangle(chosen) {
            return true;
        }
        let most = if chosen.len() < MAX_BEGINS {
            MAX_PIECES_PER_SIDE
        } else {
            0
        };
        for (position, &id) in begins.iter().enumerate().take(most) {
            chosen.push(id);
            if self.join_from(&begins[position + 1..], chosen) {
                return true;
            }
            chosen.pop();
        }
        false
    }

    /// Glues the blocks `begins` and all that follow them, if they form a rectangle; returns true if they do.
    fn rectangle(&mut self, begins: &[u32]) -> bool {
        let size = |id: &u32| self.blocks[*id as usize].size;
        let height = begins.iter().map(size).sum();
        let (mut live, mut members) = (begins.to_vec(), begins.to_vec());
        let first = self.blocks[begins[0] as usize].span.first;
        loop {
            let end = |id: &u32| self.blocks[*id as usize].span.end;
            let next = live.iter().map(end).min().expect("some block is live");
            // Blocks that begin and end together are a stack, for which there is no evidence yet.
            if members.len() > begins.len() && live.iter().all(|id| end(id) == next) {
                let found = self.pack(&members, height, STEPS, &mut |_| true);
                let Some(offsets) = found else {
                    return false;
                };
                let members: Vec<(u32, u64)> = members.into_iter().zip(offsets).collect();
                return self.join(Span { first, end: next }, height, &members);
            }
            for [ends, begins] in self.stretches_at(self.index(next)) {
                let inside = ends.iter().filter(|id| live.contains(id)).count();
                if inside > 0 && inside < ends.len() || members.len() > MAX_PIECES {
                    return false;
                }
                if inside > 0 {
                    live.retain(|id| !ends.contains(id));
                    live.extend_from_slice(&begins);
                    members.extend(begins);
                }
            }
            if live.iter().any(|id| self.blocks[*id as usize].span.end == next) {
                return false;
            }
        }
    }

    /// Returns offsets of blocks within a height, if they are found within the given number of steps.
    fn pack(
        &mut self,
        blocks: &[u32],
        height: u64,
        most: u64,
        poll: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Vec<u64>> {
        let blocks = blocks.iter().map(|&id| &self.blocks[id as usize]);
        let items = blocks.map(|block| Item::new(block.span, Bytes(block.size), block.alignment));
        let problem = Problem::new(items.collect()).ok()?;
        self.exact.model.reduce(&problem, None);
        let (outcome, steps) = self.exact.fit(height, most, poll);
        self.spent += steps;
        let mut offsets = Vec::new();
        self.exact.write(&problem, &mut offsets);
        (outcome == RunResult::Packed).then_some(offsets)
    }

    /// Returns the stretches of a step, the smallest first; empty if the step is not full.
    fn stretches_at(&mut self, step: usize) -> Vec<Sides> {
        if let Some(known) = &self.stretches[step] {
            return known.clone();
        }
        let [mut ends, mut begins] = self.sides[step].clone();
        let mut found = Vec::new();
        let is_full = self.is_full[step];
        while let Some(stretch) = self.smallest_stretch(&ends, &begins).filter(|_| is_full) {
            ends.retain(|id| !stretch[0].contains(id));
            begins.retain(|id| !stretch[1].contains(id));
            found.push(stretch);
        }
        self.stretches[step] = Some(found.clone());
        found
    }

    /// Returns the smallest subsets of both sides whose sizes have equal sums.
    fn smallest_stretch(&self, ends: &[u32], begins: &[u32]) -> Option<Sides> {
        if ends.len().max(begins.len()) > MAX_PIECES_PER_SIDE {
            return None;
        }
        let sums = |side: &[u32]| {
            // A sum above the bits of its parts.
            let mut sums = vec![0u128];
            for (bit, &id) in side.iter().enumerate() {
                let added = u128::from(self.blocks[id as usize].size) << 32 | 1 << bit;
                for index in 0..sums.len() {
                    sums.push(sums[index] + added);
                }
            }
            sums.sort_unstable();
            let split = |sum: u128| ((sum >> 32) as u64, sum as u32);
            sums.into_iter().map(split).collect::<Vec<_>>()
        };
        let others = sums(begins);
        let mut best: Option<(u32, u32, u32)> = None;
        for (sum, parts) in sums(ends).into_iter().skip(1) {
            let from = others.partition_point(|other| other.0 < sum);
            for &(_, other) in others[from..].iter().take_while(|other| other.0 == sum) {
                let count = parts.count_ones() + other.count_ones();
                if best.is_none_or(|best| (count, parts, other) < best) {
                    best = Some((count, parts, other));
                }
            }
        }
        let (_, parts, other) = best?;
        let pick = |side: &[u32], parts: u32| {
            let picked = side.iter().enumerate().filter(|(bit, _)| parts >> bit & 1 == 1);
            picked.map(|(_, &id)| id).collect()
        };
        Some([pick(ends, parts), pick(begins, other)])
    }

    /// Stacks blocks on one side of a stretch that have the same lifetime and end in one stretch; returns true if any were stacked.
    fn stack(&mut self, side: &[u32]) -> bool {
        for &id in side {
            let span = self.blocks[id as usize].span;
            let end = self.index(span.end);
            let of_end = self.stretches_at(end).into_iter().find(|of| of[0].contains(&id));
            let same = side.iter().filter(|&&other| {
                let ends_with = of_end.as_ref().is_none_or(|of| of[0].contains(&other));
                self.blocks[other as usize].span == span && ends_with
            });
            let mut top = 0;
            let members = same.map(|&id| {
                top += self.blocks[id as usize].size;
                (id, top - self.blocks[id as usize].size)
            });
            let members: Vec<(u32, u64)> = members.collect();
            if members.len() > 1 && self.join(span, top, &members) {
                return true;
            }
        }
        false
    }
}
