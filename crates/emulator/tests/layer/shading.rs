//! `VK_QCOM_tile_shading`, executed: dispatches per tile in render passes of both kinds, on attachments in tile memory and in ordinary memory,
//! compared texel by texel with the extension's text.

use crate::rig::{self, CLEARED, Descriptor, HostBuffer, Pipeline, Rig, SIDE, Wants};
use ash::vk;
use ash::vk::ImageLayout as Layout;
use tileheap_device::ffi;
use tileheap_device::ffi::{RenderPassTileShadingCreateInfoQCOM, TileShadingRenderPassFlagsQCOM as Flags};
use tileheap_testkit::glsl::Stage;
use tileheap_testkit::objects::{color_attachment, with_subpasses};

/// With all but 4 KiB of 12 MiB reserved, a tile of two attachments of 4 bytes has 512 texels.
const HEAP: (&str, &str) = ("heap_size", "12582912");
const RESERVED: u64 = 12_582_912 - 4096;
const TILE: (u32, u32) = (32, 16);
/// The render area, which only partly covers the last tiles.
const AREA: (u32, u32) = (60, 50);

const SOURCE: &str = "layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D to;
void main() { imageStore(to, ivec2(gl_GlobalInvocationID.xy), uvec4(gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * 64)); }";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Rendering,
    Object,
    Imageless,
}

struct Scene {
    rig: Rig,
    kind: Kind,
    shading: ffi::tile_shading::Device,
    object: vk::DeviceMemory,
    color: (vk::Image, vk::ImageView),
    source: (vk::Image, vk::ImageView),
    texels: HostBuffer,
}

crate::rig::deref!(Scene, rig: Rig);

impl Scene {
    fn new(kind: Kind, in_tile_memory: bool) -> Scene {
        Scene::with_settings(kind, in_tile_memory, &[HEAP])
    }

    fn with_settings(kind: Kind, in_tile_memory: bool, settings: &[(&str, &str)]) -> Scene {
        let wants = Wants {
            features: vk::PhysicalDeviceFeatures::default().independent_blend(true),
            per_tile: true,
            ..Wants::default()
        };
        let rig = Rig::with(settings, &wants).expect("a device");
        let object = rig.object(RESERVED);
        let (format, usage) = (
            vk::Format::R32_UINT,
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE,
        );
        let image = |offset: u64| match in_tile_memory {
            true => rig.tile_image(format, SIDE, usage, object, offset),
            false => rig.ordinary_image(&rig::image_info(format, SIDE, usage)),
        };
        Scene {
            color: image(0),
            source: image(10 * 12_288),
            shading: ffi::tile_shading::Device::new(&rig.instance, &rig.device).expect("its commands"),
            texels: rig.host_buffer((SIDE * SIDE) as usize),
            rig,
            kind,
            object,
        }
    }

    /// Creates a pipeline of one of the shaders next to this file.
    fn pipeline(&self, bytes: &[u8], images: usize) -> Pipeline {
        let word = |word: &[u8]| u32::from_le_bytes(word.try_into().expect("four bytes"));
        let words: Vec<u32> = bytes.chunks_exact(4).map(word).collect();
        self.compute_words(&vec![vk::DescriptorType::STORAGE_IMAGE; images], &words, 8)
    }

    fn bind_shader(&self, commands: vk::CommandBuffer, pipeline: &Pipeline, views: &[vk::ImageView]) {
        let descriptors: Vec<_> = views
            .iter()
            .map(|view| Descriptor::storage_image(*view))
            .collect();
        let set = self.set(pipeline, &descriptors);
        self.bind_work(commands, pipeline, set);
        let area = [AREA.0.to_ne_bytes(), AREA.1.to_ne_bytes()].concat();
        let stages = vk::ShaderStageFlags::COMPUTE;
        // SAFETY: Recording; the range of the layout.
        unsafe {
            self.device
                .cmd_push_constants(commands, pipeline.layout, stages, 0, &area)
        };
    }

    /// Records a tile shading pass over both images with `inside` in it: the first is cleared, the second loaded; both are stored with `store`.
    fn pass(&self, commands: vk::CommandBuffer, inside: impl FnOnce()) {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default().flags(Flags::ENABLE);
        let area = rig::area(AREA.0, AREA.1);
        let loads = [vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD];
        let views = [self.color.1, self.source.1];
        let clear = rig::clear_value(CLEARED);
        let device = &self.device;
        self.barrier(commands);
        if self.kind == Kind::Rendering {
            let colors = [0, 1].map(|index: usize| {
                vk::RenderingAttachmentInfo::default()
                    .image_view(views[index])
                    .image_layout(Layout::GENERAL)
                    .load_op(loads[index])
                    .store_op(vk::AttachmentStoreOp::STORE)
                    .clear_value(clear)
            });
            let mut size = ffi::TileMemorySizeInfoQCOM::default().size(RESERVED);
            let info = vk::RenderingInfo::default()
                .render_area(area)
                .layer_count(1)
                .color_attachments(&colors);
            let tiles = ffi::tile_properties::Device::new(&self.instance, device).expect("its commands");
            let mut properties = vk::TilePropertiesQCOM::default();
            let asked = info.push_next(&mut size);
            // SAFETY: Valid structures.
            let result = unsafe { tiles.get_dynamic_rendering_tile_properties(&asked, &mut properties) };
            result.expect("tiles");
            assert_eq!((properties.tile_size.width, properties.tile_size.height), TILE);
            let info = vk::RenderingInfo::default()
                .render_area(area)
                .layer_count(1)
                .color_attachments(&colors)
                .push_next(&mut marked);
            // SAFETY: Recording, outside render passes.
            unsafe { device.cmd_begin_rendering(commands, &info) };
            inside();
            // SAFETY: As above.
            unsafe { device.cmd_end_rendering(commands) };
        } else {
            let (pass, framebuffer) = self.objects(loads, views);
            let mut later = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
            let clears = [clear];
            let mut info = vk::RenderPassBeginInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .render_area(area)
                .clear_values(&clears);
            if self.kind == Kind::Imageless {
                info = info.push_next(&mut later);
            }
            // SAFETY: Recording, outside render passes.
            unsafe { device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE) };
            inside();
            // SAFETY: As above.
            unsafe { device.cmd_end_render_pass(commands) };
        }
        self.barrier(commands);
    }

    fn objects(
        &self,
        loads: [vk::AttachmentLoadOp; 2],
        views: [vk::ImageView; 2],
    ) -> (vk::RenderPass, vk::Framebuffer) {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default().flags(Flags::ENABLE);
        let mut size = ffi::TileMemorySizeInfoQCOM::default().size(RESERVED);
        let attachments = loads.map(|load| {
            let attachment = color_attachment(vk::Format::R32_UINT).load_op(load);
            attachment.initial_layout(Layout::GENERAL)
        });
        let pass = with_subpasses(&attachments, 1, |info| {
            self.create(&info.push_next(&mut marked).push_next(&mut size))
        });
        (pass, self.framebuffer(pass, &views, self.kind == Kind::Imageless))
    }

    /// Records per-tile execution with `inside` in it.
    fn per_tile(&self, commands: vk::CommandBuffer, inside: impl FnOnce()) {
        let (begin, end) = (
            ffi::PerTileBeginInfoQCOM::default(),
            ffi::PerTileEndInfoQCOM::default(),
        );
        // SAFETY: Recording a tile shading pass.
        unsafe { self.shading.cmd_begin_per_tile_execution(commands, &begin) };
        inside();
        // SAFETY: As above.
        unsafe { self.shading.cmd_end_per_tile_execution(commands, &end) };
    }

    /// Fails on messages, except those of validation about barriers in dynamic rendering: 1.4.363 does not know that tile shading allows them.
    fn finish(self) {
        let barriers = ["None-09553", "srcStageMask-09556", "None-09586"]
            .map(|rule| format!("VUID-vkCmdPipelineBarrier2-{rule}"));
        let mut allowed: Vec<_> = barriers.iter().map(String::as_str).collect();
        allowed.retain(|_| self.kind == Kind::Rendering);
        assert_eq!(self.take_ids_but(&allowed), [""; 0]);
    }

    /// Orders a dispatch after another one in the pass.
    fn tile_barrier(&self, commands: vk::CommandBuffer) {
        // Validation 1.4.363 does not allow self-dependencies of a pass object to name dispatches.
        if self.kind != Kind::Rendering {
            return;
        }
        let accesses = ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM
            | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM;
        let stage = vk::PipelineStageFlags2::COMPUTE_SHADER;
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(stage)
            .src_access_mask(accesses)
            .dst_stage_mask(stage)
            .dst_access_mask(accesses)];
        let info = vk::DependencyInfo::default()
            .dependency_flags(vk::DependencyFlags::BY_REGION)
            .memory_barriers(&barriers);
        // SAFETY: Recording a tile shading pass.
        unsafe { self.device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// Draws 1000 to the left half of the first image.
    fn draw_left_half(&self, commands: vk::CommandBuffer) {
        const CORNERS: &str = "void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.0, 1.0); }";
        const THOUSAND: &str = "layout(location = 0) out uint color; void main() { color = 1000; }";
        let (device, left) = (&self.device, rig::area(AREA.0 / 2, AREA.1));
        let modules = [
            self.module(Stage::Vertex, CORNERS),
            self.module(Stage::Fragment, THOUSAND),
        ];
        let layout = self.create(&vk::PipelineLayoutCreateInfo::default());
        let formats = [vk::Format::R32_UINT; 2];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let masks = [vk::ColorComponentFlags::R, vk::ColorComponentFlags::empty()];
        let pipeline = rig::with_triangles(modules, [rig::area(SIDE, SIDE), left], &masks, |info| {
            self.create(&info.layout(layout).push_next(&mut rendering))
        });
        // SAFETY: Recording a pass with these attachments.
        unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 3, 1, 0, 0);
        }
    }

    /// Records `record` with both images in layout GENERAL and the second one filled; returns the first image's texels, which a dispatch after the
    /// pass reads.
    fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Vec<u32> {
        let (fill, set) = self.work(SOURCE, &[Descriptor::storage_image(self.source.1)]);
        let commands = self.allocate_commands(vk::CommandBufferLevel::PRIMARY);
        // Simultaneous use is forbidden (VUID-vkCmdBeginRendering-flags-10641).
        self.record_into(commands, &vk::CommandBufferBeginInfo::default(), |commands| {
            self.bind(commands, Some(self.object));
            for image in [self.color.0, self.source.0] {
                self.to_general(commands, image);
            }
            self.bind_work(commands, &fill, set);
            // SAFETY: Recording; all of one device.
            unsafe { self.device.cmd_dispatch(commands, SIDE / 8, SIDE / 8, 1) };
            record(commands);
            self.copy_texels(commands, self.color.1, self.texels.buffer);
        });
        self.submit2(&[&[commands]]);
        self.texels.read()
    }

    /// Runs the commands of `record` in a pass, and compares each texel of the render area.
    fn assert_texels(
        self,
        record: impl FnOnce(&Scene, vk::CommandBuffer),
        expected: impl Fn((u32, u32), (u32, u32), (u32, u32)) -> u32,
    ) {
        let texels = self.run(|commands| record(&self, commands));
        for (at, first, end) in each_texel() {
            let texel = texels[(at.1 * SIDE + at.0) as usize];
            assert_eq!(texel, expected(at, first, end), "{at:?} of {:?}", self.kind);
        }
        self.finish();
    }
}

/// Every texel of the render area, with the first texel of its tile and the end of the tile's part in the area.
fn each_texel() -> impl Iterator<Item = ((u32, u32), (u32, u32), (u32, u32))> {
    (0..AREA.1)
        .flat_map(|y| (0..AREA.0).map(move |x| (x, y)))
        .map(|at| {
            let first = (at.0 / TILE.0 * TILE.0, at.1 / TILE.1 * TILE.1);
            let end = ((first.0 + TILE.0).min(AREA.0), (first.1 + TILE.1).min(AREA.1));
            (at, first, end)
        })
}

const CASES: [(Kind, bool); 4] = [
    (Kind::Rendering, true),
    (Kind::Rendering, false),
    (Kind::Object, true),
    (Kind::Imageless, true),
];

/// Section 3.9 of the tile memory heap's proposal: an image that a tile shading pass writes stays in tile memory for later commands. Tested also in
/// ordinary memory, and with manual code.
#[test]
fn what_a_tile_dispatch_makes_is_kept_for_later() {
    for (kind, in_tile_memory) in CASES {
        let record = |scene: &Scene, commands| {
            let pipeline = scene.pipeline(include_bytes!("tile_shaders/rate.spv"), 2);
            scene.pass(commands, || {
                scene.bind_shader(commands, &pipeline, &[scene.color.1, scene.source.1]);
                let info = ffi::DispatchTileInfoQCOM::default();
                // SAFETY: In per-tile execution.
                scene.per_tile(commands, || unsafe {
                    scene.shading.cmd_dispatch_tile(commands, &info)
                });
            });
        };
        Scene::new(kind, in_tile_memory).assert_texels(record, |(x, y), first, end| {
            let mirrored = (end.0 - 1 - (x - first.0), end.1 - 1 - (y - first.1));
            mirrored.0 + mirrored.1 * 64 + first.0 * 1000 + first.1 * 1_000_000
        });
    }
}

/// Each texel is visited once by each of three kinds of dispatch, before and after a draw per tile of the same pass.
#[test]
fn dispatches_visit_each_tile_once_between_draws() {
    for (kind, in_tile_memory) in CASES {
        let record = |scene: &Scene, commands| {
            let count = scene.pipeline(include_bytes!("tile_shaders/count.spv"), 1);
            let (device, counts) = (&scene.device, scene.host_buffer(3).buffer);
            scene.fill(commands, counts, 3, 1);
            scene.pass(commands, || {
                scene.bind_shader(commands, &count, &[scene.color.1]);
                scene.per_tile(commands, || {
                    // SAFETY: In per-tile execution; the buffer has three words.
                    unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
                    scene.tile_barrier(commands);
                    // SAFETY: As above.
                    unsafe { device.cmd_dispatch_base(commands, 0, 0, 0, 1, 1, 1) };
                });
                if kind == Kind::Rendering {
                    scene.per_tile(commands, || scene.draw_left_half(commands));
                } else {
                    clear_left_half(device, commands);
                }
                scene.per_tile(commands, || {
                    scene.tile_barrier(commands);
                    // SAFETY: As above.
                    unsafe { device.cmd_dispatch_indirect(commands, counts, 0) };
                });
            });
        };
        let expected = |(x, _), _, _| if x < AREA.0 / 2 { 1001 } else { CLEARED + 3 };
        Scene::new(kind, in_tile_memory).assert_texels(record, expected);
    }
}

/// "Tile Attachment Access": dispatches for tiles are not in rasterization order.
#[test]
fn dispatches_for_tiles_are_unordered_without_a_barrier() {
    for has_barrier in [true, false] {
        let kind = Kind::Rendering;
        let scene = Scene::with_settings(kind, true, &[HEAP, ("possible", "true")]);
        scene.run(|commands| {
            let count = scene.pipeline(include_bytes!("tile_shaders/count.spv"), 1);
            scene.pass(commands, || {
                scene.bind_shader(commands, &count, &[scene.color.1]);
                scene.per_tile(commands, || {
                    for _ in 0..2 {
                        // SAFETY: In per-tile execution.
                        unsafe { scene.device.cmd_dispatch_base(commands, 0, 0, 0, 1, 1, 1) };
                        if has_barrier {
                            scene.tile_barrier(commands);
                        }
                    }
                });
            });
        });
        let messages = scene.take_messages();
        let is_order = |(id, _): &&(String, String)| id == "TILEHEAP-possible-order";
        let found = messages.iter().filter(is_order).count();
        assert_eq!(found > 0, !has_barrier, "{messages:#?}");
    }
}

/// An action command of the pass, outside per-tile execution.
fn clear_left_half(device: &ash::Device, commands: vk::CommandBuffer) {
    let clear = vk::ClearAttachment::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .clear_value(rig::clear_value(1000));
    let left = rig::area(AREA.0 / 2, AREA.1);
    let area = vk::ClearRect::default().rect(left).layer_count(1);
    // SAFETY: Recording a render pass of this attachment.
    unsafe { device.cmd_clear_attachments(commands, &[clear], &[area]) };
}

#[test]
fn a_pass_that_cannot_be_interrupted_is_reported() {
    let scene = Scene::new(Kind::Rendering, true);
    let count = scene.pipeline(include_bytes!("tile_shaders/count.spv"), 1);
    scene.run(|commands| {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default().flags(Flags::ENABLE);
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(scene.color.1)
            .image_layout(Layout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = |flags| {
            vk::RenderingInfo::default()
                .flags(flags)
                .render_area(rig::area(SIDE, SIDE))
                .layer_count(1)
                .color_attachments(&colors)
        };
        let suspends = info(vk::RenderingFlags::SUSPENDING).push_next(&mut marked);
        scene.barrier(commands);
        // SAFETY: Recording, outside render passes.
        unsafe { scene.device.cmd_begin_rendering(commands, &suspends) };
        scene.bind_shader(commands, &count, &[scene.color.1]);
        // SAFETY: In per-tile execution.
        scene.per_tile(commands, || unsafe {
            scene.device.cmd_dispatch(commands, 1, 1, 1)
        });
        // SAFETY: As above.
        unsafe { scene.device.cmd_end_rendering(commands) };
        let resumes = info(vk::RenderingFlags::RESUMING);
        // SAFETY: As above.
        unsafe { scene.device.cmd_begin_rendering(commands, &resumes) };
        // SAFETY: As above.
        unsafe { scene.device.cmd_end_rendering(commands) };
        scene.barrier(commands);
    });
    let said = scene.take_messages();
    let parts = ["vkCmdDispatch", "the render pass suspends or resumes rendering"];
    let is_it = |(id, text): &rig::Message| {
        id == "TILEHEAP-tile-shading" && parts.iter().all(|part| text.contains(part))
    };
    assert!(said.iter().any(is_it), "{said:#?}");
}

/// Only features that are executed are offered, and a device with any other is refused.
#[test]
fn features_are_offered_where_they_are_executed() {
    let rig = Rig::new(&[]);
    let mut offered = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut offered);
    let mut limits = ffi::PhysicalDeviceTileShadingPropertiesQCOM::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    // SAFETY: A live device.
    unsafe {
        rig.instance
            .get_physical_device_features2(rig.physical, &mut features);
        rig.instance
            .get_physical_device_properties2(rig.physical, &mut properties);
    }
    // After type and next: `tileShading` first, in the order of the structure.
    // SAFETY: A structure of this number of words.
    let words = unsafe { *(&raw const offered).cast::<[u32; 18]>() };
    assert_eq!(words[4..], [1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0]);
    let rate = limits.max_tile_shading_rate;
    assert_eq!((rate.width, rate.height), (4, 4));
}
