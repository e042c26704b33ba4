//! Executes recordings one after another on one device.

use tileheap_testkit::skip;

use crate::device::Gpu;
use crate::execute::{Executed, execute};
use crate::pipelines::Pipelines;
use crate::recording::Recording;
use crate::resources::Form;
use crate::verdicts::Verdicts;

pub(crate) struct Bench {
    gpu: Gpu,
    pipelines: Pipelines,
}

impl Bench {
    /// Opens a device; `None` without synchronization validation, and the test is listed as skipped.
    pub(crate) fn new() -> Option<Bench> {
        if std::env::var_os("TILEHEAP_RUNNER").is_none() {
            skip("synchronization validation is part of the test bed");
            return None;
        }
        Some(Bench {
            gpu: Gpu::new(),
            pipelines: Pipelines::default(),
        })
    }

    pub(crate) fn execute(&mut self, recording: &Recording, form: Form) -> Executed {
        execute(&self.gpu, &mut self.pipelines, recording, form)
    }

    pub(crate) fn judge(&mut self, recording: &Recording, form: Form) -> Verdicts {
        Verdicts::new(&self.execute(recording, form))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.pipelines.destroy(&self.gpu);
    }
}

/// Reads a number from the environment.
///
/// # Panics
/// If the value is not a number.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is not a number: {text}"))
    })
}
