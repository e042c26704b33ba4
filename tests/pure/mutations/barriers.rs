//! Damage to barriers.

use ash::vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap::frame::Persistence;
use tileheap::frame::tables::PassKind;
use tileheap::plan::Plan;
use tileheap::plan::check::{
    BarrierError, CheckError, ContentsError, ContentsLoss, HazardAccess, HazardError, LayoutError,
    MissingDependency,
};
use tileheap::plan::passes::{Barrier, BarrierCause, TransferHalf};

use super::{BarrierSite, barriers_where, drop_barrier, needs, refused, uses, uses_in};

fn is_image(plan: &Plan, barrier: &Barrier) -> bool {
    plan.frame.resource(barrier.resource).is_image()
}

/// A layout that is not `layout`, and not `UNDEFINED`.
fn other(layout: L) -> L {
    if layout == L::TRANSFER_SRC_OPTIMAL {
        L::GENERAL
    } else {
        L::TRANSFER_SRC_OPTIMAL
    }
}

/// Image barriers before a pass that uses the image, on one queue, from a layout that is known.
fn layout_changes(plan: &Plan) -> Vec<BarrierSite> {
    barriers_where(plan, |site, barrier| {
        let used = !uses_in(plan, barrier.placement.index(), site.pass).is_empty();
        let plain = barrier.transfer.is_none() && !site.after;
        is_image(plan, barrier) && plain && used && barrier.old_layout != L::UNDEFINED
    })
}

/// Barriers on the only queue that make a write visible to a pass that needs it, where no hand-over and no alias, which are
/// memory barriers for everyone, could do it instead.
fn read_after_write(plan: &Plan) -> Vec<BarrierSite> {
    if plan.frame.queues().len() > 1 {
        return Vec::new();
    }
    barriers_where(plan, |site, barrier| {
        let placement = barrier.placement.index();
        let reads = uses_in(plan, placement, site.pass)
            .iter()
            .any(|access| needs(plan, access));
        let keeps = barrier.old_layout == barrier.new_layout && barrier.cause == BarrierCause::Hazard;
        let writes = barrier.src_access.intersects(
            A::SHADER_STORAGE_WRITE
                | A::COLOR_ATTACHMENT_WRITE
                | A::DEPTH_STENCIL_ATTACHMENT_WRITE
                | A::TRANSFER_WRITE,
        );
        let all = uses(plan, placement);
        let writer = all
            .iter()
            .rfind(|(_, access, _)| access.pass < site.pass)
            .map(|(_, access, _)| access.pass);
        let served = barriers_where(plan, |other, barrier| {
            matches!(barrier.cause, BarrierCause::Aliasing | BarrierCause::Ladder)
                && writer.is_some_and(|writer| writer < other.pass)
                && other.pass <= site.pass
        });
        !site.after && reads && keeps && writes && served.is_empty()
    })
}

fn is_hazard(fault: &CheckError, site: &BarrierSite, lacks: impl Fn(MissingDependency) -> bool) -> bool {
    matches!(fault, CheckError::Hazard(HazardError { second, missing, .. })
        if second.pass() == Some(&site.pass_name) && second.resource() == site.resource_name && lacks(*missing))
}

#[test]
fn the_old_layout_is_wrong() {
    refused(
        layout_changes,
        |plan, site| plan.barriers[site.index].old_layout = other(plan.barriers[site.index].old_layout),
        |fault, site| matches!(fault, CheckError::Layout(LayoutError::Old { resource, .. }) if *resource == site.resource_name),
    );
}

#[test]
fn the_old_layout_is_that_of_the_frame_before() {
    refused(
        |plan| {
            barriers_where(plan, |_, barrier| {
                let transient = plan.frame.resource(barrier.resource).persistence == Persistence::Transient;
                transient && is_image(plan, barrier) && barrier.old_layout == L::UNDEFINED
            })
        },
        |plan, site| plan.barriers[site.index].old_layout = L::GENERAL,
        |fault, _| {
            matches!(
                fault,
                CheckError::Layout(LayoutError::Old {
                    named: L::GENERAL,
                    ..
                })
            )
        },
    );
}

#[test]
fn the_old_layout_discards_what_is_needed() {
    refused(
        |plan| {
            let mut sites = layout_changes(plan);
            sites.retain(|site| {
                let placement = plan.barriers[site.index].placement.index();
                uses_in(plan, placement, site.pass)
                    .iter()
                    .any(|access| needs(plan, access))
            });
            sites
        },
        |plan, site| plan.barriers[site.index].old_layout = L::UNDEFINED,
        |fault, site| {
            matches!(fault, CheckError::Contents(ContentsError::Lost { pass, resource, loss: ContentsLoss::Discarded { .. } })
                if *pass == site.pass_name && *resource == site.resource_name)
        },
    );
}

#[test]
fn the_new_layout_is_wrong() {
    refused(
        layout_changes,
        |plan, site| plan.barriers[site.index].new_layout = other(plan.barriers[site.index].new_layout),
        |fault, site| {
            matches!(fault, CheckError::Layout(LayoutError::Use { pass, resource, .. })
                if *pass == site.pass_name && *resource == site.resource_name)
        },
    );
}

#[test]
fn an_access_is_in_another_layout() {
    refused(
        |plan| {
            let accesses = plan.frame.accesses().iter().enumerate();
            let images = accesses.filter(|(_, access)| {
                plan.frame.resource(access.resource).is_image() && !access.kind.is_transfer()
            });
            images.map(|(index, _)| index).collect()
        },
        |plan, &index| plan.accesses[index].layout = L::TRANSFER_DST_OPTIMAL,
        |fault, _| matches!(fault, CheckError::Layout(LayoutError::Unfit { .. })),
    );
}

/// Those of them that change the layout.
fn transitions(plan: &Plan) -> Vec<BarrierSite> {
    let mut sites = layout_changes(plan);
    sites.retain(|site| plan.barriers[site.index].old_layout != plan.barriers[site.index].new_layout);
    sites
}

#[test]
fn a_transition_is_dropped() {
    refused(transitions, drop_barrier, |fault, site| {
        matches!(fault, CheckError::Layout(LayoutError::Use { pass, resource, .. })
                if *pass == site.pass_name && *resource == site.resource_name)
    });
}

#[test]
fn the_first_barrier_of_a_transient_image_is_dropped() {
    refused(
        |plan| {
            barriers_where(plan, |_, barrier| {
                let transient = plan.frame.resource(barrier.resource).persistence == Persistence::Transient;
                let first = matches!(barrier.cause, BarrierCause::Aliasing | BarrierCause::NextFrame);
                first && transient && is_image(plan, barrier)
            })
        },
        drop_barrier,
        |fault, site| {
            matches!(fault, CheckError::Layout(LayoutError::Use { resource, tracked: L::UNDEFINED, .. })
                if *resource == site.resource_name)
        },
    );
}

#[test]
fn a_memory_dependency_is_dropped() {
    refused(read_after_write, drop_barrier, |fault, site| {
        is_hazard(fault, site, |_| true)
    });
}

#[test]
fn the_source_stages_are_weakened() {
    refused(
        |plan| {
            let mut sites = read_after_write(plan);
            sites.retain(|site| {
                !plan.barriers[site.index]
                    .src_stages
                    .intersects(S::ALL_TRANSFER | S::COPY | S::CLEAR)
            });
            sites
        },
        |plan, site| {
            let barrier = &mut plan.barriers[site.index];
            (barrier.src_stages, barrier.src_access) = (S::COPY, A::TRANSFER_WRITE);
        },
        |fault, site| is_hazard(fault, site, |_| true),
    );
}

#[test]
fn the_destination_stages_are_weakened() {
    refused(
        |plan| {
            let mut sites = read_after_write(plan);
            sites.retain(|site| plan.frame.pass(site.pass).kind != PassKind::Transfer);
            sites
        },
        |plan, site| {
            let barrier = &mut plan.barriers[site.index];
            (barrier.dst_stages, barrier.dst_access) = (S::COPY, A::TRANSFER_READ);
        },
        |fault, site| is_hazard(fault, site, |_| true),
    );
}

#[test]
fn the_source_access_is_weakened() {
    refused(
        read_after_write,
        |plan, site| plan.barriers[site.index].src_access = A::NONE,
        |fault, site| is_hazard(fault, site, |missing| missing == MissingDependency::Memory),
    );
}

#[test]
fn the_destination_access_is_weakened() {
    refused(
        read_after_write,
        |plan, site| plan.barriers[site.index].dst_access = A::NONE,
        |fault, site| is_hazard(fault, site, |missing| missing == MissingDependency::Memory),
    );
}

#[test]
fn an_access_is_named_that_no_stage_makes() {
    refused(
        |plan| {
            barriers_where(plan, |_, barrier| {
                barrier.transfer.is_none() && !barrier.dst_stages.is_empty()
            })
        },
        |plan, site| {
            let barrier = &mut plan.barriers[site.index];
            (barrier.dst_stages, barrier.dst_access) = (S::COPY, A::SHADER_SAMPLED_READ);
        },
        |fault, _| matches!(fault, CheckError::Barrier(BarrierError::Access { .. })),
    );
}

/// Barriers whose image a later pass reads too, at a stage of its own, without another barrier.
fn shared_epochs(plan: &Plan) -> Vec<(BarrierSite, S, String)> {
    let mut sites = Vec::new();
    if plan.frame.queues().len() > 1 {
        return sites;
    }
    for site in barriers_where(plan, |site, barrier| {
        !site.after && !barrier.src_access.is_empty()
    }) {
        let barrier = plan.barriers[site.index];
        let all = uses(plan, barrier.placement.index());
        let own: S = all
            .iter()
            .filter(|(_, access, _)| access.pass == site.pass)
            .fold(S::NONE, |all, (_, a, _)| all | a.stages);
        let later = all
            .iter()
            .find(|(_, access, _)| access.pass > site.pass && !access.stages.intersects(own));
        let Some((_, later, _)) = later else { continue };
        let between = barriers_where(plan, |other, barrier| {
            let within = site.pass < other.pass && other.pass <= later.pass;
            let mine = barrier.placement == plan.barriers[site.index].placement;
            within && (mine || matches!(barrier.cause, BarrierCause::Aliasing | BarrierCause::Ladder))
        });
        if between.is_empty() && later.reads && !later.writes {
            let name = plan.frame.pass(later.pass).name.clone();
            sites.push((site, later.stages, name));
        }
    }
    sites
}

#[test]
fn a_later_reader_is_forgotten() {
    refused(
        shared_epochs,
        |plan, (site, stages, _)| plan.barriers[site.index].dst_stages &= !*stages,
        |fault, (site, _, later)| {
            matches!(fault, CheckError::Hazard(HazardError { second: second @ HazardAccess::Read { .. }, .. })
                if second.pass() == Some(later) && second.resource() == site.resource_name)
        },
    );
}

#[test]
fn nobody_waits_for_the_last_user_of_the_bytes() {
    for cause in [BarrierCause::Aliasing, BarrierCause::NextFrame] {
        refused(
            |plan| {
                barriers_where(plan, |_, barrier| {
                    barrier.cause == cause && is_image(plan, barrier) && barrier.transfer.is_none()
                })
            },
            |plan, site| {
                let barrier = &mut plan.barriers[site.index];
                (barrier.src_stages, barrier.src_access) = (S::NONE, A::NONE);
            },
            |fault, site| {
                matches!(fault, CheckError::Hazard(HazardError { second: second @ (HazardAccess::Transition { .. } | HazardAccess::Read { .. }), .. })
                    if second.pass() == Some(&site.pass_name) && second.resource() == site.resource_name)
            },
        );
    }
}

#[test]
fn nobody_waits_for_the_caller() {
    refused(
        |plan| {
            barriers_where(plan, |_, barrier| {
                let waits = !barrier.src_stages.is_empty() && barrier.old_layout != barrier.new_layout;
                barrier.cause == BarrierCause::Entry && is_image(plan, barrier) && waits
            })
        },
        |plan, site| {
            let barrier = &mut plan.barriers[site.index];
            (barrier.src_stages, barrier.src_access) = (S::NONE, A::NONE);
        },
        |fault, site| {
            matches!(fault, CheckError::Hazard(HazardError { first: HazardAccess::Entry { resource }, .. })
                if **resource == *site.resource_name)
        },
    );
}

#[test]
fn an_external_image_stays_in_its_last_layout() {
    refused(
        |plan| {
            barriers_where(plan, |_, barrier| {
                barrier.cause == BarrierCause::Exit
                    && is_image(plan, barrier)
                    && barrier.old_layout != barrier.new_layout
            })
        },
        drop_barrier,
        |fault, site| matches!(fault, CheckError::Layout(LayoutError::Exit { resource, .. }) if *resource == site.resource_name),
    );
}

fn halves(half: TransferHalf) -> impl Fn(&Plan) -> Vec<BarrierSite> {
    move |plan| {
        barriers_where(plan, |_, barrier| {
            barrier.transfer.is_some_and(|transfer| transfer.half == half)
        })
    }
}

#[test]
fn a_release_is_dropped() {
    refused(
        halves(TransferHalf::Release),
        drop_barrier,
        |fault, site| matches!(fault, CheckError::Layout(LayoutError::NotReleased { resource, .. }) if *resource == site.resource_name),
    );
}

#[test]
fn an_acquire_is_dropped() {
    refused(
        halves(TransferHalf::Acquire),
        drop_barrier,
        |fault, site| matches!(fault, CheckError::Layout(LayoutError::NotAcquired { resource, .. }) if *resource == site.resource_name),
    );
}

#[test]
fn a_transfer_is_no_transfer() {
    refused(
        halves(TransferHalf::Acquire),
        |plan, site| {
            let (resource, transfer) = (
                plan.barriers[site.index].resource,
                plan.barriers[site.index].transfer.unwrap(),
            );
            for barrier in plan
                .barriers
                .iter_mut()
                .filter(|barrier| barrier.resource == resource)
            {
                if barrier
                    .transfer
                    .is_some_and(|other| (other.from, other.to) == (transfer.from, transfer.to))
                {
                    barrier.transfer = None;
                }
            }
        },
        |fault, site| {
            matches!(fault, CheckError::Layout(LayoutError::Owner { resource, .. } | LayoutError::Old { resource, .. })
                if *resource == site.resource_name)
        },
    );
}

#[test]
fn a_half_is_recorded_on_the_wrong_queue() {
    for half in [TransferHalf::Release, TransferHalf::Acquire] {
        refused(
            halves(half),
            |plan, site| {
                let transfer = plan.barriers[site.index].transfer.as_mut().unwrap();
                std::mem::swap(&mut transfer.from, &mut transfer.to);
            },
            |fault, _| matches!(fault, CheckError::Barrier(BarrierError::TransferQueue { .. })),
        );
    }
}

#[test]
fn a_stage_is_not_the_queues() {
    refused(
        |plan| {
            barriers_where(plan, |site, barrier| {
                let queue = &plan.frame.queues()[plan.frame.queue_of(site.pass).index()];
                let graphics = queue.capabilities.contains(ash::vk::QueueFlags::GRAPHICS);
                !graphics && barrier.transfer.is_none()
            })
        },
        |plan, site| plan.barriers[site.index].src_stages |= S::FRAGMENT_SHADER,
        |fault, _| matches!(fault, CheckError::Barrier(BarrierError::Stage { .. })),
    );
}

#[test]
fn an_image_changes_into_no_layout() {
    refused(
        |plan| barriers_where(plan, |_, barrier| is_image(plan, barrier)),
        |plan, site| plan.barriers[site.index].new_layout = L::UNDEFINED,
        |fault, _| matches!(fault, CheckError::Barrier(BarrierError::NewLayout { .. })),
    );
}

#[test]
fn two_transitions_are_recorded_at_once() {
    refused(
        transitions,
        |plan, site| {
            let twin = plan.barriers[site.index];
            plan.barriers.insert(
                site.index,
                Barrier {
                    old_layout: L::UNDEFINED,
                    ..twin
                },
            );
            for pass in &mut plan.passes {
                for run in [&mut pass.before, &mut pass.after] {
                    let holds = run.indices().contains(&site.index);
                    run.first += u32::from(run.first as usize > site.index);
                    run.end += u32::from(holds || run.end as usize > site.index);
                }
            }
        },
        |fault, site| matches!(fault, CheckError::Barrier(BarrierError::TwoTransitions { resource, .. }) if *resource == site.resource_name),
    );
}
