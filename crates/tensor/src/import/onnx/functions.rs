//! Inlines a model's functions, and branches with a known condition.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Reader;
use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto, onnx_version};
use super::scoped::Scoped;
use crate::error::{Error, Result};
use crate::graph::TensorId;

/// Maximum number of nodes of a model that calls functions; the nodes of a function count once per call.
const MAX_NODES: usize = 1 << 20;

/// Maximum number of bytes that all calls of functions read; the bytes of a function count once per call.
const MAX_BYTES: usize = 1 << 30;

impl Reader<'_> {
    /// Reads the nodes of a function in place of a node that calls it; the call reads `bytes` bytes.
    pub(super) fn call(&mut self, node: &NodeProto, function: &FunctionProto, bytes: usize) -> Result<()> {
        let known: usize = (0..node.input.len())
            .filter_map(|place| self.input_known(node, place))
            .map(|known| known.numbers.len() * size_of::<usize>())
            .sum();
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(known);
        if self.count > MAX_NODES || self.bytes > MAX_BYTES {
            let problem = format!(
                "with called functions inlined, the model has more than {MAX_NODES} nodes, or its calls read more than {MAX_BYTES} bytes"
            );
            return Err(self.fault(node, problem));
        }
        let name = format!("{}.{}", self.name(node), self.count);
        self.enter(node)?;
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
        let version = onnx_version(&function.opset_import).unwrap_or(self.version);
        let version = std::mem::replace(&mut self.version, version);
        let first = self.graph.tensor_count();
        self.calls += 1;
        let read = self.body_of(node, function);
        self.calls -= 1;
        self.depth -= 1;
        let inside = std::mem::take(&mut self.known);
        (
            self.ids,
            self.known,
            self.described,
            self.unnamed,
            self.symbols_of_call,
        ) = outside;
        (self.outputs, self.version) = (outputs, version);
        self.graph.prefix_names(first, &format!("{name}/"));
        let made = read?;
        for (result, output) in function.output.iter().zip(&node.output) {
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
        let given = call.input.iter().map(String::as_str).chain(std::iter::repeat(""));
        let parameters = function.input.iter().map(String::as_str).zip(given);
        let omitted = parameters.filter(|(_, input)| input.is_empty());
        let of = Call {
            call,
            function,
            omitted: omitted.map(|(parameter, _)| parameter).collect(),
        };
        for node in &function.node {
            self.node(&of.node(node))?;
        }
        let outputs = function.output.iter().take(call.output.len());
        let reader = format!("the outputs of `{}`", function.name);
        let id = |name: &String| {
            let known = self.ids.get(name).copied();
            known.ok_or_else(|| Error::dangling(&reader, name))
        };
        outputs.map(id).collect()
    }

    /// Reads an arm in place of its branch, whose condition is known.
    pub(super) fn arm(&mut self, node: &NodeProto, graph: &GraphProto) -> Result<()> {
        let prefix = format!("{}.{}/", self.name(node), self.count);
        let first = self.graph.tensor_count();
        let outputs = std::mem::take(&mut self.outputs);
        let read = self.within(node, &prefix, |reader| {
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
        for (output, known) in node.output.iter().zip(known) {
            self.known.extend(known.map(|value| (output.clone(), value)));
        }
        self.adopt(node, &made, first)
    }

    /// Assigns the tensors in `made` to the output names of a node, and renames those that have no such name yet. For an output of the model that cannot
    /// be renamed, copies the tensor.
    fn adopt(&mut self, node: &NodeProto, made: &[TensorId], first: usize) -> Result<()> {
        let mut renamed = BTreeSet::new();
        let mut outputs: Vec<(&String, TensorId)> = node.output.iter().zip(made.iter().copied()).collect();
        outputs.retain(|(name, _)| !name.is_empty());
        outputs.sort_by_key(|(name, _)| !self.outputs.contains(*name));
        for (name, mut id) in outputs {
            let is_constant = self.graph.tensor(id).source == crate::graph::TensorSource::Constant;
            if id.index() >= first && !is_constant && renamed.insert(id) {
                self.graph.rename(id, name);
            } else if self.outputs.contains(name) {
                id = self.graph.operator(name, "copy", [], &[id])?[0];
            }
            self.ids.insert(name.clone(), id);
        }
        Ok(())
    }
}

/// A call of a function.
struct Call<'a> {
    call: &'a NodeProto,
    function: &'a FunctionProto,
    /// Parameters that the call omits.
    omitted: BTreeSet<&'a str>,
}

impl Call<'_> {
    /// A node of the function with the attributes of the call, and without the inputs that the call omits.
    fn node<'n>(&self, node: &'n NodeProto) -> Cow<'n, NodeProto> {
        if self.is_final(node) {
            return Cow::Borrowed(node);
        }
        let mut node = node.clone();
        for input in &mut node.input {
            if self.omitted.contains(input.as_str()) {
                input.clear();
            }
        }
        node.attribute = node
            .attribute
            .into_iter()
            .filter_map(|attribute| self.attribute(attribute))
            .collect();
        for graph in node
            .attribute
            .iter_mut()
            .filter_map(|attribute| attribute.g.as_mut())
        {
            for inner in &mut graph.node {
                if let Cow::Owned(changed) = self.node(inner) {
                    *inner = changed;
                }
            }
        }
        Cow::Owned(node)
    }

    /// Returns true for a node that is the same in every call.
    fn is_final(&self, node: &NodeProto) -> bool {
        let is_final = |graph: &GraphProto| graph.node.iter().all(|node| self.is_final(node));
        !node
            .input
            .iter()
            .any(|input| self.omitted.contains(input.as_str()))
            && node.attribute.iter().all(|attribute| {
                attribute.ref_attr_name.is_empty() && attribute.g.as_ref().is_none_or(is_final)
            })
    }

    /// Resolves an attribute of a node, which may refer to one of the call; `None` if neither the call nor the function gives its value.
    fn attribute(&self, attribute: AttributeProto) -> Option<AttributeProto> {
        let name = &attribute.ref_attr_name;
        if name.is_empty() {
            return Some(attribute);
        }
        let default = self.function.attribute_proto.iter().find(|of| of.name == *name);
        let value = self.call.attribute(name).or(default)?;
        Some(AttributeProto {
            name: attribute.name,
            ref_attr_name: String::new(),
            ..value.clone()
        })
    }
}
