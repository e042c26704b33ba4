//! What can go wrong between the crate and a driver.

use ash::vk;

/// An error of the runtime. Every message names the thing and what to do; a Vulkan error keeps its result and call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeFault {
    /// A Vulkan call failed.
    #[error("{call} failed with {result:?} for {what}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
        /// The thing it was called for.
        what: String,
    },
    /// There is no Vulkan loader on this machine.
    #[error(
        "no Vulkan loader: install libvulkan1 (Debian, Ubuntu) or vulkan-loader (Fedora, Arch), and a driver ({reason})"
    )]
    NoLoader {
        /// What the system's linker said.
        reason: String,
    },
    /// There is no device, or none fits.
    #[error("no Vulkan device {wanted}; found: {found}")]
    NoDevice {
        /// What was asked for.
        wanted: String,
        /// The devices that are there.
        found: String,
    },
}

impl RuntimeFault {
    /// A failed call, with the thing it was called for.
    pub(crate) fn vulkan(
        call: &'static str,
        what: impl Into<String>,
    ) -> impl FnOnce(vk::Result) -> RuntimeFault {
        let what = what.into();
        move |result| RuntimeFault::Vulkan { call, result, what }
    }
}
