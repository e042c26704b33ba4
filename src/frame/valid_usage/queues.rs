//! Rules about queues that run the runtime's own commands: those that it records at the first and last use of a part.

use ash::vk::{ImageAspectFlags as Aspects, QueueFlags as Q};

use super::rule::{Problem, Rule, Rules, Subject};
use super::stages::listed;
use crate::frame::Persistence;
use crate::frame::external::{ExternalDesc, ResourceState};
use crate::frame::tables::{Access, HistoryVersion, Pass, Queue, Resource, Tables};
use tileheap_device::scopes;

/// A use before or after which the runtime records one of its own commands.
pub(super) struct Edge<'a> {
    pub(super) resource: &'a Resource,
    pub(super) pass: &'a Pass,
    /// The queue that runs the pass.
    pub(super) queue: &'a Queue,
    pub(super) command: Command<'a>,
}

/// A command that the runtime records in addition to the passes.
#[derive(Clone, Copy)]
pub(super) enum Command<'a> {
    /// The barrier after the entry state of an external resource.
    Enter(&'a ResourceState),
    /// The barrier before the exit state of an external resource.
    Leave(&'a ResourceState),
    /// The clear of a previous version that no frame has written.
    Clear,
}

/// Calls `check` for each edge of a resource, until it returns an error. Parts must have been derived. O(parts x accesses).
pub(super) fn visit_edges<E>(
    tables: &Tables,
    index: usize,
    check: &mut dyn FnMut(&Edge<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let resource = &tables.resources[index];
    let uses = tables.uses_of[index].of(&tables.uses).iter();
    let uses = uses.map(|&use_index| &tables.accesses[use_index as usize]);
    let mut check = |access: &Access, command| {
        let pass = &tables.passes[access.pass.index()];
        check(&Edge {
            resource,
            pass,
            queue: &tables.queues[tables.queue_of(pass).index()],
            command,
        })
    };
    if let (Some(first), Persistence::External(desc)) = (uses.clone().next(), &resource.persistence) {
        // Parts that other queues use first wait for this queue, at all its stages.
        if desc.acquired_from(resource.is_image()).is_none() {
            check(first, Command::Enter(&desc.entry))?;
        }
    }
    for part in tables.parts_of[index].of(&tables.parts) {
        let mut uses = uses.clone().filter(|access| access.range.intersects(*part));
        let (access, command) = match &resource.persistence {
            Persistence::Transient => return Ok(()),
            Persistence::History => {
                let previous = uses.find(|access| access.version == HistoryVersion::Previous);
                (previous, Command::Clear)
            }
            // A release has no second scope.
            Persistence::External(ExternalDesc { exit, .. }) if exit.family.is_some() => return Ok(()),
            Persistence::External(ExternalDesc { exit, .. }) => (uses.next_back(), Command::Leave(exit)),
        };
        access.map_or(Ok(()), |access| check(access, command))?;
    }
    Ok(())
}

impl Edge<'_> {
    /// Returns the problem if the queue does not support the stages of a state.
    fn unsupported(&self, state: &ResourceState) -> Problem {
        let missing = scopes::unsupported(state.stages, self.queue.capabilities)?;
        Some(format!(
            "queue `{}` runs this pass and is declared with {:?}, which does not support {}",
            self.queue.name,
            self.queue.capabilities,
            listed(missing)
        ))
    }

    /// Returns the problem if the queue does not support the clear of an image with an aspect among `aspects`.
    fn cannot_clear(&self, aspects: Aspects, needed: Q) -> Problem {
        let clears = matches!(self.command, Command::Clear) && self.resource.aspects().intersects(aspects);
        (clears && !self.queue.capabilities.intersects(needed)).then(|| {
            format!(
                "its previous version is cleared in the first frame, which needs a queue with {needed:?}, but queue `{}` \
                 is declared with {:?}",
                self.queue.name, self.queue.capabilities
            )
        })
    }
}

impl Subject for Edge<'_> {
    fn words(&self) -> String {
        let kind = if self.resource.is_image() {
            "image"
        } else {
            "buffer"
        };
        let (resource, pass) = (&self.resource.name, &self.pass.name);
        match self.command {
            Command::Enter(_) => {
                format!("entry state of external {kind} `{resource}`, first used by pass `{pass}`")
            }
            Command::Leave(_) => {
                format!("exit state of external {kind} `{resource}`, last used by pass `{pass}`")
            }
            Command::Clear => format!("pass `{pass}` uses {kind} `{resource}`"),
        }
    }
}

pub(super) static EDGES: &Rules<fn(&Edge<'_>) -> Problem> = &[
    Rule {
        rule: "VUID-vkCmdPipelineBarrier2-srcStageMask-09675",
        broken: |edge| match edge.command {
            Command::Enter(state) => edge.unsupported(state),
            Command::Leave(_) | Command::Clear => None,
        },
    },
    Rule {
        rule: "VUID-vkCmdPipelineBarrier2-dstStageMask-09676",
        broken: |edge| match edge.command {
            Command::Leave(state) => edge.unsupported(state),
            Command::Enter(_) | Command::Clear => None,
        },
    },
    Rule {
        rule: "VUID-vkCmdClearColorImage-commandBuffer-cmdpool",
        broken: |edge| edge.cannot_clear(Aspects::COLOR, Q::GRAPHICS | Q::COMPUTE),
    },
    Rule {
        rule: "VUID-vkCmdClearDepthStencilImage-commandBuffer-cmdpool",
        broken: |edge| edge.cannot_clear(Aspects::DEPTH | Aspects::STENCIL, Q::GRAPHICS),
    },
];
