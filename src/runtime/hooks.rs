//! Caller-supplied structures at the end of the chains (`pNext`) of images and render passes.

use std::ffi::c_void;
use std::ptr::null;

/// Supplies the structures that are chained to images and render passes described with a number above 0
/// ([`ImageDesc::hook`](crate::frame::ImageDesc::hook), [`PassBuilder::hook`](crate::frame::PassBuilder::hook)): compression control,
/// fragment density maps, multisampled rendering to single-sampled images, and anything else that extensions allow there.
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
/// - Each function returns null, or the first of a chain of structures that Vulkan allows there, with their extensions enabled and their
///   last `pNext` null. None of them is one that the runtime chains itself: `VkImageFormatListCreateInfo`, for images whose accesses name a
///   format; `VkRenderPassMultiviewCreateInfo`; those of tile memory and tile shading.
/// - A chain stays alive and unchanged until the function is called for the same number again.
/// - The chains of images and render passes have the same values every time they are requested for the same number: the runtime looks up by
///   the number what it created before. So does the chain of a rendering between [`Commands::begin_pass_in_parts`](super::Commands::begin_pass_in_parts) and
///   [`end_pass`](super::Commands::end_pass), which begin it once for each part.
pub unsafe trait Hooks: Send + Sync {
    /// Chained to `VkImageCreateInfo`.
    fn image(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Chained to `VkPhysicalDeviceImageFormatInfo2`, with which the runtime queries whether such an image is supported.
    fn image_format(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Chained to `VkRenderingInfo`, each time a pass begins.
    fn rendering(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Chained to `VkRenderPassCreateInfo`, for passes that are recorded as render pass objects; to `VkRenderPassCreateInfo2` for those that
    /// resolve depth.
    fn render_pass(&self, _hook: u32) -> *const c_void {
        null()
    }
}
