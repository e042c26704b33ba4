//! The compiled half of the Python package `tileheap`: it takes and returns plain numbers and text, and checks its
//! inputs. `python/tileheap/__init__.py` has the public interface and its documentation.

mod error;
mod packing;
mod search;
mod tensors;

/// Functions used by the `tileheap` package.
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
