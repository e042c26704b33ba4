//! `tileheap gate`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueHint};
use serde_json::{Value, json};
use tileheap::arrange::Arrangement;
use tileheap::plan::{OffChipReason, PlacementReason, Plan, Traffic};
use tileheap::units::Bytes;

use super::plan::{append_list, is_eligible};
use crate::error::{Error, NEGATIVE_ANSWER, Result};
use crate::frames::arrange::{ArrangeOptions, ArrangedPlan, traffic_kept};
use crate::frames::baseline::{Baseline, Comparison};
use crate::frames::plan::FrameArguments;
use crate::input::is_stdin;
use crate::output::Output;
use crate::values::{counted, parse_bytes, parse_percent, percent};

/// Fail if on-chip traffic is below a threshold, or resources of a baseline are no longer in tile memory
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/gate.txt"))]
#[command(after_help = include_str!("help/gate.txt"))]
#[command(group = ArgGroup::new("threshold").args(["baseline", "min_on_chip", "min_bytes"]).required(true).multiple(true))]
pub(crate) struct Arguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// An accepted plan, as `tileheap plan --json` writes it: every resource that it keeps in tile memory has to be on chip, unless the frame no longer has it. Its
    /// device is used unless --profile is given
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    baseline: Option<PathBuf>,
    /// Minimum share of traffic on chip: 60%, 62.5%; a frame without traffic fails unless this is 0%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    min_on_chip: Option<u32>,
    /// Minimum traffic on chip per frame: 52428800, 50MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    min_bytes: Option<Bytes>,
    /// Print the verdict, the figures and the failing resources as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "Arrangements")]
    arrange: ArrangeOptions,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.arrange.require_search()?;
    let baseline = arguments.baseline.as_deref();
    if baseline.is_some_and(is_stdin) && is_stdin(&arguments.frame.frame) {
        return Err(Error::usage(
            "frame and baseline cannot both come from standard input: give one as a file",
        ));
    }
    let baseline = baseline.map(Baseline::read).transpose()?;
    let mut frame = arguments.frame.clone();
    frame.options.default_profile = baseline.as_ref().map(|baseline| baseline.profile.clone());
    let (imported, described) = frame.plan()?;
    let arranged = arguments.arrange.arrange(&frame.options, &imported, &described)?;
    let plan = match &arranged {
        Some(ArrangedPlan { plan, .. }) => plan,
        None => &described,
    };
    let mut gate = Gate {
        plan,
        arrangement: arranged.as_ref().map(|arranged| &arranged.found.arrangement),
        traffic: Traffic::of(plan),
        eligible: described.totals.eligible_bytes,
        thresholds: Vec::new(),
        baseline: baseline.map(|baseline| (baseline.compare(plan), baseline)),
        notes: imported.notes.clone(),
    };
    gate.thresholds
        .extend(arguments.min_on_chip.map(Threshold::Share));
    gate.thresholds.extend(arguments.min_bytes.map(Threshold::Bytes));
    if let Some((comparison, _)) = &mut gate.baseline {
        gate.notes.append(&mut comparison.notes);
    }
    if arguments.json {
        Output::stdout().write(&format!("{:#}\n", gate.document()))?;
        return match gate.passes() {
            true => Ok(()),
            false => Err(Error::Exit(NEGATIVE_ANSWER)),
        };
    }
    match gate.passes() {
        true => Output::stdout().write_report(&gate.text()),
        false => Err(Error::Verdict(gate.text().trim_end().to_owned())),
    }
}

/// The minimum traffic on chip.
#[derive(Clone, Copy)]
enum Threshold {
    /// In thousandths of all traffic.
    Share(u32),
    Bytes(Bytes),
}

impl Threshold {
    fn words(self) -> String {
        match self {
            Threshold::Share(share) => percent(u64::from(share), 1000),
            Threshold::Bytes(bytes) => bytes.to_string(),
        }
    }
}

/// A plan, and what it has to reach.
struct Gate<'a> {
    plan: &'a Plan,
    arrangement: Option<&'a Arrangement>,
    traffic: Traffic,
    /// Traffic eligible for tile memory in the frame as described.
    eligible: Bytes,
    thresholds: Vec<Threshold>,
    baseline: Option<(Comparison, Baseline)>,
    notes: Vec<String>,
}

/// A resource that is not on chip.
struct OffChip {
    name: String,
    traffic: Bytes,
    reason: String,
}

/// The maximum number of resources in the list of those that are not on chip.
const MAX_RESOURCES: usize = 3;

impl Gate<'_> {
    fn is_reached(&self, threshold: Threshold) -> bool {
        let (kept, all) = (self.traffic.on_chip(), self.traffic.described);
        match threshold {
            Threshold::Share(share) => {
                let nothing = share > 0 && all == Bytes::ZERO;
                !nothing && u128::from(kept.0) * 1000 >= u128::from(all.0) * u128::from(share)
            }
            Threshold::Bytes(bytes) => kept >= bytes,
        }
    }

    /// The thresholds that are reached, or those that are not.
    fn thresholds(&self, reached: bool) -> Vec<String> {
        let all = self.thresholds.iter().copied();
        all.filter(|threshold| self.is_reached(*threshold) == reached)
            .map(Threshold::words)
            .collect()
    }

    /// The resources of the baseline that are not on chip, with the reasons.
    fn lost(&self) -> &[(String, String)] {
        self.baseline
            .as_ref()
            .map_or(&[], |(comparison, _)| &comparison.lost)
    }

    fn passes(&self) -> bool {
        self.thresholds(false).is_empty() && self.lost().is_empty()
    }

    /// The resources that are not on chip, in descending order of traffic: the eligible ones or, if there are none, those that a rule keeps out.
    fn off_chip(&self) -> Vec<OffChip> {
        let plan = self.plan;
        let all = plan.frame.resource_ids().filter_map(|id| {
            let reason = plan.resources[id.index()].reason;
            let (PlacementReason::Arena(why) | PlacementReason::Dedicated(why)) = reason else {
                return None;
            };
            let is_final = matches!(why, OffChipReason::NoTileHeap | OffChipReason::Stored { .. });
            let is_eligible = is_eligible(reason).filter(|_| !is_final)?;
            let needs = &plan.requirements.resources[id.index()];
            let size = needs.tile.map_or(needs.size, |tile| tile.size);
            let accesses = plan.frame.accesses_to(id);
            let traffic = accesses.map(|access| plan.frame.traffic_of(access, size)).sum();
            let resource = OffChip {
                name: plan.frame.resource(id).name.to_string(),
                traffic,
                reason: plan.reason_text(id),
            };
            Some((is_eligible, resource))
        });
        let (eligible, others): (Vec<_>, Vec<_>) = all.partition(|(is_eligible, _)| *is_eligible);
        let listed = if eligible.is_empty() { others } else { eligible };
        let mut listed: Vec<OffChip> = listed.into_iter().map(|(_, resource)| resource).collect();
        listed.sort_by_key(|resource| std::cmp::Reverse(resource.traffic));
        listed
    }

    fn text(&self) -> String {
        let (kept, all) = (self.traffic.on_chip(), self.traffic.described);
        let how = if self.arrangement.is_some() {
            ", arranged"
        } else {
            ""
        };
        let mut text = format!(
            "frame `{}` on {}{how}: {kept} of {all} {} ({})",
            self.plan.frame.name(),
            self.plan.profile.name,
            self.arrangement.map_or("of traffic on chip", traffic_kept),
            percent(kept.0, all.0),
        );
        let missed = self.thresholds(false);
        let off_chip = self.off_chip();
        if missed.is_empty() {
            let reached = self.thresholds(true);
            if !reached.is_empty() {
                text += &format!(", minimum {}", reached.join(" and "));
            }
        } else {
            let cause = match (self.eligible, self.plan.profile.tile) {
                (Bytes::ZERO, None) => "the device has no tile memory",
                (Bytes::ZERO, Some(_)) => "nothing is eligible",
                _ if off_chip.is_empty() => "everything eligible is on chip",
                _ => "eligible resources are not on chip",
            };
            text += &format!(" is below the minimum of {}: {cause}", missed.join(" and "));
        }
        if let Some((comparison, baseline)) = &self.baseline {
            let kept = counted(comparison.kept - comparison.gone.len() as u64, "resource");
            text += &match comparison.lost.len() as u64 {
                0 => format!("; on chip as in {}: {kept}", baseline.shown()),
                lost => format!("; no longer on chip: {lost} of {kept} in {}", baseline.shown()),
            };
        }
        text.push('\n');
        let lost: Vec<String> = self
            .lost()
            .iter()
            .map(|(name, reason)| format!("{name}: {reason}"))
            .collect();
        append_list(&mut text, "No longer on chip", &lost);
        if !missed.is_empty() {
            let is_listed = |one: &&OffChip| !self.lost().iter().any(|(name, _)| *name == one.name);
            let listed = off_chip.iter().filter(is_listed).take(MAX_RESOURCES);
            let mut lines: Vec<String> = listed
                .map(|one| format!("{}: {} of traffic; {}", one.name, one.traffic, one.reason))
                .collect();
            if let more @ 1.. = off_chip.len().saturating_sub(MAX_RESOURCES) {
                lines.push(format!("and {more} more, which `tileheap plan` lists"));
            }
            append_list(&mut text, "Not on chip, in descending order of traffic", &lines);
            if !off_chip.is_empty() {
                text += "`tileheap advise` searches for other arrangements; with --allow format,extent,usage also for changes of the resources\n";
            }
        }
        let gone = self.baseline.as_ref().map(|(comparison, _)| &*comparison.gone);
        append_list(&mut text, "No longer in the frame", gone.unwrap_or_default());
        append_list(&mut text, "Guessed or ignored in the file", &self.notes);
        text
    }

    fn document(&self) -> Value {
        let thresholds = self.thresholds.iter().map(|threshold| {
            let (option, minimum) = match threshold {
                Threshold::Share(share) => ("min_on_chip", json!(f64::from(*share) / 10.0)),
                Threshold::Bytes(bytes) => ("min_bytes", json!(bytes.0)),
            };
            json!({ "option": option, "minimum": minimum, "is_reached": self.is_reached(*threshold) })
        });
        let off_chip = self
            .off_chip()
            .into_iter()
            .map(|one| json!({ "name": one.name, "traffic_bytes": one.traffic.0, "reason": one.reason }));
        let baseline = self.baseline.as_ref().map(|(comparison, baseline)| {
            let lost = comparison.lost.iter();
            json!({
                "plan": baseline.path().display().to_string(),
                "in_tile_memory": comparison.kept,
                "lost": lost.map(|(name, reason)| json!({ "name": name, "reason": reason })).collect::<Vec<Value>>(),
                "gone": comparison.gone,
            })
        });
        json!({
            "format": "tileheap-gate",
            "version": 1,
            "verdict": if self.passes() { "pass" } else { "fail" },
            "frame": self.plan.frame.name(),
            "profile": self.plan.profile.name,
            "is_arranged": self.arrangement.is_some(),
            "traffic_bytes": self.traffic.described.0,
            "eligible_bytes": self.eligible.0,
            "on_chip_bytes": self.traffic.on_chip().0,
            "thresholds": thresholds.collect::<Vec<Value>>(),
            "not_on_chip": off_chip.collect::<Vec<Value>>(),
            "baseline": baseline,
            "notes": self.notes,
        })
    }
}
