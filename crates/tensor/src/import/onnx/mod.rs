//! ONNX files as graphs.
//!
//! ```text
//! bytes ──prost──► messages ──► constants folded, operators mapped ──► Graph, shapes as expressions of the inputs' symbols
//! ```
//! `prost` decodes. Shapes are inferred by [`GraphBuilder::operator`], so that a dimension that the file leaves open stays a symbol
//! in every tensor; where an operator is not known here, the shapes that the file has for its outputs are taken. A runtime's own
//! inference (`tract-onnx`) would know more operators, at the price of some two hundred crates, and of the symbols' ranges.
//!
//! `If` is a branch, `Loop` and `Scan` are loops; an identity is its operand.
//!
//! Not done: sequences and optionals, weights' values (shapes are all that planning needs), data in files beside the model.

mod bodies;
mod fold;
mod operators;
mod proto;
mod shapes;

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use proto::{DimensionValue, GraphProto, Model, ValueInfo};

use crate::error::{Error, Result};
use crate::graph::{Dim, ElementType, Graph, GraphBuilder, Shape, Symbol, SymbolId, TensorId};

/// What an ONNX file does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnnxOptions {
    /// The least and the greatest value of open dimensions, by their names in the file (`batch`); one without a name is called
    /// after its tensor and axis (`x.0`).
    pub ranges: BTreeMap<String, (u64, u64)>,
}

/// Reads a model.
///
/// ```no_run
/// use tileheap_tensor::import::onnx::{OnnxOptions, read_onnx};
///
/// // Batches of 1 to 8, in a file that leaves them open.
/// let ranges = [("batch".to_owned(), (1, 8))].into();
/// let graph = read_onnx(&std::fs::read("mobilenet.onnx")?, &OnnxOptions { ranges })?;
/// println!("{}: {} tensors", graph.name(), graph.tensors().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The bytes are no model, an operator is not known and the file has no shapes of its outputs, an open dimension has no range, or what
/// else a graph cannot have.
pub fn read_onnx(bytes: &[u8], options: &OnnxOptions) -> Result<Graph> {
    let model = Model::decode(bytes).map_err(wrong)?;
    let graph = model.graph.ok_or_else(|| wrong("there is no graph in it"))?;
    let mut reader = Reader {
        graph: GraphBuilder::new(graph.name.clone()),
        options,
        symbols: BTreeMap::new(),
        ids: BTreeMap::new(),
        known: BTreeMap::new(),
        numbers: BTreeMap::new(),
        described: BTreeMap::new(),
        outputs: graph.output.iter().map(|value| value.name.clone()).collect(),
        count: 0,
    };
    reader.all(&graph)?;
    reader.graph.build()
}

fn wrong(problem: impl ToString) -> Error {
    Error::parse("ONNX model", problem)
}

/// An axis that may be counted from the last.
fn wrapped(axis: i64, rank: usize) -> Option<usize> {
    let axis = usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok();
    axis.filter(|&axis| axis < rank)
}

struct Reader<'a> {
    graph: GraphBuilder,
    options: &'a OnnxOptions,
    symbols: BTreeMap<String, SymbolId>,
    ids: BTreeMap<String, TensorId>,
    /// Values that are known before anything runs: shapes, axes.
    known: BTreeMap<String, Vec<i64>>,
    /// Single numbers among the constants.
    numbers: BTreeMap<String, f32>,
    /// What the file says of values that nodes make.
    described: BTreeMap<String, (ElementType, Shape)>,
    /// Names of the model's outputs.
    outputs: BTreeSet<String>,
    count: usize,
}

impl Reader<'_> {
    fn all(&mut self, graph: &GraphProto) -> Result<()> {
        self.constants(graph)?;
        for value in &graph.input {
            if !self.ids.contains_key(&value.name) {
                let form = self.value(value)?;
                let (element, shape) =
                    form.ok_or_else(|| wrong(format!("input `{}` has no shape", value.name)))?;
                let id = self.graph.input(value.name.clone(), element, shape);
                self.ids.insert(value.name.clone(), id);
            }
        }
        for output in self.nodes(graph)? {
            self.graph.output(output);
        }
        Ok(())
    }

    fn constants(&mut self, graph: &GraphProto) -> Result<()> {
        let mut constants = graph.initializer.iter();
        constants.try_for_each(|tensor| self.constant(&tensor.name, tensor))
    }

    /// Reads a graph's or body's nodes; gives its outputs.
    fn nodes(&mut self, graph: &GraphProto) -> Result<Vec<TensorId>> {
        for value in graph.value_info.iter().chain(&graph.output) {
            if let Some(described) = self.value(value)? {
                self.described.insert(value.name.clone(), described);
            }
        }
        graph.node.iter().try_for_each(|node| self.node(node))?;
        let outputs = graph.output.iter();
        outputs.map(|value| self.id(&value.name, "the outputs")).collect()
    }

    fn constant(&mut self, name: &str, tensor: &proto::TensorProto) -> Result<()> {
        if let Some(values) = tensor.int64s() {
            self.known.insert(name.to_owned(), values);
        }
        if let Some(number) = tensor.float() {
            self.numbers.insert(name.to_owned(), number);
        }
        let element =
            element(tensor.data_type).map_err(|problem| wrong(format!("constant `{name}`: {problem}")))?;
        let shape = Shape::new(tensor.dims.iter().copied());
        let id = self.graph.constant(name, element, shape);
        self.ids.insert(name.to_owned(), id);
        Ok(())
    }

    fn id(&self, name: &str, reader: &str) -> Result<TensorId> {
        let known = self.ids.get(name).copied();
        known.ok_or_else(|| Error::dangling(reader, name))
    }

    /// The type and shape that the file has for a value; `None` where it has none.
    fn value(&mut self, value: &ValueInfo) -> Result<Option<(ElementType, Shape)>> {
        let tensor = value.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        let Some((tensor, shape)) = tensor.and_then(|tensor| Some((tensor, tensor.shape.as_ref()?))) else {
            return Ok(None);
        };
        let element =
            element(tensor.elem_type).map_err(|problem| wrong(format!("`{}`: {problem}", value.name)))?;
        let mut dims = Vec::with_capacity(shape.dim.len());
        for (axis, dim) in shape.dim.iter().enumerate() {
            dims.push(match &dim.value {
                Some(DimensionValue::Value(value)) => Dim::Fixed(*value),
                Some(DimensionValue::Param(name)) if !name.is_empty() => self.symbol(name.clone()),
                _ => self.symbol(format!("{}.{axis}", value.name)),
            });
        }
        Ok(Some((element, Shape(dims))))
    }

    fn symbol(&mut self, name: String) -> Dim {
        let range = self.options.ranges.get(&name).copied();
        let (graph, example) = (&mut self.graph, None);
        let new = |name: &String| {
            graph.add_symbol(Symbol {
                name: name.clone(),
                range,
                example,
            })
        };
        let id = self.symbols.entry(name).or_insert_with_key(new);
        (*id).into()
    }
}

/// ONNX's numbers of element types.
fn element(data_type: i32) -> Result<ElementType, String> {
    Ok(match data_type {
        1 => ElementType::Float32,
        2 => ElementType::UInt8,
        3 => ElementType::Int8,
        4 => ElementType::UInt16,
        5 => ElementType::Int16,
        6 => ElementType::Int32,
        7 => ElementType::Int64,
        9 => ElementType::Bool,
        10 => ElementType::Float16,
        11 => ElementType::Float64,
        12 => ElementType::UInt32,
        13 => ElementType::UInt64,
        16 => ElementType::BFloat16,
        other => return Err(format!("elements of ONNX's type {other} have no place here")),
    })
}

#[cfg(test)]
mod tests;
