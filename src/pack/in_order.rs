//! Placing in any order, whatever is fixed, grouped or in conflict.

use super::gap::{self, Fit};
use super::{Problem, Shelf};
use crate::units::Bytes;

/// No offset yet. Nothing that takes bytes can be there.
pub(super) const UNPLACED: u64 = u64::MAX;

/// Scratch memory of placing in order.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    /// Every life that is placed.
    shelf: Shelf,
    /// What is in the way of a group, or of a unit with conflicts.
    blocks: Vec<(u64, u64)>,
}

impl InOrder {
    /// Offsets of all units: what is fixed first, then the units of `order` one after another.
    pub(super) fn place(&mut self, problem: &Problem, order: &[u32], fit: Fit, offsets: &mut Vec<u64>) {
        let units = &problem.units;
        offsets.clear();
        offsets.extend(units.iter().map(|unit| unit.fixed.unwrap_or(UNPLACED)));
        self.shelf.clear();
        for (index, unit) in units.iter().enumerate() {
            if let Some(offset) = unit.fixed {
                self.enter(problem, index as u32, offset);
            }
        }
        for &index in order {
            let unit = &units[index as usize];
            if unit.fixed.is_some() {
                continue;
            }
            let rivals = unit.rivals.of(&problem.rivals);
            let offset = if unit.size == 0 {
                0
            } else if unit.members.len() == 1 && rivals.is_empty() {
                gap::choose(fit, self.shelf.blocks(unit.hull), unit.size, unit.alignment)
            } else {
                self.blocks.clear();
                for span in problem.spans(unit) {
                    self.blocks.extend(self.shelf.blocks(span));
                }
                problem.extend_with_rivals(&mut self.blocks, rivals, offsets);
                self.blocks.sort_unstable();
                gap::choose(fit, self.blocks.iter().copied(), unit.size, unit.alignment)
            };
            offsets[index as usize] = offset;
            self.enter(problem, index, offset);
        }
    }

    /// Enters every life of a unit.
    fn enter(&mut self, problem: &Problem, index: u32, offset: u64) {
        let unit = &problem.units[index as usize];
        for span in problem.spans(unit) {
            self.shelf.place(index, span, Bytes(offset), Bytes(unit.size));
        }
    }
}
