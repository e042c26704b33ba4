//! Render pass instances and the secondary command buffers inside them.

use ash::vk;
use ash::vk::Handle;
use tileheap::runtime::Capabilities;
use tileheap_layer::{array, given};

use super::entry::{V1_0, V1_3, entry_points};
use super::journal::{Attachment, Command, Object};
use super::recording::{Place, record};
use super::records::{Detail, PassTiles, Stage, pass_tiles};
use super::state::{Entered, enter};
use super::tile_shading::judge;

/// Records the beginning of a render pass instance; checks its tile settings and its attachments in tile memory.
fn begin(
    call: &mut Entered,
    command_buffer: vk::CommandBuffer,
    mut objects: Vec<Object>,
    dynamic: bool,
    secondary: bool,
    area: vk::Rect2D,
    attachments: Vec<Attachment>,
    tiles: PassTiles,
) {
    objects.extend(attachments.iter().map(|attachment| Object::of(attachment.view)));
    let active = call
        .recording(command_buffer)
        .and_then(|recording| recording.active);
    judge(call, tiles, active);
    for attachment in &attachments {
        let Some(memory) = call.tile_memory_of(attachment.image) else {
            continue;
        };
        if attachment.resolve {
            // VUID-VkRenderingAttachmentInfo-resolveImageView-10728, VUID-VkRenderPassBeginInfo-framebuffer-12328.
            call.violation(format_args!(
                "{:?}, a resolve attachment, is in tile memory",
                attachment.image
            ));
        }
        if active != Some(memory) {
            // VUID-vkCmdDraw-commandBuffer-10746, for the draws that follow; load operations would only lose contents.
            call.violation(format_args!(
                "{:?} is in tile memory {memory:?} while {active:?} is bound",
                attachment.image
            ));
        }
    }
    let command = Command::BeginRendering {
        dynamic,
        secondary,
        area,
        attachments,
    };
    record(call, command_buffer, Place::OutsideRendering, &objects, command);
    if let Some(recording) = call.recording(command_buffer) {
        recording.rendering = Some(secondary);
        recording.shading = tiles.shading;
    }
}

entry_points! {
    look_up:
    V1_3 => vk::PFN_vkCmdBeginRendering(command_buffer, info) |call| {
        if !call.enables(Capabilities::DYNAMIC_RENDERING) {
            // VUID-vkCmdBeginRendering-dynamicRendering-06446.
            call.violation("the feature dynamicRendering is off");
        }
        let info = given!(info);
        let colors = array!(info.p_color_attachments, info.color_attachment_count).iter();
        let depth = array!(info.p_depth_attachment, 1).iter();
        let stencil = array!(info.p_stencil_attachment, 1).iter();
        let all: Vec<_> = colors
            .chain(depth)
            .chain(stencil)
            .filter(|one| !one.image_view.is_null())
            .collect();
        let mut attachments = Vec::new();
        for one in &all {
            attachments.push(Attachment {
                view: one.image_view,
                image: call.image_of(one.image_view),
                resolve: false,
                load_op: one.load_op,
                store_op: one.store_op,
            });
        }
        for one in all.iter().filter(|one| !one.resolve_image_view.is_null()) {
            attachments.push(Attachment {
                view: one.resolve_image_view,
                image: call.image_of(one.resolve_image_view),
                resolve: true,
                load_op: vk::AttachmentLoadOp::DONT_CARE,
                store_op: vk::AttachmentStoreOp::STORE,
            });
        }
        let secondary = info
            .flags
            .contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS);
        begin(
            &mut call,
            command_buffer,
            Vec::new(),
            true,
            secondary,
            info.render_area,
            attachments,
            pass_tiles!(info.p_next),
        );
    }

    V1_0 => vk::PFN_vkCmdBeginRenderPass(command_buffer, info, contents) |call| {
        let info = given!(info);
        let (mut attachments, mut tiles) = (Vec::new(), PassTiles::default());
        if let Some(&Detail::Framebuffer { width, height, .. }) = call.detail(info.framebuffer) {
            let vk::Rect2D { offset, extent } = info.render_area;
            let end = (offset.x as u32 + extent.width, offset.y as u32 + extent.height);
            if end.0 > width || end.1 > height {
                // VUID-VkRenderPassBeginInfo-pNext-02852, -02853.
                call.violation(format_args!(
                    "the render area ends at {end:?}, but the framebuffer has {width} x {height}"
                ));
            }
        }
        if let (Some(Detail::Framebuffer { views, .. }), Some(Detail::RenderPass(facts, said))) =
            (call.detail(info.framebuffer), call.detail(info.render_pass))
        {
            tiles = *said;
            attachments.extend(views.iter().zip(facts).map(|(&view, facts)| Attachment {
                view,
                image: call.image_of(view),
                resolve: facts.resolve,
                load_op: facts.load_op,
                store_op: facts.store_op,
            }));
        }
        let objects = vec![Object::of(info.render_pass), Object::of(info.framebuffer)];
        let secondary = contents == vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
        let area = info.render_area;
        begin(&mut call, command_buffer, objects, false, secondary, area, attachments, tiles);
    }

    V1_3 => vk::PFN_vkCmdEndRendering(command_buffer) {
        end(command_buffer, "vkCmdEndRendering");
    }

    V1_0 => vk::PFN_vkCmdEndRenderPass(command_buffer) {
        end(command_buffer, "vkCmdEndRenderPass");
    }

    V1_0 => vk::PFN_vkCmdExecuteCommands(command_buffer, count, secondaries) |call| {
        let secondaries = array!(secondaries, count);
        let (active, rendering) = match call.recording(command_buffer) {
            Some(recording) => (recording.active, recording.rendering),
            None => return,
        };
        if rendering == Some(false) {
            // VUID-vkCmdExecuteCommands-contents-06018.
            call.violation("the render pass instance has inline contents");
        }
        let size_of = |call: &Entered, memory: Option<vk::DeviceMemory>| {
            memory
                .and_then(|memory| call.memory(memory))
                .map(|memory| memory.size)
        };
        for secondary in secondaries {
            let Some(recording) = call.recording(*secondary) else {
                continue;
            };
            let (stage, is_secondary, inherits) = (recording.stage, recording.secondary, recording.inherits);
            let continues = recording.rendering.is_some();
            if stage != Stage::Executable || !is_secondary {
                // VUID-vkCmdExecuteCommands-pCommandBuffers-00088 and -00089.
                call.violation(format_args!(
                    "{secondary:?} is not an executable secondary command buffer ({stage:?})"
                ));
            }
            if continues != rendering.is_some() {
                // VUID-vkCmdExecuteCommands-pCommandBuffers-00096 and -00100.
                call.violation(format_args!(
                    "{secondary:?} was begun for the other side of a render pass"
                ));
            }
            if rendering.is_some() && size_of(&call, inherits) != size_of(&call, active) {
                // VUID-vkCmdExecuteCommands-memory-10724; without the structure, contents are lost.
                call.violation(format_args!(
                    "{secondary:?} inherits {inherits:?} while {active:?} is bound"
                ));
            }
        }
        let objects: Vec<Object> = secondaries
            .iter()
            .map(|secondary| Object::of(*secondary))
            .collect();
        record(
            &mut call,
            command_buffer,
            Place::Anywhere,
            &objects,
            Command::Execute(secondaries.to_vec()),
        );
        if let Some(recording) = call.recording(command_buffer) {
            // The specification does not say that a binding persists, so callers bind again.
            recording.active = None;
        }
    }
}

/// Records the end of a render pass instance.
fn end(command_buffer: vk::CommandBuffer, function: &'static str) {
    let mut call = enter(command_buffer, function);
    record(
        &mut call,
        command_buffer,
        Place::InRendering,
        &[],
        Command::EndRendering,
    );
    let Some(recording) = call.recording(command_buffer) else {
        return;
    };
    (recording.rendering, recording.shading) = (None, false);
    if recording.per_tile {
        // VUID-vkCmdEndRendering-None-10645, VUID-vkCmdEndRenderPass-None-10653.
        call.violation("per-tile execution has not ended");
    }
}
