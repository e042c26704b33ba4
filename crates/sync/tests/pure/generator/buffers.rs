//! Command buffers.

use std::sync::Arc;

use ash::vk::PipelineStageFlags2 as S;
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, DependencyScopes,
    Discard, EventId, PassAttachment, Tag,
};

use super::past::{Commands, Draw, Touch};
use super::{masks, places};

/// A command buffer that may be submitted again, and its effects.
pub(super) struct Reusable {
    pub(super) buffer: Arc<CommandBuffer>,
    pub(super) touches: Vec<Touch>,
}

impl Draw {
    /// The command buffers of a batch, and whether they may be submitted again.
    pub(super) fn command_buffers(&mut self, first: Commands) -> (Vec<Arc<CommandBuffer>>, bool) {
        let mut first = first;
        if !self.secondaries.is_empty() && !self.careful() {
            let index = self.random.below(self.secondaries.len() as u64) as usize;
            let inner = self.secondaries.remove(index);
            self.push(&mut first, Command::Execute(inner));
        }
        let mut buffers = vec![first];
        let mut reusable = true;
        for index in 0..self.random.pick(&[1, 1, 2]) {
            if index > 0 {
                buffers.push(Commands::new());
            }
            let mut last = buffers.pop().unwrap_or_default();
            for _ in 0..1 + self.random.below(2) {
                match self.random.below(8) {
                    0 | 1 => self.instance(&mut last),
                    2 if self.random.one_in(2) => {
                        let mut next = Commands::new();
                        self.suspended(&mut last, &mut next);
                        buffers.push(std::mem::replace(&mut last, next));
                        reusable = false;
                    }
                    _ => {
                        let accesses = self.act();
                        let news: Vec<Touch> = accesses.iter().map(Touch::from).collect();
                        self.order(&mut last, &news);
                        self.record_act(&accesses);
                        self.push(&mut last, Command::Action(accesses));
                    }
                }
            }
            if self.random.one_in(8) {
                self.lone_event(&mut last);
            }
            if self.random.one_in(8) {
                self.discard(&mut last);
            }
            buffers.push(last);
        }
        let buffers = buffers
            .into_iter()
            .map(|commands| self.finish(commands))
            .collect();
        (buffers, reusable)
    }

    /// Adds an event command without purpose: set, reset or, if set, wait.
    fn lone_event(&mut self, out: &mut Commands) {
        let which = self.random.below(2);
        let event = EventId(2 * self.queue as u64 + which);
        let set = &mut self.events[self.queue][which as usize];
        let command = if *set && self.random.one_in(2) {
            let scopes = masks::scopes(&mut self.random);
            Command::WaitEvents(
                vec![event],
                vec![Dependency {
                    scopes,
                    memory: DependencyMemory::All,
                    change: BarrierChange::None,
                }],
            )
        } else if *set {
            *set = false;
            Command::ResetEvent(event)
        } else {
            *set = true;
            Command::SetEvent(event, masks::semaphore_stages(&mut self.random))
        };
        self.push(out, command);
    }

    /// Adds a discard of some bytes, between any two commands.
    fn discard(&mut self, out: &mut Commands) {
        let resource = self.resource();
        let memory = self.at(resource).memory;
        let first = self.random.below(places::BYTES);
        let end = first + 1 + self.random.below(places::BYTES - first);
        let discard = Discard {
            memory,
            first,
            end,
            reports_contents: self.random.one_in(2),
        };
        // A command buffer that resumes an instance begins with that.
        let at = if out.is_empty() {
            0
        } else {
            1 + self.random.below(out.len() as u64) as usize
        };
        let tag = self.tag();
        out.insert(at, (tag, Command::Discard(discard)));
    }

    /// Makes a command buffer; sometimes moves some commands to a secondary one.
    fn finish(&mut self, mut commands: Commands) -> Arc<CommandBuffer> {
        if self.random.one_in(4) && !commands.is_empty() {
            let first = self.random.below(commands.len() as u64) as usize;
            let movable = |command: &Command| match command {
                Command::Action(accesses) => accesses.iter().all(|one| {
                    !matches!(
                        one.kind,
                        AccessKind::Load | AccessKind::Store | AccessKind::Resolve
                    )
                }),
                Command::Barrier(_)
                | Command::Discard(_)
                | Command::SetEvent(..)
                | Command::ResetEvent(_)
                | Command::WaitEvents(..) => true,
                _ => false,
            };
            let most = commands[first..]
                .iter()
                .take_while(|(_, command)| movable(command))
                .count();
            if most > 0 {
                let count = 1 + self.random.below(most as u64) as usize;
                let tag = self.tag();
                let inner: Commands = commands.drain(first..first + count).collect();
                let inner = Arc::new(CommandBuffer { commands: inner });
                let plain = |(_, command): &(Tag, Command)| {
                    matches!(command, Command::Action(_) | Command::Barrier(_))
                };
                let begun = |(_, command): &(Tag, Command)| matches!(command, Command::BeginRendering { .. });
                if inner.commands.iter().all(plain) && !commands[..first].iter().any(begun) {
                    self.secondaries.push(Arc::clone(&inner));
                }
                commands.insert(first, (tag, Command::Execute(inner)));
            }
        }
        Arc::new(CommandBuffer { commands })
    }

    /// A release to a queue of another family.
    pub(super) fn release(&mut self, to: u32) -> (Commands, Dependency) {
        let resource = self.resource();
        let described = *self.at(resource);
        let part = places::part(&mut self.random, &described);
        let mut scopes = masks::scopes(&mut self.random);
        scopes.dst = self.random.pick(&[S::NONE, S::NONE, scopes.dst]);
        let change = BarrierChange::Family {
            from: self.family,
            to,
        };
        let dependency = Dependency {
            scopes,
            memory: DependencyMemory::Part(resource, part),
            change,
        };
        let mut out = Commands::new();
        self.transfer_family(&mut out, dependency);
        (out, dependency)
    }
}

/// Returns true if commands may run once more on `queue`, given the states of events in `set`, which they update; with `fits`, they must also stay in
/// order after a full barrier.
pub(super) fn may_repeat(
    commands: &[(Tag, Command)],
    fits: bool,
    queue: usize,
    set: &mut Vec<(EventId, bool)>,
) -> bool {
    let first = |scopes: &DependencyScopes| !fits || ![S::NONE, S::TOP_OF_PIPE].contains(&scopes.src);
    let stays = |one: &Dependency| {
        first(&one.scopes) && !(fits && matches!(one.change, BarrierChange::Family { .. }))
    };
    let here = |event: &EventId| event.0 / 2 == queue as u64;
    commands.iter().all(|(_, command)| match command {
        Command::Action(_) | Command::Discard(_) => true,
        Command::SetEvent(event, _) | Command::ResetEvent(event) => {
            set.retain(|(other, _)| other != event);
            set.push((*event, matches!(command, Command::SetEvent(..))));
            here(event)
        }
        Command::WaitEvents(events, dependencies) => {
            events
                .iter()
                .all(|event| here(event) && set.contains(&(*event, true)))
                && dependencies.iter().all(stays)
        }
        Command::Execute(inner) => may_repeat(&inner.commands, fits, queue, set),
        Command::Barrier(dependencies) => dependencies.iter().all(stays),
        Command::BeginRendering { pass, .. } => {
            // Implicit dependencies from outside wait for nothing.
            let is_moved = |one: &PassAttachment| {
                one.uses
                    .first()
                    .is_some_and(|first| first.1 != one.initial_layout)
            };
            pass.dependencies.iter().all(|one| first(&one.scopes))
                && !(fits && pass.attachments.iter().any(is_moved))
        }
        Command::NextSubpass | Command::EndRendering => true,
    })
}
