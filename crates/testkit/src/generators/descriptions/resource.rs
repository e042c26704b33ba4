//! Random images and buffers.

use ash::vk::{
    self, BufferUsageFlags as B, Format, ImageCreateFlags as F, ImageLayout as L, ImageType,
    ImageUsageFlags as U, SampleCountFlags as Samples,
};
use tileheap::format;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{BufferDesc, Extent, ImageDesc, Persistence, TileConstraint};
use tileheap::units::Bytes;

use super::description::DescribedResource;
use super::formats::{self, ALL, COLORS, DEPTHS, KNOWN, STORED, is_depth};
use super::generator::DescriptionGenerator;

/// The use for which an image is generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    Color,
    Depth,
    Stored,
    Sampled,
}

impl DescriptionGenerator {
    /// Adds a random resource.
    pub(super) fn new_resource(&mut self) -> usize {
        match self.random.below(6) {
            0 | 1 => self.new_image(Role::Color, Samples::TYPE_1),
            2 => self.new_image(Role::Depth, Samples::TYPE_1),
            3 => self.new_image(Role::Stored, Samples::TYPE_1),
            4 => self.new_image(Role::Sampled, Samples::TYPE_1),
            _ => self.new_buffer(),
        }
    }

    /// Adds an image for a role, with this number of samples.
    pub(super) fn new_image(&mut self, role: Role, samples: Samples) -> usize {
        let format = self.format(role);
        let desc = self.image(role, samples, format);
        self.add(desc.into(), is_depth(format))
    }

    /// Adds a plain image: two-dimensional, one level, some layers.
    pub(super) fn plain_image(&mut self, format: Format, samples: Samples, array_layers: u32) -> usize {
        let desc = ImageDesc {
            samples,
            array_layers,
            ..ImageDesc::new(format, self.description.base_extent)
        };
        self.add(desc.into(), is_depth(format))
    }

    pub(super) fn new_buffer(&mut self) -> usize {
        let size = match self.is_unrestricted() {
            true => self.random.pick(&[0, 1, 3, 7, 1 << 36, (1 << 40) + 1, u64::MAX]),
            false => self.random.pick(&[4, 64, 256, 4096, 65_536, 1_000_000]),
        };
        let mut desc = BufferDesc::new(Bytes(size));
        if self.is_unrestricted() {
            desc.usage = B::from_raw(self.any_bits::<B>(3) as u32);
        } else if self.one_in(8) {
            desc.usage = self
                .random
                .pick(&[B::UNIFORM_BUFFER, B::INDIRECT_BUFFER, B::VERTEX_BUFFER]);
        }
        self.add(desc.into(), false)
    }

    fn add(&mut self, kind: ResourceKind, is_depth: bool) -> usize {
        let is_image = matches!(kind, ResourceKind::Image { .. });
        let oddly = self.is_unrestricted();
        let persistence = match self.random.below(10) {
            0 => Persistence::History,
            1 => Persistence::External(self.external(is_image, is_depth)),
            _ => Persistence::Transient,
        };
        let tile_constraint = match self.one_in(10) {
            true => TileConstraint::Excluded,
            false if self.is_unrestricted() => TileConstraint::Pinned,
            false => TileConstraint::None,
        };
        self.description.resources.push(DescribedResource {
            kind,
            persistence,
            tile_constraint,
        });
        let added = self.description.resources.last_mut().expect("just added");
        if let (ResourceKind::Image { desc, .. }, Persistence::External(_)) = (&mut added.kind, persistence) {
            desc.separate_levels &= oddly;
        }
        self.contents.push(Default::default());
        self.description.resources.len() - 1
    }

    fn external(&mut self, is_image: bool, is_depth: bool) -> ExternalDesc {
        if is_image && !is_depth && self.one_in(12) {
            return ExternalDesc::SWAPCHAIN;
        }
        let [entry, exit] = [true, false].map(|enters| match is_image || self.is_unrestricted() {
            true if enters && self.random.one_in(3) => L::UNDEFINED,
            true => self.layout(is_depth),
            false => L::UNDEFINED,
        });
        ExternalDesc {
            entry: self.state(entry),
            exit: self.state(exit),
        }
    }

    fn format(&mut self, role: Role) -> Format {
        if self.is_unrestricted() {
            return match self.random.one_in(10) {
                true => Format::from_raw(self.random.below(1_000_500_000) as i32),
                false => self.random.pick(&ALL),
            };
        }
        match role {
            Role::Depth => self.random.pick(&DEPTHS),
            Role::Color if self.one_in(20) => self.random.pick(&KNOWN).format,
            Role::Color => self.random.pick(&COLORS),
            Role::Stored => self.random.pick(&STORED),
            Role::Sampled if self.one_in(3) => self.random.pick(&KNOWN).format,
            Role::Sampled => self.random.pick(&COLORS),
        }
    }

    fn image(&mut self, role: Role, samples: Samples, format: Format) -> ImageDesc {
        let single = samples == Samples::TYPE_1;
        let image_type = match self.random.below(12) {
            _ if self.is_unrestricted() => ImageType::from_raw(self.random.below(4) as i32),
            0 if single && role != Role::Depth => ImageType::TYPE_1D,
            1 | 2 if single && role != Role::Depth => ImageType::TYPE_3D,
            _ => ImageType::TYPE_2D,
        };
        let compressed = format::info(format).is_some_and(|info| info.is_compressed());
        let image_type = if compressed && !self.is_unrestricted() {
            ImageType::TYPE_2D
        } else {
            image_type
        };
        let extent = self.extent(image_type);
        let mut desc = ImageDesc {
            image_type,
            samples,
            ..ImageDesc::new(format, extent)
        };
        if self.is_unrestricted() {
            desc.samples = Samples::from_raw(self.random.pick(&[0, 1, 2, 3, 4, 8, 16, 32, 64, 128]));
        }
        let vk::Extent3D { width, height, depth } = extent.resolve(self.description.base_extent);
        let most = (32 - width.max(height).max(depth).leading_zeros()).max(1);
        if self.is_unrestricted() {
            desc.mip_levels = self.random.pick(&[0, 2, 7, 8, 32, u32::MAX]);
        } else if single && self.one_in(3) {
            desc.mip_levels = 1 + self.random.below(u64::from(most.min(4))) as u32;
        }
        if image_type == ImageType::TYPE_3D {
            // Validation 1.4.363 assumes that a barrier of all slices of a level above 0 has as many slices as level 0. The excess slices
            // overlap those that it numbers next, so it reports hazards with commands on other images.
            desc.mip_levels = desc.mip_levels.min(1);
        }
        let cube = image_type == ImageType::TYPE_2D && width == height && single && self.one_in(8);
        if self.is_unrestricted() {
            desc.array_layers = self.random.pick(&[0, 2, 7, 2048, 5000, u32::MAX]);
        } else if cube {
            desc.array_layers = self.random.pick(&[6, 6, 7, 12]);
            desc.flags |= F::CUBE_COMPATIBLE;
        } else if image_type != ImageType::TYPE_3D {
            desc.array_layers = self.random.pick(&[1, 1, 1, 1, 2, 3, 4, 6]);
        }
        if self.is_unrestricted() {
            desc.flags |= F::from_raw(self.any_bits::<F>(2) as u32);
        } else if compressed && self.one_in(3) {
            desc.flags |= F::BLOCK_TEXEL_VIEW_COMPATIBLE | F::MUTABLE_FORMAT | F::EXTENDED_USAGE;
        } else if self.one_in(10) {
            desc.flags |= F::MUTABLE_FORMAT;
        }
        if self.is_unrestricted() {
            desc.usage = U::from_raw(self.any_bits::<U>(2) as u32);
        } else if self.one_in(8) {
            desc.usage = self.random.pick(&[U::SAMPLED, U::TRANSFER_SRC, U::TRANSFER_DST]);
        }
        desc.separate_levels = desc.mip_levels > 1 && self.one_in(5);
        desc.hook = u32::from(self.is_unrestricted());
        desc
    }

    fn extent(&mut self, image_type: ImageType) -> Extent {
        if self.is_unrestricted() {
            let side = self.random.pick(&[0, 1, 5, 16_385, 70_000, u32::MAX]);
            return Extent::Texels(match self.random.below(3) {
                0 => vk::Extent3D {
                    width: side,
                    height: 16,
                    depth: 1,
                },
                1 => vk::Extent3D {
                    width: 16,
                    height: side,
                    depth: 1,
                },
                _ => vk::Extent3D {
                    width: 16,
                    height: 16,
                    depth: side,
                },
            });
        }
        let side = self.random.pick(&[4, 16, 33, 64]);
        match image_type {
            ImageType::TYPE_1D => vk::Extent2D {
                width: side,
                height: 1,
            }
            .into(),
            ImageType::TYPE_3D => Extent::Texels(vk::Extent3D {
                width: side,
                height: self.random.pick(&[4, 16]),
                depth: self.random.pick(&[1, 2, 8, 16]),
            }),
            _ if self.is_unrestricted() => {
                Extent::Scaled([self.random.pick(&[0.0, -1.0, f32::NAN, 1e9]), 1.0])
            }
            _ if self.one_in(8) => Extent::Scaled([self.random.pick(&[0.5, 1.0, 0.25]); 2]),
            _ if self.one_in(4) => vk::Extent2D {
                width: side,
                height: side,
            }
            .into(),
            _ => self.description.base_extent.into(),
        }
    }

    /// A random format for a view of an image.
    pub(super) fn view_format(&mut self, image: &ImageDesc) -> Format {
        if self.is_unrestricted() {
            return self.random.pick(&ALL);
        }
        let own = image.format;
        if image.flags.contains(F::BLOCK_TEXEL_VIEW_COMPATIBLE) && self.one_in(2) {
            match format::info(own).map(|info| info.block.bytes) {
                Some(8) => return Format::R32G32_UINT,
                Some(16) => return Format::R32G32B32A32_UINT,
                _ => {}
            }
        }
        let same = formats::compatible(own);
        let common: Vec<Format> = same
            .iter()
            .copied()
            .filter(|format| COLORS.contains(format))
            .collect();
        match (common.is_empty(), same.is_empty()) {
            (false, _) => self.random.pick(&common),
            (true, false) => self.random.pick(&same),
            (true, true) => own,
        }
    }
}
