//! The errors of the runtime.

use ash::vk;

/// An error of the runtime. Every message names the object, the requirement and the limit; a Vulkan error keeps its result and call.
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
        /// The object that it was called for.
        what: String,
    },
    /// gpu-allocator failed for another reason than a Vulkan call.
    #[error("gpu-allocator failed for {what}: {source}")]
    Allocator {
        /// What it was to allocate.
        what: String,
        /// Its error.
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
        "`{device}` supports Vulkan {version} with this instance, and the runtime requires 1.1: request 1.1 or later in VkApplicationInfo"
    )]
    OldVersion {
        /// The device.
        device: String,
        /// The lower of its version and the instance's.
        version: String,
    },
    /// A required feature, extension or layer is missing.
    #[error("{by} does not support {what}, which is required")]
    MissingFeature {
        /// The device or the Vulkan installation.
        by: String,
        /// A feature, extension or layer.
        what: String,
    },
    /// Tables from elsewhere that do not belong to what is bound.
    #[error("these tables cannot run bound frame `{frame}`: {what}")]
    OtherTables {
        /// The bound frame.
        frame: String,
        /// The difference.
        what: String,
    },
    /// No queue of the device can run a queue of the frame.
    #[error(
        "no device queue supports {needs:?} for the frame's queue `{queue}`: add one to DeviceDesc::queues"
    )]
    NoQueue {
        /// The frame's queue.
        queue: String,
        /// What it has to be capable of.
        needs: vk::QueueFlags,
    },
    /// A frame on several device queues, and nothing to order its frames with.
    #[error(
        "frame `{frame}` is bound to several device queues, which needs timeline semaphores: enable them, or bind it to one queue"
    )]
    QueuesWithoutTimelines {
        /// The frame.
        frame: String,
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
        "resource `{resource}` was planned with {planned} and requires {needed} once created, even after replanning"
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
    /// An external resource or semaphore that the frame uses is not imported.
    #[error("external {what} `{name}` is not imported: add it to Imports")]
    NotImported {
        /// Image, view, buffer or semaphore.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Two external resources are the same part of one image.
    #[error(
        "external images `{first}` and `{second}` are imported as the same image, and passes use the same part of both: declare them as one resource"
    )]
    ImportedTwice {
        /// The one imported first.
        first: String,
        /// The other.
        second: String,
    },
    /// An import is of a resource that is not external, or not of that kind.
    #[error("`{name}` is imported as external {what}, but the frame does not declare it as one")]
    NotExternal {
        /// Image, buffer or semaphore.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A pass was recorded out of order.
    #[error("pass `{pass}` was recorded in command buffer `{commands}`, where {expected} is next")]
    Order {
        /// The pass.
        pass: String,
        /// The command buffer.
        commands: String,
        /// The pass that should be recorded, or its end.
        expected: String,
    },
    /// A pass was recorded with the other kind of contents.
    #[error("pass `{pass}` is declared with {declared} contents but recorded with {recorded} contents")]
    Contents {
        /// The pass.
        pass: String,
        /// Inline or secondary.
        declared: &'static str,
        /// Inline or secondary.
        recorded: &'static str,
    },
    /// A command buffer is recorded twice in one frame, or submitted without having been recorded.
    #[error("command buffer `{commands}` {what}")]
    Recording {
        /// The command buffer.
        commands: String,
        /// What is wrong.
        what: String,
    },
    /// A wait for a frame that is not submitted.
    #[error("cannot wait for frame {number}: only {submitted} frames are submitted")]
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
