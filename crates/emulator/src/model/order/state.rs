//! The order of what was submitted: what each access of tile bytes is ordered before, and hazards.

use std::sync::Arc;

use ash::vk;
use vk::PipelineStageFlags2 as S;

use super::log::{Access, AccessKind, Change, Dependency, Event, Log, Memory};
use super::record::{Behind, Done, Hazard, Point, Record, Scopes, Token, note};
use super::scopes::{ALL_ACCESSES, Usage, Usages, first_scope, second_scope};
use crate::model::objects::Object;
use crate::model::position::{Position, Submit};

/// Bytes with the same history: the last write, and the last read of each usage since.
#[derive(Clone, Debug)]
struct Span {
    first: u64,
    end: u64,
    records: Vec<Record>,
}

/// The tile memory of a queue.
#[derive(Debug)]
struct Home {
    queue: vk::Queue,
    spans: Vec<Span>,
    /// Releases of queue family transfers.
    releases: Vec<Record>,
}

impl Home {
    fn records(&mut self) -> impl Iterator<Item = (u64, u64, &mut Record)> {
        let released = self.releases.iter_mut().map(|record| (0, 0, record));
        let held = self.spans.iter_mut().flat_map(|span| {
            let (first, end) = (span.first, span.end);
            span.records.iter_mut().map(move |record| (first, end, record))
        });
        held.chain(released)
    }

    fn retain(&mut self, keep: impl Fn(&Record) -> bool) {
        self.spans.retain_mut(|span| {
            span.records.retain(&keep);
            !span.records.is_empty()
        });
        self.releases.retain(&keep);
    }

    /// A span begins or ends there, if there is any.
    fn split(&mut self, at: u64) {
        let index = self.spans.partition_point(|span| span.end <= at);
        if let Some(span) = self.spans.get_mut(index).filter(|span| span.first < at) {
            let mut second = span.clone();
            (span.end, second.first) = (at, at);
            self.spans.insert(index + 1, second);
        }
    }

    /// The spans of `[first, end)`, without gaps.
    fn spans_of(&mut self, first: u64, end: u64) -> &mut [Span] {
        self.split(first);
        self.split(end);
        let begin = self.spans.partition_point(|span| span.end <= first);
        let (mut index, mut at) = (begin, first);
        while at < end {
            let next = self.spans.get(index).map_or(end, |span| span.first.min(end));
            if at < next {
                let span = Span {
                    first: at,
                    end: next,
                    records: Vec::new(),
                };
                self.spans.insert(index, span);
            }
            at = self.spans[index].end;
            index += 1;
        }
        &mut self.spans[begin..index]
    }
}

/// What was submitted to the queues of a device.
#[derive(Debug, Default)]
pub(crate) struct State {
    homes: Vec<Home>,
    commands: u64,
    /// Subpasses of all command buffers so far.
    subpasses: u64,
}

/// Where a command buffer runs.
#[derive(Clone, Copy)]
pub(super) struct Running {
    pub(super) queue: vk::Queue,
    pub(super) family: u32,
    pub(super) submit: Submit,
    pub(super) window: u64,
}

impl Running {
    fn done(self, object: Object, usage: Usage, at: Position) -> Done {
        Done {
            object,
            usage,
            at,
            submit: self.submit,
        }
    }
}

impl State {
    /// Nothing is known that a dependency could order.
    pub(super) fn is_empty(&self) -> bool {
        self.homes
            .iter()
            .all(|home| home.spans.is_empty() && home.releases.is_empty())
    }

    fn home(&mut self, queue: vk::Queue) -> &mut Home {
        let known = self.homes.iter().position(|home| home.queue == queue);
        let index = known.unwrap_or_else(|| {
            self.homes.push(Home {
                queue,
                spans: Vec::new(),
                releases: Vec::new(),
            });
            self.homes.len() - 1
        });
        &mut self.homes[index]
    }

    fn records(&mut self) -> impl Iterator<Item = (vk::Queue, &mut Record)> {
        self.homes.iter_mut().flat_map(|home| {
            let queue = home.queue;
            home.records().map(move |(_, _, record)| (queue, record))
        })
    }

    /// A command buffer runs; `subpass` is that in which a secondary one does.
    pub(super) fn run(&mut self, log: &Log, running: Running, subpass: u64, hazards: &mut Vec<Hazard>) {
        let base = self.subpasses;
        let unique = |own: u32| if own == 0 { subpass } else { base + u64::from(own) };
        for event in log.events.iter() {
            match event {
                Event::Access(list, own, at) => {
                    self.subpasses = self.subpasses.max(unique(*own));
                    let list = &log.lists[*list as usize];
                    self.access(list, *at, running, unique(*own), hazards);
                }
                Event::Barrier(first, end, at) => {
                    let dependencies = &log.dependencies[*first as usize..*end as usize];
                    self.barrier(dependencies, None, *at, running, hazards);
                }
                Event::Wait(events, first, end, at) => {
                    let dependencies = &log.dependencies[*first as usize..*end as usize];
                    self.barrier(dependencies, Some(events), *at, running, hazards);
                }
                Event::Set(event, src) => {
                    self.reset(*event);
                    self.keep(running.queue, first_scope(*src), Point::Event(*event));
                }
                Event::Reset(event) => self.reset(*event),
                Event::Run(secondary, own) => self.run(secondary, running, unique(*own), hazards),
            }
        }
    }

    fn reset(&mut self, event: vk::Event) {
        self.drop_tokens(|point| point == Point::Event(event));
    }

    pub(super) fn drop_tokens(&mut self, is_dropped: impl Fn(Point) -> bool) {
        for (_, record) in self.records() {
            record.tokens.retain(|token| !is_dropped(token.point));
        }
    }

    /// Keeps a first scope.
    fn keep(&mut self, queue: vk::Queue, src: S, point: Point) {
        for (home, record) in self.records() {
            if let Some(token) = record.in_scope(home, queue, src, point) {
                record.put(token);
            }
        }
    }

    /// A semaphore is signaled behind what was submitted to a queue so far, at those stages: a lower value of the same one, and
    /// every earlier signal of the queue, cover what they did.
    pub(super) fn signal(&mut self, queue: vk::Queue, semaphore: vk::Semaphore, value: u64, src: S) {
        let point = Point::Semaphore(semaphore, value);
        let covers = |known: Point| matches!(known, Point::Semaphore(same, lower) if same == semaphore && lower < value);
        for (home, record) in self.records() {
            let held = record.in_scope(home, queue, src, point);
            if held.is_none() && !record.signaled.contains(&queue) {
                continue;
            }
            if !record.signaled.contains(&queue) {
                record.signaled.push(queue);
            }
            if !record.tokens.iter().any(|token| covers(token.point)) {
                record.put(Token::of_all(point));
            }
        }
    }

    /// What a queue does next at these stages waits for the signals of a semaphore up to a value.
    pub(super) fn wait(&mut self, queue: vk::Queue, semaphore: vk::Semaphore, value: u64, stages: S) {
        let dst = second_scope(stages);
        let behind = Behind {
            ordered: dst,
            available: dst,
            visible: Usages::of(dst, ALL_ACCESSES),
        };
        for (_, record) in self.records() {
            if record.is_signaled(semaphore, value) {
                record.order(queue, behind);
            }
        }
    }

    /// A fence will be signaled behind all that was submitted to a queue so far.
    pub(super) fn fence(&mut self, queue: vk::Queue, fence: vk::Fence) {
        for (home, record) in self.records() {
            if record.is_of(home, queue) {
                record.put(Token::of_all(Point::Fence(fence)));
            }
        }
    }

    /// The host has waited for a fence: what it covers is complete.
    pub(super) fn fence_waited(&mut self, fence: vk::Fence) {
        let lacks = |token: &Token| token.point != Point::Fence(fence);
        let keep = |record: &Record| record.tokens.iter().all(lacks);
        self.homes.iter_mut().for_each(|home| home.retain(keep));
    }

    /// The host has waited for a semaphore's value.
    pub(super) fn semaphore_waited(&mut self, semaphore: vk::Semaphore, value: u64) {
        let keep = |record: &Record| !record.is_signaled(semaphore, value);
        self.homes.iter_mut().for_each(|home| home.retain(keep));
    }

    /// The host has waited for a queue, or for all of them.
    pub(super) fn idle(&mut self, queue: Option<vk::Queue>) {
        for home in &mut self.homes {
            let of = home.queue;
            home.retain(|record| queue.is_some_and(|queue| !record.is_of(of, queue)));
        }
    }

    fn barrier(
        &mut self,
        dependencies: &[Dependency],
        events: Option<&[vk::Event]>,
        at: Position,
        running: Running,
        hazards: &mut Vec<Hazard>,
    ) {
        let queue = running.queue;
        let scopes: Vec<_> = dependencies.iter().map(Scopes::of).collect();
        for home in &mut self.homes {
            for scope in &scopes {
                if let Memory::Bytes(first, end) = scope.memory {
                    home.split(first);
                    home.split(end);
                }
            }
        }
        self.commands += 1;
        for scope in &scopes {
            // An acquire needs the release behind it in this very barrier's queue, which no scope of its own makes so.
            if let Change::Family(object, _, to) = scope.change {
                if to == running.family {
                    self.acquire(running.done(object, Usage::BARRIER, at), hazards);
                }
            }
        }
        for home in &mut self.homes {
            let of = home.queue;
            for (first, end, record) in home.records() {
                let mut all = Behind::default();
                for scope in &scopes {
                    let held = match events {
                        None => record.in_scope(of, queue, scope.src, Point::Fence(vk::Fence::null())),
                        Some(events) => record.is_set(events, scope.src),
                    };
                    let is_held = scope.holds(first, end);
                    if let Some(held) = held {
                        all |= scope.behind(record, held, is_held);
                    }
                    let Change::Layout(object) = scope.change else {
                        continue;
                    };
                    let is_ready = held.is_some_and(|held| {
                        let usage = record.done.usage;
                        let is_available = held.available
                            || usage == Usage::BARRIER
                            || held.direct && scope.src_usages.contains(usage);
                        !usage.writes() || is_available
                    });
                    if is_held && of == queue && end > first && !is_ready {
                        let after = running.done(object, Usage::BARRIER, at);
                        note(hazards, (first, end), record.done, after);
                    }
                }
                record.order(queue, all);
            }
        }
        for scope in &scopes {
            self.change(scope, at, running);
        }
    }

    /// What a barrier does between its scopes is ordered before its second one.
    fn change(&mut self, scope: &Scopes, at: Position, running: Running) {
        let queue = running.queue;
        let (object, is_layout) = match scope.change {
            Change::Layout(object) => (object, true),
            Change::Family(object, from, _) if from == running.family => (object, false),
            _ => return,
        };
        let done = running.done(object, Usage::BARRIER, at);
        let mut record = Record::new(done, self.commands, AccessKind::Whole, 0, running.window);
        let home = self.home(queue);
        match scope.memory {
            Memory::Bytes(first, end) if is_layout => {
                let behind = Behind {
                    ordered: scope.dst,
                    available: scope.dst,
                    visible: scope.dst_usages,
                };
                record.order(queue, behind);
                for span in home.spans_of(first, end) {
                    span.records.clear();
                    span.records.push(record.clone());
                }
            }
            _ if is_layout => {}
            _ => {
                home.releases.retain(|release| release.done.object != object);
                home.releases.push(record);
            }
        }
    }

    /// A resource is acquired from another queue family: its release comes before, for all commands.
    fn acquire(&mut self, after: Done, hazards: &mut Vec<Hazard>) {
        let queue = vk::Handle::from_raw(after.submit.queue);
        for home in &mut self.homes {
            home.releases.retain(|release| {
                let is_same = release.done.object == after.object;
                if is_same && !release.behind(queue).ordered.intersects(Usage::BARRIER.stages()) {
                    note(hazards, (0, 0), release.done, after);
                }
                !is_same
            });
        }
    }

    fn access(
        &mut self,
        list: &[Access],
        at: Position,
        running: Running,
        subpass: u64,
        hazards: &mut Vec<Hazard>,
    ) {
        self.commands += 1;
        let command = self.commands;
        let home = self.home(running.queue);
        for access in list {
            let usage = access.usage;
            let done = running.done(access.object, usage, at);
            let record = Record::new(done, command, access.kind, subpass, running.window);
            for span in home.spans_of(access.first, access.end) {
                for before in &span.records {
                    if before.conflicts(&record) && !before.is_before(running.queue, usage) {
                        note(hazards, (span.first, span.end), before.done, done);
                    }
                }
                let writes = usage.writes();
                // A later read at the same stage: what waits for it waits for the earlier one.
                span.records
                    .retain(|before| !writes && before.done.usage != usage);
                span.records.push(record.clone());
            }
        }
    }
}

/// The logs of command buffers, in order.
pub(crate) type Logs = Vec<Arc<Log>>;
