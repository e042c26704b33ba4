//! Entry points that destroy objects registered by the layer.

use std::sync::Arc;

use ash::vk::Handle;
use tileheap_layer::call_down;

use super::device::{Device, device_entry_points};
use crate::model::objects::Object;
use crate::model::resources::Resource;

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

/// Stops tracking a destroyed resource, and removes its name.
fn forget(device: &Device, object: Object, resource: Option<Arc<Resource>>) {
    if let Some(check) = &device.check {
        check.tracker().remove(object, resource.as_deref());
    }
    device.reporter.names.set(object, "");
}

device_entry_points! {
    /// Unregisters and destroys the image.
    vkDestroyImage(handle, image, allocator) |device| {
        device.resources.transient_images.remove(image.as_raw());
        device.resources.concurrent_images.remove(image.as_raw());
        forget(&device, Object::of(image), device.resources.images.remove(image.as_raw()));
        call_down!(device.driver.commands, vkDestroyImage(handle, image, allocator));
    }

    /// Unregisters and destroys the buffer.
    vkDestroyBuffer(handle, buffer, allocator) |device| {
        device.resources.concurrent_buffers.remove(buffer.as_raw());
        forget(&device, Object::of(buffer), device.resources.buffers.remove(buffer.as_raw()));
        call_down!(device.driver.commands, vkDestroyBuffer(handle, buffer, allocator));
    }

    /// Unregisters and frees the memory.
    vkFreeMemory(handle, memory, allocator) |device| {
        device.resources.objects.remove(memory.as_raw());
        device.resources.external.remove(memory.as_raw());
        if let Some(check) = &device.check {
            check.tracker().free(memory);
        }
        device.reporter.names.set(Object::of(memory), "");
        call_down!(device.driver.commands, vkFreeMemory(handle, memory, allocator));
    }

    /// Unregisters and destroys the render pass, and the one that the layer created to resume it.
    vkDestroyRenderPass(handle, pass, allocator) |device| {
        let known = device.resources.render_passes.remove(pass.as_raw());
        device.reporter.names.set(Object::of(pass), "");
        let next = &device.driver.commands;
        if let Some(resuming_pass) = known.and_then(|known| known.resuming_pass) {
            call_down!(next, vkDestroyRenderPass(handle, resuming_pass, std::ptr::null()));
        }
        call_down!(next, vkDestroyRenderPass(handle, pass, allocator));
    }
}

destroys! {
    vkDestroySwapchainKHR: resources.concurrent_swapchains;
    vkDestroyImageView: resources.image_views;
    vkDestroyBufferView: resources.buffer_views;
    vkDestroyFramebuffer: resources.framebuffers;
    vkDestroyShaderModule: descriptors.modules;
    vkDestroyPipeline: descriptors.pipelines vertex_inputs;
    vkDestroyDescriptorUpdateTemplate: descriptors.templates;
}
