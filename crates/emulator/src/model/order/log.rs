//! The commands of a command buffer that affect order and contents, as recorded.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use tileheap_device::scopes::WRITES;
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, DependencyScopes,
    MemoryAccess, MemoryId, PassAttachment, ResourceId, ResourcePart, Tag,
};

use crate::model::discards::Discard;
use crate::model::objects::Object;
use crate::model::position::Position;

/// Represents every resource that is not tracked.
pub(crate) const ORDINARY: ResourceId = ResourceId(0);

/// Represents the attachments of the subpass that a secondary command buffer runs in.
pub(crate) const ATTACHMENTS: ResourceId = ResourceId(u32::MAX);

/// An access of a command; it names its resource by number, not by the model's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoggedAccess {
    pub(crate) access: MemoryAccess,
    /// True if the command certainly performs the access; otherwise findings about it are only possible.
    pub(crate) is_certain: bool,
    /// True for a read that may follow a write of the same command: its contents may be defined by then.
    pub(crate) may_follow_write: bool,
}

/// A command, or part of one. Events are small, since recording copies them: rare ones are boxed.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Performs the accesses of a list.
    Access(u32),
    /// A barrier: the range `[first, end)` of its dependencies.
    Barrier(u32, u32),
    /// Waits for events, with dependencies like those of a barrier.
    Wait(Box<(Vec<vk::Event>, u32, u32)>),
    /// Sets an event, with the stages of the first scope.
    Set(vk::Event, vk::PipelineStageFlags2),
    /// Resets an event.
    Reset(vk::Event),
    /// Begins or ends a subpass, with its dependencies, transitions, loads, resolves and stores.
    Pass(Box<[Command]>),
    /// Makes bytes of tile memory undefined; the object is the secondary command buffer that causes this, if any.
    Discard(Box<(Discard, Option<Object>)>),
    /// Runs a secondary command buffer.
    Run(Box<SecondaryRun>),
}

/// A secondary command buffer, and the subpass that it runs in.
#[derive(Clone, Debug)]
pub(crate) struct SecondaryRun {
    pub(crate) log: Arc<Log>,
    pub(crate) subpass: EnclosingSubpass,
}

/// The subpass around a secondary command buffer; outside of render passes, it has no resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EnclosingSubpass {
    /// The resources that the subpass draws to.
    pub(crate) drawn: Vec<ResourceId>,
    /// The accesses of each draw to attachments, if draws may read what others have drawn; otherwise `None`, and a single logged access
    /// stands for all draws.
    pub(crate) attachments: Option<Vec<LoggedAccess>>,
}

impl EnclosingSubpass {
    /// Expands a logged access to those that it stands for in the subpass. An access to a resource that the subpass draws to yields none, since the subpass
    /// orders it, unless it reads an input attachment.
    fn accesses(&self, one: &LoggedAccess) -> impl Iterator<Item = MemoryAccess> {
        let access = one.access;
        let is_draw = access.resource == ATTACHMENTS;
        let is_input = self.attachments.is_some() && access.access == vk::AccessFlags2::INPUT_ATTACHMENT_READ;
        let is_in_order = self.drawn.contains(&access.resource) && !is_input;
        let own = Some(access).filter(|_| !is_draw && !is_in_order);
        let drawn = self.attachments.iter().flatten().filter(move |_| is_draw);
        own.into_iter().chain(drawn.map(|one| one.access))
    }
}

const _: () = assert!(size_of::<Event>() <= 24);

/// Events in chunks, so that growing does not copy them.
#[derive(Clone, Debug, Default)]
struct Events {
    full_chunks: Vec<Vec<(Position, Event)>>,
    last: Vec<(Position, Event)>,
}

impl Events {
    #[inline(always)]
    fn push(&mut self, at: &Position, event: Event) {
        if !self.has_room() {
            self.begin_next();
        }
        self.last.push((*at, event));
    }

    /// Returns `true` if the next event needs no allocation.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.last.len() < self.last.capacity()
    }

    /// Adds an event if that needs no allocation; makes no function calls.
    #[inline(always)]
    fn push_into_room(&mut self, at: &Position, event: Event) {
        if let Some(slot) = self.last.spare_capacity_mut().first_mut() {
            slot.write((*at, event));
            // SAFETY: The element past the last one was written just now.
            unsafe { self.last.set_len(self.last.len() + 1) };
        }
    }

    #[cold]
    fn begin_next(&mut self) {
        let next = Vec::with_capacity((self.last.capacity() * 2).clamp(16, 1024));
        self.full_chunks.push(std::mem::replace(&mut self.last, next));
    }

    fn iter(&self) -> impl Iterator<Item = &(Position, Event)> {
        self.full_chunks.iter().flatten().chain(&self.last)
    }
}

/// Number of bits of a [`Tag`] that hold the index of an event; the other bits hold the number of the log.
const INDEX_BITS: u32 = 24;

/// The tag of the discard at the end of a batch, which no log contains.
pub(crate) const BATCH_END: Tag = Tag(0);

/// The events of a command buffer.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Distinguishes the logs of the process; starts at 1.
    pub(crate) number: u64,
    events: Events,
    lists: Vec<Vec<LoggedAccess>>,
    dependencies: Vec<Dependency>,
    /// True if the command buffer contains accesses, layout transitions or queue family ownership transfers; otherwise its dependencies only matter if
    /// something was accessed before.
    pub(crate) has_accesses: bool,
    /// For a secondary command buffer with draws: `true` if one of them certainly draws.
    pub(crate) draws: Option<bool>,
    /// True if the log has an access to [`ATTACHMENTS`] for each draw.
    pub(crate) logs_draws: bool,
    /// The commands in the model's form, by queue and subpass.
    translated: Mutex<Vec<Translated>>,
}

/// A log's commands translated for the model, for one queue and subpass.
#[derive(Debug)]
struct Translated {
    queue: vk::Queue,
    /// The tracker's `sharing_epoch` when the commands were translated; they are translated again once it changes.
    sharing_epoch: u64,
    subpass: EnclosingSubpass,
    commands: Arc<CommandBuffer>,
}

/// Maps the number of a resource to the model's id, or to `None` if it is not tracked.
pub(crate) type Ids<'a> = &'a mut dyn FnMut(ResourceId) -> Option<ResourceId>;

impl Log {
    /// Returns the commands in the model's form, for a queue with tile memory `tile`.
    pub(crate) fn commands(
        &self,
        (queue, tile, sharing_epoch): (vk::Queue, MemoryId, u64),
        subpass: &EnclosingSubpass,
        resource: Ids<'_>,
    ) -> Arc<CommandBuffer> {
        let known = self.translated.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&Translated| {
            (known.queue, known.sharing_epoch) == (queue, sharing_epoch) && &known.subpass == subpass
        };
        if let Some(known) = known.iter().find(is_it) {
            return known.commands.clone();
        }
        drop(known);
        let mut commands = Vec::new();
        for (index, (_, event)) in (0u64..).zip(self.events.iter()) {
            let tag = Tag(self.number << INDEX_BITS | index.min((1 << INDEX_BITS) - 1));
            let mut add = |command| commands.push((tag, command));
            match event {
                Event::Access(list) => {
                    let all = self.lists[*list as usize].iter();
                    let all = all.flat_map(|one| subpass.accesses(one));
                    add(Command::Action(followed(all, resource)));
                }
                Event::Barrier(first, end) => {
                    add(Command::Barrier(self.dependencies(*first, *end, resource)))
                }
                Event::Wait(wait) => {
                    let (events, first, end) = &**wait;
                    let events = events.iter().map(|event| super::event_id(*event)).collect();
                    add(Command::WaitEvents(
                        events,
                        self.dependencies(*first, *end, resource),
                    ));
                }
                Event::Set(event, stages) => add(Command::SetEvent(super::event_id(*event), *stages)),
                Event::Reset(event) => add(Command::ResetEvent(super::event_id(*event))),
                Event::Pass(all) => all.iter().for_each(|one| add(of_pass(one, resource))),
                Event::Discard(lost) => {
                    let (discard, secondary) = **lost;
                    add(Command::Discard(discard.to_model(tile, secondary.is_some())));
                }
                Event::Run(run) => {
                    let memory = (queue, tile, sharing_epoch);
                    // A secondary that runs others does not know its subpass: they are in the same one.
                    let is_nested = *subpass != EnclosingSubpass::default();
                    let around = if is_nested { subpass } else { &run.subpass };
                    add(Command::Execute(run.log.commands(memory, around, resource)));
                }
            }
        }
        let commands = Arc::new(CommandBuffer { commands });
        let mut known = self.translated.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|known| known.sharing_epoch == sharing_epoch);
        known.push(Translated {
            queue,
            sharing_epoch,
            subpass: subpass.clone(),
            commands: commands.clone(),
        });
        commands
    }

    fn dependencies(&self, first: u32, end: u32, resource: Ids<'_>) -> Vec<Dependency> {
        let mut of = |one: &Dependency| {
            let DependencyMemory::Part(number, part) = one.memory else {
                return *one;
            };
            let (extent, change) = match resource(number) {
                Some(id) => (DependencyMemory::Part(id, part), one.change),
                None => (DependencyMemory::Execution, BarrierChange::None),
            };
            Dependency {
                memory: extent,
                change,
                ..*one
            }
        };
        self.dependencies[first as usize..end as usize]
            .iter()
            .map(&mut of)
            .collect()
    }

    /// The event that a tag refers to.
    pub(crate) fn event(&self, tag: Tag) -> Option<&(Position, Event)> {
        let index = tag.0 & ((1 << INDEX_BITS) - 1);
        self.events.iter().nth(index as usize)
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.events.full_chunks.iter().map(Vec::len).sum::<usize>() + self.events.last.len()
    }

    /// Returns `true` for a barrier that transfers a resource to or from an external queue family.
    pub(crate) fn transfers_outside(&self, event: &Event, resource: ResourceId) -> bool {
        let Event::Barrier(first, end) = event else {
            return false;
        };
        let mut dependencies = self.dependencies[*first as usize..*end as usize].iter();
        dependencies.any(|one| {
            let is_of = matches!(one.memory, DependencyMemory::Part(number, _) if number == resource);
            is_of && is_external(one.change)
        })
    }

    /// The accesses of an event.
    pub(crate) fn accesses(&self, event: &Event) -> &[LoggedAccess] {
        match event {
            Event::Access(list) => &self.lists[*list as usize],
            _ => &[],
        }
    }

    /// Returns `true` if shaders write any of these resources.
    pub(crate) fn writes_any(&self, resources: &[ResourceId]) -> bool {
        let accesses = self.lists.iter().flatten().map(|one| &one.access);
        let mut writes = accesses.filter(|access| WRITES.contains(access.access));
        !resources.is_empty() && writes.any(|access| resources.contains(&access.resource))
    }

    /// Returns `true` if a subpass around the command buffer draws to a resource.
    pub(crate) fn is_drawn_around(&self, resource: ResourceId) -> bool {
        let known = self.translated.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().any(|known| known.subpass.drawn.contains(&resource))
    }

    /// Returns `true` if draws of the command buffer certainly perform this access to the attachments of a subpass around
    /// it.
    pub(crate) fn certainly_draws(&self, is_it: impl Fn(&MemoryAccess) -> bool) -> bool {
        let known = self.translated.lock().unwrap_or_else(PoisonError::into_inner);
        let attachments = known.iter().flat_map(|known| &known.subpass.attachments);
        let mut attachments = attachments.flatten();
        attachments.any(|one| one.is_certain && is_it(&one.access))
    }

    /// The logs of the secondary command buffers that the command buffer runs.
    pub(crate) fn secondaries(&self) -> impl Iterator<Item = &Arc<Log>> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Run(run) => Some(&run.log),
            _ => None,
        })
    }
}

/// Returns `true` for a transfer to or from a queue family outside of the device.
pub(crate) fn is_external(change: BarrierChange) -> bool {
    let families = [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT];
    matches!(change, BarrierChange::Family { from, to } if families.contains(&from) || families.contains(&to))
}

/// The number of the log that a tag belongs to.
pub(crate) fn log_of(tag: Tag) -> u64 {
    tag.0 >> INDEX_BITS
}

/// Keeps the accesses to tracked resources, and replaces resource numbers with the model's ids.
fn followed(accesses: impl Iterator<Item = MemoryAccess>, resource: Ids<'_>) -> Vec<MemoryAccess> {
    let of = |access: MemoryAccess| {
        Some(MemoryAccess {
            resource: resource(access.resource)?,
            ..access
        })
    };
    accesses.filter_map(of).collect()
}

/// Replaces the resource numbers in a command of a render pass instance with the model's ids.
fn of_pass(command: &Command, resource: Ids<'_>) -> Command {
    let mut command = command.clone();
    match &mut command {
        Command::Action(accesses) => {
            *accesses = followed(std::mem::take(accesses).into_iter(), resource);
        }
        Command::BeginRendering { pass, .. } if !pass.attachments.is_empty() => {
            for one in &mut Arc::make_mut(pass).attachments {
                one.resource = one.resource.and_then(&mut *resource);
            }
        }
        _ => {}
    }
    command
}

/// Maximum number of recent lists that a new one is compared with: equal lists are often close together.
const MAX_COMPARED: usize = 64;

/// The number of the empty list of accesses.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Records the log of a command buffer.
#[derive(Default)]
pub(crate) struct LogRecorder {
    log: Log,
    /// The finished log, once the command buffer was submitted or run.
    frozen: Option<Arc<Log>>,
    /// For each list of accesses, the last epoch in which a command performed them.
    access_epochs: Vec<u32>,
    /// Number of barriers, discards and other events so far, plus 1: accesses that repeat between two of them are logged once.
    pub(crate) epoch: u32,
}

impl LogRecorder {
    pub(crate) fn new() -> LogRecorder {
        LogRecorder {
            epoch: 1,
            ..LogRecorder::default()
        }
    }

    /// Finishes the log, unless that was done before, and returns it.
    pub(crate) fn freeze(&mut self) -> Arc<Log> {
        static LOGS: AtomicU64 = AtomicU64::new(1);
        let log = &mut self.log;
        let freeze = || {
            let mut log = std::mem::take(log);
            log.number = LOGS.fetch_add(1, Ordering::Relaxed);
            Arc::new(log)
        };
        self.frozen.get_or_insert_with(freeze).clone()
    }

    /// Adds a list of accesses, or finds an equal one, and returns its number.
    pub(crate) fn list(&mut self, accesses: Vec<LoggedAccess>) -> u32 {
        if accesses.is_empty() {
            return NOTHING;
        }
        let lists = &mut self.log.lists;
        let first = lists.len().saturating_sub(MAX_COMPARED);
        let known = lists[first..].iter().rposition(|list| *list == accesses);
        known.map(|index| first + index).unwrap_or_else(|| {
            lists.push(accesses);
            self.access_epochs.push(0);
            lists.len() - 1
        }) as u32
    }

    /// Returns `true` if no command of this epoch has performed the accesses of a list.
    #[inline]
    pub(crate) fn is_new(&self, list: u32) -> bool {
        self.access_epochs
            .get(list as usize)
            .is_some_and(|accessed| *accessed != self.epoch)
    }

    /// Logs that a command performs the accesses of a list; once per epoch.
    #[inline]
    pub(crate) fn access(&mut self, list: u32, at: &Position) {
        if self.is_new(list) {
            self.access_epochs[list as usize] = self.epoch;
            self.log.has_accesses = true;
            self.log.events.push(at, Event::Access(list));
        }
    }

    /// Like `access`, for a list that an earlier command performed, if that needs no allocation; otherwise does nothing and returns `false`.
    #[inline(always)]
    pub(crate) fn access_again(&mut self, list: u32, command: &'static str, at: &mut Position) -> bool {
        let Some(accessed) = self.access_epochs.get_mut(list as usize) else {
            return true;
        };
        if *accessed == self.epoch {
            return true;
        }
        if !self.log.events.has_room() {
            return false;
        }
        *accessed = self.epoch;
        self.log.has_accesses = true;
        at.is_at(command);
        self.log.events.push_into_room(at, Event::Access(list));
        true
    }

    /// Logs that a command performs its own accesses and, unless an earlier command of the epoch performed them, those of a list.
    pub(crate) fn access_with(&mut self, own: Vec<LoggedAccess>, list: u32, at: &Position) {
        let mut all = own;
        if self.is_new(list) {
            all.extend_from_slice(&self.log.lists[list as usize]);
            self.access_epochs[list as usize] = self.epoch;
        }
        self.perform(all, at);
    }

    /// Logs accesses even if an earlier command of the epoch performed the same.
    pub(crate) fn perform(&mut self, accesses: Vec<LoggedAccess>, at: &Position) {
        if !accesses.is_empty() {
            self.log.lists.push(accesses);
            self.access_epochs.push(self.epoch);
            self.log.has_accesses = true;
            let list = self.log.lists.len() as u32 - 1;
            self.log.events.push(at, Event::Access(list));
        }
    }

    /// Logs the dependencies of a barrier, or of a wait for events.
    #[inline]
    pub(crate) fn barrier(
        &mut self,
        dependencies: impl IntoIterator<Item = Dependency>,
        events: &[vk::Event],
        at: &Position,
    ) {
        let log = &mut self.log;
        let first = log.dependencies.len();
        log.dependencies.extend(dependencies);
        let (before, new) = log.dependencies.split_at(first);
        log.has_accesses |= new.iter().any(|one| one.change != BarrierChange::None);
        // Most are the same as the previous ones.
        let count = new.len() as u32;
        if before.ends_with(new) {
            log.dependencies.truncate(first);
        }
        let end = log.dependencies.len() as u32;
        let first = end - count;
        let event = if events.is_empty() {
            Event::Barrier(first, end)
        } else {
            Event::Wait(Box::new((events.to_vec(), first, end)))
        };
        self.event(event, at);
    }

    /// Logs a barrier for all memory.
    #[inline]
    pub(crate) fn global_barrier(&mut self, dependency: Dependency, at: &Position) {
        let dependencies = &mut self.log.dependencies;
        // Most are the same as the previous one.
        if dependencies.last() != Some(&dependency) {
            dependencies.push(dependency);
        }
        let end = dependencies.len() as u32;
        self.event(Event::Barrier(end - 1, end), at);
    }

    /// Logs a barrier for all memory, if the last dependency is the same and no allocation is needed; otherwise does nothing and returns `false`.
    #[inline(always)]
    pub(crate) fn repeat_global_barrier(
        &mut self,
        scopes: DependencyScopes,
        command: &'static str,
        at: &mut Position,
    ) -> bool {
        let Some(last) = self.log.dependencies.last() else {
            return false;
        };
        let is_global =
            matches!(last.memory, DependencyMemory::All) && matches!(last.change, BarrierChange::None);
        if !is_global || last.scopes != scopes || !self.log.events.has_room() {
            return false;
        }
        at.is_between(command);
        let end = self.log.dependencies.len() as u32;
        self.epoch += 1;
        self.log.events.push_into_room(at, Event::Barrier(end - 1, end));
        true
    }

    /// Logs an event that begins an epoch.
    #[inline(always)]
    pub(crate) fn event(&mut self, event: Event, at: &Position) {
        self.epoch += 1;
        self.log.events.push(at, event);
    }

    /// Logs the beginning or end of a subpass.
    pub(crate) fn pass(&mut self, commands: Vec<Command>, at: &Position) {
        let accesses = |command: &Command| match command {
            Command::Action(_) => true,
            Command::BeginRendering { pass, .. } => {
                pass.attachments.iter().any(PassAttachment::changes_layout)
            }
            _ => false,
        };
        self.log.has_accesses |= commands.iter().any(accesses);
        self.event(Event::Pass(commands.into()), at);
    }

    /// Logs that bytes become undefined.
    pub(crate) fn discard(&mut self, discard: Discard, secondary: Option<Object>, at: &Position) {
        self.event(Event::Discard(Box::new((discard, secondary))), at);
    }

    /// Logs that a secondary command buffer runs in a subpass.
    pub(crate) fn run(&mut self, log: Arc<Log>, subpass: EnclosingSubpass, at: &Position) {
        self.log.has_accesses |= log.has_accesses;
        self.event(Event::Run(Box::new(SecondaryRun { log, subpass })), at);
    }

    /// Records that a secondary command buffer draws to the attachments of its primary.
    #[inline]
    pub(crate) fn draws(&mut self, acts: bool) {
        self.log.draws = self.log.draws.max(Some(acts));
    }

    /// Returns the access that represents all accesses of a draw to the attachments of its primary, in a secondary command buffer that
    /// may read them.
    pub(crate) fn draws_and_may_read(&mut self, acts: bool) -> LoggedAccess {
        self.draws(acts);
        self.log.logs_draws = true;
        LoggedAccess {
            access: MemoryAccess {
                resource: ATTACHMENTS,
                part: ResourcePart::Bytes(0, 0),
                stage: vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
                access: vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
                kind: AccessKind::Attachment,
                discards: false,
            },
            is_certain: acts,
            may_follow_write: false,
        }
    }
}
