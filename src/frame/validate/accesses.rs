//! Accesses: checks that a pass and a resource can have them, and derives properties of the resource and the render area.

use ash::vk;
use tileheap_units::CompactSort;

use super::super::tables::Tables;
use super::super::*;
use crate::frame::area::attachment_extent;
use crate::frame::tables::{Access, CommandSource, HistoryVersion, Pass, PassKind, ResourceKind, ViewDesc};
use crate::units::Run;

/// Checks all accesses in linear time: keeps, per resource, the last pass that wrote it.
pub(super) fn check_accesses(tables: &Tables) -> Result<(), FrameError> {
    let mut written_by: Vec<Option<PassId>> = vec![None; tables.resources.len()];
    for (index, pass) in tables.passes.iter().enumerate() {
        let id = Some(PassId(index as u32));
        if pass.contents == CommandSource::Secondary && pass.kind != PassKind::Render {
            return Err(FrameRule::SecondaryContents.broken(format!(
                "pass `{pass}` is not a render pass, so its contents are inline: it may \
                 execute secondary command buffers without declaring them",
                pass = pass.name
            )));
        }
        let accesses = pass.accesses.of(&tables.accesses);
        if pass.contents.is_recorded_by_runtime() {
            if let Err(why) = store::check_store(tables, pass, accesses) {
                return Err(FrameRule::StoreContents.broken(format!(
                    "pass `{pass}` cannot be recorded by the runtime: {why}",
                    pass = pass.name
                )));
            }
        }
        let mut depth: Option<&Access> = None;
        for access in accesses {
            check_access(tables, pass, access)?;
            let resource = access.resource.index();
            let of_depth = access.kind == AccessKind::DepthStencilAttachment;
            // Only the current version can be written; tile attachments are attachments that are listed a second time.
            let tile = |of: &Access| of.kind == AccessKind::TileAttachment;
            let again =
                access.writes && !tile(access) && std::mem::replace(&mut written_by[resource], id) == id;
            let twice = |other: &Access| {
                !std::ptr::eq(other, access)
                    && !tile(other)
                    && (other.resource, other.version, other.subpass)
                        == (access.resource, access.version, access.subpass)
                    && (other.writes && access.writes || of_depth && other.kind == access.kind)
                    && other.range.intersects(access.range)
            };
            let other = accesses.iter().find(|&other| (again || of_depth) && twice(other));
            if let Some(other) = other {
                let (pass, resource) = (&pass.name, &tables.resources[resource].name);
                return Err(FrameRule::TwoWriters.broken(match other.writes && access.writes {
                    true => format!(
                        "pass `{pass}` declares two writers of `{resource}`: merge the accesses or split the pass"
                    ),
                    false => format!(
                        "pass `{pass}` uses `{resource}` twice as a depth and stencil attachment: merge the accesses"
                    ),
                }));
            }
            // Depth and stencil of one image may be declared apart.
            let part = |of: &Access| (of.resource, of.version, of.range.levels, of.range.layers);
            let other = depth
                .filter(|other| other.subpass == access.subpass)
                .filter(|other| of_depth && part(other) != part(access));
            if other.is_some() {
                let why = "a pass can have at most one depth and stencil attachment";
                return Err(misuse(tables, access, why));
            }
            if of_depth {
                depth = Some(access);
            }
        }
        for access in accesses {
            let attached = |other: &Access| {
                let part = |of: &Access| (of.resource, of.version, of.range.levels, of.range.layers, of.view);
                let is_kind = match access.writes {
                    // Valid usage rejects depth.
                    true => {
                        other.writes
                            && other.kind != AccessKind::ResolveAttachment
                            && other.kind.is_attachment()
                    }
                    false => {
                        let is_input = other.kind == AccessKind::InputAttachment;
                        is_input || other.kind.is_attachment() && other.kind != AccessKind::ResolveAttachment
                    }
                };
                part(other) == part(access) && is_kind
            };
            if access.kind == AccessKind::TileAttachment && !accesses.iter().any(attached) {
                let why = match access.writes {
                    true => {
                        "a written tile attachment must also be declared and written as a color attachment of the pass"
                    }
                    false => "a tile attachment must also be declared as an attachment of the pass",
                };
                return Err(misuse(tables, access, why));
            }
            if access.kind == AccessKind::ResolveAttachment {
                check_resolve(tables, pass, accesses, access)?;
            }
        }
    }
    Ok(())
}

/// Checks that every resolve attachment of a pass has a source, with the same aspects, among its `accesses`.
fn check_resolve(
    tables: &Tables,
    pass: &Pass,
    accesses: &[Access],
    access: &Access,
) -> Result<(), FrameError> {
    let is_source = |source: &Access| {
        Some(source.resource) == access.resolves
            && source.subpass == access.subpass
            && source.kind.is_attachment()
            && source.kind != AccessKind::ResolveAttachment
    };
    let targets = accesses.iter().filter(|other| {
        let same = (other.resolves, other.subpass) == (access.resolves, access.subpass);
        same && other.kind == AccessKind::ResolveAttachment
    });
    let (sources, targets) = (attachments_among(accesses, is_source), targets.count());
    if (1..targets).contains(&sources) {
        return Err(FrameRule::ResolveSource.broken(format!(
            "pass `{pass}` resolves one resource into {targets} targets, such as `{resource}`, but attaches only \
             {sources} of its parts",
            pass = pass.name,
            resource = tables.resources[access.resource.index()].name
        )));
    }
    let attached = accesses.iter().filter(|source| is_source(source));
    let attached = attached.fold(vk::ImageAspectFlags::empty(), |all, source| {
        all | source.range.aspects
    });
    if sources > 0 && !attached.contains(access.range.aspects) {
        return Err(FrameRule::ResolveSource.broken(format!(
            "pass `{pass}` resolves {needed:?} into `{resource}`, but attaches only {attached:?} of the source",
            pass = pass.name,
            needed = access.range.aspects,
            resource = tables.resources[access.resource.index()].name
        )));
    }
    if access.resolves.is_none() {
        return Err(FrameRule::ResolveSource.broken(format!(
            "pass `{pass}` resolves into `{resource}`, but the access has no `resolves`: name the attachment of the same subpass to resolve",
            pass = pass.name,
            resource = tables.resources[access.resource.index()].name
        )));
    }
    if sources == 0 {
        return Err(FrameRule::ResolveSource.broken(format!(
            "pass `{pass}` resolves into `{resource}`, but does not attach the source in the same subpass",
            pass = pass.name,
            resource = tables.resources[access.resource.index()].name
        )));
    }
    Ok(())
}

/// Number of attachments among the `wanted` accesses of a pass: depth and stencil that are declared separately count as one.
fn attachments_among(accesses: &[Access], wanted: impl Fn(&Access) -> bool) -> usize {
    let mut parts: Vec<_> = accesses
        .iter()
        .filter(|access| wanted(access))
        .map(|access| (access.kind, access.range.levels.first, access.range.layers.first))
        .collect();
    parts.compact_sort();
    parts.dedup();
    parts.len()
}

/// Resets settings that have no effect, so that equivalent frames compare equal.
pub(super) fn normalize_accesses(tables: &mut Tables) {
    for access in &mut tables.accesses {
        if access.kind.is_transfer() || !tables.resources[access.resource.index()].is_image() {
            access.view = ViewDesc::default();
        }
        if !access.writes {
            access.load_op = LoadOp::Load;
        }
        match access.kind {
            // The resolve overwrites what a clear would write.
            AccessKind::ResolveAttachment if matches!(access.load_op, LoadOp::Clear(_)) => {
                access.load_op = LoadOp::DontCare;
            }
            AccessKind::ResolveAttachment => {}
            _ => access.resolves = None,
        }
    }
}

fn misuse(tables: &Tables, access: &Access, why: &'static str) -> FrameError {
    FrameRule::Misuse.broken(format!(
        "pass `{pass}` uses `{resource}` as {kind}: {why}",
        pass = tables.passes[access.pass.index()].name,
        resource = tables.resources[access.resource.index()].name,
        kind = access.kind.noun()
    ))
}

fn check_access(tables: &Tables, pass: &Pass, access: &Access) -> Result<(), FrameError> {
    let resource = &tables.resources[access.resource.index()];
    let misuse = |why| Err(misuse(tables, access, why));
    let previous = |why| {
        let (pass, resource) = (pass.name.clone(), resource.name.clone());
        Err(FrameRule::Previous.broken(format!(
            "pass `{pass}` uses the previous version of `{resource}`: {why}"
        )))
    };
    let kind = access.kind;
    if resource.is_image() && !kind.fits_images() {
        return misuse("only buffers support this access");
    }
    if !resource.is_image() && !kind.fits_buffers() {
        return misuse("only images support this access");
    }
    if pass.kind != PassKind::Render && (kind.is_attachment() || kind == AccessKind::InputAttachment) {
        return misuse("only render passes can have attachments");
    }
    if kind == AccessKind::TileAttachment && !pass.tile_shading {
        return misuse("only passes with tile shading can access attachments this way");
    }
    if pass.kind == PassKind::Transfer && !kind.is_transfer() {
        return misuse("a transfer pass can only copy, fill and clear");
    }
    if pass.kind == PassKind::Render && kind.is_transfer() {
        return misuse("transfers are not allowed inside a render pass");
    }
    let has_color = || resource.aspects().contains(vk::ImageAspectFlags::COLOR);
    if kind == AccessKind::ColorAttachment && !has_color() {
        return misuse("its format has no color aspect");
    }
    if kind == AccessKind::DepthStencilAttachment && has_color() {
        return misuse("its format has no depth or stencil aspect");
    }
    if (kind.is_attachment() || kind == AccessKind::InputAttachment) && access.range.levels.len() != 1 {
        return misuse("an attachment must be a single level");
    }
    if kind.is_attachment()
        && !has_color()
        && access.range.aspects != resource.aspects()
        && kind != AccessKind::DepthStencilAttachment
    {
        return misuse("depth and stencil must be resolved together");
    }
    if resource.is_3d()
        && access.range.levels.len() > 1
        && access.range.layers
            != resource
                .resolved(
                    SubresourceRange {
                        layers: Run::default(),
                        ..access.range
                    },
                    kind,
                )
                .layers
    {
        return misuse("an access of several levels must use all slices");
    }
    if !access.reads && !access.writes {
        return misuse(match kind.access_flags(false, true).is_empty() {
            true => "it neither reads nor writes: add a read, in JSON `\"reads\": true`",
            false => {
                "it neither reads nor writes: add one of them, in JSON `\"reads\": true` or `\"writes\": true`"
            }
        });
    }
    if access.writes && kind.access_flags(false, true).is_empty() {
        return misuse("such accesses cannot write");
    }
    if access.reads && !access.writes && kind.access_flags(true, false).is_empty() {
        return misuse("such accesses cannot read");
    }
    if let LoadOp::Clear(value) = access.load_op {
        if !kind.is_attachment() {
            return misuse(
                "only attachments can be cleared by the pass: clear in a transfer pass, or overwrite",
            );
        }
        if value.is_nan() {
            let (pass, resource) = (pass.name.clone(), resource.name.clone());
            return Err(FrameRule::ClearValue.broken(format!(
                "pass `{pass}` clears `{resource}` to a value that is not a number"
            )));
        }
    }
    if access.version == HistoryVersion::Previous {
        if resource.persistence != Persistence::History {
            return previous("only histories have a previous version");
        }
        if access.writes {
            return previous("a previous version cannot be written");
        }
    }
    Ok(())
}

pub(super) fn derive_usage(tables: &mut Tables) {
    for access in &tables.accesses {
        let resource = &mut tables.resources[access.resource.index()];
        let depth = !resource.aspects().contains(vk::ImageAspectFlags::COLOR);
        match &mut resource.kind {
            ResourceKind::Image { desc, usage, .. } => {
                *usage |= access.kind.image_usage(depth);
                if access.kind.is_attachment() && desc.image_type == vk::ImageType::TYPE_3D {
                    // Slices are attached by views of two dimensions (VUID-VkImageViewCreateInfo-image-06723).
                    desc.flags |= vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE;
                }
                if access.view.format.is_some_and(|format| format != desc.format) {
                    desc.flags |= vk::ImageCreateFlags::MUTABLE_FORMAT;
                }
            }
            ResourceKind::Buffer { usage, .. } => *usage |= access.kind.buffer_usage(),
        }
    }
    for resource in &mut tables.resources {
        let Persistence::External(external) = &resource.persistence else {
            continue;
        };
        let layouts = [external.entry.layout, external.exit.layout];
        let depth = !resource.aspects().contains(vk::ImageAspectFlags::COLOR);
        if let ResourceKind::Image { usage, .. } = &mut resource.kind {
            layouts
                .into_iter()
                .for_each(|layout| *usage |= usage_of(layout, *usage, depth));
        }
    }
    extend_usage(tables);
}

/// The usage that an image in `layout` must have, in addition to `usage`, which may already suffice (VUID-VkImageMemoryBarrier2-oldLayout-01208 to -01213,
/// -01658, -01659, -02088; VUID-VkImageMemoryBarrier2-srcQueueFamilyIndex-03938, -03939, -04065 to -04068, -07006, -07120 to -07125, -09550).
fn usage_of(layout: vk::ImageLayout, usage: vk::ImageUsageFlags, depth: bool) -> vk::ImageUsageFlags {
    use vk::ImageLayout as L;
    use vk::ImageUsageFlags as U;
    let attached = match depth {
        true => U::DEPTH_STENCIL_ATTACHMENT,
        false => U::COLOR_ATTACHMENT,
    };
    match layout {
        L::TRANSFER_SRC_OPTIMAL => U::TRANSFER_SRC,
        L::TRANSFER_DST_OPTIMAL => U::TRANSFER_DST,
        L::SHADER_READ_ONLY_OPTIMAL if !usage.intersects(U::INPUT_ATTACHMENT) => U::SAMPLED,
        L::COLOR_ATTACHMENT_OPTIMAL => U::COLOR_ATTACHMENT,
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL
        | L::DEPTH_STENCIL_READ_ONLY_OPTIMAL
        | L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL
        | L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL
        | L::DEPTH_ATTACHMENT_OPTIMAL
        | L::STENCIL_ATTACHMENT_OPTIMAL => U::DEPTH_STENCIL_ATTACHMENT,
        L::DEPTH_READ_ONLY_OPTIMAL | L::STENCIL_READ_ONLY_OPTIMAL | L::READ_ONLY_OPTIMAL
            if !usage.intersects(U::DEPTH_STENCIL_ATTACHMENT | U::INPUT_ATTACHMENT) =>
        {
            U::SAMPLED
        }
        L::ATTACHMENT_OPTIMAL => attached,
        L::RENDERING_LOCAL_READ_KHR if usage.contains(U::STORAGE) => U::empty(),
        L::RENDERING_LOCAL_READ_KHR => U::INPUT_ATTACHMENT | attached,
        L::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT => U::FRAGMENT_DENSITY_MAP_EXT,
        L::FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR => U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
        L::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT if usage.contains(U::INPUT_ATTACHMENT) => {
            U::ATTACHMENT_FEEDBACK_LOOP_EXT | attached
        }
        L::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT => U::ATTACHMENT_FEEDBACK_LOOP_EXT | U::SAMPLED | attached,
        L::VIDEO_DECODE_SRC_KHR => U::VIDEO_DECODE_SRC_KHR,
        L::VIDEO_DECODE_DST_KHR => U::VIDEO_DECODE_DST_KHR,
        L::VIDEO_DECODE_DPB_KHR => U::VIDEO_DECODE_DPB_KHR,
        L::VIDEO_ENCODE_SRC_KHR => U::VIDEO_ENCODE_SRC_KHR,
        L::VIDEO_ENCODE_DST_KHR => U::VIDEO_ENCODE_DST_KHR,
        L::VIDEO_ENCODE_DPB_KHR => U::VIDEO_ENCODE_DPB_KHR,
        _ => U::empty(),
    }
}

/// Sets `EXTENDED_USAGE` for sRGB images that shaders store to only through views of other formats: few devices support sRGB storage images.
fn extend_usage(tables: &mut Tables) {
    let is_srgb = |format| crate::format::info(format).is_some_and(|info| info.srgb);
    let stored = tables.accesses.iter().filter(|access| {
        let format = || tables.resources[access.resource.index()].format();
        access.kind == AccessKind::StorageImage && is_srgb(format())
    });
    let viewed = |access: &Access| access.view.format.is_some_and(|format| !is_srgb(format));
    let (others, own): (Vec<&Access>, Vec<&Access>) = stored.partition(|access| viewed(access));
    let own: Vec<ResourceId> = own.into_iter().map(|access| access.resource).collect();
    let mut others: Vec<ResourceId> = others.into_iter().map(|access| access.resource).collect();
    others.retain(|resource| !own.contains(resource));
    for resource in others {
        if let ResourceKind::Image { desc, .. } = &mut tables.resources[resource.index()].kind {
            desc.flags |= vk::ImageCreateFlags::EXTENDED_USAGE;
        }
    }
}

pub(super) fn derive_render_areas(tables: &mut Tables) {
    let of_render = |pass: &&mut Pass| pass.kind == PassKind::Render;
    for pass in tables.passes.iter_mut().filter(of_render) {
        let covered = attachment_extent(pass.accesses.of(&tables.accesses), &tables.resources);
        let (limit, layers) = covered.unwrap_or((tables.base_extent, 1));
        pass.area = pass.render_area.unwrap_or(limit.into());
        pass.layers = layers;
    }
}
