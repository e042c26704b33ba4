//! Parts of images on a real driver: every scene draws, dispatches or clears part by part, and a last pass adds up what they hold.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::ViewDesc;
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, CommandBufferId, FrameBuilder, ImageDesc, LoadOp, PassBuilder,
    PassId, Persistence, ResourceId,
};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::parts::PartView;
use tileheap::runtime::{BoundFrame, FrameNumber, Imports, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, ways};
use tileheap_testkit::skip;

const EXTENT: vk::Extent2D = vk::Extent2D { width: 8, height: 8 };
const R32: vk::Format = vk::Format::R32_SFLOAT;
const WORDS: u64 = 8;
const HEAD: &str = "#version 460
    #extension GL_EXT_samplerless_texture_functions : require
    #extension GL_EXT_multiview : enable
    ";

/// A pass with its shader; passes that only clear have none.
struct Step {
    pass: PassId,
    shader: Option<String>,
    render: bool,
    reads: Vec<ResourceId>,
}

struct Scene {
    builder: FrameBuilder,
    commands: CommandBufferId,
    result: ResourceId,
    steps: Vec<Step>,
    images: u32,
}

impl Scene {
    fn new() -> Scene {
        let mut builder = FrameBuilder::new("parts", EXTENT);
        let host = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
        let desc = BufferDesc::new(Bytes(4 * WORDS));
        let result = builder.resource("result", desc, Persistence::External(host));
        let queue = builder.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let submit = builder.submit(queue);
        let batch = builder.batch(submit);
        let commands = builder.command_buffer(batch, "scene");
        Scene {
            builder,
            commands,
            result,
            steps: Vec::new(),
            images: 0,
        }
    }

    fn image(&mut self, desc: ImageDesc) -> ResourceId {
        self.images += 1;
        self.builder.image(format!("image {}", self.images), desc)
    }

    fn clear(&mut self, declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>) {
        let name = format!("clear {}", self.steps.len());
        let pass = declare(self.builder.render_pass(self.commands, name)).id();
        self.steps.push(Step {
            pass,
            shader: None,
            render: true,
            reads: Vec::new(),
        });
    }

    /// `shader` finds the parts of `reads` at bindings 0, 1, … in the order of their declaration.
    fn draw(
        &mut self,
        reads: &[ResourceId],
        shader: &str,
        declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>,
    ) {
        let name = format!("draw {}", self.steps.len());
        let pass = declare(self.builder.render_pass(self.commands, name)).id();
        self.steps.push(Step {
            pass,
            shader: Some(format!("{HEAD}{shader}")),
            render: true,
            reads: reads.to_vec(),
        });
    }

    fn dispatch(
        &mut self,
        reads: &[ResourceId],
        shader: &str,
        declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>,
    ) {
        let name = format!("dispatch {}", self.steps.len());
        let pass = declare(self.builder.compute_pass(self.commands, name)).id();
        self.steps.push(Step {
            pass,
            shader: Some(format!("{HEAD}{shader}")),
            render: false,
            reads: reads.to_vec(),
        });
    }

    /// The last pass: `expression` of the word `i`, as a number.
    fn add_up(
        &mut self,
        reads: &[ResourceId],
        bindings: &str,
        expression: &str,
        declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>,
    ) {
        let at = reads.len();
        let shader = format!(
            "layout(local_size_x = {WORDS}) in;
            {bindings}
            layout(set = 0, binding = {at}) buffer Result {{ float result[]; }};
            void main() {{ int i = int(gl_LocalInvocationIndex); result[i] = {expression}; }}"
        );
        let result = self.result;
        self.dispatch(reads, &shader, |pass| declare(pass).storage_write(result));
    }

    /// Runs two frames of the scene in every way of recording.
    fn run(self, needs: [f32; WORDS as usize]) {
        let Scene {
            builder,
            commands: scene,
            result,
            steps,
            ..
        } = self;
        let frame = builder.build().expect("a sound frame");
        for (way, without) in ways() {
            let mut gpu = Gpu::new(without);
            let plan = gpu.tile().plan(&frame, &PlanOptions::default()).expect("a plan");
            let mut bound = gpu.tile().bind(&plan).expect("a bound plan");
            if steps.iter().any(|step| draws_one_view(&gpu, &bound, step)) {
                skip("lavapipe 22.3 draws the first view alone");
                bound.retire();
                gpu.finish();
                continue;
            }
            let host = gpu.host_buffer(4 * WORDS);
            let mut recorded = Vec::new();
            for step in &steps {
                let Some(shader) = &step.shader else {
                    recorded.push(None);
                    continue;
                };
                let seen = |view: &PartView| view.view != vk::ImageView::null();
                let views = step
                    .reads
                    .iter()
                    .flat_map(|&image| bound.views_in(step.pass, image, Parity::Even).filter(seen));
                let bound_view = |view: PartView| {
                    let kind = match view.kind {
                        AccessKind::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
                        _ => vk::DescriptorType::SAMPLED_IMAGE,
                    };
                    (kind, Binding::Image(kind, view.view, view.layout))
                };
                let mut bindings: Vec<_> = views.map(bound_view).collect();
                if std::ptr::eq(step, steps.last().expect("steps")) {
                    bindings.push((vk::DescriptorType::STORAGE_BUFFER, Binding::Storage(host.buffer)));
                }
                let (types, bindings): (Vec<_>, Vec<_>) = bindings.into_iter().unzip();
                let pipeline = if step.render {
                    gpu.fullscreen_reading_depth(bound.target(step.pass), &types, shader)
                } else {
                    gpu.compute(&types, shader)
                };
                let set = (!types.is_empty()).then(|| gpu.set(&pipeline, &bindings));
                recorded.push(Some((pipeline, set)));
            }
            let primary = gpu.primaries(1)[0];
            let buffers = [ImportedBuffer {
                resource: result,
                buffer: host.buffer,
            }];
            let imports = Imports {
                buffers: &buffers,
                ..Imports::default()
            };
            for number in 0..2 {
                // SAFETY: the buffer lives until `finish`.
                let recorder = unsafe { bound.begin(&imports) }.expect("a frame");
                // SAFETY: the frame before is complete.
                let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
                for (step, recorded) in steps.iter().zip(&recorded) {
                    let record = |pass: &tileheap::runtime::PassCommands<'_>| {
                        let Some((pipeline, set)) = recorded else { return };
                        let (device, to) = (pass.device(), pass.command_buffer());
                        pipeline.bind(device, to, *set);
                        if step.render {
                            // SAFETY: recording inside the render pass.
                            unsafe { device.cmd_draw(to, 3, 1, 0, 0) };
                        } else {
                            // SAFETY: recording outside render passes.
                            unsafe { device.cmd_dispatch(to, 1, 1, 1) };
                        }
                    };
                    commands.pass(step.pass, record).expect("recorded");
                }
                commands.finish().expect("recorded");
                // SAFETY: the test has one thread.
                unsafe { recorder.submit() }.expect("submitted");
                assert!(bound.wait(FrameNumber(number), u64::MAX).expect("waited"));
                let words = host.words().into_iter().map(f32::from_bits);
                assert_eq!(words.collect::<Vec<_>>(), needs, "{way}, frame {number}");
            }
            bound.retire();
            gpu.finish();
        }
    }
}

/// Whether a pass renders several views by a driver that draws the first alone.
fn draws_one_view(gpu: &Gpu, bound: &BoundFrame, step: &Step) -> bool {
    if !step.render {
        return false;
    }
    let instance = gpu.context.instance();
    // SAFETY: the device is one of the instance's.
    let properties = unsafe { instance.get_physical_device_properties(gpu.context.physical_device()) };
    // Lavapipe's version is 1 up to the releases that mend this.
    let old = (properties.device_type, properties.driver_version) == (vk::PhysicalDeviceType::CPU, 1);
    old && bound.target(step.pass).view_mask != 0
}

fn layered(format: vk::Format, mip_levels: u32, array_layers: u32) -> ImageDesc {
    ImageDesc {
        mip_levels,
        array_layers,
        ..ImageDesc::new(format, EXTENT)
    }
}

const ADD_FOUR: &str = "layout(set = 0, binding = 0) uniform texture2D above;
    layout(location = 0) out float sum;
    void main() {
        ivec2 at = ivec2(gl_FragCoord.xy) * 2;
        sum = texelFetch(above, at, 0).r + texelFetch(above, at + ivec2(1, 0), 0).r
            + texelFetch(above, at + ivec2(0, 1), 0).r + texelFetch(above, at + ivec2(1, 1), 0).r;
    }";

#[test]
fn bloom_is_drawn_level_by_level_in_one_image() {
    let mut scene = Scene::new();
    let bloom = scene.image(layered(R32, 4, 1));
    let column = "layout(location = 0) out float value; void main() { value = floor(gl_FragCoord.x); }";
    scene.draw(&[], column, |pass| pass.color(bloom, LoadOp::DontCare));
    for level in 1..4 {
        scene.draw(&[bloom], ADD_FOUR, |pass| {
            let pass = pass.sampled(bloom).level(level - 1);
            pass.color(bloom, LoadOp::DontCare).level(level)
        });
    }
    scene.add_up(
        &[bloom],
        "layout(set = 0, binding = 0) uniform texture2D bloom;",
        "i < 4 ? texelFetch(bloom, ivec2(0), i).r : 0.0",
        |pass| pass.sampled(bloom),
    );
    // Columns 0 and 1 twice, then 0 to 3 four times each, then all 64 texels.
    scene.run([0.0, 2.0, 24.0, 224.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn shadow_cascades_are_drawn_layer_by_layer() {
    let mut scene = Scene::new();
    let shadows = scene.image(layered(vk::Format::D32_SFLOAT, 1, 3));
    for layer in 0..3 {
        let clear = LoadOp::Clear(ClearValue::DepthStencil(0.25 * (layer + 1) as f32, 0));
        scene.clear(|pass| pass.depth(shadows, clear).layer(layer));
    }
    scene.add_up(
        &[shadows],
        "layout(set = 0, binding = 0) uniform texture2DArray shadows;",
        "i < 3 ? texelFetch(shadows, ivec3(7, 7, i), 0).r : 0.0",
        |pass| pass.sampled(shadows),
    );
    scene.run([0.25, 0.5, 0.75, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_faces_of_a_cube_are_drawn_one_by_one() {
    let mut scene = Scene::new();
    let cube = scene.image(ImageDesc {
        flags: vk::ImageCreateFlags::CUBE_COMPATIBLE,
        ..layered(R32, 1, 6)
    });
    for face in 0..6 {
        let clear = LoadOp::Clear(ClearValue::Float([face as f32; 4]));
        scene.clear(|pass| pass.color(cube, clear).layer(face));
    }
    let faces = ViewDesc {
        view_type: Some(vk::ImageViewType::TYPE_2D_ARRAY),
        format: None,
    };
    scene.add_up(
        &[cube],
        "layout(set = 0, binding = 0) uniform texture2DArray faces;",
        "i < 6 ? texelFetch(faces, ivec3(1, 2, i), 0).r : 0.0",
        |pass| pass.sampled(cube).viewed(faces),
    );
    scene.run([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0]);
}

#[test]
fn a_depth_pyramid_is_dispatched_level_by_level() {
    let mut scene = Scene::new();
    let pyramid = scene.image(layered(R32, 3, 1));
    let fill = "layout(local_size_x = 8, local_size_y = 8) in;
        layout(set = 0, binding = 0, r32f) uniform writeonly image2D top;
        void main() {
            ivec2 at = ivec2(gl_LocalInvocationID.xy);
            imageStore(top, at, vec4(at.x + 8 * at.y));
        }";
    let farthest = "layout(local_size_x = 8, local_size_y = 8) in;
        layout(set = 0, binding = 0) uniform texture2D above;
        layout(set = 0, binding = 1, r32f) uniform writeonly image2D here;
        void main() {
            ivec2 at = ivec2(gl_LocalInvocationID.xy);
            if (any(greaterThanEqual(at, imageSize(here)))) return;
            float far = 0.0;
            for (int i = 0; i < 4; i++)
                far = max(far, texelFetch(above, at * 2 + ivec2(i & 1, i >> 1), 0).r);
            imageStore(here, at, vec4(far));
        }";
    scene.dispatch(&[pyramid], fill, |pass| pass.storage_write(pyramid).level(0));
    for level in 1..3 {
        scene.dispatch(&[pyramid], farthest, |pass| {
            let pass = pass.sampled(pyramid).level(level - 1);
            pass.storage_write(pyramid).level(level)
        });
    }
    scene.add_up(
        &[pyramid],
        "layout(set = 0, binding = 0) uniform texture2D pyramid;",
        "i < 3 ? texelFetch(pyramid, ivec2(1), i).r : 0.0",
        |pass| pass.sampled(pyramid),
    );
    scene.run([9.0, 27.0, 63.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_volume_is_drawn_slice_by_slice() {
    let mut scene = Scene::new();
    let (width, height, depth) = (4, 4, 3);
    let volume = scene.image(ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        ..ImageDesc::new(R32, vk::Extent3D { width, height, depth })
    });
    for slice in 0..3 {
        let clear = LoadOp::Clear(ClearValue::Float([slice as f32 + 0.5; 4]));
        scene.clear(|pass| pass.color(volume, clear).layer(slice));
    }
    scene.add_up(
        &[volume],
        "layout(set = 0, binding = 0) uniform texture3D volume;",
        "i < 3 ? texelFetch(volume, ivec3(3, 2, i), 0).r : 0.0",
        |pass| pass.sampled(volume),
    );
    scene.run([0.5, 1.5, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn two_views_are_drawn_at_once() {
    let mut scene = Scene::new();
    let eyes = scene.image(layered(R32, 1, 2));
    let eye = "layout(location = 0) out float value; void main() { value = 3.0 + gl_ViewIndex; }";
    scene.draw(&[], eye, |pass| pass.color(eyes, LoadOp::DontCare).views(0b11));
    scene.add_up(
        &[eyes],
        "layout(set = 0, binding = 0) uniform texture2DArray eyes;",
        "i < 2 ? texelFetch(eyes, ivec3(5, 5, i), 0).r : 0.0",
        |pass| pass.sampled(eyes),
    );
    scene.run([3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn depth_is_sampled_while_stencil_is_cleared() {
    let mut scene = Scene::new();
    let both = scene.image(ImageDesc::new(vk::Format::D32_SFLOAT_S8_UINT, EXTENT));
    let seen = scene.image(ImageDesc::new(R32, EXTENT));
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let clear = |stencil| LoadOp::Clear(ClearValue::DepthStencil(0.375, stencil));
    scene.clear(|pass| pass.depth(both, clear(1)));
    let copy = "layout(set = 0, binding = 0) uniform texture2D depth;
        layout(location = 0) out float value;
        void main() { value = texelFetch(depth, ivec2(gl_FragCoord.xy), 0).r; }";
    scene.draw(&[both], copy, |pass| {
        let pass = pass
            .sampled(both)
            .aspect(depth)
            .depth_read_only(both)
            .aspect(depth);
        let pass = pass.depth(both, clear(9)).aspect(stencil);
        pass.color(seen, LoadOp::DontCare)
    });
    scene.add_up(
        &[seen, both],
        "layout(set = 0, binding = 0) uniform texture2D seen;
         layout(set = 0, binding = 1) uniform utexture2D both;",
        "i == 0 ? texelFetch(seen, ivec2(3), 0).r : i == 1 ? float(texelFetch(both, ivec2(3), 0).r) : 0.0",
        |pass| pass.sampled(seen).sampled(both).aspect(stencil),
    );
    scene.run([0.375, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_render_area_leaves_the_rest_alone() {
    let mut scene = Scene::new();
    let image = scene.image(ImageDesc::new(R32, EXTENT));
    let clear = |value| LoadOp::Clear(ClearValue::Float([value; 4]));
    let (offset, extent) = (vk::Offset2D { x: 2, y: 0 }, vk::Extent2D { width: 4, height: 8 });
    scene.clear(|pass| pass.color(image, clear(1.0)));
    scene.clear(|pass| pass.color(image, clear(2.0)).area(vk::Rect2D { offset, extent }));
    scene.add_up(
        &[image],
        "layout(set = 0, binding = 0) uniform texture2D image;",
        "texelFetch(image, ivec2(i, 4), 0).r",
        |pass| pass.sampled(image),
    );
    scene.run([1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]);
}
