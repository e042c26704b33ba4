//! Render pass objects: read from their create infos, and begun with views: every subpass with its attachments and what it synchronizes.

use std::sync::Arc;

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::format;
use tileheap::frame::{AccessKind, ClearValue, LoadOp};
use tileheap_layer::render_passes::{Reference, RenderPassDesc, Subpass};

use super::objects::{Resource, View};
use super::recording::{Access, Coverage, Instance, Rendering};
use crate::document::{Dependency, Memory};

const ATTACHMENT_ACCESS: vk::AccessFlags2 = vk::AccessFlags2::from_raw(
    vk::AccessFlags2::COLOR_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE.as_raw()
        | vk::AccessFlags2::INPUT_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
);

/// A render pass object.
#[derive(Debug)]
pub(crate) struct RenderPass(pub(crate) RenderPassDesc);

impl RenderPass {
    /// An instance with these views and clear values.
    pub(crate) fn begin(&self, views: &[Arc<View>], clears: &[vk::ClearValue], area: vk::Rect2D) -> Instance {
        let mut layouts: Vec<_> = self.0.attachments.iter().map(|one| one.initial_layout).collect();
        let mut loaded = vec![false; self.0.attachments.len()];
        let mut instance = Instance::default();
        for (index, subpass) in (0..).zip(&self.0.subpasses) {
            let resolves = subpass.resolves.iter().map(|(_, target)| target);
            let used = subpass
                .colors
                .iter()
                .chain(&subpass.depth)
                .chain(&subpass.inputs)
                .chain(resolves);
            let used: Vec<Reference> = used.copied().collect();
            let attachments = self.attachments_of(subpass, views, clears, &loaded);
            used.iter().for_each(|one| loaded[one.0 as usize] = true);
            instance.subpasses.push(Rendering {
                before: self.synchronized(index, &used, views, &mut layouts),
                attachments,
                area,
                view_mask: subpass.view_mask,
                resumes: false,
            });
        }
        let last: Vec<Reference> = (0..)
            .zip(&self.0.attachments)
            .map(|(index, one)| (index, one.final_layout))
            .collect();
        instance.after = self.synchronized(vk::SUBPASS_EXTERNAL, &last, views, &mut layouts);
        instance
    }

    /// The dependencies into a subpass, or out of the last, and the transitions of what it uses.
    fn synchronized(
        &self,
        subpass: u32,
        used: &[Reference],
        views: &[Arc<View>],
        layouts: &mut [vk::ImageLayout],
    ) -> Vec<Dependency<Resource>> {
        let into = self
            .0
            .dependencies
            .iter()
            .filter(|one| one.1 == subpass && one.0 != subpass);
        let mut all: Vec<_> = into.map(|one| Dependency::global(&one.2)).collect();
        let union = all.iter().cloned().reduce(|a, b| Dependency {
            src_stages: a.src_stages | b.src_stages,
            src_access: a.src_access | b.src_access,
            dst_stages: a.dst_stages | b.dst_stages,
            dst_access: a.dst_access | b.dst_access,
            ..a
        });
        // Those that Vulkan implies.
        let implied = if subpass == vk::SUBPASS_EXTERNAL {
            (
                S::ALL_COMMANDS,
                ATTACHMENT_ACCESS,
                S::NONE,
                vk::AccessFlags2::NONE,
            )
        } else {
            (
                S::NONE,
                vk::AccessFlags2::NONE,
                S::ALL_COMMANDS,
                ATTACHMENT_ACCESS,
            )
        };
        let union = union.unwrap_or_else(|| {
            let (src_stages, src_access, dst_stages, dst_access) = implied;
            Dependency {
                src_stages,
                src_access,
                dst_stages,
                dst_access,
                memory: Memory::None,
                previous: false,
                families: None,
            }
        });
        for (index, new) in used {
            let (Some(view), Some(old)) = (views.get(*index as usize), layouts.get_mut(*index as usize))
            else {
                continue;
            };
            if *old != *new {
                let resource = Resource::Image(view.image.clone());
                let memory = Memory::Image {
                    resource,
                    part: view.range,
                    old: *old,
                    new: *new,
                };
                all.push(Dependency {
                    memory,
                    ..union.clone()
                });
                *old = *new;
            }
        }
        all
    }

    /// Load operations count where an attachment is used first.
    fn attachments_of(
        &self,
        subpass: &Subpass,
        views: &[Arc<View>],
        clears: &[vk::ClearValue],
        loaded: &[bool],
    ) -> Vec<Access> {
        let of = |(index, layout): &Reference, kind| {
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
        let mut all: Vec<Access> = subpass
            .colors
            .iter()
            .flat_map(|one| of(one, AccessKind::ColorAttachment))
            .collect();
        all.extend(
            subpass
                .depth
                .iter()
                .flat_map(|one| of(one, AccessKind::DepthStencilAttachment)),
        );
        for (source, (target, layout)) in &subpass.resolves {
            if let (Some(source), Some(view)) = (views.get(*source as usize), views.get(*target as usize)) {
                all.push(resolve(
                    source,
                    view,
                    *layout,
                    self.0.attachments[*target as usize].store_op,
                ));
            }
        }
        all
    }
}

/// A load operation with its value, as a frame has it.
pub(crate) fn load_op(load: vk::AttachmentLoadOp, clear: vk::ClearValue, format: vk::Format) -> LoadOp {
    let zero = ClearValue::zero_of(format);
    // SAFETY: Every field is plain numbers; so in each line.
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

/// An attachment's operations of both aspects, as accesses: one, or one for each aspect where the operations differ.
pub(crate) fn attachment_accesses(
    view: &View,
    kind: AccessKind,
    layout: vk::ImageLayout,
    loads: [LoadOp; 2],
    stores: [vk::AttachmentStoreOp; 2],
) -> Vec<Access> {
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
        let mut access = Access::of_view(view, kind, layout);
        access.range.aspects = aspects;
        access.load = if only_read { LoadOp::Load } else { loads[which] };
        access.reads = access.load == LoadOp::Load;
        access.writes = !only_read;
        access.store = Some(stores[which]);
        access
    };
    match (aspects.contains(A::STENCIL), aspects.contains(A::DEPTH)) {
        (true, true) if loads[0] != loads[1] => vec![one(A::DEPTH, 0), one(A::STENCIL, 1)],
        (true, false) => vec![one(aspects, 1)],
        _ => vec![one(aspects, 0)],
    }
}

/// A resolve attachment, which is written whole.
pub(crate) fn resolve(
    source: &View,
    target: &View,
    layout: vk::ImageLayout,
    store: vk::AttachmentStoreOp,
) -> Access {
    let mut access = Access::of_view(target, AccessKind::ResolveAttachment, layout).writing(Coverage::Whole);
    (access.load, access.store) = (LoadOp::DontCare, Some(store));
    access.resolves = Some(Resource::Image(source.image.clone()));
    access
}
