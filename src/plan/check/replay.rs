//! The replay: two frames in a row, step by step.

use super::barriers::is_transition;
use super::checker::Checker;
use super::contents::Contents;
use super::hazards::{Hazards, Use};
use super::layouts::{Layouts, check_fit};
use super::operations::{Effect, effect};
use super::records::{Dependency, DependencyKind};
use super::replay_errors::{ContentsError, ContentsLoss};
use super::residence::window_of;
use super::sites::{Site, sites};
use super::structure::reads_previous;
use crate::frame::external::ExternalDesc;
use crate::frame::{BatchId, PassId, Persistence, ResourceId, SubmitId};
use crate::plan::PlacementId;
use crate::plan::passes::{Barrier, BarrierCause, TransferHalf};
use crate::scopes::Scope;
use crate::units::Run;
use ash::vk;

/// An even frame and an odd one.
const FRAMES: usize = 2;

/// Replays the plan and reports what it meets.
pub(super) fn run(checker: &mut Checker<'_>) {
    check_fit(checker);
    let mut replay = Replay::new(checker);
    for frame in 0..FRAMES {
        replay.enter(checker, frame);
        for submit in 0..checker.plan.frame.submits().len() as u32 {
            replay.submit(checker, SubmitId(submit));
        }
        replay.exit(checker);
    }
    replay.layouts.finish(checker, FRAMES - 1);
}

struct Replay {
    frame: usize,
    sites: Vec<Site>,
    contents: Contents,
    layouts: Layouts,
    hazards: Hazards,
    /// Per placement, whether the frame wrote it.
    written: Vec<bool>,
}

impl Replay {
    fn new(checker: &Checker<'_>) -> Replay {
        let plan = checker.plan;
        let sites = sites(plan);
        // What the frame before the first left: the previous versions of histories.
        let kept = |index: usize| {
            let resource = plan.placements[index].resource;
            let first = plan.resources[resource.index()].placements.first as usize;
            plan.frame.resource(resource).persistence == Persistence::History && index != first
        };
        Replay {
            frame: 0,
            contents: Contents::new(plan, &sites, kept),
            layouts: Layouts::new(checker),
            hazards: Hazards::new(checker, &sites),
            written: vec![false; sites.len()],
            sites,
        }
    }

    /// The caller hands in the external resources.
    fn enter(&mut self, checker: &mut Checker<'_>, frame: usize) {
        self.frame = frame;
        self.written.fill(false);
        self.hazards.begin_frame(frame);
        for (placement, _, external) in externals(checker) {
            self.contents.define(placement);
            self.layouts.enter(placement, external.entry.layout);
        }
    }

    /// The caller may hand a resource over as late as with a semaphore of the batch that uses it first.
    fn arrive(&mut self, checker: &Checker<'_>, batch: BatchId) {
        let frame = &checker.plan.frame;
        for (placement, id, external) in externals(checker) {
            let first = PassId(frame.lifetime_of(id).first.0);
            if frame.batch_of(first) == batch {
                self.hazards.enter(checker, placement, first, external.entry);
            }
        }
    }

    /// The caller gets them back.
    fn exit(&mut self, checker: &mut Checker<'_>) {
        for (placement, id, external) in externals(checker) {
            let last = PassId(checker.plan.frame.lifetime_of(id).end.0 - 1);
            self.layouts.exit(checker, placement, external.exit.layout);
            self.hazards.exit(checker, placement, last, external.exit);
            let image = checker.plan.frame.resource(id).is_image();
            let held = !image || external.entry.layout != vk::ImageLayout::UNDEFINED;
            if let Some(loss) = self
                .contents
                .loss(placement)
                .filter(|_| held || self.written[placement])
            {
                let resource = checker.resource(id);
                checker.report(ContentsError::Exit {
                    resource,
                    loss: loss.clone(),
                });
            }
        }
    }

    fn submit(&mut self, checker: &mut Checker<'_>, submit: SubmitId) {
        let frame = &checker.plan.frame;
        for index in frame.submits()[submit.index()].batches.indices() {
            self.batch(checker, BatchId(index as u32));
        }
    }

    fn batch(&mut self, checker: &mut Checker<'_>, id: BatchId) {
        let plan = checker.plan;
        let batch = &plan.frame.batches()[id.index()];
        let queue = plan.frame.submits()[batch.submit.index()].queue;
        for wait in &batch.waits {
            self.hazards.wait(queue, wait.semaphore, wait.stages);
        }
        self.arrive(checker, id);
        for commands in batch.command_buffers.of(plan.frame.command_buffers()) {
            for pass in commands.passes.indices() {
                self.pass(checker, PassId(pass as u32));
            }
        }
        for signal in &batch.signals {
            self.hazards.signal(queue, signal.semaphore, signal.stages);
        }
        self.end_window(checker, id);
    }

    /// Tile memory forgets after the last batch of a window.
    fn end_window(&mut self, checker: &Checker<'_>, id: BatchId) {
        let plan = checker.plan;
        let window = window_of(plan, id);
        let batches = 0..plan.frame.batches().len() as u32;
        let ends = !batches
            .skip(id.index() + 1)
            .any(|later| window_of(plan, BatchId(later)) == window);
        let last = plan
            .frame
            .pass_ids()
            .filter(|&pass| plan.frame.batch_of(pass) <= id)
            .last();
        if let Some(last) = last.filter(|_| ends) {
            let queue = plan.frame.submits()[plan.frame.batches()[id.index()].submit.index()].queue;
            self.contents.end_window(checker, &self.sites, queue, last);
        }
    }

    fn pass(&mut self, checker: &mut Checker<'_>, pass: PassId) {
        let planned = checker.plan.passes[pass.index()];
        self.barriers(checker, pass, planned.before);
        self.contents.act(checker, &self.sites, pass);
        self.accesses(checker, pass);
        self.barriers(checker, pass, planned.after);
    }

    /// One dependency: everything between the passes before and after it.
    fn barriers(&mut self, checker: &mut Checker<'_>, pass: PassId, run: Run) {
        let barriers = run.of(&checker.plan.barriers);
        let dependencies: Vec<Dependency> = barriers
            .iter()
            .map(|barrier| Dependency {
                placement: self.turn(checker, barrier.placement),
                source: Scope::source(barrier.src_stages, barrier.src_access),
                destination: Scope::destination(barrier.dst_stages, barrier.dst_access),
                global: matches!(barrier.cause, BarrierCause::Aliasing | BarrierCause::Ladder),
                kind: dependency_kind(barrier),
            })
            .collect();
        self.hazards.depend(checker, pass, &dependencies);
        for (barrier, dependency) in barriers.iter().zip(&dependencies) {
            self.transition(checker, pass, barrier, dependency.placement);
        }
    }

    /// What a barrier does to layout, owner and contents.
    fn transition(&mut self, checker: &mut Checker<'_>, pass: PassId, barrier: &Barrier, placement: usize) {
        let resource = checker.plan.frame.resource(barrier.resource);
        let discards = resource.is_image() && barrier.old_layout == vk::ImageLayout::UNDEFINED;
        // The caller of an image in `UNDEFINED` makes do with whatever is in it.
        let external = matches!(resource.persistence, Persistence::External(_));
        let indifferent = external && !self.written[placement] && self.layouts.is_undefined(placement);
        self.layouts
            .barrier(checker, placement, barrier, pass, self.frame);
        if discards && !indifferent {
            self.contents.lose(
                placement,
                ContentsLoss::Discarded {
                    pass: checker.pass(pass),
                },
            );
        }
        if resource.is_image() && is_transition(barrier) {
            self.take_bytes(checker, placement, pass);
        }
    }

    fn accesses(&mut self, checker: &mut Checker<'_>, pass: PassId) {
        let plan = checker.plan;
        let run = plan.frame.pass(pass).accesses;
        let accesses = run.of(plan.frame.accesses()).iter().zip(run.of(&plan.accesses));
        let effects: Vec<(usize, vk::ImageLayout, Effect)> = accesses
            .map(|(access, planned)| {
                let placement = self.turn(checker, planned.placement);
                (placement, planned.layout, effect(plan, access, planned))
            })
            .collect();
        for &(placement, layout, _) in &effects {
            let mut same = effects.iter().filter(|&&(other, ..)| other == placement);
            let fresh = same.all(|(.., effect)| !effect.needs);
            self.layouts.access(checker, placement, layout, pass, fresh);
        }
        for &(placement, ..) in effects.iter().filter(|(.., effect)| effect.needs) {
            self.contents.need(checker, placement, pass);
        }
        let uses: Vec<Use> = effects
            .iter()
            .map(|&(placement, _, effect)| Use {
                placement,
                stages: effect.stages,
                access: effect.access,
                writes: effect.writes,
            })
            .collect();
        self.hazards.access(checker, pass, &uses);
        for &(placement, ..) in effects.iter().filter(|(.., effect)| effect.writes) {
            self.take_bytes(checker, placement, pass);
            self.contents.define(placement);
            self.written[placement] = true;
        }
        for &(placement, ..) in effects.iter().filter(|(.., effect)| effect.drops) {
            self.contents.lose(
                placement,
                ContentsLoss::NotStored {
                    pass: checker.pass(pass),
                },
            );
        }
    }

    /// Whoever else had these bytes has lost them.
    fn take_bytes(&mut self, checker: &Checker<'_>, placement: usize, pass: PassId) {
        for victim in self.contents.overwrite(checker, &self.sites, placement, pass) {
            self.layouts.clobber(victim);
        }
    }

    /// The placement that `even` stands for in this frame: the versions of a history take turns.
    fn turn(&self, checker: &Checker<'_>, even: PlacementId) -> usize {
        let plan = checker.plan;
        let index = even.index();
        let resource = plan.placements[index].resource;
        let pair = plan.resources[resource.index()].placements;
        let takes_turns = plan.frame.resource(resource).persistence == Persistence::History
            && pair.len() == 2
            && reads_previous(checker, resource);
        if takes_turns && self.frame % 2 == 1 {
            (pair.first + pair.end - 1) as usize - index
        } else {
            index
        }
    }
}

fn dependency_kind(barrier: &Barrier) -> DependencyKind {
    match barrier.transfer.map(|transfer| transfer.half) {
        Some(TransferHalf::Release) => DependencyKind::Release,
        Some(TransferHalf::Acquire) => DependencyKind::Acquire,
        None if is_transition(barrier) => DependencyKind::Transition,
        None => DependencyKind::Plain,
    }
}

/// The external resources that the frame uses, each with its placement.
fn externals(checker: &Checker<'_>) -> Vec<(usize, ResourceId, ExternalDesc)> {
    let plan = checker.plan;
    let used = plan
        .frame
        .resource_ids()
        .filter(|&id| !plan.frame.uses_of(id).is_empty());
    let external = used.filter_map(|id| match plan.frame.resource(id).persistence {
        Persistence::External(desc) => {
            let mut placements = plan.resources[id.index()].placements.indices();
            Some((placements.next()?, id, desc))
        }
        Persistence::Transient | Persistence::History => None,
    });
    external.collect()
}
