//! Attachments of all kinds: input, resolved, several colours, depth read while it is sampled, device addresses.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::Version;
use tileheap::frame::{AccessKind, BufferDesc, ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Capabilities, ContextDesc, FrameNumber, Imports, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, copy_to_buffer, ways};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 4, height: 4 };

#[test]
fn input_attachments_are_read() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let mut builder = FrameBuilder::new("input", EXTENT);
        let base = builder.image("base", ImageDesc::new(vk::Format::R32_SFLOAT, EXTENT));
        let depth = builder.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
        let sum = builder.image("sum", ImageDesc::new(vk::Format::R32_SFLOAT, EXTENT));
        let host_desc = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
        let result = builder.resource(
            "result",
            BufferDesc::new(Bytes(64)),
            Persistence::External(host_desc),
        );
        let queue = builder.queue("main", vk::QueueFlags::GRAPHICS);
        let submit = builder.submit(queue);
        let batch = builder.batch(submit);
        let scene = builder.command_buffer(batch, "scene");
        let clear = builder
            .render_pass(scene, "clear")
            .color(base, LoadOp::Clear(ClearValue::Float([3.0; 4])))
            .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.5, 0)))
            .id();
        let add = builder
            .render_pass(scene, "add")
            .color(sum, LoadOp::DontCare)
            .input(base)
            .input(depth)
            .id();
        let copy = builder
            .transfer_pass(scene, "copy")
            .transfer_source(sum)
            .transfer_destination(result)
            .id();
        let frame = builder.build().expect("a sound frame");
        let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
        let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
        let input = vk::DescriptorType::INPUT_ATTACHMENT;
        let adding = gpu.fullscreen(
            bound.target(add),
            &[input, input],
            "#version 460
            layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput base;
            layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput depth;
            layout(location = 0) out float sum;
            void main() { sum = subpassLoad(base).r + subpassLoad(depth).r; }",
        );
        let binding = |resource| {
            let image = bound.image_in(add, resource, Version::Current, Parity::Even);
            Binding::Image(
                input,
                image.attachment,
                bound.layout_in(add, resource, Version::Current),
            )
        };
        let set = gpu.set(&adding, &[binding(base), binding(depth)]);
        let host = gpu.host_buffer(64);
        let primary = gpu.primaries(1)[0];
        for number in 0..2 {
            let imported = [ImportedBuffer {
                resource: result,
                buffer: host.buffer,
            }];
            // SAFETY: the buffer lives until `finish`.
            let recorder = unsafe {
                bound.begin(&Imports {
                    buffers: &imported,
                    ..Imports::default()
                })
            }
            .expect("a frame");
            // SAFETY: the frame before is complete.
            let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
            commands.pass(clear, |_| ()).expect("clear");
            commands
                .pass(add, |pass| {
                    adding.bind(pass.device(), pass.command_buffer(), Some(set));
                    // SAFETY: recording inside the render pass.
                    unsafe { pass.device().cmd_draw(pass.command_buffer(), 3, 1, 0, 0) };
                })
                .expect("add");
            commands
                .pass(copy, |pass| {
                    let (from, to) = (pass.image(sum).handle, pass.buffer(result));
                    let color = vk::ImageAspectFlags::COLOR;
                    copy_to_buffer(pass.device(), pass.command_buffer(), from, color, EXTENT, &to);
                })
                .expect("copy");
            commands.finish().expect("recorded");
            // SAFETY: the test has one thread.
            unsafe { recorder.submit() }.expect("submitted");
            assert!(bound.wait(FrameNumber(number), u64::MAX).expect("waited"));
            assert_eq!(host.words(), [3.5f32.to_bits(); 16], "{way}");
        }
        bound.retire();
        gpu.finish();
    }
}

#[test]
fn samples_are_resolved() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let mut builder = FrameBuilder::new("resolved", EXTENT);
        let multi = |format| ImageDesc {
            samples: vk::SampleCountFlags::TYPE_4,
            ..ImageDesc::new(format, EXTENT)
        };
        let color = builder.image("color", multi(vk::Format::R8G8B8A8_UNORM));
        let depth = builder.image("depth", multi(vk::Format::D32_SFLOAT));
        let flat = builder.image("flat", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
        let host_desc = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
        let result = builder.resource(
            "result",
            BufferDesc::new(Bytes(64)),
            Persistence::External(host_desc),
        );
        let queue = builder.queue("main", vk::QueueFlags::GRAPHICS);
        let submit = builder.submit(queue);
        let batch = builder.batch(submit);
        let scene = builder.command_buffer(batch, "scene");
        let clear = builder
            .render_pass(scene, "clear")
            .color(color, LoadOp::Clear(ClearValue::Float([1.0, 0.0, 1.0, 0.0])))
            .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)))
            .resolve(color, flat)
            .id();
        let copy = builder
            .transfer_pass(scene, "copy")
            .transfer_source(flat)
            .transfer_destination(result)
            .id();
        let frame = builder.build().expect("a sound frame");
        let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
        let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
        assert_eq!(bound.target(clear).samples, vk::SampleCountFlags::TYPE_4);
        let host = gpu.host_buffer(64);
        let primary = gpu.primaries(1)[0];
        let imported = [ImportedBuffer {
            resource: result,
            buffer: host.buffer,
        }];
        // SAFETY: the buffer lives until `finish`.
        let recorder = unsafe {
            bound.begin(&Imports {
                buffers: &imported,
                ..Imports::default()
            })
        }
        .expect("a frame");
        // SAFETY: new.
        let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
        commands.pass(clear, |_| ()).expect("clear");
        commands
            .pass(copy, |pass| {
                let (from, to) = (pass.image(flat).handle, pass.buffer(result));
                let color = vk::ImageAspectFlags::COLOR;
                copy_to_buffer(pass.device(), pass.command_buffer(), from, color, EXTENT, &to);
            })
            .expect("copy");
        commands.finish().expect("recorded");
        // SAFETY: the test has one thread.
        let number = unsafe { recorder.submit() }.expect("submitted");
        assert!(bound.wait(number, u64::MAX).expect("waited"));
        assert!(
            host.bytes().chunks(4).all(|pixel| pixel == [255, 0, 255, 0]),
            "{way}"
        );
        bound.retire();
        gpu.finish();
    }
}

#[test]
fn depth_is_tested_and_sampled_at_the_same_time() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let mut builder = FrameBuilder::new("depth", EXTENT);
        let depth = builder.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT_S8_UINT, EXTENT));
        let first = builder.image("first", ImageDesc::new(vk::Format::R32_SFLOAT, EXTENT));
        let second = builder.image("second", ImageDesc::new(vk::Format::R32_UINT, EXTENT));
        let host_desc = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
        let result = builder.resource(
            "result",
            BufferDesc::new(Bytes(128)),
            Persistence::External(host_desc),
        );
        let queue = builder.queue("main", vk::QueueFlags::GRAPHICS);
        let submit = builder.submit(queue);
        let batch = builder.batch(submit);
        let scene = builder.command_buffer(batch, "scene");
        let clear = builder
            .render_pass(scene, "clear")
            .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.75, 7)))
            .id();
        let draw = builder
            .render_pass(scene, "draw")
            .color(first, LoadOp::DontCare)
            .color(second, LoadOp::DontCare)
            .depth_read_only(depth)
            .sampled(depth)
            .id();
        let copy = builder
            .transfer_pass(scene, "copy")
            .transfer_source(first)
            .transfer_source(second)
            .transfer_destination(result)
            .id();
        let frame = builder.build().expect("a sound frame");
        let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
        let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
        let sampled = vk::DescriptorType::SAMPLED_IMAGE;
        let mut pipeline_target = bound.target(draw).clone();
        assert_eq!(pipeline_target.stencil_format, vk::Format::D32_SFLOAT_S8_UINT);
        pipeline_target.extent = EXTENT;
        let drawing = gpu.fullscreen_reading_depth(
            &pipeline_target,
            &[sampled],
            "#version 460
            #extension GL_EXT_samplerless_texture_functions : require
            layout(set = 0, binding = 0) uniform texture2D depth;
            layout(location = 0) out float first;
            layout(location = 1) out uint second;
            void main() {
                first = texelFetch(depth, ivec2(gl_FragCoord.xy), 0).r;
                second = uint(gl_FragCoord.x);
            }",
        );
        let view = bound.image(depth, Parity::Even).view;
        let layout = bound.layout_in(draw, depth, Version::Current);
        let set = gpu.set(&drawing, &[Binding::Image(sampled, view, layout)]);
        let host = gpu.host_buffer(128);
        let primary = gpu.primaries(1)[0];
        let imported = [ImportedBuffer {
            resource: result,
            buffer: host.buffer,
        }];
        // SAFETY: the buffer lives until `finish`.
        let recorder = unsafe {
            bound.begin(&Imports {
                buffers: &imported,
                ..Imports::default()
            })
        }
        .expect("a frame");
        // SAFETY: new.
        let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
        commands.pass(clear, |_| ()).expect("clear");
        commands
            .pass(draw, |pass| {
                drawing.bind(pass.device(), pass.command_buffer(), Some(set));
                // SAFETY: recording inside the render pass.
                unsafe { pass.device().cmd_draw(pass.command_buffer(), 3, 1, 0, 0) };
            })
            .expect("draw");
        commands
            .pass(copy, |pass| {
                let (mut to, color) = (pass.buffer(result), vk::ImageAspectFlags::COLOR);
                for image in [first, second] {
                    let from = pass.image(image).handle;
                    copy_to_buffer(pass.device(), pass.command_buffer(), from, color, EXTENT, &to);
                    to.offset += 64;
                }
            })
            .expect("copy");
        commands.finish().expect("recorded");
        // SAFETY: the test has one thread.
        let number = unsafe { recorder.submit() }.expect("submitted");
        assert!(bound.wait(number, u64::MAX).expect("waited"));
        let words = host.words();
        assert_eq!(words[..16], [0.75f32.to_bits(); 16], "{way}");
        assert_eq!(
            words[16..],
            std::array::from_fn::<u32, 16, _>(|at| at as u32 % 4),
            "{way}"
        );
        bound.retire();
        gpu.finish();
    }
}

#[test]
fn buffers_are_reached_by_address() {
    let desc = ContextDesc {
        buffer_device_address: true,
        ..ContextDesc::from_env("tileheap tests")
    };
    let mut gpu = Gpu::with(desc);
    assert!(
        gpu.tile()
            .capabilities()
            .contains(Capabilities::BUFFER_DEVICE_ADDRESS)
    );
    let mut builder = FrameBuilder::new("addresses", EXTENT);
    let numbers = builder.buffer("numbers", BufferDesc::new(Bytes(64)));
    let host_desc = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    let result = builder.resource(
        "result",
        BufferDesc::new(Bytes(64)),
        Persistence::External(host_desc),
    );
    let queue = builder.queue("main", vk::QueueFlags::COMPUTE);
    let submit = builder.submit(queue);
    let batch = builder.batch(submit);
    let scene = builder.command_buffer(batch, "scene");
    let write = builder
        .compute_pass(scene, "write")
        .write(numbers, AccessKind::DeviceAddress)
        .id();
    let copy = builder
        .transfer_pass(scene, "copy")
        .transfer_source(numbers)
        .transfer_destination(result)
        .id();
    let frame = builder.build().expect("a sound frame");
    let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
    let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
    let address = bound.buffer(numbers, Parity::Even).address;
    assert_ne!(address, 0);
    let writing = gpu.compute(
        &[],
        "#version 460
        #extension GL_EXT_buffer_reference : require
        layout(local_size_x = 16) in;
        layout(buffer_reference) writeonly buffer Numbers { uint numbers[]; };
        layout(push_constant) uniform Push { Numbers at; };
        void main() { at.numbers[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 3u; }",
    );
    let host = gpu.host_buffer(64);
    let primary = gpu.primaries(1)[0];
    let imported = [ImportedBuffer {
        resource: result,
        buffer: host.buffer,
    }];
    // SAFETY: the buffer lives until `finish`.
    let recorder = unsafe {
        bound.begin(&Imports {
            buffers: &imported,
            ..Imports::default()
        })
    }
    .expect("a frame");
    // SAFETY: new.
    let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
    commands
        .pass(write, |pass| {
            writing.bind(pass.device(), pass.command_buffer(), None);
            writing.push(
                pass.device(),
                pass.command_buffer(),
                &[address as u32, (address >> 32) as u32],
            );
            // SAFETY: recording.
            unsafe { pass.device().cmd_dispatch(pass.command_buffer(), 1, 1, 1) };
        })
        .expect("write");
    commands
        .pass(copy, |pass| {
            let (from, to) = (pass.buffer(numbers), pass.buffer(result));
            let region = vk::BufferCopy {
                size: 64,
                ..Default::default()
            };
            // SAFETY: recording.
            unsafe {
                pass.device()
                    .cmd_copy_buffer(pass.command_buffer(), from.handle, to.handle, &[region])
            };
        })
        .expect("copy");
    commands.finish().expect("recorded");
    // SAFETY: the test has one thread.
    let number = unsafe { recorder.submit() }.expect("submitted");
    assert!(bound.wait(number, u64::MAX).expect("waited"));
    assert_eq!(
        host.words(),
        std::array::from_fn::<u32, 16, _>(|at| at as u32 * 3)
    );
    bound.retire();
    gpu.finish();
}
