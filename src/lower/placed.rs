//! The plan's placements and passes, with their device queues and their rows in the tables.

use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::lowering_desc::{DeviceQueues, Parity};
use super::subpasses::is_dynamic;
use super::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::frame::tables::Access;
use crate::frame::{BatchId, Frame, PassId, Persistence, ResourceId};

use crate::plan::{MemoryKind, Placement, Plan};
use crate::units::Run;
use tileheap_device::AccessKinds;

/// A plan on the queues of a device, in frames of one parity.
pub(super) struct Placed<'a> {
    pub(super) plan: &'a Plan,
    pub(super) queues: &'a DeviceQueues,
    /// Working memory for lowering.
    pub(super) scratch: &'a Bump,
    /// In odd frames, per placement, the placement whose memory and image or buffer it uses: the other one of a history's pair, otherwise itself. Empty in
    /// even frames.
    swapped_placements: Vec<'a, u32>,
    /// Per resource, the result of [`Placed::is_plain`].
    plain: Vec<'a, bool>,
    /// Per placement, its row of the image or buffer table.
    objects: Vec<'a, ImageOrBuffer>,
    /// Per pass, the device queue that runs it.
    queue_of: Vec<'a, DeviceQueueIndex>,
    /// Per pass, the kinds of its accesses.
    kinds: Vec<'a, AccessKinds>,
    /// Per pass, true for a render pass that `vkCmdBeginRendering` begins.
    dynamic: Vec<'a, bool>,
    /// Per batch, the value of its queue's timeline semaphore once it has completed.
    values: Vec<'a, i64>,
    /// Per device queue, the number of its batches.
    batches_on: Vec<'a, i64>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        queues: &'a DeviceQueues,
        parity: Parity,
        scratch: &'a Bump,
    ) -> Placed<'a> {
        let frame = &plan.frame;
        let (mut images, mut buffers) = (0, 0);
        let object = |placement: &Placement| {
            let is_image = frame.resource(placement.resource).is_image();
            let rows = if is_image { &mut images } else { &mut buffers };
            *rows += 1;
            if is_image {
                ImageOrBuffer::Image(*rows - 1)
            } else {
                ImageOrBuffer::Buffer(*rows - 1)
            }
        };
        let mut placed = Placed {
            plan,
            queues,
            scratch,
            swapped_placements: Vec::new_in(scratch),
            plain: Vec::from_iter_in(frame.resource_ids().map(|id| is_plain(frame, id)), scratch),
            objects: Vec::from_iter_in(plan.placements.iter().map(object), scratch),
            queue_of: bumpalo::vec![in scratch; DeviceQueueIndex::default(); frame.passes().len()],
            kinds: Vec::with_capacity_in(frame.passes().len(), scratch),
            dynamic: Vec::with_capacity_in(frame.passes().len(), scratch),
            values: Vec::with_capacity_in(frame.batches().len(), scratch),
            batches_on: bumpalo::vec![in scratch; 0; queues.len()],
        };
        for pass in frame.pass_ids() {
            let accesses = frame.accesses_of(pass).iter();
            let kinds = accesses.fold(AccessKinds::default(), |kinds, access| kinds.with(access.kind));
            placed.kinds.push(kinds);
            placed
                .dynamic
                .push(is_dynamic(frame, &plan.profile, (pass, kinds), scratch));
        }
        if parity == Parity::Odd {
            placed.swapped_placements.extend(0..plan.placements.len() as u32);
            for (resource, planned) in frame.resources().iter().zip(&plan.resources) {
                if resource.persistence == Persistence::History && planned.placements.len() == 2 {
                    let first = planned.placements.first as usize;
                    placed.swapped_placements.swap(first, first + 1);
                }
            }
        }
        for batch in frame.batches() {
            let queue = queues.declared()[frame.submits()[batch.submit.index()].queue.index()];
            let before = &mut placed.batches_on[queue.0 as usize];
            *before += 1;
            placed.values.push(*before);
            for commands in batch.command_buffers.of(frame.command_buffers()) {
                placed.queue_of[commands.passes.indices()].fill(queue);
            }
        }
        placed
    }

    /// The placements of a resource.
    pub(super) fn placements_of(&self, resource: ResourceId) -> Run {
        self.plan.resources[resource.index()].placements
    }

    /// The placement whose memory and image or buffer a placement uses in frames of this parity.
    fn placement_in_parity(&self, placement: u32) -> usize {
        *self
            .swapped_placements
            .get(placement as usize)
            .unwrap_or(&placement) as usize
    }

    /// The image or buffer of a placement.
    pub(super) fn object(&self, placement: u32) -> ImageOrBuffer {
        self.objects[self.placement_in_parity(placement)]
    }

    /// The bytes of a placement in frames of this parity.
    pub(super) fn bytes_of(&self, placement: u32) -> &Placement {
        &self.plan.placements[self.placement_in_parity(placement)]
    }

    /// Returns true if a resource is placed in tile memory with an image in several objects.
    pub(super) fn is_ladder(&self, resource: ResourceId) -> bool {
        let run = self.placements_of(resource);
        run.len() > 1 && self.plan.placements[run.first as usize].memory == MemoryKind::Tile
    }

    /// The placement that an access uses: if a resource has images in several tile memory objects, the one in the bound object.
    pub(super) fn placement_of(&self, access: &Access) -> u32 {
        self.plan.placement_of(access).0
    }

    /// The placement of the current version that a pass uses.
    pub(super) fn in_pass(&self, resource: ResourceId, pass: PassId) -> u32 {
        self.plan.placement_in(resource, pass).0
    }

    /// The kinds of the accesses of a pass.
    pub(super) fn kinds_in(&self, pass: PassId) -> AccessKinds {
        self.kinds[pass.index()]
    }

    /// Returns true for a resource that is neither a history nor a 3D image, and has only one part: all its accesses are to the same version and part.
    pub(super) fn is_plain(&self, id: ResourceId) -> bool {
        self.plain[id.index()]
    }

    /// Returns true if a pass is a render pass that `vkCmdBeginRendering` begins.
    pub(super) fn is_dynamic(&self, pass: PassId) -> bool {
        self.dynamic[pass.index()]
    }

    /// The device queue that runs a pass.
    pub(super) fn queue_of(&self, pass: PassId) -> DeviceQueueIndex {
        self.queue_of[pass.index()]
    }

    /// The queue family of a device queue.
    pub(super) fn family_of(&self, queue: DeviceQueueIndex) -> u32 {
        self.queues.family(queue)
    }

    /// The value of its queue's timeline semaphore once the batch of a pass has completed, relative to the start of the frame.
    pub(super) fn value_of(&self, pass: PassId) -> i64 {
        self.value_of_batch(self.batch_of(pass))
    }

    /// Like [`Placed::value_of`], for a batch.
    pub(super) fn value_of_batch(&self, batch: BatchId) -> i64 {
        self.values[batch.index()]
    }

    /// The number of batches that the frame has on a device queue.
    pub(super) fn batches_on(&self, queue: DeviceQueueIndex) -> i64 {
        self.batches_on[queue.0 as usize]
    }

    /// The batch of a pass.
    pub(super) fn batch_of(&self, pass: PassId) -> BatchId {
        self.plan.frame.batch_of(pass)
    }

    /// Returns true if `b` can wait for all of `a`: on one device queue by a barrier, otherwise by the frame's semaphores.
    pub(super) fn is_ordered(&self, a: PassId, b: PassId) -> bool {
        (self.queue_of(a) == self.queue_of(b) && a < b) || self.plan.frame.happens_before(a, b)
    }
}

fn is_plain(frame: &Frame, id: ResourceId) -> bool {
    let ([part], resource) = (frame.parts_of(id), frame.resource(id)) else {
        return false;
    };
    resource.persistence != Persistence::History && !resource.is_3d() && part.aspects == resource.aspects()
}
