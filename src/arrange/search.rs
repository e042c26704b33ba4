//! The search for a good arrangement: runs of strips by dynamic programming, then one small change at a time, as long as that helps.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::change::{DescriptionChange, candidates, replanned};
use super::check::{can_merge, dependencies, fusible, in_order};
use super::found::{CHOICE, Found, as_described, residents};
use super::strips::Division;
use super::traffic::{Costs, Model};
use super::types::{Arrangement, Grid, Group, Way};
use crate::frame::{BatchId, PassId, ResourceId};
use crate::plan::{Plan, Traffic};

/// The changes that the search may make, and its costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// Run passes in another order.
    pub order: bool,
    /// Run render passes as one.
    pub merge: bool,
    /// Submit batches as one.
    pub fuse: bool,
    /// Run passes strip by strip.
    pub strips: bool,
    /// Give images a narrower format of the same kind: at least 10 bits per channel if there were more. Not by default.
    pub format: bool,
    /// Make images smaller, with all images attached together with them: down to half of their width and height. Not by default.
    pub extent: bool,
    /// Remove a use that keeps a resource off chip. Not by default.
    pub usage: bool,
    /// Limit on the texels computed, relative to the frame as described.
    pub shaded: f64,
    /// Costs of repeats, halos and merges.
    pub costs: Costs,
    /// Limit on the frames evaluated, for each of the two searches: without and with images at the border of strips.
    pub steps: u64,
}

impl Default for Allowed {
    fn default() -> Allowed {
        Allowed {
            order: true,
            merge: true,
            fuse: true,
            strips: true,
            format: false,
            extent: false,
            usage: false,
            shaded: 1.5,
            costs: Costs::default(),
            steps: 20_000,
        }
    }
}

/// Searches for the arrangement of a planned frame that moves the fewest bytes. Deterministic. `watch` receives the best share so far after every
/// improvement and may end the search.
///
/// `plan` is the plan of the described frame. The result is not a plan: it is [applied](Arrangement::apply) and planned like any frame. If the
/// description may change, the change that saves most comes first, and each one saves at least a hundredth of the traffic.
pub fn search(plan: &Plan, allowed: &Allowed, watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()>) -> Found {
    let ended = Cell::new(false);
    let watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()> = &mut |traffic| {
        let flow = watch(traffic);
        ended.set(ended.get() || flow.is_break());
        flow
    };
    let mut best = search_as_described(plan, plan, allowed, watch);
    let mut changed: Option<Plan> = None;
    while !ended.get() {
        let Some((change, next)) = best_change(changed.as_ref().unwrap_or(plan), plan, &best, allowed) else {
            break;
        };
        let mut found = search_as_described(&next, plan, allowed, watch);
        found.steps += best.steps;
        if found.traffic.off_chip() >= best.traffic.off_chip() {
            break;
        }
        found.described = best.described;
        let changes = best.arrangement.changes.into_iter().chain([change]);
        found.arrangement.changes = changes.collect();
        (best, changed) = (found, Some(next));
    }
    best.described = Traffic::of(plan);
    best.take_plan_if_described(plan);
    // The planner may know a better result for the unarranged frame than the search: splits, or residents that took longer to find.
    match best.traffic.off_chip() < best.described.off_chip() {
        true => best,
        false => Found {
            steps: best.steps,
            ..as_described(plan, allowed.costs)
        },
    }
}

/// Returns the change to the description that saves most in the current arrangement, and a quick plan with it.
fn best_change(
    plan: &Plan,
    described: &Plan,
    best: &Found,
    allowed: &Allowed,
) -> Option<(DescriptionChange, Plan)> {
    let mut saved = (best.traffic.described.0 / LEAST) as i64;
    let mut found = None;
    for change in candidates(
        plan,
        described.input.frame(),
        [allowed.format, allowed.extent, allowed.usage],
    ) {
        let Some(next) = replanned(plan, change) else {
            continue;
        };
        let mut arrangement = best.arrangement.clone();
        arrangement.changes.clear();
        if arrangement.check_described(next.input.frame()).is_err() {
            arrangement = Arrangement::described(next.input.frame());
        }
        let traffic = Model::new(&next, described, allowed.costs).traffic(&arrangement, 0);
        let saves = traffic.map_or(0, |traffic| {
            best.traffic.off_chip().0 as i64 - traffic.off_chip().0 as i64
        });
        if saves > saved {
            (saved, found) = (saves, Some((change, next)));
        }
    }
    found
}

/// A change to the description must save more than the described traffic divided by this.
const LEAST: u64 = 100;

fn search_as_described(
    plan: &Plan,
    described: &Plan,
    allowed: &Allowed,
    watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()>,
) -> Found {
    let mut search = Search {
        model: Model::new(plan, described, allowed.costs),
        allowed,
        first_step: 0,
    };
    let start = Arrangement::described(plan.input.frame());
    let described = search.model.traffic(&start, CHOICE).unwrap_or_default();
    let mut best = Best {
        arrangement: start,
        traffic: described,
        ended: false,
        watch,
    };
    // First without images at the border: those that pay immediately may lead to a worse result.
    let starts = search.starts(&best.arrangement);
    let searches =
        [false, true].map(|with_borders| starts.iter().enumerate().map(move |start| (with_borders, start)));
    for (with_borders, (number, start)) in searches.into_iter().flatten() {
        if number == 0 {
            search.model.with_borders = with_borders;
            search.first_step = search.model.steps;
        }
        let start = start.clone();
        let Some(traffic) = search.judged(&start) else {
            continue;
        };
        let mut here = (start, traffic);
        best.offer(&here);
        let divided = search.better(&here, &best, true);
        let mut better = divided.or_else(|| search.better(&here, &best, false));
        while let Some(next) = better {
            best.offer(&next);
            here = next;
            // One small change at a time, until none helps.
            let small = search.better(&here, &best, false);
            better = small.or_else(|| search.better(&here, &best, true));
        }
    }
    search
        .model
        .found(best.arrangement, described, best.traffic, &residents(plan))
}

/// An arrangement and its traffic.
type Judged = (Arrangement, Traffic);

/// The best arrangement so far.
struct Best<'w> {
    arrangement: Arrangement,
    traffic: Traffic,
    /// Set if `watch` ended the search.
    ended: bool,
    watch: &'w mut dyn FnMut(&Traffic) -> ControlFlow<()>,
}

impl Best<'_> {
    /// Takes an arrangement if it is better.
    fn offer(&mut self, (arrangement, traffic): &Judged) {
        if traffic.off_chip() < self.traffic.off_chip() {
            (self.arrangement, self.traffic) = (arrangement.clone(), *traffic);
            self.ended |= (self.watch)(traffic).is_break();
        }
    }

    fn is_final(&self, search: &Search<'_>) -> bool {
        self.ended || search.steps() >= search.allowed.steps
    }
}

struct Search<'a> {
    model: Model<'a>,
    allowed: &'a Allowed,
    /// The steps of earlier searches of the same frame.
    first_step: u64,
}

impl Search<'_> {
    fn steps(&self) -> u64 {
        self.model.steps - self.first_step
    }

    /// Evaluates an arrangement; `None` if it does not fit the frame or the limits.
    fn judged(&mut self, arrangement: &Arrangement) -> Option<Traffic> {
        let traffic = self.model.traffic(arrangement, 0)?;
        (traffic.shaded <= self.allowed.shaded).then_some(traffic)
    }

    /// Initial arrangements, all without groups: as described, with batches fused, and each of these with passes moved right before their first
    /// dependent. Fusing and reordering may pay only together with groups, which small changes do not reach.
    fn starts(&self, described: &Arrangement) -> Vec<Arrangement> {
        let mut starts = vec![described.clone()];
        starts.extend(self.allowed.fuse.then(|| self.fused(described)));
        let late = starts.iter().filter(|_| self.allowed.order);
        let late: Vec<Arrangement> = late.map(|start| self.late(start)).collect();
        for start in late {
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        starts.dedup();
        starts
    }

    /// Moves each pass right before the first one that depends on it.
    fn late(&self, arrangement: &Arrangement) -> Arrangement {
        let frame = self.model.plan.input.frame();
        let mut late = arrangement.clone();
        for batch in &mut late.batches {
            let passes: Vec<PassId> = batch.groups.iter().map(|group| group.passes[0]).collect();
            let needed: Vec<PassId> = dependencies(frame)
                .filter(|(_, later, _)| passes.contains(later))
                .map(|(earlier, ..)| earlier)
                .collect();
            let (inner, last): (Vec<PassId>, Vec<PassId>) =
                passes.iter().partition(|pass| needed.contains(pass));
            let order = in_order(frame, &[last, inner].concat());
            batch.groups = order.into_iter().map(Group::once).collect();
        }
        late
    }

    /// Returns a better arrangement that differs in its runs of strips, or in one small change.
    fn better(&mut self, here: &Judged, best: &Best<'_>, strips: bool) -> Option<Judged> {
        let frame = self.model.plan.input.frame();
        let of = match strips {
            true if !self.allowed.strips || best.is_final(self) => Vec::new(),
            true => self.divided(&here.0).into_iter().collect(),
            false => self.changes(&here.0),
        };
        for changed in of {
            for changed in self.with_borders(changed, &here.0) {
                if best.is_final(self) {
                    return None;
                }
                if changed.check(frame).is_err() {
                    continue;
                }
                let traffic = self.judged(&changed);
                if let Some(traffic) = traffic.filter(|traffic| traffic.off_chip() < here.1.off_chip()) {
                    return Some((changed, traffic));
                }
            }
        }
        None
    }

    /// A changed arrangement with the border images that its strips had before, if they are still possible, and with those that save most.
    fn with_borders(&mut self, changed: Arrangement, before: &Arrangement) -> Vec<Arrangement> {
        let is_new = |group: &Group| {
            let mut others = before.groups();
            matches!(group.way, Way::Strips(_)) && !others.any(|other| other.passes == group.passes)
        };
        let (mut kept, mut saving) = (changed.clone(), changed);
        let batches = kept.batches.iter_mut().zip(&mut saving.batches);
        let groups = batches.flat_map(|(kept, saving)| kept.groups.iter_mut().zip(&mut saving.groups));
        for (kept, saving) in groups.filter(|(group, _)| is_new(group)) {
            let is_kept = self.model.division(&kept.passes, &kept.borders).is_ok();
            if !is_kept {
                kept.borders.clear();
            }
            saving.borders = self.model.saving_borders(&saving.passes);
        }
        match kept == saving {
            true => vec![kept],
            false => vec![kept, saving],
        }
    }

    /// Fuses all consecutive batches that can be fused.
    fn fused(&self, arrangement: &Arrangement) -> Arrangement {
        let frame = self.model.plan.input.frame();
        let mut fused = Arrangement {
            changes: Vec::new(),
            batches: Vec::new(),
        };
        for batch in &arrangement.batches {
            match fused.batches.last_mut() {
                Some(last)
                    if fusible(frame, BatchId(last.batches.end - 1), BatchId(batch.batches.first))
                        .is_ok() =>
                {
                    last.batches.end = batch.batches.end;
                    last.groups.extend(batch.groups.iter().cloned());
                }
                _ => fused.batches.push(batch.clone()),
            }
        }
        fused
    }

    /// The best runs of strips that do not overlap, each valued independently.
    fn divided(&mut self, arrangement: &Arrangement) -> Option<Arrangement> {
        let plain = ungrouped(arrangement);
        let base = self.judged(&plain)?.off_chip().0 as i64;
        let mut divided = plain.clone();
        for (number, batch) in plain.batches.iter().enumerate() {
            let order: Vec<PassId> = batch.groups.iter().map(|group| group.passes[0]).collect();
            // Per end position, the best gain up to there, and the run that ends there, if any.
            let mut best: Vec<(i64, Option<(usize, Group)>)> = vec![(0, None); order.len() + 1];
            let mut gains = Vec::new();
            for first in 0..order.len() {
                for end in first + 2..=order.len() {
                    if self.steps() >= self.allowed.steps / 2 {
                        break;
                    }
                    let run = &order[first..end];
                    let division = self.model.division(run, &[]);
                    if let Err(why) = division.as_ref() {
                        if why.is_in_longer_runs() {
                            break;
                        }
                    }
                    let with_none = self.best_grid(&plain, run, &[], base);
                    let borders = self.model.saving_borders(run);
                    let with_borders = match borders.is_empty() {
                        true => None,
                        false => self.best_grid(&plain, run, &borders, base),
                    };
                    let better = [with_none, with_borders].into_iter().flatten();
                    gains.extend(
                        better
                            .max_by_key(|(gain, _)| *gain)
                            .map(|(gain, group)| (first, end, gain, group)),
                    );
                }
            }
            for end in 1..=order.len() {
                best[end] = (best[end - 1].0, None);
                for (first, _, gain, group) in gains.iter().filter(|gain| gain.1 == end) {
                    if best[*first].0 + gain > best[end].0 {
                        best[end] = (best[*first].0 + gain, Some((*first, group.clone())));
                    }
                }
            }
            let mut end = order.len();
            while end > 0 {
                match &best[end].1 {
                    Some((first, group)) => {
                        divided = divided.with_group(group)?;
                        end = *first;
                    }
                    None => end -= 1,
                }
            }
            debug_assert_eq!(divided.batches[number].batches, batch.batches);
        }
        Some(divided)
    }

    /// The grid that saves most for a run with the given border images.
    fn best_grid(
        &mut self,
        plain: &Arrangement,
        run: &[PassId],
        borders: &[ResourceId],
        base: i64,
    ) -> Option<(i64, Group)> {
        let division = self.model.division(run, borders);
        let division = division.as_ref().as_ref().ok()?;
        let mut best: Option<(i64, Group)> = None;
        for grid in self.grids(division) {
            let group = Group {
                borders: borders.to_vec(),
                ..Group::new(run.to_vec(), Way::Strips(grid))
            };
            let candidate = plain.with_group(&group)?;
            let Some(traffic) = self.judged(&candidate) else {
                continue;
            };
            let gain = base - traffic.off_chip().0 as i64;
            if gain > best.as_ref().map_or(0, |best| best.0) {
                best = Some((gain, group));
            }
        }
        best
    }

    /// Grids with about as many strips as are needed for the inside images to fit.
    fn grids(&self, division: &Division) -> Vec<Grid> {
        let heap = self.model.heap().max(1);
        let inside = division
            .inside
            .iter()
            .map(|image| self.model.counted_size(image.resource).0);
        let fewest = inside.sum::<u64>().div_ceil(heap).clamp(2, 256) as f64;
        let mut grids = Vec::new();
        for strips in [fewest * 0.4, fewest * 0.7, fewest, fewest * 1.4] {
            for columns in 1..=3u32 {
                let rows = (strips / f64::from(columns)).ceil().max(1.0) as u32;
                let grid = Grid { columns, rows };
                if grid.strips() > 1 && !grids.contains(&grid) {
                    grids.push(grid);
                }
            }
        }
        grids
    }

    /// All arrangements that differ by one small change.
    fn changes(&self, arrangement: &Arrangement) -> Vec<Arrangement> {
        let frame = self.model.plan.input.frame();
        let mut changes = Vec::new();
        for (number, batch) in arrangement.batches.iter().enumerate() {
            let mut with = |change: &dyn Fn(&mut Vec<Group>)| {
                let mut changed = arrangement.clone();
                change(&mut changed.batches[number].groups);
                changes.push(changed);
            };
            for (at, group) in batch.groups.iter().enumerate() {
                if let Way::Strips(grid) = group.way {
                    for near in grid.neighbours() {
                        with(&|groups| groups[at].way = Way::Strips(near));
                    }
                    for border in 0..group.borders.len() {
                        with(&|groups| {
                            groups[at].borders.remove(border);
                        });
                    }
                    // Adds or removes a pass at either end: an adjacent one, or any if the order may change.
                    for other in
                        (0..batch.groups.len()).filter(|&other| batch.groups[other].passes.len() == 1)
                    {
                        for place in [0, group.passes.len()] {
                            let beside = other == if place > 0 { at + 1 } else { at.wrapping_sub(1) };
                            if beside || self.allowed.order {
                                with(&|groups| {
                                    let gone = groups[other].passes[0];
                                    groups[at].passes.insert(place, gone);
                                    groups.remove(other);
                                });
                            }
                        }
                    }
                    if group.passes.len() > 2 {
                        with(&|groups| {
                            let first = groups[at].passes.remove(0);
                            groups.insert(at, Group::once(first));
                        });
                        with(&|groups| {
                            let last = groups[at].passes.pop();
                            groups.splice(at + 1..at + 1, last.map(Group::once));
                        });
                    }
                }
                if group.way != Way::Once {
                    with(&|groups| {
                        let apart: Vec<Group> =
                            groups[at].passes.iter().map(|&pass| Group::once(pass)).collect();
                        groups.splice(at..=at, apart);
                    });
                }
                let mergeable = |group: &Group| group.way == Way::Merged || group.passes.len() == 1;
                let farthest = if self.allowed.order {
                    batch.groups.len()
                } else {
                    at + 2
                };
                let others = (at + 1..farthest.min(batch.groups.len())).filter(|_| self.allowed.merge);
                for other in others.filter(|&other| mergeable(group) && mergeable(&batch.groups[other])) {
                    let both = [group.passes.clone(), batch.groups[other].passes.clone()].concat();
                    if can_merge(frame, &both).is_err() {
                        continue;
                    }
                    // At the position of the first pass, or of the second.
                    for place in [at, other - 1] {
                        with(&|groups| {
                            groups.remove(other);
                            groups.remove(at);
                            let (passes, way) = (both.clone(), Way::Merged);
                            groups.insert(place, Group::new(passes, way));
                        });
                    }
                }
                if self.allowed.order {
                    for to in 0..batch.groups.len() {
                        if to.abs_diff(at) > 1 || to == at + 1 {
                            with(&|groups| {
                                let moved = groups.remove(at);
                                groups.insert(to, moved);
                            });
                        }
                    }
                }
            }
            // Last, splits one run of strips into two, and joins two adjacent ones.
            for (at, group) in batch.groups.iter().enumerate() {
                let Way::Strips(grid) = group.way else { continue };
                for cut in 2..group.passes.len().saturating_sub(1) {
                    with(&|groups| {
                        let passes = groups[at].passes.split_off(cut);
                        let rest = Group {
                            passes,
                            ..group.clone()
                        };
                        groups.insert(at + 1, rest);
                    });
                }
                let Some(next) = batch.groups.get(at + 1) else {
                    continue;
                };
                if let Way::Strips(other) = next.way {
                    for grid in [grid, other] {
                        with(&|groups| {
                            groups.remove(at + 1);
                            groups[at].passes.extend(&next.passes);
                            groups[at].borders.extend(&next.borders);
                            groups[at].way = Way::Strips(grid);
                        });
                    }
                }
            }
        }
        changes
    }
}

/// Every pass ungrouped, in the same batches and order.
fn ungrouped(arrangement: &Arrangement) -> Arrangement {
    let mut plain = arrangement.clone();
    for batch in &mut plain.batches {
        let passes = batch.groups.iter().flat_map(|group| group.passes.iter().copied());
        batch.groups = passes.map(Group::once).collect();
    }
    plain
}
