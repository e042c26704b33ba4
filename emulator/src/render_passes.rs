//! What is kept of a render pass object: its operations on attachments, and how large its pixels are.

use ash::vk;
use tileheap::ffi::TileMemorySizeInfoQCOM;
use tileheap::profile::texel_bytes;

use crate::chain::{elements, find};
use crate::resources::{Attachment, RenderPass, has_two_aspects, is_stencil_only};

/// The operations of an attachment as either structure has them.
struct Operations {
    format: vk::Format,
    load: vk::AttachmentLoadOp,
    store: vk::AttachmentStoreOp,
    stencil_load: vk::AttachmentLoadOp,
    stencil_store: vk::AttachmentStoreOp,
    initial: vk::ImageLayout,
}

/// # Safety
/// `info` is valid.
pub(crate) unsafe fn read(info: &vk::RenderPassCreateInfo<'_>) -> RenderPass {
    // SAFETY: The caller's promise.
    let descriptions = unsafe { elements(info.p_attachments, info.attachment_count) };
    // SAFETY: The caller's promise.
    let subpasses = unsafe { elements(info.p_subpasses, info.subpass_count) };
    let mut attachments: Vec<_> = descriptions
        .iter()
        .map(|description| {
            attachment(&Operations {
                format: description.format,
                load: description.load_op,
                store: description.store_op,
                stencil_load: description.stencil_load_op,
                stencil_store: description.stencil_store_op,
                initial: description.initial_layout,
            })
        })
        .collect();
    let bytes = |index: u32| {
        let description = descriptions.get(index as usize);
        description.map_or(0, |description| {
            pixel_bytes(description.format, description.samples)
        })
    };
    let mut subpass_bytes = Vec::new();
    for subpass in subpasses {
        // SAFETY: The caller's promise; null where there are none.
        let resolves = unsafe { elements(subpass.p_resolve_attachments, subpass.color_attachment_count) };
        for resolve in resolves {
            if let Some(attachment) = attachments.get_mut(resolve.attachment as usize) {
                attachment.is_resolve = true;
            }
        }
        // SAFETY: As above.
        let colors = unsafe { elements(subpass.p_color_attachments, subpass.color_attachment_count) };
        // SAFETY: As above.
        let depth = unsafe { subpass.p_depth_stencil_attachment.as_ref() };
        // SAFETY: As above.
        let inputs = unsafe { elements(subpass.p_input_attachments, subpass.input_attachment_count) };
        let used = colors.iter().chain(depth).chain(inputs);
        subpass_bytes.push(
            distinct(used.map(|reference| reference.attachment))
                .map(&bytes)
                .sum(),
        );
    }
    RenderPass {
        attachments,
        // SAFETY: The caller's promise.
        tile_size: unsafe { declared_size(info.p_next) },
        subpass_bytes,
    }
}

/// # Safety
/// `info` is valid.
pub(crate) unsafe fn read2(info: &vk::RenderPassCreateInfo2<'_>) -> RenderPass {
    // SAFETY: The caller's promise.
    let descriptions = unsafe { elements(info.p_attachments, info.attachment_count) };
    // SAFETY: The caller's promise.
    let subpasses = unsafe { elements(info.p_subpasses, info.subpass_count) };
    let mut attachments: Vec<_> = descriptions
        .iter()
        .map(|description| {
            attachment(&Operations {
                format: description.format,
                load: description.load_op,
                store: description.store_op,
                stencil_load: description.stencil_load_op,
                stencil_store: description.stencil_store_op,
                initial: description.initial_layout,
            })
        })
        .collect();
    let bytes = |index: u32| {
        let description = descriptions.get(index as usize);
        description.map_or(0, |description| {
            pixel_bytes(description.format, description.samples)
        })
    };
    let mut subpass_bytes = Vec::new();
    for subpass in subpasses {
        // SAFETY: The caller's promise; null where there are none.
        let resolves = unsafe { elements(subpass.p_resolve_attachments, subpass.color_attachment_count) };
        // SAFETY: The caller's promise.
        let depth_resolve = unsafe { find::<vk::SubpassDescriptionDepthStencilResolve<'_>>(subpass.p_next) };
        // SAFETY: As above.
        let depth_resolve =
            depth_resolve.and_then(|resolve| unsafe { resolve.p_depth_stencil_resolve_attachment.as_ref() });
        for resolve in resolves.iter().chain(depth_resolve) {
            if let Some(attachment) = attachments.get_mut(resolve.attachment as usize) {
                attachment.is_resolve = true;
            }
        }
        // SAFETY: As above.
        let colors = unsafe { elements(subpass.p_color_attachments, subpass.color_attachment_count) };
        // SAFETY: As above.
        let depth = unsafe { subpass.p_depth_stencil_attachment.as_ref() };
        // SAFETY: As above.
        let inputs = unsafe { elements(subpass.p_input_attachments, subpass.input_attachment_count) };
        let used = colors.iter().chain(depth).chain(inputs);
        subpass_bytes.push(
            distinct(used.map(|reference| reference.attachment))
                .map(&bytes)
                .sum(),
        );
    }
    RenderPass {
        attachments,
        // SAFETY: The caller's promise.
        tile_size: unsafe { declared_size(info.p_next) },
        subpass_bytes,
    }
}

/// Each attachment once: one that is also read as input has one place in the tile.
fn distinct(attachments: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    let mut attachments: Vec<u32> = attachments.collect();
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

fn attachment(operations: &Operations) -> Attachment {
    let depth = (operations.load, operations.store);
    let stencil = (operations.stencil_load, operations.stencil_store);
    let (first, second) = if has_two_aspects(operations.format) {
        (depth, stencil)
    } else if is_stencil_only(operations.format) {
        (stencil, stencil)
    } else {
        (depth, depth)
    };
    Attachment {
        load: first.0,
        store: first.1,
        stencil_load: second.0,
        stencil_store: second.1,
        from_undefined: operations.initial == vk::ImageLayout::UNDEFINED,
        is_resolve: false,
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
        let mut operations = Operations {
            format: vk::Format::R8G8B8A8_UNORM,
            load: vk::AttachmentLoadOp::LOAD,
            store: vk::AttachmentStoreOp::STORE,
            stencil_load: vk::AttachmentLoadOp::DONT_CARE,
            stencil_store: vk::AttachmentStoreOp::DONT_CARE,
            initial: vk::ImageLayout::GENERAL,
        };
        assert_eq!(
            attachment(&operations).stencil_store,
            vk::AttachmentStoreOp::STORE
        );
        operations.format = vk::Format::D24_UNORM_S8_UINT;
        assert_eq!(
            attachment(&operations).stencil_store,
            vk::AttachmentStoreOp::DONT_CARE
        );
        operations.format = vk::Format::S8_UINT;
        assert_eq!(attachment(&operations).store, vk::AttachmentStoreOp::DONT_CARE);
    }
}
