//! A pass's declared accesses beside those of its shaders.

use std::collections::BTreeMap;
use std::fmt;

use ash::vk;

use super::entry::{AddressSource, EntryPoint};
use crate::frame::{Access, AccessKind, Before, Frame, PassBuilder, PassId, PassKind, ResourceId, Version};

/// Where a shader refers to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// Through a descriptor.
    Descriptor {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
    },
    /// By an address.
    Address(AddressSource),
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |offset: Option<u32>| offset.map_or_else(String::new, |offset| format!(", byte {offset}"));
        match *self {
            Slot::Descriptor { set, binding } => write!(f, "set {set} binding {binding}"),
            Slot::Address(AddressSource::PushConstant { offset }) => {
                write!(f, "the address in the push constants{}", at(offset))
            }
            Slot::Address(AddressSource::Descriptor { set, binding, offset }) => {
                write!(f, "the address in set {set} binding {binding}{}", at(offset))
            }
            Slot::Address(AddressSource::Memory) => f.write_str("addresses in memory reached by address"),
            Slot::Address(AddressSource::Computed) => f.write_str("addresses of unknown origin"),
        }
    }
}

/// What a slot holds while the pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The resource.
    pub resource: ResourceId,
    /// Which of a history resource's versions.
    pub version: Version,
}

impl From<ResourceId> for Target {
    fn from(resource: ResourceId) -> Target {
        let version = Version::Current;
        Target { resource, version }
    }
}

/// The shaders of one pipeline, and the resources that its descriptors and addresses stand for.
///
/// Slots that stand for nothing of the frame (a material's textures, say) need not be bound.
#[derive(Clone, Debug, Default)]
pub struct PipelineShaders<'a> {
    entries: Vec<&'a EntryPoint>,
    targets: BTreeMap<Slot, Target>,
}

impl<'a> PipelineShaders<'a> {
    /// No shaders yet.
    pub fn new() -> PipelineShaders<'a> {
        PipelineShaders::default()
    }

    /// Adds a shader.
    pub fn shader(mut self, entry: &'a EntryPoint) -> Self {
        self.entries.push(entry);
        self
    }

    /// Says what a descriptor refers to.
    pub fn bind(mut self, set: u32, binding: u32, target: impl Into<Target>) -> Self {
        self.targets
            .insert(Slot::Descriptor { set, binding }, target.into());
        self
    }

    /// Says that a descriptor refers to what the frame before left in a history resource.
    pub fn bind_previous(self, set: u32, binding: u32, resource: ResourceId) -> Self {
        let version = Version::Previous;
        self.bind(set, binding, Target { resource, version })
    }

    /// Says what an address refers to.
    pub fn address(mut self, source: AddressSource, target: impl Into<Target>) -> Self {
        self.targets.insert(Slot::Address(source), target.into());
        self
    }

    /// Every use that a shader makes of memory, with its target if it has one.
    fn uses(&self) -> impl Iterator<Item = (ShaderUse, Option<Target>)> + '_ {
        let uses = self.entries.iter().flat_map(|entry| {
            let bindings = entry.bindings.iter().map(|it| ShaderUse {
                slot: Slot::Descriptor {
                    set: it.set,
                    binding: it.binding,
                },
                kind: it.kind,
                reads: it.reads,
                writes: it.writes,
                stages: it.stages,
            });
            let addresses = entry.addresses.iter().map(|it| ShaderUse {
                slot: Slot::Address(it.source),
                kind: AccessKind::DeviceAddress,
                reads: it.reads,
                writes: it.writes,
                stages: it.stages,
            });
            bindings.chain(addresses)
        });
        // Asking for a size is no access.
        let uses = uses.filter(|it| it.reads || it.writes);
        uses.map(|it| (it, self.targets.get(&it.slot).copied()))
    }
}

/// One shader's use of one slot.
#[derive(Clone, Copy)]
struct ShaderUse {
    slot: Slot,
    kind: AccessKind,
    reads: bool,
    writes: bool,
    stages: vk::PipelineStageFlags2,
}

/// A difference between a pass's declared accesses and its shaders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// A shader of a stage that such a pass does not run.
    #[error("pass `{pass}` is a {kind:?} pass and cannot run a {stage:?} shader")]
    Stage {
        /// The pass.
        pass: String,
        /// Its kind.
        kind: PassKind,
        /// The shader's stage.
        stage: vk::ShaderStageFlags,
    },
    /// A resource is used and not declared at all.
    #[error("pass `{pass}` uses `{resource}` as {kind:?} ({slot}) and does not declare it")]
    Undeclared {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        slot: Slot,
        /// How it is used.
        kind: AccessKind,
    },
    /// A resource is used in another way than declared.
    #[error("pass `{pass}` uses `{resource}` as {used:?} ({slot}) and declares it as {declared:?}")]
    OtherKind {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        slot: Slot,
        /// How it is used.
        used: AccessKind,
        /// How it is declared.
        declared: AccessKind,
    },
    /// A resource is written and declared to be read only.
    #[error("pass `{pass}` writes `{resource}` ({slot}) and declares it as only read")]
    UndeclaredWrite {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        slot: Slot,
    },
    /// A stage uses a resource that barriers would not make wait.
    #[error("pass `{pass}` uses `{resource}` ({slot}) in {used:?} and declares it for {declared:?}")]
    UndeclaredStage {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        slot: Slot,
        /// The stages that use it.
        used: vk::PipelineStageFlags2,
        /// The stages that are declared.
        declared: vk::PipelineStageFlags2,
    },
    /// A resource is read and declared to be written only: sound if the pass reads what it wrote itself.
    #[error("pass `{pass}` reads `{resource}` ({slot}) and declares it as only written")]
    UndeclaredRead {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        slot: Slot,
    },
    /// A slot that stands for nothing of the frame.
    #[error("pass `{pass}` uses {slot} as {kind:?}, which is bound to nothing of the frame")]
    Unbound {
        /// The pass.
        pass: String,
        /// Where the shader refers to it.
        slot: Slot,
        /// How it is used.
        kind: AccessKind,
    },
    /// A declared access that no shader makes.
    #[error("pass `{pass}` declares `{resource}` as {kind:?}, and no shader uses it so")]
    Unused {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// How it is declared.
        kind: AccessKind,
    },
    /// A declared read or write that no shader makes.
    #[error("pass `{pass}` declares that it {what} `{resource}`, and no shader does")]
    NeverDone {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// `reads` or `writes`.
        what: &'static str,
    },
    /// A fragment shader writes an attachment that is not there.
    #[error("pass `{pass}` writes {output} in a fragment shader and has no such attachment")]
    NoAttachment {
        /// The pass.
        pass: String,
        /// `colour output 3`, `depth`.
        output: String,
    },
    /// A colour attachment that no fragment shader writes.
    #[error(
        "pass `{pass}` has the colour attachment `{resource}`, and no fragment shader writes output {location}"
    )]
    UnwrittenAttachment {
        /// The pass.
        pass: String,
        /// The attachment.
        resource: String,
        /// The output that would write it.
        location: u32,
    },
}

impl Mismatch {
    /// Whether the plan would be wrong: a hazard nobody waits for. The rest is waste, or a sign of a slip.
    pub fn is_error(&self) -> bool {
        matches!(
            self,
            Mismatch::Stage { .. }
                | Mismatch::Undeclared { .. }
                | Mismatch::OtherKind { .. }
                | Mismatch::UndeclaredWrite { .. }
                | Mismatch::UndeclaredStage { .. }
        )
    }
}

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
            let ShaderUse { slot, kind, .. } = shader_use;
            let pass = self.pass_name();
            let Some(target) = target else {
                self.found.push(Mismatch::Unbound { pass, slot, kind });
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
                        slot,
                        used: kind,
                        declared,
                    },
                    None => Mismatch::Undeclared {
                        pass,
                        resource,
                        slot,
                        kind,
                    },
                });
                continue;
            }
            self.check_use(shader_use, &of_kind, resource);
        }
    }

    fn check_use(&mut self, shader_use: ShaderUse, declared: &[&Access], resource: String) {
        let slot = shader_use.slot;
        let pass = self.pass_name();
        let stages = declared
            .iter()
            .fold(vk::PipelineStageFlags2::NONE, |stages, access| {
                stages | access.stages
            });
        if shader_use.writes && !declared.iter().any(|access| access.writes) {
            let (pass, resource) = (pass.clone(), resource.clone());
            self.found
                .push(Mismatch::UndeclaredWrite { pass, resource, slot });
        }
        if shader_use.reads && !declared.iter().any(|access| access.reads) {
            let (pass, resource) = (pass.clone(), resource.clone());
            self.found.push(Mismatch::UndeclaredRead { pass, resource, slot });
        }
        if !covers(stages, shader_use.stages) {
            self.found.push(Mismatch::UndeclaredStage {
                pass,
                resource,
                slot,
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

impl PassBuilder<'_> {
    /// Declares the accesses that the pass's shaders make to the resources bound in `pipelines`; attachments and
    /// everything else are declared as ever.
    ///
    /// A resource that is only written is taken to be written whole ([`Before::Overwrite`]): a shader that writes a part
    /// of it needs its access declared by hand. What is not bound is left out, which [`check`] tells.
    pub fn shaders(mut self, pipelines: &[PipelineShaders<'_>]) -> Self {
        let mut merged: Vec<(Target, ShaderUse)> = Vec::new();
        for (shader_use, target) in pipelines.iter().flat_map(|pipeline| pipeline.uses()) {
            let Some(target) = target else { continue };
            let same = |it: &&mut (Target, ShaderUse)| it.0 == target && it.1.kind == shader_use.kind;
            match merged.iter_mut().find(same) {
                Some((_, other)) => {
                    other.reads |= shader_use.reads;
                    other.writes |= shader_use.writes;
                    other.stages |= shader_use.stages;
                }
                None => merged.push((target, shader_use)),
            }
        }
        for (
            target,
            ShaderUse {
                kind,
                reads,
                writes,
                stages,
                ..
            },
        ) in merged
        {
            let before = if reads { Before::Load } else { Before::Overwrite };
            self = self
                .access(target.resource, kind, reads, writes, before)
                .at(stages);
            if target.version == Version::Previous {
                self = self.previous();
            }
        }
        self
    }
}
