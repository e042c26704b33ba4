//! The exception for all invalid inputs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tileheap_tensor::Error as TensorError;

pyo3::create_exception!(
    tileheap,
    Error,
    PyValueError,
    "An input that cannot be packed or planned; `item` is what the message is about: an index, the name of a tensor or node, or None."
);

/// Creates an error about an item.
pub(crate) fn error<'py>(message: String, item: impl IntoPyObject<'py>, py: Python<'py>) -> PyErr {
    let error = Error::new_err(message);
    let set = error.value(py).setattr("item", item);
    set.err().unwrap_or(error)
}

/// Converts a packing error; with names, the message contains the item's name.
pub(crate) fn of_packing(error_of: &tileheap_pack::Error, names: &[String], py: Python<'_>) -> PyErr {
    let mut message = error_of.to_string();
    let item = error_of.item();
    if let Some((item, name)) = item.and_then(|item| Some((item, names.get(item as usize)?))) {
        message += &format!(" (item {item} is `{name}`)");
    }
    error(message, item, py)
}

/// Converts a planning error.
pub(crate) fn of_plan(error_of: &TensorError, py: Python<'_>) -> PyErr {
    let item = match error_of {
        TensorError::Tensor { tensor, .. }
        | TensorError::InvalidPlan { tensor, .. }
        | TensorError::MemoryTooSmall { tensor, .. } => Some(tensor),
        TensorError::Control { node, .. }
        | TensorError::Operator { node, .. }
        | TensorError::Dangling { node, .. } => Some(node),
        TensorError::Symbol { symbol, .. } => Some(symbol),
        _ => None,
    };
    error(error_of.to_string(), item, py)
}
