//! Render passes: attachments, operations and parameters are those that the frame describes.

use ash::vk;

use super::checker::{At, Checker};
use crate::frame::tables::{Access, Contents, PassKind};
use crate::frame::{AccessKind, ClearValue, LoadOp, PassId};
use crate::lower::tables::Object;
use crate::lower::tables::commands::{AttachmentRow, Operations, PassContents, RenderingRow};
use crate::lower::tables::objects::ViewRow;
use crate::profile::Features;
use crate::units::{Bytes, Run};

pub(super) fn check(checker: &mut Checker<'_>) {
    let passes = checker.passes_of_rows();
    for (row, pass) in checker.tables.passes.iter().zip(passes) {
        if matches!(row.contents, PassContents::Clear { .. }) {
            continue;
        }
        let (tables, frame) = (checker.tables, checker.frame);
        let render = frame.pass(pass).kind == PassKind::Render;
        let mut at = checker.at(format!("pass `{}`", checker.pass(pass)));
        at.equal("rendering", row.rendering.is_some(), render);
        let Some(first) = row.rendering.filter(|_| render) else {
            continue;
        };
        let instance = tables.subpasses_of(first);
        at.equal("subpass", instance.len() as u32, frame.pass(pass).subpasses);
        if instance.len() as u32 != frame.pass(pass).subpasses {
            continue;
        }
        let bound = row.tile_memory.map(|memory| tables.memory[memory as usize].size);
        for rendering in instance {
            check_parameters(&mut at, pass, rendering, instance);
            // VUID-vkCmdExecuteCommands-memory-10724
            at.equal("tile_memory", rendering.tile_memory, bound.unwrap_or(Bytes::ZERO));
        }
        check_attachments(&mut at, pass, first);
    }
    check_access_views(checker);
}

fn check_parameters(at: &mut At<'_, '_>, pass: PassId, rendering: &RenderingRow, instance: &[RenderingRow]) {
    let (tables, frame) = (at.checker.tables, at.checker.frame);
    let described = frame.pass(pass);
    let has = |feature| at.checker.device.profile.features.contains(feature);
    let multiview = rendering.view_mask == 0 || has(Features::MULTIVIEW);
    let dynamic = !rendering.dynamic || has(Features::DYNAMIC_RENDERING);
    at.equal(
        "secondary",
        rendering.secondary,
        described.contents == Contents::Secondary,
    );
    at.equal("renderArea", rendering.area, described.area);
    at.equal("layerCount", rendering.layers, described.layers);
    at.equal("viewMask", rendering.view_mask, described.view_mask);
    at.demand(
        multiview,
        "viewMask",
        rendering.view_mask,
        "0: the device has no multiview",
    );
    at.equal("tile_shading", rendering.tile_shading, described.tile_shading);
    at.equal("hook", rendering.hook, described.hook);
    at.demand(
        dynamic,
        "dynamic",
        true,
        "false: the device has no dynamic rendering",
    );
    // With local read, pipelines name all attachments of the instance, whichever they use.
    let (named, colors) = match tables.is_local_read(instance) {
        true => (instance, tables.color_attachments_of(instance)),
        false => {
            let own = rendering.colors;
            (std::slice::from_ref(rendering), (own.first..own.end).collect())
        }
    };
    let of_rows = colors.iter().map(|&row| &tables.attachments[row as usize]);
    let formats: Vec<vk::Format> = of_rows.clone().map(|color| color.format).collect();
    let listed = rendering.color_formats.of(&tables.formats);
    at.equal("colorAttachmentFormats", listed, &formats);
    let aspects_of = |subpass| {
        let declared = declared(at.checker, (pass, subpass), AccessKind::DepthStencilAttachment).into_iter();
        let declared = declared.map(|index| frame.accesses()[index].range.aspects);
        declared.fold(vk::ImageAspectFlags::empty(), |all, aspects| all | aspects)
    };
    let of_subpass = aspects_of(rendering.subpass);
    let aspects = named.iter().map(|row| aspects_of(row.subpass));
    let aspects = aspects.fold(vk::ImageAspectFlags::empty(), |all, aspects| all | aspects);
    let depth = named.iter().find_map(|row| row.depth);
    let depth = depth.map(|depth| &tables.attachments[depth as usize]);
    let format_of = |aspect| match depth {
        Some(depth) if aspects.contains(aspect) => depth.format,
        _ => vk::Format::UNDEFINED,
    };
    let [of_depth, of_stencil] = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL].map(format_of);
    at.equal("depth_aspects", rendering.depth_aspects, of_subpass);
    at.equal("depthAttachmentFormat", rendering.depth_format, of_depth);
    at.equal("stencilAttachmentFormat", rendering.stencil_format, of_stencil);
    for attachment in of_rows.chain(depth) {
        let needs = described.samples.unwrap_or(attachment.samples);
        at.equal("rasterizationSamples", rendering.samples, needs);
    }
}

/// The attachments of one kind that a subpass declares, each with its position among the frame's accesses.
fn declared(checker: &Checker<'_>, (pass, subpass): (PassId, u32), kind: AccessKind) -> Vec<usize> {
    let accesses = checker.frame.pass(pass).accesses.indices();
    let own = |access: &Access| access.kind == kind && access.subpass == subpass;
    accesses
        .filter(|&index| own(&checker.frame.accesses()[index]))
        .collect()
}

/// The rows of a rendering's attachments of one kind.
fn rows_of(rendering: &RenderingRow, kind: AccessKind) -> Run {
    match kind {
        AccessKind::ColorAttachment => rendering.colors,
        AccessKind::ResolveAttachment => rendering.resolves,
        AccessKind::InputAttachment => rendering.inputs,
        _ => {
            let of_depth = |first| Run::new(first, first + 1);
            rendering.depth.map_or(Run::default(), of_depth)
        }
    }
}

/// The attachment that an access of a pass is: the n-th of its kind in its subpass. `first` is the row of the pass.
pub(super) fn attachment_of<'a>(
    checker: &Checker<'a>,
    first: u32,
    access: usize,
) -> Option<&'a AttachmentRow> {
    let described = &checker.frame.accesses()[access];
    let instance = checker.tables.subpasses_of(first);
    let rendering = instance.get(described.subpass as usize)?;
    let nth = declared(checker, (described.pass, described.subpass), described.kind)
        .iter()
        .position(|&other| other == access)?;
    // Depth and stencil that are declared apart are one attachment.
    let depth = described.kind == AccessKind::DepthStencilAttachment;
    let nth = if depth { 0 } else { nth };
    let row = rows_of(rendering, described.kind).indices().nth(nth)?;
    checker.tables.attachments.get(row)
}

fn check_attachments(at: &mut At<'_, '_>, pass: PassId, first: u32) {
    for rendering in at.checker.tables.subpasses_of(first) {
        for (kind, parameter) in [
            (AccessKind::ColorAttachment, "pColorAttachments"),
            (AccessKind::DepthStencilAttachment, "pDepthAttachment"),
            (AccessKind::ResolveAttachment, "resolve attachments"),
            (AccessKind::InputAttachment, "input attachments"),
        ] {
            let declared = declared(at.checker, (pass, rendering.subpass), kind);
            let depth = kind == AccessKind::DepthStencilAttachment;
            let most = if depth { 1 } else { usize::MAX };
            at.equal(
                parameter,
                rows_of(rendering, kind).len(),
                declared.len().min(most),
            );
            for access in declared {
                if let Some(attachment) = attachment_of(at.checker, first, access) {
                    check_attachment(at.checker, pass, rendering, access, attachment);
                }
            }
        }
    }
}

fn check_attachment(
    checker: &mut Checker<'_>,
    pass: PassId,
    rendering: &RenderingRow,
    index: usize,
    attachment: &AttachmentRow,
) {
    let access = &checker.frame.accesses()[index];
    let row = checker.tables.accesses[index];
    let view = checker.tables.views[attachment.view as usize];
    let image = checker.tables.images[view.image as usize];
    let (name, pass_name) = (checker.resource(access.resource), checker.pass(pass));
    let mut at = checker.at(format!("attachment `{name}` of pass `{pass_name}`"));
    at.equal("view", Object::Image(view.image), row.object);
    at.equal("format", attachment.format, view.format);
    at.equal("samples", attachment.samples, image.samples);
    let layout = match access.range.aspects {
        vk::ImageAspectFlags::STENCIL => attachment.stencil_layout,
        _ => attachment.layout,
    };
    at.equal("layout", layout, row.layout);
    at.equal("levels", view.range.levels, access.range.levels);
    at.equal("layers", view.range.layers, access.range.layers);
    at.equal(
        "aspectMask",
        view.range.aspects,
        crate::format::aspects(view.format),
    );
    let begins = beginning(at.checker, access);
    for operations in operations_of(attachment, access.range.aspects) {
        check_operations(&mut at, begins, operations);
    }
    if let LoadOp::Clear(value) = begins.load_op {
        at.equal(
            "clearValue",
            cleared(attachment.clear, access),
            cleared(value, access),
        );
    }
    check_resolve(&mut at, pass, rendering, access, attachment);
}

/// The access of the pass that says what becomes of earlier contents, where several attach the same: the one that replaces them.
fn beginning<'a>(checker: &Checker<'a>, access: &'a Access) -> &'a Access {
    let mut accesses = checker.frame.accesses_of(access.pass).iter();
    let replaces = |other: &&Access| {
        let same = (other.resource, other.version) == (access.resource, access.version);
        let here = other.range.intersects(access.range) && other.kind.is_attachment();
        same && here && other.writes && other.load_op != LoadOp::Load
    };
    accesses.find(replaces).unwrap_or(access)
}

/// What of a clear value counts for an access: of one aspect, its number.
fn cleared(value: ClearValue, access: &Access) -> ClearValue {
    match value {
        ClearValue::DepthStencil(depth, _) if access.range.aspects == vk::ImageAspectFlags::DEPTH => {
            ClearValue::DepthStencil(depth, 0)
        }
        ClearValue::DepthStencil(_, stencil) if access.range.aspects == vk::ImageAspectFlags::STENCIL => {
            ClearValue::DepthStencil(0.0, stencil)
        }
        other => other,
    }
}

/// The operations of the aspects that an access uses.
pub(super) fn operations_of(attachment: &AttachmentRow, aspects: vk::ImageAspectFlags) -> Vec<Operations> {
    let mut operations = Vec::new();
    if aspects.intersects(vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH) {
        operations.push(attachment.operations);
    }
    if aspects.contains(vk::ImageAspectFlags::STENCIL) {
        operations.push(attachment.stencil);
    }
    operations
}

/// Load operations do what is declared. Whether enough is stored, the replay finds out.
fn check_operations(at: &mut At<'_, '_>, access: &Access, operations: Operations) {
    use vk::AttachmentLoadOp as Load;
    use vk::AttachmentStoreOp as Store;
    let Operations { load, store } = operations;
    let (needs, fits) = match access.load_op {
        _ if !access.writes || access.load_op == LoadOp::Load => ("LOAD", load == Load::LOAD),
        LoadOp::Clear(_) => ("CLEAR", load == Load::CLEAR),
        // To load what is not declared as read would be a read that no barrier expects.
        _ => ("DONT_CARE", load == Load::DONT_CARE || access.reads),
    };
    at.demand(fits, "loadOp", load, needs);
    let features = at.checker.device.profile.features;
    let fits = match store {
        Store::STORE | Store::DONT_CARE => true,
        Store::NONE => features.contains(Features::STORE_OP_NONE),
        _ => false,
    };
    let needs = "STORE or DONT_CARE: the device has no VK_KHR_load_store_op_none";
    at.demand(fits, "storeOp", store, needs);
}

/// A resolve attachment receives the samples of the attachment that the frame names.
fn check_resolve(
    at: &mut At<'_, '_>,
    pass: PassId,
    rendering: &RenderingRow,
    access: &Access,
    attachment: &AttachmentRow,
) {
    use AccessKind::{ColorAttachment, DepthStencilAttachment, ResolveAttachment};
    let frame = at.checker.frame;
    let mut targets = declared(at.checker, (pass, access.subpass), ResolveAttachment).into_iter();
    let source = matches!(access.kind, ColorAttachment | DepthStencilAttachment);
    let nth = targets.position(|target| source && frame.accesses()[target].resolves == Some(access.resource));
    let needs = nth.and_then(|nth| rendering.resolves.indices().nth(nth));
    at.equal(
        "resolve",
        attachment.resolve.map(|resolve| resolve.attachment as usize),
        needs,
    );
    let color = crate::format::aspects(attachment.format).contains(vk::ImageAspectFlags::COLOR);
    let name = format!("{:?}", attachment.format);
    let integer = name.contains("UINT") || name.contains("SINT");
    let needs = if color && !integer {
        vk::ResolveModeFlags::AVERAGE
    } else {
        vk::ResolveModeFlags::SAMPLE_ZERO
    };
    if let Some(resolve) = attachment.resolve {
        at.equal("resolveMode", resolve.mode, needs);
    }
}

/// A tile attachment's descriptor names the view of the attachment.
///
/// Source: `VK_QCOM_tile_shading`, "Tile Attachments".
fn check_tile_attachment(at: &mut At<'_, '_>, access: &Access, view: ViewRow) {
    let tables = at.checker.tables;
    let mut rows = tables.passes.iter();
    let row = rows.find(|row| row.contents == PassContents::Described(access.pass));
    let Some(rendering) = row.and_then(|row| row.rendering) else {
        return;
    };
    let rendering = &tables.renderings[rendering as usize];
    let attachments = rendering.colors.indices().chain(rendering.inputs.indices());
    let mut views = attachments
        .chain(rendering.depth.map(|depth| depth as usize))
        .map(|row| tables.views[tables.attachments[row].view as usize]);
    let fits = views.any(|other| other == view);
    at.demand(fits, "view", view, "that of an attachment of the pass");
}

/// Descriptors get a view of the image that is used, of one aspect.
fn check_access_views(checker: &mut Checker<'_>) {
    let (tables, frame) = (checker.tables, checker.frame);
    for (row, access) in tables.accesses.iter().zip(frame.accesses()) {
        let mut at = checker.at(checker.access(access));
        let Some(view) = row.view else {
            let described = matches!(row.object, Object::Image(_)) && access.kind.is_shader();
            at.demand(!described, "view", row.view, "a view: a descriptor needs one");
            continue;
        };
        let view = tables.views[view as usize];
        at.equal("view", Object::Image(view.image), row.object);
        if access.kind == AccessKind::TileAttachment {
            check_tile_attachment(&mut at, access, view);
            continue;
        }
        at.equal("levels", view.range.levels, access.range.levels);
        let layers = if frame.resource(access.resource).is_3d() {
            Run::new(0, 1)
        } else {
            access.range.layers
        };
        at.equal("layers", view.range.layers, layers);
        let fits = access.range.aspects.contains(view.range.aspects);
        let needs = format!("among {:?}, which the access uses", access.range.aspects);
        at.demand(fits, "aspectMask", view.range.aspects, needs);
        at.equal("format", view.format, access.view.format.unwrap_or(view.format));
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        let needs = "one of depth and stencil (VUID-VkDescriptorImageInfo-imageView-01976)";
        at.demand(
            !view.range.aspects.contains(both),
            "view",
            view.range.aspects,
            needs,
        );
    }
}
