//! Storage choice: which tensors become images and which buffers, and where one is made from the other.
//!
//! ```text
//! x (plain) ─► convert ─► conv2d ─► relu ─► conv2d ─► convert ─► reshape      two conversions: what has to be plain
//!                         image     image   image                             at both ends, and nothing between
//! ```
//! An operator wants its activations `packed`, four channels side by side, or `plain`, row-major in a buffer. Operators over packed
//! tensors read them from images and buffers alike; so a conversion is needed between the two forms, and not between the storages.
//!
//! Source: TVM's [RFC](crate#sources), L1.1 (`CollectStorageInfo`); its rules for Adreno, TVM at ce22736e.

mod rewrite;
mod scope;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use scope::{ScopeLimits, adreno_scope};

use super::layout::{Convention, Generation, ImageLimits, Layout, LayoutRule, Oversize, Reason, fit_layout};
use super::{Attribute, Bounding, Graph, Node, NodeId, NodeKind, Source, TensorError, TensorId};
use tileheap_json::clip;

/// What a policy chose: a graph with its conversions in it, and the layout of each of its tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageChoice {
    /// The graph, with a node of operator [`CONVERT`] wherever a reader wants a tensor in another form.
    pub graph: Graph,
    /// One per tensor of that graph.
    pub layouts: Vec<Layout>,
    /// Why each is as it is.
    pub reasons: Vec<Reason>,
    /// The inserted nodes.
    pub conversions: Vec<NodeId>,
}

/// The operator of inserted nodes: one input, one output of the same shape, each in its layout.
pub const CONVERT: &str = "convert";

/// How storage is chosen.
///
/// ```
/// use tileheap_tensor::{ElementType, GraphBuilder, StorageOptions, StoragePolicy, choose};
///
/// let mut graph = GraphBuilder::new("two convolutions");
/// let x = graph.input("x", ElementType::Float16, [1, 32, 40, 40]);
/// let w = graph.constant("w", ElementType::Float16, [32, 32, 1, 1]);
/// let y = graph.operator("first", "conv2d", [], &[x, w])?[0];
/// let z = graph.operator("second", "conv2d", [], &[y, w])?[0];
/// graph.output(z);
/// let graph = graph.build()?;
/// for policy in StoragePolicy::ALL {
///     let choice = choose(&graph, &StorageOptions { policy, ..StorageOptions::default() })?;
///     let middle = choice.graph.find("first").expect("the tensor between");
///     println!("{policy}: {}", choice.layouts[middle.index()].rule.storage.name());
/// }
/// # Ok::<(), tileheap_tensor::TensorError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoragePolicy {
    /// Buffers only: what a target without a policy gets.
    Buffers,
    /// TVM's relay rule for Adreno: an image where every reader takes one, of the squarest convention, in 2D.
    Adreno,
    /// TVM's relax rule for Adreno: the first convention that fits, in layers.
    AdrenoLayered,
    /// An image wherever the form is packed and some operator reads it so, rows and columns as they are in the tensor; rows of single
    /// texels are buffers.
    #[default]
    Balanced,
}

impl StoragePolicy {
    /// Every policy.
    pub const ALL: [StoragePolicy; 4] = [
        StoragePolicy::Buffers,
        StoragePolicy::Adreno,
        StoragePolicy::AdrenoLayered,
        StoragePolicy::Balanced,
    ];

    /// Its name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            StoragePolicy::Buffers => "buffers",
            StoragePolicy::Adreno => "adreno",
            StoragePolicy::AdrenoLayered => "adreno-layered",
            StoragePolicy::Balanced => "balanced",
        }
    }
}

impl fmt::Display for StoragePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for StoragePolicy {
    type Err = String;

    fn from_str(name: &str) -> Result<StoragePolicy, String> {
        let found = StoragePolicy::ALL
            .into_iter()
            .find(|policy| policy.name() == name);
        found.ok_or_else(|| {
            format!(
                "no storage policy is called `{}`: buffers, adreno, adreno-layered, balanced",
                clip(name)
            )
        })
    }
}

/// What a choice goes by besides the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageOptions {
    /// The policy.
    pub policy: StoragePolicy,
    /// The device's limits.
    pub limits: ImageLimits,
    /// What may be done with images over them.
    pub oversize: Oversize,
    /// Which bound of symbolic shapes is laid out.
    pub bounding: Bounding,
}

/// In which form elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Row-major in a buffer.
    Plain,
    /// Four of an axis side by side: channels of activations (axis 1), outputs of weights (axis 0).
    Packed(usize),
}

/// How a node takes its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taste {
    /// Packed, and reads elements again and again: convolutions, pools.
    Windows,
    /// As they come, all alike.
    Elementwise,
    /// Plain.
    Plain,
}

fn taste(node: &Node) -> Taste {
    let NodeKind::Operator(operator) = &node.kind else {
        return Taste::Plain;
    };
    match operator.name.as_str() {
        "conv2d" | "conv2d_transpose" | "max_pool2d" | "avg_pool2d" | "global_avg_pool2d" | "resize2d" => {
            Taste::Windows
        }
        "add" | "sub" | "mul" | "div" | "max" | "min" | "relu" | "relu6" | "hard_swish" | "hard_sigmoid"
        | "sigmoid" | "tanh" | "clip" | "leaky_relu" | "silu" | "gelu" | "elu" | "neg" | "abs" | "exp"
        | "sqrt" | "batch_norm" | "copy" => Taste::Elementwise,
        // Along channels, in whole texels: see `forms`.
        "concat" if operator.attributes.get("axis") == Some(&Attribute::Int(1)) => Taste::Elementwise,
        _ => Taste::Plain,
    }
}

/// Whether each operand of a concatenation fills its texels, so that they can follow one another.
fn fills_texels(graph: &Graph, node: &Node) -> bool {
    let is_concat = matches!(&node.kind, NodeKind::Operator(operator) if operator.name == "concat");
    !is_concat
        || node.inputs.iter().all(|&input| {
            let shape = graph.tensor(input).shape.fixed();
            shape.is_some_and(|shape| shape.len() == 4 && shape[1] % 4 == 0)
        })
}

fn is_weighted(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Operator(of) if of.name == "conv2d" || of.name == "conv2d_transpose")
}

/// Chooses a layout for every tensor, and puts conversions where they have to be.
///
/// # Errors
/// A shape has no upper bound, or a tensor passes the limits and nothing else is allowed.
pub fn choose(graph: &Graph, options: &StorageOptions) -> Result<StorageChoice, TensorError> {
    let forms = forms(graph);
    let rewrite::Rewritten {
        graph,
        forms,
        conversions,
    } = rewrite::convert(graph, &forms, wants)?;
    let (mut layouts, mut reasons) = (Vec::new(), Vec::new());
    let mut readers: BTreeMap<TensorId, Vec<NodeId>> = BTreeMap::new();
    for (index, node) in graph.nodes().iter().enumerate() {
        for &input in &node.inputs {
            readers.entry(input).or_default().push(NodeId(index as u32));
        }
    }
    for id in graph.tensor_ids() {
        let tensor = graph.tensor(id);
        let shape = graph.shape_bound(id, options.bounding)?;
        let of = readers.get(&id).map_or(&[][..], Vec::as_slice);
        let rule = rule(&graph, id, forms[id.index()], &shape, of, options);
        let (layout, reason) = fit_layout(
            &tensor.name,
            &rule,
            &shape,
            tensor.element,
            &options.limits,
            options.oversize,
        )?;
        layouts.push(layout);
        reasons.push(reason);
    }
    Ok(StorageChoice {
        graph,
        layouts,
        reasons,
        conversions,
    })
}

/// The form in which each tensor is made.
fn forms(graph: &Graph) -> Vec<Form> {
    let mut forms = vec![Form::Plain; graph.tensors().len()];
    // Constants are packed beforehand, in whatever form their reader wants.
    for node in graph.nodes().iter().filter(|node| is_weighted(node)) {
        if let Some(&weight) = node.inputs.get(1)
            && graph.tensor(weight).source == Source::Constant
            && graph.tensor(weight).shape.rank() == 4
        {
            forms[weight.index()] = Form::Packed(0);
        }
    }
    let mut order: Vec<&Node> = Vec::new();
    for block in graph.blocks() {
        order.extend(block.nodes.iter().map(|&node| graph.node(node)));
    }
    for node in order {
        let packs = match taste(node) {
            Taste::Windows => true,
            Taste::Plain => false,
            Taste::Elementwise => {
                let activations = node
                    .inputs
                    .iter()
                    .filter(|input| graph.tensor(**input).source != Source::Constant);
                let mut forms = activations.map(|input| forms[input.index()]);
                forms.next() == Some(Form::Packed(1)) && fills_texels(graph, node)
            }
        };
        for output in node.outputs.iter().filter(|_| packs) {
            let tensor = graph.tensor(*output);
            if tensor.shape.rank() == 4 && tensor.view.is_none() && tensor.element.texel_format().is_some() {
                forms[output.index()] = Form::Packed(1);
            }
        }
        if packs && taste(node) == Taste::Elementwise {
            for input in &node.inputs {
                let tensor = graph.tensor(*input);
                if tensor.source == Source::Constant && tensor.shape.rank() == 4 {
                    forms[input.index()] = Form::Packed(1);
                }
            }
        }
    }
    forms
}

/// The form in which a node wants an operand; `None` where it takes any.
fn wants(graph: &Graph, node: &Node, place: usize, forms: &[Form]) -> Option<Form> {
    let input = node.inputs[place];
    match taste(node) {
        Taste::Windows if place == 0 => Some(Form::Packed(1)),
        Taste::Windows if is_weighted(node) && place == 1 => Some(Form::Packed(0)),
        Taste::Windows => None,
        Taste::Elementwise => {
            let packed = node
                .outputs
                .first()
                .is_some_and(|output| forms[output.index()] == Form::Packed(1));
            let form = if packed { Form::Packed(1) } else { Form::Plain };
            // What is broadcast over a packed tensor may be plain: elements are read one by one.
            (!packed || graph.tensor(input).shape.rank() == 4).then_some(form)
        }
        Taste::Plain => Some(Form::Plain),
    }
}

/// The layout rule of a tensor under a policy.
fn rule(
    graph: &Graph,
    id: TensorId,
    form: Form,
    shape: &[u64],
    readers: &[NodeId],
    options: &StorageOptions,
) -> LayoutRule {
    let Form::Packed(axis) = form else {
        return LayoutRule::buffer();
    };
    let weights = axis == 0;
    let buffer = LayoutRule::packed_buffer(axis);
    let blocked = || {
        let mut blocked = shape.to_vec();
        blocked[axis] = blocked[axis].div_ceil(4);
        blocked.push(4);
        blocked
    };
    let limits = ScopeLimits {
        side: options.limits.side_2d,
        depth: options.limits.layers,
    };
    let takes_image =
        |node: &NodeId| taste(graph.node(*node)) != Taste::Plain && !is_conversion(graph.node(*node));
    let all_take = !readers.is_empty() && readers.iter().all(takes_image) && !graph.outputs().contains(&id);
    let adreno = |generation| match adreno_scope(&blocked(), generation, limits) {
        Some(convention) => convention.packing(shape.len(), axis, generation),
        None => buffer.clone(),
    };
    match options.policy {
        StoragePolicy::Buffers => buffer,
        StoragePolicy::Adreno => {
            // Weights with a window are read once a window: from buffers, but for halves.
            let window =
                weights && shape[2..].iter().any(|&side| side != 1) && graph.tensor(id).element.bytes() != 2;
            if all_take && !window {
                adreno(Generation::Flat)
            } else {
                buffer
            }
        }
        StoragePolicy::AdrenoLayered => {
            if all_take && !weights {
                adreno(Generation::Layered)
            } else {
                buffer
            }
        }
        StoragePolicy::Balanced if weights => Convention::Weight.packing(shape.len(), axis, Generation::Flat),
        StoragePolicy::Balanced => {
            // What elementwise operators read is an image too, or their results could not be written over it.
            let again = readers.iter().any(takes_image);
            // A row of single texels has no locality to keep.
            let flat = shape[2] * shape[3] == 1;
            if again && !flat {
                Convention::Texture.packing(shape.len(), axis, Generation::Flat)
            } else {
                buffer
            }
        }
    }
}

fn is_conversion(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Operator(operator) if operator.name == CONVERT)
}

impl StorageChoice {
    /// The storage scope of a tensor as TVM spells it: `global`, `global.texture`; what [`TvmGraph::write`](super::tvm::TvmGraph::write)
    /// fills in.
    pub fn scope(&self, id: TensorId) -> &'static str {
        let layout = &self.layouts[id.index()];
        if !layout.rule.storage.is_image() {
            return "global";
        }
        let rank = layout.blocked.len() + 1;
        let same = |convention: &Convention| {
            [Generation::Flat, Generation::Layered]
                .into_iter()
                .any(|generation| convention.flattening(rank, generation) == layout.rule.flattening)
        };
        Convention::ALL
            .into_iter()
            .find(same)
            .map_or("global", Convention::scope)
    }
}
