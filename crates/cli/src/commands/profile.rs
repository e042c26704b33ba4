//! `tileheap profile`.

use clap::Args;

use crate::error::Result;
use crate::frames::profile;
use crate::output::Output;

/// Print a device profile: heaps, memory types, tile heap, limits
///
/// Named profiles: adreno-830 (read from a device), adreno-840 and x2-85 (scaled from it), validation-icd, hostile and generous
/// (invented for tests), no-tile-memory (a desktop). Edit the JSON form to describe another device.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap profile adreno-830
  tileheap profile adreno-830 --json > phone.json      edit it, then: tileheap plan frame.json --profile phone.json")]
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
    Output::stdout().write_report(&profile::text(&profile))
}
