//! Render passes: attachments, operations, and what pipelines and secondary command buffers are made for.

use ash::vk;

use super::chains::Chains;
use super::create::attachment_view;
use super::operations::{AttachmentOperations, deciding};
use super::placed::Placed;
use super::subpasses::dependencies;
use super::tables::commands::{AttachmentRow, RenderingRow, ResolveRow};
use super::tables::objects::ViewRow;
use super::tables::{Lowered, Object};
use crate::frame::tables::{Access, Contents, PassKind};
use crate::frame::{AccessKind, ClearValue, Frame, LoadOp, PassId};
use crate::units::{Bytes, Run};

/// Adds the render pass of a pass, a row for each subpass, and its attachments; `None` for passes of another kind.
pub(super) fn rendering(
    placed: &Placed<'_>,
    chains: &Chains,
    operations: &AttachmentOperations,
    pass: PassId,
    views: &mut ViewRows,
    lowered: &mut Lowered,
) -> Option<u32> {
    let frame = &placed.plan.frame;
    let described = frame.pass(pass);
    if described.kind != PassKind::Render {
        return None;
    }
    let bound = placed.plan.passes[pass.index()].bound_object;
    let row = lowered.renderings.len() as u32;
    for subpass in 0..described.subpasses {
        let mut attach = |kind| attachments(frame, chains, operations, (pass, subpass), kind, views, lowered);
        let colors = attach(AccessKind::ColorAttachment);
        let depth = attach(AccessKind::DepthStencilAttachment);
        let resolves = attach(AccessKind::ResolveAttachment);
        let inputs = attach(AccessKind::InputAttachment);
        resolve(frame, (pass, subpass), [colors, depth], resolves, lowered);
        let first = lowered.formats.len() as u32;
        let formats = colors.of(&lowered.attachments).iter().map(|color| color.format);
        lowered.formats.extend(formats);
        let color_formats = Run::new(first, lowered.formats.len() as u32);
        let of_depth = depth.of(&lowered.attachments).first();
        let declared = frame.accesses_of(pass).iter();
        let declared = declared
            .filter(|access| access.kind == AccessKind::DepthStencilAttachment && access.subpass == subpass);
        let aspects = declared.fold(vk::ImageAspectFlags::empty(), |all, access| {
            all | access.range.aspects
        });
        let format_of = |aspect| match of_depth {
            Some(one) if aspects.contains(aspect) => one.format,
            _ => vk::Format::UNDEFINED,
        };
        let attached = colors.of(&lowered.attachments).iter().chain(of_depth);
        let mut attached = attached.chain(inputs.of(&lowered.attachments));
        let samples = attached.next().map(|one| one.samples);
        let [depth_format, stencil_format] =
            [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL].map(format_of);
        let dependencies = dependencies(frame, pass, subpass, lowered);
        lowered.renderings.push(RenderingRow {
            subpass,
            dependencies,
            dynamic: placed.is_dynamic(pass),
            secondary: described.contents == Contents::Secondary,
            area: described.area,
            layers: described.layers,
            view_mask: described.view_mask,
            colors,
            depth: (!depth.is_empty()).then_some(depth.first),
            depth_aspects: aspects,
            resolves,
            inputs,
            color_formats,
            depth_format,
            stencil_format,
            samples: described
                .samples
                .or(samples)
                .unwrap_or(vk::SampleCountFlags::TYPE_1),
            tile_memory: bound.map_or(Bytes::ZERO, |object| placed.plan.objects[object.index()].size),
            tile_shading: described.tile_shading,
            hook: described.hook,
        });
    }
    if lowered.is_local_read(&lowered.renderings[row as usize..]) {
        name_all(lowered, row as usize);
    }
    Some(row)
}

/// Lets the pipelines of each subpass name the attachments of all: those of an instance with local read, whose rows begin at `first`.
fn name_all(lowered: &mut Lowered, first: usize) {
    let instance = lowered.renderings[first..].to_vec();
    let start = lowered.formats.len() as u32;
    for color in lowered.color_attachments_of(&instance) {
        lowered.formats.push(lowered.attachments[color as usize].format);
    }
    let color_formats = Run::new(start, lowered.formats.len() as u32);
    let named = |of: fn(&RenderingRow) -> vk::Format| {
        let mut formats = instance.iter().map(of);
        let there = formats.find(|format| *format != vk::Format::UNDEFINED);
        there.unwrap_or_default()
    };
    for row in &mut lowered.renderings[first..] {
        row.color_formats = color_formats;
        row.depth_format = named(|row| row.depth_format);
        row.stencil_format = named(|row| row.stencil_format);
    }
}

/// Adds the attachments of one kind. Depth and stencil that are declared apart are one.
fn attachments(
    frame: &Frame,
    chains: &Chains,
    operations: &AttachmentOperations,
    (pass, subpass): (PassId, u32),
    kind: AccessKind,
    views: &mut ViewRows,
    lowered: &mut Lowered,
) -> Run {
    let first = lowered.attachments.len() as u32;
    let indices = frame.pass(pass).accesses.indices();
    for (index, access) in indices.zip(frame.accesses_of(pass)) {
        if access.kind != kind || access.subpass != subpass {
            continue;
        }
        let Object::Image(image) = lowered.accesses[index].object else {
            continue;
        };
        let row = &lowered.images[image as usize];
        let (samples, view) = (
            row.samples,
            attachment_view(image, row, access.range, access.view),
        );
        let [layout, stencil_layout] = chains.layouts_of(index);
        let [main, stencil] = operations.of(frame, index);
        let own = AttachmentRow {
            view: views.row_of(lowered, view),
            format: view.format,
            samples,
            layout,
            stencil_layout,
            operations: main,
            stencil,
            clear: match frame.accesses()[deciding(frame, index)].load_op {
                LoadOp::Clear(value) => value,
                _ => ClearValue::ZERO,
            },
            resolve: None,
        };
        let apart = kind == AccessKind::DepthStencilAttachment && lowered.attachments.len() as u32 > first;
        match lowered.attachments.last_mut().filter(|_| apart) {
            Some(other) => join_aspects(other, &own, access.range.aspects),
            None => lowered.attachments.push(own),
        }
    }
    Run::new(first, lowered.attachments.len() as u32)
}

/// Adds what is said of `aspects` to the attachment that has the other one.
fn join_aspects(attachment: &mut AttachmentRow, own: &AttachmentRow, aspects: vk::ImageAspectFlags) {
    let is_stencil = aspects.contains(vk::ImageAspectFlags::STENCIL);
    let value = |clear| match clear {
        ClearValue::DepthStencil(depth, stencil) => (depth, stencil),
        _ => (0.0, 0),
    };
    let (depth, stencil) = if is_stencil {
        (attachment.clear, own.clear)
    } else {
        (own.clear, attachment.clear)
    };
    attachment.clear = ClearValue::DepthStencil(value(depth).0, value(stencil).1);
    if is_stencil {
        (attachment.stencil, attachment.stencil_layout) = (own.stencil, own.stencil_layout);
    } else {
        (attachment.operations, attachment.layout) = (own.operations, own.layout);
    }
}

/// The rows of every image's views.
pub(super) struct ViewRows {
    /// Per image, its first.
    first: Vec<Option<u32>>,
    /// Per row, the next one of the same image.
    next: Vec<Option<u32>>,
}

impl ViewRows {
    /// None so far.
    pub(super) fn new(images: usize) -> ViewRows {
        ViewRows {
            first: vec![None; images],
            next: Vec::with_capacity(2 * images),
        }
    }

    /// The row of a view, added if there is none like it.
    pub(super) fn row_of(&mut self, lowered: &mut Lowered, view: ViewRow) -> u32 {
        let new = lowered.views.len() as u32;
        let mut at = &mut self.first[view.image as usize];
        while let Some(row) = *at {
            if lowered.views[row as usize] == view {
                return row;
            }
            at = &mut self.next[row as usize];
        }
        *at = Some(new);
        self.next.push(None);
        lowered.views.push(view);
        new
    }
}

/// Says of each attachment where its samples are resolved to.
fn resolve(
    frame: &Frame,
    (pass, subpass): (PassId, u32),
    sources: [Run; 2],
    targets: Run,
    lowered: &mut Lowered,
) {
    let accesses = frame.accesses_of(pass);
    let resolving = accesses
        .iter()
        .filter(|access| access.kind == AccessKind::ResolveAttachment && access.subpass == subpass);
    for (target, access) in targets.indices().zip(resolving) {
        let is_source =
            |source: &Access| source.kind.is_attachment() && Some(source.resource) == access.resolves;
        let Some(source) = accesses.iter().position(is_source) else {
            continue;
        };
        let image = lowered.accesses[frame.pass(pass).accesses.indices().start + source].object;
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
    match ClearValue::zero_of(format) {
        ClearValue::Float(_) => vk::ResolveModeFlags::AVERAGE,
        _ => vk::ResolveModeFlags::SAMPLE_ZERO,
    }
}
