//! The definition of an operator.

use super::call::{Answer, Call, Inferred};

/// Attributes that every operator may have: an activation that its kernel applies to the results, and numbers for a kernel of the caller.
pub const COMMON_ATTRIBUTES: [&str; 2] = ["activation", "numbers"];

/// The definition of an operator, the single source for shape inference, storage choice, importers and kernels.
#[derive(Debug)]
#[non_exhaustive]
pub struct OperatorDefinition {
    /// The operator's name in graphs.
    pub name: &'static str,
    /// The maximum number of inputs.
    pub inputs: usize,
    /// The way in which the operator's output depends on its inputs.
    pub class: OperatorClass,
    /// The form in which the operator reads its operands.
    pub form: OperandForm,
    /// The index of the input that holds convolution weights, if any.
    pub weights: Option<usize>,
    /// The attributes that the operator takes, in addition to [`COMMON_ATTRIBUTES`].
    pub attributes: &'static [&'static str],
    /// The names of equivalent ONNX operators without attributes; the importer itself maps those with attributes.
    pub onnx: &'static [&'static str],
    /// The built-in kernel that computes the operator, if any.
    pub kernel: Option<BuiltInKernel>,
    /// The indices of inputs that kernels read only from buffers of vectors, such as biases and scales.
    pub vector_inputs: &'static [usize],
    pub(super) infer: fn(&Call<'_>) -> Answer<Inferred>,
}

impl OperatorDefinition {
    /// Defines an operator with one input, which is read in plain form, and no kernel.
    pub(super) const fn new(
        name: &'static str,
        class: OperatorClass,
        infer: fn(&Call<'_>) -> Answer<Inferred>,
    ) -> OperatorDefinition {
        OperatorDefinition {
            name,
            inputs: 1,
            class,
            form: OperandForm::Plain,
            weights: None,
            attributes: &[],
            onnx: &[],
            kernel: None,
            vector_inputs: &[],
            infer,
        }
    }

    pub(super) const fn with(self, attributes: &'static [&'static str]) -> OperatorDefinition {
        OperatorDefinition { attributes, ..self }
    }

    pub(super) const fn computed_by(self, kernel: BuiltInKernel) -> OperatorDefinition {
        OperatorDefinition {
            kernel: Some(kernel),
            ..self
        }
    }
}

/// The way in which an operator's output depends on its inputs, which decides whether compilers can fuse it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperatorClass {
    /// Each element depends on the input's element at the same index.
    Elementwise,
    /// Each element depends on the corresponding elements of broadcast inputs.
    Broadcast,
    /// Each element depends on one element of the input, which may be at another index.
    Injective,
    /// Each element is a sum or maximum over a range of the input.
    Reduction,
    /// Each element depends on windows or rows of several inputs; an elementwise operator can be fused after it.
    Contraction,
    /// The output depends on the inputs in any other way.
    Opaque,
}

/// The form in which an operator reads its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandForm {
    /// Packed, four channels per vector: convolutions and pools, whose windows read elements repeatedly.
    Packed,
    /// Any form, the same for all operands.
    SameForAll,
    /// Like `SameForAll` if whole texels are concatenated along the channels, otherwise like `Plain`.
    ConcatChannels,
    /// Row-major, without packing.
    Plain,
}

/// A kernel that comes with the crate's feature `vulkan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named like the operators.
pub enum BuiltInKernel {
    Convolution,
    TransposedConvolution,
    Dense,
    MatMul,
    MaxPool,
    AveragePool,
    GlobalAveragePool,
    Softmax,
    LayerNorm,
    Copy,
    Reshape,
    Concat,
    Slice,
    Split,
    Transpose,
    Pad,
    Resize,
    /// A function of `binary.comp`, by number.
    Binary(u32),
    /// A function of `activation.glsl`, by number.
    Activation(u32),
}
