//! Parts of a problem that share no step: each is improved alone.

use super::answer::{Progress, Steps};
use super::quest::Quest;
use super::{Packer, Problem, Strategy};
use crate::units::Step;

impl Packer {
    /// Improves apart what nothing ties together, where that is too high; `false` if everything is tied together.
    pub(super) fn search_parts(&mut self, problem: &Problem, quest: &mut Quest<'_>) -> bool {
        let parts = independent_parts(problem);
        if parts.len() < 2 {
            return false;
        }
        let tall = |best: &[u64], part: &[u32], low: u64| {
            let end = |&index: &u32| best[index as usize] + problem.units[index as usize].size;
            part.iter().map(end).max().unwrap_or(0) > low
        };
        let low = quest.bound.max(quest.target);
        let mut tall: Vec<Vec<u32>> = parts
            .into_iter()
            .filter(|part| tall(&self.best, part, low))
            .collect();
        let mut whole = Packer::default();
        while let Some(part) = tall.pop() {
            let alone = problem.part(&part, None);
            let bound = whole.lower_bound(&alone).0;
            let share = (quest.budget - quest.steps) / (tall.len() as u64 + 1);
            let (height, steps) = (quest.height, quest.steps);
            let mut watch = |progress: Progress| {
                (quest.watch)(Progress {
                    steps: Steps(steps + progress.steps.0),
                    best: Some(height),
                    bound: quest.bound,
                })
            };
            let mut sub = Quest::new(bound, low, Steps(share), &mut watch);
            whole.pursue(&alone, Strategy::Auto, &mut sub);
            let (found, bound, steps, interrupted) = (sub.height, sub.bound, sub.steps, sub.interrupted);
            quest.steps += steps;
            quest.interrupted |= interrupted;
            quest.bound = quest.bound.max(bound);
            let end = |&index: &u32| self.best[index as usize] + problem.units[index as usize].size;
            if found < part.iter().map(end).max().unwrap_or(0) {
                for (&index, &offset) in part.iter().zip(&whole.best) {
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

/// Units in sets that share no step, in the order of time; one set where conflicts are declared.
fn independent_parts(problem: &Problem) -> Vec<Vec<u32>> {
    if !problem.conflicts().is_empty() {
        return Vec::new();
    }
    let mut order: Vec<u32> = (0..problem.units.len() as u32).collect();
    let hull = |index: u32| problem.units[index as usize].hull;
    order.retain(|&index| problem.units[index as usize].takes_bytes());
    order.sort_unstable_by_key(|&index| (hull(index).first, index));
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut end = Step(0);
    for index in order {
        if parts.is_empty() || hull(index).first >= end {
            parts.push(Vec::new());
        }
        end = end.max(hull(index).end);
        parts.last_mut().expect("a part was just opened").push(index);
    }
    for part in &mut parts {
        part.sort_unstable();
    }
    parts
}
