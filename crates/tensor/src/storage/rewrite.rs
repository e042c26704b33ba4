//! Inserts conversions into a graph: one per tensor and form, before its first reader in each block.

use std::collections::BTreeMap;

use super::form::{Form, required_form};
use crate::error::Result;
use crate::graph::{BlockId, Graph, Node, NodeId, NodeKind, Operator, Tensor, TensorId, TensorSource};

/// The operator of inserted nodes, which convert one input to one output of the same shape in another layout.
pub const CONVERT: &str = "convert";

pub(super) struct Rewritten {
    pub(super) graph: Graph,
    pub(super) forms: Vec<Form>,
    pub(super) conversions: Vec<NodeId>,
}

/// Inserts a conversion wherever a node requires a form other than the tensor's; packed outputs of blocks are converted to plain form.
pub(super) fn convert(graph: &Graph, forms: &[Form]) -> Result<Rewritten> {
    let mut out = Rewritten {
        graph: graph.clone(),
        forms: forms.to_vec(),
        conversions: Vec::new(),
    };
    for block in 0..graph.blocks().len() {
        let block = BlockId(block as u32);
        let mut made: BTreeMap<(TensorId, Form), TensorId> = BTreeMap::new();
        let mut nodes = Vec::with_capacity(graph.block(block).nodes.len());
        for &id in &graph.block(block).nodes {
            for place in 0..graph.node(id).inputs.len() {
                let input = graph.node(id).inputs[place];
                let form = required_form(graph, graph.node(id), place, forms);
                let Some(form) = form.filter(|form| *form != forms[input.index()]) else {
                    continue;
                };
                let converted = out.converted(input, form, block, &mut made, &mut nodes);
                out.graph.nodes[id.index()].inputs[place] = converted;
                for &output in &graph.node(id).outputs {
                    let view = out.graph.tensors[output.index()].view.as_mut();
                    if let Some(view) = view.filter(|view| view.base == input) {
                        view.base = converted;
                    }
                }
            }
            nodes.push(id);
        }
        let outputs = graph.block(block).outputs.iter();
        let plain = outputs.map(|&output| match forms[output.index()] {
            Form::Plain | Form::Blocked => output,
            Form::Packed(_) => out.converted(output, Form::Plain, block, &mut made, &mut nodes),
        });
        let plain: Vec<TensorId> = plain.collect();
        out.graph.blocks[block.index()].outputs = plain;
        out.graph.blocks[block.index()].nodes = nodes;
        out.leave_plain(graph, block, forms, &mut made);
    }
    out.name_outputs(graph);
    out.graph.validate()?;
    Ok(out)
}

impl Rewritten {
    /// A graph without packing, hence without conversions.
    pub(super) fn row_major(graph: &Graph) -> Rewritten {
        Rewritten {
            graph: graph.clone(),
            forms: vec![Form::Plain; graph.tensors().len()],
            conversions: Vec::new(),
        }
    }

    /// Gives the name of a converted output of the graph to its conversion: the caller finds its outputs by the names of the original graph.
    fn name_outputs(&mut self, graph: &Graph) {
        let outputs = self.graph.outputs().to_vec();
        for (&original, converted) in graph.outputs().iter().zip(outputs) {
            let name = &graph.tensor(original).name;
            if original != converted && self.graph.tensor(converted).name != *name {
                self.graph.tensors[original.index()].name = format!("{name}/packed.{}", original.0);
                self.graph.tensors[converted.index()].name.clone_from(name);
            }
        }
    }

    /// Converts the values that a loop carries or returns, and its exit conditions, to plain form.
    fn leave_plain(
        &mut self,
        graph: &Graph,
        block: BlockId,
        forms: &[Form],
        made: &mut BTreeMap<(TensorId, Form), TensorId>,
    ) {
        let mut loops = graph
            .nodes()
            .iter()
            .enumerate()
            .filter_map(|(index, node)| match &node.kind {
                NodeKind::Loop(of) if of.body == block => Some((index, of.clone())),
                _ => None,
            });
        let Some((owner, mut of)) = loops.next() else {
            return;
        };
        let before = graph.block(block).nodes.clone();
        // A value is converted immediately after its producer, hence before its exit.
        let carried = of.carried.iter_mut().map(|carry| &mut carry.value);
        let results = of.exits.iter_mut();
        let results = results.flat_map(|exit| exit.results.iter_mut().chain([&mut exit.condition]));
        for value in carried.chain(results) {
            if forms[value.index()] == Form::Plain {
                continue;
            }
            let mut nodes = std::mem::take(&mut self.graph.blocks[block.index()].nodes);
            let makes = |id: &NodeId| self.graph.node(*id).outputs.contains(value);
            let at = nodes.iter().position(makes).map_or(0, |producer| producer + 1);
            let rest = nodes.split_off(at);
            made.remove(&(*value, Form::Plain));
            *value = self.converted(*value, Form::Plain, block, made, &mut nodes);
            nodes.extend(rest);
            self.graph.blocks[block.index()].nodes = nodes;
        }
        // Exits count the nodes of the body, which now has more of them.
        let place = |nodes: &[NodeId], after: u32| match after {
            0 => 0,
            after => {
                let last = before[after as usize - 1];
                let at = nodes.iter().position(|&node| node == last).map_or(0, |at| at + 1);
                let inserted = |node: &&NodeId| !before.contains(node);
                at + nodes[at..].iter().take_while(inserted).count()
            }
        };
        for exit in &mut of.exits {
            exit.after = place(&self.graph.blocks[block.index()].nodes, exit.after) as u32;
        }
        self.graph.nodes[owner].kind = NodeKind::Loop(of);
    }

    fn converted(
        &mut self,
        tensor: TensorId,
        form: Form,
        block: BlockId,
        made: &mut BTreeMap<(TensorId, Form), TensorId>,
        nodes: &mut Vec<NodeId>,
    ) -> TensorId {
        if let Some(&known) = made.get(&(tensor, form)) {
            return known;
        }
        let of = self.graph.tensors[tensor.index()].clone();
        let id = TensorId(self.graph.tensors.len() as u32);
        let node = NodeId(self.graph.nodes.len() as u32);
        let name = format!("{}/converted.{}", of.name, id.0);
        self.graph.tensors.push(Tensor {
            name: name.clone(),
            source: TensorSource::Node(node),
            view: None,
            storage_id: None,
            scope: None,
            ..of
        });
        self.graph.nodes.push(Node {
            block,
            inputs: vec![tensor],
            outputs: vec![id],
            ..Node::operator(&name, Operator::named(CONVERT))
        });
        self.forms.push(form);
        self.conversions.push(node);
        nodes.push(node);
        made.insert((tensor, form), id);
        id
    }
}
