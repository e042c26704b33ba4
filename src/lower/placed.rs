//! The plan's placements and passes, as the tables name them.

use super::situation::{DeviceQueues, Parity};
use super::tables::{DeviceQueueIndex, Object};
use crate::frame::tables::{Access, Batch};
use crate::frame::{BatchId, PassId, Persistence, ResourceId};

use crate::plan::{MemoryKind, Placement, Plan};
use crate::units::Run;

/// A plan on the queues of a device, in frames of one parity.
pub(super) struct Placed<'a> {
    pub(super) plan: &'a Plan,
    pub(super) queues: &'a DeviceQueues,
    /// Per placement (as in even frames), the one whose memory and image or buffer it has: of a history pair, the other in odd frames.
    turns: Vec<u32>,
    /// Per placement, its row among images or buffers.
    objects: Vec<Object>,
    /// Per pass.
    queue_of: Vec<DeviceQueueIndex>,
    /// Per batch, the value of its queue's timeline semaphore when it is over.
    values: Vec<i64>,
    /// Per device queue, its batches.
    batches_on: Vec<i64>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(plan: &'a Plan, queues: &'a DeviceQueues, parity: Parity) -> Placed<'a> {
        let (mut images, mut buffers) = (0, 0);
        let object = |placement: &Placement| {
            let image = plan.frame.resource(placement.resource).is_image();
            let next = if image { &mut images } else { &mut buffers };
            *next += 1;
            if image {
                Object::Image(*next - 1)
            } else {
                Object::Buffer(*next - 1)
            }
        };
        let objects: Vec<Object> = plan.placements.iter().map(object).collect();
        let mut turns: Vec<u32> = (0..objects.len() as u32).collect();
        if parity == Parity::Odd {
            for (resource, planned) in plan.frame.resources().iter().zip(&plan.resources) {
                if resource.persistence == Persistence::History && planned.placements.len() == 2 {
                    let first = planned.placements.first as usize;
                    turns.swap(first, first + 1);
                }
            }
        }
        let mut batches_on = vec![0; queues.len()];
        let value = |batch: &Batch| {
            let queue = queues.declared()[plan.frame.submits()[batch.submit.index()].queue.index()];
            batches_on[queue.0 as usize] += 1;
            batches_on[queue.0 as usize]
        };
        let values = plan.frame.batches().iter().map(value).collect();
        let declared = |pass| queues.declared()[plan.frame.queue_of(pass).index()];
        Placed {
            plan,
            queues,
            turns,
            objects,
            queue_of: plan.frame.pass_ids().map(declared).collect(),
            values,
            batches_on,
        }
    }

    /// The placements of a resource.
    pub(super) fn placements_of(&self, resource: ResourceId) -> Run {
        self.plan.resources[resource.index()].placements
    }

    /// The image or buffer of a placement.
    pub(super) fn object(&self, placement: u32) -> Object {
        self.objects[self.turns[placement as usize] as usize]
    }

    /// The bytes of a placement in frames of this parity.
    pub(super) fn bytes_of(&self, placement: u32) -> &Placement {
        &self.plan.placements[self.turns[placement as usize] as usize]
    }

    /// Whether a resource is placed in tile memory with an image in several objects.
    pub(super) fn is_ladder(&self, resource: ResourceId) -> bool {
        let run = self.placements_of(resource);
        run.len() > 1 && self.plan.placements[run.first as usize].memory == MemoryKind::Tile
    }

    /// The placement that an access uses: of several images of a tile resident, the one in the object that is bound.
    pub(super) fn placement_of(&self, access: &Access) -> u32 {
        self.plan.placement_of(access).0
    }

    /// The placement of the current version that a pass uses.
    pub(super) fn in_pass(&self, resource: ResourceId, pass: PassId) -> u32 {
        self.plan.placement_in(resource, pass).0
    }

    /// The device queue that runs a pass.
    pub(super) fn queue_of(&self, pass: PassId) -> DeviceQueueIndex {
        self.queue_of[pass.index()]
    }

    /// The queue family that runs a pass.
    pub(super) fn family_of(&self, queue: DeviceQueueIndex) -> u32 {
        self.queues.family(queue)
    }

    /// The value of its queue's timeline semaphore when the batch of a pass is over, relative to the frame's begin.
    pub(super) fn value_of(&self, pass: PassId) -> i64 {
        self.value_of_batch(self.batch_of(pass))
    }

    /// The same of a batch.
    pub(super) fn value_of_batch(&self, batch: BatchId) -> i64 {
        self.values[batch.index()]
    }

    /// How many batches the frame has on a queue of the device.
    pub(super) fn batches_on(&self, queue: DeviceQueueIndex) -> i64 {
        self.batches_on[queue.0 as usize]
    }

    /// The batch of a pass.
    pub(super) fn batch_of(&self, pass: PassId) -> BatchId {
        self.plan.frame.batch_of(pass)
    }

    /// Whether `b` can wait for all of `a`: on one device queue by a barrier, else by the frame's semaphores.
    pub(super) fn is_ordered(&self, a: PassId, b: PassId) -> bool {
        (self.queue_of(a) == self.queue_of(b) && a < b) || self.plan.frame.happens_before(a, b)
    }
}
