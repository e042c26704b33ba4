//! Checks the resources that commands access: draws and dispatches through descriptors, transfers through their
//! arguments.

use std::sync::Arc;

use ash::vk;
use tileheap_device::ffi::{
    ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM, ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM,
};
use tileheap_device::scopes::WRITES;
use tileheap_layer::set_layouts::SetBinding;
use tileheap_spirv::{AccessRange, CertainAccess, Dispatch, GuardValue};
use tileheap_sync::program::{self, AccessKind, ResourceId, ResourcePart};

use super::bound_sets::Parameters;
use super::descriptors::{Descriptors, Entry, UNCERTAIN};
use super::finding::Finding;
use super::objects::Object;
use super::order::log::LoggedAccess;
use super::order::passes::Subpasses;
use super::position::{BoundMemory, Position, UNKNOWN};
use super::recording::{Pass, Recording, ReportedOnce};
use super::resources::{MemoryBinding, Resource};
use super::shaders::DescriptorAccess;
use super::transfers::TransferUse;
use crate::tables::action_commands::{ReachableDescriptors, wrong_object_rule};
use crate::tables::messages::MessageId;
use crate::tables::unseen_writes::UnseenWrites;

/// Returns a finding if a command accesses a resource in a memory object that is not bound. If a draw or dispatch does, its reads are not checked,
/// so that one mistake causes one message. No rule of Vulkan says what must be bound for a transfer, so its reads are checked.
#[inline]
pub(crate) fn check_object(at: Position, resource: &Resource, access: AccessMethod<'_>) -> Option<Finding> {
    let place = resource.tile_place()?;
    (!is_bound(at.bound, place)).then(|| wrong_object(at, resource, place, access))
}

/// Returns true if the memory object of `place` is bound, or if the bound object is not known.
#[inline]
pub(crate) fn is_bound(bound: Option<BoundMemory>, place: &MemoryBinding) -> bool {
    bound.is_some_and(|bound| bound.memory == place.memory || bound == UNKNOWN)
}

/// The way in which a command accesses a resource.
#[derive(Clone, Copy)]
pub(crate) enum AccessMethod<'a> {
    /// Through a descriptor of a draw, dispatch or trace rays command.
    Descriptor(ReachableDescriptors, &'a str),
    /// As an attachment of the render pass that the command draws in.
    Attachment(&'a str),
    /// As a buffer or an image that the command transfers from or to.
    Transfer(&'a str),
    /// As an attachment of the render pass that the command ends, if nothing was drawn.
    PassWithoutDraw(&'a str),
}

#[cold]
fn wrong_object(
    at: Position,
    resource: &Resource,
    place: &MemoryBinding,
    access: AccessMethod<'_>,
) -> Finding {
    let object = resource.object;
    let memory = Object(vk::ObjectType::DEVICE_MEMORY, place.memory);
    let own = format!("{memory}, which is not bound");
    let draw = ReachableDescriptors::Draw;
    let (id, text, rule) = match access {
        AccessMethod::Descriptor(reachable, command) => (
            MessageId::WrongObject,
            format!("{command} accesses {object} in {own}"),
            wrong_object_rule(reachable, command),
        ),
        AccessMethod::Attachment(command) => (
            MessageId::WrongObject,
            format!("{command} draws to the attachment {object} in {own}"),
            wrong_object_rule(draw, command),
        ),
        AccessMethod::Transfer(command) => (
            MessageId::TransferUnbound,
            format!("{command} accesses {object} in {own}"),
            None,
        ),
        AccessMethod::PassWithoutDraw(command) => (
            MessageId::AttachmentUnbound,
            format!(
                "{command} ends a render pass that has no draws and whose attachment {object} is in {own}: the contents that \
                 the render pass loads are undefined, and those that it stores are lost"
            ),
            None,
        ),
    };
    let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
    Finding::new(id, object, text + &rule).at(at)
}

/// Returns findings about the attachments of the render pass whose memory object is not bound: at the first draw, which breaks the rule for draws, or at
/// the end of a render pass without draws.
pub(crate) fn unbound_attachments(pass: &mut Pass, at: Position, access: AccessMethod<'_>) -> Vec<Finding> {
    let unbound = std::mem::take(&mut pass.unbound);
    let found = unbound.iter().filter_map(|(resource, bound)| {
        let mut at = at;
        at.bound = *bound;
        check_object(at, resource, access)
    });
    found.collect()
}

/// The result of checking a draw or dispatch.
pub(crate) struct CheckResult {
    pub(crate) findings: Vec<Finding>,
    /// Possible writes to memory that is not known yet: the pipeline is unknown, or it writes through descriptors that may change.
    pub(crate) unseen_writes: UnseenWrites,
}

/// Returns true if a command may write through a binding whose descriptors can change until it is submitted.
fn may_write_others(accessed: &DescriptorAccess, binding: Option<&SetBinding>) -> bool {
    let can_change = |binding: &SetBinding| {
        binding
            .flags
            .contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND)
    };
    accessed.writes && binding.is_some_and(can_change)
}

/// Checks the accesses of a draw or dispatch, except what it fetches from buffers. Once per recording is enough, since a set does not change while
/// a command buffer uses it, unless its bindings allow that.
pub(crate) fn check_descriptors(
    recording: &mut Recording,
    descriptors: &Descriptors,
    reachable: ReachableDescriptors,
    (groups, fetches): (Option<[u32; 3]>, Vec<LoggedAccess>),
    (command, acts): (&'static str, bool),
) -> CheckResult {
    recording.at.is_at(command);
    let values = recording
        .sets
        .guard_values(reachable, descriptors, &recording.push_constants);
    let at = recording.at;
    let state = recording.checked_state(acts);
    let mut findings = Vec::new();
    if let Some(pass) = recording
        .pass
        .as_mut()
        .filter(|_| reachable == ReachableDescriptors::Draw)
    {
        findings = unbound_attachments(pass, at, AccessMethod::Attachment(command));
    }
    let mut rules = Rules {
        at,
        reachable,
        subpasses: recording.pass.as_ref().map(|pass| &pass.subpasses),
        reported: &mut recording.reported,
        command,
        acts,
        groups,
        values,
        findings,
        accesses: Vec::new(),
        resources: Vec::new(),
        writes_attachments: false,
        may_change: false,
        depends_on_parameters: false,
    };
    let mut may_write_others_too = false;
    let mut unseen_writes =
        recording
            .sets
            .for_each_access(reachable, descriptors, |accessed, set, offsets| {
                let layout = set.layout.as_deref();
                let binding = layout.and_then(|layout| layout.binding(accessed.binding));
                may_write_others_too |= may_write_others(accessed, binding);
                rules.may_change = binding.is_some_and(|binding| binding.flags.intersects(UNCERTAIN));
                let is_complete = set.for_each_at(accessed.binding, |entry| {
                    if entry.is_dynamic() && entry.resource.is_logged() {
                        rules.depends_on_parameters = true;
                        rules.access(accessed, &entry.with_offsets(layout, offsets));
                    } else {
                        rules.access(accessed, entry);
                    }
                });
                may_write_others_too |= accessed.writes && !is_complete;
            });
    let Rules {
        findings,
        accesses,
        depends_on_parameters,
        writes_attachments,
        ..
    } = rules;
    unseen_writes |= UnseenWrites::DESCRIPTORS.only_if(may_write_others_too || writes_attachments);
    let list = recording.order.list(accesses);
    let parameters = depends_on_parameters.then_some(Parameters {
        groups,
        push_constants: &recording.push_constants,
    });
    recording.sets.check(reachable, state, list, parameters);
    recording.order.access_with(fetches, list, &at);
    recording.after_dispatch(reachable, list);
    CheckResult {
        findings,
        unseen_writes,
    }
}

/// The state against which accesses are checked, and which they update.
struct Rules<'a> {
    at: Position,
    reachable: ReachableDescriptors,
    /// The render pass instance around a draw, or around a per-tile dispatch.
    subpasses: Option<&'a Subpasses>,
    reported: &'a mut ReportedOnce,
    command: &'a str,
    /// False for a command that may do nothing.
    acts: bool,
    /// The number of workgroups of a dispatch, if it is known.
    groups: Option<[u32; 3]>,
    /// The known values among those that guards compare.
    values: Vec<(GuardValue, u32)>,
    findings: Vec<Finding>,
    accesses: Vec<LoggedAccess>,
    /// The resource of each access.
    resources: Vec<Arc<Resource>>,
    /// True if shaders write attachments that the subpass draws to.
    writes_attachments: bool,
    /// True if the descriptors of the binding may change before the command runs, or if the command might not use them.
    may_change: bool,
    /// True if some of the accesses depend on dynamic offsets or on other parameters.
    depends_on_parameters: bool,
}

impl Rules<'_> {
    fn access(&mut self, accessed: &DescriptorAccess, entry: &Entry) {
        if !entry.resource.is_logged() {
            return;
        }
        let wrong = check_object(
            self.at,
            &entry.resource,
            AccessMethod::Descriptor(self.reachable, self.command),
        );
        let is_wrong = wrong.is_some();
        if let Some(finding) = wrong.filter(|finding| self.reported.is_first(finding)) {
            self.findings.push(finding);
        }
        let resource = ResourceId(entry.resource.number);
        let mut drawn = self.subpasses.into_iter().flat_map(Subpasses::drawn);
        let is_drawn = drawn.any(|drawn| drawn == resource);
        let has_feedback = self.subpasses.is_some_and(Subpasses::has_feedback);
        let reads_drawn = is_drawn && has_feedback && entry.kind == vk::DescriptorType::INPUT_ATTACHMENT;
        // "Tile Attachment Access": reads of fragment shaders are in rasterization order, and dispatches need barriers.
        let is_of_tile = is_drawn && self.reachable == ReachableDescriptors::Dispatch;
        // The written texels are not followed.
        self.writes_attachments |= is_drawn && !reads_drawn && accessed.writes;
        if is_drawn && !reads_drawn && !is_of_tile {
            return;
        }
        // One message per mistake: reads through a wrong object are not logged.
        let accesses = self.logged(accessed, entry).into_iter();
        let accesses = accesses.filter(|one| !is_wrong || WRITES.contains(one.access.access));
        // Unknown: which pixels earlier draws have covered, and whether pipelines order accesses to attachments.
        let accesses = accesses.map(|one| LoggedAccess {
            is_certain: one.is_certain && !is_drawn,
            access: match is_of_tile {
                true => of_tile(one.access),
                false => one.access,
            },
            ..one
        });
        let first = self.accesses.len();
        self.accesses.extend(accesses);
        self.resources.resize(self.accesses.len(), entry.resource.clone());
        for new in first..self.accesses.len() {
            for old in 0..first {
                self.order_within_command(old, new);
                self.order_within_command(new, old);
            }
        }
    }

    /// The accesses of a shader through a descriptor. They depend on the number of workgroups and on guard values, unless the first workgroup
    /// accesses the whole part.
    fn logged(&mut self, accessed: &DescriptorAccess, entry: &Entry) -> Vec<LoggedAccess> {
        let acts = self.acts && !self.may_change;
        if self.groups.is_none() && accessed.certain.iter().any(|one| !one.guards.is_empty()) {
            // The set of invocations is unknown.
            let mut unguarded = accessed.clone();
            unguarded.certain.retain(|one| one.guards.is_empty());
            return logged(&unguarded, entry, acts, &[1; 3].into());
        }
        let least = logged(accessed, entry, acts, &[1; 3].into());
        let is_whole = |one: &LoggedAccess| one.access.kind == AccessKind::Whole;
        let depends = |one: &CertainAccess| {
            !one.guards.is_empty() || one.region.iter().any(|region| region.indices().next().is_some())
        };
        let is_known = acts && !least.iter().all(is_whole) && accessed.certain.iter().any(depends);
        let Some(groups) = self.groups.filter(|_| is_known) else {
            return least;
        };
        self.depends_on_parameters = true;
        let length = |value: GuardValue| match (value, entry.part) {
            // The descriptor's own length, which may have a dynamic offset.
            (GuardValue::ArrayLength { set, binding, .. }, Some(ResourcePart::Bytes(first, end))) => {
                let is_own = (set, binding) == (accessed.set, accessed.binding);
                value.length_in(end.saturating_sub(first)).filter(|_| is_own)
            }
            _ => None,
        };
        let known = |value: GuardValue| {
            let known = self.values.iter().find(|(one, _)| *one == value);
            known.map(|(_, number)| *number).or_else(|| length(value))
        };
        let dispatch = Dispatch {
            groups,
            values: &known,
        };
        logged(accessed, entry, acts, &dispatch)
    }

    /// Marks a read as one that may follow a write of the same command, if both access the same resource or resources that share
    /// bytes.
    fn order_within_command(&mut self, read: usize, write: usize) {
        let is_write = |one: &LoggedAccess| WRITES.contains(one.access.access);
        let [reader, writer] = [&self.accesses[read], &self.accesses[write]];
        if !is_write(reader) && is_write(writer) && overlap(&self.resources[read], &self.resources[write]) {
            self.accesses[read].may_follow_write = true;
        }
    }
}

/// Converts an access to an attachment to the same access by a per-tile dispatch.
fn of_tile(access: program::MemoryAccess) -> program::MemoryAccess {
    let as_tile = match WRITES.contains(access.access) {
        true => ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM,
        false => ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM,
    };
    program::MemoryAccess {
        access: as_tile,
        ..access
    }
}

/// Returns `true` if two resources are the same, or share bytes.
fn overlap(one: &Resource, other: &Resource) -> bool {
    let [a, b] = [one.place.get(), other.place.get()];
    let share =
        |(a, b): (&MemoryBinding, &MemoryBinding)| a.memory == b.memory && a.first < b.end && b.first < a.end;
    one.number == other.number || a.zip(b).is_some_and(share)
}

/// The accesses of a shader through a descriptor. An access is certain if some invocation provably performs it, the descriptor is the first of its
/// binding, its part is known and the command acts. A certain access covers the whole part if the invocations of the dispatch do so together, or if it
/// reads an image in tile memory.
fn logged(
    accessed: &DescriptorAccess,
    entry: &Entry,
    acts: bool,
    dispatch: &Dispatch<'_>,
) -> Vec<LoggedAccess> {
    let resource = &entry.resource;
    let part = entry.part.unwrap_or_else(|| resource.all());
    let range = match part {
        ResourcePart::Bytes(first, end) => end.saturating_sub(first),
        ResourcePart::Texels(_) => 0,
    };
    let fits = match is_image(entry.kind) {
        true => accessed.kind.fits_images(),
        false => accessed.kind.fits_buffers(),
    };
    let is_known = acts && entry.part.is_some() && entry.element == 0;
    // The whole of an image in tile memory: contents lost there are lost for most draws that read it.
    let reads_all = !accessed.writes && is_image(entry.kind) && resource.tile_place().is_some();
    let one = |access, is_performed: bool, extent: Option<AccessRange>| {
        let is_certain = is_known && is_performed;
        let is_covered = || extent.is_some_and(|extent| covers(&extent, &part, resource));
        let is_whole = is_certain && (reads_all || is_covered());
        LoggedAccess {
            access: program::MemoryAccess {
                resource: ResourceId(resource.number),
                part,
                stage: accessed.stages,
                access,
                kind: match is_whole {
                    true => AccessKind::Whole,
                    false => AccessKind::Partial,
                },
                discards: false,
            },
            is_certain,
            may_follow_write: accessed.writes && !accessed.reads_first,
        }
    };
    let (reads, writes) = (fits && accessed.reads, fits && accessed.writes);
    let read = reads.then(|| {
        let extent = accessed.read_extent(*dispatch, range);
        one(
            accessed.kind.access_flags(true, false),
            accessed.certainly_reads(*dispatch),
            extent,
        )
    });
    let write = writes.then(|| {
        let extent = accessed.written_extent(*dispatch, range);
        one(
            accessed.kind.access_flags(false, true),
            accessed.certainly_writes(*dispatch),
            extent,
        )
    });
    read.into_iter().chain(write).collect()
}

/// Returns true if descriptors of a type refer to images.
fn is_image(kind: vk::DescriptorType) -> bool {
    use vk::DescriptorType as T;
    matches!(
        kind,
        T::COMBINED_IMAGE_SAMPLER | T::SAMPLED_IMAGE | T::STORAGE_IMAGE | T::INPUT_ATTACHMENT
    )
}

/// Returns true if an accessed range covers the whole part that a descriptor refers to: its bytes, or the texels of its only level and layer.
fn covers(extent: &AccessRange, part: &ResourcePart, resource: &Resource) -> bool {
    match (extent, part) {
        (AccessRange::Bytes(bytes), ResourcePart::Bytes(first, end)) => {
            bytes.start == 0 && bytes.end >= end - first
        }
        (AccessRange::Texels { start, end }, ResourcePart::Texels(texels)) => {
            let is_3d = resource.extent.depth > 1;
            let layers = texels.layers.end.saturating_sub(texels.layers.first);
            // Coordinates are those of the first level, which is the largest.
            let side = |side: u32| (side >> texels.levels.first.min(31)).max(1);
            let sides = [
                side(resource.extent.width),
                side(resource.extent.height),
                if is_3d { layers } else { 1 },
            ];
            let is_single = texels.levels.end - texels.levels.first == 1 && (is_3d || layers == 1);
            is_single && *start == [0; 3] && (0..3).all(|axis| end[axis] >= sides[axis])
        }
        _ => false,
    }
}

/// Checks a transfer from or to tracked resources.
pub(crate) fn check_transfer(
    recording: &mut Recording,
    uses: &[TransferUse],
    command: &'static str,
) -> Vec<Finding> {
    recording.at.is_at(command);
    let at = recording.at;
    let (mut findings, mut accesses) = (Vec::new(), Vec::new());
    for (index, one) in uses.iter().enumerate() {
        let resource = &one.resource;
        let is_other_region = uses[..index]
            .iter()
            .any(|other| Arc::ptr_eq(&other.resource, resource) && other.writes == one.writes);
        if !is_other_region {
            findings.extend(check_object(at, resource, AccessMethod::Transfer(command)));
        }
        let access = program::MemoryAccess {
            resource: ResourceId(resource.number),
            part: one.part,
            stage: one.stage,
            access: match (one.writes, one.stage) {
                (true, _) => vk::AccessFlags2::TRANSFER_WRITE,
                (false, vk::PipelineStageFlags2::CONDITIONAL_RENDERING_EXT) => {
                    vk::AccessFlags2::CONDITIONAL_RENDERING_READ_EXT
                }
                (false, _) => vk::AccessFlags2::TRANSFER_READ,
            },
            kind: match one.is_exact {
                true => AccessKind::Whole,
                false => AccessKind::Partial,
            },
            discards: false,
        };
        accesses.push(LoggedAccess {
            access,
            // Reads use at least one element of a part; results of queries may not be written.
            is_certain: one.is_exact || !one.writes,
            may_follow_write: false,
        });
    }
    recording.order.perform(accesses, &at);
    findings
}

#[cfg(test)]
mod tests;
