//! State of the generator: identifiers assigned so far, and the actions generated so far, so that masks can fit them.

use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    AccessKind, Command, CommandBuffer, MemoryAccess, Resource, ResourceId, ResourcePart, Tag,
};
use tileheap_units::SplitMix64;

use super::{masks, places};

/// Commands in order, with their tags.
pub(super) type Commands = Vec<(Tag, Command)>;

/// The number of the host in place of a queue.
pub(super) const HOST: usize = usize::MAX;

/// An access, or a transition (without a kind).
#[derive(Clone, Copy)]
pub(super) struct Touch {
    pub(super) resource: ResourceId,
    pub(super) part: ResourcePart,
    /// Its stage; for a transition, the stages through which later dependencies reach it.
    pub(super) stages: S,
    pub(super) access: A,
    pub(super) kind: Option<AccessKind>,
    pub(super) writes: bool,
    /// True if it certainly touches all of its part.
    pub(super) covers: bool,
}

impl Touch {
    pub(super) fn transition(resource: ResourceId, part: ResourcePart, stages: S) -> Touch {
        let few = [S::NONE, S::BOTTOM_OF_PIPE, S::TOP_OF_PIPE, S::HOST];
        let stages = if few.contains(&stages) {
            S::ALL_COMMANDS
        } else {
            stages
        };
        let part = places::without_area(part);
        Touch {
            resource,
            part,
            stages,
            access: A::NONE,
            kind: None,
            writes: true,
            covers: true,
        }
    }
}

impl From<&MemoryAccess> for Touch {
    fn from(access: &MemoryAccess) -> Touch {
        Touch {
            resource: access.resource,
            part: places::without_area(access.part),
            stages: access.stage,
            access: access.access,
            kind: Some(access.kind),
            writes: masks::writes(access.access),
            covers: access.kind != AccessKind::Partial && places::without_area(access.part) == access.part,
        }
    }
}

/// An action generated before.
#[derive(Clone, Copy)]
pub(super) struct Past {
    pub(super) touch: Touch,
    pub(super) queue: usize,
    /// The render pass instance and its subpass.
    pub(super) subpass: Option<(u32, u32)>,
    /// True if the host waited for it.
    pub(super) done: bool,
    /// Bit mask of the queues that waited for it with all their stages.
    pub(super) seen: u32,
}

/// Two queues that a semaphore has to order: this one's stages `to` after that one's `from`.
pub(super) struct Cross {
    pub(super) queue: usize,
    pub(super) from: S,
    pub(super) to: S,
}

/// The first scopes that an action needs.
#[derive(Clone, Copy, Default)]
pub(super) struct Need {
    pub(super) src: S,
    pub(super) src_access: A,
    /// True if some of it goes through resources that alias.
    pub(super) others: bool,
    /// True if some of it is ordered by waits of this queue, for all of its stages.
    pub(super) waited: bool,
}

impl Need {
    pub(super) fn join(&mut self, other: Need) {
        self.src |= other.src;
        self.src_access |= other.src_access;
        self.others |= other.others;
        self.waited |= other.waited;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.src.is_empty() && !self.waited
    }
}

pub(super) struct Draw {
    pub(super) random: SplitMix64,
    /// Percentage of masks that fit.
    pub(super) care: u64,
    pub(super) resources: Vec<Resource>,
    pub(super) granularity: u64,
    pub(super) past: Vec<Past>,
    /// The accesses generated for this batch.
    pub(super) log: Vec<Touch>,
    pub(super) cross: Vec<Cross>,
    /// Secondary command buffers that may run again outside of render pass instances.
    pub(super) secondaries: Vec<Arc<CommandBuffer>>,
    /// The queue that commands are generated for, and its family.
    pub(super) queue: usize,
    pub(super) family: u32,
    /// True for queues that wait for a value that was not signaled yet.
    pub(super) kept: Vec<bool>,
    /// The events of each queue that are set.
    pub(super) events: Vec<[bool; 2]>,
    pub(super) tags: u64,
    pub(super) instances: u32,
    /// The current subpass.
    pub(super) subpass: Option<(u32, u32)>,
}

impl Draw {
    pub(super) fn careful(&mut self) -> bool {
        self.random.below(100) < self.care
    }

    pub(super) fn tag(&mut self) -> Tag {
        self.tags += 1;
        Tag(self.tags)
    }

    pub(super) fn push(&mut self, out: &mut Commands, command: Command) {
        let tag = self.tag();
        out.push((tag, command));
    }

    pub(super) fn resource(&mut self) -> ResourceId {
        ResourceId(self.random.below(self.resources.len() as u64) as u32)
    }

    pub(super) fn at(&self, resource: ResourceId) -> &Resource {
        &self.resources[resource.0 as usize]
    }

    /// Returns true if the two must be ordered.
    pub(super) fn conflict(&self, old: &Touch, new: &Touch) -> bool {
        let (a, b) = ((old.resource, old.part), (new.resource, new.part));
        (old.writes || new.writes) && places::meet(&self.resources, self.granularity, a, b)
    }

    /// The earlier actions that have to come before `new`.
    pub(super) fn before<'a>(&'a self, new: &'a Touch) -> impl Iterator<Item = &'a Past> {
        let kept = |queue: usize| queue != HOST && self.kept[queue];
        let runs = !kept(self.queue);
        self.past.iter().filter(move |past| {
            !(runs && kept(past.queue)) && past.queue != HOST && self.conflict(&past.touch, new)
        })
    }

    /// The first scopes that order `new` after the earlier actions of this queue that `among` accepts; other queues are added as crosses.
    pub(super) fn need(&mut self, new: &Touch, among: impl Fn(&Past) -> bool) -> Need {
        let mut need = Need::default();
        let mut cross = Vec::new();
        let host = new.stages == S::HOST;
        for past in self
            .before(new)
            .filter(|past| among(past) && (host || !past.done))
        {
            let class = |resource| places::class(&self.resources, resource);
            if past.queue == self.queue {
                if self.in_order(past, new) {
                    continue;
                }
                need.src |= past.touch.stages;
                need.src_access |= if past.touch.writes {
                    past.touch.access
                } else {
                    A::NONE
                };
                need.others |= class(past.touch.resource) != class(new.resource);
            } else {
                need.waited = true;
                if past.seen & (1 << self.queue) == 0 {
                    let to = if new.kind.is_none() || host {
                        S::ALL_COMMANDS
                    } else {
                        new.stages
                    };
                    cross.push(Cross {
                        queue: past.queue,
                        from: past.touch.stages,
                        to,
                    });
                }
            }
        }
        self.cross.append(&mut cross);
        need
    }

    /// Returns true if the two are implicitly ordered within one render pass instance.
    fn in_order(&self, past: &Past, new: &Touch) -> bool {
        use AccessKind::{Attachment, Load, Resolve, Store};
        let (Some(from), Some(to)) = (past.subpass, self.subpass) else {
            return false;
        };
        let (Some(old_kind), Some(kind)) = (past.touch.kind, new.kind) else {
            return false;
        };
        let drawn = |kind, access| {
            matches!(kind, Attachment | Load | Store | Resolve) || access == A::INPUT_ATTACHMENT_READ
        };
        from.0 == to.0
            && match (old_kind, kind) {
                (Load, _) => drawn(kind, new.access),
                (_, Store) => drawn(old_kind, past.touch.access),
                (Attachment, Attachment | Resolve) => from == to,
                _ => false,
            }
    }

    /// Records an access. A write replaces everything that it covers.
    pub(super) fn record(&mut self, touch: Touch) {
        self.log.push(touch);
        if touch.writes && touch.covers {
            let mut past = std::mem::take(&mut self.past);
            past.retain(|past| {
                let kept = |queue: usize| queue != HOST && self.kept[queue];
                let runs = past.queue == self.queue || !kept(self.queue) && !kept(past.queue);
                let (new, old) = (
                    (touch.resource, touch.part),
                    (past.touch.resource, past.touch.part),
                );
                !(runs && places::hides(&self.resources, new, old))
            });
            self.past = past;
        }
        self.past.push(Past {
            touch,
            queue: self.queue,
            subpass: self.subpass,
            done: false,
            seen: 0,
        });
    }
}
