//! The built-in policies, and policies by name.
//!
//! Source of the rules for Adreno: TVM's [RFC](crate#sources), L1.1 (`CollectStorageInfo`); TVM at ce22736e and 5d4dc872.

use super::policy::{PackedTensor, StoragePolicy};
use super::scope::{ScopeLimits, adreno_scope};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::layout::{Convention, ConventionForm, LayoutRule};
use tileheap_json::clip;

/// Uses only row-major buffers, without packing or conversions: for kernels that read tensors as they are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMajor;

/// Uses only buffers, packed where operators require it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuffersOnly;

/// Uses the given storage scope of each tensor, in this form of the conventions; tensors without one are buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenScopes(pub ConventionForm);

/// TVM's Relay rule for Adreno: a 2D image in the squarest convention that fits, if every reader accepts one. Weights with a window are
/// buffers unless their elements have 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adreno;

/// TVM's Relax rule for Adreno: like [`Adreno`], but uses layered images and the first convention that fits. Weights and operands of reductions are buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdrenoLayered;

/// A 2D image with the tensor's own rows and columns, if some operator reads it as an image and the rows are not single texels. Weights
/// are always images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balanced;

/// Every built-in policy.
pub static POLICIES: [&dyn StoragePolicy; 7] = [
    &RowMajor,
    &BuffersOnly,
    &GivenScopes(ConventionForm::Flat),
    &GivenScopes(ConventionForm::Layered),
    &Adreno,
    &AdrenoLayered,
    &Balanced,
];

/// The policy for a graph from a file: [`GivenScopes`] if a tensor has a texture scope, otherwise [`Balanced`].
pub fn default_policy(graph: &Graph) -> &'static dyn StoragePolicy {
    let mut scopes = graph.tensors().iter().filter_map(|tensor| tensor.scope.as_ref());
    match scopes.any(|scope| scope.parse::<Convention>().is_ok()) {
        true => &GivenScopes(ConventionForm::Flat),
        false => &Balanced,
    }
}

/// A registry of policies by name: the built-in ones, and those registered for other targets.
#[derive(Clone, Debug)]
pub struct StoragePolicies<'a>(Vec<&'a dyn StoragePolicy>);

impl Default for StoragePolicies<'_> {
    /// The built-in policies.
    fn default() -> Self {
        StoragePolicies(POLICIES.to_vec())
    }
}

impl<'a> StoragePolicies<'a> {
    /// Adds a policy, replacing one of the same name.
    pub fn register(&mut self, policy: &'a dyn StoragePolicy) {
        self.0.retain(|other| other.name() != policy.name());
        self.0.push(policy);
    }

    /// The policy with this name.
    ///
    /// # Errors
    /// No policy has this name; the error lists the known names.
    pub fn named(&self, name: &str) -> Result<&'a dyn StoragePolicy> {
        let found = self.0.iter().find(|policy| policy.name() == name);
        found.copied().ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|policy| policy.name()).collect();
            let (name, known) = (clip(name), known.join(", "));
            Error::UnknownPolicy { name, known }
        })
    }
}

impl StoragePolicy for RowMajor {
    fn name(&self) -> &str {
        "row-major"
    }

    fn description(&self) -> &str {
        "Only row-major buffers: no packing of channels, no conversions."
    }

    fn packs(&self) -> bool {
        false
    }

    fn rule(&self, _: &PackedTensor<'_>) -> Result<LayoutRule, String> {
        Err("the policy stores every tensor row-major in a buffer".to_owned())
    }
}

impl StoragePolicy for BuffersOnly {
    fn name(&self) -> &str {
        "buffers"
    }

    fn description(&self) -> &str {
        "Only buffers; channels of convolutions and pools packed by 4."
    }

    fn rule(&self, _: &PackedTensor<'_>) -> Result<LayoutRule, String> {
        Err("the policy uses only buffers".to_owned())
    }
}

impl StoragePolicy for GivenScopes {
    fn name(&self) -> &str {
        match self.0 {
            ConventionForm::Flat => "given",
            ConventionForm::Layered => "given-layered",
        }
    }

    fn description(&self) -> &str {
        match self.0 {
            ConventionForm::Flat => "The texture scopes of the file, as 2D images.",
            ConventionForm::Layered => "The texture scopes of the file, as layered images.",
        }
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> Result<LayoutRule, String> {
        match tensor.graph.tensor(tensor.id).scope.as_deref() {
            None | Some("" | "global") => Err("no texture scope was given for it".to_owned()),
            Some(scope) => Ok(tensor.image(scope.parse::<Convention>()?, self.0)),
        }
    }
}

impl StoragePolicy for Adreno {
    fn name(&self) -> &str {
        "adreno"
    }

    fn description(&self) -> &str {
        "TVM's rule for Adreno in Relay: 2D images where every reader accepts one."
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> Result<LayoutRule, String> {
        // Weights with a window are read once per window: from buffers, unless they have 16 bits.
        if tensor.is_weight() && has_window(tensor) && tensor.element().bits() != 16 {
            return Err(
                "the policy stores weights with a window in buffers, unless their elements have 16 bits"
                    .to_owned(),
            );
        }
        by_scope(tensor, ConventionForm::Flat)
    }
}

impl StoragePolicy for AdrenoLayered {
    fn name(&self) -> &str {
        "adreno-layered"
    }

    fn description(&self) -> &str {
        "TVM's rule for Adreno in Relax: layered images, and buffers for weights and operands of reductions."
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> Result<LayoutRule, String> {
        if tensor.is_weight() {
            return Err("the policy stores weights in buffers".to_owned());
        }
        if tensor.is_reduced() {
            return Err("a reduction reads it from a buffer".to_owned());
        }
        by_scope(tensor, ConventionForm::Layered)
    }
}

fn by_scope(tensor: &PackedTensor<'_>, generation: ConventionForm) -> Result<LayoutRule, String> {
    tensor.is_only_used_as_image()?;
    let limits = ScopeLimits {
        side: tensor.limits.side_2d,
        depth: tensor.limits.layers,
    };
    let blocked = tensor.blocked();
    match adreno_scope(&blocked, generation, limits) {
        Some(convention) => Ok(tensor.image(convention, generation)),
        None => {
            let side = limits.side;
            Err(format!(
                "no texture scope fits {blocked:?} into {side} texels per side"
            ))
        }
    }
}

/// Returns true if a dimension after the first two, lanes excluded, is larger than 1.
fn has_window(tensor: &PackedTensor<'_>) -> bool {
    let blocked = tensor.blocked();
    let sides = blocked.split_last().map_or(&[][..], |(_, sides)| sides);
    sides.iter().skip(2).any(|&side| side != 1)
}

impl StoragePolicy for Balanced {
    fn name(&self) -> &str {
        "balanced"
    }

    fn description(&self) -> &str {
        "2D images for weights, and for tensors that an operator reads as an image, unless their rows are single texels."
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> Result<LayoutRule, String> {
        if tensor.is_weight() {
            return Ok(tensor.image(Convention::Weight, ConventionForm::Flat));
        }
        tensor.is_used_as_image()?;
        // A row of single texels has no locality to preserve. Operands of elementwise operators are images too: otherwise results could
        // not be written over them.
        match has_window(tensor) {
            false => Err("each of its rows is a single texel".to_owned()),
            true => Ok(tensor.image(Convention::Texture, ConventionForm::Flat)),
        }
    }
}
