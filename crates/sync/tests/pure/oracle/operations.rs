//! Operations and dependencies: the elements of the specification's relations.

use std::collections::HashMap;

use ash::vk;
use tileheap_sync::MemoryUse;
use tileheap_sync::program::*;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

/// A render pass instance, and the index of its subpass.
pub(crate) type Subpass = (usize, u32);

/// The place where an operation executes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// On a queue, in a batch, possibly in a subpass.
    Queue(QueueId, Option<Subpass>),
    /// On the host, in this step.
    Host(usize),
}

/// An operation that accesses memory.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// The time at which its command is processed; shared by the actions of one command.
    pub(crate) at: usize,
    pub(crate) place: Place,
    /// Its stage, or a substitute, see `stages`.
    pub(crate) stage: S,
    /// The access, unless it is a transition, a release or an acquire.
    pub(crate) access: Option<MemoryAccess>,
    pub(crate) writes: bool,
    pub(crate) usage: MemoryUse,
    /// For a transition: the dependencies after whose availability operations it happens.
    pub(crate) after: Vec<usize>,
    /// For a transition: the dependencies before whose visibility operations it happens.
    pub(crate) before: Vec<usize>,
    /// For a transition: the global memory barriers of the same command.
    pub(crate) companions: Vec<usize>,
}

impl Action {
    /// Returns true if it is a transition, a release or an acquire.
    pub(crate) fn is_stageless(&self) -> bool {
        self.access.is_none()
    }

    /// Returns true if the exception "unknown accesses" applies.
    pub(crate) fn is_unknown(&self) -> bool {
        self.access.is_some_and(|access| access.access.is_empty())
    }

    pub(crate) fn kind(&self) -> Option<AccessKind> {
        self.access.map(|access| access.kind)
    }
}

/// A part of a synchronization scope. Bounds are exclusive; `after` and `before` are times for commands, and steps for the host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// Commands of a queue, possibly of one subpass, at some stages.
    Commands {
        queue: QueueId,
        after: usize,
        before: usize,
        subpass: Option<Subpass>,
        stages: S,
    },
    /// Operations of the host.
    Host { after: usize, before: usize },
    /// A signal operation.
    Signal(usize),
    /// Signal operations of a queue.
    Signals { queue: QueueId, before: usize },
}

/// An access scope: the limits within the synchronization scope.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessScope {
    Nothing,
    Everything,
    Types {
        stages: S,
        accesses: A,
        extent: DependencyMemory,
    },
}

/// An execution or memory dependency: the union of its first scopes happens before the union of its second ones.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) first: Vec<Scope>,
    pub(crate) second: Vec<Scope>,
    /// The first access scope: the accesses that its availability operation includes.
    pub(crate) available: AccessScope,
    /// The second access scope: the accesses that its visibility operation includes.
    pub(crate) visible: AccessScope,
}

/// A semaphore or fence signal operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// True for a fence: signals of semaphores do not include it.
    pub(crate) is_fence: bool,
    /// The queue and the time, unless the host signals.
    pub(crate) queue: Option<(QueueId, usize)>,
}

/// All operations and dependencies of a program.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    pub(crate) actions: Vec<Action>,
    /// Transitions of images that are not followed: they only are links of chains.
    pub(crate) unfollowed: Vec<Action>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) signals: Vec<Signal>,
    /// The last end of each subpass; active subpasses have no entry.
    pub(crate) ends: HashMap<Subpass, usize>,
}
