//! The `tileheap` command: describes devices, plans frames, tensors and texture caches, and checks, compares and draws the
//! plans.
//!
//! ```text
//! commands ──► frames, networks, caches ──► documents ──► report
//!   options      plan                       JSON          charts, HTML, SVG, PNG
//! ```
//! Results go to standard output, errors as one line to standard error. Exit status: 0 success, 1 failure, 2 invalid command
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
use error::Error;

fn main() -> ExitCode {
    // By default, clap colors a dumb terminal if `CI` is set.
    let color = if output::is_color_unwanted() {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    let matches = CommandLine::command().color(color).try_get_matches();
    let parsed = matches.and_then(|matches| CommandLine::from_arg_matches(&matches));
    match parsed.map(CommandLine::run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => error.report(),
        Err(usage) => Error::report_usage(&usage),
    }
}
