//! Checks that subpasses refer to the attachments that the frame declares, with the declared operations.

use ash::vk;

use super::checker::{CheckedRow, Checker};
use crate::frame::tables::Access;
use crate::frame::{AccessKind, ClearValue, LoadOp, PassId};
use crate::lower::tables::instances::{AttachmentRow, Operations, ReferenceRow, SubpassRow};
use crate::lower::tables::{ImageOrBuffer, OptionalIndex};
use crate::profile::Features;

/// The attachments of one kind that a subpass declares, as positions among the frame's accesses.
pub(super) fn declared(
    checker: &Checker<'_>,
    (pass, subpass): (PassId, u32),
    kind: AccessKind,
) -> Vec<usize> {
    let accesses = checker.frame.pass(pass).accesses.indices();
    let own = |access: &Access| access.kind == kind && access.subpass == subpass;
    accesses
        .filter(|&index| own(&checker.frame.accesses()[index]))
        .collect()
}

/// The references of a subpass to attachments of one kind; for resolve attachments, only those in use.
pub(super) fn references_of(checker: &Checker<'_>, row: &SubpassRow, kind: AccessKind) -> Vec<ReferenceRow> {
    let references = &checker.tables.references;
    let one = |index: OptionalIndex| index.get().map(|row| references[row as usize]);
    match kind {
        AccessKind::ColorAttachment => row.colors.of(references).to_vec(),
        AccessKind::InputAttachment => row.inputs.of(references).to_vec(),
        AccessKind::ResolveAttachment => {
            let all = row
                .resolves
                .of(references)
                .iter()
                .copied()
                .chain(one(row.depth_resolve));
            all.filter(|reference| reference.get().is_some()).collect()
        }
        _ => one(row.depth).into_iter().collect(),
    }
}

/// The attachment that an access uses: the n-th of its kind in its subpass. `instance` is the row of its pass.
pub(super) fn attachment_of<'a>(
    checker: &Checker<'a>,
    instance: u32,
    access: usize,
) -> Option<&'a AttachmentRow> {
    let described = &checker.frame.accesses()[access];
    let row = checker
        .tables
        .subpasses_of(instance)
        .get(described.subpass as usize)?;
    let position = match described.kind {
        AccessKind::ResolveAttachment => resolved_into(checker, row, access)?.1.get()?,
        // Depth and stencil that are declared separately are one attachment.
        AccessKind::DepthStencilAttachment => references_of(checker, row, described.kind).first()?.get()?,
        kind => {
            let of = declared(checker, (described.pass, described.subpass), kind);
            let nth = of.iter().position(|&other| other == access)?;
            references_of(checker, row, kind).get(nth)?.get()?
        }
    };
    let list = checker.tables.instances[instance as usize].attachments;
    list.of(&checker.tables.attachments).get(position as usize)
}

/// The access whose samples a resolve attachment receives, and the reference to that access's resolve attachment.
///
/// The n-th resolve attachment of a resource belongs to the n-th attachment of that resource.
pub(super) fn resolved_into(
    checker: &Checker<'_>,
    row: &SubpassRow,
    target: usize,
) -> Option<(usize, ReferenceRow)> {
    let (accesses, references) = (checker.frame.accesses(), &checker.tables.references);
    let access = &accesses[target];
    let place = (access.pass, access.subpass);
    let mut same = declared(checker, place, AccessKind::ResolveAttachment);
    same.retain(|&other| accesses[other].resolves == access.resolves);
    let nth = same.iter().position(|&other| other == target)?;
    let is_source = |&source: &usize| Some(accesses[source].resource) == access.resolves;
    let colors = declared(checker, place, AccessKind::ColorAttachment);
    if let Some(&source) = colors.iter().filter(|source| is_source(source)).nth(nth) {
        let position = colors.iter().position(|&other| other == source)?;
        return Some((source, *row.resolves.of(references).get(position)?));
    }
    let mut depths = declared(checker, place, AccessKind::DepthStencilAttachment).into_iter();
    let source = depths.find(is_source).filter(|_| nth == 0)?;
    Some((source, references[row.depth_resolve.get()? as usize]))
}

/// Checks the attachment that an access uses.
pub(super) fn check_attachment(checker: &mut Checker<'_>, index: usize, attachment: &AttachmentRow) {
    let access = &checker.frame.accesses()[index];
    let row = checker.tables.accesses[index];
    let view = checker.tables.views[attachment.view as usize];
    let image = checker.tables.images[view.image as usize];
    let (name, pass_name) = (checker.resource(access.resource), checker.pass(access.pass));
    let mut at = checker.at(format!("attachment `{name}` of pass `{pass_name}`"));
    at.equal("view", ImageOrBuffer::Image(view.image), row.object.get());
    at.equal("format", attachment.format, view.format);
    at.equal("samples", attachment.samples, image.samples);
    if access.range.aspects != vk::ImageAspectFlags::STENCIL {
        at.equal("layout", attachment.layout, row.layout);
    }
    if access.range.aspects.contains(vk::ImageAspectFlags::STENCIL) {
        at.equal("stencil layout", attachment.stencil_layout, row.stencil_layout);
    }
    at.equal("levels", view.range.levels, access.range.levels);
    at.equal("layers", view.range.layers, access.range.layers);
    at.equal(
        "aspectMask",
        view.range.aspects,
        crate::format::aspects(view.format),
    );
    for aspect in [
        vk::ImageAspectFlags::COLOR,
        vk::ImageAspectFlags::DEPTH,
        vk::ImageAspectFlags::STENCIL,
    ] {
        if !access.range.aspects.contains(aspect) {
            continue;
        }
        let begins = beginning(at.checker, access, aspect);
        for operations in operations_of(attachment, aspect) {
            check_operations(&mut at, begins, operations);
        }
        if let LoadOp::Clear(value) = begins.load_op {
            let found = cleared(attachment.clear.get(), aspect);
            at.equal("clearValue", found, cleared(value, aspect));
        }
    }
}

/// The access that determines the treatment of earlier contents of an aspect: if several accesses attach the aspect, the one that clears or
/// discards the contents.
fn beginning<'a>(checker: &Checker<'a>, access: &'a Access, aspect: vk::ImageAspectFlags) -> &'a Access {
    let mut accesses = checker.frame.accesses_of(access.pass).iter();
    let replaces = |other: &&Access| {
        let same = (other.resource, other.version) == (access.resource, access.version);
        let here = other.range.intersects(access.range) && other.range.aspects.contains(aspect);
        same && here && other.kind.is_attachment() && other.writes && other.load_op != LoadOp::Load
    };
    accesses.find(replaces).unwrap_or(access)
}

/// The part of a clear value that applies to an aspect.
fn cleared(value: ClearValue, aspect: vk::ImageAspectFlags) -> ClearValue {
    match value {
        ClearValue::DepthStencil(depth, _) if aspect == vk::ImageAspectFlags::DEPTH => {
            ClearValue::DepthStencil(depth, 0)
        }
        ClearValue::DepthStencil(_, stencil) if aspect == vk::ImageAspectFlags::STENCIL => {
            ClearValue::DepthStencil(0.0, stencil)
        }
        other => other,
    }
}

/// The load and store operations of an attachment for these aspects.
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

/// Checks that the load operation matches the declaration, and that the device supports the store operation. The replay checks that enough is stored.
fn check_operations(at: &mut CheckedRow<'_, '_>, access: &Access, operations: Operations) {
    use vk::AttachmentLoadOp as Load;
    use vk::AttachmentStoreOp as Store;
    let Operations { load, store } = operations;
    let (needs, fits) = match access.load_op {
        _ if !access.writes || access.load_op == LoadOp::Load => ("LOAD", load == Load::LOAD),
        LoadOp::Clear(_) => ("CLEAR", load == Load::CLEAR),
        // Loading contents that are not declared as read would add a read that no barrier expects.
        _ => ("DONT_CARE", load == Load::DONT_CARE || access.reads),
    };
    at.demand(fits, "loadOp", load, needs);
    let features = at.checker.device.profile.features;
    let fits = match store {
        Store::STORE | Store::DONT_CARE => true,
        Store::NONE => features.contains(Features::STORE_OP_NONE),
        _ => false,
    };
    let needs = "STORE or DONT_CARE, or NONE if the device has VK_KHR_load_store_op_none";
    at.demand(fits, "storeOp", store, needs);
}
