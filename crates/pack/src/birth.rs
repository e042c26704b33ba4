//! Placement in order of first use: only live units conflict, so the free gaps are all the state needed.
//!
//! ```text
//! offset
//!   9 ┤     ┌── c ──┐ ┊ gap [9, ∞)      d is born at the dotted line: b is dead by then, and the free
//!   5 ┤┌ b ┐└───────┘ ┊ gap [3, 5)      bytes below c are one gap, wherever b ended
//!   3 ┤├── a ─────────┊──┐
//!   0 ┼┴──────────────┴──┴──► steps
//! ```

use super::Problem;
use super::by_step::ByStep;
use super::gap::{self, FitPolicy, UNPLACED};
use super::in_order::InOrder;
use crate::lists::reset;
use crate::units::{Alignment, CompactSort};

/// Scratch memory for placement in order of first use.
#[derive(Debug, Default)]
pub(super) struct ByBirth {
    by_step: ByStep,
    /// Units in the order of placement.
    births: Vec<u32>,
    /// Units that take bytes at some step, by last use.
    deaths: Vec<u32>,
    gaps: Gaps,
    /// Blocks that conflict with a unit, as `[offset, end)`.
    blocks: Vec<(u64, u64)>,
}

impl ByBirth {
    /// Writes the offsets of all units, which are placed in order of first use: at the same step, units with longer lifetimes first; units with empty
    /// lifetimes last.
    pub(super) fn place(
        &mut self,
        problem: &Problem,
        fit: FitPolicy,
        in_order: &mut InOrder,
        offsets: &mut Vec<u64>,
    ) {
        self.sort(problem);
        // Fixed units and groups with gaps block bytes before their first use; a gap may lie outside an item's bounds.
        if problem.is_irregular() {
            in_order.place(problem, &self.births, fit, offsets);
        } else {
            self.sweep(problem, fit, offsets);
        }
    }

    /// Returns the units in the order of placement.
    pub(super) fn order(&mut self, problem: &Problem) -> &[u32] {
        self.sort(problem);
        &self.births
    }

    fn sort(&mut self, problem: &Problem) {
        let units = &problem.units;
        let last = units.iter().map(|unit| unit.hull.end.0).max().unwrap_or(0);
        let all = 0..units.len() as u32;
        let takes_bytes = |&index: &u32| units[index as usize].takes_bytes();
        let living = all.clone().rev().filter(takes_bytes);
        let end = |index| units[index as usize].hull.end.0;
        self.by_step.sort(living, end, last, &mut self.deaths);
        // From the last death to the first, then sorted stably by birth.
        let longest_first = self.deaths.iter().rev().copied();
        let first = |index| units[index as usize].hull.first.0;
        self.by_step.sort(longest_first, first, last, &mut self.births);
        self.births
            .extend(all.filter(|&index| !units[index as usize].takes_bytes()));
    }

    fn sweep(&mut self, problem: &Problem, fit: FitPolicy, offsets: &mut Vec<u64>) {
        let units = &problem.units;
        self.gaps.clear();
        reset(offsets, units.len(), UNPLACED);
        let mut deaths = self.deaths.iter().map(|&index| index as usize).peekable();
        for index in self.births.iter().map(|&index| index as usize) {
            let unit = &units[index];
            // Deaths at a step come before the births there.
            while let Some(gone) = deaths.next_if(|&other| units[other].hull.end <= unit.hull.first) {
                self.gaps.release(offsets[gone], offsets[gone] + units[gone].size);
            }
            let conflicts = unit.conflicts.of(&problem.unit_conflicts);
            offsets[index] = if unit.size == 0 {
                0
            } else if !conflicts.is_empty() {
                self.blocks.clear();
                if unit.takes_bytes() {
                    self.blocks.extend(self.gaps.blocks());
                }
                problem.extend_with_conflicts(&mut self.blocks, conflicts, offsets);
                self.blocks.compact_sort();
                let offset = gap::choose(fit, self.blocks.iter().copied(), unit.size, unit.alignment);
                if unit.takes_bytes() {
                    self.gaps.take_at(offset, unit.size);
                }
                offset
            } else if unit.takes_bytes() {
                self.gaps.take(fit, unit.size, unit.alignment)
            } else {
                0
            };
        }
    }
}

/// The free bytes at one step.
#[derive(Debug, Default)]
struct Gaps {
    /// The gaps `[offset, end)` in ascending order: none is empty, and none touches another.
    gaps: Vec<(u64, u64)>,
}

impl Gaps {
    /// Frees all bytes.
    fn clear(&mut self) {
        self.gaps.clear();
        self.gaps.push((0, u64::MAX));
    }

    /// Takes bytes by first fit or best fit; returns their offset.
    fn take(&mut self, fit: FitPolicy, size: u64, alignment: Alignment) -> u64 {
        let fits = |&(index, &(start, end)): &(usize, &(u64, u64))| {
            // Most gaps are too small, whatever the alignment.
            if end - start < size {
                return None;
            }
            let offset = gap::align_up(start, alignment)?;
            (offset <= end && end - offset >= size).then_some((index, offset))
        };
        let found = match fit {
            FitPolicy::First => {
                let wide = |&(start, end): &(u64, u64)| end - start >= size;
                let mut rest = self.gaps.as_slice();
                std::iter::from_fn(|| {
                    rest = &rest[rest.iter().position(wide)?..];
                    let index = self.gaps.len() - rest.len();
                    let (gap, others) = rest.split_first()?;
                    rest = others;
                    Some((index, gap))
                })
                .find_map(|gap| fits(&gap))
            }
            FitPolicy::Best => {
                let mut best = None;
                let mut least = u64::MAX;
                for gap in self.gaps.iter().enumerate() {
                    let (_, &(start, end)) = gap;
                    let width = end - start;
                    // The last gap is unbounded, and is used only as a last resort.
                    let better = width < least && end < u64::MAX;
                    if width >= size && (better || best.is_none()) {
                        if let Some(here) = fits(&gap) {
                            (best, least) = (Some(here), width);
                            // An exact fit: no gap can be smaller.
                            if width == size {
                                break;
                            }
                        }
                    }
                }
                best
            }
        };
        let (index, offset) = found.expect(gap::ROOM);
        self.split(index, offset, size);
        offset
    }

    /// Takes `size` free bytes at `offset`.
    fn take_at(&mut self, offset: u64, size: u64) {
        let after = self.gaps.partition_point(|&(start, _)| start <= offset);
        self.split(after - 1, offset, size);
    }

    fn split(&mut self, index: usize, offset: u64, size: u64) {
        let (start, end) = self.gaps[index];
        let above = offset + size;
        match (start < offset, above < end) {
            (true, true) => {
                self.gaps[index].0 = above;
                self.gaps.insert(index, (start, offset));
            }
            (true, false) => self.gaps[index].1 = offset,
            (false, true) => self.gaps[index].0 = above,
            (false, false) => {
                self.gaps.remove(index);
            }
        }
    }

    /// Frees taken bytes.
    fn release(&mut self, offset: u64, end: u64) {
        let index = self.gaps.partition_point(|&(start, _)| start < offset);
        let below = index > 0 && self.gaps[index - 1].1 == offset;
        let above = index < self.gaps.len() && self.gaps[index].0 == end;
        match (below, above) {
            (true, true) => {
                self.gaps[index - 1].1 = self.gaps[index].1;
                self.gaps.remove(index);
            }
            (true, false) => self.gaps[index - 1].1 = end,
            (false, true) => self.gaps[index].0 = offset,
            (false, false) => self.gaps.insert(index, (offset, end)),
        }
    }

    /// Iterates over the taken bytes between the gaps, as `[offset, end)`.
    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut cursor = 0;
        self.gaps.iter().filter_map(move |&(start, end)| {
            let block = (cursor, start);
            cursor = end;
            (block.0 < block.1).then_some(block)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SplitMix64;
    use crate::units::{Bytes, Span};
    use crate::{Item, ProblemDesc};

    /// The sweep, which only tracks gaps, gives the same offsets as placing the units in the same order with a scan of all blocks.
    #[test]
    fn the_sweep_places_as_placing_in_order_does() {
        let mut random = SplitMix64::new(3);
        let (mut by_birth, mut in_order) = (ByBirth::default(), InOrder::default());
        let (mut swept, mut placed) = (Vec::new(), Vec::new());
        for round in 0..400 {
            let steps = random.pick(&[6, 40, 1_000_000]);
            let items = (0..60).map(|_| {
                let first = random.below(steps) as u32;
                let end = first + random.below(1 + steps / 4) as u32;
                let alignment = Alignment::new(random.pick(&[1, 2, 3, 7])).unwrap();
                Item::new(Span::new(first, end), Bytes(random.below(20)), alignment)
            });
            let mut desc = ProblemDesc::new(items.collect());
            for _ in 0..random.below(40) {
                let (a, b) = (random.below(60) as u32, random.below(60) as u32);
                if a != b {
                    desc.conflicts.push((a, b));
                }
            }
            let problem = desc.build().unwrap();
            for fit in [FitPolicy::First, FitPolicy::Best] {
                by_birth.place(&problem, fit, &mut in_order, &mut swept);
                in_order.place(&problem, &by_birth.births, fit, &mut placed);
                assert_eq!(swept, placed, "round {round}, {fit:?}");
            }
        }
    }
}
