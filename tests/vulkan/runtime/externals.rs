//! External images that change from frame to frame, as those of a swapchain do, with semaphores from and to outside.

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::{ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Imports;
use tileheap::runtime::import::{ImportedImage, ImportedSemaphore};

use tileheap_testkit::gpu::{Gpu, copy_to_buffer, ways};
use tileheap_testkit::objects::whole;

use super::{bind, submit, wait};
use tileheap_testkit::frames::one_queue;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 8, height: 4 };

/// What the caller reads the images in.
const EXIT: ResourceState = ResourceState {
    layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    stages: vk::PipelineStageFlags2::ALL_TRANSFER,
    access: vk::AccessFlags2::TRANSFER_READ,
    family: None,
};

/// An image of the caller's, and a view of each layer.
fn canvas<const LAYERS: usize>(gpu: &Gpu) -> (vk::Image, [vk::ImageView; LAYERS]) {
    let format = vk::Format::R8G8B8A8_UNORM;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(EXTENT.into())
        .mip_levels(1)
        .array_layers(LAYERS as u32)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
    let image = gpu.image(&info);
    let view = |layer: usize| {
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(whole(vk::ImageAspectFlags::COLOR).base_array_layer(layer as u32));
        gpu.create(&info)
    };
    (image, std::array::from_fn(view))
}

#[test]
fn external_images_take_turns() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let desc = ExternalDesc {
            exit: EXIT,
            ..ExternalDesc::SWAPCHAIN
        };
        let mut builder = FrameBuilder::new("presenting", EXTENT);
        let image = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
        let presented = builder.resource("canvas", image, Persistence::External(desc));
        let acquired = builder.external_semaphore("acquired");
        let rendered = builder.external_semaphore("rendered");
        let queue = builder.queue("main", vk::QueueFlags::GRAPHICS);
        let main = builder.submit(queue);
        let batch = builder.batch(main);
        builder.wait(batch, acquired, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
        builder.signal(batch, rendered, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
        let scene = builder.command_buffer(batch, "scene");
        let color = ClearValue::Float([1.0, 0.0, 51.0 / 255.0, 1.0]);
        let clear = builder
            .render_pass(scene, "clear")
            .color(presented, LoadOp::Clear(color))
            .id();
        let frame = builder.build().expect("a sound frame");
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());

        let device = gpu.device().clone();
        let canvases = [0; 3].map(|_| canvas::<1>(&gpu));
        let hosts = [0; 3].map(|_| gpu.host_buffer(8 * 4 * 4));
        let command_buffers = gpu.primaries(6);
        let queue = gpu.context.queues()[0].handle;
        let semaphores = [0; 2].map(|_| gpu.create(&vk::SemaphoreCreateInfo::default()));
        for (number, &command_buffer) in command_buffers.iter().enumerate() {
            let which = number % 3;
            if number > 0 {
                wait(&bound, number as u64 - 1);
            }
            // What vkAcquireNextImageKHR would do.
            let signals = [semaphores[0]];
            let signal = vk::SubmitInfo::default().signal_semaphores(&signals);
            // SAFETY: the semaphore is not signalled: the frame before has waited for it.
            unsafe { device.queue_submit(queue, &[signal], vk::Fence::null()) }.expect("submitted");
            let imports = Imports {
                views: &[],
                images: &[ImportedImage {
                    resource: presented,
                    image: canvases[which].0,
                    view: canvases[which].1[0],
                }],
                buffers: &[],
                semaphores: &[
                    ImportedSemaphore {
                        semaphore: acquired,
                        handle: semaphores[0],
                        value: 0,
                    },
                    ImportedSemaphore {
                        semaphore: rendered,
                        handle: semaphores[1],
                        value: 0,
                    },
                ],
            };
            // SAFETY: alive until the end of the test; contents do not matter on entry.
            let recorder = unsafe { bound.begin(&imports) }.expect("a frame");
            assert_eq!(recorder.image(presented).handle, canvases[which].0);
            // SAFETY: its last use is complete.
            let mut commands = unsafe { recorder.record(command_buffer, scene) }.expect("recording");
            commands
                .pass(clear, |pass| assert_eq!(pass.area().extent, EXTENT))
                .expect("clear");
            commands.finish().expect("recorded");
            submit(recorder);
            // What presenting would do: wait, and read in the exit layout.
            let mut reader = gpu.primaries(1);
            let reader = reader.pop().expect("one");
            // SAFETY: new.
            unsafe { device.begin_command_buffer(reader, &Default::default()) }.expect("begun");
            let host = &hosts[which].buffer;
            copy_to_buffer(
                &device,
                reader,
                canvases[which].0,
                vk::ImageAspectFlags::COLOR,
                EXTENT,
                host,
            );
            // SAFETY: recording.
            unsafe { device.end_command_buffer(reader) }.expect("ended");
            let (waits, stages, readers) = ([semaphores[1]], [vk::PipelineStageFlags::TRANSFER], [reader]);
            let read = vk::SubmitInfo::default()
                .wait_semaphores(&waits)
                .wait_dst_stage_mask(&stages)
                .command_buffers(&readers);
            // SAFETY: the frame signals the semaphore.
            unsafe { device.queue_submit(queue, &[read], vk::Fence::null()) }.expect("submitted");
        }
        // SAFETY: the queue is used by nobody else.
        unsafe { device.queue_wait_idle(queue) }.expect("idle");
        for host in &hosts {
            assert!(
                host.bytes().chunks(4).all(|pixel| pixel == [255, 0, 51, 255]),
                "{way}"
            );
        }
        // SAFETY: idle.
        unsafe { bound.forget(canvases[1].1[0]) };
        // SAFETY: idle.
        unsafe { bound.destroy() };
        gpu.finish();
    }
}

/// Two cascades of one image, each an external of its own: neither touches the other's layer.
#[test]
fn two_externals_are_layers_of_one_image() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let desc = ExternalDesc {
            exit: EXIT,
            ..ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED)
        };
        let mut builder = FrameBuilder::new("cascades", EXTENT);
        let image = ImageDesc {
            array_layers: 2,
            ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
        };
        let layers = ["near", "far"].map(|name| builder.resource(name, image, Persistence::External(desc)));
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        let clear = [1.0, 0.0].map(|value| LoadOp::Clear(ClearValue::Float([value; 4])));
        let passes = [0, 1].map(|layer| {
            let pass = builder.render_pass(scene, format!("layer {layer}"));
            pass.color(layers[layer], clear[layer]).layer(layer as u32).id()
        });
        let frame = builder.build().expect("a sound frame");
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());
        let device = gpu.device().clone();
        let (canvas, views) = canvas::<2>(&gpu);
        let host = gpu.host_buffer(2 * 8 * 4 * 4);
        let primaries = gpu.primaries(2);
        let images = [0, 1].map(|layer| ImportedImage {
            resource: layers[layer],
            image: canvas,
            view: views[layer],
        });
        let imports = Imports {
            images: &images,
            ..Imports::default()
        };
        // SAFETY: alive until the end of the test.
        let recorder = unsafe { bound.begin(&imports) }.expect("a frame");
        // SAFETY: new.
        let mut commands = unsafe { recorder.record(primaries[0], scene) }.expect("recording");
        for pass in passes {
            commands.pass(pass, |_| ()).expect("recorded");
        }
        commands.finish().expect("recorded");
        submit(recorder);
        wait(&bound, 0);
        // SAFETY: new.
        unsafe { device.begin_command_buffer(primaries[1], &Default::default()) }.expect("begun");
        let region = vk::BufferImageCopy {
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                layer_count: 2,
                ..Default::default()
            },
            image_extent: EXTENT.into(),
            ..Default::default()
        };
        let (layout, to) = (EXIT.layout, host.buffer.handle);
        // SAFETY: recording; the frame is complete and left both layers in this layout.
        unsafe { device.cmd_copy_image_to_buffer(primaries[1], canvas, layout, to, &[region]) };
        // SAFETY: recording.
        unsafe { device.end_command_buffer(primaries[1]) }.expect("ended");
        let readers = [primaries[1]];
        let read = vk::SubmitInfo::default().command_buffers(&readers);
        let queue = gpu.context.queues()[0].handle;
        // SAFETY: the test has one thread.
        unsafe { device.queue_submit(queue, &[read], vk::Fence::null()) }.expect("submitted");
        // SAFETY: the queue is used by nobody else.
        unsafe { device.queue_wait_idle(queue) }.expect("idle");
        let words = host.words();
        assert_eq!((words[0], words[32]), (u32::MAX, 0), "{way}");
        // SAFETY: idle.
        unsafe { bound.destroy() };
        gpu.finish();
    }
}
