//! Vulkan devices with tile memory: the bindings that `ash` lacks, and profiles of devices in numbers.
//!
//! ```
//! use ash::vk;
//! use tileheap_device::{ffi, profile::DeviceProfile};
//!
//! let adreno = DeviceProfile::preset("adreno-830")?;
//! let tile = adreno.tile.expect("this profile has tile memory");
//! let info = vk::ImageCreateInfo::default()
//!     .image_type(vk::ImageType::TYPE_2D)
//!     .format(vk::Format::R16G16_SFLOAT)
//!     .extent(vk::Extent3D { width: 480, height: 270, depth: 1 })
//!     .mip_levels(1)
//!     .array_layers(1)
//!     .samples(vk::SampleCountFlags::TYPE_1)
//!     .usage(vk::ImageUsageFlags::SAMPLED | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM);
//! assert_eq!(tile.image(&info).unwrap().size.0, 552_960);
//! # Ok::<(), tileheap_device::Error>(())
//! ```
//! - [`ffi`]: `VK_QCOM_tile_memory_heap`, `VK_QCOM_tile_properties` and `VK_QCOM_tile_shading`, in the style of `ash`.
//! - [`format`](mod@format): texel blocks and aspects of formats.
//! - [`profile`]: heaps, memory types, limits and the tile heap of a device; estimates of memory requirements.
//! - [`names`]: Vulkan's names of enumerants and flags, as JSON documents use them.
//!
//! It calls no driver: querying a device and planning its memory is for `tileheap`.

mod error;
pub mod ffi;
pub mod format;
pub mod names;
pub mod profile;

pub use error::{Error, Result};
pub use tileheap_units as units;
