//! Estimates memory requirements when there is no driver to query.
//!
//! Tile memory is estimated in the way in which the only driver whose source code was examined computes it; ordinary memory is estimated by a simple model
//! of a tiler, which is right only to within an order of magnitude. If there is a driver, query it instead.

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap_device::Error as DeviceError;
use tileheap_device::profile::{
    DeviceProfile, IMAGE_ALIGNMENT, TileRequirements, content_bytes, ordinary_image_bytes,
};

use crate::frame::Frame;
use crate::frame::tables::{Resource, ResourceKind};
use crate::units::{Alignment, Bytes};

/// The memory requirements of every resource of a frame, in the frame's resource order.
#[derive(Clone, Debug)]
pub struct Requirements {
    /// One entry per resource of the frame.
    pub resources: Vec<ResourceRequirements>,
    /// Name of the profile for which the requirements were estimated: plans for any other profile are refused. `None` if a driver reported the requirements.
    pub profile: Option<String>,
}

/// Compares only the entries: `profile` does not affect the plan of a frame.
impl PartialEq for Requirements {
    fn eq(&self, other: &Requirements) -> bool {
        self.resources == other.resources
    }
}

/// The memory requirements of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceRequirements {
    /// Size in ordinary memory.
    pub size: Bytes,
    /// Alignment in ordinary memory.
    pub alignment: Alignment,
    /// The memory types that can hold the resource, one bit each; tile types may be among them.
    pub memory_type_bits: u32,
    /// The preference for a dedicated allocation.
    pub dedicated: DedicatedRequirement,
    /// Size and alignment in tile memory; `None` if the driver reports 0, which means that the resource cannot be placed there.
    pub tile: Option<TileRequirements>,
    /// The lazily allocated memory types that can hold the resource as a transient attachment, one bit each; 0 if none.
    pub lazy_type_bits: u32,
}

impl ResourceRequirements {
    /// No memory: for external resources, which have their own, and for unused ones.
    pub const NONE: ResourceRequirements = ResourceRequirements {
        size: Bytes::ZERO,
        alignment: Alignment::ONE,
        memory_type_bits: 0,
        dedicated: DedicatedRequirement::No,
        tile: None,
        lazy_type_bits: 0,
    };
}

/// The memory requirements of an image or a buffer, as the driver reports them (`VkMemoryRequirements2` and its extensions).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRequirements {
    /// Size in ordinary memory.
    pub size: Bytes,
    /// Alignment in ordinary memory.
    pub alignment: Alignment,
    /// The memory types that the image or buffer can be bound to, one bit each.
    pub memory_type_bits: u32,
    /// The driver's preference for a dedicated allocation.
    pub dedicated: DedicatedRequirement,
    /// Requirements in tile memory; `None` without the tile usage bit, or if the driver reports that the resource cannot be placed there.
    pub tile: Option<TileRequirements>,
}

/// `VkMemoryDedicatedRequirements`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedicatedRequirement {
    /// A shared allocation is fine.
    #[default]
    No,
    /// A dedicated allocation is preferred.
    Preferred,
    /// A dedicated allocation is required.
    Required,
}

/// Alignment of buffers in ordinary memory: a cache line.
const BUFFER_ALIGNMENT: Alignment = Alignment::new(64).unwrap();
/// Maximum size of a resource, whatever the profile says: sums over a frame then fit in 64 bits.
const LARGEST_RESOURCE: Bytes = Bytes::mib(1 << 20);

/// The memory requirements of every resource of `frame` on a device like `profile`, without a driver.
///
/// - **Tile memory** as [`TileHeap::image`](tileheap_device::profile::TileHeap::image) and [`TileHeap::buffer`](tileheap_device::profile::TileHeap::buffer)
///   return.
/// - **Images in ordinary memory**: every mip level of every plane padded to 64 x 16 texel blocks, times depth, layers and
///   samples; the sum rounded up to 4,096 bytes, with the same alignment. No driver promises these numbers.
/// - **Buffers in ordinary memory**: rounded up to 64 bytes, with the same alignment.
/// - **Memory types**: the profile's [ordinary ones](DeviceProfile::ordinary_type_bits), and the lazily allocated ones for
///   images that are only attachments.
///
/// # Errors
/// [`tileheap_device::Error::ResourceTooLarge`] if a resource is larger than `maxMemoryAllocationSize` or 1 TiB. Planning checks the other limits of the
/// device, such as `maxImageDimension2D`.
///
/// ```
/// use ash::vk;
/// use tileheap::frame::{LoadOp, FrameBuilder, ImageDesc};
/// use tileheap::measure::estimate;
/// use tileheap::profile::DeviceProfile;
///
/// let extent = vk::Extent2D { width: 480, height: 270 };
/// let mut frame = FrameBuilder::new("one pass", extent);
/// let motion = frame.image("motion", ImageDesc::new(vk::Format::R16G16_SFLOAT, extent));
/// let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
/// let submit = frame.submit(queue);
/// let batch = frame.batch(submit);
/// let commands = frame.command_buffer(batch, "scene");
/// frame.render_pass(commands, "motion").color(motion, LoadOp::DontCare);
///
/// let needs = estimate(&frame.build()?, &DeviceProfile::preset("adreno-830")?)?;
/// assert_eq!(needs.resources[0].tile.unwrap().size.0, 552_960);
/// # Ok::<(), tileheap::Error>(())
/// ```
pub fn estimate(frame: &Frame, profile: &DeviceProfile) -> Result<Requirements, DeviceError> {
    let estimate_one = |resource: &Resource| {
        let (size, alignment) = match &resource.kind {
            ResourceKind::Image { .. } => (ordinary_image_bytes(&image_info(resource)), IMAGE_ALIGNMENT),
            ResourceKind::Buffer { desc, .. } => {
                (desc.size.checked_align_up(BUFFER_ALIGNMENT), BUFFER_ALIGNMENT)
            }
        };
        let size = check_size(resource, size, profile)?;
        let tile = tile_requirements(resource, profile);
        let lazy_type_bits = if attachment_only(resource) {
            profile.lazy_type_bits()
        } else {
            0
        };
        Ok(ResourceRequirements {
            size,
            alignment,
            memory_type_bits: profile.ordinary_type_bits(),
            dedicated: DedicatedRequirement::No,
            tile,
            lazy_type_bits,
        })
    };
    let resources: Result<_, DeviceError> = frame.resources().iter().map(estimate_one).collect();
    Ok(Requirements {
        resources: resources?,
        profile: Some(profile.name.clone()),
    })
}

/// Estimates requirements as published tables count them: the bytes of the contents, without a driver's padding.
///
/// Images are width x height x layers x bytes per texel, rounded up to 4 KiB; buffers are rounded up to 256 B; everything
/// is aligned to 256 B. The tile requirement is the same if `tile_claims` is true, and `None` if it is false; if it is `None`,
/// [`TileHeap::image`](tileheap_device::profile::TileHeap::image) and [`TileHeap::buffer`](tileheap_device::profile::TileHeap::buffer) decide. No
/// resource is lazily allocated or dedicated. `texel_bytes` replaces the size of a format, unless 0. Both slices are parallel to the frame's
/// resources; missing elements are `None` and 0.
///
/// # Errors
/// [`tileheap_device::Error::ResourceTooLarge`] if a resource is larger than `maxMemoryAllocationSize` or 1 TiB.
pub fn estimate_unpadded(
    frame: &Frame,
    profile: &DeviceProfile,
    tile_claims: &[Option<bool>],
    texel_bytes: &[u32],
) -> Result<Requirements, DeviceError> {
    const ALIGNMENT: Alignment = Alignment::new(256).unwrap();
    let raw_one = |(index, resource): (usize, &Resource)| {
        let size = match &resource.kind {
            ResourceKind::Image { desc, extent, .. } => {
                let stated = texel_bytes.get(index).copied().filter(|bytes| *bytes > 0);
                content_bytes(desc.format, stated, *extent, desc.array_layers)
                    .and_then(|size| size.checked_align_up(IMAGE_ALIGNMENT))
            }
            ResourceKind::Buffer { desc, .. } => desc.size.checked_align_up(ALIGNMENT),
        };
        let size = check_size(resource, size, profile)?;
        let claim = tile_claims.get(index).copied().flatten();
        let claimed = claim.unwrap_or_else(|| tile_requirements(resource, profile).is_some());
        Ok(ResourceRequirements {
            size,
            alignment: ALIGNMENT,
            memory_type_bits: profile.ordinary_type_bits(),
            dedicated: DedicatedRequirement::No,
            tile: claimed.then_some(TileRequirements {
                size,
                alignment: ALIGNMENT,
            }),
            lazy_type_bits: 0,
        })
    };
    let resources: Result<_, DeviceError> = frame.resources().iter().enumerate().map(raw_one).collect();
    Ok(Requirements {
        resources: resources?,
        profile: Some(profile.name.clone()),
    })
}

fn tile_requirements(resource: &Resource, profile: &DeviceProfile) -> Option<TileRequirements> {
    let tile = profile.tile.as_ref()?;
    match resource.kind {
        ResourceKind::Image { .. } => tile.image(&image_info(resource)),
        ResourceKind::Buffer { .. } => tile.buffer(&buffer_info(resource)),
    }
}

/// The tile memory requirements of a separate image for a part of an image, or of a separate buffer for a part of the grid of a buffer's lists.
#[cfg(feature = "arrange")]
pub(crate) fn tile_requirements_of_part(
    resource: &Resource,
    part: vk::Extent2D,
    profile: &DeviceProfile,
) -> Option<TileRequirements> {
    let tile = profile.tile.as_ref()?;
    match resource.lists() {
        Some(lists) => {
            let size = lists.size_of(part).0;
            tile.buffer(&buffer_info(resource).size(size))
        }
        None => tile.image(&image_info(resource).extent(part.into())),
    }
}

/// The size by which traffic is counted for a separate image or buffer that holds a part of a resource: the size in tile memory if it may be placed there,
/// else in ordinary memory.
#[cfg(feature = "arrange")]
pub(crate) fn counted_size_of_part(
    resource: &Resource,
    part: vk::Extent2D,
    profile: &DeviceProfile,
) -> Bytes {
    if let Some(tile) = tile_requirements_of_part(resource, part, profile) {
        return tile.size;
    }
    let bytes = match resource.lists() {
        Some(lists) => lists.size_of(part).checked_align_up(BUFFER_ALIGNMENT),
        None => ordinary_image_bytes(&image_info(resource).extent(part.into())),
    };
    bytes.unwrap_or(LARGEST_RESOURCE)
}

/// Returns true if an image is only a color, depth, stencil or input attachment
/// (VUID-VkImageCreateInfo-usage-00963 allows no other usage of transient attachments).
fn attachment_only(resource: &Resource) -> bool {
    use vk::ImageUsageFlags as U;
    let attachments = U::COLOR_ATTACHMENT | U::DEPTH_STENCIL_ATTACHMENT | U::INPUT_ATTACHMENT;
    match resource.kind {
        ResourceKind::Image { usage, .. } => {
            usage.intersects(attachments) && (attachments | U::TRANSIENT_ATTACHMENT).contains(usage)
        }
        ResourceKind::Buffer { .. } => false,
    }
}

fn image_info(resource: &Resource) -> vk::ImageCreateInfo<'static> {
    let mut info = vk::ImageCreateInfo::default();
    if let ResourceKind::Image { desc, extent, usage } = resource.kind {
        info.flags = desc.flags;
        info.image_type = desc.image_type;
        info.format = desc.format;
        info.extent = extent;
        info.mip_levels = desc.mip_levels;
        info.array_layers = desc.array_layers;
        info.samples = desc.samples;
        info.usage = usage;
    }
    info
}

fn buffer_info(resource: &Resource) -> vk::BufferCreateInfo<'static> {
    let mut info = vk::BufferCreateInfo::default();
    if let ResourceKind::Buffer { desc, usage } = resource.kind {
        info.size = desc.size.0;
        info.usage = usage;
    }
    info
}

fn check_size(
    resource: &Resource,
    size: Option<Bytes>,
    profile: &DeviceProfile,
) -> Result<Bytes, DeviceError> {
    let limit = profile.limits.max_allocation.min(LARGEST_RESOURCE);
    size.filter(|size| *size <= limit)
        .ok_or_else(|| DeviceError::ResourceTooLarge {
            resource: resource.name.clone(),
            size: size.map_or_else(
                || "larger than 64-bit sizes can express".to_owned(),
                |size| size.to_string(),
            ),
            profile: profile.name.clone(),
            limit: format!("{limit} (maxMemoryAllocationSize)"),
        })
}
