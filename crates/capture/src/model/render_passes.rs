//! Render pass objects: begins instances of them, with the attachments of every subpass as accesses to views.

use std::sync::Arc;

use ash::vk;
use tileheap::format;
use tileheap::frame::{AccessKind, ClearValue, LoadOp, SubresourceRange};
use tileheap::units::Run;
use tileheap_layer::render_passes::{AttachmentReference, RenderPassDesc, Subpass};

use super::access::{Coverage, FollowedAccess};
use super::objects::{Resource, View};
use super::recording::{RenderPassInstance, Rendering};
use crate::document::recording::{self, Attachment, AttachmentUse, DependencyScopes, Role};

/// A render pass object.
#[derive(Debug)]
pub(crate) struct RenderPass(pub(crate) RenderPassDesc);

/// The rendered area, and the number of layers, which applies only without multiview.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendered {
    pub(crate) area: vk::Rect2D,
    pub(crate) layers: u32,
}

impl RenderPass {
    /// Begins an instance with these views and clear values.
    pub(crate) fn begin(
        &self,
        views: &[Arc<View>],
        clears: &[vk::ClearValue],
        rendered: Rendered,
    ) -> RenderPassInstance {
        let mut loaded = vec![false; self.0.attachments.len()];
        let mut instance = RenderPassInstance {
            recorded: self.recorded(views, rendered),
            views: views.to_vec(),
            ..RenderPassInstance::default()
        };
        self.split_stencil(&mut instance.recorded, &mut instance.views);
        // Transitions of these attachments are not recorded.
        let keeps_layout = |one: &&AttachmentReference| {
            let attachment = self.0.attachments.get(one.0 as usize);
            attachment.is_some_and(|known| known.initial_layout == one.1 && known.final_layout == one.1)
        };
        for subpass in &self.0.subpasses {
            let resolves = subpass.resolves.iter().map(|(_, target)| target);
            let used = subpass
                .colors
                .iter()
                .chain(&subpass.depth_stencil)
                .chain(&subpass.inputs)
                .chain(resolves);
            let attachments = self.attachments_of(subpass, views, clears, &loaded);
            used.for_each(|one| loaded[one.0 as usize] = true);
            let rate = subpass.shading_rate.iter().filter(keeps_layout);
            let rate =
                rate.filter_map(|(view, layout)| Some(shading_rate(views.get(*view as usize)?, *layout)));
            let density = self.0.density_map.iter().filter(keeps_layout);
            let density =
                density.filter_map(|(view, layout)| density_map(views.get(*view as usize)?, *layout));
            instance.subpasses.push(Rendering {
                attachments,
                rates: rate.chain(density).collect(),
                area: rendered.area,
                view_mask: subpass.view_mask,
                resumes: false,
            });
        }
        instance
    }

    /// Returns the instance in the form of a recording; without attachments if views are missing.
    fn recorded(&self, views: &[Arc<View>], rendered: Rendered) -> recording::RenderPassInstance {
        let dependencies = self.0.dependencies.iter().filter(|one| one.0 != one.1);
        let subpass = |index: u32| (index != vk::SUBPASS_EXTERNAL).then_some(index);
        let dependencies = dependencies.map(|(from, to, one)| recording::SubpassDependency {
            from: subpass(*from),
            to: subpass(*to),
            scopes: DependencyScopes::of(one),
        });
        let is_multiview = self.0.subpasses.iter().any(|one| one.view_mask != 0);
        let layers = if is_multiview { u32::MAX } else { rendered.layers };
        let is_complete = views.len() >= self.0.attachments.len();
        let (mut attachments, mut subpasses) = (Vec::new(), Vec::new());
        if is_complete {
            let all = self.0.attachments.iter().zip(views);
            attachments.extend(all.map(|(one, view)| Attachment {
                load: one.load_op,
                store: one.store_op,
                stencil_load: one.stencil_load_op,
                stencil_store: one.stencil_store_op,
                initial: one.initial_layout,
                last: one.final_layout,
                ..attachment(view, layers)
            }));
        }
        for one in &self.0.subpasses {
            let uses = if is_complete { uses(one) } else { Vec::new() };
            subpasses.push(recording::Subpass {
                uses,
                view_mask: one.view_mask,
            });
        }
        recording::RenderPassInstance {
            area: area(rendered.area, views),
            attachments,
            subpasses,
            dependencies: dependencies.collect(),
            resumes: false,
            suspends: false,
        }
    }

    /// Makes stencil a separate attachment if it has its own layouts.
    fn split_stencil(&self, instance: &mut recording::RenderPassInstance, views: &mut Vec<Arc<View>>) {
        use vk::ImageAspectFlags as Aspects;
        for (index, [initial, last]) in &self.0.stencil_layouts {
            let (Some(both), Some(view)) = (
                instance.attachments.get_mut(*index as usize),
                views.get(*index as usize).cloned(),
            ) else {
                continue;
            };
            if both.range.aspects != Aspects::DEPTH | Aspects::STENCIL {
                (both.initial, both.last) = (*initial, *last);
                continue;
            }
            let mut stencil = both.clone();
            both.range.aspects = Aspects::DEPTH;
            stencil.range.aspects = Aspects::STENCIL;
            (stencil.initial, stencil.last) = (*initial, *last);
            let own = instance.attachments.len() as u32;
            instance.attachments.push(stencil);
            views.push(view);
            for (subpass, described) in instance.subpasses.iter_mut().zip(&self.0.subpasses) {
                let layout = |used: &AttachmentUse| {
                    let known = described
                        .stencil_layouts
                        .iter()
                        .find(|one| one.0 == used.attachment);
                    known.map_or(used.layout, |one| one.1)
                };
                let uses = subpass.uses.iter().filter(|one| one.attachment == *index);
                let uses = uses.map(|one| AttachmentUse {
                    attachment: own,
                    layout: layout(one),
                    ..*one
                });
                let uses: Vec<_> = uses.collect();
                subpass.uses.extend(uses);
            }
        }
    }

    /// Returns the accesses to the attachments of a subpass. A load operation applies only to the first subpass that uses the attachment.
    fn attachments_of(
        &self,
        subpass: &Subpass,
        views: &[Arc<View>],
        clears: &[vk::ClearValue],
        loaded: &[bool],
    ) -> Vec<FollowedAccess> {
        let of = |(index, layout): &AttachmentReference, kind| {
            let index = *index as usize;
            let (Some(view), Some(described)) = (views.get(index), self.0.attachments.get(index)) else {
                return Vec::new();
            };
            let clear = clears.get(index).copied().unwrap_or_default();
            let again = |load| {
                if loaded[index] {
                    LoadOp::Load
                } else {
                    load_op(load, clear, view.format)
                }
            };
            let loads = [described.load_op, described.stencil_load_op].map(again);
            let stores = [described.store_op, described.stencil_store_op];
            attachment_accesses(view, kind, *layout, loads, stores)
        };
        let mut all: Vec<FollowedAccess> = subpass
            .colors
            .iter()
            .flat_map(|one| of(one, AccessKind::ColorAttachment))
            .collect();
        all.extend(
            subpass
                .depth_stencil
                .iter()
                .flat_map(|one| of(one, AccessKind::DepthStencilAttachment)),
        );
        for (from, (target, layout)) in &subpass.resolves {
            if let (Some(source), Some(view)) = (views.get(*from as usize), views.get(*target as usize)) {
                all.push(resolve(
                    source,
                    view,
                    *layout,
                    self.0.attachments[*target as usize].store_op,
                    subpass.resolved_from(*from),
                ));
            }
        }
        all
    }
}

/// Returns the attachments of a subpass.
fn uses(subpass: &Subpass) -> Vec<AttachmentUse> {
    let used = |&(attachment, layout): &AttachmentReference, role| AttachmentUse {
        attachment,
        role,
        layout,
        resolved: vk::ImageAspectFlags::empty(),
    };
    let resolve = |one: &AttachmentReference, role, source: u32| AttachmentUse {
        resolved: subpass.resolved_from(source),
        ..used(one, role)
    };
    let layout_of = |attachment: u32| {
        let all = subpass.colors.iter().chain(&subpass.depth_stencil);
        all.copied().find(|one| one.0 == attachment)
    };
    let colors = subpass.colors.iter().map(|one| used(one, Role::Color));
    let depth = subpass
        .depth_stencil
        .iter()
        .map(|one| used(one, Role::DepthStencil));
    let inputs = subpass.inputs.iter().map(|one| used(one, Role::Input));
    let sources = subpass
        .resolves
        .iter()
        .filter_map(|(source, _)| layout_of(*source));
    let sources = sources.map(|one| resolve(&one, Role::ResolveSource, one.0));
    let targets = subpass
        .resolves
        .iter()
        .map(|(source, one)| resolve(one, Role::ResolveTarget, *source));
    colors
        .chain(depth)
        .chain(inputs)
        .chain(sources)
        .chain(targets)
        .collect()
}

/// Creates an attachment with the first `layers` layers of a view, without load and store operations; the number of its resource is set later.
pub(crate) fn attachment(view: &View, layers: u32) -> Attachment {
    let Run { first, end } = view.range.layers;
    Attachment {
        resource: 0,
        range: SubresourceRange {
            // The aspects of the view are ignored.
            aspects: format::aspects(view.image.desc.format),
            layers: Run::new(first, first.saturating_add(layers.max(1)).min(end)),
            ..view.range
        },
        load: vk::AttachmentLoadOp::NONE_KHR,
        store: vk::AttachmentStoreOp::NONE,
        stencil_load: vk::AttachmentLoadOp::NONE_KHR,
        stencil_store: vk::AttachmentStoreOp::NONE,
        initial: vk::ImageLayout::UNDEFINED,
        last: vk::ImageLayout::UNDEFINED,
    }
}

/// Returns the columns and rows of a render area; `None` if it covers every attachment.
pub(crate) fn area(area: vk::Rect2D, views: &[Arc<View>]) -> Option<[[u32; 2]; 2]> {
    let at = [area.offset.x, area.offset.y];
    let size = [area.extent.width, area.extent.height];
    let covers = |view: &Arc<View>| view.image.area(view.range.levels.first, at, size).is_none();
    let run = |axis: usize| {
        let first = at[axis].max(0) as u32;
        [first, first.saturating_add(size[axis])]
    };
    (!views.iter().all(covers)).then(|| [run(0), run(1)])
}

/// Converts a load operation with its clear value.
pub(crate) fn load_op(load: vk::AttachmentLoadOp, clear: vk::ClearValue, format: vk::Format) -> LoadOp {
    let zero = ClearValue::zero_of(format);
    // SAFETY: Every field consists of plain numbers; this holds for each line.
    let color = unsafe { clear.color };
    // SAFETY: As above.
    let depth = unsafe { clear.depth_stencil };
    let value = match zero {
        // SAFETY: As above.
        ClearValue::Float(_) => ClearValue::Float(unsafe { color.float32 }),
        // SAFETY: As above.
        ClearValue::Int(_) => ClearValue::Int(unsafe { color.int32 }),
        // SAFETY: As above.
        ClearValue::Uint(_) => ClearValue::Uint(unsafe { color.uint32 }),
        ClearValue::DepthStencil(..) => ClearValue::DepthStencil(depth.depth, depth.stencil),
    };
    match load {
        vk::AttachmentLoadOp::CLEAR => LoadOp::Clear(if value.is_nan() { zero } else { value }),
        vk::AttachmentLoadOp::DONT_CARE => LoadOp::DontCare,
        _ => LoadOp::Load,
    }
}

/// Returns an attachment's operations as accesses: one, or one for each aspect if the load operations differ.
pub(crate) fn attachment_accesses(
    view: &View,
    kind: AccessKind,
    layout: vk::ImageLayout,
    loads: [LoadOp; 2],
    stores: [vk::AttachmentStoreOp; 2],
) -> Vec<FollowedAccess> {
    use vk::{ImageAspectFlags as A, ImageLayout as L};
    const READ_ONLY: [L; 5] = [
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
        L::DEPTH_READ_ONLY_OPTIMAL,
        L::STENCIL_READ_ONLY_OPTIMAL,
        L::READ_ONLY_OPTIMAL,
        L::SHADER_READ_ONLY_OPTIMAL,
    ];
    let only_read = kind == AccessKind::DepthStencilAttachment && READ_ONLY.contains(&layout);
    let aspects = format::aspects(view.image.desc.format);
    let one = |aspects: A, which: usize| {
        let mut access = FollowedAccess::of_view(view, kind, layout);
        access.range.aspects = aspects;
        access.load = if only_read { LoadOp::Load } else { loads[which] };
        access.reads = access.load == LoadOp::Load;
        access.writes = !only_read;
        // An access to both aspects stores if either aspect is stored.
        let both = aspects.contains(A::DEPTH | A::STENCIL);
        let stored = both && stores.contains(&vk::AttachmentStoreOp::STORE);
        access.store = Some(if stored {
            vk::AttachmentStoreOp::STORE
        } else {
            stores[which]
        });
        access
    };
    match (aspects.contains(A::STENCIL), aspects.contains(A::DEPTH)) {
        (true, true) if loads[0] != loads[1] => vec![one(A::DEPTH, 0), one(A::STENCIL, 1)],
        (true, false) => vec![one(aspects, 1)],
        _ => vec![one(aspects, 0)],
    }
}

/// Returns the read of fragment densities; `None` if the view is not dynamic, because then the host reads them before the commands run.
pub(crate) fn density_map(view: &View, layout: vk::ImageLayout) -> Option<FollowedAccess> {
    let read = || FollowedAccess::of_view(view, AccessKind::FragmentDensityMap, layout).reading();
    view.is_dynamic.then(read)
}

/// Returns the read of shading rates.
pub(crate) fn shading_rate(view: &View, layout: vk::ImageLayout) -> FollowedAccess {
    FollowedAccess {
        stages: Some(vk::PipelineStageFlags2::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR),
        accesses: Some(vk::AccessFlags2::FRAGMENT_SHADING_RATE_ATTACHMENT_READ_KHR),
        described_as: Some(
            "shading rates are read from it, but the frame describes the read as one of a sampled image",
        ),
        ..FollowedAccess::of_view(view, AccessKind::SampledImage, layout).reading()
    }
}

/// The reason why a resolve of one aspect is described as a resolve of both.
const RESOLVES_BOTH: &str = "only one of its aspects is resolved, but the frame describes a resolve of both";

/// Returns the access to a resolve attachment. It writes all aspects completely, even if `resolved` contains only some of them, because a frame always
/// resolves both depth and stencil.
pub(crate) fn resolve(
    source: &View,
    target: &View,
    layout: vk::ImageLayout,
    store: vk::AttachmentStoreOp,
    resolved: vk::ImageAspectFlags,
) -> FollowedAccess {
    let mut access =
        FollowedAccess::of_view(target, AccessKind::ResolveAttachment, layout).writing(Coverage::Whole);
    (access.load, access.store) = (LoadOp::DontCare, Some(store));
    access.resolves = Some(Resource::Image(source.image.clone()));
    let all = format::aspects(target.image.desc.format);
    access.range.aspects = all;
    access.described_as = (!resolved.contains(all)).then_some(RESOLVES_BOTH);
    access
}

/// Returns the access to the aspect of a resolve's source that is not attached. It is needed because a frame always resolves both depth and stencil.
pub(crate) fn unattached(
    source: &View,
    layout: vk::ImageLayout,
    aspects: vk::ImageAspectFlags,
) -> FollowedAccess {
    let mut access = FollowedAccess::of_view(source, AccessKind::DepthStencilAttachment, layout).reading();
    access.range.aspects = aspects;
    (access.store, access.described_as) = (Some(vk::AttachmentStoreOp::NONE), Some(RESOLVES_BOTH));
    access
}
