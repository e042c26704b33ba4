//! `tileheap check`: a frame and its plan in, a verdict out.

use tileheap::plan::Plan;

use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::input::{read_text, shown};
use crate::output::Output;
use crate::plan::read_frame;
use crate::progress::Progress;

pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    if arguments.frame == arguments.plan && arguments.frame.as_os_str() == "-" {
        return Err(Failure::new(
            "frame and plan cannot both come from standard input: give one as a file",
        ));
    }
    let frame = read_frame(&arguments.frame, arguments.size)?.frame;
    let text = read_text(&arguments.plan, "plan")?;
    let plan = Plan::from_json(&frame, &text).map_err(|error| Failure::of(shown(&arguments.plan), error))?;
    let progress = Progress::new("checking", 0);
    let faults = plan.faults();
    drop(progress);
    if let Some(first) = faults.first() {
        let more = match faults.len() {
            1 => String::new(),
            many => format!(" (and {} more)", many - 1),
        };
        return Err(Failure::of(
            format!("{}: the plan is wrong", shown(&arguments.plan)),
            format!("{first}{more}: plan it anew"),
        ));
    }
    Output::stdout().write(&format!(
        "right: frame `{}` on {}, {} passes, {} resources, {} barriers\n",
        frame.name(),
        plan.profile.name,
        plan.passes.len(),
        plan.resources.len(),
        plan.barriers.len()
    ))
}
