//! `tileheap check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueHint};
use serde_json::Value;
use tileheap::Checked;
use tileheap::arrange::Arrangement;
use tileheap::execute::ExecutedFrame;
use tileheap::frame::{Frame, ResourceId};
use tileheap::lower::check::DeviceFacts;
use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
use tileheap::measure::estimate;
use tileheap::plan::{Plan, WindowRule};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use super::pack;
use crate::certificates;
use crate::documents;
use crate::error::{Error, Result};
use crate::frames::arrange::Limits;
use crate::frames::plan::{AssumedReach, frame_from, with_values};
use crate::input::{is_stdin, read_text, shown};
use crate::output::Output;
use crate::progress::Progress;
use crate::values::{counted, parse_extent};

/// Validate a plan or a certificate
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/check.txt"))]
#[command(after_help = include_str!("help/check.txt"))]
pub(crate) struct Arguments {
    /// The frame as JSON, or the table of a certificate; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    frame: PathBuf,
    /// The plan of the frame, as `tileheap plan --json` writes it, or the certificate of the table, as `tileheap pack --certificate` writes it; - for
    /// standard input
    #[arg(value_hint = ValueHint::FilePath)]
    plan: PathBuf,
    /// The base extent at which the frame was planned [default: the frame's own]
    #[arg(long, value_name = "WxH", value_parser = parse_extent)]
    size: Option<(u32, u32)>,
    #[command(flatten)]
    assumed: AssumedReach,
    /// The arrangement of the planned frame [default: the one that the plan was saved with]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    arrangement: Option<PathBuf>,
    /// Repeat the search that arranged the planned frame, with the plan's device and options
    #[arg(long, conflicts_with = "arrangement")]
    best: bool,
    #[command(flatten, next_help_heading = "Arrangements")]
    limits: Limits,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if is_stdin(&arguments.frame) && is_stdin(&arguments.plan) {
        return Err(Error::usage(
            "frame and plan cannot both come from standard input: give one as a file",
        ));
    }
    arguments.limits.require(arguments.best)?;
    let text = read_text(&arguments.frame, "frame")?;
    let plan_text = read_text(&arguments.plan, "plan")?;
    for (path, text) in [(&arguments.frame, &text), (&arguments.plan, &plan_text)] {
        documents::refuse_tensor_plan(path, text)?;
    }
    if certificates::is_certificate(&plan_text) {
        let (table, problem) = pack::read(&arguments.frame, &text, None)?;
        let valid = certificates::check(&arguments.plan, &plan_text, &table, &problem)?;
        return Output::stdout().write(&valid);
    }
    let mut imported = frame_from(&arguments.frame, &text, arguments.size)?;
    arguments.assumed.apply(&arguments.frame, &mut imported)?;
    let executed = executed(arguments, &imported.frame, &plan_text)?;
    let frame = executed.frame();
    let plan = Plan::from_json(&executed, &plan_text).map_err(|error| {
        // A text that is a plan, but not of this frame, is a negative answer.
        match Plan::check_json(&plan_text) {
            Ok(()) => Error::Verdict(format!("{}: {error}", shown(&arguments.plan))),
            Err(error) => Error::of(shown(&arguments.plan), error),
        }
    })?;
    let progress = Progress::new("checking", 0);
    let plan = plan.clone().checked().map_err(|first| {
        let more = match plan.violations().len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        invalid(&arguments.plan, format!("{first}{more}"))
    })?;
    drop(progress);
    let barriers = barriers(&plan).map_err(|error| invalid(&arguments.plan, error.to_string()))?;
    Output::stdout().write(&format!(
        "valid: frame `{}` on {}, {}, {}, {}\n",
        frame.name(),
        plan.profile.name,
        counted(plan.passes.len() as u64, "pass"),
        counted(plan.resources.len() as u64, "resource"),
        counted(barriers as u64, "barrier"),
    ))?;
    Output::stdout().write_report(&other_sizes(&plan))
}

/// The maximum number of resources in the note of [`other_sizes`].
const MAX_OTHER_SIZES: usize = 4;

/// A note about resources whose size in the plan is not the estimate for its profile; empty if there are none. In plans of earlier versions, which do not
/// contain the descriptions of resources, this is how a changed description shows if its contents still fit.
fn other_sizes(plan: &Plan) -> String {
    // Other sizes are always raw.
    if plan.options.windows == WindowRule::WholeFrame {
        return String::new();
    }
    let Ok(estimates) = estimate(&plan.frame, &plan.profile) else {
        return String::new();
    };
    let sizes = plan.requirements.resources.iter().zip(&estimates.resources);
    let named = plan.frame.resources().iter().zip(sizes);
    let others: Vec<String> = named
        .filter_map(|(resource, (planned, estimated))| {
            let (planned, estimated) = match (planned.tile, estimated.tile) {
                (Some(planned), Some(estimated)) if planned.size != estimated.size => {
                    (planned.size, estimated.size)
                }
                _ => (planned.size, estimated.size),
            };
            let is_other = planned != Bytes::ZERO && planned != estimated;
            is_other.then(|| format!("`{}` {planned} instead of {estimated}", resource.name))
        })
        .collect();
    if others.is_empty() {
        return String::new();
    }
    let more = match others.len().saturating_sub(MAX_OTHER_SIZES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let listed = others[..others.len().min(MAX_OTHER_SIZES)].join(", ");
    format!(
        "note: the plan does not have the sizes that are estimated for {}: {listed}{more}; a driver reported other sizes, or the frame has changed\n",
        plan.profile.name
    )
}

fn invalid(plan: &Path, why: String) -> Error {
    let plan = shown(plan);
    Error::Verdict(format!(
        "{plan}: the plan is invalid: {why}: plan the frame again"
    ))
}

/// Returns the frame as it was planned: resources are split into the values that the plan names, and the arrangement is applied.
fn executed(arguments: &Arguments, frame: &Frame, text: &str) -> Result<ExecutedFrame> {
    let plan: Value = serde_json::from_str(text).unwrap_or_default();
    let named: Vec<&str> = plan["resources"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|resource| resource["name"].as_str())
        .collect();
    let itself = ExecutedFrame::as_described(frame);
    let Ok(profile) = DeviceProfile::from_json(&plan["profile"].to_string()) else {
        return arranged(arguments, itself, text);
    };
    let values = with_values(frame, &profile)?;
    // A resource that was pinned to tile memory or excluded from it was planned whole.
    let is_divided = |id: ResourceId| {
        let parts = values.frame().resource_ids().filter(|&part| {
            let origin = values.origins().resource(part);
            origin.resource == id && origin.value.is_some()
        });
        let mut parts = parts.peekable();
        parts.peek().is_some()
            && parts.all(|part| named.contains(&values.frame().resource(part).name.as_str()))
    };
    arranged(arguments, itself.separate_values_of(is_divided)?, text)
}

/// Applies the arrangement in which the frame was planned: found by a search for `--best`, given with `--arrangement`, or saved with the plan. Without any of
/// these, returns the frame unchanged.
fn arranged(arguments: &Arguments, executed: ExecutedFrame, text: &str) -> Result<ExecutedFrame> {
    let plan: Value = serde_json::from_str(text).unwrap_or_default();
    let frame = executed.frame();
    if arguments.best {
        let spoilt = |error: String| Error::of(shown(&arguments.plan), error);
        let profile = DeviceProfile::from_json(&plan["profile"].to_string());
        let profile = Arc::new(profile.map_err(|error| spoilt(error.to_string()))?);
        let options = serde_json::from_value(plan["options"].clone());
        let options = options.map_err(|error| spoilt(format!("`options`: {error}")))?;
        let described = tileheap::plan::plan(
            &executed,
            &Arc::new(estimate(frame, &profile)?),
            &profile,
            &options,
        )?;
        let found = arguments
            .limits
            .search(&described, &arguments.limits.kinds(), &[]);
        return Ok(found.arrangement.apply(&executed)?);
    }
    let (path, text) = match &arguments.arrangement {
        Some(path) => (path, read_text(path, "arrangement")?),
        None => match &plan["arrangement"]["arrangement"] {
            Value::Null => return Ok(executed),
            arrangement => (&arguments.plan, arrangement.to_string()),
        },
    };
    Arrangement::from_json_lossy(&text, frame).map_err(|error| Error::of(shown(path), error))?;
    let arrangement = Arrangement::from_json(&text, frame).map_err(|error| {
        Error::of(
            shown(path),
            format!("the arrangement does not fit the frame: {error}"),
        )
    })?;
    Ok(arrangement.apply(&executed)?)
}

/// Lowers a plan for its first two frames, once with a device queue for each declared queue and once with a single device queue, and checks the tables.
/// Returns the number of barriers of a frame on the single queue; 0 for plans with the whole frame as one window, which are only for comparison.
fn barriers(plan: &Checked<Plan>) -> tileheap::Result<usize> {
    if plan.options.windows == WindowRule::WholeFrame {
        return Ok(0);
    }
    let frame = &plan.frame;
    let mut barriers = 0;
    for queues in [
        DeviceQueues::separate_families(frame),
        DeviceQueues::single_queue(frame),
    ] {
        let device = DeviceFacts::declared(&plan.profile, &plan.requirements, frame, &queues);
        let mut lowering_desc = LoweringDesc::first(queues);
        for _ in 0..2 {
            let tables = lower(plan, &lowering_desc)?
                .into_inner()
                .check(frame, &lowering_desc, &device)?;
            barriers =
                tables.image_barriers.len() + tables.buffer_barriers.len() + tables.memory_barriers.len();
            lowering_desc = lowering_desc.after(&tables);
        }
    }
    Ok(barriers)
}
