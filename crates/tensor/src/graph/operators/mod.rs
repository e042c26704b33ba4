//! Operators: one table from which shapes, storage forms, ONNX names and kernels derive.
//!
//! To add an operator, write its [`OperatorDefinition`] in one of the files here and list it in [`OPERATORS`].

mod call;
mod definition;
mod elementwise;
mod matrix;
mod movement;
mod table;
mod windows;

pub use definition::{BuiltInKernel, COMMON_ATTRIBUTES, OperandForm, OperatorClass, OperatorDefinition};
pub(super) use table::infer;
pub use table::{OPERATORS, definition};
