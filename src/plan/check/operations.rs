//! Operations: what a pass does to memory, with its load and store operations, and whether that is what the frame asks
//! for.

use ash::vk;

use super::checker::Checker;
use super::replay_errors::OperationError;
use crate::frame::tables::Access;
use crate::frame::{AccessKind, LoadOp};
use crate::plan::Plan;
use crate::plan::passes::AccessPlan;
use crate::profile::Features;

/// Whether load operations do what is declared. Whether enough is stored, the replay finds out.
pub(super) fn check(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (access, planned) in plan.frame.accesses().iter().zip(&plan.accesses) {
        if !access.kind.is_attachment() {
            continue;
        }
        if let Some(needs) = unfit_load(access, planned.load_op) {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            let op = planned.load_op;
            checker.report(OperationError::Load {
                pass,
                resource,
                op,
                needs,
            });
        }
        let op = planned.store_op;
        let why = match op {
            vk::AttachmentStoreOp::STORE | vk::AttachmentStoreOp::DONT_CARE => continue,
            vk::AttachmentStoreOp::NONE if plan.profile.features.contains(Features::STORE_OP_NONE) => {
                continue;
            }
            vk::AttachmentStoreOp::NONE => "the device lacks it (VK_KHR_load_store_op_none)",
            _ => "there is no such operation",
        };
        let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
        checker.report(OperationError::Store {
            pass,
            resource,
            op,
            why,
        });
    }
}

/// What the load operation must be, if it is not.
fn unfit_load(access: &Access, op: vk::AttachmentLoadOp) -> Option<&'static str> {
    use vk::AttachmentLoadOp as Op;
    let loads = op == Op::LOAD;
    match access.load_op {
        _ if !access.writes || access.load_op == LoadOp::Load => (!loads).then_some("LOAD"),
        LoadOp::Clear(_) => (op != Op::CLEAR).then_some("CLEAR"),
        // To load what is not declared as read would be a read that no barrier expects.
        _ if loads && !access.reads => Some("DONT_CARE or CLEAR"),
        _ => None,
    }
}

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// Stages that make the access.
    pub(super) stages: vk::PipelineStageFlags2,
    /// Its accesses, those of the load and store operations included.
    pub(super) access: vk::AccessFlags2,
    /// Whether memory may be written.
    pub(super) writes: bool,
    /// Whether contents from before the pass are needed.
    pub(super) needs: bool,
    /// Whether the contents are undefined after the pass.
    pub(super) drops: bool,
}

/// What an access does to memory with the operations that the plan gives it.
///
/// A store writes, also of an attachment that is only tested against: unless it is `NONE`, a read-only attachment is
/// written at the end of the pass (Vulkan specification, "Render Pass Store Operations").
pub(super) fn effect(plan: &Plan, access: &Access, planned: &AccessPlan) -> Effect {
    let attachment = access.kind.is_attachment();
    let stores = attachment && planned.store_op != vk::AttachmentStoreOp::NONE;
    let loads = attachment && access.writes && access.load_op == LoadOp::Load;
    let writes = access.writes || stores;
    let stages = if access.stages.is_empty() {
        access.kind.default_stages(plan.frame.pass(access.pass).kind)
    } else {
        access.stages
    };
    let kept = match planned.store_op {
        vk::AttachmentStoreOp::STORE => true,
        vk::AttachmentStoreOp::NONE => !access.writes,
        _ => false,
    };
    Effect {
        stages,
        access: access.kind.access_flags(access.reads || loads, writes),
        writes,
        needs: needs_contents(plan, access),
        drops: attachment && !kept,
    }
}

/// Whether the access needs what earlier passes wrote: it reads, or writes a part; but an input attachment that the same
/// pass clears or overwrites reads what the pass itself makes.
fn needs_contents(plan: &Plan, access: &Access) -> bool {
    let made_here = access.kind == AccessKind::InputAttachment
        && plan.frame.accesses_of(access.pass).iter().any(|other| {
            other.resource == access.resource
                && other.version == access.version
                && other.writes
                && other.load_op != LoadOp::Load
        });
    (access.reads || access.writes && access.load_op == LoadOp::Load) && !made_here
}
