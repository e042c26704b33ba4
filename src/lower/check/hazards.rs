//! Hazards: translates the tables into a program of the synchronization model, which checks the order of accesses to the same bytes.
//!
//! ```text
//! tables                                     program (tileheap_sync)
//! image or buffer, in its memory             resource; tile memory is one memory for each device queue
//! what earlier work left                     batches before the frame, which signal their queue's timeline
//! what the caller did and does next          accesses before the first and after the last batch that uses the resource
//! barriers of one dependency                 one barrier
//! accesses of a pass                         one command: they are not ordered among themselves
//! ```
//! The model applies the rules; this module translates the tables.

use std::collections::{BTreeSet, HashMap};

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_device::scopes::{WRITES, each, each_access, performed_by};
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, Dependency, DependencyMemory, DependencyScopes, MemoryAccess,
    QueueId, Resource, ResourceId as SyncId, ResourcePart as ProgramPart, SemaphoreId, SemaphoreUse,
    SharingMode, Tag, Tiling,
};
use tileheap_sync::{
    Certainty, Findings, Hazard, MemoryUse as SyncUse, MissingDependency, Model, OutstandingAccess,
    RunningBatch, WaitPoint,
};

use super::barriers::BarrierKind;
use super::checker::Checker;
use super::error::LoweringRule;
use super::parts::Part;
use super::program::{memory_id, semaphore, semaphore_use, texels, whole};
use super::sites::{Site, SiteSpace};
use crate::frame::PassId;
use crate::frame::external::ResourceState;
use crate::lower::state::{ByteUse, LastUse};
use crate::lower::tables::submission::{SemaphoreRow, SemaphoreValue};
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::units::{Bytes, Run};

/// A use of a part of an image, or of a buffer, by a pass.
pub(super) struct Use {
    pub(super) part: Part,
    pub(super) stages: S,
    pub(super) access: A,
}

/// The position of a recorded command or barrier.
#[derive(Clone, Copy)]
pub(super) struct RecordPosition {
    pub(super) queue: DeviceQueueIndex,
    /// The row in the table of passes.
    pub(super) row: usize,
    pub(super) pass: PassId,
}

/// A barrier of a dependency.
pub(super) struct Barrier {
    pub(super) covers: Covers,
    pub(super) scopes: crate::lower::tables::commands::Scopes,
    pub(super) kind: BarrierKind,
    /// True if its old layout is `UNDEFINED`.
    pub(super) discards: bool,
}

/// The memory that a barrier covers.
pub(super) enum Covers {
    All,
    /// Parts of an image.
    Parts(Vec<Part>),
    /// Bytes `[first, end)` of a buffer.
    Bytes(Part, u64, u64),
}

/// The part of the tables that a command of the program stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandOwner {
    /// A pass, or a clear before it.
    Pass(PassId),
    /// A barrier at a pass.
    Barrier(PassId),
    /// The caller, before the frame.
    Entry,
    /// The caller, after the frame.
    Exit,
    /// Earlier work on the same bytes.
    Earlier,
}

/// Replays the tables in the synchronization model and reports the hazards that the model finds.
pub(super) struct Hazards {
    model: Model,
    resources: HashMap<(ImageOrBuffer, Option<DeviceQueueIndex>), SyncId>,
    /// The object of each resource; `None` for bytes that only earlier work uses.
    objects: Vec<Option<ImageOrBuffer>>,
    /// Per tag, the part of the tables that the command stands for.
    commands: Vec<CommandOwner>,
    /// The batch that is being replayed; `None` between batches.
    running_batch: Option<RunningBatch>,
}

impl Hazards {
    pub(super) fn new(checker: &Checker<'_>) -> Hazards {
        let granularity = checker.device.profile.limits.buffer_image_granularity;
        let mut model = Model::new(granularity.get());
        for queue in 0..checker.lowering_desc.queues.len() as u32 {
            // Tile memory has no pages.
            model.set_granularity(memory_id(SiteSpace::Tile(DeviceQueueIndex(queue))), 1);
            model.create_timeline(SemaphoreId(queue.into()), 0);
        }
        let rows = checker.tables.signals.iter().chain(&checker.tables.waits);
        let declared = rows.filter(|row| row.semaphore.queue().is_none());
        let mut indices = BTreeSet::new();
        // In a loop: collecting them instantiates a sort.
        indices.extend(declared.map(|row| row.semaphore.index));
        for index in indices {
            model.create_timeline(semaphore(SemaphoreValue::declared(index)).0, 0);
        }
        Hazards {
            model,
            resources: HashMap::new(),
            objects: Vec::new(),
            commands: Vec::new(),
            running_batch: None,
        }
    }

    /// Records the state that earlier work left; `holder` returns the object whose contents the used bytes hold, if any.
    pub(super) fn begin(
        &mut self,
        checker: &Checker<'_>,
        left: &[ByteUse],
        holder: impl Fn(&ByteUse) -> Option<ImageOrBuffer>,
    ) {
        for queue in (0..checker.lowering_desc.queues.len() as u32).map(DeviceQueueIndex) {
            let waits = checker.tables.waits.iter().map(|row| row.semaphore);
            let waited = waits.filter(|semaphore| semaphore.queue() == Some(queue));
            let of_queue = || left.iter().filter(|one| one.last.queue == queue);
            let waited = waited.map(|semaphore| semaphore.value);
            let mut values = BTreeSet::new();
            values.extend(waited.filter(|&value| value <= 0));
            values.extend(of_queue().map(|one| one.last.value));
            for value in values {
                self.start(checker, queue, &[]);
                for one in of_queue().filter(|one| one.last.value == value) {
                    let accesses = self.earlier(checker, one, holder(one));
                    self.run_unreported(checker, CommandOwner::Earlier, queue, accesses);
                }
                self.signal(&[SemaphoreRow {
                    semaphore: SemaphoreValue::of_queue(queue, value),
                    stages: S::ALL_COMMANDS,
                }]);
            }
        }
    }

    /// The accesses of earlier work. They do not supersede each other: each is the last use on its queue.
    fn earlier(
        &mut self,
        checker: &Checker<'_>,
        one: &ByteUse,
        holder: Option<ImageOrBuffer>,
    ) -> Vec<MemoryAccess> {
        let LastUse {
            queue,
            stages,
            writes,
            ..
        } = one.last;
        let places = match holder {
            Some(object) => {
                let parts = checker.parts.of(object).into_iter();
                let id = self.resource(checker, object, queue);
                parts.map(|part| (id, whole(checker, part))).collect()
            }
            None => vec![(self.bytes(one), ProgramPart::Bytes(0, one.end.0 - one.first.0))],
        };
        let mut accesses = Vec::new();
        for (resource, part) in places {
            for stage in each(stages) {
                let written = performed_by(stage, writes) & WRITES;
                accesses.extend(flags(written).map(|access| MemoryAccess {
                    resource,
                    part,
                    stage,
                    access,
                    kind: AccessKind::Partial,
                    discards: false,
                }));
            }
        }
        accesses
    }

    /// Adds the entry of an external resource: its first use waits for the caller's accesses.
    pub(super) fn enter(
        &mut self,
        checker: &Checker<'_>,
        part: Part,
        here: RecordPosition,
        entry: ResourceState,
    ) {
        let mut accesses = Vec::new();
        for stage in each(entry.stages) {
            let performed = performed_by(stage, entry.access);
            if performed.is_empty() && !entry.access.is_empty() {
                continue;
            }
            let written = performed & WRITES;
            let access = if written.is_empty() { performed } else { written };
            // If only the stage is known, use a separate resource for the same bytes: nothing has to be made visible.
            let resource = if access.is_empty() {
                self.caller(checker, part.object, here.queue)
            } else {
                self.resource(checker, part.object, here.queue)
            };
            accesses.extend(flags(access).map(|access| MemoryAccess {
                resource,
                part: whole(checker, part),
                stage,
                access,
                kind: AccessKind::Whole,
                discards: false,
            }));
        }
        self.run_unreported(checker, CommandOwner::Entry, here.queue, accesses);
    }

    /// Adds the exit of an external resource: the caller's next accesses, on the queue of its last use, wait for the frame.
    pub(super) fn exit(
        &mut self,
        checker: &mut Checker<'_>,
        part: Part,
        here: RecordPosition,
        exit: ResourceState,
    ) {
        self.start(checker, here.queue, &[]);
        let resource = self.resource(checker, part.object, here.queue);
        let mut accesses = Vec::new();
        for stage in each(exit.stages) {
            let access = performed_by(stage, exit.access);
            if access.is_empty() && !exit.access.is_empty() {
                continue;
            }
            accesses.extend(flags(access).map(|access| MemoryAccess {
                resource,
                part: whole(checker, part),
                stage,
                access,
                kind: AccessKind::Whole,
                discards: false,
            }));
        }
        let findings = self.command(CommandOwner::Exit, &Command::Action(accesses));
        self.report(checker, here.queue, &findings);
    }

    /// Adds barriers that are recorded together.
    pub(super) fn depend(&mut self, checker: &mut Checker<'_>, here: RecordPosition, barriers: &[Barrier]) {
        let family = checker.family(here.queue);
        let mut dependencies = Vec::new();
        for barrier in barriers {
            let change = match barrier.kind {
                BarrierKind::Plain => BarrierChange::None,
                BarrierKind::Transition => BarrierChange::Layout {
                    discards: barrier.discards,
                },
                // The other family's index does not matter.
                BarrierKind::Release => BarrierChange::Family {
                    from: family,
                    to: u32::MAX,
                },
                BarrierKind::Acquire => BarrierChange::Family {
                    from: u32::MAX,
                    to: family,
                },
            };
            let extents = match &barrier.covers {
                Covers::All => vec![DependencyMemory::All],
                Covers::Parts(parts) => {
                    let extent = |part: &Part| {
                        let resource = self.resource(checker, part.object, here.queue);
                        DependencyMemory::Part(resource, whole(checker, *part))
                    };
                    parts.iter().map(extent).collect()
                }
                Covers::Bytes(part, first, end) => {
                    let resource = self.resource(checker, part.object, here.queue);
                    vec![DependencyMemory::Part(resource, ProgramPart::Bytes(*first, *end))]
                }
            };
            dependencies.extend(extents.into_iter().map(|extent| Dependency {
                scopes: DependencyScopes {
                    src: barrier.scopes.src_stages,
                    src_access: barrier.scopes.src_access,
                    dst: barrier.scopes.dst_stages,
                    dst_access: barrier.scopes.dst_access,
                },
                memory: extent,
                change,
            }));
        }
        let findings = self.command(CommandOwner::Barrier(here.pass), &Command::Barrier(dependencies));
        self.report(checker, here.queue, &findings);
    }

    /// Adds the uses of one pass, which are not ordered among themselves.
    pub(super) fn access(&mut self, checker: &mut Checker<'_>, here: RecordPosition, uses: &[Use]) {
        let mut accesses = Vec::new();
        for one in uses {
            let resource = self.resource(checker, one.part.object, here.queue);
            let part = whole(checker, one.part);
            for stage in each(one.stages) {
                let performed = each_access(performed_by(stage, one.access));
                accesses.extend(performed.map(|access| MemoryAccess {
                    resource,
                    part,
                    stage,
                    access,
                    kind: AccessKind::Whole,
                    discards: false,
                }));
            }
        }
        let findings = self.command(CommandOwner::Pass(here.pass), &Command::Action(accesses));
        self.report(checker, here.queue, &findings);
    }

    /// Starts a batch on a queue.
    pub(super) fn start(&mut self, checker: &Checker<'_>, queue: DeviceQueueIndex, waits: &[SemaphoreRow]) {
        let uses: Vec<SemaphoreUse> = waits.iter().map(semaphore_use).collect();
        let family = checker.family(queue);
        let running = self.model.begin(QueueId(queue.0.into()), family, 0, &uses);
        self.running_batch = Some(running);
    }

    /// Ends the batch and signals its semaphores.
    pub(super) fn signal(&mut self, signals: &[SemaphoreRow]) {
        let uses: Vec<SemaphoreUse> = signals.iter().map(semaphore_use).collect();
        if let Some(running) = self.running_batch.take() {
            self.model.end(running, &uses, None);
        }
    }

    /// Outstanding accesses to the bytes of an address space, each with one flag per element of `uses`: true if waiting for that use covers it.
    /// `batches` is the number of the frame's batches on each queue.
    pub(super) fn outstanding(
        &mut self,
        place: SiteSpace,
        uses: &[ByteUse],
        batches: &[i64],
    ) -> Vec<OutstandingAccess> {
        let point = |one: &ByteUse| {
            let LastUse {
                queue,
                value,
                stages,
                writes,
            } = one.last;
            let (semaphore, value) = semaphore(SemaphoreValue::of_queue(
                queue,
                value.saturating_add(batches[queue.0 as usize]),
            ));
            WaitPoint {
                queue: QueueId(queue.0.into()),
                stages,
                accesses: writes,
                semaphore,
                value,
            }
        };
        let points: Vec<WaitPoint> = uses.iter().map(point).collect();
        self.model.outstanding_accesses(memory_id(place), &points)
    }

    /// Runs a command without reporting the hazards that the model finds; starts a batch on `queue` if none is running.
    fn run_unreported(
        &mut self,
        checker: &Checker<'_>,
        by: CommandOwner,
        queue: DeviceQueueIndex,
        accesses: Vec<MemoryAccess>,
    ) {
        if self.running_batch.is_none() {
            self.start(checker, queue, &[]);
        }
        self.command(by, &Command::Action(accesses));
    }

    fn command(&mut self, by: CommandOwner, command: &Command) -> Findings {
        let tag = Tag(self.commands.len() as u64);
        self.commands.push(by);
        let running = self.running_batch.as_mut().expect("a batch runs");
        self.model.run(running, tag, command)
    }

    /// The model's resource for an object, as used on a queue.
    fn resource(&mut self, checker: &Checker<'_>, object: ImageOrBuffer, queue: DeviceQueueIndex) -> SyncId {
        let site = Site::of(checker, object, queue);
        let key = (object, matches!(site.place, SiteSpace::Tile(_)).then_some(queue));
        if let Some(&known) = self.resources.get(&key) {
            return known;
        }
        let alias = checker.parts.first_alias(object);
        let alias_of = (alias != object).then(|| self.resource(checker, alias, queue));
        let id = self.add(checker, object, site, alias_of);
        self.objects[id.0 as usize] = Some(object);
        self.resources.insert(key, id);
        id
    }

    /// Adds the bytes of an object to the model as a separate resource, for a use by the caller whose accesses are unknown.
    fn caller(&mut self, checker: &Checker<'_>, object: ImageOrBuffer, queue: DeviceQueueIndex) -> SyncId {
        let site = Site::of(checker, object, queue);
        let id = self.add(checker, object, site, None);
        self.objects[id.0 as usize] = Some(object);
        id
    }

    fn add(
        &mut self,
        checker: &Checker<'_>,
        object: ImageOrBuffer,
        site: Site,
        alias_of: Option<SyncId>,
    ) -> SyncId {
        let ranges = checker
            .parts
            .of(object)
            .into_iter()
            .map(|part| checker.parts.range(part));
        let all = ranges.reduce(|a, b| crate::frame::SubresourceRange {
            aspects: a.aspects | b.aspects,
            levels: Run::new(a.levels.first.min(b.levels.first), a.levels.end.max(b.levels.end)),
            layers: Run::new(a.layers.first.min(b.layers.first), a.layers.end.max(b.layers.end)),
        });
        let (tiling, end) = match object {
            ImageOrBuffer::Image(_) => (
                Tiling::Optimal(texels(all.expect("every image has at least one part"), None)),
                site.end,
            ),
            ImageOrBuffer::Buffer(row) => {
                let size = checker.tables.buffers[row as usize].size.0;
                (Tiling::Linear, site.end.max(site.first.saturating_add(size)))
            }
        };
        let id = self.model.add(Resource {
            memory: memory_id(site.place),
            first: site.first,
            end,
            tiling,
            alias_of,
            sharing: SharingMode::Concurrent,
        });
        self.objects.push(None);
        id
    }

    /// Adds a resource to the model for bytes that earlier work used and no object of the frame owns.
    fn bytes(&mut self, one: &ByteUse) -> SyncId {
        self.objects.push(None);
        self.model.add(Resource {
            memory: memory_id(one.space.into()),
            first: one.first.0,
            end: one.end.0,
            tiling: Tiling::Unknown,
            alias_of: None,
            sharing: SharingMode::Concurrent,
        })
    }

    /// A use as text for messages.
    pub(super) fn text(&self, checker: &Checker<'_>, used: &SyncUse) -> String {
        let object = self.objects[used.resource.0 as usize];
        let resource = object.map_or_else(String::new, |object| checker.name_of(object));
        let pass = |pass| checker.pass(pass);
        match self.commands[used.tag.0 as usize] {
            CommandOwner::Pass(at) if used.action.writes() => {
                format!("pass `{}` writes `{resource}`", pass(at))
            }
            CommandOwner::Pass(at) => format!("pass `{}` reads `{resource}`", pass(at)),
            CommandOwner::Barrier(at) => format!(
                "a barrier at pass `{}` changes the layout or owner of `{resource}`",
                pass(at)
            ),
            CommandOwner::Entry => format!("the use of `{resource}` before the frame"),
            CommandOwner::Exit => format!("the use of `{resource}` after the frame"),
            CommandOwner::Earlier => "earlier work".to_owned(),
        }
    }

    fn report(&self, checker: &mut Checker<'_>, queue: DeviceQueueIndex, findings: &Findings) {
        for hazard in &findings.hazards {
            let by = |used: &SyncUse| self.commands[used.tag.0 as usize];
            let (before, after) = (by(&hazard.before), by(&hazard.after));
            let is_outside_frame = before == CommandOwner::Entry && after == CommandOwner::Exit;
            // Tables must satisfy the letter of the specification; earlier work is assumed to have used all of its bytes.
            let is_reported = match hazard.verdict {
                Certainty::Certain | Certainty::Pedantic => true,
                Certainty::Possible => before == CommandOwner::Earlier,
            };
            if is_reported && !is_outside_frame {
                self.report_one(checker, queue, hazard);
            }
        }
    }

    fn report_one(&self, checker: &mut Checker<'_>, queue: DeviceQueueIndex, hazard: &Hazard) {
        let object = |used: &SyncUse| self.objects[used.resource.0 as usize];
        let after = object(&hazard.after).expect("bytes without an object are used only before the frame");
        let site = Site::of(checker, after, queue);
        let (from, to) = (Bytes(site.first), Bytes(site.end));
        let [first, second] = [&hazard.before, &hazard.after].map(|used| self.text(checker, used));
        let (rule, how) = match hazard.missing {
            MissingDependency::Execution => (LoweringRule::Execution, "no execution dependency orders them"),
            MissingDependency::Availability => (
                LoweringRule::Memory,
                "they are ordered, but the write is not made available",
            ),
            MissingDependency::Visibility => (
                LoweringRule::Memory,
                "they are ordered, but the write is not made visible to the later access",
            ),
        };
        let message = format!("{second} at bytes [{from}, {to}) after {first}: {how}");
        checker.report(rule, message);
    }
}

/// The individual flags of a mask; `NONE` for an empty mask.
fn flags(access: A) -> impl Iterator<Item = A> {
    let none = access.is_empty().then_some(A::NONE);
    none.into_iter().chain(each_access(access))
}
