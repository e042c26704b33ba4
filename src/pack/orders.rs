//! More orders for placing one after another: by area and by conflicts.

use std::cmp::Reverse;

use super::Problem;

/// Most bytes times steps first; of equals the earliest born. A group counts from its first birth to its last death.
pub(super) fn by_area(problem: &Problem, order: &mut Vec<u32>) {
    order.clear();
    order.extend(0..problem.units.len() as u32);
    order.sort_unstable_by_key(|&index| {
        let unit = &problem.units[index as usize];
        let area = u128::from(unit.size) * u128::from(unit.hull.len());
        (Reverse(area), unit.hull.first, index)
    });
}

/// Those in the way of the most others first; of equals the earliest born, of those the one declared first.
///
/// Others are counted by life, from a group's first birth to its last death, and by declared conflict. O(n log n). Source:
/// TVM's USMP `greedy_by_conflicts`, which breaks ties by size: on IOPDDL S_1 that and this reach the same height.
pub(super) fn by_conflicts(problem: &Problem, counts: &mut Vec<u32>, order: &mut Vec<u32>) {
    let units = &problem.units;
    conflicts(problem, counts);
    order.clear();
    order.extend(0..units.len() as u32);
    order.sort_unstable_by_key(|&index| {
        let unit = &units[index as usize];
        (Reverse(counts[index as usize]), unit.hull.first, index)
    });
}

/// How many others each unit must not share bytes with.
pub(super) fn conflicts(problem: &Problem, counts: &mut Vec<u32>) {
    let living = || problem.units.iter().filter(|unit| unit.takes_bytes());
    let mut births: Vec<u32> = living().map(|unit| unit.hull.first.0).collect();
    let mut deaths: Vec<u32> = living().map(|unit| unit.hull.end.0).collect();
    births.sort_unstable();
    deaths.sort_unstable();
    counts.clear();
    counts.extend(problem.units.iter().map(|unit| {
        let declared = unit.rivals.len() as u32;
        if !unit.takes_bytes() {
            return declared;
        }
        let born = births.partition_point(|&first| first < unit.hull.end.0);
        let gone = deaths.partition_point(|&end| end <= unit.hull.first.0);
        (born - gone) as u32 - 1 + declared
    }));
}
