//! The planner that remembers: a frame seen before costs a comparison, a frame that differs little a repair.
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
use super::{Plan, PlanOptions, Strategy, make::plan_runnable};
use crate::Checked;
use crate::execute::Executed;
use crate::measure::Requirements;
use crate::profile::DeviceProfile;

/// Plans that are remembered: features that come and go make few frames.
const REMEMBERED: usize = 8;

/// Plans frames and remembers the last few plans.
///
/// A renderer describes its frame whenever size or features may have changed and hands it in; as long as topology, extents and
/// device are those of a plan at hand, that plan is given back.
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
/// // … frames go by on `now` …
/// let exact = Arc::new(exact.join().expect("planning does not panic")?);
/// assert!(planner.adopt(exact.clone()));
/// assert!(Arc::ptr_eq(&planner.plan_now(&frame, &needs, &profile, &options)?, &exact));
/// # Ok::<(), tileheap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Planner {
    /// The last used first.
    known: Vec<Known>,
}

#[derive(Clone, Debug)]
struct Known {
    plan: Arc<Checked<Plan>>,
    /// The steps that its search was allowed, at least as many as its options ask for; 0 where it was repaired or made fast.
    budget: u64,
}

impl Known {
    /// Whether it was made as its options ask.
    fn is_whole(&self) -> bool {
        self.budget > 0
    }
}

impl Planner {
    /// A planner without a plan.
    pub fn new() -> Planner {
        Planner::default()
    }

    /// As [`plan()`](super::plan()), or a plan at hand that was made so from equal inputs.
    ///
    /// Inputs that share their tables with those of the plan (clones) are recognised without looking at them; others are
    /// compared, which is linear in their size.
    ///
    /// # Errors
    /// As [`plan()`](super::plan()); the plans at hand are kept then.
    pub fn plan(
        &mut self,
        frame: impl Into<Executed>,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        self.plan_executed(&frame.into(), requirements, profile, options)
    }

    fn plan_executed(
        &mut self,
        executed: &Executed,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        if let Some(known) = self.recall(executed, requirements, profile, options) {
            if known.is_whole() {
                return Ok(known.plan.clone());
            }
        }
        let runnable = Runnable::new(executed, profile)?;
        let plan = Arc::new(plan_runnable(runnable, requirements, options)?);
        self.remember(Known {
            plan: plan.clone(),
            budget: options.budget.max(1),
        });
        Ok(plan)
    }

    /// The plan at hand for equal inputs, or a better one: by a search of twice as many steps as it was made with, until no choice is
    /// better. Together, the calls up to a proof take twice as long as the last of them.
    ///
    /// # Errors
    /// As [`plan()`](super::plan()); the plans at hand are kept then.
    pub fn improve(
        &mut self,
        frame: impl Into<Executed>,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        let executed = &frame.into();
        let Some(known) = self.recall(executed, requirements, profile, options).cloned() else {
            return self.plan_executed(executed, requirements, profile, options);
        };
        let value = |plan: &Plan| plan.optimality.map(|found| (found.value, -found.upper_bound));
        let proved = known.plan.optimality.is_some_and(|found| found.is_proved());
        if known.is_whole() && (proved || options.strategy != Strategy::Optimal) {
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
        self.remember(Known {
            plan: plan.clone(),
            budget,
        });
        Ok(plan)
    }

    /// A plan at once: one at hand for equal inputs, or else one at hand for the same device and options, repaired: what was in tile
    /// memory stays where it was, as far as it still fits (the heap may be [limited](PlanOptions::tile_limit) otherwise). Without
    /// any, [`Strategy::Fast`]'s.
    ///
    /// What is not [searched](super::Optimality) has no bound beside it. It keeps every rule.
    ///
    /// # Errors
    /// As [`plan()`](super::plan()); the plans at hand are kept then.
    pub fn plan_now(
        &mut self,
        frame: impl Into<Executed>,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        let executed = &frame.into();
        if let Some(known) = self.recall(executed, requirements, profile, options) {
            return Ok(known.plan.clone());
        }
        self.plan_runnable_now(Runnable::new(executed, profile)?, requirements, options)
    }

    /// As [`Planner::plan_now`], for a frame that has been checked.
    pub(crate) fn plan_runnable_now(
        &mut self,
        runnable: Runnable<'_>,
        requirements: &Arc<Requirements>,
        options: &PlanOptions,
    ) -> crate::Result<Arc<Checked<Plan>>> {
        let (executed, profile) = (runnable.executed(), runnable.profile());
        if let Some(known) = self.recall(executed, requirements, profile, options) {
            return Ok(known.plan.clone());
        }
        let akin = |known: &&Known| {
            let limited = PlanOptions {
                tile_limit: options.tile_limit,
                ..known.plan.options
            };
            limited == *options && same(&known.plan.profile, profile)
        };
        let plan = match self.known.iter().find(akin) {
            Some(known) => checked(make(runnable, requirements, options, Some(&known.plan))?)?,
            None => {
                let fast = PlanOptions {
                    strategy: match options.strategy {
                        Strategy::Optimal | Strategy::Greedy => Strategy::Fast,
                        other => other,
                    },
                    ..*options
                };
                checked(Plan {
                    // What it stands in for.
                    options: *options,
                    ..make(runnable, requirements, &fast, None)?
                })?
            }
        };
        let plan = Arc::new(plan);
        self.remember(Known {
            plan: plan.clone(),
            budget: 0,
        });
        Ok(plan)
    }

    /// The plan at hand that was made for such a frame as its options ask, whatever its requirements were: for callers that have
    /// measured them before, since measuring takes longer than this.
    pub fn known(
        &mut self,
        frame: impl Into<Executed>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> Option<Arc<Checked<Plan>>> {
        let executed = frame.into();
        let position = self.known.iter().position(|known| {
            let plan = &known.plan;
            known.is_whole()
                && plan.options == *options
                && same(&plan.profile, profile)
                && plan.input == executed
        })?;
        self.known[..=position].rotate_right(1);
        self.known.first().map(|known| known.plan.clone())
    }

    /// Takes a plan that was made elsewhere, on another thread or by a tool: from now on it is the one for its inputs.
    ///
    /// Refused, and false, where the plan at hand for equal inputs is proved to be no worse.
    pub fn adopt(&mut self, plan: Arc<Checked<Plan>>) -> bool {
        let (input, requirements) = (&plan.input, &plan.input_requirements);
        if let Some(known) = self.recall(input, requirements, &plan.profile, &plan.options) {
            let proved = known.plan.optimality.is_some_and(|found| found.is_proved());
            let better = plan.optimality.is_some_and(|found| found.is_proved());
            if proved && !better {
                return false;
            }
        }
        let budget = plan.options.budget.max(1);
        self.remember(Known { plan, budget });
        true
    }

    /// The plan at hand for equal inputs, which becomes the last used.
    fn recall(
        &mut self,
        input: &Executed,
        requirements: &Arc<Requirements>,
        profile: &Arc<DeviceProfile>,
        options: &PlanOptions,
    ) -> Option<&Known> {
        let position = self.known.iter().position(|known| {
            known.plan.options == *options
                && same(&known.plan.profile, profile)
                && known.plan.input == *input
                && same(&known.plan.input_requirements, requirements)
        })?;
        self.known[..=position].rotate_right(1);
        self.known.first()
    }

    /// Puts a plan first, in place of the one for equal inputs.
    fn remember(&mut self, new: Known) {
        let plan = &new.plan;
        let (input, requirements) = (&plan.input, &plan.input_requirements);
        if self
            .recall(input, requirements, &plan.profile, &plan.options)
            .is_some()
        {
            self.known.remove(0);
        }
        self.known.truncate(REMEMBERED - 1);
        self.known.insert(0, new);
    }
}

fn same<T: PartialEq>(a: &Arc<T>, b: &Arc<T>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}
