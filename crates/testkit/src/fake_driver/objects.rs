//! Creation and destruction of what a device makes, but for memory.

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi;

use super::journal::{Call, Object};
use super::memory::{buffer_facts, image_facts};
use super::pointers::{attempt, borrow, chained, slice, store, text};
use super::records::{AttachmentFacts, Detail, Recording};
use super::state::{Entered, enter};

/// Declares the pair of functions that create and destroy one type of object. `facts` judges the creation and gives the
/// handles that the object needs alive, and what is kept of it.
macro_rules! objects {
    ($($create:ident / $destroy:ident: $handle:ty, $info:ty, $facts:expr;)*) => {$(
        pub(super) unsafe extern "system" fn $create(
            device: vk::Device,
            info: *const $info,
            _: *const vk::AllocationCallbacks<'_>,
            out: *mut $handle,
        ) -> vk::Result {
            let mut call = enter(device, stringify!($create));
            attempt!(call);
            let facts: fn(&mut Entered, &$info) -> (Vec<u64>, Detail) = $facts;
            let (uses, detail) = facts(&mut call, borrow!(info));
            let object: $handle = call.create(device.as_raw(), &uses, detail);
            store!(out, object);
            vk::Result::SUCCESS
        }

        pub(super) unsafe extern "system" fn $destroy(
            device: vk::Device,
            object: $handle,
            _: *const vk::AllocationCallbacks<'_>,
        ) {
            enter(device, stringify!($destroy)).destroy(object);
        }
    )*};
}

objects! {
    vkCreateBuffer / vkDestroyBuffer: vk::Buffer, vk::BufferCreateInfo<'_>, |call, info| {
        if info.usage.contains(ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) && !call.enabled().tile {
            // VUID-VkBufferCreateInfo-tileMemoryHeap-10762.
            call.violation("tile usage without the feature tileMemoryHeap");
        }
        (Vec::new(), Detail::Buffer(buffer_facts(info)))
    };
    vkCreateImage / vkDestroyImage: vk::Image, vk::ImageCreateInfo<'_>, |call, info| {
        if info.usage.contains(ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) && !call.enabled().tile {
            // VUID-VkImageCreateInfo-tileMemoryHeap-10766.
            call.violation("tile usage without the feature tileMemoryHeap");
        }
        (Vec::new(), Detail::Image(image_facts(info)))
    };
    vkCreateImageView / vkDestroyImageView: vk::ImageView, vk::ImageViewCreateInfo<'_>, |call, info| {
        call.expect(info.image);
        if call.image(info.image).is_some_and(|facts| facts.bound.is_none()) {
            // VUID-VkImageViewCreateInfo-image-01020.
            call.violation(format_args!("{:?} has no memory", info.image));
        }
        (vec![info.image.as_raw()], Detail::Nothing)
    };
    vkCreateFramebuffer / vkDestroyFramebuffer: vk::Framebuffer, vk::FramebufferCreateInfo<'_>, framebuffer;
    vkCreateRenderPass / vkDestroyRenderPass: vk::RenderPass, vk::RenderPassCreateInfo<'_>, |_, info| {
        let mut attachments: Vec<AttachmentFacts> =
            slice!(info.p_attachments, info.attachment_count).iter().map(|one| AttachmentFacts {
                load_op: one.load_op,
                store_op: one.store_op,
                resolve: false,
            }).collect();
        for subpass in slice!(info.p_subpasses, info.subpass_count) {
            for target in slice!(subpass.p_resolve_attachments, subpass.color_attachment_count) {
                if let Some(one) = attachments.get_mut(target.attachment as usize) {
                    one.resolve = true;
                }
            }
        }
        (Vec::new(), Detail::RenderPass(attachments))
    };
    vkCreateDescriptorSetLayout / vkDestroyDescriptorSetLayout:
        vk::DescriptorSetLayout, vk::DescriptorSetLayoutCreateInfo<'_>, |_, _| (Vec::new(), Detail::Nothing);
    vkCreateDescriptorPool / vkDestroyDescriptorPool:
        vk::DescriptorPool, vk::DescriptorPoolCreateInfo<'_>, |_, _| (Vec::new(), Detail::Nothing);
    vkCreateCommandPool / vkDestroyCommandPool: vk::CommandPool, vk::CommandPoolCreateInfo<'_>, |_, info| {
        let resets = info.flags.contains(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        (Vec::new(), Detail::CommandPool { resets })
    };
    vkCreateFence / vkDestroyFence: vk::Fence, vk::FenceCreateInfo<'_>, |_, info| {
        (Vec::new(), Detail::Fence { signalled: info.flags.contains(vk::FenceCreateFlags::SIGNALED) })
    };
    vkCreateSemaphore / vkDestroySemaphore: vk::Semaphore, vk::SemaphoreCreateInfo<'_>, |call, info| {
        let timeline = chained!(info.p_next => vk::SemaphoreTypeCreateInfo<'_>)
            .filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE);
        if timeline.is_some() && !call.enabled().timeline_semaphore {
            // VUID-VkSemaphoreTypeCreateInfo-timelineSemaphore-03252.
            call.violation("a timeline semaphore without the feature timelineSemaphore");
        }
        (Vec::new(), Detail::Semaphore { value: timeline.map(|kind| kind.initial_value) })
    };
}

fn framebuffer(call: &mut Entered, info: &vk::FramebufferCreateInfo<'_>) -> (Vec<u64>, Detail) {
    call.expect(info.render_pass);
    let views = slice!(info.p_attachments, info.attachment_count);
    let passes = match call.detail(info.render_pass) {
        Some(Detail::RenderPass(attachments)) => attachments.clone(),
        _ => Vec::new(),
    };
    if passes.len() != views.len() {
        // VUID-VkFramebufferCreateInfo-attachmentCount-00876.
        call.violation(format_args!(
            "{} views for {} attachments",
            views.len(),
            passes.len()
        ));
    }
    for (view, attachment) in views.iter().zip(passes) {
        call.expect(*view);
        if attachment.resolve && call.tile_memory_of(call.image_of(*view)).is_some() {
            // VUID-VkFramebufferCreateInfo-pAttachments-12327.
            call.violation(format_args!("{view:?}, a resolve attachment, is in tile memory"));
        }
    }
    (
        views.iter().map(|view| view.as_raw()).collect(),
        Detail::Framebuffer(views.to_vec()),
    )
}

pub(super) unsafe extern "system" fn vkAllocateCommandBuffers(
    device: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    out: *mut vk::CommandBuffer,
) -> vk::Result {
    let mut call = enter(device, "vkAllocateCommandBuffers");
    let info = borrow!(info);
    call.expect(info.command_pool);
    let failed = call.fails();
    let secondary = info.level == vk::CommandBufferLevel::SECONDARY;
    for slot in slice!(mut out, info.command_buffer_count) {
        let recording = Recording {
            secondary,
            ..Recording::default()
        };
        *slot = match failed {
            Some(_) => vk::CommandBuffer::null(),
            None => call.create(info.command_pool.as_raw(), &[], Detail::CommandBuffer(recording)),
        };
    }
    failed.unwrap_or(vk::Result::SUCCESS)
}

pub(super) unsafe extern "system" fn vkAllocateDescriptorSets(
    device: vk::Device,
    info: *const vk::DescriptorSetAllocateInfo<'_>,
    out: *mut vk::DescriptorSet,
) -> vk::Result {
    let mut call = enter(device, "vkAllocateDescriptorSets");
    let info = borrow!(info);
    call.expect(info.descriptor_pool);
    let failed = call.fails();
    for slot in slice!(mut out, info.descriptor_set_count) {
        *slot = match failed {
            Some(_) => vk::DescriptorSet::null(),
            None => call.create(info.descriptor_pool.as_raw(), &[], Detail::Nothing),
        };
    }
    failed.unwrap_or(vk::Result::SUCCESS)
}

pub(super) unsafe extern "system" fn vkUpdateDescriptorSets(
    device: vk::Device,
    writes: u32,
    infos: *const vk::WriteDescriptorSet<'_>,
    _copies: u32,
    _: *const vk::CopyDescriptorSet<'_>,
) {
    let mut call = enter(device, "vkUpdateDescriptorSets");
    for write in slice!(infos, writes) {
        call.expect(write.dst_set);
    }
}

pub(super) unsafe extern "system" fn vkSetDebugUtilsObjectNameEXT(
    device: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    let mut call = enter(device, "vkSetDebugUtilsObjectNameEXT");
    attempt!(call);
    let info = borrow!(info);
    call.expect_raw(info.object_handle, info.object_type);
    let object = Object {
        kind: info.object_type,
        handle: info.object_handle,
    };
    let name = text(info.p_object_name);
    call.journal.push(Call::Name { object, name });
    vk::Result::SUCCESS
}
