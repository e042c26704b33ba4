//! Rules about images.

use ash::vk::{self, ImageCreateFlags as F, ImageUsageFlags as U};

use super::accepted::Accepted;
use super::rule::{NOT_SUPPORTED, Problem, Rule, Rules, Subject};
use crate::ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
use crate::format::FormatInfo;
use crate::frame::tables::{Resource, ResourceKind};
use crate::frame::{ImageDesc, Persistence};
use crate::names;

/// An image of a frame.
pub(super) struct Image<'a> {
    pub(super) name: &'a str,
    pub(super) desc: &'a ImageDesc,
    /// Size of level 0 in texels.
    pub(super) extent: vk::Extent3D,
    /// Declared and derived usage.
    pub(super) usage: U,
    pub(super) info: Option<&'static FormatInfo>,
    /// True if the caller creates it.
    pub(super) is_external: bool,
    /// True for a history, which the runtime clears before the first frame.
    is_history: bool,
}

impl<'a> Image<'a> {
    /// The image of a resource; `None` for buffers.
    pub(super) fn of(resource: &'a Resource) -> Option<Image<'a>> {
        match &resource.kind {
            ResourceKind::Image { desc, extent, usage } => Some(Image {
                name: &resource.name,
                desc,
                extent: *extent,
                usage: *usage,
                info: crate::format::info(desc.format),
                is_external: matches!(resource.persistence, Persistence::External(_)),
                is_history: resource.persistence == Persistence::History,
            }),
            ResourceKind::Buffer { .. } => None,
        }
    }

    fn has(&self, flag: F) -> bool {
        self.desc.flags.contains(flag)
    }

    pub(super) fn is_attached(&self) -> bool {
        self.usage.intersects(ATTACHMENTS | U::TRANSIENT_ATTACHMENT)
    }

    fn is_multisampled(&self) -> bool {
        self.desc.samples != vk::SampleCountFlags::TYPE_1
    }

    /// The number of the image's format if it has no name; formats with several planes do have names.
    fn unknown_format(&self) -> Option<String> {
        let format = self.desc.format;
        let is_unknown = self.info.is_none() && names::name_of(format).starts_with("0x");
        // In decimal, as in `vulkan_core.h`.
        is_unknown.then(|| format.as_raw().to_string())
    }

    /// The image's flags that no frame may declare.
    fn other_flags(&self) -> F {
        self.desc.flags & !FLAGS
    }

    /// Returns true if an image of the caller breaks no rule of Vulkan about its declaration. Frames have further limits.
    #[cfg(feature = "runtime")]
    pub(super) fn is_valid(&self) -> bool {
        let holds =
            |row: &Rule<fn(&Image<'_>) -> Problem>| row.rule == NOT_SUPPORTED || (row.broken)(self).is_none();
        CREATED_USAGES.contains(self.usage)
            && !self.usage.is_empty()
            && self.unknown_format().is_none()
            && self.other_flags().is_empty()
            && DECLARED.iter().chain(USED).all(holds)
            && (!crate::format::needs_conversion(self.desc.format) || self.is_valid_conversion())
    }

    /// Returns true if an image that needs a sampler Y'CbCr conversion is valid without optional features.
    ///
    /// Source: VUID-VkImageCreateInfo-format-06410 to -06413, -04712 and -04713; `VK_EXT_ycbcr_2plane_444_formats`, which is not a feature of profiles.
    #[cfg(feature = "runtime")]
    fn is_valid_conversion(&self) -> bool {
        let vk::Extent3D { width, height, .. } = self.extent;
        let (desc, name) = (self.desc, names::name_of(self.desc.format));
        let (quarter, half) = (name.contains("_420_"), name.contains("_422_"));
        desc.image_type == vk::ImageType::TYPE_2D
            && desc.mip_levels == 1
            && desc.array_layers == 1
            && !self.is_multisampled()
            && (!(quarter || half) || width % 2 == 0)
            && (!quarter || height % 2 == 0)
            && !name.contains("_2PLANE_444_")
    }
}

/// The properties of an image that rules depend on: all but its name.
#[derive(Clone, Copy, PartialEq)]
struct ImageProperties {
    desc: ImageDesc,
    extent: vk::Extent3D,
    usage: U,
    is_external: bool,
    is_history: bool,
}

impl ImageProperties {
    fn of(image: &Image<'_>) -> ImageProperties {
        ImageProperties {
            desc: *image.desc,
            extent: image.extent,
            usage: image.usage,
            is_external: image.is_external,
            is_history: image.is_history,
        }
    }

    /// A hash: bits that differ for most pairs of different properties.
    fn bits(&self) -> u64 {
        let kind = u64::from(self.usage.as_raw()) << 32 | u64::from(self.desc.format.as_raw() as u32);
        let size = u64::from(self.extent.width) << 32 | u64::from(self.extent.height);
        let owner = u64::from(self.is_external) << 1 | u64::from(self.is_history);
        kind ^ size.rotate_left(13) ^ owner << 16
    }
}

/// A cache of accepted images.
#[derive(Default)]
pub(in crate::frame) struct AcceptedImages(Accepted<ImageProperties>);

impl AcceptedImages {
    /// Returns `true` if an image with the same properties was accepted.
    pub(super) fn contains(&self, image: &Image<'_>) -> bool {
        let own = ImageProperties::of(image);
        self.0.contains(own.bits(), &own)
    }

    pub(super) fn add(&mut self, image: &Image<'_>) {
        let own = ImageProperties::of(image);
        self.0.add(own.bits(), own);
    }
}

impl Subject for Image<'_> {
    fn words(&self) -> String {
        format!("image `{}`", self.name)
    }
}

/// The image usages that a frame may declare or derive; the planner adds that of tile memory.
pub const IMAGE_USAGES: U = U::from_raw(
    U::TRANSFER_SRC.as_raw()
        | U::TRANSFER_DST.as_raw()
        | U::SAMPLED.as_raw()
        | U::STORAGE.as_raw()
        | U::FRAGMENT_DENSITY_MAP_EXT.as_raw()
        | U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR.as_raw()
        | U::HOST_TRANSFER_EXT.as_raw()
        | U::SAMPLE_WEIGHT_QCOM.as_raw()
        | U::SAMPLE_BLOCK_MATCH_QCOM.as_raw()
        | U::TRANSIENT_ATTACHMENT.as_raw()
        | ATTACHMENTS.as_raw(),
);

/// The usages that images created by the program may have, including those that only external resources of a frame have. Video usages are left out,
/// since they need video profiles.
#[cfg(feature = "runtime")]
const CREATED_USAGES: U = U::from_raw(
    IMAGE_USAGES.as_raw()
        | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM.as_raw()
        | U::ATTACHMENT_FEEDBACK_LOOP_EXT.as_raw()
        | U::INVOCATION_MASK_HUAWEI.as_raw(),
);

const ATTACHMENTS: U = U::from_raw(
    U::COLOR_ATTACHMENT.as_raw() | U::DEPTH_STENCIL_ATTACHMENT.as_raw() | U::INPUT_ATTACHMENT.as_raw(),
);

/// The flags that a frame may declare.
const FLAGS: F = F::from_raw(
    F::MUTABLE_FORMAT.as_raw()
        | F::CUBE_COMPATIBLE.as_raw()
        | F::TYPE_2D_ARRAY_COMPATIBLE.as_raw()
        | F::BLOCK_TEXEL_VIEW_COMPATIBLE.as_raw()
        | F::EXTENDED_USAGE.as_raw()
        | F::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT.as_raw()
        | F::SUBSAMPLED_EXT.as_raw()
        | F::ALIAS.as_raw(),
);

/// Rules that depend only on the declaration of an image.
pub(super) static DECLARED: &Rules<fn(&Image<'_>) -> Problem> = &[
    Rule {
        rule: "VUID-VkImageCreateInfo-imageType-parameter",
        broken: |image| {
            let types = [
                vk::ImageType::TYPE_1D,
                vk::ImageType::TYPE_2D,
                vk::ImageType::TYPE_3D,
            ];
            let found = image.desc.image_type;
            (!types.contains(&found))
                .then(|| format!("images must be 1D, 2D or 3D, but the type of this one is {found:?}"))
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-pNext-01975",
        broken: |image| {
            let undefined = image.desc.format == vk::Format::UNDEFINED;
            undefined.then(|| "images need a format other than VK_FORMAT_UNDEFINED".to_owned())
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |image| {
            let unknown = image.unknown_format()?;
            Some(format!("format {unknown} is unknown"))
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |image| {
            let found = image.desc.format;
            crate::format::needs_conversion(found)
                .then(|| format!("format {found:?} needs a sampler Y'CbCr conversion"))
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-samples-parameter",
        broken: |image| {
            let found = image.desc.samples.as_raw();
            (!is_sample_count(image.desc.samples)).then(|| {
                format!("the sample count must be 1, 2, 4, 8, 16, 32 or 64, but its bits are {found:#b}")
            })
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |image| {
            let other = image.other_flags();
            (!other.is_empty()).then(|| {
                format!("its flags include {other:?} (sparse, protected, disjoint or device group images)")
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-imageType-00956",
        broken: |image| {
            let vk::Extent3D { height, depth, .. } = image.extent;
            let flat = image.desc.image_type == vk::ImageType::TYPE_1D && (height > 1 || depth > 1);
            flat.then(|| {
                format!("1D images must have a height and depth of 1, but this one has {height} and {depth}")
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-imageType-00957",
        broken: |image| {
            let depth = image.extent.depth;
            (image.desc.image_type == vk::ImageType::TYPE_2D && depth > 1)
                .then(|| format!("2D images must have a depth of 1, but that of this one is {depth}"))
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-imageType-00961",
        broken: |image| {
            let layers = image.desc.array_layers;
            (image.desc.image_type == vk::ImageType::TYPE_3D && layers > 1)
                .then(|| format!("3D images must have one layer, but this one has {layers}"))
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-mipLevels-00958",
        broken: |image| {
            let vk::Extent3D { width, height, depth } = image.extent;
            let (levels, limit) = (
                image.desc.mip_levels,
                32 - width.max(height).max(depth).leading_zeros(),
            );
            (levels > limit).then(|| {
                format!(
                    "the number of levels for {width} x {height} x {depth} texels is at most {limit}, but that of this image is {levels}"
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-samples-02257",
        broken: |image| {
            let desc = image.desc;
            let single = desc.image_type == vk::ImageType::TYPE_2D
                && desc.mip_levels == 1
                && !image.has(F::CUBE_COMPATIBLE);
            (image.is_multisampled() && !single)
                .then(|| "multisampled images must be 2D, have one level and not be cubes".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-00949",
        broken: |image| {
            let flat = image.desc.image_type == vk::ImageType::TYPE_2D;
            (image.has(F::CUBE_COMPATIBLE) && !flat)
                .then(|| "cubes (CUBE_COMPATIBLE) must be 2D images".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-08865",
        broken: |image| {
            let vk::Extent3D { width, height, .. } = image.extent;
            (image.has(F::CUBE_COMPATIBLE) && width != height).then(|| {
                format!("images with CUBE_COMPATIBLE must be square, but this one is {width} x {height}")
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-08866",
        broken: |image| {
            let layers = image.desc.array_layers;
            (image.has(F::CUBE_COMPATIBLE) && layers < 6).then(|| {
                format!("images with CUBE_COMPATIBLE need 6 layers or more, but this one has {layers}")
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-00950",
        broken: |image| {
            let solid = image.desc.image_type == vk::ImageType::TYPE_3D;
            (image.has(F::TYPE_2D_ARRAY_COMPATIBLE) && !solid)
                .then(|| "TYPE_2D_ARRAY_COMPATIBLE is only for 3D images".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-01572",
        broken: |image| {
            let compressed = image.info.is_some_and(FormatInfo::is_compressed);
            let format = image.desc.format;
            (image.has(F::BLOCK_TEXEL_VIEW_COMPATIBLE) && !compressed).then(|| {
                format!("BLOCK_TEXEL_VIEW_COMPATIBLE needs a compressed format, but the format of this image is {format:?}")
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-01573",
        broken: |image| {
            (image.has(F::BLOCK_TEXEL_VIEW_COMPATIBLE) && !image.has(F::MUTABLE_FORMAT))
                .then(|| "BLOCK_TEXEL_VIEW_COMPATIBLE needs MUTABLE_FORMAT".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-06883",
        broken: |image| {
            (image.has(F::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT) && image.is_multisampled()).then(|| {
                format!(
                    "MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED needs one sample, but this image has {}",
                    image.desc.samples.as_raw()
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-02566",
        broken: |image| {
            let flat = image.desc.image_type == vk::ImageType::TYPE_2D;
            (image.has(F::SUBSAMPLED_EXT) && !flat).then(|| "subsampled images must be 2D".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-02567",
        broken: |image| {
            image
                .desc
                .flags
                .contains(F::SUBSAMPLED_EXT | F::CUBE_COMPATIBLE)
                .then(|| "subsampled images must not be cubes".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-02568",
        broken: |image| {
            let levels = image.desc.mip_levels;
            (image.has(F::SUBSAMPLED_EXT) && levels > 1)
                .then(|| format!("subsampled images must have one level, but this one has {levels}"))
        },
    },
];

/// Rules that depend on the declaration of an image and on its accesses.
pub(super) static USED: &Rules<fn(&Image<'_>) -> Problem> = &[
    Rule {
        rule: NOT_SUPPORTED,
        broken: |image| {
            let other = image.usage & !(IMAGE_USAGES | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM);
            (!other.is_empty() && !image.is_external).then(|| {
                let named = names::bit_names(other).join(", ");
                format!("images with usage {named} can only be external resources")
            })
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |image| {
            image
                .usage
                .contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM)
                .then(|| "the planner sets the usage TILE_MEMORY: pin the image instead".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-usage-00963",
        broken: |image| {
            let other = image.usage & !(ATTACHMENTS | U::TRANSIENT_ATTACHMENT);
            (image.usage.contains(U::TRANSIENT_ATTACHMENT) && !other.is_empty()).then(|| {
                format!("transient attachments must have only attachment usages, but this one has {other:?}")
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-usage-00963",
        broken: |image| {
            (image.usage.contains(U::TRANSIENT_ATTACHMENT) && image.is_history).then(|| {
                "histories are cleared before the first frame, which transient attachments do not allow"
                    .to_owned()
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-usage-00966",
        broken: |image| {
            (image.usage.contains(U::TRANSIENT_ATTACHMENT) && !image.usage.intersects(ATTACHMENTS)).then(
                || "transient attachments need another attachment usage, but this one has none".to_owned(),
            )
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-samples-02558",
        broken: |image| {
            (image.usage.contains(U::FRAGMENT_DENSITY_MAP_EXT) && image.is_multisampled()).then(|| {
                format!(
                    "fragment density maps must have one sample, but this one has {}",
                    image.desc.samples.as_raw()
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-02557",
        broken: |image| {
            let flat = image.desc.image_type == vk::ImageType::TYPE_2D;
            (image.usage.contains(U::FRAGMENT_DENSITY_MAP_EXT) && !flat)
                .then(|| "fragment density maps must be 2D images".to_owned())
        },
    },
    Rule {
        // Source: Vulkan specification, "Required Format Support": block-compressed formats are sampled and copied, and no implementation renders to
        // them or stores into them. With EXTENDED_USAGE, views of other formats do.
        rule: "VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251",
        broken: |image| {
            let compressed = image.info.is_some_and(FormatInfo::is_compressed);
            let other = image.usage & (ATTACHMENTS | U::STORAGE);
            let format = image.desc.format;
            (compressed && !other.is_empty() && !image.has(F::EXTENDED_USAGE)).then(|| {
                format!(
                    "images of compressed format {format:?} cannot be attachments or storage images, but the usage of this one includes {}",
                    names::bit_names(other).join(", ")
                )
            })
        },
    },
];

/// Rules about images whose previous version is read: the runtime clears contents that no frame has written yet.
pub(super) static PREVIOUS: &Rules<fn(&Image<'_>) -> Problem> = &[
    Rule {
        rule: NOT_SUPPORTED,
        broken: |image| {
            let compressed = image.info.is_some_and(FormatInfo::is_compressed);
            let format = image.desc.format;
            compressed.then(|| format!("its previous version is cleared in the first frame, which the compressed format {format:?} does not allow"))
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |image| {
            // With 64 bits a component, only two of them fit into 16 bytes.
            let large = image
                .info
                .is_some_and(|info| info.block.bytes > 16 && !info.is_compressed());
            let format = image.desc.format;
            large.then(|| format!("its previous version is cleared in the first frame, which format {format:?}, with more than two 64-bit components, does not allow"))
        },
    },
];

/// Returns `true` if exactly one bit is set, for a count from 1 to 64.
pub(super) fn is_sample_count(samples: vk::SampleCountFlags) -> bool {
    let raw = samples.as_raw();
    raw.is_power_of_two() && raw <= vk::SampleCountFlags::TYPE_64.as_raw()
}
