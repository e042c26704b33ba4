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
}

#[derive(Debug, Default)]
pub(crate) struct Timeline<'a> {
    pub(crate) items: Vec<Item<'a>>,
    pub(crate) edges: Vec<Edge>,
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
            });
        }
    }

    /// The dependencies of a render pass.
    fn end_pass(&mut self) {
        let OpenPass { pass, subpasses } = self.pass.take().expect("a pass");
        let end = self.items.len();
        let begin = subpasses[0];
        let range = |subpass: usize| {
            let next = subpasses.get(subpass + 1).copied().unwrap_or(end);
            time(subpasses[subpass])..=time(next - 1)
        };
        let explicit = pass.dependencies.iter().map(|one| (one.from, one.to, one.masks));
        for (from, to, masks) in explicit.chain(implicit(pass)) {
            self.edges.push(Edge {
                first: from.map_or(0..=2 * begin, |subpass| range(subpass as usize)),
                second: to.map_or(2 * end..=END, |subpass| range(subpass as usize)),
                masks,
                scope: Scope::Memory,
                at: Some(match to {
                    Some(subpass) => subpasses[subpass as usize],
                    None => end - 1,
                }),
                transitions: changes_layouts(pass, from, to),
            });
        }
    }
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

/// Returns `true` if some attachment changes its layout between two subpasses, or between a subpass and the outside.
fn changes_layouts(pass: &Pass, from: Option<u32>, to: Option<u32>) -> bool {
    pass.attachments.iter().enumerate().any(|(index, attachment)| {
        let inside = uses(pass, index)
            .into_iter()
            .map(|(subpass, layout)| (Some(subpass), layout));
        let outside = |layout| std::iter::once((None, layout));
        let all = outside(attachment.layer.layout)
            .chain(inside)
            .chain(outside(attachment.final_layout));
        let all: Vec<_> = all.collect();
        all.windows(2)
            .any(|pair| (pair[0].0, pair[1].0) == (from, to) && pair[0].1 != pair[1].1)
    })
}
