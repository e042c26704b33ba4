//! Descriptions of resources: the program's name (`hdr`) or the kind of image, with format, extent and the pass that writes it.

use ash::vk;
use tileheap::format;
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{Frame, PassId, ResourceId};

/// The pass and the resource with these indices in a document.
pub(super) fn at(frame: &Frame, pass: u32, resource: u32) -> Option<(PassId, ResourceId)> {
    let pass = frame.pass_ids().nth(pass as usize)?;
    Some((pass, frame.resource_ids().nth(resource as usize)?))
}

/// Describes a resource: `HDR color, R16G16B16A16, 1920x1080, from `render 14``; a name given by the program replaces the kind.
pub(super) fn described(frame: &Frame, id: ResourceId) -> String {
    let resource = frame.resource(id);
    let numbered = ["image ", "buffer ", "swapchain image "].into_iter().any(|kind| {
        let number = resource.name.strip_prefix(kind);
        number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
    });
    let name = if numbered {
        kind(frame, id)
    } else {
        format!("`{}`", resource.name)
    };
    let mut parts = vec![name];
    if let ResourceKind::Image { desc, extent, .. } = &resource.kind {
        parts.push(short_format(desc.format));
        parts.push(format!("{}x{}", extent.width, extent.height));
        for (count, one) in [
            (extent.depth, "slices"),
            (desc.array_layers, "layers"),
            (desc.mip_levels, "levels"),
            (desc.samples.as_raw(), "samples"),
        ] {
            if count > 1 {
                parts.push(format!("{count} {one}"));
            }
        }
    }
    let mut writes = frame.accesses_to(id).filter(|access| access.writes);
    if let Some(first) = writes.next() {
        parts.push(format!("from `{}`", frame.pass(first.pass).name));
    }
    parts.join(", ")
}

/// The kind of a resource, by its format and usages.
fn kind(frame: &Frame, id: ResourceId) -> String {
    use vk::{BufferUsageFlags as B, ImageUsageFlags as U};
    let resource = frame.resource(id);
    let kind = match &resource.kind {
        ResourceKind::Image { desc, .. } => {
            let aspects = format::aspects(desc.format);
            let is_attached = desc.usage.contains(U::COLOR_ATTACHMENT);
            if resource.name.starts_with("swapchain") {
                "presented image"
            } else if aspects.contains(vk::ImageAspectFlags::DEPTH) {
                "depth"
            } else if aspects.contains(vk::ImageAspectFlags::STENCIL) {
                "stencil"
            } else if is_attached && is_hdr(desc.format) {
                "HDR color"
            } else if is_attached {
                "color"
            } else if desc.usage.contains(U::STORAGE) {
                "storage image"
            } else {
                "texture"
            }
        }
        ResourceKind::Buffer { desc, .. } => {
            let kinds = [
                (B::INDIRECT_BUFFER, "indirect buffer"),
                (B::INDEX_BUFFER, "index buffer"),
                (B::VERTEX_BUFFER, "vertex buffer"),
                (B::STORAGE_BUFFER, "storage buffer"),
                (B::UNIFORM_BUFFER, "uniform buffer"),
            ];
            let kind = kinds.into_iter().find(|(usage, _)| desc.usage.contains(*usage));
            let kind = kind.map_or("buffer", |(_, kind)| kind);
            return format!("{kind} (`{}`)", resource.name);
        }
    };
    format!("{kind} (`{}`)", resource.name)
}

fn is_hdr(format: vk::Format) -> bool {
    let name = format!("{format:?}");
    name.contains("FLOAT") && (name.starts_with("R16") || name.starts_with("R32") || name.starts_with("B10"))
        || name.starts_with("E5B9")
}

/// A format without its numeric type, unless that is sRGB: `R16G16B16A16`, `D24S8`, `R8G8B8A8 sRGB`.
pub(super) fn short_format(format: vk::Format) -> String {
    let name = format!("{format:?}");
    let is_channels = |part: &&str| {
        let mut letters = part.chars();
        let starts = letters.next().is_some_and(|first| "RGBADSXE".contains(first));
        starts && letters.next().is_some_and(|second| second.is_ascii_digit())
    };
    let channels: String = name.split('_').filter(is_channels).collect();
    match channels.is_empty() {
        true => name,
        false if name.contains("SRGB") => format!("{channels} sRGB"),
        false => channels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_named_by_their_channels() {
        for (format, expected) in [
            (vk::Format::R16G16B16A16_SFLOAT, "R16G16B16A16"),
            (vk::Format::D32_SFLOAT, "D32"),
            (vk::Format::D24_UNORM_S8_UINT, "D24S8"),
            (vk::Format::B8G8R8A8_SRGB, "B8G8R8A8 sRGB"),
            (vk::Format::B10G11R11_UFLOAT_PACK32, "B10G11R11"),
            (vk::Format::ASTC_4X4_UNORM_BLOCK, "ASTC_4X4_UNORM_BLOCK"),
        ] {
            assert_eq!(short_format(format), expected);
        }
    }
}
