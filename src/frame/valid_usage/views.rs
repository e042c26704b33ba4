//! Rules about the views through which passes use images.

use ash::vk::{self, ImageCreateFlags as F, ImageViewType as V};

use super::images::Image;
use super::rule::{NOT_SUPPORTED, Problem, Rule, Rules, Subject};
use crate::format::FormatInfo;
use crate::frame::tables::{Access, Pass, Resource, ResourceKind};
use crate::frame::{AccessKind, ImageDesc, SubresourceRange};

/// The view of an access.
pub(super) struct View<'a> {
    pass: &'a Pass,
    pub(super) image: Image<'a>,
    pub(super) access: &'a Access,
    /// The declared view type, if any.
    pub(super) declared: Option<V>,
    /// `None` if the format is unknown or has several planes.
    pub(super) info: Option<&'static FormatInfo>,
    pub(super) format: vk::Format,
    range: SubresourceRange,
}

impl<'a> View<'a> {
    /// The view that `access` needs; `None` for buffers and transfers.
    pub(super) fn of(pass: &'a Pass, access: &'a Access, resource: &'a Resource) -> Option<View<'a>> {
        let image = Image::of(resource).filter(|_| !access.kind.is_transfer())?;
        let format = access.view.format.unwrap_or(image.desc.format);
        let mut range = access.range;
        if image.desc.image_type == vk::ImageType::TYPE_3D && !access.kind.is_attached() {
            // Shaders see all slices of a level.
            (range.layers.first, range.layers.end) = (0, 1);
        }
        Some(View {
            pass,
            image,
            access,
            declared: access.view.view_type,
            info: crate::format::info(format),
            format,
            range,
        })
    }

    fn is_declared(&self, types: &[V]) -> bool {
        self.declared.is_some_and(|declared| types.contains(&declared))
    }

    pub(super) fn layers(&self) -> u32 {
        self.range.layers.len() as u32
    }

    fn levels(&self) -> u32 {
        self.range.levels.len() as u32
    }

    /// Returns the problem if shaders use slices of a 3D image through a view of this type.
    fn slices_in_shaders(&self, view_type: V) -> Problem {
        let solid = self.image.desc.image_type == vk::ImageType::TYPE_3D;
        (solid && !self.access.kind.is_attached() && self.is_declared(&[view_type]))
            .then(|| "shaders can access 3D images only through views of type TYPE_3D".to_owned())
    }

    /// Returns true if the view shows compressed blocks as texels.
    pub(super) fn shows_blocks(&self) -> bool {
        let compressed = self.info.is_some_and(FormatInfo::is_compressed);
        self.image.desc.flags.contains(F::BLOCK_TEXEL_VIEW_COMPATIBLE) && !compressed
    }
}

/// Returns `true` if an access uses a 2D image as it was created, and the image has no flags and is not a fragment density map. No rule about views applies
/// then.
pub(super) fn is_plain(access: &Access, resource: &Resource) -> bool {
    let ResourceKind::Image { desc, usage, .. } = &resource.kind else {
        return false;
    };
    access.view.view_type.is_none()
        && access.view.format.is_none_or(|format| format == desc.format)
        && desc.image_type == vk::ImageType::TYPE_2D
        && desc.flags.is_empty()
        && !usage.contains(vk::ImageUsageFlags::FRAGMENT_DENSITY_MAP_EXT)
}

impl Subject for View<'_> {
    fn words(&self) -> String {
        format!("pass `{}` uses image `{}`", self.pass.name, self.image.name)
    }
}

const CUBES: [V; 2] = [V::CUBE, V::CUBE_ARRAY];

pub(super) static VIEWS: &Rules<fn(&View<'_>) -> Problem> = &[
    Rule {
        rule: "VUID-VkImageViewCreateInfo-viewType-parameter",
        broken: |view| {
            let found = view
                .declared
                .filter(|found| !(V::TYPE_1D..=V::CUBE_ARRAY).contains(found))?;
            Some(format!("{found:?} is not a view type"))
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-subResourceRange-01021",
        broken: |view| {
            let image_type = view.image.desc.image_type;
            let allowed: &[V] = match image_type {
                vk::ImageType::TYPE_1D => &[V::TYPE_1D, V::TYPE_1D_ARRAY],
                vk::ImageType::TYPE_3D => &[V::TYPE_3D, V::TYPE_2D, V::TYPE_2D_ARRAY],
                _ => &[V::TYPE_2D, V::TYPE_2D_ARRAY, V::CUBE, V::CUBE_ARRAY],
            };
            let found = view.declared.filter(|found| !allowed.contains(found))?;
            Some(format!(
                "images of type {image_type:?} allow views of type {allowed:?}, not {found:?}"
            ))
        },
    },
    Rule {
        rule: "VUID-VkFramebufferCreateInfo-flags-04113",
        broken: |view| {
            (view.access.kind.is_attached() && view.is_declared(&[V::TYPE_3D]))
                .then(|| "attachments cannot use views of type TYPE_3D: use TYPE_2D or TYPE_2D_ARRAY, whose layers are slices".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkFramebufferCreateInfo-pAttachments-00891",
        broken: |view| {
            let ImageDesc {
                format, image_type, ..
            } = *view.image.desc;
            let depth = !crate::format::aspects(format).contains(vk::ImageAspectFlags::COLOR);
            let solid = image_type == vk::ImageType::TYPE_3D;
            (depth && solid && view.access.kind.is_attached()).then(|| {
                format!("only slices of 3D color images can be attachments, but the format is {format:?}")
            })
        },
    },
    Rule {
        rule: "VUID-VkDescriptorImageInfo-imageView-06712",
        broken: |view| view.slices_in_shaders(V::TYPE_2D_ARRAY),
    },
    Rule {
        rule: "VUID-VkDescriptorImageInfo-imageView-07796",
        broken: |view| view.slices_in_shaders(V::TYPE_2D),
    },
    Rule {
        rule: "VUID-VkDescriptorImageInfo-imageView-07795",
        broken: |view| {
            let solid = view.image.desc.image_type == vk::ImageType::TYPE_3D;
            (solid && view.access.kind == AccessKind::InputAttachment)
                .then(|| "slices of 3D images cannot be input attachments".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-imageViewType-04973",
        broken: |view| {
            let single = view.is_declared(&[V::TYPE_1D, V::TYPE_2D, V::TYPE_3D]);
            (single && view.layers() != 1).then(|| {
                format!(
                    "views of type {:?} must have one layer, but this one has {}",
                    view.declared.unwrap_or_default(),
                    view.layers()
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-viewType-02960",
        broken: |view| {
            (view.is_declared(&[V::CUBE]) && view.layers() != 6).then(|| {
                format!(
                    "views of type CUBE must have 6 layers, but this one has {}",
                    view.layers()
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-viewType-02961",
        broken: |view| {
            (view.is_declared(&[V::CUBE_ARRAY]) && view.layers() % 6 != 0).then(|| {
                format!(
                    "views of type CUBE_ARRAY must have a multiple of 6 layers, but this one has {}",
                    view.layers()
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-image-04972",
        broken: |view| {
            let single = view.image.desc.samples == vk::SampleCountFlags::TYPE_1;
            (!single && view.is_declared(&CUBES))
                .then(|| "multisampled images cannot have cube views".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-image-01003",
        broken: |view| {
            let cube = view.image.desc.flags.contains(F::CUBE_COMPATIBLE);
            (!cube && view.is_declared(&CUBES))
                .then(|| "cube views need an image with the flag CUBE_COMPATIBLE".to_owned())
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-image-01761",
        broken: |view| {
            let (own, found) = (view.image.info?, view.info);
            let blocks = view.image.desc.flags.contains(F::BLOCK_TEXEL_VIEW_COMPATIBLE);
            let fits = found.is_some_and(|found| own.is_compatible_with(found));
            (!blocks && !fits).then(|| incompatible(own, view))
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-image-01583",
        broken: |view| {
            let own = view.image.info?;
            let of_size = |found: &FormatInfo| {
                !found.is_compressed()
                    && found.aspects == vk::ImageAspectFlags::COLOR
                    && found.block.bytes == own.block.bytes
            };
            let blocks = view.image.desc.flags.contains(F::BLOCK_TEXEL_VIEW_COMPATIBLE);
            let fits = view
                .info
                .is_some_and(|found| own.is_compatible_with(found) || of_size(found));
            (blocks && !fits).then(|| incompatible(own, view))
        },
    },
    Rule {
        rule: NOT_SUPPORTED,
        broken: |view| {
            crate::format::needs_conversion(view.format)
                .then(|| format!("view format {:?} needs a sampler Y'CbCr conversion", view.format))
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-image-07072",
        broken: |view| {
            (view.shows_blocks() && view.levels() != 1).then(|| {
                format!(
                    "uncompressed views of compressed images must have one level, but this one has {}",
                    view.levels()
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-image-02571",
        broken: |view| {
            let map = view
                .image
                .usage
                .contains(vk::ImageUsageFlags::FRAGMENT_DENSITY_MAP_EXT);
            (map && view.levels() != 1).then(|| {
                format!(
                    "views of fragment density maps must have one level, but this one has {}",
                    view.levels()
                )
            })
        },
    },
];

/// The problem of a view whose format is not compatible with that of its image.
fn incompatible(own: &FormatInfo, view: &View<'_>) -> String {
    let class = view.info.map_or("unknown", |found| found.class);
    format!(
        "format {:?} of class {} is not compatible with view format {:?} of class {class}",
        own.format, own.class, view.format
    )
}
