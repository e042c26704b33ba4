//! Records: one use of bytes each, with everything that is ordered after it.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::barriers::BarrierKind;
use super::checker::Checker;
use super::parts::Part;
use super::sites::Site;
use crate::frame::PassId;
use crate::lower::tables::submission::Semaphore;
use crate::lower::tables::{DeviceQueueIndex, Object};
use tileheap_device::scopes::{Scope, each_access};

/// One recorded use of bytes, at one stage.
pub(super) struct Record {
    /// The part that was used; `None` if only earlier work knows it.
    pub(super) part: Option<Part>,
    pub(super) site: Site,
    /// The bytes that no later write has taken, in ranges `[first, end)`.
    pub(super) bytes: Vec<(u64, u64)>,
    /// Parts of other images that later writes took, whichever bytes they occupy.
    pub(super) taken: Vec<Part>,
    pub(super) queue: DeviceQueueIndex,
    /// The row of the pass that used them; `None` for uses outside the frame.
    pub(super) row: Option<usize>,
    /// The access that used them, if regions of accesses are distinguished.
    pub(super) index: Option<usize>,
    pub(super) user: User,
    /// A release: only semaphores at `ALL_COMMANDS` come after it.
    pub(super) release: bool,
    /// Empty for transitions: these have no stage, and only chains reach what follows.
    pub(super) stage: S,
    pub(super) access: A,
    pub(super) conflicts: Conflicts,
    /// Per device queue, what is ordered after it.
    pub(super) reach: Vec<OrderedAfter>,
    /// Semaphores that carry it to other queues.
    pub(super) carried: Vec<Semaphore>,
}

/// A user of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct User {
    pub(super) by: UsedBy,
    /// Its description for messages.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UsedBy {
    /// A pass reads it.
    Read,
    /// A pass writes it, or a clear before the pass.
    Write,
    /// A barrier changes its layout or the family that owns it, which writes.
    Transition,
    /// The caller, before the frame.
    Entry,
    /// The caller, after the frame.
    Exit,
    /// Earlier work on the same bytes.
    Earlier,
}

impl User {
    /// A use of an object by a pass, or by a barrier or clear recorded at it.
    pub(super) fn new(checker: &Checker<'_>, by: UsedBy, object: Object, pass: PassId) -> User {
        let (resource, pass) = (checker.name_of(object), checker.pass(pass));
        let text = match by {
            UsedBy::Read => format!("pass `{pass}` reads `{resource}`"),
            UsedBy::Write => format!("pass `{pass}` writes `{resource}`"),
            UsedBy::Transition => {
                format!("a barrier at pass `{pass}` changes the layout or owner of `{resource}`")
            }
            UsedBy::Entry => format!("`{resource}` enters the frame"),
            UsedBy::Exit => format!("`{resource}` leaves the frame"),
            UsedBy::Earlier => "earlier work".to_owned(),
        };
        User { by, text }
    }
}

/// The later uses that have to be ordered after a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflicts {
    /// A read: writes have to wait.
    Writes,
    /// Unknown accesses: everything has to wait, nothing has to be made visible.
    AllWait,
    /// A write: everything has to wait and to see it.
    AllSee,
}

/// The stages and accesses that are ordered after a use on one queue.
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
    /// Orders `scope` after the use. What was written is available before it if `available`, and then visible to it if `visible`.
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

/// A barrier as hazard tracking uses it.
pub(super) struct Dependency {
    /// The parts of its image, or its buffer; `None` for a memory barrier.
    pub(super) parts: Option<Vec<Part>>,
    pub(super) source: Scope,
    pub(super) destination: Scope,
    pub(super) kind: BarrierKind,
}

impl Dependency {
    /// Whether it covers the memory of a record: that of its own image or buffer, or all memory.
    pub(super) fn covers(&self, record: &Record) -> bool {
        match &self.parts {
            None => true,
            Some(parts) => record.part.is_some_and(|part| parts.contains(&part)),
        }
    }
}

impl Record {
    /// Whether a barrier on `queue` waits for the use, and whether what it wrote is available after the barrier, given
    /// what was reached `before`.
    ///
    /// The first scope of an acquire is ignored: what it takes over must have come through a semaphore wait at `ALL_COMMANDS`, the only
    /// stage that Vulkan allows there without `VK_KHR_maintenance8`.
    pub(super) fn passes_through(
        &self,
        before: &OrderedAfter,
        queue: DeviceQueueIndex,
        barrier: &Dependency,
    ) -> (bool, bool) {
        if barrier.kind == BarrierKind::Acquire {
            let all = Scope::all().execution;
            return (before.ordered.contains(all), before.available.contains(all));
        }
        let source = &barrier.source;
        let here = self.queue == queue;
        let reached = |stages: S| stages.intersects(source.execution);
        let ordered = here && self.stage.intersects(source.execution) || reached(before.ordered);
        let makes = here
            && self.stage.intersects(source.named)
            && source.access.contains(self.access)
            && barrier.covers(self);
        // What earlier work made available only has to be waited for.
        let known = self.user.by == UsedBy::Earlier && self.access.is_empty() && ordered;
        (ordered, makes || known || reached(before.available))
    }
}
