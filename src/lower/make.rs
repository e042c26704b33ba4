//! The steps of lowering.

use super::chains::Chains;
use super::check::DeviceFacts;
use super::checked::Checked;
use super::create::create;
use super::dependencies::dependencies;
use super::error::LowerError;
use super::placed::Placed;
use super::recording::record;
use super::resolver::Dependencies;
use super::sharing::Shared;
use super::situation::Situation;
use super::submits::submits;
use super::tables::Lowered;
use crate::plan::{Plan, WindowRule};

/// Lowers a plan for a frame in a situation.
///
/// # Errors
/// If the plan's frame cannot run in the situation: another number of queues, or contents that another queue family owns. If the plan was
/// made only for comparison ([`WindowRule::WholeFrame`]), or a pass needs dynamic rendering that the device lacks. In builds with debug
/// assertions, also if the checker refuses the tables: then the plan breaks a rule, what earlier work left is not what it is said to be, or
/// lowering has a defect.
pub fn lower(plan: &Plan, situation: &Situation) -> Result<Checked<Lowered>, LowerError> {
    Lowerer::default().lower(plan, situation)
}

/// Lowers plans, and reuses most of its working memory from one plan to the next.
#[derive(Debug, Default)]
pub struct Lowerer {
    chains: Chains,
    found: Dependencies,
    /// Empty tables.
    spare: Lowered,
}

impl Lowerer {
    /// Lowers a plan, as [`lower`] does.
    ///
    /// # Errors
    /// Those of [`lower`].
    pub fn lower(&mut self, plan: &Plan, situation: &Situation) -> Result<Checked<Lowered>, LowerError> {
        let Lowerer { chains, found, spare } = self;
        situation.check(&plan.frame)?;
        if plan.options.windows == WindowRule::WholeFrame {
            let frame = plan.frame.name().to_owned();
            return Err(LowerError::WholeFrame { frame });
        }
        let placed = Placed::new(plan, &situation.queues, situation.parity);
        chains.fill(&placed);
        let shared = Shared::new(&placed, chains);
        let mut lowered = std::mem::take(spare);
        lowered.queues.extend(situation.queues.declared());
        let (before, after) = (&situation.before, &mut lowered.after);
        dependencies(&placed, &shared, chains, before, found, after)?;
        create(&placed, &shared, &mut lowered);
        record(&placed, chains, found, &mut lowered)?;
        submits(&placed, found, &mut lowered);
        if cfg!(debug_assertions) {
            let device =
                DeviceFacts::declared(&plan.profile, &plan.requirements, &plan.frame, &situation.queues);
            return Ok(lowered.check(&plan.frame, situation, &device)?);
        }
        Ok(Checked::new(lowered))
    }

    /// Takes back tables that are no longer needed: the next ones reuse their memory.
    pub fn recycle(&mut self, tables: Checked<Lowered>) {
        self.spare = tables.into_inner();
        self.spare.clear();
    }
}
