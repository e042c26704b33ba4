//! Commands as they are recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::{AccessKind, LoadOp, ReadReach, SubresourceRange};

use super::objects::{Buffer, Image, Resource, Set, View};
use super::pipelines::Pipeline;
use crate::document::{Command, Dependency, PassFacts, Region, UnresolvedKind};

/// How much of its range a write that reads nothing replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coverage {
    Part,
    /// A shader decides.
    Unknown,
    Whole,
}

/// One use of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) resource: Resource,
    pub(crate) kind: AccessKind,
    /// Fully specified; empty for buffers.
    pub(crate) range: SubresourceRange,
    /// The format of the view, if it differs from the image's.
    pub(crate) format: Option<vk::Format>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) coverage: Coverage,
    /// The regions of its range that it is confined to; empty for the whole range.
    pub(crate) regions: Vec<Region>,
    /// The load operation of an attachment; for other accesses it follows from the coverage.
    pub(crate) load: LoadOp,
    /// The store operation of an attachment.
    pub(crate) store: Option<vk::AttachmentStoreOp>,
    /// `None` for the stages of the kind.
    pub(crate) stages: Option<vk::PipelineStageFlags2>,
    pub(crate) layout: Option<vk::ImageLayout>,
    /// The source of a resolve attachment.
    pub(crate) resolves: Option<Resource>,
    /// How far from the pixel a shader reads; `None` for the default of the kind.
    pub(crate) reach: Option<ReadReach>,
}

impl Access {
    fn new(resource: Resource, kind: AccessKind, range: SubresourceRange) -> Access {
        let (reads, writes, coverage, load) = (false, false, Coverage::Whole, LoadOp::Load);
        let (format, store, stages, layout, resolves) = (None, None, None, None, None);
        Access {
            resource,
            kind,
            range,
            format,
            reads,
            writes,
            coverage,
            regions: Vec::new(),
            load,
            store,
            stages,
            layout,
            resolves,
            reach: None,
        }
    }

    /// Width and height of an image in texels, at the first level.
    pub(crate) fn extent(&self) -> Option<(u32, u32)> {
        let Resource::Image(image) = &self.resource else {
            return None;
        };
        let side = |texels: u32| (texels >> self.range.levels.first.min(31)).max(1);
        Some((side(image.extent.width), side(image.extent.height)))
    }

    /// Confines an attachment to an area, outside of which nothing is rendered.
    pub(crate) fn confine(&mut self, area: vk::Rect2D) {
        let whole = self
            .extent()
            .map(|(width, height)| vk::Extent2D { width, height });
        let clipped = whole.map(|whole| clip(area, whole));
        // Texels of a view with another format may be of another size.
        if let Some(clipped) = clipped.filter(|one| self.format.is_none() && whole != Some(one.extent)) {
            let vk::Offset2D { x, y } = clipped.offset;
            let all = clipped.extent.into();
            self.regions = vec![region(
                vk::Offset3D { x, y, z: 0 },
                vk::Extent3D {
                    depth: u32::MAX,
                    ..all
                },
            )];
        }
    }

    /// An access of a buffer.
    pub(crate) fn of_buffer(buffer: &Arc<Buffer>, kind: AccessKind) -> Access {
        Access::new(Resource::Buffer(buffer.clone()), kind, SubresourceRange::ALL)
    }

    /// An access of part of an image.
    pub(crate) fn of_image(
        image: &Arc<Image>,
        kind: AccessKind,
        range: SubresourceRange,
        layout: vk::ImageLayout,
    ) -> Access {
        let mut access = Access::new(Resource::Image(image.clone()), kind, range);
        access.layout = Some(layout);
        access
    }

    /// An access through a view.
    pub(crate) fn of_view(view: &View, kind: AccessKind, layout: vk::ImageLayout) -> Access {
        let mut access = Access::of_image(&view.image, kind, view.range, layout);
        access.format = (view.format != view.image.desc.format).then_some(view.format);
        access
    }

    pub(crate) fn reading(mut self) -> Access {
        self.reads = true;
        self
    }

    pub(crate) fn writing(mut self, coverage: Coverage) -> Access {
        (self.writes, self.coverage) = (true, coverage);
        self
    }
}

/// A subpass, or a dynamic rendering instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rendering {
    /// The dependencies of the render pass before it.
    pub(crate) before: Vec<Dependency<Resource>>,
    /// Colours in their order, depth and stencil, resolves.
    pub(crate) attachments: Vec<Access>,
    pub(crate) area: vk::Rect2D,
    pub(crate) view_mask: u32,
    pub(crate) resumes: bool,
}

/// A render pass instance.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    pub(crate) subpasses: Vec<Rendering>,
    /// The dependencies at its end.
    pub(crate) after: Vec<Dependency<Resource>>,
    pub(crate) dynamic: bool,
    /// Whether the first subpass is recorded in secondary command buffers.
    pub(crate) secondary: bool,
}

/// The shaders and descriptors of the draws or dispatches that follow.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) pipeline: Option<Arc<Pipeline>>,
    pub(crate) sets: BTreeMap<u32, Arc<Set>>,
}

/// A recorded command.
#[derive(Debug)]
pub(crate) enum Op {
    /// Draws inside a render pass.
    Draw(Use),
    /// Dispatches outside.
    Dispatch(Use),
    /// Vertex, index and indirect buffers of the pass.
    Fetch(Access),
    /// A copy, fill or clear outside a render pass.
    Transfer(Vec<Access>),
    /// The counts of the commands since the previous operation.
    Count(PassFacts),
    /// A barrier or an event.
    Sync(Command<Resource>),
    BeginPass(Instance),
    NextSubpass {
        secondary: bool,
    },
    EndPass,
    Execute(Vec<Arc<Vec<Op>>>),
    BeginLabel(String),
    EndLabel,
    Unresolved(UnresolvedKind, &'static str),
}

/// What is bound at one bind point.
#[derive(Default)]
pub(crate) struct BoundState {
    pub(crate) pipeline: Option<Arc<Pipeline>>,
    pub(crate) sets: BTreeMap<u32, Arc<Set>>,
    /// Whether descriptor buffers replace sets.
    pub(crate) buffers: bool,
    changed: bool,
}

/// A command buffer while it is recorded, and what was recorded.
#[derive(Default)]
pub(crate) struct Recording {
    ops: Vec<Op>,
    /// Graphics and compute.
    bound: [BoundState; 2],
    vertices: BTreeMap<u32, (Arc<Buffer>, Option<u32>)>,
    indices: Option<(Arc<Buffer>, u64)>,
    fetches: bool,
    /// The commands recorded when recording ended.
    pub(crate) ended: Arc<Vec<Op>>,
}

/// The bind point of graphics or compute.
pub(crate) fn point_index(point: vk::PipelineBindPoint) -> Option<usize> {
    [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE]
        .iter()
        .position(|one| *one == point)
}

impl Recording {
    pub(crate) fn push(&mut self, op: Op) {
        let keeps = matches!(op, Op::BeginLabel(_) | Op::EndLabel | Op::Unresolved(..));
        self.ops.push(op);
        if !keeps {
            // What follows belongs to another pass, or part of a pass, and makes its accesses again.
            self.bound.iter_mut().for_each(|bound| bound.changed = true);
            self.fetches = true;
        }
    }

    /// Changes what is bound.
    pub(crate) fn bind(&mut self, point: usize, change: impl FnOnce(&mut BoundState)) {
        change(&mut self.bound[point]);
        self.bound[point].changed = true;
    }

    pub(crate) fn bind_vertices(&mut self, binding: u32, buffer: Option<Arc<Buffer>>, stride: Option<u32>) {
        self.vertices.remove(&binding);
        self.vertices
            .extend(buffer.map(|buffer| (binding, (buffer, stride))));
        self.fetches = true;
    }

    pub(crate) fn bind_indices(&mut self, buffer: Option<Arc<Buffer>>, bytes: u64) {
        self.indices = buffer.map(|buffer| (buffer, bytes));
        self.fetches = true;
    }

    /// Adds to the counts of the pass.
    pub(crate) fn count(&mut self, add: impl Fn(&mut PassFacts)) {
        if !matches!(self.ops.last(), Some(Op::Count(_))) {
            self.ops.push(Op::Count(PassFacts::default()));
        }
        if let Some(Op::Count(facts)) = self.ops.last_mut() {
            add(facts);
        }
    }

    fn used(&mut self, point: usize, op: fn(Use) -> Op, command: &'static str) {
        let bound = &mut self.bound[point];
        if std::mem::take(&mut bound.changed) {
            if bound.buffers {
                self.ops
                    .push(Op::Unresolved(UnresolvedKind::DescriptorBuffer, command));
            }
            let (pipeline, sets) = (bound.pipeline.clone(), bound.sets.clone());
            self.ops.push(op(Use { pipeline, sets }));
        }
    }

    /// A draw with this many vertices or indices per instance.
    pub(crate) fn draw(&mut self, command: &'static str, vertices: u64, instances: u64, indexed: bool) {
        self.used(0, Op::Draw, command);
        let pipeline = self.bound[0].pipeline.clone();
        let bindings: Vec<_> = pipeline.iter().flat_map(|pipeline| pipeline.vertex()).collect();
        if std::mem::take(&mut self.fetches) {
            let fetched = bindings
                .iter()
                .filter_map(|(binding, ..)| self.vertices.get(binding));
            let fetched = fetched.map(|(buffer, _)| Access::of_buffer(buffer, AccessKind::VertexBuffer));
            let indices = self.indices.iter().filter(|_| indexed);
            let all =
                fetched.chain(indices.map(|(buffer, _)| Access::of_buffer(buffer, AccessKind::IndexBuffer)));
            self.ops.extend(all.map(|access| Op::Fetch(access.reading())));
            // The index buffer is not an access of draws without indices, so it remains to be recorded.
            self.fetches = self.indices.is_some() && !indexed;
        }
        let fetched = |(binding, stride, by_instance): &(u32, u32, bool)| {
            let bound = self.vertices.get(binding).and_then(|(_, stride)| *stride);
            let count = if *by_instance {
                instances
            } else {
                vertices * instances
            };
            count * u64::from(bound.unwrap_or(*stride))
        };
        let index = self.indices.as_ref().map_or(0, |(_, bytes)| *bytes);
        let indices = if indexed { vertices * instances } else { 0 };
        let bytes = bindings.iter().map(fetched).sum::<u64>() + indices * index;
        self.count(|facts| {
            facts.draws += 1;
            facts.vertices += vertices * instances;
            facts.indices += indices;
            facts.vertex_bytes += bytes;
        });
    }

    /// Draws whose parameters are in buffers.
    pub(crate) fn draw_indirect(
        &mut self,
        command: &'static str,
        buffers: &[Option<Arc<Buffer>>],
        draws: u64,
        indexed: bool,
    ) {
        self.draw(command, 0, 0, indexed);
        self.indirect(buffers);
        self.count(|facts| {
            facts.draws += draws.saturating_sub(1);
            facts.indirect_draws += draws;
        });
    }

    pub(crate) fn dispatch(&mut self, command: &'static str, buffers: &[Option<Arc<Buffer>>]) {
        self.used(1, Op::Dispatch, command);
        self.indirect(buffers);
        self.count(|facts| facts.dispatches += 1);
    }

    fn indirect(&mut self, buffers: &[Option<Arc<Buffer>>]) {
        let all = buffers.iter().flatten();
        let all = all.map(|buffer| Access::of_buffer(buffer, AccessKind::IndirectBuffer).reading());
        self.ops.extend(all.map(Op::Fetch));
    }

    /// A transfer command that runs at this stage.
    pub(crate) fn transfer(&mut self, stage: vk::PipelineStageFlags2, mut accesses: Vec<Access>) {
        accesses.iter_mut().for_each(|access| access.stages = Some(stage));
        self.push(Op::Transfer(accesses));
        self.count(|facts| facts.transfers += 1);
    }

    /// Ends the recording: what was recorded is kept, and can be submitted.
    pub(crate) fn end(&mut self) {
        self.ended = Arc::new(std::mem::take(&mut self.ops));
    }
}

/// The region of `extent` texels at `offset`.
pub(crate) fn region(offset: vk::Offset3D, extent: vk::Extent3D) -> Region {
    let sides = [
        (offset.x, extent.width),
        (offset.y, extent.height),
        (offset.z, extent.depth),
    ];
    sides.map(|(first, size)| {
        let first = first.max(0) as u64;
        [first, first + u64::from(size)]
    })
}

/// The part of a render area that is inside.
pub(crate) fn clip(area: vk::Rect2D, limit: vk::Extent2D) -> vk::Rect2D {
    let side = |at: i32, side: u32, limit: u32| {
        let end = (i64::from(at) + i64::from(side)).clamp(0, i64::from(limit));
        let first = i64::from(at).clamp(0, end);
        (first as i32, (end - first) as u32)
    };
    let (x, width) = side(area.offset.x, area.extent.width, limit.width);
    let (y, height) = side(area.offset.y, area.extent.height, limit.height);
    vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    }
}

#[cfg(test)]
mod tests {
    use super::super::flatten::flatten;
    use super::*;

    #[test]
    fn transfers_are_of_the_stage_of_their_command_and_confined_to_what_they_name() {
        use vk::PipelineStageFlags2 as S;
        let buffer = Arc::new(Buffer::new(1, &vk::BufferCreateInfo::default().size(64)));
        let written = |first: u64| {
            let mut access = Access::of_buffer(&buffer, AccessKind::TransferDestination);
            access.regions = vec![[[first, first + 8], [0, 1], [0, 1]]];
            access.writing(Coverage::Part)
        };
        let mut recording = Recording::default();
        recording.transfer(S::COPY, vec![written(0)]);
        recording.transfer(S::CLEAR, vec![written(32)]);
        recording.end();
        let passes = flatten(&recording.ended).passes;
        let access = &passes[0].accesses[0];
        assert_eq!(access.stages, Some(S::COPY | S::CLEAR));
        assert_eq!(access.regions.len(), 2);
    }
}
