//! Reads render pass create infos: operations on attachments, and bytes per pixel.

use ash::vk;
use tileheap_device::ffi::TileMemorySizeInfoQCOM;
use tileheap_device::profile::texel_bytes;

use tileheap_layer::arrays::elements;
use tileheap_layer::chain::find;

use super::order::log::{Change, Dependency, Memory};
use super::resources::{Attachment, RenderPass, has_two_aspects, is_only_read, is_stencil_only};
use super::tile_passes::is_tile_shading;

/// An attachment as either kind of render pass describes it.
struct Description {
    format: vk::Format,
    samples: vk::SampleCountFlags,
    load: vk::AttachmentLoadOp,
    store: vk::AttachmentStoreOp,
    stencil_load: vk::AttachmentLoadOp,
    stencil_store: vk::AttachmentStoreOp,
    initial: vk::ImageLayout,
}

/// The attachments of a subpass, by index.
struct Subpass {
    used: Vec<u32>,
    resolved: Vec<u32>,
    /// Attachments, and whether it writes them.
    writes: Vec<(u32, bool)>,
}

/// A [`Description`] of `VkAttachmentDescription` and its successor, which have the same fields.
macro_rules! description {
    ($description:expr) => {
        Description {
            format: $description.format,
            samples: $description.samples,
            load: $description.load_op,
            store: $description.store_op,
            stencil_load: $description.stencil_load_op,
            stencil_store: $description.stencil_store_op,
            initial: $description.initial_layout,
        }
    };
}

/// A [`Subpass`] of `VkSubpassDescription` and its successor.
macro_rules! subpass {
    ($subpass:expr) => {{
        let subpass = $subpass;
        // SAFETY: The structure is valid, by the macro user's promise; so in each line.
        let colors = unsafe { elements(subpass.p_color_attachments, subpass.color_attachment_count) };
        // SAFETY: As above.
        let depth = unsafe { subpass.p_depth_stencil_attachment.as_ref() };
        // SAFETY: As above.
        let inputs = unsafe { elements(subpass.p_input_attachments, subpass.input_attachment_count) };
        // SAFETY: As above; null where there are none.
        let resolves = unsafe { elements(subpass.p_resolve_attachments, subpass.color_attachment_count) };
        let used = colors.iter().chain(depth).chain(inputs);
        let writes = colors.iter().map(|color| (color.attachment, true));
        let writes = writes.chain(depth.map(|depth| (depth.attachment, !is_only_read(depth.layout))));
        let writes = writes.chain(inputs.iter().map(|input| (input.attachment, false)));
        Subpass {
            writes: writes.filter(|one| one.0 != vk::ATTACHMENT_UNUSED).collect(),
            used: used.map(|reference| reference.attachment).collect(),
            resolved: resolves.iter().map(|reference| reference.attachment).collect(),
        }
    }};
}

/// The [`Dependency`] of `VkSubpassDependency` and its successor, with its subpasses.
macro_rules! dependency {
    ($one:expr) => {
        (
            $one.src_subpass,
            $one.dst_subpass,
            Dependency {
                src: vk::PipelineStageFlags2::from_raw($one.src_stage_mask.as_raw().into()),
                src_access: vk::AccessFlags2::from_raw($one.src_access_mask.as_raw().into()),
                dst: vk::PipelineStageFlags2::from_raw($one.dst_stage_mask.as_raw().into()),
                dst_access: vk::AccessFlags2::from_raw($one.dst_access_mask.as_raw().into()),
                memory: Memory::All,
                change: Change::None,
            },
        )
    };
}

/// A [`RenderPass`] of `VkRenderPassCreateInfo` and its successor.
macro_rules! render_pass {
    ($info:ident, $subpass:expr, $dependency:expr) => {{
        // SAFETY: The structure is valid, by the macro user's promise; so in each line.
        let descriptions = unsafe { elements($info.p_attachments, $info.attachment_count) };
        let descriptions: Vec<_> = descriptions.iter().map(|this| description!(this)).collect();
        // SAFETY: As above.
        let subpasses = unsafe { elements($info.p_subpasses, $info.subpass_count) };
        let subpasses: Vec<_> = subpasses.iter().map($subpass).collect();
        // SAFETY: As above.
        let dependencies = unsafe { elements($info.p_dependencies, $info.dependency_count) };
        let dependencies = dependencies.iter().map($dependency).collect();
        // SAFETY: As above.
        let (size, is_tile) = unsafe { (declared_size($info.p_next), is_tile_shading($info.p_next)) };
        RenderPass {
            is_tile_shading: is_tile,
            ..render_pass(&descriptions, &subpasses, dependencies, size)
        }
    }};
}

/// # Safety
/// `info` is valid.
pub(crate) unsafe fn read(info: &vk::RenderPassCreateInfo<'_>) -> RenderPass {
    render_pass!(info, |description| subpass!(description), |one| dependency!(one))
}

/// # Safety
/// `info` is valid.
pub(crate) unsafe fn read2(info: &vk::RenderPassCreateInfo2<'_>) -> RenderPass {
    render_pass!(
        info,
        |description: &vk::SubpassDescription2<'_>| {
            let mut subpass = subpass!(description);
            // SAFETY: The caller's promise.
            let resolve =
                unsafe { find::<vk::SubpassDescriptionDepthStencilResolve<'_>>(description.p_next) };
            // SAFETY: As above; null where there is none.
            let resolve =
                resolve.and_then(|resolve| unsafe { resolve.p_depth_stencil_resolve_attachment.as_ref() });
            let resolved = resolve.map(|reference| reference.attachment);
            subpass.resolved.extend(resolved);
            subpass
        },
        |one: &vk::SubpassDependency2<'_>| {
            let (from, to, mut all) = dependency!(one);
            // SAFETY: The caller's promise.
            if let Some(barrier) = unsafe { find::<vk::MemoryBarrier2<'_>>(one.p_next) } {
                (all.src, all.src_access) = (barrier.src_stage_mask, barrier.src_access_mask);
                (all.dst, all.dst_access) = (barrier.dst_stage_mask, barrier.dst_access_mask);
            }
            (from, to, all)
        }
    )
}

fn render_pass(
    descriptions: &[Description],
    subpasses: &[Subpass],
    dependencies: Vec<(u32, u32, Dependency)>,
    tile_size: u64,
) -> RenderPass {
    let is_resolve = |index: usize| {
        let mut resolved = subpasses.iter().flat_map(|subpass| &subpass.resolved);
        resolved.any(|resolved| *resolved as usize == index)
    };
    let attachments = descriptions.iter().enumerate();
    let is_written = |index: usize| {
        let mut uses = subpasses.iter().flat_map(|subpass| &subpass.writes);
        uses.any(|(attachment, writes)| *writes && *attachment as usize == index)
    };
    let attachments = attachments.map(|(index, description)| Attachment {
        only_read: !is_written(index) && !is_resolve(index),
        ..attachment(description, is_resolve(index))
    });
    let bytes = |index: u32| {
        let description = descriptions.get(index as usize);
        description.map_or(0, |description| {
            pixel_bytes(description.format, description.samples)
        })
    };
    let subpass_bytes = |subpass: &Subpass| distinct(&subpass.used).map(bytes).sum();
    RenderPass {
        attachments: attachments.collect(),
        tile_size,
        subpass_bytes: subpasses.iter().map(subpass_bytes).collect(),
        subpasses: subpasses.iter().map(|subpass| subpass.writes.clone()).collect(),
        dependencies,
        is_tile_shading: false,
        again: None,
    }
}

/// Each attachment once: one that is also read as input has one place in the tile.
fn distinct(attachments: &[u32]) -> impl Iterator<Item = u32> {
    let mut attachments = attachments.to_vec();
    attachments.sort_unstable();
    attachments.dedup();
    attachments.into_iter()
}

/// # Safety
/// `p_next` is a valid chain.
pub(crate) unsafe fn declared_size(p_next: *const std::ffi::c_void) -> u64 {
    // SAFETY: The caller's promise.
    unsafe { find::<TileMemorySizeInfoQCOM<'_>>(p_next) }.map_or(0, |info| info.size)
}

fn has_depth_or_stencil(format: vk::Format) -> bool {
    // D16_UNORM, X8_D24, D32, S8 and the combined ones have consecutive numbers.
    (vk::Format::D16_UNORM.as_raw()..=vk::Format::D32_SFLOAT_S8_UINT.as_raw()).contains(&format.as_raw())
}

fn attachment(description: &Description, is_resolve: bool) -> Attachment {
    let depth = (description.load, description.store);
    let stencil = (description.stencil_load, description.stencil_store);
    let (first, second) = if has_two_aspects(description.format) {
        (depth, stencil)
    } else if is_stencil_only(description.format) {
        (stencil, stencil)
    } else {
        (depth, depth)
    };
    Attachment {
        load: first.0,
        store: first.1,
        stencil_load: second.0,
        stencil_store: second.1,
        from_undefined: description.initial == vk::ImageLayout::UNDEFINED,
        is_resolve,
        is_depth: has_depth_or_stencil(description.format),
        only_read: false,
    }
}

/// Bytes of a pixel on chip, all samples.
pub(crate) fn pixel_bytes(format: vk::Format, samples: vk::SampleCountFlags) -> u64 {
    texel_bytes(format).unwrap_or(4) * u64::from(samples.as_raw().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_absent_aspects_do_not_count() {
        let mut description = Description {
            format: vk::Format::R8G8B8A8_UNORM,
            samples: vk::SampleCountFlags::TYPE_1,
            load: vk::AttachmentLoadOp::LOAD,
            store: vk::AttachmentStoreOp::STORE,
            stencil_load: vk::AttachmentLoadOp::DONT_CARE,
            stencil_store: vk::AttachmentStoreOp::DONT_CARE,
            initial: vk::ImageLayout::GENERAL,
        };
        let (kept, dropped) = (vk::AttachmentStoreOp::STORE, vk::AttachmentStoreOp::DONT_CARE);
        assert_eq!(attachment(&description, false).stencil_store, kept);
        description.format = vk::Format::D24_UNORM_S8_UINT;
        assert_eq!(attachment(&description, false).stencil_store, dropped);
        description.format = vk::Format::S8_UINT;
        assert_eq!(attachment(&description, false).store, dropped);
    }

    #[test]
    fn both_kinds_of_render_pass_say_the_same() {
        let (format, samples) = (vk::Format::R8G8B8A8_UNORM, vk::SampleCountFlags::TYPE_4);
        let description = vk::AttachmentDescription::default()
            .format(format)
            .samples(samples);
        let description2 = vk::AttachmentDescription2::default()
            .format(format)
            .samples(samples);
        let reference = |attachment| vk::AttachmentReference::default().attachment(attachment);
        let reference2 = |attachment| vk::AttachmentReference2::default().attachment(attachment);
        let (color, resolve, input) = ([reference(0)], [reference(1)], [reference(0)]);
        let subpasses = [vk::SubpassDescription::default()
            .color_attachments(&color)
            .resolve_attachments(&resolve)
            .input_attachments(&input)];
        let (color2, resolve2, input2) = ([reference2(0)], [reference2(1)], [reference2(0)]);
        let depth = reference2(2);
        let mut depth =
            vk::SubpassDescriptionDepthStencilResolve::default().depth_stencil_resolve_attachment(&depth);
        let subpass2 = vk::SubpassDescription2::default()
            .color_attachments(&color2)
            .resolve_attachments(&resolve2)
            .input_attachments(&input2);
        let (descriptions, descriptions2) = ([description; 3], [description2; 3]);
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&descriptions)
            .subpasses(&subpasses);
        let subpasses2 = [subpass2];
        let info2 = vk::RenderPassCreateInfo2::default()
            .attachments(&descriptions2)
            .subpasses(&subpasses2);
        // SAFETY: A valid structure.
        let one = unsafe { read(&info) };
        // SAFETY: As above.
        let other = unsafe { read2(&info2) };
        assert_eq!(
            (&one.attachments, &one.subpass_bytes),
            (&other.attachments, &other.subpass_bytes)
        );
        assert_eq!(
            one.subpass_bytes,
            [16],
            "four samples of one attachment, which is input, too"
        );
        let resolves = |pass: &RenderPass| {
            pass.attachments
                .iter()
                .map(|this| this.is_resolve)
                .collect::<Vec<_>>()
        };
        assert_eq!(resolves(&one), [false, true, false]);
        let subpasses2 = [subpass2.push_next(&mut depth)];
        let info2 = vk::RenderPassCreateInfo2::default()
            .attachments(&descriptions2)
            .subpasses(&subpasses2);
        // SAFETY: As above.
        assert_eq!(resolves(&unsafe { read2(&info2) }), [false, true, true]);
    }
}
