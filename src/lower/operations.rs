//! Load and store operations of attachments.

use ash::vk;

use super::tables::commands::Operations;
use crate::frame::tables::{Access, Version};
use crate::frame::{AccessKind, Frame, LoadOp, Persistence};
use crate::profile::Features;

/// Per access of the frame, its operations as an attachment.
pub(super) fn operations(frame: &Frame, features: Features) -> Vec<Operations> {
    let load = |access: &Access| match access.load_op {
        LoadOp::Load => vk::AttachmentLoadOp::LOAD,
        LoadOp::Clear(_) => vk::AttachmentLoadOp::CLEAR,
        LoadOp::DontCare => vk::AttachmentLoadOp::DONT_CARE,
    };
    let store = vk::AttachmentStoreOp::STORE;
    let accesses = frame.accesses().iter();
    let mut operations: Vec<_> = accesses
        .map(|access| Operations {
            load: load(access),
            store,
        })
        .collect();
    store_what_is_read(frame, features.contains(Features::STORE_OP_NONE), &mut operations);
    operations
}

/// What nothing reads is not stored; a read-only attachment is left alone where the device can say so.
fn store_what_is_read(frame: &Frame, store_none: bool, operations: &mut [Operations]) {
    for id in frame.resource_ids() {
        // Backwards: what the next pass with this version wants, and at the end of the frame what its lifetime wants.
        let at_the_end = frame.resource(id).persistence != Persistence::Transient;
        let mut wanted = at_the_end;
        let uses = frame.uses_of(id);
        let mut end = uses.len();
        while end > 0 {
            let pass = frame.accesses()[uses[end - 1] as usize].pass;
            let of_pass = |&index: &u32| frame.accesses()[index as usize].pass == pass;
            let start = uses[..end]
                .iter()
                .rposition(|index| !of_pass(index))
                .map_or(0, |last| last + 1);
            for &index in &uses[start..end] {
                let access = &frame.accesses()[index as usize];
                operations[index as usize].store = store_op(access, wanted, store_none);
            }
            let current = uses[start..end]
                .iter()
                .map(|&index| &frame.accesses()[index as usize])
                .filter(|access| access.version == Version::Current);
            let (mut touched, mut replaced) = (false, false);
            for access in current {
                touched = true;
                replaced |= access.writes && !access.needs_contents();
            }
            if touched {
                wanted = !replaced;
            }
            end = start;
        }
    }
}

fn store_op(access: &Access, wanted: bool, store_none: bool) -> vk::AttachmentStoreOp {
    match access.kind {
        AccessKind::DepthStencilAttachment if !access.writes && store_none => vk::AttachmentStoreOp::NONE,
        kind if kind.is_attachment() && access.writes && !wanted => vk::AttachmentStoreOp::DONT_CARE,
        _ => vk::AttachmentStoreOp::STORE,
    }
}
