//! Layout transitions and queue family ownership transfers, which happen between the scopes of dependencies.

use ash::vk;
use tileheap_device::scopes::NO_STAGE;
use vk::PipelineStageFlags2 as S;

use crate::operation::{
    Edge, EdgeKind, EnclosingSubpass, PassTransitions, through_pass_transition, through_transition,
};
use crate::program::QueueId;
use crate::region::Region;
use crate::usage::Usages;

use super::{Ordered, Origin, QueueStep, Reach, ScopeMembership};

impl Reach {
    /// Returns the state of an operation between the scopes of a barrier: the second scopes of its edges are ordered after it.
    pub(crate) fn of_transition(queue: QueueId, place: EnclosingSubpass, edges: &[Edge]) -> Reach {
        let mut reach = Reach::default();
        for edge in edges.iter().filter(|edge| edge.kind != EdgeKind::Release) {
            let stages = edge.dst.execution_stages;
            let mut ordered = Ordered {
                ordered: stages,
                available: stages,
                ..Ordered::default()
            };
            ordered.see(edge);
            ordered.visible |= edge.dst_usages & Usages::of_host();
            reach.order(queue, place, &ordered);
        }
        reach
    }

    /// Returns the state of a layout transition of a render pass instance: the second scopes of later edges are ordered after it. `number` is the number of
    /// the transition.
    pub(crate) fn of_pass_transition(queue: QueueId, instance: u64, number: u32) -> Reach {
        let mut reach = Reach::default();
        reach.order(queue, through_pass_transition(instance, number), &between(true));
        reach
    }

    /// Applies transitions and transfers, which happen after the operations in the first scopes of their edges, and are in later scopes themselves.
    pub(super) fn depend_on_transitions(
        &mut self,
        queue: QueueId,
        place: EnclosingSubpass,
        held: &[(&Edge, bool)],
    ) {
        let mut own = held.iter().filter(|(edge, _)| edge.has_transition).peekable();
        if own.peek().is_none() {
            return;
        }
        let is_available = own.any(|(_, is_available)| *is_available);
        self.order(queue, through_transition(place), &between(is_available));
    }

    /// Applies the layout transitions of a render pass.
    pub(super) fn pass_transitions(
        &mut self,
        origin: &Origin,
        region: Region,
        (on, place): (QueueStep, EnclosingSubpass),
        pass: &PassTransitions,
    ) {
        for (number, after) in &pass.performed {
            let held = after.iter().filter_map(|edge| {
                let held = self.membership_by_edge(origin, on, place, edge, None)?;
                Some(Reach::is_available(origin, region, edge, held))
            });
            let earlier = self.membership_before_transition(on, place);
            let earlier = earlier.map(|held| held.is_available);
            if let Some(is_available) = held.chain(earlier).reduce(|one, other| one || other) {
                let place = through_pass_transition(pass.instance, *number);
                self.order(on.queue, place, &between(is_available));
            }
        }
    }

    /// Returns the membership of the access in a scope that includes one of these layout transitions of an instance, if the access is ordered before it.
    pub(super) fn membership_through(
        &self,
        queue: QueueId,
        instance: u64,
        numbers: &[u32],
    ) -> Option<ScopeMembership> {
        let is_before = |(at, place, _): &&(QueueId, EnclosingSubpass, Ordered)| {
            let mut places = numbers
                .iter()
                .map(|number| through_pass_transition(instance, *number));
            *at == queue && places.any(|one| one == *place)
        };
        let held = self
            .places
            .iter()
            .filter(is_before)
            .map(|(.., ordered)| ScopeMembership {
                is_direct: false,
                is_available: !ordered.available.is_empty(),
            });
        held.reduce(ScopeMembership::or)
    }
}

/// Returns the state of an access that is ordered before a transition, and made available before it if `is_available` is true.
fn between(is_available: bool) -> Ordered {
    Ordered {
        ordered: NO_STAGE,
        available: if is_available { NO_STAGE } else { S::NONE },
        ..Ordered::default()
    }
}
