//! Hazards: for every use of bytes, which later uses have been made to wait for it, and see what it wrote.
//!
//! ```text
//!        write ──► barrier A ──────────────► barrier B ─────────► read
//! record:  at COLOR  source has COLOR          source meets what    its stage must be reached,
//!                    → reached: FRAGMENT       is reached           its access visible
//!                    → visible: FRAGMENT/READ  → reached: + COMPUTE
//! ```
//! Every use leaves a record per stage. A barrier reaches what its second scope holds, for each record that its first
//! scope holds, or that an earlier barrier has brought into its first scope: this is how chains form. Execution is ordered
//! by any barrier on the queue; memory only by barriers of the same image or buffer, by the global memory barrier that a
//! aliasing is as well, and by semaphores. A write replaces the records of the bytes it takes, since whoever waits for
//! it waits for them too.
//!
//! Source: Vulkan specification, "Execution and Memory Dependencies".

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::checker::Checker;
use super::records::{By, Conflicts, Dependency, DependencyKind, OrderedAfter, Record};
use super::replay_errors::{HazardAccess, HazardError, MissingDependency};
use super::sites::{Site, Space};
use crate::frame::external::ResourceState;
use crate::frame::{PassId, QueueId, SemaphoreId};
use crate::scopes::{Scope, WRITES, each, made_at};
use crate::units::{Alignment, Bytes};

/// A use of a placement by a pass.
pub(super) struct Use {
    /// The placement of this frame.
    pub(super) placement: usize,
    pub(super) stages: S,
    pub(super) access: A,
    pub(super) writes: bool,
}

/// Everything that later uses may have to wait for.
pub(super) struct Hazards {
    records: Vec<Record>,
    sites: Vec<Site>,
    granularity: Alignment,
    queues: usize,
    frame: usize,
}

impl Hazards {
    pub(super) fn new(checker: &Checker<'_>, sites: &[Site]) -> Hazards {
        Hazards {
            records: Vec::new(),
            sites: sites.to_vec(),
            granularity: checker.plan.profile.limits.buffer_image_granularity,
            queues: checker.plan.frame.queues().len(),
            frame: 0,
        }
    }

    /// The next frame begins: every queue waits for all that the *other* queues did in the frame before.
    pub(super) fn begin_frame(&mut self, frame: usize) {
        self.frame = frame;
        for record in &mut self.records {
            record.carried.clear();
            for (queue, reach) in record.reach.iter_mut().enumerate() {
                if queue != record.queue.index() {
                    reach.add(&Scope::all(), true, true);
                }
            }
        }
    }

    /// An external resource comes in: its first use, by `pass`, waits for what the caller did.
    pub(super) fn enter(
        &mut self,
        checker: &Checker<'_>,
        placement: usize,
        pass: PassId,
        entry: ResourceState,
    ) {
        self.records.retain(|record| record.placement != placement);
        for stage in each(entry.stages) {
            let access = made_at(stage, entry.access);
            let (access, conflicts) = if entry.access.is_empty() {
                (access, Conflicts::AllWait)
            } else if access.intersects(WRITES) {
                (access & WRITES, Conflicts::AllSee)
            } else {
                (access, Conflicts::Writes)
            };
            let queue = checker.plan.frame.queue_of(pass);
            self.record(placement, queue, pass, By::Caller, stage, access, conflicts);
        }
    }

    /// An external resource goes out: what the caller does next, on the queue of its last use, waits for the frame.
    pub(super) fn exit(
        &mut self,
        checker: &mut Checker<'_>,
        placement: usize,
        pass: PassId,
        exit: ResourceState,
    ) {
        let queue = checker.plan.frame.queue_of(pass);
        for stage in each(exit.stages) {
            let access = made_at(stage, exit.access);
            if access.is_empty() && !exit.access.is_empty() {
                continue;
            }
            let writes = exit.access.is_empty() || access.intersects(WRITES);
            let second = HazardAccess::Exit {
                resource: checker.resident(placement).into(),
            };
            self.tile_constraint(
                checker,
                placement,
                queue,
                stage,
                access,
                writes,
                &second,
                |record| record.by == By::Caller,
            );
        }
    }

    /// Barriers recorded together on the queue of `pass`.
    pub(super) fn depend(&mut self, checker: &mut Checker<'_>, pass: PassId, barriers: &[Dependency]) {
        if barriers.is_empty() {
            return;
        }
        let queue = checker.plan.frame.queue_of(pass);
        let transitions = || {
            barriers
                .iter()
                .filter(|barrier| barrier.kind != DependencyKind::Plain)
        };
        for barrier in transitions() {
            self.demand_of_transition(checker, queue, pass, barrier);
        }
        // All barriers of one dependency take effect at once: none sees what another one reaches.
        for record in &mut self.records {
            let before = record.reach[queue.index()].clone();
            for barrier in barriers {
                let (ordered, available) = record.passes_through(&before, queue, barrier);
                if ordered {
                    let visible = barrier.covers(record.placement);
                    record.reach[queue.index()].add(&barrier.destination, available, visible);
                }
            }
        }
        for barrier in transitions() {
            let release = barrier.kind == DependencyKind::Release;
            self.supersede(barrier.placement, |_| true);
            let by = By::Barrier { release };
            let record = self.record(
                barrier.placement,
                queue,
                pass,
                by,
                S::NONE,
                A::NONE,
                Conflicts::AllSee,
            );
            record.reach[queue.index()].add(&barrier.destination, true, true);
        }
    }

    /// The uses of one pass, which are in no order among themselves.
    pub(super) fn access(&mut self, checker: &mut Checker<'_>, pass: PassId, uses: &[Use]) {
        let queue = checker.plan.frame.queue_of(pass);
        for access in uses {
            let resource = checker.resident(access.placement).into();
            let pass = checker.pass(pass).into();
            let second = if access.writes {
                HazardAccess::Write { pass, resource }
            } else {
                HazardAccess::Read { pass, resource }
            };
            for stage in each(access.stages) {
                self.tile_constraint(
                    checker,
                    access.placement,
                    queue,
                    stage,
                    access.access,
                    access.writes,
                    &second,
                    |_| false,
                );
            }
        }
        let frame = self.frame;
        for access in uses.iter().filter(|access| access.writes) {
            self.supersede(access.placement, |record| {
                (record.frame, record.pass, record.by) != (frame, pass, By::Pass)
            });
            for stage in each(access.stages) {
                self.record(
                    access.placement,
                    queue,
                    pass,
                    By::Pass,
                    stage,
                    access.access & WRITES,
                    Conflicts::AllSee,
                );
            }
        }
        for access in uses.iter().filter(|access| !access.writes) {
            for stage in each(access.stages) {
                self.record(
                    access.placement,
                    queue,
                    pass,
                    By::Pass,
                    stage,
                    access.access,
                    Conflicts::Writes,
                );
            }
        }
    }

    /// A batch on `queue` has run: the semaphore carries what its `stages` did, and all that they waited for.
    pub(super) fn signal(&mut self, queue: QueueId, semaphore: SemaphoreId, stages: S) {
        let source = Scope::source(stages, A::NONE);
        for record in &mut self.records {
            let here = record.queue == queue;
            let released = here && record.by == By::Barrier { release: true };
            let direct = here && record.stage.intersects(source.execution);
            if released || direct || record.reach[queue.index()].ordered.intersects(source.execution) {
                record.carried.push(semaphore);
            }
        }
    }

    /// The `stages` of a batch on `queue`, and all that follow, wait for the semaphore and see everything.
    pub(super) fn wait(&mut self, queue: QueueId, semaphore: SemaphoreId, stages: S) {
        let scope = Scope::destination(stages, A::MEMORY_READ | A::MEMORY_WRITE);
        for record in &mut self.records {
            if record.carried.contains(&semaphore) {
                record.reach[queue.index()].add(&scope, true, true);
            }
        }
    }

    /// What a transition overwrites must have been waited for by the barrier itself.
    fn demand_of_transition(
        &self,
        checker: &mut Checker<'_>,
        queue: QueueId,
        pass: PassId,
        barrier: &Dependency,
    ) {
        for record in &self.records {
            if !self.touches(record, barrier.placement, queue) {
                continue;
            }
            let reach = &record.reach[queue.index()];
            let (ordered, available) = record.passes_through(reach, queue, barrier);
            let missing = match record.conflicts {
                _ if !ordered => MissingDependency::Execution,
                Conflicts::AllSee if !available => MissingDependency::Memory,
                _ => continue,
            };
            let second = HazardAccess::Transition {
                pass: checker.pass(pass).into(),
                resource: checker.resident(barrier.placement).into(),
            };
            self.report(checker, record, second, barrier.placement, missing);
        }
    }

    /// A use at `stage` has to wait for every record that it conflicts with, and to see what those wrote.
    fn tile_constraint(
        &self,
        checker: &mut Checker<'_>,
        placement: usize,
        queue: QueueId,
        stage: S,
        access: A,
        writes: bool,
        second: &HazardAccess,
        ignored: impl Fn(&Record) -> bool,
    ) {
        for record in &self.records {
            let conflict = writes || record.conflicts != Conflicts::Writes;
            if !conflict || ignored(record) || !self.touches(record, placement, queue) {
                continue;
            }
            let reach = &record.reach[queue.index()];
            let missing = if !reach.ordered.contains(stage) {
                MissingDependency::Execution
            } else if record.conflicts == Conflicts::AllSee && !reach.sees(stage, access) {
                MissingDependency::Memory
            } else {
                continue;
            };
            self.report(checker, record, second.clone(), placement, missing);
        }
    }

    fn report(
        &self,
        checker: &mut Checker<'_>,
        record: &Record,
        second: HazardAccess,
        placement: usize,
        missing: MissingDependency,
    ) {
        let pass = checker.pass(record.pass).into();
        let resource = checker.resident(record.placement).into();
        let first = match record.by {
            By::Caller => HazardAccess::Entry { resource },
            By::Barrier { .. } => HazardAccess::Transition { pass, resource },
            By::Pass if record.conflicts == Conflicts::Writes => HazardAccess::Read { pass, resource },
            By::Pass => HazardAccess::Write { pass, resource },
        };
        let site = self.sites[placement];
        checker.report(HazardError {
            first,
            second,
            around: record.frame != self.frame,
            bytes: (Bytes(site.first), Bytes(site.end)),
            missing,
        });
    }

    /// Whether some of the bytes that a record still stands for are the placement's, used on `queue`.
    ///
    /// Where the whole frame is one window, for comparison, tile memory knows no order between queues.
    fn touches(&self, record: &Record, placement: usize, queue: QueueId) -> bool {
        let (mine, theirs) = (self.sites[placement], self.sites[record.placement]);
        let (first, end) = mine.seen_by(theirs, self.granularity);
        let ordered_by_steps = mine.space == Space::Tile(None) && record.queue != queue;
        let same_space = mine.space == theirs.space && !ordered_by_steps;
        same_space && record.bytes.iter().any(|&(from, to)| from < end && first < to)
    }

    /// A write to `placement` replaces what is recorded of its bytes.
    fn supersede(&mut self, placement: usize, replaced: impl Fn(&Record) -> bool) {
        let mine = self.sites[placement];
        for record in &mut self.records {
            let theirs = self.sites[record.placement];
            if mine.space != theirs.space || !replaced(record) {
                continue;
            }
            let (first, end) = mine.seen_by(theirs, self.granularity);
            let mut left = Vec::new();
            for &(from, to) in &record.bytes {
                // Ranges of no bytes vanish.
                left.push((from, to.min(first)));
                left.push((from.max(end), to));
            }
            left.retain(|(from, to)| from < to);
            record.bytes = left;
        }
        self.records.retain(|record| !record.bytes.is_empty());
    }

    fn record(
        &mut self,
        placement: usize,
        queue: QueueId,
        pass: PassId,
        by: By,
        stage: S,
        access: A,
        conflicts: Conflicts,
    ) -> &mut Record {
        let site = self.sites[placement];
        self.records.push(Record {
            placement,
            bytes: vec![(site.first, site.end)],
            queue,
            frame: self.frame,
            pass,
            by,
            stage,
            access,
            conflicts,
            reach: vec![OrderedAfter::default(); self.queues],
            carried: Vec::new(),
        });
        let last = self.records.len() - 1;
        &mut self.records[last]
    }
}
