//! The compiled half of the Python package `tileheap`: plain numbers and text in and out, checked here, given shape by
//! `python/tileheap/__init__.py`, which has the interface and its documentation.

mod error;
mod packing;
mod search;
mod tensors;

/// Plain functions below `tileheap`'s own.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::error::Error;
    #[pymodule_export]
    use super::packing::{pack, select};
    #[pymodule_export]
    use super::tensors::plan;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
