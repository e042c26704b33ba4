//! The ways of recording a pass, which give the same pixels: between `begin_pass` and `end_pass`, in several command buffers at once, and with
//! secondary command buffers in each subpass; and external resources that are imported during recording.

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId,
    Persistence, ResourceId,
};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage, ImportedSemaphore};
use tileheap::runtime::{Capabilities, Imports, Parity, PassCommands};
use tileheap::units::Bytes;

use tileheap_testkit::frames::{extent, one_queue, rect};
use tileheap_testkit::gpu::{Binding, Gpu, Pipeline, recording_paths};

use super::{begin, bind, copy_buffer, copy_image, dispatch, draw, host_read, submit, wait};

const EXTENT: vk::Extent2D = extent(8, 8);

const DRAW: &str = "#version 460
    layout(location = 0) out uint value;
    layout(push_constant) uniform Push { uint number; };
    void main() { value = number + uint(gl_FragCoord.x); }";

/// Draws the columns `[first, end)` of a pass.
fn draw_columns(pass: &PassCommands<'_>, pipeline: &Pipeline, [first, end]: [u32; 2], number: u32) {
    let (device, commands) = (pass.device(), pass.command_buffer());
    pipeline.push(device, commands, &[number]);
    // SAFETY: recording, inside the pass.
    unsafe { device.cmd_set_viewport(commands, 0, &[pass.viewport()]) };
    // SAFETY: as above.
    unsafe { device.cmd_set_scissor(commands, 0, &[rect(first as i32, 0, end - first, 8)]) };
    draw(pass, pipeline, None);
}

/// A pass that draws to a cleared image, and one that copies it to `result`.
struct Drawing {
    frame: Frame,
    scene: CommandBufferId,
    draw: PassId,
    copy: PassId,
    image: ResourceId,
    result: ResourceId,
}

fn drawing() -> Drawing {
    let mut builder = FrameBuilder::new("drawing", EXTENT);
    let image = builder.image("image", ImageDesc::new(vk::Format::R32_UINT, EXTENT));
    let result = host_read(&mut builder, "result", 256);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::Uint([7; 4]));
    let draw = builder.render_pass(scene, "draw").color(image, clear).id();
    let copy = builder
        .transfer_pass(scene, "copy")
        .transfer_source(image)
        .transfer_destination(result)
        .id();
    Drawing {
        frame: builder.build().expect("a sound frame"),
        scene,
        draw,
        copy,
        image,
        result,
    }
}

/// Three command buffers, recorded by three threads at once, draw two columns each; the last two columns keep the clear value of the first one.
#[test]
fn a_pass_is_recorded_in_several_command_buffers() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let drawn = drawing();
        let mut bound = bind(&gpu, &drawn.frame, &PlanOptions::default());
        let pipeline = gpu.triangles(bound.target(drawn.draw), &[], None, DRAW);
        let host = gpu.host_buffer(256);
        // Each comes from a separate pool.
        let [first, second, third] = [(); 3].map(|()| gpu.primaries(1)[0]);
        let is_dynamic = gpu
            .runtime()
            .capabilities()
            .contains(Capabilities::DYNAMIC_RENDERING);
        for number in 0..3u32 {
            let recorder = begin(&mut bound, drawn.result, &host);
            // SAFETY: the previous frame is complete.
            let mut commands = unsafe { recorder.record(first, drawn.scene) }.expect("recording");
            // SAFETY: as above.
            let parts = unsafe { commands.begin_pass_in_parts(drawn.draw, &[second, third]) };
            if !is_dynamic {
                let text = parts
                    .expect_err("render pass objects are not suspended")
                    .to_string();
                let wanted = "pass `draw` cannot be recorded in several command buffers: it is recorded as a render pass object";
                assert!(text.contains(wanted), "{way}: {text}");
                break;
            }
            let parts = parts.expect("begun");
            assert_eq!(commands.command_buffer(), third);
            assert_eq!(
                parts
                    .iter()
                    .map(|part| part.pass_commands().command_buffer())
                    .collect::<Vec<_>>(),
                [first, second]
            );
            std::thread::scope(|threads| {
                for (part, column) in parts.into_iter().zip([0, 2]) {
                    let pipeline = &pipeline;
                    threads.spawn(move || {
                        draw_columns(&part.pass_commands(), pipeline, [column, column + 2], number * 10);
                        part.finish().expect("finished");
                    });
                }
                draw_columns(&commands.pass_commands(), &pipeline, [4, 6], number * 10);
            });
            commands.end_pass().expect("ended");
            let copy = |pass: &PassCommands<'_>| copy_image(pass, drawn.image, drawn.result, EXTENT);
            commands.pass(drawn.copy, copy).expect("copied");
            commands.finish().expect("recorded");
            submit(recorder);
            wait(&bound, u64::from(number));
            let drawn = |at: u32| if at % 8 < 6 { number * 10 + at % 8 } else { 7 };
            assert_eq!(
                host.words(),
                (0..64).map(drawn).collect::<Vec<_>>(),
                "frame {number}, {way}"
            );
        }
    }
}

/// `begin_pass` and `end_pass` record the same as a closure, and refuse to be called out of order.
#[test]
fn passes_begin_and_end_without_closures() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let drawn = drawing();
        let mut bound = bind(&gpu, &drawn.frame, &PlanOptions::default());
        let pipeline = gpu.triangles(bound.target(drawn.draw), &[], None, DRAW);
        let (host, primary) = (gpu.host_buffer(256), gpu.primaries(1)[0]);
        let recorder = begin(&mut bound, drawn.result, &host);
        // SAFETY: new.
        let mut commands = unsafe { recorder.record(primary, drawn.scene) }.expect("recording");
        let text = commands.end_pass().expect_err("nothing has begun").to_string();
        assert_eq!(text, "end_pass: no pass has begun in command buffer `scene`");
        commands.begin_pass(drawn.draw).expect("begun");
        for wrong in [commands.begin_pass(drawn.copy), commands.pass(drawn.copy, |_| ())] {
            let text = wrong.expect_err("another pass has begun").to_string();
            assert_eq!(
                text,
                "pass `draw` of command buffer `scene` has begun but not ended: call Commands::end_pass first"
            );
        }
        draw_columns(&commands.pass_commands(), &pipeline, [0, 8], 30);
        commands.end_pass().expect("ended");
        commands.begin_pass(drawn.copy).expect("begun");
        copy_image(&commands.pass_commands(), drawn.image, drawn.result, EXTENT);
        commands.end_pass().expect("ended");
        commands.finish().expect("recorded");
        submit(recorder);
        wait(&bound, 0);
        let expected: Vec<u32> = (0..64).map(|at| 30 + at % 8).collect();
        assert_eq!(host.words(), expected, "{way}");
    }
}

/// ```text
/// draw   subpass 0   color                 ◄─ secondary, of the first two columns
///        subpass 1   input ─► sum          ◄─ secondaries, one for the left half and one for the right
/// ```
#[test]
fn later_subpasses_have_secondary_contents() {
    const ADD: &str = "#version 460
        layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput color;
        layout(location = 0) out uint value;
        layout(push_constant) uniform Push { uint number; };
        void main() { value = subpassLoad(color).x + number; }";
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let mut builder = FrameBuilder::new("subpasses", EXTENT);
        let [color, sum] =
            ["color", "sum"].map(|name| builder.image(name, ImageDesc::new(vk::Format::R32_UINT, EXTENT)));
        let result = host_read(&mut builder, "result", 256);
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        let clear = LoadOp::Clear(ClearValue::Uint([7; 4]));
        let pass = builder.render_pass(scene, "draw").secondary().color(color, clear);
        let pass = pass.next_subpass().read(color, AccessKind::InputAttachment);
        let draw = pass.color(sum, LoadOp::DontCare).id();
        let copy = builder.transfer_pass(scene, "copy").transfer_source(sum);
        let copy = copy.transfer_destination(result).id();
        let frame = builder.build().expect("a sound frame");
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());

        let input = bound.access(draw, 1, Parity::Even);
        assert_eq!(
            (input.resource, input.subpass, input.kind),
            (color, 1, AccessKind::InputAttachment)
        );
        let drawing = gpu.triangles(bound.target_in(draw, 0), &[], None, DRAW);
        let types = [vk::DescriptorType::INPUT_ATTACHMENT];
        let adding = gpu.triangles(bound.target_in(draw, 1), &types, None, ADD);
        let set = gpu.set(&adding, &[Binding::Image(types[0], input.view, input.layout)]);
        let (host, primary) = (gpu.host_buffer(256), gpu.primaries(1)[0]);
        let family = gpu.context.queues()[0].family;
        let secondaries = gpu.command_buffers(family, vk::CommandBufferLevel::SECONDARY, 3);
        let device = gpu.device().clone();
        let recorder = begin(&mut bound, result, &host);
        let contents = [
            (0, &drawing, None, rect(0, 0, 2, 8), 20),
            (1, &adding, Some(set), rect(0, 0, 4, 8), 100),
            (1, &adding, Some(set), rect(4, 0, 4, 8), 200),
        ];
        for (&secondary, (subpass, pipeline, set, area, number)) in secondaries.iter().zip(contents) {
            // SAFETY: new.
            unsafe { recorder.begin_secondary(secondary, draw, subpass) }.expect("begun");
            pipeline.bind(&device, secondary, set);
            pipeline.push(&device, secondary, &[number]);
            let viewport = vk::Viewport::default().width(8.0).height(8.0).max_depth(1.0);
            // SAFETY: recording, inside the render pass.
            unsafe { device.cmd_set_viewport(secondary, 0, &[viewport]) };
            // SAFETY: as above.
            unsafe { device.cmd_set_scissor(secondary, 0, &[area]) };
            // SAFETY: as above.
            unsafe { device.cmd_draw(secondary, 3, 1, 0, 0) };
            // SAFETY: recording.
            unsafe { device.end_command_buffer(secondary) }.expect("ended");
        }
        // SAFETY: new.
        let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
        commands.begin_pass(draw).expect("begun");
        let pass = commands.pass_commands();
        // SAFETY: begun for the first subpass in this frame.
        unsafe { pass.execute(&secondaries[..1]) };
        pass.next_subpass();
        // SAFETY: begun for the second one.
        unsafe { pass.execute(&secondaries[1..]) };
        commands.end_pass().expect("ended");
        let copied = |pass: &PassCommands<'_>| copy_image(pass, sum, result, EXTENT);
        commands.pass(copy, copied).expect("copied");
        commands.finish().expect("recorded");
        submit(recorder);
        wait(&bound, 0);
        let color = |column: u32| if column < 2 { 20 + column } else { 7 };
        let sum = |at: u32| color(at % 8) + if at % 8 < 4 { 100 } else { 200 };
        assert_eq!(host.words(), (0..64).map(sum).collect::<Vec<_>>(), "{way}");
    }
}

/// ```text
/// scene     [fill]  numbers                   recorded before the image is acquired
/// present           [copy] numbers ─► result  [clear] screen, which waits for `acquired`
/// ```
#[test]
fn external_resources_are_imported_while_the_frame_is_recorded() {
    const FILL: &str = "#version 460
        layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) buffer Numbers { uint numbers[]; };
        void main() { numbers[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 3u; }";
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let mut builder = FrameBuilder::new("late", EXTENT);
        let numbers = builder.buffer("numbers", BufferDesc::new(Bytes(256)));
        let result = host_read(&mut builder, "result", 256);
        let desc = ExternalDesc {
            exit: ResourceState::new(
                vk::ImageLayout::GENERAL,
                vk::PipelineStageFlags2::NONE,
                vk::AccessFlags2::NONE,
            ),
            ..ExternalDesc::SWAPCHAIN
        };
        let format = vk::Format::R8G8B8A8_UNORM;
        let screen = builder.resource(
            "screen",
            ImageDesc::new(format, EXTENT),
            Persistence::External(desc),
        );
        let acquired = builder.external_semaphore("acquired");
        let queue = builder.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let main = builder.submit(queue);
        let first = builder.batch(main);
        let scene = builder.command_buffer(first, "scene");
        let fill = builder.compute_pass(scene, "fill").storage_write(numbers).id();
        let second = builder.batch(main);
        builder.wait(second, acquired, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
        let present = builder.command_buffer(second, "present");
        let copy = builder.transfer_pass(present, "copy").transfer_source(numbers);
        let copy = copy.transfer_destination(result).id();
        let clear = LoadOp::Clear(ClearValue::Float([1.0; 4]));
        let clear = builder.render_pass(present, "clear").color(screen, clear).id();
        let frame = builder.build().expect("a sound frame");
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());

        let storage = [vk::DescriptorType::STORAGE_BUFFER];
        let filling = gpu.compute(&storage, FILL);
        let filled = bound.access(fill, numbers, Parity::Even).buffer();
        let set = gpu.set(&filling, &[Binding::Storage(filled)]);
        let host = gpu.host_buffer(256);
        let [one, other] = [(); 2].map(|()| gpu.primaries(1)[0]);
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(EXTENT.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
        let images = [(); 2].map(|()| {
            let image = gpu.image(&info);
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(tileheap_testkit::objects::whole_image(
                    vk::ImageAspectFlags::COLOR,
                ));
            (image, gpu.create(&info))
        });
        let handle: vk::Semaphore = gpu.create(&vk::SemaphoreCreateInfo::default());
        let device = gpu.device().clone();
        let main_queue = gpu.context.queues()[0].handle;
        for number in 0..4 {
            // SAFETY: nothing is imported.
            let mut recorder = unsafe { bound.begin(&Imports::default()) }.expect("a frame");
            // SAFETY: the previous frame is complete.
            let mut commands = unsafe { recorder.record(one, scene) }.expect("recording");
            let record = |pass: &PassCommands<'_>| dispatch(pass, &filling, Some(set), [1, 1]);
            commands.pass(fill, record).expect("filled");
            commands.finish().expect("recorded");

            // SAFETY: as above.
            let early = unsafe { recorder.record(other, present) }.map(drop);
            let text = early.expect_err("nothing is imported").to_string();
            assert!(
                text.contains(
                    "external buffer `result` is not imported, and command buffer `present` uses it"
                ),
                "{text}"
            );
            let (image, view) = images[number % 2];
            let imports = Imports {
                images: &[ImportedImage {
                    resource: screen,
                    image,
                    view,
                }],
                buffers: &[ImportedBuffer {
                    resource: result,
                    buffer: host.buffer,
                }],
                ..Imports::default()
            };
            // SAFETY: they live until the end of the test.
            unsafe { recorder.import(&imports) }.expect("imported");
            assert_eq!(recorder.access(clear, screen).image(), image);
            // SAFETY: as above.
            let mut commands = unsafe { recorder.record(other, present) }.expect("recording");
            commands
                .pass(copy, |pass| copy_buffer(pass, numbers, result, 0))
                .expect("copied");
            commands.pass(clear, |_| ()).expect("cleared");
            commands.finish().expect("recorded");
            // SAFETY: as above.
            let late = unsafe { recorder.import(&imports) };
            let text = late.expect_err("a command buffer uses it").to_string();
            assert!(
                text.contains("imported too late: command buffer `present` uses it"),
                "{text}"
            );

            // The effect of vkAcquireNextImageKHR.
            let signals = [handle];
            let signal = vk::SubmitInfo::default().signal_semaphores(&signals);
            // SAFETY: the semaphore is not signaled: the previous frame has waited for it.
            unsafe { device.queue_submit(main_queue, &[signal], vk::Fence::null()) }.expect("submitted");
            let semaphores = Imports {
                semaphores: &[ImportedSemaphore {
                    semaphore: acquired,
                    handle,
                    value: 0,
                }],
                ..Imports::default()
            };
            // SAFETY: as above.
            unsafe { recorder.import(&semaphores) }.expect("imported");
            submit(recorder);
            wait(&bound, number as u64);
            assert_eq!(
                host.words(),
                (0..64).map(|at| at * 3).collect::<Vec<_>>(),
                "{way}"
            );
        }
    }
}

/// A frame whose semaphore is never imported is not submitted.
#[test]
fn semaphores_are_imported_before_the_frame_is_submitted() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let mut builder = FrameBuilder::new("waiting", EXTENT);
    let numbers = builder.buffer("numbers", BufferDesc::new(Bytes(64)));
    let ready = builder.external_semaphore("ready");
    let queue = builder.queue("main", vk::QueueFlags::COMPUTE);
    let main = builder.submit(queue);
    let batch = builder.batch(main);
    builder.wait(batch, ready, vk::PipelineStageFlags2::COMPUTE_SHADER);
    let scene = builder.command_buffer(batch, "scene");
    let pass = builder.compute_pass(scene, "write").storage_write(numbers).id();
    let mut bound = bind(
        &gpu,
        &builder.build().expect("a sound frame"),
        &PlanOptions::default(),
    );
    let primary = gpu.primaries(1)[0];
    // SAFETY: nothing is imported.
    let recorder = unsafe { bound.begin(&Imports::default()) }.expect("a frame");
    // SAFETY: new.
    let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
    commands.pass(pass, |_| ()).expect("recorded");
    commands.finish().expect("recorded");
    // SAFETY: no other thread uses the queues.
    let submitted = unsafe { recorder.submit() };
    let text = submitted.expect_err("nothing signals").to_string();
    assert!(
        text.contains("external semaphore `ready` is not imported"),
        "{text}"
    );
}
