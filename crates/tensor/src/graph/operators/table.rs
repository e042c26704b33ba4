//! The table of operators.

use super::call::{Answer, Call, Inferred};
use super::definition::BuiltInKernel::{Activation, Binary, Copy};
use super::definition::OperatorDefinition;
use super::elementwise::{
    BATCH_NORM, GROUP_NORM, LAYER_NORM, SOFTMAX, activation, binary, comparison, sum, test, unary,
};
use super::matrix::{DENSE, MATMUL, REDUCE};
use super::movement::{CONCAT, FLATTEN, PAD, RESHAPE, SLICE, SPLIT, TRANSPOSE};
use super::windows::{AVG_POOL2D, CONV2D, CONV2D_TRANSPOSE, GLOBAL_AVG_POOL2D, MAX_POOL2D, RESIZE2D};
use crate::graph::node::Operator;
use crate::graph::shape::Symbol;
use crate::graph::tensor::Tensor;

/// Every operator whose shapes are inferred.
pub static OPERATORS: &[OperatorDefinition] = &[
    CONV2D.with(&["strides", "padding", "dilations", "groups"]),
    CONV2D_TRANSPOSE.with(&["strides", "padding", "output_padding", "dilations", "groups"]),
    MAX_POOL2D.with(&["kernel", "strides", "padding", "ceil_mode"]),
    AVG_POOL2D.with(&["kernel", "strides", "padding", "ceil_mode"]),
    GLOBAL_AVG_POOL2D,
    RESIZE2D.with(&["scale"]),
    DENSE,
    MATMUL.with(&["transpose_b"]),
    RESHAPE.with(&["shape"]),
    FLATTEN.with(&["axis"]),
    TRANSPOSE.with(&["axes"]),
    CONCAT.with(&["axis"]),
    SLICE.with(&["axis", "begin", "end"]),
    SPLIT.with(&["axis", "parts"]),
    PAD.with(&["padding"]),
    REDUCE.with(&["axes", "keep"]),
    BATCH_NORM.with(&["epsilon"]),
    GROUP_NORM.with(&["groups", "epsilon"]),
    LAYER_NORM.with(&["axis", "epsilon"]),
    SOFTMAX.with(&["axis"]),
    activation("relu", &["Relu"]).computed_by(Activation(1)),
    activation("relu6", &[]).computed_by(Activation(2)),
    activation("hard_swish", &["HardSwish"]).computed_by(Activation(3)),
    activation("sigmoid", &["Sigmoid"]).computed_by(Activation(4)),
    activation("tanh", &["Tanh"]).computed_by(Activation(5)),
    activation("hard_sigmoid", &["HardSigmoid"]).with(&["alpha", "beta"]),
    activation("exp", &["Exp"]).computed_by(Activation(9)),
    activation("sqrt", &["Sqrt"]).computed_by(Activation(10)),
    activation("gelu", &["Gelu"]).computed_by(Activation(6)),
    activation("silu", &[]).computed_by(Activation(7)),
    activation("selu", &["Selu"]).with(&["alpha", "gamma"]),
    activation("celu", &["Celu"]).with(&["alpha"]),
    activation("mish", &["Mish"]),
    activation("softplus", &["Softplus"]),
    activation("softsign", &["Softsign"]),
    activation("reciprocal", &["Reciprocal"]),
    activation("sign", &["Sign"]),
    activation("floor", &["Floor"]),
    activation("ceil", &["Ceil"]),
    activation("round", &["Round"]),
    activation("sin", &["Sin"]),
    activation("cos", &["Cos"]),
    activation("neg", &["Neg"]),
    activation("abs", &["Abs"]),
    activation("tan", &["Tan"]),
    activation("sinh", &["Sinh"]),
    activation("cosh", &["Cosh"]),
    activation("asin", &["Asin"]),
    activation("acos", &["Acos"]),
    activation("atan", &["Atan"]),
    activation("asinh", &["Asinh"]),
    activation("acosh", &["Acosh"]),
    activation("atanh", &["Atanh"]),
    activation("swish", &["Swish"]),
    activation("shrink", &["Shrink"]),
    activation("thresholded_relu", &["ThresholdedRelu"]).with(&["alpha"]),
    activation("clip", &[]).with(&["min", "max"]),
    activation("leaky_relu", &["LeakyRelu"]).with(&["alpha"]),
    activation("elu", &["Elu"]).with(&["alpha"]),
    activation("copy", &["Identity", "Dropout"]).computed_by(Copy),
    unary("cast", &[]).with(&["to"]).computed_by(Copy),
    unary("log", &["Log"]),
    unary("rsqrt", &[]),
    unary("erf", &["Erf"]).computed_by(Activation(8)),
    unary("log_softmax", &["LogSoftmax"]),
    unary("cumulative_sum", &["CumSum"]),
    unary("cumulative_product", &["CumProd"]),
    unary("triangle", &["Trilu"]),
    unary("not", &["Not", "BitwiseNot"]),
    test("is_nan", &["IsNaN"]),
    test("is_inf", &["IsInf"]),
    sum("add", &["Add"]).computed_by(Binary(0)),
    sum("sub", &["Sub"]).computed_by(Binary(2)),
    sum("mul", &["Mul"]).computed_by(Binary(1)),
    sum("div", &["Div"]).computed_by(Binary(3)),
    sum("prelu", &["PRelu"]),
    sum("max", &["Max"]).computed_by(Binary(4)),
    sum("min", &["Min"]).computed_by(Binary(5)),
    binary("pow", &["Pow"]),
    binary("mod", &["Mod"]),
    binary("bit_shift", &["BitShift"]),
    binary("bit_and", &["BitwiseAnd"]),
    binary("bit_or", &["BitwiseOr"]),
    binary("bit_xor", &["BitwiseXor"]),
    comparison("less", &["Less"]),
    comparison("less_equal", &["LessOrEqual"]),
    comparison("greater", &["Greater"]),
    comparison("greater_equal", &["GreaterOrEqual"]),
    comparison("equal", &["Equal"]),
    comparison("and", &["And"]),
    comparison("or", &["Or"]),
    comparison("xor", &["Xor"]),
];

/// Looks up the definition of an operator by its name in graphs.
pub fn definition(name: &str) -> Option<&'static OperatorDefinition> {
    OPERATORS.iter().find(|definition| definition.name == name)
}

/// Infers the outputs of an operator, with shapes as expressions of the inputs' dimensions.
pub(in crate::graph) fn infer(
    operator: &Operator,
    inputs: &[&Tensor],
    symbols: &[Symbol],
) -> Answer<Inferred> {
    let call = Call {
        operator,
        inputs,
        symbols,
    };
    match definition(&operator.name) {
        Some(definition) => (definition.infer)(&call),
        None => Err(format!(
            "operator `{}` is unknown; give its outputs' shapes",
            operator.name
        )),
    }
}
