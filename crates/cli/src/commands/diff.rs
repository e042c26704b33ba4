//! `tileheap diff`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde_json::{Value, json};
use tileheap::plan::Plan;
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

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
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
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
    let output = Output::to(arguments.output.clone());
    if arguments.json {
        let document = document((&arguments.old, &old), (&arguments.new, &new));
        return output.write(&format!("{document:#}\n"));
    }
    let text = format!(
        "- {}\n+ {}\n\n{}",
        side(&arguments.old, &old),
        side(&arguments.new, &new),
        report(&old, &new)
    );
    output.write_report(&text)
}

/// The differences as JSON.
fn document(old: (&Path, &Value), new: (&Path, &Value)) -> Value {
    let side = |(path, plan): (&Path, &Value)| {
        json!({
            "plan": path.display().to_string(),
            "frame": plan["frame"],
            "base_extent": plan["base_extent"],
            "profile": plan["profile"]["name"],
            "tile_heap_bytes": tile_heap(plan).map(|size| size.0),
        })
    };
    let mut document = json!({
        "format": "tileheap-diff", "version": 1, "old": side(old), "new": side(new),
    });
    for (title, differences) in differences(old.1, new.1) {
        let is_resource = title == "Resources";
        let value = |text: Option<String>| match text.as_deref().map(str::parse::<u64>) {
            Some(Ok(number)) => Value::from(number),
            _ => Value::from(text),
        };
        let rows = differences.into_iter().map(|one| {
            let mut row = json!({ "name": one.name, "old": value(one.old), "new": value(one.new) });
            if is_resource {
                row["reason"] = Value::from(one.reason);
            }
            row
        });
        document[title.to_ascii_lowercase().replace(' ', "_")] = rows.collect();
    }
    document
}

/// The size of the tile heap of a plan's device.
fn tile_heap(plan: &Value) -> Option<Bytes> {
    let profile = DeviceProfile::from_json(&plan["profile"].to_string()).ok()?;
    profile.tile.map(|tile| tile.size)
}

/// The file, the frame, its base extent and the device of a plan.
fn side(path: &Path, plan: &Value) -> String {
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let heap = tile_heap(plan).map_or_else(String::new, |size| format!(", tile heap {size}"));
    let side = |index: usize| plan["base_extent"][index].as_u64().unwrap_or_default();
    let extent = format!("{} x {}", side(0), side(1));
    let (frame, profile) = (name(&plan["frame"]), name(&plan["profile"]["name"]));
    format!("{}: frame `{frame}`, {extent}, on {profile}{heap}", shown(path))
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
    for Difference {
        name,
        old,
        new,
        reason,
    } in differences
    {
        *report += &match (old, new) {
            (Some(before), Some(after)) => {
                format!("  ~ {name}: {before}\n    {:1$}  {after}\n", "", name.len())
            }
            (Some(before), None) => format!("  - {name}: {before}\n"),
            (None, Some(after)) => format!("  + {name}: {after}\n"),
            (None, None) => String::new(),
        };
        if let Some(reason) = reason {
            *report += &format!("    {:1$}  {reason}\n", "", name.len());
        }
    }
}
