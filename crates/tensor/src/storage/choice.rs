//! The choice of a layout for every tensor.

use std::collections::BTreeMap;

use super::form::{Form, forms};
use super::policies::Balanced;
use super::policy::{PackedTensor, StoragePolicy};
use super::rewrite::{Rewritten, convert};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, ShapeBound, TensorId};
use crate::layout::{
    AxisPacking, Convention, ConventionForm, ImageLimits, Layout, LayoutRule, OversizePolicy, StorageReason,
    fit_layout,
};

/// The result of [`choose`]: a graph with conversions inserted, and the layout of each of its tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageChoice {
    /// The graph, with a node of operator [`CONVERT`](super::CONVERT) wherever a reader needs a tensor in another form.
    pub graph: Graph,
    /// The layout of each tensor of that graph.
    pub layouts: Vec<Layout>,
    /// The reason for the storage of each tensor.
    pub reasons: Vec<StorageReason>,
    /// The inserted nodes, all of operator [`CONVERT`](super::CONVERT).
    pub conversions: Vec<NodeId>,
}

/// Options for choosing storage.
///
/// ```
/// use tileheap_tensor::storage::POLICIES;
/// use tileheap_tensor::{ElementType, GraphBuilder, StorageOptions, choose};
///
/// let mut graph = GraphBuilder::new("two convolutions");
/// let x = graph.input("x", ElementType::Float16, [1, 32, 40, 40]);
/// let w = graph.constant("w", ElementType::Float16, [32, 32, 1, 1]);
/// let y = graph.operator("first", "conv2d", [], &[x, w])?[0];
/// let z = graph.operator("second", "conv2d", [], &[y, w])?[0];
/// graph.output(z);
/// let graph = graph.build()?;
/// for policy in POLICIES {
///     let choice = choose(&graph, &StorageOptions { policy, ..StorageOptions::default() })?;
///     let middle = choice.graph.find("first").expect("the tensor between");
///     println!("{}: {}", policy.name(), choice.layouts[middle.index()].rule.storage.name());
/// }
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StorageOptions<'a> {
    /// Decides between buffers and images; [`Balanced`] by default.
    pub policy: &'a dyn StoragePolicy,
    /// The device's limits.
    pub limits: ImageLimits,
    /// The alternatives allowed for images over the limits.
    pub oversize: OversizePolicy,
    /// The bound on symbolic shapes for which tensors are laid out.
    pub bounding: ShapeBound,
}

impl Default for StorageOptions<'_> {
    fn default() -> Self {
        StorageOptions {
            policy: &Balanced,
            limits: ImageLimits::default(),
            oversize: OversizePolicy::default(),
            bounding: ShapeBound::default(),
        }
    }
}

/// Chooses a layout for every tensor, and inserts conversions between forms.
///
/// # Errors
/// A shape has no upper bound, a tensor exceeds the limits and no alternative is allowed, or the policy's rule has the wrong packing.
pub fn choose(graph: &Graph, options: &StorageOptions<'_>) -> Result<StorageChoice> {
    let converted = match options.policy.packs() {
        true => convert(graph, &forms(graph))?,
        false => Rewritten::row_major(graph),
    };
    let (graph, forms) = (converted.graph, converted.forms);
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
        let packed = |axis| PackedTensor {
            graph: &graph,
            id,
            axis,
            shape: &shape,
            readers: readers.get(&id).map_or(&[], Vec::as_slice),
            limits: options.limits,
        };
        let (rule, why) = match forms[id.index()] {
            Form::Plain if !options.policy.packs() => {
                (LayoutRule::buffer(), options.policy.rule(&packed(None)).err())
            }
            Form::Plain => {
                let why = "is row-major: no operator packs it, and its last dimension is not 4, the number of elements of a texel";
                (LayoutRule::buffer(), Some(format!("{shape:?} {why}")))
            }
            Form::Packed(axis) => packed_rule(options.policy, &packed(Some(axis)))?,
            Form::Blocked => packed_rule(options.policy, &packed(None))?,
        };
        let (limits, oversize) = (&options.limits, options.oversize);
        let (layout, reason) = fit_layout(&tensor.name, &rule, &shape, tensor.element, limits, oversize)?;
        layouts.push(layout);
        reasons.push(match (reason, why) {
            (StorageReason::AsRequested, Some(why)) => StorageReason::NoImage(why),
            (reason, _) => reason,
        });
    }
    Ok(StorageChoice {
        graph,
        layouts,
        reasons,
        conversions: converted.conversions,
    })
}

/// The policy's layout rule for a tensor; or that of a buffer, with the policy's reason against an image.
fn packed_rule(
    policy: &dyn StoragePolicy,
    tensor: &PackedTensor<'_>,
) -> Result<(LayoutRule, Option<String>)> {
    let rule = match policy.rule(tensor) {
        Ok(rule) => rule,
        Err(why) => return Ok((tensor.buffer(), Some(why))),
    };
    let packs = tensor.axis.map(|axis| AxisPacking { axis, by: 4 });
    if rule.packs.iter().eq(&packs) {
        return Ok((rule, None));
    }
    let in_words = |packs: &[AxisPacking]| match packs {
        [] => "no axis".to_owned(),
        packs => {
            let packs = packs
                .iter()
                .map(|pack| format!("axis {} by {}", pack.axis, pack.by));
            packs.collect::<Vec<_>>().join(" and ")
        }
    };
    let (name, found, needed) = (policy.name(), in_words(&rule.packs), in_words(packs.as_slice()));
    let problem = format!("storage policy `{name}` packs {found}, but must pack {needed}");
    Err(Error::tensor(&tensor.graph.tensor(tensor.id).name, problem))
}

impl StorageChoice {
    /// The storage scope of a tensor as TVM spells it: a texture scope such as `global.texture` for an image; for a buffer the given scope, or `global` if that
    /// is a texture scope. Used by [`TvmGraph::write`](crate::import::tvm::TvmGraph::write).
    pub fn scope(&self, id: TensorId) -> &str {
        let layout = &self.layouts[id.index()];
        let given = self.graph.tensor(id).scope.as_deref().unwrap_or("");
        let convention = given.parse::<Convention>().ok();
        if !layout.rule.storage.is_image() {
            // Scopes other than textures are kept as given.
            return if convention.is_some() { "global" } else { given };
        }
        let rank = layout.blocked.len() + 1;
        let same = |convention: &Convention| {
            let forms =
                [ConventionForm::Flat, ConventionForm::Layered].map(|of| convention.flattening(rank, of));
            forms.contains(&layout.rule.flattening)
        };
        // The given scope in its original spelling.
        match convention.filter(same) {
            Some(_) => given,
            None => Convention::ALL
                .into_iter()
                .find(same)
                .map_or("global", Convention::scope),
        }
    }
}
