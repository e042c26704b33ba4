//! The errors of the runtime.

use ash::vk;

use crate::units::Bytes;

/// An error of the runtime. Every message names the object, the requirement and the limit; a Vulkan error keeps its result and call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// A Vulkan call failed.
    #[error("{call} failed with {result:?} for {what}")]
    Vulkan {
        /// The call.
        call: &'static str,
        /// The result that the call returned.
        result: vk::Result,
        /// The object that the call was made for.
        what: String,
    },
    /// The allocator of blocks failed for a reason other than running out of memory.
    #[error("the allocator failed for {what}: {source}")]
    Allocator {
        /// The object that needs memory.
        what: String,
        /// The allocator's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A budget would be exceeded, and no unused memory is left to free.
    #[error("{what} does not fit into the {budget}: {held} of {limit} are in use")]
    OverBudget {
        /// The object that needs memory.
        what: String,
        /// The budget that would be exceeded.
        budget: &'static str,
        /// The bytes in use that count toward the budget.
        held: Bytes,
        /// The limit, in bytes.
        limit: Bytes,
    },
    /// There is no Vulkan loader on this machine.
    #[error(
        "no Vulkan loader: install libvulkan1 (Debian, Ubuntu) or vulkan-loader (Fedora, Arch), and a driver ({reason})"
    )]
    NoLoader {
        /// The message of the dynamic linker.
        reason: String,
    },
    /// There is no device, or no suitable one.
    #[error(
        "no Vulkan device {wanted}; found: {found} (install a driver such as mesa-vulkan-drivers, or set TILEHEAP_DEVICE)"
    )]
    NoDevice {
        /// The requested device.
        wanted: String,
        /// The devices of this machine.
        found: String,
    },
    /// The device or instance supports only Vulkan 1.0.
    #[error(
        "`{device}` supports Vulkan {version} with this instance, but the runtime requires 1.1: request 1.1 or later in VkApplicationInfo"
    )]
    OldVersion {
        /// The device.
        device: String,
        /// The lower of the device's version and the instance's.
        version: String,
    },
    /// A required feature, extension or layer is missing.
    #[error("{missing_from} does not support {what}, which is required")]
    MissingFeature {
        /// The device or Vulkan installation that lacks the feature, extension or layer.
        missing_from: String,
        /// The missing feature, extension or layer.
        what: String,
    },
    /// No queue of the device can run a queue of the frame.
    #[error(
        "no device queue supports {needs:?} for the frame's queue `{queue}`: add one to DeviceDesc::queues"
    )]
    NoQueue {
        /// The frame's queue.
        queue: String,
        /// The capabilities that the queue needs.
        needs: vk::QueueFlags,
    },
    /// The device cannot create a resource.
    #[error("resource `{resource}` cannot be created on this device: {why}")]
    Unsupported {
        /// The resource.
        resource: String,
        /// The requirement and the limit.
        why: String,
    },
    /// A pass cannot be recorded on the device.
    #[error("pass `{pass}` cannot be recorded on this device: {why}")]
    UnsupportedPass {
        /// The pass.
        pass: String,
        /// The requirement and the limit.
        why: &'static str,
    },
    /// The caller's arguments or calls do not match each other or the bound objects.
    #[error("{message}")]
    Misuse {
        /// The rule.
        rule: RuntimeRule,
        /// The violation, and what to do.
        message: String,
    },
}

impl RuntimeError {
    /// Returns true if the error is that a Vulkan call returned `VK_ERROR_DEVICE_LOST`.
    pub fn is_device_lost(&self) -> bool {
        matches!(self, RuntimeError::Vulkan { result, .. } if *result == vk::Result::ERROR_DEVICE_LOST)
    }
}

/// Rules that a [`RuntimeError::Misuse`] can report as broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeRule {
    /// Tables from elsewhere that do not match the bound frame.
    OtherTables,
    /// Frames on several device queues, without timeline semaphores to order them.
    QueuesWithoutTimelines,
    /// A plan for another device.
    OtherDevice,
    /// An external resource or semaphore that the frame uses is not imported.
    NotImported,
    /// Two external resources are the same part of one image or buffer, two external semaphores are the same one, or a list of imports has a resource, a view
    /// or a semaphore twice.
    ImportedTwice,
    /// An import for a resource that is not external, not of that kind, or not of the frame.
    NotExternal,
    /// An imported buffer is smaller than declared.
    ImportTooSmall,
    /// A pass was recorded out of order.
    Order,
    /// A pass was recorded with the wrong kind of contents.
    Contents,
    /// A render area that is empty, or not inside the described one; or commands for a pass that renders nothing in this frame.
    RenderArea,
    /// A pass that is not optional was skipped.
    NotOptional,
    /// Per-tile execution in a pass without tile shading, or nested per-tile execution.
    PerTile,
    /// A command buffer is recorded twice in one frame, or submitted without having been recorded.
    Recording,
    /// A wait for a frame that was not submitted.
    NotSubmitted,
    /// Created resources required more than was planned, each time that the frame was planned again.
    Grown,
}

/// Turns the result of a Vulkan call into a [`RuntimeError`].
pub trait VkResultExt<T> {
    /// Adds the names of the call and of its object to an error: `.with_call("vkCreateImage", || "albedo")`.
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
