//! Runs small programs with and without synchronization errors through the loader and the layer, and compares the findings of `check-frame`.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod special;

use std::process::Command;

use ash::vk;
use tileheap_capture::check::check;
use tileheap_capture::check::finding::{Certainty, CheckReport, Problem};
use tileheap_capture::settings;
use tileheap_testkit::glsl::{Stage, compile};
use tileheap_testkit::objects::{
    Objects, area, color_attachment, command_buffers, descriptor_set, framebuffer_info, image_info, record,
    stage, view_info, whole_image,
};
use tileheap_testkit::runnable;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::{captured, folder, read};

/// The environment variable with the name of the program to run.
const PROGRAM: &str = "TILEHEAP_ORDER_PROGRAM";

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const SIDE: u32 = 64;
const BYTES: u64 = 4096;

/// A device with two buffers on the same bytes, a third buffer and an image.
struct Rig {
    device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    objects: Objects,
    a: vk::Buffer,
    /// Shares the bytes of `a`.
    b: vk::Buffer,
    other: vk::Buffer,
    /// For conditional rendering.
    predicate: vk::Buffer,
    image: vk::Image,
    view: vk::ImageView,
}

impl Rig {
    fn new(instance: &ash::Instance) -> Rig {
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let mut newer = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true);
        let mut conditional =
            vk::PhysicalDeviceConditionalRenderingFeaturesEXT::default().conditional_rendering(true);
        let extensions = [ash::ext::conditional_rendering::NAME.as_ptr()];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut newer)
            .push_next(&mut conditional);
        let objects = Objects::default();
        // SAFETY: Valid usage; family 0 has a queue.
        unsafe {
            let physical = tileheap_testkit::physical_device(instance);
            let device = instance.create_device(physical, &info, None).expect("a device");
            let usage = vk::BufferUsageFlags::TRANSFER_DST
                | vk::BufferUsageFlags::TRANSFER_SRC
                | vk::BufferUsageFlags::STORAGE_BUFFER;
            let info = vk::BufferCreateInfo::default().size(BYTES).usage(usage);
            let (a, memory) = objects.buffer(&device, &info, u32::MAX);
            let b = objects.create(&device, &info);
            device.bind_buffer_memory(b, memory, 0).expect("bound memory");
            let predicate = info.usage(usage | vk::BufferUsageFlags::CONDITIONAL_RENDERING_EXT);
            let usage = vk::ImageUsageFlags::TRANSFER_DST
                | vk::ImageUsageFlags::TRANSFER_SRC
                | vk::ImageUsageFlags::COLOR_ATTACHMENT;
            let image = objects.image(&device, &image_info(FORMAT, SIDE, usage), u32::MAX);
            let view = view_info(image, FORMAT, vk::ImageAspectFlags::COLOR);
            Rig {
                queue: device.get_device_queue(0, 0),
                pool: objects.create(&device, &vk::CommandPoolCreateInfo::default()),
                other: objects.buffer(&device, &info, u32::MAX).0,
                predicate: objects.buffer(&device, &predicate, u32::MAX).0,
                view: objects.create(&device, &view),
                a,
                b,
                image,
                device,
                objects,
            }
        }
    }

    fn commands(
        &self,
        level: vk::CommandBufferLevel,
        add: impl FnOnce(vk::CommandBuffer),
    ) -> vk::CommandBuffer {
        let commands = command_buffers(&self.device, self.pool, level, 1)[0];
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let info = vk::CommandBufferBeginInfo::default()
            .inheritance_info(&inheritance)
            .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        record(&self.device, commands, &info, || add(commands));
        commands
    }

    fn submit(&self, commands: vk::CommandBuffer) {
        let all = [commands];
        let batch = vk::SubmitInfo::default().command_buffers(&all);
        // SAFETY: Valid usage, except for the order of accesses, which the programs get wrong on purpose.
        unsafe { self.device.queue_submit(self.queue, &[batch], vk::Fence::null()) }.expect("a submit");
    }

    /// Records commands and submits them.
    fn run(&self, add: impl FnOnce(vk::CommandBuffer)) {
        self.submit(self.commands(vk::CommandBufferLevel::PRIMARY, add));
    }

    fn fill(&self, commands: vk::CommandBuffer, buffer: vk::Buffer) {
        // SAFETY: Valid usage, as above; this holds for each method.
        unsafe {
            self.device
                .cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 1)
        };
    }

    fn copy(&self, commands: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer, part: (u64, u64)) {
        let region = vk::BufferCopy {
            src_offset: part.0,
            dst_offset: part.0,
            size: part.1,
        };
        // SAFETY: As above.
        unsafe { self.device.cmd_copy_buffer(commands, from, to, &[region]) };
    }

    /// Copies into an area of the image.
    fn upload(&self, commands: vk::CommandBuffer, x: i32, width: u32) {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        };
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_offset(vk::Offset3D { x, y: 0, z: 0 })
            .image_extent(vk::Extent3D {
                width,
                height: 8,
                depth: 1,
            });
        let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        // SAFETY: As above.
        unsafe {
            self.device
                .cmd_copy_buffer_to_image(commands, self.other, self.image, layout, &[region]);
        }
    }

    fn barrier(&self, commands: vk::CommandBuffer, src: (S, A), dst: (S, A)) {
        let barrier = vk::MemoryBarrier2::default()
            .src_stage_mask(src.0)
            .src_access_mask(src.1)
            .dst_stage_mask(dst.0)
            .dst_access_mask(dst.1);
        let barriers = [barrier];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: As above.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &info) };
    }

    fn transition(&self, commands: vk::CommandBuffer, dst: (S, A), new: vk::ImageLayout) {
        let barrier = vk::ImageMemoryBarrier2::default()
            .dst_stage_mask(dst.0)
            .dst_access_mask(dst.1)
            .new_layout(new)
            .image(self.image)
            .subresource_range(whole_image(vk::ImageAspectFlags::COLOR));
        let barriers = [barrier];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: As above.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// A render pass that clears the image, with the dependencies after it; then a barrier for color attachment writes, and a copy from the image.
    fn rendered_and_copied(&self, dependencies: &[vk::SubpassDependency]) {
        let (device, source) = (&self.device, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
        let attachments = [color_attachment(FORMAT).final_layout(source)];
        let references =
            [vk::AttachmentReference::default().layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(dependencies);
        let pass = self.objects.create(device, &info);
        let views = [self.view];
        let framebuffer = self.objects.create(device, &framebuffer_info(pass, &views, SIDE));
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(area(SIDE, SIDE))
            .clear_values(&[vk::ClearValue {
                color: vk::ClearColorValue { uint32: [0; 4] },
            }]);
        self.run(|commands| {
            // SAFETY: As above.
            unsafe {
                device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
                device.cmd_end_render_pass(commands);
            }
            let written = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
            self.barrier(commands, written, (S::COPY, A::TRANSFER_READ));
            self.read_back(commands, self.image, source);
        });
    }

    /// Copies part of an image to a buffer.
    fn read_back(&self, commands: vk::CommandBuffer, image: vk::Image, layout: vk::ImageLayout) {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 1,
            ..Default::default()
        };
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_extent(vk::Extent3D {
                width: 8,
                height: 8,
                depth: 1,
            });
        let (device, regions) = (&self.device, [region]);
        // SAFETY: As above.
        unsafe { device.cmd_copy_image_to_buffer(commands, image, layout, self.other, &regions) };
    }

    /// A new image that begins in `PREINITIALIZED`, with the contents of its memory.
    fn copied_before_written(&self) {
        let (device, source) = (&self.device, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
        let info = image_info(FORMAT, SIDE, vk::ImageUsageFlags::TRANSFER_SRC)
            .initial_layout(vk::ImageLayout::PREINITIALIZED);
        let image = self.objects.image(device, &info, u32::MAX);
        self.run(|commands| {
            let barrier = vk::ImageMemoryBarrier2::default()
                .dst_stage_mask(S::COPY)
                .dst_access_mask(A::TRANSFER_READ)
                .old_layout(vk::ImageLayout::PREINITIALIZED)
                .new_layout(source)
                .image(image)
                .subresource_range(whole_image(vk::ImageAspectFlags::COLOR));
            let barriers = [barrier];
            let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
            // SAFETY: As above.
            unsafe { device.cmd_pipeline_barrier2(commands, &info) };
            self.read_back(commands, image, source);
        });
    }

    /// Makes a compute pipeline with storage buffers at bindings 0, 1, …, the first ones with these types.
    fn compute(
        &self,
        source: &str,
        kinds: &[vk::DescriptorType],
    ) -> (vk::Pipeline, vk::PipelineLayout, vk::DescriptorSetLayout) {
        let words = compile(Stage::Compute, source, 0);
        let module = self
            .objects
            .create(&self.device, &vk::ShaderModuleCreateInfo::default().code(&words));
        let stages = vk::ShaderStageFlags::COMPUTE;
        let (layout, set) = self.objects.pipeline_layout(&self.device, &[], kinds, stages, 0);
        let info = vk::ComputePipelineCreateInfo::default()
            .layout(layout)
            .stage(stage(vk::ShaderStageFlags::COMPUTE, module));
        (self.objects.create(&self.device, &info), layout, set)
    }

    fn descriptor_pool(&self, kind: vk::DescriptorType) -> vk::DescriptorPool {
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 8,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(4)
            .pool_sizes(&sizes);
        self.objects.create(&self.device, &info)
    }

    /// Dispatches that each write half of `a`, with dynamic offsets.
    fn written_at(&self, offsets: [u32; 2]) {
        let kind = vk::DescriptorType::STORAGE_BUFFER_DYNAMIC;
        let source =
            "layout(local_size_x = 64) in; layout(set = 0, binding = 0) buffer Data { uint data[]; };
            void main() { if (gl_GlobalInvocationID.x < data.length()) data[gl_GlobalInvocationID.x] = 1; }";
        let (pipeline, layout, set_layout) = self.compute(source, &[kind]);
        let set = descriptor_set(&self.device, self.descriptor_pool(kind), set_layout, &[]);
        let infos = [vk::DescriptorBufferInfo::default()
            .buffer(self.a)
            .range(BYTES / 2)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(kind)
            .buffer_info(&infos);
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: As above.
        unsafe { self.device.update_descriptor_sets(&[write], &[]) };
        self.run(|commands| {
            // SAFETY: As above.
            unsafe {
                self.device.cmd_bind_pipeline(commands, point, pipeline);
                for offset in offsets {
                    self.device
                        .cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[offset]);
                    self.device
                        .cmd_dispatch(commands, BYTES as u32 / 2 / 4 / 64, 1, 1);
                }
            }
        });
    }

    /// A dispatch that reads `other` and writes `a`, then a fill of `a` without a barrier; one update writes both bindings.
    fn written_by_consecutive_update(&self) {
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let source = "layout(local_size_x = 64) in;
            layout(set = 0, binding = 0) readonly buffer From { uint from[]; };
            layout(set = 0, binding = 1) writeonly buffer To { uint to[]; };
            void main() {
                if (gl_GlobalInvocationID.x >= to.length()) return;
                to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x];
            }";
        let (pipeline, layout, set_layout) = self.compute(source, &[kind; 2]);
        let set = descriptor_set(&self.device, self.descriptor_pool(kind), set_layout, &[]);
        let info = |buffer| {
            vk::DescriptorBufferInfo::default()
                .buffer(buffer)
                .range(vk::WHOLE_SIZE)
        };
        let infos = [self.other, self.a].map(info);
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(kind)
            .buffer_info(&infos);
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: As above.
        unsafe { self.device.update_descriptor_sets(&[write], &[]) };
        self.run(|commands| {
            // SAFETY: As above.
            unsafe {
                self.device.cmd_bind_pipeline(commands, point, pipeline);
                self.device
                    .cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
                self.device.cmd_dispatch(commands, BYTES as u32 / 4 / 64, 1, 1);
            }
            self.fill(commands, self.a);
        });
    }
}

const FILLED: (S, A) = (S::CLEAR, A::TRANSFER_WRITE);
const COPIED: (S, A) = (S::COPY, A::TRANSFER_WRITE);
const COPIES: (S, A) = (S::COPY, A::TRANSFER_READ);

/// Runs a program after both buffer allocations were written; the names are those of `PROGRAMS`.
fn run(rig: &Rig, instance: &ash::Instance, name: &str) {
    rig.run(|commands| {
        rig.fill(commands, rig.a);
        rig.fill(commands, rig.other);
    });
    // SAFETY: A device that was not destroyed.
    unsafe { rig.device.device_wait_idle() }.expect("idle");
    let primary = vk::CommandBufferLevel::PRIMARY;
    match name {
        "two fills" => rig.run(|commands| {
            rig.fill(commands, rig.a);
            rig.fill(commands, rig.a);
        }),
        "secondaries" => {
            let all = [(); 2].map(|()| {
                rig.commands(vk::CommandBufferLevel::SECONDARY, |commands| {
                    rig.fill(commands, rig.a)
                })
            });
            // SAFETY: As for the methods.
            rig.run(|commands| unsafe { rig.device.cmd_execute_commands(commands, &all) });
        }
        "resubmitted" => {
            let commands = rig.commands(primary, |commands| rig.fill(commands, rig.a));
            (0..3).for_each(|_| rig.submit(commands));
        }
        "fill, barrier of copies" | "fill, barrier of clears" => rig.run(|commands| {
            rig.fill(commands, rig.a);
            let src = if name.ends_with("clears") { FILLED } else { COPIED };
            rig.barrier(commands, src, COPIES);
            rig.copy(commands, rig.a, rig.other, (0, BYTES));
        }),
        "disjoint copies" | "copies that overlap" => rig.run(|commands| {
            let x = if name == "disjoint copies" { 8 } else { 7 };
            rig.transition(commands, COPIED, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            rig.upload(commands, 0, 8);
            rig.upload(commands, x, 8);
        }),
        "disjoint bytes" | "bytes that overlap" => rig.run(|commands| {
            let first = if name == "disjoint bytes" { 64 } else { 60 };
            rig.copy(commands, rig.a, rig.other, (0, 64));
            rig.copy(commands, rig.a, rig.other, (first, 64));
        }),
        "written through an alias" => rig.run(|commands| {
            rig.fill(commands, rig.a);
            rig.barrier(commands, FILLED, FILLED);
            rig.fill(commands, rig.b);
            rig.barrier(commands, FILLED, COPIES);
            rig.copy(commands, rig.a, rig.other, (0, BYTES));
        }),
        "final transition" => rig.rendered_and_copied(&[]),
        "final transition with a dependency" => {
            rig.rendered_and_copied(&[vk::SubpassDependency {
                src_subpass: 0,
                dst_subpass: vk::SUBPASS_EXTERNAL,
                src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
                src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
                dst_stage_mask: vk::PipelineStageFlags::TRANSFER,
                dst_access_mask: vk::AccessFlags::TRANSFER_READ,
                ..Default::default()
            }]);
        }
        "preinitialized image" => rig.copied_before_written(),
        "dynamic offsets apart" => rig.written_at([0, BYTES as u32 / 2]),
        "dynamic offsets alike" => rig.written_at([0, 0]),
        "consecutive binding update" => rig.written_by_consecutive_update(),
        other => assert!(special::run(rig, instance, other), "no program `{other}`"),
    }
}

/// A verdict, the problem and the number of occurrences.
type Expected = (Certainty, Problem, u64);

/// Programs and their findings.
const PROGRAMS: &[(&str, &[Expected])] = {
    use Certainty::{Certain, Possible};
    use Problem::{Discarded, Unordered, WrittenThrough};
    &[
        ("two fills", &[(Certain, Unordered, 1)]),
        ("secondaries", &[(Certain, Unordered, 1)]),
        ("resubmitted", &[(Certain, Unordered, 2)]),
        ("fill, barrier of copies", &[(Certain, Unordered, 1)]),
        ("fill, barrier of clears", &[]),
        ("disjoint copies", &[]),
        ("copies that overlap", &[(Certain, Unordered, 1)]),
        ("disjoint bytes", &[]),
        ("bytes that overlap", &[(Certain, Unordered, 1)]),
        ("written through an alias", &[(Possible, WrittenThrough, 1)]),
        ("final transition", &[(Certain, Unordered, 1)]),
        ("final transition with a dependency", &[]),
        ("preinitialized image", &[]),
        ("dynamic offsets apart", &[]),
        ("dynamic offsets alike", &[(Certain, Unordered, 1)]),
        ("consecutive binding update", &[(Certain, Unordered, 1)]),
        ("depth resolve", &[]),
        ("depth resolve, barrier of tests", &[(Certain, Unordered, 1)]),
        ("depth resolve of both", &[]),
        ("depth resolve of a render pass", &[]),
        ("stencil that is not resolved", &[(Certain, Discarded, 1)]),
        ("predicate", &[]),
        ("predicate, barrier of parameters", &[(Certain, Unordered, 1)]),
        ("image alias", &[]),
        ("image alias, no barrier", &[(Certain, Unordered, 1)]),
        ("image alias, both written", &[(Possible, WrittenThrough, 1)]),
    ]
};

#[test]
fn an_order_program() {
    let Some(name) = std::env::var_os(PROGRAM) else {
        return;
    };
    // SAFETY: The library found is a loader; valid usage; remaining objects are freed with the process.
    unsafe {
        let entry = ash::Entry::load().expect("a loader");
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None).expect("an instance");
        let rig = Rig::new(&instance);
        run(&rig, &instance, name.to_str().expect("a name"));
        rig.device.device_wait_idle().expect("idle");
    }
}

/// Runs a program with the layer, and checks its recording.
fn checked(name: &str) -> Option<CheckReport> {
    let folder = folder(&format!("capture_order_{}", name.replace([' ', ','], "_")));
    std::fs::create_dir_all(&folder).expect("a folder");
    let this = std::env::args_os().next().expect("the path of this program");
    let mut program: Command = runnable(this);
    program
        .args(["--exact", "order::an_order_program"])
        .env(PROGRAM, name);
    let output = captured(program, &folder, &[(settings::FRAMES, "0")])?;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{name}: {said}");
    let (_, capture) = read(&folder.join("frame-0.json"));
    Some(check(&capture.recording).expect("a recording"))
}

#[test]
fn programs_with_a_mistake_have_findings_and_those_without_have_none() {
    for (name, expected) in PROGRAMS {
        let Some(report) = checked(name) else { return };
        let findings = report.findings.iter();
        let found: Vec<_> = findings
            .map(|one| (one.verdict, one.problem, one.count))
            .collect();
        assert_eq!(found, *expected, "{name}: {:#?}", report.findings);
        assert!(report.checked > 0, "{name}");
        let gaps: Vec<_> = report.unchecked.iter().filter(|one| !one.always).collect();
        assert!(gaps.is_empty(), "{name}: {gaps:?}");
    }
}
