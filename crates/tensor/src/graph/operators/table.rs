//! The table of operators.

use super::call::{Answer, Call, Inferred};
use super::convolution::{CONV2D, CONV2D_TRANSPOSE};
use super::definition::BuiltInKernel::{Activation, Add, Copy, Multiply};
use super::definition::Definition;
use super::elementwise::{
    BATCH_NORM, GROUP_NORM, LAYER_NORM, SOFTMAX, activation, binary, comparison, sum, unary,
};
use super::matrix::{DENSE, MATMUL};
use super::movement::{CONCAT, FLATTEN, PAD, RESHAPE, SLICE, SPLIT, TRANSPOSE};
use super::pooling::{AVG_POOL2D, GLOBAL_AVG_POOL2D, MAX_POOL2D, RESIZE2D};
use super::reduction::REDUCE;
use crate::graph::node::Operator;
use crate::graph::tensor::Tensor;

/// Every operator whose shapes are inferred.
pub static OPERATORS: &[Definition] = &[
    CONV2D,
    CONV2D_TRANSPOSE,
    MAX_POOL2D,
    AVG_POOL2D,
    GLOBAL_AVG_POOL2D,
    RESIZE2D,
    DENSE,
    MATMUL,
    RESHAPE,
    FLATTEN,
    TRANSPOSE,
    CONCAT,
    SLICE,
    SPLIT,
    PAD,
    REDUCE,
    BATCH_NORM,
    GROUP_NORM,
    LAYER_NORM,
    SOFTMAX,
    activation("relu", &["Relu"]).computed_by(Activation(1)),
    activation("relu6", &[]).computed_by(Activation(2)),
    activation("hard_swish", &["HardSwish"]).computed_by(Activation(3)),
    activation("sigmoid", &["Sigmoid"]).computed_by(Activation(4)),
    activation("tanh", &["Tanh"]).computed_by(Activation(5)),
    activation("hard_sigmoid", &["HardSigmoid"]),
    activation("exp", &["Exp"]),
    activation("sqrt", &["Sqrt"]),
    activation("gelu", &["Gelu"]),
    activation("silu", &[]),
    activation("selu", &["Selu"]),
    activation("celu", &["Celu"]),
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
    activation("clip", &[]),
    activation("leaky_relu", &["LeakyRelu"]),
    activation("elu", &["Elu"]),
    activation("copy", &["Identity", "Dropout"]).computed_by(Copy),
    unary("cast", &[]).computed_by(Copy),
    unary("log", &["Log"]),
    unary("rsqrt", &[]),
    unary("erf", &["Erf"]),
    unary("log_softmax", &["LogSoftmax"]),
    unary("cumulative_sum", &["CumSum"]),
    unary("triangle", &["Trilu"]),
    unary("not", &["Not"]),
    sum("add", &["Add"]).computed_by(Add),
    sum("sub", &["Sub"]),
    sum("mul", &["Mul"]).computed_by(Multiply),
    sum("div", &["Div"]),
    sum("prelu", &["PRelu"]),
    sum("max", &["Max"]),
    sum("min", &["Min"]),
    binary("pow", &["Pow"]),
    binary("mod", &["Mod"]),
    comparison("less", &["Less"]),
    comparison("less_equal", &["LessOrEqual"]),
    comparison("greater", &["Greater"]),
    comparison("greater_equal", &["GreaterOrEqual"]),
    comparison("equal", &["Equal"]),
    comparison("and", &["And"]),
    comparison("or", &["Or"]),
    comparison("xor", &["Xor"]),
];

/// The definition of an operator by its name in graphs.
pub fn definition(name: &str) -> Option<&'static Definition> {
    OPERATORS.iter().find(|definition| definition.name == name)
}

/// The outputs of an operator, with shapes as expressions of the inputs' dimensions.
pub(in crate::graph) fn infer(operator: &Operator, inputs: &[&Tensor]) -> Answer<Inferred> {
    match definition(&operator.name) {
        Some(definition) => (definition.infer)(&Call { operator, inputs }),
        None => Err(format!(
            "operator `{}` is unknown; give its outputs' shapes",
            operator.name
        )),
    }
}
