//! `tileheap advise`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use tileheap::plan::Plan;

use crate::documents::{self, SweepPoint};
use crate::error::Result;
use crate::frames::advice::{self, Advice};
use crate::frames::arrange::{ArrangeOptions, DescribedPlan, changes, figures, traffic_kept};
use crate::frames::limits::limits_in_words;
use crate::frames::plan::FrameArguments;
use crate::frames::sweep::sweep;
use crate::input::read_text;
use crate::output::Output;
use crate::progress::Progress;
use crate::values::{Sweep, percent, share};

/// Find changes that would keep more on chip
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/advise.txt"))]
#[command(after_help = include_str!("help/advise.txt"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// Sweep a range of heap sizes (heap=2MiB..24MiB), of extents (size=640x360..2560x1440), or of costs of repeating a pass (repeat=0..6MB)
    #[arg(long, value_name = "RANGE")]
    sweep: Option<Sweep>,
    /// Print JSON instead of a report
    #[arg(long)]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Arrangements")]
    arrange: ArrangeOptions,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(range) = arguments.sweep {
        let swept = sweep(
            &arguments.frame,
            &read_text(&arguments.frame.frame, "frame")?,
            range,
            &arguments.arrange.limits,
        )?;
        let output = Output::to(arguments.output.clone());
        return match arguments.json {
            true => output.write(&documents::write(&swept)),
            false => output.write_report(&bars(&swept.points)),
        };
    }
    let arrange = &arguments.arrange;
    let (imported, described) = arguments.frame.plan()?;
    let arranged = arrange.arrange(&arguments.frame.options, &imported, &described)?;
    let plan = arranged.as_ref().map_or(&described, |arranged| &arranged.plan);
    let progress = Progress::new("searching for advice", 0);
    let from = DescribedPlan {
        options: &arguments.frame.options,
        imported: &imported,
        plan: &described,
    };
    let found = Advice::of(from, plan, &arrange.limits)?;
    drop(progress);
    if arguments.json {
        let mut document = advice::document(&described, plan, &found);
        if let Some(arranged) = &arranged {
            document["arrangement"] = arranged.document();
        }
        return Output::to(arguments.output.clone()).write(&format!("{document:#}\n"));
    }
    let mut report = headline(&described);
    write_combinations(&mut report, &described, &found);
    let limits = limits_in_words(&described, &found.as_described);
    if !limits.is_empty() {
        report += &format!("\n{limits}");
    }
    if let Some(arranged) = &arranged {
        report += &format!("\n{}", arranged.text());
    }
    report += "\nNot in tile memory\n";
    if found.kept_out.is_empty() {
        report += "  no change would place another resource in tile memory\n";
    }
    for &(id, rule) in &found.kept_out {
        let name = &plan.frame.resource(id).name;
        report += &format!("  {name}: {}\n      rule: {rule}\n", plan.reason_text(id));
    }
    Output::to(arguments.output.clone()).write_report(&report)
}

/// Writes the best combinations of changes, each with its savings, its costs, and the changes to the program.
fn write_combinations(report: &mut String, plan: &Plan, found: &Advice<'_>) {
    let frame = plan.input.frame();
    *report += "\nCombinations of changes, best first\n";
    if found.combinations.is_empty() {
        *report += "  no change keeps more on chip\n";
    }
    for (number, one) in (1..).zip(&found.combinations) {
        *report += &format!(
            "  {number}. {}: {} {}, {}\n",
            one.kinds.join(", "),
            share(one.planned.found.traffic.share()),
            traffic_kept(&one.planned.found.arrangement),
            figures(&one.planned.found)
        );
        for change in changes(frame, &one.planned.found.arrangement, &one.planned.arranged) {
            *report += &format!("      {change}\n");
        }
    }
    // With --assume-reach, every pass declares it.
    if frame.passes().iter().all(|pass| pass.repeat_bytes.is_none()) {
        *report += NOTHING_DECLARED;
    }
}

const NOTHING_DECLARED: &str = "  no pass is declared to run in strips: give passes `repeat_bytes` and their reads a `reach` \
    (`PassBuilder::in_strips`, `reaching`), or assume both with --assume-reach\n";

fn headline(plan: &Plan) -> String {
    let (kept, all) = (plan.totals.on_chip_bytes, plan.totals.traffic_bytes);
    format!(
        "Frame `{}` on {}: {kept} of {all} of traffic on chip ({})\n",
        plan.frame.name(),
        plan.profile.name,
        percent(kept.0, all.0)
    )
}

fn bars(points: &[SweepPoint]) -> String {
    const WIDTH: u64 = 50;
    let widest = points.iter().map(|point| point.at.len()).max().unwrap_or(0);
    let mut report = "Share of the traffic kept on chip\n".to_owned();
    for point in points {
        let length = (u128::from(point.on_chip_bytes) * u128::from(WIDTH)
            / u128::from(point.traffic_bytes.max(1))) as usize;
        let note = if point.proved == Some(false) {
            "  not proved"
        } else {
            ""
        };
        report += &format!(
            "  {:>widest$}  {:>7}  {}{note}\n",
            point.at,
            percent(point.on_chip_bytes, point.traffic_bytes),
            "#".repeat(length),
        );
    }
    report
}
