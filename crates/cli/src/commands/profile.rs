//! `tileheap profile`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::error::Result;
use crate::frames::profile;
use crate::output::Output;

/// Print a device profile: heaps, memory types, tile heap, limits
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/profile.txt"))]
#[command(after_help = include_str!("help/profile.txt"))]
pub(crate) struct Arguments {
    /// A name, or a profile as JSON; - for standard input
    #[arg(value_name = "NAME|FILE", hide_possible_values = true, value_parser = profile::NameOrFile)]
    profile: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let profile = profile::read(&arguments.profile)?;
    if arguments.json {
        return Output::to(arguments.output.clone()).write(&profile.to_json());
    }
    Output::to(arguments.output.clone()).write_report(&profile::text(&profile)?)
}
