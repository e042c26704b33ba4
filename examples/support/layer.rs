//! Draws a [`Sheet`] over what a render pass has drawn.

use ash::vk;
use tileheap::runtime::{Device, Target};

use super::SLOTS;
use super::fault::{Called, Result};
use super::memory::HostBuffer;
use super::pipeline::Drawing;
use super::sheet::{MOST_SHAPES, SHAPE_BYTES, Screen, Sheet, glyphs};

mod spirv {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

/// The pipeline of overlays, and a frame's shapes for each slot.
pub struct Layer {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    sets: [vk::DescriptorSet; SLOTS],
    shapes: [HostBuffer; SLOTS],
    /// How many shapes a slot's frame has.
    counts: [u32; SLOTS],
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

        let binding = |index| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(index)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(STAGES)
        };
        let bindings = [binding(0), binding(1)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the info is complete.
        let set_layout = unsafe { device.create_descriptor_set_layout(&info, None) }
            .called("vkCreateDescriptorSetLayout")?;
        let (set_layouts, screen) = (
            [set_layout; SLOTS],
            [vk::PushConstantRange {
                stage_flags: STAGES,
                offset: 0,
                size: size_of::<[f32; 3]>() as u32,
            }],
        );
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&set_layouts[..1])
            .push_constant_ranges(&screen);
        // SAFETY: the set layout was just created.
        let layout =
            unsafe { device.create_pipeline_layout(&info, None) }.called("vkCreatePipelineLayout")?;

        let sizes = [vk::DescriptorPoolSize {
            ty: vk::DescriptorType::STORAGE_BUFFER,
            descriptor_count: 2 * SLOTS as u32,
        }];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(SLOTS as u32)
            .pool_sizes(&sizes);
        // SAFETY: the info is complete.
        let pool = unsafe { device.create_descriptor_pool(&info, None) }.called("vkCreateDescriptorPool")?;
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&set_layouts);
        // SAFETY: the pool holds as many.
        let made = unsafe { device.allocate_descriptor_sets(&info) }.called("vkAllocateDescriptorSets")?;
        let sets = [made[0], made[1]];
        for (set, shapes) in sets.into_iter().zip(&shapes) {
            for (binding, buffer) in [(0, shapes), (1, &glyphs)] {
                let info = [vk::DescriptorBufferInfo {
                    buffer: buffer.handle,
                    offset: 0,
                    range: vk::WHOLE_SIZE,
                }];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&info);
                // SAFETY: the set is not in use yet, and the buffer is alive.
                unsafe { device.update_descriptor_sets(&[write], &[]) };
            }
        }
        Ok(Layer {
            pipeline: pipeline(device, layout, target)?,
            set_layout,
            layout,
            pool,
            sets,
            shapes,
            counts: [0; SLOTS],
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
            device.cmd_push_constants(commands, self.layout, STAGES, 0, bytemuck::bytes_of(&pushed));
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
            device.destroy_descriptor_set_layout(self.set_layout, None);
            self.glyphs.destroy(device);
        }
        for shapes in &self.shapes {
            // SAFETY: as above.
            unsafe { shapes.destroy(device) };
        }
    }
}

const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

/// Shapes over what is there; depth, where the pass has one, is left alone: they are nearest.
fn pipeline(device: &ash::Device, layout: vk::PipelineLayout, target: &Target) -> Result<vk::Pipeline> {
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE);
    let drawing = Drawing {
        layout,
        target,
        vertex: spirv::OVERLAY_VERT,
        fragment: Some(spirv::OVERLAY_FRAG),
        input: vk::PipelineVertexInputStateCreateInfo::default(),
        culls: vk::CullModeFlags::NONE,
        writes_depth: false,
        blend: Some(blend),
    };
    drawing.create(device)
}
