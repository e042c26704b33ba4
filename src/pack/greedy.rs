//! Placing the largest first: by size alone, or step by step from the fullest.

use std::cmp::Reverse;

use super::Problem;
use super::birth::{Fit, choose};
use crate::units::Span;

/// Scratch memory of the greedy orders.
#[derive(Debug, Default)]
pub(super) struct Greedy {
    order: Vec<u32>,
    /// Every life that is placed, by ascending offset.
    placed: Vec<Slot>,
    /// Marks the rivals of the unit that is being placed.
    rival_of: Vec<u32>,
    steps: Vec<(Reverse<u64>, u32)>,
    taken: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    offset: u64,
    end: u64,
    span: Span,
    unit: u32,
}

impl Greedy {
    /// Largest first, each in the tightest gap.
    pub(super) fn by_size(&mut self, problem: &Problem, offsets: &mut Vec<u64>) {
        self.order.clear();
        self.order.extend(0..problem.units.len() as u32);
        self.order.sort_unstable_by_key(|&index| {
            let unit = &problem.units[index as usize];
            (Reverse(unit.size), unit.hull.first, index)
        });
        self.place(problem, offsets);
    }

    /// The step with the most live bytes first; in it, largest first, each in the tightest gap.
    ///
    /// Source: Greedy by Breadth, Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
    pub(super) fn by_breadth(&mut self, problem: &Problem, offsets: &mut Vec<u64>) {
        let units = &problem.units;
        let mut births: Vec<u32> = units.iter().map(|unit| unit.hull.first.0).collect();
        births.sort_unstable();
        births.dedup();
        self.steps.clear();
        for step in births {
            let span = Span::new(step, step + 1);
            let live = units.iter().filter(|unit| problem.meets(unit, span));
            self.steps.push((Reverse(live.map(|unit| unit.size).sum()), step));
        }
        self.steps.sort_unstable();
        self.taken.clear();
        self.taken.resize(units.len(), false);
        self.order.clear();
        for &(_, step) in &self.steps {
            let first = self.order.len();
            for (index, unit) in units.iter().enumerate() {
                if !self.taken[index] && problem.meets(unit, Span::new(step, step + 1)) {
                    self.taken[index] = true;
                    self.order.push(index as u32);
                }
            }
            self.order[first..].sort_unstable_by_key(|&index| (Reverse(units[index as usize].size), index));
        }
        let rest = self.taken.iter().enumerate().filter(|(_, taken)| !**taken);
        self.order.extend(rest.map(|(index, _)| index as u32));
        self.place(problem, offsets);
    }

    fn place(&mut self, problem: &Problem, offsets: &mut Vec<u64>) {
        offsets.clear();
        offsets.resize(problem.units.len(), 0);
        self.placed.clear();
        self.rival_of.clear();
        self.rival_of.resize(problem.units.len(), u32::MAX);
        for (index, unit) in problem.units.iter().enumerate() {
            if let Some(offset) = unit.fixed {
                offsets[index] = offset;
                self.insert(problem, index as u32, offset);
            }
        }
        for position in 0..self.order.len() {
            let index = self.order[position];
            let unit = &problem.units[index as usize];
            if unit.fixed.is_some() {
                continue;
            }
            for &rival in unit.rivals.of(&problem.rivals) {
                self.rival_of[rival as usize] = index;
            }
            let blocks = self
                .placed
                .iter()
                .filter(|slot| problem.meets(unit, slot.span) || self.rival_of[slot.unit as usize] == index);
            let blocks = blocks.map(|slot| (slot.offset, slot.end));
            let offset = choose(Fit::Best, blocks, unit.size, unit.alignment);
            offsets[index as usize] = offset;
            self.insert(problem, index, offset);
        }
    }

    fn insert(&mut self, problem: &Problem, index: u32, offset: u64) {
        let unit = &problem.units[index as usize];
        if unit.size == 0 {
            return;
        }
        let position = self.placed.partition_point(|slot| slot.offset <= offset);
        for span in problem.spans(unit) {
            let slot = Slot {
                offset,
                end: offset + unit.size,
                span,
                unit: index,
            };
            self.placed.insert(position, slot);
        }
    }
}
