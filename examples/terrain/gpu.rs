//! Pipelines and descriptor sets: set 0 is for all shaders, set 1 is the texture cache's.

use ash::vk;
use bytemuck::{Pod, Zeroable};
use tileheap::runtime::{Device, PipelineTarget};

use crate::camera::Constants;
use crate::support::FRAMES_IN_FLIGHT;
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::Result;
use crate::support::memory::HostBuffer;
use crate::support::pipeline::{Drawing, create_sampler};
use crate::support::shaders::{
    FULLSCREEN_VERT, LAND_PALETTE_FRAG, LAND_PALETTE_LEVELS_FRAG, LAND_PLAIN_FRAG, LAND_RGBA_FRAG,
    LAND_RGBA_LEVELS_FRAG, LAND_SKY_FRAG, LAND_VERT, Shader, push_constant_range,
};

/// The shaders of the pipelines.
static SHADERS: [&Shader; 6] = [
    &FULLSCREEN_VERT,
    &LAND_VERT,
    &LAND_PALETTE_FRAG,
    &LAND_RGBA_FRAG,
    &LAND_PLAIN_FRAG,
    &LAND_SKY_FRAG,
];

/// The push constants `Node` of `shaders/land.glsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct NodeConstants {
    pub(crate) origin: [f32; 2],
    pub(crate) size: f32,
    pub(crate) skirt: f32,
    pub(crate) plain: [f32; 4],
    pub(crate) texels: f32,
    pub(crate) levels: i32,
    pub(crate) asked: f32,
}

const _: () = assert!(size_of::<NodeConstants>() as u32 == LAND_VERT.push_constant_bytes);

/// Vertices of a square of land: 18 x 18 quads.
pub(crate) const NODE_VERTICES: u32 = 18 * 18 * 6;

/// All pipelines, with their layouts and descriptor sets.
pub(crate) struct Pipelines {
    device: ash::Device,
    shared: SetLayout,
    pub(crate) layout: vk::PipelineLayout,
    pub(crate) push_constant_stages: vk::ShaderStageFlags,
    /// The samplers: linear and nearest.
    samplers: [vk::Sampler; 2],
    pool: vk::DescriptorPool,
    pub(crate) palette: vk::Pipeline,
    pub(crate) rgba: vk::Pipeline,
    pub(crate) plain: vk::Pipeline,
    pub(crate) sky: vk::Pipeline,
    /// The descriptor set of each slot.
    pub(crate) sets: [vk::DescriptorSet; FRAMES_IN_FLIGHT],
}

impl Pipelines {
    pub(crate) fn new(
        tile: &Device,
        target: &PipelineTarget,
        (textures, apart): (vk::DescriptorSetLayout, bool),
        heights: &HostBuffer,
        palette: &HostBuffer,
        cameras: [&HostBuffer; FRAMES_IN_FLIGHT],
    ) -> Result<Pipelines> {
        let device = tile.raw();
        let samplers = [
            create_sampler(device, vk::Filter::LINEAR, vk::SamplerMipmapMode::LINEAR)?,
            create_sampler(device, vk::Filter::NEAREST, vk::SamplerMipmapMode::NEAREST)?,
        ];
        let shared = SetLayout::new(device, &SHADERS, 0, &samplers)?;
        let layout = create_pipeline_layout(device, &[shared.handle, textures], &SHADERS)?;
        let range = push_constant_range(&SHADERS).expect("the constants of a node");
        let pool = create_pool(device, FRAMES_IN_FLIGHT, &shared.pool_sizes(FRAMES_IN_FLIGHT))?;
        let mut sets = [vk::DescriptorSet::null(); FRAMES_IN_FLIGHT];
        for (set, camera) in sets.iter_mut().zip(cameras) {
            *set = shared.allocate(device, pool)?;
            for (binding, buffer) in [(0, camera), (1, heights), (2, palette)] {
                shared.write_buffer(device, *set, binding, buffer.handle, (0, vk::WHOLE_SIZE));
            }
        }
        let drawing = |vertex, fragment| Drawing::new(layout, target, vertex, Some(fragment));
        let land = |fragment| {
            let land = Drawing {
                writes_depth: true,
                ..drawing(&LAND_VERT, fragment)
            };
            land.create(device)
        };
        Ok(Pipelines {
            palette: land([&LAND_PALETTE_FRAG, &LAND_PALETTE_LEVELS_FRAG][usize::from(apart)])?,
            rgba: land([&LAND_RGBA_FRAG, &LAND_RGBA_LEVELS_FRAG][usize::from(apart)])?,
            plain: land(&LAND_PLAIN_FRAG)?,
            sky: drawing(&FULLSCREEN_VERT, &LAND_SKY_FRAG).create(device)?,
            device: device.clone(),
            shared,
            layout,
            push_constant_stages: range.stage_flags,
            samplers,
            pool,
            sets,
        })
    }

    /// # Safety
    /// No command buffer that uses them is pending.
    pub(crate) unsafe fn destroy(&self) {
        let device = &self.device;
        for pipeline in [self.palette, self.rgba, self.plain, self.sky] {
            // SAFETY: the caller's duty.
            unsafe { device.destroy_pipeline(pipeline, None) };
        }
        // SAFETY: as above.
        unsafe {
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.shared.handle, None);
            for sampler in self.samplers {
                device.destroy_sampler(sampler, None);
            }
        }
    }
}

/// The uniform buffer for a slot's camera constants.
pub(crate) fn camera_buffer(tile: &Device) -> Result<HostBuffer> {
    let size = size_of::<Constants>() as u64;
    HostBuffer::new(tile, size, vk::BufferUsageFlags::UNIFORM_BUFFER)
}
