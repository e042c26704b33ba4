//! Synchronization operations: dependencies, events, semaphores, fences and host waits, in the order in which they take effect.

use ash::vk;
use tileheap_device::scopes::{ExpandedScope, NO_STAGE};
use vk::PipelineStageFlags2 as S;

use crate::program::{DependencyScopes, EventId, FenceId, MemoryId, QueueId, ResourceId, SemaphoreId};
use crate::region::Region;
use crate::schedule::Signaled;
use crate::usage::Usages;

/// A subpass of a render pass instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subpass {
    /// The number of the instance, unique on the device.
    pub(crate) instance: u64,
    pub(crate) index: u32,
}

impl Subpass {
    /// Returns the pseudo-subpass of the layout transitions of an instance, which do not belong to any of its subpasses.
    pub(crate) fn transitions(instance: u64) -> Subpass {
        Subpass {
            instance,
            index: u32::MAX,
        }
    }
}

/// Returns the pseudo-subpass for commands that are ordered before a layout transition or queue family ownership transfer. If a later scope includes the
/// transition, it forms a dependency chain with these commands.
pub(crate) fn through_transition(place: EnclosingSubpass) -> EnclosingSubpass {
    Some(Subpass {
        instance: place.map_or(0, |subpass| subpass.instance),
        index: u32::MAX - 1,
    })
}

/// Returns the pseudo-subpass for commands that are ordered before a layout transition of a render pass instance; `number` is the number of the transition.
pub(crate) fn through_pass_transition(instance: u64, number: u32) -> EnclosingSubpass {
    Some(Subpass {
        instance,
        index: u32::MAX - 2 - number,
    })
}

/// The subpass that a command belongs to; `None` outside of render pass instances.
pub(crate) type EnclosingSubpass = Option<Subpass>;

/// Addresses `[first, end)` of an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes {
    pub(crate) memory: MemoryId,
    pub(crate) first: u64,
    pub(crate) end: u64,
}

/// Extends a range of bytes to whole pages.
pub(crate) fn padded((first, end): (u64, u64), page: u64) -> (u64, u64) {
    let page = page.max(1);
    (first - first % page, end.div_ceil(page).saturating_mul(page))
}

/// Accesses through a part of a resource, or through a resource that interprets the same bytes consistently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AliasedPart {
    pub(crate) class: ResourceId,
    pub(crate) region: Region,
    pub(crate) bytes: Bytes,
}

/// The memory that the access scopes of an edge are limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// No memory: only an execution dependency.
    Execution,
    /// All memory.
    All,
    /// Accesses through a part of a resource.
    Part(AliasedPart),
}

/// The earlier commands of the queue that a first synchronization scope includes.
///
/// Source: "Synchronization", the scopes of `vkCmdPipelineBarrier2`; "Render Pass", `VkSubpassDependency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// All earlier commands in submission order.
    All,
    /// Commands of a subpass.
    Within(Subpass),
    /// Commands before a render pass instance.
    BeforeInstance(u64),
    /// No commands directly, only dependency chains from operations that are ordered before all following commands.
    ChainsOnly,
}

impl Earlier {
    /// Returns `true` if the first scope includes the commands of subpass `place` (`None`: those outside of render pass instances).
    pub(crate) fn includes(self, place: EnclosingSubpass) -> bool {
        match self {
            Earlier::All => true,
            Earlier::Within(subpass) => place == Some(subpass),
            Earlier::BeforeInstance(instance) => place.is_none_or(|subpass| subpass.instance != instance),
            Earlier::ChainsOnly => false,
        }
    }

    /// Returns `true` if the first scope may include commands that an earlier second scope includes in `place`. Outside of render pass instances, these are
    /// all later commands.
    pub(crate) fn meets(self, place: EnclosingSubpass) -> bool {
        place.is_none() || self.includes(place)
    }
}

/// The use of an edge, which determines whether one of its scopes is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeKind {
    Plain,
    /// A queue family ownership transfer away from this queue: the second scope is ignored.
    Release,
    /// A queue family ownership transfer to this queue: the first scope is ignored.
    Acquire,
}

/// A dependency between two scopes of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) src: ExpandedScope,
    pub(crate) src_usages: Usages,
    pub(crate) dst: ExpandedScope,
    pub(crate) dst_usages: Usages,
    pub(crate) limit: Limit,
    pub(crate) kind: EdgeKind,
    /// True if a layout transition or a queue family ownership transfer happens between the scopes of the edge.
    pub(crate) has_transition: bool,
    pub(crate) earlier: Earlier,
}

impl Edge {
    pub(crate) fn new(
        scopes: &DependencyScopes,
        limit: Limit,
        kind: EdgeKind,
        earlier: Earlier,
        has_transition: bool,
    ) -> Edge {
        let src = ExpandedScope::source(scopes.src, scopes.src_access);
        let dst = ExpandedScope::destination(scopes.dst, scopes.dst_access);
        Edge {
            src_usages: Usages::of(&src),
            dst_usages: Usages::of(&dst),
            src,
            dst,
            limit,
            kind,
            has_transition,
            earlier,
        }
    }
}

/// The union of the scopes of all edges of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Union {
    /// The stages of the first scopes; [`NO_STAGE`] for transitions.
    src: S,
    /// The stages of the second scopes; [`NO_STAGE`] for transitions.
    dst: S,
    dst_usages: Usages,
}

impl Union {
    pub(crate) fn of<'a>(edges: impl IntoIterator<Item = &'a Edge>) -> Union {
        let mut union = Union::default();
        for edge in edges {
            if edge.kind != EdgeKind::Acquire {
                union.src |= edge.src.execution_stages;
            }
            if edge.has_transition {
                union.src |= NO_STAGE;
                union.dst |= NO_STAGE;
            }
            union.dst |= edge.dst.execution_stages;
            union.dst_usages |= edge.dst_usages;
        }
        union
    }

    /// Adds [`NO_STAGE`], which represents transitions, to the union's stages.
    pub(crate) fn with_transitions(mut self) -> Union {
        self.src |= NO_STAGE;
        self.dst |= NO_STAGE;
        self
    }

    pub(crate) fn src(&self) -> S {
        self.src
    }

    pub(crate) fn dst(&self) -> S {
        self.dst
    }

    pub(crate) fn dst_usages(&self) -> Usages {
        self.dst_usages
    }
}

/// The layout transitions of a render pass instance at the beginning of a subpass, or at the end of the instance.
#[derive(Clone, Debug)]
pub(crate) struct PassTransitions {
    pub(crate) instance: u64,
    /// The number of each transition that is performed at this point, and the edges after whose first scopes it happens.
    pub(crate) performed: Vec<(u32, Vec<Edge>)>,
    /// For each edge of the operation, the transitions before its second scope, which may also have been performed earlier.
    pub(crate) before: Vec<Vec<u32>>,
}

/// A synchronization operation.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// The dependencies of one command, which take effect at once. Here and below, `submitted` is the step that submitted the batch.
    ///
    /// The second scopes of the dependencies are at `place`. With events, first scopes are limited to
    /// operations that the events cover. A render pass has transitions apart from those of its edges.
    Dependencies {
        queue: QueueId,
        submitted: u64,
        edges: Vec<Edge>,
        union: Union,
        pass: Option<Box<PassTransitions>>,
        place: EnclosingSubpass,
        events: Option<Vec<EventId>>,
    },
    /// Sets an event with the stages of the first synchronization scope.
    SetEvent {
        queue: QueueId,
        submitted: u64,
        event: EventId,
        stages: S,
    },
    ResetEvent(EventId),
    /// A batch signals semaphores, each at its stages, in no particular order.
    Signal {
        queue: QueueId,
        signals: Vec<(SemaphoreId, Signaled, S)>,
        submitted: u64,
    },
    /// A batch waits for a semaphore at some stages.
    Wait {
        queue: QueueId,
        semaphore: SemaphoreId,
        signaled: Signaled,
        stages: S,
    },
    /// Removes the signal of a semaphore, because a batch waited for a binary semaphore, or the semaphore is destroyed.
    Unsignal(SemaphoreId),
    /// A batch signals a fence.
    SignalFence {
        queue: QueueId,
        fence: FenceId,
        submitted: u64,
    },
    ResetFence(FenceId),
    /// A wait of the host, and the step in which it happens.
    HostWait(HostWait, u64),
    /// A host signal of a timeline semaphore, and the step in which it happens.
    HostSignal(SemaphoreId, Signaled, u64),
}

/// The target of a host wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostWait {
    Fence(FenceId),
    Semaphore(SemaphoreId, Signaled),
    Queue(QueueId),
    Device,
}
