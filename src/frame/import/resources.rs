//! Resources of a loose description.

use ash::vk;

use super::ImportError;
use super::document::{Resource, Scale};
use super::formats::{FormatReading, parse_format};
use super::passes::Interpreted;
use super::uses::{Use, accepted_uses, parse_use};
use crate::format::{aspects, texel_block};
use crate::frame::external::ExternalDesc;
use crate::frame::tables::Access;
use crate::frame::{BufferDesc, Extent, FrameBuilder, ImageDesc, Persistence};
use crate::names;
use crate::units::Bytes;

/// Declares resource `index` of the file.
pub(super) fn declare(
    frame: &mut FrameBuilder,
    resource: &Resource,
    index: usize,
    passes: &Interpreted,
    notes: &mut Vec<String>,
) -> Result<(), ImportError> {
    let fault = |problem: String| ImportError::of_resource(&resource.name, problem);
    if resource.imported && resource.history {
        return Err(fault(
            "is both `imported` and `history`: remove `history`, since the caller keeps the contents of imported resources".to_owned(),
        ));
    }
    if passes.presented[index] && !resource.imported {
        return Err(fault("is presented, so it must be `imported`".to_owned()));
    }
    let is_image = passes.is_image[index];
    if is_image {
        let desc = image_desc(resource, passes.used_as_depth[index], notes).map_err(fault)?;
        let depth = !aspects(desc.format).contains(vk::ImageAspectFlags::COLOR);
        let persistence = persistence(resource, || {
            external_image(&desc, depth, &passes.by_resource[index])
        });
        frame.resource(&*resource.name, desc, persistence);
    } else {
        let desc = buffer_desc(resource).map_err(fault)?;
        let persistence = persistence(resource, || ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED));
        frame.resource(&*resource.name, desc, persistence);
    }
    Ok(())
}

fn persistence(resource: &Resource, external: impl FnOnce() -> ExternalDesc) -> Persistence {
    match (resource.imported, resource.history) {
        (true, _) => Persistence::External(external()),
        (false, true) => Persistence::History,
        (false, false) => Persistence::Transient,
    }
}

/// Entry and exit state of an imported image. A color image with one sample and one layer that no pass reads has those of a swapchain image. If the first
/// access needs contents, its layout is used for both; otherwise contents are undefined on entry, and the exit layout is that of the last access. An unused
/// image is in `GENERAL`.
fn external_image(desc: &ImageDesc, depth: bool, accesses: &[Access]) -> ExternalDesc {
    let layout = |access: &Access| access.kind.layout(depth, access.writes);
    let (Some(first), Some(last)) = (accesses.first(), accesses.last()) else {
        return ExternalDesc::in_layout(vk::ImageLayout::GENERAL);
    };
    let plain = desc.samples == vk::SampleCountFlags::TYPE_1 && desc.array_layers == 1;
    if plain && !depth && !accesses.iter().any(|access| access.reads) {
        return ExternalDesc::SWAPCHAIN;
    }
    if first.needs_contents() {
        return ExternalDesc::in_layout(layout(first));
    }
    let mut external = ExternalDesc::in_layout(layout(last));
    external.entry.layout = vk::ImageLayout::UNDEFINED;
    external
}

fn image_desc(
    resource: &Resource,
    used_as_depth: bool,
    notes: &mut Vec<String>,
) -> Result<ImageDesc, String> {
    let name = &resource.name;
    let bytes = resource.bytes_per_texel.unwrap_or(0);
    let unread = match resource.format.trim() {
        "" => "no format is given".to_owned(),
        name => format!("format `{}` is not known", names::shortened(name)),
    };
    let format = match parse_format(&resource.format, bytes, used_as_depth) {
        Some(FormatReading::Named(format)) => format,
        Some(FormatReading::Guessed(format)) => {
            notes.push(format!(
                "resource `{name}`: {unread}: {} is assumed, because `bytes_per_texel` is {bytes}",
                names::name_of(format)
            ));
            format
        }
        None => {
            return Err(match bytes {
                0 => format!(
                    "{unread}: name a Vulkan format, or add `bytes_per_texel`, from which a format is chosen"
                ),
                _ => format!(
                    "{unread}, and none is assumed for `bytes_per_texel` = {bytes}: name a Vulkan format"
                ),
            });
        }
    };
    let block = texel_block(format).filter(|block| (block.width, block.height) == (1, 1));
    if let Some(block) = block.filter(|block| bytes != 0 && bytes != block.bytes) {
        notes.push(format!(
            "resource `{name}`: `bytes_per_texel` is {bytes}, but that of {} is {}",
            names::name_of(format),
            block.bytes
        ));
    }
    let (extent, image_type) = match (resource.extent.as_deref(), resource.extent_scale) {
        (Some(&[width, height]), None) => (
            Extent::from(vk::Extent2D { width, height }),
            vk::ImageType::TYPE_2D,
        ),
        (Some(&[width, height, depth]), None) => {
            let image_type = if depth > 1 {
                vk::ImageType::TYPE_3D
            } else {
                vk::ImageType::TYPE_2D
            };
            (Extent::from(vk::Extent3D { width, height, depth }), image_type)
        }
        (Some(_), None) => return Err("must have 2 or 3 numbers in `extent`".to_owned()),
        (None, Some(Scale::Both(by))) => (Extent::Scaled([by, by]), vk::ImageType::TYPE_2D),
        (None, Some(Scale::Each(by))) => (Extent::Scaled(by), vk::ImageType::TYPE_2D),
        (None, None) => return Err("is an image with neither `extent` nor `extent_scale`".to_owned()),
        (Some(_), Some(_)) => return Err("has both `extent` and `extent_scale`".to_owned()),
    };
    if resource.samples.count_ones() != 1 || resource.samples > 64 {
        return Err(format!(
            "must have 1, 2, 4, 8, 16, 32 or 64 samples, but has {}",
            resource.samples
        ));
    }
    let depth = !aspects(format).contains(vk::ImageAspectFlags::COLOR);
    let usage = |word: &str| match parse_use(word, true, None) {
        Some(Use::Access(kind) | Use::ReadOnly(kind)) => Some(kind.image_usage(depth)),
        Some(Use::Present) => Some(vk::ImageUsageFlags::empty()),
        None => names::exact(word),
    };
    Ok(ImageDesc {
        image_type,
        mip_levels: resource.mips,
        array_layers: resource.layers,
        samples: vk::SampleCountFlags::from_raw(resource.samples),
        usage: declared_usage(resource, usage)?,
        ..ImageDesc::new(format, extent)
    })
}

fn buffer_desc(resource: &Resource) -> Result<BufferDesc, String> {
    let Some(size) = resource.size_bytes else {
        return Err("is a buffer without `size_bytes`".to_owned());
    };
    let usage = |word: &str| match parse_use(word, false, None) {
        Some(Use::Access(kind) | Use::ReadOnly(kind)) => Some(kind.buffer_usage()),
        Some(Use::Present) => None,
        None => names::exact(word),
    };
    Ok(BufferDesc {
        usage: declared_usage(resource, usage)?,
        lists: resource.lists,
        ..BufferDesc::new(Bytes(size))
    })
}

fn declared_usage<Flags: Default + std::ops::BitOrAssign>(
    resource: &Resource,
    usage: impl Fn(&str) -> Option<Flags>,
) -> Result<Flags, String> {
    let mut flags = Flags::default();
    for word in &resource.usage {
        flags |= usage(word).ok_or_else(|| {
            let is_image = resource.is_image().unwrap_or_default();
            let (word, uses) = (names::shortened(word), accepted_uses(word, is_image));
            format!("usage `{word}` is not known{uses}")
        })?;
    }
    Ok(flags)
}
