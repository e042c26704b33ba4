//! The synchronization state of one access, updated by every operation.
//!
//! ```text
//!           write ──► barrier A ────────────► barrier B ──────────► read
//! ordered:  (COLOR)   its second scope:         first scope meets     its stage must be ordered,
//!                     FRAGMENT, LATE, COLOR     what is ordered       its usage visible
//! available:          the same, if A's access   + COMPUTE
//!                     scope has the write
//! visible:            FRAGMENT/SAMPLED_READ     + COMPUTE/SAMPLED_READ
//! ```
//! `ordered` are the stages at which commands happen after the access, `available` those at which they happen after an availability operation that
//! includes it, `visible` the usages that see it: per queue, and per subpass if a dependency ends in one. A later dependency whose first scope meets
//! `ordered` adds its second scope, which forms chains. If it meets `available`, the write stays available, regardless of its own access scope.
//!
//! Source: "Execution and Memory Dependencies"; "Availability and Visibility" of the memory model.

pub(crate) mod missing;
pub(crate) mod signals;
mod transitions;

use ash::vk;
use tileheap_device::scopes::NO_STAGE;
use tileheap_units::IdMap;
use vk::PipelineStageFlags2 as S;

use crate::log::{AffectedMemory, Summary};
use crate::operation::{
    AliasedPart, Bytes, Earlier, Edge, EdgeKind, EnclosingSubpass, Limit, Operation, PassTransitions, Union,
    padded, through_transition,
};
use crate::program::{EventId, FenceId, QueueId, ResourceId, SemaphoreId};
use crate::region::Region;
use crate::schedule::Signaled;
use crate::usage::{Usage, Usages};

/// Properties of an access that synchronization depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The queue; `None` for the host.
    pub(crate) queue: Option<QueueId>,
    pub(crate) place: EnclosingSubpass,
    pub(crate) usage: Usage,
    pub(crate) class: ResourceId,
    pub(crate) bytes: Bytes,
    /// The `bufferImageGranularity` of the accessed memory.
    pub(crate) page: u64,
    /// The step that submitted the access, or in which the host performs it.
    pub(crate) submitted: u64,
}

impl Origin {
    /// Returns `true` if the accessed resource has bytes or pages in common with another one.
    fn may_overlap(&self, other: Bytes) -> bool {
        let own = self.bytes;
        let [own_pages, pages] = [own, other].map(|bytes| padded((bytes.first, bytes.end), self.page));
        own.memory == other.memory && own_pages.0 < pages.1 && pages.0 < own_pages.1
    }
}

/// The queue of a synchronization command, and the step that submitted it.
#[derive(Clone, Copy)]
struct QueueStep {
    queue: QueueId,
    submitted: u64,
}

impl QueueStep {
    fn new(queue: QueueId, submitted: u64) -> QueueStep {
        QueueStep { queue, submitted }
    }
}

/// The stages and usages that are ordered after an access, in one subpass of a queue or outside of its render pass instances.
#[derive(Clone, Copy, Debug, Default)]
struct Ordered {
    ordered: S,
    available: S,
    visible: Usages,
    /// Usages to which the access is visible only through its own resource.
    visible_through_own: Usages,
}

impl Ordered {
    fn add(&mut self, other: &Ordered) {
        self.ordered |= other.ordered;
        self.available |= other.available;
        self.visible |= other.visible;
        self.visible_through_own |= other.visible_through_own;
    }

    /// Makes the available write visible to an edge's second scope, within its limit.
    fn see(&mut self, edge: &Edge) {
        match edge.limit {
            Limit::All => self.visible |= edge.dst_usages,
            _ => self.visible_through_own |= edge.dst_usages,
        }
    }
}

/// An object that stores a first scope until a wait defines the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    /// An event, set on a queue: other queues cannot wait for it.
    Event(QueueId, EventId),
    /// A semaphore, with the lowest value whose signal covers the access: later signals of the same queue also cover it.
    Semaphore(SemaphoreId, Signaled),
    Fence(FenceId),
}

/// A signal that covers an access.
#[derive(Clone, Copy, Debug)]
struct CoveringSignal {
    by: Signal,
    membership: ScopeMembership,
    /// For an event, two subsets of its stages: `[0]` those ordered after the access when the event is set; `[1]` those to which the access is
    /// also available. Each dependency that waits for the event has its own first scope.
    stages: [S; 2],
}

/// The membership of an access in a first synchronization scope.
#[derive(Clone, Copy, Debug, Default)]
struct ScopeMembership {
    /// True if the access is in the scope itself, not only at the beginning of a dependency chain to it.
    is_direct: bool,
    /// True if the access was made available before.
    is_available: bool,
}

impl ScopeMembership {
    fn or(self, other: ScopeMembership) -> ScopeMembership {
        ScopeMembership {
            is_direct: self.is_direct || other.is_direct,
            is_available: self.is_available || other.is_available,
        }
    }
}

/// The synchronization state of an access to a region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    places: Vec<(QueueId, EnclosingSubpass, Ordered)>,
    /// Usages of other resources in the same bytes to which the access is visible through a part of a resource.
    through: Vec<(QueueId, EnclosingSubpass, AliasedPart, Usages)>,
    covered: Vec<CoveringSignal>,
    /// Queues on which a semaphore signal covers the access, and whether it was available there: later signals of the queue cover everything that
    /// earlier ones do.
    signaled: Vec<(QueueId, bool)>,
    /// The first step at which the host knows that the access is complete.
    complete: Option<u64>,
    /// The first step at which the host knows that the access is also available.
    complete_and_available: Option<u64>,
    /// Host accesses that the access was made visible to before it was known to be complete.
    host: Usages,
}

impl Reach {
    /// Returns the state of an access that the host performs in a step.
    pub(crate) fn of_host(step: u64) -> Reach {
        Reach {
            complete: Some(step),
            complete_and_available: Some(step),
            ..Reach::default()
        }
    }

    /// Merges the states of subpasses whose instances have ended: no later command belongs to them.
    pub(crate) fn compact(&mut self, last_instance: &IdMap<QueueId, u64>) {
        let is_over = |queue: QueueId, place: EnclosingSubpass| {
            place.is_some_and(|subpass| {
                subpass.instance != 0 && last_instance.get(&queue) != Some(&subpass.instance)
            })
        };
        for (queue, place, ordered) in std::mem::take(&mut self.places) {
            let place = if is_over(queue, place) {
                through_transition(None)
            } else {
                place
            };
            self.order(queue, place, &ordered);
        }
        self.through.retain(|(queue, place, ..)| !is_over(*queue, *place));
    }

    /// Returns `true` if the host knows that the access has completed.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete.is_some()
    }

    /// Returns `true` if the host knows that the access has completed and is available.
    pub(crate) fn is_complete_and_available(&self) -> bool {
        self.complete_and_available.is_some()
    }

    fn order(&mut self, queue: QueueId, place: EnclosingSubpass, new: &Ordered) {
        if new.ordered.is_empty() {
            return;
        }
        let known = self
            .places
            .iter_mut()
            .find(|(at, within, _)| (*at, *within) == (queue, place));
        match known {
            Some((.., ordered)) => ordered.add(new),
            None => self.places.push((queue, place, *new)),
        }
    }

    /// Returns the membership of the access in a first synchronization scope on a queue, directly or through a dependency chain.
    fn membership(
        &self,
        origin: &Origin,
        on: QueueStep,
        earlier: Earlier,
        stages: S,
    ) -> Option<ScopeMembership> {
        let is_direct = origin.queue == Some(on.queue)
            && earlier.includes(origin.place)
            && origin.usage.stage().intersects(stages);
        let direct = is_direct.then_some(ScopeMembership {
            is_direct,
            is_available: is_available_at_once(origin),
        });
        let chained = self.membership_by_chain(on, earlier, stages);
        direct.into_iter().chain(chained).reduce(ScopeMembership::or)
    }

    /// Returns the membership through a dependency chain: the scope meets stages that an earlier dependency ordered after the access, or the host knew that
    /// the access was complete.
    fn membership_by_chain(&self, on: QueueStep, earlier: Earlier, stages: S) -> Option<ScopeMembership> {
        let meets = |(at, place, ordered): &&(QueueId, EnclosingSubpass, Ordered)| {
            *at == on.queue && earlier.meets(*place) && ordered.ordered.intersects(stages)
        };
        let met = self
            .places
            .iter()
            .filter(meets)
            .map(|(.., ordered)| ScopeMembership {
                is_direct: false,
                is_available: ordered.available.intersects(stages),
            });
        let known = self.known_before(on.submitted).filter(|_| !stages.is_empty());
        let known = known.map(|is_available| ScopeMembership {
            is_direct: false,
            is_available,
        });
        met.chain(known).reduce(ScopeMembership::or)
    }

    /// Returns the membership of the access if it is ordered before an operation without a stage, which is only in second scopes with `ALL_COMMANDS`.
    fn membership_before_transition(
        &self,
        on: QueueStep,
        place: EnclosingSubpass,
    ) -> Option<ScopeMembership> {
        let within = place.map_or(Earlier::ChainsOnly, Earlier::Within);
        self.membership_by_chain(on, within, NO_STAGE)
    }

    /// Returns the membership in the first scope of an edge, or through the transition between its scopes.
    fn membership_by_edge(
        &self,
        origin: &Origin,
        on: QueueStep,
        place: EnclosingSubpass,
        edge: &Edge,
        events: Option<&[EventId]>,
    ) -> Option<ScopeMembership> {
        let own = match (edge.kind, events) {
            // Its first scope is ignored.
            (EdgeKind::Acquire, _) => None,
            (_, None) => self.membership(origin, on, edge.earlier, edge.src.execution_stages),
            (_, Some(events)) => {
                self.membership_by_events(origin, (on.queue, events), edge.src.execution_stages)
            }
        };
        let transition = if edge.has_transition {
            self.membership_before_transition(on, place)
        } else {
            None
        };
        own.into_iter().chain(transition).reduce(ScopeMembership::or)
    }

    /// Returns the membership in the first scope of a wait for events, which is limited to operations before the events are set.
    fn membership_by_events(
        &self,
        origin: &Origin,
        events: (QueueId, &[EventId]),
        stages: S,
    ) -> Option<ScopeMembership> {
        let set = self.covered.iter().filter_map(|covered| {
            let is_direct = covered.membership.is_direct && origin.usage.stage().intersects(stages);
            let [ordered, available] = covered.stages.map(|met| met.intersects(stages));
            (is_one_of(covered.by, events) && (is_direct || ordered)).then_some(ScopeMembership {
                is_direct,
                is_available: available || is_direct && is_available_at_once(origin),
            })
        });
        set.reduce(ScopeMembership::or)
    }

    /// Returns the stages that are ordered after the access on a queue, and the stages before which the access is available.
    fn stages_after(&self, on: QueueStep) -> [S; 2] {
        let places = self.places.iter().filter(|(at, ..)| *at == on.queue);
        let met = places.fold([S::NONE; 2], |[ordered, available], (.., more)| {
            [ordered | more.ordered, available | more.available]
        });
        let all = !S::NONE;
        match self.known_before(on.submitted) {
            Some(true) => [all; 2],
            Some(false) => [all, met[1]],
            None => met,
        }
    }

    /// Returns true if the access is already available, or an edge whose first scope includes it makes it available.
    fn is_available(origin: &Origin, region: Region, edge: &Edge, membership: ScopeMembership) -> bool {
        membership.is_available || Reach::is_made_available(origin, region, edge, membership)
    }

    /// Returns true if an edge makes the access available.
    fn is_made_available(origin: &Origin, region: Region, edge: &Edge, membership: ScopeMembership) -> bool {
        membership.is_direct && edge.src_usages.contains(origin.usage) && covers(edge, origin, region)
    }

    /// Returns `false` if an operation certainly does not change the state.
    pub(crate) fn may_change(&self, origin: &Origin, operation: &Operation) -> bool {
        let Operation::Dependencies {
            queue,
            submitted,
            union,
            events,
            ..
        } = operation
        else {
            return true;
        };
        if self.includes(origin, *queue, union, false) {
            return false;
        }
        let is_direct = match events {
            Some(events) => {
                let mut covered = self.covered.iter();
                covered.any(|covered| is_one_of(covered.by, (*queue, events)))
            }
            None => origin.queue == Some(*queue) && origin.usage.stage().intersects(union.src()),
        };
        is_direct || self.is_met(*queue, union) || self.known_before(*submitted).is_some()
    }

    /// Returns `false` if dependencies certainly do not change the state.
    pub(crate) fn may_change_by(&self, origin: &Origin, one: &Summary) -> bool {
        let Summary {
            queue,
            union,
            memory,
            submitted,
        } = one;
        let is_apart = match memory {
            AffectedMemory::Nothing => true,
            AffectedMemory::Within(bytes) => !origin.may_overlap(*bytes),
            AffectedMemory::Everything => false,
        };
        if self.includes(origin, *queue, union, is_apart) {
            return false;
        }
        let is_direct = origin.queue == Some(*queue) && origin.usage.stage().intersects(union.src());
        is_direct || self.is_met(*queue, union) || self.known_before(*submitted).is_some()
    }

    /// Returns `true` if the first scopes of some edges meet stages that are ordered after the access.
    fn is_met(&self, queue: QueueId, union: &Union) -> bool {
        let is_met = |(at, _, ordered): &(QueueId, EnclosingSubpass, Ordered)| {
            *at == queue && ordered.ordered.intersects(union.src())
        };
        self.places.iter().any(is_met)
    }

    /// Returns `true` if the edges can add nothing on a queue: everything in their second scopes is already ordered, and sees the access. `is_apart` is true
    /// if the edges only include accesses to other memory; then only host accesses have to see the access.
    fn includes(&self, origin: &Origin, queue: QueueId, union: &Union, is_apart: bool) -> bool {
        let mut everywhere = self.places.iter();
        everywhere.any(|(at, place, ordered)| {
            let is_there = *at == queue && place.is_none();
            let seen = match is_apart {
                true => union.dst_usages() & Usages::of_host(),
                false => union.dst_usages(),
            };
            // A read need not be visible.
            let is_seen = !origin.usage.writes()
                || ordered.available.contains(union.dst()) && ordered.visible.contains_all(seen);
            is_there && ordered.ordered.contains(union.dst()) && is_seen
        })
    }

    /// Drops the state of resources that are no longer known.
    pub(crate) fn forget_classes(&mut self, is_known: &impl Fn(ResourceId) -> bool) {
        self.through.retain(|(_, _, part, _)| is_known(part.class));
    }

    /// Updates the state after one operation.
    pub(crate) fn follow(&mut self, origin: &Origin, region: Region, operation: &Operation) {
        match operation {
            Operation::Dependencies {
                queue,
                submitted,
                edges,
                pass,
                place,
                events,
                union: _,
            } => {
                let at = (QueueStep::new(*queue, *submitted), *place);
                self.depend(origin, region, at, (edges, pass.as_deref()), events.as_deref());
            }
            Operation::SetEvent {
                queue,
                submitted,
                event,
                stages,
            } => {
                self.uncover(Signal::Event(*queue, *event));
                let on = QueueStep::new(*queue, *submitted);
                if let Some(membership) = self.membership(origin, on, Earlier::All, *stages) {
                    self.covered.push(CoveringSignal {
                        by: Signal::Event(*queue, *event),
                        membership,
                        stages: self.stages_after(on).map(|after| after & *stages),
                    });
                }
            }
            Operation::ResetEvent(event) => {
                let is_its = |by: Signal| matches!(by, Signal::Event(_, same) if same == *event);
                self.covered.retain(|covered| !is_its(covered.by));
            }
            Operation::Signal {
                queue,
                signals,
                submitted,
            } => self.signal(origin, *queue, signals, *submitted),
            Operation::Wait {
                queue,
                semaphore,
                signaled,
                stages,
            } => self.wait(*queue, *semaphore, *signaled, *stages),
            Operation::Unsignal(semaphore) => {
                let is_its = |covered: &CoveringSignal| matches!(covered.by, Signal::Semaphore(same, _) if same == *semaphore);
                self.covered.retain(|covered| !is_its(covered));
            }
            Operation::SignalFence {
                queue,
                fence,
                submitted,
            } => {
                self.uncover(Signal::Fence(*fence));
                if let Some(is_available) = self.before_fence(origin, *queue, *submitted) {
                    let is_direct = false;
                    self.cover(
                        Signal::Fence(*fence),
                        ScopeMembership {
                            is_direct,
                            is_available,
                        },
                    );
                }
            }
            Operation::ResetFence(fence) => self.uncover(Signal::Fence(*fence)),
            Operation::HostWait(wait, step) => self.host_wait(origin, *wait, *step),
            Operation::HostSignal(semaphore, signaled, step) => {
                if let Some(is_available) = self.known_before(*step) {
                    self.cover_semaphore(*semaphore, *signaled, is_available);
                }
            }
        }
    }

    fn depend(
        &mut self,
        origin: &Origin,
        region: Region,
        (on, place): (QueueStep, EnclosingSubpass),
        (edges, pass): (&[Edge], Option<&PassTransitions>),
        events: Option<&[EventId]>,
    ) {
        if let Some(pass) = pass {
            self.pass_transitions(origin, region, (on, place), pass);
        }
        // The edges of one command take effect at once and do not chain with each other. A transition, however, also happens after writes
        // that a global memory barrier of the same command makes available.
        let made = |edge: &Edge| {
            let held = self.membership_by_edge(origin, on, place, edge, events);
            held.is_some_and(|held| Reach::is_made_available(origin, region, edge, held))
        };
        let accompanied = edges.iter().any(|edge| edge.limit == Limit::All && made(edge));
        let held = edges.iter().enumerate().filter_map(|(index, edge)| {
            let own = self.membership_by_edge(origin, on, place, edge, events);
            let through =
                pass.and_then(|pass| self.membership_through(on.queue, pass.instance, &pass.before[index]));
            let held = own.into_iter().chain(through).reduce(ScopeMembership::or)?;
            let is_available = Reach::is_available(origin, region, edge, held);
            Some((edge, is_available || edge.has_transition && accompanied))
        });
        let mut held: Vec<(&Edge, bool)> = held.collect();
        let queue = on.queue;
        self.depend_on_transitions(queue, place, &held);
        held.retain(|(edge, _)| edge.kind != EdgeKind::Release);
        let mut added = Ordered::default();
        let mut through = Vec::new();
        for (edge, is_available) in held {
            added.ordered |= edge.dst.execution_stages;
            if !is_available {
                continue;
            }
            added.available |= edge.dst.execution_stages;
            // Host accesses are not performed through a resource (`VkImageMemoryBarrier2`).
            if edge.limit != Limit::Execution {
                added.visible |= edge.dst_usages & Usages::of_host();
            }
            if covers(edge, origin, region) {
                added.see(edge);
            } else if let Limit::Part(part) = edge.limit {
                let entry = (queue, place, part, edge.dst_usages);
                if part.class != origin.class
                    && origin.may_overlap(part.bytes)
                    && !self.through.contains(&entry)
                {
                    through.push(entry);
                }
            }
        }
        self.order(queue, place, &added);
        self.through.extend(through);
    }
}

/// Returns true if the access scopes of an edge include accesses to a region through the resource of an access.
fn covers(edge: &Edge, origin: &Origin, region: Region) -> bool {
    match &edge.limit {
        Limit::Execution => false,
        Limit::All => true,
        Limit::Part(part) => part.class == origin.class && part.region.contains(region),
    }
}

/// Returns `true` for a signal of one of these events on a queue.
fn is_one_of(signal: Signal, (queue, events): (QueueId, &[EventId])) -> bool {
    matches!(signal, Signal::Event(on, event) if on == queue && events.contains(&event))
}

/// Returns `true` for a write that needs no dependency to be available: "Image Layout Transitions" make their writes available.
fn is_available_at_once(origin: &Origin) -> bool {
    origin.usage == Usage::NO_STAGE || origin.usage.is_unknown()
}
