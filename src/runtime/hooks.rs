//! Caller-supplied structures at the end of the chains (`pNext`) of images, views, buffers, memory and render passes.

use std::ffi::c_void;
use std::ptr::null;

use crate::lower::tables::objects::ViewRow;
use crate::plan::MemoryKind;

/// Supplies the structures that are chained to images, buffers and render passes described with a number above 0
/// ([`ImageDesc::hook`](crate::frame::ImageDesc::hook), [`BufferDesc::hook`](crate::frame::BufferDesc::hook),
/// [`PassBuilder::hook`](crate::frame::PassBuilder::hook)), to their views and to memory: compression control, fragment density maps, multisampled rendering
/// to single-sampled images, external memory, memory priorities, and anything else that extensions allow there.
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
///   format; `VkImageViewUsageCreateInfo`, for images with `EXTENDED_USAGE` or such accesses; `VkMemoryAllocateFlagsInfo` and
///   `VkMemoryDedicatedAllocateInfo`; `VkRenderPassMultiviewCreateInfo`; those of tile memory and tile shading. Nor is one that replaces what
///   the runtime sets (`VkBufferUsageFlags2CreateInfo`), or that imports memory: such a resource is an
///   [external](crate::frame::external::ExternalDesc) one.
/// - A chain stays alive and unchanged until the same thread calls the function again for the same number (for
///   [`memory`](Hooks::memory), and kind; for [`view`](Hooks::view), and view).
/// - All chains but those of [`rendering`](Hooks::rendering) and [`memory`](Hooks::memory), and what [`dedicated_memory`](Hooks::dedicated_memory)
///   returns, are the same every time they are requested for the same number: the runtime uses the number to look up objects that it has
///   already created. The chain of a rendering stays the same from [`Commands::begin_pass_in_parts`](super::Commands::begin_pass_in_parts)
///   to [`end_pass`](super::Commands::end_pass): `vkCmdBeginRendering` is recorded with it once for each part.
/// - Resources meet the requirements of the [`memory`](Hooks::memory) chain of their memory: memory for several resources (number 0) is not exported, and the
///   chains of [`image`](Hooks::image), [`image_format`](Hooks::image_format) and [`buffer`](Hooks::buffer) for a number whose memory is exported have
///   `VkExternalMemoryImageCreateInfo`, `VkPhysicalDeviceExternalImageFormatInfo` and `VkExternalMemoryBufferCreateInfo` of the same handle types
///   (VUID-VkBindImageMemoryInfo-memory-02728, VUID-VkBindBufferMemoryInfo-memory-02726). Handle types whose requirements can only be queried after binding
///   (Android hardware buffers and QNX screen buffers) are not used (VUID-VkImageMemoryRequirementsInfo2-image-01897). Only memory of resources with
///   [`dedicated_memory`](Hooks::dedicated_memory) is exported.
pub unsafe trait Hooks: Send + Sync {
    /// Returns the structures to chain to `VkImageCreateInfo`.
    fn image(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Returns the structures to chain to `VkImageViewCreateInfo`, for each view that the runtime creates of an image with this number.
    fn view(&self, _hook: u32, _view: &ViewRow) -> *const c_void {
        null()
    }

    /// Returns the structures to chain to `VkBufferCreateInfo`.
    fn buffer(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Returns true if each resource with this number gets its own memory object: a dedicated allocation in ordinary memory that is never aliased.
    /// Exported memory needs this, and so does a memory priority for a single resource.
    ///
    /// The planner treats such a resource as if the driver required a dedicated allocation for it. Plans made with requirements that were
    /// not measured on this device ignore it, and keep their placements.
    fn dedicated_memory(&self, _hook: u32) -> bool {
        false
    }

    /// Returns the structures to chain to `VkMemoryAllocateInfo`, for each block of memory that the runtime needs.
    ///
    /// | `kind` | `hook` |
    /// |---|---|
    /// | `Dedicated` | the resource's: [`dedicated_memory`](Hooks::dedicated_memory), or a dedicated allocation that the driver requires or prefers |
    /// | `Lazy` | the resource's |
    /// | `Arena` | the resource's for the memory of a history, which usually is not a dedicated allocation; 0 for memory that resources may share |
    /// | `Tile` | 0 |
    ///
    /// With a chain for `(Arena, 0)`, each block is a separate memory object (`maxMemoryAllocationCount`).
    ///
    /// A block with a chain is a separate memory object, which the runtime allocates with `vkAllocateMemory`, not from the caller's
    /// [allocator](super::DeviceDesc::allocator) or the runtime's own. It still counts towards
    /// [`DeviceDesc::memory_limit`](super::DeviceDesc::memory_limit). If this returns null, the block is allocated as if there were no hooks.
    fn memory(&self, _kind: MemoryKind, _hook: u32) -> *const c_void {
        null()
    }

    /// Returns the structures to chain to `VkPhysicalDeviceImageFormatInfo2`, with which the runtime queries whether such an image is supported.
    fn image_format(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Returns the structures to chain to `VkRenderingInfo`, each time a pass begins.
    fn rendering(&self, _hook: u32) -> *const c_void {
        null()
    }

    /// Returns the structures to chain to `VkRenderPassCreateInfo`, for passes that are recorded as render pass objects; to `VkRenderPassCreateInfo2` for
    /// those that resolve depth. Chain only structures that extend both to such a pass.
    fn render_pass(&self, _hook: u32) -> *const c_void {
        null()
    }
}
