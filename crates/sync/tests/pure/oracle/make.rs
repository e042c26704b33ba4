//! Short functions for writing the programs of the tests.

use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::*;
use tileheap_sync::{Certainty, MissingDependency};
use tileheap_units::Run;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

/// A program, and its hazards: tags of both commands, the missing dependency, and the verdict.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) program: Program,
    pub(super) hazards: Vec<(u64, u64, MissingDependency, Certainty)>,
}

pub(super) const BUFFER: ResourceId = ResourceId(0);
/// An image with two layers, in bytes 4096 to 8192.
pub(super) const IMAGE: ResourceId = ResourceId(1);
/// The same image again.
pub(super) const TWIN: ResourceId = ResourceId(2);
/// Another image in the same memory.
pub(super) const OTHER: ResourceId = ResourceId(3);
/// A buffer in the same memory as the images.
pub(super) const ALIAS: ResourceId = ResourceId(4);
/// A buffer after the images, in their last page.
pub(super) const BESIDE: ResourceId = ResourceId(5);

pub(super) const TIMELINE: SemaphoreId = SemaphoreId(1);
pub(super) const BINARY: SemaphoreId = SemaphoreId(2);

pub(super) fn program(steps: Vec<HostStep>) -> Program {
    let image = Tiling::Optimal(layers(0, 2));
    let resource = |memory, first, end, tiling, alias_of| Resource {
        memory: MemoryId(memory),
        first,
        end,
        tiling,
        alias_of,
        sharing: SharingMode::Concurrent,
    };
    Program {
        resources: vec![
            resource(1, 0, 1024, Tiling::Linear, None),
            resource(2, 4096, 8000, image, None),
            resource(2, 4096, 8000, image, Some(IMAGE)),
            resource(2, 4096, 8000, image, None),
            resource(2, 4096, 5120, Tiling::Linear, None),
            resource(2, 8100, 8150, Tiling::Linear, None),
        ],
        granularity: 1024,
        timelines: vec![(TIMELINE, 0)],
        steps,
    }
}

pub(super) fn layers(first: u32, end: u32) -> Texels {
    Texels {
        aspects: vk::ImageAspectFlags::COLOR,
        levels: Run::new(0, 1),
        layers: Run::new(first, end),
        area: None,
    }
}

pub(super) fn all() -> ResourcePart {
    ResourcePart::Texels(layers(0, 2))
}

/// Columns of the first layer.
pub(super) fn columns(first: u32, end: u32) -> ResourcePart {
    let area = Some([Run::new(first, end), Run::new(0, 64), Run::new(0, 1)]);
    ResourcePart::Texels(Texels { area, ..layers(0, 1) })
}

pub(super) fn access(
    resource: ResourceId,
    part: ResourcePart,
    stage: S,
    access: A,
    kind: AccessKind,
) -> MemoryAccess {
    MemoryAccess {
        resource,
        part,
        stage,
        access,
        kind,
        discards: false,
    }
}

/// All of [`BUFFER`] or of an image.
pub(super) fn whole(resource: ResourceId, stage: S, flags: A) -> Command {
    let part = match resource {
        BUFFER | ALIAS => ResourcePart::Bytes(0, 1024),
        BESIDE => ResourcePart::Bytes(0, 50),
        _ => all(),
    };
    act(access(resource, part, stage, flags, AccessKind::Whole))
}

pub(super) fn copy_to(resource: ResourceId) -> Command {
    whole(resource, S::COPY, A::TRANSFER_WRITE)
}

pub(super) fn copy_from(resource: ResourceId) -> Command {
    whole(resource, S::COPY, A::TRANSFER_READ)
}

pub(super) fn act(access: MemoryAccess) -> Command {
    Command::Action(vec![access])
}

pub(super) fn scopes(src: S, src_access: A, dst: S, dst_access: A) -> DependencyScopes {
    DependencyScopes {
        src,
        src_access,
        dst,
        dst_access,
    }
}

pub(super) fn memory(src: S, src_access: A, dst: S, dst_access: A) -> Dependency {
    Dependency {
        scopes: scopes(src, src_access, dst, dst_access),
        memory: DependencyMemory::All,
        change: BarrierChange::None,
    }
}

pub(super) fn execution(src: S, dst: S) -> Dependency {
    Dependency {
        memory: DependencyMemory::Execution,
        ..memory(src, A::NONE, dst, A::NONE)
    }
}

/// A memory barrier from copies to copies, for both of their accesses.
pub(super) fn copies() -> Command {
    let both = A::TRANSFER_READ | A::TRANSFER_WRITE;
    barrier(memory(S::COPY, A::TRANSFER_WRITE, S::COPY, both))
}

pub(super) fn barrier(dependency: Dependency) -> Command {
    Command::Barrier(vec![dependency])
}

/// Makes it a transition of all layers of an image.
pub(super) fn transition(dependency: Dependency, image: ResourceId) -> Dependency {
    let change = BarrierChange::Layout { discards: false };
    Dependency {
        memory: DependencyMemory::Part(image, all()),
        change,
        ..dependency
    }
}

/// Makes it a transfer of [`BUFFER`] from family 0 to 1.
pub(super) fn transfer(dependency: Dependency) -> Command {
    let extent = DependencyMemory::Part(BUFFER, ResourcePart::Bytes(0, 1024));
    barrier(Dependency {
        memory: extent,
        change: BarrierChange::Family { from: 0, to: 1 },
        ..dependency
    })
}

pub(super) fn begin(dependencies: Vec<PassDependency>) -> Command {
    begin_with(dependencies, Vec::new())
}

pub(super) fn begin_with(dependencies: Vec<PassDependency>, attachments: Vec<PassAttachment>) -> Command {
    Command::BeginRendering {
        resumes: false,
        pass: Arc::new(PassStructure {
            dependencies,
            attachments,
        }),
    }
}

pub(super) fn next() -> Command {
    Command::NextSubpass
}

pub(super) fn end() -> Command {
    Command::EndRendering
}

pub(super) fn between(from: Option<u32>, to: Option<u32>, scopes: DependencyScopes) -> PassDependency {
    PassDependency { from, to, scopes }
}

/// All layers of an image, with its layouts before, in, and after the instance.
pub(super) fn attachment(
    image: ResourceId,
    initial_layout: vk::ImageLayout,
    uses: &[(u32, vk::ImageLayout)],
    final_layout: vk::ImageLayout,
) -> PassAttachment {
    PassAttachment {
        resource: Some(image),
        part: all(),
        initial_layout,
        uses: uses.to_vec(),
        final_layout,
    }
}

/// An attachment of the first layer.
pub(super) fn color(image: ResourceId, kind: AccessKind) -> Command {
    act(access(
        image,
        ResourcePart::Texels(layers(0, 1)),
        S::COLOR_ATTACHMENT_OUTPUT,
        A::COLOR_ATTACHMENT_WRITE,
        kind,
    ))
}

pub(super) fn batch(queue: u64, first_tag: u64, commands: Vec<Command>) -> Batch {
    let commands = (first_tag..).map(Tag).zip(commands).collect();
    Batch {
        number: queue,
        queue: QueueId(queue),
        family: queue as u32,
        command_buffers: vec![Arc::new(CommandBuffer { commands })],
        ..Batch::default()
    }
}

pub(super) fn uses(semaphore: SemaphoreId, value: u64, stages: S) -> Vec<SemaphoreUse> {
    vec![SemaphoreUse {
        semaphore,
        value,
        stages,
    }]
}

/// A program of one batch; tags count from 0.
pub(super) fn one(
    name: &'static str,
    commands: Vec<Command>,
    hazards: Vec<(u64, u64, MissingDependency, Certainty)>,
) -> Case {
    steps(name, vec![HostStep::Submit(batch(0, 0, commands))], hazards)
}

pub(super) fn steps(
    name: &'static str,
    steps: Vec<HostStep>,
    hazards: Vec<(u64, u64, MissingDependency, Certainty)>,
) -> Case {
    Case {
        name,
        program: program(steps),
        hazards,
    }
}
