//! A frame as a description in C's structures.

use ash::vk;
use tileheap::frame::external::{self, ExternalDesc, ResourceState};
use tileheap::frame::tables::{
    Access, CommandSource, HistoryVersion, PassKind, ResourceKind, SkippedOutputs,
};
use tileheap::frame::{
    AccessKind, ClearValue, Extent, Frame, LoadOp, Persistence, ReadReach, TileConstraint,
};
use tileheap_c::enums::{AccessFlag, PassFlag, ResourceFlag};
use tileheap_c::frame_desc::*;

use super::c::{sized, view};

/// The description's structures, which point to each other and to the frame's names.
pub(crate) struct Described {
    pub(crate) desc: FrameDesc,
    _resources: Vec<ResourceDesc>,
    _queues: Vec<QueueDesc>,
    _semaphores: Vec<SemaphoreDesc>,
    _accesses: Vec<Vec<AccessDesc>>,
    _passes: Vec<Vec<PassDesc>>,
    _uses: Vec<[Vec<SemaphoreUse>; 2]>,
    _command_buffers: Vec<Vec<CommandBufferDesc>>,
    _batches: Vec<Vec<BatchDesc>>,
    _submits: Vec<SubmitDesc>,
}

impl Described {
    pub(crate) fn new(frame: &Frame) -> Described {
        let resources: Vec<_> = frame
            .resource_ids()
            .map(|id| resource(frame, id.index()))
            .collect();
        let accesses: Vec<Vec<_>> = frame
            .pass_ids()
            .map(|pass| frame.accesses_of(pass).iter().map(access).collect())
            .collect();
        let passes: Vec<Vec<_>> = frame
            .command_buffers()
            .iter()
            .map(|buffer| {
                buffer
                    .passes
                    .indices()
                    .map(|index| pass(frame, index, &accesses[index]))
                    .collect()
            })
            .collect();
        let uses: Vec<[Vec<_>; 2]> = frame
            .batches()
            .iter()
            .map(|batch| {
                [&batch.waits, &batch.signals].map(|uses| {
                    let one = |one: &tileheap::frame::tables::SemaphoreOp| SemaphoreUse {
                        semaphore: one.semaphore.index() as u32,
                        stages: one.stages,
                        ..sized()
                    };
                    uses.iter().map(one).collect()
                })
            })
            .collect();
        let command_buffers: Vec<Vec<_>> = frame
            .batches()
            .iter()
            .map(|batch| {
                let one = |index: usize| CommandBufferDesc {
                    name: view(&frame.command_buffers()[index].name),
                    pass_count: passes[index].len() as u32,
                    passes: passes[index].as_ptr(),
                    ..sized()
                };
                batch.command_buffers.indices().map(one).collect()
            })
            .collect();
        let batches: Vec<Vec<_>> = frame
            .submits()
            .iter()
            .map(|submit| {
                let one = |index: usize| BatchDesc {
                    wait_count: uses[index][0].len() as u32,
                    waits: uses[index][0].as_ptr(),
                    signal_count: uses[index][1].len() as u32,
                    signals: uses[index][1].as_ptr(),
                    command_buffer_count: command_buffers[index].len() as u32,
                    command_buffers: command_buffers[index].as_ptr(),
                    ..sized()
                };
                submit.batches.indices().map(one).collect()
            })
            .collect();
        let submits: Vec<_> = frame
            .submits()
            .iter()
            .zip(&batches)
            .map(|(submit, batches)| SubmitDesc {
                queue: submit.queue.index() as u32,
                batch_count: batches.len() as u32,
                batches: batches.as_ptr(),
                ..sized()
            })
            .collect();
        let queues: Vec<_> = frame
            .queues()
            .iter()
            .map(|queue| QueueDesc {
                capabilities: queue.capabilities,
                name: view(&queue.name),
                ..sized()
            })
            .collect();
        let semaphores: Vec<_> = frame
            .semaphores()
            .iter()
            .map(|semaphore| SemaphoreDesc {
                external: semaphore.external.into(),
                name: view(&semaphore.name),
                ..sized()
            })
            .collect();
        Described {
            desc: FrameDesc {
                name: view(frame.name()),
                base_extent: frame.base_extent(),
                resource_count: resources.len() as u32,
                resources: resources.as_ptr(),
                submit_count: submits.len() as u32,
                submits: submits.as_ptr(),
                queue_count: queues.len() as u32,
                queues: queues.as_ptr(),
                semaphore_count: semaphores.len() as u32,
                semaphores: semaphores.as_ptr(),
                ..sized()
            },
            _resources: resources,
            _queues: queues,
            _semaphores: semaphores,
            _accesses: accesses,
            _passes: passes,
            _uses: uses,
            _command_buffers: command_buffers,
            _batches: batches,
            _submits: submits,
        }
    }
}

fn resource(frame: &Frame, index: usize) -> ResourceDesc {
    let resource = &frame.resources()[index];
    let mut desc = ResourceDesc {
        name: view(&resource.name),
        tile_constraint: match resource.tile_constraint {
            TileConstraint::None => 0,
            TileConstraint::Pinned => 1,
            TileConstraint::Excluded => 2,
        },
        ..sized()
    };
    match resource.persistence {
        Persistence::Transient => {}
        Persistence::History => desc.persistence = 1,
        Persistence::External(ExternalDesc { entry, exit }) => {
            (desc.persistence, desc.entry, desc.exit) = (2, state(entry), state(exit));
        }
    }
    match resource.kind {
        ResourceKind::Image { desc: image, .. } => {
            match image.extent {
                Extent::Texels(extent) => desc.extent = extent,
                Extent::Scaled(scale) => desc.scale = scale,
            }
            if image.separate_levels {
                desc.flags = ResourceFlag::SeparateLevels as u32;
            }
            desc.format = image.format;
            desc.flags |= match image.image_type {
                vk::ImageType::TYPE_1D => ResourceFlag::Image1d as u32,
                vk::ImageType::TYPE_3D => ResourceFlag::Image3d as u32,
                _ => 0,
            };
            (desc.mip_levels, desc.array_layers) = (image.mip_levels, image.array_layers);
            (desc.samples, desc.hook) = (image.samples, image.hook);
            (desc.image_flags, desc.image_usage) = (image.flags, image.usage);
        }
        ResourceKind::Buffer { desc: buffer, .. } => {
            (desc.resource_type, desc.size, desc.buffer_usage) = (1, buffer.size.0, buffer.usage);
            desc.hook = buffer.hook;
        }
    }
    desc
}

fn state(state: ResourceState) -> ExternalState {
    ExternalState {
        layout: state.layout,
        family: match state.family {
            None => 0,
            Some(external::ExternalFamily::External) => 1,
            Some(external::ExternalFamily::Foreign) => 2,
        },
        stages: state.stages,
        access: state.access,
    }
}

fn pass(frame: &Frame, index: usize, accesses: &[AccessDesc]) -> PassDesc {
    let pass = &frame.passes()[index];
    let set = |flag: PassFlag, set: bool| if set { flag as u32 } else { 0 };
    PassDesc {
        pass_type: match pass.kind {
            PassKind::Render => 0,
            PassKind::Compute => 1,
            PassKind::Transfer => 2,
        },
        name: view(&pass.name),
        flags: set(PassFlag::Secondary, pass.contents == CommandSource::Secondary)
            | set(PassFlag::TileShading, pass.tile_shading)
            | set(PassFlag::RenderArea, pass.render_area.is_some())
            | set(PassFlag::Strips, pass.repeat_bytes.is_some()),
        skipped_outputs: match pass.optional {
            None => 0,
            Some(SkippedOutputs::Kept) => 1,
            Some(SkippedOutputs::Lost) => 2,
        },
        render_area: pass.render_area.unwrap_or_default(),
        view_mask: pass.view_mask,
        samples: pass.samples.unwrap_or_default(),
        repeat_bytes: pass.repeat_bytes.unwrap_or_default().0,
        hook: pass.hook,
        access_count: accesses.len() as u32,
        accesses: accesses.as_ptr(),
        ..sized()
    }
}

fn access(access: &Access) -> AccessDesc {
    let set = |flag: AccessFlag, set: bool| if set { flag as u32 } else { 0 };
    let (load_op, clear) = match access.load_op {
        LoadOp::Load => (vk::AttachmentLoadOp::LOAD, ClearValue::ZERO),
        LoadOp::DontCare => (vk::AttachmentLoadOp::DONT_CARE, ClearValue::ZERO),
        LoadOp::Clear(value) => (vk::AttachmentLoadOp::CLEAR, value),
    };
    AccessDesc {
        kind: AccessKind::ALL
            .iter()
            .position(|kind| *kind == access.kind)
            .unwrap() as u32,
        resource: access.resource.index() as u32,
        subpass: access.subpass,
        flags: set(AccessFlag::Read, access.reads)
            | set(AccessFlag::Write, access.writes)
            | set(AccessFlag::Previous, access.version == HistoryVersion::Previous)
            | set(AccessFlag::ViewType, access.view.view_type.is_some())
            | set(AccessFlag::Reach, access.reach.is_some())
            | set(AccessFlag::Measured, access.measured.is_some()),
        load_op,
        clear: clear.to_vk(),
        stages: access.stages,
        range: vk::ImageSubresourceRange {
            aspect_mask: access.range.aspects,
            base_mip_level: access.range.levels.first,
            level_count: access.range.levels.len() as u32,
            base_array_layer: access.range.layers.first,
            layer_count: access.range.layers.len() as u32,
        },
        view_type: access.view.view_type.unwrap_or_default(),
        view_format: access.view.format.unwrap_or_default(),
        resolve_source: access.resolves.map_or(0, |source| source.index() as u32),
        reach_texels: match access.reach {
            None => 0,
            Some(ReadReach::Texels(texels)) => texels,
            Some(ReadReach::Anywhere) => u32::MAX,
        },
        measured_savings: access.measured.unwrap_or_default().0,
        ..sized()
    }
}
