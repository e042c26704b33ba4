//! The runtime on a real driver: every test renders, dispatches or copies, and compares bytes. Runs with validation if `TILEHEAP_VALIDATE=1`: a
//! single message fails the test.

mod arranged;
mod attachments;
mod borders;
mod depth_resolves;
mod dynamic;
mod externals;
mod histories;
mod lists;
mod misuse;
mod parts;
mod queues;
mod recording;
mod reordered;
mod scene;
mod secondary;
mod split;
mod tiles;
mod values;

use ash::vk;
use tileheap::execute::ExecutedFrame;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{BufferDesc, FrameBuilder, Persistence, ResourceId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{BoundFrame, FrameNumber, FrameRecorder, Imports, PassCommands, SelectedFrame};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Gpu, HostBuffer, Pipeline, copy_to_buffer};

/// Declares a buffer of the caller that the host reads.
fn host_read(frame: &mut FrameBuilder, name: &str, bytes: u64) -> ResourceId {
    let host = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    frame.resource(name, BufferDesc::new(Bytes(bytes)), Persistence::External(host))
}

fn bind(gpu: &Gpu, frame: impl Into<ExecutedFrame>, options: &PlanOptions) -> BoundFrame {
    let plan = gpu.runtime().plan(frame, options).expect("a plan");
    gpu.runtime().bind(&plan).expect("a bound plan")
}

/// Begins a frame with one imported buffer, which lives until the end of the test.
fn begin<'a>(
    bound: impl Into<SelectedFrame<'a>>,
    resource: ResourceId,
    host: &HostBuffer,
) -> FrameRecorder<'a> {
    let imports = Imports {
        buffers: &[ImportedBuffer {
            resource,
            buffer: host.buffer,
        }],
        ..Imports::default()
    };
    // SAFETY: buffers live as long as the `Gpu`.
    unsafe { bound.into().begin(&imports) }.expect("a frame")
}

/// Submits a frame in a single-threaded test.
fn submit(recorder: FrameRecorder<'_>) -> FrameNumber {
    // SAFETY: no other thread uses the queues.
    unsafe { recorder.submit() }.expect("submitted")
}

fn wait(bound: &BoundFrame, number: u64) {
    assert!(bound.wait(FrameNumber(number), u64::MAX).expect("waited"));
}

/// Draws a triangle over everything.
fn draw(pass: &PassCommands<'_>, pipeline: &Pipeline, set: Option<vk::DescriptorSet>) {
    pipeline.bind(pass.device(), pass.command_buffer(), set);
    // SAFETY: recording inside the render pass.
    unsafe { pass.device().cmd_draw(pass.command_buffer(), 3, 1, 0, 0) };
}

fn dispatch(pass: &PassCommands<'_>, pipeline: &Pipeline, set: Option<vk::DescriptorSet>, groups: [u32; 2]) {
    pipeline.bind(pass.device(), pass.command_buffer(), set);
    let [x, y] = groups;
    // SAFETY: recording outside render passes.
    unsafe { pass.device().cmd_dispatch(pass.command_buffer(), x, y, 1) };
}

/// Copies an image to the start of a buffer.
fn copy_image(pass: &PassCommands<'_>, image: ResourceId, to: ResourceId, extent: vk::Extent2D) {
    let (image, to) = (pass.access(image).image(), pass.access(to).buffer());
    let color = vk::ImageAspectFlags::COLOR;
    copy_to_buffer(pass.device(), pass.command_buffer(), image, color, extent, &to);
}

/// Copies a buffer to another one, at `dst_offset`.
fn copy_buffer(pass: &PassCommands<'_>, from: ResourceId, to: ResourceId, dst_offset: u64) {
    let [from, to] = [from, to].map(|resource| pass.access(resource).buffer());
    let region = vk::BufferCopy {
        src_offset: from.offset,
        dst_offset: to.offset + dst_offset,
        size: from.size,
    };
    let (device, commands) = (pass.device(), pass.command_buffer());
    // SAFETY: recording outside render passes; the pass declares both.
    unsafe { device.cmd_copy_buffer(commands, from.handle, to.handle, &[region]) };
}
