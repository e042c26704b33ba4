//! `tileheap check-frame`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use tileheap::frame::Frame;
use tileheap_capture::check::check;
use tileheap_capture::check::finding::{Certainty, CheckReport};
use tileheap_capture::document::recording::Recording;
use tileheap_capture::document::{Capture, VERSION};

use crate::documents::{self, FrameCheck};
use crate::error::{Error, NEGATIVE_ANSWER, Result};
use crate::findings::{self, NOTHING_CHECKED};
use crate::input::{read_text, shown};
use crate::output::Output;
use crate::values::FailOn;

/// Check the synchronization recorded in a captured frame
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/check_frame.txt"))]
#[command(after_help = include_str!("help/check_frame.txt"))]
pub(crate) struct Arguments {
    /// A frame that `tileheap capture` wrote; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    frame: PathBuf,
    /// Also list violations of rules that no known implementation needs
    #[arg(long)]
    pedantic: bool,
    /// The lowest level of findings that makes the command fail
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "error")]
    fail_on: FailOn,
    /// Print JSON instead of a report
    #[arg(long)]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let text = read_text(&arguments.frame, "captured frame")?;
    let (frame, recording) = read(&text).map_err(|error| Error::of(shown(&arguments.frame), error))?;
    let report = check(&recording).map_err(|error| Error::of(shown(&arguments.frame), error))?;
    let failure = failure(&report, arguments.pedantic, arguments.fail_on);
    let output = Output::to(arguments.output.clone());
    if arguments.json {
        output.write(&documents::write(&FrameCheck { frame, report }))?;
    } else {
        output.write_report(&findings::text(&frame, &report, arguments.pedantic))?;
    }
    match failure {
        None => Ok(()),
        // The report states the reason.
        Some(_) if !arguments.json && arguments.output.is_none() => Err(Error::Exit(NEGATIVE_ANSWER)),
        Some(why) => Err(Error::negative(format!("{}: {why}", shown(&arguments.frame)))),
    }
}

/// The name and the recording of a captured frame.
///
/// # Errors
/// The problem, and what to do about it.
fn read(text: &str) -> Result<(String, Recording), String> {
    let frame = Frame::from_json(text).map_err(|error| error.to_string())?;
    let capture = Capture::from_json(text).map_err(|error| error.to_string())?;
    let none =
        "the frame was not captured and has no commands to check: pass a frame that `tileheap capture` wrote";
    let capture = capture.ok_or(none)?;
    if capture.version < VERSION {
        let earlier = "captured by an earlier version, which did not record individual commands: capture the frame again";
        return Err(earlier.to_owned());
    }
    Ok((frame.name().to_owned(), capture.recording))
}

/// Returns the reason why the command fails, for example because nothing was checked; `None` if it succeeds. Pedantic findings
/// count as warnings if `listed` is true.
fn failure(report: &CheckReport, listed: bool, fail_on: FailOn) -> Option<String> {
    if report.checked == 0 {
        return Some(NOTHING_CHECKED.to_owned());
    }
    let has = |verdict| findings::of_verdict(report, verdict).next().is_some();
    let warnings = has(Certainty::Possible) || (listed && has(Certainty::Pedantic));
    let fails = has(Certainty::Certain) || (fail_on == FailOn::Warning && warnings);
    findings::counts(report, listed).filter(|_| fails)
}

#[cfg(test)]
mod tests {
    use tileheap_capture::check::finding::{Finding, Overlap, Problem, ResourceUse};
    use tileheap_capture::document::recording::ResourcePart;

    use super::*;

    fn report(checked: u64, verdicts: &[Certainty]) -> CheckReport {
        let finding = |&verdict: &Certainty| Finding {
            verdict,
            problem: Problem::NeverWritten,
            first: None,
            second: ResourceUse::default(),
            overlap: Overlap::Resource(ResourcePart::Bytes(0, 4)),
            unknown: None,
            fix: None,
            section: String::new(),
            vuid: None,
            count: 1,
        };
        CheckReport {
            checked,
            findings: verdicts.iter().map(finding).collect(),
            ..CheckReport::default()
        }
    }

    #[test]
    fn only_findings_at_the_chosen_level_fail() {
        use Certainty::{Certain, Pedantic, Possible};
        let fails = |verdicts: &[Certainty], listed, fail_on| {
            failure(&report(9, verdicts), listed, fail_on).is_some()
        };
        for listed in [false, true] {
            for fail_on in [FailOn::Error, FailOn::Warning] {
                assert!(fails(&[Certain], listed, fail_on));
                assert!(!fails(&[], listed, fail_on));
                assert_eq!(fails(&[Possible], listed, fail_on), fail_on == FailOn::Warning);
                let pedantic_fails = listed && fail_on == FailOn::Warning;
                assert_eq!(fails(&[Pedantic], listed, fail_on), pedantic_fails);
            }
        }
    }

    #[test]
    fn a_frame_without_a_checked_access_fails() {
        let why = failure(&report(0, &[]), false, FailOn::Error);
        assert!(why.is_some_and(|why| why.starts_with("nothing was checked")));
    }

    #[test]
    fn the_reason_for_a_failure_counts_findings() {
        let verdicts = [
            Certainty::Certain,
            Certainty::Certain,
            Certainty::Pedantic,
            Certainty::Possible,
        ];
        let why = |listed| failure(&report(9, &verdicts), listed, FailOn::Error);
        assert_eq!(
            why(false).as_deref(),
            Some("2 certain findings, 1 possible finding")
        );
        let all = "2 certain findings, 1 pedantic finding, 1 possible finding";
        assert_eq!(why(true).as_deref(), Some(all));
    }
}
