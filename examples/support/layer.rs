//! Draws a [`Sheet`] over what a render pass has drawn.

use ash::vk;
use tileheap::runtime::{Device, Target};

use super::FRAMES_IN_FLIGHT;
use super::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use super::error::Result;
use super::memory::HostBuffer;
use super::pipeline::Drawing;
use super::shaders::{OVERLAY_FRAG, OVERLAY_VERT, Shader, push_constant_range};
use super::sheet::{MOST_SHAPES, SHAPE_BYTES, Screen, Sheet, glyphs};

static SHADERS: [&Shader; 2] = [&OVERLAY_VERT, &OVERLAY_FRAG];
/// The pipeline of overlays, and a frame's shapes for each slot.
pub struct Layer {
    set_layout: SetLayout,
    layout: vk::PipelineLayout,
    push_constants: vk::PushConstantRange,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    sets: [vk::DescriptorSet; FRAMES_IN_FLIGHT],
    shapes: [HostBuffer; FRAMES_IN_FLIGHT],
    /// How many shapes a slot's frame has.
    counts: [u32; FRAMES_IN_FLIGHT],
    glyphs: HostBuffer,
}

impl Layer {
    /// For a pass with one colour attachment of plain 8-bit channels: shapes are sRGB already.
    pub fn new(tile: &Device, target: &Target) -> Result<Layer> {
        let device = tile.raw();
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let shapes = || HostBuffer::new(tile, (MOST_SHAPES * SHAPE_BYTES) as u64, usage);
        let shapes = [shapes()?, shapes()?];
        let glyphs = HostBuffer::holding(tile, &glyphs(), usage)?;

        let set_layout = SetLayout::new(device, &SHADERS, 0, &[])?;
        let layout = create_pipeline_layout(device, &[set_layout.handle], &SHADERS)?;
        let pool = create_pool(device, FRAMES_IN_FLIGHT, &set_layout.pool_sizes(FRAMES_IN_FLIGHT))?;
        let mut sets = [vk::DescriptorSet::null(); FRAMES_IN_FLIGHT];
        for (set, shapes) in sets.iter_mut().zip(&shapes) {
            *set = set_layout.allocate(device, pool)?;
            for (binding, buffer) in [(0, shapes), (1, &glyphs)] {
                set_layout.write_buffer(device, *set, binding, buffer.handle, (0, vk::WHOLE_SIZE));
            }
        }
        Ok(Layer {
            push_constants: push_constant_range(&SHADERS).expect("the size of the screen"),
            pipeline: pipeline(device, layout, target)?,
            set_layout,
            layout,
            pool,
            sets,
            shapes,
            counts: [0; FRAMES_IN_FLIGHT],
            glyphs,
        })
    }

    /// Takes over the shapes of the slot's next frame; the one before is complete.
    pub fn write(&mut self, slot: usize, sheet: &Sheet) {
        let bytes = sheet.bytes();
        self.shapes[slot].bytes()[..bytes.len()].copy_from_slice(bytes);
        self.counts[slot] = sheet.len() as u32;
    }

    /// Records the slot's shapes into a pass with such a target, whose viewport covers the picture.
    pub fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, slot: usize, screen: Screen) {
        if self.counts[slot] == 0 {
            return;
        }
        let graphics = vk::PipelineBindPoint::GRAPHICS;
        let [width, height] =
            [screen.extent.width, screen.extent.height].map(|side| side as f32 / screen.scale);
        let (sets, pushed) = ([self.sets[slot]], [width, height, screen.scale]);
        // SAFETY: recording inside a pass that the pipeline was made for, with all that it needs.
        unsafe {
            device.cmd_bind_pipeline(commands, graphics, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, graphics, self.layout, 0, &sets, &[]);
            device.cmd_push_constants(
                commands,
                self.layout,
                self.push_constants.stage_flags,
                0,
                bytemuck::bytes_of(&pushed),
            );
            device.cmd_draw(commands, 6, self.counts[slot], 0, 0);
        }
    }

    /// # Safety
    /// No command buffer that draws it is pending.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the pool frees its sets.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.set_layout.handle, None);
            self.glyphs.destroy(device);
        }
        for shapes in &self.shapes {
            // SAFETY: as above.
            unsafe { shapes.destroy(device) };
        }
    }
}

/// Shapes over what is there; depth, where the pass has one, is left alone: they are nearest.
fn pipeline(device: &ash::Device, layout: vk::PipelineLayout, target: &Target) -> Result<vk::Pipeline> {
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE);
    let drawing = Drawing {
        blend: Some(blend),
        ..Drawing::new(layout, target, &OVERLAY_VERT, Some(&OVERLAY_FRAG))
    };
    drawing.create(device)
}
