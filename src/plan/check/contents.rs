//! Contents: what the bytes of every placement hold, step by step.

use super::checker::Checker;
use super::replay_errors::{ContentsError, ContentsLoss};
use super::sites::{Site, Space};
use crate::frame::{PassId, QueueId};
use crate::plan::Plan;
use crate::units::Bytes;

/// What every placement holds.
pub(super) struct Contents {
    /// Per placement, why its contents are undefined, if they are.
    lost: Vec<Option<ContentsLoss>>,
    /// Per placement, the first one of the same resource in the same bytes: aliases in several tile objects share their
    /// contents.
    shared: Vec<usize>,
}

impl Contents {
    /// Nothing is written yet but what an earlier frame left in the `kept` placements.
    pub(super) fn new(plan: &Plan, sites: &[Site], kept: impl Fn(usize) -> bool) -> Contents {
        let same = |a: usize, b: usize| {
            plan.placements[a].resource == plan.placements[b].resource && sites[a] == sites[b]
        };
        let placements = 0..sites.len();
        Contents {
            lost: placements
                .clone()
                .map(|index| (!kept(index)).then_some(ContentsLoss::NeverWritten))
                .collect(),
            shared: placements
                .map(|index| (0..index).find(|&other| same(other, index)).unwrap_or(index))
                .collect(),
        }
    }

    /// Whether two placements share their contents: they are one, or aliases of one resource.
    pub(super) fn share(&self, a: usize, b: usize) -> bool {
        self.shared[a] == self.shared[b]
    }

    /// The contents are whole from here on.
    pub(super) fn define(&mut self, placement: usize) {
        self.lost[self.shared[placement]] = None;
    }

    /// The contents are undefined from here on. Of several losses the first is remembered.
    pub(super) fn lose(&mut self, placement: usize, loss: ContentsLoss) {
        self.lost[self.shared[placement]].get_or_insert(loss);
    }

    /// Why the contents are undefined, if they are.
    pub(super) fn loss(&self, placement: usize) -> Option<&ContentsLoss> {
        self.lost[self.shared[placement]].as_ref()
    }

    /// A pass needs the contents. What is missing is reported once and taken for whole afterwards.
    pub(super) fn need(&mut self, checker: &mut Checker<'_>, placement: usize, pass: PassId) {
        if let Some(loss) = self.lost[self.shared[placement]].take() {
            let (pass, resource) = (checker.pass(pass), checker.resident(placement));
            checker.report(ContentsError::Lost { pass, resource, loss });
        }
    }

    /// An action command on `queue`: tile memory outside of what is bound forgets.
    ///
    /// Every command buffer begins with nothing bound; the plan says for each of its passes what is bound by then.
    pub(super) fn act(&mut self, checker: &Checker<'_>, sites: &[Site], pass: PassId) {
        let plan = checker.plan;
        let bound = plan.passes[pass.index()]
            .bound_object
            .map(|object| plan.objects[object.index()].size);
        let queue = plan.frame.queue_of(pass);
        for (index, site) in sites
            .iter()
            .enumerate()
            .filter(|(_, site)| is_tile_of(site, queue))
        {
            match bound {
                None => self.lose(
                    index,
                    ContentsLoss::Unbound {
                        pass: checker.pass(pass),
                    },
                ),
                Some(bound) if site.end > bound.0 => self.lose(
                    index,
                    ContentsLoss::BoundTooSmall {
                        pass: checker.pass(pass),
                        bound,
                        end: Bytes(site.end),
                    },
                ),
                Some(_) => {}
            }
        }
    }

    /// The end of a discard window on `queue`.
    pub(super) fn end_window(&mut self, checker: &Checker<'_>, sites: &[Site], queue: QueueId, last: PassId) {
        for (index, _) in sites
            .iter()
            .enumerate()
            .filter(|(_, site)| is_tile_of(site, queue))
        {
            self.lose(
                index,
                ContentsLoss::WindowEnded {
                    last: checker.pass(last),
                },
            );
        }
    }

    /// The placements that lose their bytes when `writer` writes or is initialised.
    pub(super) fn overwrite(
        &mut self,
        checker: &Checker<'_>,
        sites: &[Site],
        writer: usize,
        pass: PassId,
    ) -> Vec<usize> {
        let granularity = checker.plan.profile.limits.buffer_image_granularity;
        let others = (0..sites.len()).filter(|&other| !self.share(other, writer));
        let victims: Vec<usize> = others
            .filter(|&other| sites[other].aliases(sites[writer], granularity))
            .collect();
        for &victim in &victims {
            self.lose(
                victim,
                ContentsLoss::Overwritten {
                    by: checker.resident(writer),
                    pass: checker.pass(pass),
                },
            );
        }
        victims
    }
}

fn is_tile_of(site: &Site, queue: QueueId) -> bool {
    match site.space {
        Space::Tile(of) => of.is_none_or(|of| of == queue),
        Space::Object(_) | Space::Caller(_) => false,
    }
}
