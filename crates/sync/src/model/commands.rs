//! Recorded commands, and the transitions and transfers of barriers.

use tileheap_device::scopes::ExpandedScope;

use crate::finding::{Action, Findings, MemoryUse};
use crate::operation::{Earlier, Edge, EdgeKind, Limit, Operation, Subpass, Union};
use crate::program::{
    BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, EventId, ResourceId, ResourcePart,
    Tag,
};
use crate::reach::Reach;
use crate::reach::missing::MissingScope;
use crate::record::{Kind, LaterAccess, TouchedRegion};
use crate::usage::Usage;

use super::{Model, RunningBatch};

/// A layout transition or queue family ownership transfer of a barrier.
pub(super) struct BarrierOperation<'a> {
    pub(super) resource: ResourceId,
    pub(super) part: ResourcePart,
    pub(super) action: Action,
    pub(super) change: BarrierChange,
    /// The edges whose first scopes come before the transition or transfer.
    pub(super) own: &'a [Edge],
}

impl Model {
    pub(super) fn run_commands(
        &mut self,
        commands: &CommandBuffer,
        running: &mut RunningBatch,
        findings: &mut Findings,
    ) {
        for (tag, command) in &commands.commands {
            self.run_command(*tag, command, running, findings);
        }
    }

    pub(super) fn run_command(
        &mut self,
        tag: Tag,
        command: &Command,
        running: &mut RunningBatch,
        findings: &mut Findings,
    ) {
        self.commands += 1;
        match command {
            Command::Action(accesses) => self.run_action(tag, accesses, *running, findings),
            Command::Barrier(dependencies) => self.barrier(tag, dependencies, None, *running, findings),
            Command::WaitEvents(events, dependencies) => {
                self.barrier(tag, dependencies, Some(events), *running, findings);
            }
            Command::SetEvent(event, stages) => {
                let stages = ExpandedScope::source(*stages, ash::vk::AccessFlags2::NONE).execution_stages;
                self.log_operation(Operation::SetEvent {
                    queue: running.queue,
                    submitted: running.submitted,
                    event: *event,
                    stages,
                });
            }
            Command::ResetEvent(event) => self.log_operation(Operation::ResetEvent(*event)),
            Command::BeginRendering { resumes, pass } => {
                self.begin_instance(tag, *resumes, pass, running, findings);
            }
            Command::NextSubpass => self.next_subpass(tag, running, findings),
            Command::EndRendering => self.end_instance(tag, running, findings),
            Command::Discard(discard) => {
                let found = self.contents.discard(discard, running.batch, tag);
                findings.discarded.extend(found);
            }
            Command::Execute(secondary) => self.run_commands(secondary, running, findings),
        }
    }

    /// Applies the layout transitions and queue family ownership transfers of a barrier to contents only.
    fn change_contents(
        &mut self,
        tag: Tag,
        dependencies: &[Dependency],
        running: RunningBatch,
        findings: &mut Findings,
    ) {
        for dependency in dependencies {
            let DependencyMemory::Part(resource, part) = &dependency.memory else {
                continue;
            };
            let action = match (edge_kind(dependency, running), dependency.change) {
                (EdgeKind::Release, _) => Action::Release,
                (EdgeKind::Acquire, _) => Action::Acquire,
                (EdgeKind::Plain, BarrierChange::Layout { .. }) => Action::Transition,
                (EdgeKind::Plain, _) => continue,
            };
            self.change_part(
                tag,
                (*resource, part),
                (action, dependency.change),
                running,
                findings,
            );
        }
    }

    /// Applies a layout transition or a queue family ownership transfer to contents only.
    pub(super) fn change_part(
        &mut self,
        tag: Tag,
        (resource, part): (ResourceId, &ResourcePart),
        (action, change): (Action, BarrierChange),
        running: RunningBatch,
        findings: &mut Findings,
    ) {
        let used = running.used(tag, resource, *part, action);
        let Some(certain) = self.region(resource, part) else {
            findings.unchecked.push(used);
            return;
        };
        let touched = TouchedRegion {
            certain,
            by_letter: None,
        };
        let kind = kind_of(action);
        if let Some(this) = self.later(resource, touched, kind, Usage::NO_STAGE, running) {
            self.change(&this, used, change);
        }
    }

    /// Updates the contents after a layout transition or a queue family ownership transfer.
    pub(super) fn change(&mut self, this: &LaterAccess, used: MemoryUse, change: BarrierChange) {
        match change {
            BarrierChange::Family { from, to } => self.contents.transfer(this, used, (from, to)),
            BarrierChange::Layout { discards } => self.write_contents(this, used, discards),
            BarrierChange::None => {}
        }
    }

    fn barrier(
        &mut self,
        tag: Tag,
        dependencies: &[Dependency],
        events: Option<&[EventId]>,
        running: RunningBatch,
        findings: &mut Findings,
    ) {
        if self.ignores_order {
            self.change_contents(tag, dependencies, running, findings);
            return;
        }
        let earlier = running.place.map_or(Earlier::All, Earlier::Within);
        let edges = dependencies.iter().map(|dependency| {
            let limit = match &dependency.memory {
                DependencyMemory::Execution => Limit::Execution,
                DependencyMemory::All => Limit::All,
                // Accesses to an unknown resource are not checked.
                DependencyMemory::Part(resource, part) => {
                    let through = self.through(*resource, part);
                    through.map_or(Limit::Execution, Limit::Part)
                }
            };
            let kind = edge_kind(dependency, running);
            let has_transition =
                kind != EdgeKind::Plain || matches!(dependency.change, BarrierChange::Layout { .. });
            let is_part = matches!(limit, Limit::Part(_));
            Edge::new(
                &dependency.scopes,
                limit,
                kind,
                earlier,
                has_transition && is_part,
            )
        });
        let edges: Vec<Edge> = edges.collect();
        let between = dependencies.iter().enumerate().filter_map(|(index, dependency)| {
            let DependencyMemory::Part(resource, part) = dependency.memory else {
                return None;
            };
            let action = match (edges[index].kind, dependency.change) {
                (EdgeKind::Release, _) => Action::Release,
                (EdgeKind::Acquire, _) => Action::Acquire,
                (EdgeKind::Plain, BarrierChange::Layout { .. }) => Action::Transition,
                (EdgeKind::Plain, _) => return None,
            };
            Some(BarrierOperation {
                resource,
                part,
                action,
                change: dependency.change,
                own: std::slice::from_ref(&edges[index]),
            })
        });
        let between: Vec<BarrierOperation<'_>> = between.collect();
        self.depend(tag, &edges, events, &between, running, findings);
    }

    /// Applies dependencies, and the transitions and transfers between their scopes.
    fn depend(
        &mut self,
        tag: Tag,
        edges: &[Edge],
        events: Option<&[EventId]>,
        between: &[BarrierOperation<'_>],
        running: RunningBatch,
        findings: &mut Findings,
    ) {
        let queue = running.queue;
        let mut later = Vec::with_capacity(between.len());
        for one in between {
            let Some((mut this, used)) =
                self.check_barrier_operation(tag, one, (edges, events), running, findings)
            else {
                continue;
            };
            let reach = Reach::of_transition(queue, running.place, one.own);
            // Transitions in a render pass do not belong to any of its subpasses.
            this.origin.place = running
                .place
                .map(|subpass| Subpass::transitions(subpass.instance));
            later.push((this, used, reach, one.change));
        }
        if !edges.is_empty() {
            self.log_operation(Operation::Dependencies {
                queue,
                submitted: running.submitted,
                edges: edges.to_vec(),
                union: Union::of(edges),
                pass: None,
                place: running.place,
                events: events.map(<[EventId]>::to_vec),
            });
        }
        for (this, used, reach, change) in later {
            self.change(&this, used, change);
            self.record(&this, used, &reach);
        }
    }

    /// Compares a transition or a transfer with earlier accesses; `None` if its resource is unknown.
    pub(super) fn check_barrier_operation(
        &mut self,
        tag: Tag,
        one: &BarrierOperation<'_>,
        (edges, events): (&[Edge], Option<&[EventId]>),
        running: RunningBatch,
        findings: &mut Findings,
    ) -> Option<(LaterAccess, MemoryUse)> {
        let kind = kind_of(one.action);
        let used = running.used(tag, one.resource, one.part, one.action);
        let touched = self.region(one.resource, &one.part).map(|certain| TouchedRegion {
            certain,
            by_letter: None,
        });
        let this =
            touched.and_then(|touched| self.later(one.resource, touched, kind, Usage::NO_STAGE, running));
        let Some(this) = this else {
            findings.unchecked.push(used);
            return None;
        };
        self.compare(&this, &used, findings, |record, reach, region| {
            let at = (&this.origin, running.place);
            let missing =
                reach.missing_before_transition(&record.origin, region, at, one.own, (edges, events))?;
            let regions = vec![region];
            Some(MissingScope { missing, regions })
        });
        Some((this, used))
    }
}

/// Returns the half of a queue family ownership transfer that a dependency performs on the queue of a batch, if any.
fn edge_kind(dependency: &Dependency, running: RunningBatch) -> EdgeKind {
    match dependency.change {
        BarrierChange::Family { from, to } if from != to && from == running.family => EdgeKind::Release,
        BarrierChange::Family { from, to } if from != to && to == running.family => EdgeKind::Acquire,
        _ => EdgeKind::Plain,
    }
}

fn kind_of(action: Action) -> Kind {
    match action {
        Action::Transition => Kind::Transition,
        _ => Kind::Transfer,
    }
}
