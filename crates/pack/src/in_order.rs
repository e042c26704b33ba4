//! Placement in a given order, with fixed offsets, groups, bounds and conflicts.

use tileheap_units::CompactSort;

use super::gap::{self, FitPolicy, UNPLACED};
use super::timetable::{MANY_UNITS, Timetable};
use super::{PartialPacking, Problem};
use crate::lists::refill;
use crate::units::Bytes;

/// Scratch memory of placement in order.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    /// The placed lifetimes, if there are few.
    shelf: PartialPacking,
    /// The placed lifetimes, if there are many.
    timetable: Timetable,
    /// Scratch memory: the bytes `[offset, end)` that a group, or a unit with conflicts or a lowest offset, must avoid.
    blocks: Vec<(u64, u64)>,
}

impl InOrder {
    /// Writes the offsets of all units: fixed units first, then units with a highest offset, then the rest; each in the order of `order`.
    pub(super) fn place(&mut self, problem: &Problem, order: &[u32], fit: FitPolicy, offsets: &mut Vec<u64>) {
        refill(
            offsets,
            problem.units.iter().map(|unit| unit.fixed.unwrap_or(UNPLACED)),
        );
        self.place_around(problem, order, fit, offsets);
    }

    /// Like [`Self::place`], around the units that already have an offset.
    pub(super) fn place_around(
        &mut self,
        problem: &Problem,
        order: &[u32],
        fit: FitPolicy,
        offsets: &mut [u64],
    ) {
        let units = &problem.units;
        self.shelf.clear();
        if is_many(problem) {
            let hulls = || units.iter().map(|unit| unit.hull);
            let horizon = hulls().map(|hull| hull.end.0).max().unwrap_or(0);
            let total: u64 = hulls().map(|hull| u64::from(hull.len())).sum();
            let longest = hulls().map(|hull| hull.len()).max().unwrap_or(0);
            let average = (total / units.len() as u64) as u32;
            self.timetable.clear(horizon, average, longest);
        }
        for (index, &offset) in offsets.iter().enumerate() {
            if offset != UNPLACED {
                self.enter(problem, index as u32, offset);
            }
        }
        if problem.is_irregular() && units.iter().any(|unit| unit.high.is_some()) {
            let bounded = |&&index: &&u32| units[index as usize].high.is_some();
            for &index in order.iter().filter(bounded) {
                self.place_unit(problem, index, fit, offsets);
            }
        }
        for &index in order {
            self.place_unit(problem, index, fit, offsets);
        }
    }

    fn place_unit(&mut self, problem: &Problem, index: u32, fit: FitPolicy, offsets: &mut [u64]) {
        if offsets[index as usize] != UNPLACED {
            return;
        }
        let unit = &problem.units[index as usize];
        let conflicts = unit.conflicts.of(&problem.unit_conflicts);
        let (size, alignment) = (unit.size, unit.alignment);
        let many = is_many(problem);
        let offset = if size == 0 {
            gap::align_up(unit.low, alignment).expect(gap::ROOM)
        } else if unit.members.len() == 1 && conflicts.is_empty() && unit.low == 0 {
            if many {
                gap::choose(fit, self.timetable.blocks(unit.hull), size, alignment)
            } else {
                gap::choose(fit, self.shelf.blocks(unit.hull), size, alignment)
            }
        } else {
            self.blocks.clear();
            if unit.low > 0 {
                self.blocks.push((0, unit.low));
            }
            for span in problem.spans(unit) {
                if many {
                    self.blocks.extend(self.timetable.blocks(span));
                } else {
                    self.blocks.extend(self.shelf.blocks(span));
                }
            }
            problem.extend_with_conflicts(&mut self.blocks, conflicts, offsets);
            self.blocks.compact_sort();
            gap::choose(fit, self.blocks.iter().copied(), size, alignment)
        };
        offsets[index as usize] = offset;
        self.enter(problem, index, offset);
    }

    /// Adds a placed unit to the index, with each of its spans.
    fn enter(&mut self, problem: &Problem, index: u32, offset: u64) {
        let unit = &problem.units[index as usize];
        for span in problem.spans(unit) {
            if is_many(problem) {
                self.timetable.insert(span, offset, unit.size);
            } else {
                self.shelf.place(index, span, Bytes(offset), Bytes(unit.size));
            }
        }
    }
}

/// Returns true if an index by time is faster than scanning all blocks.
fn is_many(problem: &Problem) -> bool {
    problem.units.len() >= MANY_UNITS
}
