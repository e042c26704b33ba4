//! Checks of the resources that a command accesses: draws and dispatches by descriptor, transfers by buffer.

use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::Part;

use super::contents::Contents;
use super::descriptors::{Descriptors, Entry, is_read_only};
use super::finding::Finding;
use super::objects::Object;
use super::order::log::{Access as OrderedAccess, AccessKind};
use super::order::scopes::Usage;
use super::position::{BoundMemory, Position, UNKNOWN};
use super::recording::{Pass, Recording, ReportedOnce};
use super::resources::{Place, Resource};
use super::shaders::DescriptorAccess;
use super::transfers::BufferUse;
use crate::tables::action_commands::{ReachableDescriptors, wrong_object_rule};
use crate::tables::messages::MessageId;

/// A finding, if a command accesses a resource of another object than the one bound. What such a draw or dispatch reads is not
/// checked as well: one mistake, one message. No rule of Vulkan says what must be bound for a transfer, so what it reads is.
#[inline]
pub(crate) fn check_object(at: Position, resource: &Resource, access: Access<'_>) -> Option<Finding> {
    let place = resource.place.get()?;
    (!is_bound(at.bound, place)).then(|| wrong_object(at, resource, place, access))
}

/// Whether the object is bound in which a resource lies.
#[inline]
pub(crate) fn is_bound(bound: Option<BoundMemory>, place: &Place) -> bool {
    bound.is_some_and(|bound| bound.memory == place.memory || bound == UNKNOWN)
}

/// How a command accesses a resource.
#[derive(Clone, Copy)]
pub(crate) enum Access<'a> {
    /// A descriptor of a draw, dispatch or trace.
    Descriptor(ReachableDescriptors, &'a str),
    /// An attachment of the render pass in which it draws.
    Attachment(&'a str),
    /// A buffer of a transfer.
    Transfer(&'a str),
    /// An attachment of the render pass that it ends, in which nothing was drawn.
    PassWithoutDraw(&'a str),
}

#[cold]
fn wrong_object(at: Position, resource: &Resource, place: &Place, access: Access<'_>) -> Finding {
    let object = resource.object;
    let memory = Object(vk::ObjectType::DEVICE_MEMORY, place.memory);
    let own = format!("{memory}, which is not bound");
    let draw = ReachableDescriptors::Draw;
    let (id, text, rule) = match access {
        Access::Descriptor(reachable, command) => (
            MessageId::WrongObject,
            format!("{command} accesses {object} in {own}"),
            wrong_object_rule(reachable, command),
        ),
        Access::Attachment(command) => (
            MessageId::WrongObject,
            format!("{command} draws to the attachment {object} in {own}"),
            wrong_object_rule(draw, command),
        ),
        Access::Transfer(command) => (
            MessageId::TransferUnbound,
            format!("{command} accesses {object} in {own}"),
            None,
        ),
        Access::PassWithoutDraw(command) => (
            MessageId::AttachmentUnbound,
            format!(
                "{command} ends a render pass without draws, with the attachment {object} in {own}: what the pass loads is \
                 undefined and what it stores is lost"
            ),
            None,
        ),
    };
    let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
    Finding::new(id, object, text + &rule).at(at)
}

/// The attachments of the render pass whose object is not bound: reported at the first draw, whose rule it breaks, or else where the
/// pass ends.
pub(crate) fn unbound_attachments(pass: &mut Pass, at: Position, access: Access<'_>) -> Vec<Finding> {
    let unbound = std::mem::take(&mut pass.unbound);
    let found = unbound.iter().filter_map(|(resource, bound)| {
        let mut at = at;
        at.bound = *bound;
        check_object(at, resource, access)
    });
    found.collect()
}

/// Checks what a draw or dispatch accesses: once in a recording, since a set does not change while a command buffer uses it.
pub(crate) fn check_descriptors(
    recording: &mut Recording,
    descriptors: &Descriptors,
    reachable: ReachableDescriptors,
    command: &'static str,
) -> Vec<Finding> {
    recording.at.is_at(command);
    let at = recording.at;
    let state = recording.checked_state();
    let drawn = recording
        .pass
        .as_mut()
        .filter(|_| reachable == ReachableDescriptors::Draw);
    let findings = drawn.map(|pass| unbound_attachments(pass, at, Access::Attachment(command)));
    let mut rules = Rules {
        at,
        reachable,
        contents: &mut recording.contents,
        reported: &mut recording.reported,
        command,
        findings: findings.unwrap_or_default(),
        accesses: Vec::new(),
    };
    recording
        .sets
        .for_each_access(reachable, descriptors, |accessed, set| {
            set.for_each_at(accessed.binding, |entry| rules.access(accessed, entry));
        });
    let Rules {
        findings, accesses, ..
    } = rules;
    let list = recording.order.list(accesses);
    recording.sets.check(reachable, state, list);
    recording.order.access(list, &at);
    findings
}

/// The state that an access is checked against, and changes.
struct Rules<'a> {
    at: Position,
    reachable: ReachableDescriptors,
    contents: &'a mut Contents,
    reported: &'a mut ReportedOnce,
    command: &'a str,
    findings: Vec<Finding>,
    accesses: Vec<OrderedAccess>,
}

impl Rules<'_> {
    fn access(&mut self, accessed: &DescriptorAccess, entry: &Entry) {
        let Some(place) = entry.resource.place.get() else {
            return;
        };
        let wrong = check_object(
            self.at,
            &entry.resource,
            Access::Descriptor(self.reachable, self.command),
        );
        let is_wrong = wrong.is_some();
        match wrong {
            Some(finding) => self.find(finding),
            None => self.accesses.extend(ordered(accessed, entry, place)),
        }
        if !accessed.only_read && !is_read_only(entry.kind) {
            self.contents.write(entry.resource.object, place, self.at);
        } else if !is_wrong && !entry.resource.addressable {
            if let Some(finding) = self.contents.read(&entry.resource, place, self.at) {
                self.find(finding);
            }
        }
    }

    fn find(&mut self, finding: Finding) {
        if self.reported.is_first(&finding) {
            self.findings.push(finding);
        }
    }
}

/// What the instructions of shaders do with a descriptor's bytes, by stage.
fn ordered(accessed: &DescriptorAccess, entry: &Entry, place: &Place) -> Vec<OrderedAccess> {
    use vk::{AccessFlags2 as A, DescriptorType as T};
    let (offset, end) = match entry.part {
        Some(Part::Bytes(offset, end)) => (offset, end),
        Some(Part::Texels(_)) => (0, u64::MAX),
        None => return Vec::new(),
    };
    let read = match entry.kind {
        // Not followed yet.
        T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => return Vec::new(),
        T::UNIFORM_BUFFER => A::UNIFORM_READ,
        T::INPUT_ATTACHMENT => A::INPUT_ATTACHMENT_READ,
        kind if is_read_only(kind) => A::SHADER_SAMPLED_READ,
        _ => A::SHADER_STORAGE_READ,
    };
    let kind = if !entry.resource.is_single() || entry.resource.has_two_aspects() {
        // Which levels, layers and aspects is not followed.
        AccessKind::Part
    } else if accessed.writes.is_empty() {
        AccessKind::Whole
    } else {
        AccessKind::Storage
    };
    let first = place.first.saturating_add(offset).min(place.end);
    let end = place.first.saturating_add(end).min(place.end);
    let each = |stages: vk::PipelineStageFlags2, access| {
        let bits = (0..u64::BITS).map(|bit| vk::PipelineStageFlags2::from_raw(1 << bit));
        let usages = bits.filter(move |bit| stages.contains(*bit));
        usages.filter_map(move |stage| Usage::of(stage, access))
    };
    let usages = each(accessed.reads, read).chain(each(accessed.writes, A::SHADER_STORAGE_WRITE));
    let object = entry.resource.object;
    usages
        .map(|usage| OrderedAccess::new(object, (first, end), usage, kind))
        .collect()
}

/// Checks a transfer from or to tile buffers.
pub(crate) fn check_transfer(
    recording: &mut Recording,
    uses: &[BufferUse],
    command: &'static str,
) -> Vec<Finding> {
    recording.at.is_at(command);
    let at = recording.at;
    let (mut findings, mut accesses) = (Vec::new(), Vec::new());
    // Contents and order are followed for all of a buffer, whatever the regions are.
    let is_same = |a: &BufferUse, b: &BufferUse| a.writes == b.writes && Arc::ptr_eq(&a.buffer, &b.buffer);
    for regions in uses.chunk_by(is_same) {
        let BufferUse {
            buffer,
            writes,
            stage,
            ..
        } = &regions[0];
        let Some(place) = buffer.place.get() else { continue };
        findings.extend(check_object(at, buffer, Access::Transfer(command)));
        let access = if *writes {
            vk::AccessFlags2::TRANSFER_WRITE
        } else {
            vk::AccessFlags2::TRANSFER_READ
        };
        let usage = Usage::of(*stage, access);
        let bytes = (place.first, place.end);
        accesses.extend(usage.map(|usage| OrderedAccess::new(buffer.object, bytes, usage, AccessKind::Part)));
        if *writes {
            recording.contents.write(buffer.object, place, at);
        } else if !buffer.addressable {
            findings.extend(recording.contents.read(buffer, place, at));
        }
    }
    let list = recording.order.list(accesses);
    recording.order.access(list, &at);
    findings
}
