//! How far a run is: a bar on standard error, on terminals only, gone when the run is over.

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// A bar of so many steps.
pub fn bar(what: &'static str, length: u64) -> ProgressBar {
    let form = "{msg} {bar:30} {pos} of {len}, {elapsed}";
    ProgressBar::new(length)
        .with_style(ProgressStyle::with_template(form).expect("a sound template"))
        .with_finish(ProgressFinish::AndClear)
        .with_message(what)
}
