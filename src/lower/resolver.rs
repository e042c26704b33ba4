//! Collects dependencies, and holds the state that the steps of finding them share.

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::chains::{Chain, Chains, Epoch};
use super::pass_use::QueueUse;
use super::placed::Placed;
use super::sharing::Shared;
use super::sources::Holder;
use super::state::MemoryState;
use super::tables::commands::{BarrierCause, Families, Scopes};
use super::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::frame::{BatchId, PassId, SubresourceRange};

/// The queue families of a barrier without an ownership transfer.
pub(super) const IGNORED: Families = Families {
    src: vk::QUEUE_FAMILY_IGNORED,
    dst: vk::QUEUE_FAMILY_IGNORED,
};

/// A barrier of an image or a buffer, before or after a pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    pub(super) pass: PassId,
    pub(super) after: bool,
    pub(super) object: ImageOrBuffer,
    /// The part of an image.
    pub(super) range: SubresourceRange,
    pub(super) scopes: Scopes,
    pub(super) layouts: (vk::ImageLayout, vk::ImageLayout),
    pub(super) families: Families,
    pub(super) cause: BarrierCause,
}

/// A dependency between batches on two device queues, which the frame's semaphores provide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueueDependency {
    pub(super) from: BatchId,
    pub(super) to: BatchId,
    /// The stages that the signal has to cover.
    pub(super) stages: S,
}

/// A wait of a batch in addition to those that the frame declares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) batch: BatchId,
    pub(super) queue: DeviceQueueIndex,
    pub(super) on: WaitFor,
    pub(super) stages: S,
}

/// The target of an additional wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitFor {
    /// A value of a queue's timeline, relative to the start of the frame: 0 or less.
    Earlier(i64),
    /// A batch of this frame.
    Batch(BatchId),
}

/// A clear of contents that no frame has written, before their first use.
#[derive(Clone, Copy, Debug)]
pub(super) struct InitialClear {
    pub(super) pass: PassId,
    pub(super) object: ImageOrBuffer,
    pub(super) range: SubresourceRange,
    /// The layout of the first use of the contents.
    pub(super) layout: vk::ImageLayout,
    /// The source that the clear waits for.
    pub(super) source: Source,
    /// The stages and accesses that wait for the clear.
    pub(super) to: (S, A),
    /// The cause of the wait.
    pub(super) cause: BarrierCause,
}

/// The frame's dependencies.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    pub(super) barriers: Vec<Barrier>,
    pub(super) queue_dependencies: Vec<QueueDependency>,
    pub(super) waits: Vec<Wait>,
    pub(super) clears: Vec<InitialClear>,
}

/// Finds dependencies: the inputs, and the dependencies found so far.
pub(super) struct Resolver<'a> {
    pub(super) placed: &'a Placed<'a>,
    pub(super) shared: &'a Shared<'a>,
    pub(super) chains: &'a Chains,
    pub(super) before: &'a MemoryState,
    /// Placements in the current address space some of whose parts the frame does not use, each with an earlier holder of their bytes.
    pub(super) untouched: bumpalo::collections::Vec<'a, (u32, Holder)>,
    /// Chains of previous versions of histories, each with the source that the first use of its bytes waits for.
    pub(super) kept_sources: bumpalo::collections::Vec<'a, (usize, Source)>,
    pub(super) found: &'a mut Dependencies,
    /// The memory state that the frame leaves.
    pub(super) after: &'a mut MemoryState,
}

/// The source scope of a use's barrier on its own queue, gathered from everything before the use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Source {
    pub(super) stages: S,
    pub(super) access: A,
}

impl Source {
    pub(super) fn new(stages: S, access: A) -> Source {
        Source { stages, access }
    }

    pub(super) fn add(&mut self, stages: S, access: A) {
        self.stages |= stages;
        self.access |= access;
    }
}

impl Resolver<'_> {
    /// Makes a pass wait for one on another queue: by the frame's semaphores, whose signals then have to cover these stages, or by an additional wait
    /// of its batch if no semaphores lead there.
    pub(super) fn add_queue_dependency(&mut self, from: PassId, to: PassId, stages: S) {
        if self.placed.is_ordered(from, to) {
            let (from, to) = (self.placed.batch_of(from), self.placed.batch_of(to));
            self.found
                .queue_dependencies
                .push(QueueDependency { from, to, stages });
        } else {
            self.wait_in_frame(from, to, S::ALL_COMMANDS);
        }
    }

    /// The source scope of a use after uses in the same frame. Between queues, semaphores have made everything available, and waiting in all
    /// stages chains to whichever stages the semaphore wait names.
    pub(super) fn source_in_frame(&mut self, earlier: &[QueueUse], writes: A, later: &QueueUse) -> Source {
        let mut source = Source::default();
        for one in earlier {
            if one.queue == later.queue {
                source.add(one.stages, writes);
            } else {
                self.add_queue_dependency(one.last, later.first, one.stages);
                source.add(S::ALL_COMMANDS, A::NONE);
            }
        }
        source
    }

    /// Makes the batch of one pass wait for that of a pass on another queue, in addition to the frame's declared waits.
    pub(super) fn wait_in_frame(&mut self, from: PassId, to: PassId, stages: S) {
        self.found.waits.push(Wait {
            batch: self.placed.batch_of(to),
            queue: self.placed.queue_of(from),
            on: WaitFor::Batch(self.placed.batch_of(from)),
            stages,
        });
    }

    /// The image or buffer through which a pass uses a part.
    pub(super) fn object_in(&self, chain: &Chain, pass: PassId) -> ImageOrBuffer {
        let placement = match chain.is_ladder {
            true => self.placed.in_pass(chain.resource, pass),
            false => chain.placement,
        };
        self.placed.object(placement)
    }

    /// A barrier before a use, from the layout `UNDEFINED`, which discards earlier contents.
    pub(super) fn barrier(
        &self,
        chain: &Chain,
        to: &QueueUse,
        epoch: &Epoch,
        from: Source,
        cause: BarrierCause,
    ) -> Barrier {
        Barrier {
            pass: to.first,
            after: false,
            object: self.object_in(chain, to.first),
            range: chain.range,
            scopes: Scopes {
                src_stages: from.stages,
                src_access: from.access,
                dst_stages: to.stages,
                dst_access: to.access,
            },
            layouts: (vk::ImageLayout::UNDEFINED, epoch.layout),
            families: IGNORED,
            cause,
        }
    }

    /// Orders the other uses of an epoch on several queues after its first use, whose barrier prepares the contents: their batches wait for its batch.
    #[inline]
    pub(super) fn follow(&mut self, chain: &Chain, epoch: &Epoch, cause: BarrierCause) {
        if epoch.uses.len() > 1 {
            self.follow_first(chain, epoch, cause);
        }
    }

    /// Like [`Resolver::follow`], for an epoch on several queues.
    fn follow_first(&mut self, chain: &Chain, epoch: &Epoch, cause: BarrierCause) {
        let uses = self.chains.uses_of(epoch);
        for other in &uses[1..] {
            self.wait_in_frame(uses[0].first, other.first, other.stages);
            let source = Source::new(other.stages, A::NONE);
            let mut barrier = self.barrier(chain, other, epoch, source, cause);
            barrier.layouts.0 = epoch.layout;
            self.found.barriers.push(barrier);
        }
    }
}
