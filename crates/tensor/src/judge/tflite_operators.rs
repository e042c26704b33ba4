//! TensorFlow Lite operators, with the sharing of bytes that each allows.
//!
//! Source: tensorflow/lite/schema/schema.fbs for the codes; the kernels of tflite-micro for the sharing they tolerate.

/// The sharing of bytes between inputs and outputs that an operator allows, or the subgraphs that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// The outputs share no bytes with the inputs.
    Disjoint,
    /// The operator reads each element of its operands before it writes that element of its result, so the result may
    /// overwrite an operand.
    Elementwise,
    /// The operator's output is its first input in another shape.
    SameData,
    /// The operator runs one of two subgraphs.
    If,
    /// The operator runs a condition and a body in turn.
    While,
    /// The operator runs a subgraph.
    CallOnce,
}

/// The name of a built-in operator, and the sharing that it allows.
pub(super) fn operator(code: i32) -> (&'static str, Sharing) {
    let known = OPERATORS.iter().find(|known| known.0 == code);
    known.map_or(("operator", Sharing::Disjoint), |&(_, name, sharing)| {
        (name, sharing)
    })
}

/// The code of custom operators.
pub(super) const CUSTOM: i32 = 32;

use Sharing::{CallOnce, Disjoint, Elementwise, SameData};

const OPERATORS: &[(i32, &str, Sharing)] = &[
    (0, "ADD", Elementwise),
    (1, "AVERAGE_POOL_2D", Disjoint),
    (2, "CONCATENATION", Disjoint),
    (3, "CONV_2D", Disjoint),
    (4, "DEPTHWISE_CONV_2D", Disjoint),
    (5, "DEPTH_TO_SPACE", Disjoint),
    (6, "DEQUANTIZE", Elementwise),
    (8, "FLOOR", Elementwise),
    (9, "FULLY_CONNECTED", Disjoint),
    (14, "LOGISTIC", Elementwise),
    (17, "MAX_POOL_2D", Disjoint),
    (18, "MUL", Elementwise),
    (19, "RELU", Elementwise),
    (21, "RELU6", Elementwise),
    (22, "RESHAPE", SameData),
    (23, "RESIZE_BILINEAR", Disjoint),
    (25, "SOFTMAX", Disjoint),
    (26, "SPACE_TO_DEPTH", Disjoint),
    (27, "SVDF", Disjoint),
    (28, "TANH", Elementwise),
    (CUSTOM, "CUSTOM", Disjoint),
    (34, "PAD", Disjoint),
    (36, "GATHER", Disjoint),
    (39, "TRANSPOSE", Disjoint),
    (40, "MEAN", Disjoint),
    (41, "SUB", Elementwise),
    (42, "DIV", Elementwise),
    (43, "SQUEEZE", SameData),
    (44, "UNIDIRECTIONAL_SEQUENCE_LSTM", Disjoint),
    (45, "STRIDED_SLICE", Disjoint),
    (47, "EXP", Elementwise),
    (49, "SPLIT", Disjoint),
    (53, "CAST", Elementwise),
    (54, "PRELU", Elementwise),
    (55, "MAXIMUM", Elementwise),
    (56, "ARG_MAX", Disjoint),
    (57, "MINIMUM", Elementwise),
    (59, "NEG", Elementwise),
    (65, "SLICE", Disjoint),
    (66, "SIN", Elementwise),
    (67, "TRANSPOSE_CONV", Disjoint),
    (70, "EXPAND_DIMS", SameData),
    (73, "LOG", Elementwise),
    (74, "SUM", Disjoint),
    (75, "SQRT", Elementwise),
    (76, "RSQRT", Elementwise),
    (83, "PACK", Disjoint),
    (84, "LOGICAL_OR", Elementwise),
    (86, "LOGICAL_AND", Elementwise),
    (87, "LOGICAL_NOT", Elementwise),
    (88, "UNPACK", Disjoint),
    (90, "FLOOR_DIV", Elementwise),
    (92, "SQUARE", Elementwise),
    (95, "FLOOR_MOD", Elementwise),
    (97, "RESIZE_NEAREST_NEIGHBOR", Disjoint),
    (98, "LEAKY_RELU", Elementwise),
    (99, "SQUARED_DIFFERENCE", Elementwise),
    (101, "ABS", Elementwise),
    (102, "SPLIT_V", Disjoint),
    (104, "CEIL", Elementwise),
    (106, "ADD_N", Elementwise),
    (108, "COS", Elementwise),
    (111, "ELU", Elementwise),
    (114, "QUANTIZE", Elementwise),
    (116, "ROUND", Elementwise),
    (117, "HARD_SWISH", Elementwise),
    (118, "IF", Sharing::If),
    (119, "WHILE", Sharing::While),
    (126, "BATCH_MATMUL", Disjoint),
    (129, "CALL_ONCE", CallOnce),
    (150, "GELU", Elementwise),
];
