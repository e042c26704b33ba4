//! Batches with their waits and signals.

use ash::vk::PipelineStageFlags2 as S;
use bumpalo::Bump;
use bumpalo::collections::Vec;
use tileheap_units::CompactSort;

use super::placed::Placed;
use super::resolver::{Dependencies, QueueDependency, Wait, WaitFor};
use super::tables::submission::{BatchRow, SemaphoreRow, SemaphoreValue, SubmitRow};
use super::tables::{DeviceQueueIndex, Lowered};
use crate::frame::tables::SemaphoreOp;
use crate::frame::{BatchId, Frame, SubmitId};
use crate::units::Run;

/// Fills the tables of submits, batches and semaphores.
pub(super) fn submits(placed: &Placed<'_>, found: &mut Dependencies, lowered: &mut Lowered) {
    let frame = &placed.plan.frame;
    // The waits so far, each with the device queue that waited: its later batches need not wait again.
    let mut waited: Vec<'_, (DeviceQueueIndex, SemaphoreRow)> = Vec::new_in(placed.scratch);
    let ends = ends(frame, placed.scratch);
    found.queue_dependencies.compact_sort();
    found.queue_dependencies.dedup();
    found.waits.compact_sort_by_key(|wait| wait.batch);
    let mut rest = found.waits.as_slice();
    lowered.batches.reserve(frame.batches().len());
    lowered
        .signals
        .reserve(frame.batches().len() + frame.semaphores().len());
    for (index, batch) in (0..).zip(frame.batches()) {
        let id = BatchId(index);
        let queue = placed.queues.declared()[frame.submits()[batch.submit.index()].queue.index()];
        let waits = lowered.waits.len() as u32;
        lowered.waits.extend(
            batch
                .waits
                .iter()
                .map(|op| declared(frame, &found.queue_dependencies, &ends, op, SemaphoreOpKind::Wait)),
        );
        let (here, later) = rest.split_at(rest.partition_point(|wait| wait.batch == id));
        rest = later;
        for wait in merged(placed, here) {
            let known = |(by, known): &_| *by == queue && is_waited_for(known, &wait);
            if !waited.iter().any(known) {
                waited.push((queue, wait));
                lowered.waits.push(wait);
            }
        }
        let signals = lowered.signals.len() as u32;
        lowered.signals.extend(batch.signals.iter().map(|op| {
            declared(
                frame,
                &found.queue_dependencies,
                &ends,
                op,
                SemaphoreOpKind::Signal,
            )
        }));
        lowered.signals.push(SemaphoreRow {
            semaphore: SemaphoreValue::of_queue(queue, placed.value_of_batch(id)),
            stages: S::ALL_COMMANDS,
        });
        lowered.batches.push(BatchRow {
            batch: id,
            is_first: placed.value_of_batch(id) == 1,
            waits: Run::new(waits, lowered.waits.len() as u32),
            command_buffers: batch.command_buffers,
            signals: Run::new(signals, lowered.signals.len() as u32),
        });
    }
    lowered
        .submits
        .extend((0..).zip(frame.submits()).map(|(index, submit)| SubmitRow {
            submit: SubmitId(index),
            queue: placed.queues.declared()[submit.queue.index()],
            batches: submit.batches,
        }));
}

/// Returns true if a wait makes a later one on the same device queue redundant: its value is at least as high, and it waits at all stages of the later one.
fn is_waited_for(known: &SemaphoreRow, wait: &SemaphoreRow) -> bool {
    let (a, b) = (known.semaphore, wait.semaphore);
    let same = a.queue().is_some() && a.queue() == b.queue();
    same && a.value >= b.value && known.stages.contains(wait.stages)
}

/// The waits of a batch in addition to those that the frame declares, merged into one for each queue.
fn merged<'a>(placed: &Placed<'a>, waits: &[Wait]) -> Vec<'a, SemaphoreRow> {
    let mut rows: Vec<'_, SemaphoreRow> = Vec::new_in(placed.scratch);
    for wait in waits {
        let value = match wait.on {
            WaitFor::Earlier(value) => value,
            WaitFor::Batch(other) => placed.value_of_batch(other),
        };
        match rows
            .iter_mut()
            .find(|row| row.semaphore.queue() == Some(wait.queue))
        {
            Some(known) => {
                known.semaphore.value = value.max(known.semaphore.value);
                known.stages |= wait.stages;
            }
            None => rows.push(SemaphoreRow {
                semaphore: SemaphoreValue::of_queue(wait.queue, value),
                stages: wait.stages,
            }),
        }
    }
    rows
}

/// The two operations on a semaphore that frames declare.
#[derive(Clone, Copy)]
enum SemaphoreOpKind {
    Signal,
    Wait,
}

/// The batches that signal a semaphore and wait for it.
type SemaphoreEnds = [Option<BatchId>; 2];

fn ends<'a>(frame: &Frame, scratch: &'a Bump) -> Vec<'a, SemaphoreEnds> {
    let mut ends = bumpalo::vec![in scratch; [None; 2]; frame.semaphores().len()];
    for (index, batch) in (0..).zip(frame.batches()) {
        for (end, ops) in [&batch.signals, &batch.waits].into_iter().enumerate() {
            for op in ops {
                ends[op.semaphore.index()][end].get_or_insert(BatchId(index));
            }
        }
    }
    ends
}

/// A wait or a signal that the frame declares, at the declared stages and those that its dependencies need.
///
/// Without `maintenance8`, a queue family ownership transfer is released and acquired only at `ALL_COMMANDS`.
fn declared(
    frame: &Frame,
    queue_dependencies: &[QueueDependency],
    ends: &[SemaphoreEnds],
    op: &SemaphoreOp,
    kind: SemaphoreOpKind,
) -> SemaphoreRow {
    let [signaller, waiter] = ends[op.semaphore.index()];
    let mut stages = op.stages;
    if let (Some(signaller), Some(waiter)) = (signaller, waiter) {
        for dependency in queue_dependencies {
            let through = through(frame, dependency, signaller, waiter);
            stages |= match kind {
                SemaphoreOpKind::Signal => through,
                // Barriers after a wait chain to whichever stages it names, except for transfers.
                SemaphoreOpKind::Wait if through.is_empty() => S::NONE,
                SemaphoreOpKind::Wait => dependency.stages & S::ALL_COMMANDS,
            };
        }
    }
    SemaphoreRow {
        semaphore: SemaphoreValue::declared(op.semaphore.index() as u32),
        stages,
    }
}

/// The stages that a semaphore's signal has to cover so that `dependency` can rely on the semaphore; none if it cannot.
fn through(frame: &Frame, dependency: &QueueDependency, signaller: BatchId, waiter: BatchId) -> S {
    let &QueueDependency { from, to, .. } = dependency;
    let reaches = |a: BatchId, b: BatchId| a == b || frame.batch_happens_before(a, b);
    if !reaches(from, signaller) || !reaches(waiter, to) {
        return S::NONE;
    }
    if frame.batches()[from.index()].submit == frame.batches()[signaller.index()].submit || from == signaller
    {
        dependency.stages
    } else {
        S::ALL_COMMANDS
    }
}
