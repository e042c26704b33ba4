//! The steps of lowering.

use super::chains::Chains;
use super::create::create;
use super::dependencies::dependencies;
use super::error::LowerError;
use super::operations::operations;
use super::placed::Placed;
use super::recording::record;
use super::sharing::Shared;
use super::situation::Situation;
use super::submits::submits;
use super::tables::Lowered;
use crate::plan::Plan;

/// Lowers a plan for a frame in a situation.
///
/// # Errors
/// If the situation is not one that the plan's frame can run in: another number of queues, or contents that another queue family
/// owns.
pub fn lower(plan: &Plan, situation: &Situation) -> Result<Lowered, LowerError> {
    situation.check(&plan.frame)?;
    let placed = Placed::new(plan, &situation.queues, situation.parity);
    let features = plan.profile.features;
    let chains = Chains::new(&plan.frame, features, &placed);
    let shared = Shared::new(&placed, &chains);
    let mut found = dependencies(&placed, &shared, &chains, &situation.before)?;
    let mut lowered = Lowered {
        queues: situation.queues.declared().to_vec(),
        ..Lowered::default()
    };
    create(&placed, &shared, &mut lowered);
    let operations = operations(&plan.frame, features);
    let passes = record(&placed, &chains, &operations, &mut found, &mut lowered);
    submits(&placed, &found, &passes, &mut lowered);
    lowered.after = found.after;
    Ok(lowered)
}
