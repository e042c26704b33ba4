//! Checks that every read of an arranged frame sees the same writes as in the described one.

use super::error::{ArrangeError, CannotGroup};
use super::strips::Division;
use super::types::{ArrangedBatch, Arrangement, GroupMode, PassGroup};
use crate::frame::tables::{Access, PassKind};
use crate::frame::{BatchId, Frame, PassId, ResourceId};

impl Arrangement {
    /// Checks that the frame can run in this arrangement.
    ///
    /// # Errors
    /// [`ArrangeError`] with the first violation.
    pub fn check(&self, frame: &Frame) -> Result<(), ArrangeError> {
        self.check_described(&self.description(frame)?)
    }

    /// Like [`Arrangement::check`], for a frame that already has the changes of its description.
    pub(super) fn check_described(&self, frame: &Frame) -> Result<(), ArrangeError> {
        self.check_batches(frame)?;
        self.check_order(frame)?;
        self.groups().try_for_each(|group| check_group(frame, group))
    }

    fn check_batches(&self, frame: &Frame) -> Result<(), ArrangeError> {
        let not_once = |what, times| Err(ArrangeError::NotOnce { what, times });
        let mut next = 0;
        let mut times = vec![0; frame.passes().len()];
        for ArrangedBatch { batches, groups } in &self.batches {
            if batches.first != next || batches.is_empty() || batches.end as usize > frame.batches().len() {
                let (first, end, count) = (batches.first, batches.end, frame.batches().len());
                let why = format!(
                    "must begin the next range, which must not be empty and must be within the frame's batches [0, {count}), but that range is [{first}, {end})"
                );
                return Err(ArrangeError::Batch { batch: next, why });
            }
            for second in batches.first + 1..batches.end {
                fusible(frame, BatchId(second - 1), BatchId(second))?;
            }
            if groups.iter().any(|group| group.passes.is_empty()) {
                let (batch, why) = (batches.first, "has a group without passes".to_owned());
                return Err(ArrangeError::Batch { batch, why });
            }
            for &pass in groups.iter().flat_map(|group| &group.passes) {
                let Some(count) = times.get_mut(pass.index()) else {
                    let (batch, count) = (batches.first, frame.passes().len());
                    let why = format!("lists pass {}, but the frame has passes [0, {count})", pass.0);
                    return Err(ArrangeError::Batch { batch, why });
                };
                *count += 1;
                let batch = frame.batch_of(pass).0;
                if !(batches.first..batches.end).contains(&batch) {
                    let why = format!(
                        "lists pass `{}`, which is described in batch {batch}",
                        frame.pass(pass).name
                    );
                    return Err(ArrangeError::Batch {
                        batch: batches.first,
                        why,
                    });
                }
            }
            next = batches.end;
        }
        if next as usize != frame.batches().len() {
            return not_once(format!("batch {next}"), 0);
        }
        match times.iter().position(|times| *times != 1) {
            Some(pass) => not_once(format!("pass `{}`", frame.passes()[pass].name), times[pass]),
            None => Ok(()),
        }
    }

    fn check_order(&self, frame: &Frame) -> Result<(), ArrangeError> {
        let mut place = vec![0u32; frame.passes().len()];
        for (at, pass) in (0..).zip(self.passes()) {
            place[pass.index()] = at;
        }
        let mut swapped = dependencies(frame).filter(|(a, b, _)| place[a.index()] > place[b.index()]);
        match swapped.next() {
            Some((earlier, later, resource)) => Err(ArrangeError::Order {
                earlier: frame.pass(earlier).name.clone(),
                later: frame.pass(later).name.clone(),
                resource: frame.resource(resource).name.clone(),
            }),
            None => Ok(()),
        }
    }
}

/// Pairs of passes that must stay in order, with the resource that both use; a pair can occur more than once.
pub(super) fn dependencies(frame: &Frame) -> impl Iterator<Item = (PassId, PassId, ResourceId)> {
    let access = |&index: &u32| &frame.accesses()[index as usize];
    let all = frame.resource_ids().flat_map(move |resource| {
        let uses = frame.uses_of(resource);
        uses.iter().enumerate().flat_map(move |(number, earlier)| {
            let others = uses[number + 1..].iter();
            others.map(move |later| (access(earlier), access(later), resource))
        })
    });
    all.filter(|(a, b, _)| a.pass != b.pass && depend(a, b))
        .map(|(a, b, resource)| (a.pass, b.pass, resource))
}

/// Sorts passes into an order that dependencies allow: the given one, except that the dependencies of a pass that are listed after it move
/// right before it.
pub(super) fn in_order(frame: &Frame, wanted: &[PassId]) -> Vec<PassId> {
    let mut needs: Vec<Vec<PassId>> = vec![Vec::new(); frame.passes().len()];
    for (earlier, later, _) in dependencies(frame) {
        needs[later.index()].push(earlier);
    }
    let mut is_left = vec![false; needs.len()];
    for pass in wanted {
        is_left[pass.index()] = true;
    }
    let mut order = Vec::with_capacity(wanted.len());
    for &pass in wanted {
        let mut waiting = vec![pass];
        while let Some(&last) = waiting.last() {
            match needs[last.index()].iter().find(|need| is_left[need.index()]) {
                Some(&need) => waiting.push(need),
                None => {
                    waiting.pop();
                    order.extend(std::mem::take(&mut is_left[last.index()]).then_some(last));
                }
            }
        }
    }
    order
}

/// Returns true if two accesses of one resource must stay in order.
fn depend(a: &Access, b: &Access) -> bool {
    (a.writes || b.writes) && a.version == b.version && a.range.intersects(b.range)
}

/// Checks that two consecutive batches can be submitted as one.
pub(super) fn fusible(frame: &Frame, first: BatchId, second: BatchId) -> Result<(), ArrangeError> {
    let (before, after) = (&frame.batches()[first.index()], &frame.batches()[second.index()]);
    let queue = |batch: &crate::frame::tables::Batch| frame.submits()[batch.submit.index()].queue;
    let why = if queue(before) != queue(after) {
        "they run on different queues"
    } else if !before.signals.is_empty() {
        "the first signals a semaphore"
    } else if !after.waits.is_empty() {
        "the second waits for a semaphore"
    } else {
        return Ok(());
    };
    Err(ArrangeError::CannotFuse {
        first: first.0,
        second: second.0,
        why,
    })
}

fn check_group(frame: &Frame, group: &PassGroup) -> Result<(), ArrangeError> {
    let judged = match group.mode {
        GroupMode::Once | GroupMode::Merged if !group.borders.is_empty() => Err(CannotGroup::Border {
            resource: group
                .borders
                .first()
                .and_then(|id| frame.resources().get(id.index()))
                .map_or_else(String::new, |image| image.name.clone()),
            why: "the passes do not run in strips",
        }),
        GroupMode::Once => Ok(()),
        GroupMode::Merged => can_merge(frame, &group.passes),
        GroupMode::Strips(grid) => Division::of(frame, &group.passes, &group.borders)
            .and_then(|division| division.strips(grid).map(|_| ())),
    };
    let name = |pass: Option<&PassId>| pass.map_or_else(String::new, |&pass| frame.pass(pass).name.clone());
    judged.map_err(|why| ArrangeError::Group {
        first: name(group.passes.first()),
        last: name(group.passes.last()),
        why: Box::new(why),
    })
}

/// Returns true if two consecutive passes can be merged.
pub(super) fn can_merge_pair(frame: &Frame, first: PassId, second: PassId) -> bool {
    [first, second].map(|pass| frame.pass(pass).kind) == [PassKind::Render; 2]
        && frame.merges_with(first, second)
}

/// Checks that consecutive render passes can be merged: every pair must satisfy [`Frame::merges_with`].
pub(super) fn can_merge(frame: &Frame, passes: &[PassId]) -> Result<(), CannotGroup> {
    let name = |pass: PassId| frame.pass(pass).name.clone();
    for (at, &second) in passes.iter().enumerate().skip(1) {
        for &first in &passes[..at] {
            if !can_merge_pair(frame, first, second) {
                return Err(CannotGroup::CannotMerge {
                    first: name(first),
                    second: name(second),
                });
            }
        }
    }
    match passes {
        [] => Err(CannotGroup::OnlyPass(String::new())),
        [pass] => Err(CannotGroup::OnlyPass(name(*pass))),
        _ => Ok(()),
    }
}
