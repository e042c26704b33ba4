//! The JSON form of an image, whose size is given by one of two fields.

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap_json::is_default;

use crate::frame::{Extent, ImageDesc};
use crate::names;

/// The properties of an image, except those that follow from its accesses.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("oneOf" = super::schema::one_of(["extent", "scale"]))))]
#[serde(deny_unknown_fields)]
pub(in crate::frame) struct ImageForm {
    /// Format of the image and its view.
    #[serde(with = "names::value")]
    #[cfg_attr(test, schemars(with = "super::schema::Name<vk::Format>"))]
    format: vk::Format,
    /// Size of level 0 in texels: `[width, height]` or `[width, height, depth]`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(test, schemars(length(min = 2, max = 3)))]
    extent: Option<Vec<u32>>,
    /// Size of level 0 as fractions of the base extent, rounded up to whole texels: `[x, y]`.
    #[serde(default, skip_serializing_if = "is_default")]
    scale: Option<[f32; 2]>,
    /// 1D, 2D or 3D. Default: 2D.
    #[serde(
        default = "two_dimensions",
        skip_serializing_if = "is_two_dimensions",
        with = "names::value"
    )]
    #[cfg_attr(test, schemars(with = "super::schema::Name<vk::ImageType>"))]
    image_type: vk::ImageType,
    /// Mip levels, at least 1. Default: 1.
    #[serde(default = "tileheap_json::one", skip_serializing_if = "tileheap_json::is_one")]
    mip_levels: u32,
    /// Array layers, at least 1. Default: 1.
    #[serde(default = "tileheap_json::one", skip_serializing_if = "tileheap_json::is_one")]
    array_layers: u32,
    /// Samples per texel. Default: 1.
    #[serde(
        default = "one_sample",
        skip_serializing_if = "is_one_sample",
        with = "names::value"
    )]
    #[cfg_attr(test, schemars(with = "super::schema::Name<vk::SampleCountFlags>"))]
    samples: vk::SampleCountFlags,
    /// Usage in addition to that of the declared accesses.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::schema::Bits<vk::ImageUsageFlags>"))]
    usage: vk::ImageUsageFlags,
    /// Creation flags in addition to those that the plan sets.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::schema::Bits<vk::ImageCreateFlags>"))]
    flags: vk::ImageCreateFlags,
    /// Number that the runtime passes to its hooks, which return structures to chain to the create info; 0 for none.
    #[serde(default, skip_serializing_if = "is_default")]
    hook: u32,
    /// True if each level may become a separate image, placed by its own size and lifetime. Not allowed for external images.
    #[serde(default, skip_serializing_if = "is_default")]
    separate_levels: bool,
}

fn one_sample() -> vk::SampleCountFlags {
    vk::SampleCountFlags::TYPE_1
}

fn is_one_sample(samples: &vk::SampleCountFlags) -> bool {
    *samples == one_sample()
}

fn two_dimensions() -> vk::ImageType {
    vk::ImageType::TYPE_2D
}

fn is_two_dimensions(image_type: &vk::ImageType) -> bool {
    *image_type == two_dimensions()
}

impl From<ImageDesc> for ImageForm {
    fn from(image: ImageDesc) -> ImageForm {
        let (extent, scale) = match image.extent {
            Extent::Scaled(scale) => (None, Some(scale)),
            Extent::Texels(texels) if texels.depth == 1 => (Some(vec![texels.width, texels.height]), None),
            Extent::Texels(texels) => (Some(vec![texels.width, texels.height, texels.depth]), None),
        };
        ImageForm {
            format: image.format,
            extent,
            scale,
            image_type: image.image_type,
            mip_levels: image.mip_levels,
            array_layers: image.array_layers,
            samples: image.samples,
            usage: image.usage,
            flags: image.flags,
            hook: image.hook,
            separate_levels: image.separate_levels,
        }
    }
}

impl TryFrom<ImageForm> for ImageDesc {
    type Error = &'static str;

    fn try_from(form: ImageForm) -> Result<ImageDesc, &'static str> {
        let extent = match (form.extent.as_deref(), form.scale) {
            (Some(&[width, height]), None) => Extent::from(vk::Extent2D { width, height }),
            (Some(&[width, height, depth]), None) => Extent::from(vk::Extent3D { width, height, depth }),
            (Some(_), None) => return Err("has an invalid `extent`: it must have 2 or 3 numbers"),
            (None, Some(scale)) => Extent::Scaled(scale),
            (None, None) => return Err("has neither `extent` nor `scale`"),
            (Some(_), Some(_)) => return Err("has both `extent` and `scale`"),
        };
        Ok(ImageDesc {
            format: form.format,
            extent,
            image_type: form.image_type,
            mip_levels: form.mip_levels,
            array_layers: form.array_layers,
            samples: form.samples,
            usage: form.usage,
            flags: form.flags,
            hook: form.hook,
            separate_levels: form.separate_levels,
        })
    }
}
