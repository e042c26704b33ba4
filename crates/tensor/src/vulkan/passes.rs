//! A tensor graph as compute passes of a frame, among a renderer's passes.
//!
//! ```text
//! render pass  ──► image ──►  conv ──► add ──► ...  ──► image ──► render pass
//! the renderer's              one compute pass per node: the frame's planner places the tensors between them
//!                             with everything else, in tile memory where that saves the most traffic
//! ```
//! A [`Network`](super::Network) has its own memory, planned once by [`plan`](crate::plan()). Here each tensor is a transient
//! resource of the frame, and each node (in a loop, in each round) a compute pass whose accesses are reflected from its kernel's
//! SPIR-V: a texture that is only read is a sampled image, one that is written a write-only storage image.

use std::collections::BTreeMap;
use std::sync::Arc;

use ash::vk;

use super::decision::ControlFlowDecision;
use super::descriptors::OperandBinding;
use super::dispatch::Dispatcher;
use super::kernel::{KernelSet, OperandAccess};
use super::objects::{Objects, StorageObject};
use super::pipelines::{Pipeline, dispatch};
use crate::error::Result;
use crate::graph::{Graph, NodeId, TensorId};
use crate::layout::Layout;
use tileheap::frame::{PassId, ResourceId};
use tileheap::runtime::{Commands, PassCommands, RuntimeError};

/// A resource of the frame that is bound to an input or output of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassTensor {
    /// The tensor itself, in its layout: an image of its format and extent (`rgba16f`, more than one layer for
    /// image arrays), or a buffer of its size.
    InLayout(ResourceId),
    /// A buffer of 32-bit floats in row-major order, which a separate pass moves to or from the tensor.
    Plain(ResourceId),
}

/// A graph to declare as passes.
#[derive(Clone, Debug)]
pub struct NetworkPassesDesc<'a> {
    /// Prefix of the names of passes and resources.
    pub name: String,
    /// The graph.
    pub graph: &'a Arc<Graph>,
    /// The layout of each tensor of the graph.
    pub layouts: &'a [Layout],
    /// The elements of each constant, row-major.
    pub values: &'a BTreeMap<TensorId, Vec<f32>>,
    /// Every input and output, except conditions and counters (elements that are not floats), which no kernel reads.
    pub bindings: &'a [(TensorId, PassTensor)],
    /// The decisions of loops and branches for every frame, as passes are declared once: each round of a loop has its own passes and
    /// resources, with the round in their names (`lstm/next h [3]`); only one arm of a branch is declared.
    pub decisions: &'a [(NodeId, ControlFlowDecision)],
    /// The kernels.
    pub kernels: KernelSet,
}

/// A graph declared as passes of a frame, with the state to record them.
///
/// ```no_run
/// # use std::collections::BTreeMap;
/// # use std::sync::Arc;
/// # use tileheap::frame::{CommandBufferId, FrameBuilder, ResourceId};
/// # use tileheap::runtime::{Commands, Device};
/// # use tileheap_tensor::vulkan::{KernelSet, NetworkPasses, NetworkPassesDesc, PassTensor};
/// # use tileheap_tensor::{Graph, Layout, TensorId};
/// # fn f(
/// #     device: &Device, frame: &mut FrameBuilder, scene: CommandBufferId, graph: &Arc<Graph>, layouts: &[Layout],
/// #     weights: &BTreeMap<TensorId, Vec<f32>>, (x, y): (TensorId, TensorId), (lit, shown): (ResourceId, ResourceId),
/// #     commands: &mut Commands<'_>,
/// # ) -> tileheap_tensor::Result<()> {
/// // While the frame is described: a compute pass for each node.
/// let desc = NetworkPassesDesc {
///     name: "upscale".to_owned(),
///     graph,
///     layouts,
///     values: weights,
///     bindings: &[(x, PassTensor::InLayout(lit)), (y, PassTensor::InLayout(shown))],
///     decisions: &[], // It has no loops.
///     kernels: KernelSet::new(),
/// };
/// let mut network = NetworkPasses::declare(device, frame, scene, desc)?;
/// // In every frame, at their position among the passes.
/// // SAFETY: of the frame in which it was declared, bound on the same device.
/// unsafe { network.record(commands) }?;
/// # Ok(()) }
/// ```
pub struct NetworkPasses {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
    pub(super) dispatcher: Dispatcher,
    /// Constants; taken when they are destroyed.
    pub(super) objects: Option<Objects>,
}

/// One pass: a kernel on its operands.
pub(super) struct Step {
    pub(super) pass: PassId,
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) operands: Vec<OperandResource>,
    pub(super) format: vk::Format,
    pub(super) arguments: Vec<u8>,
    pub(super) groups: [u32; 3],
}

/// The resource of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandResource {
    Image(ResourceId),
    /// A buffer, and the number of bytes used from its start.
    Buffer(ResourceId, u64),
    Constant(StorageObject),
}

impl OperandResource {
    pub(super) fn resource(self) -> Option<ResourceId> {
        match self {
            OperandResource::Image(resource) | OperandResource::Buffer(resource, _) => Some(resource),
            OperandResource::Constant(_) => None,
        }
    }
}

impl NetworkPasses {
    pub(super) fn objects(&self) -> &Objects {
        self.objects.as_ref().expect("only `destroy` takes the objects")
    }

    /// The passes, in declaration order.
    pub fn passes(&self) -> impl Iterator<Item = PassId> + '_ {
        self.steps.iter().map(|step| step.pass)
    }

    /// Records all passes; the next pass of `commands` must be the first of them.
    ///
    /// # Errors
    /// Another pass comes next, the commands belong to another device, or the driver fails.
    ///
    /// # Safety
    /// - `commands` belongs to a frame built from the [`FrameBuilder`](tileheap::frame::FrameBuilder) in which they were declared, bound
    ///   on the same device.
    /// - The host does not use the buffers that the frame imports until it has ended.
    pub unsafe fn record(&mut self, commands: &mut Commands<'_>) -> Result<()> {
        for step in &self.steps {
            commands.pass(step.pass, |pass| step.record(&mut self.dispatcher, pass))??;
        }
        Ok(())
    }

    /// Forgets the resources of a bound frame, before it is destroyed: those of another frame may get the same handles.
    ///
    /// # Safety
    /// No frame that was recorded is in flight, or will be submitted.
    pub unsafe fn forget(&mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.dispatcher.forget_all() };
    }

    /// Destroys all objects with which the passes are recorded.
    ///
    /// # Safety
    /// No frame that was recorded is in flight.
    pub unsafe fn destroy(mut self) {
        if let Some(mut objects) = self.objects.take() {
            // SAFETY: the caller's duty.
            unsafe { self.dispatcher.destroy() };
            // SAFETY: the caller's duty.
            unsafe { objects.owned.destroy() };
        }
    }
}

impl Step {
    fn record(&self, dispatcher: &mut Dispatcher, pass: &PassCommands<'_>) -> Result<()> {
        let Dispatcher {
            device, descriptors, ..
        } = dispatcher;
        if pass.device().handle() != device.raw().handle() {
            let why = "the passes of the network were declared on another device";
            let pass = "network".to_owned();
            return Err(tileheap::Error::from(RuntimeError::UnsupportedPass { pass, why }).into());
        }
        let accesses = &self.pipeline.kernel.operands;
        let bind = |(&part, access): (&OperandResource, &OperandAccess)| {
            // Constants are uploaded once, and never written.
            let (resource, layout) = match part {
                OperandResource::Constant(resource) => (resource, access.kind.layout(false, false)),
                OperandResource::Image(resource) => {
                    let access = pass.access(resource);
                    let (handle, view) = (access.image(), access.view);
                    (StorageObject::Image { handle, view }, access.layout)
                }
                OperandResource::Buffer(resource, size) => {
                    let buffer = pass.access(resource).buffer();
                    let (handle, offset) = (buffer.handle, buffer.offset);
                    (
                        StorageObject::Buffer { handle, offset, size },
                        vk::ImageLayout::UNDEFINED,
                    )
                }
            };
            OperandBinding::new(resource, layout, self.format)
        };
        let bound: Vec<OperandBinding> = self.operands.iter().zip(accesses).map(bind).collect();
        let set = descriptors.get(device, &self.pipeline, &bound)?;
        let (commands, arguments) = (pass.command_buffer(), &self.arguments);
        // SAFETY: a compute pass is recorded outside of render passes; what the set refers to is the frame's, or a constant.
        unsafe { dispatch(device, commands, &self.pipeline, set, arguments, self.groups) };
        Ok(())
    }
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
        if self.objects.is_some() {
            let name = self.name.as_str();
            tracing::warn!(
                name,
                "NetworkPasses dropped without NetworkPasses::destroy: its objects leak"
            );
        }
    }
}
