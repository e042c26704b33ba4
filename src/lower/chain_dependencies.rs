//! Dependencies between the epochs of one chain.

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::chains::{Chain, Epoch};
use super::pass_use::QueueUse;
use super::resolver::{Barrier, Resolver, Source};
use super::tables::commands::{BarrierCause, Families, Scopes};

impl Resolver<'_> {
    /// Adds the dependencies between the epochs of one chain, and between uses of slices inside the epochs.
    pub(super) fn chain_dependencies(&mut self, chain: &Chain) {
        let epochs = chain.epochs.of(&self.chains.epochs);
        for pair in epochs.windows(2) {
            self.boundary(chain, &pair[0], &pair[1]);
        }
        for one in chain.slice_hazards.of(&self.chains.slice_hazards) {
            let epoch = &self.chains.epochs[one.epoch as usize];
            let source = Source::new(one.after, one.writes);
            let mut barrier = self.barrier(chain, &one.queue_use, epoch, source, cause_of(chain));
            barrier.layouts.0 = epoch.layout;
            self.found.barriers.push(barrier);
        }
    }

    /// Adds the dependency of epoch `after` on `before`, the previous epoch of the same contents.
    fn boundary(&mut self, chain: &Chain, before: &Epoch, after: &Epoch) {
        let (earlier, later) = (self.chains.uses_of(before), self.chains.uses_of(after));
        let cause = cause_of(chain);
        let old = if after.needs_contents {
            before.layout
        } else {
            vk::ImageLayout::UNDEFINED
        };
        if later.len() == 1 || earlier.len() > 1 {
            // After uses on several queues, the queue of the next use is the only one on which all are known to have completed.
            let next = &later[0];
            let source = self.source_in_frame(earlier, before.writes, next);
            let mut barrier = self.barrier(chain, next, after, source, cause);
            barrier.layouts.0 = old;
            if let Some(families) = self
                .transfer(chain, earlier, next)
                .filter(|_| after.needs_contents)
            {
                barrier.families = families;
                self.release(chain, &barrier, earlier, before);
                barrier.cause = BarrierCause::Acquire;
            }
            self.found.barriers.push(barrier);
            self.follow(chain, after, cause);
            return;
        }
        // Reads on several queues: a transition after the last use before them brings the image into the layout of all of them.
        let last = earlier[earlier.len() - 1];
        let source = Source::new(last.stages, before.writes);
        let mut transition = self.barrier(chain, &last, after, source, cause);
        (transition.pass, transition.after) = (last.last, true);
        transition.layouts.0 = old;
        transition.scopes.dst_stages = S::ALL_COMMANDS;
        transition.scopes.dst_access = A::MEMORY_READ;
        self.found.barriers.push(transition);
        for other in later.iter().filter(|other| other.queue != last.queue) {
            self.add_queue_dependency(last.last, other.first, S::ALL_COMMANDS);
            let source = Source::new(S::ALL_COMMANDS, A::NONE);
            let mut arrival = self.barrier(chain, other, after, source, cause);
            arrival.layouts.0 = after.layout;
            self.found.barriers.push(arrival);
        }
    }

    /// The source and destination families of the queue family ownership transfer before `later`, if it needs one.
    fn transfer(&self, chain: &Chain, earlier: &[QueueUse], later: &QueueUse) -> Option<Families> {
        let families = Families {
            src: self.placed.family_of(earlier.last()?.queue),
            dst: self.placed.family_of(later.queue),
        };
        (families.src != families.dst && !self.shared.is_concurrent(chain.resource)).then_some(families)
    }

    /// Adds the release operations that match an acquire, on the queue that used the resource.
    fn release(&mut self, chain: &Chain, acquire: &Barrier, earlier: &[QueueUse], before: &Epoch) {
        for one in earlier {
            let mut release = *acquire;
            (release.pass, release.after) = (one.last, true);
            release.scopes = Scopes {
                src_stages: one.stages,
                src_access: before.writes,
                dst_stages: S::NONE,
                dst_access: A::NONE,
            };
            release.object = self.object_in(chain, one.last);
            release.cause = BarrierCause::Release;
            self.found.barriers.push(release);
            self.add_queue_dependency(one.last, acquire.pass, S::ALL_COMMANDS);
        }
    }
}

fn cause_of(chain: &Chain) -> BarrierCause {
    match chain.is_ladder {
        true => BarrierCause::Ladder,
        false => BarrierCause::Hazard,
    }
}
