//! The buffers that draws and dispatches fetch from: vertices, indices, and the parameters of indirect commands.
//!
//! Most programs have no such buffer in tracked memory: then nothing here is called, see [`Resources::has_fetched`].

use std::sync::Arc;

use ash::vk;
use ash::vk::{AccessFlags2 as A, Handle, PipelineStageFlags2 as S};
use tileheap_sync::program::{self, AccessKind, ResourceId, ResourcePart};

use super::operations::{Drawn, Elements, Fetch, IndirectParameters};
use super::order::log::LoggedAccess;
use super::resources::{Resource, Resources};
use super::vertex_input::{VertexBinding, VertexInput, VertexStep};

/// A buffer that is bound for vertices or indices.
#[derive(Clone, Debug, Default)]
struct BoundBuffer {
    buffer: vk::Buffer,
    offset: u64,
    size: u64,
    /// The stride that replaces that of the pipeline; `None` to use the pipeline's.
    stride: Option<u32>,
    /// The buffer's resource, if it is known; outer `None` until it is looked up.
    resource: Option<Option<Arc<Resource>>>,
}

impl BoundBuffer {
    fn new(buffer: vk::Buffer, offset: u64, size: u64, stride: Option<u32>) -> BoundBuffer {
        BoundBuffer {
            buffer,
            offset,
            size,
            stride,
            resource: None,
        }
    }

    /// The buffer, if it is tracked.
    fn followed(&mut self, resources: &Resources) -> Option<Arc<Resource>> {
        let handle = self.buffer.as_raw();
        let resource = self.resource.get_or_insert_with(|| resources.buffers.get(handle));
        resource.clone().filter(|resource| resource.is_followed())
    }

    /// Bytes `[first, end)` from the offset, clamped to the bound range.
    fn part(&self, buffer: &Resource, first: u64, end: u64) -> ResourcePart {
        let ResourcePart::Bytes(_, limit) = buffer.bytes(self.offset, self.size) else {
            return buffer.all();
        };
        let at = |offset: u64| self.offset.saturating_add(offset).min(limit);
        ResourcePart::Bytes(at(first), at(end))
    }

    /// The whole bound range.
    fn all(&self, buffer: &Resource) -> ResourcePart {
        buffer.bytes(self.offset, self.size)
    }
}

/// The vertex and index buffers that are bound to a command buffer, and the logged fetches.
#[derive(Debug, Default)]
pub(crate) struct BoundBuffers {
    /// The vertex buffers, by binding.
    vertices: Vec<BoundBuffer>,
    indices: BoundBuffer,
    index_bytes: u64,
    /// The fetches since the last barrier or other event: draws that repeat one need not log it again.
    fetched: Vec<LoggedAccess>,
    epoch: u32,
}

/// Maximum number of byte ranges logged separately between two barriers. Further accesses are logged as the whole bound range.
const MAX_RANGES: usize = 64;

impl BoundBuffers {
    /// Binds a vertex buffer.
    pub(crate) fn bind_vertices(
        &mut self,
        binding: u32,
        buffer: vk::Buffer,
        (offset, size): (u64, u64),
        stride: Option<u32>,
    ) {
        /// Bindings from this number on are ignored: no driver has as many (`maxVertexInputBindings`).
        const LIMIT: usize = 1024;
        let index = binding as usize;
        if index < LIMIT {
            let count = self.vertices.len().max(index + 1);
            self.vertices.resize_with(count, BoundBuffer::default);
            self.vertices[index] = BoundBuffer::new(buffer, offset, size, stride);
        }
    }

    /// Binds an index buffer.
    pub(crate) fn bind_indices(
        &mut self,
        buffer: vk::Buffer,
        (offset, size): (u64, u64),
        kind: vk::IndexType,
    ) {
        self.indices = BoundBuffer::new(buffer, offset, size, None);
        self.index_bytes = match kind {
            vk::IndexType::UINT16 => 2,
            vk::IndexType::UINT32 => 4,
            _ => 1,
        };
    }

    /// The fetches of a draw or dispatch from tracked buffers that were not logged before in this epoch. `acts` is `false` if the command may do
    /// nothing, and `is_skipped` is `true` if it might not even read its parameters. `input` is the vertex input of the bound pipeline, if it is
    /// known.
    pub(crate) fn fetch(
        &mut self,
        resources: &Resources,
        input: Option<&VertexInput>,
        fetch: &Fetch,
        (acts, is_skipped): (bool, bool),
        epoch: u32,
    ) -> Vec<LoggedAccess> {
        if self.epoch != epoch {
            self.fetched.clear();
            self.epoch = epoch;
        }
        if fetch.is_empty {
            return Vec::new();
        }
        let mut all = Vec::new();
        if let Some(parameters) = &fetch.parameters {
            parameters.fetch(resources, !is_skipped, &mut all);
        }
        self.fetch_indices(resources, fetch.drawn, acts, &mut all);
        self.fetch_vertices(resources, input, fetch.drawn, acts, &mut all);
        all.into_iter()
            .filter_map(|(one, all)| self.new_fetch(one, all))
            .collect()
    }

    fn fetch_indices(
        &mut self,
        resources: &Resources,
        drawn: Drawn,
        acts: bool,
        all: &mut Vec<(LoggedAccess, ResourcePart)>,
    ) {
        let elements = match drawn {
            Drawn::Indices(elements, _) => Some(elements),
            Drawn::Unknown { is_indexed: true } => None,
            _ => return,
        };
        let Some(buffer) = self.indices.followed(resources) else {
            return;
        };
        let bound = self.indices.all(&buffer);
        let (part, kind) = match elements {
            Some(Elements { first, count }) => {
                let [first, count] = [first, count].map(|one| u64::from(one) * self.index_bytes);
                let part = self.indices.part(&buffer, first, first + count);
                (part, AccessKind::Whole)
            }
            None => (bound, AccessKind::Partial),
        };
        let usage = (S::INDEX_INPUT, A::INDEX_READ);
        all.push((logged(&buffer, part, usage, kind, acts), bound));
    }

    fn fetch_vertices(
        &mut self,
        resources: &Resources,
        input: Option<&VertexInput>,
        drawn: Drawn,
        acts: bool,
        all: &mut Vec<(LoggedAccess, ResourcePart)>,
    ) {
        if matches!(drawn, Drawn::Groups(_)) {
            return;
        }
        let usage = (S::VERTEX_ATTRIBUTE_INPUT, A::VERTEX_ATTRIBUTE_READ);
        let known = input.filter(|input| !input.is_dynamic);
        let Some(input) = known else {
            // It is unknown which of the bound buffers it reads.
            for bound in &mut self.vertices {
                if let Some(buffer) = bound.followed(resources) {
                    let part = bound.all(&buffer);
                    all.push((logged(&buffer, part, usage, AccessKind::Partial, false), part));
                }
            }
            return;
        };
        for binding in &input.bindings {
            let Some(bound) = self.vertices.get_mut(binding.binding as usize) else {
                continue;
            };
            let Some(buffer) = bound.followed(resources) else {
                continue;
            };
            let (part, kind) = vertices(bound, &buffer, binding, drawn);
            let is_certain = acts && binding.is_read;
            all.push((logged(&buffer, part, usage, kind, is_certain), bound.all(&buffer)));
        }
    }

    /// Returns the fetch to log, unless it was logged before; `bound` is the whole bound range.
    fn new_fetch(&mut self, mut one: LoggedAccess, bound: ResourcePart) -> Option<LoggedAccess> {
        let of_resource = |known: &&LoggedAccess| {
            let usage = |one: &LoggedAccess| (one.access.resource, one.access.stage, one.access.access);
            usage(known) == usage(&one)
        };
        let contains = |outer: ResourcePart, inner: ResourcePart| match (outer, inner) {
            (ResourcePart::Bytes(first, end), ResourcePart::Bytes(from, to)) => first <= from && to <= end,
            _ => false,
        };
        let mut known = self.fetched.iter().filter(of_resource);
        let is_known = known.any(|known| {
            let is_whole = known.access.kind == AccessKind::Whole && known.is_certain >= one.is_certain;
            *known == one || is_whole && contains(known.access.part, one.access.part)
        });
        if is_known || matches!(one.access.part, ResourcePart::Bytes(first, end) if first >= end) {
            return None;
        }
        if self.fetched.iter().filter(of_resource).count() >= MAX_RANGES {
            (one.access.part, one.access.kind) = (bound, AccessKind::Partial);
            if self.fetched.contains(&one) {
                return None;
            }
        }
        self.fetched.push(one);
        Some(one)
    }
}

impl IndirectParameters {
    fn fetch(&self, resources: &Resources, acts: bool, all: &mut Vec<(LoggedAccess, ResourcePart)>) {
        let usage = (S::DRAW_INDIRECT, A::INDIRECT_COMMAND_READ);
        let mut read = |buffer: vk::Buffer, (offset, size): (u64, u64), kind, is_certain| {
            let buffer = resources.buffers.get(buffer.as_raw());
            if let Some(buffer) = buffer.filter(|buffer| buffer.is_followed()) {
                let part = buffer.bytes(offset, size);
                all.push((logged(&buffer, part, usage, kind, is_certain), buffer.all()));
            }
        };
        let IndirectParameters { bytes, stride, .. } = *self;
        let last = u64::from(self.count.saturating_sub(1));
        let size = stride.saturating_mul(last).saturating_add(bytes);
        let is_dense = self.count == 1 || stride == bytes;
        let kind = match is_dense && self.count_buffer.is_none() {
            true => AccessKind::Whole,
            false => AccessKind::Partial,
        };
        read(
            self.buffer,
            (self.offset, size),
            kind,
            acts && self.count_buffer.is_none(),
        );
        if let Some((buffer, offset)) = self.count_buffer {
            let bytes = size_of::<u32>() as u64;
            read(buffer, (offset, bytes), AccessKind::Whole, acts);
        }
    }
}

/// The bytes that a draw reads from a vertex buffer; the whole bound range if the vertices or instances are unknown.
fn vertices(
    bound: &BoundBuffer,
    buffer: &Resource,
    binding: &VertexBinding,
    drawn: Drawn,
) -> (ResourcePart, AccessKind) {
    let elements = match (drawn, binding.step) {
        (Drawn::Vertices(vertices, _), VertexStep::Vertex) => Some(vertices),
        (Drawn::Vertices(_, instances) | Drawn::Indices(_, instances), VertexStep::Instance) => {
            Some(instances)
        }
        _ => None,
    };
    let Some(Elements { first, count }) = elements else {
        return (bound.all(buffer), AccessKind::Partial);
    };
    let stride = bound.stride.unwrap_or(binding.stride);
    let at = |index: u64| index.saturating_mul(stride.into());
    let (first, last) = (u64::from(first), u64::from(first) + u64::from(count) - 1);
    let (from, to) = (u64::from(binding.bytes.0), u64::from(binding.bytes.1));
    let part = bound.part(
        buffer,
        at(first).saturating_add(from),
        at(last).saturating_add(to),
    );
    let is_dense = binding.is_dense && binding.bytes.1 - binding.bytes.0 >= stride;
    let kind = match is_dense {
        true => AccessKind::Whole,
        false => AccessKind::Partial,
    };
    (part, kind)
}

fn logged(
    buffer: &Resource,
    part: ResourcePart,
    (stage, access): (S, A),
    kind: AccessKind,
    is_certain: bool,
) -> LoggedAccess {
    LoggedAccess {
        access: program::MemoryAccess {
            resource: ResourceId(buffer.number),
            part,
            stage,
            access,
            kind,
            discards: false,
        },
        is_certain,
        may_follow_write: false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use tileheap_sync::program::Tiling;

    use super::*;
    use crate::model::objects::Object;
    use crate::model::resources::MemoryBinding;
    use crate::tables::unseen_writes::UnseenWrites;

    const SIZE: u64 = 4096;
    const VERTICES: u64 = 1;
    const INDICES: u64 = 2;
    const PARAMETERS: u64 = 3;
    const UNBOUND: u64 = 4;

    fn resources() -> Resources {
        let resources = Resources::default();
        for handle in [VERTICES, INDICES, PARAMETERS, UNBOUND] {
            let place = MemoryBinding {
                memory: 1,
                is_tile: true,
                first: 0,
                end: SIZE,
                contents: 0,
            };
            let buffer = Resource {
                object: Object::of(vk::Buffer::from_raw(handle)),
                number: handle as u32,
                needs: None,
                driver_size: SIZE,
                fits_driver_memory: false,
                size: SIZE,
                tiling: Tiling::Linear,
                format: vk::Format::UNDEFINED,
                extent: vk::Extent3D::default(),
                contents: 0,
                unseen_writes: UnseenWrites::NONE,
                unseen_through_others: Default::default(),
                is_fetched: true,
                is_input: false,
                sharing: Default::default(),
                is_followed: (handle != UNBOUND).into(),
                place: match handle {
                    UNBOUND => OnceLock::new(),
                    _ => OnceLock::from(place),
                },
            };
            resources.buffers.insert(handle, Arc::new(buffer));
        }
        resources
    }

    fn buffer(handle: u64) -> vk::Buffer {
        vk::Buffer::from_raw(handle)
    }

    /// Vertices of 12 bytes, of which a shader reads the first 8, and instances of 16 bytes.
    fn input() -> VertexInput {
        let binding = |binding, stride, step, bytes| VertexBinding {
            binding,
            stride,
            step,
            bytes,
            is_read: true,
            is_dense: bytes == (0, stride),
        };
        VertexInput {
            bindings: vec![
                binding(0, 12, VertexStep::Vertex, (0, 8)),
                binding(1, 16, VertexStep::Instance, (0, 16)),
                binding(2, 4, VertexStep::Divided, (0, 4)),
            ],
            is_dynamic: false,
        }
    }

    fn bound() -> BoundBuffers {
        let mut bound = BoundBuffers::default();
        bound.bind_vertices(0, buffer(VERTICES), (100, vk::WHOLE_SIZE), None);
        bound.bind_vertices(1, buffer(VERTICES), (1000, 64), None);
        bound.bind_indices(buffer(INDICES), (8, vk::WHOLE_SIZE), vk::IndexType::UINT16);
        bound
    }

    /// Resource, bytes, whether all of them are fetched, and whether that is certain.
    type Fetched = (u32, (u64, u64), bool, bool);

    fn fetched(
        bound: &mut BoundBuffers,
        input: Option<&VertexInput>,
        fetch: Fetch,
        acts: bool,
    ) -> Vec<Fetched> {
        let all = bound.fetch(&resources(), input, &fetch, (acts, false), 1);
        let one = |one: LoggedAccess| match one.access.part {
            ResourcePart::Bytes(first, end) => {
                let is_whole = one.access.kind == AccessKind::Whole;
                (one.access.resource.0, (first, end), is_whole, one.is_certain)
            }
            ResourcePart::Texels(_) => panic!("{one:?}"),
        };
        all.into_iter().map(one).collect()
    }

    #[test]
    fn draws_read_their_vertices_and_instances() {
        let (mut bound, input) = (bound(), input());
        let draw = Fetch::vertices(3, 2, 1, 1);
        let expected = [
            (1, (112, 112 + 24 + 8), false, true),
            (1, (1016, 1048), true, true),
        ];
        assert_eq!(fetched(&mut bound, Some(&input), draw, true), expected);
        assert_eq!(
            fetched(&mut bound, Some(&input), draw, true),
            [],
            "once is enough"
        );
        let possible = fetched(&mut bound, Some(&input), Fetch::vertices(3, 1, 4, 0), false);
        assert_eq!(possible[0], (1, (148, 180), false, false));
        // Past the end of the bound range.
        let long = fetched(&mut bound, Some(&input), Fetch::vertices(3, 100, 7, 2), true);
        assert_eq!(long[1], (1, (1032, 1064), true, true));
        assert_eq!(
            fetched(&mut bound, Some(&input), Fetch::vertices(3, 0, 20, 0), false),
            []
        );
    }

    #[test]
    fn indices_are_read_exactly_and_their_vertices_are_not_known() {
        let (mut bound, input) = (bound(), input());
        assert_eq!(
            fetched(&mut bound, Some(&input), Fetch::indices(6, 1, 3, 0), true),
            [
                (2, (14, 26), true, true),
                (1, (100, SIZE), false, true),
                (1, (1000, 1016), true, true),
            ]
        );
        let part = fetched(&mut bound, Some(&input), Fetch::indices(2, 1, 4, 0), true);
        assert_eq!(part, [], "they are among those");
    }

    #[test]
    fn strides_that_are_bound_replace_those_of_the_pipeline() {
        let (mut bound, input) = (bound(), input());
        bound.bind_vertices(1, buffer(VERTICES), (0, vk::WHOLE_SIZE), Some(32));
        let found = fetched(&mut bound, Some(&input), Fetch::vertices(1, 2, 0, 0), true);
        assert_eq!(found[1], (1, (0, 48), false, true));
    }

    #[test]
    fn of_unknown_pipelines_every_buffer_may_be_read() {
        let mut bound = bound();
        bound.bind_vertices(5, buffer(UNBOUND), (0, vk::WHOLE_SIZE), None);
        let expected = [(1, (100, SIZE), false, false), (1, (1000, 1064), false, false)];
        assert_eq!(
            fetched(&mut bound, None, Fetch::vertices(3, 1, 0, 0), true),
            expected
        );
    }

    #[test]
    fn parameters_are_read_even_if_they_are_zero() {
        let mut bound = BoundBuffers::default();
        let input = VertexInput::default();
        let (at, number) = ((buffer(PARAMETERS), 16), (buffer(INDICES), 4));
        type Draw = vk::DrawIndirectCommand;
        let draws = |count, stride| Fetch::indirect_draws::<Draw>(false, at, count, stride);
        let mut of = |fetch| fetched(&mut bound, Some(&input), fetch, false);
        assert_eq!(of(draws(2, 16)), [(3, (16, 48), true, true)]);
        assert_eq!(of(draws(3, 32)), [(3, (16, 96), false, true)]);
        assert_eq!(of(draws(0, 16)), []);
        assert_eq!(
            of(Fetch::counted_draws::<Draw>(false, at, number, 10, 16)),
            [(3, (16, 176), false, false), (2, (4, 8), true, true)]
        );
        let groups = Fetch::indirect_groups::<vk::DispatchIndirectCommand>(buffer(INDICES), 0, 1, 0);
        assert_eq!(of(groups), [(2, (0, 12), true, true)]);
    }

    #[test]
    fn many_ranges_become_one() {
        let (mut bound, input) = (bound(), input());
        let mut draw = |first| fetched(&mut bound, Some(&input), Fetch::vertices(1, 1, first, 0), true);
        let ranges: usize = (0..200).map(|first| draw(first).len()).sum();
        assert_eq!(ranges, MAX_RANGES + 1);
        // The next epoch begins with none.
        let next = bound.fetch(
            &resources(),
            Some(&input),
            &Fetch::vertices(1, 1, 0, 0),
            (true, false),
            2,
        );
        assert_eq!(next.len(), 2);
    }
}
