//! The exception for all invalid inputs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tileheap_tensor::Error as TensorError;

pyo3::create_exception!(
    tileheap,
    Error,
    PyValueError,
    "An input that cannot be packed or planned; `item` is the subject of the message: an index, the name of a tensor or node, or None."
);

/// Creates an error about an item.
pub(crate) fn error<'py>(message: String, item: impl IntoPyObject<'py>, py: Python<'py>) -> PyErr {
    let error = Error::new_err(message);
    let set = error.value(py).setattr("item", item);
    set.err().unwrap_or(error)
}

/// Converts a packing error; with names, the message contains the item's name.
pub(crate) fn of_packing(error_of: &tileheap_pack::Error, names: &[String], py: Python<'_>) -> PyErr {
    let message = match names {
        [] => error_of.to_string(),
        _ => error_of.with_names(|item| names[item as usize].clone()),
    };
    error(message, error_of.item(), py)
}

/// Converts a planning error; `is_model` is true if the tensors are from an ONNX file, to which `ranges` apply.
pub(crate) fn of_plan(error_of: &TensorError, is_model: bool, py: Python<'_>) -> PyErr {
    let item = match error_of {
        TensorError::Tensor { tensor, .. }
        | TensorError::Unbounded { tensor, .. }
        | TensorError::InvalidPlan { tensor, .. }
        | TensorError::MemoryTooSmall { tensor, .. } => Some(tensor),
        TensorError::Control { node, .. }
        | TensorError::Operator { node, .. }
        | TensorError::Dangling { node, .. } => Some(node),
        TensorError::Symbol { symbol, .. } => Some(symbol),
        _ => None,
    };
    let range = match error_of {
        TensorError::Unbounded { symbol, .. } if is_model => {
            format!(": add ranges={{\"{symbol}\": (MIN, MAX)}}")
        }
        _ => String::new(),
    };
    error(format!("{error_of}{range}"), item, py)
}
