//! `tileheap profile`.

use clap::Args;

use crate::error::Result;
use crate::frames::profile;
use crate::output::Output;

/// Print a device profile: heaps, memory types, tile heap, limits
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/profile.txt"))]
#[command(after_help = include_str!("help/profile.txt"))]
pub(crate) struct Arguments {
    /// A name, or a profile as JSON; - for standard input
    #[arg(value_name = "NAME|FILE")]
    profile: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let profile = profile::read(&arguments.profile)?;
    if arguments.json {
        return Output::stdout().write(&profile.to_json());
    }
    Output::stdout().write_report(&profile::text(&profile)?)
}
