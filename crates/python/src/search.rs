//! Searches that can be ended by Ctrl-C and by a time limit.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tileheap_pack::{
    Answer, Goal, Packer, Packing, PackingStrategy, Problem, Progress, ProgressCallback, Steps, Strategy,
};

/// The interval at which a search checks for signals, which requires the interpreter's lock.
const PERIOD: Duration = Duration::from_millis(50);

/// Conditions that end a search before its budget does: an exception that a signal handler raised, or a time limit.
#[derive(Debug)]
pub(crate) struct Interrupts {
    deadline: Option<Instant>,
    last_check: Mutex<(Instant, Option<PyErr>)>,
}

impl Interrupts {
    pub(crate) fn new(seconds: Option<f64>) -> Interrupts {
        let now = Instant::now();
        let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Interrupts {
            deadline: limit.and_then(|limit| now.checked_add(limit)),
            last_check: Mutex::new((now, None)),
        }
    }

    /// Ends a search at the time limit, or once a signal handler has raised an exception; called by the search. Checks for signals every [`PERIOD`].
    pub(crate) fn check(&self) -> ControlFlow<()> {
        let now = Instant::now();
        let mut last_check = self
            .last_check
            .lock()
            .expect("no thread panics while it holds the lock");
        if self.deadline.is_some_and(|deadline| now >= deadline) || last_check.1.is_some() {
            return ControlFlow::Break(());
        }
        if now - last_check.0 >= PERIOD {
            last_check.0 = now;
            last_check.1 = Python::attach(|py| py.check_signals()).err();
        }
        ControlFlow::Continue(())
    }

    /// Returns the result of a search, or the exception that a signal handler raised.
    pub(crate) fn finish<T>(self, value: T) -> PyResult<T> {
        match self
            .last_check
            .into_inner()
            .expect("no thread panics while it holds the lock")
        {
            (_, Some(raised)) => Err(raised),
            _ => Ok(value),
        }
    }
}

/// A strategy whose searches end when [`Interrupts`] demands it; they ignore the caller's callback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interruptible<'a>(pub(crate) Strategy, pub(crate) &'a Interrupts);

impl PackingStrategy for Interruptible<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        self.0.pack_into(problem, packer, packing);
    }

    fn search_into(
        &self,
        problem: &Problem,
        search: (Goal, Steps),
        _: ProgressCallback<'_>,
        packer: &mut Packer,
        answer: &mut Answer,
    ) {
        let mut check = |_: Progress| self.1.check();
        self.0.search_into(problem, search, &mut check, packer, answer);
    }
}
