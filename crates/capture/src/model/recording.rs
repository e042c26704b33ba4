//! Command buffers while they are recorded: their commands, and the state that the commands depend on.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::AccessKind;
use tileheap_layer::push_constants::{PushConstants, PushedWords};

use super::access::FollowedAccess;
use super::bound_sets::BoundSets;
use super::chunked_list::{ChunkedList, ListPosition};
use super::drawn::{DrawCounts, DrawnElements, Elements};
use super::fetched::Fetched;
use super::objects::{BufferRange, Image, View};
use super::pipelines::Pipeline;
use super::timing::{Mark, TimedCommand, Timer};
use crate::document::UnresolvedKind;
use crate::document::recording::{self, DependencyScopes};

/// A subpass, or a dynamic rendering instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rendering {
    /// Color attachments in order, depth/stencil, then resolve attachments.
    pub(crate) attachments: Vec<FollowedAccess>,
    /// Reads of shading rates and fragment densities.
    pub(crate) rates: Vec<FollowedAccess>,
    pub(crate) area: vk::Rect2D,
    pub(crate) view_mask: u32,
    pub(crate) resumes: bool,
}

/// A render pass instance.
#[derive(Debug, Default)]
pub(crate) struct RenderPassInstance {
    pub(crate) subpasses: Vec<Rendering>,
    pub(crate) dynamic: bool,
    /// True if the first subpass is recorded in secondary command buffers.
    pub(crate) secondary: bool,
    /// The instance in the form of a recording; the numbers of its images are filled in later, from `views`.
    pub(crate) recorded: recording::RenderPassInstance,
    /// The view of each of its attachments.
    pub(crate) views: Vec<Arc<View>>,
}

/// The shaders and descriptors of draws or dispatches.
#[derive(Debug)]
pub(crate) struct ShaderState {
    pub(crate) pipeline: Option<Arc<Pipeline>>,
    pub(crate) sets: BoundSets,
    /// True if descriptor buffers replace sets.
    pub(crate) uses_descriptor_buffers: bool,
}

impl ShaderState {
    /// Returns a key that identifies the pipeline, the sets and their dynamic offsets while the pipeline and the sets are held.
    pub(crate) fn key(&self) -> Vec<usize> {
        let pipeline = self
            .pipeline
            .as_ref()
            .map(|pipeline| Arc::as_ptr(pipeline) as usize);
        let sets = self.sets.iter().flat_map(|(index, bound)| {
            let offsets = bound.offsets.iter().map(|offset| *offset as usize);
            [
                index as usize,
                Arc::as_ptr(&bound.set) as usize,
                bound.offsets.len(),
            ]
            .into_iter()
            .chain(offsets)
        });
        [usize::from(self.uses_descriptor_buffers), pipeline.unwrap_or(0)]
            .into_iter()
            .chain(sets)
            .collect()
    }
}

/// A draw or a dispatch.
#[derive(Debug)]
pub(crate) struct ShaderCommand {
    pub(crate) state: Arc<ShaderState>,
    /// Vertex, index and indirect buffers.
    pub(crate) fetches: Vec<FollowedAccess>,
    /// True if it is possible that no shader runs, because the command's parameters or its condition are in a buffer.
    pub(crate) is_conditional: bool,
}

/// The inputs of a dispatch.
#[derive(Debug, Default)]
pub(crate) struct DispatchInputs {
    /// The number of workgroups in each dimension, if known.
    pub(crate) groups: Option<[u32; 3]>,
    pub(crate) push_constants: PushedWords,
}

/// A barrier or an event operation.
#[derive(Clone, Debug)]
pub(crate) enum Synchronization {
    Barrier(Vec<Dependency>),
    SetEvent(u32, vk::PipelineStageFlags2),
    ResetEvent(u32),
    WaitEvents(Vec<u32>, Vec<Dependency>),
}

/// A dependency of a barrier.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) scopes: DependencyScopes,
    pub(crate) memory: DependencyMemory,
    pub(crate) families: Option<[u32; 2]>,
}

/// The memory of a dependency.
#[derive(Clone, Debug)]
pub(crate) enum DependencyMemory {
    None,
    All,
    Buffer(BufferRange),
    Image {
        image: Arc<Image>,
        range: tileheap::frame::SubresourceRange,
        old: vk::ImageLayout,
        new: vk::ImageLayout,
    },
}

/// The effect of a recorded command. Variants that are large and rare are boxed, because each command takes the space of the largest variant.
#[derive(Debug)]
pub(crate) enum Op {
    /// One or more draws with the same bindings, inside a render pass.
    Draw(ShaderCommand, DrawCounts),
    /// A dispatch outside a render pass.
    Dispatch(ShaderCommand, DispatchInputs),
    /// Clears attachments of the subpass.
    ClearAttachments,
    /// A copy, blit, resolve, fill, update or clear outside a render pass.
    Transfer(Vec<FollowedAccess>),
    /// The read of the predicate when conditional rendering begins; `None` when it ends, or if the buffer is unknown.
    Condition(Option<Box<FollowedAccess>>),
    /// Begins a query, which gives draws and dispatches an effect besides their writes.
    BeginQuery,
    Synchronization(Synchronization),
    BeginPass(Box<RenderPassInstance>),
    NextSubpass {
        secondary: bool,
    },
    EndPass,
    /// Executes secondary command buffers, each with its name; the flag is true if conditional rendering is active.
    Execute(bool, Vec<(String, Arc<RecordedList>)>),
    BeginLabel(String),
    EndLabel,
    /// A timestamp of the layer, by its number in the command buffer.
    Timestamp(u32),
    Unresolved(UnresolvedKind),
}

/// The recorded commands of a command buffer.
pub(crate) type RecordedList = ChunkedList<Recorded>;

/// A recorded command.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) call: &'static str,
    /// Position among all commands of the command buffer, from 1.
    pub(crate) number: u32,
    pub(crate) op: Op,
}

/// The state of one bind point.
#[derive(Default)]
pub(crate) struct BoundState {
    pub(crate) pipeline: Option<Arc<Pipeline>>,
    pub(crate) sets: BoundSets,
    /// True if descriptor buffers replace sets.
    pub(crate) uses_descriptor_buffers: bool,
    /// A snapshot of the state, which commands share until the state changes.
    snapshot: Option<Arc<ShaderState>>,
    /// The last states that were created for commands, newest first, because many programs alternate between a few states.
    recent: Vec<Arc<ShaderState>>,
    changed: bool,
}

impl BoundState {
    fn snapshot(&mut self) -> Arc<ShaderState> {
        /// Maximum number of recent states.
        const MAX: usize = 4;
        if let Some(snapshot) = &self.snapshot {
            return snapshot.clone();
        }
        let pipeline = self.pipeline.as_ref().map(Arc::as_ptr);
        let is_same = |known: &&Arc<ShaderState>| {
            known.pipeline.as_ref().map(Arc::as_ptr) == pipeline
                && known.uses_descriptor_buffers == self.uses_descriptor_buffers
                && known.sets.are_same(&self.sets)
        };
        let snapshot = self.recent.iter().find(is_same).cloned().unwrap_or_else(|| {
            let new = Arc::new(ShaderState {
                pipeline: self.pipeline.clone(),
                sets: self.sets.clone(),
                uses_descriptor_buffers: self.uses_descriptor_buffers,
            });
            self.recent.truncate(MAX - 1);
            self.recent.insert(0, new.clone());
            new
        });
        self.snapshot = Some(snapshot.clone());
        snapshot
    }
}

/// A command buffer that is being recorded, and its last finished recording.
#[derive(Default)]
pub(crate) struct Recording {
    ops: RecordedList,
    /// The command that is being recorded.
    call: &'static str,
    number: u32,
    /// The state of the graphics and compute bind points.
    bound: [BoundState; 2],
    push_constants: PushConstants,
    /// A snapshot of the push constants, which dispatches share until the constants change.
    pushed_words: Option<PushedWords>,
    vertices: BTreeMap<u32, (BufferRange, Option<u32>)>,
    /// The vertex bindings that commands set, in place of those of a pipeline: binding, stride, and whether it advances per instance.
    vertex_input: Vec<(u32, u32, bool)>,
    /// The index buffer, and the size of an index in bytes.
    indices: Option<(BufferRange, u64)>,
    /// Bytes fetched since the last command that is not a draw.
    fetched: Fetched,
    /// The draw into which later draws with the same bindings are merged.
    last_draw: Option<ListPosition>,
    /// True while conditional rendering is active.
    is_conditional: bool,
    /// The layer's timestamps, if passes are timed.
    timer: Option<Timer>,
    /// The timestamp at the command that is being recorded.
    mark: Option<Mark>,
    /// The number of timestamps of the last finished recording.
    pub(crate) timestamps: u32,
    /// The commands of the last finished recording.
    pub(crate) finished: Arc<RecordedList>,
}

/// Returns the index of a bind point in [`Recording::bound`]; `None` for other bind points, such as ray tracing.
pub(crate) fn point_index(point: vk::PipelineBindPoint) -> Option<usize> {
    [vk::PipelineBindPoint::GRAPHICS, vk::PipelineBindPoint::COMPUTE]
        .iter()
        .position(|one| *one == point)
}

impl Recording {
    /// Begins the next command.
    pub(crate) fn next(&mut self, call: &'static str) {
        self.call = call;
        self.number += 1;
        self.mark = None;
    }

    /// Starts timing the passes of this recording.
    pub(crate) fn time(&mut self) {
        self.timer = Some(Timer::default());
    }

    /// Stops timing for the rest of the recording.
    pub(crate) fn stop_timing(&mut self) {
        if let Some(timer) = &mut self.timer {
            timer.at(TimedCommand::Unmeasurable);
        }
    }

    /// Returns the timestamp to write at the command that was recorded last.
    #[inline]
    pub(crate) fn mark(&self) -> Option<Mark> {
        self.mark
    }

    pub(crate) fn add(&mut self, op: Op) -> ListPosition {
        // Further operations of the same command have no timestamp of their own.
        let timer = self.timer.as_mut().filter(|_| self.mark.is_none());
        let mark = timer.and_then(|timer| timer.at(timed(&op)?));
        if let Some(Mark::Before(stamp)) = mark {
            self.append(Op::Timestamp(stamp));
        }
        let at = self.append(op);
        if let Some(Mark::After(stamp)) = mark {
            self.append(Op::Timestamp(stamp));
        }
        self.mark = self.mark.or(mark);
        at
    }

    fn append(&mut self, op: Op) -> ListPosition {
        let (call, number) = (self.call, self.number);
        self.ops.push(Recorded { call, number, op })
    }

    pub(crate) fn push(&mut self, op: Op) {
        let keeps = matches!(op, Op::BeginLabel(_) | Op::EndLabel | Op::Unresolved(..));
        self.add(op);
        if !keeps {
            // Later commands belong to another pass, or part of a pass, and repeat their accesses.
            self.bound.iter_mut().for_each(|bound| bound.changed = true);
            self.fetched.clear();
            self.last_draw = None;
        }
    }

    /// Changes the state of a bind point.
    pub(crate) fn bind(&mut self, point: usize, change: impl FnOnce(&mut BoundState)) {
        let bound = &mut self.bound[point];
        change(bound);
        (bound.changed, bound.snapshot) = (true, None);
    }

    pub(crate) fn bind_vertices(&mut self, binding: u32, range: Option<BufferRange>, stride: Option<u32>) {
        match range {
            Some(range) => _ = self.vertices.insert(binding, (range, stride)),
            None => _ = self.vertices.remove(&binding),
        }
    }

    /// Sets the vertex bindings of pipelines with dynamic vertex input, and of shader objects.
    pub(crate) fn set_vertex_input(&mut self, bindings: Vec<(u32, u32, bool)>) {
        for one in &bindings {
            if let Some(bound) = self.vertices.get_mut(&one.0) {
                // The last command sets the stride.
                bound.1 = None;
            }
        }
        self.vertex_input = bindings;
        self.bound[0].changed = true;
    }

    pub(crate) fn bind_indices(&mut self, range: Option<BufferRange>, bytes: u64) {
        self.indices = range.map(|range| (range, bytes));
    }

    /// Updates push constants.
    pub(crate) fn push_constants(&mut self, stages: vk::ShaderStageFlags, offset: u32, bytes: &[u8]) {
        self.push_constants.push(stages, offset, bytes);
        self.pushed_words = None;
    }

    /// Executes secondary command buffers, which leave push constants undefined.
    pub(crate) fn execute(&mut self, all: Vec<(String, Arc<RecordedList>)>) {
        // Executing secondary command buffers leaves push constants undefined.
        self.push_constants.clear();
        self.pushed_words = None;
        self.push(Op::Execute(self.is_conditional, all));
    }

    /// Begins or ends conditional rendering.
    pub(crate) fn set_conditional(&mut self, is_conditional: bool) {
        self.is_conditional = is_conditional;
        self.bound.iter_mut().for_each(|bound| bound.changed = true);
    }

    /// Records a draw, with the buffers that contain its parameters; merges it into the last draw if the bindings have not changed.
    pub(crate) fn draw(&mut self, drawn: DrawnElements, parameters: Vec<FollowedAccess>) {
        let is_conditional = drawn.may_be_none() || self.is_conditional;
        let (mut fetches, counts) = self.fetches(drawn);
        let fetched = &mut self.fetched;
        let is_new = |access: &FollowedAccess| fetched.add(access.kind, access.resource.key(), access.bytes);
        fetches.extend(parameters.into_iter().filter(is_new));
        for access in &mut fetches {
            let reads_parameters = access.kind == AccessKind::IndirectBuffer && !self.is_conditional;
            access.is_conditional |= is_conditional && !reads_parameters;
        }
        let bound = &mut self.bound[0];
        let is_new = bound.changed;
        // The next draw may be one that certainly runs.
        bound.changed &= is_conditional;
        if let Some(last) = self.last_draw.filter(|_| !is_new) {
            return self.merge_draw(last, fetches, counts);
        }
        let shaded = ShaderCommand {
            state: bound.snapshot(),
            fetches,
            is_conditional,
        };
        self.last_draw = Some(self.add(Op::Draw(shaded, counts)));
    }

    /// Adds the fetches and counts of a draw to an earlier one with the same bindings; joins adjacent ranges.
    fn merge_draw(&mut self, draw: ListPosition, fetches: Vec<FollowedAccess>, counts: DrawCounts) {
        /// Number of most recent ranges that are searched for one to extend; several, because draws alternate between a few buffers.
        const LAST: usize = 8;
        /// Maximum number of ranges that are listed separately.
        const MAX: usize = 64;
        let draw = self.ops.get_mut(draw).map(|one| &mut one.op);
        let Some(Op::Draw(shaded, all_counts)) = draw else {
            return;
        };
        all_counts.add(counts);
        for access in fetches {
            let is_like = |known: &&mut FollowedAccess| {
                (known.kind, known.resource.key()) == (access.kind, access.resource.key())
            };
            let extends = |known: &&mut FollowedAccess| {
                is_like(known)
                    && (known.is_whole, known.is_conditional) == (access.is_whole, access.is_conditional)
                    && known.bytes[1] == access.bytes[0]
            };
            let is_listed = shaded.fetches.len() < MAX;
            if let Some(known) = shaded.fetches.iter_mut().rev().take(LAST).find(extends) {
                known.bytes[1] = access.bytes[1];
            } else if is_listed {
                shaded.fetches.push(access);
            } else if let Some(known) = shaded.fetches.iter_mut().find(is_like) {
                // The bytes that enclose both ranges, only some of which are read.
                known.bytes = [
                    known.bytes[0].min(access.bytes[0]),
                    known.bytes[1].max(access.bytes[1]),
                ];
                known.is_whole = false;
            }
        }
    }

    /// Returns the reads of vertex and index buffers by a draw, and its counts. Omits bytes that another draw has read since the last command that is
    /// not a draw.
    fn fetches(&mut self, drawn: DrawnElements) -> (Vec<FollowedAccess>, DrawCounts) {
        let mut counts = drawn.counts();
        let (vertices, instances) = match drawn {
            DrawnElements::Vertices(vertices, instances) => (Some(vertices), Some(instances)),
            DrawnElements::Indices(_, instances) => (None, Some(instances)),
            DrawnElements::Unknown { .. } => (None, None),
            DrawnElements::Groups(_) => return (Vec::new(), counts),
        };
        let mut all = Vec::new();
        let fetched = &mut self.fetched;
        let mut fetch = |range: &BufferRange, bytes: [u64; 2], kind, is_whole| {
            if fetched.add(kind, Arc::as_ptr(&range.buffer) as usize, bytes) {
                let access = FollowedAccess::of_buffer(range, kind).reading();
                all.push(FollowedAccess {
                    bytes,
                    is_whole,
                    ..access
                });
            }
        };
        for (binding, stride, by_instance) in vertex_bindings(&self.bound[0], &self.vertex_input) {
            let bound = self.vertices.get(&binding);
            let bound_stride = bound.and_then(|(_, stride)| *stride);
            let stride = u64::from(bound_stride.unwrap_or(stride));
            let (elements, count) = if by_instance {
                (instances, instances.map_or(0, |all| all.count))
            } else {
                (vertices, counts.vertices)
            };
            counts.vertex_bytes += count * stride;
            let Some((range, _)) = bound else { continue };
            let bytes = match elements.filter(|_| stride > 0) {
                Some(Elements { first, count }) => {
                    range.part(first.saturating_mul(stride), count.saturating_mul(stride))
                }
                None => range.bytes(),
            };
            fetch(range, bytes, AccessKind::VertexBuffer, false);
        }
        if let Some((range, bytes)) = &self.indices {
            counts.vertex_bytes += counts.indices * bytes;
            match drawn {
                DrawnElements::Indices(Elements { first, count }, _) => {
                    let read = range.part(first * bytes, count * bytes);
                    fetch(range, read, AccessKind::IndexBuffer, true);
                }
                DrawnElements::Unknown { indexed: true, .. } => {
                    fetch(range, range.bytes(), AccessKind::IndexBuffer, false);
                }
                _ => {}
            }
        }
        (all, counts)
    }

    /// Records a dispatch; `groups` is `None` if the number of workgroups is in a buffer.
    pub(crate) fn dispatch(&mut self, groups: Option<[u32; 3]>, parameters: Option<FollowedAccess>) {
        let bound = &mut self.bound[1];
        bound.changed = false;
        let state = bound.snapshot();
        let runs = groups.is_some_and(|groups| groups.iter().all(|count| *count > 0));
        let shaded = ShaderCommand {
            state,
            fetches: match parameters {
                Some(access) => vec![FollowedAccess {
                    is_conditional: self.is_conditional,
                    ..access
                }],
                None => Vec::new(),
            },
            is_conditional: !runs || self.is_conditional,
        };
        let pushed = self
            .pushed_words
            .get_or_insert_with(|| self.push_constants.words());
        let push_constants = pushed.clone();
        self.add(Op::Dispatch(
            shaded,
            DispatchInputs {
                groups,
                push_constants,
            },
        ));
    }

    /// Records a transfer command that runs at this stage; accesses to objects whose creation was not seen are `None`.
    pub(crate) fn transfer(&mut self, stage: vk::PipelineStageFlags2, accesses: Vec<Option<FollowedAccess>>) {
        let is_unknown = accesses.iter().any(Option::is_none);
        let known = accesses.into_iter().flatten().map(|access| FollowedAccess {
            stages: Some(stage),
            ..access
        });
        let known = known.collect();
        self.push(Op::Transfer(known));
        if is_unknown {
            self.push(Op::Unresolved(UnresolvedKind::UnknownObject));
        }
    }

    /// Ends the recording: the recorded commands are kept, and can be submitted.
    pub(crate) fn end(&mut self) {
        let mut timer = self.timer.take();
        self.mark = timer.as_mut().and_then(Timer::last).map(Mark::Before);
        if let Some(Mark::Before(stamp)) = self.mark {
            self.append(Op::Timestamp(stamp));
        }
        self.timestamps = timer.map_or(0, |timer| timer.count);
        self.finished = Arc::new(std::mem::take(&mut self.ops));
    }
}

/// Iterates over the vertex bindings of the bound pipeline, or over `set`, the bindings that commands have set, if its vertex input is dynamic.
fn vertex_bindings(bound: &BoundState, set: &[(u32, u32, bool)]) -> impl Iterator<Item = (u32, u32, bool)> {
    let pipeline = bound.pipeline.as_deref();
    let takes = pipeline.is_some_and(Pipeline::takes_vertex_input);
    let set = if takes { set } else { &[] };
    let own = pipeline.filter(|_| !takes).into_iter();
    set.iter().copied().chain(own.flat_map(Pipeline::vertex))
}

/// Returns true if the operation begins a suspending or resuming render pass instance.
fn is_part(op: &Op) -> bool {
    matches!(op, Op::BeginPass(instance) if instance.recorded.resumes || instance.recorded.suspends)
}

/// Returns true if secondary command buffers, or those that they run (`VK_EXT_nested_command_buffer`), suspend or resume rendering.
fn have_suspended_parts(all: &[(String, Arc<RecordedList>)]) -> bool {
    let mut ops = all.iter().flat_map(|(_, ops)| ops.iter());
    ops.any(|one| match &one.op {
        Op::Execute(_, nested) => have_suspended_parts(nested),
        op => is_part(op),
    })
}

/// Returns how an operation affects timestamps; `None` if it does not.
fn timed(op: &Op) -> Option<TimedCommand> {
    Some(match op {
        Op::BeginPass(_) => TimedCommand::Begin { is_part: is_part(op) },
        Op::EndPass => TimedCommand::End,
        Op::Synchronization(_) => TimedCommand::Boundary,
        Op::Execute(_, all) if have_suspended_parts(all) => TimedCommand::Unmeasurable,
        Op::Execute(..) | Op::Dispatch(..) | Op::Transfer(_) => TimedCommand::Work,
        Op::Unresolved(UnresolvedKind::UnknownObject | UnresolvedKind::Video) => TimedCommand::Unmeasurable,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
