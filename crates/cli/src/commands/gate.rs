//! `tileheap gate`.

use clap::{ArgGroup, Args};
use tileheap::plan::Traffic;
use tileheap::units::Bytes;

use super::plan::append_list;
use crate::error::{Error, Result};
use crate::frames::arrange::{ArrangeOptions, ArrangedPlan};
use crate::frames::plan::FrameArguments;
use crate::output::Output;
use crate::values::{parse_bytes, parse_percent, percent};

/// Fail if on-chip traffic is below a threshold
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/gate.txt"))]
#[command(after_help = include_str!("help/gate.txt"))]
#[command(group = ArgGroup::new("threshold").args(["min_on_chip", "min_bytes"]).required(true).multiple(true))]
pub(crate) struct Arguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// Minimum share of traffic on chip: 60%, 62.5%; a frame without traffic fails unless this is 0%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    min_on_chip: Option<u32>,
    /// Minimum traffic on chip per frame: 52428800, 50MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    min_bytes: Option<Bytes>,
    #[command(flatten, next_help_heading = "Arrangements")]
    arrange: ArrangeOptions,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.arrange.require_search()?;
    let (imported, plan) = arguments.frame.plan()?;
    let options = &arguments.frame.options;
    let arranged = arguments.arrange.arrange(options, &imported, &plan)?;
    let (planned, how) = match &arranged {
        Some(ArrangedPlan { plan, .. }) => (plan, ", arranged"),
        None => (&plan, ""),
    };
    let traffic = Traffic::of(planned);
    let (kept, all) = (traffic.on_chip(), traffic.described);
    let (share, bytes) = (arguments.min_on_chip, arguments.min_bytes);
    let result = format!(
        "frame `{}` on {}{how}: {kept} of {all} of traffic on chip ({})",
        plan.frame.name(),
        plan.profile.name,
        percent(kept.0, all.0),
    );
    let reaches = |share: u32| {
        let nothing = share > 0 && all == Bytes::ZERO;
        !nothing && u128::from(kept.0) * 1000 >= u128::from(all.0) * u128::from(share)
    };
    let of_share = |share: u32| (reaches(share), percent(u64::from(share), 1000));
    let of_bytes = |bytes: Bytes| (kept >= bytes, bytes.to_string());
    let thresholds = [share.map(of_share), bytes.map(of_bytes)];
    let (reached, missed): (Vec<_>, Vec<_>) = thresholds
        .into_iter()
        .flatten()
        .partition(|(is_reached, _)| *is_reached);
    let joined = |thresholds: Vec<(bool, String)>| {
        let minima: Vec<String> = thresholds.into_iter().map(|(_, minimum)| minimum).collect();
        minima.join(" and ")
    };
    if missed.is_empty() {
        let mut text = format!("{result}, minimum {}\n", joined(reached));
        append_list(&mut text, "Guessed or ignored in the file", &imported.notes);
        return Output::stdout().write(&text);
    }
    let missed = joined(missed);
    let cause = match (plan.totals.eligible_bytes, plan.profile.tile) {
        (Bytes::ZERO, None) => "the device has no tile memory",
        (Bytes::ZERO, Some(_)) => "nothing is eligible: run `tileheap plan` for the reasons",
        _ => "run `tileheap advise` for changes that would help",
    };
    let notes = match &imported.notes[..] {
        [] => String::new(),
        notes => format!(" (guessed or ignored in the file: {})", notes.join("; ")),
    };
    Err(Error::Verdict(format!(
        "{result} is below the minimum of {missed}: {cause}{notes}"
    )))
}
