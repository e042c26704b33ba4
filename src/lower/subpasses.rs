//! Subpasses: the choice between local read and a render pass object, and their dependencies.

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::tables::Lowered;
use super::tables::commands::Scopes;
use super::tables::instances::{AttachmentRow, InstanceRow, SubpassDependencyRow, SubpassRow};
use crate::frame::tables::{Access, CommandSource, PassKind, ResourceKind};
use crate::frame::{AccessKind, Frame, PassId};
use crate::profile::{DeviceProfile, Features};
use crate::units::Run;
use tileheap_device::{AccessKinds, scopes};

/// Returns true if a render pass can be begun by `vkCmdBeginRendering` on the device. A pass with input attachments or several subpasses must have only
/// single-sampled attachments without resolves, and read only color in place: every implementation of local read supports that. Several subpasses with
/// secondary contents would need barriers between them, but only `vkCmdExecuteCommands` is valid there.
///
/// Source: `VkPhysicalDeviceVulkan14Properties`, `dynamicRenderingLocalReadDepthStencilAttachments` and
/// `dynamicRenderingLocalReadMultisampledAttachments`; `VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT`.
#[inline]
pub(super) fn is_dynamic(
    frame: &Frame,
    profile: &DeviceProfile,
    (pass, kinds): (PassId, AccessKinds),
    scratch: &Bump,
) -> bool {
    let described = frame.pass(pass);
    if described.tile_shading && described.contents == CommandSource::Secondary {
        // In dynamic rendering, VUID-VkCommandBufferBeginInfo-flags-10618 forbids what VUID-vkCmdExecuteCommands-pCommandBuffers-10620 demands.
        return false;
    }
    if described.subpasses == 1 && !kinds.contains(AccessKind::InputAttachment) {
        return profile.features.contains(Features::DYNAMIC_RENDERING);
    }
    is_local_read(frame, profile, pass, scratch)
}

/// Returns true if a render pass with input attachments or several subpasses can use dynamic rendering with local read.
fn is_local_read(frame: &Frame, profile: &DeviceProfile, pass: PassId, scratch: &Bump) -> bool {
    let (described, accesses) = (frame.pass(pass), frame.accesses_of(pass));
    let is_input = |access: &Access| access.kind == AccessKind::InputAttachment;
    let needs = Features::DYNAMIC_RENDERING | Features::SYNCHRONIZATION_2 | Features::LOCAL_READ;
    let inline = described.contents != CommandSource::Secondary || described.subpasses == 1;
    let mut fits = profile.features.contains(needs) && !described.tile_shading && inline;
    let part = |of: &Access| (of.resource, of.version, of.range.levels, of.range.layers, of.view);
    let (mut colors, mut depths) = (Vec::new_in(scratch), Vec::new_in(scratch));
    for access in accesses.iter().filter(|access| access.kind.is_attached()) {
        let ResourceKind::Image { desc, usage, .. } = frame.resource(access.resource).kind else {
            continue;
        };
        let is_color = access.range.aspects == vk::ImageAspectFlags::COLOR;
        let attachments = if is_color { &mut colors } else { &mut depths };
        if !attachments.contains(&part(access)) {
            attachments.push(part(access));
        }
        let same = |other: &&Access| other.subpass == access.subpass && part(other) == part(access);
        let inputs = accesses.iter().filter(|other| is_input(other) && same(other));
        fits &= desc.samples == vk::SampleCountFlags::TYPE_1
            && access.kind != AccessKind::ResolveAttachment
            && (!is_color || usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT))
            && inputs.count() <= usize::from(is_color);
    }
    fits && depths.len() <= 1 && colors.len() <= profile.limits.max_color_attachments as usize
}

/// Makes each subpass of a render pass object preserve the attachments that it does not use, but earlier subpasses do, and that later subpasses use or
/// the instance stores.
pub(super) fn preserve(instance: &InstanceRow, scratch: &Bump, lowered: &mut Lowered) {
    let uses = |lowered: &Lowered, row: &SubpassRow, attachment: u32| {
        let [colors, resolves, inputs] =
            [row.colors, row.resolves, row.inputs].map(|run| run.of(&lowered.references));
        let depth = [row.depth, row.depth_resolve].map(|one| one.get());
        let depth = depth
            .into_iter()
            .flatten()
            .map(|one| &lowered.references[one as usize]);
        let mut all = colors.iter().chain(resolves).chain(inputs).chain(depth);
        all.any(|one| one.attachment == attachment)
    };
    let attachments = instance.attachments.of(&lowered.attachments);
    let stores = |row: &AttachmentRow| {
        [row.operations.store, row.stencil.store] != [vk::AttachmentStoreOp::DONT_CARE; 2]
    };
    let stored: Vec<'_, bool> = Vec::from_iter_in(attachments.iter().map(stores), scratch);
    for subpass in instance.subpasses.indices() {
        let first = lowered.indices.len() as u32;
        for (attachment, stored) in (0..).zip(&stored) {
            let used = |rows: std::ops::Range<usize>| {
                lowered.subpasses[rows]
                    .iter()
                    .any(|row| uses(lowered, row, attachment))
            };
            let Run { first, end } = instance.subpasses;
            let later = *stored || used(subpass + 1..end as usize);
            if !used(subpass..subpass + 1) && used(first as usize..subpass) && later {
                lowered.indices.push(attachment);
            }
        }
        lowered.subpasses[subpass].preserved = Run::new(first, lowered.indices.len() as u32);
    }
}

/// Adds the dependencies of a subpass: on the earlier ones with conflicting accesses, and last on itself if it reads an attachment that it writes.
pub(super) fn dependencies(frame: &Frame, pass: PassId, subpass: u32, lowered: &mut Lowered) -> Run {
    let first = lowered.subpass_dependencies.len() as u32;
    let flags = match frame.pass(pass).view_mask {
        0 => vk::DependencyFlags::BY_REGION,
        _ => vk::DependencyFlags::BY_REGION | vk::DependencyFlags::VIEW_LOCAL,
    };
    let of = |subpass| {
        let accesses = frame.accesses_of(pass).iter();
        accesses.filter(move |access| access.subpass == subpass && access.kind.is_attached())
    };
    for after in 0..=subpass {
        let mut all: Option<Scopes> = None;
        for later in of(subpass) {
            let own = |earlier: &&Access| {
                let same = (earlier.resource, earlier.version) == (later.resource, later.version)
                    && earlier.range.intersects(later.range);
                let itself = earlier.kind.is_attachment() && later.kind == AccessKind::InputAttachment;
                same && (after < subpass || itself) && (earlier.writes || later.writes)
            };
            for earlier in of(after).filter(own) {
                let scopes = all.get_or_insert_default();
                scopes.src_stages |= of_pixels(earlier.stages);
                if earlier.kind.is_attachment() {
                    scopes.src_stages |= earlier.kind.default_stages(PassKind::Render);
                }
                scopes.src_access |= earlier.kind.access_flags(false, earlier.writes);
                scopes.dst_stages |= of_pixels(later.stages);
                scopes.dst_access |= later.kind.access_flags(true, later.writes);
                if after < subpass {
                    add_operations(frame, [earlier, later], scopes);
                }
            }
        }
        let row = all.map(|scopes| SubpassDependencyRow {
            src_subpass: after,
            dst_subpass: subpass,
            flags,
            scopes,
        });
        lowered.subpass_dependencies.extend(row);
    }
    Run::new(first, lowered.subpass_dependencies.len() as u32)
}

/// Adds the scopes of the load, store and resolve operations on an attachment that two subpasses use: the first use also loads it, the last one stores
/// it, and each may be followed by a resolve at the end of its subpass.
fn add_operations(frame: &Frame, [earlier, later]: [&Access; 2], scopes: &mut Scopes) {
    let loaded_as = match later.range.aspects.contains(vk::ImageAspectFlags::COLOR) {
        true => AccessKind::ColorAttachment,
        false => AccessKind::DepthStencilAttachment,
    };
    let is_resolved = |access: &Access| {
        let mut others = frame.accesses_of(access.pass).iter();
        others.any(|other| (other.resolves, other.subpass) == (Some(access.resource), access.subpass))
    };
    if earlier.kind == AccessKind::ResolveAttachment {
        scopes.src_stages |= loaded_as.default_stages(PassKind::Render);
        scopes.src_access |= loaded_as.access_flags(false, true);
    }
    if later.kind == AccessKind::ResolveAttachment {
        scopes.dst_stages |= later.kind.default_stages(PassKind::Render);
    }
    scopes.dst_stages |= loaded_as.default_stages(PassKind::Render);
    scopes.dst_access |= loaded_as.access_flags(true, true);
    // Depth samples, too, are read with color attachment reads.
    if is_resolved(earlier) {
        scopes.src_stages |= S::COLOR_ATTACHMENT_OUTPUT;
    }
    if is_resolved(later) {
        scopes.dst_stages |= S::COLOR_ATTACHMENT_OUTPUT;
        scopes.dst_access |= vk::AccessFlags2::COLOR_ATTACHMENT_READ;
    }
}

/// The framebuffer-space stages among `stages`: dependencies by region must not have others (VUID-VkSubpassDependency-dstSubpass-00873), and no others access
/// attachments.
fn of_pixels(stages: S) -> S {
    const PIXELS: S = S::from_raw(
        S::FRAGMENT_SHADER.as_raw()
            | S::EARLY_FRAGMENT_TESTS.as_raw()
            | S::LATE_FRAGMENT_TESTS.as_raw()
            | S::COLOR_ATTACHMENT_OUTPUT.as_raw(),
    );
    scopes::expand(stages) & PIXELS
}
