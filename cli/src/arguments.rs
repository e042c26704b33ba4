//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use tileheap::cache::PolicyKind;
use tileheap::cache::scenario::Scenario;
use tileheap::plan::Strategy;
use tileheap::units::Bytes;

use crate::input::{parse_bytes, parse_extent};

/// Keeps a renderer's short-lived images and buffers on the chip.
///
/// Tile memory (VK_QCOM_tile_memory_heap) is fast memory on the GPU that a frame's resources can live in for part of the
/// frame. tileheap decides which of them do, and where everything else goes.
#[derive(Debug, Parser)]
#[command(
    name = "tileheap",
    version,
    arg_required_else_help = true,
    max_term_width = 110
)]
#[command(after_help = "\
Examples:
  tileheap device                                what this machine offers
  tileheap plan frame.json                       a frame's plan on an Adreno 830
  tileheap plan frame.json --heap 18MiB          … if its tile heap were larger
  tileheap plan frame.json --json -o plan.json   … for programs
  tileheap check frame.json plan.json            whether a plan keeps the rules
  tileheap replay strafe.trace --budget 2MiB --all   what texture caches make of a trace")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Device(DeviceArguments),
    Plan(PlanArguments),
    Check(CheckArguments),
    Profile(ProfileArguments),
    Replay(ReplayArguments),
    Trace(TraceArguments),
    /// Print a completion script for a shell
    ///
    /// For bash, for instance: tileheap completions bash > ~/.local/share/bash-completion/completions/tileheap
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Show what this machine's Vulkan devices offer, and what is missing for tile memory
///
/// For tile memory a device needs the whole chain: the extension VK_QCOM_tile_memory_heap, its feature, a heap with the tile
/// flag, a memory type on it, and the function vkCmdBindTileMemoryQCOM. A name in the list of extensions is not enough.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap device
  tileheap device --json | jq '.devices[0].profile' > here.json && tileheap plan frame.json --profile here.json")]
pub(crate) struct DeviceArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Plan a frame: where every resource lives, over which passes, and why
///
/// The report lists every home (tile memory, lazily allocated memory, arenas in ordinary memory, allocations of their own) with
/// size, offset, object and passes of each resource, the reason, and what would bring it on chip; then what is bound in
/// each pass, a map of the tile heap, and totals. No GPU is needed: sizes are estimated from the device profile.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap plan frame.json
  tileheap plan frame.json --profile x2-85 --size 2560x1440
  tileheap plan frame.json --heap 4MiB --strategy first-come
  deferred --dump-frame - | tileheap plan - --json | jq .totals
  tileheap plan frame.json --profile no-tile-memory     the plan where there is no tile memory")]
pub(crate) struct PlanArguments {
    /// The frame as JSON, native (\"format\": \"tileheap-frame\") or loose; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) frame: PathBuf,
    /// The device: a name (see `tileheap profile --help`) or a profile as JSON
    #[arg(long, default_value = "adreno-830", value_name = "NAME|FILE")]
    pub(crate) profile: String,
    /// The size of the tile heap: 8355840, 18MiB, 8.5MB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub(crate) heap: Option<Bytes>,
    /// The extent that scaled images follow, in place of the frame's own
    #[arg(long, value_name = "WxH", value_parser = parse_extent)]
    pub(crate) size: Option<(u32, u32)>,
    /// How residents of tile memory are chosen
    #[arg(long, default_value = Strategy::Greedy.name(), value_parser = strategies())]
    pub(crate) strategy: Strategy,
    /// Where sizes come from
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sizes: Sizes,
    /// Print JSON in place of the report
    #[arg(long)]
    pub(crate) json: bool,
    /// Write to a file in place of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// Check whether a plan keeps the rules
///
/// The checker replays the plan pass by pass against the specification's rules for tile memory, aliasing, synchronization and
/// layouts, and knows nothing of how the plan was made. It says `right`, or the first thing that is wrong.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tileheap plan frame.json --json -o plan.json && tileheap check frame.json plan.json")]
pub(crate) struct CheckArguments {
    /// The frame as JSON; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) frame: PathBuf,
    /// Its plan, as `tileheap plan --json` writes it; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// The extent that the frame was planned at, if not its own
    #[arg(long, value_name = "WxH", value_parser = parse_extent)]
    pub(crate) size: Option<(u32, u32)>,
}

/// Print a device profile: heaps, memory types, tile heap, limits
///
/// Devices by name: adreno-830 (a public reading of a device), adreno-840 and x2-85 (estimates scaled from it), no-tile-memory
/// (a desktop). The JSON form is a template for devices of your own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap profile adreno-830
  tileheap profile adreno-830 --json > phone.json      then change it, and: tileheap plan frame.json --profile phone.json")]
pub(crate) struct ProfileArguments {
    /// A name, or a profile as JSON; - for standard input
    #[arg(value_name = "NAME|FILE")]
    pub(crate) profile: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sizes {
    /// The device profile's estimates
    #[default]
    Profile,
    /// Width x height x bytes per texel, the file's own tile_eligible, the whole frame as one window: as in published tables
    Raw,
}

/// Replay a trace of texture requests through a cache, and say what it moved
///
/// Every policy is checked at every step: blocks that overlap, a hit on what is not there, a budget exceeded end the replay.
/// Traffic is what is uploaded and what is bypassed, since either has to cross the bus. A trace is read as it is played, so it
/// may be larger than memory (not with --bound); it is read a second time for the nanoseconds.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap trace strafe -o strafe.trace && tileheap replay strafe.trace --budget 2MiB --all
  tileheap replay strafe.trace --budget 2MiB --policy arenas --plot target/plots
  tileheap replay strafe.trace --budget 2MiB --all --bound --json | jq '.policies[] | {policy, traffic}'")]
pub(crate) struct ReplayArguments {
    /// The trace, as `tileheap trace` or the library's `TraceWriter` writes it
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) trace: PathBuf,
    /// The memory there is: 2097152, 2MiB
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub(crate) budget: Bytes,
    /// The policy
    #[arg(long, value_name = "NAME", default_value = PolicyKind::Coherent.name(), value_parser = policies())]
    pub(crate) policy: PolicyKind,
    /// Every policy
    #[arg(long, conflicts_with = "policy")]
    pub(crate) all: bool,
    /// Also what no policy can go below; holds the trace in memory
    #[arg(long)]
    pub(crate) bound: bool,
    /// The seed of policies that draw
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write a plot for each policy into a folder, as SVG: bytes and arena walls over frames
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) plot: Option<PathBuf>,
    /// Print JSON in place of the tables
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a trace of texture requests: what a camera does, out of a seed
#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// What happens
    #[arg(value_parser = scenarios())]
    pub(crate) scenario: Scenario,
    /// How many frames
    #[arg(long, default_value_t = 600)]
    pub(crate) frames: u32,
    /// The seed
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// The file
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
}

fn policies() -> impl TypedValueParser<Value = PolicyKind> {
    PossibleValuesParser::new(PolicyKind::ALL.map(PolicyKind::name))
        .map(|name| name.parse().expect("a known name"))
}

fn scenarios() -> impl TypedValueParser<Value = Scenario> {
    PossibleValuesParser::new(Scenario::ALL.map(Scenario::name))
        .map(|name| name.parse().expect("a known name"))
}

fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let values = Strategy::ALL.map(|strategy| {
        PossibleValue::new(strategy.name()).help(match strategy {
            Strategy::Greedy => "Most traffic saved per byte and step, the best of several orders",
            Strategy::Fast => "The same, in one order",
            Strategy::FirstCome => {
                "The vendor sample's: in order of declaration, all of the heap always bound"
            }
            Strategy::Off => "Nothing in tile memory",
        })
    });
    PossibleValuesParser::new(values).map(|name| {
        let known = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
        known.unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
