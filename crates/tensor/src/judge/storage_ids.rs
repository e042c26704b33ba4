//! TVM's graph JSON: the storage id of every entry.
//!
//! An entry is live from its node to the last one that reads it, inputs from the start, outputs to the end, weights and kept inputs always.
//! `__nop` nodes are reshapes: their output has the data of their input. A storage is as large as its largest entry.
//!
//! Source: apache/tvm, `src/relay/backend/graph_plan_memory.cc` and `src/runtime/graph_executor/graph_executor.cc` at ce22736e.

use std::collections::BTreeMap;

use super::storages::{NOTE, add_storage};
use super::types::{Allocations, Buffer, SharedData};
use crate::error::{Error, Result};
use crate::graph::{NodeKind, TensorId, TensorSource};
use crate::import::tvm::TvmGraph;
use crate::units::{Alignment, Bytes, Span};

pub(super) const FORMAT: &str = "TVM graph";

/// Reads the storage ids of a TVM graph. `inputs` as in [`TvmGraph::read`].
///
/// # Errors
/// Those of [`TvmGraph::read`]; [`Error::Parse`] if an entry has no storage id or no fixed size.
pub fn read_storage_ids(text: &str, inputs: &[String]) -> Result<Allocations> {
    if !text.contains("\"nodes\"") {
        return Err(Error::parse(
            "JSON file",
            "`nodes` is missing, so this is not a TVM graph, the only JSON format that is supported",
        ));
    }
    let TvmGraph { graph, entries, .. } = TvmGraph::read(text, inputs)?;
    let mut allocations = Allocations {
        format: FORMAT,
        numbered: "entry",
        notes: vec![NOTE.to_owned()],
        steps: vec!["inputs".to_owned()],
        ..Allocations::default()
    };
    let count = graph.tensors().len();
    let mut lifetimes: Vec<Option<(u32, u32)>> = vec![None; count];
    let mut data: Vec<u32> = (0..count as u32).collect();
    let last = graph.nodes().len() as u32 + 1;
    for (node, step) in graph.nodes().iter().zip(1..) {
        allocations.steps.push(node.name.clone());
        for id in &node.inputs {
            lifetimes[id.index()].get_or_insert((0, step)).1 = step + 1;
        }
        for id in &node.outputs {
            lifetimes[id.index()] = Some((step, step + 1));
        }
        let is_nop = matches!(&node.kind, NodeKind::Operator(operator) if operator.name.ends_with("__nop"));
        if let (true, Some(input), Some(output)) = (is_nop, node.inputs.first(), node.outputs.first()) {
            data[output.index()] = data[input.index()];
        }
    }
    allocations.steps.push("outputs".to_owned());
    for &output in graph.outputs() {
        lifetimes[output.index()].get_or_insert((0, last)).1 = last + 1;
    }
    let mut storages: BTreeMap<u32, (String, u64)> = BTreeMap::new();
    let mut sizes = Vec::with_capacity(count);
    for &id in &entries {
        let tensor = graph.tensor(id);
        let wrong = |problem: &str| Error::parse(FORMAT, format!("entry `{}` has {problem}", tensor.name));
        let shape = tensor.shape.fixed().ok_or_else(|| wrong("no fixed shape"))?;
        let bits = shape
            .into_iter()
            .try_fold(tensor.element.bits(), u64::checked_mul);
        let size = bits.ok_or_else(|| wrong("more than 2^64 - 1 bits"))?.div_ceil(8);
        let storage = tensor.storage_id.ok_or_else(|| wrong("no `storage_id`"))?;
        let scope = || tensor.scope.clone().unwrap_or_default();
        let known = storages.entry(storage).or_insert_with(|| (scope(), 0));
        known.1 = known.1.max(size);
        sizes.push((size, storage));
    }
    let ranges = storages
        .iter()
        .map(|(&id, (scope, size))| (id, add_storage(&mut allocations, scope, *size)));
    let ranges: BTreeMap<u32, _> = ranges.collect();
    for (entry, (&id, &(size, storage))) in entries.iter().zip(&sizes).enumerate() {
        let tensor = graph.tensor(id);
        let keeps = tensor.kept || tensor.source == TensorSource::Constant;
        let lifetime = match lifetimes[id.index()] {
            _ if keeps => Span::new(0, last + 1),
            Some((first, end)) => Span::new(first, end),
            None => Span::new(0, 1),
        };
        let range = ranges[&storage];
        allocations.buffers.push(Buffer {
            name: tensor.name.clone(),
            index: entry as u64,
            arena: range.arena,
            offset: Bytes(range.first),
            size: Bytes(size),
            alignment: Alignment::ONE,
            lifetimes: vec![lifetime],
            view: Some(SharedData {
                data: data[TensorId::index(id)],
                offset: 0,
            }),
        });
    }
    Ok(allocations)
}
