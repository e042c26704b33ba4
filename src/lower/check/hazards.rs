//! Hazards: for every use of bytes, which later uses wait for it and see what it wrote.
//!
//! ```text
//!        write ──► barrier A ──────────────► barrier B ─────────► read
//! record:  at COLOR  source has COLOR          source meets what    its stage must be reached,
//!                    → reached: FRAGMENT       is reached           its access visible
//!                    → visible: FRAGMENT/READ  → reached: + COMPUTE
//! ```
//! Every use leaves a record per stage, as does earlier work. If a record is in a barrier's first scope, or an earlier dependency has
//! brought it there, the barrier reaches its own second scope for that record: this is how chains form. Execution is ordered by any barrier
//! on the device queue; memory only by barriers of the same image or buffer, by memory barriers and by semaphores. A write replaces the
//! records of the bytes it takes, since whatever waits for it waits for them too.
//!
//! Source: Vulkan specification, "Execution and Memory Dependencies".

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::barriers::BarrierKind;
use super::checker::Checker;
use super::error::Rule;
use super::parts::Part;
use super::recorded::{RecordedAccess, Region};
use super::records::{Conflicts, Dependency, OrderedAfter, Record, UsedBy, User};
use super::sites::{Place, Site};
use crate::frame::external::ResourceState;
use crate::lower::state::ByteUse;
use crate::lower::tables::submission::Semaphore;
use crate::lower::tables::{DeviceQueueIndex, Object};
use crate::units::Bytes;
use tileheap_device::scopes::{Scope, WRITES, each, performed_by};

/// A use of a part of an image, or of a buffer, by a pass.
pub(super) struct Use {
    pub(super) part: Part,
    /// The access that makes it.
    pub(super) index: Option<usize>,
    pub(super) stages: S,
    pub(super) access: A,
    pub(super) writes: bool,
}

/// Where something is recorded.
#[derive(Clone, Copy)]
pub(super) struct Here {
    pub(super) queue: DeviceQueueIndex,
    /// The row of passes.
    pub(super) row: usize,
    pub(super) pass: crate::frame::PassId,
}

impl Here {
    fn user(&self, checker: &Checker<'_>, by: UsedBy, part: Part) -> User {
        User::new(checker, by, part.object, self.pass)
    }
}

/// Everything that later uses may have to wait for.
#[derive(Default)]
pub(super) struct Hazards {
    pub(super) records: Vec<Record>,
}

impl Hazards {
    /// Records what earlier work left; `holder` is the object whose contents are kept there, if any.
    pub(super) fn begin(
        &mut self,
        checker: &Checker<'_>,
        left: &[ByteUse],
        holder: impl Fn(&ByteUse) -> Option<Object>,
    ) {
        for one in left {
            let object = holder(one);
            let parts = object.map_or(vec![None], |object| {
                checker.parts.of(object).into_iter().map(Some).collect()
            });
            let last = one.last;
            for (part, stage) in parts
                .iter()
                .flat_map(|part| each(last.stages).map(move |stage| (*part, stage)))
            {
                let access = performed_by(stage, last.writes) & WRITES;
                let conflicts = if part.is_none() && access.is_empty() {
                    Conflicts::AllWait
                } else {
                    Conflicts::AllSee
                };
                self.records.push(Record {
                    part,
                    site: Site {
                        place: Place::from(one.space),
                        first: one.first.0,
                        end: one.end.0,
                        linear: object.map(|object| matches!(object, Object::Buffer(_))),
                    },
                    bytes: vec![(one.first.0, one.end.0)],
                    taken: Vec::new(),
                    queue: last.queue,
                    row: None,
                    index: None,
                    user: User {
                        by: UsedBy::Earlier,
                        text: "earlier work".to_owned(),
                    },
                    release: false,
                    stage,
                    access,
                    conflicts,
                    reach: vec![OrderedAfter::default(); checker.situation.queues.len()],
                    carried: vec![Semaphore::of_queue(last.queue, last.value)],
                });
            }
        }
    }

    /// An external resource comes in: its first use waits for what the caller did.
    pub(super) fn enter(&mut self, checker: &Checker<'_>, part: Part, here: Here, entry: ResourceState) {
        self.records.retain(|record| record.part != Some(part));
        for stage in each(entry.stages) {
            let access = performed_by(stage, entry.access);
            let (access, conflicts) = if entry.access.is_empty() {
                (access, Conflicts::AllWait)
            } else if access.intersects(WRITES) {
                (access & WRITES, Conflicts::AllSee)
            } else {
                (access, Conflicts::Writes)
            };
            let user = here.user(checker, UsedBy::Entry, part);
            self.record(checker, part, here, user, stage, access, conflicts)
                .row = None;
        }
    }

    /// An external resource goes out: what the caller does next, on the queue of its last use, waits for the frame.
    pub(super) fn exit(&mut self, checker: &mut Checker<'_>, part: Part, here: Here, exit: ResourceState) {
        for stage in each(exit.stages) {
            let access = performed_by(stage, exit.access);
            if access.is_empty() && !exit.access.is_empty() {
                continue;
            }
            let user = here.user(checker, UsedBy::Exit, part);
            let access = Use {
                part,
                index: None,
                stages: stage,
                access,
                writes: exit.access.is_empty() || access.intersects(WRITES),
            };
            self.demand(checker, here.queue, &access, stage, &user, |record| {
                record.user.by == UsedBy::Entry
            });
        }
    }

    /// Barriers recorded together.
    pub(super) fn depend(&mut self, checker: &mut Checker<'_>, here: Here, barriers: &[Dependency]) {
        let queue = here.queue;
        let writes = |barrier: &&Dependency| barrier.kind != BarrierKind::Plain;
        for barrier in barriers.iter().filter(writes) {
            self.demand_of_transition(checker, here, barrier, barriers);
        }
        // All barriers of one dependency take effect at once: none sees what another one reaches.
        for record in &mut self.records {
            let before = record.reach[queue.0 as usize].clone();
            for barrier in barriers
                .iter()
                .filter(|barrier| barrier.kind != BarrierKind::Release)
            {
                let (ordered, available) = record.passes_through(&before, queue, barrier);
                if ordered {
                    let visible = barrier.covers(record);
                    record.reach[queue.0 as usize].add(&barrier.destination, available, visible);
                }
            }
        }
        for barrier in barriers.iter().filter(writes) {
            let release = barrier.kind == BarrierKind::Release;
            for &part in barrier.parts.iter().flatten() {
                self.supersede(checker, part, queue, |_| true);
                let user = here.user(checker, UsedBy::Transition, part);
                let record = self.record(checker, part, here, user, S::NONE, A::NONE, Conflicts::AllSee);
                record.release = release;
                if !release {
                    record.reach[queue.0 as usize].add(&barrier.destination, true, true);
                }
            }
        }
    }

    /// The uses of one pass, which are not ordered among themselves.
    pub(super) fn access(&mut self, checker: &mut Checker<'_>, here: Here, uses: &[Use]) {
        for access in uses {
            let by = if access.writes {
                UsedBy::Write
            } else {
                UsedBy::Read
            };
            let user = here.user(checker, by, access.part);
            for stage in each(access.stages) {
                self.demand(checker, here.queue, access, stage, &user, |_| false);
            }
        }
        for access in uses.iter().filter(|access| access.writes) {
            let of_pass = |record: &Record| {
                record.row == Some(here.row) && matches!(record.user.by, UsedBy::Read | UsedBy::Write)
            };
            self.supersede(checker, access.part, here.queue, |record| {
                !of_pass(record) && holds(checker, access.index, record.index)
            });
            let stored = recorded(checker, access.index).is_some_and(|one| one.is_stored);
            let last = access.stages & S::LATE_FRAGMENT_TESTS;
            let stages = if stored && !last.is_empty() {
                last
            } else {
                access.stages
            };
            for stage in each(stages) {
                let user = here.user(checker, UsedBy::Write, access.part);
                let (part, written) = (access.part, access.access & WRITES);
                self.record(checker, part, here, user, stage, written, Conflicts::AllSee)
                    .index = access.index;
            }
        }
        for access in uses.iter().filter(|access| !access.writes) {
            for stage in each(access.stages) {
                let user = here.user(checker, UsedBy::Read, access.part);
                let (part, read) = (access.part, access.access);
                self.record(checker, part, here, user, stage, read, Conflicts::Writes)
                    .index = access.index;
            }
        }
    }

    /// A batch on `queue` has run: the semaphore carries what its `stages` did, and all that they waited for.
    pub(super) fn signal(&mut self, queue: DeviceQueueIndex, semaphore: Semaphore, stages: S) {
        let source = Scope::source(stages, A::NONE);
        for record in &mut self.records {
            let here = record.queue == queue;
            let released = here && record.release && stages.contains(S::ALL_COMMANDS);
            let direct = here && record.stage.intersects(source.execution);
            let reached = record.reach[queue.0 as usize]
                .ordered
                .intersects(source.execution);
            if released || direct || reached {
                record.carried.push(semaphore);
            }
        }
    }

    /// The `stages` of a batch on `queue`, and all that follow, wait for the semaphore and see everything.
    pub(super) fn wait(&mut self, queue: DeviceQueueIndex, semaphore: Semaphore, stages: S) {
        let scope = Scope::destination(stages, A::MEMORY_READ | A::MEMORY_WRITE);
        for record in &mut self.records {
            if record.is_carried_by(semaphore) {
                record.reach[queue.0 as usize].add(&scope, true, true);
            }
        }
    }

    /// Checks that what a transition overwrites is waited for by the barrier itself, and made available by it or by a memory barrier next
    /// to it.
    fn demand_of_transition(
        &self,
        checker: &mut Checker<'_>,
        here: Here,
        barrier: &Dependency,
        together: &[Dependency],
    ) {
        for (record, &part) in self
            .records
            .iter()
            .flat_map(|record| barrier.parts.iter().flatten().map(move |part| (record, part)))
        {
            // Transitions on one queue are in submission order by themselves ("Image Layout Transitions"); a plan nevertheless puts
            // barriers between them.
            let ordered = record.user.by == UsedBy::Transition && record.queue == here.queue;
            if ordered && checker.recorded.is_some() || !touches(checker, record, (part, None), here.queue) {
                continue;
            }
            let reach = &record.reach[here.queue.0 as usize];
            let (ordered, available) = record.passes_through(reach, here.queue, barrier);
            let global = together.iter().filter(|other| other.parts.is_none());
            let mut global = global.map(|other| record.passes_through(reach, here.queue, other));
            let available = available || global.any(|(_, available)| available);
            let missing = match record.conflicts {
                _ if !ordered => Rule::Execution,
                Conflicts::AllSee if !available => Rule::Memory,
                _ => continue,
            };
            let user = here.user(checker, UsedBy::Transition, part);
            report(checker, record, &user, part.object, here.queue, missing);
        }
    }

    /// Checks that a use at `stage` waits for every record that it conflicts with, and sees what those wrote.
    fn demand(
        &self,
        checker: &mut Checker<'_>,
        queue: DeviceQueueIndex,
        access: &Use,
        stage: S,
        user: &User,
        ignored: impl Fn(&Record) -> bool,
    ) {
        for record in &self.records {
            let conflict = access.writes || record.conflicts != Conflicts::Writes;
            if !conflict || ignored(record) || !touches(checker, record, (access.part, access.index), queue) {
                continue;
            }
            let reach = &record.reach[queue.0 as usize];
            let missing = if !reach.ordered.contains(stage) {
                Rule::Execution
            } else if record.conflicts == Conflicts::AllSee
                && !reach.sees(stage, performed_by(stage, access.access))
            {
                Rule::Memory
            } else {
                continue;
            };
            report(checker, record, user, access.part.object, queue, missing);
        }
    }

    /// A write to a part replaces the records of its bytes.
    fn supersede(
        &mut self,
        checker: &Checker<'_>,
        part: Part,
        queue: DeviceQueueIndex,
        replaced: impl Fn(&Record) -> bool,
    ) {
        let mine = Site::of(checker, part.object, queue);
        for record in &mut self.records {
            if mine.place != record.site.place || !replaced(record) {
                continue;
            }
            match record.part.map(|other| same_texels(checker, other, part)) {
                Some(Some(true)) => record.bytes.clear(),
                Some(Some(false)) => {}
                _ if !checker.parts.is_whole(part) => record.taken.push(part),
                _ => {
                    let granularity = checker.device.profile.limits.buffer_image_granularity;
                    let (first, end) = mine.seen_by(record.site, granularity);
                    let mut left = Vec::new();
                    for &(from, to) in &record.bytes {
                        // Empty ranges are dropped below.
                        left.push((from, to.min(first)));
                        left.push((from.max(end), to));
                    }
                    left.retain(|(from, to)| from < to);
                    record.bytes = left;
                }
            }
        }
        self.records.retain(|record| !record.bytes.is_empty());
    }

    fn record(
        &mut self,
        checker: &Checker<'_>,
        part: Part,
        here: Here,
        user: User,
        stage: S,
        access: A,
        conflicts: Conflicts,
    ) -> &mut Record {
        let site = Site::of(checker, part.object, here.queue);
        self.records.push(Record {
            part: Some(part),
            site,
            bytes: vec![(site.first, site.end)],
            taken: Vec::new(),
            queue: here.queue,
            row: Some(here.row),
            index: None,
            user,
            release: false,
            stage,
            access,
            conflicts,
            reach: vec![OrderedAfter::default(); checker.situation.queues.len()],
            carried: Vec::new(),
        });
        let last = self.records.len() - 1;
        &mut self.records[last]
    }
}

impl Record {
    /// Whether a wait for a semaphore, or for a value of a queue, comes after the use.
    pub(super) fn is_carried_by(&self, semaphore: Semaphore) -> bool {
        self.carried.iter().any(|carried| {
            let same = (carried.kind, carried.index) == (semaphore.kind, semaphore.index);
            same && carried.value <= semaphore.value
        })
    }
}

/// The entry of an access in a program's own recording.
fn recorded<'a>(checker: &Checker<'a>, index: Option<usize>) -> Option<&'a RecordedAccess> {
    checker.recorded.zip(index)?.0.accesses.get(index?)
}

fn regions<'a>(checker: &Checker<'a>, index: Option<usize>) -> &'a [Region] {
    recorded(checker, index).map_or(&[], |access| &access.regions)
}

/// Whether two accesses to one part have no texel or byte in common.
fn are_apart(checker: &Checker<'_>, a: Option<usize>, b: Option<usize>) -> bool {
    let (a, b) = (regions(checker, a), regions(checker, b));
    let meet = |a: &Region, b: &Region| (0..3).all(|axis| a[axis][0] < b[axis][1] && b[axis][0] < a[axis][1]);
    !a.is_empty() && !b.is_empty() && !a.iter().any(|a| b.iter().any(|b| meet(a, b)))
}

/// Whether one access to a part covers all that another one uses.
fn holds(checker: &Checker<'_>, all: Option<usize>, some: Option<usize>) -> bool {
    let (all, some) = (regions(checker, all), regions(checker, some));
    let inside =
        |a: &Region, b: &Region| (0..3).all(|axis| a[axis][0] <= b[axis][0] && b[axis][1] <= a[axis][1]);
    let held = |b: &Region| all.iter().any(|a| inside(a, b));
    all.is_empty() || !some.is_empty() && some.iter().all(held)
}

/// Whether a part, used on `queue`, overlaps bytes that a record still covers.
fn touches(
    checker: &Checker<'_>,
    record: &Record,
    (part, index): (Part, Option<usize>),
    queue: DeviceQueueIndex,
) -> bool {
    let mine = Site::of(checker, part.object, queue);
    let same = record.part.and_then(|other| same_texels(checker, other, part));
    if mine.place != record.site.place
        || same == Some(false)
        || record.taken.contains(&part)
        || same == Some(true) && are_apart(checker, record.index, index)
    {
        return false;
    }
    let granularity = checker.device.profile.limits.buffer_image_granularity;
    let (first, end) = mine.seen_by(record.site, granularity);
    record.bytes.iter().any(|&(from, to)| from < end && first < to)
}

/// Whether two parts of one image are the same; `None` for parts of different images.
fn same_texels(checker: &Checker<'_>, a: Part, b: Part) -> Option<bool> {
    let (a, b) = (checker.parts.texels(a), checker.parts.texels(b));
    (a.object == b.object).then_some(a == b)
}

fn report(
    checker: &mut Checker<'_>,
    record: &Record,
    second: &User,
    object: Object,
    queue: DeviceQueueIndex,
    missing: Rule,
) {
    let site = Site::of(checker, object, queue);
    let (first, second) = (&record.user.text, &second.text);
    let (from, to) = (Bytes(site.first), Bytes(site.end));
    let how = match missing {
        Rule::Execution => "no chain of barriers makes it wait",
        _ => "it waits, but what was written is not made visible to it",
    };
    let known = record.part.map(|part| checker.resource_of(part.object));
    checker.report_of(
        missing,
        known.into_iter().chain([checker.resource_of(object)]).collect(),
        format!("{second} at bytes [{from}, {to}) after {first}: {how}"),
    );
}
