//! Writes graphs as JSON.

use std::collections::BTreeMap;

use super::document_schema::{
    Document, DocumentArm, DocumentDim, DocumentExit, DocumentLoop, DocumentNode, DocumentTensor,
    DocumentView, FORMAT, VERSION,
};
use crate::graph::control_flow::LoopExit;
use crate::graph::{BlockId, Dim, Graph, NodeId, NodeKind, SymbolId, TensorId, TensorSource};

impl Graph {
    /// The graph as JSON, which [`read_graph`](crate::import::read_graph) reads back: the same tensors, nodes and blocks with the
    /// same names. Ids follow the order of the text, constants before node outputs.
    pub fn to_json(&self) -> String {
        let document = Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            name: self.name.clone(),
            symbols: self.symbols.clone(),
            tensors: self.tensor_ids().map(|id| self.described(id)).collect(),
            inputs: self.names(self.inputs()),
            outputs: self.names(self.outputs()),
            nodes: self.written(BlockId::ROOT),
            notes: self.notes.clone(),
        };
        serde_json::to_string_pretty(&document).expect("names and numbers can be serialized") + "\n"
    }

    fn names(&self, ids: &[TensorId]) -> Vec<String> {
        ids.iter().map(|&id| self.tensor(id).name.clone()).collect()
    }

    fn described(&self, id: TensorId) -> DocumentTensor {
        let tensor = self.tensor(id);
        DocumentTensor {
            name: tensor.name.clone(),
            element: tensor.element.name().to_owned(),
            shape: tensor.shape.0.iter().map(|dim| self.dimension(dim)).collect(),
            constant: tensor.source == TensorSource::Constant,
            kept: tensor.kept,
            view: tensor.view.map(|view| DocumentView {
                of: self.tensor(view.base).name.clone(),
                offset: view.offset.0,
            }),
            memory: tensor.memory.clone(),
            storage_id: tensor.storage_id,
            scope: tensor.scope.clone(),
        }
    }

    fn dimension(&self, dim: &Dim) -> DocumentDim {
        match dim {
            Dim::Fixed(value) => DocumentDim::Fixed(*value),
            Dim::Symbol(SymbolId(index)) => DocumentDim::Symbol(self.symbols[*index as usize].name.clone()),
            Dim::Binary(operator, pair) => {
                let parts = [&pair.0, &pair.1].map(|part| Box::new(self.dimension(part)));
                DocumentDim::Of(BTreeMap::from([(operator.name().to_owned(), parts)]))
            }
        }
    }

    fn written(&self, block: BlockId) -> Vec<DocumentNode> {
        let nodes = self.block(block).nodes.iter();
        nodes.map(|&node| self.written_node(node)).collect()
    }

    fn written_node(&self, id: NodeId) -> DocumentNode {
        let node = self.node(id);
        let pairs = node.in_place.iter();
        let mut written = DocumentNode {
            name: node.name.clone(),
            operator: None,
            attributes: BTreeMap::new(),
            inputs: self.names(&node.inputs),
            outputs: self.names(&node.outputs),
            in_place: pairs.map(|pair| [pair.output, pair.input]).collect(),
            repeat: None,
            branch: None,
        };
        match &node.kind {
            NodeKind::Operator(operator) => {
                written.operator = Some(operator.name.clone());
                written.attributes.clone_from(&operator.attributes);
            }
            NodeKind::Loop(of) => {
                let name = |id: TensorId| self.tensor(id).name.clone();
                let carried = of.carried.iter();
                let exit = |exit: &LoopExit| DocumentExit {
                    after: exit.after as usize,
                    condition: name(exit.condition),
                    results: self.names(&exit.results),
                };
                written.repeat = Some(DocumentLoop {
                    parameters: self.names(&self.block(of.body).inputs),
                    nodes: self.written(of.body),
                    carried: carried
                        .map(|carry| [name(carry.value), name(carry.into)])
                        .collect(),
                    exits: of.exits.iter().map(exit).collect(),
                    rounds: of.rounds,
                });
            }
            NodeKind::Branch(of) => {
                let arm = |&arm: &BlockId| DocumentArm {
                    parameters: self.names(&self.block(arm).inputs),
                    nodes: self.written(arm),
                    outputs: self.names(&self.block(arm).outputs),
                };
                written.branch = Some(of.arms.iter().map(arm).collect());
            }
        }
        written
    }
}
