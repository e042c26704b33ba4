//! Placing in the order of births: only what is alive can be in the way.

use super::{Problem, gap};
use crate::units::{Alignment, Span};

/// How an offset is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The lowest gap.
    First,
    /// The smallest gap.
    Best,
}

/// Scratch memory of the birth orders.
#[derive(Debug, Default)]
pub(super) struct ByBirth {
    /// Units in the order of placing.
    order: Vec<u32>,
    /// What lives now or will, by ascending offset.
    alive: Vec<Slot>,
    /// What is in the way of a unit that cannot be placed by looking at `alive` alone.
    blocks: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    offset: u64,
    end: u64,
    span: Span,
}

/// No offset yet. No unit can be there: offset and size together stay below 2^64 - 1 unless the size is 0.
const UNPLACED: u64 = u64::MAX;

impl ByBirth {
    /// Offsets of all units.
    pub(super) fn place(&mut self, problem: &Problem, fit: Fit, offsets: &mut Vec<u64>) {
        let units = &problem.units;
        offsets.clear();
        offsets.extend(units.iter().map(|unit| unit.fixed.unwrap_or(UNPLACED)));
        self.alive.clear();
        self.order.clear();
        for (index, unit) in units.iter().enumerate() {
            match unit.fixed {
                Some(offset) => self.insert_all(problem, index, offset),
                None => self.order.push(index as u32),
            }
        }
        let key = |&index: &u32| {
            let unit = &units[index as usize];
            (unit.hull.first, std::cmp::Reverse(unit.size), index)
        };
        if !self.order.is_sorted_by_key(key) {
            self.order.sort_unstable_by_key(key);
        }
        let mut next_death = 0;
        for position in 0..self.order.len() {
            let index = self.order[position] as usize;
            let unit = &units[index];
            let span = unit.hull;
            if next_death <= span.first.0 {
                self.alive.retain(|slot| slot.span.end > span.first);
                next_death = self
                    .alive
                    .iter()
                    .map(|slot| slot.span.end.0)
                    .min()
                    .unwrap_or(u32::MAX);
            }
            let offset = if unit.members.len() == 1 && unit.rivals.is_empty() {
                let blocks = self.alive.iter().filter(|slot| slot.span.overlaps(span));
                choose(
                    fit,
                    blocks.map(|slot| (slot.offset, slot.end)),
                    unit.size,
                    unit.alignment,
                )
            } else {
                self.gather(problem, index, offsets);
                choose(fit, self.blocks.iter().copied(), unit.size, unit.alignment)
            };
            offsets[index] = offset;
            self.insert_all(problem, index, offset);
            next_death = next_death.min(span.end.0);
        }
    }

    /// What is in the way of a group, or of a unit with conflicts.
    fn gather(&mut self, problem: &Problem, index: usize, offsets: &[u64]) {
        let unit = &problem.units[index];
        self.blocks.clear();
        let alive = self.alive.iter().filter(|slot| problem.meets(unit, slot.span));
        self.blocks.extend(alive.map(|slot| (slot.offset, slot.end)));
        for &rival in unit.rivals.of(&problem.rivals) {
            let (offset, size) = (offsets[rival as usize], problem.units[rival as usize].size);
            if offset != UNPLACED && size > 0 {
                self.blocks.push((offset, offset + size));
            }
        }
        self.blocks.sort_unstable();
    }

    /// Enters every life of a unit that is placed.
    fn insert_all(&mut self, problem: &Problem, index: usize, offset: u64) {
        let unit = &problem.units[index];
        if unit.size == 0 {
            return;
        }
        let position = self.alive.partition_point(|slot| slot.offset <= offset);
        let slot = |span| Slot {
            offset,
            end: offset + unit.size,
            span,
        };
        if unit.members.len() == 1 {
            if !unit.hull.is_empty() {
                self.alive.insert(position, slot(unit.hull));
            }
        } else {
            for span in problem.spans(unit).filter(|span| !span.is_empty()) {
                self.alive.insert(position, slot(span));
            }
        }
    }
}

pub(super) fn choose(
    fit: Fit,
    blocks: impl Iterator<Item = (u64, u64)>,
    size: u64,
    alignment: Alignment,
) -> u64 {
    let offset = match fit {
        Fit::First => gap::lowest(blocks, size, alignment),
        Fit::Best => gap::tightest(blocks, size, alignment),
    };
    offset.expect("a problem whose sizes and alignments sum below 2^64 has no offset past it")
}
