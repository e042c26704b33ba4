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
        let strategies = tileheap_pack::Strategy::ALL.map(tileheap_pack::Strategy::name);
        module.add("STRATEGIES", strategies.to_vec())?;
        let policies = tileheap_tensor::storage::POLICIES.map(|policy| policy.name());
        module.add("POLICIES", policies.to_vec())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
