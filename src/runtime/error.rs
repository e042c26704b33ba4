//! What can go wrong between the crate and a driver.

use ash::vk;

/// An error of the runtime. Every message names the thing and what to do; a Vulkan error keeps its result and call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
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
    /// The allocator of ordinary memory failed in a way of its own.
    #[error("gpu-allocator failed for {what}: {source}")]
    Allocator {
        /// The thing it was asked for.
        what: String,
        /// What it said.
        source: gpu_allocator::AllocationError,
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
    #[error(
        "no Vulkan device {wanted}; found: {found} (install a driver, mesa-vulkan-drivers say, or set TILEHEAP_DEVICE)"
    )]
    NoDevice {
        /// What was asked for.
        wanted: String,
        /// The devices that are there.
        found: String,
    },
    /// Vulkan 1.0.
    #[error(
        "`{device}` gives Vulkan {version} to this instance, and the runtime needs 1.1: ask for 1.1 or more in VkApplicationInfo"
    )]
    OldVersion {
        /// The device.
        device: String,
        /// The lower of its version and the instance's.
        version: String,
    },
    /// Something that was asked for is not there.
    #[error("{by} has no {what}, which was asked for")]
    Lacks {
        /// The device or the Vulkan installation.
        by: String,
        /// A feature, extension or layer.
        what: String,
    },
    /// No queue of the device can run a queue of the frame.
    #[error(
        "no device queue can run the frame's queue `{queue}` ({needs:?}): hand one in through DeviceDesc::queues"
    )]
    NoQueue {
        /// The frame's queue.
        queue: String,
        /// What it has to be capable of.
        needs: vk::QueueFlags,
    },
    /// A resource that the device cannot create.
    #[error("resource `{resource}` cannot be created on this device: {why}")]
    Unsupported {
        /// The resource.
        resource: String,
        /// The demand and the limit.
        why: String,
    },
    /// A pass that cannot be recorded on the device.
    #[error("pass `{pass}` cannot be recorded on this device: {why}")]
    UnsupportedPass {
        /// The pass.
        pass: String,
        /// The demand and the limit.
        why: &'static str,
    },
    /// Requirements of created resources kept growing.
    #[error(
        "resource `{resource}` was planned with {planned} and needs {needed} when created, even after planning anew"
    )]
    Grown {
        /// The resource.
        resource: String,
        /// Size and alignment that were planned.
        planned: String,
        /// Size and alignment that the driver asks for now.
        needed: String,
    },
    /// A plan for another device.
    #[error("the plan was made for `{planned}`, and this device is `{device}`: plan with Device::plan")]
    OtherDevice {
        /// The plan's profile.
        planned: String,
        /// This device's profile.
        device: String,
    },
    /// An external resource or semaphore that the frame uses was not handed in.
    #[error("external {what} `{name}` was not handed in: add it to Imports")]
    NotImported {
        /// Image, buffer or semaphore.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Something was handed in that is not external, or not of that kind.
    #[error("`{name}` was handed in as external {what}, and the frame does not declare it so")]
    NotExternal {
        /// Image, buffer or semaphore.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A pass was recorded out of its turn.
    #[error("pass `{pass}` was recorded in command buffer `{commands}`, where {expected} comes next")]
    Order {
        /// The pass.
        pass: String,
        /// The command buffer.
        commands: String,
        /// The pass that should be recorded, or its end.
        expected: String,
    },
    /// A pass was recorded with the other kind of contents.
    #[error("pass `{pass}` is declared with {declared} contents and was recorded with {recorded} ones")]
    Contents {
        /// The pass.
        pass: String,
        /// Inline or secondary.
        declared: &'static str,
        /// Inline or secondary.
        recorded: &'static str,
    },
    /// A command buffer is recorded twice in one turn, or submitted without having been recorded.
    #[error("command buffer `{commands}` {what}")]
    Recording {
        /// The command buffer.
        commands: String,
        /// What is wrong.
        what: String,
    },
    /// A frame that will never be complete is waited for.
    #[error("frame {number} was waited for, and only {submitted} frames were submitted")]
    NotSubmitted {
        /// The frame.
        number: u64,
        /// Frames submitted so far.
        submitted: u64,
    },
}

/// Turns the result of a Vulkan call into a [`RuntimeError`].
pub trait VkResultExt<T> {
    /// Adds the name of the call and of its object to a failure: `.with_call("vkCreateImage", || "albedo")`.
    ///
    /// # Errors
    /// [`RuntimeError::Vulkan`], if the call failed.
    fn with_call<W: Into<String>>(
        self,
        call: &'static str,
        what: impl FnOnce() -> W,
    ) -> Result<T, RuntimeError>;
}

impl<T> VkResultExt<T> for ash::prelude::VkResult<T> {
    fn with_call<W: Into<String>>(
        self,
        call: &'static str,
        what: impl FnOnce() -> W,
    ) -> Result<T, RuntimeError> {
        self.map_err(|result| RuntimeError::Vulkan {
            call,
            result,
            what: what().into(),
        })
    }
}
