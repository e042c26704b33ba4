//! The shaders of a pipeline with the resources bound to them, and the resulting accesses.

use std::collections::BTreeMap;
use std::fmt;

use ash::vk;
use tileheap_spirv::{AddressSource, EntryPoint};

use crate::frame::tables::HistoryVersion;
use crate::frame::{AccessKind, LoadOp, PassBuilder, ResourceId};

/// A shader's reference to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShaderBinding {
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

impl fmt::Display for ShaderBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |offset: Option<u32>| offset.map_or_else(String::new, |offset| format!(", byte {offset}"));
        match *self {
            ShaderBinding::Descriptor { set, binding } => write!(f, "set {set} binding {binding}"),
            ShaderBinding::Address(AddressSource::PushConstant { offset }) => {
                write!(f, "the address in the push constants{}", at(offset))
            }
            ShaderBinding::Address(AddressSource::Descriptor { set, binding, offset }) => {
                write!(f, "the address in set {set} binding {binding}{}", at(offset))
            }
            ShaderBinding::Address(AddressSource::Memory) => {
                f.write_str("addresses read from memory that is accessed by address")
            }
            ShaderBinding::Address(AddressSource::Computed) => f.write_str("addresses of unknown origin"),
        }
    }
}

/// Resource that a binding refers to while the pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BindingTarget {
    /// The resource.
    pub resource: ResourceId,
    /// Version of a history resource.
    pub version: HistoryVersion,
}

impl From<ResourceId> for BindingTarget {
    fn from(resource: ResourceId) -> BindingTarget {
        let version = HistoryVersion::Current;
        BindingTarget { resource, version }
    }
}

/// The shaders of one pipeline, and the resources that its descriptors and addresses refer to.
///
/// Bindings to objects outside the frame (a material's textures, for example) need not be bound.
#[derive(Clone, Debug, Default)]
pub struct PipelineShaders<'a> {
    pub(super) entries: Vec<&'a EntryPoint>,
    /// The subpass in which the pipeline runs; `None` if it can be any.
    pub(super) subpass: Option<u32>,
    targets: BTreeMap<ShaderBinding, BindingTarget>,
}

impl<'a> PipelineShaders<'a> {
    /// A pipeline without shaders.
    pub fn new() -> PipelineShaders<'a> {
        PipelineShaders::default()
    }

    /// Adds a shader.
    pub fn shader(mut self, entry: &'a EntryPoint) -> Self {
        self.entries.push(entry);
        self
    }

    /// Sets the subpass in which the pipeline runs (`VkGraphicsPipelineCreateInfo::subpass`). Without it, the accesses of all subpasses count as the pipeline's.
    pub fn in_subpass(mut self, subpass: u32) -> Self {
        self.subpass = Some(subpass);
        self
    }

    /// Returns true if the pipeline can run in the subpass.
    pub(super) fn runs_in(&self, subpass: u32) -> bool {
        self.subpass.is_none_or(|own| own == subpass)
    }

    /// Binds a descriptor to a resource.
    pub fn bind(mut self, set: u32, binding: u32, target: impl Into<BindingTarget>) -> Self {
        self.targets
            .insert(ShaderBinding::Descriptor { set, binding }, target.into());
        self
    }

    /// Binds a descriptor to the previous frame's contents of a history resource.
    pub fn bind_previous(self, set: u32, binding: u32, resource: ResourceId) -> Self {
        let version = HistoryVersion::Previous;
        self.bind(set, binding, BindingTarget { resource, version })
    }

    /// Binds an address to a resource.
    pub fn address(mut self, source: AddressSource, target: impl Into<BindingTarget>) -> Self {
        self.targets.insert(ShaderBinding::Address(source), target.into());
        self
    }

    /// Every memory use by the shaders, with the resource that it refers to, if bound.
    pub(super) fn uses(&self) -> impl Iterator<Item = (ShaderUse, Option<BindingTarget>)> + '_ {
        let uses = self.entries.iter().flat_map(|entry| {
            let bindings = entry.bindings.iter().map(|it| ShaderUse {
                binding: ShaderBinding::Descriptor {
                    set: it.set,
                    binding: it.binding,
                },
                kind: it.kind,
                reads: it.reads,
                writes: it.writes,
                stages: it.stages,
            });
            let addresses = entry.addresses.iter().map(|it| ShaderUse {
                binding: ShaderBinding::Address(it.source),
                kind: AccessKind::DeviceAddress,
                reads: it.reads,
                writes: it.writes,
                stages: it.stages,
            });
            bindings.chain(addresses)
        });
        // A size query is not an access.
        let uses = uses.filter(|it| it.reads || it.writes);
        uses.map(|it| (it, self.targets.get(&it.binding).copied()))
    }
}

#[derive(Clone, Copy)]
pub(super) struct ShaderUse {
    pub(super) binding: ShaderBinding,
    pub(super) kind: AccessKind,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) stages: vk::PipelineStageFlags2,
}

impl PassBuilder<'_> {
    /// Declares the accesses of shaders to the resources bound in `pipelines`; attachments and everything else are declared as usual.
    ///
    /// The accesses belong to the current subpass: pipelines of other subpasses ([`PipelineShaders::in_subpass`]) are left out.
    ///
    /// A resource that is only written is assumed to be written as a whole ([`LoadOp::DontCare`]): declare the access by hand if a shader writes only
    /// a part of it. Unbound bindings are left out; [`check`](super::check()) reports them.
    pub fn shaders(mut self, pipelines: &[PipelineShaders<'_>]) -> Self {
        let mut merged: Vec<(BindingTarget, ShaderUse)> = Vec::new();
        let subpass = self.subpass;
        let pipelines = pipelines.iter().filter(|pipeline| pipeline.runs_in(subpass));
        for (shader_use, target) in pipelines.flat_map(|pipeline| pipeline.uses()) {
            let Some(target) = target else { continue };
            let same = |it: &&mut (BindingTarget, ShaderUse)| it.0 == target && it.1.kind == shader_use.kind;
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
            if target.version == HistoryVersion::Previous {
                self = self.previous();
            }
        }
        self
    }
}
