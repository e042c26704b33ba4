//! What is known of an operator.

use super::call::{Answer, Call, Inferred};

/// An operator: everything that shape inference, storage choice, importers and kernels derive from.
#[derive(Debug)]
#[non_exhaustive]
pub struct Definition {
    /// Its name in graphs.
    pub name: &'static str,
    /// The most inputs that it takes.
    pub inputs: usize,
    /// How its output depends on its inputs.
    pub class: OperatorClass,
    /// In which form it reads its operands.
    pub form: OperandForm,
    /// The input that holds convolution weights.
    pub weights: Option<usize>,
    /// ONNX operators that it is without any attributes; those with attributes are the importer's.
    pub onnx: &'static [&'static str],
    /// The built-in kernel that computes it.
    pub kernel: Option<BuiltInKernel>,
    /// Inputs that kernels read from buffers of vectors alone: biases, scales.
    pub vector_inputs: &'static [usize],
    pub(super) infer: fn(&Call<'_>) -> Answer<Inferred>,
}

impl Definition {
    /// One input, read in plain form, without a kernel.
    pub(super) const fn new(
        name: &'static str,
        class: OperatorClass,
        infer: fn(&Call<'_>) -> Answer<Inferred>,
    ) -> Definition {
        Definition {
            name,
            inputs: 1,
            class,
            form: OperandForm::Plain,
            weights: None,
            onnx: &[],
            kernel: None,
            vector_inputs: &[],
            infer,
        }
    }

    pub(super) const fn computed_by(self, kernel: BuiltInKernel) -> Definition {
        Definition {
            kernel: Some(kernel),
            ..self
        }
    }
}

/// How an operator's output depends on its inputs; compilers fuse operators by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperatorClass {
    /// Each element on the same one of the input.
    Elementwise,
    /// Each element on the corresponding ones of broadcast inputs.
    Broadcast,
    /// Each element on one of the input, at another index.
    Injective,
    /// Each element on a range of the input, by sum or maximum.
    Reduction,
    /// Each element on windows or rows of several inputs; an elementwise operator can follow in the same kernel.
    Contraction,
    /// Anything else.
    Opaque,
}

/// In which form an operator reads its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandForm {
    /// Packed, four channels side by side: convolutions, pools, whose windows read elements again and again.
    Packed,
    /// As they come, all alike.
    Alike,
    /// As they come where the concatenation is along channels in whole texels, else plain.
    ConcatChannels,
    /// Row-major.
    Plain,
}

/// A kernel that comes with the crate's feature `vulkan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named as the operators are.
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
    /// The way of this number of `binary.comp`.
    Binary(u32),
    /// The function of this number in `activation.glsl`.
    Activation(u32),
}
