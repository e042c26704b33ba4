//! Locations of tensors while a run is recorded: bytes of a memory, of a constant or of the caller, in the current round.

use ash::vk;
use ash::vk::Handle;

use super::hazards::{ObjectId, Space};
use super::network::Network;
use super::objects::{Objects, StorageObject};
use super::operand::{OperandShape, operand_shape};
use super::recorder::{Identity, Recorder, Resolved};
use crate::error::{Error, Result};
use crate::graph::TensorId;
use crate::layout::Layout;
use crate::plan::{Backing, Placement, Region, not_bound};
use tileheap::runtime::BoundBuffer;
use tileheap::units::Bytes;

impl Recorder<'_> {
    /// The caller's buffer for a tensor.
    pub(super) fn external_buffer(&self, tensor: TensorId) -> Result<BoundBuffer> {
        let found = self.run.bindings.iter().find(|(of, _)| *of == tensor);
        let Network { graph, plan, .. } = &*self.network;
        let given = found.map(|(_, buffer)| *buffer);
        given.ok_or_else(|| not_bound(graph, tensor, &plan.tensor(tensor).layout))
    }

    /// The layout of a tensor at this run's shapes.
    pub(super) fn layout(&self, tensor: TensorId) -> Result<Layout> {
        let Network { graph, plan, .. } = &*self.network;
        let constant = self.network.objects().constants.get(&tensor);
        let layout = constant.map_or(&plan.tensor(tensor).layout, |constant| &constant.layout);
        let dims = graph.shape_at(tensor, self.run.symbols)?;
        if dims == layout.shape {
            return Ok(layout.clone());
        }
        let name = &graph.tensor(tensor).name;
        layout.rule.apply(name, &dims, layout.element)
    }

    pub(super) fn shape(&self, tensor: TensorId) -> Result<OperandShape> {
        let name = &self.network.graph.tensor(tensor).name;
        operand_shape(name, &self.layout(tensor)?)
    }

    /// The placement of a tensor in the current iterations of its enclosing loops.
    pub(super) fn place(&self, tensor: TensorId) -> Option<Placement> {
        let place = self.network.plan.tensor(tensor).placement.as_ref()?;
        match place.at(&self.rounds) {
            Placement::AtExit(exits) => {
                let (exit, round) = self.exits_taken.get(&tensor)?;
                Some(exits.get(*exit)?.at(&[*round]).clone())
            }
            place => Some(place.clone()),
        }
    }

    pub(super) fn resolve(&mut self, tensor: TensorId) -> Result<Resolved> {
        let layout = self.layout(tensor)?;
        self.resolve_within(tensor, 0, tensor, &layout)
    }

    /// Resolves the tensor `of`, which lies `offset` bytes into `tensor`.
    pub(super) fn resolve_within(
        &mut self,
        tensor: TensorId,
        offset: u64,
        of: TensorId,
        layout: &Layout,
    ) -> Result<Resolved> {
        let graph = self.network.graph.clone();
        let name = &graph.tensor(of).name;
        let unplaced = |offset: u64, problem: &str| {
            Error::tensor(
                name,
                format!("it cannot be placed at {}: {problem}", Bytes(offset)),
            )
        };
        if let Some(constant) = self.network.objects().constants.get(&tensor) {
            let (resource, element) = (constant.resource, constant.layout.element);
            if offset > 0 || of != tensor && constant.layout.rule != layout.rule {
                let constant = &graph.tensor(tensor).name;
                let problem = format!(
                    "a view of constant `{constant}` must begin at its first byte and have its layout"
                );
                return Err(unplaced(offset, &problem));
            }
            let object = self.object(resource, Space::Own(tensor.0 + 1), 0..1, true);
            return Resolved::new(name, layout, element, resource, object);
        }
        match self.place(tensor) {
            Some(Placement::At(region)) => {
                // The object was created with the plan's largest extent.
                let placed = &self.network.plan.tensor(of).layout;
                let region = Region {
                    offset: Bytes(region.offset.0 + offset),
                    size: if of == tensor { region.size } else { placed.bytes() },
                    ..region
                };
                let Some(resource) = self.network.objects().at(region, placed) else {
                    return Err(unplaced(region.offset.0, "no image exists at this offset"));
                };
                let (space, bytes) = Objects::bytes_at(region);
                let object = self.object(resource, space, bytes, false);
                Resolved::new(name, layout, layout.element, resource, object)
            }
            Some(Placement::Within { tensor, offset: more }) => {
                self.resolve_within(tensor, offset + more.0, of, layout)
            }
            None if self.network.plan.tensor(tensor).backing == Backing::External => {
                self.resolve_external(tensor, offset, of, layout)
            }
            _ => Err(Error::InvalidPlan {
                tensor: name.clone(),
                problem: "has no placement in this round".to_owned(),
            }),
        }
    }

    /// Resolves the tensor `of`, which lies `offset` bytes into the buffer that the caller bound to `tensor`.
    pub(super) fn resolve_external(
        &mut self,
        tensor: TensorId,
        offset: u64,
        of: TensorId,
        layout: &Layout,
    ) -> Result<Resolved> {
        let graph = self.network.graph.clone();
        let given = self.external_buffer(tensor)?;
        if layout.rule.storage.is_image() {
            let problem =
                "it has the layout of an image, but the caller binds a buffer: let the plan place it";
            return Err(Error::tensor(&graph.tensor(of).name, problem));
        }
        let part = BoundBuffer {
            offset: given.offset + offset,
            size: given.size.saturating_sub(offset),
            ..given
        };
        self.bind_buffer(of, part, layout, graph.inputs().contains(&tensor))
    }

    pub(super) fn bind_buffer(
        &mut self,
        tensor: TensorId,
        given: BoundBuffer,
        layout: &Layout,
        holds: bool,
    ) -> Result<Resolved> {
        let name = self.network.graph.tensor(tensor).name.clone();
        let (needed, BoundBuffer { handle, offset, .. }) = (layout.bytes(), given);
        check_size(|| name.clone(), needed, given)?;
        let size = needed.0.max(4);
        let resource = StorageObject::Buffer { handle, offset, size };
        let bytes = offset..offset + needed.0;
        let object = self.object(resource, Space::External(handle.as_raw()), bytes, holds);
        Resolved::new(&name, layout, layout.element, resource, object)
    }

    pub(super) fn object(
        &mut self,
        resource: StorageObject,
        space: Space,
        bytes: std::ops::Range<u64>,
        holds: bool,
    ) -> ObjectId {
        let (identity, layout) = match resource {
            StorageObject::Image { handle, .. } => {
                let layout = match holds {
                    true => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                    false => vk::ImageLayout::UNDEFINED,
                };
                (Identity::Image(handle.as_raw()), Some(layout))
            }
            StorageObject::Buffer { .. } => (Identity::Bytes(space, bytes.start, bytes.end), None),
        };
        let new = || self.tracker.add(space, bytes, layout, holds);
        *self.known.entry(identity).or_insert_with(new)
    }
}

/// Checks that a buffer is large enough for the tensor it is bound to.
pub(super) fn check_size(tensor: impl FnOnce() -> String, needed: Bytes, given: BoundBuffer) -> Result<()> {
    let given = Bytes(given.size);
    if given >= needed {
        return Ok(());
    }
    let problem = format!("it needs {needed}; the buffer bound to it has {given}");
    Err(Error::tensor(&tensor(), problem))
}
