//! Reported mistakes: programs usually repeat a mistake in every frame, so repetitions are only counted.
//!
//! ```text
//! frame 1   dispatch reads `history`, lost by a clear of `scratch`    reported
//! frame 2   the same kinds of commands, the same resources            counted
//! end       "... 599 more times"
//! ```
//! Resources are considered the same if they have the same debug name, or without one the same format, extent, size and place in memory: programs
//! recreate them.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::Tag;
use tileheap_sync::{Action, Certainty, Hazard, LossReason, LostContents, MemoryUse, MissingDependency};

use super::sites::Sites;
use crate::model::finding::Finding;
use crate::model::objects::{Names, Object};
use crate::tables::messages::MessageId;

/// Maximum number of mistakes that are remembered.
const MAX_MISTAKES: usize = 1 << 14;

/// A broken rule, with the kinds of commands involved and the resources that they use; equal mistakes are repetitions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Mistake {
    verdict: Certainty,
    rule: Rule,
    /// The command that breaks the rule, and the earlier command, if there is one.
    uses: [Option<UseKind>; 2],
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Rule {
    Order(MissingDependency),
    Contents(Discriminant<LossReason>),
}

/// A kind of command, and the resource that it uses, if any.
#[derive(Debug, PartialEq, Eq, Hash)]
struct UseKind {
    resource: Option<(ResourceKind, Action)>,
    command: &'static str,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum ResourceKind {
    Named(vk::ObjectType, String),
    /// An unnamed resource that is bound to memory: type, format, extent, size, and its memory object and offset.
    Placed(vk::ObjectType, vk::Format, [u32; 3], u64, (u64, u64)),
    Unplaced(Object),
}

impl Mistake {
    /// The mistake for a missing dependency.
    pub(super) fn of_hazard(hazard: &Hazard, sites: &Sites, names: &Names) -> Mistake {
        let of = |used| Some(UseKind::new(used, sites, names));
        Mistake {
            verdict: hazard.verdict,
            rule: Rule::Order(hazard.missing),
            uses: [of(&hazard.after), of(&hazard.before)],
        }
    }

    /// The mistake for a read of lost contents.
    pub(super) fn of_loss(lost: &LostContents, sites: &Sites, names: &Names) -> Mistake {
        let of = |used| UseKind::new(used, sites, names);
        let by = match &lost.loss {
            LossReason::NeverWritten => None,
            LossReason::MemoryDiscarded { tag, .. } => Some(UseKind {
                resource: None,
                command: command_of(*tag, sites),
            }),
            LossReason::Discarded(by)
            | LossReason::WrittenThrough(by)
            | LossReason::Overwritten(by)
            | LossReason::NotTransferred { by, .. } => Some(of(by)),
        };
        Mistake {
            verdict: lost.verdict,
            rule: Rule::Contents(discriminant(&lost.loss)),
            uses: [Some(of(&lost.reader)), by],
        }
    }
}

impl UseKind {
    fn new(used: &MemoryUse, sites: &Sites, names: &Names) -> UseKind {
        UseKind {
            resource: Some((ResourceKind::new(used, sites, names), used.action)),
            command: command_of(used.tag, sites),
        }
    }
}

impl ResourceKind {
    fn new(used: &MemoryUse, sites: &Sites, names: &Names) -> ResourceKind {
        let object = sites.object(used.resource);
        if let Some(name) = names.get(object) {
            return ResourceKind::Named(object.0, name);
        }
        let resource = sites.resource(used.resource);
        let placed = resource.and_then(|resource| Some((resource, resource.place.get()?)));
        placed.map_or(ResourceKind::Unplaced(object), |(resource, place)| {
            let vk::Extent3D { width, height, depth } = resource.extent;
            let at = (place.memory, place.first);
            ResourceKind::Placed(
                object.0,
                resource.format,
                [width, height, depth],
                resource.size,
                at,
            )
        })
    }
}

fn command_of(tag: Tag, sites: &Sites) -> &'static str {
    sites.at(tag).map_or("", |at| at.command())
}

/// The mistakes of a device, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    names: Arc<Names>,
    known: HashMap<Mistake, usize>,
    reported: Vec<Repeated>,
}

/// A mistake that was reported, and the number of times that it was found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeated {
    pub(crate) id: MessageId,
    /// The text of the first message, with the names that objects had at that time.
    pub(crate) text: String,
    pub(crate) times: u64,
}

impl Mistakes {
    pub(super) fn new(names: Arc<Names>) -> Mistakes {
        Mistakes {
            names,
            ..Mistakes::default()
        }
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the finding of a mistake if it is new; otherwise increments its count.
    pub(super) fn find(&mut self, mistake: Mistake, finding: impl FnOnce() -> Finding) -> Option<Finding> {
        if let Some(index) = self.known.get(&mistake) {
            self.reported[*index].times += 1;
            return None;
        }
        let finding = finding();
        if self.reported.len() < MAX_MISTAKES {
            self.known.insert(mistake, self.reported.len());
            self.reported.push(Repeated {
                id: finding.id,
                text: self.names.resolve(&finding.text, &mut Vec::new()),
                times: 0,
            });
        }
        Some(finding)
    }

    /// The mistakes that were found more than once.
    pub(super) fn repeated(&self) -> Vec<Repeated> {
        self.reported
            .iter()
            .filter(|one| one.times > 0)
            .cloned()
            .collect()
    }
}
