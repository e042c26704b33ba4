//! Accesses that later work has to be ordered after, and the waits that cover them.

use ash::vk;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::finding::MemoryUse;
use crate::operation::{Earlier, Edge, EdgeKind, Limit};
use crate::program::{DependencyScopes, MemoryId, QueueId, SemaphoreId};
use crate::reach::signals::CheckedWait;
use crate::schedule::Signaled;

use super::Model;

/// A point that later work may wait for: on its queue with a barrier, on other queues with the queue's signal of a timeline semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPoint {
    /// The queue that runs the barrier and signals the semaphore.
    pub queue: QueueId,
    /// The stages of the barrier's first scope.
    pub stages: S,
    /// The accesses of the barrier's first scope.
    pub accesses: A,
    /// The timeline semaphore that the queue signals.
    pub semaphore: SemaphoreId,
    /// The value that the queue signals.
    pub value: u64,
}

/// An access to a range of bytes that no later access has superseded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutstandingAccess {
    /// The use of memory by a command.
    pub used: MemoryUse,
    /// The first accessed byte of the memory; for images with optimal tiling, the first byte of the image.
    pub first: u64,
    /// The byte after the last accessed one; for images with optimal tiling, the byte after the image.
    pub end: u64,
    /// For each point, true if work that waits for it, by barrier or semaphore, is ordered after the access, and the access's writes are available by then.
    pub is_covered: Vec<bool>,
}

impl Model {
    /// Returns the accesses to an address space that later work has to be ordered after, each with the points that cover it.
    pub fn outstanding_accesses(&mut self, memory: MemoryId, points: &[WaitPoint]) -> Vec<OutstandingAccess> {
        let all = A::MEMORY_READ | A::MEMORY_WRITE;
        let waits = points.iter().map(|point| {
            let scopes = DependencyScopes {
                src: point.stages,
                src_access: point.accesses,
                dst: S::ALL_COMMANDS,
                dst_access: all,
            };
            CheckedWait {
                queue: point.queue,
                edge: Edge::new(&scopes, Limit::All, EdgeKind::Plain, Earlier::All, false),
                semaphore: point.semaphore,
                signaled: Signaled {
                    value: point.value,
                    by: Some(point.queue),
                },
            }
        });
        let waits: Vec<CheckedWait> = waits.collect();
        let mut outstanding = Vec::new();
        for record in self.records.entry(memory).or_default().iter_mut() {
            record.advance(&self.log, self.forgotten, &mut self.work);
            let used = record.used;
            outstanding.extend(
                record
                    .outstanding(&waits)
                    .into_iter()
                    .map(|((first, end), is_covered)| OutstandingAccess {
                        used,
                        first,
                        end,
                        is_covered,
                    }),
            );
        }
        outstanding
    }
}
