//! The commands of a command buffer: their operations and dependencies.

use tileheap_sync::program::*;
use tileheap_sync::{Action as Did, MemoryUse};

use super::flatten::Flattener;
use super::operations::{AccessScope, Action, Dependency as Scoped, Place, Scope};
use super::stages::{self, ACQUIRE, STAGELESS};

impl Flattener<'_> {
    /// "Submission order": a secondary's commands are at the point where it executes, and in that subpass.
    pub(super) fn commands(&mut self, queue: usize, batch: u64, command_buffer: &CommandBuffer) {
        for (tag, command) in &command_buffer.commands {
            match command {
                Command::Execute(secondary) => self.commands(queue, batch, secondary),
                _ => self.command(queue, batch, *tag, command),
            }
        }
    }

    fn command(&mut self, queue: usize, batch: u64, tag: Tag, command: &Command) {
        let at = self.tick();
        let id = self.queues[queue].id;
        match command {
            Command::Action(accesses) => {
                let place = Place::Queue(id, self.queues[queue].subpass);
                for access in accesses {
                    self.access(batch, tag, at, place, access);
                }
            }
            Command::Barrier(dependencies) => {
                let limit = self.limit(queue);
                self.barrier(queue, batch, tag, at, dependencies, |stages| {
                    vec![Scope::Commands {
                        queue: id,
                        after: 0,
                        before: at,
                        subpass: limit,
                        stages,
                    }]
                });
            }
            // "Events": the scope is applied to all operations earlier in submission order.
            Command::SetEvent(event, stages) => {
                let stages = stages::first_synchronization_scope(*stages, self.rules);
                let scope = Scope::Commands {
                    queue: id,
                    after: 0,
                    before: at,
                    subpass: None,
                    stages,
                };
                self.events.insert(self.event(id, *event), scope);
            }
            Command::ResetEvent(event) => {
                self.events.remove(&self.event(id, *event));
            }
            Command::WaitEvents(events, dependencies) => {
                let set: Vec<Scope> = events
                    .iter()
                    .filter_map(|event| self.events.get(&self.event(id, *event)).copied())
                    .collect();
                let at_signal = self.rules.events_end_at_their_signal;
                let limited = self.rules.events_have_stages;
                self.barrier(queue, batch, tag, at, dependencies, |own| {
                    let mut first = set.clone();
                    for scope in &mut first {
                        if let Scope::Commands { before, stages, .. } = scope {
                            // "vkCmdWaitEvents2": each dependency has a separate first scope.
                            *stages = if limited { *stages & own } else { own };
                            if !at_signal {
                                *before = at;
                            }
                        }
                    }
                    first
                });
            }
            Command::BeginRendering { resumes, pass } => {
                let suspended = self.queues[queue]
                    .last_instance
                    .filter(|_| *resumes && self.rules.resumed_instances_continue);
                let instance = suspended.unwrap_or_else(|| {
                    self.instances += 1;
                    self.instances
                });
                self.queues[queue].subpass = Some((instance, 0));
                self.queues[queue].last_instance = Some(instance);
                self.flat.ends.remove(&(instance, 0));
                self.begin_pass(queue, at, instance, pass);
                self.automatic_transitions(queue, batch, tag, at);
            }
            Command::NextSubpass => {
                let Some((instance, subpass)) = self.queues[queue].subpass else {
                    return;
                };
                self.flat.ends.insert((instance, subpass), at);
                self.queues[queue].subpass = Some((instance, subpass + 1));
                self.automatic_transitions(queue, batch, tag, at);
            }
            Command::EndRendering => {
                let Some((instance, subpass)) = self.queues[queue].subpass else {
                    return;
                };
                self.flat.ends.insert((instance, subpass), at);
                self.queues[queue].subpass = None;
                self.automatic_transitions(queue, batch, tag, at);
            }
            // Nothing accesses the bytes: no order is needed or created.
            Command::Discard(discard) => {
                if !self.rules.discards_are_no_accesses {
                    self.write_bytes(queue, batch, tag, at, discard);
                }
            }
            Command::Execute(_) => unreachable!("commands() runs secondaries"),
        }
    }

    /// Applies the mutation of a discard: a write to every resource with some of its bytes.
    fn write_bytes(&mut self, queue: usize, batch: u64, tag: Tag, at: usize, discard: &Discard) {
        let place = Place::Queue(self.queues[queue].id, self.queues[queue].subpass);
        for (index, resource) in self.resources.iter().enumerate() {
            if resource.memory != discard.memory
                || resource.first >= discard.end
                || discard.first >= resource.end
            {
                continue;
            }
            let part = match resource.tiling {
                Tiling::Linear | Tiling::Unknown => ResourcePart::Bytes(0, resource.end - resource.first),
                Tiling::Optimal(all) => ResourcePart::Texels(all),
            };
            let access = MemoryAccess {
                resource: ResourceId(index as u32),
                part,
                stage: ash::vk::PipelineStageFlags2::COPY,
                access: ash::vk::AccessFlags2::TRANSFER_WRITE,
                kind: AccessKind::Whole,
                discards: true,
            };
            self.access(batch, tag, at, place, &access);
        }
    }

    fn event(&self, queue: QueueId, event: EventId) -> (QueueId, EventId) {
        (
            if self.rules.events_stay_in_their_queue {
                queue
            } else {
                QueueId(0)
            },
            event,
        )
    }

    /// Barriers inside a render pass instance are limited to the current subpass.
    fn limit(&self, queue: usize) -> Option<(usize, u32)> {
        self.queues[queue]
            .subpass
            .filter(|_| self.rules.barriers_stay_in_their_subpass)
    }

    /// The dependencies of a barrier or of a wait for events, with its transitions, releases and acquires.
    fn barrier(
        &mut self,
        queue: usize,
        batch: u64,
        tag: Tag,
        at: usize,
        dependencies: &[Dependency],
        first_scopes: impl Fn(ash::vk::PipelineStageFlags2) -> Vec<Scope>,
    ) {
        let rules = self.rules;
        let (id, family, subpass) = (
            self.queues[queue].id,
            self.queues[queue].family,
            self.limit(queue),
        );
        let mut global = Vec::new();
        let mut changes = Vec::new();
        for dependency in dependencies {
            let did = match dependency.change {
                BarrierChange::None => None,
                BarrierChange::Layout { .. } => Some(Did::Transition),
                BarrierChange::Family { from, to } if from != to && from == family => Some(Did::Release),
                BarrierChange::Family { from, to } if from != to && to == family => Some(Did::Acquire),
                BarrierChange::Family { .. } => None,
            };
            let DependencyScopes { src, dst, .. } = dependency.scopes;
            let mut scoped = Scoped {
                first: first_scopes(stages::first_synchronization_scope(src, rules)),
                second: vec![Scope::Commands {
                    queue: id,
                    after: at,
                    before: usize::MAX,
                    subpass,
                    stages: stages::second_synchronization_scope(dst, rules),
                }],
                available: self.first_access_scope(&dependency.scopes, dependency.memory),
                visible: self.second_access_scope(&dependency.scopes, dependency.memory),
            };
            // "Queue Family Ownership Transfer": releases ignore the destination masks, acquires the source masks.
            if did == Some(Did::Release) && rules.releases_ignore_their_destination {
                scoped.second.clear();
                scoped.visible = AccessScope::Nothing;
            }
            if did == Some(Did::Acquire) && rules.acquires_ignore_their_source {
                scoped.first.clear();
                scoped.available = AccessScope::Nothing;
            }
            let index = self.depend(scoped);
            match (did, dependency.memory) {
                (Some(did), DependencyMemory::Part(resource, part)) => changes.push((
                    index,
                    MemoryUse {
                        batch,
                        tag,
                        resource,
                        part,
                        action: did,
                    },
                )),
                (_, DependencyMemory::All) if rules.accompanied => global.push(index),
                _ => {}
            }
        }
        for (index, usage) in changes {
            let own = (vec![index], vec![index]);
            self.change(Place::Queue(id, subpass), at, usage, own, global.clone());
        }
    }

    /// Adds a transition, a release or an acquire, with the dependencies after whose availability operations and before whose visibility operations
    /// it happens.
    pub(super) fn change(
        &mut self,
        place: Place,
        at: usize,
        usage: MemoryUse,
        (after, before): (Vec<usize>, Vec<usize>),
        companions: Vec<usize>,
    ) {
        let stage = if usage.action == Did::Acquire {
            ACQUIRE
        } else {
            STAGELESS
        };
        self.flat.actions.push(Action {
            at,
            place,
            stage,
            access: None,
            writes: true,
            usage,
            after,
            before,
            companions,
        });
    }

    pub(super) fn first_access_scope(
        &self,
        scopes: &DependencyScopes,
        extent: DependencyMemory,
    ) -> AccessScope {
        let stages = stages::first_access_scope(scopes.src, self.rules);
        let accesses = stages::access_types(scopes.src_access, self.rules);
        if extent == DependencyMemory::Execution {
            AccessScope::Nothing
        } else {
            AccessScope::Types {
                stages,
                accesses,
                extent,
            }
        }
    }

    pub(super) fn second_access_scope(
        &self,
        scopes: &DependencyScopes,
        extent: DependencyMemory,
    ) -> AccessScope {
        let stages = stages::second_access_scope(scopes.dst, self.rules);
        let accesses = stages::access_types(scopes.dst_access, self.rules);
        if extent == DependencyMemory::Execution {
            AccessScope::Nothing
        } else {
            AccessScope::Types {
                stages,
                accesses,
                extent,
            }
        }
    }
}
