//! Layouts of images with depth and stencil: for one aspect, and for both.

use ash::vk;

/// The layout of one aspect of an image with depth and stencil that is in `layout`.
pub(super) fn of_aspect(layout: vk::ImageLayout, aspect: vk::ImageAspectFlags) -> vk::ImageLayout {
    use vk::ImageLayout as L;
    let stencil = aspect == vk::ImageAspectFlags::STENCIL;
    match layout {
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL if stencil => L::STENCIL_ATTACHMENT_OPTIMAL,
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL => L::DEPTH_ATTACHMENT_OPTIMAL,
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL if stencil => L::STENCIL_READ_ONLY_OPTIMAL,
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL => L::DEPTH_READ_ONLY_OPTIMAL,
        other => other,
    }
}

/// The single layout that is equivalent to an attachment's depth and stencil layouts; `UNDEFINED` if there is none.
///
/// Source: Vulkan specification, "Image Layouts"; VUID-VkAttachmentDescription-format-06906.
pub(super) fn combined(format: vk::Format, layouts: [vk::ImageLayout; 2]) -> vk::ImageLayout {
    use vk::ImageLayout as L;
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    let of_one = [
        L::DEPTH_ATTACHMENT_OPTIMAL,
        L::DEPTH_READ_ONLY_OPTIMAL,
        L::STENCIL_ATTACHMENT_OPTIMAL,
        L::STENCIL_READ_ONLY_OPTIMAL,
    ];
    match layouts {
        [one, other] if one == other => {
            let fits = !of_one.contains(&one) || crate::format::aspects(format) != both;
            if fits { one } else { L::UNDEFINED }
        }
        [L::DEPTH_ATTACHMENT_OPTIMAL, L::STENCIL_ATTACHMENT_OPTIMAL] => L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        [L::DEPTH_READ_ONLY_OPTIMAL, L::STENCIL_READ_ONLY_OPTIMAL] => L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        [L::DEPTH_READ_ONLY_OPTIMAL, L::STENCIL_ATTACHMENT_OPTIMAL] => {
            L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL
        }
        [L::DEPTH_ATTACHMENT_OPTIMAL, L::STENCIL_READ_ONLY_OPTIMAL] => {
            L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL
        }
        _ => L::UNDEFINED,
    }
}
