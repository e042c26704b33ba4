//! The search for a good arrangement: runs of strips by dynamic programming, then one small change at a time, as long as that helps.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::change::{DescriptionChange, candidates, replanned};
use super::finalists::{EvaluatedArrangement, Finalists};
use super::moves::{Search, undivided, ungrouped, with_strips};
use super::residents::residents;
use super::search_options::SearchOptions;
use super::search_result::{MAX_RESIDENT_STEPS, SearchResult, as_described};
use super::traffic::Model;
use super::types::{Arrangement, GroupMode, PassGroup};
use crate::plan::{Plan, Traffic};

/// Searches for the arrangement of a planned frame that moves the fewest bytes. Deterministic. `watch` receives the best traffic so far, before each
/// arrangement that is evaluated, and may end the search.
///
/// `plan` is the plan of the described frame. The result is not a plan: it is [applied](Arrangement::apply) and planned like any frame. Its traffic is
/// that of a plan with the same options, known sizes of whole resources and estimated sizes of the images of strips: never more than that of `plan`.
/// If the description may change, the change that saves most comes first, and each one saves at least a hundredth of the traffic.
pub fn search(
    plan: &Plan,
    options: &SearchOptions,
    watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()>,
) -> SearchResult {
    search_from(plan, options, &[], watch)
}

/// Like [`search`], but also tries arrangements of the same passes that were found at another size, for another device or with other limits, with
/// more and with fewer strips. Those that do not fit the frame have no effect.
pub fn search_from(
    plan: &Plan,
    options: &SearchOptions,
    others: &[Arrangement],
    watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()>,
) -> SearchResult {
    let ended = Cell::new(false);
    let watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()> = &mut |traffic| {
        let flow = watch(traffic);
        ended.set(ended.get() || flow.is_break());
        flow
    };
    let mut best = search_as_described(plan, plan, options, others, watch);
    let mut changed: Option<Plan> = None;
    while !ended.get() {
        let from = changed.as_ref().unwrap_or(plan);
        let Some((change, next)) = best_change(from, plan, &best, options, watch) else {
            break;
        };
        let before = std::slice::from_ref(&best.arrangement);
        let mut found = search_as_described(&next, plan, options, before, watch);
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
    match best.traffic.off_chip() < best.described.off_chip() {
        true => best,
        false => SearchResult {
            steps: best.steps,
            ..as_described(plan, options.costs)
        },
    }
}

/// Returns the change to the description that saves the most traffic in the current arrangement, and a quick plan with it; `None` if no change saves
/// enough, or if `watch` ends the search.
fn best_change(
    plan: &Plan,
    described: &Plan,
    best: &SearchResult,
    options: &SearchOptions,
    watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()>,
) -> Option<(DescriptionChange, Plan)> {
    let mut saved = (best.traffic.described.0 / MIN_SAVINGS_DIVISOR) as i64;
    let mut found = None;
    for change in candidates(
        plan,
        described.input.frame(),
        [options.format, options.extent, options.usage],
    ) {
        if watch(&best.traffic).is_break() {
            return None;
        }
        let Some(next) = replanned(plan, change) else {
            continue;
        };
        let mut arrangement = best.arrangement.clone();
        arrangement.changes.clear();
        if arrangement.check_described(next.input.frame()).is_err() {
            arrangement = Arrangement::described(next.input.frame());
        }
        let traffic = Model::new(&next, described, options.costs).traffic(&arrangement, 0);
        let saves = traffic.map_or(0, |traffic| {
            best.traffic.off_chip().0 as i64 - traffic.off_chip().0 as i64
        });
        if saves > saved {
            (saved, found) = (saves, Some((change, next)));
        }
    }
    found
}

/// A change to the description must save more bytes than the described traffic divided by this number.
const MIN_SAVINGS_DIVISOR: u64 = 100;

fn search_as_described(
    plan: &Plan,
    described: &Plan,
    options: &SearchOptions,
    others: &[Arrangement],
    watch: &mut dyn FnMut(&Traffic) -> ControlFlow<()>,
) -> SearchResult {
    let mut search = Search::new(Model::new(plan, described, options.costs), options);
    let start = Arrangement::described(plan.input.frame());
    let described = search
        .model
        .traffic(&start, MAX_RESIDENT_STEPS)
        .unwrap_or_default();
    let mut best = Best {
        arrangement: start,
        traffic: described,
        finalists: Finalists::new(plan),
        ended: false,
        watch,
    };
    let starts = search.starts(&best.arrangement);
    // First without images at the border: those that pay immediately may lead to a worse result.
    for with_borders in [false, true] {
        search.begin(with_borders);
        for start in &starts {
            // Runs of strips and merged passes exclude each other, so the result depends on which are chosen first.
            for first in [Moves::StripsFirst, Moves::SmallFirst] {
                search.climb(start.clone(), first, &mut best);
            }
        }
    }
    // Then from results at other sizes, from near the best one, and last from the best one itself, so that no single move improves the result.
    search.begin(true);
    for arrangement in others {
        if best.ended {
            break;
        }
        if let Some(start) = search.fitted(arrangement) {
            search.climb(start, Moves::SmallFirst, &mut best);
        }
    }
    search.begin(true);
    search.restart(&mut best);
    search.begin(true);
    search.climb(best.arrangement.clone(), Moves::SmallFirst, &mut best);
    let Best {
        arrangement,
        traffic,
        mut finalists,
        ..
    } = best;
    finalists.add(&(arrangement.clone(), traffic));
    match finalists.best_planned(&search.model) {
        Some((arrangement, traffic)) => SearchResult {
            traffic,
            ..search
                .model
                .build_result(arrangement, described, traffic, &residents(plan))
        },
        None => search
            .model
            .build_result(arrangement, described, traffic, &residents(plan)),
    }
}

/// The kinds of moves with which a search improves an arrangement, and the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moves {
    /// New runs of strips once, then like [`Moves::SmallFirst`].
    StripsFirst,
    /// One small change at a time, and new runs of strips if none helps.
    SmallFirst,
    /// One small change at a time only.
    Small,
}

/// The best arrangement so far.
pub(super) struct Best<'w> {
    pub(super) arrangement: Arrangement,
    pub(super) traffic: Traffic,
    /// Arrangements that no move improved.
    finalists: Finalists,
    /// Set if `watch` ended the search.
    ended: bool,
    watch: &'w mut dyn FnMut(&Traffic) -> ControlFlow<()>,
}

impl Best<'_> {
    /// Replaces the best arrangement if this one is better.
    fn offer(&mut self, (arrangement, traffic): &EvaluatedArrangement) {
        if traffic.off_chip() < self.traffic.off_chip() {
            (self.arrangement, self.traffic) = (arrangement.clone(), *traffic);
        }
    }

    /// Returns true if the search has to end: its steps are used up, or `watch` has ended it.
    pub(super) fn is_final(&mut self, search: &Search<'_>) -> bool {
        self.ended = self.ended || (self.watch)(&self.traffic).is_break();
        self.ended || search.steps() >= search.options.steps
    }
}

impl Search<'_> {
    /// Begins another phase of the search, with all of its steps; `with_borders` allows images at the border of strips.
    fn begin(&mut self, with_borders: bool) {
        if self.model.with_borders != with_borders {
            self.known_runs.clear();
        }
        self.model.with_borders = with_borders;
        self.first_step = self.model.steps;
    }

    /// Initial arrangements, all without groups: as described, with batches fused, and each of these with passes moved right before their first
    /// dependent, and with passes that end runs of strips moved to the front. Fusing and reordering may pay only together with groups, which small
    /// changes do not reach.
    fn starts(&self, described: &Arrangement) -> Vec<Arrangement> {
        let mut starts = vec![described.clone()];
        starts.extend(self.options.fuse.then(|| self.fused(described)));
        let ordered = starts.iter().filter(|_| self.options.order);
        let ordered = ordered.flat_map(|start| [self.moved_late(start), self.moved_early(start)]);
        for start in ordered.collect::<Vec<_>>() {
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        starts.dedup();
        starts
    }

    /// The best form of an arrangement found elsewhere: as it is, or with more or fewer strips; `None` if none fits the frame and the search options.
    fn fitted(&mut self, arrangement: &Arrangement) -> Option<Arrangement> {
        let mut best: Option<EvaluatedArrangement> = None;
        for times in [1.0, 0.25, 0.5, 0.7, 1.4, 2.0, 4.0] {
            let mut fitted = with_strips(arrangement, times);
            fitted.changes.clear();
            if fitted.check_described(self.model.plan.input.frame()).is_err() || !self.allows(&fitted) {
                continue;
            }
            let Some(traffic) = self.evaluate(&fitted) else {
                continue;
            };
            if best
                .as_ref()
                .is_none_or(|(_, best)| traffic.off_chip() < best.off_chip())
            {
                best = Some((fitted, traffic));
            }
        }
        Some(best?.0)
    }

    /// Returns true if the options of the search allow an arrangement.
    fn allows(&self, arrangement: &Arrangement) -> bool {
        let frame = self.model.plan.input.frame();
        let SearchOptions {
            order,
            merge,
            fuse,
            strips,
            ..
        } = *self.options;
        (fuse || arrangement.batches.len() == frame.batches().len())
            && (order || arrangement.passes().is_sorted())
            && arrangement.groups().all(|group| match group.mode {
                GroupMode::Once => true,
                GroupMode::Merged => merge,
                GroupMode::Strips(_) => strips,
            })
    }

    /// Improves an arrangement with moves of the given kinds until none helps or the search has to end.
    pub(super) fn climb(&mut self, start: Arrangement, moves: Moves, best: &mut Best<'_>) {
        if best.ended {
            return;
        }
        let Some(traffic) = self.evaluate(&start) else {
            return;
        };
        let mut here = (start, traffic);
        let mut strips = moves == Moves::StripsFirst;
        loop {
            best.offer(&here);
            let mut next = self.better(&here, best, strips);
            if next.is_none() && moves != Moves::Small {
                next = self.better(&here, best, !strips);
            }
            match next {
                Some(next) => {
                    debug_assert_eq!(next.0.check(self.model.plan.input.frame()), Ok(()));
                    here = next;
                }
                None => return best.finalists.add(&here),
            }
            // One small change at a time.
            strips = false;
        }
    }

    /// Returns a better arrangement that differs in its runs of strips, or in one small change.
    fn better(
        &mut self,
        here: &EvaluatedArrangement,
        best: &mut Best<'_>,
        strips: bool,
    ) -> Option<EvaluatedArrangement> {
        if best.is_final(self) {
            return None;
        }
        match strips {
            true => {
                let all = self.runs(&here.0);
                let better = all.into_iter().filter_map(|one| self.improved(one, here, best));
                better.min_by_key(|(_, traffic)| traffic.off_chip())
            }
            false => {
                for one in self.small_moves(&here.0) {
                    if best.is_final(self) {
                        return None;
                    }
                    let better = self.improved(one.applied(&here.0), here, best);
                    if better.is_some() {
                        return better;
                    }
                }
                None
            }
        }
    }

    /// The arrangements with the best runs of strips: in place of all groups, and alongside merged passes.
    fn runs(&mut self, arrangement: &Arrangement) -> Vec<Arrangement> {
        if !self.options.strips {
            return Vec::new();
        }
        let mut plain = vec![ungrouped(arrangement), undivided(arrangement)];
        plain.dedup();
        plain
            .into_iter()
            .filter_map(|plain| self.divided_once(plain))
            .collect()
    }

    /// Like [`divided`](Search::divided), with a cache of results.
    fn divided_once(&mut self, plain: Arrangement) -> Option<Arrangement> {
        if let Some(known) = self.known_runs.get(&plain) {
            return known.clone();
        }
        let divided = self.divided(&plain);
        if !self.runs_are_limited() {
            self.known_runs.insert(plain, divided.clone());
        }
        divided
    }

    /// A changed arrangement, if it is better than `here`: with the border images that its strips had before or, if that is not better, with those
    /// that save most.
    fn improved(
        &mut self,
        changed: Arrangement,
        here: &EvaluatedArrangement,
        best: &mut Best<'_>,
    ) -> Option<EvaluatedArrangement> {
        for changed in self.with_borders(changed, &here.0) {
            if best.is_final(self) {
                return None;
            }
            if !self.fits(&changed) {
                continue;
            }
            let traffic = self.evaluate(&changed);
            if let Some(traffic) = traffic.filter(|traffic| traffic.off_chip() < here.1.off_chip()) {
                return Some((changed, traffic));
            }
        }
        None
    }

    /// Variants of a changed arrangement: with the border images that its strips had before, if they are still possible, and with those that save
    /// most.
    fn with_borders(&mut self, changed: Arrangement, before: &Arrangement) -> Vec<Arrangement> {
        let is_new = |group: &PassGroup| {
            let mut others = before.groups();
            matches!(group.mode, GroupMode::Strips(_)) && !others.any(|other| other.passes == group.passes)
        };
        if !changed.groups().any(is_new) {
            return vec![changed];
        }
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
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ash::vk;

    use super::*;
    use crate::frame::ReachAssumptions;
    use crate::frame::import::read;
    use crate::measure::estimate;
    use crate::plan::{PlanOptions, plan};
    use crate::profile::DeviceProfile;

    fn planned(file: &str, [width, height]: [u32; 2]) -> crate::Checked<Plan> {
        let text = |name: &str| std::fs::read_to_string(tileheap_testkit::data(name)).unwrap();
        let frame = read(
            &text(&format!("frames/{file}")),
            Some(vk::Extent2D { width, height }),
        );
        let reaches = ReachAssumptions::from_json(&text("reach.json"), file).unwrap();
        let frame = frame.unwrap().frame.with_reaches(&reaches).unwrap();
        let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
        let needs = Arc::new(estimate(&frame, &profile).unwrap());
        plan(&frame, &needs, &profile, &PlanOptions::default()).unwrap()
    }

    fn found(plan: &Plan, others: &[Arrangement]) -> SearchResult {
        search_from(plan, &SearchOptions::default(), others, &mut |_| {
            ControlFlow::Continue(())
        })
    }

    /// No further move improves the result of a search.
    #[test]
    fn results_are_never_worse_than_one_more_move() {
        let options = SearchOptions::default();
        for file in [
            "granite_deferred_taa_bloom.json",
            "qualcomm_tile_memory_sample.json",
            "khronos_local_read_deferred.json",
        ] {
            for size in [[1280, 720], [1920, 1080], [2560, 1440], [3840, 2160]] {
                let plan = planned(file, size);
                let found = found(&plan, &[]).arrangement;
                let mut search = Search::new(Model::new(&plan, &plan, options.costs), &options);
                let traffic = search.evaluate(&found).unwrap();
                let here = (found, traffic);
                let mut best = Best {
                    arrangement: here.0.clone(),
                    traffic,
                    finalists: Finalists::new(&plan),
                    ended: false,
                    watch: &mut |_| ControlFlow::Continue(()),
                };
                for strips in [false, true] {
                    let better = search.better(&here, &mut best, strips);
                    let better = better.map(|(better, _)| better.in_words(plan.input.frame()));
                    assert_eq!(better, None, "{file} {size:?}");
                }
            }
        }
    }

    /// The traffic that the search expects is that of the plan, also for images in strips that tile memory cannot hold, each of which is padded.
    #[test]
    fn the_expected_traffic_is_that_of_the_plan() {
        let mut padded = 0;
        for file in [
            "granite_deferred_taa_bloom.json",
            "qualcomm_tile_memory_sample.json",
        ] {
            for size in [[1280, 720], [1920, 1080], [2560, 1440], [3840, 2160]] {
                let plan = planned(file, size);
                let found = found(&plan, &[]);
                let mut model = Model::new(&plan, &plan, found.costs);
                let expected = model.traffic(&found.arrangement, MAX_RESIDENT_STEPS).unwrap();
                // Fractions of areas are rounded.
                let rounding = plan.totals.traffic_bytes.0 / 5000;
                let difference = expected.off_chip().0.abs_diff(found.traffic.off_chip().0);
                assert!(difference <= rounding, "{file} {size:?}: {difference} B");
                padded += usize::from(expected.halos.0 > 10 * rounding);
            }
        }
        assert!(padded > 0);
    }

    /// An arrangement found at another size, or by a longer search, never makes the result worse, with many steps or with few.
    #[test]
    fn arrangements_of_other_sizes_are_tried() {
        let file = "granite_deferred_taa_bloom.json";
        let large = planned(file, [3840, 2160]);
        let at_large = found(&large, &[]).arrangement;
        let plan = planned(file, [1280, 720]);
        let [own, both] = [&[][..], &[at_large]].map(|others| found(&plan, others));
        assert!(both.traffic.off_chip() <= own.traffic.off_chip());
        // With few steps, the search finds less than what was found elsewhere.
        let few = SearchOptions {
            steps: 20,
            ..SearchOptions::default()
        };
        let hurried =
            |others: &[Arrangement]| search_from(&plan, &few, others, &mut |_| ControlFlow::Continue(()));
        let [alone, with] = [&[][..], std::slice::from_ref(&own.arrangement)].map(hurried);
        assert!(with.traffic.off_chip() < alone.traffic.off_chip());
        assert!(with.traffic.off_chip() <= own.traffic.off_chip());
        // An arrangement that does not fit the frame has no effect.
        let mut nonsense = own.arrangement.clone();
        nonsense.batches[0].groups.pop();
        assert_eq!(hurried(&[nonsense]), alone);
    }
}
