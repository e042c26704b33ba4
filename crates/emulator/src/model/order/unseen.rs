//! The unseen writes of a device so far, and the resources whose contents are unknown as a result.

use tileheap_sync::program::Tiling;
use tileheap_units::IdSet;

use crate::model::finding::Finding;
use crate::model::objects::Object;
use crate::model::position::Position;
use crate::model::resources::Resource;
use crate::tables::messages::MessageId;
use crate::tables::unseen_writes::UnseenWrites;

/// The kinds of unseen writes that a device may have performed so far, and the kinds that can reach its tracked resources.
#[derive(Debug)]
pub(crate) struct UnseenWritesSoFar {
    kinds: UnseenWrites,
    /// For each kind that was not reported yet, the first command that may perform it.
    first: Vec<(UnseenWrites, UnseenSource)>,
    /// The kinds that can reach tracked resources.
    reach_followed: UnseenWrites,
    /// The kinds that can reach buffers and linear images in tile memory, all of which may share bytes.
    reach_tile: UnseenWrites,
    /// Memory objects that are accessed through untracked resources.
    memories: IdSet<u64>,
}

/// A command whose writes the layer does not see, with its position if it is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnseenSource {
    pub(crate) command: &'static str,
    pub(crate) object: Object,
    pub(crate) at: Option<Position>,
}

impl Default for UnseenWritesSoFar {
    fn default() -> UnseenWritesSoFar {
        UnseenWritesSoFar {
            kinds: UnseenWrites::HOST,
            first: Vec::new(),
            reach_followed: UnseenWrites::NONE,
            reach_tile: UnseenWrites::NONE,
            memories: IdSet::default(),
        }
    }
}

impl UnseenWritesSoFar {
    /// Records that a command may perform writes that the layer does not see. Returns a message about each new kind that can reach a tracked resource.
    pub(super) fn allow(&mut self, writes: UnseenWrites, source: UnseenSource) -> Vec<Finding> {
        let new = writes.without(self.kinds);
        self.kinds |= writes;
        self.first.extend(new.each().map(|kind| (kind, source)));
        self.take_messages()
    }

    /// Records that a memory object is accessed through an untracked resource.
    pub(super) fn allow_in(&mut self, memory: u64) {
        self.memories.insert(memory);
    }

    /// Forgets a freed memory object.
    pub(super) fn free(&mut self, memory: u64) {
        self.memories.remove(&memory);
    }

    /// Starts to track a resource. Returns messages about the kinds of unseen writes that can reach it and were not
    /// reported yet.
    pub(super) fn follow(&mut self, resource: &Resource) -> Vec<Finding> {
        if is_linear(resource) && resource.tile_place().is_some() {
            self.reach_tile |= resource.unseen_writes;
        }
        self.reach_followed |= resource.unseen_writes | resource.unseen_through_others.get();
        self.take_messages()
    }

    /// Returns `true` if writes that the layer does not see may have reached a resource: directly, through a linear resource in the same bytes, or
    /// through an untracked resource in its memory object.
    pub(super) fn may_have_written(&self, resource: &Resource) -> bool {
        let in_tile = self
            .reach_tile
            .only_if(is_linear(resource) && resource.tile_place().is_some());
        let reach = resource.unseen_writes | resource.unseen_through_others.get() | in_tile;
        let is_in = |memories: &IdSet<u64>| {
            let place = resource.place.get();
            place.is_some_and(|place| !place.is_tile && memories.contains(&place.memory))
        };
        reach.intersects(self.kinds) || is_in(&self.memories)
    }

    fn take_messages(&mut self) -> Vec<Finding> {
        let reached = self.reach_followed;
        let (told, rest) = std::mem::take(&mut self.first)
            .into_iter()
            .partition(|(kind, _)| kind.intersects(reached));
        self.first = rest;
        let told: Vec<(UnseenWrites, UnseenSource)> = told;
        told.into_iter()
            .map(|(kind, source)| message(kind, source))
            .collect()
    }
}

/// Records that unseen writes through one of two resources in the same bytes also reach the other, if both are linear.
pub(super) fn share_unseen_writes(one: &Resource, other: &Resource) {
    if is_linear(one) && is_linear(other) {
        one.unseen_through_others.add(other.unseen_writes);
        other.unseen_through_others.add(one.unseen_writes);
    }
}

fn is_linear(resource: &Resource) -> bool {
    !matches!(resource.tiling, Tiling::Optimal(_))
}

fn message(kind: UnseenWrites, source: UnseenSource) -> Finding {
    let UnseenSource { command, object, at } = source;
    let text = format!(
        "{command} may write {}, and the layer cannot see which bytes: from now on, reads of lost contents are only reported as possible for \
         these resources, and for buffers and linear images that share bytes with them",
        kind.reach()
    );
    Finding {
        at,
        ..Finding::new(MessageId::UnseenWrites, object, text)
    }
}
