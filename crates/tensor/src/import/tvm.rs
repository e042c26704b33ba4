//! TVM's graph JSON: read as a graph, written back with storage scopes filled in.
//!
//! ```
//! use tileheap_tensor::import::tvm::TvmGraph;
//!
//! let read = TvmGraph::read(
//!     r#"{
//!         "nodes": [
//!             { "op": "null", "name": "x", "inputs": [] },
//!             { "op": "tvm_op", "name": "relu", "inputs": [[0, 0, 0]],
//!               "attrs": { "func_name": "nn_relu", "num_inputs": "1", "num_outputs": "1", "flatten_data": "0" } }
//!         ],
//!         "arg_nodes": [0], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2],
//!         "attrs": {
//!             "shape": ["list_shape", [[1, 64], [1, 64]]],
//!             "dltype": ["list_str", ["float32", "float32"]],
//!             "storage_id": ["list_int", [0, 1]]
//!         }
//!     }"#,
//!     &[],
//! )?;
//! assert_eq!(read.graph.tensors().len(), 2); // one for each entry
//! assert_eq!(read.graph.tensor(read.entries[1]).name, "relu");
//! # Ok::<(), tileheap_tensor::Error>(())
//! ```
//!
//! Source: TVM's [RFC](crate#sources), L1.2 and "Graph runtime"; TVM's `graph_executor_codegen.cc` and `graph_executor.cc` at ce22736e.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::graph::{BlockId, ElementType, Graph, GraphBuilder, Node, NodeKind, Operator, Shape, TensorId};
use crate::layout::{Convention, Generation};
use crate::storage::kernel::PREFIX;
use crate::units::Bytes;
use tileheap_json::{clip, parse};

/// A graph of TVM's, with the document that it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct TvmGraph {
    /// The graph; a tensor per entry.
    pub graph: Graph,
    /// The tensor of each entry.
    pub entries: Vec<TensorId>,
    document: Value,
}

/// A storage that the graph executor allocates: one per storage id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolEntry {
    /// The id.
    pub storage_id: u32,
    /// What is allocated.
    pub kind: PoolEntryKind,
    /// The scope of its last entry.
    pub scope: String,
}

/// What is allocated for a storage id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolEntryKind {
    /// As many bytes as the largest entry has, in whole 32-bit words.
    Buffer(Bytes),
    /// The largest height and the largest width of the entries, and channels; of the entries' element type.
    Texture {
        /// Rows.
        height: u64,
        /// Texels in a row.
        width: u64,
        /// Elements of a texel.
        channel: u64,
        /// The type.
        element: ElementType,
    },
}

#[derive(Deserialize)]
struct Document {
    nodes: Vec<DocumentNode>,
    heads: Vec<Entry>,
    #[serde(default)]
    node_row_ptr: Option<Vec<usize>>,
    attrs: Attrs,
}

#[derive(Deserialize)]
struct DocumentNode {
    op: String,
    name: String,
    #[serde(default)]
    inputs: Vec<Entry>,
    #[serde(default)]
    attrs: serde_json::Map<String, Value>,
}

/// Node, output, version.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Entry {
    Three(usize, usize, #[allow(dead_code)] u32),
    Two(usize, usize),
}

impl Entry {
    const fn parts(self) -> (usize, usize) {
        match self {
            Entry::Three(node, output, _) | Entry::Two(node, output) => (node, output),
        }
    }
}

/// Each a name of the kind and a list over all entries.
#[derive(Deserialize)]
struct Attrs {
    shape: (String, Vec<Vec<i64>>),
    dltype: (String, Vec<String>),
    #[serde(default)]
    storage_id: Option<(String, Vec<i64>)>,
    #[serde(default)]
    storage_scope: Option<(String, Vec<String>)>,
}

/// What a `null` node is.
#[derive(Clone, Copy, PartialEq)]
enum NullSource {
    Input,
    Kept,
    Constant,
}

impl Document {
    /// What each `null` node is, by [`TvmGraph::read`]'s rule.
    fn sources(&self, inputs: &[String], rows: &[usize]) -> Vec<NullSource> {
        let is_relays = |name: &str| {
            let digits = name.strip_prefix('p').unwrap_or("");
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        let open = |node: &&DocumentNode| node.op == "null" && !is_relays(&node.name);
        let is_alone = self.nodes.iter().filter(open).count() == 1;
        let mut first = vec![false; self.nodes.len()];
        for node in &self.nodes {
            if let Some(operand) = node
                .inputs
                .first()
                .and_then(|operand| first.get_mut(operand.parts().0))
            {
                *operand = true;
            }
        }
        let is_shared = |number: usize| {
            let ids = self.attrs.storage_id.as_ref().map_or(&[][..], |list| &list.1);
            let own = ids.get(rows[number]);
            own.is_some() && ids.iter().filter(|id| Some(*id) == own).count() > 1
        };
        let source = |(number, node): (usize, &DocumentNode)| {
            if node.op != "null" || inputs.contains(&node.name) {
                NullSource::Input
            } else if !inputs.is_empty() || is_relays(&node.name) {
                NullSource::Constant
            } else if is_alone || is_shared(number) {
                NullSource::Input
            } else if first[number] {
                NullSource::Kept
            } else {
                NullSource::Constant
            }
        };
        self.nodes.iter().enumerate().map(source).collect()
    }
}

impl TvmGraph {
    /// Reads a graph. `inputs` names the `null` nodes that are activations; the others are weights, which are constants.
    ///
    /// Where none is named: what relay calls `p0` is a constant; a `null` node that is alone, or that shares its storage id, is an input; of
    /// the others those that are some operator's first operand are inputs that keep their bytes, and the rest are constants.
    ///
    /// # Errors
    /// The text is no such document, a list is not as long as there are entries, an input is made later or not at all, a node is of an
    /// unknown kind, or what else a graph cannot have.
    pub fn read(text: &str, inputs: &[String]) -> Result<TvmGraph> {
        let wrong = |problem: String| Error::Parse {
            format: "TVM graph",
            problem,
        };
        let document: Value = parse(text).map_err(|fault| wrong(fault.to_string()))?;
        let form: Document = parse(text).map_err(|fault| wrong(fault.to_string()))?;
        let rows = form
            .node_row_ptr
            .clone()
            .unwrap_or_else(|| (0..=form.nodes.len()).collect());
        let count = rows.last().copied().unwrap_or(0);
        let ascending = rows.windows(2).all(|pair| pair[0] <= pair[1]);
        if rows.len() != form.nodes.len() + 1 || !ascending {
            return Err(wrong(format!(
                "`node_row_ptr` has {} entries for {} nodes",
                rows.len(),
                form.nodes.len()
            )));
        }
        let attrs = &form.attrs;
        let lists = [
            ("shape", Some(attrs.shape.1.len())),
            ("dltype", Some(attrs.dltype.1.len())),
            ("storage_id", attrs.storage_id.as_ref().map(|list| list.1.len())),
            (
                "storage_scope",
                attrs.storage_scope.as_ref().map(|list| list.1.len()),
            ),
        ];
        if let Some((name, Some(length))) = lists
            .into_iter()
            .find(|(_, length)| length.is_some_and(|length| length != count))
        {
            return Err(wrong(format!(
                "`attrs.{name}` has {length} values for {count} entries"
            )));
        }
        let strange = form
            .nodes
            .iter()
            .find(|node| !["null", "tvm_op"].contains(&node.op.as_str()));
        if let Some(DocumentNode { name, op, .. }) = strange {
            return Err(wrong(format!(
                "node `{}` is a `{}`; known are null and tvm_op",
                clip(name),
                clip(op)
            )));
        }
        let named = |input: &&String| {
            !form
                .nodes
                .iter()
                .any(|node| node.op == "null" && node.name == **input)
        };
        if let Some(input) = inputs.iter().find(named) {
            return Err(wrong(format!(
                "input `{}` is no `null` node of the graph",
                clip(input)
            )));
        }
        let sources = form.sources(inputs, &rows);
        let mut graph = GraphBuilder::new("TVM graph");
        let mut entries = Vec::with_capacity(count);
        for (number, node) in form.nodes.iter().enumerate() {
            let outputs = rows[number]..rows[number + 1];
            let mut ids = Vec::new();
            for entry in outputs.clone() {
                let element: ElementType = attrs.dltype.1[entry].parse().map_err(wrong)?;
                let shape = Shape::new(attrs.shape.1[entry].iter().copied());
                let name = if outputs.len() > 1 {
                    format!("{}.{}", node.name, entry - rows[number])
                } else {
                    node.name.clone()
                };
                // Kernels that are used twice give two nodes of one name.
                let taken = entries.iter().any(|&other| graph.tensor(other).name == name);
                let name = if taken { format!("{name}#{entry}") } else { name };
                let id = match node.op.as_str() {
                    "null" if sources[number] == NullSource::Constant => graph.constant(name, element, shape),
                    "null" => graph.input(name, element, shape),
                    _ => graph.declare(name, element, shape),
                };
                let storage_id = attrs
                    .storage_id
                    .as_ref()
                    .and_then(|list| u32::try_from(list.1[entry]).ok());
                let scope = attrs.storage_scope.as_ref().map(|list| list.1[entry].clone());
                graph.storage(id, storage_id, scope.filter(|scope| !scope.is_empty()));
                if sources[number] == NullSource::Kept {
                    graph.keep(id);
                }
                ids.push(id);
                entries.push(id);
            }
            if node.op == "null" {
                continue;
            }
            let mut inputs = Vec::with_capacity(node.inputs.len());
            for &input in &node.inputs {
                inputs.push(entry_of(input, &rows, &entries).ok_or_else(|| Error::Dangling {
                    node: node.name.clone(),
                    tensor: format!("entry {:?}", input.parts()),
                })?);
            }
            let function = node
                .attrs
                .get("func_name")
                .and_then(Value::as_str)
                .unwrap_or(&node.name);
            graph.node_making(Node {
                name: node.name.clone(),
                kind: NodeKind::Operator(Operator {
                    name: format!("{PREFIX}{function}"),
                    ..Operator::default()
                }),
                block: BlockId::ROOT,
                inputs,
                outputs: ids,
                in_place: Vec::new(),
            });
        }
        for &head in &form.heads {
            let output = entry_of(head, &rows, &entries);
            graph.output(output.ok_or_else(|| Error::Dangling {
                node: "the outputs".to_owned(),
                tensor: format!("entry {:?}", head.parts()),
            })?);
        }
        Ok(TvmGraph {
            graph: graph.build()?,
            entries,
            document,
        })
    }

    /// The document with the scopes of tensors, one per entry; without the field where it had none and no entry is in a texture.
    pub fn write(&self, scope_of: impl Fn(TensorId) -> String) -> String {
        let scopes: Vec<String> = self.entries.iter().map(|&id| scope_of(id)).collect();
        let mut document = self.document.clone();
        if let Some(attrs) = document.get_mut("attrs").and_then(Value::as_object_mut) {
            let in_textures = scopes.iter().any(|scope| !scope.is_empty() && scope != "global");
            if in_textures || attrs.contains_key("storage_scope") {
                attrs.insert("storage_scope".to_owned(), json!(["list_str", scopes]));
            }
        }
        format!("{document:#}")
    }

    /// What the graph executor allocates, by storage id.
    ///
    /// # Errors
    /// An entry of a texture with another type or number of channels than the id's others, or that has no texture's shape.
    pub fn pool_entries(&self) -> Result<Vec<PoolEntry>> {
        let mut entries: Vec<PoolEntry> = Vec::new();
        for &id in &self.entries {
            let tensor = self.graph.tensor(id);
            let Some(storage_id) = tensor.storage_id else {
                continue;
            };
            let wrong = |problem: String| Error::StorageId {
                tensor: tensor.name.clone(),
                storage_id,
                problem,
            };
            let shape = tensor.shape.fixed().unwrap_or_default();
            let scope = tensor.scope.clone().unwrap_or_default();
            let kind = match scope.parse::<Convention>() {
                Ok(convention) => {
                    let rule = convention.rule(shape.len(), Generation::Flat);
                    let layout = rule.apply(&tensor.name, &shape, tensor.element)?;
                    PoolEntryKind::Texture {
                        height: layout.extent.height,
                        width: layout.extent.width,
                        channel: layout.lanes,
                        element: tensor.element,
                    }
                }
                Err(_) if !scope.is_empty() && scope != "global" => {
                    return Err(wrong(format!("`{}` is no storage scope", clip(&scope))));
                }
                Err(_) => {
                    // As large as a graph's tensors may be: below 2^63.
                    let bytes = shape.iter().product::<u64>() * tensor.element.bytes();
                    PoolEntryKind::Buffer(Bytes(bytes.div_ceil(4) * 4))
                }
            };
            match entries.iter_mut().find(|entry| entry.storage_id == storage_id) {
                Some(entry) => {
                    entry.kind = both(entry.kind, kind)
                        .ok_or_else(|| wrong("its entries do not go together".to_owned()))?;
                    entry.scope = scope;
                }
                None => entries.push(PoolEntry {
                    storage_id,
                    kind,
                    scope,
                }),
            }
        }
        entries.sort_by_key(|entry| entry.storage_id);
        Ok(entries)
    }
}

fn entry_of(entry: Entry, rows: &[usize], entries: &[TensorId]) -> Option<TensorId> {
    let (node, output) = entry.parts();
    let index = rows.get(node)? + output;
    (index < *rows.get(node + 1)?)
        .then(|| entries.get(index).copied())
        .flatten()
}

fn both(a: PoolEntryKind, b: PoolEntryKind) -> Option<PoolEntryKind> {
    use PoolEntryKind::{Buffer, Texture};
    match (a, b) {
        (Buffer(a), Buffer(b)) => Some(Buffer(a.max(b))),
        (
            Texture {
                height,
                width,
                channel,
                element,
            },
            Texture {
                height: other_height,
                width: other_width,
                channel: other_channel,
                element: other,
            },
        ) if element == other && channel == other_channel => Some(Texture {
            height: height.max(other_height),
            width: width.max(other_width),
            channel,
            element,
        }),
        _ => None,
    }
}
