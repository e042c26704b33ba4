//! What a command buffer does that matters for the order of accesses, as it was recorded.

use std::sync::Arc;

use ash::vk;
use tileheap_layer::dependencies;

use super::scopes::Usage;
use crate::model::objects::Object;
use crate::model::position::Position;

/// An access to bytes of the tile heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) object: Object,
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) usage: Usage,
    pub(crate) kind: AccessKind,
}

impl Access {
    pub(crate) fn new(object: Object, (first, end): (u64, u64), usage: Usage, kind: AccessKind) -> Access {
        Access {
            object,
            first,
            end,
            usage,
            kind,
        }
    }
}

/// What is known of the bytes that an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// All of them, or as good as.
    Whole,
    /// An attachment: draws and operations of one subpass are ordered, and so are its input attachments.
    Attachment,
    /// A shader writes some of them; which ones others of the same resource access is unknown.
    Storage,
    /// A copy of some of them, or a use of some levels, layers or aspects of an image.
    Part,
}

/// Which memory accesses a dependency is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// All of them.
    All,
    /// Those to bytes of the tile heap.
    Bytes(u64, u64),
    /// None in tile memory.
    None,
}

/// A dependency of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) src: vk::PipelineStageFlags2,
    pub(crate) src_access: vk::AccessFlags2,
    pub(crate) dst: vk::PipelineStageFlags2,
    pub(crate) dst_access: vk::AccessFlags2,
    pub(crate) memory: Memory,
    pub(crate) change: Change,
}

impl Dependency {
    /// One that orders all accesses to memory.
    pub(crate) fn global(one: &dependencies::Dependency) -> Dependency {
        Dependency {
            src: one.src,
            src_access: one.src_access,
            dst: one.dst,
            dst_access: one.dst_access,
            memory: Memory::All,
            change: Change::None,
        }
    }
}

/// What a barrier does between its scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// The layout of a tile image changes.
    Layout(Object),
    /// A resource goes from one queue family to another.
    Family(Object, u32, u32),
}

/// A command, or part of one.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// It accesses what a list says; the number of its subpass, 0 outside.
    Access(u32, u32, Position),
    /// A barrier: so many dependencies from an index on.
    Barrier(u32, u32, Position),
    /// An event is set; the first scope.
    Set(vk::Event, vk::PipelineStageFlags2),
    Reset(vk::Event),
    /// Events are waited for: dependencies as for a barrier.
    Wait(Vec<vk::Event>, u32, u32, Position),
    /// A secondary command buffer runs in a subpass.
    Run(Arc<Log>, u32),
}

/// Events in pieces: a vector that grows would copy them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    full: Vec<Vec<Event>>,
    last: Vec<Event>,
}

impl Events {
    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        if self.last.len() == self.last.capacity() {
            let next = Vec::with_capacity((self.last.capacity() * 2).clamp(16, 1024));
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.last.push(event);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Event> {
        self.full.iter().flatten().chain(&self.last)
    }
}

/// The events of a command buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) events: Events,
    pub(crate) lists: Vec<Vec<Access>>,
    pub(crate) dependencies: Vec<Dependency>,
    /// It accesses tile memory, or passes resources to another queue family; else only its dependencies matter.
    pub(crate) has_accesses: bool,
}

/// A list of accesses that is empty.
pub(crate) const NOTHING: u32 = u32::MAX;

/// The log of a command buffer that is recorded.
#[derive(Default)]
pub(crate) struct Recorded {
    /// Nothing is written without it.
    pub(crate) is_on: bool,
    log: Log,
    /// Once it was submitted or run.
    frozen: Option<Arc<Log>>,
    /// By list, after how many barriers it was accessed last.
    accessed: Vec<u32>,
    barriers: u32,
    subpasses: u32,
    /// The current subpass; 0 outside.
    subpass: u32,
}

impl Recorded {
    pub(crate) fn new(is_on: bool) -> Recorded {
        Recorded {
            is_on,
            ..Recorded::default()
        }
    }

    /// The log, of which nothing is recorded any more.
    pub(crate) fn freeze(&mut self) -> Arc<Log> {
        let log = &mut self.log;
        self.frozen
            .get_or_insert_with(|| Arc::new(std::mem::take(log)))
            .clone()
    }

    /// The number of a list.
    pub(crate) fn list(&mut self, accesses: Vec<Access>) -> u32 {
        if accesses.is_empty() || !self.is_on {
            return NOTHING;
        }
        let lists = &mut self.log.lists;
        let known = lists.iter().rposition(|list| *list == accesses);
        known.unwrap_or_else(|| {
            lists.push(accesses);
            self.accessed.push(0);
            lists.len() - 1
        }) as u32
    }

    /// Whether no command has accessed what a list says since the last barrier.
    #[inline]
    pub(crate) fn is_new(&self, list: u32) -> bool {
        self.accessed
            .get(list as usize)
            .is_some_and(|accessed| *accessed != self.barriers + 1)
    }

    /// A command accesses what a list says. Once between two barriers is enough.
    #[inline]
    pub(crate) fn access(&mut self, list: u32, at: &Position) {
        if self.is_new(list) {
            self.accessed[list as usize] = self.barriers + 1;
            self.log.has_accesses = true;
            self.log.events.push(Event::Access(list, self.subpass, *at));
        }
    }

    /// The dependencies of a barrier, or of a wait for events.
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
        self.barriers += 1;
        let (before, new) = log.dependencies.split_at(first);
        log.has_accesses |= new.iter().any(|one| one.change != Change::None);
        // Most are the same as the one before.
        let count = new.len() as u32;
        if before.ends_with(new) {
            log.dependencies.truncate(first);
        }
        let end = log.dependencies.len() as u32;
        let first = end - count;
        log.events.push(if events.is_empty() {
            Event::Barrier(first, end, *at)
        } else {
            Event::Wait(events.to_vec(), first, end, *at)
        });
    }

    /// An event is set or reset.
    pub(crate) fn event(&mut self, event: Event) {
        self.barriers += 1;
        self.log.events.push(event);
    }

    /// A secondary command buffer runs.
    pub(crate) fn run(&mut self, log: Arc<Log>) {
        self.log.has_accesses |= log.has_accesses;
        let event = Event::Run(log, self.subpass);
        self.event(event);
    }

    /// A subpass begins.
    pub(crate) fn begin_subpass(&mut self) {
        self.barriers += 1;
        self.subpasses += 1;
        self.subpass = self.subpasses;
    }

    /// A subpass ends.
    pub(crate) fn end_subpass(&mut self) {
        self.barriers += 1;
        self.subpass = 0;
    }
}
