//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, ValueHint};
use tileheap::plan::{BUDGET, Ladder, Strategy};
use tileheap::units::Bytes;
use tileheap_textures::PolicyKind;
use tileheap_textures::scenario::Scenario;

use crate::input::{Budget, Sweep, parse_bytes, parse_extent, parse_percent};

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
  tileheap advise frame.json                     what would bring more of it on chip
  tileheap report frame.json -o report.html      its plan as a page to look at
  tileheap check frame.json plan.json            whether a plan keeps the rules
  tileheap pack buffers.csv                      lives and sizes into the smallest block
  tileheap tensors network.jsonl --compare       what a network's tensors take, by every strategy
  tileheap trace strafe -o strafe.trace          what a camera asks of a texture cache
  tileheap report strafe.trace --cache 2MiB -o cache.html   … and what every policy makes of it

Exit status: 0 done; 1 it could not be done; 2 the command line or a table was wrong; 3 no answer within a budget.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Device(DeviceArguments),
    Plan(PlanArguments),
    Advise(AdviseArguments),
    Diff(DiffArguments),
    Gate(GateArguments),
    Report(ReportArguments),
    Check(CheckArguments),
    Profile(ProfileArguments),
    Pack(PackArguments),
    Tensors(TensorsArguments),
    Replay(ReplayArguments),
    Trace(TraceArguments),
    /// Print a completion script for a shell
    ///
    /// Subcommands, options, and the names that options take are completed with the tabulator key.
    #[command(after_help = "\
Examples:
  tileheap completions bash > ~/.local/share/bash-completion/completions/tileheap
  tileheap completions zsh > ~/.zfunc/_tileheap          with fpath+=~/.zfunc in ~/.zshrc, before compinit
  tileheap completions fish > ~/.config/fish/completions/tileheap.fish
  tileheap completions powershell >> $PROFILE")]
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
    #[command(flatten)]
    pub(crate) what: What,
    /// Print JSON in place of the report
    #[arg(long)]
    pub(crate) json: bool,
    /// With --json: try what would bring the rest on chip and store it with the plan, so that a report of it can say so
    #[arg(long, requires = "json")]
    pub(crate) advice: bool,
    /// Write to a file in place of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// What is planned, for which device, and how.
#[derive(Debug, Args)]
pub(crate) struct What {
    /// The frame as JSON, native ("format": "tileheap-frame") or loose; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) frame: PathBuf,
    #[command(flatten)]
    pub(crate) how: How,
}

/// For which device frames are planned, and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct How {
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
    #[arg(long, default_value = Strategy::Optimal.name(), value_parser = strategies())]
    pub(crate) strategy: Strategy,
    /// Where sizes come from
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sizes: Sizes,
    /// The most branches the search looks at; as many as a proof takes with `none`
    #[arg(long, value_name = "STEPS|none", default_value_t = Budget(BUDGET))]
    pub(crate) budget: Budget,
    /// What one more bin costs a render pass, in bytes of traffic a frame; 0 with --sizes raw
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) bin_cost: Option<Bytes>,
    /// Where several tile memory objects serve one run of lives; always with --sizes raw
    #[arg(long, value_parser = ladders())]
    pub(crate) ladder: Option<Ladder>,
    /// Let a resource live in tile memory for a first stretch of its life, where that is worth more than the pass that then stores it
    #[arg(long)]
    pub(crate) split: bool,
    /// Measured worths of accesses in place of the model's, as JSON ("format": "tileheap-weights")
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) weights: Option<PathBuf>,
    /// A resource that must live in tile memory; an error says which rule it would break. May be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) pin: Vec<String>,
    /// A resource that must not live in tile memory, even if there is room. May be repeated
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) keep_off: Vec<String>,
}

/// Say what would bring the rest on chip
///
/// For every resource that is not in tile memory: what keeps it out, and the changes that would bring it there, each tried by
/// planning again: a narrower format, a smaller extent, an earlier end of its life, batches submitted as one. With --sweep, the
/// plan at many heap sizes or extents, as a table with a curve.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap advise frame.json
  tileheap advise frame.json --sweep heap=2MiB..24MiB
  tileheap advise frame.json --sweep size=640x360..2560x1440")]
pub(crate) struct AdviseArguments {
    #[command(flatten)]
    pub(crate) what: What,
    /// Plans at sizes of the heap or of the frame: heap=2MiB..24MiB, size=640x360..2560x1440
    #[arg(long, value_name = "WHAT=FROM..TO")]
    pub(crate) sweep: Option<Sweep>,
    /// Print JSON in place of the report
    #[arg(long)]
    pub(crate) json: bool,
}

/// Fail where less than so much traffic stays on chip
///
/// For continuous integration: exit status 0 if the plan keeps as much, 1 if not. What a change makes ineligible (a copy of an image, a
/// batch of its own) leaves the share alone, so give bytes too where that is to be noticed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap gate frame.json --min-on-chip 60%
  tileheap gate frame.json --min-on-chip 60% --min-bytes 50MiB")]
#[command(group = ArgGroup::new("least").args(["min_on_chip", "min_bytes"]).required(true).multiple(true))]
pub(crate) struct GateArguments {
    #[command(flatten)]
    pub(crate) what: What,
    /// The least share of the eligible traffic that has to stay on chip: 60%, 62.5%; where nothing is eligible no share is kept
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) min_on_chip: Option<u32>,
    /// The least traffic a frame that has to stay on chip: 52428800, 50MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub(crate) min_bytes: Option<Bytes>,
}

/// Show what two plans do differently
///
/// Homes, offsets and objects of resources by name, what is bound in passes, and totals. The plans may be of different frames.
/// Exit status 0 whether they differ or not.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  tileheap plan frame.json --json -o 830.json && tileheap plan frame.json --profile x2-85 --json -o x2.json
  tileheap diff 830.json x2.json")]
pub(crate) struct DiffArguments {
    /// A plan, as `tileheap plan --json` writes it; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,
    /// Another one
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) new: PathBuf,
}

/// Make a page to look at: of plans, networks, texture caches and traces, side by side
///
/// One HTML file that needs no network. Of a frame: every heap with passes across and offsets up, windows and command buffers,
/// what is reserved in each pass, every resource with its life, home, reason and worth, and what would admit it; barriers on demand; and
/// what other sizes of the heap would keep. Of two plans, what they do differently. Of a network: each memory with lives across, who is alive at
/// the peak, and what other strategies take. Of a texture cache: uploads and hits of every frame, arena walls, policies side by side.
///
/// Inputs are told apart by what stands in them: frames (planned here), what `plan`, `tensors`, `replay` and `advise --sweep` write with
/// --json, tensor graphs and records as `tensors` reads them (planned here), texture traces (played here, with --cache), and traces of
/// the emulator.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap report frame.json -o report.html
  tileheap report old-plan.json new-plan.json -o diff.html        what they do differently
  tileheap plan frame.json --json --advice | tileheap report - -o plan.html
  tileheap report frame.json --heap 18MiB --svg heap.svg --png heap.png
  tileheap report network.jsonl --tensor-strategy litert-best -o network.html
  tileheap report strafe.trace --cache 2MiB --policy coherent,arenas,lru -o cache.html
  VK_TILEHEAP_EMULATOR_TRACE=trace.json my-renderer; tileheap report trace.json -o trace.html")]
pub(crate) struct ReportArguments {
    /// Frames, plans, sweeps, tensor graphs, texture traces, replays, traces of the emulator; - for standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write the page to a file in place of standard output, which must be no terminal
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write the drawings as a picture, for documents
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
    /// The same as pixels
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) png: Option<PathBuf>,
    /// The pixels for dark screens; page and SVG go with their reader's
    #[arg(long, requires = "png")]
    pub(crate) dark: bool,
    /// How much is tried besides a frame's plan: what would help, other sizes of the heap
    #[arg(long, value_enum, default_value_t, help_heading = "Frames")]
    pub(crate) detail: Detail,
    /// The sizes that are tried: heap=2MiB..24MiB, size=640x360..2560x1440; without it a quarter of the heap to three of it
    #[arg(long, value_name = "WHAT=FROM..TO", help_heading = "Frames")]
    pub(crate) sweep: Option<Sweep>,
    #[command(flatten, next_help_heading = "Frames")]
    pub(crate) how: How,
    /// How tensors get their bytes (see `tileheap tensors --help`)
    #[arg(long, default_value = "auto", value_name = "NAME", hide_possible_values = true, value_parser = crate::tensors::strategies(), help_heading = "Tensors")]
    pub(crate) tensor_strategy: tileheap_tensor::TensorStrategy,
    /// How images and buffers are chosen
    #[arg(long, default_value = "balanced", value_name = "NAME", value_parser = crate::tensors::policies(), help_heading = "Tensors")]
    pub(crate) storage: tileheap_tensor::StoragePolicy,
    /// Memories in order of preference: sram=1MiB,dram
    #[arg(
        long,
        value_name = "NAME=BYTES",
        value_delimiter = ',',
        help_heading = "Tensors"
    )]
    pub(crate) memory: Vec<String>,
    /// The memory of the texture cache: 2097152, 2MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true, help_heading = "Texture caches")]
    pub(crate) cache: Option<Bytes>,
    /// Its policies, all of them without this: coherent,arenas,lru (see `tileheap replay --help`)
    #[arg(long, value_name = "NAME", value_delimiter = ',', hide_possible_values = true, value_parser = policies(), help_heading = "Texture caches")]
    pub(crate) policy: Vec<PolicyKind>,
}

/// What a report of a frame tries besides its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// All of it, for frames of up to 200 resources
    #[default]
    Auto,
    /// All of it, however long that takes
    Full,
    /// Nothing: the plan alone
    Plan,
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
/// Devices by name: adreno-830 (a public reading of a device), adreno-840 and x2-85 (estimates scaled from it),
/// validation-icd, hostile and generous (invented, for tests), no-tile-memory (a desktop). The JSON form is a template for devices of your own.
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

/// Pack items into a block: lives and sizes in, offsets out
///
/// The file is a table of id,lower,upper,size and perhaps alignment,offset,weight, by header; an item lives from step lower until
/// before step upper, and one with an offset stays there. Without a capacity the block is made as small as it can be; with one,
/// everything is placed in it or it is proved impossible, and the items that make it so are named; with --select, what is worth
/// most together is placed and the rest left out.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 packed; 1 proved that it does not fit; 2 bad input; 3 neither, within the budget.

Examples:
  tileheap pack buffers.csv                              the smallest block
  tileheap pack buffers.csv --capacity 1MiB -o out.csv   within a capacity; the table with offsets
  tileheap pack tensors.csv --capacity 2MiB --select     the greatest weight in a capacity")]
pub(crate) struct PackArguments {
    /// The table; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// The size of the block: 8355840, 18MiB, 8.5MB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    pub(crate) capacity: Option<Bytes>,
    /// How offsets are found
    #[arg(long, default_value = "auto", value_parser = packing_strategies(), conflicts_with = "select")]
    pub(crate) strategy: tileheap_pack::Strategy,
    /// Search steps at most; about a million take a second or two
    #[arg(long, value_name = "STEPS")]
    pub(crate) budget: Option<u64>,
    /// Keep what weighs most together, and leave out the rest
    #[arg(long)]
    pub(crate) select: bool,
    /// Print JSON in place of the report
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the table with offsets to a file
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// Plan a network's tensors: bytes by strategy, the lower bound, who is alive at the peak
///
/// The file is a graph as JSON ("format": "tileheap-graph"), a TVM graph JSON, a network as lines of JSON, or plain records (CSV
/// id,lower,upper,size; lower alive and upper not), told apart by what stands in it; or an ONNX file (*.onnx). Storage is chosen
/// by a policy, sizes are estimated from layouts; every strategy but the default reproduces what some system does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap tensors network.jsonl                              the default: offsets in one block
  tileheap tensors graph.json --compare                       every strategy side by side
  tileheap tensors graph.json --memory sram=1MiB,dram         a small memory first, the rest spills
  tileheap tensors records.csv --strategy nnc --dump          places, and the allocation graph
  tileheap tensors graph.json --trace trace.json              for chrome://tracing or Perfetto
  tileheap tensors model.onnx --range batch=1..4              with what the file leaves open
  tileheap tensors graph.json --json | tileheap report - -o graph.html   as a page to look at")]
pub(crate) struct TensorsArguments {
    /// The graph or the records; - for standard input
    #[arg(value_name = "GRAPH", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// How tensors get their bytes
    #[arg(long, default_value = "auto", value_name = "NAME", value_parser = crate::tensors::strategies())]
    pub(crate) strategy: tileheap_tensor::TensorStrategy,
    /// How images and buffers are chosen
    #[arg(long, default_value = "balanced", value_name = "NAME", value_parser = crate::tensors::policies())]
    pub(crate) policy: tileheap_tensor::StoragePolicy,
    /// Memories in order of preference: sram=1MiB,dram
    #[arg(long, value_name = "NAME=BYTES", value_delimiter = ',')]
    pub(crate) memory: Vec<String>,
    /// Outputs take no operand's bytes over
    #[arg(long)]
    pub(crate) no_in_place: bool,
    /// List every tensor with its place and lives, and who takes bytes over from whom (the allocation graph)
    #[arg(long)]
    pub(crate) dump: bool,
    /// Every strategy side by side
    #[arg(long, conflicts_with_all = ["dump", "trace", "scopes"])]
    pub(crate) compare: bool,
    /// Print JSON: places, lives, and what every strategy takes
    #[arg(long, conflicts_with_all = ["dump", "compare", "trace", "scopes"])]
    pub(crate) json: bool,
    /// Write a trace of lives to a file, as Chrome's trace events
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) trace: Option<PathBuf>,
    /// Write a TVM graph back with the storage scopes that the policy chose
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) scopes: Option<PathBuf>,
    /// Write the graph as JSON ("format": "tileheap-graph")
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) graph: Option<PathBuf>,
    /// The values of an open dimension of an ONNX file, both ends inside: batch=1..4
    #[cfg(feature = "onnx")]
    #[arg(long, value_name = "NAME=LEAST..MOST", value_delimiter = ',')]
    pub(crate) range: Vec<String>,
}

fn packing_strategies() -> impl TypedValueParser<Value = tileheap_pack::Strategy> {
    let names = tileheap_pack::Strategy::ALL.map(|strategy| PossibleValue::new(strategy.name()));
    PossibleValuesParser::new(names).map(|name| name.parse().unwrap_or_default())
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
  tileheap replay strafe.trace --budget 2MiB --policy arenas --plot plots
  tileheap replay strafe.trace --budget 2MiB --all --json | tileheap report - -o strafe.html")]
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
///
/// The same scenario, seed and number of frames give the same trace on every machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tileheap trace strafe -o strafe.trace && tileheap replay strafe.trace --budget 2MiB --all
  tileheap trace flight --frames 2000 --seed 7 -o flight.trace")]
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
    /// The file to write
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

fn ladders() -> impl TypedValueParser<Value = Ladder> {
    let values = Ladder::ALL.map(|ladder| {
        PossibleValue::new(ladder.name()).help(match ladder {
            Ladder::Off => "one object for each connected run of lives",
            Ladder::WherePays => "where the model has less harm with several",
            Ladder::Always => "wherever fewer bytes are bound",
        })
    });
    PossibleValuesParser::new(values).map(|name| {
        let known = Ladder::ALL.into_iter().find(|ladder| ladder.name() == name);
        known.expect("clap lets no other name through")
    })
}

fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let values = Strategy::ALL.map(|strategy| {
        PossibleValue::new(strategy.name()).help(match strategy {
            Strategy::Optimal => "The best there is, by a search that says what it could prove",
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
