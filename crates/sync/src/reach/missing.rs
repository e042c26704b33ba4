//! The dependency that is missing before a later access.

use crate::finding::MissingDependency;
use crate::operation::{AliasedPart, Edge, EnclosingSubpass, Limit};
use crate::program::EventId;
use crate::region::Region;

use super::{Ordered, Origin, QueueStep, Reach, ScopeMembership};

/// A missing dependency, and the regions where it is missing.
#[derive(Clone, Debug)]
pub(crate) struct MissingScope {
    pub(crate) missing: MissingDependency,
    pub(crate) regions: Vec<Region>,
}

impl Reach {
    /// Returns the dependency that is missing before a later access to a region.
    pub(crate) fn missing(&self, origin: &Origin, later: &Origin, region: Region) -> Option<MissingScope> {
        let lacking = |missing| {
            let regions = vec![region];
            Some(MissingScope { missing, regions })
        };
        let Some(queue) = later.queue else {
            return self.missing_for_host(origin, later, region);
        };
        let known = self.known_before(later.submitted);
        if known == Some(true) {
            // "Host Write Ordering Guarantees": each submission makes available writes visible.
            return None;
        }
        let is_at = |place: EnclosingSubpass| place.is_none() || place == later.place;
        let mut after = Ordered::default();
        let places = self.places.iter();
        places
            .filter(|(at, place, _)| *at == queue && is_at(*place))
            .for_each(|(.., ordered)| after.add(ordered));
        let stage = later.usage.stage();
        if !after.ordered.intersects(stage) && known.is_none() {
            return lacking(MissingDependency::Execution);
        }
        let is_unknown = origin.usage.is_unknown() && origin.class != later.class;
        if !origin.usage.writes() || later.usage.is_unknown() || is_unknown {
            return None;
        }
        if !after.available.intersects(stage) {
            return lacking(MissingDependency::Availability);
        }
        let is_own = origin.class == later.class && after.visible_through_own.contains(later.usage);
        if later.usage.writes() || is_own || after.visible.contains(later.usage) {
            return None;
        }
        let parts = self
            .through
            .iter()
            .filter(|(at, place, _, usages)| *at == queue && is_at(*place) && usages.contains(later.usage));
        let regions = unseen(parts.map(|(.., part, _)| part), later, region);
        let missing = MissingDependency::Visibility;
        (!regions.is_empty()).then_some(MissingScope { missing, regions })
    }

    /// Returns the dependency that is missing between the access and a later access of the host. Source: "Host Write Ordering Guarantees" and the memory
    /// domain operations of the memory model.
    fn missing_for_host(&self, origin: &Origin, later: &Origin, region: Region) -> Option<MissingScope> {
        // Two accesses of the host are ordered by its program.
        origin.queue?;
        if self.complete.is_none() {
            let regions = vec![region];
            return Some(MissingScope {
                missing: MissingDependency::Execution,
                regions,
            });
        }
        let is_unknown = origin.usage.is_unknown() && origin.class != later.class;
        if !origin.usage.writes() || later.usage.is_unknown() || is_unknown {
            return None;
        }
        // A dependency on host reads or host writes moves a write to the host domain.
        let is_seen = self.host.contains(later.usage) || later.usage.writes() && !self.host.is_empty();
        if is_seen {
            return None;
        }
        // To the host domain, or to any domain.
        let missing = if later.usage.writes() || self.complete_and_available.is_none() {
            MissingDependency::Availability
        } else {
            MissingDependency::Visibility
        };
        let regions = vec![region];
        Some(MissingScope { missing, regions })
    }

    /// Returns the dependency that is missing before a layout transition or queue family ownership transfer, which happens between the two scopes of its own
    /// barriers (`own`). Global memory barriers of the same command may also make writes available.
    pub(crate) fn missing_before_transition(
        &self,
        origin: &Origin,
        region: Region,
        (later, place): (&Origin, EnclosingSubpass),
        own: &[Edge],
        (edges, events): (&[Edge], Option<&[EventId]>),
    ) -> Option<MissingDependency> {
        let on = QueueStep::new(later.queue?, later.submitted);
        let held = |edge: &Edge| Some((*edge, self.membership_by_edge(origin, on, place, edge, events)?));
        let mut own = own.iter().filter_map(held).peekable();
        if own.peek().is_none() {
            // Without its own dependency, it may still be in the second scope of an earlier one.
            let earlier = self.membership_before_transition(on, place);
            let is_ready = |held: ScopeMembership| held.is_available || !origin.usage.writes();
            return match earlier {
                Some(held) if is_ready(held) => None,
                Some(_) => Some(MissingDependency::Availability),
                None => Some(MissingDependency::Execution),
            };
        }
        let mut accompanying = edges
            .iter()
            .filter(|edge| edge.limit == Limit::All)
            .filter_map(held);
        let is_ready = !origin.usage.writes()
            || own.any(|(edge, held)| Reach::is_available(origin, region, &edge, held))
            || accompanying.any(|(edge, held)| Reach::is_made_available(origin, region, &edge, held));
        (!is_ready).then_some(MissingDependency::Availability)
    }
}

/// Returns the part of `region` in which no barrier makes the write visible.
fn unseen<'a>(parts: impl Iterator<Item = &'a AliasedPart>, later: &Origin, region: Region) -> Vec<Region> {
    let mut unseen = vec![region];
    for part in parts.filter(|part| part.class == later.class) {
        unseen = unseen
            .iter()
            .flat_map(|piece| piece.without(part.region))
            .collect();
    }
    unseen
}
