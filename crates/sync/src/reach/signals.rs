//! Signals: events, semaphores, fences, and completion known to the host.

use ash::vk;
use vk::PipelineStageFlags2 as S;

use crate::operation::{Earlier, Edge, HostWait};
use crate::program::{QueueId, SemaphoreId};
use crate::region::Region;
use crate::schedule::Signaled;
use crate::usage::Usages;

use super::{CoveringSignal, Ordered, Origin, QueueStep, Reach, ScopeMembership, Signal};

/// A wait of later work: with a barrier on the queue, or with a timeline semaphore on other queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedWait {
    pub(crate) queue: QueueId,
    pub(crate) edge: Edge,
    pub(crate) semaphore: SemaphoreId,
    pub(crate) signaled: Signaled,
}

impl Reach {
    /// Returns true if work that waits in either way is ordered after the access, and its writes are available by then.
    pub(crate) fn is_before(&self, origin: &Origin, region: Region, wait: &CheckedWait) -> bool {
        let on = QueueStep::new(wait.queue, 0);
        let Some(held) = self.membership_by_edge(origin, on, None, &wait.edge, None) else {
            return false;
        };
        let is_ready = !origin.usage.writes() || Reach::is_available(origin, region, &wait.edge, held);
        is_ready && self.is_signaled(wait.semaphore, wait.signaled).is_some()
    }

    pub(super) fn cover(&mut self, by: Signal, membership: ScopeMembership) {
        self.covered.push(CoveringSignal {
            by,
            membership,
            stages: [S::NONE; 2],
        });
    }

    pub(super) fn uncover(&mut self, by: Signal) {
        self.covered.retain(|covered| covered.by != by);
    }

    pub(super) fn cover_semaphore(&mut self, semaphore: SemaphoreId, signaled: Signaled, is_available: bool) {
        let is_lower = |covered: &CoveringSignal| {
            let is_known = matches!(covered.by, Signal::Semaphore(same, lower) if same == semaphore && lower.comes_before(signaled));
            is_known && (covered.membership.is_available || !is_available)
        };
        if !self.covered.iter().any(is_lower) {
            let membership = ScopeMembership {
                is_direct: false,
                is_available,
            };
            self.cover(Signal::Semaphore(semaphore, signaled), membership);
        }
    }

    /// Applies the signals of a batch. Source: "Semaphore Signaling", and the first scope of `vkQueueSubmit2`'s signals: commands at
    /// its stages, and signals of earlier batches.
    pub(super) fn signal(
        &mut self,
        origin: &Origin,
        queue: QueueId,
        signals: &[(SemaphoreId, Signaled, S)],
        submitted: u64,
    ) {
        let earlier = self
            .signaled
            .iter()
            .find(|(at, _)| *at == queue)
            .map(|known| known.1);
        let on = QueueStep::new(queue, submitted);
        let mut covered: Option<bool> = None;
        for &(semaphore, signaled, stages) in signals {
            let held = self.membership(origin, on, Earlier::All, stages);
            let held = held.map(|held| held.is_direct || held.is_available);
            let Some(is_available) = held.into_iter().chain(earlier).reduce(|a, b| a || b) else {
                continue;
            };
            self.cover_semaphore(semaphore, signaled, is_available);
            covered = Some(is_available || covered == Some(true));
        }
        let Some(is_available) = covered else { return };
        match self.signaled.iter_mut().find(|(at, _)| *at == queue) {
            Some((_, available)) => *available |= is_available,
            None => self.signaled.push((queue, is_available)),
        }
    }

    /// Applies the wait of a batch. Source: "Semaphore Waiting".
    pub(super) fn wait(&mut self, queue: QueueId, semaphore: SemaphoreId, signaled: Signaled, stages: S) {
        let Some(is_available) = self.is_signaled(semaphore, signaled) else {
            return;
        };
        let ordered = Ordered {
            ordered: stages,
            available: if is_available { stages } else { S::NONE },
            visible: if is_available {
                Usages::by(stages)
            } else {
                Usages::default()
            },
            ..Ordered::default()
        };
        self.order(queue, None, &ordered);
    }

    /// Tests whether a wait for a signal is ordered after the access: `Some(true)` if the access is also available there, `None` if it
    /// is not ordered.
    fn is_signaled(&self, semaphore: SemaphoreId, signaled: Signaled) -> Option<bool> {
        let reached = self.covered.iter().filter(|covered| match covered.by {
            Signal::Semaphore(same, lowest) => same == semaphore && lowest.comes_before(signaled),
            _ => false,
        });
        reached
            .map(|covered| covered.membership.is_available)
            .reduce(|a, b| a || b)
    }

    /// Tests whether the host knew that the access was complete before a step: `Some(true)` if it also knew that the access was
    /// available, `None` if it did not know.
    pub(super) fn known_before(&self, step: u64) -> Option<bool> {
        let is_before = |known: Option<u64>| known.is_some_and(|known| known < step);
        is_before(self.complete).then(|| is_before(self.complete_and_available))
    }

    /// Tests whether a fence signal is ordered after the access: `Some(true)` if the access is also available there, `None` if it is
    /// not ordered.
    ///
    /// Source: "Fences": the signal includes everything submitted to the queue before it, and everything that happens before that.
    pub(super) fn before_fence(&self, origin: &Origin, queue: QueueId, submitted: u64) -> Option<bool> {
        let direct = (origin.queue == Some(queue)).then_some(true);
        let places = self.places.iter().filter(|(at, ..)| *at == queue);
        let chained = places.map(|(.., ordered)| !ordered.available.is_empty());
        let signaled = self
            .signaled
            .iter()
            .filter(|(at, _)| *at == queue)
            .map(|known| known.1);
        let all = direct
            .into_iter()
            .chain(chained)
            .chain(signaled)
            .chain(self.known_before(submitted));
        all.reduce(|a, b| a || b)
    }

    pub(super) fn host_wait(&mut self, origin: &Origin, wait: HostWait, step: u64) {
        let waited = match wait {
            HostWait::Fence(fence) => {
                let mut covered = self.covered.iter();
                let found = covered.find(|covered| covered.by == Signal::Fence(fence));
                found.map(|covered| covered.membership.is_available)
            }
            HostWait::Semaphore(semaphore, signaled) => self.is_signaled(semaphore, signaled),
            HostWait::Queue(queue) => self.before_fence(origin, queue, 0),
            HostWait::Device => Some(true),
        };
        let Some(is_available) = waited else { return };
        self.complete = self.complete.or(Some(step));
        let available = is_available.then_some(step);
        self.complete_and_available = self.complete_and_available.or(available);
        for (.., ordered) in &self.places {
            self.host |= ordered.visible & Usages::of_host();
        }
    }
}
