//! The commands, batches and resources that findings refer to by number.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_sync::program::{MemoryAccess, ResourceId, ResourcePart, Tag, Tiling};
use tileheap_sync::{Action, MemoryUse};
use tileheap_units::{IdMap, IdSet};

use super::log::{ATTACHMENTS, BATCH_END, Event, Log, LoggedAccess, log_of};
use crate::model::discards::DiscardReason;
use crate::model::objects::Object;
use crate::model::position::{Position, Submit};
use crate::model::resources::Resource;

/// The logs, batches and resources that findings can refer to.
#[derive(Default)]
pub(crate) struct Sites {
    logs: IdMap<u64, Arc<Log>>,
    resources: IdMap<ResourceId, (Object, Option<Arc<Resource>>)>,
    queues: Vec<u64>,
    /// The memory objects that the host has mapped.
    mapped: IdSet<u64>,
    /// The reason why tile memory contents become undefined at the end of each batch, if they do.
    pub(super) end_discard: Option<DiscardReason>,
    /// The number of events in the logs.
    event_count: usize,
    /// The number of events that the last pruning kept.
    kept_event_count: usize,
}

impl Sites {
    /// Adds a log, and the logs of its secondary command buffers.
    pub(crate) fn add_log(&mut self, log: &Arc<Log>) {
        if self.logs.insert(log.number, log.clone()).is_none() {
            self.event_count += log.len();
        }
        // It may have been removed before the log that runs it.
        for secondary in log.secondaries() {
            self.add_log(secondary);
        }
    }

    /// Returns `true` if the events added since the last pruning outnumber those that it kept by more than `events`.
    pub(crate) fn needs_pruning(&self, events: usize) -> bool {
        self.event_count > self.kept_event_count * 2 + events
    }

    /// Returns the number of a batch, which encodes its submit call, its index and its queue. Records `end_discard`, the reason why contents become
    /// undefined at its end, if any.
    pub(crate) fn batch(&mut self, submit: Submit, end_discard: Option<DiscardReason>) -> u64 {
        self.end_discard = end_discard.or(self.end_discard);
        let known = self.queues.iter().position(|queue| *queue == submit.queue);
        let queue = known.unwrap_or_else(|| {
            self.queues.push(submit.queue);
            self.queues.len() - 1
        });
        submit.number << 24 | (submit.batch as u64 & 0xFFFF) << 8 | queue as u64 & 0xFF
    }

    /// Adds a resource; for an unbound one, `resource` is `None`.
    pub(crate) fn add_resource(&mut self, id: ResourceId, object: Object, resource: Option<Arc<Resource>>) {
        self.resources.insert(id, (object, resource));
    }

    /// Records that the host maps a memory object.
    pub(crate) fn map(&mut self, memory: vk::DeviceMemory) {
        self.mapped.insert(memory.as_raw());
    }

    /// Records that a memory object is freed.
    pub(crate) fn unmap(&mut self, memory: vk::DeviceMemory) {
        self.mapped.remove(&memory.as_raw());
    }

    /// Returns `true` if the memory of a resource is mapped and the host may write the resource: images with optimal tiling cannot be written through
    /// a mapping.
    pub(super) fn is_mapped(&self, resource: &Resource) -> bool {
        let is_linear = !matches!(resource.tiling, Tiling::Optimal(_));
        is_linear
            && resource
                .place
                .get()
                .is_some_and(|place| self.mapped.contains(&place.memory))
    }

    /// Removes all logs and resources except these.
    pub(crate) fn retain(&mut self, logs: &IdSet<u64>, resources: &IdSet<ResourceId>) {
        self.logs.retain(|number, _| logs.contains(number));
        self.event_count = self.logs.values().map(|log| log.len()).sum();
        self.kept_event_count = self.event_count;
        self.resources.retain(|id, _| resources.contains(id));
    }

    pub(super) fn event(&self, tag: Tag) -> Option<(&Log, &(Position, Event))> {
        let log = self.logs.get(&log_of(tag))?;
        Some((log, log.event(tag)?))
    }

    pub(super) fn at(&self, tag: Tag) -> Option<Position> {
        self.event(tag).map(|(_, (at, _))| *at)
    }

    pub(super) fn submit(&self, batch: u64) -> Option<Submit> {
        Some(Submit {
            number: batch >> 24,
            batch: (batch >> 8 & 0xFFFF) as usize,
            queue: *self.queues.get(batch as usize & 0xFF)?,
        })
    }

    pub(super) fn resource(&self, id: ResourceId) -> Option<&Resource> {
        self.resources.get(&id)?.1.as_deref()
    }

    pub(super) fn object(&self, id: ResourceId) -> Object {
        let known = self.resources.get(&id).map(|(object, _)| *object);
        known.unwrap_or(Object(vk::ObjectType::UNKNOWN, 0))
    }

    /// The bytes of a resource's memory that a use may touch; `None` if the resource is unknown or not bound to memory.
    pub(super) fn bytes(&self, used: &MemoryUse) -> Option<(u64, u64)> {
        let place = self.resource(used.resource)?.place.get()?;
        let end = place.first + self.resource(used.resource)?.size;
        Some(match used.part {
            ResourcePart::Bytes(first, last) => (
                place.first.saturating_add(first).min(end),
                place.first.saturating_add(last).min(end),
            ),
            ResourcePart::Texels(_) => (place.first, end),
        })
    }

    /// Names the memory that a resource is in: its memory object, or the tile heap.
    pub(super) fn memory(&self, id: ResourceId) -> String {
        let place = self.resource(id).and_then(|resource| resource.place.get());
        match place.filter(|place| !place.is_tile) {
            Some(place) => Object(vk::ObjectType::DEVICE_MEMORY, place.memory).to_string(),
            None => "the tile heap".to_owned(),
        }
    }

    /// Returns `true` if the command certainly performs the access.
    pub(super) fn is_certain(&self, used: &MemoryUse) -> bool {
        if self.event(used.tag).is_none() {
            return used.tag == BATCH_END;
        }
        let mut same = self.logged(used);
        match same.next() {
            // Unknown: which pixels earlier draws have covered.
            Some(_) if self.reads_drawn(used) => false,
            Some(one) => one.is_certain || same.any(|one| one.is_certain),
            None => self.is_certain_draw(used),
        }
    }

    /// Returns `true` for a read of an input attachment that the subpass enclosing a secondary command buffer draws to.
    fn reads_drawn(&self, used: &MemoryUse) -> bool {
        let is_input = matches!(
            used.action,
            Action::Access(_, vk::AccessFlags2::INPUT_ATTACHMENT_READ)
        );
        let number = self.resource(used.resource).map(|resource| resource.number);
        let (event, number) = (self.event(used.tag), number.filter(|_| is_input));
        let both = event.zip(number);
        both.is_some_and(|((log, _), number)| log.is_drawn_around(ResourceId(number)))
    }

    /// Returns `false` for an access to the attachments of the enclosing subpass that the draws of a secondary command buffer do not certainly
    /// perform.
    fn is_certain_draw(&self, used: &MemoryUse) -> bool {
        let Some((log, (_, event))) = self.event(used.tag) else {
            return true;
        };
        let draws = || {
            log.accesses(event)
                .iter()
                .filter(|one| one.access.resource == ATTACHMENTS)
        };
        let is_it = self.is_access_of(used);
        draws().next().is_none() || draws().any(|one| one.is_certain) && log.certainly_draws(is_it)
    }

    /// Returns a predicate that is true for the logged access that a use comes from.
    fn is_access_of(&self, used: &MemoryUse) -> impl Fn(&MemoryAccess) -> bool + use<> {
        let number = self.resource(used.resource).map(|resource| resource.number);
        let (part, action) = (used.part, used.action);
        move |access| {
            Some(access.resource.0) == number
                && access.part == part
                && Action::Access(access.stage, access.access) == action
        }
    }

    /// Returns `true` for a transfer to or from an external queue family.
    pub(super) fn is_transfer_outside(&self, used: &MemoryUse) -> bool {
        let number = self.resource(used.resource).map(|resource| resource.number);
        let of = |number| {
            let (log, (_, event)) = self.event(used.tag)?;
            Some(log.transfers_outside(event, ResourceId(number)))
        };
        number.and_then(of) == Some(true)
    }

    /// Returns `true` if the read may come after a write of the same command.
    pub(super) fn may_follow_write(&self, used: &MemoryUse) -> bool {
        self.logged(used).any(|one| one.may_follow_write)
    }

    /// The logged accesses that a use comes from.
    pub(super) fn logged(&self, used: &MemoryUse) -> impl Iterator<Item = &LoggedAccess> {
        let is_it = self.is_access_of(used);
        let event = self.event(used.tag).into_iter();
        let all = event.flat_map(|(log, (_, event))| log.accesses(event));
        all.filter(move |one| is_it(&one.access))
    }

    /// Describes the place of a use: its command and batch.
    pub(super) fn place(&self, used: &MemoryUse) -> String {
        let at = self.at(used.tag).map(|at| format!(" by {at}"));
        let submit = self.submit(used.batch).map(|submit| format!(", in {submit}"));
        at.unwrap_or_default() + &submit.unwrap_or_default()
    }
}
