//! Layout models that estimate the bytes that an image or buffer takes in tile memory and in ordinary memory.
//!
//! ```text
//! a tile image of 480 x 270 texels, 4 bytes each         one block: 12,288 bytes = 96 x 32 texels
//!      96   96   96   96   96
//!    ┌────┬────┬────┬────┬────┐ 32
//!    ├────┼────┼────┼────┼────┤ 32       480 / 96 = 5 blocks across, 270 / 32 rounded up = 9 down,
//!    ┊    ┊    ┊    ┊    ┊    ┊          45 blocks = 552,960 bytes, as the driver reported
//!    └────┴────┴────┴────┴────┘ 32 x 9 = 288
//! ```

use ash::vk;

use super::device::{TileBlock, TileHeap, TileRequirements};
use crate::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use crate::format::{TexelBlock, texel_block};
use crate::units::{Alignment, Bytes};

/// The usage that every implementation accepts for images in tile memory, including the tile bit.
///
/// Source: VkImageCreateInfo, "Images created with `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM`".
pub const TILE_IMAGE_USES: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::STORAGE.as_raw()
        | vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::INPUT_ATTACHMENT.as_raw()
        | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM.as_raw(),
);

/// The usage that buffers in tile memory may have, including the tile bit; `transfers` is `tileBufferTransfers`.
///
/// Source: VUID-VkBufferCreateInfo-usage-10764.
pub fn tile_buffer_uses(transfers: bool) -> vk::BufferUsageFlags {
    use vk::BufferUsageFlags as U;
    let shaders = U::UNIFORM_TEXEL_BUFFER
        | U::STORAGE_TEXEL_BUFFER
        | U::UNIFORM_BUFFER
        | U::STORAGE_BUFFER
        | U::SHADER_DEVICE_ADDRESS;
    let copies = if transfers {
        U::TRANSFER_SRC | U::TRANSFER_DST
    } else {
        U::empty()
    };
    shaders | copies | BUFFER_USAGE_TILE_MEMORY_BIT_QCOM
}

/// Mip levels in ordinary memory are padded to multiples of this many texel blocks across and down: 4 KiB of 4-byte
/// texels.
const LEVEL_PADDING: (u64, u64) = (64, 16);
/// Estimated alignment of images in ordinary memory: a page.
pub const IMAGE_ALIGNMENT: Alignment = Alignment::new(4096).unwrap();

impl TileHeap {
    /// The tile requirements of an image; `None` if it is outside the set that every implementation accepts, or if the size of its format is unknown.
    ///
    /// That set: 2D, one mip level, one layer, one sample, optimal tiling, no flags except `ALIAS`, no usage except sampled,
    /// storage and attachments. Drivers may accept more.
    ///
    /// The size is the model of [`TileBlock`]: whole blocks across and down. Only two sizes have been read (8 and 4 bytes
    /// per texel); for other texel sizes the block is assumed to keep its bytes and rows and to change its width, as it did
    /// between those two: 384 bytes across, so 384 one-byte texels or 24 sixteen-byte texels. Depth and stencil of a
    /// format with two planes are assumed to be in separate blocks.
    ///
    /// Source: VkImageCreateInfo (the guaranteed set); reading of Adreno 830, driver 512.842.6: 480 x 270 texels are
    /// 1,105,920 bytes in `R32G32_SFLOAT` and 552,960 in `R16G16_SFLOAT`, and transfer usage is refused.
    pub fn image(&self, info: &vk::ImageCreateInfo<'_>) -> Option<TileRequirements> {
        let accepted = info.image_type == vk::ImageType::TYPE_2D
            && info.mip_levels == 1
            && info.array_layers == 1
            && info.samples == vk::SampleCountFlags::TYPE_1
            && info.tiling == vk::ImageTiling::OPTIMAL
            && vk::ImageCreateFlags::ALIAS.contains(info.flags)
            && TILE_IMAGE_USES.contains(info.usage);
        let size = planes(info.format).try_fold(0u64, |sum, plane| {
            sum.checked_add(
                self.block
                    .plane_bytes(plane, info.extent.width, info.extent.height)?,
            )
        })?;
        (accepted && size > 0).then_some(TileRequirements {
            size: Bytes(size),
            alignment: self.block.bytes,
        })
    }

    /// The tile requirements of a buffer: its size rounded up to whole blocks; `None` if the size is 0, or if its usage or flags are not permitted.
    ///
    /// Source: VUID-VkBufferCreateInfo-usage-10763 (flags), VUID-VkBufferCreateInfo-usage-10764 (usage). That buffers
    /// take whole blocks is an assumption: no size was read.
    pub fn buffer(&self, info: &vk::BufferCreateInfo<'_>) -> Option<TileRequirements> {
        use vk::BufferCreateFlags as C;
        let forbidden = C::SPARSE_BINDING
            | C::SPARSE_RESIDENCY
            | C::SPARSE_ALIASED
            | C::PROTECTED
            | C::DEVICE_ADDRESS_CAPTURE_REPLAY
            | C::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT
            | C::VIDEO_PROFILE_INDEPENDENT_KHR;
        let permitted = tile_buffer_uses(self.buffer_transfers).contains(info.usage);
        let accepted = info.size > 0 && permitted && !info.flags.intersects(forbidden);
        let size = Bytes(info.size).checked_align_up(self.block.bytes)?;
        accepted.then_some(TileRequirements {
            size,
            alignment: self.block.bytes,
        })
    }
}

impl TileBlock {
    /// Bytes of one plane of `width` x `height` texels in whole blocks; `None` on overflow.
    ///
    /// A block is `bytes / rows` bytes across. If that is not a multiple of the texel's bytes, texels may straddle blocks.
    fn plane_bytes(self, plane: TexelBlock, width: u32, height: u32) -> Option<u64> {
        let (across, down) = blocks(plane, width, height);
        // Multiplied by the rows, so that a block's width in bytes need not be an integer.
        let across = product([across, plane.bytes.into(), self.rows.into()])?.div_ceil(self.bytes.get());
        let down = down.div_ceil(u64::from(self.rows).max(1));
        product([across, down, self.bytes.get()])
    }
}

/// Estimated bytes of an image in ordinary memory, with its mip levels padded to multiples of 64 x 16 texel blocks; `None` on overflow.
pub fn ordinary_image_bytes(info: &vk::ImageCreateInfo<'_>) -> Option<Bytes> {
    let vk::Extent3D { width, height, depth } = info.extent;
    let mut levels_and_planes = 0u64;
    for plane in planes(info.format) {
        // From level 32 on every side is 1, and no image has more levels.
        for level in 0..info.mip_levels.min(32) {
            let side = |texels: u32| (texels >> level).max(1);
            let (across, down) = blocks(plane, side(width), side(height));
            let across = across.checked_next_multiple_of(LEVEL_PADDING.0)?;
            let down = down.checked_next_multiple_of(LEVEL_PADDING.1)?;
            let bytes = product([across, down, side(depth).into(), plane.bytes.into()])?;
            levels_and_planes = levels_and_planes.checked_add(bytes)?;
        }
    }
    let bytes = product([
        levels_and_planes,
        info.array_layers.into(),
        info.samples.as_raw().into(),
    ])?;
    Bytes(bytes).checked_align_up(IMAGE_ALIGNMENT)
}

/// Bytes of the texels of mip level 0, in all layers and with one sample, at `texel_bytes` each or at the format's size;
/// `None` on overflow.
pub fn content_bytes(
    format: vk::Format,
    texel_bytes: Option<u32>,
    extent: vk::Extent3D,
    layers: u32,
) -> Option<Bytes> {
    let slices = product([extent.depth.into(), layers.into()])?;
    let slice = match texel_bytes {
        Some(bytes) => product([extent.width.into(), extent.height.into(), bytes.into()])?,
        None => planes(format).try_fold(0u64, |sum, plane| {
            let (across, down) = blocks(plane, extent.width, extent.height);
            sum.checked_add(product([across, down, plane.bytes.into()])?)
        })?,
    };
    product([slice, slices]).map(Bytes)
}

/// Bytes of a texel of `format`, depth and stencil together; `None` if [`texel_block`] returns `None`. For a
/// compressed format, bytes of a block.
pub fn texel_bytes(format: vk::Format) -> Option<u64> {
    texel_block(format).map(|block| u64::from(block.bytes))
}

/// The texel block of each plane of `format` as tilers store it: depth and stencil are separate planes if their combined
/// size is not a power of two.
fn planes(format: vk::Format) -> impl Iterator<Item = TexelBlock> {
    let texels = |bytes| {
        Some(TexelBlock {
            width: 1,
            height: 1,
            bytes,
        })
    };
    let planes = match format {
        vk::Format::D32_SFLOAT_S8_UINT => [texels(4), texels(1)],
        vk::Format::D16_UNORM_S8_UINT => [texels(2), texels(1)],
        _ => [texel_block(format), None],
    };
    planes.into_iter().flatten()
}

/// Texel blocks across and down.
fn blocks(block: TexelBlock, width: u32, height: u32) -> (u64, u64) {
    (
        width.div_ceil(block.width.max(1)).into(),
        height.div_ceil(block.height.max(1)).into(),
    )
}

/// The product, or `None` on overflow.
fn product<const N: usize>(factors: [u64; N]) -> Option<u64> {
    factors.into_iter().try_fold(1u64, u64::checked_mul)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::device::DeviceProfile;

    fn tile() -> TileHeap {
        DeviceProfile::preset("adreno-830").unwrap().tile.unwrap()
    }

    fn image(format: vk::Format, width: u32, height: u32) -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D {
                width,
                height,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE)
    }

    fn tile_bytes(format: vk::Format, width: u32, height: u32) -> u64 {
        tile().image(&image(format, width, height)).unwrap().size.0
    }

    #[test]
    fn both_sizes_that_a_driver_reported_are_reproduced() {
        assert_eq!(tile_bytes(vk::Format::R32G32_SFLOAT, 480, 270), 1_105_920);
        assert_eq!(tile_bytes(vk::Format::R16G16_SFLOAT, 480, 270), 552_960);
    }

    #[test]
    fn other_texel_sizes_change_the_width_of_a_block() {
        let block = 12_288;
        assert_eq!(tile_bytes(vk::Format::R8_UNORM, 384, 32), block);
        assert_eq!(tile_bytes(vk::Format::R8_UNORM, 385, 33), 4 * block);
        assert_eq!(tile_bytes(vk::Format::R32G32B32A32_SFLOAT, 24, 32), block);
        assert_eq!(tile_bytes(vk::Format::R32G32B32_SFLOAT, 33, 1), 2 * block);
        // Depth 4 blocks of 96 x 32 texels, stencil 1 block of 384 x 32.
        assert_eq!(tile_bytes(vk::Format::D32_SFLOAT_S8_UINT, 384, 32), 5 * block);
    }

    #[test]
    fn blocks_need_not_hold_whole_texels() {
        let mut odd = tile();
        odd.block = TileBlock {
            bytes: Alignment::new(4096 * 5).unwrap(),
            rows: 3,
        };
        // 100 texels of 4 bytes in 3 rows are 1,200 of a block's 20,480 bytes; 4 rows need a second row of blocks.
        let needs = odd.image(&image(vk::Format::R8G8B8A8_UNORM, 100, 4)).unwrap();
        assert_eq!((needs.size.0, needs.alignment.get()), (2 * 20_480, 20_480));
        let needs = odd.image(&image(vk::Format::R8G8B8A8_UNORM, 1707, 3)).unwrap();
        assert_eq!(needs.size.0, 2 * 20_480, "1,706 2/3 texels fill a block");
    }

    #[test]
    fn images_outside_the_guaranteed_set_are_refused() {
        use vk::ImageUsageFlags as U;
        let good = image(vk::Format::R8G8B8A8_UNORM, 64, 64);
        let refused = |info: vk::ImageCreateInfo<'_>| tile().image(&info).is_none();
        assert!(!refused(
            good.flags(vk::ImageCreateFlags::ALIAS)
                .usage(U::INPUT_ATTACHMENT | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM)
        ));
        assert!(refused(good.mip_levels(2)));
        assert!(refused(good.array_layers(2)));
        assert!(refused(good.samples(vk::SampleCountFlags::TYPE_4)));
        assert!(refused(good.image_type(vk::ImageType::TYPE_3D)));
        assert!(refused(good.tiling(vk::ImageTiling::LINEAR)));
        assert!(refused(good.flags(vk::ImageCreateFlags::MUTABLE_FORMAT)));
        assert!(refused(good.usage(U::SAMPLED | U::TRANSFER_SRC)));
        assert!(refused(good.usage(U::SAMPLED | U::TRANSFER_DST)));
        assert!(refused(good.usage(U::COLOR_ATTACHMENT | U::TRANSIENT_ATTACHMENT)));
        assert!(refused(good.format(vk::Format::UNDEFINED)));
    }

    #[test]
    fn buffers_take_whole_blocks_if_their_use_is_permitted() {
        use vk::BufferUsageFlags as U;
        let buffer = |usage| vk::BufferCreateInfo::default().size(12_289).usage(usage);
        let needs = tile().buffer(&buffer(
            U::STORAGE_BUFFER | U::SHADER_DEVICE_ADDRESS | BUFFER_USAGE_TILE_MEMORY_BIT_QCOM,
        ));
        assert_eq!(needs.unwrap().size.0, 2 * 12_288);
        for usage in [
            U::VERTEX_BUFFER,
            U::INDEX_BUFFER,
            U::INDIRECT_BUFFER,
            U::TRANSFER_SRC,
            U::TRANSFER_DST,
        ] {
            assert_eq!(
                tile().buffer(&buffer(U::STORAGE_BUFFER | usage)),
                None,
                "{usage:?}"
            );
        }
        let sparse = buffer(U::STORAGE_BUFFER).flags(vk::BufferCreateFlags::SPARSE_BINDING);
        assert_eq!(tile().buffer(&sparse), None);
        let copies = TileHeap {
            buffer_transfers: true,
            ..tile()
        };
        assert!(
            copies
                .buffer(&buffer(U::STORAGE_BUFFER | U::TRANSFER_SRC | U::TRANSFER_DST))
                .is_some()
        );
    }

    #[test]
    fn ordinary_sizes_count_levels_layers_samples_and_blocks() {
        let rgba = image(vk::Format::R8G8B8A8_UNORM, 128, 64);
        let volume = image(vk::Format::R8G8B8A8_UNORM, 64, 16).image_type(vk::ImageType::TYPE_3D);
        let deep = vk::Extent3D {
            depth: 7,
            ..volume.extent
        };
        for (info, bytes) in [
            (rgba, 128 * 64 * 4),
            (rgba.array_layers(3), 3 * 128 * 64 * 4),
            (rgba.samples(vk::SampleCountFlags::TYPE_4), 4 * 128 * 64 * 4),
            // 128 x 64, 64 x 32, then 32 x 16 padded to 64 x 16.
            (rgba.mip_levels(3), (128 * 64 + 64 * 32 + 64 * 16) * 4),
            // 128 x 64 texels are 32 x 16 blocks of 8 bytes, padded to 64 x 16.
            (rgba.format(vk::Format::BC1_RGB_UNORM_BLOCK), 64 * 16 * 8),
            (rgba.format(vk::Format::D32_SFLOAT_S8_UINT), 128 * 64 * 5),
            (volume.extent(deep), 64 * 16 * 7 * 4),
        ] {
            assert_eq!(ordinary_image_bytes(&info), Some(Bytes(bytes)), "{info:?}");
        }
    }

    #[test]
    fn sizes_past_64_bits_are_none() {
        let side = u32::MAX;
        let huge = image(vk::Format::R64G64B64A64_SFLOAT, side, side);
        assert_eq!(tile().image(&huge), None);
        assert_eq!(ordinary_image_bytes(&huge), None);
        assert_eq!(content_bytes(huge.format, None, huge.extent, side), None);
        assert_eq!(content_bytes(huge.format, Some(side), huge.extent, 1), None);
        let buffer = vk::BufferCreateInfo::default()
            .size(u64::MAX)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        assert_eq!(tile().buffer(&buffer), None);
    }
}
