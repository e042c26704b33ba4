//! The `tileheap` command: what this machine offers, what the plan of a frame looks like, whether a plan is right.
//!
//! Results go to standard output, errors as one line to standard error. Exit status: 0 done, 1 it could not be done, 2
//! the command line (or a table to pack) was wrong, 3 a budget of steps ended before an answer.
#![forbid(unsafe_code)]

mod advise;
mod arguments;
mod check;
mod device;
mod diff;
mod documents;
mod failure;
mod gate;
mod input;
mod output;
mod pack;
mod plan;
mod profile;
mod progress;
mod replay;
mod report;
mod sweep;
mod table;
mod tensors;

use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use arguments::{Arguments, Command};
use failure::Failure;
use output::Output;

fn main() -> ExitCode {
    // clap alone would colour a dumb terminal where `CI` is set.
    let colour = if output::unwanted_colours() {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    let matches = Arguments::command().color(colour).try_get_matches();
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(&error),
    };
    match run(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Device(arguments) => device::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Gate(arguments) => gate::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Profile(arguments) => profile::run(&arguments),
        Command::Pack(arguments) => pack::run(&arguments),
        Command::Tensors(arguments) => tensors::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Trace(arguments) => replay::generate(&arguments),
        Command::Completions { shell } => completions(shell),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    // Into memory first: the generator panics where a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "tileheap", &mut script);
    Output::stdout().write(&String::from_utf8_lossy(&script))
}
