//! The shaders of a pipeline with the resources they are bound to, and the accesses that follow.

use std::collections::BTreeMap;
use std::fmt;

use ash::vk;

use super::entry::{AddressSource, EntryPoint};
use crate::frame::{AccessKind, LoadOp, PassBuilder, ResourceId, Version};

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
    pub(super) entries: Vec<&'a EntryPoint>,
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
    pub(super) fn uses(&self) -> impl Iterator<Item = (ShaderUse, Option<Target>)> + '_ {
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
pub(super) struct ShaderUse {
    pub(super) slot: Slot,
    pub(super) kind: AccessKind,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) stages: vk::PipelineStageFlags2,
}

impl PassBuilder<'_> {
    /// Declares the accesses that the pass's shaders make to the resources bound in `pipelines`; attachments and
    /// everything else are declared as ever.
    ///
    /// A resource that is only written is taken to be written whole ([`LoadOp::DontCare`]): a shader that writes a part
    /// of it needs its access declared by hand. What is not bound is left out, which [`check`](super::check()) tells.
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
            let before = if reads { LoadOp::Load } else { LoadOp::DontCare };
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
