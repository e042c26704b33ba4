//! Recorded commands, converted to the model.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ash::vk::{self, ImageLayout};
use tileheap_sync::program::{
    self, AccessKind, BarrierChange, Command, DependencyMemory, EventId, ResourceId, Tag,
};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::passes::{Doubt, OpenInstance, scopes};
use super::resources::Resources;
use crate::document::recording::{
    self, AffectedMemory, CommandBuffer, CommandEffect, Dependency, RecordedAccess, Recording,
};

/// All command buffers. The tag of a command is its position in `sites`.
#[derive(Default)]
pub(super) struct Commands {
    /// The command buffers, indexed as in the recording.
    pub(super) buffers: Vec<Arc<program::CommandBuffer>>,
    /// The number of accesses in each command buffer.
    pub(super) accesses: Vec<u64>,
    /// The tag of the first command of each command buffer, indexed as in the recording.
    first_tags: Vec<u64>,
    /// The position of each command, indexed by tag.
    pub(super) sites: Vec<CommandPosition>,
    /// Accesses that might not happen, by tag.
    uncertain_accesses: HashMap<Tag, Vec<(program::MemoryAccess, Doubt)>>,
    /// Barriers that transfer a resource to or from an external queue family.
    external_transfers: HashSet<(Tag, ResourceId)>,
    /// Number of render pass instances so far.
    instances: u32,
}

/// Stages of reads that affect draws but are recorded with other commands: conditional rendering, fragment densities and shading rates.
const DEPENDED_ON: S = S::from_raw(
    S::CONDITIONAL_RENDERING_EXT.as_raw()
        | S::FRAGMENT_DENSITY_PROCESS_EXT.as_raw()
        | S::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR.as_raw(),
);

/// The position of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandPosition {
    /// The command buffer.
    pub(super) buffer: usize,
    /// The index of the command in the command buffer.
    pub(super) index: usize,
    /// The render pass instance, unique in the recording, and the subpass. Also set for the commands that begin and end the instance.
    pub(super) place: Option<(u32, u32)>,
}

impl Commands {
    /// Converts every command buffer.
    pub(super) fn new(recording: &Recording, resources: &Resources<'_>) -> Commands {
        let mut commands = Commands::default();
        for (index, buffer) in recording.command_buffers.iter().enumerate() {
            commands.convert(index, buffer, resources);
        }
        commands
    }

    fn convert(&mut self, index: usize, buffer: &CommandBuffer, resources: &Resources<'_>) {
        self.first_tags.push(self.sites.len() as u64);
        let mut converted = Vec::new();
        let mut open: Option<OpenInstance> = None;
        for (position, command) in buffer.commands.iter().enumerate() {
            let tag = Tag(self.sites.len() as u64);
            if let CommandEffect::Begin(instance) = &command.action {
                self.instances += 1;
                open = Some(OpenInstance::new(instance, self.instances, resources));
            }
            let made = self.command(tag, &command.action, &mut open, resources);
            self.sites.push(CommandPosition {
                buffer: index,
                index: position,
                place: open.as_ref().map(OpenInstance::place),
            });
            if command.action == CommandEffect::End {
                open = None;
            }
            converted.extend(made.into_iter().map(|command| (tag, command)));
        }
        let accesses = converted.iter().map(|(_, command)| match command {
            Command::Action(accesses) => accesses.len() as u64,
            _ => 0,
        });
        self.accesses.push(accesses.sum());
        let commands = program::CommandBuffer { commands: converted };
        self.buffers.push(Arc::new(commands));
    }

    /// Converts a command to the commands of the model.
    fn command(
        &mut self,
        tag: Tag,
        action: &CommandEffect,
        open: &mut Option<OpenInstance>,
        resources: &Resources<'_>,
    ) -> Vec<Command> {
        let mut made = match (action, open.as_mut()) {
            (CommandEffect::Access(accesses), pass) => vec![self.access(tag, accesses, pass, resources)],
            (CommandEffect::Barrier(dependencies), pass) => {
                pass.into_iter().for_each(OpenInstance::after_barrier);
                vec![Command::Barrier(self.dependencies(tag, dependencies, resources))]
            }
            (CommandEffect::SetEvent { event, stages }, _) => {
                vec![Command::SetEvent(EventId((*event).into()), *stages)]
            }
            (CommandEffect::ResetEvent { event }, _) => vec![Command::ResetEvent(EventId((*event).into()))],
            (CommandEffect::WaitEvents { events, dependencies }, pass) => {
                pass.into_iter().for_each(OpenInstance::after_barrier);
                let events = events.iter().map(|event| EventId((*event).into()));
                vec![Command::WaitEvents(
                    events.collect(),
                    self.dependencies(tag, dependencies, resources),
                )]
            }
            (CommandEffect::Begin(_), Some(pass)) => pass.begin(),
            (CommandEffect::NextSubpass, Some(pass)) => pass.next(),
            (CommandEffect::End, Some(pass)) => pass.end(),
            (
                CommandEffect::None
                | CommandEffect::Begin(_)
                | CommandEffect::NextSubpass
                | CommandEffect::End,
                _,
            ) => Vec::new(),
        };
        made.iter_mut().for_each(|command| narrow(command, resources));
        made.retain(|command| !matches!(command, Command::Action(accesses) if accesses.is_empty()));
        made
    }

    /// Returns the accesses of a command; for the first draw of a subpass or after a barrier, also the accesses to the attachments.
    fn access(
        &mut self,
        tag: Tag,
        accesses: &[RecordedAccess],
        mut open: Option<&mut OpenInstance>,
        resources: &Resources<'_>,
    ) -> Command {
        let mut all = Vec::with_capacity(accesses.len());
        let is_draw = !accesses.iter().any(|one| DEPENDED_ON.contains(one.stage));
        if let Some(pass) = open.as_mut().filter(|_| is_draw) {
            for (access, doubt) in pass.draw() {
                if let Some(doubt) = doubt {
                    self.doubt(tag, access, doubt);
                }
                all.push(access);
            }
        }
        let area = open.and_then(|pass| pass.area());
        for one in accesses {
            let Some(id) = resources.id(one.resource) else {
                continue;
            };
            let is_input = one.access == A::INPUT_ATTACHMENT_READ;
            let part = match one.part {
                recording::ResourcePart::Texels { range, area: None } if is_input => {
                    recording::ResourcePart::Texels { range, area }
                }
                part => part,
            };
            let Some(part) = resources.part(one.resource as usize, &part) else {
                continue;
            };
            let is_whole = one.whole && !one.conditional && !is_input && !resources.is_inexact(id);
            let access = program::MemoryAccess {
                resource: id,
                part,
                stage: one.stage,
                access: one.access,
                kind: if is_whole {
                    AccessKind::Whole
                } else {
                    AccessKind::Partial
                },
                discards: false,
            };
            if one.conditional {
                // Only copies of query results are transfers that might not happen.
                let doubt = match one.stage == S::COPY {
                    true => Doubt::Results,
                    false => Doubt::Shader,
                };
                self.doubt(tag, access, doubt);
            }
            all.push(access);
        }
        Command::Action(all)
    }

    fn doubt(&mut self, tag: Tag, mut access: program::MemoryAccess, doubt: Doubt) {
        access.kind = AccessKind::Partial;
        self.uncertain_accesses
            .entry(tag)
            .or_default()
            .push((access, doubt));
    }

    /// Returns the tag of the first command of a command buffer.
    pub(super) fn first_tag(&self, buffer: usize) -> u64 {
        self.first_tags[buffer]
    }

    /// Returns the reason why an access of a command might not happen, if any.
    pub(super) fn doubt_of(&self, used: &tileheap_sync::MemoryUse) -> Option<Doubt> {
        let tileheap_sync::Action::Access(stage, access) = used.action else {
            return None;
        };
        let is_same = |one: &program::MemoryAccess| {
            let is_same_part = match (one.part, used.part) {
                (program::ResourcePart::Texels(own), program::ResourcePart::Texels(other)) => {
                    // The area is omitted if it covers the level.
                    program::Texels { area: None, ..own } == program::Texels { area: None, ..other }
                }
                (own, other) => own == other,
            };
            (one.resource, one.stage, one.access) == (used.resource, stage, access) && is_same_part
        };
        let all = self.uncertain_accesses.get(&used.tag)?;
        all.iter().find(|(one, _)| is_same(one)).map(|(_, doubt)| *doubt)
    }

    /// Returns true if the command transfers a resource to or from an external queue family.
    pub(super) fn is_outside(&self, used: &tileheap_sync::MemoryUse) -> bool {
        self.external_transfers.contains(&(used.tag, used.resource))
    }

    fn dependencies(
        &mut self,
        tag: Tag,
        dependencies: &[Dependency],
        resources: &Resources<'_>,
    ) -> Vec<program::Dependency> {
        let mut converted = Vec::with_capacity(dependencies.len());
        for one in dependencies {
            let extent = extent(&one.memory, resources);
            let is_concurrent = affected(&one.memory).is_some_and(|index| resources.is_concurrent(index));
            let families = one
                .families
                .filter(|families| is_transfer(*families, is_concurrent));
            let is_outside = families.is_some_and(|families| families.into_iter().any(is_outside));
            let change = match (&one.memory, families) {
                (_, Some([from, to])) => {
                    if let DependencyMemory::Part(resource, _) = extent {
                        self.external_transfers
                            .extend(is_outside.then_some((tag, resource)));
                    }
                    BarrierChange::Family { from, to }
                }
                (AffectedMemory::Image { old, new, .. }, None) if old != new => BarrierChange::Layout {
                    discards: *old == ImageLayout::UNDEFINED,
                },
                _ => BarrierChange::None,
            };
            converted.push(program::Dependency {
                scopes: scopes(&one.scopes),
                memory: extent,
                change: if matches!(extent, DependencyMemory::Part(..)) {
                    change
                } else {
                    BarrierChange::None
                },
            });
        }
        converted
    }
}

/// Returns true if a barrier with these queue families transfers ownership. A concurrent resource has no exclusive owner among the families of the
/// device: ownership of it is only transferred to and from external ones.
///
/// Source: "Queue Family Ownership Transfer": resources "with a `VkSharingMode` of `VK_SHARING_MODE_EXCLUSIVE` must have their ownership explicitly
/// transferred"; those "shared with external APIs or instances", "regardless of the `VkSharingMode`".
fn is_transfer([from, to]: [u32; 2], is_concurrent: bool) -> bool {
    from != to && (!is_concurrent || is_outside(from) || is_outside(to))
}

/// Returns true for a queue family outside the device: `VK_QUEUE_FAMILY_EXTERNAL` or `VK_QUEUE_FAMILY_FOREIGN_EXT`; also for `VK_QUEUE_FAMILY_IGNORED`.
fn is_outside(family: u32) -> bool {
    matches!(
        family,
        vk::QUEUE_FAMILY_EXTERNAL | vk::QUEUE_FAMILY_FOREIGN_EXT | vk::QUEUE_FAMILY_IGNORED
    )
}

/// Returns the index of the resource that a dependency is limited to.
fn affected(memory: &AffectedMemory) -> Option<u32> {
    match memory {
        AffectedMemory::Buffer { resource, .. } | AffectedMemory::Image { resource, .. } => Some(*resource),
        AffectedMemory::None | AffectedMemory::All => None,
    }
}

fn extent(memory: &AffectedMemory, resources: &Resources<'_>) -> DependencyMemory {
    let part = |resource: u32, part: recording::ResourcePart| {
        let id = resources.id(resource)?;
        Some(DependencyMemory::Part(
            id,
            resources.part(resource as usize, &part)?,
        ))
    };
    let extent = match *memory {
        AffectedMemory::None => None,
        AffectedMemory::All => Some(DependencyMemory::All),
        AffectedMemory::Buffer { resource, first, end } => {
            part(resource, recording::ResourcePart::Bytes(first, end))
        }
        AffectedMemory::Image { resource, range, .. } => {
            part(resource, recording::ResourcePart::Texels { range, area: None })
        }
    };
    extent.unwrap_or(DependencyMemory::Execution)
}

/// Removes accesses to texels that do not exist, and the areas of accesses that cover a whole level.
fn narrow(command: &mut Command, resources: &Resources<'_>) {
    let Command::Action(accesses) = command else {
        return;
    };
    accesses.retain_mut(|access| {
        let program::ResourcePart::Texels(texels) = access.part else {
            return true;
        };
        let texels = resources.existing(resources.index(access.resource), texels);
        let exists = texels.is_some();
        if let Some(texels) = texels {
            access.part = program::ResourcePart::Texels(texels);
        }
        exists
    });
}
