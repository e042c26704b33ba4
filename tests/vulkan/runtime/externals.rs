//! External images that change from frame to frame, as those of a swapchain do, with semaphores from and to outside.

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::{ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Imports;
use tileheap::runtime::import::{ImportedImage, ImportedSemaphore};

use tileheap_testkit::gpu::{Gpu, copy_to_buffer, ways};

use super::{bind, submit, wait};
use tileheap_testkit::frames::one_queue;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 8, height: 4 };

/// What the caller reads the images in.
const EXIT: ResourceState = ResourceState {
    layout: vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    stages: vk::PipelineStageFlags2::ALL_TRANSFER,
    access: vk::AccessFlags2::TRANSFER_READ,
};

/// An image of the caller's.
struct Canvas {
    image: vk::Image,
    view: vk::ImageView,
    memory: vk::DeviceMemory,
}

impl Canvas {
    fn new(gpu: &Gpu, array_layers: u32) -> Canvas {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(EXTENT.into())
            .mip_levels(1)
            .array_layers(array_layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
        let device = gpu.device();
        // SAFETY: an ordinary colour image.
        let image = unsafe { device.create_image(&info, None) }.expect("an image");
        // SAFETY: just created.
        let needs = unsafe { device.get_image_memory_requirements(image) };
        let types = needs.memory_type_bits & gpu.context.support().profile().ordinary_type_bits();
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(types.trailing_zeros());
        // SAFETY: the type is one of the device's.
        let memory = unsafe { device.allocate_memory(&info, None) }.expect("memory");
        // SAFETY: made for each other.
        unsafe { device.bind_image_memory(image, memory, 0) }.expect("bound");
        let view = Canvas::view_of(device, image, 0);
        Canvas { image, view, memory }
    }

    fn view_of(device: &ash::Device, image: vk::Image, base_array_layer: u32) -> vk::ImageView {
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            base_array_layer,
            layer_count: 1,
            ..Default::default()
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(range);
        // SAFETY: the image is alive and bound.
        unsafe { device.create_image_view(&info, None) }.expect("a view")
    }

    fn destroy(self, device: &ash::Device) {
        // SAFETY: idle.
        unsafe { device.destroy_image_view(self.view, None) };
        // SAFETY: idle.
        unsafe { device.destroy_image(self.image, None) };
        // SAFETY: idle.
        unsafe { device.free_memory(self.memory, None) };
    }
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
        let canvas = builder.resource("canvas", image, Persistence::External(desc));
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
            .color(canvas, LoadOp::Clear(color))
            .id();
        let frame = builder.build().expect("a sound frame");
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());

        let device = gpu.device().clone();
        let canvases = [0; 3].map(|_| Canvas::new(&gpu, 1));
        let hosts = [0; 3].map(|_| gpu.host_buffer(8 * 4 * 4));
        let command_buffers = gpu.primaries(6);
        let queue = gpu.context.queues()[0].handle;
        let info = vk::SemaphoreCreateInfo::default();
        // SAFETY: nothing is asked for but semaphores.
        let semaphores =
            [0; 2].map(|_| unsafe { device.create_semaphore(&info, None) }.expect("a semaphore"));
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
                    resource: canvas,
                    image: canvases[which].image,
                    view: canvases[which].view,
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
            assert_eq!(recorder.image(canvas).handle, canvases[which].image);
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
                canvases[which].image,
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
        unsafe { bound.forget(canvases[1].view) };
        // SAFETY: idle.
        unsafe { bound.destroy() };
        for canvas in canvases {
            canvas.destroy(&device);
        }
        for semaphore in semaphores {
            // SAFETY: idle.
            unsafe { device.destroy_semaphore(semaphore, None) };
        }
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
        let canvas = Canvas::new(&gpu, 2);
        let far = Canvas::view_of(&device, canvas.image, 1);
        let host = gpu.host_buffer(2 * 8 * 4 * 4);
        let primaries = gpu.primaries(2);
        let images = [(0, canvas.view), (1, far)].map(|(layer, view)| ImportedImage {
            resource: layers[layer],
            image: canvas.image,
            view,
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
        unsafe { device.cmd_copy_image_to_buffer(primaries[1], canvas.image, layout, to, &[region]) };
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
        // SAFETY: idle.
        unsafe { device.destroy_image_view(far, None) };
        canvas.destroy(&device);
        gpu.finish();
    }
}
