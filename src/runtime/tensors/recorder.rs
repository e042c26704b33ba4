//! Recording a run: blocks of nodes in order, each node a kernel on what its tensors are bound to by then.

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;

use super::descriptors::Bound;
use super::fault::NetworkFault;
use super::hazards::{ObjectId, Space, Touch, Tracker};
use super::network::{Decision, Network, Recorded, Run};
use super::objects::{Objects, Thing};
use super::operators::{Call, Operand, call, copy_call, same_bytes, told};
use super::pipelines::{PipelineKey, arguments_of, checked_groups, dispatch, local_size};
use super::scope::{Held, Scope, Shaped, shaped};
use crate::Result;
use crate::frame::AccessKind;
use crate::runtime::Buffer;
use crate::runtime::create::whole;
use crate::tensor::{
    BlockId, CopyTime, ElementType, Home, Layout, Loop, NodeId, NodeKind, Place, Region, TensorId,
};
use crate::units::Bytes;

pub(super) struct Recorder<'a> {
    network: &'a mut Network,
    commands: vk::CommandBuffer,
    run: &'a Run<'a>,
    tracker: Tracker,
    known: BTreeMap<Identity, ObjectId>,
    /// The round of each loop that is being recorded, outermost first.
    rounds: Vec<u64>,
    /// Of each output of a loop that was left: by which exit, in which round.
    left: BTreeMap<TensorId, (usize, u64)>,
    recorded: Recorded,
}

/// What the tracker knows as one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Image(u64),
    Bytes(Space, u64, u64),
}

/// A tensor in this run, at this round.
#[derive(Clone, Debug)]
struct Resolved {
    thing: Thing,
    object: ObjectId,
    shape: Shaped,
    element: ElementType,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        network: &'a mut Network,
        commands: vk::CommandBuffer,
        run: &'a Run<'a>,
    ) -> Result<Recorder<'a>> {
        let recorder = Recorder {
            network,
            commands,
            run,
            tracker: Tracker::default(),
            known: BTreeMap::new(),
            rounds: Vec::new(),
            left: BTreeMap::new(),
            recorded: Recorded::default(),
        };
        super::lending::check(&recorder.network.graph, &recorder.network.plan, run.bound)?;
        Ok(recorder)
    }

    pub(super) fn record(mut self) -> Result<Recorded> {
        let graph = self.network.graph.clone();
        use vk::PipelineStageFlags as S;
        // What runs before may still use the same bytes.
        self.barrier(
            S::COMPUTE_SHADER | S::TRANSFER,
            S::COMPUTE_SHADER,
            vk::AccessFlags::empty(),
            &[],
        );
        for &input in graph.inputs() {
            if self.network.plan.tensor(input).home == Home::Planned {
                self.move_planned(input, true)?;
            }
        }
        self.block(BlockId::ROOT, usize::MAX)?;
        for &output in graph.outputs() {
            if self.network.plan.tensor(output).home == Home::Planned && self.given(output).is_some() {
                self.move_planned(output, false)?;
            }
        }
        let readers = S::HOST | S::TRANSFER | S::COMPUTE_SHADER;
        self.barrier(
            S::COMPUTE_SHADER,
            readers,
            vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_READ,
            &[],
        );
        Ok(self.recorded)
    }

    fn block(&mut self, block: BlockId, most: usize) -> Result<()> {
        let graph = self.network.graph.clone();
        for &node in graph.block(block).nodes.iter().take(most) {
            match &graph.node(node).kind {
                NodeKind::Operator(_) => self.operator(node)?,
                NodeKind::Loop(repeated) => self.repeat(node, repeated)?,
                NodeKind::Branch(branch) => {
                    let arm = match self.decision(node) {
                        Some(Decision::Arm(arm)) => branch.arms.get(arm).copied(),
                        _ => None,
                    };
                    let arm = arm.ok_or_else(|| self.undecided(node, "the number of one of its arms"))?;
                    self.block(arm, usize::MAX)?;
                    self.copies(node, CopyTime::Leave)?;
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, node: NodeId, repeated: &Loop) -> Result<()> {
        let decided = match self.decision(node) {
            Some(Decision::Rounds { rounds, exit }) => {
                repeated.exits.get(exit).map(|after| (rounds, exit, after.after))
            }
            _ => None,
        };
        let (rounds, exit, after) =
            decided.ok_or_else(|| self.undecided(node, "its number of rounds and one of its exits"))?;
        self.rounds.push(0);
        self.copies(node, CopyTime::Enter)?;
        for round in 0..rounds {
            self.set_round(round);
            self.block(repeated.body, usize::MAX)?;
            self.copies(node, CopyTime::Round)?;
        }
        self.set_round(rounds);
        self.block(repeated.body, after as usize)?;
        self.copies(node, CopyTime::Leave)?;
        self.rounds.pop();
        let graph = self.network.graph.clone();
        let outputs = graph.node(node).outputs.iter();
        self.left.extend(outputs.map(|&output| (output, (exit, rounds))));
        Ok(())
    }

    fn set_round(&mut self, round: u64) {
        *self.rounds.last_mut().expect("a loop is being recorded") = round;
    }

    fn decision(&self, node: NodeId) -> Option<Decision> {
        let found = self.run.decisions.iter().find(|(of, _)| *of == node);
        found.map(|(_, decision)| *decision)
    }

    fn undecided(&self, node: NodeId, what: &'static str) -> NetworkFault {
        let node = self.network.graph.node(node).name.clone();
        NetworkFault::Undecided { node, what }
    }

    /// Copies of the plan that belong to a loop or branch.
    fn copies(&mut self, node: NodeId, time: CopyTime) -> Result<()> {
        let plan = self.network.plan.clone();
        for moved in plan
            .copies
            .iter()
            // What goes to the caller's own buffer goes there at the end of the run.
            .filter(|copy| copy.node == node && copy.time == time && copy.from != copy.to)
        {
            let from = self.resolve(moved.from, node)?;
            let next = (time == CopyTime::Round)
                .then(|| self.rounds.last().map(|round| round + 1))
                .flatten();
            if let Some(next) = next {
                self.set_round(next);
            }
            let copied = self.copy(node, moved.from, from, moved.to);
            if let Some(next) = next {
                self.set_round(next - 1);
            }
            copied?;
        }
        Ok(())
    }

    fn copy(&mut self, node: NodeId, from: TensorId, source: Resolved, to: TensorId) -> Result<()> {
        let target = self.resolve(to, node)?;
        let made = copy_call(from, source.shape, to, target.shape)
            .map_err(|problem| self.fault(node, "copy", problem))?;
        self.recorded.copies += 1;
        self.dispatch(node, &made, vec![source, target])
    }

    fn fault(&self, node: NodeId, operator: &str, problem: String) -> NetworkFault {
        NetworkFault::Node {
            node: self.network.graph.node(node).name.clone(),
            operator: operator.to_owned(),
            problem,
        }
    }

    fn operator(&mut self, id: NodeId) -> Result<()> {
        let graph = self.network.graph.clone();
        let node = graph.node(id);
        let NodeKind::Operator(operator) = &node.kind else {
            unreachable!("only operators are dispatched");
        };
        // Conditions of loops are the caller's to know; nothing else reads what is not of floats.
        let computed = |tensor: &TensorId| {
            let element = graph.tensor(*tensor).element;
            matches!(element, ElementType::Float32 | ElementType::Float16)
        };
        if !node.outputs.iter().any(computed) {
            return Ok(());
        }
        let look = |tensor: TensorId| self.shape(tensor);
        let Some(made) = call(&graph, node, operator, &look)? else {
            return Ok(());
        };
        if made.work.contains(&0) {
            return Ok(());
        }
        let mut operands = Vec::with_capacity(made.operands.len());
        for operand in &made.operands {
            operands.push(match *operand {
                Operand::Tensor(tensor) => self.resolve(tensor, id)?,
                Operand::Zeros(vectors) => self.zeros(vectors),
            });
        }
        if let ("reshape", [source, target]) = (made.kernel.as_str(), &operands[..])
            && source.object == target.object
        {
            // A view, where the plan has it so.
            return match same_bytes(source.shape, target.shape) {
                true => Ok(()),
                false => Err(self
                    .fault(
                        id,
                        "reshape",
                        "its output is planned over its input, in another order".to_owned(),
                    )
                    .into()),
            };
        }
        self.dispatch(id, &made, operands)
    }

    fn zeros(&mut self, vectors: u32) -> Resolved {
        let thing = self
            .network
            .zeros()
            .expect("made for every bias that is not there");
        Resolved {
            thing,
            object: self.object(thing, Space::Own(0), 0..1, true),
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

    /// Fills a planned input from the caller's buffer, or the caller's buffer from a planned output.
    fn move_planned(&mut self, tensor: TensorId, inwards: bool) -> Result<()> {
        let graph = self.network.graph.clone();
        let name = &graph.tensor(tensor).name;
        let Some(given) = self.given(tensor) else {
            return Err(NetworkFault::unbound(&graph, tensor).into());
        };
        let node = NodeId(0);
        let planned = self.resolve(tensor, node)?;
        let dims = graph.shape_at(tensor, self.run.symbols)?;
        let plain = crate::tensor::LayoutRule::buffer().apply(name, &dims, ElementType::Float32)?;
        let caller = self.lent(tensor, given, &plain, inwards)?;
        let (source, target) = if inwards {
            (caller, planned)
        } else {
            (planned, caller)
        };
        let made = copy_call(tensor, source.shape, tensor, target.shape);
        let made = made.map_err(|problem| NetworkFault::Layout {
            tensor: name.clone(),
            problem,
        })?;
        self.dispatch(node, &made, vec![source, target])
    }

    fn given(&self, tensor: TensorId) -> Option<Buffer> {
        let found = self.run.bound.iter().find(|(of, _)| *of == tensor);
        found.map(|(_, buffer)| *buffer)
    }

    /// The layout of a tensor at this run's shapes.
    fn layout(&self, tensor: TensorId) -> Result<Layout> {
        let Network { graph, plan, .. } = &*self.network;
        let constant = self.network.objects().constants.get(&tensor);
        let layout = constant.map_or(&plan.tensor(tensor).layout, |constant| &constant.layout);
        let dims = graph.shape_at(tensor, self.run.symbols)?;
        if dims == layout.shape {
            return Ok(layout.clone());
        }
        Ok(layout
            .rule
            .apply(&graph.tensor(tensor).name, &dims, layout.element)?)
    }

    fn shape(&self, tensor: TensorId) -> Result<Shaped, NetworkFault> {
        let name = &self.network.graph.tensor(tensor).name;
        let layout = self.layout(tensor).map_err(|error| NetworkFault::Layout {
            tensor: name.clone(),
            problem: error.to_string(),
        })?;
        shaped(name, &layout)
    }

    /// Where a tensor is in this round.
    fn place(&self, tensor: TensorId) -> Option<Place> {
        let place = self.network.plan.tensor(tensor).place.as_ref()?;
        match place.at(&self.rounds) {
            Place::Left(exits) => {
                let (exit, round) = self.left.get(&tensor)?;
                Some(exits.get(*exit)?.at(&[*round]).clone())
            }
            place => Some(place.clone()),
        }
    }

    fn resolve(&mut self, tensor: TensorId, node: NodeId) -> Result<Resolved> {
        let layout = self.layout(tensor)?;
        self.resolve_within(tensor, 0, tensor, &layout, node)
    }

    /// The tensor `of`, `offset` bytes into `tensor`.
    fn resolve_within(
        &mut self,
        tensor: TensorId,
        offset: u64,
        of: TensorId,
        layout: &Layout,
        node: NodeId,
    ) -> Result<Resolved> {
        let graph = self.network.graph.clone();
        let name = &graph.tensor(of).name;
        let unplaced = |offset: u64, problem: String| NetworkFault::Place {
            tensor: name.clone(),
            offset: Bytes(offset),
            problem,
        };
        if let Some(constant) = self.network.objects().constants.get(&tensor) {
            let (thing, element) = (constant.thing, constant.layout.element);
            if offset > 0 || of != tensor && constant.layout.rule != layout.rule {
                let problem = format!("it is a part of constant `{}`", graph.tensor(tensor).name);
                return Err(unplaced(offset, problem).into());
            }
            let object = self.object(thing, Space::Own(tensor.0 + 1), 0..1, true);
            let shape = shaped(name, layout)?;
            return Ok(Resolved {
                thing,
                object,
                shape,
                element,
            });
        }
        match self.place(tensor) {
            Some(Place::At(region)) => {
                // Created at the plan's largest extent.
                let placed = &self.network.plan.tensor(of).layout;
                let region = Region {
                    offset: Bytes(region.offset.0 + offset),
                    size: if of == tensor { region.size } else { placed.bytes() },
                    ..region
                };
                let Some(thing) = self.network.objects().at(region, placed) else {
                    return Err(unplaced(region.offset.0, "no image was created there".to_owned()).into());
                };
                let (space, bytes) = Objects::bytes_at(region);
                Ok(Resolved {
                    thing,
                    object: self.object(thing, space, bytes, false),
                    shape: shaped(name, layout)?,
                    element: layout.element,
                })
            }
            Some(Place::Within {
                tensor: base,
                offset: more,
            }) => self.resolve_within(base, offset + more.0, of, layout, node),
            None if self.network.plan.tensor(tensor).home == Home::Caller => {
                self.resolve_given(tensor, offset, of, layout)
            }
            _ => Err(self
                .fault(node, "", format!("tensor `{name}` has no place in this round"))
                .into()),
        }
    }

    /// The tensor `of`, `offset` bytes into the buffer that the caller bound to `tensor`.
    fn resolve_given(
        &mut self,
        tensor: TensorId,
        offset: u64,
        of: TensorId,
        layout: &Layout,
    ) -> Result<Resolved> {
        let graph = self.network.graph.clone();
        let Some(given) = self.given(tensor) else {
            return Err(NetworkFault::unbound(&graph, tensor).into());
        };
        if layout.rule.storage.is_image() {
            return Err(NetworkFault::Layout {
                tensor: graph.tensor(of).name.clone(),
                problem: "it is an image, and the caller gives a buffer: plan it".to_owned(),
            }
            .into());
        }
        let part = Buffer {
            offset: given.offset + offset,
            size: given.size.saturating_sub(offset),
            ..given
        };
        self.lent(of, part, layout, graph.inputs().contains(&tensor))
    }

    fn lent(&mut self, tensor: TensorId, given: Buffer, layout: &Layout, holds: bool) -> Result<Resolved> {
        let name = self.network.graph.tensor(tensor).name.clone();
        let needed = layout.bytes();
        if given.size < needed.0 {
            let given = Bytes(given.size);
            return Err(NetworkFault::TooSmall {
                tensor: name,
                needed,
                given,
            }
            .into());
        }
        let thing = Thing::Buffer {
            handle: given.handle,
            offset: given.offset,
            size: needed.0.max(4),
        };
        let bytes = given.offset..given.offset + needed.0;
        let object = self.object(thing, Space::Given(given.handle.as_raw()), bytes, holds);
        let shape = shaped(&name, layout)?;
        Ok(Resolved {
            thing,
            object,
            shape,
            element: layout.element,
        })
    }

    fn object(&mut self, thing: Thing, space: Space, bytes: std::ops::Range<u64>, holds: bool) -> ObjectId {
        let (identity, layout) = match thing {
            Thing::Image { handle, .. } => {
                let layout = match holds {
                    true => vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
                    false => vk::ImageLayout::UNDEFINED,
                };
                (Identity::Image(handle.as_raw()), Some(layout))
            }
            Thing::Buffer { .. } => (Identity::Bytes(space, bytes.start, bytes.end), None),
        };
        *self
            .known
            .entry(identity)
            .or_insert_with(|| self.tracker.add(space, bytes, layout, holds))
    }

    fn dispatch(&mut self, node: NodeId, made: &Call, operands: Vec<Resolved>) -> Result<()> {
        let last = operands.last().expect("every kernel has an output");
        let half = operands
            .iter()
            .any(|operand| operand.shape.lanes.is_some() && operand.element == ElementType::Float16);
        let bound = self.network.plan.tensor(match made.operands.last() {
            Some(Operand::Tensor(tensor)) => *tensor,
            _ => unreachable!("the last operand is the output"),
        });
        // Made for the largest shape, so that every shape runs with the same pipeline.
        let largest = shaped("", &bound.layout).map_or(last.shape.extent, |shape| match shape.lanes {
            None => made.work,
            Some(_) => shape.extent,
        });
        let mut largest = largest;
        if let Some(axis) = made.along {
            largest[axis] = 1;
        }
        let local = local_size(largest);
        let key = PipelineKey {
            kernel: made.kernel.clone(),
            scopes: operands.iter().map(|operand| operand.shape.scope).collect(),
            half,
            way: made.way,
            activation: made.activation,
            local,
        };
        let inner = self.network.inner.clone();
        let pipeline = self.network.pipelines.get(&inner, &key)?;
        if pipeline.kernel.operands.len() != operands.len() {
            let problem = format!(
                "it has {} operands, and the node {}",
                pipeline.kernel.operands.len(),
                operands.len()
            );
            let kernel = made.kernel.clone();
            return Err(NetworkFault::Kernel { kernel, problem }.into());
        }
        let accesses = &pipeline.kernel.operands;
        let mut touches: Vec<Touch> = Vec::with_capacity(operands.len());
        for (operand, access) in operands.iter().zip(accesses) {
            // An image that is read and written at once is in one layout for both.
            let shared = operands.iter().zip(accesses).any(|(other, access)| {
                other.object == operand.object && access.kind == AccessKind::StorageImage
            });
            touches.push(Touch {
                object: operand.object,
                reads: access.reads,
                writes: access.writes,
                layout: if shared {
                    vk::ImageLayout::GENERAL
                } else {
                    access.kind.layout(false, access.writes)
                },
            });
        }
        let needed = self
            .tracker
            .touch(&touches)
            .map_err(|index| self.lost(node, made, index))?;
        if needed.barrier {
            let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
            let images: Vec<_> = needed
                .transitions
                .iter()
                .map(|&(object, old, new)| {
                    let operand = operands.iter().find(|operand| operand.object == object);
                    let Some(Thing::Image { handle, .. }) = operand.map(|operand| operand.thing) else {
                        unreachable!("only images of the command change layout");
                    };
                    vk::ImageMemoryBarrier::default()
                        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                        .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE)
                        .old_layout(old)
                        .new_layout(new)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .image(handle)
                        .subresource_range(whole(vk::ImageAspectFlags::COLOR))
                })
                .collect();
            self.barrier(stage, stage, vk::AccessFlags::empty(), &images);
        }
        let sets: Vec<Bound> = operands
            .iter()
            .zip(&touches)
            .map(|(operand, touch)| Bound {
                thing: operand.thing,
                layout: match operand.thing {
                    Thing::Image { .. } => touch.layout,
                    Thing::Buffer { .. } => vk::ImageLayout::UNDEFINED,
                },
                format: if half {
                    vk::Format::R16G16B16A16_SFLOAT
                } else {
                    vk::Format::R32G32B32A32_SFLOAT
                },
            })
            .collect();
        let set = self.network.descriptors.get(&inner, &pipeline, &sets)?;
        let shapes = operands.iter().map(|operand| told(made, operand.shape));
        let arguments = arguments_of(shapes, &made.numbers);
        let groups = checked_groups(&inner, &made.kernel, made.work, local)?;
        // SAFETY: recording outside of a render pass (the caller's duty); what the set refers to is the network's or bound.
        unsafe { dispatch(&inner, self.commands, &pipeline, set, &arguments, groups) };
        self.recorded.dispatches += 1;
        Ok(())
    }

    fn lost(&self, node: NodeId, made: &Call, index: usize) -> NetworkFault {
        let graph = &self.network.graph;
        let tensor = match made.operands[index] {
            Operand::Tensor(tensor) => graph.tensor(tensor).name.clone(),
            Operand::Zeros(_) => "zeros".to_owned(),
        };
        let node = graph.node(node).name.clone();
        NetworkFault::Lost { node, tensor }
    }

    fn barrier(
        &mut self,
        from: vk::PipelineStageFlags,
        to: vk::PipelineStageFlags,
        more: vk::AccessFlags,
        images: &[vk::ImageMemoryBarrier<'_>],
    ) {
        use vk::AccessFlags as A;
        let writes = if from.contains(vk::PipelineStageFlags::TRANSFER) {
            A::SHADER_WRITE | A::TRANSFER_WRITE
        } else {
            A::SHADER_WRITE
        };
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(writes)
            .dst_access_mask(A::SHADER_READ | A::SHADER_WRITE | more)];
        self.recorded.barriers += 1;
        self.recorded.transitions += images.len() as u32;
        let none = vk::DependencyFlags::empty();
        // SAFETY: recording outside of a render pass (the caller's duty); the images are alive.
        unsafe {
            self.network.inner.device.cmd_pipeline_barrier(
                self.commands,
                from,
                to,
                none,
                &memory,
                &[],
                images,
            );
        }
    }
}
