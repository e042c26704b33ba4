//! Writes a frame as its document.

use ash::vk;

use super::document as doc;
use super::document::{FORMAT, VERSION};
use crate::frame::Frame;
use crate::frame::tables::{Access, Batch, CommandBuffer, Pass, Resource, ResourceKind, SemaphoreOp, Submit};

pub(super) fn document(frame: &Frame) -> doc::Document {
    let vk::Extent2D { width, height } = frame.base_extent();
    doc::Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: frame.name().to_owned(),
        base_extent: [width, height],
        queues: frame.queues().to_vec(),
        semaphores: frame.semaphores().to_vec(),
        resources: frame.resources().iter().map(|it| resource(frame, it)).collect(),
        submits: frame.submits().iter().map(|it| submit(frame, it)).collect(),
        _capture: None,
        _schema: None,
    }
}

fn resource(frame: &Frame, resource: &Resource) -> doc::Resource {
    // The resolved extent and the derived usage are derived again when the document is read.
    let (image, buffer) = match resource.kind {
        ResourceKind::Image { desc, .. } => (Some(desc), None),
        ResourceKind::Buffer { desc, .. } => (None, Some(desc)),
    };
    doc::Resource {
        name: resource.name.clone(),
        image,
        buffer,
        persistence: resource.persistence,
        tile_memory: resource.tile_constraint,
        level_of: resource.level_of.map(|of| doc::LevelOf {
            image: frame.resource(of.image).name.clone(),
            level: of.level,
        }),
    }
}

fn submit(frame: &Frame, submit: &Submit) -> doc::Submit {
    let batches = submit.batches.of(frame.batches());
    doc::Submit {
        queue: frame.queues()[submit.queue.index()].name.clone(),
        batches: batches.iter().map(|it| batch(frame, it)).collect(),
    }
}

fn batch(frame: &Frame, batch: &Batch) -> doc::Batch {
    let op = |op: &SemaphoreOp| doc::SemaphoreOp {
        semaphore: frame.semaphores()[op.semaphore.index()].name.clone(),
        stages: op.stages,
    };
    let commands = |commands: &CommandBuffer| doc::CommandBuffer {
        name: commands.name.clone(),
        passes: commands
            .passes
            .of(frame.passes())
            .iter()
            .map(|it| pass(frame, it))
            .collect(),
    };
    let command_buffers = batch.command_buffers.of(frame.command_buffers());
    doc::Batch {
        waits: batch.waits.iter().map(op).collect(),
        signals: batch.signals.iter().map(op).collect(),
        command_buffers: command_buffers.iter().map(commands).collect(),
    }
}

fn pass(frame: &Frame, pass: &Pass) -> doc::Pass {
    let accesses = pass.accesses.of(frame.accesses()).iter();
    doc::Pass {
        name: pass.name.clone(),
        kind: pass.kind,
        contents: pass.contents,
        tile_shading: pass.tile_shading,
        render_area: pass
            .render_area
            .map(|vk::Rect2D { offset, extent }| (offset.x, offset.y, extent.width, extent.height)),
        view_mask: pass.view_mask,
        repeat_bytes: pass.repeat_bytes,
        optional: pass.optional,
        hook: pass.hook,
        samples: pass.samples.map(vk::SampleCountFlags::as_raw),
        accesses: accesses.map(|it| access(frame, pass, it)).collect(),
    }
}

fn access(frame: &Frame, pass: &Pass, access: &Access) -> doc::Access {
    let name = |resource| frame.resource(resource).name.clone();
    let default_stages = access.kind.stages_in(pass.kind, pass.tile_shading);
    doc::Access {
        subpass: access.subpass,
        resource: name(access.resource),
        kind: access.kind,
        part: frame
            .resource(access.resource)
            .declared(access.range, access.kind),
        view: access.view,
        reads: access.reads,
        writes: access.writes,
        version: access.version,
        load_op: access.load_op,
        stages: (access.stages != default_stages).then_some(doc::Stages(access.stages)),
        resolves: access.resolves.map(name),
        measured: access.measured,
        share: access.share,
        reach: access.reach,
    }
}
