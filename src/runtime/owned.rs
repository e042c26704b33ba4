//! What a bound plan owns, and its destruction.

use ash::vk;

use super::device::Inner;
use super::memory::Block;

/// Vulkan objects in the order of their creation; destroyed in the reverse order of these fields.
#[derive(Default)]
pub(super) struct Owned {
    pub(super) images: Vec<vk::Image>,
    pub(super) buffers: Vec<vk::Buffer>,
    /// One for each object of the plan.
    pub(super) blocks: Vec<Block>,
    pub(super) views: Vec<vk::ImageView>,
    pub(super) render_passes: Vec<vk::RenderPass>,
    pub(super) framebuffers: Vec<vk::Framebuffer>,
    pub(super) set_layouts: Vec<vk::DescriptorSetLayout>,
    pub(super) descriptor_pools: Vec<vk::DescriptorPool>,
    pub(super) pipeline_layouts: Vec<vk::PipelineLayout>,
    pub(super) pipelines: Vec<vk::Pipeline>,
    pub(super) semaphores: Vec<vk::Semaphore>,
    pub(super) fences: Vec<vk::Fence>,
}

impl Owned {
    /// Destroys everything.
    ///
    /// # Safety
    /// Nothing of it is in use on the device, and nobody uses the handles afterwards.
    pub(super) unsafe fn destroy(&mut self, inner: &Inner) {
        let device = &inner.device;
        /// Drains a list, calling the device's destructor on each handle.
        macro_rules! drain {
            ($($list:ident: $destroy:ident),*) => {$(
                for handle in self.$list.drain(..) {
                    // SAFETY: the caller's duty; this list was the handle's only owner.
                    unsafe { device.$destroy(handle, None) };
                }
            )*};
        }
        drain!(
            fences: destroy_fence,
            semaphores: destroy_semaphore,
            pipelines: destroy_pipeline,
            pipeline_layouts: destroy_pipeline_layout,
            descriptor_pools: destroy_descriptor_pool,
            set_layouts: destroy_descriptor_set_layout,
            framebuffers: destroy_framebuffer,
            render_passes: destroy_render_pass,
            views: destroy_image_view,
            buffers: destroy_buffer,
            images: destroy_image
        );
        for block in self.blocks.drain(..) {
            // SAFETY: everything that was bound to it is destroyed.
            unsafe { inner.memory.free(device, block) };
        }
    }
}

/// Owns what is being created; destroys it all unless creation comes to its end.
pub(super) struct Guard<'a> {
    pub(super) owned: Owned,
    inner: &'a Inner,
}

impl<'a> Guard<'a> {
    pub(super) fn new(inner: &'a Inner) -> Guard<'a> {
        Guard {
            owned: Owned::default(),
            inner,
        }
    }

    /// Creation came to its end.
    pub(super) fn keep(mut self) -> Owned {
        std::mem::take(&mut self.owned)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing was submitted with it: the only submission during creation (of history's first contents) is waited
        // for, whether it succeeds or not.
        unsafe { self.owned.destroy(self.inner) };
    }
}
