//! Damage to load and store operations.

use ash::vk::{AttachmentLoadOp, AttachmentStoreOp};
use tileheap::frame::tables::Access;
use tileheap::frame::{AccessKind, LoadOp, Persistence};
use tileheap::plan::Plan;
use tileheap::plan::check::{CheckError, ContentsError, ContentsLoss, OperationError};
use tileheap::plan::passes::AccessPlan;
use tileheap::profile::Features;

use super::{name, needs, pass_name, refused, uses};

/// Attachments for which `wanted` holds, by index, with the names of pass and resource.
fn attachments(plan: &Plan, wanted: impl Fn(&Access, &AccessPlan) -> bool) -> Vec<(usize, String, String)> {
    let accesses = plan.frame.accesses().iter().zip(&plan.accesses).enumerate();
    accesses
        .filter(|(_, (access, planned))| access.kind.is_attachment() && wanted(access, planned))
        .map(|(index, (access, _))| (index, pass_name(plan, access.pass), name(plan, access.resource)))
        .collect()
}

#[test]
fn a_result_that_is_needed_is_not_stored() {
    refused(
        |plan| {
            let mut sites = Vec::new();
            for placement in 0..plan.placements.len() {
                let uses = uses(plan, placement);
                for (index, access, _) in uses.iter().filter(|(_, access, _)| access.kind.is_attachment()) {
                    let later = uses.iter().find(|(_, later, _)| later.pass > access.pass);
                    if let Some((_, later, _)) = later.filter(|(_, later, _)| needs(plan, later)) {
                        sites.push((*index, pass_name(plan, access.pass), pass_name(plan, later.pass)));
                    }
                }
            }
            sites
        },
        |plan, (index, ..)| plan.accesses[*index].store_op = AttachmentStoreOp::DONT_CARE,
        |fault, (_, by, needed)| {
            matches!(fault, CheckError::Contents(ContentsError::Lost { pass, loss: ContentsLoss::NotStored { pass: dropped }, .. })
                if pass == needed && dropped == by)
        },
    );
}

#[test]
fn what_the_caller_gets_is_not_stored() {
    refused(
        |plan| {
            attachments(plan, |access, _| {
                let external = matches!(
                    plan.frame.resource(access.resource).persistence,
                    Persistence::External(_)
                );
                external
                    && access.writes
                    && plan.frame.lifetime_of(access.resource).end.0 == access.pass.step().0 + 1
            })
        },
        |plan, (index, ..)| plan.accesses[*index].store_op = AttachmentStoreOp::DONT_CARE,
        |fault, (.., name)| {
            matches!(fault, CheckError::Contents(ContentsError::Exit { resource, loss: ContentsLoss::NotStored { .. } })
                if resource == name)
        },
    );
}

#[test]
fn what_the_next_frame_reads_is_not_stored() {
    refused(
        |plan| {
            attachments(plan, |access, planned| {
                let run = plan.resources[access.resource.index()].placements;
                let last = uses(plan, planned.placement.index())
                    .last()
                    .map(|(_, last, _)| last.pass);
                let history = plan.frame.resource(access.resource).persistence == Persistence::History;
                history && run.len() == 2 && access.writes && last == Some(access.pass)
            })
        },
        |plan, (index, ..)| plan.accesses[*index].store_op = AttachmentStoreOp::DONT_CARE,
        |fault, (.., name)| {
            matches!(fault, CheckError::Contents(ContentsError::Lost { resource, loss: ContentsLoss::NotStored { .. }, .. })
                if resource == name)
        },
    );
}

#[test]
fn what_is_kept_is_not_loaded() {
    refused(
        |plan| attachments(plan, |access, _| access.writes && access.load_op == LoadOp::Load),
        |plan, (index, ..)| plan.accesses[*index].load_op = AttachmentLoadOp::DONT_CARE,
        |fault, _| {
            matches!(
                fault,
                CheckError::Operation(OperationError::Load { needs: "LOAD", .. })
            )
        },
    );
}

#[test]
fn what_is_cleared_is_not() {
    refused(
        |plan| {
            attachments(plan, |access, _| {
                access.writes && matches!(access.load_op, LoadOp::Clear(_))
            })
        },
        |plan, (index, ..)| plan.accesses[*index].load_op = AttachmentLoadOp::LOAD,
        |fault, _| {
            matches!(
                fault,
                CheckError::Operation(OperationError::Load { needs: "CLEAR", .. })
            )
        },
    );
}

#[test]
fn what_is_overwritten_is_loaded() {
    refused(
        |plan| {
            attachments(plan, |access, _| {
                let overwrites = access.load_op == LoadOp::DontCare && !access.reads;
                access.writes && overwrites && access.kind != AccessKind::ResolveAttachment
            })
        },
        |plan, (index, ..)| plan.accesses[*index].load_op = AttachmentLoadOp::LOAD,
        |fault, _| {
            matches!(
                fault,
                CheckError::Operation(OperationError::Load {
                    op: AttachmentLoadOp::LOAD,
                    ..
                })
            )
        },
    );
}

#[test]
fn a_device_lacks_the_store_operation() {
    refused(
        |plan| {
            let lacks = !plan.profile.features.contains(Features::STORE_OP_NONE);
            attachments(plan, |_, _| lacks)
        },
        |plan, (index, ..)| plan.accesses[*index].store_op = AttachmentStoreOp::NONE,
        |fault, _| {
            matches!(
                fault,
                CheckError::Operation(OperationError::Store {
                    op: AttachmentStoreOp::NONE,
                    ..
                })
            )
        },
    );
}
