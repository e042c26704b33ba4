//! `tileheap tensors`: what a network's tensors take, by every strategy.

mod document;

use std::path::Path;

use serde_json::Value;
use tileheap::units::{Alignment, Bytes, Span};
use tileheap_tensor::tvm::TvmGraph;
use tileheap_tensor::{
    Flow, Graph, Home, MemoryDesc, MemoryPlan, Reason, Region, Space, SpaceItem, StorageChoice,
    StorageOptions, StoragePolicy, TensorPlan, TensorPlanOptions, TensorRequirements, TensorStrategy,
    Timeline, choose, flows, place, plan, read_graph, read_lines, read_records,
};

use crate::arguments::TensorsArguments;
use crate::documents::{self, Tensors};
use crate::failure::Failure;
use crate::input::{read_text_in, shown};
use crate::output::Output;
use crate::progress::Progress;

/// How tensors are planned.
#[derive(Clone, Debug)]
pub(crate) struct TensorHow {
    pub(crate) strategy: TensorStrategy,
    pub(crate) policy: StoragePolicy,
    /// `NAME=BYTES` or `NAME`.
    pub(crate) memories: Vec<String>,
    pub(crate) in_place: bool,
}

/// What was read.
enum Input {
    Graph(Graph),
    Tvm(TvmGraph),
    Records(Vec<SpaceItem>),
}

/// What a strategy made of it.
struct Planned {
    size: Bytes,
    bound: Bytes,
    memories: Vec<MemoryPlan>,
    tensors: Vec<Row>,
    timeline: Timeline,
    flows: Vec<Flow>,
    notes: Vec<String>,
}

/// Where one tensor is.
struct Row {
    name: String,
    /// None where that is not known.
    storage: Option<&'static str>,
    /// Why it is stored otherwise than it was meant to be.
    reason: Option<String>,
    home: Home,
    size: Bytes,
    /// Those that it takes in turn.
    regions: Vec<Region>,
    /// A part of another tensor, or what a loop left.
    elsewhere: bool,
    lives: Vec<Span>,
}

/// What was read, with how its tensors are stored.
struct Network {
    input: Input,
    choice: Option<StorageChoice>,
    memories: Vec<MemoryDesc>,
}

impl Network {
    fn read(text: &str, path: &Path, how: &TensorHow) -> Result<Network, Failure> {
        let input = read(text).map_err(|fault| Failure::bad_input(format!("{}: {fault}", shown(path))))?;
        Network::of(input, path, how)
    }

    fn of(input: Input, path: &Path, how: &TensorHow) -> Result<Network, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", shown(path)));
        let choice = match &input {
            Input::Graph(graph) | Input::Tvm(TvmGraph { graph, .. }) => {
                let options = StorageOptions {
                    policy: how.policy,
                    ..StorageOptions::default()
                };
                Some(choose(graph, &options).map_err(|fault| failed(&fault))?)
            }
            Input::Records(_) => None,
        };
        Ok(Network {
            input,
            choice,
            memories: memories(&how.memories)?,
        })
    }

    fn planned(
        &self,
        how: &TensorHow,
        strategy: TensorStrategy,
    ) -> Result<Planned, tileheap_tensor::TensorError> {
        match (&self.input, &self.choice) {
            (Input::Records(items), _) => of_records(items, &self.memories, strategy),
            (_, Some(choice)) => of_graph(choice, &self.memories, strategy, how),
            _ => unreachable!("graphs have a storage choice"),
        }
    }

    /// The plan, and of every other strategy what it takes, as `tileheap tensors --json` writes it.
    fn document(&self, path: &Path, how: &TensorHow) -> Result<Tensors, Failure> {
        let planned = self.planned(how, how.strategy);
        let planned = planned.map_err(|fault| Failure::of(shown(path), fault))?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(document::document(&name, how, &planned, &self.compared(how)))
    }

    /// Every strategy with the bytes that it takes, or why it cannot.
    fn compared(&self, how: &TensorHow) -> Vec<(TensorStrategy, Result<Planned, String>)> {
        let strategies = TensorStrategy::all();
        let progress = Progress::new("planning by every strategy", strategies.len() as u64);
        let planned = strategies.into_iter().enumerate().map(|(done, strategy)| {
            progress.at(done as u64);
            let planned = self.planned(how, strategy);
            (strategy, planned.map_err(|fault| fault.to_string()))
        });
        planned.collect()
    }
}

/// Whether a text is something that [`run`] reads, but for what is also something else.
pub(crate) fn is_network(text: &str) -> bool {
    read(text).is_ok()
}

/// The plan of what is in a text, and of every other strategy what it takes, as `tileheap tensors --json` writes it.
pub(crate) fn document_of(text: &str, path: &Path, how: &TensorHow) -> Result<Tensors, Failure> {
    Network::read(text, path, how)?.document(path, how)
}

pub(crate) fn run(arguments: &TensorsArguments) -> Result<(), Failure> {
    let how = TensorHow {
        strategy: arguments.strategy,
        policy: arguments.policy,
        memories: arguments.memory.clone(),
        in_place: !arguments.no_in_place,
    };
    let file = &arguments.file;
    let network = if file.extension().is_some_and(|extension| extension == "onnx") {
        Network::of(read_onnx(arguments)?, file, &how)?
    } else {
        let text = read_text_in(file, "graph", "a graph as JSON, or records as CSV")
            .map_err(Failure::into_bad_input)?;
        Network::read(&text, file, &how)?
    };
    if let Some(file) = &arguments.graph {
        let (Input::Graph(graph) | Input::Tvm(TvmGraph { graph, .. })) = &network.input else {
            return Err(Failure::bad_input("--graph writes a graph: records are none"));
        };
        Output::to(Some(file.clone())).write(&graph.to_json())?;
    }
    if arguments.json {
        let document = network.document(file, &how)?;
        return Output::stdout().write(&documents::write(&document));
    }
    let mut report = String::new();
    if arguments.compare {
        report += &format!("{:<22} {:>18} {:>8}\n", "strategy", "bytes", "ratio");
        for (strategy, planned) in network.compared(&how) {
            report += &match planned {
                Ok(planned) => {
                    format!(
                        "{:<22} {:>18} {:>8}\n",
                        strategy,
                        planned.size.to_string(),
                        ratio(planned.size, planned.bound)
                    )
                }
                Err(fault) => format!("{strategy:<22} {fault}\n"),
            };
        }
        return Output::stdout().write(&report);
    }
    let progress = Progress::new("planning", 0);
    let planned = network.planned(&how, how.strategy);
    let planned = planned.map_err(|fault| Failure::new(fault.to_string()))?;
    drop(progress);
    if let Some(file) = &arguments.trace {
        Output::to(Some(file.clone())).write(&planned.timeline.chrome_trace())?;
    }
    if let (Some(file), Some(choice)) = (&arguments.scopes, &network.choice) {
        let Input::Tvm(of) = &network.input else {
            return Err(Failure::bad_input("--scopes writes a TVM graph back: give one"));
        };
        Output::to(Some(file.clone())).write(&of.write(|id| choice.scope(id).to_owned()))?;
    }
    report += &format!("{} by {}\n", shown(&arguments.file), arguments.strategy);
    for memory in &planned.memories {
        let MemoryPlan {
            name, size, bound, ..
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
        "  in all              {:>18}   bound {}, ratio {}\n",
        planned.size.to_string(),
        planned.bound,
        ratio(planned.size, planned.bound)
    );
    for note in &planned.notes {
        report += &format!("  {note}\n");
    }
    report += &chart(&planned.timeline);
    if let Some((step, bytes, alive)) = planned.timeline.peak() {
        report += &format!("Alive at the peak, step {}: {bytes}\n", step.0);
        let several = planned.memories.len() > 1;
        for occupant in alive.iter().take(20) {
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
        if alive.len() > 20 {
            report += &format!("  and {} more\n", alive.len() - 20);
        }
    }
    if arguments.dump {
        report += &dump(&planned);
    }
    Output::stdout().write_report(&report)
}

/// A model, with the ranges that it was given.
#[cfg(feature = "onnx")]
fn read_onnx(arguments: &TensorsArguments) -> Result<Input, Failure> {
    use tileheap_tensor::onnx::{OnnxOptions, read_onnx};
    let bytes = crate::input::read_bytes(&arguments.file, "model", "an ONNX file")?;
    let mut options = OnnxOptions::default();
    for form in &arguments.range {
        let parsed = form.split_once('=').and_then(|(name, range)| {
            let (least, most) = range.split_once("..").unwrap_or((range, range));
            Some((name.to_owned(), (least.parse().ok()?, most.parse().ok()?)))
        });
        let (name, range) = parsed.ok_or_else(|| {
            Failure::bad_input(format!("--range {form}: write NAME=LEAST..MOST, both inside"))
        })?;
        options.ranges.insert(name, range);
    }
    let graph = read_onnx(&bytes, &options);
    graph
        .map(Input::Graph)
        .map_err(|fault| Failure::bad_input(format!("{}: {fault}", shown(&arguments.file))))
}

#[cfg(not(feature = "onnx"))]
fn read_onnx(arguments: &TensorsArguments) -> Result<Input, Failure> {
    Err(Failure::bad_input(format!(
        "{} is an ONNX file, which this build does not read: it lacks the feature onnx",
        shown(&arguments.file)
    )))
}

/// By what stands in it: a table, lines of JSON, TVM's JSON or this crate's own.
fn read(text: &str) -> Result<Input, tileheap_tensor::TensorError> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if !first.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return read_records(text).map(Input::Records);
    }
    if first.contains("\"op_types\"") {
        return read_lines(text).map(Input::Graph);
    }
    let is_tvm = serde_json::from_str::<Value>(text)
        .is_ok_and(|value| value.get("format").is_none() && value.get("heads").is_some());
    if is_tvm {
        return TvmGraph::read(text).map(Input::Tvm);
    }
    read_graph(text).map(Input::Graph)
}

/// `sram=1048576`, or a name alone for a memory without limits.
fn memories(given: &[String]) -> Result<Vec<MemoryDesc>, Failure> {
    let mut memories = Vec::new();
    for form in given {
        let (name, capacity) = match form.split_once('=') {
            None => (form.as_str(), None),
            Some((name, capacity)) => {
                let bytes = crate::input::parse_bytes(capacity);
                (
                    name,
                    Some(bytes.map_err(|problem| Failure::bad_input(format!("--memory {form}: {problem}")))?),
                )
            }
        };
        if name.is_empty() {
            return Err(Failure::bad_input(format!(
                "--memory {form}: write NAME=BYTES, or NAME for one without limits"
            )));
        }
        memories.push(MemoryDesc {
            capacity,
            ..MemoryDesc::new(name)
        });
    }
    Ok(memories)
}

fn of_records(
    items: &[SpaceItem],
    memories: &[MemoryDesc],
    strategy: TensorStrategy,
) -> Result<Planned, tileheap_tensor::TensorError> {
    let one = [MemoryDesc::new("device")];
    let memories = if memories.is_empty() { &one } else { memories };
    let Space { regions, memories } = place(items, memories, strategy)?;
    let rows = items.iter().zip(&regions).map(|(item, region)| Row {
        name: item.name.clone(),
        storage: None,
        reason: None,
        home: Home::Planned,
        size: item.size,
        regions: vec![*region],
        elsewhere: false,
        lives: item.lives.clone(),
    });
    let timeline = Timeline::of_records(items, &regions);
    let flows = flows(&timeline.occupants, &memories)?;
    Ok(Planned {
        size: memories.iter().map(|memory| memory.size).sum(),
        bound: memories.iter().map(|memory| memory.bound).sum(),
        tensors: rows.collect(),
        memories,
        timeline,
        flows,
        notes: vec![format!("{} tensors", items.len())],
    })
}

fn of_graph(
    choice: &StorageChoice,
    memories: &[MemoryDesc],
    strategy: TensorStrategy,
    how: &TensorHow,
) -> Result<Planned, tileheap_tensor::TensorError> {
    let pitch = Alignment::new(64).expect("not 0");
    let needs: Vec<TensorRequirements> = choice
        .layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, pitch))
        .collect();
    let options = TensorPlanOptions {
        strategy,
        memories: memories.to_vec(),
        in_place: how.in_place,
        ..TensorPlanOptions::default()
    };
    let plan: TensorPlan = plan(&choice.graph, &choice.layouts, &needs, &options)?;
    let images = choice
        .layouts
        .iter()
        .filter(|layout| layout.rule.storage.is_image())
        .count();
    let mut notes = vec![format!(
        "{} tensors, {images} in images, {} conversions, {} hand-overs, {} copies (policy {})",
        choice.graph.tensors().len(),
        choice.conversions.len(),
        plan.handovers.len(),
        plan.copies.len(),
        how.policy,
    )];
    let otherwise = choice.reasons.iter().filter(|reason| **reason != Reason::Asked);
    match otherwise.count() {
        0 => {}
        count => notes.push(format!(
            "{count} images over the limits are something else: --dump says what"
        )),
    }
    for (node, copies) in &plan.unrolled {
        notes.push(format!(
            "loop `{}`: a repeat length of {copies}",
            choice.graph.node(*node).name
        ));
    }
    let rows = choice.graph.tensor_ids().map(|id| {
        let (tensor, placed) = (choice.graph.tensor(id), plan.tensor(id));
        let mut regions: Vec<Region> = Vec::new();
        for region in placed.place.iter().flat_map(|place| place.regions()) {
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
        Row {
            name: tensor.name.clone(),
            storage: Some(placed.layout.rule.storage.name()),
            reason: Some(&choice.reasons[id.index()])
                .filter(|reason| **reason != Reason::Asked)
                .map(Reason::to_string),
            home: placed.home,
            size: placed.size,
            elsewhere: placed.place.is_some() && regions.is_empty(),
            regions,
            lives: placed.lives.clone(),
        }
    });
    let flows = flows(&plan.slots, &plan.memories)?;
    Ok(Planned {
        size: plan.size(),
        bound: plan.bound(),
        tensors: rows.collect(),
        timeline: Timeline::of_plan(&choice.graph, &plan),
        flows,
        memories: plan.memories,
        notes,
    })
}

/// Every tensor with its place and lives, then who takes bytes over from whom, memory by memory.
fn dump(planned: &Planned) -> String {
    let columns: Vec<[String; 3]> = planned.tensors.iter().map(|row| columns(row, planned)).collect();
    let widths = [0, 1].map(|column| columns.iter().map(|row| row[column].len()).max().unwrap_or(0));
    let mut text = "Tensors\n".to_owned();
    for (row, [place, lives, reason]) in planned.tensors.iter().zip(&columns) {
        text += &format!(
            "  {:>16} {:<12} {place:<places$}  {lives:<lifes$}  {}{reason}\n",
            row.size.to_string(),
            row.storage.unwrap_or(""),
            row.name,
            places = widths[0],
            lifes = widths[1],
        );
    }
    text.extend(planned.flows.iter().map(ToString::to_string));
    text
}

/// Where a tensor is, when it lives, and why it is stored as it is.
fn columns(row: &Row, planned: &Planned) -> [String; 3] {
    let place = match (&row.regions[..], row.home) {
        ([], Home::Planned) => "within another".to_owned(),
        ([], home) => format!("{home:?}").to_lowercase(),
        (regions, _) => {
            let at = regions.iter().map(|region| {
                let memory = &planned.memories[region.memory.0 as usize].name;
                format!("{memory} at {}", region.offset)
            });
            at.collect::<Vec<_>>().join(", then ")
        }
    };
    let lives: Vec<String> = row.lives.iter().map(ToString::to_string).collect();
    let reason = row.reason.as_ref();
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    [place, lives.join(" "), reason]
}

fn ratio(size: Bytes, bound: Bytes) -> String {
    match bound.0 {
        0 => "-".to_owned(),
        _ => format!("{:.3}", size.0 as f64 / bound.0 as f64),
    }
}

/// Live bytes over steps, as a curve of at most 64 columns.
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
    format!("Live bytes over {} steps\n  {line}\n", live.len())
}

pub(crate) fn policies() -> impl clap::builder::TypedValueParser<Value = StoragePolicy> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(StoragePolicy::ALL.map(StoragePolicy::name))
        .map(|name| name.parse().expect("a known name"))
}

pub(crate) fn strategies() -> impl clap::builder::TypedValueParser<Value = TensorStrategy> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names: Vec<&'static str> = TensorStrategy::all()
        .into_iter()
        .map(TensorStrategy::name)
        .collect();
    PossibleValuesParser::new(names).map(|name| name.parse().expect("a known name"))
}
