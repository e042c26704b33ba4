//! A progress bar on standard error, only on terminals; it disappears at the end of the run.

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// A progress bar of `length` steps with the label `what`.
pub fn bar(what: &'static str, length: u64) -> ProgressBar {
    let form = "{msg} {bar:30} {pos} of {len}, {elapsed}";
    ProgressBar::new(length)
        .with_style(ProgressStyle::with_template(form).expect("a sound template"))
        .with_finish(ProgressFinish::AndClear)
        .with_message(what)
}
