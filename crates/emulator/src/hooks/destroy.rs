//! Entry points that destroy objects registered by the layer.

use ash::vk::Handle;
use tileheap_layer::call_down;

use super::device::device_entry_points;
use crate::model::objects::Object;

macro_rules! destroys {
    ($($command:ident: $maps:ident . $($map:ident)+;)+) => {
        device_entry_points! {$(
            /// Unregisters and destroys the object.
            $command(handle, object, allocator) |device| {
                $(device.$maps.$map.remove(object.as_raw());)+
                device.reporter.names.set(Object::of(object), "");
                call_down!(device.driver.commands, $command(handle, object, allocator));
            }
        )+}
    };
}

device_entry_points! {
    /// Unregisters and destroys the pass, and the one that resumes it.
    vkDestroyRenderPass(handle, pass, allocator) |device| {
        let known = device.resources.render_passes.remove(pass.as_raw());
        device.reporter.names.set(Object::of(pass), "");
        let next = &device.driver.commands;
        if let Some(again) = known.and_then(|known| known.again) {
            call_down!(next, vkDestroyRenderPass(handle, again, std::ptr::null()));
        }
        call_down!(next, vkDestroyRenderPass(handle, pass, allocator));
    }
}

destroys! {
    vkFreeMemory: resources.objects;
    vkDestroyImage: resources.images transient_images;
    vkDestroyBuffer: resources.buffers;
    vkDestroyImageView: resources.image_views;
    vkDestroyBufferView: resources.buffer_views;
    vkDestroyFramebuffer: resources.framebuffers;
    vkDestroyShaderModule: descriptors.modules;
    vkDestroyPipeline: descriptors.pipelines;
    vkDestroyDescriptorUpdateTemplate: descriptors.templates;
}
