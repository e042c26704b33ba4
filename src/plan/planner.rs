//! A planner with a cache: a known frame only costs a comparison, a slightly changed frame only a repair of its plan.
//!
//! ```text
//! resize      plan       a search of a fixed number of steps: a millisecond at most
//! same again  plan       a comparison
//! idle        improve    a search of twice the steps, until nothing can be better
//! toggled     plan_now   a repair, at once ──► the exact plan, on another thread ──► adopt
//! back        plan_now   a comparison
//! ```

use std::sync::Arc;

use super::make::{checked, make};
use super::runnable::Runnable;
use super::{Plan, PlanOptions, ResidencyStrategy, make::plan_runnable};
use crate::Checked;
use crate::execute::ExecutedFrame;
use crate::measure::Requirements;
use crate::profile::DeviceProfile;

/// Number of cached plans: features that are toggled lead to few different frames.
const MAX_CACHED_PLANS: usize = 8;

/// A planner with a cache of recent plans.
///
/// A renderer describes its frame and passes it in whenever size or features may have changed; if topology, extents and device are those of a cached
/// plan, that plan is returned.
///
/// ```
/// # use std::sync::Arc;
/// # use ash::vk;
/// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
/// # use tileheap::plan::{PlanOptions, Planner, plan};
/// # use tileheap::measure::estimate;
/// # use tileheap::profile::DeviceProfile;
/// # let frame = synthetic(7, SyntheticDesc::default());
/// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
/// # let needs = Arc::new(estimate(&frame, &profile)?);
/// # let options = PlanOptions::default();
/// let mut planner = Planner::new();
/// let now = planner.plan_now(&frame, &needs, &profile, &options)?; // microseconds
/// let exact = std::thread::spawn({
///     let (frame, needs, profile) = (frame.clone(), needs.clone(), profile.clone());
///     move || plan(&frame, &needs, &profile, &options)
/// });
/// // … render some frames with `now` …
/// let exact = Arc::new(exact.join().expect("planning does not panic")?);
/// assert!(planner.adopt(exact.clone()));
/// assert!(Arc::ptr_eq(&planner.plan_now(&frame, &needs, &profile, &options)?, &exact));
/// # Ok::<(), tileheap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Planner {
    /// The cached plans, the most recently used first.
    cached: Vec<CachedPlan>,
}

#[derive(Clone, Debug)]
struct CachedPlan {
    plan: Arc<Checked<Plan>>,
    /// The steps allowed for the plan's search, at least as many as its options specify; 0 if the plan was repaired or made with [`ResidencyStrategy::Fast`].
    budget: u64,
}

impl CachedPlan {
    /// Returns true if the plan was made with the strategy of its options, and neither repaired nor made in the fast mode instead.
    fn is_searched(&self) -> bool {
        self.budget > 0
    }
}

impl Planner {
    /// Creates a planner with an empty cache.
    pub fn new() -> Planner {
        Planner::default()
    }

    /// Returns the cached plan for equal inputs, except one that [`Planner::plan_now`] made without a search; otherwise plans like [`plan()`](super::plan()).
    ///
    /// Inputs that share their tables with those of the plan (clones) are recognized without comparing their contents; others are compared, in linear
    /// time.
    ///
    /// # Errors
    /// Same as [`plan()`](super::plan()); the cached plans are kept then.
    pub fn plan(
        &mut self,
        frame: impl Into<ExecutedFrame>,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        self.plan_executed(&frame.into(), requirements, profile, options)
    }

    fn plan_executed(
        &mut self,
        executed: &ExecutedFrame,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        if let Some(known) = self.find_equal(executed, requirements, profile, options) {
            if known.is_searched() {
                return Ok(known.plan.clone());
            }
        }
        let runnable = Runnable::new(executed, profile)?;
        let plan = Arc::new(plan_runnable(runnable, requirements, options)?);
        self.insert(CachedPlan {
            plan: plan.clone(),
            budget: options.budget.max(1),
        });
        Ok(plan)
    }

    /// Searches for a better plan than the cached one for equal inputs, with twice as many steps as before, and returns the better of the two. Returns the
    /// cached plan without a search if it is proved optimal or its strategy does not search; if none is cached, same as [`Planner::plan`]. Together, all
    /// calls up to a proof take about twice as long as the last one.
    ///
    /// # Errors
    /// Same as [`plan()`](super::plan()); the cached plans are kept then.
    pub fn improve(
        &mut self,
        frame: impl Into<ExecutedFrame>,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        let executed = &frame.into();
        let Some(known) = self.find_equal(executed, requirements, profile, options).cloned() else {
            return self.plan_executed(executed, requirements, profile, options);
        };
        let value = |plan: &Plan| plan.optimality.map(|found| (found.value, -found.upper_bound));
        let proved = known.plan.optimality.is_some_and(|found| found.is_proved());
        if known.is_searched() && (proved || options.strategy != ResidencyStrategy::Optimal) {
            return Ok(known.plan);
        }
        let budget = known.budget.saturating_mul(2).max(options.budget);
        let more = PlanOptions { budget, ..*options };
        let found = checked(Plan {
            options: *options,
            ..make(Runnable::new(executed, profile)?, requirements, &more, None)?
        })?;
        let better = value(&found) > value(&known.plan);
        let plan = if better { Arc::new(found) } else { known.plan };
        self.insert(CachedPlan {
            plan: plan.clone(),
            budget,
        });
        Ok(plan)
    }

    /// Returns a plan without a search: the cached one for equal inputs, or else a repaired one for the same device and options, in which residents stay at
    /// their offsets if they still fit (the heap may have another [limit](PlanOptions::tile_limit)), and an arena is kept if it needs the same sizes and
    /// lifetimes. If there is neither, returns a new plan, made with [`ResidencyStrategy::Fast`] in place of `Optimal` and `Greedy`.
    ///
    /// A plan made without a search has no [bound](super::Optimality). It obeys every rule.
    ///
    /// # Errors
    /// Same as [`plan()`](super::plan()); the cached plans are kept then.
    pub fn plan_now(
        &mut self,
        frame: impl Into<ExecutedFrame>,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        let executed = &frame.into();
        if let Some(known) = self.find_equal(executed, requirements, profile, options) {
            return Ok(known.plan.clone());
        }
        self.plan_runnable_now(Runnable::new(executed, profile)?, requirements, options)
    }

    /// Like [`Planner::plan_now`], for a frame that has been checked.
    pub(crate) fn plan_runnable_now(
        &mut self,
        runnable: Runnable<'_>,
        requirements: &Arc<Requirements>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        let (executed, profile) = (runnable.executed(), runnable.profile());
        if let Some(known) = self.find_equal(executed, requirements, profile, options) {
            return Ok(known.plan.clone());
        }
        let akin = |known: &&CachedPlan| {
            let limited = PlanOptions {
                tile_limit: options.tile_limit,
                ..known.plan.options
            };
            limited == *options && same(&known.plan.profile, profile)
        };
        let plan = match self.cached.iter().find(akin) {
            Some(known) => checked(make(runnable, requirements, options, Some(&known.plan))?)?,
            None => {
                let fast = PlanOptions {
                    strategy: match options.strategy {
                        ResidencyStrategy::Optimal | ResidencyStrategy::Greedy => ResidencyStrategy::Fast,
                        other => other,
                    },
                    ..*options
                };
                checked(Plan {
                    // The options of the plan that it replaces.
                    options: *options,
                    ..make(runnable, requirements, &fast, None)?
                })?
            }
        };
        let plan = Arc::new(plan);
        self.insert(CachedPlan {
            plan: plan.clone(),
            budget: 0,
        });
        Ok(plan)
    }

    /// Returns the cached plan for an equal frame, device and options, whatever requirements it was made with, but not one that [`Planner::plan_now`] made.
    /// For callers whose requirements follow from the frame and the device: measuring them again would take longer than this call.
    pub fn cached_plan(
        &mut self,
        frame: impl Into<ExecutedFrame>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> Option<Arc<Checked<Plan>>> {
        let executed = frame.into();
        let position = self.cached.iter().position(|known| {
            let plan = &known.plan;
            known.is_searched()
                && plan.options == *options
                && same(&plan.profile, profile)
                && plan.input == executed
        })?;
        self.cached[..=position].rotate_right(1);
        self.cached.first().map(|known| known.plan.clone())
    }

    /// Adds a plan that was made elsewhere, on another thread or by a tool, as the one for its inputs.
    ///
    /// Returns false, without adding the plan, if the cached plan for equal inputs is proved optimal and this one is not.
    pub fn adopt(&mut self, plan: Arc<Checked<Plan>>) -> bool {
        let (input, requirements) = (&plan.input, &plan.input_requirements);
        if let Some(known) = self.find_equal(input, requirements, &plan.profile, &plan.options) {
            let proved = known.plan.optimality.is_some_and(|found| found.is_proved());
            let better = plan.optimality.is_some_and(|found| found.is_proved());
            if proved && !better {
                return false;
            }
        }
        let budget = plan.options.budget.max(1);
        self.insert(CachedPlan { plan, budget });
        true
    }

    /// Returns the cached plan for equal inputs, and makes it the most recently used one.
    fn find_equal(
        &mut self,
        input: &ExecutedFrame,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> Option<&CachedPlan> {
        let position = self.cached.iter().position(|known| {
            known.plan.options == *options
                && same(&known.plan.profile, profile)
                && known.plan.input == *input
                && same(&known.plan.input_requirements, requirements)
        })?;
        self.cached[..=position].rotate_right(1);
        self.cached.first()
    }

    /// Adds a plan as the most recently used one, in place of the one for equal inputs.
    fn insert(&mut self, new: CachedPlan) {
        let plan = &new.plan;
        let (input, requirements) = (&plan.input, &plan.input_requirements);
        if self
            .find_equal(input, requirements, &plan.profile, &plan.options)
            .is_some()
        {
            self.cached.remove(0);
        }
        self.cached.truncate(MAX_CACHED_PLANS - 1);
        self.cached.insert(0, new);
    }
}

fn same<T: PartialEq>(a: &Arc<T>, b: &Arc<T>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}
