//! Accesses as planned: placement, layout, load and store operations.

use ash::vk;

use super::arena::Placed;
use super::epoch::layout_of;
use super::passes::AccessPlan;
use super::{ObjectId, PlacementId};
use crate::frame::tables::{Access, Version};
use crate::frame::{AccessKind, Frame, LoadOp, Persistence};
use crate::profile::{DeviceProfile, Features};

pub(super) fn plan_accesses(
    frame: &Frame,
    profile: &DeviceProfile,
    placed: &Placed,
    bound: &[Option<ObjectId>],
) -> Vec<AccessPlan> {
    let mut plans = Vec::with_capacity(frame.accesses().len());
    for access in frame.accesses() {
        let resource = frame.resource(access.resource);
        let copy = u32::from(access.version == Version::Previous);
        let PlacementId(current) = placed.in_pass(access.resource, bound[access.pass.index()]);
        plans.push(AccessPlan {
            placement: PlacementId(current + copy),
            layout: layout_of(access, resource, placed.is_ladder(access.resource)),
            load_op: match access.load_op {
                LoadOp::Load => vk::AttachmentLoadOp::LOAD,
                LoadOp::Clear(_) => vk::AttachmentLoadOp::CLEAR,
                LoadOp::DontCare => vk::AttachmentLoadOp::DONT_CARE,
            },
            store_op: vk::AttachmentStoreOp::STORE,
        });
    }
    share_layouts(frame, &mut plans);
    store_what_is_wanted(frame, profile, &mut plans);
    plans
}

/// Accesses of one pass to one image that want different layouts meet in GENERAL.
fn share_layouts(frame: &Frame, plans: &mut [AccessPlan]) {
    for pass in frame.passes() {
        for a in pass.accesses.indices() {
            for b in a + 1..pass.accesses.end as usize {
                if plans[a].placement == plans[b].placement && plans[a].layout != plans[b].layout {
                    plans[a].layout = vk::ImageLayout::GENERAL;
                    plans[b].layout = vk::ImageLayout::GENERAL;
                }
            }
        }
    }
}

/// Results that nobody wants are not stored; a read-only attachment is left alone where the device can say so.
fn store_what_is_wanted(frame: &Frame, profile: &DeviceProfile, plans: &mut [AccessPlan]) {
    let store_none = profile.features.contains(Features::STORE_OP_NONE);
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
                plans[index as usize].store_op = store_op(access, wanted, store_none);
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
