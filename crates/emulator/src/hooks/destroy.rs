//! Entry points that destroy objects registered by the layer.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::call_down;

use super::device::device_entry_points;
use crate::model::objects::Object;

macro_rules! destroys {
    ($($command:ident($type:ident): $maps:ident . $($map:ident)+;)+) => {
        device_entry_points! {$(
            /// Unregisters and destroys the object.
            fn $command(handle: vk::Device, object: vk::$type, allocator: *const vk::AllocationCallbacks<'_>) |device| {
                $(device.$maps.$map.remove(object.as_raw());)+
                device.reporter.names.set(Object(vk::$type::TYPE, object.as_raw()), "");
                call_down!(device.driver.commands, $command(handle, object, allocator));
            }
        )+}
    };
}

device_entry_points! {
    /// Unregisters and destroys the pass, and the one that resumes it.
    fn vkDestroyRenderPass(handle: vk::Device, pass: vk::RenderPass, allocator: *const vk::AllocationCallbacks<'_>) |device| {
        let known = device.resources.render_passes.remove(pass.as_raw());
        device.reporter.names.set(Object(vk::RenderPass::TYPE, pass.as_raw()), "");
        let next = &device.driver.commands;
        if let Some(again) = known.and_then(|known| known.again) {
            call_down!(next, vkDestroyRenderPass(handle, again, std::ptr::null()));
        }
        call_down!(next, vkDestroyRenderPass(handle, pass, allocator));
    }
}

destroys! {
    vkFreeMemory(DeviceMemory): resources.objects;
    vkDestroyImage(Image): resources.images transient_images;
    vkDestroyBuffer(Buffer): resources.buffers;
    vkDestroyImageView(ImageView): resources.image_views;
    vkDestroyBufferView(BufferView): resources.buffer_views;
    vkDestroyFramebuffer(Framebuffer): resources.framebuffers;
    vkDestroyShaderModule(ShaderModule): descriptors.modules;
    vkDestroyPipeline(Pipeline): descriptors.pipelines;
    vkDestroyDescriptorUpdateTemplate(DescriptorUpdateTemplate): descriptors.templates;
}
