//! The error of this crate.

use crate::ffi::MissingCommand;
use crate::names::NameError;
use crate::units::Bytes;

/// `Result` with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid device profile or Vulkan name, a resource that exceeds a limit of the device, or a command that the driver does not provide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No profile has this name.
    #[error("no device profile is named `{name}`: choose one of {}, or give a JSON file", .known.join(", "))]
    UnknownProfile {
        /// The unknown name.
        name: String,
        /// The names of all profiles.
        known: &'static [&'static str],
    },
    /// A profile that has no tile heap to resize.
    #[error("profile `{profile}` has no tile heap to resize: choose a profile that has one")]
    NoTileHeap {
        /// The profile's name.
        profile: String,
    },
    /// A tile heap of 0 bytes.
    #[error(
        "the tile heap of profile `{profile}` has 0 B: give it at least {block}, or use the profile `no-tile-memory`"
    )]
    EmptyTileHeap {
        /// The profile's name.
        profile: String,
        /// The number of bytes of one tile block, which is the minimum.
        block: Bytes,
    },
    /// Numbers that contradict each other or Vulkan.
    #[error("profile `{profile}`: {what}")]
    Inconsistent {
        /// The profile's name.
        profile: String,
        /// The property, its value and the limit.
        what: String,
    },
    /// JSON that is not a profile.
    #[error("not a device profile: {0}")]
    Json(#[from] tileheap_json::Error),
    /// A name that is not the name of a feature.
    #[error("not a device profile: unknown feature `{feature}`: use one of {}", .known.join(", "))]
    UnknownFeature {
        /// The unknown name.
        feature: String,
        /// The names of all features.
        known: Vec<&'static str>,
    },
    /// A resource that exceeds a limit of the device.
    #[error("resource `{resource}` is {size}, but profile `{profile}` allows {limit}: make it smaller")]
    ResourceTooLarge {
        /// The resource's name.
        resource: String,
        /// The resource's size, with unit.
        size: String,
        /// The profile's name.
        profile: String,
        /// The limit, with unit and name.
        limit: String,
    },
    /// A command for which the driver returns no function pointer.
    #[error(transparent)]
    MissingCommand(#[from] MissingCommand),
    /// A name that does not exist in Vulkan.
    #[error(transparent)]
    Name(#[from] NameError),
}
