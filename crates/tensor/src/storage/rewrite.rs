//! Conversions into a graph: one per tensor and form, before its first reader in each block.

use std::collections::BTreeMap;

use super::form::Form;
use crate::error::Result;
use crate::graph::{BlockId, Graph, Node, NodeId, NodeKind, Operator, Source, Tensor, TensorId};

/// The operator of inserted nodes: one input, one output of the same shape, each in its layout.
pub const CONVERT: &str = "convert";

pub(super) fn is_conversion(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Operator(operator) if operator.name == CONVERT)
}

pub(super) struct Rewritten {
    pub(super) graph: Graph,
    pub(super) forms: Vec<Form>,
    pub(super) conversions: Vec<NodeId>,
}

/// Puts a conversion wherever `wants` says that a node takes another form than the tensor's; what goes out of blocks is plain.
pub(super) fn convert(
    graph: &Graph,
    forms: &[Form],
    wants: impl Fn(&Graph, &Node, usize, &[Form]) -> Option<Form>,
) -> Result<Rewritten> {
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
                let form =
                    wants(graph, graph.node(id), place, forms).filter(|form| *form != forms[input.index()]);
                let Some(form) = form else { continue };
                let converted = out.converted(input, form, block, &mut made, &mut nodes);
                out.graph.nodes[id.index()].inputs[place] = converted;
                for &output in &graph.node(id).outputs {
                    if let Some(view) = out.graph.tensors[output.index()]
                        .view
                        .as_mut()
                        .filter(|view| view.base == input)
                    {
                        view.base = converted;
                    }
                }
            }
            nodes.push(id);
        }
        let outputs = graph.block(block).outputs.clone();
        let plain: Vec<TensorId> = outputs
            .into_iter()
            .map(|output| match forms[output.index()] {
                Form::Plain | Form::Blocked => output,
                Form::Packed(_) => out.converted(output, Form::Plain, block, &mut made, &mut nodes),
            })
            .collect();
        out.graph.blocks[block.index()].outputs = plain;
        out.graph.blocks[block.index()].nodes = nodes;
        out.leave_plain(graph, block, forms, &mut made);
    }
    out.graph.validate()?;
    Ok(out)
}

impl Rewritten {
    /// What a loop carries and leaves is plain, and made when the round ends.
    fn leave_plain(
        &mut self,
        graph: &Graph,
        block: BlockId,
        forms: &[Form],
        made: &mut BTreeMap<(TensorId, Form), TensorId>,
    ) {
        let owner = graph
            .nodes()
            .iter()
            .position(|node| matches!(&node.kind, NodeKind::Loop(of) if of.body == block));
        let Some(owner) = owner else { return };
        let NodeKind::Loop(mut of) = graph.nodes()[owner].kind.clone() else {
            return;
        };
        let before = graph.block(block).nodes.clone();
        // A result is converted right where the exit is.
        let carried = of
            .carried
            .iter_mut()
            .map(|carry| (&mut carry.value, before.len()));
        let results = of.exits.iter_mut().flat_map(|exit| {
            let after = exit.after as usize;
            let condition = std::iter::once(&mut exit.condition);
            exit.results
                .iter_mut()
                .chain(condition)
                .map(move |result| (result, after))
        });
        for (value, _) in carried.chain(results) {
            if forms[value.index()] == Form::Plain {
                continue;
            }
            let producer = self.graph.blocks[block.index()]
                .nodes
                .iter()
                .position(|&id| self.graph.nodes[id.index()].outputs.contains(value));
            let mut nodes = std::mem::take(&mut self.graph.blocks[block.index()].nodes);
            let at = producer.map_or(0, |producer| producer + 1);
            let rest = nodes.split_off(at);
            made.remove(&(*value, Form::Plain));
            *value = self.converted(*value, Form::Plain, block, made, &mut nodes);
            nodes.extend(rest);
            self.graph.blocks[block.index()].nodes = nodes;
        }
        // Exits count nodes of the body, of which there are more now.
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
            source: Source::Node(node),
            view: None,
            storage_id: None,
            scope: None,
            ..of
        });
        self.graph.nodes.push(Node {
            name,
            kind: NodeKind::Operator(Operator::named(CONVERT)),
            block,
            inputs: vec![tensor],
            outputs: vec![id],
            in_place: Vec::new(),
        });
        self.forms.push(form);
        self.conversions.push(node);
        nodes.push(node);
        made.insert((tensor, form), id);
        id
    }
}
