//! Copies of structures without the bits and chained structures of the layer's extensions.

use ash::vk;
use ash::vk::TaggedStructure;
use tileheap_device::ffi::{
    self, BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM, BUFFER_USAGE_TILE_MEMORY_BIT_QCOM,
    IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM,
};

use tileheap_layer::arrays::elements;
use tileheap_layer::chain::{Chain, Treatment};

use crate::model::tile_passes::{is_tile_shading, kept};
use crate::tables::extended_flags::{ImageStencilUsage, ImageUsage, ImageViewUsage};

/// A structure for the next layer, and the memory that it points to.
pub(crate) struct Stripped<T> {
    /// The copy.
    pub(crate) info: T,
    chain: Chain,
    _image_chains: Vec<Chain>,
    _images: Vec<vk::FramebufferAttachmentImageInfo<'static>>,
    _subpasses: Vec<vk::SubpassDescription<'static>>,
    _subpasses2: Vec<vk::SubpassDescription2<'static>>,
    _attachments: Vec<vk::AttachmentDescription>,
    _attachments2: Vec<vk::AttachmentDescription2<'static>>,
}

impl<T> Stripped<T> {
    fn new(info: T, chain: Chain) -> Stripped<T> {
        Stripped {
            info,
            chain,
            _image_chains: Vec::new(),
            _images: Vec::new(),
            _subpasses: Vec::new(),
            _subpasses2: Vec::new(),
            _attachments: Vec::new(),
            _attachments2: Vec::new(),
        }
    }
}

/// The structures that the layer adds to input chains.
fn own(s_type: vk::StructureType) -> Treatment {
    let own = [
        ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::STRUCTURE_TYPE,
        vk::PhysicalDeviceTilePropertiesFeaturesQCOM::STRUCTURE_TYPE,
        ffi::PhysicalDeviceTileShadingFeaturesQCOM::STRUCTURE_TYPE,
        ffi::TileMemoryBindInfoQCOM::STRUCTURE_TYPE,
        ffi::TileMemorySizeInfoQCOM::STRUCTURE_TYPE,
        ffi::RenderPassTileShadingCreateInfoQCOM::STRUCTURE_TYPE,
    ];
    if own.contains(&s_type) {
        Treatment::Remove
    } else {
        Treatment::Keep
    }
}

fn own_or(s_type: vk::StructureType, edited: &[vk::StructureType]) -> Treatment {
    if edited.contains(&s_type) {
        Treatment::Edit
    } else {
        own(s_type)
    }
}

/// The chain of a device's create info, in which the layer may edit features.
///
/// # Safety
/// The chain is valid and outlives the result.
pub(crate) unsafe fn device_chain(p_next: *const std::ffi::c_void, edited: &[vk::StructureType]) -> Chain {
    // SAFETY: The caller's promise.
    unsafe { Chain::new(p_next, |s_type| own_or(s_type, edited)) }
}

/// A copy of a structure whose pointers live as long as the structure's own.
///
/// # Safety
/// The structure's pointers outlive the result.
macro_rules! outliving {
    ($structure:ident, $info:expr) => {
        // SAFETY: The lifetime is one of pointers, which outlive the result by the macro user's promise.
        unsafe { std::mem::transmute::<vk::$structure<'_>, vk::$structure<'static>>(*$info) }
    };
}

/// Declares functions that copy a structure: fields lose the layer's bits, and so do those of structures in its chain.
macro_rules! strips {
    ($(
        $(#[$doc:meta])*
        $name:ident: $structure:ident { $($field:ident - $bit:expr)? }
            $(, $chained:ty { $chained_field:ident - $chained_bit:expr })*;
    )+) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `info` is valid and outlives the result.
        pub(crate) unsafe fn $name(info: &vk::$structure<'_>) -> Stripped<vk::$structure<'static>> {
            let edited: &[vk::StructureType] = &[$(<$chained>::STRUCTURE_TYPE),*];
            // SAFETY: The caller's promise.
            #[allow(unused_mut, reason = "some chains are only shortened")]
            let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, edited)) };
            $(
                if let Some(chained) = chain.copy_of::<$chained>() {
                    chained.$chained_field &= !$chained_bit;
                }
            )*
            let mut copy = outliving!($structure, info);
            $(copy.$field &= !$bit;)?
            copy.p_next = chain.head();
            Stripped::new(copy, chain)
        }
    )+};
}

strips! {
    /// An image to be created.
    image: ImageCreateInfo { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        vk::ImageStencilUsageCreateInfo<'_> { stencil_usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM },
        ImageStencilUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// An image of a format query.
    format_info: PhysicalDeviceImageFormatInfo2 { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        vk::ImageStencilUsageCreateInfo<'_> { stencil_usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM },
        ImageStencilUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// A buffer to be created.
    buffer: BufferCreateInfo { usage - BUFFER_USAGE_TILE_MEMORY_BIT_QCOM },
        vk::BufferUsageFlags2CreateInfoKHR<'_> { usage - BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// A view of an image.
    image_view: ImageViewCreateInfo {},
        vk::ImageViewUsageCreateInfo<'_> { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageViewUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// A view of a buffer.
    buffer_view: BufferViewCreateInfo {},
        vk::BufferUsageFlags2CreateInfoKHR<'_> { usage - BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// An image of a framebuffer that has none yet.
    attachment_image: FramebufferAttachmentImageInfo { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageUsage { flags - IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Dynamic rendering.
    rendering: RenderingInfo {};
    /// The inheritance info of a secondary command buffer.
    inheritance: CommandBufferInheritanceInfo {};
}

/// A framebuffer, whose images may be described in its chain.
///
/// # Safety
/// `info` is valid and outlives the result.
pub(crate) unsafe fn framebuffer(
    info: &vk::FramebufferCreateInfo<'_>,
) -> Stripped<vk::FramebufferCreateInfo<'static>> {
    let edited = [vk::FramebufferAttachmentsCreateInfo::STRUCTURE_TYPE];
    // SAFETY: The caller's promise.
    let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, &edited)) };
    let (mut images, mut image_chains) = (Vec::new(), Vec::new());
    if let Some(attachments) = chain.copy_of::<vk::FramebufferAttachmentsCreateInfo<'_>>() {
        let (first, count) = (
            attachments.p_attachment_image_infos,
            attachments.attachment_image_info_count,
        );
        // SAFETY: The caller's promise.
        for image in unsafe { elements(first, count) } {
            // SAFETY: As above.
            let stripped = unsafe { attachment_image(image) };
            images.push(stripped.info);
            image_chains.push(stripped.chain);
        }
        attachments.p_attachment_image_infos = images.as_ptr();
    }
    let mut copy = outliving!(FramebufferCreateInfo, info);
    copy.p_next = chain.head();
    Stripped {
        _image_chains: image_chains,
        _images: images,
        ..Stripped::new(copy, chain)
    }
}

/// Declares functions that copy a render pass: subpasses lose the layer's flags.
macro_rules! render_passes {
    ($($name:ident: $structure:ident keeps $kept:ident $attached:ident;)+) => {$(
        /// A render pass to be created. One with tile shading stores what it would discard: it may be interrupted.
        ///
        /// # Safety
        /// `info` is valid and outlives the result.
        pub(crate) unsafe fn $name(info: &vk::$structure<'_>) -> Stripped<vk::$structure<'static>> {
            // SAFETY: The caller's promise.
            let chain = unsafe { Chain::new(info.p_next, own) };
            let mut copy = outliving!($structure, info);
            // SAFETY: The caller's promise.
            let mut subpasses = unsafe { elements(copy.p_subpasses, copy.subpass_count) }.to_vec();
            for subpass in &mut subpasses {
                subpass.flags &= !ffi::SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM;
            }
            // SAFETY: The caller's promise.
            let mut attachments = unsafe { elements(copy.p_attachments, copy.attachment_count) }.to_vec();
            // SAFETY: As above.
            if unsafe { is_tile_shading(info.p_next) } {
                for attachment in &mut attachments {
                    attachment.store_op = kept(attachment.store_op);
                    attachment.stencil_store_op = kept(attachment.stencil_store_op);
                }
                copy.p_attachments = attachments.as_ptr();
            }
            copy.p_next = chain.head();
            copy.p_subpasses = subpasses.as_ptr();
            Stripped { $kept: subpasses, $attached: attachments, ..Stripped::new(copy, chain) }
        }
    )+};
}

render_passes! {
    render_pass: RenderPassCreateInfo keeps _subpasses _attachments;
    render_pass2: RenderPassCreateInfo2 keeps _subpasses2 _attachments2;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::extended_flags;

    const BIT: u64 = IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM;

    /// The flags in a chain that is passed down.
    fn flags<const TYPE: i32>(p_next: *const std::ffi::c_void) -> u64 {
        // SAFETY: The tests' chains are valid.
        unsafe { tileheap_layer::chain::find::<extended_flags::ExtendedFlags<TYPE>>(p_next) }
            .expect("it is passed down")
            .flags
    }

    #[test]
    fn the_bit_is_taken_off_wherever_an_image_has_it() {
        let mut usage = ImageUsage::new(BIT | 1);
        let mut stencil = ImageStencilUsage::new(BIT | 2);
        stencil.p_next = (&raw const usage).cast();
        let mut info = vk::ImageCreateInfo::default().usage(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM);
        info.p_next = (&raw const stencil).cast();
        // SAFETY: A valid structure; so below.
        let below = unsafe { image(&info) };
        assert_eq!(flags::<{ extended_flags::USAGE }>(below.info.p_next), 1);
        assert_eq!(flags::<{ extended_flags::STENCIL_USAGE }>(below.info.p_next), 2);
        assert!(below.info.usage.is_empty());

        let info = vk::PhysicalDeviceImageFormatInfo2 {
            p_next: (&raw const stencil).cast(),
            ..Default::default()
        };
        // SAFETY: As above.
        let below = unsafe { format_info(&info) };
        assert_eq!(flags::<{ extended_flags::USAGE }>(below.info.p_next), 1);
        assert_eq!(flags::<{ extended_flags::STENCIL_USAGE }>(below.info.p_next), 2);

        let view = ImageViewUsage::new(BIT | 4);
        let info = vk::ImageViewCreateInfo {
            p_next: (&raw const view).cast(),
            ..Default::default()
        };
        // SAFETY: As above.
        let below = unsafe { image_view(&info) };
        assert_eq!(flags::<{ extended_flags::VIEW_USAGE }>(below.info.p_next), 4);
        // The application's own stay as they are.
        usage.p_next = std::ptr::null();
        assert_eq!(
            (usage.flags, stencil.flags, view.flags),
            (BIT | 1, BIT | 2, BIT | 4)
        );
    }

    #[test]
    fn images_that_a_framebuffer_describes_have_chains_of_their_own() {
        let wide = [ImageUsage::new(BIT | 16), ImageUsage::new(16)];
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let images = wide.each_ref().map(|wide| {
            let mut image = vk::FramebufferAttachmentImageInfo::default().usage(usage);
            image.p_next = std::ptr::from_ref(wide).cast();
            image
        });
        let mut later = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&images);
        let info = vk::FramebufferCreateInfo::default().push_next(&mut later);
        // SAFETY: A valid structure.
        let below = unsafe { framebuffer(&info) };
        // SAFETY: As above.
        let later = unsafe {
            tileheap_layer::chain::find::<vk::FramebufferAttachmentsCreateInfo<'_>>(below.info.p_next)
        };
        let later = later.expect("it is passed down");
        // SAFETY: As above.
        let images = unsafe { elements(later.p_attachment_image_infos, later.attachment_image_info_count) };
        assert_eq!(images.len(), 2);
        for image in images {
            assert_eq!(image.usage, vk::ImageUsageFlags::COLOR_ATTACHMENT);
            assert_eq!(flags::<{ extended_flags::USAGE }>(image.p_next), 16);
        }
    }
}
