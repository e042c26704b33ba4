//! The model: replays programs step by step, and compares every access with earlier accesses to the same memory and with the contents there.

mod accesses;
mod commands;
pub(crate) mod outstanding;
mod passes;
pub(crate) mod retention;

use tileheap_device::scopes::ExpandedScope;
use tileheap_units::{IdMap, IdSet};

use crate::contents::AllContents;
use crate::finding::{Action, Certainty, Findings, MemoryUse};
use crate::log::Log;
use crate::operation::{AliasedPart, Bytes, EnclosingSubpass, HostWait, Operation};
use crate::plan::RunningPass;
use crate::program::{
    Batch, Command, EventId, FenceId, HostStep, MemoryId, Program, QueueId, Resource, ResourceId,
    ResourcePart, SemaphoreId, SemaphoreUse, Tag,
};
use crate::record::RecordWork;
use crate::records::Records;
use crate::region::Region;
use crate::schedule::{Schedule, Submitted};

/// Tracks the order of all accesses on a device and the contents of its memory, and finds errors in them.
#[derive(Clone, Debug, Default)]
pub struct Model {
    granularity: u64,
    /// Granularities that override the device's `bufferImageGranularity`, by memory.
    pages: IdMap<MemoryId, u64>,
    /// Memory that the host cannot access.
    device_only: IdSet<MemoryId>,
    resources: IdMap<ResourceId, Placed>,
    /// The number of resources added so far, which is the next id.
    added: u32,
    /// The number of removed resources that are still known, and the threshold above which `drop_removed` runs.
    removed: usize,
    max_removed: usize,
    records: IdMap<MemoryId, Records>,
    /// Memory with resources that interpret bytes consistently although they are at different addresses.
    has_moved_aliases: IdSet<MemoryId>,
    contents: AllContents,
    /// True if the host has waited while batches were pending, so that accesses that are still remembered may be settled.
    has_settled: bool,
    /// True if only contents are tracked, not order.
    ignores_order: bool,
    /// Operations that may not have been applied to every record yet.
    log: Log,
    /// Number of operations that were removed from the front of the log so far.
    forgotten: u64,
    schedule: Schedule,
    work: RecordWork,
    /// Number of steps, commands and render pass instances so far.
    steps: u64,
    commands: u64,
    instances: u64,
    /// The last render pass instance of each queue.
    last_instance: IdMap<QueueId, u64>,
    /// The render pass instances that have begun and not ended.
    passes: IdMap<QueueId, RunningPass>,
}

/// A resource, and the representative of all resources that interpret its bytes consistently.
#[derive(Clone, Copy, Debug)]
struct Placed {
    resource: Resource,
    class: ResourceId,
    is_removed: bool,
}

/// A batch that runs command by command, from [`Model::begin`] to [`Model::end`].
#[derive(Clone, Copy, Debug)]
pub struct RunningBatch {
    queue: QueueId,
    family: u32,
    batch: u64,
    /// The step in which the batch was submitted.
    submitted: u64,
    place: EnclosingSubpass,
}

impl Model {
    /// Creates the model of a device with this `bufferImageGranularity`.
    pub fn new(granularity: u64) -> Model {
        Model {
            granularity,
            ..Model::default()
        }
    }

    /// Checks a whole program; returns its findings.
    pub fn check(program: &Program) -> Findings {
        let mut model = Model::new(program.granularity);
        program
            .resources
            .iter()
            .for_each(|resource| _ = model.add(*resource));
        for (semaphore, value) in &program.timelines {
            model.create_timeline(*semaphore, *value);
        }
        let mut all = Findings::default();
        for step in &program.steps {
            all.extend(model.step(step));
        }
        all
    }

    /// Adds a resource. It has no contents, unless it shares those of `alias_of`, or is linear and in bytes that were written. Ids are never reused. An
    /// `alias_of` that names an unknown resource is ignored.
    ///
    /// # Panics
    /// If 2^32 resources were added before.
    pub fn add(&mut self, resource: Resource) -> ResourceId {
        let id = ResourceId(self.added);
        self.added = self.added.checked_add(1).expect("resource ids fit in 32 bits");
        let same = resource.alias_of.and_then(|same| self.placed(same));
        let class = same.map_or(id, |same| same.class);
        let is_moved = |same: &Placed| {
            let of = |resource: &Resource| (resource.memory, resource.first, resource.end);
            of(&same.resource) != of(&resource)
        };
        if same.is_some_and(is_moved) {
            self.has_moved_aliases.insert(resource.memory);
        }
        let placed = Placed {
            resource,
            class,
            is_removed: false,
        };
        self.resources.insert(id, placed);
        let bytes = placed.bytes();
        self.contents.add(class, bytes, &resource);
        id
    }

    /// Overrides `bufferImageGranularity` for one address space.
    pub fn set_granularity(&mut self, memory: MemoryId, granularity: u64) {
        self.pages.insert(memory, granularity);
    }

    /// Sets the queue families that access contents of family `from` without a transfer, as a mask: bit `n` for family `n`. It applies to
    /// [`SharingMode::ExclusiveUnlessImplicit`](crate::program::SharingMode::ExclusiveUnlessImplicit).
    ///
    /// Source: `VkQueueFamilyOwnershipTransferPropertiesKHR::optimalImageTransferToQueueFamilies` (`VK_KHR_maintenance9`).
    pub fn set_implicit_transfers(&mut self, from: u32, to: u32) {
        self.contents.set_implicit_transfers(from, to);
    }

    /// Sets whether order is tracked as well as contents (`true`, the default). If not, accesses and dependencies are not remembered, and there are
    /// no hazards.
    pub fn set_follows_order(&mut self, follows_order: bool) {
        self.ignores_order = !follows_order;
        if self.ignores_order {
            self.records.clear();
            self.forgotten += self.log.len() as u64;
            self.log.clear();
        }
    }

    /// Sets whether the host can access an address space; by default it can. If it cannot, accesses are dropped once the host has waited for them.
    pub fn set_host_visible(&mut self, memory: MemoryId, is_visible: bool) {
        match is_visible {
            true => self.device_only.remove(&memory),
            false => self.device_only.insert(memory),
        };
    }

    /// Returns `true` if there are no accesses that later ones could conflict with, and no batches that wait for a signal.
    pub fn is_idle(&self) -> bool {
        self.records.values().all(Records::is_empty) && self.schedule.is_idle()
    }

    /// Adds a timeline semaphore with its initial value.
    pub fn create_timeline(&mut self, semaphore: SemaphoreId, value: u64) {
        self.schedule.create_timeline(semaphore, value);
    }

    /// Assumes that the contents of a resource are defined, because it was imported, or not observed from the start.
    pub fn assume_written(&mut self, resource: ResourceId) {
        if let Some(placed) = self.placed(resource) {
            let class = placed.class;
            self.contents.assume_written(class);
        }
    }

    /// Removes a destroyed resource. Later accesses to its memory are still compared with its accesses. Commands that name it are not checked
    /// once the model has dropped it.
    pub fn remove(&mut self, resource: ResourceId) {
        let Some(placed) = self.resources.get_mut(&resource) else {
            return;
        };
        if std::mem::replace(&mut placed.is_removed, true) {
            return;
        }
        let class = placed.class;
        self.contents.remove(class);
        self.removed += 1;
        if self.removed > self.max_removed {
            self.drop_removed();
        }
    }

    /// Removes freed memory, with all accesses to it.
    pub fn free(&mut self, memory: MemoryId) {
        self.records.remove(&memory);
        self.contents.free(memory);
        self.pages.remove(&memory);
        self.has_moved_aliases.remove(&memory);
        self.device_only.remove(&memory);
    }

    /// Removes a destroyed fence.
    pub fn destroy_fence(&mut self, fence: FenceId) {
        self.log_operation(Operation::ResetFence(fence));
    }

    /// Removes a destroyed semaphore: its number may be reused.
    pub fn destroy_semaphore(&mut self, semaphore: SemaphoreId) {
        self.log_operation(Operation::Unsignal(semaphore));
        self.schedule.destroy_semaphore(semaphore);
    }

    /// Removes a destroyed event.
    pub fn destroy_event(&mut self, event: EventId) {
        self.log_operation(Operation::ResetEvent(event));
    }

    /// Performs one step of the host; returns its findings and those of all batches that can run as a result.
    pub fn step(&mut self, step: &HostStep) -> Findings {
        self.steps += 1;
        let mut findings = Findings::default();
        match step {
            HostStep::Submit(batch) => self.schedule.submit(Submitted {
                batch: batch.clone(),
                step: self.steps,
            }),
            HostStep::WaitFence(fence) => {
                self.run_up_to(|batch| batch.fence == Some(*fence), &mut findings);
                self.host_wait(HostWait::Fence(*fence));
            }
            HostStep::ResetFence(fence) => self.log_operation(Operation::ResetFence(*fence)),
            HostStep::WaitSemaphore(semaphore, value) => {
                if self.schedule.reached(*semaphore, *value).is_none() {
                    // It was signaled from outside the program.
                    self.schedule.signal(*semaphore, *value, None);
                    self.run_ready(&mut findings);
                }
                if let Some(signaled) = self.schedule.reached(*semaphore, *value) {
                    self.host_wait(HostWait::Semaphore(*semaphore, signaled));
                }
            }
            HostStep::SignalSemaphore(semaphore, value) => {
                let signaled = self.schedule.signal(*semaphore, *value, None);
                self.log_operation(Operation::HostSignal(*semaphore, signaled, self.steps));
            }
            HostStep::WaitIdle(queue) => {
                self.run_up_to(
                    |batch| queue.is_none_or(|queue| queue == batch.queue),
                    &mut findings,
                );
                self.host_wait(queue.map_or(HostWait::Device, HostWait::Queue));
            }
            HostStep::Host(batch, tag, access) => self.host_access(*batch, *tag, access, &mut findings),
        }
        self.run_ready(&mut findings);
        self.forget();
        findings
    }

    /// Starts a batch at once: semaphores in `waits` order it after signals that are already known, and it does not wait for other signals. `number` is
    /// [`Batch::number`](crate::program::Batch::number).
    pub fn begin(
        &mut self,
        queue: QueueId,
        family: u32,
        number: u64,
        waits: &[SemaphoreUse],
    ) -> RunningBatch {
        self.steps += 1;
        self.begin_batch(queue, family, number, waits, self.steps)
    }

    /// Runs one command of the batch.
    pub fn run(&mut self, running: &mut RunningBatch, tag: Tag, command: &Command) -> Findings {
        let mut findings = Findings::default();
        self.run_command(tag, command, running, &mut findings);
        findings
    }

    /// Ends the batch, and signals semaphores and a fence. Batches that were submitted with [`Model::step`] and wait for them run at the next step.
    pub fn end(&mut self, running: RunningBatch, signals: &[SemaphoreUse], fence: Option<FenceId>) {
        self.end_batch(running, signals, fence);
        self.forget();
    }

    /// Runs pending batches that the host knows to have run: they waited for signals from outside the program. Their findings are only
    /// [`Certainty::Possible`](crate::Certainty::Possible).
    fn run_up_to(&mut self, is_complete: impl Fn(&Batch) -> bool, findings: &mut Findings) {
        for queue in 0..self.schedule.queues() {
            for submitted in self.schedule.take_up_to(queue, &is_complete) {
                self.force(&submitted, findings);
            }
        }
        self.run_ready(findings);
    }

    /// Runs a batch that waits for a signal from outside the program: its findings are only [`Certainty::Possible`](crate::Certainty::Possible).
    fn force(&mut self, submitted: &Submitted, findings: &mut Findings) {
        let mut forced = Findings::default();
        self.run_batch(submitted, &mut forced);
        forced
            .hazards
            .iter_mut()
            .for_each(|one| one.verdict = Certainty::Possible);
        forced
            .lost
            .iter_mut()
            .for_each(|one| one.verdict = Certainty::Possible);
        forced
            .discarded
            .iter_mut()
            .for_each(|one| one.verdict = Certainty::Possible);
        findings.extend(forced);
    }

    /// Adds an operation to the log; it is applied to the records later.
    fn log_operation(&mut self, operation: Operation) {
        if !self.ignores_order {
            self.log.push(operation, self.has_moved_aliases.is_empty());
        }
    }

    fn host_wait(&mut self, wait: HostWait) {
        self.log_operation(Operation::HostWait(wait, self.steps));
        self.drop_settled(wait);
    }

    fn run_ready(&mut self, findings: &mut Findings) {
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for queue in 0..self.schedule.queues() {
                while let Some((submitted, can_run)) = self.schedule.next_of(queue) {
                    match can_run {
                        true => self.run_batch(&submitted, findings),
                        false => self.force(&submitted, findings),
                    }
                    goes_on = true;
                }
            }
        }
    }

    fn run_batch(&mut self, submitted: &Submitted, findings: &mut Findings) {
        let batch = &submitted.batch;
        let mut running = self.begin_batch(
            batch.queue,
            batch.family,
            batch.number,
            &batch.waits,
            submitted.step,
        );
        for commands in &batch.command_buffers {
            self.run_commands(commands, &mut running, findings);
        }
        self.end_batch(running, &batch.signals, batch.fence);
    }

    fn begin_batch(
        &mut self,
        queue: QueueId,
        family: u32,
        number: u64,
        waits: &[SemaphoreUse],
        submitted: u64,
    ) -> RunningBatch {
        self.contents.add_family(family);
        for wait in waits {
            if let Some(signaled) = self.schedule.reached(wait.semaphore, wait.value) {
                self.log_operation(Operation::Wait {
                    queue,
                    semaphore: wait.semaphore,
                    signaled,
                    stages: ExpandedScope::destination(wait.stages, ash::vk::AccessFlags2::NONE)
                        .execution_stages,
                });
            }
        }
        for wait in waits {
            self.unsignal(wait.semaphore);
        }
        RunningBatch {
            queue,
            family,
            batch: number,
            submitted,
            place: None,
        }
    }

    fn end_batch(&mut self, running: RunningBatch, uses: &[SemaphoreUse], fence: Option<FenceId>) {
        let (queue, submitted) = (running.queue, running.submitted);
        let mut signals = Vec::with_capacity(uses.len());
        for signal in uses {
            self.unsignal(signal.semaphore);
            let signaled = self.schedule.signal(signal.semaphore, signal.value, Some(queue));
            let stages = ExpandedScope::source(signal.stages, ash::vk::AccessFlags2::NONE).execution_stages;
            signals.push((signal.semaphore, signaled, stages));
        }
        if !signals.is_empty() {
            self.log_operation(Operation::Signal {
                queue,
                signals,
                submitted,
            });
        }
        if let Some(fence) = fence {
            self.log_operation(Operation::SignalFence {
                queue,
                fence,
                submitted,
            });
        }
    }

    /// Removes the signal of a binary semaphore that is waited for, or about to be signaled again.
    fn unsignal(&mut self, semaphore: SemaphoreId) {
        if !self.schedule.is_timeline(semaphore) {
            self.log_operation(Operation::Unsignal(semaphore));
        }
    }

    /// Returns the `bufferImageGranularity` that applies to an address space.
    fn page(&self, memory: MemoryId) -> u64 {
        self.pages.get(&memory).copied().unwrap_or(self.granularity)
    }

    fn placed(&self, resource: ResourceId) -> Option<&Placed> {
        self.resources.get(&resource)
    }

    /// Returns the region of a part of a resource.
    fn region(&self, resource: ResourceId, part: &ResourcePart) -> Option<Region> {
        Some(Region::of(&self.placed(resource)?.resource, part))
    }

    fn through(&self, resource: ResourceId, part: &ResourcePart) -> Option<AliasedPart> {
        let placed = self.placed(resource)?;
        Some(AliasedPart {
            class: placed.class,
            region: Region::of(&placed.resource, part),
            bytes: placed.bytes(),
        })
    }
}

impl Placed {
    fn bytes(&self) -> Bytes {
        Bytes {
            memory: self.resource.memory,
            first: self.resource.first,
            end: self.resource.end,
        }
    }
}

impl RunningBatch {
    fn used(&self, tag: Tag, resource: ResourceId, part: ResourcePart, action: Action) -> MemoryUse {
        MemoryUse {
            batch: self.batch,
            tag,
            resource,
            part,
            action,
        }
    }
}
