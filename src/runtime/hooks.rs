//! Structures of the caller at the end of the chains (`pNext`) of images and render passes.

use std::ffi::c_void;
use std::ptr::null;

/// Gives the structures that are chained to images and render passes described with a number above 0
/// ([`ImageDesc::hook`](crate::frame::ImageDesc::hook), [`PassBuilder::hook`](crate::frame::PassBuilder::hook)): compression control,
/// fragment density maps, multisampled rendering to single-sampled images, and whatever else extensions have there.
///
/// ```
/// # use std::ffi::c_void;
/// # use ash::vk;
/// # struct Compressed(vk::ImageCompressionControlEXT<'static>);
/// # unsafe impl Send for Compressed {}
/// # unsafe impl Sync for Compressed {}
/// // SAFETY: imageCompressionControl is enabled, and the structure never changes.
/// unsafe impl tileheap::runtime::Hooks for Compressed {
///     fn image(&self, _hook: u32) -> *const c_void {
///         (&raw const self.0).cast()
///     }
/// }
/// ```
///
/// # Safety
/// - Each function gives null, or the first of a chain of structures that Vulkan allows there, with their extensions enabled and their
///   last `pNext` null. None of them is one that the runtime chains itself: `VkImageFormatListCreateInfo`, for images of which accesses
///   name a format; `VkRenderPassMultiviewCreateInfo`; those of tile memory and tile shading.
/// - A chain lives, unchanged, until the function is called for the same number again.
/// - Those of images and render passes are the same, by value, whenever they are asked for by the same number: the runtime finds by the
///   number what it created before.
pub unsafe trait Hooks: Send + Sync {
    /// Chained to `VkImageCreateInfo`.
    fn image(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Chained to `VkPhysicalDeviceImageFormatInfo2`, by which the runtime asks whether such an image is supported.
    fn image_format(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Chained to `VkRenderingInfo`, each time that a pass is begun.
    fn rendering(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Chained to `VkRenderPassCreateInfo`: of passes that are recorded as render pass objects.
    fn render_pass(&self, _hook: u32) -> *const c_void {
        null()
    }
}
