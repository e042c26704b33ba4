//! Render passes: the effect of load and store operations and initial layouts on attachments in tile memory.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::{array, chained};
use tileheap_sync::program::{ResourceId, ResourcePart, Texels};
use tileheap_sync::render_pass::{self, AttachmentUse, Role, written_in};
use tileheap_units::Run;
use vk::ImageAspectFlags as Aspects;

use super::checks::{AccessMethod, is_bound, unbound_attachments};
use super::contents::Contents;
use super::discards::{Discard, DiscardReason};
use super::finding::Finding;
use super::objects::Object;
use super::order::log::{EnclosingSubpass, Log, NOTHING, ORDINARY};
use super::order::passes::{Feedback, Subpasses};
use super::position::BoundMemory;
use super::recording::{Pass, Preparation, Recording};
use super::resources::{Attachment, RenderPass, Resources, View, is_read_only_layout};
use crate::tables::messages::MessageId;

/// An attachment in a render pass instance, if the layer knows its image.
pub(crate) struct BoundAttachment {
    pub(crate) view: Arc<View>,
    pub(crate) attachment: Attachment,
    /// The attachment's index in the render pass; 0 in dynamic rendering.
    pub(crate) index: u32,
    /// The attachment's uses in dynamic rendering; those in a render pass object are [`RenderPass::uses`].
    pub(crate) roles: Vec<Role>,
    /// The layers of the view that are rendered, counted from the view's first layer.
    layers: Run,
    /// True if the render area covers the whole attachment.
    is_covered: bool,
}

/// The attachments of `vkCmdBeginRenderPass` whose images the layer knows.
pub(crate) fn of_render_pass(
    resources: &Resources,
    info: &vk::RenderPassBeginInfo<'_>,
) -> Vec<BoundAttachment> {
    let pass = resources.render_passes.get(info.render_pass.as_raw());
    let framebuffer = resources.framebuffers.get(info.framebuffer.as_raw());
    let mut attached = Vec::new();
    if let (Some(pass), Some(framebuffer)) = (pass, framebuffer) {
        let views = if framebuffer.imageless {
            let views = chained!(info.p_next => vk::RenderPassAttachmentBeginInfo<'_>);
            let views = views.map_or(&[][..], |views| {
                array!(views.p_attachments, views.attachment_count)
            });
            views
                .iter()
                .map(|view| resources.image_views.get(view.as_raw()))
                .collect()
        } else {
            framebuffer.attachments.clone()
        };
        for (index, (view, attachment)) in (0..).zip(views.into_iter().zip(&pass.attachments)) {
            attached.extend(view.map(|view| BoundAttachment {
                index,
                roles: Vec::new(),
                layers: rendered_layers(framebuffer.layers, pass.view_mask),
                is_covered: covers(info.render_area, view.resource.extent),
                view,
                attachment: *attachment,
            }));
        }
    }
    attached
}

/// The attachments of `vkCmdBeginRendering` whose images the layer knows.
pub(crate) fn of_rendering(resources: &Resources, info: &vk::RenderingInfo<'_>) -> Vec<BoundAttachment> {
    let views = &resources.image_views;
    let layers = rendered_layers(info.layer_count, info.view_mask);
    let mut attached: Vec<BoundAttachment> = Vec::new();
    let mut add = |target: &vk::RenderingAttachmentInfo<'_>, is_depth: bool, is_stencil: bool| {
        let aspects = match (is_depth, is_stencil) {
            (_, true) => Aspects::STENCIL,
            (true, false) => Aspects::DEPTH,
            (false, false) => Aspects::COLOR,
        };
        if target.resolve_mode != vk::ResolveModeFlags::NONE {
            if let Some(view) = views.get(target.resolve_image_view.as_raw()) {
                attached.push(BoundAttachment {
                    index: 0,
                    roles: vec![Role::ResolveTarget { resolved: aspects }],
                    layers,
                    is_covered: covers(info.render_area, view.resource.extent),
                    view,
                    attachment: Attachment {
                        initial_layout: target.resolve_image_layout,
                        final_layout: target.resolve_image_layout,
                        aspects,
                        ..RESOLVED
                    },
                });
            }
        }
        let Some(view) = views.get(target.image_view.as_raw()) else {
            return;
        };
        let (load, store) = (target.load_op, target.store_op);
        let other = attached
            .iter_mut()
            .find(|other| Arc::ptr_eq(&other.view.resource, &view.resource));
        match other {
            Some(other) if is_stencil => {
                (other.attachment.stencil_load, other.attachment.stencil_store) = (load, store);
                other.attachment.is_read_only &= is_read_only_layout(target.image_layout);
                other.attachment.aspects |= aspects;
                merge(&mut other.roles, roles(target, aspects));
            }
            _ => {
                // The aspect that is not attached is unchanged.
                let (kept_load, kept_store) = (vk::AttachmentLoadOp::NONE_KHR, vk::AttachmentStoreOp::NONE);
                let two = view.resource.has_two_aspects();
                let stencil = if two {
                    (kept_load, kept_store)
                } else {
                    (load, store)
                };
                let (first, second) = if is_stencil && two {
                    (stencil, (load, store))
                } else {
                    ((load, store), stencil)
                };
                attached.push(BoundAttachment {
                    index: 0,
                    roles: roles(target, aspects),
                    layers,
                    is_covered: covers(info.render_area, view.resource.extent),
                    view,
                    attachment: Attachment {
                        load: first.0,
                        store: first.1,
                        stencil_load: second.0,
                        stencil_store: second.1,
                        initial_layout: target.image_layout,
                        final_layout: target.image_layout,
                        view: 0,
                        aspects,
                        is_resolve: false,
                        is_depth,
                        is_read_only: is_read_only_layout(target.image_layout),
                    },
                });
            }
        }
    };
    for color in array!(info.p_color_attachments, info.color_attachment_count) {
        add(color, false, false);
    }
    if let Some(depth) = array!(info.p_depth_attachment, 1).first() {
        add(depth, true, false);
    }
    if let Some(stencil) = array!(info.p_stencil_attachment, 1).first() {
        add(stencil, true, true);
    }
    attached
}

/// The uses of an attachment of dynamic rendering.
fn roles(target: &vk::RenderingAttachmentInfo<'_>, aspects: Aspects) -> Vec<Role> {
    let drawn = match aspects {
        Aspects::COLOR => Role::Color,
        tests => Role::DepthStencil {
            written: written_in(target.image_layout) & tests,
        },
    };
    let is_resolved = target.resolve_mode != vk::ResolveModeFlags::NONE;
    let source = is_resolved.then_some(Role::ResolveSource { resolved: aspects });
    std::iter::once(drawn).chain(source).collect()
}

/// Adds the uses of the stencil aspect to those of the depth aspect.
fn merge(roles: &mut Vec<Role>, others: Vec<Role>) {
    for other in others {
        let mut merged = false;
        for own in roles.iter_mut() {
            match (own, other) {
                (Role::DepthStencil { written: all }, Role::DepthStencil { written: aspects })
                | (Role::ResolveSource { resolved: all }, Role::ResolveSource { resolved: aspects }) => {
                    *all |= aspects;
                    merged = true;
                }
                _ => {}
            }
        }
        if !merged {
            roles.push(other);
        }
    }
}

/// The operations that a render pass instance performs on its attachments, and the ways in which it accesses them.
#[derive(Clone, Copy)]
pub(crate) struct PerformedOperations {
    pub(crate) loads: bool,
    pub(crate) stores: bool,
    /// True if draws may read attachments as input attachments without a render pass object.
    pub(crate) reads_locally: bool,
    /// True if tile shading is enabled for the instance.
    pub(crate) is_tile_shading: bool,
}

impl PerformedOperations {
    /// The operations of dynamic rendering: a suspended instance does not store yet, and a resuming one does not load again.
    pub(crate) fn of(
        flags: vk::RenderingFlags,
        reads_locally: bool,
        is_tile_shading: bool,
    ) -> PerformedOperations {
        PerformedOperations {
            reads_locally,
            is_tile_shading,
            loads: !flags.contains(vk::RenderingFlags::RESUMING),
            stores: !flags.contains(vk::RenderingFlags::SUSPENDING),
        }
    }
}

/// The operations of a resolve attachment of dynamic rendering: the resolve itself writes the attachment, and no store
/// operation applies.
const RESOLVED: Attachment = Attachment {
    load: vk::AttachmentLoadOp::NONE_KHR,
    store: vk::AttachmentStoreOp::NONE,
    stencil_load: vk::AttachmentLoadOp::NONE_KHR,
    stencil_store: vk::AttachmentStoreOp::NONE,
    initial_layout: vk::ImageLayout::UNDEFINED,
    final_layout: vk::ImageLayout::UNDEFINED,
    view: 0,
    aspects: Aspects::empty(),
    is_resolve: true,
    is_depth: false,
    is_read_only: false,
};

/// The layers of a view that an instance renders: the first `count`, or, if `view_mask` is not 0, all from its lowest to its highest bit.
fn rendered_layers(count: u32, view_mask: u32) -> Run {
    match view_mask {
        0 => Run::new(0, count.max(1)),
        mask => Run::new(mask.trailing_zeros(), u32::BITS - mask.leading_zeros()),
    }
}

fn covers(area: vk::Rect2D, extent: vk::Extent3D) -> bool {
    area.offset.x <= 0
        && area.offset.y <= 0
        && i64::from(area.offset.x) + i64::from(area.extent.width) >= i64::from(extent.width)
        && i64::from(area.offset.y) + i64::from(area.extent.height) >= i64::from(extent.height)
}

impl Attachment {
    fn is_from_undefined(&self) -> bool {
        self.initial_layout == vk::ImageLayout::UNDEFINED
    }

    fn discards_on_load(&self) -> bool {
        let discards = vk::AttachmentLoadOp::DONT_CARE;
        self.is_from_undefined() || (self.load == discards && self.stencil_load == discards)
    }

    fn discards_on_store(&self) -> bool {
        let discards = vk::AttachmentStoreOp::DONT_CARE;
        self.store == discards && self.stencil_store == discards
    }
}

/// The commands to record before a render pass instance, and the findings to report.
#[derive(Default)]
pub(crate) struct PassPrologue {
    /// True if the guard must be recorded first: the command that begins the render pass is the first action command with tile memory bound, and does
    /// not resume another instance.
    pub(crate) guard: bool,
    pub(crate) discards: Vec<Discard>,
    pub(crate) findings: Vec<Finding>,
}

/// Begins a render pass instance. Returns whether the guard must be recorded before it, the contents that it discards at its beginning, and the
/// findings.
pub(crate) fn begin(
    recording: &mut Recording,
    attached: &[BoundAttachment],
    performs: PerformedOperations,
    render_pass: Option<&RenderPass>,
    area: vk::Rect2D,
    command: &'static str,
) -> PassPrologue {
    recording.at.act(command);
    let at = recording.at;
    let Preparation { guard, discard } = recording.act(command).unwrap_or_default();
    let mut discards: Vec<_> = discard.into_iter().collect();
    let mut findings = Vec::new();
    let instance = instance(attached, performs, render_pass, (area, at.bound));
    let mut pass = Pass {
        suspends: !performs.stores,
        subpasses: Subpasses::begin(
            &mut recording.order,
            instance,
            Feedback {
                is_tile_shading: performs.is_tile_shading,
                reads_locally: inputs(attached, performs),
            },
            &at,
        ),
        ..Pass::default()
    };
    if !performs.loads {
        // No action or synchronization command may come between an instance and the one that resumes it.
        pass.end_discards = std::mem::take(&mut recording.suspended_discards);
        pass.end_discards.append(&mut discards);
    }
    for (index, this) in attached.iter().enumerate() {
        let Some(place) = this.view.resource.tile_place() else {
            continue;
        };
        pass.attached_ranges.push((place.first, place.end));
        let object = this.view.resource.object;
        let is_wrong = !is_bound(at.bound, place);
        if is_wrong && !this.attachment.is_resolve {
            pass.unbound.push((this.view.resource.clone(), at.bound));
            // The first draw is checked, regardless of earlier draws.
            recording.check_again();
        }
        if this.attachment.is_resolve {
            let text = format!("{object}, a resolve attachment, is in tile memory, which is not allowed");
            findings.push(Finding::new(MessageId::ResolveAttachment, object, text).at(at));
        }
        if performs.loads && this.attachment.discards_on_load() && this.view.resource.is_single() {
            let all = this.attachment.is_from_undefined() || this.is_covered;
            if all && !shares_bytes(attached, index) {
                discards.push(place.discard(DiscardReason::Load));
            }
        }
        let drops = performs.stores && this.attachment.discards_on_store() && this.is_covered;
        if drops && this.view.resource.is_single() {
            pass.end_discards.push(place.discard(DiscardReason::Store));
        }
    }
    recording.pass = Some(pass);
    PassPrologue {
        guard: guard && performs.loads,
        discards,
        findings,
    }
}

/// For each attachment of dynamic rendering: `true` if its image can be an input attachment. Empty if draws read no input
/// attachments.
fn inputs(attached: &[BoundAttachment], performs: PerformedOperations) -> Vec<bool> {
    let read = attached.iter().filter(|_| performs.reads_locally);
    read.map(|one| one.view.resource.is_input).collect()
}

/// The instance in the model's form. It includes attachments that are not bound to memory, for the dependencies that their layouts imply.
/// Nothing is loaded from an attachment whose memory object is not bound, which is a separate mistake.
fn instance(
    attached: &[BoundAttachment],
    performs: PerformedOperations,
    render_pass: Option<&RenderPass>,
    (area, bound): (vk::Rect2D, Option<BoundMemory>),
) -> render_pass::RenderPass {
    let is_covered = attached.iter().all(|one| one.is_covered);
    let axis = |first: i32, size: u32| match u32::try_from(first) {
        // No end if all of each image is covered: extents of images are not part of the model.
        _ if is_covered => Run::new(0, u32::MAX),
        Ok(first) => Run::new(first, first.saturating_add(size)),
        Err(_) => Run::new(0, size),
    };
    let (offset, extent) = (area.offset, area.extent);
    let mut instance = render_pass::RenderPass {
        area: [
            axis(offset.x, extent.width),
            axis(offset.y, extent.height),
            Run::new(0, u32::MAX),
        ],
        resumes: !performs.loads,
        suspends: !performs.stores,
        ..render_pass::RenderPass::default()
    };
    match render_pass {
        Some(pass) => {
            let all = pass.attachments.iter().map(|one| {
                let in_tile = attached
                    .iter()
                    .find(|attached| attached.index as usize == one.view);
                one.of_model(in_tile.map(|attached| (&*attached.view, attached.layers)), bound)
            });
            instance.attachments = all.collect();
            instance.subpasses.clone_from(&pass.uses);
            instance.dependencies.clone_from(&pass.dependencies);
        }
        None => {
            let all = attached
                .iter()
                .map(|one| one.attachment.of_model(Some((&*one.view, one.layers)), bound));
            instance.attachments = all.collect();
            let uses = attached.iter().enumerate().flat_map(|(attachment, one)| {
                let layout = one.attachment.initial_layout;
                one.roles.iter().map(move |&role| AttachmentUse {
                    attachment,
                    role,
                    layout,
                })
            });
            instance.subpasses = vec![uses.collect()];
        }
    }
    instance
}

impl Attachment {
    /// The attachment in the model's form, with its view of an image that is bound to memory. In an image with linear tiling, the bytes that the
    /// render area covers are unknown.
    fn of_model(&self, view: Option<(&View, Run)>, bound: Option<BoundMemory>) -> render_pass::Attachment {
        let place = view.and_then(|(view, _)| view.resource.place.get());
        let is_wrong = place.is_some_and(|place| place.is_tile && !is_bound(bound, place));
        let load = |load| match is_wrong {
            true => vk::AttachmentLoadOp::NONE_KHR,
            false => load,
        };
        let one = Run::new(0, 1);
        let (resource, range) = match view.map(|(view, layers)| (view.resource.number, view.part, layers)) {
            Some((number, ResourcePart::Texels(texels), layers)) if place.is_some() => {
                let at = |layer: u32| texels.layers.first.saturating_add(layer).min(texels.layers.end);
                let layers = Run::new(at(layers.first), at(layers.end));
                (ResourceId(number), (texels.levels, layers))
            }
            _ => (ORDINARY, (one, one)),
        };
        render_pass::Attachment {
            resource,
            texels: Texels {
                aspects: self.aspects,
                levels: range.0,
                layers: range.1,
                area: None,
            },
            load: load(self.load),
            store: self.store,
            stencil_load: load(self.stencil_load),
            stencil_store: self.stencil_store,
            initial_layout: self.initial_layout,
            final_layout: self.final_layout,
        }
    }
}

/// Returns `true` if another attachment shares bytes with this one: the pass uses one after the other, and it is unknown which of them has contents
/// when the pass begins.
fn shares_bytes(attached: &[BoundAttachment], index: usize) -> bool {
    let Some(place) = attached[index].view.resource.tile_place() else {
        return false;
    };
    attached.iter().enumerate().any(|(other, attached)| {
        let place_of = attached.view.resource.tile_place();
        other != index && place_of.is_some_and(|other| other.first < place.end && place.first < other.end)
    })
}

/// Ends a render pass instance. Returns the bytes that become undefined (none if the instance is suspended), and findings about attachments whose
/// memory object was not bound, unless a draw has reported them.
pub(crate) fn end(recording: &mut Recording, command: &'static str) -> (Vec<Discard>, Vec<Finding>) {
    recording.at.act(command);
    let at = recording.at;
    let Some(mut pass) = recording.pass.take() else {
        return (Vec::new(), Vec::new());
    };
    let findings = unbound_attachments(&mut pass, at, AccessMethod::PassWithoutDraw(command));
    pass.subpasses.end(&mut recording.order, &at);
    let inherited = pass
        .end_discards
        .iter()
        .filter(|discard| discard.reason == DiscardReason::Inheritance);
    for discard in inherited {
        // The pass has stored the contents that were lost.
        for (first, end) in &pass.attached_ranges {
            let (first, end) = (discard.first.max(*first), discard.end.min(*end));
            if first < end {
                let of_attachment = Discard {
                    first,
                    end,
                    ..*discard
                };
                recording.order.discard(of_attachment, None, &at);
            }
        }
    }
    if pass.ran_secondaries {
        recording.at.bind(None);
    }
    if pass.suspends {
        recording.suspended_discards = std::mem::take(&mut pass.end_discards);
    }
    (pass.end_discards, findings)
}

/// A secondary command buffer and its effects.
pub(crate) struct Secondary {
    pub(crate) handle: vk::CommandBuffer,
    pub(crate) contents: Contents,
    pub(crate) uses_tile: bool,
    pub(crate) order: Arc<Log>,
}

/// Runs one command buffer of `vkCmdExecuteCommands` in the model. Returns the bytes to poison before it; always `None` inside a render pass.
pub(crate) fn execute(recording: &mut Recording, secondary: &Secondary) -> Option<Discard> {
    recording.uses_tile |= secondary.uses_tile;
    let discard = secondary
        .contents
        .entry
        .and_then(|entry| enter(recording, secondary, entry));
    const COMMAND: &str = "vkCmdExecuteCommands";
    let pass = recording.pass.as_ref();
    let drawn: Vec<ResourceId> = pass.map_or_else(Vec::new, |pass| pass.subpasses.drawn().collect());
    let attachments = secondary
        .order
        .draws
        .and_then(|acts| recording.draw(COMMAND, acts));
    // The texels of attachments that it writes are not tracked.
    recording.writes_attachments |= secondary.order.writes_any(&drawn);
    let subpass = match attachments {
        Some(all) if !secondary.order.logs_draws => {
            recording.access_with(all, NOTHING, COMMAND);
            EnclosingSubpass {
                drawn,
                attachments: None,
            }
        }
        attachments => EnclosingSubpass { drawn, attachments },
    };
    recording
        .order
        .run(secondary.order.clone(), subpass, &recording.at);
    discard
}

/// Applies the effects of a secondary command buffer to the contents of tile memory, given that `entry` bytes are bound at its first action command.
/// Returns the bytes to poison before it; always `None` inside a render pass.
fn enter(recording: &mut Recording, secondary: &Secondary, entry: u64) -> Option<Discard> {
    let (at, live) = (recording.at, recording.contents.live);
    if let Some(pass) = &mut recording.pass {
        if entry < live {
            let reason = DiscardReason::Inheritance;
            let discard = Discard {
                first: entry,
                end: live,
                reason,
            };
            recording
                .order
                .discard(discard, Some(Object::of(secondary.handle)), &at);
            pass.end_discards.push(discard);
        }
        return None;
    }
    let mut discard = None;
    if recording.contents.entry.is_none() {
        recording.contents.entry = Some(entry);
        recording.enter(entry, DiscardReason::Secondary);
    } else if entry < live {
        discard = Some(recording.discard((entry, live), DiscardReason::Secondary));
    }
    recording.contents.live = secondary.contents.live;
    discard
}

/// Applies the effects of `vkCmdExecuteCommands` to the state: clears the push constants, and resets the bound tile memory, which is undefined
/// afterwards; inside a render pass, it is only reset once the pass ends.
pub(crate) fn executed(recording: &mut Recording) {
    recording.push_constants.clear();
    match &mut recording.pass {
        Some(pass) => pass.ran_secondaries = true,
        // The specification does not define what is bound now.
        None => recording.at.bind(None),
    }
}
