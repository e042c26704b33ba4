//! `tileheap advise`.

use clap::Args;
use tileheap::plan::Plan;
use tileheap::plan::advise::Change;

use crate::documents::{self, SweepPoint};
use crate::error::Result;
use crate::frames::advice::{self, Advice, in_words, rule};
use crate::frames::plan::FrameArguments;
use crate::frames::sweep::sweep;
use crate::input::read_text;
use crate::output::Output;
use crate::progress::Progress;
use crate::values::{Sweep, percent};

/// Find changes that would keep more on chip
///
/// For every resource outside tile memory: the rule or limit that excludes it, and the changes that would bring it there, each
/// verified by planning again: a narrower format, a smaller extent, a shorter lifetime, fused batches. With --sweep, the share
/// on chip at many heap sizes or extents.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap advise frame.json
  tileheap advise frame.json --sweep heap=2MiB..24MiB
  tileheap advise frame.json --sweep size=640x360..2560x1440")]
pub(crate) struct Arguments {
    #[command(flatten)]
    frame: FrameArguments,
    /// Plan at many heap sizes or extents: heap=2MiB..24MiB, size=640x360..2560x1440
    #[arg(long, value_name = "RANGE")]
    sweep: Option<Sweep>,
    /// Print JSON instead of a report
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(range) = arguments.sweep {
        let swept = sweep(
            &arguments.frame,
            &read_text(&arguments.frame.frame, "frame")?,
            range,
        )?;
        let output = Output::stdout();
        return match arguments.json {
            true => output.write(&documents::write(&swept)),
            false => output.write_report(&bars(&swept.points)),
        };
    }
    let (_, plan) = arguments.frame.plan()?;
    let progress = Progress::new("searching for advice", 0);
    let found = Advice::of(&plan)?;
    drop(progress);
    if arguments.json {
        return Output::stdout().write(&format!("{:#}\n", advice::document(&plan, &found)));
    }
    let Advice {
        resources,
        fusions,
        merges,
    } = found;
    let mut report = headline(&plan);
    report += "\nNot in tile memory\n";
    if resources.is_empty() {
        report += "  no resource that a change could bring there\n";
    }
    for advice in &resources {
        let name = &plan.frame.resource(advice.resource).name;
        report += &format!("  {name}: {}\n", plan.reason_text(advice.resource));
        report += &format!("      rule: {}\n", rule(&plan, advice));
        for change in &advice.changes {
            let Change { kind, saves } = change;
            report += &format!(
                "      {}: saves {saves} per frame\n",
                in_words(&plan, advice.resource, *kind)
            );
        }
        if advice.changes.is_empty() {
            report += "      no single change brings it on chip\n";
        }
    }
    if !fusions.is_empty() {
        report += "\nBatches to fuse\n";
        for fusion in &fusions {
            let (first, last, saves) = (fusion.first.index(), fusion.last.index(), fusion.saves);
            let between = if last == first + 1 { "and" } else { "to" };
            report += &format!("  batches {first} {between} {last}: saves {saves} per frame\n");
        }
    }
    if !merges.is_empty() {
        report += "\nRender passes to merge, with reads at the fragment's own pixel\n";
        for merge in &merges {
            let pass = |index: usize| plan.described().passes()[index].name.as_str();
            let inside = merge
                .inside
                .iter()
                .map(|&id| plan.frame.resource(id).name.as_str());
            report += &format!(
                "  {} and {}: {} no longer need memory; frees {} of tile memory, saves {} per frame\n",
                pass(merge.first.index()),
                pass(merge.first.index() + 1),
                inside.collect::<Vec<_>>().join(", "),
                merge.frees,
                merge.saves
            );
        }
    }
    Output::stdout().write_report(&report)
}

fn headline(plan: &Plan) -> String {
    let (kept, eligible) = (plan.totals.on_chip_bytes, plan.totals.eligible_bytes);
    format!(
        "Frame `{}` on {}: {kept} of {eligible} of eligible traffic on chip ({})\n",
        plan.frame.name(),
        plan.profile.name,
        percent(kept.0, eligible.0)
    )
}

/// A bar for each point.
fn bars(points: &[SweepPoint]) -> String {
    const WIDTH: u64 = 50;
    let widest = points.iter().map(|point| point.at.len()).max().unwrap_or(0);
    let mut report = "Share of the eligible traffic kept on chip\n".to_owned();
    for point in points {
        let length = (u128::from(point.on_chip_bytes) * u128::from(WIDTH)
            / u128::from(point.eligible_bytes.max(1))) as usize;
        let note = if point.proved == Some(false) {
            "  not proved"
        } else {
            ""
        };
        report += &format!(
            "  {:>widest$}  {:>7}  {}{note}\n",
            point.at,
            percent(point.on_chip_bytes, point.eligible_bytes),
            "#".repeat(length),
        );
    }
    report
}
