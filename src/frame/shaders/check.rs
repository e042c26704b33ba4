//! A pass's declared accesses beside those of its shaders.

use ash::vk;

use super::mismatch::Mismatch;
use super::pipeline::{PipelineShaders, ShaderUse};
use crate::frame::tables::{Access, PassKind};
use crate::frame::{AccessKind, Frame, PassId, ResourceId};

/// Compares what a pass declares with what the shaders of its pipelines do, all of them together.
///
/// No mismatch means agreement. Colour attachments are compared if there is a fragment shader at all.
/// O((accesses + uses)²) of one pass.
#[must_use]
pub fn check(frame: &Frame, pass: PassId, pipelines: &[PipelineShaders<'_>]) -> Vec<Mismatch> {
    let mut checker = Checker {
        frame,
        pass,
        accesses: frame.accesses_of(pass),
        found: Vec::new(),
    };
    checker.check_stages(pipelines);
    checker.check_uses(pipelines);
    checker.check_declared(pipelines);
    checker.check_outputs(pipelines);
    checker.found
}

struct Checker<'a> {
    frame: &'a Frame,
    pass: PassId,
    accesses: &'a [Access],
    found: Vec<Mismatch>,
}

impl Checker<'_> {
    fn pass_name(&self) -> String {
        self.frame.pass(self.pass).name.clone()
    }

    fn resource_name(&self, resource: ResourceId) -> String {
        match self.frame.resources().get(resource.index()) {
            Some(resource) => resource.name.clone(),
            None => format!("#{}", resource.index()),
        }
    }

    fn check_stages(&mut self, pipelines: &[PipelineShaders<'_>]) {
        let kind = self.frame.pass(self.pass).kind;
        for entry in pipelines.iter().flat_map(|pipeline| &pipeline.entries) {
            let runs = match kind {
                PassKind::Render => is_graphics(entry.stage),
                PassKind::Compute => !is_graphics(entry.stage),
                PassKind::Transfer => false,
            };
            if !runs {
                self.found.push(Mismatch::Stage {
                    pass: self.pass_name(),
                    kind,
                    stage: entry.stage,
                });
            }
        }
    }

    /// What shaders do is declared.
    fn check_uses(&mut self, pipelines: &[PipelineShaders<'_>]) {
        for (shader_use, target) in pipelines.iter().flat_map(|pipeline| pipeline.uses()) {
            let ShaderUse { binding, kind, .. } = shader_use;
            let pass = self.pass_name();
            let Some(target) = target else {
                self.found.push(Mismatch::Unbound { pass, binding, kind });
                continue;
            };
            let resource = self.resource_name(target.resource);
            let same =
                |access: &&Access| access.resource == target.resource && access.version == target.version;
            let of_kind: Vec<&Access> = self
                .accesses
                .iter()
                .filter(same)
                .filter(|it| it.kind == kind)
                .collect();
            if of_kind.is_empty() {
                let other = self.accesses.iter().filter(same).find(|it| it.kind.is_shader());
                self.found.push(match other.map(|it| it.kind) {
                    Some(declared) => Mismatch::OtherKind {
                        pass,
                        resource,
                        binding,
                        used: kind,
                        declared,
                    },
                    None => Mismatch::Undeclared {
                        pass,
                        resource,
                        binding,
                        kind,
                    },
                });
                continue;
            }
            self.check_use(shader_use, &of_kind, resource);
        }
    }

    fn check_use(&mut self, shader_use: ShaderUse, declared: &[&Access], resource: String) {
        let binding = shader_use.binding;
        let pass = self.pass_name();
        let stages = declared
            .iter()
            .fold(vk::PipelineStageFlags2::NONE, |stages, access| {
                stages | access.stages
            });
        if shader_use.writes && !declared.iter().any(|access| access.writes) {
            let (pass, resource) = (pass.clone(), resource.clone());
            self.found.push(Mismatch::UndeclaredWrite {
                pass,
                resource,
                binding,
            });
        }
        if shader_use.reads && !declared.iter().any(|access| access.reads) {
            let (pass, resource) = (pass.clone(), resource.clone());
            self.found.push(Mismatch::UndeclaredRead {
                pass,
                resource,
                binding,
            });
        }
        if !covers(stages, shader_use.stages) {
            self.found.push(Mismatch::UndeclaredStage {
                pass,
                resource,
                binding,
                used: shader_use.stages,
                declared: stages,
            });
        }
    }

    /// What is declared, shaders do.
    fn check_declared(&mut self, pipelines: &[PipelineShaders<'_>]) {
        for access in self.accesses.iter().filter(|access| access.kind.is_shader()) {
            let uses = pipelines.iter().flat_map(|pipeline| pipeline.uses());
            let (mut used, mut reads, mut writes) = (false, false, false);
            for (shader_use, target) in uses {
                let target = target.is_some_and(|target| {
                    (target.resource, target.version) == (access.resource, access.version)
                });
                if target && shader_use.kind == access.kind {
                    used = true;
                    reads |= shader_use.reads;
                    writes |= shader_use.writes;
                }
            }
            let (pass, resource) = (self.pass_name(), self.resource_name(access.resource));
            if !used {
                let kind = access.kind;
                self.found.push(Mismatch::Unused { pass, resource, kind });
            } else if access.writes && !writes {
                let what = "writes";
                self.found.push(Mismatch::NeverDone { pass, resource, what });
            } else if access.reads && !reads {
                let what = "reads";
                self.found.push(Mismatch::NeverDone { pass, resource, what });
            }
        }
    }

    /// Fragment outputs have attachments, and attachments outputs.
    fn check_outputs(&mut self, pipelines: &[PipelineShaders<'_>]) {
        let fragments = pipelines.iter().flat_map(|pipeline| &pipeline.entries);
        let fragments: Vec<_> = fragments
            .filter(|entry| entry.stage == vk::ShaderStageFlags::FRAGMENT)
            .collect();
        if fragments.is_empty() || self.frame.pass(self.pass).kind != PassKind::Render {
            return;
        }
        let of_kind = |kind: AccessKind| self.accesses.iter().filter(move |access| access.kind == kind);
        let colors: Vec<ResourceId> = of_kind(AccessKind::ColorAttachment)
            .map(|it| it.resource)
            .collect();
        let has_depth = of_kind(AccessKind::DepthStencilAttachment).next().is_some();
        let pass = self.pass_name();
        let outputs = fragments
            .iter()
            .flat_map(|entry| &entry.outputs)
            .filter(|output| output.writes);
        let mut written: Vec<u32> = outputs.map(|output| output.location).collect();
        written.sort_unstable();
        written.dedup();
        let absent = written
            .iter()
            .filter(|location| **location as usize >= colors.len());
        let absent = absent.map(|location| format!("colour output {location}"));
        let depth = fragments.iter().any(|entry| entry.writes_depth) && !has_depth;
        let absent = absent.chain(depth.then(|| "depth".to_owned()));
        self.found.extend(absent.map(|output| Mismatch::NoAttachment {
            pass: pass.clone(),
            output,
        }));
        for (location, resource) in (0u32..).zip(colors) {
            if !written.contains(&location) {
                self.found.push(Mismatch::UnwrittenAttachment {
                    pass: pass.clone(),
                    resource: self.resource_name(resource),
                    location,
                });
            }
        }
    }
}

fn is_graphics(stage: vk::ShaderStageFlags) -> bool {
    let mesh = vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT;
    (vk::ShaderStageFlags::ALL_GRAPHICS | mesh).contains(stage)
}

/// Whether barriers for `declared` stages make `used` ones wait too.
fn covers(declared: vk::PipelineStageFlags2, used: vk::PipelineStageFlags2) -> bool {
    use vk::PipelineStageFlags2 as S;
    let before_raster = S::VERTEX_SHADER
        | S::TESSELLATION_CONTROL_SHADER
        | S::TESSELLATION_EVALUATION_SHADER
        | S::GEOMETRY_SHADER
        | S::TASK_SHADER_EXT
        | S::MESH_SHADER_EXT;
    let mut all = declared;
    if declared.contains(S::PRE_RASTERIZATION_SHADERS) {
        all |= before_raster;
    }
    if declared.contains(S::ALL_GRAPHICS) {
        all |= before_raster | S::FRAGMENT_SHADER;
    }
    declared.contains(S::ALL_COMMANDS) || all.contains(used)
}
