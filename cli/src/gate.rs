//! `tileheap gate`: a frame, a device and a share in, a verdict out.

use crate::arguments::GateArguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::plan::{frame_of, plan_of, read_profile};
use crate::progress::Progress;

pub(crate) fn run(arguments: &GateArguments) -> Result<(), Failure> {
    let what = &arguments.what;
    let imported = frame_of(what, what.how.size)?;
    let progress = Progress::new("planning", 0);
    let plan = plan_of(what, &imported, &read_profile(what)?)?;
    drop(progress);
    let (kept, eligible) = (plan.totals.on_chip_bytes, plan.totals.eligible_bytes);
    let said = format!(
        "frame `{}` on {}: {kept} of {eligible} stay on chip, {}, and {} are wanted",
        plan.frame.name(),
        plan.profile.name,
        percent(kept.0, eligible.0),
        percent(u64::from(arguments.min_on_chip), 1000),
    );
    let enough = u128::from(kept.0) * 1000 >= u128::from(eligible.0) * u128::from(arguments.min_on_chip);
    if enough {
        return Output::stdout().write(&format!("{said}\n"));
    }
    Err(Failure::new(format!(
        "{said}: `tileheap advise` says what would help"
    )))
}

/// A share with a tenth of a percent, rounded down: what is just not enough does not look like enough.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}
