//! Functions of a model, and branches with a known condition: a node is replaced by the nodes that it stands for.

use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};
use super::scoped::Scoped;
use super::{Reader, is_onnx_domain};
use crate::error::{Error, Result};
use crate::graph::TensorId;

/// Maximum number of functions that call each other.
const MAX_CALLS: usize = 64;

/// Maximum number of nodes of a model with functions, each call counted.
const MAX_NODES: usize = 1 << 20;

impl<'a> Reader<'a> {
    /// The function that a node calls, if any.
    pub(super) fn function(&self, node: &NodeProto) -> Option<&'a FunctionProto> {
        let same = |a: &str, b: &str| a == b || is_onnx_domain(a) && is_onnx_domain(b);
        self.functions.iter().find(|function| {
            function.name == node.op_type
                && same(&function.domain, &node.domain)
                && function.overload == node.overload
        })
    }

    /// Reads the nodes of a function in place of a node that calls it.
    pub(super) fn call(&mut self, node: &NodeProto, function: &FunctionProto) -> Result<()> {
        if self.calls == MAX_CALLS || self.count > MAX_NODES {
            let problem = format!(
                "functions are nested more than {MAX_CALLS} deep, or have more than {MAX_NODES} nodes"
            );
            return Err(self.fault(node, problem));
        }
        let name = format!("{}.{}", self.name(node), self.count);
        let (mut ids, mut known) = (Scoped::default(), Scoped::default());
        for (parameter, input) in function.input.iter().zip(&node.input) {
            if !input.is_empty() {
                ids.insert(parameter.clone(), self.id(input, &name)?);
                known.extend(
                    self.known
                        .get(input)
                        .map(|value| (parameter.clone(), value.clone())),
                );
            }
        }
        // Names in a function are its own.
        let outside = (
            std::mem::replace(&mut self.ids, ids),
            std::mem::replace(&mut self.known, known),
            std::mem::take(&mut self.described),
            std::mem::take(&mut self.unnamed),
            std::mem::take(&mut self.symbols_of_call),
        );
        let outputs = std::mem::take(&mut self.outputs);
        let first = self.graph.tensor_count();
        self.calls += 1;
        let read = self.body_of(node, function);
        self.calls -= 1;
        let inside = std::mem::take(&mut self.known);
        (
            self.ids,
            self.known,
            self.described,
            self.unnamed,
            self.symbols_of_call,
        ) = outside;
        self.outputs = outputs;
        self.graph.prefix_names(first, &format!("{name}/"));
        let made = read?;
        for (result, output) in function
            .output
            .iter()
            .zip(&node.output)
            .filter(|(_, output)| !output.is_empty())
        {
            self.known
                .extend(inside.get(result).map(|value| (output.clone(), value.clone())));
        }
        self.adopt(node, &made, first)
    }

    fn body_of(&mut self, call: &NodeProto, function: &FunctionProto) -> Result<Vec<TensorId>> {
        for value in &function.value_info {
            if let Some(described) = self.value(value)? {
                self.described.insert(value.name.clone(), described);
            }
        }
        for node in &function.node {
            let node = with_attributes(node, call, function);
            self.node(&node)?;
        }
        let outputs = function.output.iter().take(call.output.len());
        let reader = format!("the outputs of `{}`", function.name);
        let id = |name: &String| {
            let known = self.ids.get(name).copied();
            known.ok_or_else(|| Error::dangling(&reader, name))
        };
        outputs.map(id).collect()
    }

    /// Reads the arm of a branch that runs in place of the branch.
    pub(super) fn arm(&mut self, node: &NodeProto, graph: &GraphProto) -> Result<()> {
        let prefix = format!("{}.{}/", self.name(node), self.count);
        let first = self.graph.tensor_count();
        let outputs = std::mem::take(&mut self.outputs);
        let read = self.within(&prefix, |reader| {
            reader.constants(graph)?;
            let made = reader.nodes(graph)?;
            let known = graph
                .output
                .iter()
                .map(|value| reader.known.get(&value.name).cloned());
            Ok((made, known.collect::<Vec<_>>()))
        });
        self.outputs = outputs;
        let (made, known) = read?;
        for (output, known) in node
            .output
            .iter()
            .zip(known)
            .filter(|(output, _)| !output.is_empty())
        {
            self.known.extend(known.map(|value| (output.clone(), value)));
        }
        self.adopt(node, &made, first)
    }

    /// Names results that were made for a node as its outputs; outputs of the model are tensors of their names.
    fn adopt(&mut self, node: &NodeProto, made: &[TensorId], first: usize) -> Result<()> {
        for (name, &id) in node.output.iter().zip(made).filter(|(name, _)| !name.is_empty()) {
            let mut id = id;
            if self.outputs.contains(name) {
                let is_new = id.index() >= first && !self.outputs.contains(&self.graph.tensor(id).name);
                let is_constant = self.graph.tensor(id).source == crate::graph::TensorSource::Constant;
                match is_new && !is_constant {
                    true => self.graph.rename(id, name),
                    false => id = self.graph.operator(name, "copy", [], &[id])?[0],
                }
            }
            self.ids.insert(name.clone(), id);
        }
        Ok(())
    }
}

/// A node of a function with the attributes of the call.
fn with_attributes(node: &NodeProto, call: &NodeProto, function: &FunctionProto) -> NodeProto {
    let mut node = node.clone();
    let given = |attribute: AttributeProto| -> Option<AttributeProto> {
        let name = &attribute.ref_attr_name;
        if name.is_empty() {
            return Some(attribute);
        }
        let default = function.attribute_proto.iter().find(|of| of.name == *name);
        let value = call.attribute(name).or(default)?;
        Some(AttributeProto {
            name: attribute.name,
            ref_attr_name: String::new(),
            ..value.clone()
        })
    };
    node.attribute = node.attribute.into_iter().filter_map(given).collect();
    for graph in node
        .attribute
        .iter_mut()
        .filter_map(|attribute| attribute.g.as_mut())
    {
        for inner in &mut graph.node {
            *inner = with_attributes(inner, call, function);
        }
    }
    node
}
