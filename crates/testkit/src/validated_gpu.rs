//! Creates the [`Gpu`] of a test, with validation if the run is validated, and checks its messages.

use tileheap::runtime::context::ValidationMessage;
use tileheap::runtime::{Capabilities, ContextDesc};

use crate::gpu::Gpu;
use crate::validation;

impl Gpu {
    /// The device that the environment selects, without the given capabilities.
    pub fn new(without: Capabilities) -> Gpu {
        Gpu::with(ContextDesc {
            without,
            ..ContextDesc::from_env("tileheap tests")
        })
    }

    pub fn with(desc: ContextDesc<'_>) -> Gpu {
        Gpu::on(validation::context(&desc))
    }

    /// The messages since the deliberate mistakes, without known false positives.
    pub fn unexpected_messages(&self) -> Vec<ValidationMessage> {
        validation::unexpected(&self.context, self.context.messages())
    }

    /// Destroys everything, and returns the messages that would fail a test.
    pub fn into_unexpected_messages(self) -> Vec<ValidationMessage> {
        validation::destroy(self.clear())
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            validation::finish(self.release());
        }
    }
}
