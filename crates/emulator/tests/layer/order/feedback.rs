//! Draws that read attachments of their own subpass as input attachments.

use ash::vk;
use ash::vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageLayout as Layout};

use tileheap_device::ffi::TileMemoryBindInfoQCOM;

use super::scene::{COLOR_WRITE, NOTHING, Scene};

const READ_AND_DRAW: &str =
    "layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput from;
layout(location = 0) out uint color;
void main() { color = subpassLoad(from).x + 1; }";

pub(super) const FROM: (vk::PipelineStageFlags, vk::AccessFlags) = (
    vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
);
const TO: (vk::PipelineStageFlags, vk::AccessFlags) = (
    vk::PipelineStageFlags::FRAGMENT_SHADER,
    vk::AccessFlags::INPUT_ATTACHMENT_READ,
);

/// A render pass that draws to an attachment and reads it, with a dependency of its subpass on itself.
fn render_pass(scene: &Scene<'_>) -> vk::RenderPass {
    let attachments = [vk::AttachmentDescription::default()
        .format(vk::Format::R32_UINT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(Load::CLEAR)
        .store_op(Store::STORE)
        .initial_layout(Layout::GENERAL)
        .final_layout(Layout::GENERAL)];
    let uses = [vk::AttachmentReference::default().layout(Layout::GENERAL)];
    let subpasses = [vk::SubpassDescription::default()
        .color_attachments(&uses)
        .input_attachments(&uses)];
    let dependencies = [vk::SubpassDependency::default()
        .src_stage_mask(FROM.0)
        .src_access_mask(FROM.1)
        .dst_stage_mask(TO.0)
        .dst_access_mask(TO.1)
        .dependency_flags(vk::DependencyFlags::BY_REGION)];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    scene.rig.create(&info)
}

/// Orders reads of draws after writes of earlier draws, and makes these accesses of them available.
fn barrier(scene: &Scene<'_>, available: vk::AccessFlags) {
    let barriers = [vk::MemoryBarrier::default()
        .src_access_mask(available)
        .dst_access_mask(TO.1)];
    let (device, by_region) = (&scene.rig.device, vk::DependencyFlags::BY_REGION);
    // SAFETY: Recording a subpass with this dependency on itself.
    unsafe { device.cmd_pipeline_barrier(scene.commands, FROM.0, TO.0, by_region, &barriers, &[], &[]) };
}

/// Draws to the attachment, and reads it.
fn read_and_draw(scene: &Scene<'_>, pass: vk::RenderPass) {
    let input = [vk::DescriptorType::INPUT_ATTACHMENT];
    scene.draw_by(pass, 0, (READ_AND_DRAW, &[vk::ColorComponentFlags::R], &input));
}

/// A draw to an attachment, and two draws that also read it.
pub(super) fn feedback(scene: &Scene<'_>, has_barrier: bool) {
    let pass = render_pass(scene);
    scene.transition(scene.x, NOTHING, COLOR_WRITE);
    scene.pass(pass, vk::SubpassContents::INLINE, |_| {
        scene.draw(pass, 0);
        for _ in 0..2 {
            if has_barrier {
                barrier(scene, FROM.1);
            }
            read_and_draw(scene, pass);
        }
    });
}

/// The secondary command buffers of the draws.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Secondaries {
    /// One for each draw; this is the number of draws that only write.
    Each(usize),
    /// One for a draw that only writes, and one that also reads.
    One,
}

/// Like [`feedback`], with secondary command buffers and a barrier that makes these accesses available.
pub(super) fn feedback_by_secondaries(
    scene: &Scene<'_>,
    secondaries: Secondaries,
    available: Option<vk::AccessFlags>,
) {
    let pass = render_pass(scene);
    scene.transition(scene.x, NOTHING, COLOR_WRITE);
    let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
    scene.pass(pass, contents, |framebuffer| {
        let run = |inside: &dyn Fn(&Scene<'_>)| {
            let commands = scene.rig.allocate_commands(vk::CommandBufferLevel::SECONDARY);
            let mut bound = TileMemoryBindInfoQCOM::default().memory(scene.object);
            let inheritance = vk::CommandBufferInheritanceInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .push_next(&mut bound);
            use vk::CommandBufferUsageFlags as F;
            let info = vk::CommandBufferBeginInfo::default()
                .flags(F::RENDER_PASS_CONTINUE | F::SIMULTANEOUS_USE)
                .inheritance_info(&inheritance);
            scene.rig.record_into(commands, &info, |commands| {
                inside(&Scene { commands, ..*scene });
            });
            scene.rig.execute(scene.commands, commands);
        };
        if let Secondaries::Each(draws) = secondaries {
            (0..draws).for_each(|_| run(&|scene| scene.draw(pass, 0)));
        }
        run(&|scene| {
            if secondaries == Secondaries::One {
                scene.draw(pass, 0);
            }
            if let Some(available) = available {
                barrier(scene, available);
            }
            read_and_draw(scene, pass);
        });
    });
}
