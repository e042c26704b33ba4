//! Operators: one table from which shapes, storage forms, ONNX names and kernels derive.
//!
//! To add an operator, write its [`Definition`] in one of the files here and list it in [`OPERATORS`].

mod call;
mod definition;
mod elementwise;
mod matrix;
mod movement;
mod table;
mod windows;

pub use definition::{BuiltInKernel, Definition, OperandForm, OperatorClass};
pub(super) use table::infer;
pub use table::{OPERATORS, definition};
