//! Progress of operations that take more than a second: on standard error if it is a terminal, cleared at the end.

use std::borrow::Cow;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time after which progress is shown.
const DELAY: Duration = Duration::from_secs(1);

/// A line that names the operation, with a bar if its length is known.
pub(crate) struct Progress {
    bar: ProgressBar,
    over: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Creates a progress line for `length` units of work; 0 if the length is unknown.
    pub(crate) fn new(what: &'static str, length: u64) -> Progress {
        // indicatif draws on terminals only, and without colors for `NO_COLOR`.
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        let form = if length == 0 {
            "{spinner} {msg}, {elapsed}"
        } else {
            "{msg} {bar:30} {percent:>3} %, {elapsed}"
        };
        bar.set_style(ProgressStyle::with_template(form).expect("every progress template is valid"));
        bar.set_message(what);
        let (over, done) = channel();
        let shown = bar.clone();
        let waits = std::thread::spawn(move || {
            // A disconnected channel also means the end.
            if done.recv_timeout(DELAY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(120));
            }
        });
        Progress {
            bar,
            over: Some((over, waits)),
        }
    }

    /// Sets the number of completed units of work.
    pub(crate) fn set_position(&self, position: u64) {
        self.bar.set_position(position);
    }

    /// Names the operation in progress.
    pub(crate) fn set_message(&self, what: impl Into<Cow<'static, str>>) {
        self.bar.set_message(what);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((over, waits)) = self.over.take() {
            drop(over);
            // The thread holds only the bar.
            let _ = waits.join();
        }
        self.bar.finish_and_clear();
    }
}
