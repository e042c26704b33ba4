//! ONNX files as graphs.
//!
//! ```text
//! bytes ──prost──► messages ──► constants folded, operators mapped ──► Graph, shapes as expressions of the inputs' symbols
//! ```
//! `prost` decodes. Shapes are inferred by [`GraphBuilder::operator`], so that a dimension that the file leaves open stays a symbol
//! in every tensor; for unknown operators, the output shapes in the file are used. A runtime's own inference (`tract-onnx`) would
//! know more operators, at the cost of some two hundred crates, and would lose the symbols' ranges.
//!
//! `If` becomes a branch, `Loop` and `Scan` become loops; an identity is replaced by its operand.
//!
//! Numbers derived from shapes (`Shape`, `Gather`, `Concat`, arithmetic and so on) are constants: they are known when the shapes are,
//! before execution. Unknown element types are planned by their size, with a note of the graph.
//!
//! Not done: sequences and optionals, values of weights (planning needs only shapes).

mod bodies;
mod external;
mod fold;
mod function_table;
mod functions;
mod known;
mod movement;
mod operators;
mod proto;
mod rules;
mod scoped;
mod shapes;
mod supported;
mod symbols;
mod windows;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub use supported::{ONNX_OPERATORS, OnnxSupport, onnx_support};

use external::{external_data, external_numbers, has_external_shape};
use function_table::FunctionTable;
use known::Known;
use prost::Message;
use proto::{DimensionValue, GraphProto, Model, NodeProto, ValueInfo};
use scoped::Scoped;

use super::producers::{NodeLinks, with_producer};
use crate::error::{Error, Result};
use crate::file_kind::is_text;
use crate::graph::{Dim, ElementType, Graph, GraphBuilder, Shape, SymbolId, Tensor, TensorId, TensorSource};
use tileheap_json::clip;

/// Maximum nesting depth of functions and bodies.
const MAX_DEPTH: usize = 64;

/// Options for reading ONNX files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnnxOptions {
    /// The least and the greatest value of dynamic dimensions, by their names in the file (`batch`); a dimension without a name is named
    /// after its tensor and axis (`x.0`).
    pub ranges: BTreeMap<String, (u64, u64)>,
    /// The folder of the model, for shapes that are stored in files of external data; `None` to read no such files.
    pub folder: Option<PathBuf>,
}

/// Reads an ONNX model as a graph.
///
/// ```no_run
/// use tileheap_tensor::import::onnx::{OnnxOptions, read_onnx};
///
/// // Batches of 1 to 8, in a file that leaves them open.
/// let ranges = [("batch".to_owned(), (1, 8))].into();
/// let folder = Some("models".into()); // shapes in files of external data
/// let graph = read_onnx(&std::fs::read("models/mobilenet.onnx")?, &OnnxOptions { ranges, folder })?;
/// println!("{}: {} tensors", graph.name(), graph.tensors().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The bytes are not a model, an operator is unknown and the file has no shapes for its outputs, a dynamic dimension has no range, a range
/// is given for a dimension that does not exist, or the graph is invalid.
pub fn read_onnx(bytes: &[u8], options: &OnnxOptions) -> Result<Graph> {
    let model = Model::decode(bytes).map_err(invalid)?;
    let graph = model.graph.ok_or_else(|| invalid("the file contains no graph"))?;
    let mut reader = Reader {
        graph: GraphBuilder::new(graph.name.clone()),
        options,
        symbols: BTreeMap::new(),
        symbols_of_call: BTreeMap::new(),
        unnamed: Scoped::default(),
        dynamic_names: BTreeSet::new(),
        ids: Scoped::default(),
        known: Scoped::default(),
        tracked: 0,
        unknown_elements: BTreeSet::new(),
        unread_constants: Vec::new(),
        unknown_operators: BTreeMap::new(),
        described: Scoped::default(),
        outputs: graph.output.iter().map(|value| value.name.clone()).collect(),
        version: proto::onnx_version(&model.opset_import).unwrap_or(0),
        functions: FunctionTable::new(&model.functions),
        calls: 0,
        depth: 0,
        count: 0,
        bytes: 0,
    };
    reader.all(&graph)?;
    reader.check_ranges()?;
    reader.note_unknown_elements();
    reader.note_unread();
    reader.note_unknown_operators();
    reader.graph.build()
}

/// Returns true if the bytes are a model, whatever the file name: they are not text, and contain a graph.
pub fn is_onnx(bytes: &[u8]) -> bool {
    !is_text(bytes) && Model::decode(bytes).is_ok_and(|model| model.graph.is_some())
}

fn invalid(problem: impl ToString) -> Error {
    Error::parse("ONNX model", problem)
}

/// Completes an error about a tensor that the node with index `reader` reads before it is produced.
fn named_producer(error: Error, graph: &GraphProto, reader: usize) -> Error {
    let links = graph.node.iter().map(|node| NodeLinks {
        name: match node.name.is_empty() {
            true => &node.op_type,
            false => &node.name,
        },
        inputs: node.input.iter().map(String::as_str).collect(),
        outputs: node
            .output
            .iter()
            .map(String::as_str)
            .filter(|name| !name.is_empty())
            .collect(),
    });
    let links: Vec<NodeLinks<'_>> = links.collect();
    with_producer(error, &links, Some(reader))
}

/// Resolves an axis, which counts from the end if it is negative; `None` if it is out of range.
fn wrapped(axis: i64, rank: usize) -> Option<usize> {
    let axis = usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok();
    axis.filter(|&axis| axis < rank)
}

struct Reader<'a> {
    graph: GraphBuilder,
    options: &'a OnnxOptions,
    /// Symbols of the dimensions that have a name in the model.
    symbols: BTreeMap<String, SymbolId>,
    /// Symbols of the other dimensions that have a name, in the current call of a function.
    symbols_of_call: BTreeMap<String, SymbolId>,
    /// Symbols of other dynamic dimensions, by tensor and axis.
    unnamed: Scoped<SymbolId>,
    /// The names of all dynamic dimensions, for which the options may give ranges.
    dynamic_names: BTreeSet<String>,
    ids: Scoped<TensorId>,
    /// Values known before execution: shapes, axes, scales.
    known: Scoped<Known>,
    /// Total number of terms in `known` values that nodes computed; at most `MAX_TRACKED`.
    tracked: usize,
    /// Element types that this reader does not know, by ONNX's numbers.
    unknown_elements: BTreeSet<i32>,
    /// Names of small constants whose external data could not be read.
    unread_constants: Vec<String>,
    /// Operators that ONNX does not have, each with the name of the first node.
    unknown_operators: BTreeMap<String, String>,
    /// Types and shapes that the file gives for node outputs.
    described: Scoped<(ElementType, Shape)>,
    /// Names of the model's outputs.
    outputs: BTreeSet<String>,
    /// The version of ONNX's operator set; 0 if the file does not give one.
    version: i64,
    functions: FunctionTable<'a>,
    /// The number of function calls that enclose the current node.
    calls: usize,
    /// The number of function calls and bodies that enclose the current node.
    depth: usize,
    /// The number of nodes read so far.
    count: usize,
    /// The bytes read in calls of functions so far.
    bytes: usize,
}

impl Reader<'_> {
    fn all(&mut self, graph: &GraphProto) -> Result<()> {
        self.constants(graph)?;
        for value in &graph.input {
            if self.ids.get(&value.name).is_none() {
                let form = self.value(value)?;
                let (element, shape) = form.ok_or_else(|| {
                    invalid(format!("input `{}` must be a tensor with a shape", value.name))
                })?;
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
        constants.try_for_each(|tensor| self.constant(&tensor.name, tensor))?;
        for tensor in &graph.sparse_initializer {
            let name = tensor.values.as_ref().map_or("", |values| &values.name);
            self.sparse_constant(name, tensor);
        }
        Ok(())
    }

    /// Adds a sparse tensor as the dense tensor that its readers see.
    fn sparse_constant(&mut self, name: &str, tensor: &proto::SparseTensorProto) {
        let element = tensor.values.as_ref().map(|values| self.element_of(values));
        let shape = Shape::new(tensor.dims.iter().copied());
        let id = self.graph.constant(name, element.unwrap_or(UNKNOWN), shape);
        self.ids.insert(name.to_owned(), id);
    }

    /// Reads the nodes of a graph or body; returns its outputs.
    fn nodes(&mut self, graph: &GraphProto) -> Result<Vec<TensorId>> {
        for value in graph.value_info.iter().chain(&graph.output) {
            if let Some(described) = self.value(value)? {
                self.described.insert(value.name.clone(), described);
            }
        }
        for (index, node) in graph.node.iter().enumerate() {
            let read = self.node(node);
            // In a body, a later node of an enclosing graph may be meant.
            read.map_err(|error| match self.depth {
                0 => named_producer(error, graph, index),
                _ => error,
            })?;
        }
        let outputs = graph.output.iter();
        outputs.map(|value| self.id(&value.name, "the outputs")).collect()
    }

    fn constant(&mut self, name: &str, tensor: &proto::TensorProto) -> Result<()> {
        let element = self.element_of(tensor);
        let known = match external_data(tensor, element) {
            None => tensor.known(element),
            Some(data) => {
                let folder = self.options.folder.as_deref();
                folder.and_then(|folder| external_numbers(tensor, element, data, folder))
            }
        };
        match known {
            Some(known) => self.known.insert(name.to_owned(), known),
            None if has_external_shape(tensor, element) => self.unread_constants.push(name.to_owned()),
            None => {}
        }
        let shape = Shape::new(tensor.dims.iter().copied());
        let id = self.graph.constant(name, element, shape);
        self.ids.insert(name.to_owned(), id);
        Ok(())
    }

    /// The type of a constant's elements; for an unknown type, the narrowest that holds its data, or `UNKNOWN` if the size of the data is not known
    /// either.
    fn element_of(&self, tensor: &proto::TensorProto) -> ElementType {
        let count = tensor
            .dims
            .iter()
            .try_fold(1u64, |all, &dim| all.checked_mul(u64::try_from(dim).ok()?));
        let by_size = || {
            let (bytes, count) = (tensor.data_bytes()?, count?);
            let mut widths = [1, 2, 4, 6, 8, 16, 32, 64].into_iter();
            let width = widths.find(|&width| u128::from(count) * width >= 8 * u128::from(bytes.max(1)) - 7);
            ElementType::of_bits(width.map_or(128, |width| width as u64))
        };
        element(tensor.data_type).or_else(by_size).unwrap_or(UNKNOWN)
    }

    /// The type of a value's elements, from ONNX's number; an unknown number is recorded, and maps to `UNKNOWN`.
    fn value_element(&mut self, number: i32) -> ElementType {
        element(number).unwrap_or_else(|| {
            self.unknown_elements.insert(number);
            UNKNOWN
        })
    }

    /// Adds notes about constants and other tensors with elements of unknown types, if there are any.
    fn note_unknown_elements(&mut self) {
        let is_unknown = |of: &Tensor| of.element >= ElementType::Bits1;
        let tensors = || self.graph.tensors().iter().filter(|of| is_unknown(of));
        let is_constant = |of: &&Tensor| of.source == TensorSource::Constant;
        let (constants, others) = (
            tensors().filter(is_constant).count(),
            tensors().filter(|of| !is_constant(of)).count(),
        );
        let types: Vec<String> = self.unknown_elements.iter().map(i32::to_string).collect();
        let first = tensors()
            .find(|of| !is_constant(of))
            .map(|of| clip(&of.name).to_string());
        if let Some(first) = first {
            self.graph.note(format!(
                "tensors with an unknown element type (ONNX type {}), planned with {} bits per element: {others} (the first is `{first}`)",
                types.join(", "),
                UNKNOWN.bits()
            ));
        }
        if constants > 0 {
            self.graph.note(format!(
                "constants with an unknown element type, planned with the size of their data: {constants}"
            ));
        }
    }

    /// Adds a note about constants in external files that could not be read.
    fn note_unread(&mut self) {
        if let Some(first) = self.unread_constants.first() {
            let (count, first) = (self.unread_constants.len(), clip(first).to_string());
            self.graph.note(format!(
                "constants in unreadable external files, which may be shapes: {count} (the first is `{first}`)"
            ));
        }
    }

    /// Adds a note about each operator that ONNX does not have.
    fn note_unknown_operators(&mut self) {
        for (operator, node) in std::mem::take(&mut self.unknown_operators) {
            let (operator, node) = (clip(&operator), clip(&node));
            self.graph.note(format!(
                "operator `{operator}` is unknown, so its outputs have the shapes in the file (the first is node `{node}`)"
            ));
        }
    }

    /// Enters a function or body; returns an error beyond `MAX_DEPTH` levels. Nothing else in the reader recurses.
    fn enter(&mut self, node: &NodeProto) -> Result<()> {
        if self.depth == MAX_DEPTH {
            let problem = format!("functions and bodies are nested more than {MAX_DEPTH} levels deep");
            return Err(self.fault(node, problem));
        }
        self.depth += 1;
        Ok(())
    }

    fn id(&self, name: &str, reader: &str) -> Result<TensorId> {
        let known = self.ids.get(name).copied();
        known.ok_or_else(|| Error::dangling(reader, name))
    }

    /// The type and shape that the file gives for a value, if any.
    fn value(&mut self, value: &ValueInfo) -> Result<Option<(ElementType, Shape)>> {
        let tensor = value.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        let Some((tensor, shape)) = tensor.and_then(|tensor| Some((tensor, tensor.shape.as_ref()?))) else {
            return Ok(None);
        };
        let rank = shape.dim.len();
        if rank > known::MAX_KNOWN_RANK {
            let name = clip(&value.name);
            let most = known::MAX_KNOWN_RANK;
            return Err(invalid(format!(
                "`{name}` has {rank} dimensions; at most {most} are supported"
            )));
        }
        let element = self.value_element(tensor.elem_type);
        let mut dims = Vec::with_capacity(shape.dim.len());
        for (axis, dim) in shape.dim.iter().enumerate() {
            dims.push(match &dim.value {
                // Some exporters write -1 for a dynamic dimension.
                Some(DimensionValue::Value(value)) if *value >= 0 => Dim::Fixed(*value),
                Some(DimensionValue::Param(name)) if !name.is_empty() => self.symbol(name),
                _ => self.unnamed(&value.name, axis).into(),
            });
        }
        Ok(Some((element, Shape(dims))))
    }
}

/// The type planned for elements of unknown types: wider than any type added to ONNX in recent years.
const UNKNOWN: ElementType = ElementType::Bits64;

/// Maps ONNX's element type numbers; `None` for strings and unknown types.
///
/// Source: `TensorProto.DataType` in `onnx/onnx.proto`, IR version 13.
fn element(data_type: i32) -> Option<ElementType> {
    Some(match data_type {
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
        14 => ElementType::Complex64,
        15 => ElementType::Complex128,
        16 => ElementType::BFloat16,
        17 => ElementType::Float8E4M3Fn,
        18 => ElementType::Float8E4M3Fnuz,
        19 => ElementType::Float8E5M2,
        20 => ElementType::Float8E5M2Fnuz,
        21 => ElementType::UInt4,
        22 => ElementType::Int4,
        23 => ElementType::Float4E2M1Fn,
        24 => ElementType::Float8E8M0Fnu,
        25 => ElementType::UInt2,
        26 => ElementType::Int2,
        _ => return None,
    })
}

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod function_tests;
#[cfg(test)]
mod inference_tests;
#[cfg(test)]
mod node_tests;
#[cfg(test)]
mod tests;
