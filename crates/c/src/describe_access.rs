//! Converts the structure of an access.

use ash::vk;
use tileheap::frame::tables::ViewDesc;
use tileheap::frame::{AccessKind, ClearValue, LoadOp, PassBuilder, ReadReach, ResourceId, SubresourceRange};
use tileheap::units::{Bytes, Run};

use crate::enums::{AccessFlag, ResourceFlag, access_kind, known_bits};
use crate::frame_desc::AccessDesc;
use crate::status::Fault;
use crate::strings::counted;

/// The bits of [`AccessFlag`].
const ACCESS_FLAGS: u32 = AccessFlag::Read as u32
    | AccessFlag::Write as u32
    | AccessFlag::Previous as u32
    | AccessFlag::ViewType as u32
    | AccessFlag::Reach as u32
    | AccessFlag::Measured as u32;

/// All types of image views.
const VIEW_TYPES: [vk::ImageViewType; 7] = [
    vk::ImageViewType::TYPE_1D,
    vk::ImageViewType::TYPE_2D,
    vk::ImageViewType::TYPE_3D,
    vk::ImageViewType::CUBE,
    vk::ImageViewType::TYPE_1D_ARRAY,
    vk::ImageViewType::TYPE_2D_ARRAY,
    vk::ImageViewType::CUBE_ARRAY,
];

/// A resource, and the parts of its description that its accesses need.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    pub(crate) id: ResourceId,
    pub(crate) flags: u32,
    pub(crate) format: vk::Format,
    pub(crate) depth: u32,
    pub(crate) mip_levels: u32,
    pub(crate) array_layers: u32,
}

/// The fault for a field that is set without the flag that uses it.
pub(crate) fn unused(field: &str, flag: &str) -> Fault {
    Fault::argument(format!("is set, but only used with {flag} in flags")).within(field)
}

/// Declares an access to one of the resources.
pub(crate) fn access<'a>(
    pass: PassBuilder<'a>,
    desc: &AccessDesc,
    resources: &[Declared],
) -> Result<PassBuilder<'a>, Fault> {
    known_bits(desc.flags, ACCESS_FLAGS, "ThAccessFlag", "flags")?;
    let kind = access_kind(desc.kind)?;
    let find = |index, field| find(resources, index, "resource").map_err(|fault| fault.within(field));
    let resource = find(desc.resource, "resource")?;
    let source = match kind {
        AccessKind::ResolveAttachment => Some(find(desc.resolve_source, "resolveSource")?.id),
        _ => None,
    };
    let has = |flag: AccessFlag| desc.flags & flag as u32 != 0;
    if desc.view_type != vk::ImageViewType::default() && !has(AccessFlag::ViewType) {
        return Err(unused("viewType", "TH_ACCESS_FLAG_VIEW_TYPE"));
    }
    if desc.reach_texels != 0 && !has(AccessFlag::Reach) {
        return Err(unused("reachTexels", "TH_ACCESS_FLAG_REACH"));
    }
    if desc.measured_savings != 0 && !has(AccessFlag::Measured) {
        return Err(unused("measuredSavings", "TH_ACCESS_FLAG_MEASURED"));
    }
    let (reads, writes) = match (has(AccessFlag::Read), has(AccessFlag::Write)) {
        (false, false) => default_access(kind, desc.load_op)?,
        named => named,
    };
    let load_op = load_op(desc, kind, resource, (reads, writes))?;
    let mut pass = pass.access(resource.id, kind, reads, writes, load_op);
    pass = pass.part(range(&desc.range, resource).map_err(|fault| fault.within("range"))?);
    if !desc.stages.is_empty() {
        pass = pass.at(desc.stages);
    }
    if has(AccessFlag::Previous) {
        pass = pass.previous();
    }
    if has(AccessFlag::ViewType) && !VIEW_TYPES.contains(&desc.view_type) {
        let number = desc.view_type.as_raw();
        return Err(Fault::argument(format!("is {number}, not a VkImageViewType")).within("viewType"));
    }
    if has(AccessFlag::ViewType) || desc.view_format != vk::Format::UNDEFINED {
        pass = pass.viewed(ViewDesc {
            view_type: has(AccessFlag::ViewType).then_some(desc.view_type),
            format: Some(desc.view_format).filter(|format| *format != vk::Format::UNDEFINED),
        });
    }
    if has(AccessFlag::Reach) {
        pass = pass.reaching(match desc.reach_texels {
            u32::MAX => ReadReach::Anywhere,
            texels => ReadReach::Texels(texels),
        });
    }
    if has(AccessFlag::Measured) {
        pass = pass.measured(Bytes(desc.measured_savings));
    }
    if let Some(source) = source {
        pass = pass.resolving(source);
    }
    Ok(pass)
}

/// Returns whether an access without flags reads, and whether it writes.
fn default_access(kind: AccessKind, load_op: vk::AttachmentLoadOp) -> Result<(bool, bool), Fault> {
    Ok(match kind {
        AccessKind::ResolveAttachment | AccessKind::TransferDestination => (false, true),
        AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment => {
            (load_op == vk::AttachmentLoadOp::LOAD, true)
        }
        AccessKind::TileAttachment
        | AccessKind::StorageImage
        | AccessKind::StorageBuffer
        | AccessKind::StorageTexelBuffer
        | AccessKind::DeviceAddress => {
            let message = format!(
                "has neither TH_ACCESS_FLAG_READ nor TH_ACCESS_FLAG_WRITE, but {} needs at least one of them",
                kind.noun()
            );
            return Err(Fault::argument(message).within("flags"));
        }
        _ => (true, false),
    })
}

/// The load operation of an access.
fn load_op(
    desc: &AccessDesc,
    kind: AccessKind,
    resource: &Declared,
    (reads, writes): (bool, bool),
) -> Result<LoadOp, Fault> {
    if !writes || kind == AccessKind::ResolveAttachment {
        return Ok(if writes { LoadOp::DontCare } else { LoadOp::Load });
    }
    if !kind.is_attachment() {
        return Ok(if reads { LoadOp::Load } else { LoadOp::DontCare });
    }
    match desc.load_op {
        vk::AttachmentLoadOp::LOAD => Ok(LoadOp::Load),
        vk::AttachmentLoadOp::DONT_CARE => Ok(LoadOp::DontCare),
        vk::AttachmentLoadOp::CLEAR => Ok(LoadOp::Clear(clear_value(&desc.clear, resource.format))),
        other => {
            let message = format!(
                "is {}: it must be VK_ATTACHMENT_LOAD_OP_LOAD, VK_ATTACHMENT_LOAD_OP_CLEAR or VK_ATTACHMENT_LOAD_OP_DONT_CARE",
                other.as_raw()
            );
            Err(Fault::argument(message).within("loadOp"))
        }
    }
}

/// Converts a clear value, reading the union member for the numeric type of the format.
fn clear_value(clear: &vk::ClearValue, format: vk::Format) -> ClearValue {
    // SAFETY: 16 bytes, regardless of the member that C has written: its other bytes are those of the structure before.
    let words = unsafe { clear.color.uint32 };
    match ClearValue::zero_of(format) {
        ClearValue::Float(_) => ClearValue::Float(words.map(f32::from_bits)),
        ClearValue::Int(_) => ClearValue::Int(words.map(|word| word as i32)),
        ClearValue::Uint(_) => ClearValue::Uint(words),
        ClearValue::DepthStencil(..) => ClearValue::DepthStencil(f32::from_bits(words[0]), words[1]),
    }
}

/// Converts a subresource range; an open end extends over all levels or layers from the first one on.
fn range(range: &vk::ImageSubresourceRange, resource: &Declared) -> Result<SubresourceRange, Fault> {
    let run = |what: &str, first: u32, count: u32, all: u32| match (first, count) {
        (0, 0 | vk::REMAINING_MIP_LEVELS) => Ok(Run::new(0, 0)),
        (_, 0 | vk::REMAINING_MIP_LEVELS) if first < all => Ok(Run::new(first, all)),
        (_, 0 | vk::REMAINING_MIP_LEVELS) => Err(Fault::argument(format!(
            "{what} {first} is out of range: the resource has {}",
            counted(all as usize, what)
        ))),
        _ => match first.checked_add(count) {
            Some(end) => Ok(Run::new(first, end)),
            None => Err(Fault::argument(format!(
                "{what} {first} plus a count of {count} exceeds 32 bits"
            ))),
        },
    };
    let layers = if resource.flags & ResourceFlag::Image3d as u32 != 0 {
        resource.depth >> range.base_mip_level.min(31)
    } else {
        resource.array_layers
    };
    Ok(SubresourceRange {
        aspects: range.aspect_mask,
        levels: run(
            "level",
            range.base_mip_level,
            range.level_count,
            resource.mip_levels.max(1),
        )?,
        layers: run("layer", range.base_array_layer, range.layer_count, layers.max(1))?,
    })
}

/// Returns the element at an index from C.
pub(crate) fn find<'a, T>(elements: &'a [T], index: u32, what: &str) -> Result<&'a T, Fault> {
    elements.get(index as usize).ok_or_else(|| {
        Fault::argument(format!(
            "{what} {index} is out of range: the frame has {}",
            counted(elements.len(), what)
        ))
    })
}
