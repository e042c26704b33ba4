//! The rules of what a command accesses: draws and dispatches by descriptor, transfers by buffer.

use ash::vk;
use ash::vk::Handle;

use super::contents::Contents;
use super::descriptors::{Descriptors, Entry, is_read_only};
use super::finding::Finding;
use super::recording::{BoundMemory, Pass, Recording, ReportedOnce, UNKNOWN};
use super::resources::{Place, Resource, Resources};
use super::shaders::DescriptorAccess;
use crate::tables::action_commands::{ReachableDescriptors, wrong_object_rule};
use crate::tables::messages::MessageId;

/// A finding, if a command accesses a resource of another object than the one bound. What such a draw or dispatch reads is not
/// checked as well: one mistake, one message. No rule of Vulkan says what must be bound for a transfer, so what it reads is.
#[inline]
pub(crate) fn check_object(
    bound: Option<BoundMemory>,
    resource: &Resource,
    access: Access<'_>,
) -> Option<Finding> {
    let place = resource.place.get()?;
    (!is_bound(bound, place)).then(|| wrong_object(bound, resource, place, access))
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
fn wrong_object(
    bound: Option<BoundMemory>,
    resource: &Resource,
    place: &Place,
    access: Access<'_>,
) -> Finding {
    let bound = match bound {
        Some(bound) => format!("object 0x{:x} is", bound.memory),
        None => "nothing is".to_owned(),
    };
    let own = format!("tile memory object 0x{:x} while {bound} bound", place.memory);
    let draw = ReachableDescriptors::Draw;
    let (id, text, rule) = match access {
        Access::Descriptor(reachable, command) => (
            MessageId::WrongObject,
            format!("{command} accesses a resource in {own}: bind the resource's own object first"),
            wrong_object_rule(reachable, command),
        ),
        Access::Attachment(command) => (
            MessageId::WrongObject,
            format!(
                "{command} draws to an attachment in {own}: bind the attachment's own object before the render pass"
            ),
            wrong_object_rule(draw, command),
        ),
        Access::Transfer(command) => (
            MessageId::TransferUnbound,
            format!("{command} accesses a buffer in {own}: bind the buffer's own object first"),
            None,
        ),
        Access::PassWithoutDraw(command) => (
            MessageId::AttachmentUnbound,
            format!(
                "{command} ends a render pass without draws, with an attachment in {own}: what the pass loads is undefined and \
                 what it stores is lost; bind the attachment's own object before the render pass"
            ),
            None,
        ),
    };
    let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
    Finding {
        id,
        object: resource.object,
        text: text + &rule,
    }
}

/// The attachments of the render pass whose object is not bound: reported at the first draw, whose rule it breaks, or else where the
/// pass ends.
pub(crate) fn unbound_attachments(pass: &mut Pass, access: Access<'_>) -> Vec<Finding> {
    let unbound = std::mem::take(&mut pass.unbound);
    unbound
        .iter()
        .filter_map(|(resource, bound)| check_object(*bound, resource, access))
        .collect()
}

/// Checks what a draw or dispatch accesses: once in a recording, since a set does not change while a command buffer uses it.
pub(crate) fn check_descriptors(
    recording: &mut Recording,
    descriptors: &Descriptors,
    reachable: ReachableDescriptors,
    command: &str,
) -> Vec<Finding> {
    let drawn = recording
        .pass
        .as_mut()
        .filter(|_| reachable == ReachableDescriptors::Draw);
    let findings = drawn.map(|pass| unbound_attachments(pass, Access::Attachment(command)));
    let mut rules = Rules {
        bound: recording.bound,
        reachable,
        contents: &mut recording.contents,
        reported: &mut recording.reported,
        command,
        findings: findings.unwrap_or_default(),
    };
    recording
        .sets
        .for_each_access(reachable, descriptors, |accessed, set| {
            set.for_each_at(accessed.binding, |entry| rules.access(accessed, entry));
        });
    rules.findings
}

/// The state that an access is checked against, and changes.
struct Rules<'a> {
    bound: Option<BoundMemory>,
    reachable: ReachableDescriptors,
    contents: &'a mut Contents,
    reported: &'a mut ReportedOnce,
    command: &'a str,
    findings: Vec<Finding>,
}

impl Rules<'_> {
    fn access(&mut self, accessed: &DescriptorAccess, entry: &Entry) {
        let Some(place) = entry.resource.place.get() else {
            return;
        };
        let wrong = check_object(
            self.bound,
            &entry.resource,
            Access::Descriptor(self.reachable, self.command),
        );
        let is_wrong = wrong.is_some();
        if let Some(finding) = wrong {
            self.find(finding);
        }
        if !accessed.only_read && !is_read_only(entry.kind) {
            self.contents.write(place);
        } else if !is_wrong && !entry.resource.addressable {
            if let Some(finding) = self.contents.read(&entry.resource, place) {
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

/// Checks a transfer from or to buffers. The first buffer of `vkCmdCopyBuffer…` is the source, all others are destinations.
pub(crate) fn check_transfer(
    recording: &mut Recording,
    resources: &Resources,
    buffers: &[vk::Buffer],
    command: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        let Some(buffer) = resources.buffers.get(buffer.as_raw()) else {
            continue;
        };
        let Some(place) = buffer.place.get() else { continue };
        findings.extend(check_object(recording.bound, &buffer, Access::Transfer(command)));
        if index > 0 || !command.starts_with("vkCmdCopyBuffer") {
            recording.contents.write(place);
        } else if !buffer.addressable {
            findings.extend(recording.contents.read(&buffer, place));
        }
    }
    findings
}
