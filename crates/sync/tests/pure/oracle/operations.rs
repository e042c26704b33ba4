//! Operations and dependencies: what the specification's relations are between.

use std::collections::HashMap;

use ash::vk;
use tileheap_sync::Use;
use tileheap_sync::program::*;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

/// A render pass instance, and the index of its subpass.
pub(crate) type Subpass = (usize, u32);

/// Where an operation executes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// On a queue, in a batch, perhaps in a subpass.
    Queue(QueueId, Option<Subpass>),
    /// On the host, in this step.
    Host(usize),
}

/// An operation that accesses memory.
#[derive(Clone, Debug)]
pub(crate) struct Action {
    /// When its command is processed; actions of one command share it.
    pub(crate) at: usize,
    pub(crate) place: Place,
    /// Its stage, or what stands for one, see `stages`.
    pub(crate) stage: S,
    /// The access, unless it is a transition, a release or an acquire.
    pub(crate) access: Option<Access>,
    pub(crate) writes: bool,
    pub(crate) usage: Use,
    /// Of a transition: the dependencies between whose scopes it happens.
    pub(crate) within: Vec<usize>,
    /// Of a transition: the global memory barriers of the same command.
    pub(crate) companions: Vec<usize>,
}

impl Action {
    /// Whether it is a transition, a release or an acquire.
    pub(crate) fn is_stageless(&self) -> bool {
        self.access.is_none()
    }

    /// The exception "unknown accesses".
    pub(crate) fn is_unknown(&self) -> bool {
        self.access.is_some_and(|access| access.access.is_empty())
    }

    pub(crate) fn kind(&self) -> Option<AccessKind> {
        self.access.map(|access| access.kind)
    }
}

/// Some of a synchronization scope. Bounds are exclusive; `after` and `before` of commands are times, those of the host steps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// Commands of a queue, perhaps of one subpass, at some stages.
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

/// An access scope: within the synchronization scope, what it is limited to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessScope {
    Nothing,
    Everything,
    Types { stages: S, accesses: A, extent: Extent },
}

/// An execution or memory dependency: the union of its first scopes happens before the union of its second ones.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) first: Vec<Scope>,
    pub(crate) second: Vec<Scope>,
    /// The first access scope: what its availability operation includes.
    pub(crate) available: AccessScope,
    /// The second access scope: what its visibility operation includes.
    pub(crate) visible: AccessScope,
}

/// A semaphore or fence signal operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// Of a fence: signals of semaphores do not include it.
    pub(crate) is_fence: bool,
    /// The queue and the time, unless the host signals.
    pub(crate) queue: Option<(QueueId, usize)>,
}

/// All operations and dependencies of a program.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    pub(crate) actions: Vec<Action>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) signals: Vec<Signal>,
    /// When a subpass ended last; those that go on have no entry.
    pub(crate) ends: HashMap<Subpass, usize>,
}
