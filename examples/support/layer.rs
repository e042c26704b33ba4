//! Runs an overlay of egui, and draws it over the contents of a render pass.

use ash::vk;
use bytemuck::Pod;
use egui::emath::GuiRounding;
use egui::epaint::{ImageDelta, Primitive, Vertex};
use egui::{Color32, ColorImage, Context, Event, ImageData, Pos2, RawInput, Rect, ViewportId};
use tileheap::runtime::{Device, PipelineTarget};

use super::FRAMES_IN_FLIGHT;
use super::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use super::error::Result;
use super::memory::HostBuffer;
use super::painter::Screen;
use super::pipeline::Drawing;
use super::shaders::{OVERLAY_FRAG, OVERLAY_VERT, Shader, push_constant_range};
use super::sizes::{area, extent};

static SHADERS: [&Shader; 2] = [&OVERLAY_VERT, &OVERLAY_FRAG];
/// Width of the texture for egui's glyphs, which grows downward.
const TEXTURE_WIDTH: usize = 1024;

/// Draws overlays: holds the pipeline, and one frame's triangles per slot.
pub struct Layer {
    tile: Device,
    context: Context,
    input: RawInput,
    texture: ColorImage,
    set_layout: SetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    slots: [FrameTriangles; FRAMES_IN_FLIGHT],
}

/// The overlay of a frame in flight.
struct FrameTriangles {
    set: vk::DescriptorSet,
    /// Vertices, indices and texels.
    buffers: [HostBuffer; 3],
    /// True if the texture has changed since the last copy.
    is_stale: bool,
    draws: Vec<Draw>,
}

/// A range of the indices, and the offset of their vertices.
struct Draw {
    scissor: vk::Rect2D,
    indices: std::ops::Range<u32>,
    first_vertex: i32,
}

impl Layer {
    /// Creates a layer for a pass with one color attachment of 8-bit UNORM channels: colors are already sRGB.
    pub fn new(tile: &Device, target: &PipelineTarget) -> Result<Layer> {
        let device = tile.raw();
        let set_layout = SetLayout::new(device, &SHADERS, 0, &[])?;
        let layout = create_pipeline_layout(device, &[set_layout.handle], &SHADERS)?;
        let pool = create_pool(device, FRAMES_IN_FLIGHT, &set_layout.pool_sizes(FRAMES_IN_FLIGHT))?;
        let slot = || -> Result<FrameTriangles> {
            Ok(FrameTriangles {
                set: set_layout.allocate(device, pool)?,
                buffers: [buffer(tile, 4)?, buffer(tile, 4)?, buffer(tile, 4)?],
                is_stale: false,
                draws: Vec::new(),
            })
        };
        let context = Context::default();
        context.all_styles_mut(|style| {
            for font in style.text_styles.values_mut() {
                font.size = 13.0;
            }
            style.spacing.item_spacing = [6.0, 0.0].into();
            style.visuals.widgets.noninteractive.fg_stroke.color = Color32::from_rgb(209, 219, 232);
            style.interaction.selectable_labels = false;
            style.animation_time = 0.0;
        });
        // Regardless of the duration of a frame.
        context.options_mut(|options| options.input_options.max_click_duration = f64::INFINITY);
        Ok(Layer {
            tile: tile.clone(),
            context,
            input: RawInput {
                max_texture_side: Some(TEXTURE_WIDTH),
                ..RawInput::default()
            },
            texture: ColorImage::default(),
            slots: [slot()?, slot()?],
            pipeline: pipeline(device, layout, target)?,
            set_layout,
            layout,
            pool,
        })
    }

    /// Adds an input event for the next frame's overlay.
    pub fn input(&mut self, event: Event) {
        self.input.events.push(event);
    }

    /// Runs the overlay for the slot's next frame; the slot's previous frame must be complete.
    pub fn run(&mut self, slot: usize, screen: Screen, overlay: impl FnMut(&Context)) -> Result<()> {
        self.input.screen_rect = Some(Rect::from_min_size(Pos2::ZERO, screen.points().into()));
        let viewport = self.input.viewports.entry(ViewportId::ROOT).or_default();
        viewport.native_pixels_per_point = Some(screen.scale);
        let output = self.context.run(self.input.take(), overlay);
        for (_, delta) in &output.textures_delta.set {
            update(&mut self.texture, delta);
            self.slots.iter_mut().for_each(|slot| slot.is_stale = true);
        }
        let (mut vertices, mut indices) = (Vec::<Vertex>::new(), Vec::<u32>::new());
        let slot = &mut self.slots[slot];
        slot.draws.clear();
        for part in self.context.tessellate(output.shapes, output.pixels_per_point) {
            let Primitive::Mesh(mesh) = part.primitive else {
                continue;
            };
            let (first_index, first_vertex) = (indices.len() as u32, vertices.len() as i32);
            indices.extend(mesh.indices);
            vertices.extend(mesh.vertices);
            slot.draws.push(Draw {
                scissor: scissor(part.clip_rect, screen),
                indices: first_index..indices.len() as u32,
                first_vertex,
            });
        }
        write(&self.tile, &mut slot.buffers[0], &vertices)?;
        write(&self.tile, &mut slot.buffers[1], &indices)?;
        if std::mem::take(&mut slot.is_stale) {
            let texels = &mut slot.buffers[2];
            write(&self.tile, texels, &self.texture.pixels)?;
            let (device, all) = (self.tile.raw(), (0, vk::WHOLE_SIZE));
            self.set_layout
                .write_buffer(device, slot.set, 0, texels.handle, all);
        }
        Ok(())
    }

    /// Records the slot's overlay into a pass with this target, whose viewport covers the picture.
    pub fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, slot: usize, screen: Screen) {
        let (graphics, slot) = (vk::PipelineBindPoint::GRAPHICS, &self.slots[slot]);
        let [width, height] = screen.points();
        let texels = self.texture.size.map(|side| (side as u32).to_ne_bytes());
        let pushed = [width.to_ne_bytes(), height.to_ne_bytes(), texels[0], texels[1]].concat();
        let stages = push_constant_range(&SHADERS)
            .expect("the size of the screen")
            .stage_flags;
        let [vertices, indices, _] = slot.buffers.each_ref().map(|buffer| buffer.handle);
        // SAFETY: recording inside a pass that the pipeline was created for, with everything that it needs.
        unsafe {
            device.cmd_bind_pipeline(commands, graphics, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, graphics, self.layout, 0, &[slot.set], &[]);
            device.cmd_push_constants(commands, self.layout, stages, 0, &pushed);
            device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT32);
            for draw in &slot.draws {
                let range = &draw.indices;
                device.cmd_set_scissor(commands, 0, &[draw.scissor]);
                device.cmd_draw_indexed(commands, range.len() as u32, 1, range.start, draw.first_vertex, 0);
            }
        }
    }

    /// Destroys the objects of the layer.
    ///
    /// # Safety
    /// No command buffer that draws the layer is pending.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the pool frees its sets.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.set_layout.handle, None);
        }
        for buffer in self.slots.iter().flat_map(|slot| &slot.buffers) {
            // SAFETY: as above.
            unsafe { buffer.destroy(device) };
        }
    }
}

fn buffer(tile: &Device, bytes: usize) -> Result<HostBuffer> {
    let indexed = vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER;
    HostBuffer::new(tile, bytes as u64, indexed | vk::BufferUsageFlags::STORAGE_BUFFER)
}

/// Replaces the contents of a buffer that no frame uses; the buffer grows if necessary.
fn write<T: Pod>(tile: &Device, held: &mut HostBuffer, content: &[T]) -> Result<()> {
    let bytes: &[u8] = bytemuck::cast_slice(content);
    if held.size < bytes.len() as u64 {
        let former = std::mem::replace(held, buffer(tile, bytes.len().next_power_of_two())?);
        // SAFETY: the slot's last frame is complete.
        unsafe { former.destroy(tile.raw()) };
    }
    held.bytes()[..bytes.len()].copy_from_slice(bytes);
    Ok(())
}

/// Updates the texture, as a whole or in part.
fn update(texture: &mut ColorImage, delta: &ImageDelta) {
    let ImageData::Color(image) = &delta.image;
    let Some([left, top]) = delta.pos else {
        texture.clone_from(image);
        return;
    };
    let rows = texture.pixels.chunks_mut(texture.size[0]).skip(top);
    for (row, new) in rows.zip(image.pixels.chunks(image.size[0])) {
        row[left..left + new.len()].copy_from_slice(new);
    }
}

/// Converts a part of the picture from points to pixels, clipped to the picture.
fn scissor(part: Rect, screen: Screen) -> vk::Rect2D {
    let [width, height] = [screen.extent.width, screen.extent.height].map(|side| side as f32);
    let picture = Rect::from_min_size(Pos2::ZERO, [width, height].into());
    let pixels = (part * screen.scale).intersect(picture).round_to_pixels(1.0);
    let size = extent(pixels.width() as u32, pixels.height() as u32);
    area(pixels.min.x as u32, pixels.min.y as u32, size)
}

/// Blends premultiplied colors over the target; does not write depth, and passes the test as nearest.
fn pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    target: &PipelineTarget,
) -> Result<vk::Pipeline> {
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .src_color_blend_factor(vk::BlendFactor::ONE)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE);
    let drawing = Drawing {
        vertex_stride: size_of::<Vertex>() as u32,
        blend: Some(blend),
        ..Drawing::new(layout, target, &OVERLAY_VERT, Some(&OVERLAY_FRAG))
    };
    drawing.create(device)
}
