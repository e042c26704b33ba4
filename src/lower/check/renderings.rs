//! Render passes: attachments, operations and parameters are those that the frame describes.

use ash::vk;

use super::checker::Checker;
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
        let what = format!("pass `{}`", checker.pass(pass));
        let render = checker.frame.pass(pass).kind == PassKind::Render;
        checker.equal(&what, "rendering", row.rendering.is_some(), render);
        let Some(rendering) = row.rendering.filter(|_| render) else {
            continue;
        };
        let rendering = &checker.tables.renderings[rendering as usize];
        check_parameters(checker, &what, pass, rendering);
        let bound = row
            .tile_memory
            .map(|memory| checker.tables.memory[memory as usize].size);
        let bound = bound.unwrap_or(Bytes::ZERO);
        // VUID-vkCmdExecuteCommands-memory-10724
        checker.equal(&what, "tile_memory", rendering.tile_memory, bound);
        check_attachments(checker, &what, pass, rendering);
    }
    check_access_views(checker);
}

fn check_parameters(checker: &mut Checker<'_>, what: &str, pass: PassId, rendering: &RenderingRow) {
    let described = checker.frame.pass(pass);
    let features = checker.device.profile.features;
    checker.equal(
        what,
        "secondary",
        rendering.secondary,
        described.contents == Contents::Secondary,
    );
    checker.equal(what, "renderArea", rendering.area, described.area);
    checker.equal(what, "layerCount", rendering.layers, described.layers);
    checker.equal(what, "viewMask", rendering.view_mask, described.view_mask);
    if rendering.view_mask != 0 && !features.contains(Features::MULTIVIEW) {
        checker.wrong(
            what,
            "viewMask",
            rendering.view_mask,
            "0: the device has no multiview",
        );
    }
    checker.equal(
        what,
        "tile_shading",
        rendering.tile_shading,
        described.tile_shading,
    );
    if rendering.dynamic && !features.contains(Features::DYNAMIC_RENDERING) {
        checker.wrong(
            what,
            "dynamic",
            true,
            "false: the device has no dynamic rendering",
        );
    }
    if rendering.dynamic && !rendering.inputs.is_empty() && !features.contains(Features::LOCAL_READ) {
        checker.wrong(
            what,
            "dynamic",
            true,
            "false: the device has no local read for its input attachments",
        );
    }
    let tables = checker.tables;
    let colors = rendering.colors.of(&tables.attachments);
    let formats: Vec<vk::Format> = colors.iter().map(|color| color.format).collect();
    let listed = rendering.color_formats.of(&tables.formats);
    checker.equal(what, "colorAttachmentFormats", listed, &formats);
    let depth = rendering.depth.map(|depth| &tables.attachments[depth as usize]);
    let declared = declared(checker, pass, AccessKind::DepthStencilAttachment).into_iter();
    let declared = declared.map(|index| checker.frame.accesses()[index].range.aspects);
    let aspects = declared.fold(vk::ImageAspectFlags::empty(), |all, aspects| all | aspects);
    let format_of = |aspect| match depth {
        Some(depth) if aspects.contains(aspect) => depth.format,
        _ => vk::Format::UNDEFINED,
    };
    checker.equal(what, "depth_aspects", rendering.depth_aspects, aspects);
    let (depth_format, stencil_format) = (
        format_of(vk::ImageAspectFlags::DEPTH),
        format_of(vk::ImageAspectFlags::STENCIL),
    );
    checker.equal(
        what,
        "depthAttachmentFormat",
        rendering.depth_format,
        depth_format,
    );
    checker.equal(
        what,
        "stencilAttachmentFormat",
        rendering.stencil_format,
        stencil_format,
    );
    for attachment in colors.iter().chain(depth) {
        checker.equal(
            what,
            "rasterizationSamples",
            rendering.samples,
            attachment.samples,
        );
    }
}

/// The attachments of one kind that a pass declares, each with its position among the frame's accesses.
fn declared(checker: &Checker<'_>, pass: PassId, kind: AccessKind) -> Vec<usize> {
    let accesses = checker.frame.pass(pass).accesses.indices();
    accesses
        .filter(|&index| checker.frame.accesses()[index].kind == kind)
        .collect()
}

/// The rows of a rendering's attachments of one kind.
fn rows_of(rendering: &RenderingRow, kind: AccessKind) -> Run {
    match kind {
        AccessKind::ColorAttachment => rendering.colors,
        AccessKind::ResolveAttachment => rendering.resolves,
        AccessKind::InputAttachment => rendering.inputs,
        _ => rendering.depth.map_or(Run::default(), |first| Run {
            first,
            end: first + 1,
        }),
    }
}

/// The attachment that an access of a pass is: the n-th of its kind.
pub(super) fn attachment_of<'a>(
    checker: &Checker<'a>,
    rendering: &RenderingRow,
    access: usize,
) -> Option<&'a AttachmentRow> {
    let described = &checker.frame.accesses()[access];
    let nth = declared(checker, described.pass, described.kind)
        .iter()
        .position(|&other| other == access)?;
    // Depth and stencil that are declared apart are one attachment.
    let depth = described.kind == AccessKind::DepthStencilAttachment;
    let nth = if depth { 0 } else { nth };
    let row = rows_of(rendering, described.kind).indices().nth(nth)?;
    checker.tables.attachments.get(row)
}

fn check_attachments(checker: &mut Checker<'_>, what: &str, pass: PassId, rendering: &RenderingRow) {
    for (kind, parameter) in [
        (AccessKind::ColorAttachment, "pColorAttachments"),
        (AccessKind::DepthStencilAttachment, "pDepthAttachment"),
        (AccessKind::ResolveAttachment, "resolve attachments"),
        (AccessKind::InputAttachment, "input attachments"),
    ] {
        let declared = declared(checker, pass, kind);
        let depth = kind == AccessKind::DepthStencilAttachment;
        let count = if depth {
            declared.len().min(1)
        } else {
            declared.len()
        };
        checker.equal(what, parameter, rows_of(rendering, kind).len(), count);
        for access in declared {
            if let Some(attachment) = attachment_of(checker, rendering, access) {
                check_attachment(checker, pass, access, attachment);
                check_resolve(checker, pass, rendering, access, attachment);
            }
        }
    }
}

fn check_attachment(checker: &mut Checker<'_>, pass: PassId, index: usize, attachment: &AttachmentRow) {
    let access = &checker.frame.accesses()[index];
    let row = checker.tables.accesses[index];
    let what = format!(
        "attachment `{}` of pass `{}`",
        checker.resource(access.resource),
        checker.pass(pass)
    );
    let view = checker.tables.views[attachment.view as usize];
    checker.equal(&what, "view", Object::Image(view.image), row.object);
    let image = checker.tables.images[view.image as usize];
    checker.equal(&what, "format", attachment.format, view.format);
    checker.equal(&what, "samples", attachment.samples, image.samples);
    let stencil = access.range.aspects == vk::ImageAspectFlags::STENCIL;
    let layout = if stencil {
        attachment.stencil_layout
    } else {
        attachment.layout
    };
    checker.equal(&what, "layout", layout, row.layout);
    checker.equal(&what, "levels", view.range.levels, access.range.levels);
    checker.equal(&what, "layers", view.range.layers, access.range.layers);
    checker.equal(
        &what,
        "aspectMask",
        view.range.aspects,
        crate::format::aspects(view.format),
    );
    if access.kind.is_attachment() {
        for operations in operations_of(attachment, access.range.aspects) {
            check_operations(checker, &what, access, operations);
        }
        if let LoadOp::Clear(value) = access.load_op {
            let (found, needs) = (cleared(attachment.clear, access), cleared(value, access));
            checker.equal::<ClearValue>(&what, "clearValue", found, needs);
        }
    }
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
fn check_operations(checker: &mut Checker<'_>, what: &str, access: &Access, operations: Operations) {
    use vk::AttachmentLoadOp as Load;
    use vk::AttachmentStoreOp as Store;
    let load = operations.load;
    let needs = match access.load_op {
        _ if !access.writes || access.load_op == LoadOp::Load => (load != Load::LOAD).then_some("LOAD"),
        LoadOp::Clear(_) => (load != Load::CLEAR).then_some("CLEAR"),
        // To load what is not declared as read would be a read that no barrier expects.
        _ => (load != Load::DONT_CARE && !access.reads).then_some("DONT_CARE"),
    };
    if let Some(needs) = needs {
        checker.wrong(what, "loadOp", load, needs);
    }
    let none = checker.device.profile.features.contains(Features::STORE_OP_NONE);
    match operations.store {
        Store::STORE | Store::DONT_CARE => {}
        Store::NONE if none => {}
        other => checker.wrong(
            what,
            "storeOp",
            other,
            "STORE or DONT_CARE: the device has no VK_KHR_load_store_op_none",
        ),
    }
}

/// A resolve attachment receives the samples of the attachment that the frame names.
fn check_resolve(
    checker: &mut Checker<'_>,
    pass: PassId,
    rendering: &RenderingRow,
    index: usize,
    attachment: &AttachmentRow,
) {
    let access = &checker.frame.accesses()[index];
    let what = format!(
        "attachment `{}` of pass `{}`",
        checker.resource(access.resource),
        checker.pass(pass)
    );
    let targets = declared(checker, pass, AccessKind::ResolveAttachment);
    let source = matches!(
        access.kind,
        AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment
    );
    let nth = targets
        .iter()
        .position(|&target| source && checker.frame.accesses()[target].resolves == Some(access.resource));
    let needs = nth.and_then(|nth| rendering.resolves.indices().nth(nth));
    let found = attachment.resolve.map(|resolve| resolve.attachment as usize);
    checker.equal(&what, "resolve", found, needs);
    let color = crate::format::aspects(attachment.format).contains(vk::ImageAspectFlags::COLOR);
    let name = format!("{:?}", attachment.format);
    let integer = name.contains("UINT") || name.contains("SINT");
    let mode = attachment.resolve.map(|resolve| resolve.mode);
    let needs = if color && !integer {
        vk::ResolveModeFlags::AVERAGE
    } else {
        vk::ResolveModeFlags::SAMPLE_ZERO
    };
    if let Some(mode) = mode {
        checker.equal(&what, "resolveMode", mode, needs);
    }
}

/// Descriptors get a view of the image that is used, of one aspect.
/// A tile attachment's descriptor names the view of the attachment.
///
/// Source: `VK_QCOM_tile_shading`, "Tile Attachments".
fn check_tile_attachment(checker: &mut Checker<'_>, what: &str, access: &Access, view: ViewRow) {
    let rows = checker.tables.passes.iter();
    let row = rows
        .into_iter()
        .find(|row| row.contents == PassContents::Described(access.pass));
    let Some(rendering) = row.and_then(|row| row.rendering) else {
        return;
    };
    let rendering = &checker.tables.renderings[rendering as usize];
    let attachments = [rendering.colors, rendering.inputs]
        .into_iter()
        .flat_map(|run| run.indices());
    let mut views = attachments
        .chain(rendering.depth.map(|depth| depth as usize))
        .map(|row| checker.tables.views[checker.tables.attachments[row].view as usize]);
    if !views.any(|other| other == view) {
        checker.wrong(what, "view", view, "that of an attachment of the pass");
    }
}

fn check_access_views(checker: &mut Checker<'_>) {
    let accesses = checker.tables.accesses.iter().zip(checker.frame.accesses());
    for (row, access) in accesses {
        let what = format!(
            "the access of `{}` by pass `{}`",
            checker.resource(access.resource),
            checker.pass(access.pass)
        );
        let image = matches!(row.object, Object::Image(_));
        let Some(view) = row.view else {
            if image && access.kind.is_shader() {
                checker.wrong(&what, "view", row.view, "a view: a descriptor needs one");
            }
            continue;
        };
        let view = checker.tables.views[view as usize];
        checker.equal(&what, "view", Object::Image(view.image), row.object);
        if access.kind == AccessKind::TileAttachment {
            check_tile_attachment(checker, &what, access, view);
            continue;
        }
        checker.equal(&what, "levels", view.range.levels, access.range.levels);
        if checker.frame.resource(access.resource).is_3d() {
            checker.equal(&what, "layers", view.range.layers, Run { first: 0, end: 1 });
        } else {
            checker.equal(&what, "layers", view.range.layers, access.range.layers);
        }
        if !access.range.aspects.contains(view.range.aspects) {
            let needs = format!("among {:?}, which the access uses", access.range.aspects);
            checker.wrong(&what, "aspectMask", view.range.aspects, needs);
        }
        if let Some(format) = access.view.format {
            checker.equal(&what, "format", view.format, format);
        }
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        if view.range.aspects.contains(both) {
            let needs = "one of depth and stencil (VUID-VkDescriptorImageInfo-imageView-01976)";
            checker.wrong(&what, "view", view.range.aspects, needs);
        }
    }
}
