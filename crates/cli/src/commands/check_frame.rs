//! `tileheap check-frame`.

use std::fmt::Display;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use tileheap::frame::Frame;
use tileheap_capture::check::check;
use tileheap_capture::document::Capture;

use crate::error::{Error, Result};
use crate::input::{read_text, shown};
use crate::output::Output;

/// Check a captured frame's own synchronization
///
/// Replays the barriers, events, semaphores and layouts that the program recorded over the frame's accesses, and names every access that
/// they do not order behind an earlier one of the same bytes, to which they do not make its writes visible, or that finds an image in
/// another layout. Work before the frame counts as waited for. Buffers are judged whole: their uses may be of different bytes, and are
/// listed apart.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 3 if an access is not covered, other than those of buffers.

Example:
  tileheap capture -- ./game && tileheap check-frame tileheap-capture/frame-2.json")]
pub(crate) struct Arguments {
    /// A frame that `tileheap capture` wrote; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    frame: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.frame;
    let text = read_text(path, "captured frame")?;
    let named = |error: &dyn Display| Error::of(shown(path), error);
    let frame = Frame::from_json(&text).map_err(|error| named(&error))?;
    let capture = Capture::from_json(&text).map_err(|error| named(&error))?;
    let none = "the frame has no recorded synchronization: give one that `tileheap capture` wrote";
    let findings = check(&frame, &capture.ok_or_else(|| named(&none))?).map_err(|error| named(&error))?;
    let (sure, perhaps): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding.certain);
    let (passes, accesses) = (frame.passes().len(), frame.accesses().len());
    let mut report = format!("Frame `{}`: {passes} passes, {accesses} accesses\n", frame.name());
    if findings.is_empty() {
        report += "  the program's synchronization covers every access\n";
    }
    for (title, list) in [
        ("Not covered by the program's synchronization", &sure),
        (
            "Not covered if these uses of a buffer are of the same bytes",
            &perhaps,
        ),
    ] {
        report += &if list.is_empty() {
            String::new()
        } else {
            format!("\n{title}\n")
        };
        list.iter()
            .for_each(|finding| report += &format!("  {}\n", finding.message));
    }
    Output::stdout().write_report(&report)?;
    match sure.is_empty() {
        true => Ok(()),
        false => Err(Error::Exit(3)),
    }
}
