//! External resources and semaphores.

use ash::vk::{self, AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap::ffi;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::valid_usage::NOT_SUPPORTED;
use tileheap::frame::{BufferDesc, LoadOp, Persistence};
use tileheap::units::Bytes;

use super::super::{CLEAR, CLEAR_DEPTH, Scene, of_format, plain};
use super::{Case, described};

/// A buffer that enters and leaves after these stages and accesses.
fn buffer(scene: &mut Scene, stages: S, access: A) {
    buffer_in(scene, ResourceState::new(L::UNDEFINED, stages, access));
}

fn buffer_in(scene: &mut Scene, state: ResourceState) {
    let external = ExternalDesc {
        entry: state,
        exit: state,
    };
    let desc = BufferDesc::new(Bytes(256));
    let buffer = scene
        .frame
        .resource("buffer", desc, Persistence::External(external));
    scene.compute().storage_write(buffer);
}

/// A color image that enters and leaves in these layouts.
fn color(scene: &mut Scene, entry: L, exit: L) {
    let state = |layout| ResourceState::new(layout, S::ALL_COMMANDS, A::MEMORY_READ);
    let external = ExternalDesc {
        entry: state(entry),
        exit: state(exit),
    };
    let image = scene
        .frame
        .resource("image", plain(), Persistence::External(external));
    scene.render().color(image, CLEAR);
}

fn depth(scene: &mut Scene, layout: L) {
    depth_of(scene, vk::Format::D32_SFLOAT, layout);
}

fn depth_of(scene: &mut Scene, format: vk::Format, layout: L) {
    let persistence = Persistence::External(ExternalDesc::in_layout(layout));
    let image = scene.frame.resource("image", of_format(format), persistence);
    scene.render().depth(image, CLEAR_DEPTH);
}

const BOTH: vk::Format = vk::Format::D24_UNORM_S8_UINT;

/// Depth and stencil, of which a pass uses depth only.
fn only_depth(scene: &mut Scene, layout: L) {
    let persistence = Persistence::External(ExternalDesc::in_layout(layout));
    let image = scene.frame.resource("image", of_format(BOTH), persistence);
    let pass = scene.render().depth(image, CLEAR_DEPTH);
    pass.aspect(vk::ImageAspectFlags::DEPTH);
}

/// Two batches of one queue with a semaphore between them.
fn batches(scene: &mut Scene, signaled: S, waiting: S) {
    ordered(scene, vk::QueueFlags::GRAPHICS, signaled, waiting);
}

/// A batch of the graphics queue, and one of another queue that waits for it.
fn ordered(scene: &mut Scene, queue: vk::QueueFlags, signaled: S, waiting: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene.transfer().transfer_destination(buffer);
    let semaphore = scene.frame.semaphore("semaphore");
    scene.frame.signal(scene.batch, semaphore, signaled);
    let queue = scene.frame.queue("other", queue);
    let submit = scene.frame.submit(queue);
    let batch = scene.frame.batch(submit);
    scene.frame.wait(batch, semaphore, waiting);
    let commands = scene.frame.command_buffer(batch, "other");
    scene
        .frame
        .transfer_pass(commands, "copy")
        .transfer_source(buffer);
}

/// The reverse: a batch of another queue, and one of the graphics queue that waits for it.
fn signaled_on(scene: &mut Scene, queue: vk::QueueFlags, signaled: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    let out = scene.out;
    scene.render().color(out, CLEAR);
    let semaphore = scene.frame.semaphore("semaphore");
    let queue = scene.frame.queue("other", queue);
    let submit = scene.frame.submit(queue);
    let batch = scene.frame.batch(submit);
    let commands = scene.frame.command_buffer(batch, "other");
    scene
        .frame
        .transfer_pass(commands, "fill")
        .transfer_destination(buffer);
    scene.frame.signal(batch, semaphore, signaled);
    let submit = scene.frame.submit(scene.queue);
    let batch = scene.frame.batch(submit);
    scene.frame.wait(batch, semaphore, S::ALL_COMMANDS);
    let commands = scene.frame.command_buffer(batch, "last");
    let pass = scene.frame.render_pass(commands, "last");
    pass.color(out, LoadOp::Load);
}

/// Two batches of different queues and resources, the second of which waits for the first.
fn waited_at(scene: &mut Scene, waiting: S) {
    let [first, second] =
        ["first", "second"].map(|name| scene.frame.buffer(name, BufferDesc::new(Bytes(256))));
    scene.transfer().transfer_destination(first);
    let semaphore = scene.frame.semaphore("semaphore");
    scene.frame.signal(scene.batch, semaphore, S::ALL_COMMANDS);
    let queue = scene.frame.queue("other", vk::QueueFlags::TRANSFER);
    let submit = scene.frame.submit(queue);
    let batch = scene.frame.batch(submit);
    scene.frame.wait(batch, semaphore, waiting);
    let commands = scene.frame.command_buffer(batch, "other");
    let pass = scene.frame.transfer_pass(commands, "fill");
    pass.transfer_destination(second);
}

macro_rules! performed {
    ($rule:literal, $access:expr, $wrong:expr, $right:expr) => {
        described(
            $rule,
            |scene| buffer(scene, $wrong, $access),
            |scene| buffer(scene, $right, $access),
        )
    };
}

const WRITE: A = ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM;
const READ: A = ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM;

pub(crate) static CASES: &[Case] = &[
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-07454",
        A::SHADER_READ,
        S::COPY,
        S::VERTEX_SHADER
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-07454",
        A::SHADER_READ,
        S::HOST,
        S::MICROMAP_BUILD_EXT
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03903",
        A::INPUT_ATTACHMENT_READ,
        S::CLUSTER_CULLING_SHADER_HUAWEI,
        S::SUBPASS_SHADER_HUAWEI
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03909",
        A::SHADER_WRITE,
        S::COPY,
        S::COMPUTE_SHADER
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03916",
        A::HOST_READ,
        S::COPY,
        S::HOST
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03917",
        A::HOST_WRITE,
        S::NONE,
        S::HOST | S::COPY
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03918",
        A::CONDITIONAL_RENDERING_READ_EXT,
        S::DRAW_INDIRECT,
        S::CONDITIONAL_RENDERING_EXT
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03919",
        A::FRAGMENT_DENSITY_MAP_READ_EXT,
        S::FRAGMENT_SHADER,
        S::FRAGMENT_DENSITY_PROCESS_EXT
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03920",
        A::TRANSFORM_FEEDBACK_WRITE_EXT,
        S::VERTEX_SHADER,
        S::TRANSFORM_FEEDBACK_EXT
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-04747",
        A::TRANSFORM_FEEDBACK_COUNTER_READ_EXT,
        S::VERTEX_SHADER,
        S::DRAW_INDIRECT
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03922",
        A::TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT,
        S::DRAW_INDIRECT,
        S::TRANSFORM_FEEDBACK_EXT
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03924",
        A::COMMAND_PREPROCESS_READ_NV,
        S::COPY,
        S::COMMAND_PREPROCESS_NV
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03925",
        A::COMMAND_PREPROCESS_WRITE_NV,
        S::COPY,
        S::COMMAND_PREPROCESS_NV
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03926",
        A::COLOR_ATTACHMENT_READ_NONCOHERENT_EXT,
        S::FRAGMENT_SHADER,
        S::COLOR_ATTACHMENT_OUTPUT
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03927",
        A::ACCELERATION_STRUCTURE_READ_KHR,
        S::COPY,
        S::ACCELERATION_STRUCTURE_BUILD_KHR
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-03928",
        A::ACCELERATION_STRUCTURE_WRITE_KHR,
        S::RAY_TRACING_SHADER_KHR,
        S::ACCELERATION_STRUCTURE_BUILD_KHR
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-07272",
        A::SHADER_BINDING_TABLE_READ_KHR,
        S::COMPUTE_SHADER,
        S::RAY_TRACING_SHADER_KHR
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-08118",
        A::DESCRIPTOR_BUFFER_READ_EXT,
        S::COPY,
        S::COMPUTE_SHADER
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-10670",
        READ,
        S::VERTEX_SHADER,
        S::FRAGMENT_SHADER
    ),
    performed!(
        "VUID-VkMemoryBarrier2-dstAccessMask-10671",
        WRITE,
        S::VERTEX_SHADER,
        S::FRAGMENT_SHADER
    ),
    described(
        NOT_SUPPORTED,
        |scene| buffer(scene, S::from_raw(1 << 62), A::NONE),
        |scene| buffer(scene, S::NONE, A::NONE),
    ),
    described(
        NOT_SUPPORTED,
        |scene| buffer(scene, S::ALL_COMMANDS, A::from_raw(1 << 62)),
        |scene| buffer(scene, S::ALL_COMMANDS, A::MEMORY_WRITE),
    ),
    // COPY_INDIRECT_KHR, RESOURCE_HEAP_READ_EXT and ZERO_INITIALIZED_EXT are newer than ash.
    described(
        NOT_SUPPORTED,
        |scene| buffer(scene, S::from_raw(1 << 46), A::NONE),
        |scene| buffer(scene, S::from_raw(1 << 41), A::NONE),
    ),
    described(
        NOT_SUPPORTED,
        |scene| buffer(scene, S::ALL_COMMANDS, A::from_raw(1 << 58)),
        |scene| buffer(scene, S::ALL_COMMANDS, A::from_raw(1 << 42)),
    ),
    described(
        NOT_SUPPORTED,
        |scene| color(scene, L::from_raw(1_000_620_000), L::GENERAL),
        |scene| color(scene, L::UNDEFINED, L::GENERAL),
    ),
    described(
        "section \"Image Layouts\"",
        |scene| buffer_in(scene, ExternalDesc::SWAPCHAIN.exit),
        |scene| buffer_in(scene, ExternalDesc::READ_BACK.exit),
    ),
    described(
        NOT_SUPPORTED,
        |scene| color(scene, L::from_raw(99), L::GENERAL),
        |scene| color(scene, L::PREINITIALIZED, L::GENERAL),
    ),
    described(
        NOT_SUPPORTED,
        |scene| color(scene, L::GENERAL, L::from_raw(99)),
        |scene| color(scene, L::GENERAL, L::PRESENT_SRC_KHR),
    ),
    described(
        NOT_SUPPORTED,
        |scene| color(scene, L::SHARED_PRESENT_KHR, L::GENERAL),
        |scene| color(scene, L::PRESENT_SRC_KHR, L::GENERAL),
    ),
    described(
        NOT_SUPPORTED,
        |scene| color(scene, L::GENERAL, L::SHARED_PRESENT_KHR),
        |scene| color(scene, L::GENERAL, L::GENERAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-newLayout-01198",
        |scene| color(scene, L::UNDEFINED, L::UNDEFINED),
        |scene| color(scene, L::UNDEFINED, L::TRANSFER_SRC_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-newLayout-01198",
        |scene| color(scene, L::PREINITIALIZED, L::PREINITIALIZED),
        |scene| color(scene, L::PREINITIALIZED, L::SHADER_READ_ONLY_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-oldLayout-01208",
        |scene| depth(scene, L::COLOR_ATTACHMENT_OPTIMAL),
        |scene| depth(scene, L::ATTACHMENT_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-oldLayout-01209",
        |scene| color(scene, L::UNDEFINED, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL),
        |scene| depth(scene, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-oldLayout-01210",
        |scene| color(scene, L::UNDEFINED, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL),
        |scene| depth(scene, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-oldLayout-01658",
        |scene| color(scene, L::UNDEFINED, L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL),
        |scene| depth(scene, L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-oldLayout-01659",
        |scene| color(scene, L::UNDEFINED, L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL),
        |scene| depth(scene, L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-srcQueueFamilyIndex-04066",
        |scene| color(scene, L::DEPTH_ATTACHMENT_OPTIMAL, L::GENERAL),
        |scene| depth(scene, L::DEPTH_ATTACHMENT_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-srcQueueFamilyIndex-04068",
        |scene| color(scene, L::GENERAL, L::STENCIL_ATTACHMENT_OPTIMAL),
        |scene| depth_of(scene, vk::Format::S8_UINT, L::STENCIL_ATTACHMENT_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-aspectMask-08702",
        |scene| depth(scene, L::STENCIL_ATTACHMENT_OPTIMAL),
        |scene| depth(scene, L::DEPTH_READ_ONLY_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-aspectMask-08702",
        |scene| depth_of(scene, BOTH, L::STENCIL_READ_ONLY_OPTIMAL),
        |scene| depth_of(scene, vk::Format::S8_UINT, L::STENCIL_READ_ONLY_OPTIMAL),
    ),
    described(
        "VUID-VkImageMemoryBarrier2-aspectMask-08703",
        |scene| depth_of(scene, BOTH, L::DEPTH_ATTACHMENT_OPTIMAL),
        |scene| depth_of(scene, BOTH, L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL),
    ),
    // With separate layouts, barriers name only the aspects that the frame uses.
    described(
        "VUID-VkImageMemoryBarrier2-aspectMask-08703",
        |scene| depth_of(scene, BOTH, L::DEPTH_READ_ONLY_OPTIMAL),
        |scene| only_depth(scene, L::DEPTH_READ_ONLY_OPTIMAL),
    ),
    // Not run: under load, lavapipe 22.3 crashes now and then in the semaphores of two submits. Version 26.1 does not.
    described(
        NOT_SUPPORTED,
        |scene| batches(scene, S::from_raw(1 << 61), S::ALL_COMMANDS),
        |scene| batches(scene, S::CLEAR, S::ALL_COMMANDS),
    ),
    described(
        NOT_SUPPORTED,
        |scene| batches(scene, S::CLEAR | S::HOST, S::ALL_COMMANDS),
        |scene| batches(scene, S::CLEAR, S::ALL_COMMANDS),
    ),
    described(
        "VUID-VkSubmitInfo-pWaitDstStageMask-00078",
        |scene| batches(scene, S::ALL_COMMANDS, S::HOST | S::ALL_COMMANDS),
        |scene| batches(scene, S::ALL_COMMANDS, S::BOTTOM_OF_PIPE | S::ALL_COMMANDS),
    ),
    described(
        "VUID-VkSubmitInfo-pWaitDstStageMask-00078",
        |scene| waited_at(scene, S::HOST),
        |scene| waited_at(scene, S::BOTTOM_OF_PIPE),
    ),
    described(
        "VUID-vkQueueSubmit2-stageMask-03870",
        |scene| {
            ordered(
                scene,
                vk::QueueFlags::COMPUTE,
                S::ALL_COMMANDS,
                S::FRAGMENT_SHADER,
            )
        },
        |scene| {
            ordered(
                scene,
                vk::QueueFlags::GRAPHICS,
                S::ALL_COMMANDS,
                S::FRAGMENT_SHADER,
            )
        },
    ),
    described(
        "VUID-vkQueueSubmit2-stageMask-03870",
        |scene| {
            ordered(
                scene,
                vk::QueueFlags::TRANSFER,
                S::ALL_COMMANDS,
                S::CONDITIONAL_RENDERING_EXT,
            )
        },
        |scene| {
            ordered(
                scene,
                vk::QueueFlags::COMPUTE,
                S::ALL_COMMANDS,
                S::CONDITIONAL_RENDERING_EXT,
            )
        },
    ),
    described(
        "VUID-vkQueueSubmit2-stageMask-03869",
        |scene| signaled_on(scene, vk::QueueFlags::COMPUTE, S::VERTEX_SHADER),
        |scene| signaled_on(scene, vk::QueueFlags::GRAPHICS, S::VERTEX_SHADER),
    ),
    // The stages of semaphores are optional.
    described(
        "VUID-vkQueueSubmit2-stageMask-03869",
        |scene| signaled_on(scene, vk::QueueFlags::COMPUTE, S::ALL_GRAPHICS),
        |scene| signaled_on(scene, vk::QueueFlags::COMPUTE, S::NONE),
    ),
    described(
        "VUID-vkQueueSubmit2-stageMask-03870",
        |scene| waited_at(scene, S::RAY_TRACING_SHADER_KHR | S::COMPUTE_SHADER),
        |scene| waited_at(scene, S::NONE),
    ),
];
