//! `tileheap diff`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde_json::Value;
use tileheap::plan::Plan;
use tileheap::profile::DeviceProfile;

use crate::error::{Error, Result};
use crate::frames::diff::{Difference, differences};
use crate::input::{is_stdin, read_text, shown};
use crate::output::Output;

/// Show the differences between two plans
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/diff.txt"))]
#[command(after_help = include_str!("help/diff.txt"))]
pub(crate) struct Arguments {
    /// A plan, as `tileheap plan --json` writes it; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    old: PathBuf,
    /// The other plan
    #[arg(value_hint = ValueHint::FilePath)]
    new: PathBuf,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if is_stdin(&arguments.old) && is_stdin(&arguments.new) {
        return Err(Error::usage(
            "both plans cannot come from standard input: give one as a file",
        ));
    }
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    let text = format!(
        "- {}\n+ {}\n\n{}",
        side(&arguments.old, &old),
        side(&arguments.new, &new),
        report(&old, &new)
    );
    Output::to(arguments.output.clone()).write_report(&text)
}

/// The file, the frame and the device of a plan.
fn side(path: &Path, plan: &Value) -> String {
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let profile = DeviceProfile::from_json(&plan["profile"].to_string()).ok();
    let heap = profile.and_then(|profile| profile.tile);
    let heap = heap.map_or_else(String::new, |tile| format!(", tile heap {}", tile.size));
    let (frame, profile) = (name(&plan["frame"]), name(&plan["profile"]["name"]));
    format!("{}: frame `{frame}` on {profile}{heap}", shown(path))
}

/// A plan as JSON, validated without its frame.
fn read(path: &Path) -> Result<Value> {
    let text = read_text(path, "plan")?;
    Plan::check_json(&text).map_err(|error| Error::of(shown(path), error))?;
    Ok(serde_json::from_str(&text).expect("text that was accepted as a plan is valid JSON"))
}

/// Describes the differences between two plans as text.
fn report(old: &Value, new: &Value) -> String {
    let mut report = String::new();
    for (title, differences) in differences(old, new) {
        section(&mut report, title, &differences);
    }
    if report.is_empty() {
        report = "The plans are equal: same placements, bindings and totals.\n".to_owned();
    }
    report
}

fn section(report: &mut String, title: &str, differences: &[Difference]) {
    if differences.is_empty() {
        return;
    }
    if !report.is_empty() {
        report.push('\n');
    }
    *report += &format!("{title}\n");
    for Difference { name, old, new } in differences {
        *report += &match (old, new) {
            (Some(before), Some(after)) => {
                format!("  ~ {name}: {before}\n    {:1$}  {after}\n", "", name.len())
            }
            (Some(before), None) => format!("  - {name}: {before}\n"),
            (None, Some(after)) => format!("  + {name}: {after}\n"),
            (None, None) => String::new(),
        };
    }
}
