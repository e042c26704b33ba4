//! The producers of the tensors of a list of nodes, for errors about nodes that read tensors too early.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, TensorProducer};

/// The names of a node, of the tensors that it reads, and of those that it produces.
pub(super) struct NodeLinks<'a> {
    pub(super) name: &'a str,
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
}

/// Completes an error about a tensor that the node with index `reader` reads, but no earlier one of `nodes` produces. Other errors are unchanged.
pub(super) fn with_producer(error: Error, nodes: &[NodeLinks<'_>], reader: Option<usize>) -> Error {
    let Error::Dangling {
        node,
        tensor,
        producer: TensorProducer::Elsewhere,
    } = error
    else {
        return error;
    };
    let producers: BTreeMap<&str, usize> = (0..nodes.len())
        .flat_map(|index| nodes[index].outputs.iter().map(move |&output| (output, index)))
        .collect();
    let producer = match producers.get(tensor.as_str()) {
        None => TensorProducer::Nowhere,
        Some(&at) => {
            let name = nodes[at].name.to_owned();
            match reader.is_some_and(|reader| depends(nodes, &producers, at, reader)) {
                true => TensorProducer::Dependent(name),
                false => TensorProducer::Later(name),
            }
        }
    };
    Error::Dangling {
        node,
        tensor,
        producer,
    }
}

/// Returns true if the node with index `from` reads, directly or through others, an output of the node with index `on`, or is that node.
fn depends(nodes: &[NodeLinks<'_>], producers: &BTreeMap<&str, usize>, from: usize, on: usize) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::from([from]));
    while let Some(index) = open.pop() {
        if index == on {
            return true;
        }
        let inputs = nodes[index].inputs.iter();
        let before = inputs.filter_map(|input| producers.get(input).copied());
        open.extend(before.filter(|&before| seen.insert(before)));
    }
    false
}
