//! Attachments of all kinds: input, resolved, several colors, depth read while it is sampled; and device addresses.

use ash::vk;
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, FrameBuilder, ImageDesc, LoadOp, PassBuilder, ResourceId,
};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{Capabilities, ContextDesc, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::Gpu;

use super::scene::{EXTENT, R32, Scene};
use super::{begin, bind, copy_buffer, dispatch, host_read, submit, wait};
use tileheap_testkit::frames::one_queue;

/// The shaders of a renderer: geometry, lighting that reads it at its own pixel, and a last one that reads the light and draws on top.
const PIPELINE: [&str; 3] = [
    "layout(location = 0) out float albedo;
    layout(location = 1) out float normal;
    void main() { albedo = floor(gl_FragCoord.x); normal = 10.0 * floor(gl_FragCoord.y); }",
    "layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput normal;
    layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput albedo;
    layout(location = 0) out float lit;
    void main() { lit = 2.0 * subpassLoad(albedo).r + 3.0 * subpassLoad(normal).r; }",
    "layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput lit;
    layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput other;
    layout(location = 0) out float result;
    layout(location = 1) out float albedo;
    void main() { result = subpassLoad(other).r + subpassLoad(lit).r; albedo = 100.0 + subpassLoad(lit).r; }",
];

/// The accesses of one of these passes; the last one reads depth, or else the normals.
fn declared<'a>(
    pass: PassBuilder<'a>,
    number: usize,
    images: [ResourceId; 5],
    last: usize,
) -> PassBuilder<'a> {
    let [albedo, normal, lit, result, depth] = images;
    let clear = LoadOp::Clear(ClearValue::Float([9.0; 4]));
    let far = LoadOp::Clear(ClearValue::DepthStencil(0.5, 0));
    match number {
        0 => pass.color(albedo, clear).color(normal, clear).depth(depth, far),
        1 => pass.input(normal).input(albedo).color(lit, LoadOp::DontCare),
        _ => (pass.input(lit).input(images[last]))
            .color(result, LoadOp::DontCare)
            .color(albedo, LoadOp::Load),
    }
}

#[test]
fn subpasses_leave_what_separate_passes_leave() {
    let ways = [(true, false), (false, false), (false, true)];
    for (last, (apart, secondary)) in [4, 1].into_iter().flat_map(|last| ways.map(|way| (last, way))) {
        let mut scene = Scene::named(if secondary { "secondaries" } else { "parts" });
        let formats = [R32, R32, R32, R32, vk::Format::D32_SFLOAT];
        let images = formats.map(|format| scene.image(ImageDesc::new(format, EXTENT)));
        let [albedo, normal, lit, result, _] = images;
        let reads: [&[ResourceId]; 3] = [&[], &[normal, albedo], &[lit, images[last]]];
        if apart {
            for (number, shader) in PIPELINE.into_iter().enumerate() {
                scene.draw(reads[number], shader, |pass| declared(pass, number, images, last));
            }
        } else {
            let shaders = [0, 1, 2].map(|number| (reads[number], PIPELINE[number]));
            scene.subpasses(&shaders, |pass| {
                let pass = declared(pass, 0, images, last).next_subpass();
                let pass = declared(pass, 1, images, last).next_subpass();
                let pass = declared(pass, 2, images, last);
                if secondary { pass.secondary() } else { pass }
            });
        }
        let column = "layout(set = 0, binding = 0) uniform texture2D sums;
            layout(set = 0, binding = 1) uniform texture2D albedo;
            float column(int x) {
                float sum = 0.0;
                for (int y = 0; y < 8; y++) {
                    ivec2 at = ivec2(x, y);
                    sum += texelFetch(sums, at, 0).r * float(y + 1) + texelFetch(albedo, at, 0).r;
                }
                return sum;
            }";
        scene.add_up(&[result, albedo], column, "column(i)", |pass| {
            pass.sampled(result).sampled(albedo)
        });
        let sum = |x: i16| {
            let texel = |y: i16| {
                let lit = f32::from(2 * x + 30 * y);
                let other = if last == 4 { 0.5 } else { f32::from(10 * y) };
                (other + lit) * f32::from(y + 1) + 100.0 + lit
            };
            (0..8).map(texel).sum::<f32>()
        };
        scene.run(&[0, 1, 2, 3, 4, 5, 6, 7].map(sum));
    }
}

/// The sum of the eight texels of a column.
const COLUMN_OF_ONE: &str = "layout(set = 0, binding = 0) uniform texture2D image;
    float column(int x) {
        float sum = 0.0;
        for (int y = 0; y < 8; y++) sum += dot(texelFetch(image, ivec2(x, y), 0), vec4(1, 2, 4, 0));
        return sum;
    }";

#[test]
fn samples_are_resolved() {
    let mut scene = Scene::new();
    let multi = |format| ImageDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..ImageDesc::new(format, EXTENT)
    };
    let color = scene.image(multi(vk::Format::R8G8B8A8_UNORM));
    let depth = scene.image(multi(vk::Format::D32_SFLOAT));
    let flat = scene.image(ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    scene.clear(|pass| {
        pass.color(color, LoadOp::Clear(ClearValue::Float([1.0, 0.0, 1.0, 0.0])))
            .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)))
            .resolve(color, flat)
    });
    scene.add_up(&[flat], COLUMN_OF_ONE, "column(i)", |pass| pass.sampled(flat));
    scene.run(&[40.0; 8]);
}

#[test]
fn depth_is_tested_and_sampled_at_the_same_time() {
    let mut scene = Scene::new();
    let depth = scene.image(ImageDesc::new(vk::Format::D32_SFLOAT_S8_UINT, EXTENT));
    let first = scene.image(ImageDesc::new(R32, EXTENT));
    let second = scene.image(ImageDesc::new(vk::Format::R32_UINT, EXTENT));
    scene.clear(|pass| pass.depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.75, 7))));
    let both = include_str!("shaders/sampled_depth.glsl");
    scene.draw(&[depth], both, |pass| {
        pass.color(first, LoadOp::DontCare)
            .color(second, LoadOp::DontCare)
            .depth_read_only(depth)
            .sampled(depth)
    });
    let column = "layout(set = 0, binding = 0) uniform texture2D first;
        layout(set = 0, binding = 1) uniform utexture2D second;
        float column(int x) {
            float sum = 0.0;
            for (int y = 0; y < 8; y++) {
                ivec2 at = ivec2(x, y);
                sum += texelFetch(first, at, 0).r + float(texelFetch(second, at, 0).r);
            }
            return sum;
        }";
    scene.add_up(&[first, second], column, "column(i)", |pass| {
        pass.sampled(first).sampled(second)
    });
    scene.run(&[6.0, 14.0, 22.0, 30.0, 38.0, 46.0, 54.0, 62.0]);
}

#[test]
fn buffers_are_reached_by_address() {
    let mut gpu = Gpu::with(ContextDesc {
        buffer_device_address: true,
        ..ContextDesc::from_env("tileheap tests")
    });
    let capabilities = gpu.runtime().capabilities();
    assert!(capabilities.contains(Capabilities::BUFFER_DEVICE_ADDRESS));
    let mut builder = FrameBuilder::new("addresses", EXTENT);
    let numbers = builder.buffer("numbers", BufferDesc::new(Bytes(64)));
    let result = host_read(&mut builder, "result", 64);
    let scene = one_queue(&mut builder, vk::QueueFlags::COMPUTE);
    let write = builder.compute_pass(scene, "write");
    let write = write.write(numbers, AccessKind::DeviceAddress).id();
    let copy = builder
        .transfer_pass(scene, "copy")
        .transfer_source(numbers)
        .transfer_destination(result)
        .id();
    let frame = builder.build().expect("a sound frame");
    let mut bound = bind(&gpu, &frame, &PlanOptions::default());
    let address = bound.access(write, numbers, Parity::Even).buffer().address;
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
    let (host, primary) = (gpu.host_buffer(64), gpu.primaries(1)[0]);
    let recorder = begin(&mut bound, result, &host);
    // SAFETY: new.
    let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
    commands
        .pass(write, |pass| {
            let words = [address as u32, (address >> 32) as u32];
            writing.push(pass.device(), pass.command_buffer(), &words);
            dispatch(pass, &writing, None, [1, 1]);
        })
        .expect("write");
    commands
        .pass(copy, |pass| copy_buffer(pass, numbers, result, 0))
        .expect("copy");
    commands.finish().expect("recorded");
    submit(recorder);
    wait(&bound, 0);
    assert_eq!(
        host.words(),
        std::array::from_fn::<u32, 16, _>(|at| at as u32 * 3)
    );
}
