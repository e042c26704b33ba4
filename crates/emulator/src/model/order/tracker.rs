//! Tracks synchronization and contents of tile memory, and of ordinary memory that resources share, across all submissions of a device.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::batches;
use tileheap_layer::host_waits::HostWait;
use tileheap_sync::program::{
    self, Batch, Command, CommandBuffer, HostStep, MemoryId, QueueId, Resource as Bound, ResourceId,
    SharingMode, Texels, Tiling,
};
use tileheap_sync::{Findings, Model};
use tileheap_units::{IdMap, IdSet, Run};

use super::log::{BATCH_END, EnclosingSubpass, Log, ORDINARY, log_of};
use super::mistakes::Repeated;
use super::ordinary::{BoundResource, OrdinaryMemory, Shared};
use super::report::{FindingReporter, UnseenWork};
use super::sites::Sites;
use super::unseen::{UnseenSource, UnseenWritesSoFar, share_unseen_writes};
use super::{fence_id, queue_id, semaphore_id};
use crate::model::discards::{Discard, DiscardReason};
use crate::model::finding::Finding;
use crate::model::objects::Object;
use crate::model::position::Submit;
use crate::model::resources::Resource;
use crate::tables::unseen_writes::UnseenWrites;

/// Minimum number of events in new logs between two prunings.
const MIN_NEW_EVENTS: usize = 16 * 1024;

/// Tracks the order and the contents of everything that is submitted to a device: the model, and the resources and commands that
/// its ids and tags refer to.
#[derive(Default)]
pub(crate) struct Tracker {
    model: Model,
    /// The resources that are bound to memory, by number.
    placed: IdMap<u32, Arc<Resource>>,
    /// The number of resources in tile memory.
    tile_resource_count: usize,
    /// The model's ids of resources on each queue, by number: each queue has separate tile memory. For ordinary memory, the queue is
    /// null.
    ids: IdMap<u32, Vec<(vk::Queue, ResourceId)>>,
    /// The numbers of placed resources that interpret the same bytes in the same way, by
    /// [`MemoryBinding::contents`](crate::model::resources::MemoryBinding::contents).
    by_contents: IdMap<u64, Vec<u32>>,
    ordinary: OrdinaryMemory,
    /// The resources in ordinary memory that share bytes, or did so before, by number; others are not tracked.
    shared: IdMap<u32, Shared>,
    /// Unbound resources that barriers transfer to other queue families, by number.
    transferred: IdMap<u32, Transferred>,
    /// The numbers of the resources in `transferred`, by object.
    transferred_numbers: IdMap<Object, u32>,
    /// The number of times that a resource started to share bytes.
    sharing_epoch: u64,
    /// The number of batches that were submitted.
    batch_count: u64,
    waited: Waited,
    sites: Sites,
    finding_reporter: FindingReporter,
    follows_order: bool,
    unseen: UnseenWritesSoFar,
    /// True if something that the layer does not track may have ordered work: hazards are no longer certain.
    has_unseen_order: bool,
    /// True if a barrier that the model treats as one without a transfer may have transferred resources.
    has_unseen_transfers: bool,
}

/// Fences and values of timeline semaphores that the host has waited for: programs query them repeatedly.
#[derive(Default)]
struct Waited {
    fences: IdSet<vk::Fence>,
    values: IdMap<vk::Semaphore, u64>,
}

impl Waited {
    /// Records the result of a wait. Returns `false` if an earlier wait had this result.
    fn is_new(&mut self, wait: HostWait) -> bool {
        match wait {
            HostWait::Fence(fence) => self.fences.insert(fence),
            HostWait::Semaphore(semaphore, value) => {
                let known = self.values.entry(semaphore).or_default();
                let is_new = value > *known;
                *known = value.max(*known);
                is_new
            }
            HostWait::Queue(_) | HostWait::Device | HostWait::AnyOf => true,
        }
    }
}

/// A resource that is not bound, with the model's id once a transfer of it was submitted.
struct Transferred {
    object: Object,
    id: Option<ResourceId>,
}

/// A batch to submit.
pub(crate) struct TrackedBatch<'a> {
    pub(crate) submit: Submit,
    pub(crate) family: u32,
    pub(crate) batch: &'a batches::Batch,
    pub(crate) logs: Vec<Arc<Log>>,
    pub(crate) fence: vk::Fence,
    /// The reason why all of tile memory becomes undefined at the end of the batch; `None` if it does not.
    pub(crate) end_discard: Option<DiscardReason>,
}

impl Tracker {
    /// Creates the model of a device with this `bufferImageGranularity`; if `order` is false, it only tracks contents.
    pub(crate) fn new(order: bool, finding_reporter: FindingReporter, granularity: u64) -> Tracker {
        let mut tracker = Tracker {
            finding_reporter,
            ordinary: OrdinaryMemory::new(granularity),
            follows_order: order,
            ..Tracker::default()
        };
        tracker.model.set_follows_order(order);
        tracker
    }

    /// Records that a resource is bound to memory. Returns the resources that are tracked from now on, and messages about unseen writes that can
    /// reach them.
    pub(crate) fn bind(&mut self, resource: &Arc<Resource>) -> (Vec<Arc<Resource>>, Vec<Finding>) {
        self.placed.insert(resource.number, resource.clone());
        if let Some(place) = resource.place.get().filter(|place| place.contents != 0) {
            self.by_contents
                .entry(place.contents)
                .or_default()
                .push(resource.number);
        }
        let Some(place) = resource.place.get().filter(|place| !place.is_tile) else {
            self.tile_resource_count += 1;
            return (vec![resource.clone()], self.unseen.follow(resource));
        };
        let resident = BoundResource {
            number: resource.number,
            bytes: (place.first, place.end),
            is_linear: !matches!(resource.tiling, Tiling::Optimal(_)),
            bound_at: self.batch_count,
        };
        let mut new = Vec::new();
        let all = self.ordinary.bind(place.memory, resident, self.batch_count);
        for shared in all {
            if let Some(other) = self
                .placed
                .get(&shared.number)
                .filter(|_| shared.number != resource.number)
            {
                share_unseen_writes(resource, other);
            }
            if let Entry::Vacant(entry) = self.shared.entry(shared.number) {
                entry.insert(shared);
                self.sharing_epoch += 1;
                new.extend(self.placed.get(&shared.number).cloned());
            }
        }
        for resource in &new {
            // Its contents are tracked from now on, regardless of when it is accessed first.
            self.id(ResourceId(resource.number), vk::Queue::null());
        }
        let messages = new
            .iter()
            .flat_map(|resource| self.unseen.follow(resource))
            .collect();
        (new, messages)
    }

    /// Frees a memory object.
    pub(crate) fn free(&mut self, memory: vk::DeviceMemory) {
        if let Some(id) = self.ordinary.free(memory.as_raw()) {
            self.model.free(id);
        }
        self.sites.unmap(memory);
        self.unseen.free(memory.as_raw());
    }

    /// Records that the host maps a memory object: the host may write to buffers and linear images in it.
    pub(crate) fn map(&mut self, memory: vk::DeviceMemory) {
        self.sites.map(memory);
    }

    /// The number of an unbound resource that a barrier transfers to another queue family.
    pub(crate) fn number_of_transferred(
        &mut self,
        object: Object,
        new_number: impl FnOnce() -> u32,
    ) -> ResourceId {
        let number = self.transferred_numbers.entry(object).or_insert_with(|| {
            let number = new_number();
            self.transferred.insert(number, Transferred { object, id: None });
            number
        });
        ResourceId(*number)
    }

    /// Records that a command may write to resources in ways that the layer does not see: from now on, lost contents of the resources that it
    /// can reach are only possible findings. Returns messages about the first such command.
    pub(crate) fn allow_unseen_writes(&mut self, writes: UnseenWrites, source: UnseenSource) -> Vec<Finding> {
        self.unseen.allow(writes, source)
    }

    /// Records that a memory object is accessed through an untracked resource: lost contents in it are only possible findings.
    pub(crate) fn allow_unseen_writes_in(&mut self, memory: vk::DeviceMemory) {
        self.unseen.allow_in(memory.as_raw());
    }

    /// Records that something untracked may order work from now on: hazards are no longer certain.
    pub(crate) fn allow_unseen_order(&mut self) {
        self.has_unseen_order = true;
    }

    /// Records that a barrier transfers a resource in a way that is not tracked: missing transfers are no longer certain.
    pub(crate) fn allow_unseen_transfers(&mut self) {
        self.has_unseen_transfers = true;
    }

    /// Sets, for each queue family, the mask of the families that can use its images without an ownership transfer.
    pub(crate) fn set_implicit_transfers(&mut self, masks: &[u32]) {
        for (from, to) in (0..).zip(masks) {
            self.model.set_implicit_transfers(from, *to);
        }
    }

    /// Presents swapchain images: the presentation engine waits for semaphores, and signals fences.
    pub(crate) fn present(&mut self, waits: &[vk::Semaphore], fences: &[vk::Fence]) -> Vec<Finding> {
        let mut found = self.step(&HostStep::Submit(Batch {
            queue: PRESENTATION,
            family: vk::QUEUE_FAMILY_EXTERNAL,
            waits: waits.iter().map(|semaphore| binary(*semaphore)).collect(),
            ..Batch::default()
        }));
        for fence in fences {
            found.extend(self.acquire(vk::Semaphore::null(), *fence));
        }
        found
    }

    /// Acquires a swapchain image: the presentation engine signals a semaphore and a fence, either of which may be null.
    pub(crate) fn acquire(&mut self, semaphore: vk::Semaphore, fence: vk::Fence) -> Vec<Finding> {
        self.waited.fences.remove(&fence);
        let signals = [semaphore].into_iter().filter(|semaphore| !semaphore.is_null());
        self.step(&HostStep::Submit(Batch {
            queue: PRESENTATION,
            family: vk::QUEUE_FAMILY_EXTERNAL,
            signals: signals.map(binary).collect(),
            fence: (!fence.is_null()).then(|| fence_id(fence)),
            ..Batch::default()
        }))
    }

    /// Removes a destroyed resource.
    pub(crate) fn remove(&mut self, object: Object, resource: Option<&Resource>) {
        let model = &mut self.model;
        if let Some(resource) = resource.filter(|resource| self.placed.remove(&resource.number).is_some()) {
            let ids = self.ids.remove(&resource.number).unwrap_or_default();
            ids.iter().for_each(|(_, id)| model.remove(*id));
            let contents = resource.place.get().map_or(0, |place| place.contents);
            if let Entry::Occupied(mut alike) = self.by_contents.entry(contents) {
                alike.get_mut().retain(|number| *number != resource.number);
                if alike.get().is_empty() {
                    alike.remove();
                }
            }
            self.shared.remove(&resource.number);
            match resource.place.get() {
                Some(place) if !place.is_tile => self.ordinary.unbind(place.memory, resource.number),
                _ => self.tile_resource_count -= 1,
            }
        }
        if let Some(number) = self.transferred_numbers.remove(&object) {
            let one = self.transferred.remove(&number);
            if let Some(id) = one.and_then(|one| one.id) {
                model.remove(id);
                model.free(transferred_memory(number));
            }
        }
    }

    /// Adds a timeline semaphore.
    pub(crate) fn create_timeline(&mut self, semaphore: vk::Semaphore, value: u64) {
        self.model.create_timeline(semaphore_id(semaphore), value);
    }

    /// Removes a destroyed semaphore.
    pub(crate) fn destroy_semaphore(&mut self, semaphore: vk::Semaphore) {
        self.waited.values.remove(&semaphore);
        self.model.destroy_semaphore(semaphore_id(semaphore));
    }

    /// Removes a destroyed fence.
    pub(crate) fn destroy_fence(&mut self, fence: vk::Fence) {
        self.waited.fences.remove(&fence);
        self.model.destroy_fence(fence_id(fence));
    }

    /// Removes a destroyed event.
    pub(crate) fn destroy_event(&mut self, event: vk::Event) {
        self.model.destroy_event(super::event_id(event));
    }

    /// Resets a fence.
    pub(crate) fn reset_fence(&mut self, fence: vk::Fence) -> Vec<Finding> {
        self.waited.fences.remove(&fence);
        self.step(&HostStep::ResetFence(fence_id(fence)))
    }

    /// Signals a timeline semaphore from the host.
    pub(crate) fn signal(&mut self, semaphore: vk::Semaphore, value: u64) -> Vec<Finding> {
        self.step(&HostStep::SignalSemaphore(semaphore_id(semaphore), value))
    }

    /// Records that a host wait has completed.
    pub(crate) fn wait(&mut self, wait: HostWait) -> Vec<Finding> {
        if !self.waited.is_new(wait) {
            return Vec::new();
        }
        self.step(&match wait {
            HostWait::Fence(fence) => HostStep::WaitFence(fence_id(fence)),
            HostWait::Semaphore(semaphore, value) => HostStep::WaitSemaphore(semaphore_id(semaphore), value),
            HostWait::Queue(queue) => HostStep::WaitIdle(Some(queue_id(queue))),
            HostWait::Device => HostStep::WaitIdle(None),
            HostWait::AnyOf => {
                self.allow_unseen_order();
                return Vec::new();
            }
        })
    }

    /// Submits a batch. Returns its findings, and those of batches that waited for it.
    pub(crate) fn submit(&mut self, given: TrackedBatch<'_>) -> Vec<Finding> {
        if self.sites.needs_pruning(MIN_NEW_EVENTS) {
            self.prune();
        }
        self.batch_count += 1;
        self.waited.fences.remove(&given.fence);
        let queue = vk::Queue::from_raw(given.submit.queue);
        // Without accesses, dependencies have no effect. If order is not tracked, the model has no accesses.
        let has_accesses = || given.logs.iter().any(|log| log.has_accesses);
        let matter = !self.follows_order || !self.model.is_idle() || self.follows_any() && has_accesses();
        let mut command_buffers = Vec::new();
        if matter {
            command_buffers.extend(given.logs.iter().map(|log| self.commands(log, queue)));
        }
        if self.tile_resource_count > 0 {
            command_buffers.extend(
                given
                    .end_discard
                    .map(|reason| Arc::new(end_of_batch(queue, reason))),
            );
        }
        let uses = |all: &[batches::SemaphoreUse]| {
            let one = |one: &batches::SemaphoreUse| program::SemaphoreUse {
                semaphore: semaphore_id(one.0),
                value: one.1,
                stages: one.2,
            };
            all.iter().map(one).collect()
        };
        let batch = Batch {
            number: self.sites.batch(given.submit, given.end_discard),
            queue: queue_id(queue),
            family: given.family,
            waits: uses(&given.batch.waits),
            command_buffers,
            signals: uses(&given.batch.signals),
            fence: (given.fence != vk::Fence::null()).then(|| fence_id(given.fence)),
        };
        self.step(&HostStep::Submit(batch))
    }

    fn step(&mut self, step: &HostStep) -> Vec<Finding> {
        let findings = self.model.step(step);
        if findings == Findings::default() {
            return Vec::new();
        }
        let unseen = UnseenWork {
            writes: &self.unseen,
            order: self.has_unseen_order,
            transfers: self.has_unseen_transfers,
        };
        self.finding_reporter.findings(&findings, &self.sites, unseen)
    }

    /// Mistakes that were found more than once, and reported once.
    pub(crate) fn repeated(&self) -> Vec<Repeated> {
        self.finding_reporter.repeated()
    }

    /// Returns `true` if any resource is tracked. No resource is tracked if the program uses no tile memory, its resources share no bytes, and it
    /// transfers no unbound resource.
    fn follows_any(&self) -> bool {
        !self.shared.is_empty() || !self.transferred.is_empty() || self.tile_resource_count > 0
    }

    /// Returns the commands of a log in the model's form, for a queue.
    fn commands(&mut self, log: &Arc<Log>, queue: vk::Queue) -> Arc<CommandBuffer> {
        self.sites.add_log(log);
        let shared = self.sharing_epoch;
        let mut resource = |number: ResourceId| self.id(number, queue);
        let outside = EnclosingSubpass::default();
        log.commands((queue, tile_memory(queue), shared), &outside, &mut resource)
    }

    /// The model's id of a resource on a queue, by its number; `None` if it is not tracked.
    fn id(&mut self, number: ResourceId, queue: vk::Queue) -> Option<ResourceId> {
        if number == ORDINARY {
            return None;
        }
        let Some(resource) = self.placed.get(&number.0) else {
            return self.transferred_id(number.0);
        };
        let place = resource.place.get()?;
        let (queue, memory, granularity, is_written) = match place.is_tile {
            true => (queue, tile_memory(queue), 1, false),
            false => {
                let shared = self.shared.get(&number.0)?;
                let memory = self.ordinary.id(place.memory)?;
                (
                    vk::Queue::null(),
                    memory,
                    self.ordinary.granularity(),
                    shared.may_be_written,
                )
            }
        };
        if let Some(id) = self.known_id(number.0, queue) {
            return Some(id);
        }
        let alike = self.by_contents.get(&place.contents);
        let alias = alike.and_then(|alike| alike.iter().find_map(|other| self.known_id(*other, queue)));
        self.model.set_granularity(memory, granularity);
        self.model.set_host_visible(memory, false);
        let id = self.model.add(Bound {
            memory,
            first: place.first,
            end: place.first + resource.size,
            tiling: resource.tiling,
            alias_of: alias,
            // Without order, transfers are not followed.
            sharing: match self.follows_order {
                true => resource.sharing,
                false => SharingMode::Concurrent,
            },
        });
        if is_written {
            self.model.assume_written(id);
        }
        self.ids.entry(number.0).or_default().push((queue, id));
        self.sites
            .add_resource(id, resource.object, Some(resource.clone()));
        Some(id)
    }

    /// The id of a placed resource on a queue, if it already has one.
    fn known_id(&self, number: u32, queue: vk::Queue) -> Option<ResourceId> {
        let ids = self.ids.get(&number)?;
        ids.iter().find(|(of, _)| *of == queue).map(|(_, id)| *id)
    }

    /// The model's id of an unbound resource, of which only transfers between queue families are tracked.
    fn transferred_id(&mut self, number: u32) -> Option<ResourceId> {
        let one = self.transferred.get_mut(&number)?;
        if one.id.is_none() {
            let memory = transferred_memory(number);
            let is_image = one.object.0 == vk::ObjectType::IMAGE;
            self.model.set_granularity(memory, 1);
            self.model.set_host_visible(memory, false);
            let id = self.model.add(Bound {
                memory,
                first: 0,
                end: u64::MAX,
                tiling: if is_image { any_image() } else { Tiling::Unknown },
                alias_of: None,
                sharing: SharingMode::Concurrent,
            });
            self.model.assume_written(id);
            self.sites.add_resource(id, one.object, None);
            one.id = Some(id);
        }
        one.id
    }

    /// Removes the logs and resources that no later finding can refer to.
    fn prune(&mut self) {
        let mut logs = IdSet::default();
        self.model.each_tag(|tag| _ = logs.insert(log_of(tag)));
        let mut resources: IdSet<ResourceId> = self.ids.values().flatten().map(|(_, id)| *id).collect();
        resources.extend(self.transferred.values().filter_map(|one| one.id));
        self.model.each_use(|used| _ = resources.insert(used.resource));
        self.sites.retain(&logs, &resources);
    }
}

/// A separate memory for an unbound resource: other resources in the same memory are not tracked.
fn transferred_memory(number: u32) -> MemoryId {
    MemoryId(1 << 63 | u64::from(number))
}

/// An image of any extent and format.
fn any_image() -> Tiling {
    Tiling::Optimal(Texels {
        aspects: vk::ImageAspectFlags::from_raw(u32::MAX),
        levels: Run::new(0, u32::MAX),
        layers: Run::new(0, u32::MAX),
        area: None,
    })
}

/// The queue of the presentation engine.
const PRESENTATION: QueueId = QueueId(u64::MAX);

/// A wait or signal operation on a binary semaphore.
fn binary(semaphore: vk::Semaphore) -> program::SemaphoreUse {
    program::SemaphoreUse {
        semaphore: semaphore_id(semaphore),
        value: 0,
        stages: vk::PipelineStageFlags2::ALL_COMMANDS,
    }
}

/// The tile memory of a queue.
fn tile_memory(queue: vk::Queue) -> MemoryId {
    MemoryId(queue.as_raw())
}

/// A command buffer that discards all contents at the end of a batch.
fn end_of_batch(queue: vk::Queue, reason: DiscardReason) -> CommandBuffer {
    let all = Discard {
        first: 0,
        end: u64::MAX,
        reason,
    };
    CommandBuffer {
        commands: vec![(
            BATCH_END,
            Command::Discard(all.to_model(tile_memory(queue), false)),
        )],
    }
}
