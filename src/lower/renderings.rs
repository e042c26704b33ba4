//! Render passes: attachments, operations, and what pipelines and secondary command buffers are made for.

use ash::vk;

use super::chains::Chains;
use super::create::attachment_view;
use super::placed::Placed;
use super::tables::commands::{AttachmentRow, Operations, RenderingRow, ResolveRow};
use super::tables::objects::ViewRow;
use super::tables::{Lowered, Object};
use crate::frame::tables::{Access, Contents, PassKind};
use crate::frame::{AccessKind, ClearValue, LoadOp, PassId};
use crate::profile::Features;
use crate::units::{Bytes, Run};

/// Adds the render pass of a pass, and its attachments; `None` for passes of another kind.
pub(super) fn rendering(
    placed: &Placed<'_>,
    chains: &Chains,
    operations: &[Operations],
    pass: PassId,
    views: &mut ViewRows,
    lowered: &mut Lowered,
) -> Option<u32> {
    let frame = &placed.plan.frame;
    let described = frame.pass(pass);
    if described.kind != PassKind::Render {
        return None;
    }
    let mut attach = |kind| attachments(placed, chains, operations, pass, kind, views, lowered);
    let colors = attach(AccessKind::ColorAttachment);
    let depth = attach(AccessKind::DepthStencilAttachment);
    let resolves = attach(AccessKind::ResolveAttachment);
    let inputs = attach(AccessKind::InputAttachment);
    resolve(placed, pass, [colors, depth], resolves, lowered);
    let first = lowered.formats.len() as u32;
    let formats = colors.of(&lowered.attachments).iter().map(|color| color.format);
    lowered.formats.extend(formats);
    let color_formats = Run {
        first,
        end: lowered.formats.len() as u32,
    };
    let of_depth = depth.of(&lowered.attachments).first();
    let aspects = of_depth.map_or(vk::ImageAspectFlags::empty(), |one| {
        crate::format::aspects(one.format)
    });
    let format_of = |aspect| match of_depth {
        Some(one) if aspects.contains(aspect) => one.format,
        _ => vk::Format::UNDEFINED,
    };
    let samples = colors
        .of(&lowered.attachments)
        .iter()
        .chain(of_depth)
        .map(|one| one.samples)
        .next();
    let bound = placed.plan.passes[pass.index()].bound_object;
    let row = RenderingRow {
        dynamic: placed.plan.profile.features.contains(Features::DYNAMIC_RENDERING) && inputs.is_empty(),
        secondary: described.contents == Contents::Secondary,
        area: described.area.into(),
        layers: described.layers,
        view_mask: 0,
        colors,
        depth: (!depth.is_empty()).then_some(depth.first),
        depth_aspects: aspects,
        resolves,
        inputs,
        color_formats,
        depth_format: format_of(vk::ImageAspectFlags::DEPTH),
        stencil_format: format_of(vk::ImageAspectFlags::STENCIL),
        samples: samples.unwrap_or(vk::SampleCountFlags::TYPE_1),
        tile_memory: bound.map_or(Bytes::ZERO, |object| placed.plan.objects[object.index()].size),
        tile_shading: described.tile_shading,
    };
    lowered.renderings.push(row);
    Some(lowered.renderings.len() as u32 - 1)
}

/// Adds the attachments of one kind.
fn attachments(
    placed: &Placed<'_>,
    chains: &Chains,
    operations: &[Operations],
    pass: PassId,
    kind: AccessKind,
    views: &mut ViewRows,
    lowered: &mut Lowered,
) -> Run {
    let frame = &placed.plan.frame;
    let first = lowered.attachments.len() as u32;
    for index in frame.pass(pass).accesses.indices() {
        let access = &frame.accesses()[index];
        if access.kind != kind {
            continue;
        }
        let Object::Image(image) = placed.object(placed.placement_of(access)) else {
            continue;
        };
        let row = lowered.images[image as usize];
        let view = views.row_of(lowered, attachment_view(image, &row));
        lowered.attachments.push(AttachmentRow {
            view,
            format: row.format,
            samples: row.samples,
            layout: chains.epochs[chains.epoch_of[index] as usize].layout,
            operations: operations[index],
            stencil: operations[index],
            clear: match access.load_op {
                LoadOp::Clear(value) => value,
                _ => ClearValue::ZERO,
            },
            resolve: None,
        });
    }
    Run {
        first,
        end: lowered.attachments.len() as u32,
    }
}

/// Per image, the rows of its views: one for shaders, one as an attachment.
pub(super) struct ViewRows(pub(super) Vec<[Option<u32>; 2]>);

impl ViewRows {
    /// The row of a view, added if there is none like it.
    pub(super) fn row_of(&mut self, lowered: &mut Lowered, view: ViewRow) -> u32 {
        for row in &mut self.0[view.image as usize] {
            match *row {
                Some(row) if lowered.views[row as usize] == view => return row,
                Some(_) => {}
                None => {
                    *row = Some(lowered.views.len() as u32);
                    break;
                }
            }
        }
        lowered.views.push(view);
        lowered.views.len() as u32 - 1
    }
}

/// Says of each attachment where its samples are resolved to.
fn resolve(placed: &Placed<'_>, pass: PassId, sources: [Run; 2], targets: Run, lowered: &mut Lowered) {
    let accesses = placed.plan.frame.accesses_of(pass);
    let resolving = accesses
        .iter()
        .filter(|access| access.kind == AccessKind::ResolveAttachment);
    for (target, access) in targets.indices().zip(resolving) {
        let is_source =
            |source: &&Access| source.kind.is_attachment() && Some(source.resource) == access.resolves;
        let Some(source) = accesses.iter().find(is_source) else {
            continue;
        };
        let image = placed.object(placed.placement_of(source));
        for index in sources.iter().flat_map(|run| run.indices()) {
            let AttachmentRow { view, format, .. } = lowered.attachments[index];
            if Object::Image(lowered.views[view as usize].image) == image {
                lowered.attachments[index].resolve = Some(ResolveRow {
                    attachment: target as u32,
                    mode: resolve_mode(format),
                });
            }
        }
    }
}

/// How samples become one: the average, or the first of formats that have no average.
fn resolve_mode(format: vk::Format) -> vk::ResolveModeFlags {
    let name = format!("{format:?}");
    let color = crate::format::aspects(format).contains(vk::ImageAspectFlags::COLOR);
    if color && !name.contains("UINT") && !name.contains("SINT") {
        vk::ResolveModeFlags::AVERAGE
    } else {
        vk::ResolveModeFlags::SAMPLE_ZERO
    }
}
