//! Large steps of the search: other orders and batches, runs of strips by dynamic programming. Small ones are in [`Move`](super::small_moves::Move).

use std::collections::HashMap;

use super::check::{can_merge_pair, dependencies, fusible, in_order};
use super::search_options::SearchOptions;
use super::strips::{Division, can_repeat};
use super::traffic::Model;
use super::types::{Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap_units::CompactSort;

use crate::frame::{BatchId, PassId, ReadReach, ResourceId};
use crate::plan::Traffic;

/// The state of a search in progress.
pub(super) struct Search<'a> {
    pub(super) model: Model<'a>,
    pub(super) options: &'a SearchOptions,
    /// Number of steps that earlier phases of the search have taken.
    pub(super) first_step: u64,
    /// Pairs of passes that must stay in order.
    dependencies: Vec<(PassId, PassId)>,
    /// Cache: pairs of passes, and true if they can be merged.
    merges: HashMap<(PassId, PassId), bool>,
    /// Cache: arrangements without strips, each with its best runs of strips.
    pub(super) known_runs: HashMap<Arrangement, Option<Arrangement>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(model: Model<'a>, options: &'a SearchOptions) -> Search<'a> {
        let frame = model.plan.input.frame();
        let mut order: Vec<(PassId, PassId)> = dependencies(frame)
            .map(|(earlier, later, _)| (earlier, later))
            .collect();
        order.compact_sort();
        order.dedup();
        Search {
            model,
            options,
            first_step: 0,
            dependencies: order,
            merges: HashMap::new(),
            known_runs: HashMap::new(),
        }
    }

    /// Returns true if a pass directly depends on an earlier one.
    pub(super) fn has_to_precede(&self, earlier: PassId, later: PassId) -> bool {
        self.dependencies.binary_search(&(earlier, later)).is_ok()
    }

    /// Like [`can_merge`], with a cache of pairs.
    pub(super) fn merges(&mut self, passes: &[PassId]) -> bool {
        let frame = self.model.plan.input.frame();
        let mut pairs = (1..passes.len()).flat_map(|at| (0..at).map(move |before| (before, at)));
        passes.len() > 1
            && pairs.all(|(first, second)| {
                let pair = (passes[first], passes[second]);
                let merges = || can_merge_pair(frame, pair.0, pair.1);
                *self.merges.entry(pair).or_insert_with(merges)
            })
    }

    /// Returns true if the frame allows the order and the merges of a changed arrangement. Does not check strips: [`evaluate`](Search::evaluate) does.
    pub(super) fn fits(&mut self, arrangement: &Arrangement) -> bool {
        let mut place = vec![0u32; self.model.plan.input.frame().passes().len()];
        for (at, pass) in (0..).zip(arrangement.passes()) {
            place[pass.index()] = at;
        }
        let is_kept = |&(earlier, later): &(PassId, PassId)| place[earlier.index()] < place[later.index()];
        self.dependencies.iter().all(is_kept)
            && arrangement
                .groups()
                .all(|group| group.mode != GroupMode::Merged || self.merges(&group.passes))
    }

    pub(super) fn steps(&self) -> u64 {
        self.model.steps - self.first_step
    }

    /// Returns true if half of the steps are used, after which no more runs of strips are evaluated.
    pub(super) fn runs_are_limited(&self) -> bool {
        self.steps() >= self.options.steps / 2
    }

    /// Evaluates an arrangement; `None` if it does not fit the frame or the limits.
    pub(super) fn evaluate(&mut self, arrangement: &Arrangement) -> Option<Traffic> {
        let traffic = self.model.traffic(arrangement, 0)?;
        (traffic.shaded <= self.options.shaded).then_some(traffic)
    }

    /// Moves passes that end runs of strips to the front of their batches: passes that cannot run strip by strip, or that write a resource
    /// that is read at any distance, provided that they depend only on such passes.
    pub(super) fn moved_early(&self, arrangement: &Arrangement) -> Arrangement {
        let frame = self.model.plan.input.frame();
        let is_read_anywhere = |resource: ResourceId| {
            let mut uses = frame.accesses_to(resource);
            uses.any(|access| access.needs_contents() && access.reach() == ReadReach::Anywhere)
        };
        let ends_runs = |pass: PassId| {
            let mut written = frame.accesses_of(pass).iter().filter(|access| access.writes);
            can_repeat(frame, pass).is_err() || written.any(|access| is_read_anywhere(access.resource))
        };
        let mut is_first: Vec<bool> = frame.pass_ids().map(ends_runs).collect();
        // Passes are in submission order: dependencies come before.
        let mut pairs: Vec<(PassId, PassId)> = dependencies(frame)
            .map(|(earlier, later, _)| (later, earlier))
            .collect();
        pairs.compact_sort();
        for (later, earlier) in pairs {
            is_first[later.index()] &= is_first[earlier.index()];
        }
        let mut early = arrangement.clone();
        for batch in &mut early.batches {
            let groups = std::mem::take(&mut batch.groups).into_iter();
            let (first, rest) = groups.partition::<Vec<_>, _>(|group| is_first[group.passes[0].index()]);
            batch.groups = [first, rest].concat();
        }
        early
    }

    /// Moves each pass right before the first one that depends on it.
    pub(super) fn moved_late(&self, arrangement: &Arrangement) -> Arrangement {
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
            batch.groups = order.into_iter().map(PassGroup::once).collect();
        }
        late
    }

    /// Fuses all consecutive batches that can be fused.
    pub(super) fn fused(&self, arrangement: &Arrangement) -> Arrangement {
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

    /// Divides `plain`, which has no strips, into the best runs of strips that do not overlap, each valued independently. Merged passes stay merged.
    pub(super) fn divided(&mut self, plain: &Arrangement) -> Option<Arrangement> {
        let base = self.evaluate(plain)?.off_chip().0 as i64;
        let mut divided = plain.clone();
        for (number, batch) in plain.batches.iter().enumerate() {
            let groups = batch.groups.iter();
            let order: Vec<PassId> = groups
                .clone()
                .flat_map(|group| group.passes.iter().copied())
                .collect();
            let is_alone: Vec<bool> = groups
                .flat_map(|group| group.passes.iter().map(|_| group.mode == GroupMode::Once))
                .collect();
            // Per end position, the best gain up to there, and the run that ends there, if any.
            let mut best: Vec<(i64, Option<(usize, PassGroup)>)> = vec![(0, None); order.len() + 1];
            let mut gains = Vec::new();
            for first in 0..order.len() {
                for end in first + 2..=order.len() {
                    if !is_alone[first] || !is_alone[end - 1] {
                        break;
                    }
                    if self.runs_are_limited() {
                        break;
                    }
                    let run = &order[first..end];
                    let division = self.model.division(run, &[]);
                    if let Err(why) = division.as_ref() {
                        if why.is_in_longer_runs() {
                            break;
                        }
                    }
                    let with_none = self.best_grid(plain, run, &[], base);
                    let borders = self.model.saving_borders(run);
                    let with_borders = match borders.is_empty() {
                        true => None,
                        false => self.best_grid(plain, run, &borders, base),
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

    /// The strip grid that saves the most traffic for a run with the given border images.
    fn best_grid(
        &mut self,
        plain: &Arrangement,
        run: &[PassId],
        borders: &[ResourceId],
        base: i64,
    ) -> Option<(i64, PassGroup)> {
        let division = self.model.division(run, borders);
        let division = division.as_ref().as_ref().ok()?;
        let group = PassGroup {
            borders: borders.to_vec(),
            ..PassGroup::new(run.to_vec(), GroupMode::Once)
        };
        let mut candidate = plain.with_group(&group)?;
        let mut best: Option<(i64, GroupMode)> = None;
        for grid in self.grids(division) {
            let mode = GroupMode::Strips(grid);
            candidate.group_of(run[0])?.mode = mode;
            let Some(traffic) = self.evaluate(&candidate) else {
                continue;
            };
            let gain = base - traffic.off_chip().0 as i64;
            if gain > best.map_or(0, |best| best.0) {
                best = Some((gain, mode));
            }
        }
        best.map(|(gain, mode)| (gain, PassGroup { mode, ..group }))
    }

    /// Grids with about as many strips as are needed for the inside images to fit.
    fn grids(&self, division: &Division) -> Vec<StripGrid> {
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
                let grid = StripGrid { columns, rows };
                if grid.strips() > 1 && !grids.contains(&grid) {
                    grids.push(grid);
                }
            }
        }
        grids
    }
}

/// The arrangement without strips, in the same batches and order.
pub(super) fn undivided(arrangement: &Arrangement) -> Arrangement {
    without(arrangement, |group| matches!(group.mode, GroupMode::Strips(_)))
}

/// Every pass ungrouped, in the same batches and order.
pub(super) fn ungrouped(arrangement: &Arrangement) -> Arrangement {
    without(arrangement, |_| true)
}

fn without(arrangement: &Arrangement, is_gone: impl Fn(&PassGroup) -> bool) -> Arrangement {
    let mut plain = arrangement.clone();
    for batch in &mut plain.batches {
        let groups = std::mem::take(&mut batch.groups);
        batch.groups = groups
            .into_iter()
            .flat_map(|group| match is_gone(&group) {
                true => group.passes.iter().map(|&pass| PassGroup::once(pass)).collect(),
                false => vec![group],
            })
            .collect();
    }
    plain
}

/// The arrangement with about `times` times as many strips in each run; used for an arrangement that was found at another size, or for another heap.
pub(super) fn with_strips(arrangement: &Arrangement, times: f64) -> Arrangement {
    let mut scaled = arrangement.clone();
    for group in scaled.batches.iter_mut().flat_map(|batch| &mut batch.groups) {
        if let GroupMode::Strips(grid) = &mut group.mode {
            let rows = (f64::from(grid.rows) * times).round().max(1.0);
            grid.rows = rows.min(f64::from(u16::MAX)) as u32;
            if (grid.columns, grid.rows) == (1, 1) {
                grid.rows = 2;
            }
        }
    }
    scaled
}
