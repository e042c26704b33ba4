//! Plans while frames go by: one at once for the frame that asks, the best one when another thread has found it.

use std::sync::Arc;
use std::thread::JoinHandle;

use tileheap::frame::Frame;
use tileheap::plan::{Plan, PlanOptions, Planner, Strategy, plan};
use tileheap::profile::Requirements;

pub(crate) struct Replanner {
    planner: Planner,
    /// What is searched for, and who does.
    search: Option<(Arc<Plan>, JoinHandle<tileheap::Result<Plan>>)>,
    /// The plan in use, as long as a better one may be found.
    wanted: Option<Arc<Plan>>,
}

impl Replanner {
    /// Remembers a plan that was searched for.
    pub(crate) fn new(plan: Arc<Plan>) -> Replanner {
        let mut planner = Planner::new();
        planner.adopt(plan);
        Replanner {
            planner,
            search: None,
            wanted: None,
        }
    }

    /// A plan that was searched for, for another size.
    pub(crate) fn adopt(&mut self, plan: Arc<Plan>) {
        self.planner.adopt(plan);
        self.wanted = None;
    }

    /// A plan at once; a better one may be [found](Replanner::found) later.
    ///
    /// # Errors
    /// Where something is pinned that cannot be in tile memory; all is as before then.
    pub(crate) fn plan_now(
        &mut self,
        like: &Plan,
        frame: &Frame,
        options: &PlanOptions,
    ) -> tileheap::Result<Arc<Plan>> {
        let (needs, profile): (&Arc<Requirements>, _) = (&like.requirements, &like.profile);
        let plan = match self.planner.plan_now(frame, needs, profile, options) {
            Ok(plan) => plan,
            // What is pinned may need a search to have room beside one another.
            Err(_) => self.planner.plan(frame, needs, profile, options)?,
        };
        plan.check()?;
        let searches = options.strategy == Strategy::Optimal && options.tile_heap(profile).is_some();
        self.wanted = (searches && plan.optimality.is_none()).then(|| plan.clone());
        self.search();
        Ok(plan)
    }

    /// Whether a better plan may come.
    pub(crate) fn is_searching(&self) -> bool {
        self.wanted.is_some()
    }

    /// The searched plan for what was asked last, once it is there.
    pub(crate) fn found(&mut self) -> tileheap::Result<Option<Arc<Plan>>> {
        let Some((sought, thread)) = self.search.take_if(|(_, thread)| thread.is_finished()) else {
            return Ok(None);
        };
        let wanted = self.wanted.take_if(|wanted| Arc::ptr_eq(wanted, &sought));
        // Else something else was asked meanwhile.
        self.search();
        // Without room for what is pinned in what the search came to, the plan at hand has it.
        let Ok(plan) = join(thread).map(Arc::new) else {
            return Ok(None);
        };
        self.planner.adopt(plan.clone());
        if wanted.is_none() {
            return Ok(None);
        }
        plan.check()?;
        Ok(Some(plan))
    }

    /// Waits for the thread.
    pub(crate) fn finish(&mut self) {
        if let Some((_, thread)) = self.search.take() {
            // Nobody wants it any more, whether it is a plan or a fault.
            let _ = join(thread);
        }
    }

    /// One search at a time: while a slider is dragged, those in between are left out.
    fn search(&mut self) {
        if let (None, Some(wanted)) = (&self.search, &self.wanted) {
            let sought = wanted.clone();
            let thread = std::thread::spawn({
                let like = sought.clone();
                move || plan(&like.frame, &like.requirements, &like.profile, &like.options)
            });
            self.search = Some((sought, thread));
        }
    }
}

fn join(thread: JoinHandle<tileheap::Result<Plan>>) -> tileheap::Result<Plan> {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Whether a frame that is recorded by one plan is recorded so by the other.
pub(crate) fn are_alike(one: &Plan, other: &Plan) -> bool {
    one.placements == other.placements
        && one.objects == other.objects
        && one.passes == other.passes
        && one.accesses == other.accesses
        && one.barriers == other.barriers
}
