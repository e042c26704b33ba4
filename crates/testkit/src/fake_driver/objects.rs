//! Creation and destruction of device objects except memory.

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi;
use tileheap::runtime::Capabilities;
use tileheap_layer::{array, chained, given, store, text};

use super::entry::{DEBUG_UTILS, V1_0, V1_2, entry_points};
use super::journal::{Call, DepthResolve, Object, Reference, Subpass};
use super::memory::{buffer_facts, image_facts};
use super::records::{AttachmentFacts, Detail, Recording, pass_tiles};
use super::state::Entered;

/// Declares the pair of functions that create and destroy one type of object. `facts` checks the create info and
/// returns the handles that the object depends on, and the details to keep.
macro_rules! objects {
    ($($($create:ident)::+ / $($destroy:ident)::+: $info:ty, $facts:expr;)*) => {
        entry_points! { look_up_pair: $(
            V1_0 => $($create)::+(device, info, _, out) |call may fail| {
                let facts: fn(&mut Entered, &$info) -> (Vec<u64>, Detail) = $facts;
                call.note_chain(given!(info).p_next);
                let (uses, detail) = facts(&mut call, given!(info));
                store!(out, call.create(device.as_raw(), &uses, detail));
                vk::Result::SUCCESS
            }
            V1_0 => $($destroy)::+(device, object, _) |call| {
                call.destroy(object);
            }
        )* }
    };
}

objects! {
    vk::PFN_vkCreateBuffer / vk::PFN_vkDestroyBuffer: vk::BufferCreateInfo<'_>, |call, info| {
        if info.usage.contains(ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM) && !call.enables(Capabilities::TILE_MEMORY) {
            // VUID-VkBufferCreateInfo-tileMemoryHeap-10762.
            call.violation("tile usage without the feature tileMemoryHeap");
        }
        (Vec::new(), Detail::Buffer(buffer_facts(info)))
    };
    vk::PFN_vkCreateImage / vk::PFN_vkDestroyImage: vk::ImageCreateInfo<'_>, |call, info| {
        if info.usage.contains(ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM) && !call.enables(Capabilities::TILE_MEMORY) {
            // VUID-VkImageCreateInfo-tileMemoryHeap-10766.
            call.violation("tile usage without the feature tileMemoryHeap");
        }
        let modifier = chained!(info.p_next => vk::ImageDrmFormatModifierExplicitCreateInfoEXT<'_>);
        let external = chained!(info.p_next => vk::ExternalFormatANDROID<'_>);
        let tiled = info.tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT;
        if (tiled, info.format == vk::Format::UNDEFINED) != (modifier.is_some(), external.is_some()) {
            // VUID-VkImageCreateInfo-tiling-02261, -pNext-02262, -pNext-01974 and -pNext-01975.
            call.violation(format_args!("{:?} and {:?} without the features that they need", info.tiling, info.format));
        }
        (Vec::new(), Detail::Image(image_facts(info)))
    };
    vk::PFN_vkCreateImageView / vk::PFN_vkDestroyImageView: vk::ImageViewCreateInfo<'_>, |call, info| {
        call.expect(info.image);
        if call.image(info.image).is_some_and(|facts| facts.bound.is_none()) {
            // VUID-VkImageViewCreateInfo-image-01020.
            call.violation(format_args!("{:?} has no memory", info.image));
        }
        (vec![info.image.as_raw()], Detail::Nothing)
    };
    vk::PFN_vkCreateFramebuffer / vk::PFN_vkDestroyFramebuffer: vk::FramebufferCreateInfo<'_>, framebuffer;
    vk::PFN_vkCreateRenderPass / vk::PFN_vkDestroyRenderPass: vk::RenderPassCreateInfo<'_>, |_, info| {
        let mut attachments: Vec<AttachmentFacts> =
            array!(info.p_attachments, info.attachment_count).iter().map(|one| AttachmentFacts {
                load_op: one.load_op,
                store_op: one.store_op,
                resolve: false,
            }).collect();
        for subpass in array!(info.p_subpasses, info.subpass_count) {
            for target in array!(subpass.p_resolve_attachments, subpass.color_attachment_count) {
                if let Some(one) = attachments.get_mut(target.attachment as usize) {
                    one.resolve = true;
                }
            }
        }
        (Vec::new(), Detail::RenderPass(attachments, pass_tiles!(info.p_next)))
    };
    vk::PFN_vkCreateDescriptorSetLayout / vk::PFN_vkDestroyDescriptorSetLayout: vk::DescriptorSetLayoutCreateInfo<'_>, |_, _| (Vec::new(), Detail::Nothing);
    vk::PFN_vkCreateDescriptorPool / vk::PFN_vkDestroyDescriptorPool: vk::DescriptorPoolCreateInfo<'_>, |_, _| (Vec::new(), Detail::Nothing);
    vk::PFN_vkCreateCommandPool / vk::PFN_vkDestroyCommandPool: vk::CommandPoolCreateInfo<'_>, |_, info| {
        let resets = info.flags.contains(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        (Vec::new(), Detail::CommandPool { resets })
    };
    vk::PFN_vkCreateFence / vk::PFN_vkDestroyFence: vk::FenceCreateInfo<'_>, |_, info| {
        (Vec::new(), Detail::Fence { signaled: info.flags.contains(vk::FenceCreateFlags::SIGNALED) })
    };
    vk::PFN_vkCreateSemaphore / vk::PFN_vkDestroySemaphore: vk::SemaphoreCreateInfo<'_>, |call, info| {
        let timeline = chained!(info.p_next => vk::SemaphoreTypeCreateInfo<'_>)
            .filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE);
        if timeline.is_some() && !call.enables(Capabilities::TIMELINE_SEMAPHORE) {
            // VUID-VkSemaphoreTypeCreateInfo-timelineSemaphore-03252.
            call.violation("a timeline semaphore without the feature timelineSemaphore");
        }
        (Vec::new(), Detail::Semaphore { value: timeline.map(|kind| kind.initial_value) })
    };
}

fn framebuffer(call: &mut Entered, info: &vk::FramebufferCreateInfo<'_>) -> (Vec<u64>, Detail) {
    call.expect(info.render_pass);
    let views = array!(info.p_attachments, info.attachment_count);
    let passes = match call.detail(info.render_pass) {
        Some(Detail::RenderPass(attachments, _)) => attachments.clone(),
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
        Detail::Framebuffer {
            views: views.to_vec(),
            width: info.width,
            height: info.height,
        },
    )
}

fn reference(one: &vk::AttachmentReference2<'_>) -> Reference {
    Reference {
        attachment: one.attachment,
        layout: one.layout,
        aspects: one.aspect_mask,
    }
}

fn subpass(one: &vk::SubpassDescription2<'_>) -> Subpass {
    let list = |rows: &[vk::AttachmentReference2<'_>]| rows.iter().map(reference).collect();
    let resolve = chained!(one.p_next => vk::SubpassDescriptionDepthStencilResolve<'_>);
    // SAFETY: Valid usage: null or alive.
    let target = |of: &vk::SubpassDescriptionDepthStencilResolve<'_>| unsafe {
        of.p_depth_stencil_resolve_attachment.as_ref().map(reference)
    };
    Subpass {
        view_mask: one.view_mask,
        colors: list(array!(one.p_color_attachments, one.color_attachment_count)),
        resolves: list(array!(one.p_resolve_attachments, one.color_attachment_count)),
        inputs: list(array!(one.p_input_attachments, one.input_attachment_count)),
        // SAFETY: Valid usage: null or alive.
        depth: unsafe { one.p_depth_stencil_attachment.as_ref() }.map(reference),
        depth_resolve: resolve.and_then(|of| {
            Some(DepthResolve {
                target: target(of)?,
                depth: of.depth_resolve_mode,
                stencil: of.stencil_resolve_mode,
            })
        }),
        preserved: array!(one.p_preserve_attachments, one.preserve_attachment_count).to_vec(),
    }
}

/// The merge feedback of a subpass: the driver merges every second subpass with the one before it.
fn feedback(index: u32) -> vk::RenderPassSubpassFeedbackInfoEXT {
    use vk::SubpassMergeStatusEXT as Status;
    let (status, description) = match index % 2 {
        0 => (Status::NOT_MERGED_UNSPECIFIED, c"an even subpass"),
        _ => (Status::MERGED, c""),
    };
    let info = vk::RenderPassSubpassFeedbackInfoEXT::default()
        .subpass_merge_status(status)
        .post_merge_index(index / 2);
    info.description(description).expect("a short text")
}

entry_points! {
    look_up:
    V1_2 => vk::PFN_vkCreateRenderPass2(device, info, _, out) |call may fail| {
        let info = given!(info);
        let subpasses: Vec<Subpass> =
            array!(info.p_subpasses, info.subpass_count).iter().map(subpass).collect();
        let mut attachments: Vec<AttachmentFacts> =
            array!(info.p_attachments, info.attachment_count).iter().map(|one| AttachmentFacts {
                load_op: one.load_op,
                store_op: one.store_op,
                resolve: false,
            }).collect();
        for one in &subpasses {
            let depth = one.depth_resolve.map(|resolve| resolve.target);
            for target in one.resolves.iter().copied().chain(depth) {
                if let Some(one) = attachments.get_mut(target.attachment as usize) {
                    one.resolve = true;
                }
            }
        }
        for (index, one) in (0u32..).zip(array!(info.p_subpasses, info.subpass_count)) {
            if let Some(one) = chained!(one.p_next => vk::RenderPassSubpassFeedbackCreateInfoEXT<'_>) {
                if !call.enables(Capabilities::SUBPASS_MERGE_FEEDBACK) {
                    call.violation("feedback about a subpass without the feature subpassMergeFeedback");
                }
                store!(one.p_subpass_feedback, feedback(index));
            }
        }
        let render_pass = call.create(device.as_raw(), &[], Detail::RenderPass(attachments, pass_tiles!(info.p_next)));
        call.journal.push(Call::Subpasses { render_pass, subpasses });
        store!(out, render_pass);
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkAllocateCommandBuffers(device, info, out) |call| {
        let info = given!(info);
        call.expect(info.command_pool);
        let failed = call.fails();
        let secondary = info.level == vk::CommandBufferLevel::SECONDARY;
        for slot in array!(mut out, info.command_buffer_count) {
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

    V1_0 => vk::PFN_vkAllocateDescriptorSets(device, info, out) |call| {
        let info = given!(info);
        call.expect(info.descriptor_pool);
        let failed = call.fails();
        for slot in array!(mut out, info.descriptor_set_count) {
            *slot = match failed {
                Some(_) => vk::DescriptorSet::null(),
                None => call.create(info.descriptor_pool.as_raw(), &[], Detail::Nothing),
            };
        }
        failed.unwrap_or(vk::Result::SUCCESS)
    }

    V1_0 => vk::PFN_vkUpdateDescriptorSets(device, writes, infos, _, _) |call| {
        for write in array!(infos, writes) {
            call.expect(write.dst_set);
        }
    }

    DEBUG_UTILS => vk::PFN_vkSetDebugUtilsObjectNameEXT(device, info) |call may fail| {
        let info = given!(info);
        call.expect_raw(info.object_handle, info.object_type);
        let object = Object {
            kind: info.object_type,
            handle: info.object_handle,
        };
        let name = text!(info.p_object_name);
        call.journal.push(Call::Name { object, name });
        vk::Result::SUCCESS
    }
}
