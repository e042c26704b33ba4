//! Subpasses: each waits for what it uses of earlier ones, and what is dynamic keeps to the rules of local read.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

use super::checker::{At, Checker};
use super::effects::effect;
use super::error::Rule;
use crate::frame::{AccessKind, PassId};
use crate::lower::tables::commands::{AttachmentRow, PassContents, RenderingRow, Scopes};
use crate::lower::tables::objects::Binding;
use crate::profile::Features;
use crate::scopes::WRITES;
use crate::units::Run;

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
    if tables.is_local_read(instance) {
        check_local_read(at, instance, &attached);
    } else {
        for one in attached {
            let fits = one.layout != vk::ImageLayout::RENDERING_LOCAL_READ_KHR;
            at.demand(fits, "layout", one.layout, "another: there is no local read");
        }
    }
    check_dependencies(at.checker, pass, first, instance);
}

/// Whether the rules of local read are kept, where it is of colour and of one sample: no more is demanded of implementations.
///
/// Source: `VkPhysicalDeviceVulkan14Properties`, `dynamicRenderingLocalReadDepthStencilAttachments` and
/// `dynamicRenderingLocalReadMultisampledAttachments`; VUID-VkRenderingInfo-colorAttachmentCount-06106.
fn check_local_read(at: &mut At<'_, '_>, instance: &[RenderingRow], attached: &[&AttachmentRow]) {
    let (tables, profile) = (at.checker.tables, &at.checker.device.profile);
    let views = |run: Run| run.of(&tables.attachments).iter().map(|one| one.view);
    let inputs = || instance.iter().flat_map(|row| row.inputs.of(&tables.attachments));
    let drawn = |one: &AttachmentRow| {
        let image = &tables.images[tables.views[one.view as usize].image as usize];
        image.usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT) || image.binding == Binding::Imported
    };
    let known = |one: &AttachmentRow| {
        let local = vk::ImageLayout::RENDERING_LOCAL_READ_KHR;
        [vk::ImageLayout::GENERAL, local].contains(&one.layout)
    };
    let twice = |row: &RenderingRow| {
        let all: Vec<u32> = views(row.inputs).collect();
        (1..all.len()).any(|at| all[..at].contains(&all[at]))
    };
    let mut depths = instance.iter().filter_map(|row| row.depth);
    let mut depths = depths
        .by_ref()
        .map(|depth| tables.attachments[depth as usize].view);
    let first = depths.next();
    let single = |one: &&AttachmentRow| one.samples == vk::SampleCountFlags::TYPE_1;
    let colors = tables.color_attachments_of(instance).len() as u32;
    let rules = [
        (
            profile.features.contains(Features::LOCAL_READ),
            "the device has no local read",
        ),
        (attached.iter().all(single), "it has several samples"),
        (inputs().all(drawn), "an input attachment is none of colour"),
        (
            inputs().all(known),
            "an input attachment is in another layout than those of local read",
        ),
        (
            !instance.iter().any(twice),
            "a subpass reads one attachment by two indices",
        ),
        (
            depths.all(|other| Some(other) == first),
            "it has two depth attachments",
        ),
        (
            colors <= profile.limits.max_color_attachments,
            "the device has fewer colour attachments",
        ),
    ];
    for (fits, why) in rules {
        at.demand(fits, "dynamic", true, format_args!("false: {why}"));
    }
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
        // With local read, a barrier between two draws is behind all subpasses before it, and in front of all after it.
        let (from, to) = (earlier.subpass, later.subpass);
        let between = instance.iter().flat_map(|row| {
            let rows = row.dependencies.of(&checker.tables.subpass_dependencies).iter();
            rows.filter(move |one| match row.dynamic {
                true => from < row.subpass && row.subpass <= to && one.after < row.subpass,
                false => (one.after, row.subpass) == (from, to),
            })
        });
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
