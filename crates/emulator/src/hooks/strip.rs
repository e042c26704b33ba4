//! Copies structures without the bits and chained structures of the layer's extensions.

use ash::vk;
use ash::vk::TaggedStructure;
use tileheap_device::ffi::{
    self, BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM, BUFFER_USAGE_TILE_MEMORY_BIT_QCOM,
    IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM,
};

use tileheap_layer::array;
use tileheap_layer::chain::{Chain, StructTreatment};

use crate::model::tile_passes::{is_tile_shading, kept};
use crate::tables::extended_flags::{ImageStencilUsage, ImageUsage, ImageViewUsage};

/// A structure for the next layer, and the memory that it points to.
pub(crate) struct Stripped<T, A = ()> {
    /// The copied structure, without the layer's bits and structures.
    pub(crate) info: T,
    chain: Chain,
    /// Arrays that the copy points to, and their chains.
    _arrays: A,
}

/// Returns the treatment of a structure in an input chain: structures of the layer's extensions are removed.
fn own(s_type: vk::StructureType) -> StructTreatment {
    let own = [
        ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::STRUCTURE_TYPE,
        vk::PhysicalDeviceTilePropertiesFeaturesQCOM::STRUCTURE_TYPE,
        ffi::PhysicalDeviceTileShadingFeaturesQCOM::STRUCTURE_TYPE,
        ffi::TileMemoryBindInfoQCOM::STRUCTURE_TYPE,
        ffi::TileMemorySizeInfoQCOM::STRUCTURE_TYPE,
        ffi::RenderPassTileShadingCreateInfoQCOM::STRUCTURE_TYPE,
    ];
    if own.contains(&s_type) {
        StructTreatment::Remove
    } else {
        StructTreatment::Keep
    }
}

/// Copies a chain without the layer's structures; the copies of structures whose types are in `edited` may be changed.
pub(crate) fn chain(p_next: *const std::ffi::c_void, edited: &[vk::StructureType]) -> Chain {
    let decide = |s_type| {
        if edited.contains(&s_type) {
            StructTreatment::Edit
        } else {
            own(s_type)
        }
    };
    // SAFETY: Valid usage: a chain of a call's argument, which outlives the hook.
    unsafe { Chain::new(p_next, decide) }
}

/// Declares functions that copy a structure: the layer's bits are removed from its fields and from structures in its chain.
macro_rules! strips {
    ($(
        $(#[$doc:meta])*
        $name:ident: $structure:ident { $($field:ident - $bit:expr)? }
            $(, $chained:ty { $chained_field:ident - $chained_bit:expr })*;
    )+) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'a>(info: &vk::$structure<'a>) -> Stripped<vk::$structure<'a>> {
            #[allow(unused_mut, reason = "some chains are only shortened")]
            let mut chain = chain(info.p_next, &[$(<$chained>::STRUCTURE_TYPE),*]);
            $(
                if let Some(chained) = chain.copy_of::<$chained>() {
                    chained.$chained_field &= !$chained_bit;
                }
            )*
            let mut copy = *info;
            $(copy.$field &= !$bit;)?
            copy.p_next = chain.head();
            Stripped { info: copy, chain, _arrays: () }
        }
    )+};
}

strips! {
    /// Copies the create info of an image.
    image: ImageCreateInfo { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        vk::ImageStencilUsageCreateInfo<'_> { stencil_usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM },
        ImageStencilUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Copies the image description of a format query.
    format_info: PhysicalDeviceImageFormatInfo2 { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        vk::ImageStencilUsageCreateInfo<'_> { stencil_usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM },
        ImageStencilUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Copies the create info of a buffer.
    buffer: BufferCreateInfo { usage - BUFFER_USAGE_TILE_MEMORY_BIT_QCOM },
        vk::BufferUsageFlags2CreateInfoKHR<'_> { usage - BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Copies the create info of an image view.
    image_view: ImageViewCreateInfo {},
        vk::ImageViewUsageCreateInfo<'_> { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageViewUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Copies the create info of a buffer view.
    buffer_view: BufferViewCreateInfo {},
        vk::BufferUsageFlags2CreateInfoKHR<'_> { usage - BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Copies the description of an attachment of an imageless framebuffer.
    attachment_image: FramebufferAttachmentImageInfo { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Copies the rendering info of dynamic rendering.
    rendering: RenderingInfo {};
    /// Copies the inheritance info of a secondary command buffer.
    inheritance: CommandBufferInheritanceInfo {};
}

/// Copies the create info of a framebuffer; the chain of an imageless one describes its images.
pub(crate) fn framebuffer<'a>(
    info: &vk::FramebufferCreateInfo<'a>,
) -> Stripped<vk::FramebufferCreateInfo<'a>, impl Sized> {
    let edited = [vk::FramebufferAttachmentsCreateInfo::STRUCTURE_TYPE];
    let mut chain = chain(info.p_next, &edited);
    let (mut images, mut image_chains) = (Vec::new(), Vec::new());
    if let Some(attachments) = chain.copy_of::<vk::FramebufferAttachmentsCreateInfo<'_>>() {
        let (first, count) = (
            attachments.p_attachment_image_infos,
            attachments.attachment_image_info_count,
        );
        for image in array!(first, count) {
            let stripped = attachment_image(image);
            images.push(stripped.info);
            image_chains.push(stripped.chain);
        }
        attachments.p_attachment_image_infos = images.as_ptr();
    }
    let mut copy = *info;
    copy.p_next = chain.head();
    Stripped {
        info: copy,
        chain,
        _arrays: (images, image_chains),
    }
}

/// Declares functions that copy a render pass: the layer's flags are removed from subpasses.
macro_rules! render_passes {
    ($($name:ident: $structure:ident;)+) => {$(
        /// Copies the create info of a render pass. With tile shading, the copy stores attachments instead of discarding them, since the pass may be
        /// interrupted.
        pub(crate) fn $name<'a>(info: &vk::$structure<'a>) -> Stripped<vk::$structure<'a>, impl Sized> {
            let chain = chain(info.p_next, &[]);
            let mut copy = *info;
            let mut subpasses = array!(copy.p_subpasses, copy.subpass_count).to_vec();
            for subpass in &mut subpasses {
                subpass.flags &= !ffi::SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM;
            }
            let mut attachments = array!(copy.p_attachments, copy.attachment_count).to_vec();
            if is_tile_shading(info.p_next) {
                for attachment in &mut attachments {
                    attachment.store_op = kept(attachment.store_op);
                    attachment.stencil_store_op = kept(attachment.stencil_store_op);
                }
                copy.p_attachments = attachments.as_ptr();
            }
            copy.p_next = chain.head();
            copy.p_subpasses = subpasses.as_ptr();
            Stripped { info: copy, chain, _arrays: (subpasses, attachments) }
        }
    )+};
}

render_passes! {
    render_pass: RenderPassCreateInfo;
    render_pass2: RenderPassCreateInfo2;
}

#[cfg(test)]
mod tests {
    use tileheap_layer::chained;

    use super::*;

    #[test]
    fn images_that_a_framebuffer_describes_have_chains_of_their_own() {
        let flags = IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM | 16;
        let wide = [flags, 16].map(|flags| ImageUsage {
            s_type: ImageUsage::STRUCTURE_TYPE,
            p_next: std::ptr::null(),
            flags,
        });
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let images = wide.each_ref().map(|wide| {
            let mut image = vk::FramebufferAttachmentImageInfo::default().usage(usage);
            image.p_next = std::ptr::from_ref(wide).cast();
            image
        });
        let mut later = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&images);
        let info = vk::FramebufferCreateInfo::default().push_next(&mut later);
        let below = framebuffer(&info);
        let later = chained!(below.info.p_next => vk::FramebufferAttachmentsCreateInfo<'_>);
        let later = later.expect("it is passed down");
        let images = array!(later.p_attachment_image_infos, later.attachment_image_info_count);
        assert_eq!(images.len(), 2);
        for image in images {
            assert_eq!(image.usage, vk::ImageUsageFlags::COLOR_ATTACHMENT);
            let wide = chained!(image.p_next => ImageUsage);
            assert_eq!(wide.map(|wide| wide.flags), Some(16));
        }
    }
}
