//! Declares a graph as passes: one for each node, with the resource of every tensor in the current round.
//!
//! ```text
//! loop, 2 rounds      round 0                round 1               exit
//! parameter h         the input              `next h [0]`          `next h [1]`
//! next h              produces `next h [0]`  produces `next h [1]`
//! ```
//! Every round has its own resources, so nothing that is carried is copied; the frame's planner decides which of them share bytes.

use std::collections::BTreeMap;

use super::constants;
use super::decision;
use super::dispatch::Dispatcher;
use super::invocation::Invocation;
use super::kernel::OperandAccess;
use super::measure::{format, image_info};
use super::objects::{Constant, Objects};
use super::operand::{OperandShape, operand_shape};
use super::operators::{Call, Operand, calls, computes, copy_call, is_float, kernel_shape, same_bytes};
use super::passes::{NetworkPasses, NetworkPassesDesc, OperandResource, PassTensor, Step};
use super::pipelines::{arguments_of, checked_groups};
use crate::error::{Error, Result};
use crate::graph::control_flow::{Branch, Loop};
use crate::graph::{BlockId, ElementType, Graph, NodeId, NodeKind, Operator, TensorId, TensorSource};
use crate::layout::{Layout, LayoutRule, Storage};
use crate::plan::not_bound;
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{
    BufferDesc, CommandBufferId, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId,
};
use tileheap::runtime::Device;
use tileheap::units::Bytes;

impl NetworkPasses {
    /// Declares a graph's nodes as compute passes at the end of `commands`, the last command buffer so far, and uploads its constants.
    ///
    /// Waits for the upload, which is submitted to the device's first compute queue with the [queues
    /// locked](tileheap::runtime::Device::lock_queues).
    ///
    /// # Errors
    /// An input or output that is not bound, a loop without its number of rounds, a branch without its arm, an operator without a kernel,
    /// or a layout that kernels do not support; the error names it. The frame must then be discarded.
    ///
    /// # Panics
    /// If the number of layouts is not that of the tensors.
    pub fn declare(
        device: &Device,
        frame: &mut FrameBuilder,
        commands: CommandBufferId,
        desc: NetworkPassesDesc<'_>,
    ) -> Result<NetworkPasses> {
        let _span = tracing::info_span!("declare", graph = desc.graph.name()).entered();
        let (count, layouts) = (desc.graph.tensors().len(), desc.layouts.len());
        assert_eq!(count, layouts, "every tensor needs one layout");
        let uploads = constants::prepare(desc.graph, &|id| &desc.layouts[id.index()], desc.values)?;
        let mut passes = NetworkPasses {
            name: desc.name.clone(),
            steps: Vec::new(),
            dispatcher: Dispatcher::new(device, desc.kernels.clone()),
            objects: None,
        };
        let objects = passes.objects.insert(Objects::new(device));
        let uploaded = objects.upload(device, uploads);
        let mut declaration = Declaration {
            passes: &mut passes,
            frame,
            commands,
            desc: &desc,
            values: BTreeMap::new(),
            rounds: Vec::new(),
        };
        match uploaded.and_then(|()| declaration.all()) {
            Ok(()) => Ok(passes),
            Err(error) => {
                // SAFETY: the upload, the only work submitted with them, was waited for.
                unsafe { passes.destroy() };
                Err(error)
            }
        }
    }
}

/// The state while a graph is declared.
struct Declaration<'a, 'b> {
    passes: &'a mut NetworkPasses,
    frame: &'a mut FrameBuilder,
    commands: CommandBufferId,
    desc: &'a NetworkPassesDesc<'b>,
    /// The current value of each tensor.
    values: BTreeMap<TensorId, Value>,
    /// The round of each loop that is being declared, outermost first.
    rounds: Vec<u64>,
}

/// The value of a tensor; a parameter has the value that was passed to it.
#[derive(Clone, Copy)]
struct Value {
    /// The tensor that was produced with this value; the value has its layout.
    tensor: TensorId,
    part: OperandResource,
}

/// An operand with its shape and element type.
#[derive(Clone, Copy)]
struct Resolved {
    part: OperandResource,
    shape: OperandShape,
    element: ElementType,
}

impl Declaration<'_, '_> {
    fn all(&mut self) -> Result<()> {
        let graph = self.desc.graph.clone();
        let inputs = graph.inputs().iter().filter(|&&input| is_float(&graph, input));
        for &input in inputs {
            self.enter(input)?;
        }
        // Outputs are written directly to the resources bound to them.
        for &output in graph.outputs() {
            if let PassTensor::InLayout(resource) = self.binding_of(output)? {
                let part = self.part(output, resource);
                self.values
                    .entry(output)
                    .or_insert(Value { tensor: output, part });
            }
        }
        self.block(BlockId::ROOT, usize::MAX)?;
        graph.outputs().iter().try_for_each(|&output| self.leave(output))
    }

    fn block(&mut self, block: BlockId, most: usize) -> Result<()> {
        let graph = self.desc.graph.clone();
        self.forget(&graph, block);
        for &id in graph.block(block).nodes.iter().take(most) {
            match &graph.node(id).kind {
                NodeKind::Operator(operator) => self.operator(id, operator)?,
                NodeKind::Loop(repeated) => self.repeat(id, repeated)?,
                NodeKind::Branch(branch) => self.branch(id, branch)?,
            }
        }
        Ok(())
    }

    /// Forgets the values that a block produces: in every round its tensors are new resources.
    fn forget(&mut self, graph: &Graph, block: BlockId) {
        if block == BlockId::ROOT {
            return;
        }
        for &node in &graph.block(block).nodes {
            for output in &graph.node(node).outputs {
                self.values.remove(output);
            }
        }
    }

    fn repeat(&mut self, id: NodeId, repeated: &Loop) -> Result<()> {
        let graph = self.desc.graph.clone();
        let node = graph.node(id);
        let (rounds, _, taken) = decision::rounds(&graph, id, repeated, self.desc.decisions)?;
        self.become_values(&graph.block(repeated.body).inputs, &node.inputs)?;
        let carries = repeated.carried.iter();
        let (into, carried): (Vec<_>, Vec<_>) = carries.map(|carry| (carry.into, carry.value)).unzip();
        for round in 0..rounds {
            self.rounds.push(round);
            self.block(repeated.body, usize::MAX)?;
            self.become_values(&into, &carried)?;
            self.rounds.pop();
        }
        self.rounds.push(rounds);
        self.block(repeated.body, taken.after as usize)?;
        self.become_values(&node.outputs, &taken.results)?;
        self.rounds.pop();
        Ok(())
    }

    fn branch(&mut self, id: NodeId, branch: &Branch) -> Result<()> {
        let graph = self.desc.graph.clone();
        let arm = decision::arm(&graph, id, branch, self.desc.decisions)?;
        self.become_values(&graph.block(arm).inputs, &graph.node(id).inputs)?;
        self.block(arm, usize::MAX)?;
        self.become_values(&graph.node(id).outputs, &graph.block(arm).outputs)
    }

    /// Assigns the values of `others` to `tensors`, all at once; conditions and counters are skipped, since no kernel reads them.
    fn become_values(&mut self, tensors: &[TensorId], others: &[TensorId]) -> Result<()> {
        let graph = self.desc.graph.clone();
        let mut made = Vec::with_capacity(tensors.len());
        for (&tensor, &other) in tensors.iter().zip(others) {
            if is_float(&graph, other) {
                made.push((tensor, self.value(other)?));
            }
        }
        self.values.extend(made);
        Ok(())
    }

    fn operator(&mut self, id: NodeId, operator: &Operator) -> Result<()> {
        let graph = self.desc.graph.clone();
        let node = graph.node(id);
        if !computes(&graph, node) {
            return Ok(());
        }
        let shape_of = |tensor: TensorId| self.shape(tensor);
        for (part, made) in calls(&graph, node, operator, &shape_of)?.iter().enumerate() {
            let name = match part {
                0 => node.name.clone(),
                part => format!("{} {part}", node.name),
            };
            self.call(&name, made)?;
        }
        Ok(())
    }

    fn call(&mut self, name: &str, made: &Call) -> Result<()> {
        let mut operands = Vec::with_capacity(made.operands.len());
        for operand in &made.operands {
            operands.push(match *operand {
                Operand::Tensor(tensor) => self.resolve(tensor)?,
                Operand::Zeros(vectors) => self.zeros(vectors),
            });
        }
        // A view of its operand.
        if let ("reshape", [source, target]) = (made.kernel.as_str(), &operands[..]) {
            if source.part.resource() == target.part.resource() && same_bytes(source.shape, target.shape) {
                return Ok(());
            }
        }
        self.pass(name, made, &operands)
    }

    fn binding_of(&self, tensor: TensorId) -> Result<PassTensor> {
        let found = self.desc.bindings.iter().find(|(of, _)| *of == tensor);
        let found = found.map(|(_, binding)| *binding);
        found.ok_or_else(|| not_bound(self.desc.graph, tensor, self.layout(tensor)))
    }

    /// Declares an input: the tensor is the bound resource, or a pass copies it from there.
    fn enter(&mut self, tensor: TensorId) -> Result<()> {
        match self.binding_of(tensor)? {
            PassTensor::InLayout(resource) => {
                let part = self.part(tensor, resource);
                self.values.insert(tensor, Value { tensor, part });
                Ok(())
            }
            PassTensor::Plain(resource) => {
                let (source, target) = (self.plain(tensor, resource)?, self.resolve(tensor)?);
                self.copy(tensor, "in", source, target)
            }
        }
    }

    /// Declares an output: a pass copies the tensor to the bound resource, unless it is there already.
    fn leave(&mut self, tensor: TensorId) -> Result<()> {
        let source = self.resolve(tensor)?;
        let target = match self.binding_of(tensor)? {
            PassTensor::InLayout(resource) if source.part.resource() == Some(resource) => return Ok(()),
            PassTensor::InLayout(resource) => {
                let layout = &self.desc.layouts[tensor.index()];
                self.resolved(tensor, self.part(tensor, resource), layout)?
            }
            PassTensor::Plain(resource) => self.plain(tensor, resource)?,
        };
        self.copy(tensor, "out", source, target)
    }

    /// The operand for a row-major buffer of 32-bit floats in a tensor's shape.
    fn plain(&self, tensor: TensorId, resource: ResourceId) -> Result<Resolved> {
        let name = &self.desc.graph.tensor(tensor).name;
        let shape = &self.desc.layouts[tensor.index()].shape;
        let layout = LayoutRule::buffer().apply(name, shape, ElementType::Float32)?;
        self.resolved(
            tensor,
            OperandResource::Buffer(resource, layout.bytes().0.max(4)),
            &layout,
        )
    }

    fn resolved(&self, tensor: TensorId, part: OperandResource, layout: &Layout) -> Result<Resolved> {
        let shape = operand_shape(&self.desc.graph.tensor(tensor).name, layout)?;
        let element = layout.element;
        Ok(Resolved { part, shape, element })
    }

    fn copy(&mut self, tensor: TensorId, way: &str, source: Resolved, target: Resolved) -> Result<()> {
        let name = &self.desc.graph.tensor(tensor).name;
        let made = copy_call(tensor, source.shape, tensor, target.shape)
            .map_err(|problem| Error::tensor(name, problem))?;
        self.pass(&format!("{name} {way}"), &made, &[source, target])
    }

    fn constant(&self, tensor: TensorId) -> Option<&Constant> {
        self.passes.objects().constants.get(&tensor)
    }

    /// The layout of a tensor's current value.
    fn layout(&self, tensor: TensorId) -> &Layout {
        let of = self.values.get(&tensor).map_or(tensor, |value| value.tensor);
        let constant = self.constant(of).map(|constant| &constant.layout);
        constant.unwrap_or(&self.desc.layouts[of.index()])
    }

    fn shape(&self, tensor: TensorId) -> Result<OperandShape> {
        operand_shape(&self.desc.graph.tensor(tensor).name, self.layout(tensor))
    }

    fn resolve(&mut self, tensor: TensorId) -> Result<Resolved> {
        let part = self.value(tensor)?.part;
        self.resolved(tensor, part, self.layout(tensor))
    }

    fn zeros(&self, vectors: u32) -> Resolved {
        let zeros = self.passes.objects().zeros;
        Resolved {
            part: OperandResource::Constant(zeros.expect("zeros are uploaded if a bias is absent")),
            shape: OperandShape::row(vectors),
            element: ElementType::Float32,
        }
    }

    /// The operand for a resource that stores a tensor.
    fn part(&self, tensor: TensorId, resource: ResourceId) -> OperandResource {
        let layout = &self.desc.layouts[tensor.index()];
        if layout.rule.storage.is_image() {
            OperandResource::Image(resource)
        } else {
            OperandResource::Buffer(resource, layout.bytes().0.max(16))
        }
    }

    /// The current value of a tensor; its resource is declared on first use. A view at the start of a buffer uses that buffer.
    fn value(&mut self, tensor: TensorId) -> Result<Value> {
        if let Some(&known) = self.values.get(&tensor) {
            return Ok(known);
        }
        let of = self.desc.graph.tensor(tensor);
        let part = match self.constant(tensor).map(|constant| constant.resource) {
            Some(resource) => OperandResource::Constant(resource),
            None => match self.base_of(tensor)? {
                Some(resource) => self.part(tensor, resource),
                None => {
                    let kind = resource_kind(&of.name, &self.desc.layouts[tensor.index()])?;
                    let name = self.named(&of.name);
                    let resource = self.frame.resource(name, kind, Persistence::Transient);
                    self.part(tensor, resource)
                }
            },
        };
        let value = Value { tensor, part };
        self.values.insert(tensor, value);
        Ok(value)
    }

    /// The buffer that a plain view shares with its base; `None` unless the view lies at the start of the base.
    fn base_of(&mut self, tensor: TensorId) -> Result<Option<ResourceId>> {
        let graph = self.desc.graph;
        let view = graph.tensor(tensor).view.filter(|view| {
            let inside = graph.tensor(view.base).source != TensorSource::Constant;
            let plain = self.desc.layouts[tensor.index()].rule == LayoutRule::buffer();
            view.offset == Bytes::ZERO && inside && plain
        });
        let Some(view) = view else {
            return Ok(None);
        };
        let base = self.value(view.base)?;
        let plain = self.layout(view.base).rule == LayoutRule::buffer();
        Ok(base.part.resource().filter(|_| plain))
    }

    /// The name of a pass or resource, including the current rounds.
    fn named(&self, name: &str) -> String {
        match self.rounds.is_empty() {
            true => format!("{}/{name}", self.desc.name),
            false => format!("{}/{name} {:?}", self.desc.name, self.rounds),
        }
    }

    /// Declares a pass, with the accesses of its kernel.
    fn pass(&mut self, name: &str, made: &Call, operands: &[Resolved]) -> Result<()> {
        let forms = operands.iter().map(|operand| (operand.shape, operand.element));
        let last = operands.last().map(|operand| operand.shape);
        let Invocation { key, format } = Invocation::new(made, forms, last);
        let dispatcher = &mut self.passes.dispatcher;
        let pipeline = dispatcher.pipelines.get(&dispatcher.device, &key)?;
        pipeline.check_operands(&made.kernel, operands.len())?;
        let mut accesses: Vec<(ResourceId, OperandAccess)> = Vec::new();
        for (operand, access) in operands.iter().zip(&pipeline.kernel.operands) {
            let Some(resource) = operand.part.resource() else {
                continue;
            };
            match accesses.iter_mut().find(|(other, _)| *other == resource) {
                None => accesses.push((resource, *access)),
                // Read twice, or read and written: a single access with both.
                Some((_, known)) => {
                    if access.writes {
                        known.kind = access.kind;
                    }
                    known.reads |= access.reads;
                    known.writes |= access.writes;
                }
            }
        }
        let name = self.named(name);
        let mut pass = self.frame.compute_pass(self.commands, name);
        for (resource, access) in accesses {
            let before = if access.reads || made.continues {
                LoadOp::Load
            } else {
                LoadOp::DontCare
            };
            pass = pass.access(resource, access.kind, access.reads, access.writes, before);
        }
        let pass = pass.id();
        let groups = checked_groups(
            &self.passes.dispatcher.device,
            &made.kernel,
            made.work,
            key.local_size,
        )?;
        let shapes = operands.iter().map(|operand| kernel_shape(made, operand.shape));
        self.passes.steps.push(Step {
            pass,
            pipeline,
            operands: operands.iter().map(|operand| operand.part).collect(),
            format,
            arguments: arguments_of(shapes, &made.numbers),
            groups,
        });
        Ok(())
    }
}

/// The image or buffer that holds a tensor.
fn resource_kind(name: &str, layout: &Layout) -> Result<ResourceKind> {
    if !layout.rule.storage.is_image() {
        return Ok(BufferDesc::new(Bytes(layout.bytes().0.max(16))).into());
    }
    let format = format(name, layout.element)?;
    let info = image_info(format, layout.extent, ash::vk::ImageUsageFlags::empty());
    // A frame's image with one layer is not viewed as an array.
    if layout.rule.storage == Storage::ImageArray && info.array_layers == 1 {
        let problem = "a frame describes an image array of one layer as a 2D image: use a 2D layout";
        return Err(Error::tensor(name, problem));
    }
    if layout.rule.storage == Storage::Image3d {
        return Err(Error::tensor(name, "kernels do not support 3D images"));
    }
    Ok(ImageDesc {
        array_layers: info.array_layers,
        ..ImageDesc::new(info.format, info.extent)
    }
    .into())
}
