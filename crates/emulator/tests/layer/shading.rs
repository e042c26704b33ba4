//! `VK_QCOM_tile_shading`, executed: dispatches per tile in render passes of both kinds, on attachments in tile memory and in ordinary
//! memory, compared texel by texel with the extension's text.

use crate::rig::{CLEARED, HostBuffer, Pipeline, Rig, SIDE, Wants};
use ash::vk;
use ash::vk::ImageLayout as Layout;
use tileheap_device::ffi;
use tileheap_device::ffi::{RenderPassTileShadingCreateInfoQCOM, TileShadingRenderPassFlagsQCOM as Flags};
use tileheap_testkit::glsl::{Stage, compile};

/// With all but 4 KiB of 12 MiB reserved, a tile of two attachments of 4 bytes has 512 texels.
const HEAP: (&str, &str) = ("heap_size", "12582912");
const RESERVED: u64 = 12_582_912 - 4096;
const TILE: (u32, u32) = (32, 16);
/// The render area: of the tiles at its end only a part.
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

impl Scene {
    fn new(kind: Kind, in_tile_memory: bool) -> Scene {
        let features = vk::PhysicalDeviceFeatures::default().independent_blend(true);
        let wants = Wants {
            features,
            per_tile: true,
            ..Wants::default()
        };
        let rig = Rig::with(&[HEAP], &wants).expect("a device");
        let object = rig.object(RESERVED);
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE;
        let image = |offset: u64| {
            if in_tile_memory {
                return rig.tile_image(vk::Format::R32_UINT, SIDE, usage, object, offset);
            }
            let image = rig.image(&vk::ImageCreateInfo {
                usage,
                ..Rig::image_info(vk::Format::R32_UINT, SIDE, usage)
            });
            let needs = rig.image_needs(image).0;
            let memory = rig.allocate(needs.size, needs.memory_type_bits.trailing_zeros());
            // SAFETY: New, and made for each other.
            unsafe { rig.device.bind_image_memory(image, memory.expect("memory"), 0) }.expect("bound");
            (image, rig.view(image, vk::Format::R32_UINT))
        };
        let (color, source) = (image(0), image(10 * 12_288));
        let shading = ffi::tile_shading::Device::new(&rig.instance, &rig.device).expect("its commands");
        let texels = rig.host_buffer((SIDE * SIDE) as usize);
        Scene {
            rig,
            kind,
            shading,
            object,
            color,
            source,
            texels,
        }
    }

    /// A pipeline of one of the shaders beside this file.
    fn pipeline(&self, bytes: &[u8], images: usize) -> Pipeline {
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        self.rig
            .compute_words(&vec![vk::DescriptorType::STORAGE_IMAGE; images], &words, 8)
    }

    fn bind(&self, commands: vk::CommandBuffer, pipeline: &Pipeline, views: &[vk::ImageView]) {
        let descriptors: Vec<_> = views
            .iter()
            .map(|view| crate::rig::Descriptor::StorageImage(*view))
            .collect();
        let set = self.rig.set(pipeline, &descriptors);
        let (device, point) = (&self.rig.device, vk::PipelineBindPoint::COMPUTE);
        let area: Vec<u8> = [AREA.0, AREA.1]
            .iter()
            .flat_map(|side| side.to_ne_bytes())
            .collect();
        // SAFETY: Recording; all of one device.
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline.handle);
            device.cmd_bind_descriptor_sets(commands, point, pipeline.layout, 0, &[set], &[]);
            device.cmd_push_constants(commands, pipeline.layout, vk::ShaderStageFlags::COMPUTE, 0, &area);
        }
    }

    /// A tile shading pass over both images, in which `inside` is recorded: the first is cleared, the second loaded; both are stored
    /// with `store`.
    fn pass(&self, commands: vk::CommandBuffer, inside: impl FnOnce()) {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default().flags(Flags::ENABLE);
        let area = vk::Rect2D::default().extent(vk::Extent2D {
            width: AREA.0,
            height: AREA.1,
        });
        let loads = [vk::AttachmentLoadOp::CLEAR, vk::AttachmentLoadOp::LOAD];
        let views = [self.color.1, self.source.1];
        let clear = vk::ClearValue {
            color: vk::ClearColorValue { uint32: [CLEARED; 4] },
        };
        let device = &self.rig.device;
        self.rig.barrier(commands);
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
            let tiles = ash::qcom::tile_properties::Device::new(&self.rig.instance, &self.rig.device);
            let mut properties = vk::TilePropertiesQCOM::default();
            let asked = info.push_next(&mut size);
            // SAFETY: Valid structures.
            let result = unsafe {
                (tiles.fp().get_dynamic_rendering_tile_properties_qcom)(
                    device.handle(),
                    &asked,
                    &mut properties,
                )
            };
            assert_eq!(result, vk::Result::SUCCESS);
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
        self.rig.barrier(commands);
    }

    fn objects(
        &self,
        loads: [vk::AttachmentLoadOp; 2],
        views: [vk::ImageView; 2],
    ) -> (vk::RenderPass, vk::Framebuffer) {
        let mut marked = RenderPassTileShadingCreateInfoQCOM::default().flags(Flags::ENABLE);
        let mut size = ffi::TileMemorySizeInfoQCOM::default().size(RESERVED);
        let attachments = loads.map(|load| {
            vk::AttachmentDescription::default()
                .format(vk::Format::R32_UINT)
                .samples(vk::SampleCountFlags::TYPE_1)
                .load_op(load)
                .store_op(vk::AttachmentStoreOp::STORE)
                .initial_layout(Layout::GENERAL)
                .final_layout(Layout::GENERAL)
        });
        let references = [0, 1].map(|attachment| vk::AttachmentReference {
            attachment,
            layout: Layout::GENERAL,
        });
        let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .push_next(&mut marked)
            .push_next(&mut size);
        // SAFETY: Valid create infos of this device.
        let pass = unsafe { self.rig.device.create_render_pass(&info, None) }.expect("a render pass");
        let formats = [vk::Format::R32_UINT];
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::STORAGE
            | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        let image = vk::FramebufferAttachmentImageInfo::default()
            .usage(usage)
            .width(SIDE)
            .height(SIDE)
            .layer_count(1)
            .view_formats(&formats);
        let images = [image; 2];
        let mut later = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&images);
        let mut info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(SIDE)
            .height(SIDE)
            .layers(1);
        if self.kind == Kind::Imageless {
            info.flags = vk::FramebufferCreateFlags::IMAGELESS;
            info = info.push_next(&mut later);
        }
        // SAFETY: As above.
        let framebuffer = unsafe { self.rig.device.create_framebuffer(&info, None) }.expect("a framebuffer");
        self.rig.own(|owned| {
            owned.passes.push(pass);
            owned.framebuffers.push(framebuffer);
        });
        (pass, framebuffer)
    }

    /// Per-tile execution, in which `inside` is recorded.
    fn per_tile(&self, commands: vk::CommandBuffer, inside: impl FnOnce()) {
        // SAFETY: Recording a tile shading pass.
        unsafe {
            self.shading
                .cmd_begin_per_tile_execution(commands, &ffi::PerTileBeginInfoQCOM::default());
        }
        inside();
        // SAFETY: As above.
        unsafe {
            self.shading
                .cmd_end_per_tile_execution(commands, &ffi::PerTileEndInfoQCOM::default());
        }
    }

    /// Nothing was said, but by validation of barriers in dynamic rendering: 1.4.363 does not know that tile shading allows them.
    fn finish(self) {
        let barriers = ["None-09553", "srcStageMask-09556", "None-09586"]
            .map(|rule| format!("VUID-vkCmdPipelineBarrier2-{rule}"));
        let barriers: Vec<_> = barriers.iter().map(String::as_str).collect();
        let allowed = if self.kind == Kind::Rendering {
            &barriers[..]
        } else {
            &[]
        };
        assert_eq!(self.rig.take_ids_but(allowed), [""; 0]);
        self.rig.finish();
    }

    /// Orders a dispatch behind another one in the pass.
    fn tile_barrier(&self, commands: vk::CommandBuffer) {
        // Validation 1.4.363 lets no self-dependency of a pass object name dispatches.
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
        unsafe { self.rig.device.cmd_pipeline_barrier2(commands, &info) };
    }

    /// Draws 1000 to the left half of the first image.
    fn draw_left_half(&self, commands: vk::CommandBuffer) {
        const CORNERS: &str = "void main() { gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 4.0 - 1.0, 0.0, 1.0); }";
        const THOUSAND: &str = "layout(location = 0) out uint color; void main() { color = 1000; }";
        let device = &self.rig.device;
        let scissors = [vk::Rect2D::default().extent(vk::Extent2D {
            width: AREA.0 / 2,
            height: AREA.1,
        })];
        let viewports = [vk::Viewport {
            width: SIDE as f32,
            height: SIDE as f32,
            max_depth: 1.0,
            ..Default::default()
        }];
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let red = vk::ColorComponentFlags::R;
        let targets = [
            vk::PipelineColorBlendAttachmentState::default().color_write_mask(red),
            vk::PipelineColorBlendAttachmentState::default(),
        ];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&targets);
        let formats = [vk::Format::R32_UINT; 2];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        // SAFETY: Valid create infos of this device, made for each other; recording a pass with these attachments.
        unsafe {
            let module = |stage, source| {
                let words = compile(stage, source, 3);
                let info = vk::ShaderModuleCreateInfo::default().code(&words);
                device.create_shader_module(&info, None).expect("a module")
            };
            let modules = [module(Stage::Vertex, CORNERS), module(Stage::Fragment, THOUSAND)];
            let kinds = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];
            let stages = [0, 1].map(|index: usize| {
                vk::PipelineShaderStageCreateInfo::default()
                    .stage(kinds[index])
                    .module(modules[index])
                    .name(c"main")
            });
            let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None);
            let layout = layout.expect("a layout");
            let info = vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&input)
                .input_assembly_state(&assembly)
                .viewport_state(&viewport)
                .rasterization_state(&raster)
                .multisample_state(&samples)
                .color_blend_state(&blend)
                .layout(layout)
                .push_next(&mut rendering);
            let made = device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
            let pipeline = made.expect("a pipeline")[0];
            for module in modules {
                device.destroy_shader_module(module, None);
            }
            self.rig.own(|owned| {
                owned.pipelines.push(pipeline);
                owned.layouts.push(layout);
            });
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            device.cmd_draw(commands, 3, 1, 0, 0);
        }
    }

    /// Records `record` with both images in layout GENERAL and the second one filled; gives the first one's texels, which a dispatch
    /// behind the pass reads.
    fn run(&self, record: impl FnOnce(vk::CommandBuffer)) -> Vec<u32> {
        let fill = self.rig.compute(&[vk::DescriptorType::STORAGE_IMAGE], SOURCE);
        let commands = self.rig.allocate_commands(vk::CommandBufferLevel::PRIMARY);
        // Simultaneous use is forbidden (VUID-vkCmdBeginRendering-flags-10641).
        self.rig
            .record_into(commands, &vk::CommandBufferBeginInfo::default(), |commands| {
                self.rig.bind(commands, Some(self.object));
                for image in [self.color.0, self.source.0] {
                    self.rig
                        .transition(commands, image, Layout::UNDEFINED, Layout::GENERAL);
                }
                let set = self
                    .rig
                    .set(&fill, &[crate::rig::Descriptor::StorageImage(self.source.1)]);
                let (device, point) = (&self.rig.device, vk::PipelineBindPoint::COMPUTE);
                // SAFETY: Recording; all of one device.
                unsafe {
                    device.cmd_bind_pipeline(commands, point, fill.handle);
                    device.cmd_bind_descriptor_sets(commands, point, fill.layout, 0, &[set], &[]);
                    device.cmd_dispatch(commands, SIDE / 8, SIDE / 8, 1);
                }
                record(commands);
                self.rig.copy_texels(commands, self.color.1, self.texels.buffer);
            });
        self.rig.submit2(&[&[commands]]);
        self.texels.read()
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

/// Section 3.9 of the tile memory heap's proposal: an image that a tile shading pass makes stays in tile memory for what comes later. The
/// same in ordinary memory, and by hand.
#[test]
fn what_a_tile_dispatch_makes_is_kept_for_later() {
    for (kind, in_tile_memory) in CASES {
        let scene = Scene::new(kind, in_tile_memory);
        let pipeline = scene.pipeline(include_bytes!("tile_shaders/rate.spv"), 2);
        let texels = scene.run(|commands| {
            scene.pass(commands, || {
                scene.bind(commands, &pipeline, &[scene.color.1, scene.source.1]);
                // SAFETY: In per-tile execution.
                scene.per_tile(commands, || unsafe {
                    scene
                        .shading
                        .cmd_dispatch_tile(commands, &ffi::DispatchTileInfoQCOM::default());
                });
            });
        });
        for ((x, y), first, end) in each_texel() {
            let mirrored = (end.0 - 1 - (x - first.0), end.1 - 1 - (y - first.1));
            let expected = mirrored.0 + mirrored.1 * 64 + first.0 * 1000 + first.1 * 1_000_000;
            let texel = texels[(y * SIDE + x) as usize];
            assert_eq!(
                texel, expected,
                "({x}, {y}) of {kind:?}, tile memory: {in_tile_memory}"
            );
        }
        scene.finish();
    }
}

/// Each texel is visited once by each of three kinds of dispatch, before and behind a draw per tile of the same pass.
#[test]
fn dispatches_visit_each_tile_once_between_draws() {
    for (kind, in_tile_memory) in CASES {
        let scene = Scene::new(kind, in_tile_memory);
        let (count, counts) = (
            scene.pipeline(include_bytes!("tile_shaders/count.spv"), 1),
            scene.rig.host_buffer(3),
        );
        let texels = scene.run(|commands| {
            let device = &scene.rig.device;
            scene.rig.fill(commands, counts.buffer, 3, 1);
            scene.pass(commands, || {
                scene.bind(commands, &count, &[scene.color.1]);
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
                    unsafe { device.cmd_dispatch_indirect(commands, counts.buffer, 0) };
                });
            });
        });
        for ((x, y), ..) in each_texel() {
            let expected = if x < AREA.0 / 2 { 1001 } else { CLEARED + 3 };
            let texel = texels[(y * SIDE + x) as usize];
            assert_eq!(
                texel, expected,
                "({x}, {y}) of {kind:?}, tile memory: {in_tile_memory}"
            );
        }
        scene.finish();
    }
}

/// An action command of the pass, outside per-tile execution.
fn clear_left_half(device: &ash::Device, commands: vk::CommandBuffer) {
    let clear = vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: vk::ClearValue {
            color: vk::ClearColorValue { uint32: [1000; 4] },
        },
    };
    let area = vk::ClearRect {
        rect: vk::Rect2D::default().extent(vk::Extent2D {
            width: AREA.0 / 2,
            height: AREA.1,
        }),
        base_array_layer: 0,
        layer_count: 1,
    };
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
                .render_area(vk::Rect2D::default().extent(vk::Extent2D {
                    width: SIDE,
                    height: SIDE,
                }))
                .layer_count(1)
                .color_attachments(&colors)
        };
        let suspends = info(vk::RenderingFlags::SUSPENDING).push_next(&mut marked);
        scene.rig.barrier(commands);
        // SAFETY: Recording, outside render passes.
        unsafe { scene.rig.device.cmd_begin_rendering(commands, &suspends) };
        scene.bind(commands, &count, &[scene.color.1]);
        // SAFETY: In per-tile execution.
        scene.per_tile(commands, || unsafe {
            scene.rig.device.cmd_dispatch(commands, 1, 1, 1)
        });
        // SAFETY: As above.
        unsafe { scene.rig.device.cmd_end_rendering(commands) };
        let resumes = info(vk::RenderingFlags::RESUMING);
        // SAFETY: As above.
        unsafe { scene.rig.device.cmd_begin_rendering(commands, &resumes) };
        // SAFETY: As above.
        unsafe { scene.rig.device.cmd_end_rendering(commands) };
        scene.rig.barrier(commands);
    });
    let said = scene.rig.take_messages();
    assert!(
        said.iter().any(|(id, text)| id == "TILEHEAP-tile-shading"
            && text.contains("vkCmdDispatch")
            && text.contains("it suspends or resumes rendering")),
        "{said:#?}"
    );
    scene.rig.finish();
}

/// Only what is executed is offered, and a device with anything else is not made.
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
    // Behind type and next: `tileShading` first, in the order of the structure.
    // SAFETY: A structure of so many words.
    let words = unsafe { *(&raw const offered).cast::<[u32; 18]>() };
    assert_eq!(words[4..], [1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0]);
    let rate = limits.max_tile_shading_rate;
    assert_eq!((rate.width, rate.height), (4, 4));
    rig.finish();
}
