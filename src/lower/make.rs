//! The steps of lowering.

use std::sync::{Mutex, PoisonError};

use bumpalo::Bump;

use super::chains::Chains;
#[cfg(feature = "check")]
use super::check::DeviceFacts;
use super::create::create;
use super::dependencies::dependencies;
use super::error::LowerError;
use super::lowering_desc::LoweringDesc;
use super::placed::Placed;
use super::recording::record;
use super::resolver::Dependencies;
use super::sharing::Shared;
use super::submits::submits;
use super::tables::Lowered;
use crate::Checked;
use crate::plan::{Plan, WindowRule};

/// Lowers a plan for one frame; `lowering_desc` has the frame's queues, its parity and the memory state before it.
///
/// # Errors
/// If the plan's frame does not fit the description: another number of queues, or contents that another queue family owns. If the plan was made only
/// for comparison ([`WindowRule::WholeFrame`]), or a pass needs dynamic rendering that the device lacks. In builds with debug assertions and the
/// feature `check`, also if the checker rejects the tables: then the state that earlier work left is not as stated, or lowering has a bug.
pub fn lower(plan: &Checked<Plan>, lowering_desc: &LoweringDesc) -> Result<Checked<Lowered>, LowerError> {
    Lowerer::default().lower(plan, lowering_desc)
}

/// Lowers plans, and reuses most of its working memory from one plan to the next.
#[derive(Debug, Default)]
pub struct Lowerer {
    chains: Chains,
    dependencies: Dependencies,
    /// Empty tables whose memory is reused.
    spare_tables: Lowered,
    /// Working memory of a lowering, empty in between. The mutex only makes it `Sync`; it is never locked.
    scratch: Mutex<Bump>,
}

impl Lowerer {
    /// Lowers a plan, as [`lower`] does.
    ///
    /// # Errors
    /// Those of [`lower`].
    pub fn lower(
        &mut self,
        plan: &Checked<Plan>,
        lowering_desc: &LoweringDesc,
    ) -> Result<Checked<Lowered>, LowerError> {
        let tables = self.tables(plan, lowering_desc)?;
        #[cfg(feature = "check")]
        if cfg!(debug_assertions) {
            let device = DeviceFacts::declared(
                &plan.profile,
                &plan.requirements,
                &plan.frame,
                &lowering_desc.queues,
            );
            return Ok(tables.check(&plan.frame, lowering_desc, &device)?);
        }
        Ok(Checked::new(tables))
    }

    /// Runs the steps of lowering. Allocates nothing once the reused memory suffices.
    fn tables(&mut self, plan: &Plan, lowering_desc: &LoweringDesc) -> Result<Lowered, LowerError> {
        let Lowerer {
            chains,
            dependencies: found,
            spare_tables,
            scratch,
        } = self;
        let scratch = scratch.get_mut().unwrap_or_else(PoisonError::into_inner);
        scratch.reset();
        lowering_desc.check(&plan.frame)?;
        if plan.options.windows == WindowRule::WholeFrame {
            let frame = plan.frame.name().to_owned();
            return Err(LowerError::WholeFrame { frame });
        }
        let placed = Placed::new(plan, &lowering_desc.queues, lowering_desc.parity, scratch);
        chains.fill(&placed);
        let shared = Shared::new(&placed, chains);
        let mut lowered = std::mem::take(spare_tables);
        lowered.queues.extend(lowering_desc.queues.declared());
        let (before, after) = (&lowering_desc.before, &mut lowered.after);
        dependencies(&placed, &shared, chains, before, found, after)?;
        create(&placed, &shared, &mut lowered);
        record(&placed, chains, found, &mut lowered)?;
        submits(&placed, found, &mut lowered);
        Ok(lowered)
    }

    /// Takes tables that are no longer needed, so that the next ones reuse their memory.
    pub fn recycle(&mut self, tables: Checked<Lowered>) {
        self.spare_tables = tables.into_inner();
        self.spare_tables.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tileheap_testkit::counting;

    use super::*;
    use crate::frame::Frame;
    use crate::frame::synthetic::{SyntheticDesc, synthetic};
    use crate::lower::{DeviceQueues, FamilyQueue};
    use crate::measure::estimate;
    use crate::plan::{PlanOptions, plan};
    use crate::profile::DeviceProfile;

    /// The number of allocations when a frame is lowered again, on two queues of different families if it declares several queues.
    fn allocations_of_warm_lowering(frame: &Frame) -> usize {
        let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
        let needs = Arc::new(estimate(frame, &profile).unwrap());
        let plan = plan(frame, &needs, &profile, &PlanOptions::default()).unwrap();
        let queue = |index| FamilyQueue {
            family: index % 2,
            index: 0,
        };
        let queues: Vec<FamilyQueue> = (0..frame.queues().len() as u32).map(queue).collect();
        let mut lowering_desc = LoweringDesc::first(DeviceQueues::new(&queues));
        let mut lowerer = Lowerer::default();
        let mut last = 0;
        for _ in 0..8 {
            let before = counting::allocation_count();
            let tables = lowerer.tables(&plan, &lowering_desc).unwrap();
            last = counting::allocation_count() - before;
            lowering_desc = lowering_desc.after(&tables);
            lowerer.recycle(Checked::new(tables));
        }
        last
    }

    #[test]
    fn warm_lowering_allocates_nothing() {
        let document = |text: &str| Frame::read(text).unwrap();
        let read = [
            include_str!("../../tests/data/frames/granite_deferred_taa_bloom.json"),
            include_str!("../../tests/data/frames/khronos_local_read_deferred.json"),
            include_str!("../../tests/data/frames/qualcomm_tile_memory_sample.json"),
        ];
        let drawn = (0..20).map(|seed| synthetic(seed, SyntheticDesc::default()));
        for frame in read.map(document).into_iter().chain(drawn) {
            assert_eq!(allocations_of_warm_lowering(&frame), 0, "{}", frame.name());
        }
    }
}
