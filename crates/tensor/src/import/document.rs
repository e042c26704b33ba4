//! Graphs as JSON: `"format": "tileheap-graph"`.
//!
//! Tensors and nodes are referred to by name. The shapes of outputs that are not listed in `tensors` are inferred; a single output has
//! the node's name unless `outputs` gives another. Written documents describe every tensor, and read back as the same graph.

use std::collections::BTreeMap;

use super::document_schema::{
    Document, DocumentArm, DocumentDim, DocumentLoop, DocumentNode, DocumentTensor, FORMAT, VERSION,
};
use super::producers::{NodeLinks, with_producer};
use crate::error::{Error, Result, TensorProducer};
use crate::graph::operators::{COMMON_ATTRIBUTES, OPERATORS, definition};
use crate::graph::{
    Dim, DimOperator, ElementType, Graph, GraphBuilder, InPlace, Operator, Shape, SymbolId, TensorId,
};
use crate::units::Bytes;
use tileheap_json::{clip, read};

/// Reads a graph from its JSON form.
///
/// # Errors
/// [`Error::Parse`] if the text is not such a document; an unknown name or another invalid part of the graph.
pub fn read_graph(text: &str) -> Result<Graph> {
    let document: Document = read(text, FORMAT, VERSION).map_err(|error| Error::parse("graph", error))?;
    let mut graph = GraphBuilder::new(document.name);
    let symbols = document.symbols.into_iter();
    let symbols = symbols
        .map(|symbol| (symbol.name.clone(), graph.add_symbol(symbol)))
        .collect();
    let tensors = document.tensors.iter();
    let mut reader = Reader {
        tensors: tensors
            .map(|tensor| (tensor.name.clone(), tensor.clone()))
            .collect(),
        symbols,
        ids: BTreeMap::new(),
        graph,
        notes: document.notes.clone(),
    };
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
    let mut inputs = document.inputs.iter();
    if document.outputs.is_empty() {
        return Err(Error::parse(
            "graph",
            "`outputs` is empty: a graph needs at least one output",
        ));
    }
    if let Some(missing) = inputs.find(|input| !reader.ids.contains_key(*input)) {
        let problem = format!("input `{}` is not among `tensors`", clip(missing));
        return Err(Error::parse("graph", problem));
    }
    reader
        .nodes(&document.nodes)
        .map_err(|error| unmade_view(named_producer(error, &document.nodes), &document.tensors))?;
    for tensor in &document.tensors {
        if let (Some(&id), Some(view)) = (reader.ids.get(&tensor.name), &tensor.view) {
            let base = reader.ids.get(&view.of).copied().ok_or_else(|| {
                let problem = format!("it is a view of `{}`, which does not exist", clip(&view.of));
                Error::tensor(&tensor.name, problem)
            })?;
            reader.graph.view(id, base, Bytes(view.offset));
        }
    }
    for output in &document.outputs {
        let id = reader.id(output, "the outputs");
        let id = id.map_err(|error| named_producer(error, &document.nodes))?;
        reader.graph.output(id);
    }
    document
        .notes
        .into_iter()
        .for_each(|note| reader.graph.note(note));
    reader.graph.build()
}

/// The known operator whose name differs from `name` by one or two letters, but not only in case: ONNX's operators have names like `MatMul`.
fn similar_operator(name: &str) -> Option<&'static str> {
    let most = if name.len() < 5 { 1 } else { 2 };
    let lower = name.to_lowercase();
    if name.len() > 32 || definition(&lower).is_some() {
        return None;
    }
    let all = OPERATORS.iter().map(|definition| definition.name);
    let distances = all.map(|known| (edit_distance(&lower, known), known));
    distances
        .min()
        .filter(|(distance, _)| *distance <= most)
        .map(|(_, known)| known)
}

/// The number of letters to insert, remove or replace; O(n * m).
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Completes an error about a tensor that a node reads before it is produced.
fn named_producer(error: Error, nodes: &[DocumentNode]) -> Error {
    let mut links = Vec::new();
    add_links(nodes, &mut links);
    let reader = match &error {
        Error::Dangling { node, .. } => links.iter().position(|links| links.name == node),
        _ => None,
    };
    with_producer(error, &links, reader)
}

/// Explains an error about a tensor that nothing produces if it is described as a view.
fn unmade_view(error: Error, tensors: &[DocumentTensor]) -> Error {
    let Error::Dangling {
        tensor,
        producer: TensorProducer::Nowhere,
        ..
    } = &error
    else {
        return error;
    };
    let described = tensors.iter().find(|described| described.name == *tensor);
    match described.and_then(|described| described.view.as_ref()) {
        Some(view) => {
            let problem = format!(
                "it is a view of `{}`, but nothing produces it: a view, too, is an output of a node, such as an operator that reads `{0}`",
                clip(&view.of)
            );
            Error::tensor(tensor, problem)
        }
        None => error,
    }
}

/// Adds the links of nodes, and of those in their bodies.
fn add_links<'a>(nodes: &'a [DocumentNode], links: &mut Vec<NodeLinks<'a>>) {
    for node in nodes {
        let mut outputs: Vec<&str> = node.outputs.iter().map(String::as_str).collect();
        if outputs.is_empty() {
            outputs.push(&node.name);
        }
        links.push(NodeLinks {
            name: &node.name,
            inputs: node.inputs.iter().map(String::as_str).collect(),
            outputs,
        });
        let of_loop = node.repeat.iter().map(|of| &of.nodes);
        let of_arms = node.branch.iter().flatten().map(|arm| &arm.nodes);
        of_loop.chain(of_arms).for_each(|nodes| add_links(nodes, links));
    }
}

struct Reader {
    graph: GraphBuilder,
    ids: BTreeMap<String, TensorId>,
    symbols: BTreeMap<String, SymbolId>,
    tensors: BTreeMap<String, DocumentTensor>,
    /// The notes of the document.
    notes: Vec<String>,
}

impl Reader {
    fn id(&self, name: &str, reader: &str) -> Result<TensorId> {
        let known = self.ids.get(name).copied();
        known.ok_or_else(|| Error::dangling(reader, name))
    }

    fn ids(&self, names: &[String], reader: &str) -> Result<Vec<TensorId>> {
        names.iter().map(|name| self.id(name, reader)).collect()
    }

    /// Registers a tensor under its name, and applies its description in the document; returns an error if the name is already taken.
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
            Some(_) => Err(Error::tensor(
                name,
                "it is defined more than once; a tensor must be assigned exactly once",
            )),
        }
    }

    fn described(&self, tensor: &DocumentTensor) -> Result<(ElementType, Shape)> {
        let parse_error =
            |problem: String| Error::parse("graph", format!("tensor `{}`: {problem}", clip(&tensor.name)));
        let element: ElementType = tensor.element.parse().map_err(parse_error)?;
        let dims = tensor.shape.iter().map(|dim| self.dim(dim).map_err(parse_error));
        Ok((element, Shape(dims.collect::<Result<_, _>>()?)))
    }

    fn dim(&self, dim: &DocumentDim) -> Result<Dim, String> {
        match dim {
            DocumentDim::Fixed(value) => Ok(Dim::Fixed(*value)),
            DocumentDim::Symbol(name) => {
                let symbol = self.symbols.get(name).map(|&symbol| symbol.into());
                symbol.ok_or_else(|| format!("unknown symbol `{}`", clip(name)))
            }
            DocumentDim::Of(of) => {
                let mut parts = of.iter();
                let (Some((name, [a, b])), None) = (parts.next(), parts.next()) else {
                    return Err("an expression must have one operator and two operands".to_owned());
                };
                let Some(operator) = DimOperator::named(name) else {
                    return Err(format!("unknown operator `{}` in a dimension", clip(name)));
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
                let problem = "it needs exactly one of `operator`, `loop` and `branch`";
                return Err(Error::control(&node.name, problem));
            }
        };
        if node.outputs.len() > outputs.len() {
            let problem = format!(
                "{} output names are given, but the node has {} outputs",
                node.outputs.len(),
                outputs.len()
            );
            return Err(Error::control(&node.name, problem));
        }
        for (index, id) in outputs.into_iter().enumerate() {
            let given = node.outputs.get(index).cloned();
            let name = given.unwrap_or_else(|| self.graph.tensor(id).name.clone());
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
        self.note_unknown(node, operator);
        let all: Option<Vec<_>> = node.outputs.iter().map(|name| self.tensors.get(name)).collect();
        let Some(all) = all.filter(|all| !all.is_empty()) else {
            let attributes = node
                .attributes
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone()));
            let name = match &node.outputs[..] {
                [only] => only,
                _ => &node.name,
            };
            return self.graph.operator(name, operator, attributes, inputs);
        };
        let mut outputs = Vec::with_capacity(all.len());
        for tensor in all {
            let (element, shape) = self.described(tensor)?;
            outputs.push((tensor.name.clone(), element, shape));
        }
        let (name, attributes) = (operator.to_owned(), node.attributes.clone());
        let operator = Operator { name, attributes };
        self.check_shapes(node, &operator, inputs, &outputs)?;
        let pairs = node.in_place.iter();
        let in_place = pairs.map(|&[output, input]| InPlace { output, input }).collect();
        Ok(self.graph.node(&node.name, operator, inputs, outputs, in_place))
    }

    /// Returns an error if the described shapes of an operator's outputs contradict those that follow from its operands.
    fn check_shapes(
        &self,
        node: &DocumentNode,
        operator: &Operator,
        inputs: &[TensorId],
        outputs: &[(String, ElementType, Shape)],
    ) -> Result<()> {
        // Documents of other readers have operators of these names with other operands.
        let inferred = self.graph.inferred(operator, inputs).unwrap_or_default();
        for ((name, _, described), inferred) in outputs.iter().zip(&inferred) {
            let both = described.fixed().zip(inferred.fixed());
            if let Some((described, inferred)) = both.filter(|(described, inferred)| described != inferred) {
                let problem = format!(
                    "the inferred shape of `{}` is {inferred:?}, but the document says {described:?}",
                    clip(name)
                );
                return Err(Error::operator(&node.name, &operator.name, problem));
            }
        }
        Ok(())
    }

    /// Adds notes about attributes that the operator does not take, and about an operator whose name is close to that of a known one.
    fn note_unknown(&mut self, node: &DocumentNode, operator: &str) {
        let name = clip(&node.name).to_string();
        let mut notes = Vec::new();
        match definition(operator) {
            Some(definition) => {
                let is_known =
                    |name: &str| definition.attributes.contains(&name) || COMMON_ATTRIBUTES.contains(&name);
                let unknown = node.attributes.keys().filter(|name| !is_known(name));
                notes.extend(unknown.map(|unknown| {
                    let takes = match definition.attributes {
                        [] => "takes no attributes".to_owned(),
                        known => format!("takes `{}`", known.join("`, `")),
                    };
                    let unknown = clip(unknown);
                    format!("node `{name}`: attribute `{unknown}` is ignored: operator `{operator}` {takes}")
                }));
            }
            None => notes.extend(similar_operator(operator).map(|similar| {
                let operator = clip(operator);
                format!("node `{name}`: operator `{operator}` is unknown; is `{similar}` meant?")
            })),
        }
        for note in notes {
            if !self.notes.contains(&note) {
                self.graph.note(note);
            }
        }
    }

    fn repeat(
        &mut self,
        node: &DocumentNode,
        of: &DocumentLoop,
        inputs: &[TensorId],
    ) -> Result<Vec<TensorId>> {
        let parameters = self.graph.open(&node.name, inputs);
        self.parameters(&node.name, &of.parameters, &parameters)?;
        for after in 0..=of.nodes.len() {
            for exit in of.exits.iter().filter(|exit| exit.after == after) {
                let condition = self.id(&exit.condition, "an exit")?;
                let results = self.ids(&exit.results, "an exit")?;
                self.graph.exit_unless(condition, &results);
            }
            if let Some(node) = of.nodes.get(after) {
                self.node(node)?;
            }
        }
        for [value, into] in &of.carried {
            let [value, into] = [value, into].map(|name| self.id(name, "a carried value"));
            self.graph.carry(value?, into?);
        }
        if let Some(rounds) = of.rounds {
            self.graph.rounds(rounds);
        }
        Ok(self.graph.close_loop(&node.name, inputs))
    }

    fn branch(
        &mut self,
        node: &DocumentNode,
        arms: &[DocumentArm],
        inputs: &[TensorId],
    ) -> Result<Vec<TensorId>> {
        let mut blocks = Vec::with_capacity(arms.len());
        for (index, arm) in arms.iter().enumerate() {
            let parameters = self.graph.open(&format!("{}.{index}", node.name), inputs);
            self.parameters(&node.name, &arm.parameters, &parameters)?;
            self.nodes(&arm.nodes)?;
            let outputs = self.ids(&arm.outputs, &node.name)?;
            blocks.push(self.graph.close_arm(outputs));
        }
        Ok(self.graph.close_branch(&node.name, blocks, inputs))
    }

    fn parameters(&mut self, node: &str, names: &[String], ids: &[TensorId]) -> Result<()> {
        if names.len() != ids.len() {
            let problem = format!(
                "a body names {} parameters, but the node has {} inputs: name one parameter for each input",
                names.len(),
                ids.len()
            );
            return Err(Error::control(node, problem));
        }
        for (name, &id) in names.iter().zip(ids) {
            self.name_tensor(name, id)?;
        }
        Ok(())
    }
}
