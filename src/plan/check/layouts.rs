//! Layouts: in which layout every image is, and which queue owns every resource, step by step.

use ash::vk::ImageLayout as L;

use super::barriers::is_transition;
use super::checker::Checker;
use super::replay_errors::LayoutError;
use crate::frame::{PassId, Persistence, QueueId};
use crate::plan::passes::{Barrier, QueueTransfer, TransferHalf};
use crate::plan::{MemoryKind, Placement};

/// Layout and owner of every placement.
pub(super) struct Layouts {
    states: Vec<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// `None` where only an earlier frame could say.
    layout: Option<L>,
    owner: Owner,
}

#[derive(Clone, Copy, Debug)]
enum Owner {
    /// Nobody holds contents in it, or only an earlier frame could say who does.
    Anyone,
    Queue(QueueId),
    /// Released, not yet acquired.
    Between(QueueTransfer, Release),
}

/// The release that is on its way.
#[derive(Clone, Copy, Debug)]
struct Release {
    pass: PassId,
    frame: usize,
    layouts: [L; 2],
}

impl Layouts {
    /// Before the first frame: images are in `UNDEFINED`, histories as an earlier frame left them.
    pub(super) fn new(checker: &Checker<'_>) -> Layouts {
        let plan = checker.plan;
        let state = |persistence| State {
            layout: (persistence != Persistence::History).then_some(L::UNDEFINED),
            owner: Owner::Anyone,
        };
        let placements = plan.placements.iter();
        Layouts {
            states: placements
                .map(|placement| state(plan.frame.resource(placement.resource).persistence))
                .collect(),
        }
    }

    /// An external resource comes in.
    pub(super) fn enter(&mut self, placement: usize, layout: L) {
        self.states[placement] = State {
            layout: Some(layout),
            owner: Owner::Anyone,
        };
    }

    /// Whether an image is known to hold nothing: what a barrier from `UNDEFINED` discards then is nothing either.
    pub(super) fn is_undefined(&self, placement: usize) -> bool {
        self.states[placement].layout == Some(L::UNDEFINED)
    }

    /// Another resource took the bytes: the image is as good as new.
    pub(super) fn clobber(&mut self, placement: usize) {
        self.states[placement] = State {
            layout: Some(L::UNDEFINED),
            owner: Owner::Anyone,
        };
    }

    /// A barrier of `placement` (the one of this frame) at `pass`.
    pub(super) fn barrier(
        &mut self,
        checker: &mut Checker<'_>,
        placement: usize,
        barrier: &Barrier,
        pass: PassId,
        frame: usize,
    ) {
        let image = checker.plan.frame.resource(barrier.resource).is_image();
        let discards = image && barrier.old_layout == L::UNDEFINED;
        let queue = checker.plan.frame.queue_of(pass);
        if image && !discards && !self.is_acquired_in(placement, barrier) {
            self.expect(checker, placement, barrier, pass);
        }
        match barrier.transfer {
            None if discards => {
                self.drop_release(checker, placement);
                self.states[placement].owner = Owner::Queue(queue);
            }
            None if image => self.own(checker, placement, queue, pass),
            None => {}
            Some(transfer) if transfer.half == TransferHalf::Release => {
                self.own(checker, placement, transfer.from, pass);
                let layouts = [barrier.old_layout, barrier.new_layout];
                let release = Release { pass, frame, layouts };
                self.states[placement].owner = Owner::Between(transfer, release);
                // The layout changes once, between the halves; either half then leaves the image in the new one.
                return;
            }
            Some(transfer) => self.acquire(checker, placement, barrier, transfer, pass),
        }
        if image && is_transition(barrier) {
            self.states[placement].layout = Some(barrier.new_layout);
        }
    }

    /// A pass on its queue uses `placement` in `layout`; `fresh` if nothing of what it held is needed.
    pub(super) fn access(
        &mut self,
        checker: &mut Checker<'_>,
        placement: usize,
        layout: L,
        pass: PassId,
        fresh: bool,
    ) {
        let queue = checker.plan.frame.queue_of(pass);
        let image = checker
            .plan
            .frame
            .resource(checker.plan.placements[placement].resource)
            .is_image();
        if image {
            let tracked = self.states[placement].layout.unwrap_or(layout);
            if tracked != layout {
                let (pass, resource) = (checker.pass(pass), checker.resident(placement));
                checker.report(LayoutError::Use {
                    pass,
                    resource,
                    needs: layout,
                    tracked,
                });
            }
            self.states[placement].layout = Some(layout);
        } else if fresh {
            self.drop_release(checker, placement);
            self.states[placement].owner = Owner::Queue(queue);
        }
        self.own(checker, placement, queue, pass);
    }

    /// The frame ends: external images are as agreed.
    pub(super) fn exit(&mut self, checker: &mut Checker<'_>, placement: usize, needs: L) {
        let image = checker
            .plan
            .frame
            .resource(checker.plan.placements[placement].resource)
            .is_image();
        let tracked = self.states[placement].layout.unwrap_or(needs);
        if image && needs != L::UNDEFINED && tracked != needs {
            let resource = checker.resident(placement);
            checker.report(LayoutError::Exit {
                resource,
                needs,
                tracked,
            });
        }
        self.drop_release(checker, placement);
    }

    /// The replay ends: releases of the frame before the last were acquired.
    pub(super) fn finish(&mut self, checker: &mut Checker<'_>, last_frame: usize) {
        for placement in 0..self.states.len() {
            if matches!(self.states[placement].owner, Owner::Between(_, release) if release.frame < last_frame)
            {
                self.drop_release(checker, placement);
            }
        }
    }

    fn expect(&mut self, checker: &mut Checker<'_>, placement: usize, barrier: &Barrier, pass: PassId) {
        let tracked = self.states[placement].layout.unwrap_or(barrier.old_layout);
        if tracked != barrier.old_layout {
            let (pass, resource) = (checker.pass(pass), checker.resident(placement));
            checker.report(LayoutError::Old {
                pass,
                resource,
                named: barrier.old_layout,
                tracked,
            });
        }
    }

    /// Whether the barrier acquires what was released with the same layouts: the release was checked against the layout.
    fn is_acquired_in(&self, placement: usize, barrier: &Barrier) -> bool {
        let acquire = barrier
            .transfer
            .is_some_and(|transfer| transfer.half == TransferHalf::Acquire);
        acquire && matches!(self.states[placement].owner, Owner::Between(..))
    }

    fn acquire(
        &mut self,
        checker: &mut Checker<'_>,
        placement: usize,
        barrier: &Barrier,
        transfer: QueueTransfer,
        pass: PassId,
    ) {
        let layouts = [barrier.old_layout, barrier.new_layout];
        let first_frame = self.states[placement].layout.is_none();
        let released = match self.states[placement].owner {
            Owner::Between(release, how) => {
                (release.from, release.to) == (transfer.from, transfer.to) && how.layouts == layouts
            }
            // Only the frame before the first could have released it.
            Owner::Anyone => first_frame || self.is_history_buffer(checker, placement),
            Owner::Queue(_) => false,
        };
        if !released {
            checker.report(LayoutError::NotReleased {
                resource: checker.resident(placement),
                pass: checker.pass(pass),
                from: queue_name(checker, transfer.from),
                to: queue_name(checker, transfer.to),
            });
        }
        self.states[placement].owner = Owner::Queue(transfer.to);
    }

    fn is_history_buffer(&self, checker: &Checker<'_>, placement: usize) -> bool {
        let resource = checker
            .plan
            .frame
            .resource(checker.plan.placements[placement].resource);
        resource.persistence == Persistence::History && !resource.is_image()
    }

    /// `queue` uses the contents.
    fn own(&mut self, checker: &mut Checker<'_>, placement: usize, queue: QueueId, pass: PassId) {
        match self.states[placement].owner {
            Owner::Queue(owner) if owner != queue => {
                checker.report(LayoutError::Owner {
                    pass: checker.pass(pass),
                    resource: checker.resident(placement),
                    queue: queue_name(checker, queue),
                    owner: queue_name(checker, owner),
                });
            }
            Owner::Between(..) => self.drop_release(checker, placement),
            Owner::Queue(_) | Owner::Anyone => {}
        }
        self.states[placement].owner = Owner::Queue(queue);
    }

    /// Something else than the acquire follows a release.
    fn drop_release(&mut self, checker: &mut Checker<'_>, placement: usize) {
        if let Owner::Between(transfer, release) = self.states[placement].owner {
            checker.report(LayoutError::NotAcquired {
                resource: checker.resident(placement),
                pass: checker.pass(release.pass),
                from: queue_name(checker, transfer.from),
                to: queue_name(checker, transfer.to),
            });
            self.states[placement].owner = Owner::Anyone;
        }
    }
}

/// Whether every access is allowed in its layout.
pub(super) fn check_fit(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (access, planned) in plan.frame.accesses().iter().zip(&plan.accesses) {
        let fits = if plan.frame.resource(access.resource).is_image() {
            access.kind.is_allowed_in(planned.layout, access.writes)
        } else {
            planned.layout == L::UNDEFINED
        };
        let placements = plan.resources[access.resource.index()].placements;
        let tile = |one: &Placement| one.memory == MemoryKind::Tile;
        let alias = placements
            .of(&plan.placements)
            .iter()
            .filter(|one| tile(one))
            .count()
            > 1;
        if alias && plan.frame.resource(access.resource).is_image() && planned.layout != L::GENERAL {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            let layout = planned.layout;
            checker.report(LayoutError::Alias {
                pass,
                resource,
                layout,
            });
        }
        if !fits {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            checker.report(LayoutError::Unfit {
                pass,
                resource,
                kind: access.kind,
                layout: planned.layout,
            });
        }
    }
}

fn queue_name(checker: &Checker<'_>, queue: QueueId) -> String {
    checker.plan.frame.queues()[queue.index()].name.clone()
}
