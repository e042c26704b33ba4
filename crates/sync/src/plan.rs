//! The plan of a render pass instance: its explicit and implicit dependencies, and the dependencies between which each layout transition happens.
//!
//! ```text
//! subpass                  0: COLOR          1: other attachments        2: READ_ONLY
//! dependencies             0 ────────────────► 1
//!                                              1 ────────────────────────► 2
//! transition of 0 to 2       after the first scope of 0 → 1    before the second scope of 1 → 2
//! ```
//! A transition happens after the availability operations of **all** dependencies whose source is a subpass that uses the attachment in the old
//! layout, and before the visibility operations of all those whose destination is one that uses it in the new layout, regardless of their other subpasses.
//!
//! Source: "Render Pass Creation", the paragraphs about automatic layout transitions after [renderpass-layout-transitions],
//! [renderpass-implicit-dependencies], [renderpass-aliasing].
//!
//! [renderpass-layout-transitions]: https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#renderpass-layout-transitions
//! [renderpass-implicit-dependencies]: https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#renderpass-implicit-dependencies
//! [renderpass-aliasing]: https://registry.khronos.org/vulkan/specs/latest/html/vkspec.html#renderpass-aliasing

use std::sync::Arc;

use ash::vk;
use vk::{AccessFlags2 as A, ImageLayout, PipelineStageFlags2 as S};

use crate::program::{DependencyScopes, PassAttachment, PassDependency, PassStructure};

/// A layout transition of an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedTransition {
    /// The attachment's index.
    pub(crate) attachment: usize,
    /// The subpass at whose beginning the transition is performed; `None` for the end of the instance.
    pub(crate) at: Option<u32>,
    /// True if the old layout is `UNDEFINED`.
    pub(crate) discards: bool,
    /// The dependencies whose availability operations happen before the transition.
    pub(crate) after: Vec<usize>,
    /// The dependencies whose visibility operations happen after the transition.
    pub(crate) before: Vec<usize>,
}

/// The dependencies and transitions of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PassPlan {
    pub(crate) dependencies: Vec<PassDependency>,
    pub(crate) transitions: Vec<PlannedTransition>,
}

/// The render pass instance that a queue is in.
#[derive(Clone, Debug)]
pub(crate) struct RunningPass {
    pub(crate) structure: Arc<PassStructure>,
    pub(crate) plan: PassPlan,
}

/// Consecutive uses of an attachment in one layout.
struct LayoutRun {
    layout: ImageLayout,
    subpasses: Vec<u32>,
}

impl LayoutRun {
    fn first(&self) -> u32 {
        self.subpasses[0]
    }

    fn last(&self) -> u32 {
        self.subpasses[self.subpasses.len() - 1]
    }

    fn includes(&self, subpass: Option<u32>) -> bool {
        subpass.is_some_and(|subpass| self.subpasses.contains(&subpass))
    }
}

impl PassPlan {
    /// Returns the plan of a render pass; `are_aliases` tells whether two of its attachments share memory.
    pub(crate) fn new(pass: &PassStructure, are_aliases: impl Fn(usize, usize) -> bool) -> PassPlan {
        let mut plan = PassPlan {
            dependencies: pass.dependencies.clone(),
            transitions: Vec::new(),
        };
        let runs: Vec<Vec<LayoutRun>> = pass.attachments.iter().map(layout_runs).collect();
        for (attachment, runs) in pass.attachments.iter().zip(&runs) {
            plan.dependencies.extend(implicit(pass, attachment, runs));
        }
        for (index, attachment) in pass.attachments.iter().enumerate() {
            let others = (0..runs.len()).filter(|&other| other != index && are_aliases(index, other));
            let aliases: Vec<&[LayoutRun]> = others.map(|other| &runs[other][..]).collect();
            plan.add(index, attachment, &runs[index], &aliases);
        }
        plan
    }

    /// Adds the transitions of an attachment.
    fn add(
        &mut self,
        index: usize,
        attachment: &PassAttachment,
        runs: &[LayoutRun],
        aliases: &[&[LayoutRun]],
    ) {
        let uses = |subpass: Option<u32>| {
            let all = aliases.iter().copied().chain([runs]);
            all.flatten().any(|run| run.includes(subpass))
        };
        let other_runs = || aliases.iter().copied().flatten();
        for step in 0..=runs.len() {
            let old = step.checked_sub(1).map(|step| &runs[step]);
            let new = runs.get(step);
            let layout_before = old.map_or(attachment.initial_layout, |run| run.layout);
            let layout_after = new.map_or(attachment.final_layout, |run| run.layout);
            if layout_before == layout_after {
                continue;
            }
            // An alias that is used earlier or later in the instance.
            let is_second = |new: &LayoutRun| other_runs().any(|run| run.first() < new.first());
            let is_reused = |old: &LayoutRun| other_runs().any(|run| run.last() > old.last());
            let is_after = |one: &PassDependency| match (old, new) {
                (Some(old), _) => old.includes(one.from),
                // The implementation may not move it before uses of the alias, which have to be ordered by dependencies of these subpasses.
                (None, Some(new)) if one.from.is_some() => {
                    is_second(new) && new.includes(one.to) && one.from < Some(new.first())
                }
                (None, _) => one.from.is_none() && uses(one.to),
            };
            let is_before = |one: &PassDependency| match (old, new) {
                (_, Some(new)) => new.includes(one.to),
                // Nor after them.
                (Some(old), None) if one.to.is_some() => {
                    is_reused(old) && old.includes(one.from) && one.to > Some(old.last())
                }
                (_, None) => one.to.is_none() && uses(one.from),
            };
            let where_true = |is_it: &dyn Fn(&PassDependency) -> bool| {
                let all = self.dependencies.iter().enumerate();
                all.filter(|(_, one)| is_it(one))
                    .map(|(index, _)| index)
                    .collect()
            };
            let (after, before) = (where_true(&is_after), where_true(&is_before));
            // The alias follows the final transition.
            let reused = old.filter(|old| is_reused(old)).map(LayoutRun::last);
            self.transitions.push(PlannedTransition {
                attachment: index,
                at: new.map(LayoutRun::first).or(reused.map(|last| last + 1)),
                discards: layout_before == ImageLayout::UNDEFINED,
                after,
                before,
            });
        }
    }
}

fn layout_runs(attachment: &PassAttachment) -> Vec<LayoutRun> {
    let mut runs: Vec<LayoutRun> = Vec::new();
    for (subpass, layout) in &attachment.uses {
        match runs.last_mut() {
            Some(run) if run.layout == *layout => run.subpasses.push(*subpass),
            _ => runs.push(LayoutRun {
                layout: *layout,
                subpasses: vec![*subpass],
            }),
        }
    }
    runs
}

/// Returns the implicit dependencies of an attachment: from outside and to outside, if its layout changes there and no dependency is specified; and between
/// subpasses that only read it, in different layouts.
fn implicit(pass: &PassStructure, attachment: &PassAttachment, runs: &[LayoutRun]) -> Vec<PassDependency> {
    let mut all = Vec::new();
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
        return all;
    };
    let is_explicit = |from, to| {
        let mut explicit = pass.dependencies.iter();
        explicit.any(|one| (one.from, one.to) == (from, to))
    };
    let into = (None, Some(first.first()));
    if attachment.initial_layout != first.layout && !is_explicit(into.0, into.1) {
        all.push(PassDependency {
            from: into.0,
            to: into.1,
            scopes: FROM_OUTSIDE,
        });
    }
    let out = (Some(last.last()), None);
    if attachment.final_layout != last.layout && !is_explicit(out.0, out.1) {
        all.push(PassDependency {
            from: out.0,
            to: out.1,
            scopes: TO_OUTSIDE,
        });
    }
    for (index, earlier) in runs.iter().enumerate() {
        for later in &runs[index + 1..] {
            let are_read = is_read_only(earlier.layout) && is_read_only(later.layout);
            if !are_read || earlier.layout == later.layout {
                continue;
            }
            for from in &earlier.subpasses {
                all.extend(later.subpasses.iter().map(|to| PassDependency {
                    from: Some(*from),
                    to: Some(*to),
                    scopes: BETWEEN_READS,
                }));
            }
        }
    }
    all
}

/// All writes to attachments, as in the implicit dependency after a render pass.
const ATTACHMENT_WRITES: A =
    A::from_raw(A::COLOR_ATTACHMENT_WRITE.as_raw() | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw());

/// The implicit dependency before a render pass.
const FROM_OUTSIDE: DependencyScopes = DependencyScopes {
    src: S::NONE,
    src_access: A::NONE,
    dst: S::ALL_COMMANDS,
    dst_access: A::from_raw(
        A::INPUT_ATTACHMENT_READ.as_raw()
            | A::COLOR_ATTACHMENT_READ.as_raw()
            | ATTACHMENT_WRITES.as_raw()
            | A::DEPTH_STENCIL_ATTACHMENT_READ.as_raw(),
    ),
};

/// The implicit dependency after a render pass.
const TO_OUTSIDE: DependencyScopes = DependencyScopes {
    src: S::ALL_COMMANDS,
    src_access: ATTACHMENT_WRITES,
    dst: S::NONE,
    dst_access: A::NONE,
};

const READS: S = S::from_raw(
    S::FRAGMENT_SHADER.as_raw() | S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw(),
);

/// The dependency that the implementation inserts between two subpasses that only read an attachment, in different layouts.
const BETWEEN_READS: DependencyScopes = DependencyScopes {
    // Load operations happen before reads of the attachment in that subpass.
    src: S::from_raw(READS.as_raw() | S::COLOR_ATTACHMENT_OUTPUT.as_raw()),
    src_access: A::NONE,
    dst: READS,
    dst_access: A::from_raw(A::INPUT_ATTACHMENT_READ.as_raw() | A::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()),
};

/// Returns `true` if attachments in a layout are read-only.
fn is_read_only(layout: ImageLayout) -> bool {
    matches!(
        layout,
        ImageLayout::SHADER_READ_ONLY_OPTIMAL
            | ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL
            | ImageLayout::DEPTH_READ_ONLY_OPTIMAL
            | ImageLayout::STENCIL_READ_ONLY_OPTIMAL
            | ImageLayout::READ_ONLY_OPTIMAL
    )
}
