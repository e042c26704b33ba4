//! Pipelines and descriptor sets: set 0 is what all shaders see, set 1 the texture cache's.

use ash::vk;
use bytemuck::{Pod, Zeroable};
use tileheap::runtime::{Device, Target};

use crate::camera::Constants;
use crate::support::SLOTS;
use crate::support::fault::{Called, Result};
use crate::support::memory::HostBuffer;
use crate::support::pipeline::Drawing;

mod spirv {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

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

/// Vertices of a square of land: 18 by 18 quads.
pub(crate) const NODE_VERTICES: u32 = 18 * 18 * 6;

/// Everything that draws.
pub(crate) struct Pipelines {
    device: ash::Device,
    shared: vk::DescriptorSetLayout,
    pub(crate) layout: vk::PipelineLayout,
    /// Between texels, and the nearest.
    samplers: [vk::Sampler; 2],
    pool: vk::DescriptorPool,
    pub(crate) palette: vk::Pipeline,
    pub(crate) rgba: vk::Pipeline,
    pub(crate) plain: vk::Pipeline,
    pub(crate) sky: vk::Pipeline,
    /// One per slot.
    pub(crate) sets: [vk::DescriptorSet; SLOTS],
}

impl Pipelines {
    pub(crate) fn new(
        tile: &Device,
        target: &Target,
        textures: vk::DescriptorSetLayout,
        heights: &HostBuffer,
        palette: &HostBuffer,
        cameras: [&HostBuffer; SLOTS],
    ) -> Result<Pipelines> {
        use vk::DescriptorType as T;
        let device = tile.raw();
        let samplers = [
            create_sampler(device, vk::Filter::LINEAR, vk::SamplerMipmapMode::LINEAR)?,
            create_sampler(device, vk::Filter::NEAREST, vk::SamplerMipmapMode::NEAREST)?,
        ];
        let binding = |index, kind| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(index)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT)
        };
        let bindings = [
            binding(0, T::UNIFORM_BUFFER),
            binding(1, T::STORAGE_BUFFER),
            binding(2, T::STORAGE_BUFFER),
            binding(3, T::SAMPLER).immutable_samplers(&samplers[..1]),
            binding(5, T::SAMPLER).immutable_samplers(&samplers[1..]),
        ];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the samplers were created on this device.
        let shared = unsafe { device.create_descriptor_set_layout(&info, None) }
            .called("vkCreateDescriptorSetLayout")?;
        let layouts = [shared, textures];
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT,
            offset: 0,
            size: size_of::<NodeConstants>() as u32,
        }];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(&ranges);
        // SAFETY: both set layouts are alive.
        let layout =
            unsafe { device.create_pipeline_layout(&info, None) }.called("vkCreatePipelineLayout")?;
        let count = SLOTS as u32;
        let size = |ty, descriptor_count| vk::DescriptorPoolSize { ty, descriptor_count };
        let sizes = [
            size(T::UNIFORM_BUFFER, count),
            size(T::STORAGE_BUFFER, 2 * count),
            size(T::SAMPLER, 2 * count),
        ];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(count)
            .pool_sizes(&sizes);
        // SAFETY: sizes are not 0.
        let pool = unsafe { device.create_descriptor_pool(&info, None) }.called("vkCreateDescriptorPool")?;
        let layouts = [shared; SLOTS];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        // SAFETY: the pool holds as many.
        let sets = unsafe { device.allocate_descriptor_sets(&info) }.called("vkAllocateDescriptorSets")?;
        let sets = [sets[0], sets[1]];
        for (set, camera) in sets.into_iter().zip(cameras) {
            write(device, set, 0, T::UNIFORM_BUFFER, camera);
            write(device, set, 1, T::STORAGE_BUFFER, heights);
            write(device, set, 2, T::STORAGE_BUFFER, palette);
        }
        let drawing = |vertex, fragment| Drawing {
            layout,
            target,
            vertex,
            fragment: Some(fragment),
            input: vk::PipelineVertexInputStateCreateInfo::default(),
            culls: vk::CullModeFlags::NONE,
            writes_depth: false,
            blend: None,
        };
        let land = |fragment| {
            let land = Drawing {
                writes_depth: true,
                ..drawing(spirv::LAND_VERT, fragment)
            };
            land.create(device)
        };
        Ok(Pipelines {
            palette: land(spirv::LAND_PALETTE_FRAG)?,
            rgba: land(spirv::LAND_RGBA_FRAG)?,
            plain: land(spirv::LAND_PLAIN_FRAG)?,
            sky: drawing(spirv::FULLSCREEN_VERT, spirv::LAND_SKY_FRAG).create(device)?,
            device: device.clone(),
            shared,
            layout,
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
            device.destroy_descriptor_set_layout(self.shared, None);
            for sampler in self.samplers {
                device.destroy_sampler(sampler, None);
            }
        }
    }
}

/// What shaders know of a slot's camera.
pub(crate) fn camera_buffer(tile: &Device) -> Result<HostBuffer> {
    let size = size_of::<Constants>() as u64;
    HostBuffer::new(tile, size, vk::BufferUsageFlags::UNIFORM_BUFFER)
}

fn write(
    device: &ash::Device,
    set: vk::DescriptorSet,
    binding: u32,
    kind: vk::DescriptorType,
    buffer: &HostBuffer,
) {
    let buffers = [vk::DescriptorBufferInfo {
        buffer: buffer.handle,
        offset: 0,
        range: vk::WHOLE_SIZE,
    }];
    let write = [vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(binding)
        .descriptor_type(kind)
        .buffer_info(&buffers)];
    // SAFETY: the set is new, and the buffer is alive.
    unsafe { device.update_descriptor_sets(&write, &[]) };
}

fn create_sampler(
    device: &ash::Device,
    filter: vk::Filter,
    mips: vk::SamplerMipmapMode,
) -> Result<vk::Sampler> {
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .mipmap_mode(mips)
        .max_lod(vk::LOD_CLAMP_NONE)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE);
    // SAFETY: the info is complete and uses no feature.
    unsafe { device.create_sampler(&info, None) }.called("vkCreateSampler")
}
