//! The table of ONNX operators.

/// The extent to which the reader supports an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnnxSupport {
    /// Output shapes follow from the operands' shapes, from attributes, and from operands that are known before execution.
    Shapes,
    /// Like `Shapes`; outputs are also folded to constants if the operands' values are known, as in shape arithmetic.
    Values,
    /// A branch or a loop.
    ControlFlow,
    /// The number of results depends on values: tensors are planned for the largest possible number, or for the range that the caller gives.
    Bounded,
    /// The file has to give the outputs' shapes (`value_info`).
    FromFile,
    /// Operators on sequences and optionals, which the reader does not support.
    Unsupported,
}

use OnnxSupport::{Bounded, ControlFlow, FromFile, Shapes, Unsupported, Values};

/// Every operator of the domain `ai.onnx` up to opset 28, by extent of support; names are separated by spaces. Operators of other domains
/// need their outputs' shapes in the file, or a function in the model.
pub static ONNX_OPERATORS: [(OnnxSupport, &str); 6] = [
    (
        Values,
        "Abs Add And Cast Ceil Concat Constant ConstantOfShape Div Equal Expand Flatten Floor Gather Greater GreaterOrEqual \
         Identity Less LessOrEqual Max Min Mod Mul Neg Not Or Pow Range ReduceMax ReduceMin ReduceProd ReduceSum Reshape Round \
         Shape Sign Size Slice Sqrt Squeeze Sub Unsqueeze Where",
    ),
    (
        Shapes,
        "Acos Acosh AffineGrid ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization Bernoulli BitShift \
         BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow CastLike Celu CenterCropPad Clip Col2Im Conv ConvInteger \
         ConvTranspose Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Dropout DynamicQuantizeLinear \
         Einsum Elu Erf Exp EyeLike GRU GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool \
         GridSample GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax InstanceNormalization IsInf IsNaN \
         LRN LSTM LayerNormalization LeakyRelu Log LogSoftmax LpNormalization LpPool MatMul MatMulInteger MaxPool MaxRoiPool \
         MaxUnpool Mean MeanVarianceNormalization MelWeightMatrix Mish Multinomial NegativeLogLikelihoodLoss OneHot PRelu Pad \
         QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN RandomNormal RandomNormalLike RandomUniform \
         RandomUniformLike Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean ReduceSumSquare Relu Resize \
         ReverseSequence RoiAlign RotaryEmbedding STFT Scatter ScatterElements ScatterND Selu Shrink Sigmoid Sin Sinh Softmax \
         SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split Sum Swish Tan Tanh TensorScatter ThresholdedRelu Tile \
         TopK Transpose Trilu Upsample Xor",
    ),
    (ControlFlow, "If Loop Scan"),
    (Bounded, "Compress NonMaxSuppression NonZero Unique"),
    (
        FromFile,
        "BitCast CausalConvWithState ImageDecoder LinearAttention RegexFullMatch StringConcat StringNormalizer StringSplit \
         SwiGLU TfIdfVectorizer",
    ),
    (
        Unsupported,
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty \
         SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence",
    ),
];

/// Returns the extent to which the operator of this name is supported; `None` for an unknown one, whose outputs' shapes the file has to give.
pub fn onnx_support(operator: &str) -> Option<OnnxSupport> {
    let found = ONNX_OPERATORS
        .iter()
        .find(|(_, names)| names.split(' ').any(|name| name == operator));
    found.map(|&(support, _)| support)
}
