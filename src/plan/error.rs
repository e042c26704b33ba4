//! Errors that make planning impossible.

use crate::units::Bytes;

/// An error that makes planning impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The requirements belong to another frame.
    #[error(
        "the number of resources of frame `{frame}` is {resources}, but the requirements are for {requirements}: measure this frame"
    )]
    Requirements {
        /// The frame.
        frame: String,
        /// Number of resources of the frame.
        resources: usize,
        /// Number of entries in the requirements.
        requirements: usize,
    },
    /// The requirements were estimated for another device.
    #[error(
        "the requirements of frame `{frame}` are for `{estimated_for}`, but it is planned for `{profile}`"
    )]
    OtherDevice {
        /// The frame.
        frame: String,
        /// The name of the profile for which the requirements were estimated.
        estimated_for: String,
        /// The name of the profile for which the frame was to be planned.
        profile: String,
    },
    /// The device cannot run the frame: it violates a rule for its limits or features.
    #[error(transparent)]
    InvalidUsage(#[from] crate::frame::valid_usage::InvalidUsage),
    /// The frame already has stores of split lifetimes, which only planning may add.
    #[error(
        "frame `{frame}` already has the store `{pass}`: plan the frame without splits, and let `PlanOptions::split` split lifetimes"
    )]
    HasStores {
        /// The frame.
        frame: String,
        /// The first store.
        pass: String,
    },
    /// No ordinary memory type can hold a resource.
    #[error(
        "resource `{resource}` fits no ordinary memory type (it allows types {bits:#b}): change its format or usage"
    )]
    NoMemoryType {
        /// The resource.
        resource: String,
        /// The memory types that the resource allows, one bit each.
        bits: u32,
    },
    /// No allocation can hold a resource.
    #[error(
        "resource `{resource}` needs {size} in memory type {memory_type}, but the device allocates at most {limit} at once (heap size or maxMemoryAllocationSize): make it smaller"
    )]
    ResourceTooLarge {
        /// The resource.
        resource: String,
        /// The size that the resource requires.
        size: Bytes,
        /// The memory type.
        memory_type: u32,
        /// The smaller of heap size and `maxMemoryAllocationSize`.
        limit: Bytes,
    },
    /// The arenas of one memory type are larger than its heap.
    #[error(
        "frame `{frame}` needs arenas of {height} in memory type {memory_type}, but its heap has {limit}: make the frame smaller"
    )]
    ArenaTooLarge {
        /// The frame.
        frame: String,
        /// The memory type.
        memory_type: u32,
        /// The required size.
        height: Bytes,
        /// The heap size.
        limit: Bytes,
    },
    /// A pinned resource that cannot be placed in tile memory.
    #[error("pinned resource `{resource}` cannot be placed in tile memory: {rule} ({why})")]
    Pinned {
        /// The resource.
        resource: String,
        /// The rule that keeps the resource out of tile memory, with its VUID if it has one.
        rule: &'static str,
        /// The rule applied to this frame, and a remedy.
        why: String,
    },
    /// The sizes cannot be packed.
    #[error(transparent)]
    Packing(#[from] tileheap_pack::Error),
}
