//! Comparison of a pass's declared accesses with those of its shaders.

use ash::vk;
use tileheap_units::CompactSort;

use super::mismatch::{Mismatch, MismatchKind};
use super::pipeline::{BindingTarget, PipelineShaders, ShaderBinding, ShaderUse};
use crate::frame::tables::{Access, PassKind};
use crate::frame::{AccessKind, Frame, PassId, ResourceId};

/// Compares the declarations of a pass with the accesses of all shaders of its pipelines.
///
/// No mismatch means agreement. Color attachments are compared only if there is a fragment shader. O((accesses + uses)²) for one pass.
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
    /// Adds a mismatch, whose message is the name of the pass followed by `what`.
    fn differs(&mut self, kind: MismatchKind, binding: Option<ShaderBinding>, what: &str) {
        let message = format!("pass `{}` {what}", self.frame.pass(self.pass).name);
        self.found.push(Mismatch {
            kind,
            binding,
            message,
        });
    }

    fn resource_name(&self, resource: ResourceId) -> String {
        match self.frame.resources().get(resource.index()) {
            Some(resource) => resource.name.clone(),
            None => format!("#{}", resource.index()),
        }
    }

    fn is_of(&self, access: &Access, target: BindingTarget) -> bool {
        self.frame.level_of(access.resource, target.resource).is_some() && access.version == target.version
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
                let what = format!("is a {kind:?} pass, which cannot run a {:?} shader", entry.stage);
                self.differs(MismatchKind::Stage, None, &what);
            }
        }
    }

    /// Checks that every use by shaders refers to a resource of the frame, and that the pass declares it.
    fn check_uses(&mut self, pipelines: &[PipelineShaders<'_>]) {
        for (shader_use, target) in pipelines.iter().flat_map(|pipeline| pipeline.uses()) {
            let ShaderUse { binding, kind, .. } = shader_use;
            let Some(target) = target else {
                let what = format!(
                    "uses {binding} as {}, but no resource of the frame is bound there",
                    kind.noun()
                );
                self.differs(MismatchKind::Unbound, Some(binding), &what);
                continue;
            };
            let resource = self.resource_name(target.resource);
            let same = |access: &&Access| self.is_of(access, target);
            let of_kind: Vec<&Access> = self
                .accesses
                .iter()
                .filter(same)
                .filter(|it| it.kind == kind)
                .collect();
            if of_kind.is_empty() {
                let other = self.accesses.iter().filter(same).find(|it| it.kind.is_shader());
                let (of, declares) = match other.map(|it| it.kind) {
                    Some(declared) => (
                        MismatchKind::OtherKind,
                        format!("declares it as {}", declared.noun()),
                    ),
                    None => (MismatchKind::Undeclared, "does not declare it".to_owned()),
                };
                let what = format!("uses `{resource}` as {} ({binding}), but {declares}", kind.noun());
                self.differs(of, Some(binding), &what);
                continue;
            }
            self.check_use(shader_use, &of_kind, resource);
        }
    }

    fn check_use(&mut self, shader_use: ShaderUse, declared: &[&Access], resource: String) {
        let (binding, used) = (shader_use.binding, shader_use.stages);
        let none = vk::PipelineStageFlags2::NONE;
        let stages = declared
            .iter()
            .fold(none, |stages, access| stages | access.stages);
        if shader_use.writes && !declared.iter().any(|access| access.writes) {
            let what = format!("writes `{resource}` ({binding}), but declares it read-only");
            self.differs(MismatchKind::UndeclaredWrite, Some(binding), &what);
        }
        if shader_use.reads && !declared.iter().any(|access| access.reads) {
            let what = format!("reads `{resource}` ({binding}), but declares it write-only");
            self.differs(MismatchKind::UndeclaredRead, Some(binding), &what);
        }
        if !covers(stages, used) {
            let what = format!("uses `{resource}` ({binding}) in {used:?}, but declares it for {stages:?}");
            self.differs(MismatchKind::UndeclaredStage, Some(binding), &what);
        }
    }

    /// Checks that shaders make every shader access that the pass declares, with the declared reads and writes.
    fn check_declared(&mut self, pipelines: &[PipelineShaders<'_>]) {
        for access in self.accesses.iter().filter(|access| access.kind.is_shader()) {
            let uses = pipelines.iter().flat_map(|pipeline| pipeline.uses());
            let (mut used, mut reads, mut writes) = (false, false, false);
            for (shader_use, target) in uses {
                let target = target.is_some_and(|target| self.is_of(access, target));
                if target && shader_use.kind == access.kind {
                    used = true;
                    reads |= shader_use.reads;
                    writes |= shader_use.writes;
                }
            }
            let resource = self.resource_name(access.resource);
            let never = match (access.writes && !writes, access.reads && !reads) {
                _ if !used => {
                    let what = format!(
                        "declares `{resource}` as {}, but no shader uses it this way",
                        access.kind.noun()
                    );
                    self.differs(MismatchKind::Unused, None, &what);
                    continue;
                }
                (true, _) => "writes",
                (false, true) => "reads",
                (false, false) => continue,
            };
            let what = format!("declares that it {never} `{resource}`, but no shader does");
            self.differs(MismatchKind::NeverDone, None, &what);
        }
    }

    /// Checks that every color or depth output of fragment shaders has an attachment, and every color attachment an output, if there is a fragment shader.
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
        let outputs = fragments
            .iter()
            .flat_map(|entry| &entry.outputs)
            .filter(|output| output.writes);
        let mut written: Vec<u32> = outputs.map(|output| output.location).collect();
        written.compact_sort();
        written.dedup();
        let absent = written
            .iter()
            .filter(|location| **location as usize >= colors.len());
        let absent = absent.map(|location| format!("color output {location}"));
        let depth = fragments.iter().any(|entry| entry.writes_depth) && !has_depth;
        let absent = absent.chain(depth.then(|| "depth".to_owned()));
        for output in absent {
            let what = format!("writes {output} in a fragment shader, but has no such attachment");
            self.differs(MismatchKind::NoAttachment, None, &what);
        }
        for (location, resource) in (0u32..).zip(colors) {
            if !written.contains(&location) {
                let name = self.resource_name(resource);
                let what = format!(
                    "has the color attachment `{name}`, but no fragment shader writes output {location}"
                );
                self.differs(MismatchKind::UnwrittenAttachment, None, &what);
            }
        }
    }
}

fn is_graphics(stage: vk::ShaderStageFlags) -> bool {
    let mesh = vk::ShaderStageFlags::TASK_EXT | vk::ShaderStageFlags::MESH_EXT;
    (vk::ShaderStageFlags::ALL_GRAPHICS | mesh).contains(stage)
}

/// Returns true if barriers for the `declared` stages also cover the `used` stages.
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
