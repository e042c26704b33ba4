//! Checks that subpasses wait for the results of earlier subpasses that they use, and that dynamic rendering follows the rules of local read.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

use super::checker::{CheckedRow, Checker};
use super::effects::{effect, resolve_scope};
use super::error::LoweringRule;
use crate::frame::AccessKind;
use crate::lower::tables::commands::Scopes;
use crate::lower::tables::instances::{AttachmentRow, InstanceRow, ReferenceRow, SubpassRow};
use crate::profile::Features;
use crate::units::Run;
use tileheap_device::scopes::{self, WRITES};

/// The framebuffer-space stages: only dependencies between these can be by region.
///
/// Source: Vulkan specification, "Framebuffer Region Dependencies".
const BY_REGION: S = S::from_raw(
    S::FRAGMENT_SHADER.as_raw()
        | S::EARLY_FRAGMENT_TESTS.as_raw()
        | S::LATE_FRAGMENT_TESTS.as_raw()
        | S::COLOR_ATTACHMENT_OUTPUT.as_raw(),
);

pub(super) fn check(checker: &mut Checker<'_>) {
    for index in 0..checker.tables.instances.len() as u32 {
        let instance = &checker.tables.instances[index as usize];
        if instance.subpasses.len() as u32 == checker.frame.pass(instance.pass).subpasses {
            let mut at = checker.at(format!("pass `{}`", checker.pass(instance.pass)));
            check_instance(&mut at, index, instance);
        }
    }
}

fn check_instance(at: &mut CheckedRow<'_, '_>, index: u32, instance: &InstanceRow) {
    let tables = at.checker.tables;
    let by_region = vk::DependencyFlags::BY_REGION;
    // VUID-vkCmdPipelineBarrier2-None-07893, VUID-VkSubpassDependency-dependencyFlags-00871
    let flags = match instance.view_mask {
        0 => by_region,
        _ => by_region | vk::DependencyFlags::VIEW_LOCAL,
    };
    for (number, row) in (0..).zip(tables.subpasses_of(index)) {
        let rows = row.dependencies.of(&tables.subpass_dependencies);
        let earlier = rows.iter().take_while(|one| one.src_subpass < number).count() as u32;
        let barriers = match instance.local_read {
            true => Run::new(row.dependencies.first, row.dependencies.first + earlier),
            false => Run::default(),
        };
        at.equal("barriers", row.barriers, barriers);
        for dependency in rows {
            let (after, scopes) = (dependency.src_subpass, dependency.scopes);
            at.equal("dstSubpass", dependency.dst_subpass, number);
            at.equal("dependencyFlags", dependency.flags, flags);
            at.demand(
                after <= number,
                "srcSubpass",
                after,
                format_args!("at most dstSubpass, which is {number}"),
            );
            let needs = "framebuffer-space stages (VUID-VkSubpassDependency-dstSubpass-00873, by region)";
            for (parameter, stages) in [
                ("srcStageMask", scopes.src_stages),
                ("dstStageMask", scopes.dst_stages),
            ] {
                let fits = BY_REGION.contains(stages) && !stages.is_empty();
                at.demand(fits, parameter, stages, needs);
            }
        }
    }
    if instance.local_read {
        check_local_read(at, index, instance);
    } else {
        for one in instance.attachments.of(&tables.attachments) {
            let fits = one.layout != vk::ImageLayout::RENDERING_LOCAL_READ_KHR;
            at.demand(
                fits,
                "layout",
                one.layout,
                "another layout: the pass has no local read",
            );
        }
    }
    check_dependencies(at.checker, index, instance);
}

/// Checks the rules of local read, and that it covers only single-sampled color: implementations need not support more.
///
/// Source: `VkPhysicalDeviceVulkan14Properties`, `dynamicRenderingLocalReadDepthStencilAttachments` and
/// `dynamicRenderingLocalReadMultisampledAttachments`; VUID-VkRenderingInfo-colorAttachmentCount-06106.
fn check_local_read(at: &mut CheckedRow<'_, '_>, index: u32, instance: &InstanceRow) {
    let (tables, profile) = (at.checker.tables, &at.checker.device.profile);
    let subpasses = tables.subpasses_of(index);
    let attached = instance.attachments.of(&tables.attachments);
    let attachment = |one: &ReferenceRow| one.get().map(|position| &attached[position as usize]);
    let references = |run: Run| run.of(&tables.references).iter();
    let inputs = || {
        subpasses
            .iter()
            .flat_map(|row| references(row.inputs))
            .filter_map(attachment)
    };
    let drawn = |one: &AttachmentRow| {
        let image = &tables.images[tables.views[one.view as usize].image as usize];
        image.usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT) || image.binding.is_imported()
    };
    let known = |one: &AttachmentRow| {
        let local = vk::ImageLayout::RENDERING_LOCAL_READ_KHR;
        [vk::ImageLayout::GENERAL, local].contains(&one.layout)
    };
    let twice = |row: &SubpassRow| {
        let all: Vec<u32> = references(row.inputs).map(|one| one.attachment).collect();
        (1..all.len()).any(|at| all[..at].contains(&all[at]))
    };
    let depths = subpasses.iter().filter_map(|row| row.depth.get());
    let mut depths = depths.map(|depth| tables.references[depth as usize].attachment);
    let first = depths.next();
    let single = |one: &AttachmentRow| one.samples == vk::SampleCountFlags::TYPE_1;
    let colors = instance.colors.len() as u32;
    let rules = [
        (
            profile.features.contains(Features::LOCAL_READ),
            "the device has no local read",
        ),
        (attached.iter().all(single), "an attachment is multisampled"),
        (
            inputs().all(drawn),
            "an input attachment is not a color attachment",
        ),
        (
            inputs().all(known),
            "an input attachment is in neither layout GENERAL nor RENDERING_LOCAL_READ",
        ),
        (
            !subpasses.iter().any(twice),
            "a subpass reads one attachment through two indices",
        ),
        (
            depths.all(|other| Some(other) == first),
            "the subpasses have different depth attachments",
        ),
        (
            colors <= profile.limits.max_color_attachments,
            "the device supports fewer color attachments",
        ),
    ];
    for (fits, why) in rules {
        at.demand(fits, "dynamic", true, format_args!("false: {why}"));
    }
}

/// Checks that a subpass waits for every earlier subpass whose results it uses: by a dependency on each (chains are not followed), or, in dynamic rendering,
/// by a barrier in between.
fn check_dependencies(checker: &mut Checker<'_>, index: u32, instance: &InstanceRow) {
    let (frame, pass) = (checker.frame, instance.pass);
    let subpasses = checker.tables.subpasses_of(index);
    let attached = |index: &usize| frame.accesses()[*index].kind.is_attached();
    let accesses: Vec<usize> = frame.pass(pass).accesses.indices().filter(attached).collect();
    for (&before, &after) in accesses.iter().flat_map(|a| accesses.iter().map(move |b| (a, b))) {
        let [earlier, later] = [before, after].map(|access| &frame.accesses()[access]);
        let same = (earlier.resource, earlier.version) == (later.resource, later.version);
        let conflict = same && earlier.range.intersects(later.range) && (earlier.writes || later.writes);
        if earlier.subpass >= later.subpass || !conflict {
            continue;
        }
        // With local read, a barrier between two draws comes after all subpasses before it, and before all subpasses after it.
        let (from, to) = (earlier.subpass, later.subpass);
        let between = subpasses.iter().flat_map(|row| {
            let rows = row.dependencies.of(&checker.tables.subpass_dependencies).iter();
            rows.filter(move |one| match instance.dynamic {
                true => from < one.dst_subpass && one.dst_subpass <= to && one.src_subpass < one.dst_subpass,
                false => (one.src_subpass, one.dst_subpass) == (from, to),
            })
        });
        let resolved = [before, after].map(|access| resolve_scope(checker, access));
        let [before, behind] = [before, after].map(|access| effect(checker, Some(index), access));
        let written = match earlier.writes {
            true => before.access & WRITES,
            false => A::NONE,
        };
        let made = match earlier.kind {
            AccessKind::InputAttachment => earlier.stages,
            _ => before.stages,
        };
        let [(resolved, _), (resolves, reads)] = resolved;
        // Attachments are accessed at no other stages.
        let pixels = |stages: S| scopes::expand(stages) & BY_REGION;
        let (made, waits) = (pixels(made | resolved), pixels(behind.stages | resolves));
        let seen = behind.access | reads;
        let ordered = |scopes: &Scopes| scopes.src_stages.contains(made) && scopes.dst_stages.contains(waits);
        let visible = |scopes: &Scopes| {
            written.is_empty() || scopes.src_access.contains(written) && scopes.dst_access.contains(seen)
        };
        let all: Vec<Scopes> = between.map(|one| one.scopes).collect();
        let (rule, lacks) = if !all.iter().any(ordered) {
            (LoweringRule::Execution, "does not wait for")
        } else if !all.iter().any(|scopes| ordered(scopes) && visible(scopes)) {
            (LoweringRule::Memory, "has no memory dependency on")
        } else {
            continue;
        };
        let (name, resource) = (checker.pass(pass), checker.resource(later.resource));
        let message =
            format!("subpass {to} of pass `{name}` {lacks} the use of `{resource}` in subpass {from}");
        checker.report(rule, message);
    }
}
