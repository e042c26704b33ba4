//! Depth and stencil resolves, with dynamic rendering and with render pass objects.

use ash::vk::{self, ImageAspectFlags as Aspects};
use tileheap::frame::{ClearValue, FrameBuilder, ImageDesc, LoadOp, PassBuilder, ResourceId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{Capabilities, ContextDesc, PassCommands};

use tileheap_testkit::frames::{one_queue, rect};
use tileheap_testkit::gpu::{Gpu, copy_to_buffer};

use super::scene::{EXTENT, R32, Scene};
use super::{begin, bind, host_read, submit, wait};

const BOTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;

/// Draws x / 8 + y / 64 as depth.
const DEPTH: &str = "layout(location = 0) out vec4 color;
    void main() {
        vec2 at = floor(gl_FragCoord.xy);
        color = vec4(1);
        gl_FragDepth = at.x / 8.0 + at.y / 64.0;
    }";

fn multisampled(format: vk::Format) -> ImageDesc {
    ImageDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..ImageDesc::new(format, EXTENT)
    }
}

/// Images of one scene: multisampled color and depth, the resolve target of depth, and a copy of what is read from it.
struct Images {
    color: ResourceId,
    depth: ResourceId,
    flat: ResourceId,
    read: [ResourceId; 2],
}

impl Images {
    fn of(scene: &mut Scene) -> Images {
        Images {
            color: scene.image(multisampled(vk::Format::R8G8B8A8_UNORM)),
            depth: scene.image(multisampled(BOTH)),
            flat: scene.image(ImageDesc::new(BOTH, EXTENT)),
            read: [R32, R32].map(|format| scene.image(ImageDesc::new(format, EXTENT))),
        }
    }

    /// Clears depth to 1 and stencil to 7, draws, and resolves.
    fn resolved<'a>(&self, pass: PassBuilder<'a>) -> PassBuilder<'a> {
        pass.color(self.color, LoadOp::Clear(ClearValue::ZERO))
            .depth(self.depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 7)))
            .resolve(self.depth, self.flat)
    }

    /// Writes the values that were read.
    fn copied<'a>(&self, pass: PassBuilder<'a>) -> PassBuilder<'a> {
        let [depth, stencil] = self.read;
        pass.color(depth, LoadOp::DontCare)
            .color(stencil, LoadOp::DontCare)
    }

    /// Compares the values that were read with those that were drawn and cleared.
    fn expect(&self, mut scene: Scene) {
        let column = "layout(set = 0, binding = 0) uniform texture2D depth;
            layout(set = 0, binding = 1) uniform texture2D stencil;
            float column(int x) {
                float sum = 0.0;
                for (int y = 0; y < 8; y++) {
                    ivec2 at = ivec2(x, y);
                    sum += 64.0 * texelFetch(depth, at, 0).r + 100.0 * texelFetch(stencil, at, 0).r;
                }
                return sum;
            }";
        let [depth, stencil] = self.read;
        scene.add_up(&self.read, column, "column(i)", |pass| {
            pass.sampled(depth).sampled(stencil)
        });
        // The sums of 8 x + y, and of 8 times 7.
        scene.run(&[0u8, 1, 2, 3, 4, 5, 6, 7].map(|x| 64.0 * f32::from(x) + 28.0 + 5600.0));
    }
}

#[test]
fn depth_and_stencil_are_resolved() {
    let mut scene = Scene::new();
    let images = Images::of(&mut scene);
    scene.draw(&[], DEPTH, |pass| images.resolved(pass));
    scene.in_area(rect(0, 0, EXTENT.width, EXTENT.height));
    let read = "layout(set = 0, binding = 0) uniform texture2D depth;
        layout(set = 0, binding = 1) uniform utexture2D stencil;
        layout(location = 0) out float first;
        layout(location = 1) out float second;
        void main() {
            ivec2 at = ivec2(gl_FragCoord.xy);
            first = texelFetch(depth, at, 0).r;
            second = float(texelFetch(stencil, at, 0).r);
        }";
    scene.draw(&[images.flat], read, |pass| {
        let pass = images.copied(pass).sampled(images.flat).aspect(Aspects::DEPTH);
        pass.sampled(images.flat).aspect(Aspects::STENCIL)
    });
    images.expect(scene);
}

#[test]
fn resolved_depth_is_read_in_place() {
    let mut scene = Scene::new();
    let images = Images::of(&mut scene);
    let read = "layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput depth;
        layout(input_attachment_index = 1, set = 0, binding = 1) uniform usubpassInput stencil;
        layout(location = 0) out float first;
        layout(location = 1) out float second;
        void main() {
            first = subpassLoad(depth).r;
            second = float(subpassLoad(stencil).r);
        }";
    let shaders: [(&[ResourceId], &str); 2] = [(&[], DEPTH), (&[images.flat], read)];
    scene.subpasses(&shaders, |pass| {
        let pass = images.resolved(pass).next_subpass();
        let pass = pass.input(images.flat).aspect(Aspects::DEPTH);
        images.copied(pass.input(images.flat).aspect(Aspects::STENCIL))
    });
    scene.in_area(rect(0, 0, EXTENT.width, EXTENT.height));
    images.expect(scene);
}

/// Depth and stencil are attached, and only depth is read in place.
#[test]
fn one_aspect_is_read_in_place() {
    let mut scene = Scene::new();
    let both = scene.image(ImageDesc::new(BOTH, EXTENT));
    let seen = scene.image(ImageDesc::new(R32, EXTENT));
    let draw = "void main() { vec2 at = floor(gl_FragCoord.xy); gl_FragDepth = at.x / 8.0 + at.y / 64.0; }";
    let read = "layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput depth;
        layout(location = 0) out float value;
        void main() { value = 64.0 * subpassLoad(depth).r; }";
    let shaders: [(&[ResourceId], &str); 2] = [(&[], draw), (&[both], read)];
    scene.subpasses(&shaders, |pass| {
        let far = LoadOp::Clear(ClearValue::DepthStencil(1.0, 7));
        let pass = pass.depth(both, far).next_subpass();
        pass.input(both)
            .aspect(Aspects::DEPTH)
            .color(seen, LoadOp::DontCare)
    });
    scene.in_area(rect(0, 0, EXTENT.width, EXTENT.height));
    scene.add_up(
        &[seen, both],
        "layout(set = 0, binding = 0) uniform texture2D seen;
         layout(set = 0, binding = 1) uniform utexture2D stencil;",
        "texelFetch(seen, ivec2(i, 3), 0).r + 100.0 * float(texelFetch(stencil, ivec2(i, 3), 0).r)",
        |pass| pass.sampled(seen).sampled(both).aspect(Aspects::STENCIL),
    );
    scene.run(&[0u8, 1, 2, 3, 4, 5, 6, 7].map(|x| 8.0 * f32::from(x) + 3.0 + 700.0));
}

#[test]
fn depth_of_several_views_is_resolved() {
    let mut scene = Scene::new();
    let format = vk::Format::D16_UNORM;
    let layered = |desc| ImageDesc {
        array_layers: 2,
        ..desc
    };
    let depth = scene.image(layered(multisampled(format)));
    let flat = scene.image(layered(ImageDesc::new(format, EXTENT)));
    scene.clear(|pass| {
        pass.views(0b11)
            .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)))
            .resolve(depth, flat)
    });
    let expression = "texelFetch(image, ivec3(i, i, 0), 0).r + 2.0 * texelFetch(image, ivec3(i, i, 1), 0).r";
    scene.expect(flat, "texture2DArray", expression, &[3.0; 8]);
}

/// Copies depth to the start of a buffer.
fn copy_depth(pass: &PassCommands<'_>, image: ResourceId, to: ResourceId) {
    let (image, to) = (pass.access(image).image(), pass.access(to).buffer());
    let depth = vk::ImageAspectFlags::DEPTH;
    copy_to_buffer(pass.device(), pass.command_buffer(), image, depth, EXTENT, &to);
}

#[test]
fn depth_is_resolved_by_the_extensions_of_vulkan_1_1() {
    let mut gpu = Gpu::with(ContextDesc {
        api_version: vk::API_VERSION_1_1,
        without: Capabilities::DYNAMIC_RENDERING,
        ..ContextDesc::from_env("tileheap tests")
    });
    let capabilities = gpu.runtime().capabilities();
    assert!(capabilities.contains(Capabilities::DEPTH_STENCIL_RESOLVE));
    let mut builder = FrameBuilder::new("resolved", EXTENT);
    let depth = builder.image("depth", multisampled(vk::Format::D32_SFLOAT));
    let flat = builder.image("flat", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
    let result = host_read(&mut builder, "result", 256);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let clear = builder.render_pass(scene, "clear");
    let clear = clear.depth(depth, LoadOp::Clear(ClearValue::DepthStencil(0.25, 0)));
    let clear = clear.resolve(depth, flat).id();
    let copy = builder.transfer_pass(scene, "copy").transfer_source(flat);
    let copy = copy.transfer_destination(result).id();
    let frame = builder.build().expect("a sound frame");
    let mut bound = bind(&gpu, &frame, &PlanOptions::default());
    let (host, primary) = (gpu.host_buffer(256), gpu.primaries(1)[0]);
    let recorder = begin(&mut bound, result, &host);
    // SAFETY: new.
    let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
    commands.pass(clear, |_| ()).expect("clear");
    commands
        .pass(copy, |pass| copy_depth(pass, flat, result))
        .expect("copy");
    commands.finish().expect("recorded");
    submit(recorder);
    wait(&bound, 0);
    assert_eq!(host.words(), [0.25_f32.to_bits(); 64]);
}
