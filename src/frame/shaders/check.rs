//! Comparison of a pass's declared accesses with those of its shaders.

use ash::vk;
use tileheap_spirv::EntryPoint;
use tileheap_units::CompactSort;

use super::mismatch::{Mismatch, MismatchKind};
use super::pipeline::{BindingTarget, PipelineShaders, ShaderBinding, ShaderUse};
use crate::frame::tables::{Access, PassKind};
use crate::frame::{AccessKind, Frame, PassId, ResourceId};

/// Compares the declarations of a pass with the accesses of all shaders of its pipelines.
///
/// No mismatch means agreement. Color attachments are compared only in subpasses with a fragment shader. If a pipeline runs in a subpass that the pass does
/// not have, nothing else is compared. O((accesses + uses)²) for one pass.
#[must_use]
pub fn check(frame: &Frame, pass: PassId, pipelines: &[PipelineShaders<'_>]) -> Vec<Mismatch> {
    let mut checker = Checker {
        frame,
        pass,
        accesses: frame.accesses_of(pass),
        found: Vec::new(),
    };
    if checker.check_subpasses(pipelines) {
        return checker.found;
    }
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
    fn report(&mut self, kind: MismatchKind, binding: Option<ShaderBinding>, what: &str) {
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

    /// Checks that pipelines run in subpasses of the pass; returns true if one does not.
    fn check_subpasses(&mut self, pipelines: &[PipelineShaders<'_>]) -> bool {
        let subpasses = self.frame.pass(self.pass).subpasses;
        for subpass in pipelines.iter().filter_map(|pipeline| pipeline.subpass) {
            if subpass >= subpasses {
                let last = subpasses - 1;
                let what = format!("runs a pipeline in subpass {subpass}, but its last subpass is {last}");
                self.report(MismatchKind::Subpass, None, &what);
            }
        }
        !self.found.is_empty()
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
                self.report(MismatchKind::Stage, None, &what);
            }
        }
    }

    /// Checks that every use by shaders refers to a resource of the frame, and that the pass declares it.
    fn check_uses(&mut self, pipelines: &[PipelineShaders<'_>]) {
        for pipeline in pipelines {
            for (shader_use, target) in pipeline.uses() {
                self.check_use(pipeline, shader_use, target);
            }
        }
    }

    fn check_use(&mut self, pipeline: &PipelineShaders<'_>, used: ShaderUse, target: Option<BindingTarget>) {
        let ShaderUse { binding, kind, .. } = used;
        let Some(target) = target else {
            let what = format!(
                "uses {binding} as {}, but no resource of the frame is bound there",
                kind.noun()
            );
            self.report(MismatchKind::Unbound, Some(binding), &what);
            return;
        };
        let resource = self.resource_name(target.resource);
        let same = self
            .accesses
            .iter()
            .filter(|access| pipeline.runs_in(access.subpass) && self.is_of(access, target));
        let of_kind: Vec<&Access> = same.clone().filter(|it| it.kind == kind).collect();
        if of_kind.is_empty() {
            let (of, declares) = match same.map(|it| it.kind).find(|kind| kind.is_shader()) {
                Some(declared) => (
                    MismatchKind::OtherKind,
                    format!("declares it as {}", declared.noun()),
                ),
                None => (MismatchKind::Undeclared, "does not declare it".to_owned()),
            };
            let what = format!("uses `{resource}` as {} ({binding}), but {declares}", kind.noun());
            self.report(of, Some(binding), &what);
            return;
        }
        self.check_declared_use(used, &of_kind, resource);
    }

    /// Checks that the `declared` accesses cover what the shaders do.
    fn check_declared_use(&mut self, shader_use: ShaderUse, declared: &[&Access], resource: String) {
        let (binding, used) = (shader_use.binding, shader_use.stages);
        let none = vk::PipelineStageFlags2::NONE;
        let stages = declared
            .iter()
            .fold(none, |stages, access| stages | access.stages);
        if shader_use.writes && !declared.iter().any(|access| access.writes) {
            let what = format!("writes `{resource}` ({binding}), but declares it read-only");
            self.report(MismatchKind::UndeclaredWrite, Some(binding), &what);
        }
        if shader_use.reads && !declared.iter().any(|access| access.reads) {
            let what = format!("reads `{resource}` ({binding}), but declares it write-only");
            self.report(MismatchKind::UndeclaredRead, Some(binding), &what);
        }
        if !covers(stages, used) {
            let what = format!("uses `{resource}` ({binding}) in {used:?}, but declares it for {stages:?}");
            self.report(MismatchKind::UndeclaredStage, Some(binding), &what);
        }
    }

    /// Checks that shaders make every shader access that the pass declares, with the declared reads and writes.
    fn check_declared(&mut self, pipelines: &[PipelineShaders<'_>]) {
        for access in self.accesses.iter().filter(|access| access.kind.is_shader()) {
            let of_subpass = pipelines
                .iter()
                .filter(|pipeline| pipeline.runs_in(access.subpass));
            let uses = of_subpass.flat_map(|pipeline| pipeline.uses());
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
                    self.report(MismatchKind::Unused, None, &what);
                    continue;
                }
                (true, _) => "writes",
                (false, true) => "reads",
                (false, false) => continue,
            };
            let what = format!("declares that it {never} `{resource}`, but no shader does");
            self.report(MismatchKind::NeverDone, None, &what);
        }
    }

    /// Checks that every output of a fragment shader has an attachment and, in subpasses with a fragment shader, every color attachment an output.
    fn check_outputs(&mut self, pipelines: &[PipelineShaders<'_>]) {
        let pass = self.frame.pass(self.pass);
        if pass.kind != PassKind::Render {
            return;
        }
        let attached: Vec<Attachments> = (0..pass.subpasses)
            .map(|subpass| Attachments::of(self.accesses, subpass))
            .collect();
        self.check_unattached(pipelines, &attached);
        for (subpass, attached) in (0..).zip(attached) {
            self.check_unwritten(pipelines, subpass, &attached);
        }
    }

    /// Checks that one of the subpasses in which a pipeline can run has the attachment for each output.
    fn check_unattached(&mut self, pipelines: &[PipelineShaders<'_>], attached: &[Attachments]) {
        let mut absent: Vec<(Option<u32>, Output)> = Vec::new();
        for pipeline in pipelines {
            let attached = (0..)
                .zip(attached)
                .filter(|(subpass, _)| pipeline.runs_in(*subpass));
            let outputs = pipeline.entries.iter().flat_map(|entry| outputs(entry));
            let outputs = outputs.filter(|output| !attached.clone().any(|(_, it)| it.has(*output)));
            absent.extend(outputs.map(|output| (pipeline.subpass, output)));
        }
        absent.compact_sort();
        absent.dedup();
        for (subpass, output) in absent {
            let output = match output {
                Output::Color(location) => format!("color output {location}"),
                Output::Depth => "depth".to_owned(),
            };
            let subpass = subpass.map_or_else(String::new, |subpass| format!(" of subpass {subpass}"));
            let what = format!("writes {output} in a fragment shader{subpass}, but has no such attachment");
            self.report(MismatchKind::NoAttachment, None, &what);
        }
    }

    /// Checks that fragment shaders write every color attachment of a subpass, if any run in it.
    fn check_unwritten(&mut self, pipelines: &[PipelineShaders<'_>], subpass: u32, attached: &Attachments) {
        let of_subpass = pipelines.iter().filter(|pipeline| pipeline.runs_in(subpass));
        let entries = of_subpass.flat_map(|pipeline| &pipeline.entries);
        let mut fragments = entries.filter(|entry| is_fragment(entry)).peekable();
        if fragments.peek().is_none() {
            return;
        }
        let written: Vec<Output> = fragments.flat_map(|entry| outputs(entry)).collect();
        let subpass = match self.frame.pass(self.pass).subpasses {
            1 => String::new(),
            _ => format!(" of subpass {subpass}"),
        };
        for (location, &resource) in (0..).zip(&attached.colors) {
            if !written.contains(&Output::Color(location)) {
                let name = self.resource_name(resource);
                let what = format!(
                    "has the color attachment `{name}`, but no fragment shader writes output {location}{subpass}"
                );
                self.report(MismatchKind::UnwrittenAttachment, None, &what);
            }
        }
    }
}

/// An output of a fragment shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Output {
    /// A color, at a location.
    Color(u32),
    Depth,
}

/// Returns the outputs that an entry point writes, if it is a fragment shader.
fn outputs(entry: &EntryPoint) -> impl Iterator<Item = Output> + '_ {
    let colors = entry.outputs.iter().filter(|output| output.writes);
    let colors = colors.map(|output| Output::Color(output.location));
    let depth = entry.writes_depth.then_some(Output::Depth);
    colors.chain(depth).filter(|_| is_fragment(entry))
}

/// The attachments that fragment shaders of a subpass write to.
struct Attachments {
    /// The color attachments, by location.
    colors: Vec<ResourceId>,
    depth: bool,
}

impl Attachments {
    fn of(accesses: &[Access], subpass: u32) -> Attachments {
        let accesses = accesses.iter().filter(|access| access.subpass == subpass);
        let of_kind = |kind: AccessKind| accesses.clone().filter(move |access| access.kind == kind);
        Attachments {
            colors: of_kind(AccessKind::ColorAttachment)
                .map(|it| it.resource)
                .collect(),
            depth: of_kind(AccessKind::DepthStencilAttachment).next().is_some(),
        }
    }

    fn has(&self, output: Output) -> bool {
        match output {
            Output::Color(location) => (location as usize) < self.colors.len(),
            Output::Depth => self.depth,
        }
    }
}

fn is_fragment(entry: &EntryPoint) -> bool {
    entry.stage == vk::ShaderStageFlags::FRAGMENT
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
