//! Stores: passes that copy a resource from tile memory to ordinary memory, recorded by the runtime.

use ash::vk;

use super::tables::Tables;
use super::tables::{Access, CommandSource, HistoryVersion, Pass, PassKind, Resource, ResourceKind};
use super::{AccessKind, LoadOp, Persistence};
use crate::format::{FormatInfo, NumericType};
use crate::units::Bytes;

/// The pass that stores a resource: its kind, the kinds of its two accesses, and the queue capabilities that it needs.
#[derive(Clone, Copy)]
pub(super) struct Store {
    pub(super) kind: PassKind,
    pub(super) reads: AccessKind,
    pub(super) writes: AccessKind,
    pub(super) needs: vk::QueueFlags,
}

/// Numeric type in which a shader reads and writes a format's texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texels {
    /// `vec4`.
    Float,
    /// `ivec4`.
    Int,
    /// `uvec4`.
    Uint,
    /// One `float`, written as depth.
    Depth,
}

/// Numeric type of a format's texels in shaders, or the reason why a shader cannot copy them bit for bit.
///
/// # Errors
/// The reason, as text.
pub(crate) fn texels_of(format: vk::Format) -> Result<Texels, &'static str> {
    let aspects = crate::format::aspects(format);
    if aspects.contains(vk::ImageAspectFlags::STENCIL) {
        return Err("not every device lets shaders write stencil (VK_EXT_shader_stencil_export)");
    }
    if aspects.contains(vk::ImageAspectFlags::DEPTH) {
        // A 32-bit float is too imprecise for the products of 24-bit depth with 2^24 - 1 to be exact.
        return match format {
            vk::Format::X8_D24_UNORM_PACK32 => Err("a float does not preserve 24-bit depth"),
            _ => Ok(Texels::Depth),
        };
    }
    let drawn_into = |info: &&FormatInfo| {
        let others = [vk::Format::E5B9G9R9_UFLOAT_PACK32, vk::Format::R16G16_S10_5_NV];
        !info.is_compressed() && !info.scaled && !others.contains(&info.format)
    };
    match crate::format::info(format).filter(drawn_into) {
        None => Err("its format cannot be drawn into"),
        Some(info) if info.srgb => Err("the conversion of sRGB to linear and back rounds"),
        Some(info) => Ok(match info.numeric {
            NumericType::Uint => Texels::Uint,
            NumericType::Int => Texels::Int,
            NumericType::Float => Texels::Float,
        }),
    }
}

/// The pass that stores a resource, or the reason why the resource cannot be stored.
pub(super) fn store_of(resource: &Resource) -> Result<Store, &'static str> {
    match &resource.kind {
        ResourceKind::Image { desc, usage, .. } => {
            if desc.samples != vk::SampleCountFlags::TYPE_1 {
                return Err("it is multisampled");
            }
            if (desc.mip_levels, desc.array_layers) != (1, 1) || desc.image_type != vk::ImageType::TYPE_2D {
                return Err("it is not a 2D image of one level and one layer");
            }
            let (writes, attachment) = match texels_of(desc.format)? {
                Texels::Depth => (
                    AccessKind::DepthStencilAttachment,
                    vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
                ),
                _ => (AccessKind::ColorAttachment, vk::ImageUsageFlags::COLOR_ATTACHMENT),
            };
            // Both parts are created like the whole that was measured.
            if !usage.contains(attachment | vk::ImageUsageFlags::SAMPLED) {
                return Err(
                    "a store needs it as a sampled image and an attachment, but its passes do not use it as both",
                );
            }
            Ok(Store {
                kind: PassKind::Render,
                reads: AccessKind::SampledImage,
                writes,
                needs: vk::QueueFlags::GRAPHICS,
            })
        }
        ResourceKind::Buffer { desc, usage } => {
            if !usage.contains(vk::BufferUsageFlags::STORAGE_BUFFER) {
                return Err("a store needs it as a storage buffer, but no pass uses it as one");
            }
            if desc.size.0 % 4 != 0 {
                return Err("its size is not a multiple of 4 bytes");
            }
            Ok(Store {
                kind: PassKind::Compute,
                reads: AccessKind::StorageBuffer,
                writes: AccessKind::StorageBuffer,
                needs: vk::QueueFlags::COMPUTE,
            })
        }
    }
}

/// Checks that a copied area is inside both the image that is read, at its offset, and the image that is written.
fn check_border(pass: &Pass, extents: [vk::Extent3D; 2], [x, y]: [i32; 2]) -> Result<(), &'static str> {
    let area = pass
        .render_area
        .ok_or("a copy at the border of a strip needs a render area")?;
    let [source, target] = extents;
    let is_within = |first: i32, moved: i32, length: u32, limit: u32| {
        let first = i64::from(first) + i64::from(moved);
        first >= 0 && first + i64::from(length) <= i64::from(limit)
    };
    let vk::Rect2D { offset, extent } = area;
    let fits = is_within(offset.x, x, extent.width, source.width)
        && is_within(offset.y, y, extent.height, source.height)
        && is_within(offset.x, 0, extent.width, target.width)
        && is_within(offset.y, 0, extent.height, target.height);
    match fits {
        true => Ok(()),
        false => Err("the copied area is not inside both images"),
    }
}

/// The resource with the usage that a store needs.
pub(crate) fn with_usage_of_stores(resource: &Resource) -> Resource {
    let mut used = resource.clone();
    let depth = !used.aspects().contains(vk::ImageAspectFlags::COLOR);
    let written = if depth {
        AccessKind::DepthStencilAttachment
    } else {
        AccessKind::ColorAttachment
    };
    match &mut used.kind {
        ResourceKind::Image { usage, .. } => {
            *usage |= vk::ImageUsageFlags::SAMPLED | written.image_usage(depth);
        }
        ResourceKind::Buffer { usage, .. } => *usage |= vk::BufferUsageFlags::STORAGE_BUFFER,
    }
    used
}

/// The pass that copies a part of an image into another image of the same format, or the reason why the image cannot be copied.
#[cfg(feature = "arrange")]
pub(super) fn border_of(resource: &Resource) -> Result<Store, &'static str> {
    match resource.is_image() {
        true => store_of(&with_usage_of_stores(resource)),
        false => Err("only images are divided into strips"),
    }
}

/// Checks a pass that the runtime would record; the error says why it cannot be recorded.
pub(super) fn check_store(tables: &Tables, pass: &Pass, accesses: &[Access]) -> Result<(), &'static str> {
    let is_border = matches!(pass.contents, CommandSource::Border { .. });
    let [from, to] = accesses else {
        return Err("a store must have exactly two accesses");
    };
    let resource = |access: &Access| &tables.resources[access.resource.index()];
    let reads = from.reads && !from.writes && from.version == HistoryVersion::Current;
    let writes = to.writes && !to.reads && to.load_op == LoadOp::DontCare;
    if !reads || !writes || from.resource == to.resource {
        return Err("a store must read one resource and then overwrite another one");
    }
    let is_transient = |access: &Access| resource(access).persistence == Persistence::Transient;
    if is_border && !(is_transient(from) || is_transient(to)) {
        return Err("a copy at the border of a strip needs a transient image");
    }
    if !is_border && !is_transient(from) {
        return Err("the source of a store must be transient");
    }
    if !resource(to).is_image() && matches!(resource(to).persistence, Persistence::External(_)) {
        return Err(
            "the target of a store cannot be an external buffer, which is only known once its frame begins",
        );
    }
    let shape = |resource: &Resource| match resource.kind {
        ResourceKind::Image { desc, extent, .. } => (desc.format, extent, Bytes::ZERO),
        ResourceKind::Buffer { desc, .. } => (vk::Format::UNDEFINED, vk::Extent3D::default(), desc.size),
    };
    let ((format, ..), (other_format, ..)) = (shape(resource(from)), shape(resource(to)));
    if is_border && (format, resource(from).is_image()) != (other_format, true) {
        return Err("a copy at the border of a strip needs two images of the same format");
    }
    if let CommandSource::Border { x, y } = pass.contents {
        check_border(pass, [shape(resource(from)).1, shape(resource(to)).1], [x, y])?;
    }
    if !is_border && shape(resource(from)) != shape(resource(to)) {
        return Err("the resources of a store differ in format or size");
    }
    // The usage of the accesses themselves is already present.
    let store = store_of(&with_usage_of_stores(resource(from)))?;
    store_of(&with_usage_of_stores(resource(to)))?;
    if (pass.kind, from.kind, to.kind) != (store.kind, store.reads, store.writes) {
        return Err("a store must sample an image and draw, or be a compute pass with two storage buffers");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_would_change_are_not_stored() {
        use vk::Format as F;
        assert_eq!(texels_of(F::R8G8B8A8_UNORM), Ok(Texels::Float));
        assert_eq!(texels_of(F::B10G11R11_UFLOAT_PACK32), Ok(Texels::Float));
        assert_eq!(texels_of(F::R16G16_UINT), Ok(Texels::Uint));
        assert_eq!(texels_of(F::R32_SINT), Ok(Texels::Int));
        assert_eq!(texels_of(F::D32_SFLOAT), Ok(Texels::Depth));
        assert_eq!(texels_of(F::D16_UNORM), Ok(Texels::Depth));
        for format in [
            F::D24_UNORM_S8_UINT,
            F::X8_D24_UNORM_PACK32,
            F::R8G8B8A8_SRGB,
            F::BC1_RGB_UNORM_BLOCK,
            F::E5B9G9R9_UFLOAT_PACK32,
            F::R8_USCALED,
            F::G8_B8_R8_3PLANE_420_UNORM,
            F::UNDEFINED,
        ] {
            assert!(texels_of(format).is_err(), "{format:?}");
        }
    }
}
