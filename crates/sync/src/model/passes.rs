//! Render pass instances: their subpasses, with the dependencies and layout transitions between them.

use std::sync::Arc;

use crate::finding::{Action, Findings};
use crate::operation::{Earlier, Edge, EdgeKind, Limit, Operation, PassTransitions, Subpass, Union};
use crate::plan::{PassPlan, RunningPass};
use crate::program::{BarrierChange, PassAttachment, PassDependency, PassStructure, Tag};
use crate::reach::Reach;

use super::commands::BarrierOperation;
use super::{Model, RunningBatch};

impl Model {
    pub(super) fn begin_instance(
        &mut self,
        tag: Tag,
        resumes: bool,
        pass: &Arc<PassStructure>,
        running: &mut RunningBatch,
        findings: &mut Findings,
    ) {
        let last = self.last_instance.get(&running.queue).copied();
        let instance = last.filter(|_| resumes).unwrap_or_else(|| {
            self.instances += 1;
            self.instances
        });
        self.last_instance.insert(running.queue, instance);
        let are_aliases = |one: usize, other: usize| {
            let [one, other] = [one, other].map(|index| &pass.attachments[index]);
            self.are_aliases(one, other)
        };
        let started = RunningPass {
            plan: PassPlan::new(pass, are_aliases),
            structure: Arc::clone(pass),
        };
        running.place = Some(Subpass { instance, index: 0 });
        self.enter(tag, &started, instance, *running, findings);
        self.passes.insert(running.queue, started);
    }

    pub(super) fn next_subpass(&mut self, tag: Tag, running: &mut RunningBatch, findings: &mut Findings) {
        let current = running.place.unwrap_or(Subpass {
            instance: 0,
            index: 0,
        });
        running.place = Some(Subpass {
            index: current.index + 1,
            ..current
        });
        if let Some(pass) = self.passes.remove(&running.queue) {
            self.enter(tag, &pass, current.instance, *running, findings);
            self.passes.insert(running.queue, pass);
        }
    }

    pub(super) fn end_instance(&mut self, tag: Tag, running: &mut RunningBatch, findings: &mut Findings) {
        let instance = running.place.take().map_or(0, |subpass| subpass.instance);
        if let Some(pass) = self.passes.remove(&running.queue) {
            self.enter(tag, &pass, instance, *running, findings);
        }
    }

    /// Returns `true` if two attachments share memory.
    fn are_aliases(&self, one: &PassAttachment, other: &PassAttachment) -> bool {
        let placed = |attachment: &PassAttachment| {
            let placed = self.placed(attachment.resource?)?;
            Some((
                placed.class,
                placed.bytes(),
                self.region(attachment.resource?, &attachment.part)?,
            ))
        };
        let (Some((class, bytes, region)), Some((other_class, other_bytes, other_region))) =
            (placed(one), placed(other))
        else {
            return false;
        };
        match class == other_class {
            true => region.intersection(other_region).is_some(),
            false => {
                bytes.memory == other_bytes.memory
                    && bytes.first < other_bytes.end
                    && other_bytes.first < bytes.end
            }
        }
    }

    /// Applies the dependencies and transitions at the beginning of a subpass, or at the end of the instance.
    fn enter(
        &mut self,
        tag: Tag,
        pass: &RunningPass,
        instance: u64,
        running: RunningBatch,
        findings: &mut Findings,
    ) {
        let to = running.place.map(|subpass| subpass.index);
        let all = &pass.plan.dependencies;
        let edge = |dependency: &PassDependency, has_transition: bool| {
            let earlier = match dependency.from {
                None => Earlier::BeforeInstance(instance),
                Some(index) => Earlier::Within(Subpass { instance, index }),
            };
            Edge::new(
                &dependency.scopes,
                Limit::All,
                EdgeKind::Plain,
                earlier,
                has_transition,
            )
        };
        let here = all.iter().enumerate().filter(|(_, one)| one.to == to);
        let here: Vec<(usize, Edge)> = here.map(|(index, one)| (index, edge(one, false))).collect();
        let planned = pass.plan.transitions.iter().enumerate();
        let mut transitions = PassTransitions {
            instance,
            performed: Vec::new(),
            before: Vec::with_capacity(here.len()),
        };
        for (index, _) in &here {
            let before = planned.clone().filter(|(_, one)| one.before.contains(index));
            transitions
                .before
                .push(before.map(|(number, _)| number as u32).collect());
        }
        // Edges whose second scopes come after a transition here, some of them in later subpasses.
        let mut later_edges = Vec::new();
        let mut checked = Vec::new();
        for (number, one) in planned.filter(|(_, one)| one.at == to) {
            let attachment = &pass.structure.attachments[one.attachment];
            let edges = |indices: &[usize]| -> Vec<Edge> {
                indices.iter().map(|index| edge(&all[*index], true)).collect()
            };
            let own = edges(&one.after);
            later_edges.extend(edges(&one.before));
            if let Some(resource) = attachment.resource {
                let between = BarrierOperation {
                    resource,
                    part: attachment.part,
                    action: Action::Transition,
                    change: BarrierChange::Layout {
                        discards: one.discards,
                    },
                    own: &own,
                };
                if self.ignores_order {
                    let change = (between.action, between.change);
                    self.change_part(tag, (resource, &between.part), change, running, findings);
                } else if let Some((mut this, used)) =
                    self.check_barrier_operation(tag, &between, (&[], None), running, findings)
                {
                    // Transitions of a render pass do not belong to any of its subpasses.
                    this.origin.place = Some(Subpass::transitions(instance));
                    checked.push((number as u32, this, used, between.change));
                }
            }
            transitions.performed.push((number as u32, own));
        }
        if self.ignores_order {
            return;
        }
        for (number, this, used, change) in checked {
            self.change(&this, used, change);
            let reach = Reach::of_pass_transition(running.queue, instance, number);
            self.record(&this, used, &reach);
        }
        let has_transitions =
            !transitions.performed.is_empty() || transitions.before.iter().any(|before| !before.is_empty());
        if here.is_empty() && !has_transitions {
            return;
        }
        let edges: Vec<Edge> = here.into_iter().map(|(_, edge)| edge).collect();
        let after = transitions.performed.iter().flat_map(|(_, after)| after);
        // The state of an access that is in all of these scopes does not change.
        let union = match has_transitions {
            true => Union::of(edges.iter().chain(after).chain(&later_edges)).with_transitions(),
            false => Union::of(&edges),
        };
        self.log_operation(Operation::Dependencies {
            queue: running.queue,
            submitted: running.submitted,
            edges,
            union,
            pass: has_transitions.then(|| Box::new(transitions)),
            place: running.place,
            events: None,
        });
    }
}
