//! Descriptions of frames as plain data.

use ash::vk;
use tileheap::frame::tables::{PassKind, ResourceKind, SkippedOutputs, ViewDesc};
use tileheap::frame::{
    AccessKind, FrameBuilder, LoadOp, PassBuilder, Persistence, ResourceId, SubresourceRange, TileConstraint,
};
use tileheap::units::Bytes;

/// A description of a frame that can be changed, printed, and turned into a [`FrameBuilder`].
#[derive(Clone, Debug)]
pub struct Description {
    pub base_extent: vk::Extent2D,
    pub resources: Vec<DescribedResource>,
    /// The capabilities of each queue.
    pub queues: Vec<vk::QueueFlags>,
    /// For each semaphore, true if the caller provides it.
    pub semaphores: Vec<bool>,
    pub batches: Vec<DescribedBatch>,
}

/// An image or a buffer.
#[derive(Clone, Copy, Debug)]
pub struct DescribedResource {
    pub kind: ResourceKind,
    pub persistence: Persistence,
    pub tile_constraint: TileConstraint,
}

/// A batch with its passes, in its own submit or in that of the previous batch.
#[derive(Clone, Debug)]
pub struct DescribedBatch {
    pub queue: usize,
    pub new_submit: bool,
    pub waits: Vec<(usize, vk::PipelineStageFlags2)>,
    pub signals: Vec<(usize, vk::PipelineStageFlags2)>,
    pub passes: Vec<DescribedPass>,
}

/// A pass, in its own command buffer or in that of the previous pass.
#[derive(Clone, Debug)]
pub struct DescribedPass {
    pub kind: PassKind,
    pub new_commands: bool,
    pub accesses: Vec<DescribedAccess>,
    pub area: Option<vk::Rect2D>,
    pub views: u32,
    pub samples: Option<vk::SampleCountFlags>,
    pub hook: u32,
    pub optional: Option<SkippedOutputs>,
    pub secondary: bool,
    pub tile_shading: bool,
    pub in_strips: bool,
}

/// An access of a pass.
#[derive(Clone, Copy, Debug)]
pub struct DescribedAccess {
    pub subpass: u32,
    pub resource: usize,
    pub kind: AccessKind,
    pub reads: bool,
    pub writes: bool,
    pub load_op: LoadOp,
    pub range: SubresourceRange,
    pub view: ViewDesc,
    /// The stages of the access; `None` for the default stages of its kind.
    pub stages: Option<vk::PipelineStageFlags2>,
    pub previous: bool,
    pub resolves: Option<usize>,
}

impl DescribedPass {
    /// A pass without accesses or settings.
    pub(super) fn new(kind: PassKind) -> DescribedPass {
        DescribedPass {
            kind,
            new_commands: false,
            accesses: Vec::new(),
            area: None,
            views: 0,
            samples: None,
            hook: 0,
            optional: None,
            secondary: false,
            tile_shading: false,
            in_strips: false,
        }
    }

    fn declare(&self, mut pass: PassBuilder<'_>, resources: &[ResourceId]) {
        if self.tile_shading {
            pass = pass.tile_shading();
        }
        if self.secondary {
            pass = pass.secondary();
        }
        if let Some(area) = self.area {
            pass = pass.area(area);
        }
        if let Some(samples) = self.samples {
            pass = pass.samples(samples);
        }
        if let Some(outputs) = self.optional {
            pass = pass.optional(outputs);
        }
        if self.in_strips {
            pass = pass.in_strips(Bytes(1000));
        }
        pass = pass.views(self.views).hook(self.hook);
        let mut subpass = 0;
        for access in &self.accesses {
            while subpass < access.subpass {
                pass = pass.next_subpass();
                subpass += 1;
            }
            let DescribedAccess {
                kind,
                reads,
                writes,
                load_op,
                ..
            } = *access;
            pass = pass.access(resources[access.resource], kind, reads, writes, load_op);
            pass = pass.part(access.range).viewed(access.view);
            if let Some(stages) = access.stages {
                pass = pass.at(stages);
            }
            if access.previous {
                pass = pass.previous();
            }
            if let Some(source) = access.resolves {
                pass = pass.resolving(resources[source]);
            }
        }
    }
}

impl Description {
    /// Declares the description in a [`FrameBuilder`].
    pub fn builder(&self) -> FrameBuilder {
        let mut frame = FrameBuilder::new("random", self.base_extent);
        let declare = |(index, resource): (usize, &DescribedResource)| {
            let DescribedResource {
                kind,
                persistence,
                tile_constraint,
            } = *resource;
            let name = match kind {
                ResourceKind::Image { .. } => format!("image {index}"),
                ResourceKind::Buffer { .. } => format!("buffer {index}"),
            };
            let id = frame.resource(name, kind, persistence);
            frame.constrain(id, tile_constraint);
            id
        };
        let resources: Vec<ResourceId> = self.resources.iter().enumerate().map(declare).collect();
        let each = self.queues.iter().enumerate();
        let queues: Vec<_> = each
            .map(|(index, flags)| frame.queue(format!("queue {index}"), *flags))
            .collect();
        let each = self.semaphores.iter().enumerate();
        let semaphores: Vec<_> = each
            .map(|(index, external)| match external {
                true => frame.external_semaphore(format!("semaphore {index}")),
                false => frame.semaphore(format!("semaphore {index}")),
            })
            .collect();
        let (mut submit, mut commands_count, mut pass_count) = (None, 0, 0);
        for batch in &self.batches {
            let kept = submit.filter(|&(_, queue)| !batch.new_submit && queue == batch.queue);
            let (of, _) = kept.unwrap_or_else(|| (frame.submit(queues[batch.queue]), batch.queue));
            submit = Some((of, batch.queue));
            let id = frame.batch(of);
            for &(semaphore, stages) in &batch.waits {
                frame.wait(id, semaphores[semaphore], stages);
            }
            for &(semaphore, stages) in &batch.signals {
                frame.signal(id, semaphores[semaphore], stages);
            }
            let mut commands = None;
            for pass in &batch.passes {
                let kept = commands.filter(|_| !pass.new_commands);
                let of = kept.unwrap_or_else(|| {
                    commands_count += 1;
                    frame.command_buffer(id, format!("commands {commands_count}"))
                });
                commands = Some(of);
                pass_count += 1;
                pass.declare(
                    frame.pass(of, format!("pass {pass_count}"), pass.kind),
                    &resources,
                );
            }
        }
        frame
    }
}
