//! Barriers: every dependency of the frame's resources, batched per pass.

use ash::vk;

use super::aliasing::{Space, SpaceKey, birth};
use super::arena::Placed;
use super::epoch::{Epoch, epochs_of};
use super::passes::{Barrier, BarrierCause, QueueTransfer, TransferHalf};
use super::timeline::Timeline;
use super::{MemoryKind, ObjectId, Placement, PlacementId};
use crate::frame::tables::Version;
use crate::frame::{Frame, PassId, Persistence, QueueId};
use crate::profile::DeviceProfile;
use crate::units::{Bytes, Run};

/// The flat table of barriers, and for every pass its runs before and after.
pub(super) struct Barriers {
    pub(super) table: Vec<Barrier>,
    pub(super) around: Vec<(Run, Run)>,
}

/// What one version of a resource goes through in a frame.
#[derive(Clone, Copy)]
struct Chain {
    placement: PlacementId,
    epochs: Run,
}

/// What an earlier use leaves for a later one to wait for.
#[derive(Clone, Copy, Default)]
struct Scope {
    stages: vk::PipelineStageFlags2,
    access: vk::AccessFlags2,
}

pub(super) fn plan_barriers(
    frame: &Frame,
    profile: &DeviceProfile,
    timeline: &Timeline,
    placed: &Placed,
    bound: &[Option<ObjectId>],
) -> Barriers {
    let mut planner = BarrierPlanner {
        frame,
        timeline,
        placed,
        bound,
        placements: &placed.placements,
        epochs: Vec::with_capacity(frame.accesses().len()),
        chains: Vec::with_capacity(placed.placements.len()),
        chain_of: vec![u32::MAX; placed.placements.len()],
        barriers: Vec::with_capacity(frame.accesses().len() + placed.placements.len()),
    };
    planner.gather_epochs(profile);
    planner.inside_chains();
    planner.first_uses();
    planner.externals();
    planner.histories();
    batch_by_pass(frame, &planner.barriers)
}

struct BarrierPlanner<'a> {
    frame: &'a Frame,
    timeline: &'a Timeline,
    placed: &'a Placed,
    /// Per pass, the tile object that is bound.
    bound: &'a [Option<ObjectId>],
    placements: &'a [Placement],
    epochs: Vec<Epoch>,
    chains: Vec<Chain>,
    /// Per placement, its chain; aliases of one resident go through that of the first.
    chain_of: Vec<u32>,
    /// (pass, after it?, barrier)
    barriers: Vec<(PassId, bool, Barrier)>,
}

impl BarrierPlanner<'_> {
    fn gather_epochs(&mut self, profile: &DeviceProfile) {
        for (id, run) in self.frame.resource_ids().zip(&self.placed.of_resource) {
            let ladder = self.placed.is_ladder(id);
            let versions = if ladder { 1 } else { 2 };
            let versions = [Version::Current, Version::Previous].into_iter().take(versions);
            for (index, version) in run.indices().zip(versions) {
                let first = self.epochs.len() as u32;
                let epochs = &mut self.epochs;
                epochs_of(self.frame, profile, self.timeline, id, version, ladder, epochs);
                self.chain_of[index] = self.chains.len() as u32;
                let epochs = Run {
                    first,
                    end: self.epochs.len() as u32,
                };
                self.chains.push(Chain {
                    placement: PlacementId(index as u32),
                    epochs,
                });
            }
        }
    }

    /// Boundaries between the epochs of one chain.
    fn inside_chains(&mut self) {
        for chain in 0..self.chains.len() {
            let Chain { placement, epochs } = self.chains[chain];
            for index in epochs.indices().skip(1) {
                let (before, after) = (self.epochs[index - 1], self.epochs[index]);
                let id = self.placements[placement.index()].resource;
                if self.placed.is_ladder(id) {
                    let at = |pass: PassId| self.placed.in_pass(id, self.bound[pass.index()]);
                    let of = (at(before.last), at(after.first));
                    self.boundary(of, BarrierCause::Ladder, &before, &after);
                } else {
                    self.boundary((placement, placement), BarrierCause::Hazard, &before, &after);
                }
            }
        }
    }

    /// The dependency of `after` on `before`, of the same contents: one barrier, or a transfer between queues.
    ///
    /// The two placements differ only around the frame's end, where the current version becomes the previous one.
    fn boundary(
        &mut self,
        of: (PlacementId, PlacementId),
        cause: BarrierCause,
        before: &Epoch,
        after: &Epoch,
    ) {
        let mut barrier = self.barrier(of.1, cause, scope_of(before, after.queue), after);
        if after.needs_contents {
            barrier.old_layout = before.layout;
        }
        if before.queue != after.queue && after.needs_contents {
            let (from, to) = (before.queue, after.queue);
            barrier.transfer = Some(QueueTransfer {
                from,
                to,
                half: TransferHalf::Acquire,
            });
            let release = Barrier {
                placement: of.0,
                src_stages: before.stages,
                src_access: before.writes,
                dst_stages: vk::PipelineStageFlags2::NONE,
                dst_access: vk::AccessFlags2::NONE,
                transfer: Some(QueueTransfer {
                    from,
                    to,
                    half: TransferHalf::Release,
                }),
                ..barrier
            };
            self.barriers.push((before.last, true, release));
        }
        self.barriers.push((after.first, false, barrier));
    }

    /// A barrier before `epoch` that discards the contents.
    fn barrier(&self, placement: PlacementId, cause: BarrierCause, src: Scope, epoch: &Epoch) -> Barrier {
        Barrier {
            resource: self.placements[placement.index()].resource,
            placement,
            cause,
            src_stages: src.stages,
            src_access: src.access,
            dst_stages: epoch.stages,
            dst_access: epoch.access,
            old_layout: vk::ImageLayout::UNDEFINED,
            new_layout: epoch.layout,
            transfer: None,
        }
    }

    /// First uses of transient resources, and of history resources of one copy: whoever held the bytes before, in this
    /// frame or the one before, must have finished.
    ///
    /// All aliases of a tile resident come into their layout then: later, a transition would discard what another one holds.
    fn first_uses(&mut self) {
        let placed = self.placed;
        let mut order: Vec<(SpaceKey, (u32, Bytes), u32)> = Vec::with_capacity(self.chains.len());
        for (index, placement) in self.placements.iter().enumerate() {
            let run = placed.of_resource[placement.resource.index()];
            let first_alias = run.first as usize == index && placement.memory == MemoryKind::Tile;
            if run.len() == 1 || first_alias {
                if let Some(object) = placement.object {
                    let key = match placement.memory {
                        MemoryKind::Tile => self.tile_space(placement),
                        _ => SpaceKey::Object(object),
                    };
                    order.push((key, birth(placement), index as u32));
                }
            }
        }
        order.sort_unstable();
        let indices: Vec<u32> = order.iter().map(|&(_, _, index)| index).collect();
        let mut before = vec![(Scope::default(), false); self.placements.len()];
        let mut space = Space::default();
        let mut start = 0;
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            let members = &indices[start..start + group.len()];
            start += group.len();
            space.walk(members, self.placements, |placement, holder| {
                let (Some(first), Some(last)) = (self.first_epoch(placement), self.last_epoch(holder)) else {
                    return;
                };
                let scope = scope_of(last, first.queue);
                let (sum, other) = &mut before[placement as usize];
                sum.stages |= scope.stages;
                sum.access |= scope.access;
                *other |= holder != placement;
            });
        }
        for &index in &indices {
            let Some(first) = self.first_epoch(index).copied() else {
                continue;
            };
            let (scope, other) = before[index as usize];
            let ladder = self.placed.is_ladder(self.placements[index as usize].resource);
            let cause = match (other, ladder) {
                (true, _) => BarrierCause::Aliasing,
                (false, true) => BarrierCause::Ladder,
                (false, false) => BarrierCause::NextFrame,
            };
            let barrier = self.barrier(PlacementId(index), cause, scope, &first);
            self.barriers.push((first.first, false, barrier));
            if self.placed.is_ladder(barrier.resource) && self.frame.resource(barrier.resource).is_image() {
                for alias in placed.of_resource[barrier.resource.index()].indices().skip(1) {
                    let placement = PlacementId(alias as u32);
                    self.barriers
                        .push((first.first, false, Barrier { placement, ..barrier }));
                }
            }
        }
    }

    fn tile_space(&self, placement: &Placement) -> SpaceKey {
        let first = PassId(placement.span.first.0);
        SpaceKey::Tile {
            queue: if self.timeline.queues_apart {
                self.timeline.queue_of(first).0
            } else {
                0
            },
        }
    }

    fn first_epoch(&self, placement: u32) -> Option<&Epoch> {
        self.chains[self.chain_of[placement as usize] as usize]
            .epochs
            .of(&self.epochs)
            .first()
    }

    fn last_epoch(&self, placement: u32) -> Option<&Epoch> {
        self.chains[self.chain_of[placement as usize] as usize]
            .epochs
            .of(&self.epochs)
            .last()
    }

    /// External resources come in from their entry state and go out into their exit state.
    fn externals(&mut self) {
        for chain in 0..self.chains.len() {
            let Chain { placement, epochs } = self.chains[chain];
            let resource = self.frame.resource(self.placements[placement.index()].resource);
            let Persistence::External(desc) = resource.persistence else {
                continue;
            };
            let (Some(&first), Some(&last)) =
                (epochs.of(&self.epochs).first(), epochs.of(&self.epochs).last())
            else {
                continue;
            };
            let (entry, exit) = (desc.entry, desc.exit);
            let entry_writes = writing(entry.access);
            // Stages without accesses are of accesses that nobody knows: all waits for them, and they for all.
            let hazard = !first.is_read_only() || !entry_writes.is_empty() || entry.access.is_empty();
            if first.layout != entry.layout || (hazard && !entry.stages.is_empty()) {
                let src = Scope {
                    stages: entry.stages,
                    access: entry_writes,
                };
                let mut barrier = self.barrier(placement, BarrierCause::Entry, src, &first);
                barrier.old_layout = entry.layout;
                self.barriers.push((first.first, false, barrier));
            }
            let moves = resource.is_image()
                && exit.layout != vk::ImageLayout::UNDEFINED
                && exit.layout != last.layout;
            let hazard = !last.is_read_only() || !writing(exit.access).is_empty() || exit.access.is_empty();
            if moves || (hazard && !exit.stages.is_empty()) {
                let mut barrier =
                    self.barrier(placement, BarrierCause::Exit, scope_of(&last, last.queue), &last);
                barrier.dst_stages = exit.stages;
                barrier.dst_access = exit.access;
                barrier.old_layout = last.layout;
                barrier.new_layout = if moves { exit.layout } else { last.layout };
                self.barriers.push((last.last, true, barrier));
            }
        }
    }

    /// History pairs: this frame's current version takes the copy that was the previous one in the frame before, and
    /// the other way round.
    fn histories(&mut self) {
        for (resource, run) in self.frame.resources().iter().zip(&self.placed.of_resource) {
            if run.len() != 2 || resource.persistence != Persistence::History {
                continue;
            }
            let (current, previous) = (run.first, run.first + 1);
            let ends = [
                self.first_epoch(current),
                self.last_epoch(current),
                self.first_epoch(previous),
                self.last_epoch(previous),
            ];
            let [Some(&write), Some(&written), Some(&read), Some(&done)] = ends else {
                continue;
            };
            let (current, previous) = (PlacementId(current), PlacementId(previous));
            let barrier = self.barrier(
                current,
                BarrierCause::NextFrame,
                scope_of(&done, write.queue),
                &write,
            );
            self.barriers.push((write.first, false, barrier));
            self.boundary((current, previous), BarrierCause::NextFrame, &written, &read);
        }
    }
}

/// What a use on `queue` has to wait for after `before`. Between queues, semaphores have made everything available, and
/// waiting in all stages chains to whatever stages the semaphore wait named.
fn scope_of(before: &Epoch, queue: QueueId) -> Scope {
    if before.queue == queue {
        Scope {
            stages: before.stages,
            access: before.writes,
        }
    } else {
        Scope {
            stages: vk::PipelineStageFlags2::ALL_COMMANDS,
            access: vk::AccessFlags2::NONE,
        }
    }
}

/// The writing flags among `access`.
fn writing(access: vk::AccessFlags2) -> vk::AccessFlags2 {
    use vk::AccessFlags2 as A;
    access
        & (A::SHADER_WRITE
            | A::SHADER_STORAGE_WRITE
            | A::COLOR_ATTACHMENT_WRITE
            | A::DEPTH_STENCIL_ATTACHMENT_WRITE
            | A::TRANSFER_WRITE
            | A::HOST_WRITE
            | A::MEMORY_WRITE)
}

/// Sorts the barriers by pass, those before it first, by counting; the order of discovery stays within.
fn batch_by_pass(frame: &Frame, barriers: &[(PassId, bool, Barrier)]) -> Barriers {
    let slot = |pass: PassId, after: bool| pass.index() * 2 + usize::from(after);
    let mut ends = vec![0u32; frame.passes().len() * 2 + 1];
    for (pass, after, _) in barriers {
        ends[slot(*pass, *after) + 1] += 1;
    }
    for index in 1..ends.len() {
        ends[index] += ends[index - 1];
    }
    let around = ends.windows(3).step_by(2).map(|w| {
        (
            Run {
                first: w[0],
                end: w[1],
            },
            Run {
                first: w[1],
                end: w[2],
            },
        )
    });
    let around = around.collect();
    let mut order = vec![0u32; barriers.len()];
    for (index, (pass, after, _)) in barriers.iter().enumerate() {
        let next = &mut ends[slot(*pass, *after)];
        order[*next as usize] = index as u32;
        *next += 1;
    }
    Barriers {
        table: order.iter().map(|&index| barriers[index as usize].2).collect(),
        around,
    }
}
