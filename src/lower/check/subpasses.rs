//! Subpasses: each waits for what it uses of earlier ones.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::checker::{At, Checker};
use super::effects::effect;
use super::error::Rule;
use crate::frame::{AccessKind, PassId};
use crate::lower::tables::commands::{AttachmentRow, PassContents, RenderingRow, Scopes};
use crate::scopes::WRITES;

/// The stages that work on pixels: between others nothing is by region.
///
/// Source: Vulkan specification, "Framebuffer Region Dependencies".
const BY_REGION: S = S::from_raw(
    S::FRAGMENT_SHADER.as_raw()
        | S::EARLY_FRAGMENT_TESTS.as_raw()
        | S::LATE_FRAGMENT_TESTS.as_raw()
        | S::COLOR_ATTACHMENT_OUTPUT.as_raw(),
);

pub(super) fn check(checker: &mut Checker<'_>) {
    for row in 0..checker.tables.passes.len() {
        let row = checker.tables.passes[row];
        if let (PassContents::Described(pass), Some(first)) = (row.contents, row.rendering) {
            let instance = checker.tables.subpasses_of(first);
            if instance.len() as u32 == checker.frame.pass(pass).subpasses {
                let mut at = checker.at(format!("pass `{}`", checker.pass(pass)));
                check_instance(&mut at, pass, first, instance);
            }
        }
    }
}

fn check_instance(at: &mut At<'_, '_>, pass: PassId, first: u32, instance: &[RenderingRow]) {
    let tables = at.checker.tables;
    let mut attached: Vec<&AttachmentRow> = Vec::new();
    for row in instance {
        let depth = row.depth.map(|depth| &tables.attachments[depth as usize]);
        let runs = [row.colors, row.resolves, row.inputs].map(|run| run.of(&tables.attachments));
        for one in runs.into_iter().flatten().chain(depth) {
            if let Some(other) = attached.iter().find(|other| other.view == one.view) {
                let has = |of: &AttachmentRow| (of.operations, of.stencil, of.layout, of.stencil_layout);
                at.equal("one attachment in several places", has(one), has(other));
            }
            attached.push(one);
        }
        at.equal("dynamic", row.dynamic, instance[0].dynamic);
        for dependency in row.dependencies.of(&tables.subpass_dependencies) {
            let (after, scopes) = (dependency.after, dependency.scopes);
            let needs = "at most the subpass that waits";
            at.demand(after <= row.subpass, "srcSubpass", after, needs);
            let needs = "stages of pixels (VUID-VkSubpassDependency-dstSubpass-00873, by region)";
            for (parameter, stages) in [
                ("srcStageMask", scopes.src_stages),
                ("dstStageMask", scopes.dst_stages),
            ] {
                let fits = BY_REGION.contains(stages) && !stages.is_empty();
                at.demand(fits, parameter, stages, needs);
            }
        }
    }
    let plain = instance.len() == 1 && instance[0].inputs.is_empty();
    let needs = "false: dynamic rendering has no subpasses and, without local read, no input attachments";
    at.demand(plain || !instance[0].dynamic, "dynamic", true, needs);
    check_dependencies(at.checker, pass, first, instance);
}

/// Whether a subpass waits for all that it uses of earlier ones, by a dependency on each (chains of them are not followed).
fn check_dependencies(checker: &mut Checker<'_>, pass: PassId, first: u32, instance: &[RenderingRow]) {
    let frame = checker.frame;
    let attached = |index: &usize| frame.accesses()[*index].kind.is_attached();
    let accesses: Vec<usize> = frame.pass(pass).accesses.indices().filter(attached).collect();
    for (&index, &after) in accesses.iter().flat_map(|a| accesses.iter().map(move |b| (a, b))) {
        let [earlier, later] = [index, after].map(|access| &frame.accesses()[access]);
        let same = (earlier.resource, earlier.version) == (later.resource, later.version);
        let conflict = same && earlier.range.intersects(later.range) && (earlier.writes || later.writes);
        if earlier.subpass >= later.subpass || !conflict {
            continue;
        }
        let (from, to) = (earlier.subpass, later.subpass);
        let rows = instance[to as usize].dependencies;
        let rows = rows.of(&checker.tables.subpass_dependencies).iter();
        let between = rows.filter(|one| one.after == from);
        let [before, behind] = [index, after].map(|access| effect(checker, Some(first), access));
        let written = match earlier.writes {
            true => before.access & WRITES,
            false => A::NONE,
        };
        let made = match earlier.kind {
            AccessKind::InputAttachment => earlier.stages,
            _ => before.stages,
        };
        let ordered =
            |scopes: &Scopes| scopes.src_stages.contains(made) && scopes.dst_stages.contains(behind.stages);
        let visible = |scopes: &Scopes| {
            written.is_empty()
                || scopes.src_access.contains(written) && scopes.dst_access.contains(behind.access)
        };
        let all: Vec<Scopes> = between.map(|one| one.scopes).collect();
        let rule = if !all.iter().any(ordered) {
            Rule::Execution
        } else if !all.iter().any(|scopes| ordered(scopes) && visible(scopes)) {
            Rule::Memory
        } else {
            continue;
        };
        let (name, resource) = (checker.pass(pass), checker.resource(later.resource));
        let message = format!(
            "subpass {to} of pass `{name}` does not wait for `{resource}`, which subpass {from} uses"
        );
        checker.report_of(rule, vec![later.resource], message);
    }
}
