//! An access that later ones may conflict with, and what dependencies order behind it.

use ash::vk;
use vk::PipelineStageFlags2 as S;

use super::log::{AccessKind, Change, Dependency, Memory};
use super::scopes::{Usage, Usages, first_scope, second_scope};
use crate::model::objects::Object;
use crate::model::position::{Position, Submit};

/// A command that accessed bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) object: Object,
    pub(crate) usage: Usage,
    pub(crate) at: Position,
    pub(crate) submit: Submit,
}

/// Two accesses without the dependency that they need.
#[derive(Clone, Debug)]
pub(crate) struct Hazard {
    /// The bytes; none of a queue family transfer.
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) before: Done,
    pub(crate) after: Done,
}

/// Adds a hazard to those found: one for two commands and resources.
pub(super) fn note(hazards: &mut Vec<Hazard>, (first, end): (u64, u64), before: Done, after: Done) {
    let key = |done: Done| (done.object, done.usage, done.at, done.submit);
    let is_same = |known: &&mut Hazard| key(known.before) == key(before) && key(known.after) == key(after);
    match hazards.iter_mut().rev().find(is_same) {
        Some(known) => (known.first, known.end) = (known.first.min(first), known.end.max(end)),
        None => hazards.push(Hazard {
            first,
            end,
            before,
            after,
        }),
    }
}

/// What is ordered behind an access on one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    pub(super) ordered: S,
    /// Those of them behind which it is available.
    pub(super) available: S,
    pub(super) visible: Usages,
}

impl std::ops::BitOrAssign for Behind {
    fn bitor_assign(&mut self, other: Behind) {
        self.ordered |= other.ordered;
        self.available |= other.available;
        self.visible |= other.visible;
    }
}

/// Where a first scope is kept until the second one is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    Event(vk::Event),
    /// With the lowest value whose signal covers the access; 0 of binary ones.
    Semaphore(vk::Semaphore, u64),
    Fence(vk::Fence),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) point: Point,
    /// The access itself is in the first scope, not only a chain from it.
    pub(super) direct: bool,
    /// It was available before.
    pub(super) available: bool,
}

impl Token {
    /// Of a signal, which covers all that was done before.
    pub(super) fn of_all(point: Point) -> Token {
        let (direct, available) = (true, true);
        Token {
            point,
            direct,
            available,
        }
    }
}

/// An access that later ones may conflict with.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) done: Done,
    /// The command, of all commands of the device.
    pub(super) command: u64,
    pub(super) kind: AccessKind,
    /// Unique on the device; 0 outside of render passes.
    pub(super) subpass: u64,
    /// Contents do not survive their window.
    pub(super) window: u64,
    pub(super) behind: Vec<(vk::Queue, Behind)>,
    pub(super) tokens: Vec<Token>,
    /// Queues on which a signal covers it: each covers what those before it do.
    pub(super) signaled: Vec<vk::Queue>,
}

impl Record {
    pub(super) fn new(done: Done, command: u64, kind: AccessKind, subpass: u64, window: u64) -> Record {
        Record {
            done,
            command,
            kind,
            subpass,
            window,
            behind: Vec::new(),
            tokens: Vec::new(),
            signaled: Vec::new(),
        }
    }

    pub(super) fn behind(&self, queue: vk::Queue) -> Behind {
        let found = self.behind.iter().find(|(known, _)| *known == queue);
        found.map_or_else(Behind::default, |(_, behind)| *behind)
    }

    pub(super) fn order(&mut self, queue: vk::Queue, new: Behind) {
        if new.ordered.is_empty() {
            return;
        }
        let known = self.behind.iter().position(|(known, _)| *known == queue);
        let index = known.unwrap_or_else(|| {
            self.behind.push((queue, Behind::default()));
            self.behind.len() - 1
        });
        self.behind[index].1 |= new;
    }

    /// How the first scope of a dependency on a queue holds it.
    pub(super) fn in_scope(&self, home: vk::Queue, queue: vk::Queue, src: S, point: Point) -> Option<Token> {
        let behind = self.behind(queue);
        let direct = home == queue && self.done.usage.stages().intersects(src);
        (direct || behind.ordered.intersects(src)).then_some(Token {
            point,
            direct,
            available: behind.available.intersects(src),
        })
    }

    pub(super) fn put(&mut self, token: Token) {
        self.tokens.retain(|known| known.point != token.point);
        self.tokens.push(token);
    }

    /// Whether an access may come next.
    pub(super) fn is_before(&self, queue: vk::Queue, usage: Usage) -> bool {
        let behind = self.behind(queue);
        if self.done.usage.writes() {
            behind.visible.contains(usage)
        } else {
            behind.ordered.intersects(usage.stages())
        }
    }

    /// Whether two accesses of the same bytes need an order; where that is not sure, they do not.
    pub(super) fn conflicts(&self, later: &Record) -> bool {
        use AccessKind as K;
        let writes = (self.done.usage.writes(), later.done.usage.writes());
        let kinds = (self.kind, later.kind);
        let is_one = self.command == later.command
            || self.subpass == later.subpass
                && self.subpass != 0
                && (self.kind == K::Attachment || later.kind == K::Attachment);
        let is_unsure = self.done.object == later.done.object
            && (kinds.0 == K::Part || kinds.1 == K::Part || kinds == (K::Storage, K::Storage));
        // What is read in a later window is undefined whatever the order.
        let is_lost = writes == (true, false) && self.window != later.window;
        writes != (false, false) && !is_one && !is_unsure && !is_lost
    }

    pub(super) fn is_of(&self, home: vk::Queue, queue: vk::Queue) -> bool {
        home == queue || !self.behind(queue).ordered.is_empty() || self.signaled.contains(&queue)
    }

    pub(super) fn is_signaled(&self, semaphore: vk::Semaphore, value: u64) -> bool {
        let reaches = |token: &Token| matches!(token.point, Point::Semaphore(same, least) if same == semaphore && least <= value);
        self.tokens.iter().any(reaches)
    }

    /// How the first scope of the events that were set holds it.
    pub(super) fn is_set(&self, events: &[vk::Event], src: S) -> Option<Token> {
        let is_one = |token: &&Token| matches!(token.point, Point::Event(event) if events.contains(&event));
        let mut held = self.tokens.iter().filter(is_one);
        let mut all = *held.next()?;
        for token in held {
            all.direct |= token.direct;
            all.available |= token.available;
        }
        all.direct &= self.done.usage.stages().intersects(src);
        Some(all)
    }
}

/// A dependency with its scopes.
pub(super) struct Scopes {
    pub(super) src: S,
    pub(super) src_usages: Usages,
    pub(super) dst: S,
    pub(super) dst_usages: Usages,
    pub(super) memory: Memory,
    pub(super) change: Change,
}

impl Scopes {
    pub(super) fn of(one: &Dependency) -> Scopes {
        Scopes {
            src: first_scope(one.src),
            src_usages: Usages::of(one.src, one.src_access),
            dst: second_scope(one.dst),
            dst_usages: Usages::of(one.dst, one.dst_access),
            memory: one.memory,
            change: one.change,
        }
    }

    pub(super) fn holds(&self, first: u64, end: u64) -> bool {
        match self.memory {
            Memory::All => true,
            Memory::Bytes(from, to) => from <= first && end <= to,
            Memory::None => false,
        }
    }

    /// What it orders behind a record in its first scope.
    pub(super) fn behind(&self, record: &Record, held: Token, is_held: bool) -> Behind {
        let usage = record.done.usage;
        let direct = is_held && held.direct && self.src_usages.contains(usage);
        // What a transition has written is available.
        let available = held.available || direct || usage == Usage::BARRIER;
        Behind {
            ordered: self.dst,
            available: if available { self.dst } else { S::NONE },
            visible: if available && is_held {
                self.dst_usages
            } else {
                Usages::default()
            },
        }
    }
}
