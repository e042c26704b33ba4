//! Checks queues and semaphores, and derives the order of batches.

use ash::vk;

use super::super::tables::Tables;
use super::super::*;
use crate::frame::tables::{HistoryVersion, PassKind};

pub(super) fn check_queues(tables: &Tables) -> Result<(), FrameError> {
    for pass in &tables.passes {
        let queue = &tables.queues[tables.queue_of(pass).index()];
        // Graphics and compute queues can always transfer; their transfer bit is optional.
        let transfers = vk::QueueFlags::TRANSFER | vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let (needs, fits) = match pass.kind {
            PassKind::Render => ("graphics", vk::QueueFlags::GRAPHICS),
            PassKind::Compute => ("compute", vk::QueueFlags::COMPUTE),
            PassKind::Transfer => ("transfer", transfers),
        };
        // Vulkan guarantees that some graphics family also computes, and renderers rely on that for graphics queues.
        let fits = if pass.kind == PassKind::Compute {
            fits | vk::QueueFlags::GRAPHICS
        } else {
            fits
        };
        if !queue.capabilities.intersects(fits) {
            let (pass, queue) = (pass.name.clone(), queue.name.clone());
            return Err(FrameRule::QueueCapability.broken(format!(
                "pass `{pass}` needs a {needs} queue, but `{queue}` is not declared as one"
            )));
        }
    }
    Ok(())
}

pub(super) fn check_semaphores(tables: &Tables) -> Result<(), FrameError> {
    let mut signaled = vec![false; tables.semaphores.len()];
    let mut waited = vec![false; tables.semaphores.len()];
    for (index, batch) in tables.batches.iter().enumerate() {
        for op in &batch.waits {
            let semaphore = &tables.semaphores[op.semaphore.index()];
            let name = || semaphore.name.clone();
            if !semaphore.external && !signaled[op.semaphore.index()] {
                return Err(FrameRule::Cyclic.broken(format!(
                    "batch {batch} waits for semaphore `{semaphore}`, which no earlier batch \
                     signals: the frame is cyclic, or its submits are in the wrong order",
                    batch = index,
                    semaphore = name()
                )));
            }
            if std::mem::replace(&mut waited[op.semaphore.index()], true) {
                return Err(FrameRule::SemaphoreReuse.broken(format!(
                    "semaphore `{semaphore}` is waited for more than once: use one semaphore for \
                     each pair of batches",
                    semaphore = name()
                )));
            }
        }
        for op in &batch.signals {
            if std::mem::replace(&mut signaled[op.semaphore.index()], true) {
                let semaphore = tables.semaphores[op.semaphore.index()].name.clone();
                return Err(FrameRule::SemaphoreReuse.broken(format!(
                    "semaphore `{semaphore}` is signaled more than once: use one semaphore for each \
                     pair of batches"
                )));
            }
        }
    }
    for (index, semaphore) in tables.semaphores.iter().enumerate() {
        if !semaphore.external && signaled[index] && !waited[index] {
            return Err(FrameRule::NeverWaited.broken(format!(
                "semaphore `{semaphore}` is signaled, but no batch waits for it: remove the \
                 signal, or declare the semaphore external",
                semaphore = semaphore.name
            )));
        }
    }
    Ok(())
}

pub(super) fn derive_order(tables: &mut Tables) {
    if tables.queues.len() < 2 {
        return;
    }
    let words = tables.batches.len().div_ceil(64);
    let mut signaller: Vec<Option<usize>> = vec![None; tables.semaphores.len()];
    let mut last_on_queue: Vec<Option<usize>> = vec![None; tables.queues.len()];
    let mut before: Vec<Vec<u64>> = Vec::with_capacity(tables.batches.len());
    for (index, batch) in tables.batches.iter().enumerate() {
        let queue = tables.submits[batch.submit.index()].queue.index();
        let mut set = vec![0u64; words];
        let waits = batch.waits.iter().filter(|op| makes_wait(op.stages));
        let earlier = waits.filter_map(|op| signaller[op.semaphore.index()]);
        for earlier in earlier.chain(last_on_queue[queue]) {
            for (word, more) in set.iter_mut().zip(&before[earlier]) {
                *word |= more;
            }
            set[earlier / 64] |= 1 << (earlier % 64);
        }
        before.push(set);
        last_on_queue[queue] = Some(index);
        for op in &batch.signals {
            signaller[op.semaphore.index()] = Some(index);
        }
    }
    tables.before = before;
}

/// Returns true if a semaphore wait at these stages makes commands wait: no command runs at the bottom of the pipe.
fn makes_wait(stages: vk::PipelineStageFlags2) -> bool {
    use vk::PipelineStageFlags2 as S;
    !(stages & !S::BOTTOM_OF_PIPE).is_empty()
}

/// Checks that uses of one resource on two queues are ordered if one of them writes; any number of queues may read at the same time.
///
/// Batches of one queue are ordered, so the last use and the last write on each other queue represent all before them: O(accesses x queues).
pub(super) fn check_order(tables: &Tables) -> Result<(), FrameError> {
    if tables.before.is_empty() {
        return Ok(());
    }
    let batch_of = |pass: PassId| {
        tables.command_buffers[tables.passes[pass.index()].command_buffer.index()]
            .batch
            .index()
    };
    for (index, resource) in tables.resources.iter().enumerate() {
        let mut last: Vec<(QueueId, HistoryVersion, bool, PassId)> = Vec::new();
        for &use_index in tables.uses_of[index].of(&tables.uses) {
            let access = &tables.accesses[use_index as usize];
            let queue = tables.queue_of(&tables.passes[access.pass.index()]);
            let before = &tables.before[batch_of(access.pass)];
            for &(other_queue, version, wrote, pass) in &last {
                let earlier = batch_of(pass);
                let ordered = other_queue == queue || before[earlier / 64] >> (earlier % 64) & 1 == 1;
                if !ordered && version == access.version && (wrote || access.writes) {
                    return Err(FrameRule::Unordered.broken(format!(
                        "passes `{first}` and `{second}` use `{resource}` on two queues without synchronization \
                         between them: signal a semaphore, and wait for it at stages of the later pass",
                        resource = resource.name,
                        first = tables.passes[pass.index()].name,
                        second = tables.passes[access.pass.index()].name
                    )));
                }
            }
            let replaced = (queue, access.version, access.writes);
            last.retain(|&(queue, version, wrote, _)| (queue, version, wrote) != replaced);
            last.push((queue, access.version, access.writes, access.pass));
        }
    }
    Ok(())
}
