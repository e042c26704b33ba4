//! Short functions for writing recordings.

use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::*;
use tileheap_sync::{Certainty, Hazard, LossReason, LostContents, MissingDependency, Model};
use tileheap_units::Run;
pub(crate) use vk::{AccessFlags2 as Mask, ImageLayout, PipelineStageFlags2 as S};

/// Buffers on the same bytes.
pub(crate) const A: ResourceId = ResourceId(0);
pub(crate) const B: ResourceId = ResourceId(1);
/// Images with optimal tiling on the same bytes.
pub(crate) const X: ResourceId = ResourceId(2);
pub(crate) const Y: ResourceId = ResourceId(3);
/// An image in separate memory.
pub(crate) const Z: ResourceId = ResourceId(4);

/// Stages with accesses.
pub(crate) type Side = (S, Mask);

pub(crate) const CS_NONE: Side = (S::COMPUTE_SHADER, Mask::NONE);
pub(crate) const CS_READ: Side = (S::COMPUTE_SHADER, Mask::SHADER_STORAGE_READ);
pub(crate) const CS_WRITE: Side = (S::COMPUTE_SHADER, Mask::SHADER_STORAGE_WRITE);
pub(crate) const COPY_READ: Side = (S::COPY, Mask::TRANSFER_READ);
pub(crate) const COPY_WRITE: Side = (S::COPY, Mask::TRANSFER_WRITE);
pub(crate) const CLEAR: Side = (S::CLEAR, Mask::TRANSFER_WRITE);
pub(crate) const COLOR_WRITE: Side = (S::COLOR_ATTACHMENT_OUTPUT, Mask::COLOR_ATTACHMENT_WRITE);
pub(crate) const INPUT: Side = (S::FRAGMENT_SHADER, Mask::INPUT_ATTACHMENT_READ);
pub(crate) const NOTHING: Side = (S::NONE, Mask::NONE);
pub(crate) const EVERYTHING: Side = (S::ALL_COMMANDS, Mask::MEMORY_WRITE);

/// The whole of A or B, or all texels of an image.
pub(crate) fn all(resource: ResourceId) -> ResourcePart {
    match resource {
        A | B => ResourcePart::Bytes(0, 64),
        _ => ResourcePart::Texels(texels(None)),
    }
}

pub(crate) fn texels(area: Option<[Run; 3]>) -> Texels {
    let one = Run::new(0, 1);
    Texels {
        aspects: vk::ImageAspectFlags::COLOR,
        levels: one,
        layers: one,
        area,
    }
}

/// Columns `[first, end)` of an image.
pub(crate) fn columns(first: u32, end: u32) -> ResourcePart {
    let area = [Run::new(first, end), Run::new(0, 8), Run::new(0, 1)];
    ResourcePart::Texels(texels(Some(area)))
}

pub(crate) fn access(
    resource: ResourceId,
    part: ResourcePart,
    (stage, access): Side,
    kind: AccessKind,
) -> MemoryAccess {
    let discards = false;
    MemoryAccess {
        resource,
        part,
        stage,
        access,
        kind,
        discards,
    }
}

/// A command with one access to a whole resource.
pub(crate) fn act(resource: ResourceId, side: Side) -> Command {
    Command::Action(vec![access(resource, all(resource), side, AccessKind::Whole)])
}

/// A command with one access to a part of a resource.
pub(crate) fn act_on(resource: ResourceId, part: ResourcePart, side: Side, kind: AccessKind) -> Command {
    Command::Action(vec![access(resource, part, side, kind)])
}

/// A dispatch that writes all of a resource.
pub(crate) fn write(resource: ResourceId) -> Command {
    act(resource, CS_WRITE)
}

/// A dispatch that reads all of a resource.
pub(crate) fn read(resource: ResourceId) -> Command {
    act(resource, CS_READ)
}

pub(crate) fn scopes((src, src_access): Side, (dst, dst_access): Side) -> DependencyScopes {
    DependencyScopes {
        src,
        src_access,
        dst,
        dst_access,
    }
}

/// A memory barrier.
pub(crate) fn memory(from: Side, to: Side) -> Command {
    Command::Barrier(vec![Dependency {
        scopes: scopes(from, to),
        memory: DependencyMemory::All,
        change: BarrierChange::None,
    }])
}

/// A dependency that changes the layout of an image, from `UNDEFINED` if it discards.
pub(crate) fn transition(resource: ResourceId, from: Side, to: Side, discards: bool) -> Dependency {
    Dependency {
        scopes: scopes(from, to),
        memory: DependencyMemory::Part(resource, all(resource)),
        change: BarrierChange::Layout { discards },
    }
}

/// An image barrier from `UNDEFINED`.
pub(crate) fn image(resource: ResourceId, from: Side, to: Side) -> Command {
    Command::Barrier(vec![transition(resource, from, to, true)])
}

/// The layouts of an attachment: before the instance, in the subpasses that use it, and after it.
pub(crate) fn attachment(
    resource: ResourceId,
    initial_layout: ImageLayout,
    uses: &[(u32, ImageLayout)],
    final_layout: ImageLayout,
) -> PassAttachment {
    PassAttachment {
        resource: Some(resource),
        part: all(resource),
        initial_layout,
        uses: uses.to_vec(),
        final_layout,
    }
}

/// Begins a render pass instance.
pub(crate) fn begin(
    dependencies: &[(Option<u32>, Option<u32>, Side, Side)],
    attachments: &[PassAttachment],
) -> Command {
    let dependencies = dependencies.iter().map(|(from, to, src, dst)| PassDependency {
        from: *from,
        to: *to,
        scopes: scopes(*src, *dst),
    });
    Command::BeginRendering {
        resumes: false,
        pass: Arc::new(PassStructure {
            dependencies: dependencies.collect(),
            attachments: attachments.to_vec(),
        }),
    }
}

/// A program of one batch, whose commands have their indices as tags.
pub(crate) fn program(commands: &[Command]) -> Program {
    let commands = commands
        .iter()
        .cloned()
        .zip(0..)
        .map(|(command, tag)| (Tag(tag), command));
    let commands = Arc::new(CommandBuffer {
        commands: commands.collect(),
    });
    let resource = |memory, tiling| Resource {
        memory: MemoryId(memory),
        first: 0,
        end: 64,
        tiling,
        alias_of: None,
        sharing: SharingMode::Concurrent,
    };
    let optimal = Tiling::Optimal(texels(None));
    Program {
        resources: vec![
            resource(0, Tiling::Linear),
            resource(0, Tiling::Linear),
            resource(1, optimal),
            resource(1, optimal),
            resource(2, optimal),
        ],
        granularity: 1,
        timelines: Vec::new(),
        steps: vec![HostStep::Submit(Batch {
            command_buffers: vec![commands],
            ..Batch::default()
        })],
    }
}

/// Its hazards: both commands, the missing dependency, and the certainty.
pub(crate) fn hazards(commands: &[Command]) -> Vec<(u64, u64, MissingDependency, Certainty)> {
    let told = |hazard: &Hazard| {
        (
            hazard.before.tag.0,
            hazard.after.tag.0,
            hazard.missing,
            hazard.verdict,
        )
    };
    Model::check(&program(commands))
        .hazards
        .iter()
        .map(told)
        .collect()
}

/// Lost contents that its commands read: the reading command, the reason, and the certainty.
pub(crate) fn lost(commands: &[Command]) -> Vec<(u64, LossReason, Certainty)> {
    let told = |lost: &LostContents| (lost.reader.tag.0, lost.loss, lost.verdict);
    Model::check(&program(commands)).lost.iter().map(told).collect()
}
