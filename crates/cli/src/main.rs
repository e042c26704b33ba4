//! The `tileheap` command: describes devices, plans frames, tensors and texture caches, and checks, compares and draws the
//! plans.
//!
//! ```text
//! commands ──► frames, networks, caches ──► documents ──► report
//!   options      plan                       JSON          charts, HTML, SVG, PNG
//! ```
//! Results and verdicts go to standard output, errors as one line to standard error. Exit status: 0 success, 1 failure, 2 invalid command
//! line, 3 a negative answer ([`error::NEGATIVE_ANSWER`]), 4 no answer within a budget.
#![forbid(unsafe_code)]

mod caches;
mod captured;
mod certificates;
mod commands;
mod documents;
mod error;
mod findings;
mod frames;
mod input;
mod interrupt;
mod layers;
mod networks;
mod output;
mod pools;
mod progress;
mod report;
mod table;
mod values;

use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use commands::CommandLine;
use error::{Error, NEGATIVE_ANSWER};
use output::Output;

fn main() -> ExitCode {
    // By default, clap colors a dumb terminal if `CI` is set.
    let color = if output::is_color_unwanted() {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    let matches = CommandLine::command().color(color).try_get_matches();
    let parsed = matches.and_then(|matches| CommandLine::from_arg_matches(&matches));
    let result = parsed.map(CommandLine::run);
    if interrupt::is_interrupted() {
        error::print("interrupted by Ctrl-C: the result is the best found until then");
    }
    match result {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(Error::Verdict(verdict))) => match Output::stdout().write_report(&format!("{verdict}\n")) {
            Ok(()) => ExitCode::from(NEGATIVE_ANSWER),
            Err(error) => error.report(),
        },
        Ok(Err(error)) => error.report(),
        Err(usage) => Error::report_usage(&usage),
    }
}
