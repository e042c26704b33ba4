//! `tileheap plan`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use tileheap::Checked;
use tileheap::frame::import::ImportedFrame;
use tileheap::lower::{DeviceQueues, FamilyQueue, Lowered, LoweringDesc, aliasing, lower};
use tileheap::plan::{Ladder, OffChipReason, PlacementReason, Plan};

use crate::error::Result;
use crate::frames::advice;
use crate::frames::arrange::{ArrangeOptions, ArrangedPlan, DescribedPlan};
use crate::frames::plan::{FrameArguments, Sizes};
use crate::output::Output;
use crate::progress::Progress;

/// Plan a frame: the placement of every resource, and why
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/plan.txt"))]
#[command(after_help = include_str!("help/plan.txt"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// Print JSON instead of a report
    #[arg(long)]
    json: bool,
    /// With --json: also search for changes that would keep more on chip, and store them with the plan for reports
    #[arg(long, requires = "json")]
    advice: bool,
    /// Print the frame as it is executed: images, memory, barriers, render passes, semaphores
    #[arg(long, conflicts_with = "advice", group = "tables")]
    lowered: bool,
    /// Print the previous users of each placement's bytes, for engines that track layouts and barriers themselves; --ladder is off by default, and
    /// other values and --split are errors
    #[arg(long, conflicts_with = "advice", group = "tables")]
    aliasing: bool,
    /// With --lowered or --aliasing: the device queue of each declared queue, in order of declaration, as FAMILY.QUEUE, separated by commas; by default each has its own family
    #[arg(long, value_name = "QUEUES", requires = "tables", value_delimiter = ',', value_parser = parse_queue)]
    queues: Vec<FamilyQueue>,
    /// With --lowered: the frame to print, counted from 1; early frames also clear history resources; from the third on, every second frame is the
    /// same
    #[arg(long, value_name = "N", requires = "lowered", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    frame_number: u32,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Arrangements")]
    arrange: ArrangeOptions,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    arguments.arrange.require_search()?;
    let mut frame = arguments.frame.clone();
    if arguments.aliasing {
        frame.options.ladder.get_or_insert(Ladder::Off);
    }
    let (imported, described) = frame.plan()?;
    let arranged = arguments.arrange.arrange(&frame.options, &imported, &described)?;
    let plan = arranged.as_ref().map_or(&described, |arranged| &arranged.plan);
    let output = Output::to(arguments.output.clone());
    if arguments.lowered {
        let (lowered, lowering_desc) = lowered(arguments, plan)?;
        return if arguments.json {
            output.write(&lowered.to_json(&plan.frame, &lowering_desc))
        } else {
            output.write_report(&lowered.text(&plan.frame))
        };
    }
    if arguments.aliasing {
        let aliasing = aliasing(plan, &device_queues(arguments, plan))?;
        return if arguments.json {
            output.write(&aliasing.to_json(&plan.frame))
        } else {
            output.write_report(&aliasing.text(&plan.frame))
        };
    }
    if arguments.json {
        if !arguments.advice && arranged.is_none() {
            return output.write(&plan.to_json());
        }
        let progress = Progress::new("searching for advice", 0);
        let limits = arguments.advice.then_some(&arguments.arrange.limits);
        let from = DescribedPlan {
            options: &frame.options,
            imported: &imported,
            plan: &described,
        };
        let document = advice::with_advice(from, arranged.as_ref(), limits)?;
        drop(progress);
        return output.write(&format!("{document:#}\n"));
    }
    let mut report = arranged.as_ref().map_or_else(String::new, ArrangedPlan::text);
    report += &plan.to_string();
    let ignored = arguments.frame.options.ignored_rules(&imported.frame)?;
    append_list(&mut report, "Rules that the frame breaks on the device", &ignored);
    append_list(&mut report, "Guessed or ignored in the file", &imported.notes);
    if arguments.frame.options.sizes == Sizes::Profile {
        append_list(
            &mut report,
            "Eligibility in the file that contradicts the rules",
            &wrong_claims(&imported, &described),
        );
    }
    output.write_report(&report)
}

/// The device queue of each declared queue.
fn device_queues(arguments: &Arguments, plan: &Plan) -> DeviceQueues {
    match arguments.queues[..] {
        [] => DeviceQueues::separate_families(&plan.frame),
        ref queues => DeviceQueues::new(queues),
    }
}

/// The tables of the frame that --frame-number selects. The frames before it are lowered first, each for the state that the previous one leaves.
fn lowered(arguments: &Arguments, plan: &Checked<Plan>) -> Result<(Checked<Lowered>, LoweringDesc)> {
    let mut lowering_desc = LoweringDesc::first(device_queues(arguments, plan));
    let mut lowered = lower(plan, &lowering_desc)?;
    for _ in 1..arguments.frame_number {
        lowering_desc = lowering_desc.after(&lowered);
        lowered = lower(plan, &lowering_desc)?;
    }
    Ok((lowered, lowering_desc))
}

/// Parses a device queue: `1.0` is queue 0 of family 1.
fn parse_queue(text: &str) -> Result<FamilyQueue, String> {
    let parse = |digits: &str| digits.parse().ok();
    let parts = text
        .split_once('.')
        .and_then(|(family, index)| Some((parse(family)?, parse(index)?)));
    let (family, index) = parts.ok_or("expected FAMILY.QUEUE, such as 0.0 for queue 0 of family 0")?;
    Ok(FamilyQueue { family, index })
}

pub(super) fn append_list(report: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    *report += &format!("\n{title}\n");
    for line in lines {
        *report += &format!("  {line}\n");
    }
}

/// Describes the resources whose `tile_eligible` in the file contradicts the rules.
fn wrong_claims(imported: &ImportedFrame, plan: &Plan) -> Vec<String> {
    let frame = &imported.frame;
    let claims = frame.resource_ids().zip(frame.resources()).zip(&imported.claims);
    let wrong = claims.filter_map(|((id, resource), claim)| {
        let eligible = is_eligible(plan.resources[id.index()].reason)?;
        let claim = (*claim)?;
        let why = plan.reason_text(id);
        match (claim, eligible) {
            (true, false) => Some(format!(
                "`{}` is declared eligible, but is not: {why}",
                resource.name
            )),
            (false, true) => Some(format!(
                "`{}` is declared not eligible, but the rules allow it",
                resource.name
            )),
            _ => None,
        }
    });
    wrong.collect()
}

/// Returns true if the rules allow a resource in tile memory; `None` if they were not evaluated.
pub(super) fn is_eligible(reason: PlacementReason) -> Option<bool> {
    let why = match reason {
        // Better than tile memory: inside one render pass.
        PlacementReason::Unused | PlacementReason::Lazy { .. } => return None,
        PlacementReason::Tile { .. } => return Some(true),
        PlacementReason::External => return Some(false),
        PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => why,
    };
    match why {
        OffChipReason::NoTileHeap | OffChipReason::OnePass { .. } | OffChipReason::Stored { .. } => None,
        OffChipReason::TooLarge { .. }
        | OffChipReason::Excluded { .. }
        | OffChipReason::NoRoom { .. }
        | OffChipReason::CostExceedsSavings { .. } => Some(true),
        _ => Some(false),
    }
}
