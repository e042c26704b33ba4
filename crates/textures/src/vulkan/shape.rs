//! Shapes of textures, and their memory requirements at each level.

use ash::vk;

use crate::{Error, Geometry, Level, MipChain, Result};
use tileheap::format::{TexelBlock, texel_block};
use tileheap::measure::DedicatedRequirement;
use tileheap::runtime::Device;
use tileheap::runtime::RuntimeError;
use tileheap::runtime::objects::MemoryRequirements;
use tileheap::units::{Alignment, Bytes};

/// The format, extent and layers of textures, each of which has a full mip chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureShape {
    /// Format of the texels, possibly block-compressed; it must support sampling and transfers.
    pub format: vk::Format,
    /// Extent of the finest level, in texels.
    pub extent: vk::Extent2D,
    /// The array layers or cube faces; all are resident at the same levels.
    pub layers: Layers,
}

/// The layers of a texture, and the type of its view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// One layer: `VK_IMAGE_VIEW_TYPE_2D`.
    One,
    /// This many layers: `VK_IMAGE_VIEW_TYPE_2D_ARRAY`.
    Array(u32),
    /// The six faces of a cube: `VK_IMAGE_VIEW_TYPE_CUBE`.
    Cube,
}

impl Layers {
    /// Number of layers.
    pub fn count(self) -> u32 {
        match self {
            Layers::One => 1,
            Layers::Array(count) => count,
            Layers::Cube => 6,
        }
    }
}

impl TextureShape {
    /// The shape of textures with one layer.
    pub const fn new(format: vk::Format, extent: vk::Extent2D) -> TextureShape {
        let layers = Layers::One;
        TextureShape {
            format,
            extent,
            layers,
        }
    }

    /// The finest level of the full mip chain.
    pub fn finest(&self) -> Level {
        Level(self.extent.width.max(self.extent.height).max(1).ilog2() as u8)
    }

    /// The extent of a level, in texels.
    pub fn extent_at(&self, level: Level) -> vk::Extent2D {
        let below = u32::from(self.finest().0.saturating_sub(level.0));
        vk::Extent2D {
            width: (self.extent.width >> below).max(1),
            height: (self.extent.height >> below).max(1),
        }
    }
}

/// The shape of textures, with the properties of its format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) shape: TextureShape,
    block: TexelBlock,
    /// True if each level is a separate image.
    pub(super) has_single_levels: bool,
}

impl Shape {
    fn new(shape: TextureShape, single_levels: bool) -> Result<Shape> {
        let TextureShape {
            format,
            extent,
            layers,
        } = shape;
        let unknown = || unsupported(name(&shape), "its texel size is unknown");
        let block = texel_block(format).ok_or_else(unknown)?;
        if extent.width.min(extent.height) == 0 || layers.count() == 0 {
            return Err(unsupported(
                name(&shape),
                "its extent or its number of layers is 0",
            ));
        }
        if layers == Layers::Cube && extent.width != extent.height {
            return Err(unsupported(name(&shape), "the faces of a cube must be square"));
        }
        Ok(Shape {
            shape,
            block,
            has_single_levels: single_levels,
        })
    }

    /// Bytes of all layers of a single level, tightly packed.
    pub(super) fn texels_at(&self, level: Level) -> usize {
        let vk::Extent2D { width, height } = self.shape.extent_at(level);
        let blocks = width.div_ceil(self.block.width) as usize * height.div_ceil(self.block.height) as usize;
        blocks * self.block.bytes as usize * self.shape.layers.count() as usize
    }

    /// Alignment of buffer offsets in copies.
    pub(super) fn alignment(&self) -> u64 {
        // At least 4 for queues that only copy (VUID-vkCmdCopyBufferToImage-commandBuffer-07737), and whole blocks.
        let bytes = u64::from(self.block.bytes);
        if bytes % 4 == 0 { bytes } else { bytes * 4 }
    }

    /// The coarsest level of the image that contains `level`.
    pub(super) fn first(&self, level: Level) -> Level {
        if self.has_single_levels { level } else { Level(0) }
    }

    /// Create info of the image of a texture at `level`, or of that single level.
    pub(super) fn image_info(&self, level: Level) -> vk::ImageCreateInfo<'static> {
        use vk::ImageUsageFlags as U;
        let flags = match self.shape.layers {
            Layers::Cube => vk::ImageCreateFlags::CUBE_COMPATIBLE,
            _ => vk::ImageCreateFlags::empty(),
        };
        vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(vk::ImageType::TYPE_2D)
            .format(self.shape.format)
            .extent(self.shape.extent_at(level).into())
            .mip_levels(u32::from(level.0 - self.first(level).0) + 1)
            .array_layers(self.shape.layers.count())
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            // A transfer source for moves.
            .usage(U::SAMPLED | U::TRANSFER_DST | U::TRANSFER_SRC)
            .initial_layout(vk::ImageLayout::UNDEFINED)
    }
}

/// Shapes with their requirements on a device.
pub(super) struct Measured {
    pub(super) shapes: Vec<Shape>,
    pub(super) geometry: Geometry,
    /// Memory types that support all shapes.
    pub(super) memory_types: u32,
}

/// Queries the memory requirements of each shape at each level, and combines their alignments and memory types.
pub(super) fn measure(device: &Device, shapes: &[TextureShape], single_levels: bool) -> Result<Measured> {
    let (mut unit, mut memory_types) = (Alignment::ONE, device.profile().ordinary_type_bits());
    let (mut chains, mut measured) = (Vec::new(), Vec::new());
    for &shape in shapes {
        let shape = Shape::new(shape, single_levels)?;
        let mut sizes: Vec<Bytes> = Vec::new();
        for level in (0..=shape.shape.finest().0).map(Level) {
            let needs = requirements(device, &shape, level)?;
            let alignment = needs.alignment;
            unit = unit.lcm(alignment).ok_or_else(|| {
                unsupported(
                    name(&shape.shape),
                    format!("the alignments {alignment} and {unit} have no common multiple below 2^64"),
                )
            })?;
            memory_types &= needs.memory_type_bits;
            // A driver may require less for more levels; the larger size is enough for both.
            let before = sizes.last().copied().unwrap_or_default();
            sizes.push(match single_levels {
                true => before + needs.size,
                false => before.max(needs.size),
            });
        }
        chains.push(MipChain::new(sizes));
        measured.push(shape);
    }
    Ok(Measured {
        shapes: measured,
        geometry: Geometry::new(chains, unit)?,
        memory_types,
    })
}

fn requirements(device: &Device, shape: &Shape, level: Level) -> Result<MemoryRequirements> {
    let (resource, info) = (name(&shape.shape), shape.image_info(level));
    if !device.supports_image(&resource, &info)? {
        let why = "the device does not support sampling and transfers for the format at this extent";
        return Err(unsupported(resource, why));
    }
    // SAFETY: valid, and supported.
    let needs = unsafe { device.image_requirements(&resource, &info) }?;
    if needs.dedicated == DedicatedRequirement::Required {
        let why = "the driver requires a dedicated allocation for each image of this shape";
        return Err(unsupported(resource, why));
    }
    Ok(needs)
}

pub(super) fn unsupported(resource: String, why: impl Into<String>) -> Error {
    let why = why.into();
    RuntimeError::Unsupported { resource, why }.into()
}

/// The name of a shape for messages.
pub(super) fn name(shape: &TextureShape) -> String {
    let vk::Extent2D { width, height } = shape.extent;
    let layers = match shape.layers {
        Layers::One => String::new(),
        layers => format!(", {layers:?}"),
    };
    format!("texture of {width} x {height}, {:?}{layers}", shape.format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_count_from_a_single_texel() {
        let extent = vk::Extent2D { width: 20, height: 6 };
        let format = vk::Format::R8G8B8A8_UNORM;
        let shape = Shape::new(TextureShape::new(format, extent), false).expect("sound");
        let extents = (0..=4).map(|level| {
            let vk::Extent2D { width, height } = shape.shape.extent_at(Level(level));
            (width, height, shape.texels_at(Level(level)))
        });
        assert_eq!(
            extents.collect::<Vec<_>>(),
            [(1, 1, 4), (2, 1, 8), (5, 1, 20), (10, 3, 120), (20, 6, 480)]
        );
        assert_eq!(shape.image_info(Level(3)).mip_levels, 4);
        let single_levels = Shape {
            has_single_levels: true,
            ..shape
        };
        assert_eq!(single_levels.image_info(Level(3)).mip_levels, 1);
        let empty = vk::Extent2D { width: 0, height: 6 };
        assert!(Shape::new(TextureShape::new(format, empty), false).is_err());
        // Whole blocks of 4 x 4 texels, in each of the layers.
        let layered = |layers| {
            let whole = TextureShape::new(vk::Format::BC1_RGBA_UNORM_BLOCK, extent);
            let shape = Shape::new(TextureShape { layers, ..whole }, false).ok()?;
            let sizes = [4, 0].map(|level| shape.texels_at(Level(level)));
            Some((sizes, shape.alignment()))
        };
        assert_eq!(layered(Layers::One), Some(([80, 8], 8)));
        assert_eq!(layered(Layers::Array(3)), Some(([240, 24], 8)));
        assert_eq!([Layers::Cube, Layers::Array(0)].map(layered), [None; 2]);
    }
}
