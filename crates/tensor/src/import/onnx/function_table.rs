//! The functions of a model, and the costs of calling them.

use std::collections::BTreeMap;

use prost::Message;

use super::proto::{FunctionProto, NodeProto, is_onnx_domain};

/// The functions of a model by domain, name and overload; if several have the same, the first one is used.
pub(super) struct FunctionTable<'a>(BTreeMap<(&'a str, &'a str, &'a str), Function<'a>>);

struct Function<'a> {
    proto: &'a FunctionProto,
    /// The number of bytes of the model file that each call of the function reads.
    bytes: usize,
    /// The number of attributes in the function that refer to attributes of the call.
    references: usize,
}

impl<'a> FunctionTable<'a> {
    pub(super) fn new(functions: &'a [FunctionProto]) -> FunctionTable<'a> {
        let mut table = BTreeMap::new();
        for proto in functions {
            let mut references = 0;
            let skipped = bytes_of_tensors(&proto.node, &mut references);
            let function = Function {
                proto,
                bytes: proto.encoded_len() - skipped,
                references,
            };
            let key = (
                domain(&proto.domain),
                proto.name.as_str(),
                proto.overload.as_str(),
            );
            table.entry(key).or_insert(function);
        }
        FunctionTable(table)
    }

    /// The function that a node calls, if any, and the bytes that the call reads.
    pub(super) fn called_by(&self, node: &NodeProto) -> Option<(&'a FunctionProto, usize)> {
        let key = (
            domain(&node.domain),
            node.op_type.as_str(),
            node.overload.as_str(),
        );
        let function = self.0.get(&key)?;
        // Each of these attributes may be a copy of one of the call.
        let copied = match function.references {
            0 => 0,
            count => node.encoded_len().saturating_mul(count),
        };
        Some((function.proto, function.bytes.saturating_add(copied)))
    }
}

fn domain(name: &str) -> &str {
    if is_onnx_domain(name) { "" } else { name }
}

/// The total size of the tensors in nodes, which a call neither reads nor copies. Also counts attributes that refer to attributes of the
/// call: a node with such an attribute is copied.
fn bytes_of_tensors(nodes: &[NodeProto], references: &mut usize) -> usize {
    let mut bytes = 0;
    for node in nodes {
        let (before, mut own) = (*references, 0);
        for attribute in &node.attribute {
            *references += usize::from(!attribute.ref_attr_name.is_empty());
            own += attribute.t.as_ref().map_or(0, |tensor| tensor.raw_data.len());
            if let Some(graph) = &attribute.g {
                let tensors = graph.initializer.iter();
                own += tensors.map(|tensor| tensor.raw_data.len()).sum::<usize>();
                own += bytes_of_tensors(&graph.node, references);
            }
        }
        bytes += if *references == before { own } else { 0 };
    }
    bytes
}
