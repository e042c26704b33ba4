//! From a frame to its document.

use ash::vk;

use super::document as doc;
use super::document::{FORMAT, VERSION};
use crate::frame::external::ResourceState;
use crate::frame::tables::{Access, ResourceKind, SemaphoreOp};
use crate::frame::{BatchId, Extent, Frame, PassId, Persistence};

pub(super) fn document(frame: &Frame) -> doc::Document {
    let vk::Extent2D { width, height } = frame.base_extent();
    doc::Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: frame.name().to_owned(),
        base_extent: [width, height],
        queues: frame.queues().iter().map(queue).collect(),
        semaphores: frame.semaphores().iter().map(semaphore).collect(),
        resources: frame.resources().iter().map(resource).collect(),
        submits: frame.submits().iter().map(|it| submit(frame, it)).collect(),
    }
}

fn queue(queue: &crate::frame::tables::Queue) -> doc::Queue {
    doc::Queue {
        name: queue.name.clone(),
        capabilities: queue.capabilities,
    }
}

fn semaphore(semaphore: &crate::frame::tables::Semaphore) -> doc::Semaphore {
    doc::Semaphore {
        name: semaphore.name.clone(),
        external: semaphore.external,
    }
}

fn resource(resource: &crate::frame::tables::Resource) -> doc::Resource {
    let (mut image, mut buffer) = (None, None);
    match resource.kind {
        // The resolved extent and the derived usage follow again when the document is read.
        ResourceKind::Image { desc, .. } => {
            let (extent, scale) = match desc.extent {
                Extent::Scaled(scale) => (None, Some(scale)),
                Extent::Texels(vk::Extent3D {
                    width,
                    height,
                    depth: 1,
                }) => (Some(vec![width, height]), None),
                Extent::Texels(vk::Extent3D { width, height, depth }) => {
                    (Some(vec![width, height, depth]), None)
                }
            };
            image = Some(doc::Image {
                format: desc.format,
                extent,
                scale,
                image_type: desc.image_type,
                mip_levels: desc.mip_levels,
                array_layers: desc.array_layers,
                samples: desc.samples,
                usage: desc.usage,
                flags: desc.flags,
            });
        }
        ResourceKind::Buffer { desc, .. } => {
            buffer = Some(doc::Buffer {
                size: desc.size.0,
                usage: desc.usage,
            });
        }
    }
    doc::Resource {
        name: resource.name.clone(),
        image,
        buffer,
        persistence: match resource.persistence {
            Persistence::Transient => doc::Persistence::Transient,
            Persistence::History => doc::Persistence::History,
            Persistence::External(desc) => doc::Persistence::External(doc::External {
                entry: state(desc.entry),
                exit: state(desc.exit),
            }),
        },
        tile_memory: resource.tile_constraint,
    }
}

fn state(state: ResourceState) -> doc::State {
    doc::State {
        layout: state.layout,
        stages: state.stages,
        access: state.access,
    }
}

fn submit(frame: &Frame, submit: &crate::frame::tables::Submit) -> doc::Submit {
    let batches = submit.batches.indices().map(|index| BatchId(index as u32));
    doc::Submit {
        queue: frame.queues()[submit.queue.index()].name.clone(),
        batches: batches.map(|id| batch(frame, id)).collect(),
    }
}

fn batch(frame: &Frame, id: BatchId) -> doc::Batch {
    let batch = &frame.batches()[id.index()];
    let op = |op: &SemaphoreOp| doc::SemaphoreOp {
        semaphore: frame.semaphores()[op.semaphore.index()].name.clone(),
        stages: op.stages,
    };
    let command_buffers = batch.command_buffers.of(frame.command_buffers());
    doc::Batch {
        waits: batch.waits.iter().map(op).collect(),
        signals: batch.signals.iter().map(op).collect(),
        command_buffers: command_buffers
            .iter()
            .map(|it| command_buffer(frame, it))
            .collect(),
    }
}

fn command_buffer(frame: &Frame, commands: &crate::frame::tables::CommandBuffer) -> doc::CommandBuffer {
    let passes = commands.passes.indices().map(|index| PassId(index as u32));
    doc::CommandBuffer {
        name: commands.name.clone(),
        passes: passes.map(|id| pass(frame, id)).collect(),
    }
}

fn pass(frame: &Frame, id: PassId) -> doc::Pass {
    let pass = frame.pass(id);
    let accesses = frame.accesses_of(id).iter();
    doc::Pass {
        name: pass.name.clone(),
        kind: pass.kind,
        contents: pass.contents,
        tile_shading: pass.tile_shading,
        accesses: accesses.map(|it| access(frame, it)).collect(),
    }
}

fn access(frame: &Frame, access: &Access) -> doc::Access {
    let default_stages = access.kind.default_stages(frame.pass(access.pass).kind);
    doc::Access {
        resource: frame.resource(access.resource).name.clone(),
        kind: access.kind,
        reads: access.reads,
        writes: access.writes,
        version: access.version,
        load_op: access.load_op,
        stages: (access.stages != default_stages).then_some(doc::Stages(access.stages)),
        resolves: access.resolves.map(|source| frame.resource(source).name.clone()),
        measured: access.measured.map(|bytes| bytes.0),
    }
}
