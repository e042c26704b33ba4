//! Entry points that order submissions: presentation, and commands whose ordering the layer cannot track.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::{array, call_down, chained, given};

use super::device::{Device, device_entry_points};
use super::host_waits::follow;
use super::resources::note_sharing;

/// Records that the presentation engine signals a semaphore and a fence, if `result` says that an image was acquired.
fn acquired(device: &Device, result: vk::Result, semaphore: vk::Semaphore, fence: vk::Fence) {
    if [vk::Result::SUCCESS, vk::Result::SUBOPTIMAL_KHR].contains(&result) {
        follow(device, |tracker| tracker.acquire(semaphore, fence));
    }
}

device_entry_points! {
    /// Records that the presentation engine waits for the semaphores, and signals the fences.
    vkQueuePresentKHR(queue, info) |device| {
        let given = given!(info);
        let waits = array!(given.p_wait_semaphores, given.wait_semaphore_count);
        let fences = chained!(given.p_next => vk::SwapchainPresentFenceInfoEXT<'_>);
        let fences = fences.map_or(&[][..], |info| array!(info.p_fences, info.swapchain_count));
        follow(&device, |tracker| tracker.present(waits, fences));
        call_down!(device.driver.commands, vkQueuePresentKHR(queue, info))
    }

    /// Records that the presentation engine signals the semaphore and the fence.
    vkAcquireNextImageKHR(handle, swapchain, timeout, semaphore, fence, out) |device| {
        let next = &device.driver.commands;
        let result = call_down!(next, vkAcquireNextImageKHR(handle, swapchain, timeout, semaphore, fence, out));
        acquired(&device, result, semaphore, fence);
        result
    }

    /// Registers the sharing mode of the images of each swapchain.
    vkCreateSharedSwapchainsKHR(handle, count, infos, allocator, out) |device| {
        let next = &device.driver.commands;
        let result = call_down!(next, vkCreateSharedSwapchainsKHR(handle, count, infos, allocator, out));
        let created = if result == vk::Result::SUCCESS { count } else { 0 };
        let swapchains = array!(out.cast_const(), created);
        for (info, swapchain) in array!(infos, created).iter().zip(swapchains) {
            let concurrent = &device.resources.concurrent_swapchains;
            note_sharing(&device, concurrent, swapchain.as_raw(), info.image_sharing_mode);
        }
        result
    }

    /// Registers the sharing mode of the images.
    vkGetSwapchainImagesKHR(handle, swapchain, count, out) |device| {
        let result = call_down!(device.driver.commands, vkGetSwapchainImagesKHR(handle, swapchain, count, out));
        let resources = &device.resources;
        let mode = match resources.concurrent_swapchains.get(swapchain.as_raw()) {
            Some(()) => vk::SharingMode::CONCURRENT,
            None => vk::SharingMode::EXCLUSIVE,
        };
        let are_listed = [vk::Result::SUCCESS, vk::Result::INCOMPLETE].contains(&result) && !out.is_null();
        let listed = if are_listed { *given!(count) } else { 0 };
        for image in array!(out.cast_const(), listed) {
            note_sharing(&device, &resources.concurrent_images, image.as_raw(), mode);
        }
        result
    }

    /// Same as `vkAcquireNextImageKHR`.
    vkAcquireNextImage2KHR(handle, info, out) |device| {
        let result = call_down!(device.driver.commands, vkAcquireNextImage2KHR(handle, info, out));
        let given = given!(info);
        acquired(&device, result, given.semaphore, given.fence);
        result
    }
}

macro_rules! unseen_order {
    ($($command:ident($($arg:ident),+);)+) => {
        device_entry_points! {$(
            /// Records that the command may order later work in a way that the layer cannot track.
            $command(handle, $($arg),+) |device| {
                follow(&device, |tracker| {
                    tracker.allow_unseen_order();
                    None
                });
                call_down!(device.driver.commands, $command(handle, $($arg),+))
            }
        )+}
    };
}

unseen_order! {
    vkGetEventStatus(event);
    vkGetFenceFdKHR(info, out);
    vkGetSemaphoreFdKHR(info, out);
    vkGetFenceWin32HandleKHR(info, out);
    vkGetSemaphoreWin32HandleKHR(info, out);
    vkImportFenceFdKHR(info);
    vkImportSemaphoreFdKHR(info);
    vkImportFenceWin32HandleKHR(info);
    vkImportSemaphoreWin32HandleKHR(info);
    vkWaitForPresentKHR(swapchain, present, timeout);
}
