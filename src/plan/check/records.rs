//! Records: one use of bytes each, with everything that has been made to come after it.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::frame::{PassId, QueueId, SemaphoreId};
use crate::scopes::{Scope, each_access};

/// One recorded use of bytes, at one stage.
pub(super) struct Record {
    pub(super) placement: usize,
    /// The bytes that no later write took, in ranges `[first, end)`.
    pub(super) bytes: Vec<(u64, u64)>,
    pub(super) queue: QueueId,
    pub(super) frame: usize,
    pub(super) pass: PassId,
    pub(super) by: By,
    /// Empty for transitions: those are at no stage, and only chains reach what follows.
    pub(super) stage: S,
    pub(super) access: A,
    pub(super) conflicts: Conflicts,
    /// Per queue, what comes after.
    pub(super) reach: Vec<OrderedAfter>,
    /// Semaphores that carry it to other queues.
    pub(super) carried: Vec<SemaphoreId>,
}

/// Who used the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// An access of the pass.
    Pass,
    /// A barrier at the pass, which changes layout or owner; a release has the other queue to wait for it.
    Barrier { release: bool },
    /// The caller, before the pass that is the first to use the resource.
    Caller,
}

/// What may not come after without being ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflicts {
    /// A read: writes have to wait.
    Writes,
    /// The caller's aliasing without accesses: everything has to wait, nothing has to be made visible.
    AllWait,
    /// A write: everything has to wait and to see it.
    AllSee,
}

/// What comes after a use on one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedAfter {
    /// Stages that wait for the use.
    pub(super) ordered: S,
    /// Stages that wait until the written bytes are available.
    pub(super) available: S,
    /// Stages and accesses that see them.
    pub(super) visible: Vec<(S, A)>,
}

impl OrderedAfter {
    /// `scope` comes after the use; what was written is `available` before it, and `visible` to it.
    pub(super) fn add(&mut self, scope: &Scope, available: bool, visible: bool) {
        self.ordered |= scope.execution;
        if available {
            self.available |= scope.execution;
            let sees = (scope.named, scope.access);
            if visible && !self.visible.contains(&sees) {
                self.visible.push(sees);
            }
        }
    }

    /// Whether every flag of `access` at `stage` sees what was written.
    pub(super) fn sees(&self, stage: S, access: A) -> bool {
        each_access(access).all(|flag| {
            let mut visible = self.visible.iter();
            visible.any(|(stages, flags)| stages.contains(stage) && flags.contains(flag))
        })
    }
}

/// A barrier as the hazards see it.
pub(super) struct Dependency {
    /// The placement of this frame.
    pub(super) placement: usize,
    pub(super) source: Scope,
    pub(super) destination: Scope,
    /// A global memory barrier besides.
    pub(super) global: bool,
    pub(super) kind: DependencyKind,
}

/// What a barrier does besides ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DependencyKind {
    /// Nothing.
    Plain,
    /// Changes the layout.
    Transition,
    /// Gives the resource to another queue.
    Release,
    /// Takes it from another queue: ordered after the release by a semaphore, not by its first scope.
    Acquire,
}

impl Dependency {
    /// Whether the memory of a placement is covered: its own image or buffer, or everything.
    pub(super) fn covers(&self, placement: usize) -> bool {
        self.global || self.placement == placement
    }
}

impl Record {
    /// Whether a barrier on `queue` waits for the use, and whether what it wrote is available after the barrier, given
    /// what was reached `before`.
    pub(super) fn passes_through(
        &self,
        before: &OrderedAfter,
        queue: QueueId,
        barrier: &Dependency,
    ) -> (bool, bool) {
        let source = &barrier.source;
        let here = self.queue == queue;
        // The first scope of an acquire is ignored: the semaphore must hold the stages that the acquire is for.
        let acquire = barrier.kind == DependencyKind::Acquire && barrier.covers(self.placement);
        let held = |stages: S| acquire && !stages.is_empty() && stages.contains(barrier.destination.named);
        let reached = |stages: S| stages.intersects(source.execution) || held(stages);
        let ordered = here && self.stage.intersects(source.execution) || reached(before.ordered);
        let makes = here
            && self.stage.intersects(source.named)
            && source.access.contains(self.access)
            && barrier.covers(self.placement);
        (ordered, makes || reached(before.available))
    }
}
