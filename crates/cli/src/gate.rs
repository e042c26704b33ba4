//! `tileheap gate`: a frame, a device, and a share or bytes in, a verdict out.

use tileheap::units::Bytes;

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
    let (share, bytes) = (arguments.min_on_chip, arguments.min_bytes);
    let wanted: Vec<String> = [
        share.map(|share| percent(u64::from(share), 1000)),
        bytes.map(|bytes| bytes.to_string()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let said = format!(
        "frame `{}` on {}: {kept} of {eligible} stay on chip, {}, and {} are wanted",
        plan.frame.name(),
        plan.profile.name,
        percent(kept.0, eligible.0),
        wanted.join(" and "),
    );
    let keeps = |share: u32| {
        let nothing = share > 0 && eligible == Bytes::ZERO;
        !nothing && u128::from(kept.0) * 1000 >= u128::from(eligible.0) * u128::from(share)
    };
    if share.is_none_or(keeps) && bytes.is_none_or(|bytes| kept >= bytes) {
        return Output::stdout().write(&format!("{said}\n"));
    }
    let why = match (eligible, plan.profile.tile) {
        (Bytes::ZERO, None) => "the device has no tile memory",
        (Bytes::ZERO, Some(_)) => "nothing is eligible, and `tileheap plan` says why",
        _ => "`tileheap advise` says what would help",
    };
    Err(Failure::new(format!("{said}: {why}")))
}

/// A share with a tenth of a percent, rounded down: what is just not enough does not look like enough.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}
