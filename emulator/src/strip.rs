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
    _words: Vec<vk::SubpassDescription<'static>>,
    _words2: Vec<vk::SubpassDescription2<'static>>,
}

impl<T> Stripped<T> {
    fn new(info: T, chain: Chain) -> Stripped<T> {
        Stripped {
            info,
            _chain: chain,
            _images: Vec::new(),
            _words: Vec::new(),
            _words2: Vec::new(),
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

/// # Safety
/// `info` is valid and outlives the result; so in every function here.
pub(crate) unsafe fn image(info: &vk::ImageCreateInfo<'_>) -> Stripped<vk::ImageCreateInfo<'static>> {
    let edited = [vk::ImageStencilUsageCreateInfo::STRUCTURE_TYPE];
    // SAFETY: The caller's promise.
    let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, &edited)) };
    if let Some(stencil) = chain.copy_of::<vk::ImageStencilUsageCreateInfo<'_>>() {
        stencil.stencil_usage &= !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    }
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy =
        unsafe { std::mem::transmute::<vk::ImageCreateInfo<'_>, vk::ImageCreateInfo<'static>>(*info) };
    copy.usage &= !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    copy.p_next = chain.head();
    Stripped::new(copy, chain)
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn buffer(info: &vk::BufferCreateInfo<'_>) -> Stripped<vk::BufferCreateInfo<'static>> {
    let edited = [vk::BufferUsageFlags2CreateInfoKHR::STRUCTURE_TYPE];
    // SAFETY: The caller's promise.
    let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, &edited)) };
    if let Some(usage) = chain.copy_of::<vk::BufferUsageFlags2CreateInfoKHR<'_>>() {
        usage.usage &= !BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM;
    }
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy =
        unsafe { std::mem::transmute::<vk::BufferCreateInfo<'_>, vk::BufferCreateInfo<'static>>(*info) };
    copy.usage &= !BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
    copy.p_next = chain.head();
    Stripped::new(copy, chain)
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn image_view(
    info: &vk::ImageViewCreateInfo<'_>,
) -> Stripped<vk::ImageViewCreateInfo<'static>> {
    let edited = [vk::ImageViewUsageCreateInfo::STRUCTURE_TYPE];
    // SAFETY: The caller's promise.
    let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, &edited)) };
    if let Some(usage) = chain.copy_of::<vk::ImageViewUsageCreateInfo<'_>>() {
        usage.usage &= !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    }
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe {
        std::mem::transmute::<vk::ImageViewCreateInfo<'_>, vk::ImageViewCreateInfo<'static>>(*info)
    };
    copy.p_next = chain.head();
    Stripped::new(copy, chain)
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn buffer_view(
    info: &vk::BufferViewCreateInfo<'_>,
) -> Stripped<vk::BufferViewCreateInfo<'static>> {
    let edited = [vk::BufferUsageFlags2CreateInfoKHR::STRUCTURE_TYPE];
    // SAFETY: The caller's promise.
    let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, &edited)) };
    if let Some(usage) = chain.copy_of::<vk::BufferUsageFlags2CreateInfoKHR<'_>>() {
        usage.usage &= !BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM;
    }
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe {
        std::mem::transmute::<vk::BufferViewCreateInfo<'_>, vk::BufferViewCreateInfo<'static>>(*info)
    };
    copy.p_next = chain.head();
    Stripped::new(copy, chain)
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn framebuffer(
    info: &vk::FramebufferCreateInfo<'_>,
) -> Stripped<vk::FramebufferCreateInfo<'static>> {
    let edited = [vk::FramebufferAttachmentsCreateInfo::STRUCTURE_TYPE];
    // SAFETY: The caller's promise.
    let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, &edited)) };
    let mut images = Vec::new();
    if let Some(attachments) = chain.copy_of::<vk::FramebufferAttachmentsCreateInfo<'_>>() {
        let (first, count) = (
            attachments.p_attachment_image_infos,
            attachments.attachment_image_info_count,
        );
        // SAFETY: The caller's promise.
        images =
            unsafe { elements(first.cast::<vk::FramebufferAttachmentImageInfo<'static>>(), count) }.to_vec();
        for image in &mut images {
            image.usage &= !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        }
        attachments.p_attachment_image_infos = images.as_ptr();
    }
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe {
        std::mem::transmute::<vk::FramebufferCreateInfo<'_>, vk::FramebufferCreateInfo<'static>>(*info)
    };
    copy.p_next = chain.head();
    let mut stripped = Stripped::new(copy, chain);
    stripped._images = images;
    stripped
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn render_pass(
    info: &vk::RenderPassCreateInfo<'_>,
) -> Stripped<vk::RenderPassCreateInfo<'static>> {
    // SAFETY: The caller's promise.
    let chain = unsafe { Chain::new(info.p_next, own) };
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe {
        std::mem::transmute::<vk::RenderPassCreateInfo<'_>, vk::RenderPassCreateInfo<'static>>(*info)
    };
    // SAFETY: The caller's promise.
    let mut subpasses = unsafe { elements(copy.p_subpasses, copy.subpass_count) }.to_vec();
    for subpass in &mut subpasses {
        subpass.flags &= !ffi::SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM;
    }
    copy.p_next = chain.head();
    copy.p_subpasses = subpasses.as_ptr();
    let mut stripped = Stripped::new(copy, chain);
    stripped._words = subpasses;
    stripped
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn render_pass2(
    info: &vk::RenderPassCreateInfo2<'_>,
) -> Stripped<vk::RenderPassCreateInfo2<'static>> {
    // SAFETY: The caller's promise.
    let chain = unsafe { Chain::new(info.p_next, own) };
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe {
        std::mem::transmute::<vk::RenderPassCreateInfo2<'_>, vk::RenderPassCreateInfo2<'static>>(*info)
    };
    // SAFETY: The caller's promise.
    let mut subpasses = unsafe { elements(copy.p_subpasses, copy.subpass_count) }.to_vec();
    for subpass in &mut subpasses {
        subpass.flags &= !ffi::SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM;
    }
    copy.p_next = chain.head();
    copy.p_subpasses = subpasses.as_ptr();
    let mut stripped = Stripped::new(copy, chain);
    stripped._words2 = subpasses;
    stripped
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn rendering(info: &vk::RenderingInfo<'_>) -> Stripped<vk::RenderingInfo<'static>> {
    // SAFETY: The caller's promise.
    let chain = unsafe { Chain::new(info.p_next, own) };
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe { std::mem::transmute::<vk::RenderingInfo<'_>, vk::RenderingInfo<'static>>(*info) };
    copy.p_next = chain.head();
    Stripped::new(copy, chain)
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn inheritance(
    info: &vk::CommandBufferInheritanceInfo<'_>,
) -> Stripped<vk::CommandBufferInheritanceInfo<'static>> {
    // SAFETY: The caller's promise.
    let chain = unsafe { Chain::new(info.p_next, own) };
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe {
        std::mem::transmute::<vk::CommandBufferInheritanceInfo<'_>, vk::CommandBufferInheritanceInfo<'static>>(
            *info,
        )
    };
    copy.p_next = chain.head();
    Stripped::new(copy, chain)
}

/// # Safety
/// As [`image`].
pub(crate) unsafe fn format_info(
    info: &vk::PhysicalDeviceImageFormatInfo2<'_>,
) -> Stripped<vk::PhysicalDeviceImageFormatInfo2<'static>> {
    let edited = [vk::ImageStencilUsageCreateInfo::STRUCTURE_TYPE];
    // SAFETY: The caller's promise.
    let mut chain = unsafe { Chain::new(info.p_next, |s_type| own_or(s_type, &edited)) };
    if let Some(stencil) = chain.copy_of::<vk::ImageStencilUsageCreateInfo<'_>>() {
        stencil.stencil_usage &= !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    }
    // SAFETY: The lifetime is one of pointers, which outlive the result by the caller's promise.
    let mut copy = unsafe {
        std::mem::transmute::<
            vk::PhysicalDeviceImageFormatInfo2<'_>,
            vk::PhysicalDeviceImageFormatInfo2<'static>,
        >(*info)
    };
    copy.usage &= !IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    copy.p_next = chain.head();
    Stripped::new(copy, chain)
}
