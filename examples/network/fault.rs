//! What can go wrong in the program, each in one line.

use ash::vk;

pub(crate) type Result<T> = std::result::Result<T, Fault>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Tileheap(#[from] tileheap::Error),
    #[error(transparent)]
    Tensor(#[from] tileheap_tensor::Error),
    #[error(transparent)]
    Profile(#[from] tileheap_device::Error),
    #[error("{call} failed: {result}")]
    Vulkan { call: &'static str, result: vk::Result },
    #[error(
        "{network} in {variant}: the result is off by {error:.2e} of its largest element, and {tolerance:.0e} is allowed"
    )]
    Off {
        network: &'static str,
        variant: &'static str,
        error: f64,
        tolerance: f64,
    },
    #[error("{network} in {variant}: {elements} elements of the result differ with and without aliasing")]
    Differ {
        network: &'static str,
        variant: &'static str,
        elements: usize,
    },
    #[error("Vulkan's validation found {0} faults, listed above")]
    Validation(usize),
}

/// Names the call that returned a `vk::Result`.
pub(crate) trait Called<T> {
    fn called(self, call: &'static str) -> Result<T>;
}

impl<T> Called<T> for std::result::Result<T, vk::Result> {
    fn called(self, call: &'static str) -> Result<T> {
        self.map_err(|result| Fault::Vulkan { call, result })
    }
}

impl From<tileheap_tensor::TensorError> for Fault {
    fn from(error: tileheap_tensor::TensorError) -> Fault {
        Fault::Tensor(error.into())
    }
}
