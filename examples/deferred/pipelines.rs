//! One pipeline per pass, with descriptor set layouts that follow from what the passes declare.
//!
//! Set 0 is the same for all: constants, lights, instances, a sampler. Set 1 holds a pass's own inputs: binding n is the
//! n-th access by shaders that the pass declares.

use ash::vk;
use tileheap::frame::{Access, AccessKind, PassId, PassKind};
use tileheap::runtime::{BoundFrame, Target};

use crate::frame::{Deferred, Passes};
use crate::mesh::Vertex;
use crate::support::fault::{Called, Result};
use crate::support::pipeline::{Drawing, Module};

mod spirv {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

/// What a pass runs.
enum Program {
    /// Meshes into depth and, with a fragment shader, colour.
    Objects {
        vertex: &'static [u32],
        fragment: Option<&'static [u32]>,
    },
    /// A triangle over the whole target.
    Screen {
        fragment: &'static [u32],
    },
    /// Squares without vertices, added to what is there.
    Halos {
        vertex: &'static [u32],
        fragment: &'static [u32],
    },
    Compute(&'static [u32]),
    /// Copies need no pipeline.
    Nothing,
}

fn program_of(passes: &Passes, pass: PassId) -> Program {
    use spirv::*;
    match pass {
        _ if pass == passes.shadow => Program::Objects {
            vertex: SHADOW_VERT,
            fragment: None,
        },
        _ if pass == passes.gbuffer => Program::Objects {
            vertex: GBUFFER_VERT,
            fragment: Some(GBUFFER_FRAG),
        },
        _ if pass == passes.cull => Program::Compute(CULL_COMP),
        _ if pass == passes.ao => Program::Screen { fragment: AO_FRAG },
        _ if pass == passes.ao_blur => Program::Screen {
            fragment: AO_BLUR_FRAG,
        },
        _ if pass == passes.reflection => Program::Screen {
            fragment: REFLECTION_FRAG,
        },
        _ if pass == passes.lighting => Program::Screen {
            fragment: LIGHTING_FRAG,
        },
        _ if pass == passes.glow => Program::Halos {
            vertex: GLOW_VERT,
            fragment: GLOW_FRAG,
        },
        _ if pass == passes.temporal => Program::Screen {
            fragment: TEMPORAL_FRAG,
        },
        _ if pass == passes.exposure => Program::Compute(EXPOSURE_COMP),
        _ if pass == passes.threshold => Program::Screen {
            fragment: BLOOM_THRESHOLD_FRAG,
        },
        _ if passes.down.contains(&pass) => Program::Screen {
            fragment: BLOOM_DOWN_FRAG,
        },
        _ if passes.up.contains(&pass) => Program::Screen {
            fragment: BLOOM_UP_FRAG,
        },
        _ if pass == passes.tone_map => Program::Screen {
            fragment: TONE_MAP_FRAG,
        },
        _ => Program::Nothing,
    }
}

/// What a pass binds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    /// The layout of set 1.
    pub(crate) inputs: vk::DescriptorSetLayout,
}

/// Everything that depends on the formats of the frame, and not on its size.
pub(crate) struct Pipelines {
    /// The layout of set 0.
    pub(crate) shared: vk::DescriptorSetLayout,
    /// In the order of the frame's passes.
    passes: Vec<Pipeline>,
    sampler: vk::Sampler,
}

impl Pipelines {
    pub(crate) fn build(device: &ash::Device, deferred: &Deferred, bound: &BoundFrame) -> Result<Pipelines> {
        let sampler = create_sampler(device)?;
        let shared = shared_layout(device, sampler)?;
        let frame = &deferred.frame;
        let passes = frame.pass_ids().map(|pass| {
            let program = program_of(&deferred.passes, pass);
            if matches!(program, Program::Nothing) {
                return Ok(Pipeline::default());
            }
            let inputs = input_layout(device, frame.pass(pass).kind, inputs_of(deferred, pass))?;
            let sets = [shared, inputs];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            // SAFETY: both set layouts were created on this device.
            let layout =
                unsafe { device.create_pipeline_layout(&info, None) }.called("vkCreatePipelineLayout")?;
            let handle = match program {
                Program::Compute(code) => compute_pipeline(device, layout, code)?,
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

    pub(crate) fn of(&self, pass: PassId) -> Pipeline {
        self.passes[pass.index()]
    }

    /// # Safety
    /// No command buffer that uses the pipelines is pending.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        for pass in &self.passes {
            // SAFETY: the caller's duty; null handles are ignored.
            unsafe {
                device.destroy_pipeline(pass.handle, None);
                device.destroy_pipeline_layout(pass.layout, None);
                device.destroy_descriptor_set_layout(pass.inputs, None);
            }
        }
        // SAFETY: as above.
        unsafe {
            device.destroy_descriptor_set_layout(self.shared, None);
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

/// The descriptor that an access needs.
pub(crate) fn descriptor_type(kind: AccessKind) -> vk::DescriptorType {
    match kind {
        AccessKind::SampledImage => vk::DescriptorType::SAMPLED_IMAGE,
        AccessKind::StorageBuffer => vk::DescriptorType::STORAGE_BUFFER,
        other => unreachable!("no pass of this frame declares {other:?}"),
    }
}

fn input_layout<'a>(
    device: &ash::Device,
    kind: PassKind,
    inputs: impl Iterator<Item = &'a Access>,
) -> Result<vk::DescriptorSetLayout> {
    let stage = match kind {
        PassKind::Compute => vk::ShaderStageFlags::COMPUTE,
        _ => vk::ShaderStageFlags::FRAGMENT,
    };
    let bindings: Vec<_> = inputs
        .enumerate()
        .map(|(index, access)| binding(index as u32, descriptor_type(access.kind), stage))
        .collect();
    create_layout(device, &bindings)
}

fn shared_layout(device: &ash::Device, sampler: vk::Sampler) -> Result<vk::DescriptorSetLayout> {
    let every = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT | vk::ShaderStageFlags::COMPUTE;
    let samplers = [sampler];
    let bindings = [
        binding(0, vk::DescriptorType::UNIFORM_BUFFER, every),
        binding(1, vk::DescriptorType::STORAGE_BUFFER, every),
        binding(2, vk::DescriptorType::STORAGE_BUFFER, every),
        binding(3, vk::DescriptorType::SAMPLER, every).immutable_samplers(&samplers),
    ];
    create_layout(device, &bindings)
}

fn binding(
    index: u32,
    descriptor: vk::DescriptorType,
    stages: vk::ShaderStageFlags,
) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default()
        .binding(index)
        .descriptor_type(descriptor)
        .descriptor_count(1)
        .stage_flags(stages)
}

fn create_layout(
    device: &ash::Device,
    bindings: &[vk::DescriptorSetLayoutBinding<'_>],
) -> Result<vk::DescriptorSetLayout> {
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
    // SAFETY: immutable samplers, if any, were created on this device.
    unsafe { device.create_descriptor_set_layout(&info, None) }.called("vkCreateDescriptorSetLayout")
}

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

fn compute_pipeline(device: &ash::Device, layout: vk::PipelineLayout, code: &[u32]) -> Result<vk::Pipeline> {
    let module = Module::new(device, code)?;
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(module.stage(vk::ShaderStageFlags::COMPUTE))
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
    let (vertex, fragment) = match *program {
        Program::Objects { vertex, fragment } => (vertex, fragment),
        Program::Screen { fragment } => (spirv::FULLSCREEN_VERT, Some(fragment)),
        Program::Halos { vertex, fragment } => (vertex, Some(fragment)),
        Program::Compute(_) | Program::Nothing => unreachable!("no render pass"),
    };
    let meshes = matches!(program, Program::Objects { .. });
    let blends = matches!(program, Program::Halos { .. });

    let bindings = [vk::VertexInputBindingDescription {
        binding: 0,
        stride: size_of::<Vertex>() as u32,
        input_rate: vk::VertexInputRate::VERTEX,
    }];
    let attributes = [0, 1].map(|location| vk::VertexInputAttributeDescription {
        location,
        binding: 0,
        format: vk::Format::R32G32B32_SFLOAT,
        offset: location * 12,
    });
    // Without a fragment shader, only positions are read.
    let attributes = &attributes[..if fragment.is_some() { 2 } else { 1 }];
    let mut vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    if meshes {
        vertex_input = vertex_input
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(attributes);
    }
    let blend = vk::PipelineColorBlendAttachmentState::default()
        .src_color_blend_factor(vk::BlendFactor::ONE)
        .dst_color_blend_factor(vk::BlendFactor::ONE)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE);
    let drawing = Drawing {
        layout,
        target,
        vertex,
        fragment,
        input: vertex_input,
        culls: if meshes {
            vk::CullModeFlags::BACK
        } else {
            vk::CullModeFlags::NONE
        },
        writes_depth: meshes,
        blend: blends.then_some(blend),
    };
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

    fn stages_of(program: &Program) -> Vec<(vk::ShaderStageFlags, &'static [u32])> {
        let vertex = |code| (vk::ShaderStageFlags::VERTEX, code);
        let fragment = |code| (vk::ShaderStageFlags::FRAGMENT, code);
        match *program {
            Program::Objects {
                vertex: code,
                fragment: None,
            } => vec![vertex(code)],
            Program::Objects {
                vertex: code,
                fragment: Some(other),
            } => vec![vertex(code), fragment(other)],
            Program::Screen { fragment: code } => vec![vertex(spirv::FULLSCREEN_VERT), fragment(code)],
            Program::Halos {
                vertex: code,
                fragment: other,
            } => vec![vertex(code), fragment(other)],
            Program::Compute(code) => vec![(vk::ShaderStageFlags::COMPUTE, code)],
            Program::Nothing => Vec::new(),
        }
    }

    #[test]
    fn passes_declare_what_their_shaders_do() {
        let extent = vk::Extent2D {
            width: 320,
            height: 180,
        };
        let deferred = describe(extent, Output::Buffer).expect("the description is sound");
        let mut checked = 0;
        for pass in deferred.frame.pass_ids() {
            let stages = stages_of(&program_of(&deferred.passes, pass)).into_iter();
            let entries: Vec<_> = stages
                .map(|(stage, code)| {
                    let module = ShaderModule::parse(code).expect("the build compiled it");
                    module
                        .entry_point("main", stage)
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
