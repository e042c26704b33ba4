//! Plans while frames go by: one at once for the frame that asks, the best one when another thread has found it.

use std::sync::Arc;
use std::thread::JoinHandle;

use tileheap::frame::Frame;
use tileheap::plan::{Plan, PlanOptions, Strategy};
use tileheap::runtime::Device;

/// The device plans and remembers; this has the exact search done on another thread.
pub(crate) struct Replanner {
    tile: Device,
    search: Option<Search>,
    /// The plan in use, as long as a better one may be found.
    wanted: Option<Arc<Plan>>,
}

struct Search {
    /// A better plan than this.
    sought: Arc<Plan>,
    thread: JoinHandle<tileheap::Result<Arc<Plan>>>,
}

impl Replanner {
    pub(crate) fn new(tile: &Device) -> Replanner {
        Replanner {
            tile: tile.clone(),
            search: None,
            wanted: None,
        }
    }

    /// No better plan is wanted for what was asked last.
    pub(crate) fn forget(&mut self) {
        self.wanted = None;
    }

    /// A plan at once; a better one may be [found](Replanner::found) later.
    ///
    /// # Errors
    /// Where something is pinned that cannot be in tile memory; all is as before then.
    pub(crate) fn plan_now(&mut self, frame: &Frame, options: &PlanOptions) -> tileheap::Result<Arc<Plan>> {
        let plan = match self.tile.plan_now(frame, options) {
            Ok(plan) => plan,
            // What is pinned may need a search to have room beside one another.
            Err(_) => self.tile.plan(frame, options)?,
        };
        let searches = options.strategy == Strategy::Optimal && options.tile_heap(&plan.profile).is_some();
        self.wanted = (searches && plan.optimality.is_none()).then(|| plan.clone());
        self.search();
        Ok(plan)
    }

    /// Whether a better plan may come.
    pub(crate) fn is_searching(&self) -> bool {
        self.wanted.is_some()
    }

    /// The searched plan for what was asked last, once it is there.
    pub(crate) fn found(&mut self) -> Option<Arc<Plan>> {
        let Search { sought, thread } = self.search.take_if(|search| search.thread.is_finished())?;
        let wanted = self.wanted.take_if(|wanted| Arc::ptr_eq(wanted, &sought));
        // Else something else was asked meanwhile.
        self.search();
        // Without room for what is pinned in what the search came to, the plan at hand has it.
        join(thread).ok().filter(|_| wanted.is_some())
    }

    /// Waits for the thread.
    pub(crate) fn finish(&mut self) {
        if let Some(Search { thread, .. }) = self.search.take() {
            // Nobody wants it any more, whether it is a plan or a fault.
            let _ = join(thread);
        }
    }

    /// One search at a time: while a slider is dragged, those in between are left out.
    fn search(&mut self) {
        if let (None, Some(wanted)) = (&self.search, &self.wanted) {
            let sought = wanted.clone();
            let thread = std::thread::spawn({
                let (tile, like) = (self.tile.clone(), sought.clone());
                move || tile.plan(like.described(), &like.options)
            });
            self.search = Some(Search { sought, thread });
        }
    }
}

fn join<T>(thread: JoinHandle<T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Whether a frame that is recorded by one plan is recorded so by the other.
pub(crate) fn are_alike(one: &Plan, other: &Plan) -> bool {
    one.placements == other.placements && one.objects == other.objects && one.passes == other.passes
}
