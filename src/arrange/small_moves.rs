//! Small moves of the search: each changes one group of an arrangement, or two.
//!
//! Moves are only described until one is applied: a frame of 300 passes has about 100,000, and each copy of its arrangement takes 30 KB.

use std::ops::RangeInclusive;

use super::check::fusible;
use super::moves::Search;
use super::types::{Arrangement, GroupMode, PassGroup, StripGrid};
use crate::frame::tables::PassKind;
use crate::frame::{BatchId, ResourceId};

/// A small change to a batch, or to two adjacent ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Move {
    /// Index of the batch.
    batch: u32,
    /// Index of the group that is changed.
    group: u32,
    change: Change,
}

/// The change that a move makes. Groups are given by their index before the change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// Copies one more image at the border of the strips.
    AddBorder(ResourceId),
    /// Removes a border image, by index.
    RemoveBorder(u32),
    /// Divides a run into other strips.
    Grid(StripGrid),
    /// Adds the pass of another group before the first pass of a run.
    AddFirst(u32),
    /// Adds the pass of another group after the last pass of a run.
    AddLast(u32),
    /// Takes the first pass out of a run.
    TakeFirst,
    /// Takes the last pass out of a run.
    TakeLast,
    /// Runs each pass of the group once.
    Ungroup,
    /// Merges the group with a later one, `other`; `place` is the index of the result.
    Merge { other: u32, place: u32 },
    /// Moves the group to another position.
    MoveTo(u32),
    /// Splits a run in two before one of its passes, by index.
    Cut(u32),
    /// Joins a run with the next one, in strips of this grid.
    JoinNext(StripGrid),
    /// Submits the batch and the next one as one.
    FuseNext,
}

impl Move {
    /// The arrangement after the move.
    pub(super) fn applied(self, arrangement: &Arrangement) -> Arrangement {
        let mut changed = arrangement.clone();
        let batch = self.batch as usize;
        match self.change {
            Change::FuseNext => {
                let next = changed.batches.remove(batch + 1);
                changed.batches[batch].batches.end = next.batches.end;
                changed.batches[batch].groups.extend(next.groups);
            }
            change => change.apply(&mut changed.batches[batch].groups, self.group as usize),
        }
        changed
    }
}

impl Change {
    /// Changes the group at index `at` of one batch.
    fn apply(self, groups: &mut Vec<PassGroup>, at: usize) {
        match self {
            Change::AddBorder(image) => groups[at].borders.push(image),
            Change::RemoveBorder(border) => {
                groups[at].borders.remove(border as usize);
            }
            Change::Grid(grid) => groups[at].mode = GroupMode::Strips(grid),
            Change::AddFirst(other) => {
                let gone = groups[other as usize].passes[0];
                groups[at].passes.insert(0, gone);
                groups.remove(other as usize);
            }
            Change::AddLast(other) => {
                let gone = groups[other as usize].passes[0];
                groups[at].passes.push(gone);
                groups.remove(other as usize);
            }
            Change::TakeFirst => {
                let first = groups[at].passes.remove(0);
                groups.insert(at, PassGroup::once(first));
            }
            Change::TakeLast => {
                let last = groups[at].passes.pop();
                groups.splice(at + 1..at + 1, last.map(PassGroup::once));
            }
            Change::Ungroup => {
                let passes = std::mem::take(&mut groups[at].passes);
                groups.splice(at..=at, passes.into_iter().map(PassGroup::once));
            }
            Change::Merge { other, place } => {
                let second = groups.remove(other as usize).passes;
                let first = groups.remove(at).passes;
                let both = PassGroup::new([first, second].concat(), GroupMode::Merged);
                groups.insert(place as usize, both);
            }
            Change::MoveTo(to) => {
                let moved = groups.remove(at);
                groups.insert(to as usize, moved);
            }
            Change::Cut(cut) => {
                let passes = groups[at].passes.split_off(cut as usize);
                let rest = PassGroup {
                    passes,
                    ..groups[at].clone()
                };
                groups.insert(at + 1, rest);
            }
            Change::JoinNext(grid) => {
                let next = groups.remove(at + 1);
                groups[at].passes.extend(next.passes);
                groups[at].borders.extend(next.borders);
                groups[at].mode = GroupMode::Strips(grid);
            }
            Change::FuseNext => {}
        }
    }
}

impl Search<'_> {
    /// The first and the last position to which dependencies let a group move.
    fn positions(&self, groups: &[PassGroup], at: usize) -> RangeInclusive<usize> {
        let depends = |earlier: &PassGroup, later: &PassGroup| {
            let mut pairs = earlier
                .passes
                .iter()
                .flat_map(|&first| later.passes.iter().map(move |&second| (first, second)));
            pairs.any(|(first, second)| self.has_to_precede(first, second))
        };
        let (before, after) = (groups[..at].iter().rev(), groups[at + 1..].iter());
        let earlier = before.take_while(|before| !depends(before, &groups[at])).count();
        let later = after.take_while(|after| !depends(&groups[at], after)).count();
        at - earlier..=at + later
    }

    /// All small moves from an arrangement, in the order in which they are tried.
    pub(super) fn small_moves(&mut self, arrangement: &Arrangement) -> Vec<Move> {
        let mut moves = Vec::new();
        self.fuse(arrangement, &mut moves);
        self.add_borders(arrangement, &mut moves);
        for (number, batch) in (0..).zip(&arrangement.batches) {
            for at in 0..batch.groups.len() {
                self.change_run(number, &batch.groups, at, &mut moves);
                self.merge_or_move(number, &batch.groups, at, &mut moves);
            }
            // Last, splits one run of strips into two, and joins two adjacent ones.
            for at in 0..batch.groups.len() {
                cut_or_join(number, &batch.groups, at, &mut moves);
            }
        }
        moves
    }

    /// Adds the moves that submit two adjacent batches as one.
    fn fuse(&self, arrangement: &Arrangement, moves: &mut Vec<Move>) {
        let frame = self.model.plan.input.frame();
        for (batch, pair) in (0..).zip(arrangement.batches.windows(2)) {
            let (last, first) = (BatchId(pair[0].batches.end - 1), BatchId(pair[1].batches.first));
            if self.options.fuse && fusible(frame, last, first).is_ok() {
                moves.push(Move {
                    batch,
                    group: 0,
                    change: Change::FuseNext,
                });
            }
        }
    }

    /// Adds the moves that copy one more image at the border of a run of strips.
    fn add_borders(&mut self, arrangement: &Arrangement, moves: &mut Vec<Move>) {
        for (batch, groups) in (0..).zip(arrangement.batches.iter().map(|batch| &batch.groups)) {
            let runs = (0..).zip(groups);
            for (at, run) in runs.filter(|(_, group)| matches!(group.mode, GroupMode::Strips(_))) {
                let saving = self.model.saving_borders(&run.passes).into_iter();
                let more = saving.filter(|image| !run.borders.contains(image));
                moves.extend(more.map(|image| Move {
                    batch,
                    group: at,
                    change: Change::AddBorder(image),
                }));
            }
        }
    }

    /// Adds the moves that change the strips, borders or passes of a group.
    fn change_run(&self, batch: u32, groups: &[PassGroup], at: usize, moves: &mut Vec<Move>) {
        let group = &groups[at];
        let mut add = |change| {
            moves.push(Move {
                batch,
                group: at as u32,
                change,
            });
        };
        if let GroupMode::Strips(grid) = group.mode {
            grid.neighbors()
                .into_iter()
                .for_each(|near| add(Change::Grid(near)));
            (0..group.borders.len() as u32).for_each(|border| add(Change::RemoveBorder(border)));
            // Adds or removes a pass at either end: an adjacent one, or any if the order may change.
            let others = (0..groups.len()).filter(|&other| other != at && groups[other].passes.len() == 1);
            for other in others {
                if other == at.wrapping_sub(1) || self.options.order {
                    add(Change::AddFirst(other as u32));
                }
                if other == at + 1 || self.options.order {
                    add(Change::AddLast(other as u32));
                }
            }
            if group.passes.len() > 2 {
                add(Change::TakeFirst);
                add(Change::TakeLast);
            }
        }
        if group.mode != GroupMode::Once {
            add(Change::Ungroup);
        }
    }

    /// Adds the moves that merge a group with a later one, or move it.
    fn merge_or_move(&mut self, batch: u32, groups: &[PassGroup], at: usize, moves: &mut Vec<Move>) {
        let mut add = |change| {
            moves.push(Move {
                batch,
                group: at as u32,
                change,
            });
        };
        let frame = self.model.plan.input.frame();
        let mergeable = |group: &PassGroup| {
            (group.mode == GroupMode::Merged || group.passes.len() == 1)
                && frame.pass(group.passes[0]).kind == PassKind::Render
        };
        let farthest = match self.options.order {
            true => groups.len(),
            false => groups.len().min(at + 2),
        };
        let others = (at + 1..farthest).filter(|_| self.options.merge);
        for other in others.filter(|&other| mergeable(&groups[at]) && mergeable(&groups[other])) {
            if !self.merges(&[&groups[at].passes[..], &groups[other].passes].concat()) {
                continue;
            }
            // At the position of the first pass, or of the second.
            for place in [at, other - 1] {
                add(Change::Merge {
                    other: other as u32,
                    place: place as u32,
                });
            }
        }
        if self.options.order {
            // Moving up by one is moving the group above down.
            let others = self.positions(groups, at);
            let others = others.filter(|to| to.abs_diff(at) > 1 || *to == at + 1);
            others.for_each(|to| add(Change::MoveTo(to as u32)));
        }
    }
}

/// Adds the moves that split a run of strips in two, or join it with the next one.
fn cut_or_join(batch: u32, groups: &[PassGroup], at: usize, moves: &mut Vec<Move>) {
    let GroupMode::Strips(grid) = groups[at].mode else {
        return;
    };
    let mut add = |change| {
        moves.push(Move {
            batch,
            group: at as u32,
            change,
        });
    };
    (2..groups[at].passes.len().saturating_sub(1)).for_each(|cut| add(Change::Cut(cut as u32)));
    if let Some(GroupMode::Strips(next)) = groups.get(at + 1).map(|next| next.mode) {
        [grid, next]
            .into_iter()
            .for_each(|grid| add(Change::JoinNext(grid)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ash::vk;

    use super::*;
    use crate::arrange::SearchOptions;
    use crate::arrange::traffic::Model;
    use crate::frame::{Frame, FrameBuilder, ImageDesc, LoadOp};
    use crate::measure::estimate;
    use crate::plan::{PlanOptions, plan};
    use crate::profile::DeviceProfile;

    /// Two batches in one submit, and one that waits for a semaphore of the second.
    fn three_batches() -> Frame {
        let extent = vk::Extent2D {
            width: 64,
            height: 64,
        };
        let mut frame = FrameBuilder::new("batches", extent);
        let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
        let semaphore = frame.semaphore("done");
        let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
        let mut submit = frame.submit(queue);
        for number in 0..3 {
            if number == 2 {
                submit = frame.submit(queue);
            }
            let batch = frame.batch(submit);
            match number {
                1 => frame.signal(batch, semaphore, stages),
                2 => frame.wait(batch, semaphore, stages),
                _ => {}
            }
            let image = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent);
            let image = frame.image(format!("image {number}"), image);
            let commands = frame.command_buffer(batch, format!("commands {number}"));
            let draw = frame.render_pass(commands, format!("draw {number}"));
            draw.color(image, LoadOp::DontCare);
        }
        frame.build().unwrap()
    }

    #[test]
    fn adjacent_batches_are_fused_unless_a_semaphore_is_between_them() {
        let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
        let frame = three_batches();
        let needs = Arc::new(estimate(&frame, &profile).unwrap());
        let plan = plan(&frame, &needs, &profile, &PlanOptions::default()).unwrap();
        let described = Arrangement::described(&frame);
        let fused = |fuse| {
            let allowed = SearchOptions {
                fuse,
                ..SearchOptions::default()
            };
            let mut search = Search::new(Model::new(&plan, &plan, allowed.costs), &allowed);
            let moves = search.small_moves(&described).into_iter();
            let fused = moves.filter(|one| one.change == Change::FuseNext);
            let fused = fused.map(|one| one.applied(&described));
            fused.collect::<Vec<_>>()
        };
        let [one] = &fused(true)[..] else {
            panic!("one pair of batches can be fused");
        };
        assert_eq!(one.check(&frame), Ok(()));
        let groups: Vec<usize> = one.batches.iter().map(|batch| batch.groups.len()).collect();
        assert_eq!(groups, [2, 1]);
        assert_eq!(fused(false), []);
    }
}
