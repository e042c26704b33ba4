//! What a bound plan owns, and its destruction.

use ash::vk;

use super::device::Inner;
use super::memory::{Block, Memory};

/// Vulkan objects in the order of their creation; destroyed in the reverse order of these fields.
#[derive(Default)]
pub struct OwnedObjects {
    pub images: Vec<vk::Image>,
    pub buffers: Vec<vk::Buffer>,
    /// One for each object of the plan.
    pub blocks: Vec<Block>,
    pub views: Vec<vk::ImageView>,
    pub render_passes: Vec<vk::RenderPass>,
    pub framebuffers: Vec<vk::Framebuffer>,
    pub set_layouts: Vec<vk::DescriptorSetLayout>,
    pub descriptor_pools: Vec<vk::DescriptorPool>,
    pub pipeline_layouts: Vec<vk::PipelineLayout>,
    pub pipelines: Vec<vk::Pipeline>,
    pub semaphores: Vec<vk::Semaphore>,
    pub fences: Vec<vk::Fence>,
}

impl OwnedObjects {
    /// Destroys everything.
    ///
    /// # Safety
    /// Nothing of it is in use on the device, and nobody uses the handles afterwards.
    pub unsafe fn destroy(&mut self, device: &ash::Device, memory: &Memory) {
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
            unsafe { memory.free(device, block) };
        }
    }
}

/// Owns what is being created; destroys it all unless creation comes to its end.
pub(super) struct Guard<'a> {
    pub(super) owned: OwnedObjects,
    inner: &'a Inner,
}

impl<'a> Guard<'a> {
    pub(super) fn new(inner: &'a Inner) -> Guard<'a> {
        Guard {
            owned: OwnedObjects::default(),
            inner,
        }
    }

    /// Creation came to its end.
    pub(super) fn keep(mut self) -> OwnedObjects {
        std::mem::take(&mut self.owned)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing was submitted with it: the only submission during creation (of history's first contents) is waited
        // for, whether it succeeds or not.
        unsafe { self.owned.destroy(&self.inner.device, &self.inner.memory) };
    }
}
