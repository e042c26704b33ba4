//! Entry points that create, bind, name and destroy images, buffers, views, render passes, framebuffers and semaphores.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::render_passes::RenderPassDesc;
use tileheap_layer::{array, call_down, chained, given, text};

use super::device::{Device, Framebuffer, Swapchain, device_entry_points};
use super::passes::known_views;
use super::recorder;
use crate::model::objects::{Allocation, Buffer, Image, View, new_number_of, number_of};
use crate::model::render_passes::RenderPass;

/// Declares entry points that create an object in the next layer, and register it if the device is capturing.
macro_rules! creates {
    ($($command:ident |$device:ident, $info:ident, $created:ident| $remember:expr;)+) => {
        $crate::hooks::device::device_entry_points! {$(
            $command(handle, info, allocator, out) |$device| {
                let result = tileheap_layer::call_down!($device.next, $command(handle, info, allocator, out));
                if result == vk::Result::SUCCESS && $device.is_capturing() {
                    let ($info, $created) =
                        (tileheap_layer::given!(info), ash::vk::Handle::as_raw(*tileheap_layer::given!(out)));
                    $remember;
                }
                result
            }
        )+}
    };
}
pub(crate) use creates;

/// Declares entry points that destroy an object, and remove it from the layer's state.
macro_rules! destroys {
    ($($command:ident: $($map:ident).+;)+) => {
        $crate::hooks::device::device_entry_points! {$(
            $command(handle, object, allocator) |device| {
                device.$($map).+.remove(ash::vk::Handle::as_raw(object));
                tileheap_layer::call_down!(device.next, $command(handle, object, allocator));
            }
        )+}
    };
}
pub(crate) use destroys;

creates! {
    vkCreateImage |device, info, created| {
        let image = Image::new(device.next_number(), info);
        let external = chained!(info.p_next => vk::ExternalMemoryImageCreateInfo<'_>);
        if external.is_some_and(|external| !external.handle_types.is_empty()) {
            image.common.shared.store(true, Ordering::Relaxed);
        }
        device.objects.images.insert(created, Arc::new(image));
    };
    vkCreateBuffer |device, info, created| {
        let buffer = Buffer::new(device.next_number(), info);
        let external = chained!(info.p_next => vk::ExternalMemoryBufferCreateInfo<'_>);
        if external.is_some_and(|external| !external.handle_types.is_empty()) {
            buffer.common.shared.store(true, Ordering::Relaxed);
        }
        device.objects.buffers.insert(created, Arc::new(buffer));
    };
    vkCreateImageView |device, info, created| {
        if let Some(image) = device.objects.image(info.image) {
            device.objects.views.insert(created, Arc::new(View::new(image, info)));
        }
    };
    vkCreateBufferView |device, info, created| {
        if let Some(range) = device.objects.buffer_range(info.buffer, info.offset, info.range) {
            device.objects.buffer_views.insert(created, range);
        }
    };
    vkCreateSwapchainKHR |device, info, created| {
        device.swapchains.insert(created, Arc::new(Swapchain::new(info)));
    };
    vkCreateRenderPass |device, info, created| {
        device.render_passes.insert(created, Arc::new(RenderPass(RenderPassDesc::from_v1(info))));
    };
    vkCreateRenderPass2 |device, info, created| {
        device.render_passes.insert(created, Arc::new(RenderPass(RenderPassDesc::from_v2(info))));
    };
    vkCreateFramebuffer |device, info, created| {
        let is_imageless = info.flags.contains(vk::FramebufferCreateFlags::IMAGELESS);
        let count = if is_imageless { 0 } else { info.attachment_count };
        device.framebuffers.insert(created, Framebuffer {
            views: known_views(&device, array!(info.p_attachments, count)),
            layers: info.layers,
        });
    };
    vkCreateSemaphore |device, info, created| {
        let kind = chained!(info.p_next => vk::SemaphoreTypeCreateInfo<'_>);
        let timeline = kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE);
        let value = timeline.map(|kind| kind.initial_value);
        let number = new_number_of(vk::Semaphore::from_raw(created));
        device.create_semaphore(number, value);
    };
    vkCreateFence |_device, _info, created| {
        new_number_of(vk::Fence::from_raw(created));
    };
    vkCreateEvent |_device, _info, created| {
        new_number_of(vk::Event::from_raw(created));
    };
    vkCreateQueryPool |device, info, created| {
        if info.query_type == vk::QueryType::PERFORMANCE_QUERY_KHR {
            device.performance_pools.insert(created, ());
        }
    };
    vkAllocateMemory |device, _info, created| {
        let number = device.next_allocation();
        let allocation = Allocation { number, ..Allocation::default() };
        device.objects.allocations.insert(created, Arc::new(allocation));
    };
}

destroys! {
    vkDestroyImage: objects.images;
    vkDestroyBuffer: objects.buffers;
    vkDestroyImageView: objects.views;
    vkDestroyBufferView: objects.buffer_views;
    vkDestroySwapchainKHR: swapchains;
    vkDestroyRenderPass: render_passes;
    vkDestroyFramebuffer: framebuffers;
    vkFreeMemory: objects.allocations;
    vkDestroyQueryPool: performance_pools;
}

/// Declares entry points that bind memory to one resource and to several resources.
macro_rules! binds {
    ($($one:ident, $several:ident($field:ident) of $needs:ident;)+) => {
        device_entry_points! {$(
            $one(handle, resource, memory, offset) |device| {
                bound!(device, $field, resource, memory, offset, $needs);
                call_down!(device.next, $one(handle, resource, memory, offset))
            }
            $several(handle, count, infos) |device| {
                for info in array!(infos, count) {
                    bound!(device, $field, info.$field, info.memory, info.memory_offset, $needs);
                }
                call_down!(device.next, $several(handle, count, infos))
            }
        )+}
    };
}

/// Records the memory that a resource is bound to; an image of a swapchain is bound to none.
macro_rules! bound {
    ($device:ident, $field:ident, $resource:expr, $memory:expr, $offset:expr, $needs:ident) => {
        if let Some(known) = $device.objects.$field($resource).filter(|_| !$memory.is_null()) {
            let mut needs = vk::MemoryRequirements::default();
            call_down!($device.next, $needs($device.handle, $resource, &mut needs));
            if let Some(allocation) = $device.objects.allocations.get($memory.as_raw()) {
                known.common.bind(allocation, $offset, needs.size);
            }
        }
    };
}

binds! {
    vkBindImageMemory, vkBindImageMemory2(image) of vkGetImageMemoryRequirements;
    vkBindBufferMemory, vkBindBufferMemory2(buffer) of vkGetBufferMemoryRequirements;
}

device_entry_points! {
    vkDestroySemaphore(handle, semaphore, allocator) |device| {
        device.semaphores(|all| all.destroy(number_of(semaphore)));
        call_down!(device.next, vkDestroySemaphore(handle, semaphore, allocator));
    }
    vkMapMemory(handle, memory, offset, size, flags, out) |device| {
        device.map(memory);
        call_down!(device.next, vkMapMemory(handle, memory, offset, size, flags, out))
    }
    vkMapMemory2KHR(handle, info, out) |device| {
        device.map(given!(info).memory);
        call_down!(device.next, vkMapMemory2KHR(handle, info, out))
    }
    vkCreateSharedSwapchainsKHR(handle, count, infos, allocator, out) |device| {
        let next = &device.next;
        let result = call_down!(next, vkCreateSharedSwapchainsKHR(handle, count, infos, allocator, out));
        let created = if result == vk::Result::SUCCESS { count } else { 0 };
        let swapchains = array!(out.cast_const(), created);
        for (info, swapchain) in array!(infos, created).iter().zip(swapchains) {
            device.swapchains.insert(swapchain.as_raw(), Arc::new(Swapchain::new(info)));
        }
        result
    }
    vkGetSwapchainImagesKHR(handle, swapchain, count, out) |device| {
        let result = call_down!(device.next, vkGetSwapchainImagesKHR(handle, swapchain, count, out));
        let known = device.swapchains.get(swapchain.as_raw()).filter(|_| !out.is_null());
        let Some(known) = known else { return result };
        let (desc, sharing_mode) = (known.desc, known.sharing_mode);
        let images = array!(out.cast_const(), *given!(count));
        images.clone_into(&mut known.images());
        for image in images {
            let is_same = |known: Arc<Image>| {
                known.swapchain && (known.desc, known.common.sharing_mode) == (desc, sharing_mode)
            };
            if device.objects.image(*image).is_some_and(is_same) {
                continue;
            }
            let known = Image::of_swapchain(device.next_number(), desc, sharing_mode);
            device.objects.images.insert(image.as_raw(), Arc::new(known));
        }
        result
    }
    vkSetDebugUtilsObjectNameEXT(handle, info) |device| {
        let given = given!(info);
        set_name(&device, given.object_type, given.object_handle, given.p_object_name);
        call_down!(device.next, vkSetDebugUtilsObjectNameEXT(handle, info))
    }
    vkDebugMarkerSetObjectNameEXT(handle, info) |device| {
        let given = given!(info);
        let kind = vk::ObjectType::from_raw(given.object_type.as_raw());
        set_name(&device, kind, given.object, given.p_object_name);
        call_down!(device.next, vkDebugMarkerSetObjectNameEXT(handle, info))
    }
}

fn set_name(device: &Device, kind: vk::ObjectType, handle: u64, name: *const std::ffi::c_char) {
    if name.is_null() {
        return;
    }
    let name = text!(name);
    let objects = &device.objects;
    match kind {
        vk::ObjectType::IMAGE => _ = objects.images.with(handle, |one| one.common.set_name(&name)),
        vk::ObjectType::BUFFER => _ = objects.buffers.with(handle, |one| one.common.set_name(&name)),
        vk::ObjectType::COMMAND_BUFFER => recorder::set_name(handle, &name),
        _ => {}
    }
}
