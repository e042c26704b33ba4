//! The [`Gpu`] of a test: its context is validated where the run is.

use tileheap::runtime::{Capabilities, ContextDesc};

use crate::gpu::Gpu;
use crate::validation;

impl Gpu {
    /// The device of the environment, without some capabilities.
    pub fn new(without: Capabilities) -> Gpu {
        Gpu::with(ContextDesc {
            without,
            ..ContextDesc::from_env("tileheap tests")
        })
    }

    pub fn with(desc: ContextDesc<'_>) -> Gpu {
        Gpu::on(validation::context(&desc))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            validation::finish(self.release());
        }
    }
}
