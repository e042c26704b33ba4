//! Entry points that destroy what the layer remembers.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::call_down;

use super::device::device_entry_points;

macro_rules! destroys {
    ($($command:ident($type:ty): $maps:ident . $($map:ident)+;)+) => {
        device_entry_points! {$(
            /// Forgets the object, and destroys it.
            fn $command(handle: vk::Device, object: $type, allocator: *const vk::AllocationCallbacks<'_>) |device| {
                $(device.$maps.$map.remove(object.as_raw());)+
                call_down!(device.driver.commands, $command(handle, object, allocator));
            }
        )+}
    };
}

destroys! {
    vkFreeMemory(vk::DeviceMemory): resources.objects;
    vkDestroyImage(vk::Image): resources.images transient_images;
    vkDestroyBuffer(vk::Buffer): resources.buffers;
    vkDestroyImageView(vk::ImageView): resources.image_views;
    vkDestroyBufferView(vk::BufferView): resources.buffer_views;
    vkDestroyFramebuffer(vk::Framebuffer): resources.framebuffers;
    vkDestroyRenderPass(vk::RenderPass): resources.render_passes;
    vkDestroyShaderModule(vk::ShaderModule): descriptors.modules;
    vkDestroyPipeline(vk::Pipeline): descriptors.pipelines;
    vkDestroyDescriptorUpdateTemplate(vk::DescriptorUpdateTemplate): descriptors.templates;
}
