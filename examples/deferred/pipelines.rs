//! One pipeline per pass, with descriptor set layouts that follow from what its shaders declare.
//!
//! Set 0 is the same for all: constants, lights, instances, a sampler. Set 1 holds a pass's own inputs: binding n is the
//! n-th access by shaders that the pass declares.

use ash::vk;
use tileheap::frame::PassId;
use tileheap::frame::tables::Access;
use tileheap::runtime::{BoundFrame, Target};

use crate::frame::{Deferred, Passes};
use crate::mesh::Vertex;
use crate::support::descriptors::{SetLayout, create_pipeline_layout};
use crate::support::error::{Called, Result};
use crate::support::pipeline::{Drawing, Module};
use crate::support::shaders::{self, Shader};

/// What a pass runs.
enum Program {
    /// Meshes into depth and, with a fragment shader, colour.
    Objects {
        vertex: &'static Shader,
        fragment: Option<&'static Shader>,
    },
    /// A triangle over the whole target.
    Screen(&'static Shader),
    /// Squares without vertices, added to what is there.
    Halos,
    Compute(&'static Shader),
    /// Copies need no pipeline.
    Nothing,
}

impl Program {
    fn shaders(&self) -> Vec<&'static Shader> {
        match *self {
            Program::Objects { vertex, fragment } => [vertex].into_iter().chain(fragment).collect(),
            Program::Screen(fragment) => vec![&shaders::FULLSCREEN_VERT, fragment],
            Program::Halos => vec![&shaders::GLOW_VERT, &shaders::GLOW_FRAG],
            Program::Compute(shader) => vec![shader],
            Program::Nothing => Vec::new(),
        }
    }
}

fn program_of(passes: &Passes, pass: PassId) -> Program {
    match pass {
        _ if pass == passes.shadow => Program::Objects {
            vertex: &shaders::SHADOW_VERT,
            fragment: None,
        },
        _ if pass == passes.gbuffer => Program::Objects {
            vertex: &shaders::GBUFFER_VERT,
            fragment: Some(&shaders::GBUFFER_FRAG),
        },
        _ if pass == passes.cull => Program::Compute(&shaders::CULL_COMP),
        _ if pass == passes.ao => Program::Screen(&shaders::AO_FRAG),
        _ if pass == passes.ao_blur => Program::Screen(&shaders::AO_BLUR_FRAG),
        _ if pass == passes.reflection => Program::Screen(&shaders::REFLECTION_FRAG),
        _ if pass == passes.lighting => Program::Screen(&shaders::LIGHTING_FRAG),
        _ if pass == passes.glow => Program::Halos,
        _ if pass == passes.temporal => Program::Screen(&shaders::TEMPORAL_FRAG),
        _ if pass == passes.exposure => Program::Compute(&shaders::EXPOSURE_COMP),
        _ if pass == passes.threshold => Program::Screen(&shaders::BLOOM_THRESHOLD_FRAG),
        _ if passes.down.contains(&pass) => Program::Screen(&shaders::BLOOM_DOWN_FRAG),
        _ if passes.up.contains(&pass) => Program::Screen(&shaders::BLOOM_UP_FRAG),
        _ if pass == passes.tone_map => Program::Screen(&shaders::TONE_MAP_FRAG),
        _ => Program::Nothing,
    }
}

/// What a pass binds.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    /// The layout of set 1.
    pub(crate) inputs: SetLayout,
}

/// Everything that depends on the formats of the frame, and not on its size.
pub(crate) struct Pipelines {
    /// The layout of set 0.
    pub(crate) shared: SetLayout,
    /// In the order of the frame's passes.
    passes: Vec<Pipeline>,
    sampler: vk::Sampler,
}

impl Pipelines {
    pub(crate) fn build(device: &ash::Device, deferred: &Deferred, bound: &BoundFrame) -> Result<Pipelines> {
        let sampler = create_sampler(device)?;
        let program = |pass| program_of(&deferred.passes, pass);
        let all: Vec<_> = deferred
            .frame
            .pass_ids()
            .flat_map(|pass| program(pass).shaders())
            .collect();
        let shared = SetLayout::new(device, &all, 0, &[sampler])?;
        let passes = deferred.frame.pass_ids().map(|pass| {
            let program = program(pass);
            let shaders = program.shaders();
            if shaders.is_empty() {
                return Ok(Pipeline::default());
            }
            let inputs = SetLayout::new(device, &shaders, 1, &[])?;
            let layout = create_pipeline_layout(device, &[shared.handle, inputs.handle], &shaders)?;
            let handle = match program {
                Program::Compute(shader) => compute_pipeline(device, layout, shader)?,
                program => render_pipeline(device, layout, bound.target(pass), &program)?,
            };
            Ok(Pipeline {
                handle,
                layout,
                inputs,
            })
        });
        let passes = passes.collect::<Result<Vec<Pipeline>>>()?;
        Ok(Pipelines {
            shared,
            passes,
            sampler,
        })
    }

    pub(crate) fn of(&self, pass: PassId) -> &Pipeline {
        &self.passes[pass.index()]
    }

    /// The descriptors of a set 1 for every pass.
    pub(crate) fn input_sizes(&self) -> Vec<vk::DescriptorPoolSize> {
        self.passes
            .iter()
            .flat_map(|pass| pass.inputs.pool_sizes(1))
            .collect()
    }

    /// # Safety
    /// No command buffer that uses the pipelines is pending.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        for pass in &self.passes {
            // SAFETY: the caller's duty; null handles are ignored.
            unsafe {
                device.destroy_pipeline(pass.handle, None);
                device.destroy_pipeline_layout(pass.layout, None);
                device.destroy_descriptor_set_layout(pass.inputs.handle, None);
            }
        }
        // SAFETY: as above.
        unsafe {
            device.destroy_descriptor_set_layout(self.shared.handle, None);
            device.destroy_sampler(self.sampler, None);
        }
    }
}

/// The accesses that are bindings of set 1, in order.
pub(crate) fn inputs_of(deferred: &Deferred, pass: PassId) -> impl Iterator<Item = &Access> {
    deferred
        .frame
        .accesses_of(pass)
        .iter()
        .filter(|access| access.kind.is_shader())
}

// The attributes are the vertex's fields, in their order.
const _: () = assert!(size_of::<Vertex>() as u32 == shaders::GBUFFER_VERT.vertex_bytes);

fn create_sampler(device: &ash::Device) -> Result<vk::Sampler> {
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE);
    // SAFETY: the info is complete and uses no feature.
    unsafe { device.create_sampler(&info, None) }.called("vkCreateSampler")
}

fn compute_pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    shader: &Shader,
) -> Result<vk::Pipeline> {
    let module = Module::new(device, shader)?;
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(module.stage())
        .layout(layout);
    // SAFETY: the layout has what the shader uses.
    unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) }
        .map(|pipelines| pipelines[0])
        .map_err(|(_, result)| result)
        .called("vkCreateComputePipelines")
}

fn render_pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    target: &Target,
    program: &Program,
) -> Result<vk::Pipeline> {
    let (vertex, fragment) = match program.shaders()[..] {
        [vertex] => (vertex, None),
        [vertex, fragment] => (vertex, Some(fragment)),
        _ => unreachable!("no render pass"),
    };
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .src_color_blend_factor(vk::BlendFactor::ONE)
        .dst_color_blend_factor(vk::BlendFactor::ONE)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE);
    let mut drawing = Drawing::new(layout, target, vertex, fragment);
    if matches!(program, Program::Objects { .. }) {
        drawing.vertex_stride = size_of::<Vertex>() as u32;
        drawing.culls = vk::CullModeFlags::BACK;
        drawing.writes_depth = true;
    }
    drawing.blend = matches!(program, Program::Halos).then_some(blend);
    drawing.create(device)
}

#[cfg(test)]
mod tests {
    use tileheap::frame::shaders::{
        BindingTarget, Mismatch, PipelineShaders, ShaderBinding, ShaderModule, check,
    };

    use super::*;
    use crate::frame::describe;
    use crate::support::output::Output;

    #[test]
    fn passes_declare_what_their_shaders_do() {
        let extent = vk::Extent2D {
            width: 320,
            height: 180,
        };
        let deferred = describe(extent, Output::Buffer).expect("the description is sound");
        let mut checked = 0;
        for pass in deferred.frame.pass_ids() {
            let shaders = program_of(&deferred.passes, pass).shaders().into_iter();
            let entries: Vec<_> = shaders
                .map(|shader| {
                    let module = ShaderModule::parse(shader.words).expect("the build compiled it");
                    module
                        .entry_point("main", shader.stage)
                        .expect("every shader has a main")
                })
                .collect();
            if entries.is_empty() {
                continue;
            }
            let mut shaders = entries
                .iter()
                .fold(PipelineShaders::new(), PipelineShaders::shader);
            for (index, access) in inputs_of(&deferred, pass).enumerate() {
                let target = BindingTarget {
                    resource: access.resource,
                    version: access.version,
                };
                shaders = shaders.bind(1, index as u32, target);
            }
            // Set 0 is the renderer's own, and no part of the frame.
            let shared = |found: &Mismatch| {
                matches!(
                    found,
                    Mismatch::Unbound {
                        binding: ShaderBinding::Descriptor { set: 0, .. },
                        ..
                    }
                )
            };
            let found = check(&deferred.frame, pass, &[shaders]);
            let found: Vec<_> = found.into_iter().filter(|one| !shared(one)).collect();
            assert!(found.is_empty(), "{found:#?}");
            checked += 1;
        }
        assert_eq!(checked, 18, "passes with shaders");
    }
}
