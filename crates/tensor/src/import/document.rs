//! Graphs as JSON: `"format": "tileheap-graph"`.
//!
//! Tensors and nodes are referred to by name. The shapes of outputs that are not among `tensors` are inferred; a single output has the
//! node's name unless `outputs` gives another. Written documents describe every tensor, and read back as the same graph.

use std::collections::BTreeMap;

use super::document_schema::{
    Document, DocumentArm, DocumentDim, DocumentLoop, DocumentNode, DocumentTensor, FORMAT, VERSION,
};
use crate::error::{Error, Result};
use crate::graph::{
    Dim, DimOperator, ElementType, Graph, GraphBuilder, InPlace, Operator, Shape, SymbolId, TensorId,
};
use crate::units::Bytes;
use tileheap_json::{clip, read};

/// Reads a graph.
///
/// # Errors
/// [`Error::Parse`] if the text is not such a document; an unknown name or another invalid part of the graph.
pub fn read_graph(text: &str) -> Result<Graph> {
    let parse_error = |problem: String| Error::Parse {
        format: "graph",
        problem,
    };
    let document: Document = read(text, FORMAT, VERSION).map_err(|error| parse_error(error.to_string()))?;
    let mut reader = Reader {
        graph: GraphBuilder::new(document.name),
        ids: BTreeMap::new(),
        symbols: document
            .symbols
            .iter()
            .enumerate()
            .map(|(index, symbol)| (symbol.name.clone(), SymbolId(index as u32)))
            .collect(),
        tensors: document
            .tensors
            .iter()
            .map(|tensor| (tensor.name.clone(), tensor.clone()))
            .collect(),
    };
    for symbol in document.symbols {
        reader.graph.add_symbol(symbol);
    }
    for tensor in &document.tensors {
        let is_input = document.inputs.contains(&tensor.name);
        if tensor.constant || is_input {
            let (element, shape) = reader.described(tensor)?;
            let id = match is_input {
                true => reader.graph.input(tensor.name.clone(), element, shape),
                false => reader.graph.constant(tensor.name.clone(), element, shape),
            };
            reader.name_tensor(&tensor.name, id)?;
        }
    }
    if let Some(missing) = document
        .inputs
        .iter()
        .find(|input| !reader.ids.contains_key(*input))
    {
        return Err(parse_error(format!(
            "input `{}` is not among `tensors`",
            clip(missing)
        )));
    }
    reader.nodes(&document.nodes)?;
    for tensor in &document.tensors {
        if let (Some(&id), Some(view)) = (reader.ids.get(&tensor.name), &tensor.view) {
            let base = reader.id(&view.of, &tensor.name)?;
            reader.graph.view(id, base, Bytes(view.offset));
        }
    }
    for output in &document.outputs {
        let id = reader.id(output, "the outputs")?;
        reader.graph.output(id);
    }
    reader.graph.build()
}

struct Reader {
    graph: GraphBuilder,
    ids: BTreeMap<String, TensorId>,
    symbols: BTreeMap<String, SymbolId>,
    tensors: BTreeMap<String, DocumentTensor>,
}

impl Reader {
    fn id(&self, name: &str, reader: &str) -> Result<TensorId> {
        self.ids.get(name).copied().ok_or_else(|| Error::Dangling {
            node: reader.to_owned(),
            tensor: name.to_owned(),
        })
    }

    fn ids(&self, names: &[String], reader: &str) -> Result<Vec<TensorId>> {
        names.iter().map(|name| self.id(name, reader)).collect()
    }

    /// Names a tensor, and applies its description in the document.
    fn name_tensor(&mut self, name: &str, id: TensorId) -> Result<()> {
        if let Some(tensor) = self.tensors.get(name) {
            self.graph.storage(id, tensor.storage_id, tensor.scope.clone());
            if tensor.kept {
                self.graph.keep(id);
            }
            if let Some(memory) = &tensor.memory {
                self.graph.pin(id, memory.clone());
            }
        }
        match self.ids.insert(name.to_owned(), id) {
            None => Ok(()),
            Some(_) => Err(Error::AssignedTwice {
                tensor: name.to_owned(),
                first: "an earlier node".to_owned(),
                second: name.to_owned(),
            }),
        }
    }

    fn described(&self, tensor: &DocumentTensor) -> Result<(ElementType, Shape)> {
        let parse_error = |problem: String| Error::Parse {
            format: "graph",
            problem: format!("tensor `{}`: {problem}", clip(&tensor.name)),
        };
        let element: ElementType = tensor.element.parse().map_err(parse_error)?;
        let dims = tensor.shape.iter().map(|dim| self.dim(dim).map_err(parse_error));
        Ok((element, Shape(dims.collect::<Result<_, _>>()?)))
    }

    fn dim(&self, dim: &DocumentDim) -> Result<Dim, String> {
        match dim {
            DocumentDim::Fixed(value) => Ok(Dim::Fixed(*value)),
            DocumentDim::Symbol(name) => {
                let symbol = self.symbols.get(name);
                symbol
                    .map(|&symbol| symbol.into())
                    .ok_or_else(|| format!("unknown symbol `{}`", clip(name)))
            }
            DocumentDim::Of(of) => {
                let mut parts = of.iter();
                let (Some((name, [a, b])), None) = (parts.next(), parts.next()) else {
                    return Err("an expression has one operator and two operands".to_owned());
                };
                let Some(operator) = DimOperator::named(name) else {
                    return Err(format!("unknown operator `{}` of dimensions", clip(name)));
                };
                Ok(operator.apply(self.dim(a)?, self.dim(b)?))
            }
        }
    }

    fn nodes(&mut self, nodes: &[DocumentNode]) -> Result<()> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &DocumentNode) -> Result<()> {
        let inputs = self.ids(&node.inputs, &node.name)?;
        let outputs = match (&node.operator, &node.repeat, &node.branch) {
            (Some(operator), None, None) => self.operator(node, operator, &inputs)?,
            (None, Some(of), None) => self.repeat(node, of, &inputs)?,
            (None, None, Some(arms)) => self.branch(node, arms, &inputs)?,
            _ => {
                return Err(Error::Control {
                    node: node.name.clone(),
                    problem: "it needs exactly one of `operator`, `loop` and `branch`".to_owned(),
                });
            }
        };
        if node.outputs.len() > outputs.len() {
            return Err(Error::Control {
                node: node.name.clone(),
                problem: format!("{} names for {} outputs", node.outputs.len(), outputs.len()),
            });
        }
        for (index, id) in outputs.into_iter().enumerate() {
            let name = node
                .outputs
                .get(index)
                .cloned()
                .unwrap_or_else(|| self.graph.tensor(id).name.clone());
            self.name_tensor(&name, id)?;
        }
        Ok(())
    }

    fn operator(
        &mut self,
        node: &DocumentNode,
        operator: &str,
        inputs: &[TensorId],
    ) -> Result<Vec<TensorId>> {
        let described: Vec<Option<DocumentTensor>> = node
            .outputs
            .iter()
            .map(|name| self.tensors.get(name).cloned())
            .collect();
        let all: Option<Vec<DocumentTensor>> = described.into_iter().collect();
        match all.filter(|all| !all.is_empty()) {
            Some(all) => {
                let mut outputs = Vec::with_capacity(all.len());
                for tensor in &all {
                    let (element, shape) = self.described(tensor)?;
                    outputs.push((tensor.name.clone(), element, shape));
                }
                let operator = Operator {
                    name: operator.to_owned(),
                    attributes: node.attributes.clone(),
                };
                let in_place = node
                    .in_place
                    .iter()
                    .map(|&[output, input]| InPlace { output, input })
                    .collect();
                Ok(self
                    .graph
                    .node(node.name.clone(), operator, inputs, outputs, in_place))
            }
            None => {
                let attributes = node
                    .attributes
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.clone()));
                let name = node
                    .outputs
                    .first()
                    .filter(|_| node.outputs.len() == 1)
                    .unwrap_or(&node.name);
                self.graph.operator(name, operator, attributes, inputs)
            }
        }
    }

    fn repeat(
        &mut self,
        node: &DocumentNode,
        of: &DocumentLoop,
        inputs: &[TensorId],
    ) -> Result<Vec<TensorId>> {
        let mut graph = std::mem::replace(&mut self.graph, GraphBuilder::new(""));
        let outputs = graph.repeat(&node.name, inputs, |body, parameters| {
            self.within(body, |reader| reader.round(of, parameters))
        });
        self.graph = graph;
        outputs
    }

    fn round(&mut self, of: &DocumentLoop, parameters: &[TensorId]) -> Result<()> {
        self.parameters(&of.parameters, parameters)?;
        for after in 0..=of.nodes.len() {
            for exit in of.exits.iter().filter(|exit| exit.after == after) {
                let condition = self.id(&exit.condition, "an exit")?;
                let results = self.ids(&exit.results, "an exit")?;
                self.graph.leave_unless(condition, &results);
            }
            if let Some(node) = of.nodes.get(after) {
                self.node(node)?;
            }
        }
        for [value, into] in &of.carried {
            let (value, into) = (
                self.id(value, "a carried value")?,
                self.id(into, "a carried value")?,
            );
            self.graph.carry(value, into);
        }
        Ok(())
    }

    fn branch(
        &mut self,
        node: &DocumentNode,
        arms: &[DocumentArm],
        inputs: &[TensorId],
    ) -> Result<Vec<TensorId>> {
        let mut graph = std::mem::replace(&mut self.graph, GraphBuilder::new(""));
        let outputs = graph.branch(
            &node.name,
            inputs,
            arms.len() as u32,
            |body, index, parameters| {
                let arm = &arms[index as usize];
                self.within(body, |reader| {
                    reader.parameters(&arm.parameters, parameters)?;
                    reader.nodes(&arm.nodes)?;
                    reader.ids(&arm.outputs, &node.name)
                })
            },
        );
        self.graph = graph;
        outputs
    }

    /// Reads a body of a loop or branch, whose builder is `body`.
    fn within<T>(&mut self, body: &mut GraphBuilder, read: impl FnOnce(&mut Reader) -> T) -> T {
        std::mem::swap(&mut self.graph, body);
        let built = read(self);
        std::mem::swap(&mut self.graph, body);
        built
    }

    fn parameters(&mut self, names: &[String], ids: &[TensorId]) -> Result<()> {
        for (name, &id) in names.iter().zip(ids) {
            self.name_tensor(name, id)?;
        }
        Ok(())
    }
}
