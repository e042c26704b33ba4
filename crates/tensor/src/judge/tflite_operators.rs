//! TensorFlow Lite operators, with the sharing of bytes that each allows.
//!
//! Source: tensorflow/lite/schema/schema.fbs for the codes; the kernels of tflite-micro for the sharing they tolerate.

/// The sharing of bytes between inputs and outputs that an operator allows, or the subgraphs that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// The outputs share no bytes with the inputs.
    Apart,
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
    known.map_or(("operator", Sharing::Apart), |&(_, name, sharing)| {
        (name, sharing)
    })
}

/// The code of custom operators.
pub(super) const CUSTOM: i32 = 32;

use Sharing::{Apart, CallOnce, Elementwise, SameData};

const OPERATORS: &[(i32, &str, Sharing)] = &[
    (0, "ADD", Elementwise),
    (1, "AVERAGE_POOL_2D", Apart),
    (2, "CONCATENATION", Apart),
    (3, "CONV_2D", Apart),
    (4, "DEPTHWISE_CONV_2D", Apart),
    (5, "DEPTH_TO_SPACE", Apart),
    (6, "DEQUANTIZE", Elementwise),
    (8, "FLOOR", Elementwise),
    (9, "FULLY_CONNECTED", Apart),
    (14, "LOGISTIC", Elementwise),
    (17, "MAX_POOL_2D", Apart),
    (18, "MUL", Elementwise),
    (19, "RELU", Elementwise),
    (21, "RELU6", Elementwise),
    (22, "RESHAPE", SameData),
    (23, "RESIZE_BILINEAR", Apart),
    (25, "SOFTMAX", Apart),
    (26, "SPACE_TO_DEPTH", Apart),
    (27, "SVDF", Apart),
    (28, "TANH", Elementwise),
    (CUSTOM, "CUSTOM", Apart),
    (34, "PAD", Apart),
    (36, "GATHER", Apart),
    (39, "TRANSPOSE", Apart),
    (40, "MEAN", Apart),
    (41, "SUB", Elementwise),
    (42, "DIV", Elementwise),
    (43, "SQUEEZE", SameData),
    (44, "UNIDIRECTIONAL_SEQUENCE_LSTM", Apart),
    (45, "STRIDED_SLICE", Apart),
    (47, "EXP", Elementwise),
    (49, "SPLIT", Apart),
    (53, "CAST", Elementwise),
    (54, "PRELU", Elementwise),
    (55, "MAXIMUM", Elementwise),
    (56, "ARG_MAX", Apart),
    (57, "MINIMUM", Elementwise),
    (59, "NEG", Elementwise),
    (65, "SLICE", Apart),
    (66, "SIN", Elementwise),
    (67, "TRANSPOSE_CONV", Apart),
    (70, "EXPAND_DIMS", SameData),
    (73, "LOG", Elementwise),
    (74, "SUM", Apart),
    (75, "SQRT", Elementwise),
    (76, "RSQRT", Elementwise),
    (83, "PACK", Apart),
    (84, "LOGICAL_OR", Elementwise),
    (86, "LOGICAL_AND", Elementwise),
    (87, "LOGICAL_NOT", Elementwise),
    (88, "UNPACK", Apart),
    (90, "FLOOR_DIV", Elementwise),
    (92, "SQUARE", Elementwise),
    (95, "FLOOR_MOD", Elementwise),
    (97, "RESIZE_NEAREST_NEIGHBOR", Apart),
    (98, "LEAKY_RELU", Elementwise),
    (99, "SQUARED_DIFFERENCE", Elementwise),
    (101, "ABS", Elementwise),
    (102, "SPLIT_V", Apart),
    (104, "CEIL", Elementwise),
    (106, "ADD_N", Elementwise),
    (108, "COS", Elementwise),
    (111, "ELU", Elementwise),
    (114, "QUANTIZE", Elementwise),
    (116, "ROUND", Elementwise),
    (117, "HARD_SWISH", Elementwise),
    (118, "IF", Sharing::If),
    (119, "WHILE", Sharing::While),
    (126, "BATCH_MATMUL", Apart),
    (129, "CALL_ONCE", CallOnce),
    (150, "GELU", Elementwise),
];
