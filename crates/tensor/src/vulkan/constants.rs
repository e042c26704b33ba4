//! Constants in the form that kernels read: laid out, in 32 or 16 bits.

use std::collections::BTreeMap;

use super::measure::format;
use super::objects::Upload;
use super::operators::{is_float, vector_inputs};
use crate::error::{Error, Result};
use crate::graph::{BlockId, ElementType, Graph, NodeKind, TensorId, TensorSource};
use crate::layout::{Layout, LayoutRule, Storage};

/// Returns the layout that was chosen for each tensor.
pub(super) type LayoutOf<'a> = &'a dyn Fn(TensorId) -> &'a Layout;

/// Prepares every constant that a node reads, directly or as a parameter of a loop or branch, with its layout and the texels to upload. Biases, and
/// constants in plain buffers, become buffers of vectors: along the outputs for weights of convolutions and dense layers, otherwise along the last
/// axis.
pub(super) fn prepare(
    graph: &Graph,
    layout_of: LayoutOf<'_>,
    values: &BTreeMap<TensorId, Vec<f32>>,
) -> Result<Vec<Upload>> {
    let mut layouts: BTreeMap<TensorId, Layout> = BTreeMap::new();
    let given = given(graph);
    for node in graph.nodes() {
        let NodeKind::Operator(operator) = &node.kind else {
            continue;
        };
        for (index, input) in node.inputs.iter().enumerate() {
            let &input = given.get(input).unwrap_or(input);
            if graph.tensor(input).source != TensorSource::Constant {
                continue;
            }
            let placed = layout_of(input);
            let small = vector_inputs(&operator.name).contains(&index);
            let plain = placed.rule.storage == Storage::Buffer && placed.rule.packs.is_empty();
            let outputs_first =
                matches!(operator.name.as_str(), "conv2d" | "conv2d_transpose" | "dense") && index == 1;
            let layout = if (small || plain) && operator.name != crate::storage::CONVERT {
                let rank = placed.shape.len();
                let axis = if outputs_first { 0 } else { rank.saturating_sub(1) };
                vectors(graph, input, placed, axis)?
            } else {
                placed.clone()
            };
            layouts.insert(input, layout);
        }
    }
    // Initial values of loops.
    for &constant in given.values().filter(|&&constant| is_float(graph, constant)) {
        let entry = layouts.entry(constant);
        entry.or_insert_with(|| layout_of(constant).clone());
    }
    let mut prepared = Vec::with_capacity(layouts.len());
    for (id, layout) in layouts {
        let given = values.get(&id).map_or(&[][..], Vec::as_slice);
        let (name, needed) = (graph.tensor(id).name.clone(), layout.elements());
        if given.len() as u64 != needed {
            let problem = format!(
                "the constant needs {needed} elements, but {} were given",
                given.len()
            );
            return Err(Error::tensor(&name, problem));
        }
        format(&name, layout.element)?;
        let texels = layout.pack(given);
        let bytes = match layout.element {
            ElementType::Float16 => to_half(&texels),
            _ => texels.iter().flat_map(|element| element.to_ne_bytes()).collect(),
        };
        prepared.push(Upload {
            tensor: Some(id),
            name,
            layout,
            bytes,
        });
    }
    prepared.extend(zeros(graph, layout_of)?);
    Ok(prepared)
}

/// The constant passed to each parameter of a loop or branch; for a carried parameter, in the first round.
fn given(graph: &Graph) -> BTreeMap<TensorId, TensorId> {
    let mut given = BTreeMap::new();
    enter(graph, BlockId::ROOT, &mut given);
    given
}

fn enter(graph: &Graph, block: BlockId, given: &mut BTreeMap<TensorId, TensorId>) {
    for &id in &graph.block(block).nodes {
        let node = graph.node(id);
        let device = match &node.kind {
            NodeKind::Operator(_) => &[][..],
            NodeKind::Loop(repeated) => std::slice::from_ref(&repeated.body),
            NodeKind::Branch(branch) => &branch.arms,
        };
        for &device in device {
            for (&parameter, input) in graph.block(device).inputs.iter().zip(&node.inputs) {
                let &input = given.get(input).unwrap_or(input);
                if graph.tensor(input).source == TensorSource::Constant {
                    given.insert(parameter, input);
                }
            }
            enter(graph, device, given);
        }
    }
}

/// The zeros to upload in place of absent biases of convolutions and dense layers: as many as the longest one needs.
fn zeros(graph: &Graph, layout_of: LayoutOf<'_>) -> Result<Option<Upload>> {
    let mut longest = 0;
    for node in graph.nodes() {
        let axis = match &node.kind {
            NodeKind::Operator(operator) if node.inputs.len() < 3 => match operator.name.as_str() {
                "conv2d" | "conv2d_transpose" => 1,
                "dense" => usize::MAX,
                _ => continue,
            },
            _ => continue,
        };
        for &output in &node.outputs {
            let shape = &layout_of(output).shape;
            let outputs = shape.get(axis.min(shape.len().saturating_sub(1)));
            // In TVM's form the outputs are counted in vectors: four elements each are enough for both forms.
            longest = longest.max(outputs.copied().unwrap_or(0).saturating_mul(4));
        }
    }
    let layout = LayoutRule::packed_buffer(0).apply("zeros", &[longest.max(4)], ElementType::Float32)?;
    let upload = Upload {
        tensor: None,
        name: "zeros".to_owned(),
        bytes: vec![0; layout.bytes().0 as usize],
        layout,
    };
    Ok((longest > 0).then_some(upload))
}

/// The layout of a constant in a buffer of vectors along `axis`; scalars and tensors of more than four dimensions keep their layout.
fn vectors(graph: &Graph, id: TensorId, placed: &Layout, axis: usize) -> Result<Layout> {
    if placed.shape.len() > 4 || placed.shape.is_empty() {
        return Ok(placed.clone());
    }
    let rule = LayoutRule::packed_buffer(axis);
    rule.apply(&graph.tensor(id).name, &placed.shape, placed.element)
}

fn to_half(elements: &[f32]) -> Vec<u8> {
    let halves = elements.iter().map(|&element| half::f16::from_f32(element));
    halves.flat_map(half::f16::to_ne_bytes).collect()
}
