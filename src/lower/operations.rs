//! Load and store operations of attachments: what nothing reads is not stored; a read-only attachment is left alone where the device
//! can say so.

use ash::vk;

use super::tables::commands::Operations;
use crate::frame::tables::{Access, Version};
use crate::frame::{AccessKind, Frame, LoadOp, Persistence};
use crate::profile::Features;

/// The operations of an access as an attachment.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessOperations {
    /// Of colour and depth.
    pub(super) main: Operations,
    /// Of stencil.
    pub(super) stencil: Operations,
}

/// Per access of the frame, its operations as an attachment.
pub(super) fn operations(frame: &Frame, features: Features) -> Vec<AccessOperations> {
    let wanted = wanted(frame);
    let store_none = features.contains(Features::STORE_OP_NONE);
    let accesses = frame.accesses().iter().zip(wanted);
    let of_access = |(access, wanted): (&Access, Wanted)| {
        let load = match access.load_op {
            LoadOp::Load => vk::AttachmentLoadOp::LOAD,
            LoadOp::Clear(_) => vk::AttachmentLoadOp::CLEAR,
            LoadOp::DontCare => vk::AttachmentLoadOp::DONT_CARE,
        };
        let of_aspect = |wanted| Operations {
            load,
            store: store_op(access, wanted, store_none),
        };
        AccessOperations {
            main: of_aspect(wanted.main),
            stencil: of_aspect(wanted.stencil),
        }
    };
    accesses.map(of_access).collect()
}

/// Whether something of what an access leaves is read later, or outlives the frame.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    main: bool,
    stencil: bool,
}

/// What nothing reads is not stored.
fn wanted(frame: &Frame) -> Vec<Wanted> {
    let mut all = vec![Wanted::default(); frame.accesses().len()];
    for id in frame.resource_ids() {
        for &part in frame.parts_of(id) {
            // Backwards: what the next pass with this version wants, and at the end of the frame what its lifetime wants.
            let mut wanted = frame.resource(id).persistence != Persistence::Transient;
            let access_of = |index: &u32| &frame.accesses()[*index as usize];
            let uses = frame.uses_of(id);
            for in_pass in uses.chunk_by(|a, b| access_of(a).pass == access_of(b).pass).rev() {
                let of_part = in_pass
                    .iter()
                    .filter(|index| access_of(index).range.intersects(part));
                for &index in of_part.clone() {
                    let known = &mut all[index as usize];
                    let is_stencil = part.aspects.contains(vk::ImageAspectFlags::STENCIL);
                    let other = |aspect| !frame.resource(id).aspects().contains(aspect);
                    known.main |= wanted
                        && (part.aspects != vk::ImageAspectFlags::STENCIL
                            || other(vk::ImageAspectFlags::DEPTH));
                    known.stencil |= wanted && (is_stencil || other(vk::ImageAspectFlags::STENCIL));
                }
                let current = of_part.map(access_of);
                let mut current = current
                    .filter(|access| access.version == Version::Current)
                    .peekable();
                if current.peek().is_some() {
                    wanted = !current.any(|access| frame.replaces(access, part));
                }
            }
        }
    }
    all
}

fn store_op(access: &Access, wanted: bool, store_none: bool) -> vk::AttachmentStoreOp {
    match access.kind {
        AccessKind::DepthStencilAttachment if !access.writes && store_none => vk::AttachmentStoreOp::NONE,
        kind if kind.is_attachment() && access.writes && !wanted => vk::AttachmentStoreOp::DONT_CARE,
        _ => vk::AttachmentStoreOp::STORE,
    }
}
