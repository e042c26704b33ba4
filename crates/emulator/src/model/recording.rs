//! A command buffer while it is recorded: bound tile memory, and discards of its commands.

use std::sync::Arc;

use ash::vk;

use super::bound_sets::{BoundSets, Parameters};
use super::contents::Contents;
use super::discards::{Discard, DiscardReason};
use super::fetches::BoundBuffers;
use super::finding::Finding;
use super::objects::Object;
use super::operations::Operation;
use super::order::log::{LogRecorder, LoggedAccess, NOTHING};
use super::order::passes::Subpasses;
use super::position::{BoundMemory, Position};
use super::resources::{MemoryBinding, Resource};
use super::tile_passes::TilePass;
use crate::tables::action_commands::ReachableDescriptors;
use crate::tables::messages::MessageId;
use crate::tables::unseen_writes::UnseenWrites;
use tileheap_layer::push_constants::PushConstants;
use tileheap_units::spread;

/// The state of a recording so far.
#[derive(Default)]
pub(crate) struct Recording {
    /// The last command, and the bound tile memory.
    pub(crate) at: Position,
    pub(crate) pass: Option<Pass>,
    /// The tile shading state of `pass`, if it can run work per tile.
    pub(crate) tile_pass: Option<Box<TilePass>>,
    /// Bytes that a suspended render pass instance leaves to be poisoned when its last resuming instance ends.
    pub(crate) suspended_discards: Vec<Discard>,
    is_primary: bool,
    /// The kinds of unseen writes that commands of this recording may perform.
    pub(crate) unseen_writes: UnseenWrites,
    /// True if shaders of a secondary command buffer write attachments that the enclosing subpass draws to.
    pub(crate) writes_attachments: bool,
    /// True if the guard before the first action command with tile memory bound was recorded.
    is_guarded: bool,
    /// The number of attachments whose memory object was not bound when their render pass began: each of them forces a check at the next draw.
    checked_passes: u64,
    pub(crate) contents: Contents,
    /// True if tile memory was bound at some point: a batch with this command buffer may need poison.
    pub(crate) uses_tile: bool,
    pub(crate) sets: BoundSets,
    pub(crate) push_constants: PushConstants,
    pub(crate) buffers: BoundBuffers,
    /// True if conditional rendering is active: draws, dispatches and clears of attachments may be skipped.
    pub(crate) is_conditional: bool,
    pub(crate) reported: ReportedOnce,
    pub(crate) order: LogRecorder,
}

/// The messages reported in a recording, by object.
#[derive(Default)]
pub(crate) struct ReportedOnce(Vec<(MessageId, Object)>);

impl ReportedOnce {
    /// Records the finding; returns true if it was not reported before.
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
    /// True if another instance resumes this one: no action or synchronization command may be recorded in between.
    pub(crate) suspends: bool,
    /// Attachments whose memory object is not bound, until that is reported; each with the object that is bound
    /// instead.
    pub(crate) unbound: Vec<(Arc<Resource>, Option<BoundMemory>)>,
    /// The byte ranges `[first, end)` of the instance's attachments in tile memory.
    pub(crate) attached_ranges: Vec<(u64, u64)>,
    /// Bytes that become undefined at the end of the instance.
    pub(crate) end_discards: Vec<Discard>,
    /// True if the instance has run secondary command buffers, after which the bound tile memory is undefined.
    pub(crate) ran_secondaries: bool,
    pub(crate) subpasses: Subpasses,
}

impl MemoryBinding {
    /// The discard of all of a resource's bytes.
    pub(crate) fn discard(&self, reason: DiscardReason) -> Discard {
        let MemoryBinding { first, end, .. } = *self;
        Discard { first, end, reason }
    }
}

/// Commands to record before an action command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preparation {
    /// True if the guard must be recorded: this is the first action command with tile memory bound.
    pub(crate) guard: bool,
    pub(crate) discard: Option<Discard>,
}

impl Recording {
    /// The state at the beginning of a command buffer.
    pub(crate) fn new(commands: vk::CommandBuffer, is_primary: bool) -> Recording {
        Recording {
            is_primary,
            order: LogRecorder::new(),
            at: Position::beginning_of(commands),
            ..Recording::default()
        }
    }

    /// The number of the access list of a draw or dispatch; `None` if it may perform accesses that have not been checked yet.
    #[inline]
    pub(crate) fn checked(
        &self,
        reachable: ReachableDescriptors,
        acts: bool,
        operation: &Operation<'_>,
    ) -> Option<u32> {
        let state = self.checked_state(acts);
        let push_constants = &self.push_constants;
        self.sets.checked(reachable, state, || Parameters {
            groups: operation.groups(),
            push_constants,
        })
    }

    /// Handles a draw or dispatch that was checked before, discards nothing, and draws to the same attachments as the one before it. Does nothing and
    /// returns `false` for any other.
    #[inline(always)]
    pub(crate) fn repeat(
        &mut self,
        reachable: ReachableDescriptors,
        groups: Option<[u32; 3]>,
        (command, acts): (&'static str, bool),
    ) -> bool {
        let acts = acts && !self.is_conditional;
        let is_same = self.contents.entry.is_some()
            && match &self.pass {
                Some(pass) => {
                    reachable == ReachableDescriptors::Draw && pass.subpasses.has_drawn(&self.order, acts)
                }
                None => self.contents.live == self.at.bound.map_or(0, |bound| bound.size),
            };
        if !is_same {
            return false;
        }
        let Some(list) = self
            .sets
            .checked_quickly(reachable, self.checked_state(acts), groups)
        else {
            return false;
        };
        self.at.actions += 1;
        let is_done = self.order.access_again(list, command, &mut self.at);
        self.at.actions -= u32::from(!is_done);
        is_done
    }

    /// Logs that a command draws to the attachments of the render pass instance; if `acts` is false, it may draw nothing. If it may also read the
    /// attachments, returns its accesses to them instead of logging them.
    #[inline]
    pub(crate) fn draw(&mut self, command: &'static str, acts: bool) -> Option<Vec<LoggedAccess>> {
        let pass = self.pass.as_mut()?;
        if pass.subpasses.has_feedback() {
            return Some(pass.subpasses.draw_with_feedback(&mut self.order, acts));
        }
        pass.subpasses
            .draw(&mut self.order, (command, acts), &mut self.at);
        None
    }

    /// Logs a draw or dispatch that performs its own accesses, and those of a list.
    pub(crate) fn access_with(&mut self, own: Vec<LoggedAccess>, list: u32, command: &'static str) {
        self.at.is_at(command);
        self.order.access_with(own, list, &self.at);
    }

    /// Forces a check at the next draw, regardless of earlier draws.
    pub(crate) fn check_again(&mut self) {
        self.checked_passes += 1;
    }

    /// Logs a draw or dispatch with the same accesses as an earlier one, unless they are already logged in this epoch.
    #[inline]
    pub(crate) fn access_again(&mut self, list: u32, command: &'static str) {
        if self.order.is_new(list) {
            self.at.is_at(command);
            self.order.access(list, &self.at);
        }
    }

    /// Begins an epoch after a per-tile dispatch whose access list is not empty: later draws access the attachments again.
    #[inline]
    pub(crate) fn after_dispatch(&mut self, reachable: ReachableDescriptors, list: u32) {
        if reachable == ReachableDescriptors::Dispatch && self.pass.is_some() && list != NOTHING {
            self.order.epoch += 1;
        }
    }

    /// Hash of the state that affects the result of a check, except the pipeline and the sets.
    #[inline]
    pub(crate) fn checked_state(&self, acts: bool) -> u64 {
        let pass = self.pass.as_ref().map_or(0, |pass| pass.subpasses.key());
        let pass = pass ^ self.checked_passes << 32 ^ u64::from(!acts) << 63;
        spread(pass) ^ self.at.bound.map_or(0, |bound| bound.memory)
    }

    /// Binds a tile memory object of `size` bytes; with `None`, nothing is bound.
    pub(crate) fn bind(&mut self, memory: u64, size: Option<u64>) {
        self.at.bind(size.map(|size| BoundMemory { memory, size }));
        self.uses_tile |= size.is_some();
    }

    /// Handles the action command `command`, which was already counted, before it is recorded: it discards bytes that the bound tile memory does
    /// not cover. `None` if nothing changes.
    #[inline]
    pub(crate) fn act(&mut self, command: &'static str) -> Option<Preparation> {
        let reserved = self.at.bound.map_or(0, |bound| bound.size);
        // The same as for the last command: nothing changes.
        if self.contents.entry.is_some() && self.contents.live == reserved {
            return None;
        }
        self.at.is_at(command);
        self.reserve(reserved)
    }

    fn reserve(&mut self, reserved: u64) -> Option<Preparation> {
        let is_first = self.contents.entry.is_none();
        let discarded = self.contents.act(reserved);
        let discard = discarded.map(|(first, end)| self.discard((first, end), DiscardReason::LessBound));
        if is_first && self.is_primary {
            self.enter(reserved, DiscardReason::LessBound);
        }
        Some(Preparation {
            guard: reserved > 0 && !std::mem::replace(&mut self.is_guarded, true),
            discard,
        })
    }

    /// Handles the first action command of a primary command buffer: all unbound bytes become undefined, regardless of earlier work.
    pub(crate) fn enter(&mut self, reserved: u64, reason: DiscardReason) {
        self.discard((reserved, u64::MAX), reason);
    }

    /// Makes bytes undefined at this position.
    pub(crate) fn discard(&mut self, (first, end): (u64, u64), reason: DiscardReason) -> Discard {
        let discard = Discard { first, end, reason };
        self.order.discard(discard, None, &self.at);
        discard
    }
}

/// Returns a finding about memory that cannot be bound as tile memory.
pub(crate) fn not_tile_memory(memory: vk::DeviceMemory, at: Position) -> Finding {
    let memory = Object::of(memory);
    let text = format!(
        "{memory} is bound as tile memory but is not on a tile heap (VUID-VkTileMemoryBindInfoQCOM-memory-10726)"
    );
    Finding::new(MessageId::NotTileMemory, memory, text).at(at)
}

/// Returns a finding about binding tile memory inside a render pass.
pub(crate) fn bound_inside(at: Position) -> Finding {
    let commands = Object(vk::ObjectType::COMMAND_BUFFER, at.commands);
    let text = "tile memory is bound inside a render pass (VUID-vkCmdBindTileMemoryQCOM-renderpass)";
    Finding::new(MessageId::BoundInside, commands, text).at(at)
}
