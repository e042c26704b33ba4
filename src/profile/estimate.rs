//! Requirements of resources where no driver can be asked.
//!
//! Tile memory follows the one public reading of a driver and reproduces it; ordinary memory follows a simple model of a
//! tiler that is right in its order of magnitude and no more. Where a driver is there, ask it.
//!
//! ```text
//! a tile image of 480 x 270 texels, 4 bytes each         one block: 12,288 bytes = 96 x 32 texels
//!      96   96   96   96   96
//!    ┌────┬────┬────┬────┬────┐ 32
//!    ├────┼────┼────┼────┼────┤ 32       480 / 96 = 5 blocks across, 270 / 32 rounded up = 9 down,
//!    ┊    ┊    ┊    ┊    ┊    ┊          45 blocks = 552,960 bytes, as the driver said
//!    └────┴────┴────┴────┴────┘ 32 x 9 = 288
//! ```

use ash::vk;

use super::{
    Dedicated, DeviceProfile, ProfileFault, Requirements, ResourceRequirements, TileBlock, TileHeap, TileRequirements,
};
use crate::frame::{Frame, Resource, ResourceKind, TexelBlock, texel_block};
use crate::units::{Alignment, Bytes};

/// `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM`.
const TILE_BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(0x0800_0000);
/// `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM`.
const TILE_IMAGE_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(0x0800_0000);

/// Texel blocks across and down to which a mip level is padded in ordinary memory: 4 KiB of 4-byte texels.
const LEVEL_PADDING: (u64, u64) = (64, 16);
/// Alignment of images in ordinary memory: a page.
const IMAGE_ALIGNMENT: Alignment = Alignment::new(4096).unwrap();
/// Alignment of buffers in ordinary memory: a cache line.
const BUFFER_ALIGNMENT: Alignment = Alignment::new(64).unwrap();
/// No resource is larger, whatever a profile says: sums over a frame then fit in 64 bits.
const LARGEST_RESOURCE: Bytes = Bytes::mib(1 << 20);

/// What every resource of `frame` needs on a device like `profile`, without a driver.
///
/// - **Tile memory** as [`TileHeap::image`] and [`TileHeap::buffer`] have it.
/// - **Images in ordinary memory**: every mip level of every plane padded to 64 x 16 texel blocks, times depth, layers and
///   samples; the sum rounded up to 4,096 bytes, aligned to as many. No driver promises these numbers.
/// - **Buffers in ordinary memory**: rounded up to 64 bytes, aligned to as many.
/// - **Memory types**: the profile's [ordinary ones](DeviceProfile::ordinary_type_bits), and the lazily allocated ones for
///   images that are attachments and nothing else.
///
/// # Errors
/// [`ProfileFault::ResourceTooLarge`] if an image is wider than `maxImageDimension2D`, or a resource larger than
/// `maxMemoryAllocationSize` or 1 TiB.
///
/// ```
/// use ash::vk;
/// use tileheap::frame::{Before, FrameBuilder, ImageDesc};
/// use tileheap::profile::{DeviceProfile, estimate};
///
/// let extent = vk::Extent2D { width: 480, height: 270 };
/// let mut frame = FrameBuilder::new("one pass", extent);
/// let motion = frame.image("motion", ImageDesc::new(vk::Format::R16G16_SFLOAT, extent));
/// let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
/// let submit = frame.submit(queue);
/// let batch = frame.batch(submit);
/// let commands = frame.command_buffer(batch, "scene");
/// frame.render_pass(commands, "motion").color(motion, Before::Overwrite);
///
/// let needs = estimate(&frame.build()?, &DeviceProfile::preset("adreno-830")?)?;
/// assert_eq!(needs.resources[0].tile.unwrap().size.0, 552_960);
/// # Ok::<(), tileheap::Error>(())
/// ```
pub fn estimate(frame: &Frame, profile: &DeviceProfile) -> crate::Result<Requirements> {
    let estimate_one = |resource: &Resource| {
        let (size, alignment) = match &resource.kind {
            ResourceKind::Image { .. } => (ordinary_image(&image_info(resource)), IMAGE_ALIGNMENT),
            ResourceKind::Buffer { desc, .. } => {
                (desc.size.checked_align_up(BUFFER_ALIGNMENT), BUFFER_ALIGNMENT)
            }
        };
        check_width(resource, profile)?;
        let size = check_size(resource, size, profile)?;
        let tile = profile.tile.as_ref().and_then(|tile| match resource.kind {
            ResourceKind::Image { .. } => tile.image(&image_info(resource)),
            ResourceKind::Buffer { .. } => tile.buffer(&buffer_info(resource)),
        });
        let lazy_type_bits = if attachment_only(resource) { profile.lazy_type_bits() } else { 0 };
        Ok(ResourceRequirements {
            size,
            alignment,
            memory_type_bits: profile.ordinary_type_bits(),
            dedicated: Dedicated::No,
            tile,
            lazy_type_bits,
        })
    };
    let resources: Result<_, ProfileFault> = frame.resources().iter().map(estimate_one).collect();
    Ok(Requirements { resources: resources? })
}

/// The requirements of published tables: bytes that the contents have, and nothing a driver would add.
///
/// Images are width x height x layers x bytes per texel, rounded up to 4 KiB; buffers are rounded up to 256 B; everything
/// is aligned to 256 B. The tile requirement is the same where `tile_claims` says true and `None` elsewhere. Nothing is
/// lazy, nothing dedicated. `texel_bytes` replaces what a format's name says. Both slices run parallel to the frame's
/// resources; what they lack is `None`.
///
/// # Errors
/// [`ProfileFault::ResourceTooLarge`] if a resource is larger than 1 TiB.
pub fn raw(
    frame: &Frame,
    profile: &DeviceProfile,
    tile_claims: &[Option<bool>],
    texel_bytes: &[Option<u32>],
) -> crate::Result<Requirements> {
    const ALIGNMENT: Alignment = Alignment::new(256).unwrap();
    let raw_one = |(index, resource): (usize, &Resource)| {
        let size = match &resource.kind {
            ResourceKind::Image { desc, extent, .. } => {
                let stated = texel_bytes.get(index).copied().flatten().map(u64::from);
                let layers = u64::from(desc.array_layers);
                let size = match stated {
                    Some(bytes) => product([extent.width.into(), extent.height.into(), layers, bytes]),
                    None => planes(desc.format)
                        .try_fold(0u64, |sum, plane| {
                            let (across, down) = blocks(plane, extent.width, extent.height);
                            sum.checked_add(product([across, down, layers, plane.bytes.into()])?)
                        }),
                };
                size.and_then(|bytes| Bytes(bytes).checked_align_up(IMAGE_ALIGNMENT))
            }
            ResourceKind::Buffer { desc, .. } => desc.size.checked_align_up(ALIGNMENT),
        };
        let size = check_size(resource, size, profile)?;
        let claimed = tile_claims.get(index).copied().flatten() == Some(true);
        Ok(ResourceRequirements {
            size,
            alignment: ALIGNMENT,
            memory_type_bits: profile.ordinary_type_bits(),
            dedicated: Dedicated::No,
            tile: claimed.then_some(TileRequirements { size, alignment: ALIGNMENT }),
            lazy_type_bits: 0,
        })
    };
    let resources: Result<_, ProfileFault> = frame.resources().iter().enumerate().map(raw_one).collect();
    Ok(Requirements { resources: resources? })
}

impl TileHeap {
    /// What an image needs of the tile heap; `None` where it is outside the set that every implementation accepts.
    ///
    /// That set: 2D, one mip level, one layer, one sample, optimal tiling, no flags but `ALIAS`, and no usage but sampled,
    /// storage and attachments. Drivers may accept more, and are then asked.
    ///
    /// The size is the model of [`TileBlock`]: whole blocks across and down. Only two sizes were ever read (8 and 4 bytes
    /// per texel); for other texel sizes the block is assumed to keep its bytes and rows and to change its width, as it did
    /// between those two: 384 bytes across, so 384 one-byte texels or 24 sixteen-byte texels. Depth and stencil of a
    /// format with two planes are assumed to lie in blocks of their own.
    ///
    /// Source: VkImageCreateInfo (the guaranteed set); reading of Adreno 830, driver 512.842.6: 480 x 270 texels are
    /// 1,105,920 bytes in `R32G32_SFLOAT` and 552,960 in `R16G16_SFLOAT`, and transfer usage is refused.
    pub fn image(&self, info: &vk::ImageCreateInfo<'_>) -> Option<TileRequirements> {
        use vk::ImageUsageFlags as U;
        let permitted = U::SAMPLED
            | U::STORAGE
            | U::COLOR_ATTACHMENT
            | U::DEPTH_STENCIL_ATTACHMENT
            | U::INPUT_ATTACHMENT
            | TILE_IMAGE_USAGE;
        let accepted = info.image_type == vk::ImageType::TYPE_2D
            && info.mip_levels == 1
            && info.array_layers == 1
            && info.samples == vk::SampleCountFlags::TYPE_1
            && info.tiling == vk::ImageTiling::OPTIMAL
            && vk::ImageCreateFlags::ALIAS.contains(info.flags)
            && permitted.contains(info.usage);
        let size = planes(info.format).try_fold(0u64, |sum, plane| {
            sum.checked_add(self.block.plane_bytes(plane, info.extent.width, info.extent.height)?)
        })?;
        (accepted && size > 0).then_some(TileRequirements { size: Bytes(size), alignment: self.block.bytes })
    }

    /// What a buffer needs of the tile heap: its size in whole blocks; `None` where its usage or flags are not permitted.
    ///
    /// Source: VUID-VkBufferCreateInfo-usage-10763 (flags), VUID-VkBufferCreateInfo-usage-10764 (usage). That buffers
    /// take whole blocks is an assumption: none was read.
    pub fn buffer(&self, info: &vk::BufferCreateInfo<'_>) -> Option<TileRequirements> {
        use vk::{BufferCreateFlags as C, BufferUsageFlags as U};
        let mut permitted = U::UNIFORM_TEXEL_BUFFER
            | U::STORAGE_TEXEL_BUFFER
            | U::UNIFORM_BUFFER
            | U::STORAGE_BUFFER
            | U::SHADER_DEVICE_ADDRESS
            | TILE_BUFFER_USAGE;
        if self.buffer_transfers {
            permitted |= U::TRANSFER_SRC | U::TRANSFER_DST;
        }
        let forbidden = C::SPARSE_BINDING
            | C::SPARSE_RESIDENCY
            | C::SPARSE_ALIASED
            | C::PROTECTED
            | C::DEVICE_ADDRESS_CAPTURE_REPLAY
            | C::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT
            | C::VIDEO_PROFILE_INDEPENDENT_KHR;
        let accepted = info.size > 0 && permitted.contains(info.usage) && !info.flags.intersects(forbidden);
        let size = Bytes(info.size).checked_align_up(self.block.bytes)?;
        accepted.then_some(TileRequirements { size, alignment: self.block.bytes })
    }
}

impl TileBlock {
    /// Bytes of one plane of `width` x `height` texels in whole blocks; `None` past 64 bits.
    ///
    /// A block is `bytes / rows` bytes across. Where that is no multiple of the texel's bytes, texels may straddle blocks.
    fn plane_bytes(self, plane: TexelBlock, width: u32, height: u32) -> Option<u64> {
        let (across, down) = blocks(plane, width, height);
        // Scaled by the rows, so that a block's width in bytes need not be a whole number.
        let across = product([across, plane.bytes.into(), self.rows.into()])?.div_ceil(self.bytes.get());
        let down = down.div_ceil(u64::from(self.rows).max(1));
        product([across, down, self.bytes.get()])
    }
}

/// Bytes of an image in ordinary memory, by the model that [`estimate`] describes; `None` past 64 bits.
fn ordinary_image(info: &vk::ImageCreateInfo<'_>) -> Option<Bytes> {
    let vk::Extent3D { width, height, depth } = info.extent;
    let mut texels_of_all_planes = 0u64;
    for plane in planes(info.format) {
        // Past 32 levels every side is 1; validation of the frame does not bound the count.
        for level in 0..info.mip_levels.min(32) {
            let side = |texels: u32| (texels >> level).max(1);
            let (across, down) = blocks(plane, side(width), side(height));
            let across = across.checked_next_multiple_of(LEVEL_PADDING.0)?;
            let down = down.checked_next_multiple_of(LEVEL_PADDING.1)?;
            let bytes = product([across, down, side(depth).into(), plane.bytes.into()])?;
            texels_of_all_planes = texels_of_all_planes.checked_add(bytes)?;
        }
    }
    let copies = [info.array_layers.into(), info.samples.as_raw().into()];
    Bytes(product([texels_of_all_planes, product(copies)?])?).checked_align_up(IMAGE_ALIGNMENT)
}

/// The texel block of each plane of `format` as tilers store it: combined depth and stencil of which the bytes do not
/// fill a power of two lie apart.
fn planes(format: vk::Format) -> impl Iterator<Item = TexelBlock> {
    let texels = |bytes| Some(TexelBlock { width: 1, height: 1, bytes });
    let planes = match format {
        vk::Format::D32_SFLOAT_S8_UINT => [texels(4), texels(1)],
        vk::Format::D16_UNORM_S8_UINT => [texels(2), texels(1)],
        _ => [texel_block(format), None],
    };
    planes.into_iter().flatten()
}

/// Texel blocks across and down.
fn blocks(block: TexelBlock, width: u32, height: u32) -> (u64, u64) {
    (width.div_ceil(block.width).into(), height.div_ceil(block.height).into())
}

fn product<const N: usize>(factors: [u64; N]) -> Option<u64> {
    factors.into_iter().try_fold(1u64, u64::checked_mul)
}

/// Whether an image is a colour, depth, stencil or input attachment and nothing else
/// (VUID-VkImageCreateInfo-usage-00963 allows transient attachments no other usage).
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

fn check_width(resource: &Resource, profile: &DeviceProfile) -> Result<(), ProfileFault> {
    let limit = profile.limits.max_image_dimension_2d;
    match resource.kind {
        ResourceKind::Image { desc, extent, .. }
            if desc.image_type == vk::ImageType::TYPE_2D && extent.width.max(extent.height) > limit =>
        {
            Err(ProfileFault::ResourceTooLarge {
                resource: resource.name.clone(),
                size: format!("{} x {} texels", extent.width, extent.height),
                profile: profile.name.clone(),
                limit: format!("{limit} x {limit} (maxImageDimension2D)"),
            })
        }
        _ => Ok(()),
    }
}

fn check_size(resource: &Resource, size: Option<Bytes>, profile: &DeviceProfile) -> Result<Bytes, ProfileFault> {
    let limit = profile.limits.max_allocation.min(LARGEST_RESOURCE);
    size.filter(|size| *size <= limit).ok_or_else(|| ProfileFault::ResourceTooLarge {
        resource: resource.name.clone(),
        size: size.map_or_else(|| "more than 64 bits of bytes".to_owned(), |size| size.to_string()),
        profile: profile.name.clone(),
        limit: format!("{limit} (maxMemoryAllocationSize)"),
    })
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
