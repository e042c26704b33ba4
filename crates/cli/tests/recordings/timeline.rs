//! A recording in the order of execution: its steps, and the dependencies between them.

use std::ops::RangeInclusive;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::masks;
use crate::recording::*;

/// Writes and all accesses of attachments, as in the implicit dependencies of a render pass.
const ATTACHMENT_WRITES: A =
    A::from_raw(A::COLOR_ATTACHMENT_WRITE.as_raw() | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw());
const ATTACHMENT_ACCESSES: A = A::from_raw(
    ATTACHMENT_WRITES.as_raw()
        | A::COLOR_ATTACHMENT_READ.as_raw()
        | A::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
        | A::INPUT_ATTACHMENT_READ.as_raw(),
);

/// An executed step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) step: &'a Step,
    /// The render pass instance that it is in, or that it begins or ends.
    pub(crate) pass: Option<&'a Pass>,
}

/// Times: item `n` is executed at `2n + 1`, so that dependencies between two items have a separate time.
pub(crate) type Times = RangeInclusive<usize>;

/// The time at which an item is executed.
pub(crate) fn time(item: usize) -> usize {
    2 * item + 1
}

/// A dependency between the commands of two times.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) first: Times,
    pub(crate) second: Times,
    pub(crate) masks: Masks,
    pub(crate) scope: Scope,
    /// The item that records it.
    pub(crate) at: Option<usize>,
    /// The layers of an image whose layouts change between its scopes.
    pub(crate) transitions: bool,
    /// Its first and its second scope are those of a subpass, which has no layout transitions in it.
    pub(crate) of_subpass: [bool; 2],
}

/// An automatic layout transition of a render pass.
#[derive(Clone, Debug)]
pub(crate) struct Automatic {
    /// The item at which it is performed.
    pub(crate) item: usize,
    pub(crate) layer: Layer,
    /// The edges whose availability operations happen before it.
    pub(crate) after: Vec<usize>,
    /// The edges whose visibility operations happen after it.
    pub(crate) before: Vec<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct Timeline<'a> {
    pub(crate) items: Vec<Item<'a>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) automatic: Vec<Automatic>,
    /// The item at which each event was set.
    set: Vec<usize>,
    pass: Option<OpenPass<'a>>,
}

/// A render pass instance that has begun.
#[derive(Debug)]
struct OpenPass<'a> {
    pass: &'a Pass,
    /// The first item of each subpass so far.
    subpasses: Vec<usize>,
}

/// After everything.
const END: usize = usize::MAX;

impl<'a> Timeline<'a> {
    pub(crate) fn new(recording: &'a Recording) -> Timeline<'a> {
        let mut timeline = Timeline {
            set: vec![0; recording.events],
            ..Timeline::default()
        };
        let everything = (S::ALL_COMMANDS, A::MEMORY_READ | A::MEMORY_WRITE);
        let mut is_waited_for = false;
        for submit in &recording.submits {
            let now = timeline.items.len();
            let waits = is_waited_for
                .then_some(S::ALL_COMMANDS)
                .into_iter()
                .chain(submit.waits_at);
            for stages in waits {
                let destination = (stages, A::MEMORY_READ | A::MEMORY_WRITE);
                timeline.edges.push(Edge {
                    first: 0..=2 * now,
                    second: 2 * now..=END,
                    masks: Masks {
                        source: everything,
                        destination,
                    },
                    scope: Scope::Memory,
                    at: None,
                    transitions: false,
                    of_subpass: [false; 2],
                });
            }
            timeline.command_buffer(recording, submit.command_buffer);
            is_waited_for = submit.is_waited_for;
        }
        timeline
    }

    fn command_buffer(&mut self, recording: &'a Recording, index: usize) {
        for step in &recording.command_buffers[index].steps {
            self.step(step);
            if let Command::Execute(secondary) = step.command {
                self.command_buffer(recording, secondary);
            }
        }
    }

    fn step(&mut self, step: &'a Step) {
        let now = self.items.len();
        match &step.command {
            Command::BeginPass(pass) => {
                self.pass = Some(OpenPass {
                    pass,
                    subpasses: vec![now],
                })
            }
            Command::NextSubpass { .. } => self.pass.as_mut().expect("a pass").subpasses.push(now),
            _ => {}
        }
        self.items.push(Item {
            step,
            pass: self.pass.as_ref().map(|open| open.pass),
        });
        match &step.command {
            Command::Barrier(barrier) => self.barrier(barrier, 0..=2 * now),
            Command::SetEvent { event, .. } => self.set[*event] = now,
            Command::WaitEvent { event, barrier } => self.barrier(barrier, 0..=2 * self.set[*event]),
            Command::EndPass => self.end_pass(),
            _ => {}
        }
    }

    /// The dependencies of a barrier whose first scopes contain these items.
    fn barrier(&mut self, barrier: &Barrier, first: Times) {
        let now = self.items.len() - 1;
        let all = masks::stages(&barrier.members);
        for member in &barrier.members {
            let mut sides = member.masks;
            if !barrier.second {
                let side = |stages, (_, access)| (masks::widened(stages), masks::widened_access(access));
                sides = Masks {
                    source: side(all.0, sides.source),
                    destination: side(all.1, sides.destination),
                };
            }
            self.edges.push(Edge {
                first: first.clone(),
                second: 2 * now + 2..=END,
                masks: sides,
                scope: member.scope,
                at: Some(now),
                transitions: matches!(member.scope, Scope::Image { from, to, .. } if from != to),
                of_subpass: [false; 2],
            });
        }
    }

    /// The dependencies and layout transitions of a render pass.
    fn end_pass(&mut self) {
        let OpenPass { pass, subpasses } = self.pass.take().expect("a pass");
        let end = self.items.len();
        let begin = subpasses[0];
        let range = |subpass: u32| {
            let next = subpasses.get(subpass as usize + 1).copied().unwrap_or(end);
            time(subpasses[subpass as usize])..=time(next - 1)
        };
        let explicit = pass.dependencies.iter().map(|one| (one.from, one.to, one.masks));
        let mut ends = Vec::new();
        for (from, to, masks) in explicit.chain(implicit(pass)) {
            ends.push((from, to, self.edges.len()));
            self.edges.push(Edge {
                first: from.map_or(0..=2 * begin, range),
                second: to.map_or(2 * end..=END, range),
                masks,
                scope: Scope::Memory,
                at: None,
                transitions: false,
                of_subpass: [from.is_some(), to.is_some()],
            });
        }
        for (index, attachment) in pass.attachments.iter().enumerate() {
            for (old, new) in changes(pass, index) {
                let item = new
                    .first()
                    .map_or(end - 1, |subpass| subpasses[*subpass as usize]);
                let edges = |is_it: &dyn Fn(Option<u32>, Option<u32>) -> bool| {
                    let all = ends.iter().filter(|(from, to, _)| is_it(*from, *to));
                    all.map(|(.., edge)| *edge).collect::<Vec<_>>()
                };
                let users: Vec<u32> = uses(pass, index)
                    .into_iter()
                    .map(|(subpass, _)| subpass)
                    .collect();
                let is_in = |all: &[u32], subpass: Option<u32>| subpass.is_some_and(|one| all.contains(&one));
                let after = edges(&|from, to| match old.is_empty() {
                    true => from.is_none() && is_in(&users, to),
                    false => is_in(&old, from),
                });
                let before = edges(&|from, to| match new.is_empty() {
                    true => to.is_none() && is_in(&users, from),
                    false => is_in(&new, to),
                });
                self.automatic.push(Automatic {
                    item,
                    layer: attachment.layer,
                    after,
                    before,
                });
            }
        }
    }
}

/// The layout changes of an attachment: the subpasses that use it in the old layout, or none before the pass, and those that use it in the new one, or
/// none after it.
///
/// Source: "Render Pass Creation", automatic layout transitions: away from the layout used in a subpass they come after *all* dependencies with that
/// subpass as the source, and into the layout used in a subpass before all those with it as the destination; away from the initial layout after those
/// from outside to every subpass that uses the attachment, and into the final layout before those from every such subpass to outside. Validation only
/// applies the dependencies between the two uses that follow each other.
fn changes(pass: &Pass, index: usize) -> Vec<(Vec<u32>, Vec<u32>)> {
    let attachment = &pass.attachments[index];
    let mut runs = vec![(attachment.layer.layout, Vec::new())];
    for (subpass, layout) in uses(pass, index) {
        match runs.last_mut() {
            Some((known, subpasses)) if *known == layout && !subpasses.is_empty() => subpasses.push(subpass),
            _ => runs.push((layout, vec![subpass])),
        }
    }
    runs.push((attachment.final_layout, Vec::new()));
    let changed = runs.windows(2).filter(|pair| pair[0].0 != pair[1].0);
    changed
        .map(|pair| (pair[0].1.clone(), pair[1].1.clone()))
        .collect()
}

/// The implicit dependencies of a pass with layout transitions that are not covered by an explicit one.
///
/// Source: "Render Pass", [renderpass-implicit-dependencies].
///
/// [renderpass-implicit-dependencies]: https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#renderpass-implicit-dependencies
fn implicit(pass: &Pass) -> Vec<(Option<u32>, Option<u32>, Masks)> {
    let mut implicit = Vec::new();
    for (index, attachment) in pass.attachments.iter().enumerate() {
        let uses = uses(pass, index);
        let (Some(first), Some(last)) = (uses.first(), uses.last()) else {
            continue;
        };
        let has = |from, to| {
            pass.dependencies
                .iter()
                .any(|one| (one.from, one.to) == (from, to))
        };
        if first.1 != attachment.layer.layout && !has(None, Some(first.0)) {
            let destination = (S::ALL_COMMANDS, ATTACHMENT_ACCESSES);
            implicit.push((
                None,
                Some(first.0),
                Masks {
                    source: (S::NONE, A::NONE),
                    destination,
                },
            ));
        }
        if last.1 != attachment.final_layout && !has(Some(last.0), None) {
            let source = (S::ALL_COMMANDS, ATTACHMENT_WRITES);
            implicit.push((
                Some(last.0),
                None,
                Masks {
                    source,
                    destination: (S::NONE, A::NONE),
                },
            ));
        }
    }
    implicit
}

/// The subpasses that use an attachment, with its layout there.
fn uses(pass: &Pass, index: usize) -> Vec<(u32, ash::vk::ImageLayout)> {
    let uses = (0..).zip(&pass.subpasses).filter_map(|(number, subpass)| {
        let drawn = subpass.colors.iter().chain(&subpass.resolves);
        let mut all = drawn.chain(&subpass.inputs).chain(&subpass.depth);
        let used = all.find(|(other, _)| *other == index)?;
        Some((number, used.1))
    });
    uses.collect()
}
