//! Commands that the runtime records, on queues that do not support them.

use ash::vk::{self, AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S, QueueFlags as Q};
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::{BufferDesc, CommandBufferId, Persistence};
use tileheap::units::Bytes;

use super::super::{CLEAR, CLEAR_DEPTH, Scene, of_format, plain};
use super::{Case, described};

/// A command buffer of a queue with these capabilities, in addition to that of the graphics queue.
fn on_queue(scene: &mut Scene, capabilities: Q) -> CommandBufferId {
    let queue = scene.frame.queue("other", capabilities);
    let submit = scene.frame.submit(queue);
    let batch = scene.frame.batch(submit);
    scene.frame.command_buffer(batch, "other")
}

/// A buffer that enters and leaves in these stages and that another queue copies.
fn copied(scene: &mut Scene, capabilities: Q, [entry, exit]: [S; 2]) {
    let state = |stages| ResourceState::new(L::UNDEFINED, stages, A::NONE);
    let external = ExternalDesc {
        entry: state(entry),
        exit: state(exit),
    };
    let desc = BufferDesc::new(Bytes(256));
    let buffer = scene
        .frame
        .resource("buffer", desc, Persistence::External(external));
    let out = scene.out;
    scene.render().color(out, CLEAR);
    let commands = on_queue(scene, capabilities);
    scene
        .frame
        .transfer_pass(commands, "copy")
        .transfer_source(buffer);
}

/// A color image whose previous version another queue copies.
fn copied_history(scene: &mut Scene, capabilities: Q) {
    let history = scene.frame.resource("history", plain(), Persistence::History);
    scene.render().color(history, CLEAR);
    let commands = on_queue(scene, capabilities);
    let copy = scene.frame.transfer_pass(commands, "copy");
    copy.transfer_source(history).previous();
}

/// Depth whose previous version another queue samples.
fn sampled_history(scene: &mut Scene, capabilities: Q) {
    let desc = of_format(vk::Format::D32_SFLOAT);
    let history = scene.frame.resource("history", desc, Persistence::History);
    scene.render().depth(history, CLEAR_DEPTH);
    let commands = on_queue(scene, capabilities);
    let sample = scene.frame.compute_pass(commands, "sample");
    sample.sampled(history).previous();
}

pub(crate) static CASES: &[Case] = &[
    described(
        "VUID-vkCmdPipelineBarrier2-srcStageMask-09675",
        |scene| copied(scene, Q::COMPUTE, [S::FRAGMENT_SHADER, S::NONE]),
        |scene| copied(scene, Q::GRAPHICS, [S::FRAGMENT_SHADER, S::NONE]),
    ),
    described(
        "VUID-vkCmdPipelineBarrier2-dstStageMask-09676",
        |scene| copied(scene, Q::TRANSFER, [S::HOST, S::COMPUTE_SHADER]),
        |scene| copied(scene, Q::COMPUTE, [S::HOST, S::COMPUTE_SHADER]),
    ),
    described(
        "VUID-vkCmdClearColorImage-commandBuffer-cmdpool",
        |scene| copied_history(scene, Q::TRANSFER),
        |scene| copied_history(scene, Q::COMPUTE),
    ),
    described(
        "VUID-vkCmdClearDepthStencilImage-commandBuffer-cmdpool",
        |scene| sampled_history(scene, Q::COMPUTE),
        |scene| sampled_history(scene, Q::GRAPHICS),
    ),
];
