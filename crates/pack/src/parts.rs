//! Parts of a problem that share no step: each is improved alone.

use super::answer::{Progress, Steps};
use super::quest::Quest;
use super::{Packer, Problem, Strategy};
use crate::units::{Run, Step};

/// Units in sets that share no step, and the memory of improving one alone.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Units by part, ascending in each.
    units: Vec<u32>,
    /// The parts, in the order of time.
    runs: Vec<Run>,
    alone: Problem,
    /// For the parts; it has none of its own.
    packer: Option<Box<Packer>>,
}

impl Packer {
    /// Improves apart what nothing ties together, where that is too high; `false` if everything is tied together.
    pub(super) fn search_parts(&mut self, problem: &Problem, quest: &mut Quest<'_>) -> bool {
        let Parts {
            units,
            runs,
            alone,
            packer,
        } = &mut self.parts;
        find(problem, units, runs);
        if runs.len() < 2 {
            return false;
        }
        let top = |best: &[u64], part: Run, units: &[u32]| {
            let end = |&index: &u32| best[index as usize] + problem.units[index as usize].size;
            part.of(units).iter().map(end).max().unwrap_or(0)
        };
        let low = quest.bound.max(quest.target);
        runs.retain(|&part| top(&self.best, part, units) > low);
        let packer = packer.get_or_insert_default();
        while let Some(part) = runs.pop() {
            problem.part_into(part.of(units), None, alone);
            let bound = packer.lower_bound(alone).0;
            let share = (quest.budget - quest.steps) / (runs.len() as u64 + 1);
            let (height, steps) = (quest.height, quest.steps);
            let mut watch = |progress: Progress| {
                (quest.watch)(Progress {
                    steps: Steps(steps + progress.steps.0),
                    best: Some(height),
                    bound: quest.bound,
                })
            };
            let mut sub = Quest::new(bound, low, Steps(share), &mut watch);
            packer.pursue(alone, Strategy::Auto, &mut sub);
            let (found, bound, steps, interrupted) = (sub.height, sub.bound, sub.steps, sub.interrupted);
            quest.steps += steps;
            quest.interrupted |= interrupted;
            quest.bound = quest.bound.max(bound);
            if found < top(&self.best, part, units) {
                for (&index, &offset) in part.of(units).iter().zip(&packer.best) {
                    self.best[index as usize] = offset;
                }
            }
            if quest.interrupted {
                break;
            }
        }
        quest.height = problem.height(&self.best);
        quest.ask(0);
        true
    }
}

/// Finds units in sets that share no step, in the order of time; none where conflicts are declared.
fn find(problem: &Problem, units: &mut Vec<u32>, parts: &mut Vec<Run>) {
    units.clear();
    parts.clear();
    if !problem.conflicts().is_empty() {
        return;
    }
    let hull = |index: u32| problem.units[index as usize].hull;
    let all = 0..problem.units.len() as u32;
    units.extend(all.filter(|&index| problem.units[index as usize].takes_bytes()));
    units.sort_unstable_by_key(|&index| (hull(index).first, index));
    let mut end = Step(0);
    for (place, &index) in units.iter().enumerate() {
        if parts.is_empty() || hull(index).first >= end {
            parts.push(Run {
                first: place as u32,
                end: place as u32,
            });
        }
        end = end.max(hull(index).end);
        parts.last_mut().expect("a part was just opened").end += 1;
    }
    for part in parts {
        units[part.indices()].sort_unstable();
    }
}
