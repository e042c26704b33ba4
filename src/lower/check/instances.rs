//! Checks that the attachments, references, operations and parameters of render pass instances are those that the frame describes.

use ash::vk;

use super::attachments::{attachment_of, check_attachment, declared, references_of, resolved_into};
use super::checker::{CheckedRow, Checker};
use crate::format::{NumericType, numeric_type};
use crate::frame::tables::{Access, CommandSource, PassKind, ResourceKind};
use crate::frame::{AccessKind, PassId};
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::commands::{PassContents, StoreRow, StoreShader};
use crate::lower::tables::instances::{InstanceRow, ReferenceRow, SubpassRow};
use crate::lower::tables::objects::ViewRow;
use crate::profile::Features;
use crate::units::{Bytes, Run};

pub(super) fn check(checker: &mut Checker<'_>) {
    for row in &checker.tables.passes {
        if row.contents == PassContents::Clear {
            continue;
        }
        let (tables, frame, pass) = (checker.tables, checker.frame, row.pass);
        if row.contents == PassContents::Store {
            let store = row.row.get().expect("checked before");
            check_store(checker, pass, &tables.stores[store as usize]);
        }
        let render = frame.pass(pass).kind == PassKind::Render;
        let mut at = checker.at(format!("pass `{}`", checker.pass(pass)));
        at.equal("instance", row.instance.is_some(), render);
        let Some(index) = row.instance.get().filter(|_| render) else {
            continue;
        };
        let instance = &tables.instances[index as usize];
        at.equal("pass", instance.pass, pass);
        let subpasses = tables.subpasses_of(index);
        let described = frame.pass(pass).subpasses;
        at.equal("subpasses", subpasses.len() as u32, described);
        if subpasses.len() as u32 != described {
            continue;
        }
        let bound = row
            .tile_memory
            .get()
            .map(|memory| tables.memory[memory as usize].size);
        // VUID-vkCmdExecuteCommands-memory-10724
        at.equal("tile_memory", instance.tile_memory, bound.unwrap_or(Bytes::ZERO));
        check_parameters(&mut at, instance);
        check_list(&mut at, instance);
        for (number, subpass) in (0..).zip(subpasses) {
            check_subpass(&mut at, instance, number, subpass);
            check_attachments(&mut at, index, number, subpass);
        }
    }
    check_access_views(checker);
}

/// Checks that a store reads through the pass's first access and writes through its second one, with the declared offset, the shader for the format's texels,
/// and a valid number of workgroups.
fn check_store(checker: &mut Checker<'_>, pass: PassId, store: &StoreRow) {
    let accesses = checker.frame.pass(pass).accesses;
    let moved = match checker.frame.pass(pass).contents {
        CommandSource::Border { x, y } => (x, y),
        _ => (0, 0),
    };
    let resource = checker
        .frame
        .resource(checker.frame.accesses_of(pass)[0].resource);
    let mut at = checker.at(format!("store `{}`", checker.pass(pass)));
    at.equal("source", store.source, accesses.first);
    at.equal("target", store.target, accesses.first + 1);
    at.equal("x and y", (store.x, store.y), moved);
    let (shader, words) = match &resource.kind {
        ResourceKind::Buffer { desc, .. } => (StoreShader::Buffer, desc.size.0 / 4),
        ResourceKind::Image { desc, .. } => {
            let depth = crate::format::aspects(desc.format).contains(vk::ImageAspectFlags::DEPTH);
            let shader = match numeric_type(desc.format) {
                _ if depth => StoreShader::Depth,
                NumericType::Uint => StoreShader::Uint,
                NumericType::Int => StoreShader::Int,
                NumericType::Float => StoreShader::Float,
            };
            (shader, 0)
        }
    };
    at.equal("shader", store.shader, shader);
    // Any number of workgroups copies all words: each invocation advances by the total number of invocations.
    let fits = (words > 0) == (store.groups > 0) && store.groups <= 65_535;
    at.demand(
        fits,
        "groupCountX",
        store.groups,
        "0 for a draw, and 1 to 65,535 for a dispatch",
    );
}

fn check_parameters(at: &mut CheckedRow<'_, '_>, instance: &InstanceRow) {
    let described = at.checker.frame.pass(instance.pass);
    let has = |feature| at.checker.device.profile.features.contains(feature);
    let multiview = instance.view_mask == 0 || has(Features::MULTIVIEW);
    let dynamic = !instance.dynamic || has(Features::DYNAMIC_RENDERING);
    let secondary = described.contents == CommandSource::Secondary;
    at.equal("secondary", instance.secondary, secondary);
    at.equal("renderArea", instance.area, described.area);
    let vk::Rect2D { offset, extent } = described.area;
    let (width, height) = (offset.x as u32 + extent.width, offset.y as u32 + extent.height);
    at.equal(
        "framebuffer",
        instance.framebuffer,
        vk::Extent2D { width, height },
    );
    // VUID-VkFramebufferCreateInfo-renderPass-02531
    let layers = if described.view_mask == 0 {
        described.layers
    } else {
        1
    };
    at.equal("layerCount", instance.layers, layers);
    at.equal("viewMask", instance.view_mask, described.view_mask);
    at.demand(
        multiview,
        "viewMask",
        instance.view_mask,
        "0: the device has no multiview",
    );
    at.equal("tile_shading", instance.tile_shading, described.tile_shading);
    at.equal("hook", instance.hook, described.hook);
    let needs = "false: the device has no dynamic rendering";
    at.demand(dynamic, "dynamic", true, needs);
    let mut accesses = at.checker.frame.accesses_of(instance.pass).iter();
    let inputs = accesses.any(|access| access.kind == AccessKind::InputAttachment);
    let local_read = instance.dynamic && (described.subpasses > 1 || inputs);
    at.equal("local_read", instance.local_read, local_read);
}

/// Checks the attachments of an instance: that each view is attached once, and that dynamic rendering uses the right attachments for color, depth and
/// stencil.
fn check_list(at: &mut CheckedRow<'_, '_>, instance: &InstanceRow) {
    let (tables, frame) = (at.checker.tables, at.checker.frame);
    let list = instance.attachments.of(&tables.attachments);
    for (index, attachment) in list.iter().enumerate() {
        let twice = list[..index].iter().any(|other| other.view == attachment.view);
        at.demand(
            !twice,
            "view",
            attachment.view,
            "a view that is not yet in the list: each is attached once",
        );
        let layouts = [attachment.layout, attachment.stencil_layout];
        let fits = match attachment.combined_layout {
            vk::ImageLayout::UNDEFINED => instance.dynamic,
            combined => stands_for(attachment.format, combined, layouts),
        };
        let needs = format!("the equivalent of {layouts:?}");
        at.demand(fits, "initialLayout", attachment.combined_layout, needs);
    }
    let used: Vec<ReferenceRow> = instance
        .subpasses
        .of(&tables.subpasses)
        .iter()
        .flat_map(|row| all_references(at.checker, row))
        .collect();
    let resolved: Vec<u32> = instance
        .subpasses
        .of(&tables.subpasses)
        .iter()
        .flat_map(|row| {
            let depth = row.depth_resolve.get().map(|one| tables.references[one as usize]);
            row.resolves.of(&tables.references).iter().copied().chain(depth)
        })
        .filter_map(ReferenceRow::get)
        .collect();
    for (position, attachment) in (0..).zip(list) {
        let row = instance.attachments.first + position;
        let mut resolved_from = instance.subpasses.of(&tables.subpasses).iter();
        if !resolved_from.any(|row| is_resolved(at.checker, row, position)) {
            let found = (attachment.resolve.get(), attachment.resolve_mode);
            at.equal("resolve", found, (None, vk::ResolveModeFlags::NONE));
        }
        let is_used = used.iter().any(|one| one.get() == Some(position));
        let needs = "a view that a subpass refers to";
        at.demand(is_used, "pAttachments", attachment.view, needs);
        let color = crate::format::aspects(attachment.format).contains(vk::ImageAspectFlags::COLOR);
        let drawn = instance.dynamic && color && !resolved.contains(&position);
        let listed = instance.colors.indices().contains(&(row as usize));
        at.equal("pColorAttachments", listed, drawn);
    }
    let begins = instance.colors.is_empty() || instance.colors.first == instance.attachments.first;
    let needs = "at the start of the attachments";
    at.demand(begins, "pColorAttachments", instance.colors, needs);
    for (parameter, found, aspect) in [
        ("pDepthAttachment", instance.depth, vk::ImageAspectFlags::DEPTH),
        (
            "pStencilAttachment",
            instance.stencil,
            vk::ImageAspectFlags::STENCIL,
        ),
    ] {
        let subpasses = (0..).zip(instance.subpasses.of(&tables.subpasses));
        let with = subpasses.filter(|(number, _)| {
            let declared = declared(
                at.checker,
                (instance.pass, *number),
                AccessKind::DepthStencilAttachment,
            );
            let mut declared = declared.into_iter();
            declared.any(|index| frame.accesses()[index].range.aspects.contains(aspect))
        });
        let reference = with.filter_map(|(_, row)| row.depth.get()).next();
        let position = reference.and_then(|one| tables.references[one as usize].get());
        let needs = position.map(|position| instance.attachments.first + position);
        at.equal(parameter, found.get(), needs.filter(|_| instance.dynamic));
    }
}

/// Returns true if a subpass resolves the attachment at a position.
fn is_resolved(checker: &Checker<'_>, row: &SubpassRow, position: u32) -> bool {
    let references = &checker.tables.references;
    let is_here = |one: &ReferenceRow| one.get() == Some(position);
    let (colors, resolves) = (row.colors.of(references), row.resolves.of(references));
    let mut pairs = colors.iter().zip(resolves);
    let depth = row.depth.get().filter(|_| row.depth_resolve.is_some());
    pairs.any(|(color, target)| is_here(color) && target.get().is_some())
        || depth.is_some_and(|depth| is_here(&references[depth as usize]))
}

/// Returns true if one layout is equivalent to the separate layouts of depth and stencil.
///
/// Source: Vulkan specification, "Image Layouts"; VUID-VkAttachmentDescription-format-06906.
fn stands_for(format: vk::Format, combined: vk::ImageLayout, [depth, stencil]: [vk::ImageLayout; 2]) -> bool {
    use vk::ImageLayout as L;
    let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
    if crate::format::aspects(format) != both {
        return [depth, stencil] == [combined; 2];
    }
    let of_depth = |layout| match layout {
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL | L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL => {
            L::DEPTH_ATTACHMENT_OPTIMAL
        }
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL | L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL => {
            L::DEPTH_READ_ONLY_OPTIMAL
        }
        other => other,
    };
    let of_stencil = |layout| match layout {
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL | L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL => {
            L::STENCIL_ATTACHMENT_OPTIMAL
        }
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL | L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL => {
            L::STENCIL_READ_ONLY_OPTIMAL
        }
        other => other,
    };
    let of_one = [
        L::DEPTH_ATTACHMENT_OPTIMAL,
        L::DEPTH_READ_ONLY_OPTIMAL,
        L::STENCIL_ATTACHMENT_OPTIMAL,
        L::STENCIL_READ_ONLY_OPTIMAL,
    ];
    !of_one.contains(&combined)
        && of_depth(combined) == of_depth(depth)
        && of_stencil(combined) == of_stencil(stencil)
}

/// Every reference of a subpass.
fn all_references(checker: &Checker<'_>, row: &SubpassRow) -> Vec<ReferenceRow> {
    let references = &checker.tables.references;
    let single = [row.depth, row.depth_resolve]
        .into_iter()
        .filter_map(|one| one.get());
    let runs = [row.colors, row.resolves, row.inputs].into_iter();
    let rows = runs
        .flat_map(|run| run.indices())
        .chain(single.map(|row| row as usize));
    rows.map(|row| references[row]).collect()
}

/// Checks the pipeline parameters of a subpass, its preserved attachments, and its locations and input attachment indices.
fn check_subpass(at: &mut CheckedRow<'_, '_>, instance: &InstanceRow, number: u32, row: &SubpassRow) {
    let (tables, frame) = (at.checker.tables, at.checker.frame);
    let list = instance.attachments.of(&tables.attachments);
    let attachment = |one: &ReferenceRow| one.get().map(|position| &list[position as usize]);
    let colors = row.colors.of(&tables.references);
    let formats: Vec<vk::Format> = match instance.local_read {
        // Pipelines name all attachments of the instance, no matter which of them they use.
        true => instance
            .colors
            .of(&tables.attachments)
            .iter()
            .map(|one| one.format)
            .collect(),
        false => colors
            .iter()
            .filter_map(attachment)
            .map(|one| one.format)
            .collect(),
    };
    at.equal(
        "colorAttachmentFormats",
        row.color_formats.of(&tables.formats),
        &formats,
    );
    let aspects_of = |subpass| {
        let declared = declared(
            at.checker,
            (instance.pass, subpass),
            AccessKind::DepthStencilAttachment,
        );
        let aspects = declared
            .into_iter()
            .map(|index| frame.accesses()[index].range.aspects);
        aspects.fold(vk::ImageAspectFlags::empty(), |all, aspects| all | aspects)
    };
    let own = number..number + 1;
    let named = if instance.local_read {
        0..instance.subpasses.len() as u32
    } else {
        own
    };
    let named_aspects = named.clone().map(aspects_of);
    let named_aspects = named_aspects.fold(vk::ImageAspectFlags::empty(), |all, one| all | one);
    let depth = instance.subpasses.of(&tables.subpasses)[named.start as usize..named.end as usize]
        .iter()
        .find_map(|row| attachment(&tables.references[row.depth.get()? as usize]));
    let format_of = |aspect| match depth {
        Some(depth) if named_aspects.contains(aspect) => depth.format,
        _ => vk::Format::UNDEFINED,
    };
    let [of_depth, of_stencil] = [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL].map(format_of);
    at.equal("depth_aspects", row.depth_aspects, aspects_of(number));
    at.equal("depthAttachmentFormat", row.depth_format, of_depth);
    at.equal("stencilAttachmentFormat", row.stencil_format, of_stencil);
    for reference in all_references(at.checker, row) {
        let Some(attachment) = attachment(&reference) else {
            at.equal("layout", reference.layout, vk::ImageLayout::UNDEFINED);
            continue;
        };
        at.equal("layout", reference.layout, attachment.combined_layout);
    }
    for attachment in colors.iter().filter_map(attachment).chain(depth) {
        let needs = frame.pass(instance.pass).samples.unwrap_or(attachment.samples);
        at.equal("rasterizationSamples", row.samples, needs);
    }
    check_preserved(at, instance, number, row);
    for (parameter, found, references) in [
        ("pColorAttachmentLocations", row.locations, row.colors),
        ("pColorAttachmentInputIndices", row.input_indices, row.inputs),
    ] {
        let references = references.of(&tables.references);
        let place = |position: u32| {
            let place = (0..).zip(references).find(|(_, one)| one.attachment == position);
            place.map_or(vk::ATTACHMENT_UNUSED, |(place, _)| place)
        };
        let positions = 0..instance.colors.len() as u32;
        let needs: Vec<u32> = positions.filter(|_| instance.local_read).map(place).collect();
        at.equal(parameter, found.of(&tables.indices), &needs);
    }
}

/// Checks the attachments that a subpass preserves: those that it does not use, but earlier subpasses do, and that later subpasses use or
/// the instance stores.
///
/// Source: Vulkan specification, "Render Pass Creation", on `pPreserveAttachments`.
fn check_preserved(at: &mut CheckedRow<'_, '_>, instance: &InstanceRow, number: u32, row: &SubpassRow) {
    let tables = at.checker.tables;
    let subpasses = instance.subpasses.of(&tables.subpasses);
    let uses = |number: usize, position| {
        let mut all = all_references(at.checker, &subpasses[number]).into_iter();
        all.any(|one| one.get() == Some(position))
    };
    let number = number as usize;
    let mut needs = Vec::new();
    for (position, attachment) in (0..).zip(instance.attachments.of(&tables.attachments)) {
        let before = (0..number).any(|other| uses(other, position));
        let after = (number + 1..subpasses.len()).any(|other| uses(other, position));
        let dropped = vk::AttachmentStoreOp::DONT_CARE;
        let stored = attachment.operations.store != dropped || attachment.stencil.store != dropped;
        if !instance.dynamic && !uses(number, position) && before && (after || stored) {
            needs.push(position);
        }
    }
    at.equal("pPreserveAttachments", row.preserved.of(&tables.indices), &needs);
}

fn check_attachments(at: &mut CheckedRow<'_, '_>, index: u32, number: u32, row: &SubpassRow) {
    let instance = &at.checker.tables.instances[index as usize];
    for (kind, parameter) in [
        (AccessKind::ColorAttachment, "pColorAttachments"),
        (AccessKind::DepthStencilAttachment, "pDepthAttachment"),
        (AccessKind::ResolveAttachment, "pResolveAttachments"),
        (AccessKind::InputAttachment, "pInputAttachments"),
    ] {
        let declared = declared(at.checker, (instance.pass, number), kind);
        let most = if kind == AccessKind::DepthStencilAttachment {
            1
        } else {
            usize::MAX
        };
        let found = references_of(at.checker, row, kind).len();
        at.equal(parameter, found, declared.len().min(most));
        for access in declared {
            match attachment_of(at.checker, index, access) {
                Some(attachment) => check_attachment(at.checker, access, attachment),
                None => at.wrong(
                    parameter,
                    &format_args!("without the attachment of access {access}"),
                    &"a list that includes it",
                ),
            }
            if kind == AccessKind::ResolveAttachment {
                check_resolve(at, instance, index, row, access);
            }
        }
    }
    let count = row.resolves.len();
    let fits = count == 0 || count == row.colors.len();
    at.demand(
        fits,
        "pResolveAttachments",
        count,
        "the number of color attachments, or 0",
    );
    let features = at.checker.device.profile.features;
    let resolves = instance.dynamic || features.contains(Features::DEPTH_STENCIL_RESOLVE);
    at.demand(
        resolves || row.depth_resolve.is_none(),
        "pDepthStencilResolveAttachment",
        row.depth_resolve,
        "none: the device does not support VkSubpassDescriptionDepthStencilResolve",
    );
}

/// Checks that a resolve attachment receives the samples of the attachment that the frame names.
fn check_resolve(
    at: &mut CheckedRow<'_, '_>,
    instance: &InstanceRow,
    index: u32,
    row: &SubpassRow,
    target: usize,
) {
    let tables = at.checker.tables;
    let Some((source, _)) = resolved_into(at.checker, row, target) else {
        return at.wrong(
            "pResolveAttachments",
            &format_args!("without a source for access {target}"),
            &"a list that pairs it with an attachment of the subpass",
        );
    };
    let [source, target] = [source, target].map(|access| attachment_of(at.checker, index, access));
    let (Some(source), Some(target)) = (source, target) else {
        return;
    };
    let resolve = source
        .resolve
        .get()
        .map(|row| tables.attachments[row as usize].view);
    at.equal("resolve", resolve, instance.dynamic.then_some(target.view));
    let color = crate::format::aspects(source.format).contains(vk::ImageAspectFlags::COLOR);
    let needs = if color && numeric_type(source.format) == NumericType::Float {
        vk::ResolveModeFlags::AVERAGE
    } else {
        vk::ResolveModeFlags::SAMPLE_ZERO
    };
    at.equal("resolveMode", source.resolve_mode, needs);
}

/// Checks that a tile attachment's descriptor names the view of the attachment, with the aspect that shaders access.
///
/// Source: Vulkan specification, "Tile Attachment Interface".
fn check_tile_attachment(at: &mut CheckedRow<'_, '_>, access: &Access, view: ViewRow) {
    let tables = at.checker.tables;
    let mut instances = tables.instances.iter();
    let Some(instance) = instances.find(|instance| instance.pass == access.pass) else {
        return;
    };
    let mut attachments = instance.attachments.of(&tables.attachments).iter();
    let fits = attachments.any(|other| {
        let mut other = tables.views[other.view as usize];
        other.range.aspects &= view.range.aspects;
        other == view
    });
    at.demand(fits, "view", view, "that of an attachment of the pass");
}

/// Checks that the rows of accesses match the frame, and that descriptors have a single-aspect view of the accessed part of the image.
fn check_access_views(checker: &mut Checker<'_>) {
    let (tables, frame) = (checker.tables, checker.frame);
    for (row, access) in tables.accesses.iter().zip(frame.accesses()) {
        let mut at = checker.at(checker.access(access));
        let found = (
            row.pass,
            row.subpass,
            row.resource,
            row.version,
            row.kind,
            row.range,
        );
        let needs = (
            access.pass,
            access.subpass,
            access.resource,
            access.version,
            access.kind,
            access.range,
        );
        at.equal("access", found, needs);
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        if !access.range.aspects.contains(both) {
            at.equal("stencil layout", row.stencil_layout, row.layout);
        }
        let Some(view) = row.view.get() else {
            let described = matches!(row.object.get(), ImageOrBuffer::Image(_)) && access.kind.is_shader();
            at.demand(!described, "view", row.view, "a view: a descriptor needs one");
            continue;
        };
        let view = tables.views[view as usize];
        at.equal("view", ImageOrBuffer::Image(view.image), row.object.get());
        let usage = access.kind.image_usage(false);
        let fits = view.usage.is_empty() || view.usage.intersects(usage);
        at.demand(
            fits,
            "usage",
            view.usage,
            format_args!("empty, or a mask that includes one of {usage:?}"),
        );
        let fits = access.range.aspects.contains(view.range.aspects);
        let needs = format!("a subset of {:?}, which the access uses", access.range.aspects);
        at.demand(fits, "aspectMask", view.range.aspects, needs);
        let needs = "either depth or stencil (VUID-VkDescriptorImageInfo-imageView-01976)";
        at.demand(
            !view.range.aspects.contains(both),
            "view",
            view.range.aspects,
            needs,
        );
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
        at.equal("format", view.format, access.view.format.unwrap_or(view.format));
    }
}
