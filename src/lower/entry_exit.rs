//! Dependencies at both ends of a frame: of resources that come from the caller or from earlier frames, and of those that outlive the frame.

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::chains::{Chain, Epoch};
use super::error::LowerError;
use super::pass_use::QueueUse;
use super::pieces::{Piece, pieces};
use super::resolver::{InitialClear, Resolver, Source};
use super::state::ContentState;
use super::tables::commands::BarrierCause;
use crate::frame::external::{ExternalDesc, ResourceState};
use crate::frame::{PassId, Persistence};
use tileheap_device::scopes::WRITES;
use tileheap_units::CompactSort;

impl Resolver<'_> {
    /// Adds the barriers of external resources: from their entry state, and to their exit state.
    pub(super) fn external(&mut self, chain: &Chain) {
        let resource = self.placed.plan.frame.resource(chain.resource);
        if let Persistence::External(desc) = resource.persistence {
            let is_entered = self.enter(chain, desc, resource.is_image());
            self.leave_external(chain, desc, resource.is_image(), is_entered);
        }
    }

    /// Adds the entry barrier, if the first use needs one to wait for the caller's accesses; returns true if so.
    fn enter(&mut self, chain: &Chain, desc: ExternalDesc, is_image: bool) -> bool {
        let ExternalDesc { entry, exit } = desc;
        let (Some(first), Some(last)) = (self.chains.first_of(chain), self.chains.last_of(chain)) else {
            return false;
        };
        let writes = entry.access & WRITES;
        // A later write or transition waits for the caller's reads through the first use.
        let is_changed =
            chain.epochs.len() > 1 || exit.family.is_some() || changes_layout(exit, last, is_image);
        // Stages without accesses stand for unknown accesses: everything waits for them, and they wait for everything.
        let hazard = !first.is_read_only() || is_changed || !writes.is_empty() || entry.access.is_empty();
        let owner = desc.acquired_from(is_image);
        let waits = owner.is_some() || first.layout != entry.layout || (hazard && !entry.stages.is_empty());
        if waits {
            let to = self.chains.uses_of(first)[0];
            let source = match owner {
                // The first scope of an acquire is the stages at which the semaphores are waited for.
                Some(_) => Source::new(S::ALL_COMMANDS, A::NONE),
                None => self.entry_source(chain, entry, &to),
            };
            let mut barrier = self.barrier(chain, &to, first, source, BarrierCause::Entry);
            if let Some(owner) = owner {
                (barrier.families.src, barrier.families.dst) = (owner.index(), self.own_family(chain, &to));
            }
            barrier.layouts.0 = entry.layout;
            self.found.barriers.push(barrier);
            self.follow(chain, first, BarrierCause::Entry);
        }
        waits
    }

    /// The source scope with which the first use of a part waits for the caller's accesses. On a queue other than that of the resource's first use, it
    /// waits for the resource's first use instead.
    fn entry_source(&mut self, chain: &Chain, entry: ResourceState, to: &QueueUse) -> Source {
        let first = PassId(self.placed.plan.frame.lifetime_of(chain.resource).first.0);
        let writes = entry.access & WRITES;
        if entry.stages.is_empty() || self.placed.queue_of(first) == to.queue {
            return Source::new(entry.stages, writes);
        }
        self.add_queue_dependency(first, to.first, S::ALL_COMMANDS);
        // Submissions are ordered after the host on every queue.
        Source::new(S::ALL_COMMANDS | entry.stages & S::HOST, writes & A::HOST_WRITE)
    }

    fn leave_external(&mut self, chain: &Chain, desc: ExternalDesc, is_image: bool, is_entered: bool) {
        let exit = desc.exit;
        let Some(last) = self.chains.last_of(chain) else {
            return;
        };
        let uses = self.chains.uses_of(last);
        let end = *uses
            .iter()
            .max_by_key(|one| one.last)
            .expect("every epoch has at least one use");
        // A write or transition before the last use is visible to that use only.
        let is_seen = end.stages.contains(exit.stages) && end.access.contains(exit.access);
        let is_hidden = (is_entered || chain.epochs.len() > 1) && !is_seen;
        let writes = exit.access & WRITES;
        let hazard = !last.is_read_only() || is_hidden || !writes.is_empty() || exit.access.is_empty();
        let changes_layout = changes_layout(exit, last, is_image);
        if !changes_layout && exit.family.is_none() && (!hazard || exit.stages.is_empty()) {
            return;
        }
        let mut source = Source::new(end.stages, last.writes);
        for other in uses.iter().filter(|other| other.queue != end.queue) {
            self.wait_in_frame(other.last, end.last, S::ALL_COMMANDS);
            source.add(S::ALL_COMMANDS, A::NONE);
        }
        let mut barrier = self.barrier(chain, &end, last, source, BarrierCause::Exit);
        (barrier.pass, barrier.after) = (end.last, true);
        (barrier.scopes.dst_stages, barrier.scopes.dst_access) = match exit.family {
            None => (exit.stages, exit.access),
            Some(owner) => {
                (barrier.families.src, barrier.families.dst) = (self.own_family(chain, &end), owner.index());
                (S::NONE, A::NONE)
            }
        };
        barrier.layouts = (
            last.layout,
            if changes_layout { exit.layout } else { last.layout },
        );
        self.found.barriers.push(barrier);
    }

    /// The device's queue family in ownership transfers from and to families outside the device: that of the use's queue, or `VK_QUEUE_FAMILY_IGNORED`
    /// for a concurrently shared resource (VUID-VkImageMemoryBarrier2-image-09117).
    fn own_family(&self, chain: &Chain, one: &QueueUse) -> u32 {
        match self.shared.is_concurrent(chain.resource) {
            true => vk::QUEUE_FAMILY_IGNORED,
            false => self.placed.family_of(one.queue),
        }
    }

    /// Adds the barriers of a history's previous version, from the states in which earlier frames left it, piece by piece; pieces that no frame has written
    /// are cleared. `contents` has the states of all objects, sorted by object.
    pub(super) fn previous(
        &mut self,
        chain: &Chain,
        source: Source,
        contents: &[&ContentState],
    ) -> Result<(), LowerError> {
        let first = self
            .chains
            .first_of(chain)
            .expect("only chains with a first use are kept");
        let to = self.chains.uses_of(first)[0];
        let object = self.placed.object(chain.placement);
        let of_object = &contents[contents.partition_point(|state| state.object.get() < object)..];
        let of_object = of_object
            .iter()
            .copied()
            .take_while(|state| state.object == object);
        let written = of_object.filter(|state| state.defined);
        let resource = self.placed.plan.frame.resource(chain.resource);
        let pieces = pieces(resource, chain.range, written, self.placed.scratch);
        let is_written = pieces.iter().any(|piece| piece.state.is_some());
        // Unknown writes may have been made through any image or buffer.
        let cause = match is_written && source.access.contains(A::MEMORY_WRITE) {
            true => BarrierCause::Aliasing,
            false => BarrierCause::EarlierFrame,
        };
        for Piece { range, state } in pieces {
            if let Some(state) = state {
                self.check_owner(chain, &to, state)?;
                let mut barrier = self.barrier(chain, &to, first, source, cause);
                (barrier.range, barrier.layouts.0) = (range, state.layout);
                self.found.barriers.push(barrier);
                continue;
            }
            self.found.clears.push(InitialClear {
                pass: to.first,
                object,
                range,
                layout: first.layout,
                source,
                to: (to.stages, to.access),
                // The bytes of an object that no frame has written were written through another object, if at all.
                cause: match is_written || source.access.is_empty() {
                    true => cause,
                    false => BarrierCause::Aliasing,
                },
            });
        }
        self.follow(chain, first, cause);
        Ok(())
    }

    /// Returns an error if the contents are owned by a queue family other than that of `to`, unless families share the resource.
    fn check_owner(&self, chain: &Chain, to: &QueueUse, state: &ContentState) -> Result<(), LowerError> {
        let family = self.placed.family_of(to.queue);
        match state.family.get() {
            Some(owner) if owner != family && !self.shared.is_concurrent(chain.resource) => {
                let resource = self.placed.plan.frame.resource(chain.resource).name.clone();
                Err(LowerError::HistoryFamily {
                    resource,
                    owner,
                    family,
                })
            }
            _ => Ok(()),
        }
    }

    /// Records the state in which the frame leaves the contents of histories, for the next frame.
    pub(super) fn kept_contents(&mut self) {
        let frame = &self.placed.plan.frame;
        for chain in &self.chains.chains {
            let kept = frame.resource(chain.resource).persistence == Persistence::History;
            let (true, Some(last)) = (kept, self.chains.last_of(chain)) else {
                continue;
            };
            let use_ = self.chains.uses_of(last)[0];
            let concurrent = self.shared.is_concurrent(chain.resource);
            self.after.contents.push(ContentState {
                object: self.placed.object(chain.placement).into(),
                range: chain.range,
                defined: true,
                layout: last.layout,
                family: (!concurrent).then(|| self.placed.family_of(use_.queue)).into(),
            });
        }
        self.after.contents.compact_sort_by_key(|state| state.object);
    }
}

/// Returns true if an image changes its layout after its last use.
fn changes_layout(exit: ResourceState, last: &Epoch, is_image: bool) -> bool {
    is_image && exit.layout != vk::ImageLayout::UNDEFINED && exit.layout != last.layout
}
