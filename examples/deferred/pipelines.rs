//! One pipeline per pass, with descriptor set layouts from shader reflection.
//!
//! Set 0 is the same for all: constants, lights, instances, a sampler. Set 1 has a pass's own inputs: binding n is the
//! n-th access by shaders that the pass declares.

use ash::vk;
use tileheap::frame::PassId;
use tileheap::frame::tables::Access;
use tileheap::lower::{PipelineTarget, PipelineTargets};

use crate::frame::{Deferred, INSET};
use crate::mesh::Vertex;
use crate::support::descriptors::{SetLayout, create_pipeline_layout};
use crate::support::error::{Called, Result};
use crate::support::pipeline::{Drawing, Module, create_sampler};
use crate::support::shaders::{self, Shader, push_constant_range};

/// The shaders of a pass.
#[derive(Clone, Copy)]
pub(crate) enum Program {
    /// Draws meshes to depth and, if there is a fragment shader, to color.
    Objects(&'static Shader, Option<&'static Shader>),
    /// Draws a triangle over the whole target.
    Screen(&'static Shader),
    /// Draws squares without vertex buffers, blended additively.
    Halos,
    Compute(&'static Shader),
    /// Dispatches one workgroup per tile of light culling.
    Tiles(&'static Shader),
    /// A copy or a clear, which needs no pipeline.
    Copy,
}

impl Program {
    pub(crate) fn of(deferred: &Deferred, pass: PassId) -> Program {
        match name_of(deferred, pass) {
            "shadow" | "shadow_near" => Program::Objects(&shaders::SHADOW_VERT, None),
            "gbuffer" | "gbuffer_4x" => {
                Program::Objects(&shaders::GBUFFER_VERT, Some(&shaders::GBUFFER_FRAG))
            }
            "cull" => Program::Tiles(&shaders::CULL_COMP),
            "ao" => Program::Screen(&shaders::AO_FRAG),
            "ao_blur" => Program::Screen(&shaders::AO_BLUR_FRAG),
            "reflection" => Program::Screen(&shaders::REFLECTION_FRAG),
            "lighting" => Program::Screen(&shaders::LIGHTING_FRAG),
            "glow" => Program::Halos,
            "temporal" => Program::Screen(&shaders::TEMPORAL_FRAG),
            "exposure" => Program::Compute(&shaders::EXPOSURE_COMP),
            "threshold" => Program::Screen(&shaders::BLOOM_THRESHOLD_FRAG),
            "down_0" | "down_1" | "down_2" => Program::Screen(&shaders::BLOOM_DOWN_FRAG),
            "up_0" | "up_1" | "up_2" => Program::Screen(&shaders::BLOOM_UP_FRAG),
            "tone_map" => Program::Screen(&shaders::TONE_MAP_FRAG),
            _ => Program::Copy,
        }
    }

    fn shaders(self) -> Vec<&'static Shader> {
        match self {
            Program::Objects(vertex, fragment) => [vertex].into_iter().chain(fragment).collect(),
            Program::Screen(fragment) => vec![&shaders::FULLSCREEN_VERT, fragment],
            Program::Halos => vec![&shaders::GLOW_VERT, &shaders::GLOW_FRAG],
            Program::Compute(shader) | Program::Tiles(shader) => vec![shader],
            Program::Copy => Vec::new(),
        }
    }
}

/// A pipeline and its layouts.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) handle: vk::Pipeline,
    pub(crate) layout: vk::PipelineLayout,
    /// The layout of set 1.
    pub(crate) inputs: SetLayout,
    /// The push constant range of `Strip` in shaders/strip.glsl, for shaders that use it.
    pub(crate) push_constants: Option<vk::PushConstantRange>,
}

/// Everything that depends on the formats of the frame but not on its size.
pub(crate) struct Pipelines {
    /// The layout of set 0.
    pub(crate) shared: SetLayout,
    /// Pipelines by the name of their pass, without the suffix of the view.
    passes: Vec<(String, Pipeline)>,
    sampler: vk::Sampler,
}

impl Pipelines {
    pub(crate) fn build(
        device: &ash::Device,
        deferred: &Deferred,
        targets: &PipelineTargets,
    ) -> Result<Pipelines> {
        let sampler = create_sampler(device, vk::Filter::LINEAR, vk::SamplerMipmapMode::NEAREST)?;
        let passes = deferred.frame.pass_ids();
        let all: Vec<_> = passes
            .flat_map(|pass| Program::of(deferred, pass).shaders())
            .collect();
        let mut pipelines = Pipelines {
            shared: SetLayout::new(device, &all, 0, &[sampler])?,
            passes: Vec::new(),
            sampler,
        };
        pipelines.add(device, deferred, targets)?;
        Ok(pipelines)
    }

    /// Adds pipelines of passes that no earlier frame had.
    pub(crate) fn add(
        &mut self,
        device: &ash::Device,
        deferred: &Deferred,
        targets: &PipelineTargets,
    ) -> Result<()> {
        for pass in deferred.frame.pass_ids() {
            let name = name_of(deferred, pass);
            if self.passes.iter().any(|(known, _)| known == name) {
                continue;
            }
            let program = Program::of(deferred, pass);
            let shaders = program.shaders();
            let mut pipeline = Pipeline::default();
            if !shaders.is_empty() {
                let inputs = SetLayout::new(device, &shaders, 1, &[])?;
                let layout = create_pipeline_layout(device, &[self.shared.handle, inputs.handle], &shaders)?;
                let handle = match program {
                    Program::Compute(shader) | Program::Tiles(shader) => {
                        compute_pipeline(device, layout, shader)?
                    }
                    program => {
                        let mut runs = deferred.arranged.executed_passes(pass);
                        let runs_in = runs.next().expect("every described pass runs");
                        let subpass = deferred
                            .arranged
                            .subpass_in(runs_in, pass)
                            .expect("it runs there");
                        let target = targets.get(runs_in, subpass).expect("it is a render pass");
                        render_pipeline(device, layout, target, program)?
                    }
                };
                let push_constants = push_constant_range(&shaders);
                pipeline = Pipeline {
                    handle,
                    layout,
                    inputs,
                    push_constants,
                };
            }
            self.passes.push((name.to_owned(), pipeline));
        }
        Ok(())
    }

    pub(crate) fn of(&self, deferred: &Deferred, pass: PassId) -> &Pipeline {
        let name = name_of(deferred, pass);
        let known = self.passes.iter().find(|(known, _)| known == name);
        &known.expect("added with the frame").1
    }

    /// # Safety
    /// No command buffer that uses the pipelines is pending.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        for (_, pass) in &self.passes {
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

/// The name of a pass, without the view.
fn name_of(deferred: &Deferred, pass: PassId) -> &str {
    let name = deferred.frame.pass(pass).name.as_str();
    name.strip_suffix(INSET).unwrap_or(name)
}

/// The accesses that are bindings of set 1, in order.
pub(crate) fn inputs_of(deferred: &Deferred, pass: PassId) -> impl Iterator<Item = &Access> {
    deferred
        .frame
        .accesses_of(pass)
        .iter()
        .filter(|access| access.kind.is_shader())
}

// The attributes are the vertex's fields, in the same order.
const _: () = assert!(size_of::<Vertex>() as u32 == shaders::GBUFFER_VERT.vertex_bytes);

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
    target: &PipelineTarget,
    program: Program,
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
    if matches!(program, Program::Objects(..)) {
        drawing.vertex_stride = size_of::<Vertex>() as u32;
        drawing.culls = vk::CullModeFlags::BACK;
        drawing.writes_depth = true;
    }
    if matches!(program, Program::Screen(_)) {
        // For a pass that is merged with one that has depth.
        drawing.nearer = vk::CompareOp::ALWAYS;
    }
    drawing.blend = matches!(program, Program::Halos).then_some(blend);
    drawing.create(device)
}

#[cfg(test)]
mod tests {
    use tileheap::frame::shaders::{
        BindingTarget, Mismatch, MismatchKind, PipelineShaders, ShaderBinding, ShaderModule, check,
    };

    use super::*;
    use crate::frame::describe;
    use crate::support::output::Output;
    use crate::support::sizes::extent;

    #[test]
    fn passes_declare_what_their_shaders_do() {
        let deferred = describe(extent(320, 180), Output::Buffer).expect("the description is sound");
        let mut checked = 0;
        for pass in deferred.frame.pass_ids() {
            let shaders = Program::of(&deferred, pass).shaders().into_iter();
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
            // Set 0 is the renderer's own, and not part of the frame.
            let shared = |found: &Mismatch| {
                let own = matches!(found.binding, Some(ShaderBinding::Descriptor { set: 0, .. }));
                own && found.kind == MismatchKind::Unbound
            };
            let found = check(&deferred.frame, pass, &[shaders]);
            let found: Vec<_> = found.into_iter().filter(|one| !shared(one)).collect();
            assert!(found.is_empty(), "{found:#?}");
            checked += 1;
        }
        assert_eq!(checked, 18, "passes with shaders");
    }
}
