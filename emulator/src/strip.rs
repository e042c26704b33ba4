//! Create infos without what is the layer's: copies, never the application's own structures.

use ash::vk;
use ash::vk::TaggedStructure;
use tileheap::ffi::{
    self, BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM, BUFFER_USAGE_TILE_MEMORY_BIT_QCOM,
    IMAGE_USAGE_TILE_MEMORY_BIT_QCOM,
};

use crate::chain::{Chain, Treatment, elements};

/// A structure to hand down, and what it points to.
pub(crate) struct Stripped<T> {
    /// The copy.
    pub(crate) info: T,
    _chain: Chain,
    _images: Vec<vk::FramebufferAttachmentImageInfo<'static>>,
    _subpasses: Vec<vk::SubpassDescription<'static>>,
    _subpasses2: Vec<vk::SubpassDescription2<'static>>,
}

impl<T> Stripped<T> {
    fn new(info: T, chain: Chain) -> Stripped<T> {
        Stripped {
            info,
            _chain: chain,
            _images: Vec::new(),
            _subpasses: Vec::new(),
            _subpasses2: Vec::new(),
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
/// What the structure points to outlives the result.
macro_rules! outliving {
    ($structure:ident, $info:expr) => {
        // SAFETY: The lifetime is one of pointers, which outlive the result by the promise of whoever uses the macro.
        unsafe { std::mem::transmute::<vk::$structure<'_>, vk::$structure<'static>>(*$info) }
    };
}

/// Declares functions that copy a structure: fields lose the layer's bits, and so do those of structures in its chain.
macro_rules! strips {
    ($(
        $(#[$doc:meta])*
        $name:ident: $structure:ident { $($field:ident - $bit:expr)? } $(, $chained:ident { $chained_field:ident - $chained_bit:expr })?;
    )+) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// `info` is valid and outlives the result.
        pub(crate) unsafe fn $name(info: &vk::$structure<'_>) -> Stripped<vk::$structure<'static>> {
            let edited: &[vk::StructureType] = &[$(vk::$chained::STRUCTURE_TYPE)?];
            // SAFETY: The caller's promise.
            #[allow(unused_mut, reason = "some chains are only shortened")]
            let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, edited)) };
            $(
                if let Some(chained) = chain.copy_of::<vk::$chained<'_>>() {
                    chained.$chained_field &= !$chained_bit;
                }
            )?
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
        ImageStencilUsageCreateInfo { stencil_usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM };
    /// An image that is asked about.
    format_info: PhysicalDeviceImageFormatInfo2 { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM },
        ImageStencilUsageCreateInfo { stencil_usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM };
    /// A buffer to be created.
    buffer: BufferCreateInfo { usage - BUFFER_USAGE_TILE_MEMORY_BIT_QCOM },
        BufferUsageFlags2CreateInfoKHR { usage - BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// A view of an image.
    image_view: ImageViewCreateInfo {},
        ImageViewUsageCreateInfo { usage - IMAGE_USAGE_TILE_MEMORY_BIT_QCOM };
    /// A view of a buffer.
    buffer_view: BufferViewCreateInfo {},
        BufferUsageFlags2CreateInfoKHR { usage - BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM };
    /// Dynamic rendering.
    rendering: RenderingInfo {};
    /// What a secondary command buffer inherits.
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
    let mut images = Vec::new();
    if let Some(attachments) = chain.copy_of::<vk::FramebufferAttachmentsCreateInfo<'_>>() {
        let first = attachments
            .p_attachment_image_infos
            .cast::<vk::FramebufferAttachmentImageInfo<'static>>();
        // SAFETY: The caller's promise.
        images = unsafe { elements(first, attachments.attachment_image_info_count) }.to_vec();
        for image in &mut images {
            image.usage &= !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        }
        attachments.p_attachment_image_infos = images.as_ptr();
    }
    let mut copy = outliving!(FramebufferCreateInfo, info);
    copy.p_next = chain.head();
    Stripped {
        _images: images,
        ..Stripped::new(copy, chain)
    }
}

/// Declares functions that copy a render pass: subpasses lose the layer's flags.
macro_rules! render_passes {
    ($($name:ident: $structure:ident keeps $kept:ident;)+) => {$(
        /// A render pass to be created.
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
            copy.p_next = chain.head();
            copy.p_subpasses = subpasses.as_ptr();
            Stripped { $kept: subpasses, ..Stripped::new(copy, chain) }
        }
    )+};
}

render_passes! {
    render_pass: RenderPassCreateInfo keeps _subpasses;
    render_pass2: RenderPassCreateInfo2 keeps _subpasses2;
}
