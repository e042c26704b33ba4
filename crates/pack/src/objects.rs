//! ExecuTorch's greedy rule: shared objects, one above the other, each as large as the item that opened it.

use super::in_order::UNPLACED;
use super::{Problem, gap};

/// Scratch memory of the rule.
#[derive(Debug, Default)]
pub(super) struct Objects {
    objects: Vec<Object>,
    /// Of each unit the one that its object took in before, or [`NOBODY`].
    before: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Object {
    offset: u64,
    end: u64,
    /// The unit that it took in last.
    last: u32,
}

const NOBODY: u32 = u32::MAX;

impl Objects {
    /// Offsets of all units, which come largest first and are neither fixed nor bounded.
    ///
    /// A unit goes to the first object whose units all live at other times, at its start; else to the first in which there is
    /// room above all that live with it; else to a new one. Complexity: O(n²).
    ///
    /// Source: `exir/memory_planning.py` of pytorch/executorch at cff6f4d, `greedy` with overlapping allocations allowed.
    pub(super) fn place(&mut self, problem: &Problem, order: &[u32], offsets: &mut Vec<u64>) {
        offsets.clear();
        offsets.resize(problem.units.len(), UNPLACED);
        self.objects.clear();
        self.before.clear();
        self.before.resize(problem.units.len(), NOBODY);
        let mut height = 0;
        for &index in order {
            let unit = &problem.units[index as usize];
            if unit.size == 0 {
                offsets[index as usize] = 0;
                continue;
            }
            let before = &self.before;
            let place_in = |object: &Object, above_others: bool| {
                let next = |&unit: &u32| Some(before[unit as usize]).filter(|&unit| unit != NOBODY);
                let others = std::iter::successors(Some(object.last), next)
                    .filter(|&other| problem.interfere(other, index));
                let tops = others.map(|other| offsets[other as usize] + problem.units[other as usize].size);
                let top = tops.max();
                let start = match (top, above_others) {
                    (None, false) => object.offset,
                    (Some(top), true) => top,
                    _ => return None,
                };
                let offset = gap::align_up(start, unit.alignment)?;
                (offset + unit.size <= object.end).then_some(offset)
            };
            let objects = self.objects.iter().enumerate();
            let found = objects
                .clone()
                .find_map(|(number, object)| Some((number, place_in(object, false)?)))
                .or_else(|| {
                    objects
                        .clone()
                        .find_map(|(number, object)| Some((number, place_in(object, true)?)))
                });
            let offset = match found {
                Some((number, offset)) => {
                    self.before[index as usize] = self.objects[number].last;
                    self.objects[number].last = index;
                    offset
                }
                None => {
                    let offset = gap::align_up(height, unit.alignment).expect(gap::ROOM);
                    height = offset + unit.size;
                    self.objects.push(Object {
                        offset,
                        end: height,
                        last: index,
                    });
                    offset
                }
            };
            offsets[index as usize] = offset;
        }
    }
}
