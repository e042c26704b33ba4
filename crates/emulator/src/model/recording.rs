//! A command buffer while it is recorded: bound tile memory, and discards of its commands.

use std::sync::Arc;

use ash::vk;

use super::bound_sets::BoundSets;
use super::contents::Contents;
use super::finding::Finding;
use super::history::{Discard, DiscardReason, Event};
use super::objects::Object;
use super::order::log::Recorded;
use super::order::passes::Subpasses;
use super::position::{BoundMemory, Position};
use super::resources::{Place, Resource};
use super::tile_passes::TilePass;
use crate::tables::action_commands::ReachableDescriptors;
use crate::tables::messages::MessageId;

/// The recording so far.
#[derive(Default)]
pub(crate) struct Recording {
    /// The last command, and the bound tile memory.
    pub(crate) at: Position,
    pub(crate) pass: Option<Pass>,
    /// The same pass, where work can run per tile in it.
    pub(crate) tile_pass: Option<Box<TilePass>>,
    /// What a suspended render pass instance leaves to poison where it ends at last.
    pub(crate) suspended: Vec<Discard>,
    /// The first action command with tile memory bound was prepared for.
    is_guarded: bool,
    pub(crate) contents: Contents,
    /// Tile memory was bound at some time: a batch with this command buffer may need poison.
    pub(crate) uses_tile: bool,
    pub(crate) sets: BoundSets,
    pub(crate) reported: ReportedOnce,
    pub(crate) order: Recorded,
}

/// The messages reported in a recording, by object.
#[derive(Default)]
pub(crate) struct ReportedOnce(Vec<(MessageId, Object)>);

impl ReportedOnce {
    /// Whether this was not reported before.
    pub(crate) fn is_first(&mut self, finding: &Finding) -> bool {
        let key = (finding.id, finding.object);
        let is_first = !self.0.contains(&key);
        if is_first {
            self.0.push(key);
        }
        is_first
    }
}

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
    pub(crate) subpasses: Subpasses,
}

impl Place {
    /// All of a resource's bytes become undefined.
    pub(crate) fn discard(&self, reason: DiscardReason) -> Discard {
        let Place { first, end, .. } = *self;
        Discard { first, end, reason }
    }
}

/// Recorded before an action command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preparation {
    /// It is the first one with tile memory bound.
    pub(crate) guard: bool,
    pub(crate) discard: Option<Discard>,
}

impl Recording {
    /// The beginning of a command buffer.
    pub(crate) fn new(commands: vk::CommandBuffer, follows_order: bool) -> Recording {
        Recording {
            order: Recorded::new(follows_order),
            at: Position::beginning_of(commands),
            ..Recording::default()
        }
    }

    /// The list of accesses of a draw or dispatch; `None` if it may access anything that was not checked before.
    #[inline]
    pub(crate) fn checked(&mut self, reachable: ReachableDescriptors) -> Option<u32> {
        let state = self.checked_state();
        self.sets.checked(reachable, state)
    }

    /// A draw or dispatch accesses what one before it did.
    #[inline]
    pub(crate) fn access_again(&mut self, list: u32, command: &'static str) {
        if self.order.is_new(list) {
            self.at.is_at(command);
            self.order.access(list, &self.at);
        }
    }

    /// What changes the result of a check beside the pipeline and the sets.
    #[inline]
    pub(crate) fn checked_state(&self) -> u64 {
        self.contents.discards() ^ self.at.bound.map_or(0, |bound| bound.memory)
    }

    /// Binds a tile memory object of that size, or nothing.
    pub(crate) fn bind(&mut self, memory: u64, size: Option<u64>) {
        self.at.bind(size.map(|size| BoundMemory { memory, size }));
        self.uses_tile |= size.is_some();
    }

    /// The action command `command`, which was counted, comes next: what the binding does not cover is discarded before it. `None`
    /// where nothing changes.
    #[inline]
    pub(crate) fn act(&mut self, command: &'static str) -> Option<Preparation> {
        let reserved = self.at.bound.map_or(0, |bound| bound.size);
        // The same as for the last one: nothing changes.
        if self.contents.entry.is_some() && self.contents.live == reserved {
            return None;
        }
        self.at.is_at(command);
        self.reserve(reserved)
    }

    fn reserve(&mut self, reserved: u64) -> Option<Preparation> {
        let reason = DiscardReason::LessBound;
        let discarded = self.contents.act(reserved, self.at);
        Some(Preparation {
            guard: reserved > 0 && !std::mem::replace(&mut self.is_guarded, true),
            discard: discarded.map(|(first, end)| Discard { first, end, reason }),
        })
    }

    /// The bytes become undefined here, those of a resource or all of them.
    pub(crate) fn discard(&mut self, discard: Discard, object: Option<Object>) -> Discard {
        self.contents.discard(discard, Event::of(self.at, object));
        discard
    }
}

/// A finding about memory that cannot be bound as tile memory.
pub(crate) fn not_tile_memory(memory: vk::DeviceMemory, at: Position) -> Finding {
    let memory = Object::of(memory);
    let text = format!(
        "{memory} is bound as tile memory and is not of a tile heap (VUID-VkTileMemoryBindInfoQCOM-memory-10726)"
    );
    Finding::new(MessageId::NotTileMemory, memory, text).at(at)
}

/// A finding about binding tile memory inside a render pass.
pub(crate) fn bound_inside(at: Position) -> Finding {
    let commands = Object(vk::ObjectType::COMMAND_BUFFER, at.commands);
    let text = "tile memory is bound inside a render pass (VUID-vkCmdBindTileMemoryQCOM-renderpass)";
    Finding::new(MessageId::BoundInside, commands, text).at(at)
}
