//! Validation: single assignment, topological order, bounded dimensions, and parts that go together.

use std::collections::BTreeMap;

use super::control_flow::{Block, Loop};
use super::{BlockId, Bounding, Graph, NodeId, NodeKind, Source, SymbolId, TensorId};
use crate::error::{Error, Result};

/// The reader of a graph's outputs, in errors.
const OUTPUTS: &str = "the outputs";

impl Graph {
    /// Checks the graph, and sets the producer of each tensor.
    pub(crate) fn validate(&mut self) -> Result<()> {
        self.check_names()?;
        self.assign_producers()?;
        self.check_dims()?;
        self.check_block(BlockId::ROOT)?;
        self.check_views()
    }

    fn check_names(&self) -> Result<()> {
        let mut seen = BTreeMap::new();
        for tensor in &self.tensors {
            if seen.insert(tensor.name.as_str(), ()).is_some() {
                return Err(Error::DuplicateName {
                    tensor: tensor.name.clone(),
                });
            }
        }
        for symbol in &self.symbols {
            if let Some((least, most)) = symbol.range {
                if least > most {
                    return Err(Error::EmptyRange {
                        symbol: symbol.name.clone(),
                        least,
                        most,
                    });
                }
            }
        }
        Ok(())
    }

    fn assign_producers(&mut self) -> Result<()> {
        let mut producers: Vec<Option<NodeId>> = vec![None; self.tensors.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for output in &node.outputs {
                let tensor = &self.tensors[output.index()];
                let first = match (producers[output.index()], tensor.source) {
                    (Some(first), _) => self.nodes[first.index()].name.clone(),
                    (None, Source::Input(_)) => "the inputs".to_owned(),
                    (None, Source::Constant) => "the constants".to_owned(),
                    (None, Source::Node(_)) => {
                        producers[output.index()] = Some(NodeId(index as u32));
                        continue;
                    }
                };
                return Err(Error::AssignedTwice {
                    tensor: tensor.name.clone(),
                    first,
                    second: node.name.clone(),
                });
            }
        }
        for (tensor, producer) in self.tensors.iter_mut().zip(producers) {
            if let (Source::Node(source), Some(producer)) = (&mut tensor.source, producer) {
                *source = producer;
            }
        }
        Ok(())
    }

    fn check_dims(&self) -> Result<()> {
        let ends = |symbol: SymbolId, end: fn((u64, u64)) -> u64| {
            let symbol = self.symbols.get(symbol.0 as usize)?;
            let value = symbol.range.map(end).or(symbol.example)?;
            i64::try_from(value).ok()
        };
        for id in self.tensor_ids() {
            let tensor = self.tensor(id);
            let mut elements = 1i64;
            for dim in &tensor.shape.0 {
                // Values at both ends of all ranges are exact; interval arithmetic bounds those between, not always tightly.
                for end in [|range: (u64, u64)| range.0, |range: (u64, u64)| range.1] {
                    let value = dim.at(&|symbol| ends(symbol, end));
                    let value = value.ok_or_else(|| self.unbounded_or_unknown(id, dim))?;
                    if value < 0 {
                        return Err(self.negative(id, dim, value));
                    }
                }
                let range = |symbol| Some((ends(symbol, |range| range.0)?, ends(symbol, |range| range.1)?));
                let (_, most) = dim
                    .bounds(&range)
                    .ok_or_else(|| self.unbounded_or_unknown(id, dim))?;
                let bytes = elements.checked_mul(most.max(1));
                elements = bytes
                    .filter(|elements| elements.checked_mul(8).is_some())
                    .ok_or_else(|| self.unbounded_or_unknown(id, dim))?;
            }
        }
        Ok(())
    }

    fn unbounded_or_unknown(&self, id: TensorId, dim: &super::Dim) -> Error {
        let symbol = dim
            .symbol()
            .and_then(|symbol| self.symbols.get(symbol.0 as usize));
        Error::UnboundedDimension {
            tensor: self.tensor(id).name.clone(),
            dim: dim.to_string(),
            symbol: symbol.map_or("?".to_owned(), |symbol| symbol.name.clone()),
        }
    }

    /// Checks a block's nodes in their order.
    fn check_block(&self, id: BlockId) -> Result<()> {
        let block = self.block(id);
        let constant = |tensor: &super::Tensor| tensor.source == Source::Constant;
        let mut defined: Vec<bool> = self.tensors.iter().map(constant).collect();
        for &input in &block.inputs {
            defined[input.index()] = true;
        }
        let dangling = |reader: &str, tensor: TensorId| Error::Dangling {
            node: reader.to_owned(),
            tensor: self.tensor(tensor).name.clone(),
        };
        for &node in &block.nodes {
            let node = self.node(node);
            let missing = node.inputs.iter().find(|input| !defined[input.index()]);
            if let Some(&missing) = missing {
                return Err(dangling(&node.name, missing));
            }
            self.check_in_place(node)?;
            match &node.kind {
                NodeKind::Operator(_) => {}
                NodeKind::Loop(of) => self.check_loop(node, of)?,
                NodeKind::Branch(of) => {
                    for &arm in &of.arms {
                        self.check_parameters(node, arm)?;
                        self.check_block(arm)?;
                        self.check_results(node, &self.block(arm).outputs)?;
                    }
                    if of.arms.is_empty() || node.inputs.is_empty() {
                        return Err(control(
                            node,
                            "a branch needs an arm and an input that selects it".to_owned(),
                        ));
                    }
                }
            }
            for &output in &node.outputs {
                defined[output.index()] = true;
            }
        }
        match block.outputs.iter().find(|output| !defined[output.index()]) {
            Some(&missing) => Err(dangling(OUTPUTS, missing)),
            None => Ok(()),
        }
    }

    fn check_in_place(&self, node: &super::Node) -> Result<()> {
        let known = |pair: &super::InPlace| {
            (pair.output as usize) < node.outputs.len() && (pair.input as usize) < node.inputs.len()
        };
        match node.in_place.iter().find(|pair| !known(pair)) {
            Some(pair) => Err(control(
                node,
                format!(
                    "output {} in place of input {}: one of them does not exist",
                    pair.output, pair.input
                ),
            )),
            None => Ok(()),
        }
    }

    fn check_parameters(&self, node: &super::Node, body: BlockId) -> Result<()> {
        let parameters = &self.block(body).inputs;
        if parameters.len() != node.inputs.len() {
            let problem = format!("{} inputs for {} parameters", node.inputs.len(), parameters.len());
            return Err(control(node, problem));
        }
        let pairs = node.inputs.iter().zip(parameters);
        self.check_same(node, pairs.map(|(&input, &parameter)| (input, parameter)))
    }

    fn check_results(&self, node: &super::Node, results: &[TensorId]) -> Result<()> {
        if results.len() != node.outputs.len() {
            let problem = format!("{} results for {} outputs", results.len(), node.outputs.len());
            return Err(control(node, problem));
        }
        let pairs = results.iter().zip(&node.outputs);
        self.check_same(node, pairs.map(|(&result, &output)| (result, output)))
    }

    fn check_same(
        &self,
        node: &super::Node,
        mut pairs: impl Iterator<Item = (TensorId, TensorId)>,
    ) -> Result<()> {
        let differ = |&(a, b): &(TensorId, TensorId)| {
            let (a, b) = (self.tensor(a), self.tensor(b));
            a.element != b.element || a.shape != b.shape
        };
        match pairs.find(differ) {
            Some((a, b)) => {
                let (a, b) = (self.tensor(a), self.tensor(b));
                let shown =
                    |tensor: &super::Tensor| format!("`{}` {} {}", tensor.name, tensor.element, tensor.shape);
                Err(control(node, format!("{} becomes {}", shown(a), shown(b))))
            }
            None => Ok(()),
        }
    }

    fn check_loop(&self, node: &super::Node, of: &Loop) -> Result<()> {
        self.check_parameters(node, of.body)?;
        self.check_block(of.body)?;
        let body = self.block(of.body);
        if of.exits.is_empty() {
            return Err(control(node, "the loop has no exit".to_owned()));
        }
        for (index, carry) in of.carried.iter().enumerate() {
            let twice = of.carried[..index].iter().any(|other| other.into == carry.into);
            if twice || !body.inputs.contains(&carry.into) {
                let what = if twice {
                    "carried twice"
                } else {
                    "not a parameter of the body"
                };
                return Err(control(
                    node,
                    format!("`{}` is {what}", self.tensor(carry.into).name),
                ));
            }
            if self.defined_after(body, carry.value).is_none() {
                return Err(Error::Dangling {
                    node: node.name.clone(),
                    tensor: self.tensor(carry.value).name.clone(),
                });
            }
        }
        self.check_same(node, of.carried.iter().map(|carry| (carry.value, carry.into)))?;
        let mut last = 0;
        for exit in &of.exits {
            let order = exit.after >= last && exit.after as usize <= body.nodes.len();
            if !order {
                return Err(control(
                    node,
                    format!(
                        "its exits are not in order: one is after node {} of {}",
                        exit.after,
                        body.nodes.len()
                    ),
                ));
            }
            last = exit.after;
            let needed = exit.results.iter().chain([&exit.condition]);
            for &tensor in needed {
                if self
                    .defined_after(body, tensor)
                    .is_none_or(|after| after > exit.after)
                {
                    return Err(Error::Dangling {
                        node: node.name.clone(),
                        tensor: self.tensor(tensor).name.clone(),
                    });
                }
            }
            self.check_results(node, &exit.results)?;
        }
        Ok(())
    }

    /// The number of a block's nodes after which a tensor is defined; `None` if none defines it.
    fn defined_after(&self, block: &Block, tensor: TensorId) -> Option<u32> {
        if block.inputs.contains(&tensor) || self.tensor(tensor).source == Source::Constant {
            return Some(0);
        }
        let node = block
            .nodes
            .iter()
            .position(|&node| self.node(node).outputs.contains(&tensor))?;
        Some(node as u32 + 1)
    }

    fn check_views(&self) -> Result<()> {
        for id in self.tensor_ids() {
            let Some(view) = self.tensor(id).view else {
                continue;
            };
            let view_error = |problem: &str| Error::View {
                tensor: self.tensor(id).name.clone(),
                base: self.tensor(view.base).name.clone(),
                problem: problem.to_owned(),
            };
            let mut base = view.base;
            for _ in 0..self.tensors.len() {
                match self.tensor(base).view {
                    Some(next) => base = next.base,
                    None => break,
                }
            }
            if self.tensor(base).view.is_some() {
                return Err(view_error("the base is a view of it"));
            }
            // The largest values of symbolic shapes are compared.
            let bytes = |id: TensorId| {
                let bound = self.shape_bound(id, Bounding::Ranges);
                let shape = bound.or_else(|_| self.shape_bound(id, Bounding::Examples)).ok()?;
                Some(shape.iter().product::<u64>() * self.tensor(id).element.bytes())
            };
            let (Some(part), Some(whole)) = (bytes(id), bytes(view.base)) else {
                continue;
            };
            if view.offset.0.checked_add(part).is_none_or(|end| end > whole) {
                return Err(view_error("it ends past the end of its base"));
            }
        }
        Ok(())
    }
}

fn control(node: &super::Node, problem: String) -> Error {
    Error::Control {
        node: node.name.clone(),
        problem,
    }
}
