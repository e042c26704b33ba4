//! Records a run: the nodes of blocks in order, each as a dispatch with the current placements of its tensors.

use std::collections::BTreeMap;

use ash::vk;

use super::decision;
use super::dispatch::Dispatch;
use super::hazards::{ObjectId, Space, Tracker};
use super::invocation::Invocation;
use super::network::{Network, NetworkRun, RecordedCounts};
use super::objects::StorageObject;
use super::operand::{OperandShape, operand_shape};
use super::operators::{Call, Operand, calls, computes, copy_call, kernel_shape, same_bytes};
use super::pipelines::arguments_of;
use crate::error::{Error, Result};
use crate::graph::control_flow::Loop;
use crate::graph::{BlockId, ElementType, NodeId, NodeKind, TensorId};
use crate::layout::{Layout, LayoutRule};
use crate::plan::{Backing, CopyTime, ValueCopy};

impl Network {
    /// Records a run into a command buffer: nodes in order, with the barriers between them. It begins with a barrier
    /// after earlier commands, and ends with one that lets the host, copies and kernels read its outputs.
    ///
    /// # Errors
    /// An external input or output without a buffer, a buffer too small for its tensor, a shape outside the plan's ranges, a loop
    /// without its number of rounds, or an operator without a kernel; the error names it. The command buffer must then not be submitted.
    ///
    /// # Safety
    /// `commands` is recording outside of a render pass, on a queue that supports compute; the bound buffers are alive, have
    /// the usage `STORAGE_BUFFER`, and are not otherwise used while the run is in flight; a buffer that was bound earlier and
    /// destroyed was [forgotten](Network::forget) first; earlier runs are on the same queue.
    pub unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        run: &NetworkRun<'_>,
    ) -> Result<RecordedCounts> {
        self.graph.check_values(run.symbols)?;
        Recorder::new(self, commands, run)?.record()
    }
}

pub(super) struct Recorder<'a> {
    pub(super) network: &'a mut Network,
    pub(super) commands: vk::CommandBuffer,
    pub(super) run: &'a NetworkRun<'a>,
    pub(super) tracker: Tracker,
    pub(super) known: BTreeMap<Identity, ObjectId>,
    /// The round of each loop that is being recorded, outermost first.
    pub(super) rounds: Vec<u64>,
    /// For each output of a finished loop: the exit, and the round in which it was taken.
    pub(super) exits_taken: BTreeMap<TensorId, (usize, u64)>,
    /// For each loop whose round numbers continue from one execution to the next: the number of the next execution's first round.
    first_rounds: BTreeMap<NodeId, u64>,
    pub(super) recorded: RecordedCounts,
}

/// Identifies an object of the tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Identity {
    Image(u64),
    Bytes(Space, u64, u64),
}

/// A tensor resolved for the current round of a run.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) resource: StorageObject,
    pub(super) object: ObjectId,
    pub(super) shape: OperandShape,
    pub(super) element: ElementType,
}

impl Resolved {
    /// Resolves a tensor of this name, in this layout.
    pub(super) fn new(
        name: &str,
        layout: &Layout,
        element: ElementType,
        resource: StorageObject,
        object: ObjectId,
    ) -> Result<Resolved> {
        let shape = operand_shape(name, layout)?;
        Ok(Resolved {
            resource,
            object,
            shape,
            element,
        })
    }
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        network: &'a mut Network,
        commands: vk::CommandBuffer,
        run: &'a NetworkRun<'a>,
    ) -> Result<Recorder<'a>> {
        super::external_buffers::check(&network.graph, &network.plan, run.bindings)?;
        Ok(Recorder {
            network,
            commands,
            run,
            tracker: Tracker::default(),
            known: BTreeMap::new(),
            rounds: Vec::new(),
            exits_taken: BTreeMap::new(),
            first_rounds: BTreeMap::new(),
            recorded: RecordedCounts::default(),
        })
    }

    pub(super) fn record(mut self) -> Result<RecordedCounts> {
        let graph = self.network.graph.clone();
        use vk::PipelineStageFlags as S;
        // Earlier commands may still use the same bytes.
        let before = S::COMPUTE_SHADER | S::TRANSFER;
        self.barrier(before, S::COMPUTE_SHADER, vk::AccessFlags::empty());
        for &input in graph.inputs() {
            if self.network.plan.tensor(input).backing == Backing::Planned {
                self.move_planned(input, true)?;
            }
        }
        self.block(BlockId::ROOT, usize::MAX)?;
        for &output in graph.outputs() {
            if self.network.plan.tensor(output).backing == Backing::Planned
                && self.external_buffer(output).is_ok()
            {
                self.move_planned(output, false)?;
            }
        }
        let (readers, reads) = (
            before | S::HOST,
            vk::AccessFlags::HOST_READ | vk::AccessFlags::TRANSFER_READ,
        );
        self.barrier(S::COMPUTE_SHADER, readers, reads);
        Ok(self.recorded)
    }

    fn block(&mut self, block: BlockId, most: usize) -> Result<()> {
        let graph = self.network.graph.clone();
        for &node in graph.block(block).nodes.iter().take(most) {
            match &graph.node(node).kind {
                NodeKind::Operator(_) => self.operator(node)?,
                NodeKind::Loop(repeated) => self.repeat(node, repeated)?,
                NodeKind::Branch(branch) => {
                    let arm = decision::arm(&graph, node, branch, self.run.decisions)?;
                    self.block(arm, usize::MAX)?;
                    self.copies(node, CopyTime::Leave)?;
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, node: NodeId, repeated: &Loop) -> Result<()> {
        let (rounds, exit, taken) =
            decision::rounds(&self.network.graph, node, repeated, self.run.decisions)?;
        let plan = self.network.plan.clone();
        for inner in plan.continued.iter().filter(|inner| inner.within == node) {
            self.first_rounds.remove(&inner.node);
        }
        let begin = self.first_rounds.get(&node).copied().unwrap_or(0);
        self.rounds.push(begin);
        self.copies(node, CopyTime::Enter)?;
        for round in 0..rounds {
            self.set_round(begin + round);
            self.block(repeated.body, usize::MAX)?;
            self.copies(node, CopyTime::Round)?;
        }
        let end = begin + rounds;
        self.set_round(end);
        self.block(repeated.body, taken.after as usize)?;
        self.copies(node, CopyTime::Leave)?;
        self.rounds.pop();
        let graph = self.network.graph.clone();
        let outputs = graph.node(node).outputs.iter();
        self.exits_taken
            .extend(outputs.map(|&output| (output, (exit, end))));
        if let Some(continued) = plan.continued.iter().find(|continued| continued.node == node) {
            let more = continued.more.get(exit).copied().unwrap_or(0);
            self.first_rounds.insert(node, end + more);
        }
        Ok(())
    }

    fn set_round(&mut self, round: u64) {
        *self.rounds.last_mut().expect("a loop is being recorded") = round;
    }

    /// Records the plan's copies for a loop or branch at this time, except copies to the caller's buffers.
    fn copies(&mut self, node: NodeId, time: CopyTime) -> Result<()> {
        let plan = self.network.plan.clone();
        // Copies to the caller's buffers are recorded at the end of the run.
        let here = |copy: &&ValueCopy| copy.node == node && copy.time == time && copy.from != copy.to;
        for &ValueCopy { from, to, .. } in plan.copies.iter().filter(here) {
            let source = self.resolve(from)?;
            let next = u64::from(time == CopyTime::Round);
            self.rounds
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|round| *round += next);
            let target = self.resolve(to);
            self.rounds
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|round| *round -= next);
            let target = target?;
            let call = copy_call(from, source.shape, to, target.shape)
                .map_err(|problem| self.fault(node, "copy", &problem))?;
            self.recorded.copies += 1;
            self.dispatch(node, &call, vec![source, target])?;
        }
        Ok(())
    }

    fn fault(&self, node: NodeId, operator: &str, problem: &str) -> Error {
        Error::operator(&self.network.graph.node(node).name, operator, problem)
    }

    fn operator(&mut self, id: NodeId) -> Result<()> {
        let graph = self.network.graph.clone();
        let node = graph.node(id);
        let NodeKind::Operator(operator) = &node.kind else {
            unreachable!("only operators are dispatched");
        };
        if !computes(&graph, node) {
            return Ok(());
        }
        let shape_of = |tensor: TensorId| self.shape(tensor);
        for call in calls(&graph, node, operator, &shape_of)? {
            self.call(id, &call)?;
        }
        Ok(())
    }

    fn call(&mut self, id: NodeId, call: &Call) -> Result<()> {
        let mut operands = Vec::with_capacity(call.operands.len());
        for operand in &call.operands {
            operands.push(match *operand {
                Operand::Tensor(tensor) => self.resolve(tensor)?,
                Operand::Zeros(vectors) => self.zeros(vectors),
            });
        }
        if let ("reshape", [source, target]) = (call.kernel.as_str(), &operands[..]) {
            if source.object == target.object {
                // The plan placed it as a view.
                let problem = "its output aliases its input with another element order";
                return match same_bytes(source.shape, target.shape) {
                    true => Ok(()),
                    false => Err(self.fault(id, "reshape", problem)),
                };
            }
        }
        self.dispatch(id, call, operands)
    }

    fn zeros(&mut self, vectors: u32) -> Resolved {
        let resource = self
            .network
            .objects()
            .zeros
            .expect("zeros are uploaded if a bias is absent");
        Resolved {
            resource,
            object: self.object(resource, Space::Own(0), 0..1, true),
            shape: OperandShape::row(vectors),
            element: ElementType::Float32,
        }
    }

    /// Fills a planned input from the caller's buffer, or the caller's buffer from a planned output.
    fn move_planned(&mut self, tensor: TensorId, inwards: bool) -> Result<()> {
        let graph = self.network.graph.clone();
        let name = &graph.tensor(tensor).name;
        let given = self.external_buffer(tensor)?;
        let planned = self.resolve(tensor)?;
        let dims = graph.shape_at(tensor, self.run.symbols)?;
        let plain = LayoutRule::buffer().apply(name, &dims, ElementType::Float32)?;
        let caller = self.bind_buffer(tensor, given, &plain, inwards)?;
        let (source, target) = if inwards {
            (caller, planned)
        } else {
            (planned, caller)
        };
        let call = copy_call(tensor, source.shape, tensor, target.shape)
            .map_err(|problem| Error::tensor(name, problem))?;
        self.dispatch(NodeId(0), &call, vec![source, target])
    }

    fn dispatch(&mut self, node: NodeId, call: &Call, operands: Vec<Resolved>) -> Result<()> {
        let bound = self.network.plan.tensor(match call.operands.last() {
            Some(Operand::Tensor(tensor)) => *tensor,
            _ => unreachable!("the last operand of a call is its output tensor"),
        });
        let forms = operands.iter().map(|operand| (operand.shape, operand.element));
        let Invocation { key, format } = Invocation::new(call, forms, operand_shape("", &bound.layout).ok());
        let shapes = operands.iter().map(|operand| kernel_shape(call, operand.shape));
        let bound = operands.iter().map(|operand| (operand.resource, operand.object));
        let bound: Vec<_> = bound.collect();
        let dispatch = Dispatch {
            key,
            operands: &bound,
            format,
            arguments: arguments_of(shapes, &call.numbers),
            work: call.work,
        };
        let graph = self.network.graph.clone();
        let overwritten = |index: usize| {
            let tensor = match call.operands[index] {
                Operand::Tensor(tensor) => &graph.tensor(tensor).name,
                Operand::Zeros(_) => "zeros",
            };
            Error::overwritten(&graph.node(node).name, tensor)
        };
        let (dispatcher, tracker) = (&mut self.network.dispatcher, &mut self.tracker);
        // SAFETY: recording outside of a render pass (the caller's duty); operands are the network's or bound.
        let required = unsafe { dispatcher.record(self.commands, tracker, &dispatch, overwritten) }?;
        self.recorded.barriers += u32::from(required.needs_barrier);
        self.recorded.transitions += required.transitions.len() as u32;
        self.recorded.dispatches += 1;
        Ok(())
    }

    fn barrier(&mut self, from: vk::PipelineStageFlags, to: vk::PipelineStageFlags, more: vk::AccessFlags) {
        self.recorded.barriers += 1;
        let dispatcher = &self.network.dispatcher;
        // SAFETY: recording outside of a render pass (the caller's duty).
        unsafe { dispatcher.barrier(self.commands, (from, to), more, &[]) };
    }
}
