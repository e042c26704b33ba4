//! Every fault of a frame's description, with the names in its message.

mod contents;
mod declared;
mod queues;

use ash::vk;
use tileheap::frame::{BufferDesc, CommandBufferId, FrameBuilder, ImageDesc, ResourceId};
use tileheap::units::Bytes;
use tileheap_testkit::frames::one_queue;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 64,
};
const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

/// What a builder declares is refused with this message.
#[track_caller]
fn refused(declare: impl FnOnce(&mut FrameBuilder, CommandBufferId), message: &str) {
    let mut frame = FrameBuilder::new("f", EXTENT);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    declare(&mut frame, commands);
    match frame.build() {
        Ok(_) => panic!("accepted; wanted: {message}"),
        Err(error) => assert_eq!(error.to_string(), message),
    }
}

fn color(frame: &mut FrameBuilder, name: &str) -> ResourceId {
    frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT))
}

fn depth(frame: &mut FrameBuilder, name: &str) -> ResourceId {
    frame.image(name, ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT))
}

fn buffer(frame: &mut FrameBuilder, name: &str) -> ResourceId {
    frame.buffer(name, BufferDesc::new(Bytes(256)))
}

/// Another queue, with a submit, a batch and a command buffer on it.
fn elsewhere(frame: &mut FrameBuilder, capabilities: vk::QueueFlags) -> CommandBufferId {
    let queue = frame.queue("other", capabilities);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "elsewhere")
}
