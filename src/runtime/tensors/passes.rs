//! A tensor graph as passes of a frame, beside a renderer's.
//!
//! ```text
//! render pass  ──► image ──►  conv ──► add ──► ...  ──► image ──► render pass
//! the renderer's              a compute pass per node: the frame's planner places what lies between them
//!                             with everything else, in tile memory where that is worth most
//! ```
//! A [`Network`](super::Network) has memory of its own, planned once by [`tensor::plan`](crate::tensor::plan()). Here each tensor is a
//! transient resource of the frame, and each node a compute pass whose accesses are read from its kernel's SPIR-V: a texture that is
//! only read is a sampled image, one that is written a write-only storage image.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;

use super::constants;
use super::descriptors::{Bound, Descriptors};
use super::fault::NetworkFault;
use super::invocation::Invocation;
use super::kernel::KernelSet;
use super::measure::{format, image_info};
use super::objects::{Objects, Thing};
use super::operators::{Call, Operand, call, copy_call, same_bytes, told};
use super::pipelines::{Pipeline, Pipelines, arguments_of, checked_groups, dispatch};
use super::scope::{Held, Scope, Shaped, shaped};
use crate::Result;
use crate::frame::{
    Before, BufferDesc, CommandBufferId, FrameBuilder, ImageDesc, PassId, ResourceId, ResourceKind,
};
use crate::runtime::device::Inner;
use crate::runtime::{Commands, Device, PassCommands};
use crate::tensor::{BlockId, ElementType, Graph, Layout, LayoutRule, NodeKind, Source, Storage, TensorId};
use crate::units::Bytes;

/// A resource of the frame that stands for an input or output of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassTensor {
    /// The tensor itself, in its layout: an image of its format and extent (`rgba16f`, a layer more than one for image
    /// arrays), or a buffer of its bytes.
    Itself(ResourceId),
    /// A buffer of 32-bit elements in row-major order, which a pass of its own moves to or from the tensor.
    Plain(ResourceId),
}

/// What becomes passes.
#[derive(Clone, Debug)]
pub struct NetworkPassesDesc<'a> {
    /// What names of passes and resources begin with.
    pub name: String,
    /// The graph: operators alone.
    pub graph: &'a Arc<Graph>,
    /// One per tensor of the graph.
    pub layouts: &'a [Layout],
    /// The elements of each constant, row-major.
    pub values: &'a BTreeMap<TensorId, Vec<f32>>,
    /// Every input and output.
    pub bound: &'a [(TensorId, PassTensor)],
    /// The kernels.
    pub kernels: KernelSet,
}

/// A graph that was declared as passes of a frame: records them into the frame's turns.
///
/// ```no_run
/// # use std::collections::BTreeMap;
/// # use std::sync::Arc;
/// # use tileheap::frame::{CommandBufferId, FrameBuilder, ResourceId};
/// # use tileheap::runtime::{Commands, Device};
/// # use tileheap::runtime::tensors::{KernelSet, NetworkPasses, NetworkPassesDesc, PassTensor};
/// # use tileheap::tensor::{Graph, Layout, TensorId};
/// # fn f(
/// #     device: &Device, frame: &mut FrameBuilder, scene: CommandBufferId, graph: &Arc<Graph>, layouts: &[Layout],
/// #     weights: &BTreeMap<TensorId, Vec<f32>>, (x, y): (TensorId, TensorId), (lit, shown): (ResourceId, ResourceId),
/// #     commands: &mut Commands<'_>,
/// # ) -> tileheap::Result<()> {
/// // While the frame is described: a compute pass for each node.
/// let desc = NetworkPassesDesc {
///     name: "upscale".to_owned(),
///     graph,
///     layouts,
///     values: weights,
///     bound: &[(x, PassTensor::Itself(lit)), (y, PassTensor::Itself(shown))],
///     kernels: KernelSet::new(),
/// };
/// let mut network = NetworkPasses::declare(device, frame, scene, desc)?;
/// // Every frame, where they come.
/// network.record(commands)?;
/// # Ok(()) }
/// ```
pub struct NetworkPasses {
    inner: Arc<Inner>,
    name: String,
    steps: Vec<Step>,
    pipelines: Pipelines,
    descriptors: Descriptors,
    /// Constants; taken when they are destroyed.
    objects: Option<Objects>,
}

/// One pass: a kernel on its operands.
struct Step {
    pass: PassId,
    pipeline: Arc<Pipeline>,
    operands: Vec<Part>,
    format: vk::Format,
    arguments: Vec<u8>,
    groups: [u32; 3],
}

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Image(ResourceId),
    /// So many bytes from the beginning.
    Buffer(ResourceId, u64),
    Constant(Thing),
}

impl Part {
    fn resource(self) -> Option<ResourceId> {
        match self {
            Part::Image(resource) | Part::Buffer(resource, _) => Some(resource),
            Part::Constant(_) => None,
        }
    }
}

impl NetworkPasses {
    /// Declares a graph's nodes as compute passes at the end of `commands`, the last command buffer so far, and uploads its constants.
    ///
    /// Waits for the upload on the device's first queue that computes: no other thread uses it meanwhile.
    ///
    /// # Errors
    /// An input or output that is not bound, a loop or branch, an operator without a kernel, a layout that kernels do not take: each
    /// by name. The frame is then of no use.
    ///
    /// # Panics
    /// If there is not one layout per tensor.
    pub fn declare(
        device: &Device,
        frame: &mut FrameBuilder,
        commands: CommandBufferId,
        desc: NetworkPassesDesc<'_>,
    ) -> Result<NetworkPasses> {
        let _span = tracing::info_span!("declare", graph = desc.graph.name()).entered();
        assert_eq!(
            desc.graph.tensors().len(),
            desc.layouts.len(),
            "one layout per tensor"
        );
        let uploads = constants::prepare(desc.graph, &|id| &desc.layouts[id.index()], desc.values)?;
        let mut passes = NetworkPasses {
            inner: device.inner().clone(),
            name: desc.name.clone(),
            steps: Vec::new(),
            pipelines: Pipelines::new(desc.kernels.clone()),
            descriptors: Descriptors::default(),
            objects: Some(Objects::default()),
        };
        let made = passes.upload_and_declare(frame, commands, &desc, uploads);
        match made {
            Ok(()) => Ok(passes),
            Err(error) => {
                // SAFETY: the upload, the only thing submitted with them, was waited for.
                unsafe { passes.destroy() };
                Err(error)
            }
        }
    }

    fn upload_and_declare(
        &mut self,
        frame: &mut FrameBuilder,
        commands: CommandBufferId,
        desc: &NetworkPassesDesc<'_>,
        uploads: Vec<super::objects::Upload>,
    ) -> Result<()> {
        let inner = self.inner.clone();
        let objects = self.objects.as_mut().expect("taken when destroyed");
        objects.upload(&inner, uploads)?;
        let mut declaring = Declaring {
            passes: self,
            frame,
            commands,
            desc,
            resources: BTreeMap::new(),
        };
        declaring.all()
    }

    /// The passes, in the order in which they were declared.
    pub fn passes(&self) -> impl Iterator<Item = PassId> + '_ {
        self.steps.iter().map(|step| step.pass)
    }

    /// Records all of them: it is their turn in `commands`.
    ///
    /// # Errors
    /// When it is another pass's turn, or the driver fails.
    pub fn record(&mut self, commands: &mut Commands<'_>) -> Result<()> {
        let NetworkPasses {
            inner,
            steps,
            descriptors,
            ..
        } = self;
        for step in steps.iter() {
            commands.pass(step.pass, |pass| step.record(inner, descriptors, pass))??;
        }
        Ok(())
    }

    /// Forgets the resources of a bound frame, before it is destroyed: those of another may get their handles.
    ///
    /// # Safety
    /// No frame that was recorded is in flight, or will be submitted.
    pub unsafe fn forget(&mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.descriptors.destroy(&self.inner) };
    }

    /// Destroys everything.
    ///
    /// # Safety
    /// No frame that was recorded is in flight.
    pub unsafe fn destroy(mut self) {
        if let Some(mut objects) = self.objects.take() {
            // SAFETY: the caller's duty.
            unsafe { self.descriptors.destroy(&self.inner) };
            // SAFETY: the caller's duty.
            unsafe { self.pipelines.destroy(&self.inner) };
            // SAFETY: the caller's duty.
            unsafe { objects.owned.destroy(&self.inner) };
        }
    }
}

impl Step {
    fn record(&self, inner: &Inner, descriptors: &mut Descriptors, pass: &PassCommands<'_>) -> Result<()> {
        let accesses = &self.pipeline.kernel.operands;
        let bound: Vec<Bound> = self
            .operands
            .iter()
            .zip(accesses)
            .map(|(&part, access)| {
                let (thing, layout) = match part {
                    Part::Image(resource) => {
                        let image = pass.image(resource);
                        let (handle, view) = (image.handle, image.view);
                        (Thing::Image { handle, view }, pass.layout(resource))
                    }
                    Part::Buffer(resource, size) => {
                        let buffer = pass.buffer(resource);
                        let (handle, offset) = (buffer.handle, buffer.offset);
                        (Thing::Buffer { handle, offset, size }, vk::ImageLayout::UNDEFINED)
                    }
                    // Uploaded once, and never written.
                    Part::Constant(thing @ Thing::Image { .. }) => (thing, access.kind.layout(false, false)),
                    Part::Constant(thing) => (thing, vk::ImageLayout::UNDEFINED),
                };
                let format = self.format;
                Bound {
                    thing,
                    layout,
                    format,
                }
            })
            .collect();
        let set = descriptors.get(inner, &self.pipeline, &bound)?;
        // SAFETY: a compute pass is recorded outside of render passes; what the set refers to is the frame's, or a constant.
        unsafe {
            dispatch(
                inner,
                pass.command_buffer(),
                &self.pipeline,
                set,
                &self.arguments,
                self.groups,
            );
        }
        Ok(())
    }
}

/// The declaration of a graph.
struct Declaring<'a, 'b> {
    passes: &'a mut NetworkPasses,
    frame: &'a mut FrameBuilder,
    commands: CommandBufferId,
    desc: &'a NetworkPassesDesc<'b>,
    /// The resource that each tensor is, or is a view of.
    resources: BTreeMap<TensorId, ResourceId>,
}

/// An operand with its form.
#[derive(Clone, Copy)]
struct Resolved {
    part: Part,
    shape: Shaped,
    element: ElementType,
}

impl Declaring<'_, '_> {
    fn all(&mut self) -> Result<()> {
        let graph = self.desc.graph.clone();
        for &input in graph.inputs() {
            self.bind(input, true)?;
        }
        for &output in graph.outputs() {
            if let PassTensor::Itself(resource) = self.bound(output)? {
                self.resources.entry(output).or_insert(resource);
            }
        }
        for &id in &graph.block(BlockId::ROOT).nodes {
            let node = graph.node(id);
            let NodeKind::Operator(operator) = &node.kind else {
                return Err(NetworkFault::Node {
                    node: node.name.clone(),
                    operator: "loop or branch".to_owned(),
                    problem: "passes of a frame are what they are declared: record a Network instead"
                        .to_owned(),
                }
                .into());
            };
            let look = |tensor: TensorId| self.shape(tensor);
            let Some(made) = call(&graph, node, operator, &look)? else {
                continue;
            };
            let mut operands = Vec::with_capacity(made.operands.len());
            for operand in &made.operands {
                operands.push(match *operand {
                    Operand::Tensor(tensor) => self.resolve(tensor)?,
                    Operand::Zeros(vectors) => self.zeros(vectors),
                });
            }
            // A view of its operand.
            if let ("reshape", [source, target]) = (made.kernel.as_str(), &operands[..])
                && source.part.resource() == target.part.resource()
                && same_bytes(source.shape, target.shape)
            {
                continue;
            }
            self.pass(&node.name, &made, &operands)?;
        }
        for &output in graph.outputs() {
            self.bind(output, false)?;
        }
        Ok(())
    }

    fn bound(&self, tensor: TensorId) -> Result<PassTensor, NetworkFault> {
        let found = self.desc.bound.iter().find(|(of, _)| *of == tensor);
        let found = found.map(|(_, bound)| *bound);
        found.ok_or_else(|| NetworkFault::unbound(self.desc.graph, tensor))
    }

    /// An input or output: itself, or moved from or to a plain buffer.
    fn bind(&mut self, tensor: TensorId, inwards: bool) -> Result<()> {
        let plain = match self.bound(tensor)? {
            PassTensor::Itself(resource) => {
                self.resources.entry(tensor).or_insert(resource);
                return Ok(());
            }
            PassTensor::Plain(resource) => resource,
        };
        let name = self.desc.graph.tensor(tensor).name.clone();
        let shape = &self.desc.layouts[tensor.index()].shape;
        let layout = LayoutRule::buffer().apply(&name, shape, ElementType::Float32)?;
        let caller = Resolved {
            part: Part::Buffer(plain, layout.bytes().0.max(4)),
            shape: shaped(&name, &layout)?,
            element: ElementType::Float32,
        };
        let own = self.resolve(tensor)?;
        let (source, target) = if inwards { (caller, own) } else { (own, caller) };
        let made = copy_call(tensor, source.shape, tensor, target.shape).map_err(|problem| {
            NetworkFault::Layout {
                tensor: name.clone(),
                problem,
            }
        })?;
        let what = if inwards { "in" } else { "out" };
        self.pass(&format!("{name} {what}"), &made, &[source, target])
    }

    fn constant(&self, tensor: TensorId) -> Option<&super::objects::Constant> {
        let objects = self.passes.objects.as_ref().expect("taken when destroyed");
        objects.constants.get(&tensor)
    }

    fn layout(&self, tensor: TensorId) -> &Layout {
        let constant = self.constant(tensor).map(|constant| &constant.layout);
        constant.unwrap_or(&self.desc.layouts[tensor.index()])
    }

    fn shape(&self, tensor: TensorId) -> Result<Shaped, NetworkFault> {
        shaped(&self.desc.graph.tensor(tensor).name, self.layout(tensor))
    }

    fn resolve(&mut self, tensor: TensorId) -> Result<Resolved> {
        let (shape, element) = (self.shape(tensor)?, self.layout(tensor).element);
        let size = self.layout(tensor).bytes().0.max(16);
        let is_image = self.layout(tensor).rule.storage.is_image();
        let part = match self.constant(tensor).map(|constant| constant.thing) {
            Some(thing) => Part::Constant(thing),
            None => {
                let resource = self.resource(tensor)?;
                if is_image {
                    Part::Image(resource)
                } else {
                    Part::Buffer(resource, size)
                }
            }
        };
        Ok(Resolved { part, shape, element })
    }

    fn zeros(&self, vectors: u32) -> Resolved {
        let objects = self.passes.objects.as_ref().expect("taken when destroyed");
        Resolved {
            part: Part::Constant(objects.zeros.expect("made for every bias that is not there")),
            shape: Shaped {
                scope: Scope {
                    held: Held::Buffer,
                    split: 3,
                },
                extent: [1, 1, 1, vectors],
                lanes: Some((3, vectors * 4)),
            },
            element: ElementType::Float32,
        }
    }

    /// The resource of a tensor, declared when it is first met. A view at the beginning of a buffer is that buffer.
    fn resource(&mut self, tensor: TensorId) -> Result<ResourceId> {
        if let Some(&known) = self.resources.get(&tensor) {
            return Ok(known);
        }
        let (of, layout) = (
            self.desc.graph.tensor(tensor),
            self.desc.layouts[tensor.index()].clone(),
        );
        let plain = |id: TensorId| self.desc.layouts[id.index()].rule == LayoutRule::buffer();
        let base = of.view.filter(|view| {
            let inside = self.desc.graph.tensor(view.base).source != Source::Constant;
            view.offset == Bytes::ZERO && inside && plain(view.base) && plain(tensor)
        });
        let resource = match base {
            Some(view) => self.resource(view.base)?,
            None => {
                let kind = resource_kind(&of.name, &layout)?;
                let name = format!("{}/{}", self.desc.name, of.name);
                self.frame.resource(name, kind, crate::frame::Lifetime::Transient)
            }
        };
        self.resources.insert(tensor, resource);
        Ok(resource)
    }

    /// Declares a pass, with the accesses of its kernel.
    fn pass(&mut self, name: &str, made: &Call, operands: &[Resolved]) -> Result<()> {
        let inner = self.passes.inner.clone();
        let forms = operands.iter().map(|operand| (operand.shape, operand.element));
        let last = operands.last().map(|operand| operand.shape);
        let Invocation { key, format } = Invocation::new(made, forms, last);
        let pipeline = self.passes.pipelines.get(&inner, &key)?;
        pipeline.check_operands(made, operands.len())?;
        let mut accesses: Vec<(ResourceId, super::OperandAccess)> = Vec::new();
        for (operand, access) in operands.iter().zip(&pipeline.kernel.operands) {
            let Some(resource) = operand.part.resource() else {
                continue;
            };
            match accesses.iter_mut().find(|(other, _)| *other == resource) {
                None => accesses.push((resource, *access)),
                // Read twice, or read and written: one access that does both.
                Some((_, known)) => {
                    if access.writes {
                        known.kind = access.kind;
                    }
                    known.reads |= access.reads;
                    known.writes |= access.writes;
                }
            }
        }
        let mut pass = self
            .frame
            .compute_pass(self.commands, format!("{}/{name}", self.desc.name));
        for (resource, access) in accesses {
            let before = if access.reads {
                Before::Load
            } else {
                Before::Overwrite
            };
            pass = pass.access(resource, access.kind, access.reads, access.writes, before);
        }
        let pass = pass.id();
        let groups = checked_groups(&inner, &made.kernel, made.work, key.local)?;
        let shapes = operands.iter().map(|operand| told(made, operand.shape));
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
fn resource_kind(name: &str, layout: &Layout) -> Result<ResourceKind, NetworkFault> {
    if !layout.rule.storage.is_image() {
        return Ok(BufferDesc::new(Bytes(layout.bytes().0.max(16))).into());
    }
    let fault = |problem: &str| NetworkFault::Layout {
        tensor: name.to_owned(),
        problem: problem.to_owned(),
    };
    let info = image_info(
        format(name, layout.element)?,
        layout.extent,
        vk::ImageUsageFlags::empty(),
    );
    // A frame's image of one layer is viewed as no array.
    if layout.rule.storage == Storage::ImageArray && info.array_layers == 1 {
        return Err(fault(
            "an image array of one layer is a 2D image in a frame: lay it out as one",
        ));
    }
    if layout.rule.storage == Storage::Image3d {
        return Err(fault("kernels have no 3D images"));
    }
    Ok(ImageDesc {
        array_layers: info.array_layers,
        ..ImageDesc::new(info.format, info.extent)
    }
    .into())
}

impl std::fmt::Debug for NetworkPasses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetworkPasses")
            .field("name", &self.name)
            .field("passes", &self.steps.len())
            .finish_non_exhaustive()
    }
}

impl Drop for NetworkPasses {
    fn drop(&mut self) {
        if let Some(objects) = self.objects.take() {
            let name = self.name.as_str();
            tracing::warn!(
                name,
                "NetworkPasses dropped without NetworkPasses::destroy: its objects leak"
            );
            let Objects { owned, .. } = objects;
            std::mem::forget(owned);
        }
    }
}
