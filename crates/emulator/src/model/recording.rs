//! A command buffer while it is recorded: what is bound, and what its commands discard.

use std::sync::Arc;

use ash::vk;

use super::bound_sets::BoundSets;
use super::contents::Contents;
use super::finding::{Finding, Object};
use super::resources::Resource;
use crate::tables::action_commands::ReachableDescriptors;
use crate::tables::messages::MessageId;

/// What was recorded so far.
#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) bound: Option<BoundMemory>,
    pub(crate) pass: Option<Pass>,
    /// What a suspended render pass instance leaves to poison where it ends at last.
    pub(crate) suspended: Vec<Discard>,
    /// The first action command with tile memory bound was prepared for.
    is_guarded: bool,
    pub(crate) contents: Contents,
    /// Tile memory was bound at some time: a batch with this command buffer may need poison.
    pub(crate) uses_tile: bool,
    pub(crate) sets: BoundSets,
    pub(crate) reported: ReportedOnce,
}

/// What was reported of which object in a recording.
#[derive(Default)]
pub(crate) struct ReportedOnce(Vec<(MessageId, u64)>);

impl ReportedOnce {
    /// Whether this was not reported before.
    pub(crate) fn is_first(&mut self, finding: &Finding) -> bool {
        let key = (finding.id, finding.object.1);
        let is_first = !self.0.contains(&key);
        if is_first {
            self.0.push(key);
        }
        is_first
    }
}

/// The tile memory object bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundMemory {
    pub(crate) memory: u64,
    pub(crate) size: u64,
}

/// What a secondary command buffer inherits whose object the layer does not know: as much as its primary has.
///
/// Validation 1.4.363 passes its own handles down in this one structure, which mean nothing to layers below. Strict would be
/// to report such a handle as a mistake; but then no correct program with secondaries would run under validation, which
/// reports the mistake itself (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
pub(crate) const UNKNOWN: BoundMemory = BoundMemory {
    memory: 0,
    size: u64::MAX,
};

/// A render pass instance.
#[derive(Default)]
pub(crate) struct Pass {
    /// Another instance resumes it: nothing may be recorded in between.
    pub(crate) suspends: bool,
    /// Attachments whose object is not bound, until that is reported; and what is bound instead.
    pub(crate) unbound: Vec<(Arc<Resource>, Option<BoundMemory>)>,
    /// Bytes that become undefined where it ends.
    pub(crate) at_end: Vec<Discard>,
    /// It runs secondary command buffers, after which the binding is unknown.
    pub(crate) ran_secondaries: bool,
}

/// Bytes `[first, end)` that become undefined, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Discard {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) reason: &'static str,
}

/// What is recorded before an action command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preparation {
    /// It is the first one with tile memory bound.
    pub(crate) guard: bool,
    pub(crate) discard: Option<Discard>,
}

impl Recording {
    /// Whether a draw or dispatch may access anything that was not checked before.
    #[inline]
    pub(crate) fn needs_check(&mut self, reachable: ReachableDescriptors) -> bool {
        let state = self.contents.discards() ^ self.bound.map_or(0, |bound| bound.memory);
        self.sets.needs_check(reachable, state)
    }

    /// Binds a tile memory object of that size, or nothing.
    pub(crate) fn bind(&mut self, memory: u64, size: Option<u64>) {
        self.bound = size.map(|size| BoundMemory { memory, size });
        self.uses_tile |= size.is_some();
    }

    /// An action command comes next: what the binding does not cover is discarded before it. `None` where nothing changes.
    #[inline]
    pub(crate) fn act(&mut self) -> Option<Preparation> {
        let reserved = self.bound.map_or(0, |bound| bound.size);
        // The same as for the last one: nothing changes.
        if self.contents.entry.is_some() && self.contents.live == reserved {
            return None;
        }
        self.reserve(reserved)
    }

    fn reserve(&mut self, reserved: u64) -> Option<Preparation> {
        let reason = "an action command with less bound";
        let discarded = self.contents.act(reserved);
        Some(Preparation {
            guard: reserved > 0 && !std::mem::replace(&mut self.is_guarded, true),
            discard: discarded.map(|(first, end)| Discard { first, end, reason }),
        })
    }

    /// `[first, end)` becomes undefined here.
    pub(crate) fn discard(&mut self, first: u64, end: u64, reason: &'static str) -> Discard {
        self.contents.discard(first, end);
        Discard { first, end, reason }
    }
}

/// A finding about memory that cannot be bound as tile memory.
pub(crate) fn not_tile_memory(memory: Object) -> Finding {
    Finding {
        id: MessageId::NotTileMemory,
        object: memory,
        text: "memory that is not of a tile heap is bound as tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726)"
            .to_owned(),
    }
}

/// A finding about binding tile memory inside a render pass.
pub(crate) fn bound_inside(commands: u64) -> Finding {
    Finding {
        id: MessageId::BoundInside,
        object: (vk::ObjectType::COMMAND_BUFFER, commands),
        text: "tile memory is bound inside a render pass (VUID-vkCmdBindTileMemoryQCOM-renderpass)"
            .to_owned(),
    }
}
