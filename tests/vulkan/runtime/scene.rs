//! Frames drawn, dispatched and cleared pass by pass, whose last pass sums their contents; in every recording mode.

use ash::vk;
use tileheap::frame::tables::CommandSource;
use tileheap::frame::{
    AccessKind, CommandBufferId, FrameBuilder, ImageDesc, PassBuilder, PassId, ResourceId,
};
use tileheap::plan::{MemoryKind, PlanOptions};
use tileheap::runtime::{BoundAccess, BoundFrame, Capabilities, Parity, PassCommands};

use tileheap_testkit::gpu::{Binding, Gpu, recording_paths};
use tileheap_testkit::{assert_says, skip};

use super::{begin, bind, dispatch, draw, host_read, submit, wait};
use tileheap_testkit::frames::one_queue;

pub(super) const EXTENT: vk::Extent2D = vk::Extent2D { width: 8, height: 8 };
pub(super) const R32: vk::Format = vk::Format::R32_SFLOAT;
const WORDS: u64 = 8;
const HEAD: &str = "#version 460
    #extension GL_EXT_samplerless_texture_functions : require
    #extension GL_EXT_multiview : enable
    ";

/// A pass, or a subpass, with its shader; `None` if it only clears.
struct Step {
    pass: PassId,
    subpass: u32,
    shader: Option<String>,
    render: bool,
    reads: Vec<ResourceId>,
    /// The area in every frame, if not the described one.
    area: Option<vk::Rect2D>,
}

/// A frame whose passes run one after the other.
pub(super) struct Scene {
    builder: FrameBuilder,
    commands: CommandBufferId,
    result: ResourceId,
    steps: Vec<Step>,
    images: u32,
}

impl Scene {
    pub(super) fn new() -> Scene {
        Scene::named("parts")
    }

    /// A scene whose frame, and with it its memory, has this name in messages.
    pub(super) fn named(name: &str) -> Scene {
        let mut builder = FrameBuilder::new(name, EXTENT);
        let result = host_read(&mut builder, "result", 4 * WORDS);
        let commands = one_queue(&mut builder, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        Scene {
            builder,
            commands,
            result,
            steps: Vec::new(),
            images: 0,
        }
    }

    pub(super) fn image(&mut self, desc: ImageDesc) -> ResourceId {
        self.images += 1;
        self.builder.image(format!("image {}", self.images), desc)
    }

    pub(super) fn clear(&mut self, declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>) {
        let name = format!("clear {}", self.steps.len());
        let pass = declare(self.builder.render_pass(self.commands, name)).id();
        self.push(pass, None, true, &[]);
    }

    /// `shader` accesses the parts of `reads` at bindings 0, 1, … in declaration order.
    pub(super) fn draw(
        &mut self,
        reads: &[ResourceId],
        shader: &str,
        declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>,
    ) {
        let name = format!("draw {}", self.steps.len());
        let pass = declare(self.builder.render_pass(self.commands, name)).id();
        self.push(pass, Some(shader), true, reads);
    }

    pub(super) fn dispatch(
        &mut self,
        reads: &[ResourceId],
        shader: &str,
        declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>,
    ) {
        let name = format!("dispatch {}", self.steps.len());
        let pass = declare(self.builder.compute_pass(self.commands, name)).id();
        self.push(pass, Some(shader), false, reads);
    }

    /// A render pass with a subpass for each shader, which accesses its reads as in [`draw`](Scene::draw).
    pub(super) fn subpasses(
        &mut self,
        shaders: &[(&[ResourceId], &str)],
        declare: impl FnOnce(PassBuilder<'_>) -> PassBuilder<'_>,
    ) {
        let name = format!("subpasses {}", self.steps.len());
        let pass = declare(self.builder.render_pass(self.commands, name)).id();
        for (subpass, (reads, shader)) in (0..).zip(shaders) {
            self.push(pass, Some(shader), true, reads);
            self.steps.last_mut().expect("a step").subpass = subpass;
        }
    }

    fn push(&mut self, pass: PassId, shader: Option<&str>, render: bool, reads: &[ResourceId]) {
        self.steps.push(Step {
            pass,
            subpass: 0,
            shader: shader.map(|shader| format!("{HEAD}{shader}")),
            render,
            reads: reads.to_vec(),
            area: None,
        });
    }

    /// Limits the previous pass to this area.
    pub(super) fn in_area(&mut self, area: vk::Rect2D) {
        let pass = self.steps.last().expect("a pass").pass;
        for step in self.steps.iter_mut().filter(|step| step.pass == pass) {
            step.area = Some(area);
        }
    }

    /// The last pass: `expression` of the word `i`, as a number.
    pub(super) fn add_up(
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

    /// Sums the contents of an image, declared as `image` of this type, and compares the first words.
    pub(super) fn expect(mut self, image: ResourceId, kind: &str, expression: &str, needs: &[f32]) {
        let binding = format!("layout(set = 0, binding = 0) uniform {kind} image;");
        self.add_up(&[image], &binding, expression, |pass| pass.sampled(image));
        self.run(needs);
    }

    /// Runs two frames of the scene in every recording mode, and compares the first words.
    pub(super) fn run(self, needs: &[f32]) {
        let Scene {
            builder,
            commands: scene,
            result,
            steps,
            ..
        } = self;
        let frame = builder.build().expect("a sound frame");
        let by_secondaries = steps
            .iter()
            .any(|step| frame.pass(step.pass).contents == CommandSource::Secondary);
        for (way, mut without) in recording_paths() {
            if by_secondaries {
                without -= Capabilities::DEBUG_UTILS; // `false_positives.txt` identifies their messages by name.
            }
            let mut gpu = Gpu::new(without);
            let mut bound = bind(&gpu, &frame, &PlanOptions::default());
            let tile_memory = gpu.runtime().profile().tile.is_some();
            let is_level = |id: &ResourceId| frame.resource(*id).name.contains(" level ");
            for level in frame.resource_ids().filter(is_level) {
                let memory = bound.plan().memory_of(level);
                assert_eq!(memory == Some(MemoryKind::Tile), tile_memory, "{way}");
            }
            if steps.iter().any(|step| draws_one_view(&gpu, &bound, step)) {
                skip("lavapipe 22.3 draws only the first view");
                continue;
            }
            for step in steps.iter().filter(|step| step.subpass > 0) {
                let of_pass = steps.iter().filter(|other| other.pass == step.pass);
                let is_color = |&image: &ResourceId| {
                    let aspects = frame.resource(image).aspects();
                    aspects == vk::ImageAspectFlags::COLOR
                };
                let of_color = of_pass.flat_map(|other| &other.reads).all(is_color);
                let local = Capabilities::LOCAL_READ
                    | Capabilities::DYNAMIC_RENDERING
                    | Capabilities::SYNCHRONIZATION_2;
                let inline = frame.pass(step.pass).contents == CommandSource::Inline;
                let local = of_color && inline && gpu.runtime().capabilities().contains(local);
                let target = bound.target_in(step.pass, step.subpass);
                assert_eq!(target.local_read.is_some(), local, "{way}");
                let listed = |name| gpu.context.support().has_extension(name);
                let offered = way == "newest" && listed(ash::khr::dynamic_rendering_local_read::NAME);
                assert!(local || !of_color || !inline || !offered, "{way}");
            }
            let host = gpu.host_buffer(4 * WORDS);
            let mut recorded = Vec::new();
            for step in &steps {
                let Some(shader) = &step.shader else {
                    recorded.push(None);
                    continue;
                };
                let count = frame.accesses_of(step.pass).len();
                let accesses = (0..count).map(|n| bound.access(step.pass, n, Parity::Even));
                let seen =
                    |one: &BoundAccess| one.view != vk::ImageView::null() && one.subpass == step.subpass;
                let seen: Vec<BoundAccess> = accesses.filter(seen).collect();
                // Its levels may be separate images.
                let is_of = |one: &BoundAccess, image| (0..4).any(|n| frame.level(image, n) == one.resource);
                let views = step
                    .reads
                    .iter()
                    .flat_map(|&image| seen.iter().filter(move |one| is_of(one, image)));
                let bound_view = |view: &BoundAccess| {
                    let kind = match view.kind {
                        AccessKind::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
                        AccessKind::InputAttachment => vk::DescriptorType::INPUT_ATTACHMENT,
                        _ => vk::DescriptorType::SAMPLED_IMAGE,
                    };
                    (kind, Binding::Image(kind, view.view, view.layout))
                };
                let mut bindings: Vec<_> = views.map(bound_view).collect();
                if std::ptr::eq(step, steps.last().expect("steps")) {
                    bindings.push((vk::DescriptorType::STORAGE_BUFFER, Binding::Storage(host.buffer)));
                }
                let (types, bindings): (Vec<_>, Vec<_>) = bindings.into_iter().unzip();
                let target = || bound.target_in(step.pass, step.subpass);
                let pipeline = if step.area.is_some() {
                    gpu.triangles(target(), &types, None, shader)
                } else if step.render {
                    gpu.fullscreen_reading_depth(target(), &types, shader)
                } else {
                    gpu.compute(&types, shader)
                };
                let set = (!types.is_empty()).then(|| gpu.set(&pipeline, &bindings));
                recorded.push(Some((pipeline, set)));
            }
            let primary = gpu.primaries(1)[0];
            let (family, device) = (gpu.context.queues()[0].family, gpu.device().clone());
            let level = vk::CommandBufferLevel::SECONDARY;
            let secondaries = gpu.command_buffers(family, level, steps.len() as u32);
            for number in 0..2 {
                let mut recorder = begin(&mut bound, result, &host);
                for (pass, area) in steps.iter().filter_map(|step| Some((step.pass, step.area?))) {
                    recorder.set_area(pass, area).expect("a smaller area");
                }
                // SAFETY: the previous frame is complete.
                let mut commands = unsafe { recorder.record(primary, scene) }.expect("recording");
                let all: Vec<_> = (0..steps.len()).collect();
                for subpasses in all.chunk_by(|&one, &next| steps[one].pass == steps[next].pass) {
                    let secondaries = &secondaries[subpasses[0]..][..subpasses.len()];
                    let begin_dispatch = |pass| {
                        let inheritance = vk::CommandBufferInheritanceInfo::default();
                        let info = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
                        // SAFETY: the previous frame is complete.
                        unsafe { device.begin_command_buffer(secondaries[0], &info) }.expect("begun");
                        // SAFETY: recording.
                        unsafe { recorder.bind_secondary(secondaries[0], pass) };
                    };
                    let record = |pass: &PassCommands<'_>, at: usize| match &recorded[at] {
                        Some((pipeline, set)) if steps[at].render => {
                            // SAFETY: recording.
                            unsafe { device.cmd_set_viewport(primary, 0, &[pass.viewport()]) };
                            // SAFETY: as above.
                            unsafe { device.cmd_set_scissor(primary, 0, &[pass.area()]) };
                            draw(pass, pipeline, *set);
                        }
                        Some((pipeline, set)) if number == 0 => dispatch(pass, pipeline, *set, [1, 1]),
                        Some((pipeline, set)) => {
                            begin_dispatch(steps[at].pass);
                            pipeline.bind(&device, secondaries[0], *set);
                            // SAFETY: recording.
                            unsafe { device.cmd_dispatch(secondaries[0], 1, 1, 1) };
                            // SAFETY: recording.
                            unsafe { device.end_command_buffer(secondaries[0]) }.expect("ended");
                            // SAFETY: recorded right now, outside render passes.
                            unsafe { pass.execute(&secondaries[..1]) };
                        }
                        None => {}
                    };
                    let record_all = |pass: &PassCommands<'_>| {
                        for &at in subpasses {
                            if steps[at].subpass > 0 {
                                pass.next_subpass();
                            }
                            record(pass, at);
                        }
                    };
                    let pass = steps[subpasses[0]].pass;
                    if frame.pass(pass).contents == CommandSource::Inline {
                        commands.pass(pass, record_all).expect("recorded");
                        continue;
                    }
                    for (&at, &secondary) in subpasses.iter().zip(secondaries) {
                        let (pipeline, set) = recorded[at].as_ref().expect("a shader");
                        // SAFETY: the previous frame is complete.
                        unsafe { recorder.begin_secondary(secondary, pass, steps[at].subpass) }
                            .expect("begun");
                        pipeline.bind(&device, secondary, *set);
                        // SAFETY: recording, inside the subpass.
                        unsafe { device.cmd_draw(secondary, 3, 1, 0, 0) };
                        // SAFETY: recording.
                        unsafe { device.end_command_buffer(secondary) }.expect("ended");
                    }
                    // SAFETY: it is refused.
                    let refused = unsafe { commands.pass_secondary(pass, &[secondaries]) };
                    let said = "is 3, but contents are given for 1";
                    assert_says(refused.expect_err("of all subpasses"), &[said]);
                    let contents: Vec<_> = secondaries.chunks(1).collect();
                    // SAFETY: begun for these subpasses in this frame.
                    unsafe { commands.pass_secondary(pass, &contents) }.expect("recorded");
                }
                commands.finish().expect("recorded");
                submit(recorder);
                wait(&bound, number);
                let words = host.words().into_iter().map(f32::from_bits);
                assert_eq!(
                    words.take(needs.len()).collect::<Vec<_>>(),
                    needs,
                    "{way}, frame {number}"
                );
            }
        }
    }
}

/// Returns true if a pass renders several views on a driver that only draws the first.
fn draws_one_view(gpu: &Gpu, bound: &BoundFrame, step: &Step) -> bool {
    if !step.render {
        return false;
    }
    let instance = gpu.context.instance();
    // SAFETY: the device is one of the instance's.
    let properties = unsafe { instance.get_physical_device_properties(gpu.context.physical_device()) };
    // Lavapipe's version is 1 up to the releases that fix this.
    let old = (properties.device_type, properties.driver_version) == (vk::PhysicalDeviceType::CPU, 1);
    old && bound.target(step.pass).view_mask != 0
}
