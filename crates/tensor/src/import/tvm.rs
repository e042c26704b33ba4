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
use crate::graph::{ElementType, Graph, GraphBuilder, Node, Operator, Shape, TensorId};
use crate::storage::kernel::PREFIX;
use tileheap_json::{clip, parse};

/// A TVM graph, with the JSON document that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct TvmGraph {
    /// The graph, with one tensor per entry.
    pub graph: Graph,
    /// The tensor of each entry of the document.
    pub entries: Vec<TensorId>,
    document: Value,
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

/// A reference to an entry in the file: node, output and, optionally, version.
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

/// The attributes of the graph: each list is stored with its type name and has an element for every entry.
#[derive(Deserialize)]
struct Attrs {
    shape: (String, Vec<Vec<i64>>),
    dltype: (String, Vec<String>),
    #[serde(default)]
    storage_id: Option<(String, Vec<i64>)>,
    #[serde(default)]
    storage_scope: Option<(String, Vec<String>)>,
}

/// The role of a `null` node.
#[derive(Clone, Copy, PartialEq)]
enum NullSource {
    Input,
    Kept,
    Constant,
}

impl Document {
    /// The role of each `null` node, by [`TvmGraph::read`]'s rule.
    fn sources(&self, inputs: &[String], rows: &[usize]) -> Vec<NullSource> {
        let is_relays = |name: &str| {
            let digits = name.strip_prefix('p').unwrap_or("");
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        let open = |node: &&DocumentNode| node.op == "null" && !is_relays(&node.name);
        let is_alone = self.nodes.iter().filter(open).count() == 1;
        let mut first = vec![false; self.nodes.len()];
        for node in &self.nodes {
            let operand = node
                .inputs
                .first()
                .and_then(|operand| first.get_mut(operand.parts().0));
            operand.into_iter().for_each(|operand| *operand = true);
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
    /// Reads a graph from its JSON. `inputs` names the `null` nodes that are activations; the others are weights, and become constants.
    ///
    /// If none is named: relay's `p0`, `p1`, … are constants; a `null` node that is the only one, or that shares its storage id, is an
    /// input; of the others, those that are some operator's first operand are inputs that keep their bytes, and the rest are constants.
    ///
    /// # Errors
    /// The text is not such a document, a list does not have one element per entry, an input is produced later or not at all, a node
    /// is of an unknown kind, or the graph is invalid.
    pub fn read(text: &str, inputs: &[String]) -> Result<TvmGraph> {
        let wrong = |problem: String| Error::parse("TVM graph", problem);
        let document: Value = parse(text).map_err(|fault| wrong(fault.to_string()))?;
        let form: Document = parse(text).map_err(|fault| wrong(fault.to_string()))?;
        let rows = form
            .node_row_ptr
            .clone()
            .unwrap_or_else(|| (0..=form.nodes.len()).collect());
        let count = rows.last().copied().unwrap_or(0);
        let ascending = rows.windows(2).all(|pair| pair[0] <= pair[1]);
        if rows.len() != form.nodes.len() + 1 || !ascending {
            let (entries, nodes) = (rows.len(), form.nodes.len());
            return Err(wrong(format!(
                "`node_row_ptr` must be ascending with one entry more than nodes: {entries} entries for {nodes} nodes"
            )));
        }
        let attrs = &form.attrs;
        let lists = [
            ("shape", attrs.shape.1.len()),
            ("dltype", attrs.dltype.1.len()),
            (
                "storage_id",
                attrs.storage_id.as_ref().map_or(count, |list| list.1.len()),
            ),
            (
                "storage_scope",
                attrs.storage_scope.as_ref().map_or(count, |list| list.1.len()),
            ),
        ];
        if let Some((name, length)) = lists.into_iter().find(|(_, length)| *length != count) {
            return Err(wrong(format!(
                "`attrs.{name}` must have one value per entry: {length} values for {count} entries"
            )));
        }
        let is_null = |node: &DocumentNode| node.op == "null";
        if let Some(strange) = form
            .nodes
            .iter()
            .find(|node| !is_null(node) && node.op != "tvm_op")
        {
            let (name, op) = (clip(&strange.name), clip(&strange.op));
            return Err(wrong(format!(
                "node `{name}` is a `{op}`: only `null` and `tvm_op` are supported"
            )));
        }
        let is_there = |input: &String| form.nodes.iter().any(|node| is_null(node) && node.name == *input);
        if let Some(input) = inputs.iter().find(|input| !is_there(input)) {
            return Err(wrong(format!(
                "input `{}` is not a `null` node of the graph",
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
                let of_node = |problem: String| wrong(format!("node `{}`: {problem}", clip(&node.name)));
                let element: ElementType = attrs.dltype.1[entry].parse().map_err(of_node)?;
                let shape = Shape::new(attrs.shape.1[entry].iter().copied());
                let name = if outputs.len() > 1 {
                    format!("{}.{}", node.name, entry - rows[number])
                } else {
                    node.name.clone()
                };
                // A kernel that is used twice gives two nodes the same name.
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
                    .map(|list| u32::try_from(list.1[entry]))
                    .and_then(std::result::Result::ok);
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
                inputs.push(entry_of(input, &rows, &entries, &node.name)?);
            }
            let function = node
                .attrs
                .get("func_name")
                .and_then(Value::as_str)
                .unwrap_or(&node.name);
            graph.node_with_outputs(Node {
                inputs,
                outputs: ids,
                ..Node::operator(&node.name, Operator::named(format!("{PREFIX}{function}")))
            });
        }
        for &head in &form.heads {
            graph.output(entry_of(head, &rows, &entries, "the outputs")?);
        }
        Ok(TvmGraph {
            graph: graph.build()?,
            entries,
            document,
        })
    }

    /// Writes the document with the storage scope of each entry; the field is omitted if the original has none and no entry is in a texture.
    /// If scopes are new, entries that shared a storage id but differ in scope, or are textures of different element types, get separate ids.
    pub fn write(&self, scope_of: impl Fn(TensorId) -> String) -> String {
        let scopes: Vec<String> = self.entries.iter().map(|&id| scope_of(id)).collect();
        let mut document = self.document.clone();
        if let Some(attrs) = document.get_mut("attrs").and_then(Value::as_object_mut) {
            let in_textures = scopes.iter().any(|scope| !scope.is_empty() && scope != "global");
            if in_textures || attrs.contains_key("storage_scope") {
                let given = self
                    .entries
                    .iter()
                    .map(|&id| self.graph.tensor(id).scope.as_deref().unwrap_or(""));
                let is_new = !given.eq(scopes.iter().map(String::as_str));
                if let Some(ids) = self.separate_ids(&scopes).filter(|_| is_new) {
                    attrs.insert("storage_id".to_owned(), json!(["list_int", ids]));
                }
                attrs.insert("storage_scope".to_owned(), json!(["list_str", scopes]));
            }
        }
        format!("{document:#}")
    }
}

/// The kind of storage that entries of one id share: a buffer, or a texture of a scope and an element type.
type StorageKind<'a> = Option<(&'a str, ElementType)>;

impl TvmGraph {
    /// Assigns new storage ids where two kinds of storage share an id; the first kind keeps it. `None` if an entry has no storage id.
    fn separate_ids(&self, scopes: &[String]) -> Option<Vec<i64>> {
        let ids: Option<Vec<u32>> = self
            .entries
            .iter()
            .map(|&id| self.graph.tensor(id).storage_id)
            .collect();
        let ids = ids?;
        let mut next = ids.iter().max().map_or(0, |&most| i64::from(most) + 1);
        let mut kinds: Vec<(u32, StorageKind<'_>, i64)> = Vec::new();
        let entries = self.entries.iter().zip(scopes).zip(ids);
        let separate = entries.map(|((&entry, scope), id)| {
            let is_texture = !scope.is_empty() && scope != "global";
            let kind = is_texture.then(|| (scope.as_str(), self.graph.tensor(entry).element));
            let known = kinds.iter().find(|known| (known.0, known.1) == (id, kind));
            if let Some(&(.., own)) = known {
                return own;
            }
            let is_first = kinds.iter().all(|known| known.0 != id);
            let own = if is_first { i64::from(id) } else { next };
            next += i64::from(!is_first);
            kinds.push((id, kind, own));
            own
        });
        Some(separate.collect())
    }
}

/// The tensor of an entry that `reader` reads.
fn entry_of(entry: Entry, rows: &[usize], entries: &[TensorId], reader: &str) -> Result<TensorId> {
    let (node, output) = entry.parts();
    let place = || {
        let index = rows.get(node)?.checked_add(output)?;
        entries.get(..*rows.get(node + 1)?)?.get(index).copied()
    };
    place().ok_or_else(|| Error::dangling(reader, format!("entry {:?}", entry.parts())))
}
