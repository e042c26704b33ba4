//! `tileheap tensors`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use tileheap::units::Bytes;
use tileheap_tensor::Error as TensorError;
use tileheap_tensor::file_kind::{check_contents, check_uncompiled, has_extension};
use tileheap_tensor::import::ImportedInput;
use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::plan::timeline::Timeline;
use tileheap_tensor::plan::{MemoryPlan, Region};

use crate::documents;
use crate::error::{Error, Result};
use crate::input::{read_bytes, shown, text_of};
use crate::networks::network::Network;
use crate::networks::options::{Strategy, TensorOptions};
use crate::networks::plan::{Planned, Row};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::tensors::IGNORES_LIMITED_MEMORIES;
use crate::values::counted;

#[cfg(feature = "onnx")]
const LONG_ABOUT: &str = concat!(
    include_str!("about/tensors.txt"),
    " ONNX files (*.onnx) are also read."
);
#[cfg(not(feature = "onnx"))]
const LONG_ABOUT: &str = concat!(
    include_str!("about/tensors.txt"),
    " This build does not read ONNX files: it lacks the feature `onnx`."
);
#[cfg(feature = "onnx")]
const EXAMPLES: &str = concat!(
    include_str!("help/tensors.txt"),
    include_str!("help/tensors_onnx.txt")
);
#[cfg(not(feature = "onnx"))]
const EXAMPLES: &str = include_str!("help/tensors.txt");

/// Plan a network's tensors: placements, bytes by strategy, the lower bound, the peak
#[derive(Debug, Args)]
#[command(long_about = LONG_ABOUT, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The graph, or records of tensor lifetimes and sizes; - for standard input
    #[arg(value_name = "GRAPH", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    options: TensorOptions,
    /// List every tensor with its placement and lifetimes, and the allocation graph
    #[arg(long)]
    dump: bool,
    /// Compare all strategies
    #[arg(long, conflicts_with_all = ["dump", "trace", "scopes"])]
    compare: bool,
    /// Print JSON: placements, lifetimes, and the bytes of every strategy
    #[arg(long, conflicts_with_all = ["dump", "compare", "trace", "scopes"])]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Write lifetimes to a file as Chrome trace events
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,
    /// Write the TVM graph with the storage scopes that the policy chose
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    scopes: Option<PathBuf>,
    /// Write the graph as JSON ("format": "tileheap-graph")
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    graph: Option<PathBuf>,
    /// The range of a dynamic dimension of an ONNX file, both ends included: batch=1..4
    #[cfg(feature = "onnx")]
    #[arg(long, value_name = "NAME=MIN..MAX", value_delimiter = ',')]
    range: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let options = &arguments.options;
    let file = &arguments.file;
    let network = read_network(arguments)?;
    if let Some(file) = &arguments.graph {
        let (ImportedInput::Graph(graph) | ImportedInput::Tvm(TvmGraph { graph, .. })) = &network.input
        else {
            return Err(Error::usage(
                "--graph needs a graph, but the file contains only records",
            ));
        };
        Output::to(Some(file.clone())).write(&graph.to_json())?;
    }
    if arguments.json {
        let document = network.document(file, options)?;
        return Output::to(arguments.output.clone()).write(&documents::write(&document));
    }
    let mut report = String::new();
    if arguments.compare {
        let compared = network.compare(options);
        report += &comparison(&network, &compared);
        return Output::to(arguments.output.clone()).write(&report);
    }
    let progress = Progress::new("planning", 0);
    let planned = network.plan(options, options.strategy);
    let planned = planned.map_err(|error| Error::new(error.to_string()))?;
    drop(progress);
    if let Some(file) = &arguments.trace {
        Output::to(Some(file.clone())).write(&planned.timeline.chrome_trace())?;
    }
    if let (Some(file), Some(choice)) = (&arguments.scopes, &network.choice) {
        let ImportedInput::Tvm(of) = &network.input else {
            return Err(Error::usage("--scopes needs a TVM graph"));
        };
        Output::to(Some(file.clone())).write(&of.write(|id| choice.scope(id).to_owned()))?;
    }
    report += &format!(
        "{} with strategy {}\n",
        shown(&arguments.file),
        options.strategy.name()
    );
    for memory in &planned.memories {
        let MemoryPlan {
            name,
            size,
            lower_bound: bound,
            ..
        } = memory;
        let capacity = memory
            .capacity
            .map_or(String::new(), |capacity| format!(", of {capacity}"));
        report += &format!(
            "  memory {name:<12} {size:>18}   bound {bound}, ratio {}{capacity}\n",
            ratio(*size, *bound)
        );
    }
    report += &format!(
        "  total               {:>18}   bound {}, ratio {}\n",
        planned.size.to_string(),
        planned.bound,
        ratio(planned.size, planned.bound)
    );
    for note in &planned.notes {
        report += &format!("  {note}\n");
    }
    let on_chip = network
        .on_chip(options)
        .map_err(|error| Error::new(error.to_string()))?;
    if let Some(first) = on_chip.first() {
        report += &format!(
            "Traffic that stays on chip, out of {} per run\n{:>18} {:>9} {:>9} {:>9}\n",
            Bytes(first.traffic),
            "capacity",
            "tensors",
            "stays",
            "at most"
        );
    }
    for row in &on_chip {
        let [kept, bound] = [row.kept, row.bound].map(|of| row.share(of) as f64 / 10.0);
        let capacity = Bytes(row.capacity).to_string();
        report += &format!("{capacity:>18} {:>9} {kept:>7.1} % {bound:>7.1} %\n", row.tensors);
    }
    report += &chart(&planned.timeline);
    if let Some((step, bytes, live)) = planned.timeline.peak() {
        report += &format!("Live at the peak, step {}: {bytes}\n", step.0);
        let several = planned.memories.len() > 1;
        for occupant in live.iter().take(20) {
            let Region { memory, offset, size } = occupant.region;
            let memory = &planned.memories[memory.0 as usize].name;
            report += &format!(
                "  {:>16} {}at {:>16}  {}\n",
                size.to_string(),
                if several {
                    format!("{memory:<12} ")
                } else {
                    String::new()
                },
                offset.to_string(),
                occupant.name
            );
        }
        if live.len() > 20 {
            report += &format!("  and {} more\n", live.len() - 20);
        }
    }
    if arguments.dump {
        report += &dump(&planned);
    }
    Output::to(arguments.output.clone()).write_report(&report)
}

/// The bytes, the lower bound and their ratio of each strategy; with several memories, the bytes in each.
fn comparison(network: &Network, compared: &[(Strategy, Result<Planned, String>)]) -> String {
    let first = compared.iter().find_map(|(_, planned)| planned.as_ref().ok());
    let memories: Vec<&str> = match first {
        Some(planned) if planned.memories.len() > 1 => planned
            .memories
            .iter()
            .map(|memory| memory.name.as_str())
            .collect(),
        _ => Vec::new(),
    };
    let mut text = format!(
        "{:<22} {:>18} {:>18} {:>8}",
        "strategy", "bytes", "bound", "ratio"
    );
    text.extend(memories.iter().map(|name| format!(" {name:>18}")));
    text.push('\n');
    for (strategy, planned) in compared {
        text += &format!("{:<22}", strategy.name());
        match planned {
            Ok(planned) => {
                let (size, bound) = (planned.size.to_string(), planned.bound.to_string());
                text += &format!(
                    " {size:>18} {bound:>18} {:>8}",
                    ratio(planned.size, planned.bound)
                );
                if !memories.is_empty() {
                    let sizes = planned.memories.iter().map(|memory| memory.size.to_string());
                    text.extend(sizes.map(|size| format!(" {size:>18}")));
                }
                if network.ignores_limited_memories(*strategy) {
                    text += &format!("   {IGNORES_LIMITED_MEMORIES}");
                }
            }
            Err(error) => text += &format!(" {error}"),
        }
        text.push('\n');
    }
    if memories.len() > 1 {
        text += "The tensors of a limited memory are chosen by their traffic, whatever the strategy: it places them, and the bound is that of these tensors.\n";
    }
    text
}

/// Reads a file of any format: as an ONNX model if its name or contents identify one, otherwise as text.
fn read_network(arguments: &Arguments) -> Result<Network> {
    let (file, options) = (&arguments.file, &arguments.options);
    let form = "a graph as JSON, records as CSV or an ONNX file";
    let bytes = read_bytes(file, "graph", form)?;
    let wrong = |problem: &str| Error::new(format!("{} {problem}", shown(file)));
    check_contents(file, &bytes)
        .and_then(|()| check_uncompiled(&bytes))
        .map_err(wrong)?;
    if has_extension(file, "onnx") || is_onnx(&bytes) {
        let input = read_onnx(arguments, &bytes)?;
        return Network::of(input, options, |error| error_of_model(file, &error));
    }
    #[cfg(feature = "onnx")]
    if let Some(range) = arguments.range.first() {
        let problem = format!(
            "--range {range} applies only to ONNX files, but {} is not one",
            shown(file)
        );
        return Err(Error::usage(problem));
    }
    let text = text_of(&bytes, file, "graph", form)?;
    Network::read(&text, file, options)
}

/// Creates an error about a model; for a symbol without a range, the error suggests `--range`.
fn error_of_model(file: &Path, error: &TensorError) -> Error {
    let range = match error {
        TensorError::Unbounded { symbol, .. } => format!(": add --range {symbol}=MIN..MAX"),
        _ => String::new(),
    };
    Error::of(shown(file), format!("{error}{range}"))
}

/// Reads a model, with the ranges of its dynamic dimensions.
#[cfg(feature = "onnx")]
fn read_onnx(arguments: &Arguments, bytes: &[u8]) -> Result<ImportedInput> {
    use tileheap_tensor::import::onnx::{OnnxOptions, read_onnx};
    let folder = arguments
        .file
        .parent()
        .filter(|_| arguments.file.as_os_str() != "-");
    let mut options = OnnxOptions {
        folder: folder.map(Into::into),
        ..OnnxOptions::default()
    };
    for form in &arguments.range {
        let parsed = form.split_once('=').and_then(|(name, range)| {
            let (min, max) = range.split_once("..").unwrap_or((range, range));
            Some((name.to_owned(), (min.parse().ok()?, max.parse().ok()?)))
        });
        let (name, range) = parsed.ok_or_else(|| {
            Error::usage(format!(
                "--range {form}: expected NAME=MIN..MAX or NAME=N, with whole numbers; both ends are included"
            ))
        })?;
        options.ranges.insert(name, range);
    }
    let graph = read_onnx(bytes, &options);
    graph
        .map(ImportedInput::Graph)
        .map_err(|error| error_of_model(&arguments.file, &error))
}

#[cfg(feature = "onnx")]
pub(super) use tileheap_tensor::import::onnx::is_onnx;

#[cfg(not(feature = "onnx"))]
pub(super) fn is_onnx(_: &[u8]) -> bool {
    false
}

#[cfg(not(feature = "onnx"))]
fn read_onnx(arguments: &Arguments, _: &[u8]) -> Result<ImportedInput> {
    Err(Error::new(format!(
        "{} is an ONNX file, which this build cannot read: build tileheap with the feature `onnx`",
        shown(&arguments.file)
    )))
}

/// Lists every tensor with its placement and lifetimes, then the allocation graph of each memory.
fn dump(planned: &Planned) -> String {
    let columns: Vec<[String; 4]> = planned.tensors.iter().map(|row| columns(row, planned)).collect();
    let width = |column: usize| {
        columns
            .iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let [storages, places, spans] = [width(0), width(1), width(2)];
    let mut text = "Tensors\n".to_owned();
    for (row, [storage, place, lifetimes, reason]) in planned.tensors.iter().zip(&columns) {
        text += &format!(
            "  {:>16} {storage:<storages$} {place:<places$}  {lifetimes:<spans$}  {}{reason}\n",
            row.size.to_string(),
            row.name,
        );
    }
    text.extend(planned.without_image.iter().map(|line| format!("  {line}\n")));
    text.extend(planned.flows.iter().map(ToString::to_string));
    text
}

/// The columns of a tensor: storage with its extent and scope, placement, lifetimes, and the reason for a storage that the policy did not choose.
fn columns(row: &Row, planned: &Planned) -> [String; 4] {
    let mut storage = row.storage.unwrap_or("").to_owned();
    for more in [row.extent.map(|extent| extent.to_string()), row.scope.clone()]
        .into_iter()
        .flatten()
    {
        storage += &format!(" {more}");
    }
    let place = match (&row.place, row.backing) {
        (Some(place), _) => place.in_words(&|memory| planned.memories[memory].name.clone()),
        (None, home) => format!("{home:?}").to_lowercase(),
    };
    let lifetimes: Vec<String> = row.lifetimes.iter().map(ToString::to_string).collect();
    let reason = row.reason.as_ref();
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    [storage, place, lifetimes.join(" "), reason]
}

fn ratio(size: Bytes, bound: Bytes) -> String {
    match bound.0 {
        0 => "-".to_owned(),
        _ => format!("{:.3}", size.0 as f64 / bound.0 as f64),
    }
}

/// Draws the live bytes over steps as a line of text with at most 64 columns.
fn chart(timeline: &Timeline) -> String {
    let live = timeline.live_bytes();
    let most = live.iter().copied().max().unwrap_or(Bytes::ZERO).0.max(1);
    if live.is_empty() {
        return String::new();
    }
    let columns = live.len().min(64);
    let bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let line: String = (0..columns)
        .map(|column| {
            let part = &live[column * live.len() / columns
                ..((column + 1) * live.len() / columns).max(column * live.len() / columns + 1)];
            let top = part.iter().copied().max().unwrap_or(Bytes::ZERO).0;
            bars[((u128::from(top) * 7).div_ceil(u128::from(most)) as usize).min(7)]
        })
        .collect();
    format!(
        "Live bytes over {}\n  {line}\n",
        counted(live.len() as u64, "step")
    )
}
