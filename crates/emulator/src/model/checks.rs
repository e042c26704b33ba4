//! The rules of what a command accesses: draws and dispatches by descriptor, transfers by buffer.

use ash::vk;
use ash::vk::Handle;

use super::contents::Contents;
use super::descriptors::{Descriptors, Entry, is_read_only};
use super::finding::Finding;
use super::recording::{BoundMemory, Recording, ReportedOnce, UNKNOWN};
use super::resources::{Place, Resource, Resources};
use super::shaders::DescriptorAccess;
use crate::tables::action_commands::ReachableDescriptors;
use crate::tables::messages::MessageId;

/// A finding, if a command accesses a resource of another object than the one bound. What such a draw or dispatch reads is not
/// checked as well: one mistake, one message. No rule of Vulkan says what must be bound for a transfer, so what it reads is.
#[inline]
pub(crate) fn check_object(
    bound: Option<BoundMemory>,
    resource: &Resource,
    command: &str,
    id: MessageId,
) -> Option<Finding> {
    let place = resource.place.get()?;
    let is_bound = bound.is_some_and(|bound| bound.memory == place.memory || bound == UNKNOWN);
    (!is_bound).then(|| wrong_object(bound, resource, place, command, id))
}

#[cold]
fn wrong_object(
    bound: Option<BoundMemory>,
    resource: &Resource,
    place: &Place,
    command: &str,
    id: MessageId,
) -> Finding {
    let bound = match bound {
        Some(bound) => format!("object 0x{:x} is", bound.memory),
        None => "nothing is".to_owned(),
    };
    Finding {
        id,
        object: resource.object,
        text: format!(
            "{command} reaches a resource in tile memory object 0x{:x} while {bound} bound: bind the resource's own object \
             first (VUID-{command}-commandBuffer-10746 has this of draws and dispatches)",
            place.memory
        ),
    }
}

/// Checks what a draw or dispatch accesses: once in a recording, since a set does not change while a command buffer uses it.
pub(crate) fn check_descriptors(
    recording: &mut Recording,
    descriptors: &Descriptors,
    reachable: ReachableDescriptors,
    command: &str,
) -> Vec<Finding> {
    let mut rules = Rules {
        bound: recording.bound,
        contents: &mut recording.contents,
        reported: &mut recording.reported,
        command,
        findings: Vec::new(),
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
        let wrong = check_object(self.bound, &entry.resource, self.command, MessageId::WrongObject);
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
        let id = MessageId::TransferUnbound;
        findings.extend(check_object(recording.bound, &buffer, command, id));
        if index > 0 || !command.starts_with("vkCmdCopyBuffer") {
            recording.contents.write(place);
        } else if !buffer.addressable {
            findings.extend(recording.contents.read(&buffer, place));
        }
    }
    findings
}
