//! `tileheap tensors`: what a network's tensors take, by every strategy.

use serde_json::Value;
use tileheap::tensor::tvm::TvmGraph;
use tileheap::tensor::{
    Flow, Graph, MemoryDesc, Space, SpaceItem, StorageChoice, StorageOptions, StoragePolicy, TensorPlan,
    TensorPlanOptions, TensorRequirements, TensorStrategy, Timeline, choose, flows, place, plan, read_graph,
    read_lines, read_records,
};
use tileheap::units::{Alignment, Bytes};

use crate::arguments::TensorsArguments;
use crate::failure::Failure;
use crate::input::{read_text, shown};
use crate::output::Output;

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
    memories: Vec<(String, Bytes, Bytes, Option<Bytes>)>,
    timeline: Timeline,
    notes: Vec<String>,
    dump: String,
}

pub(crate) fn run(arguments: &TensorsArguments) -> Result<(), Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::bad_input(format!("{}: {error}", shown(&arguments.file)));
    let is_onnx = arguments
        .file
        .extension()
        .is_some_and(|extension| extension == "onnx");
    let input = if is_onnx {
        read_onnx(arguments)?
    } else {
        let text = read_text(&arguments.file, "graph")?;
        read(&text).map_err(|fault| failed(&fault))?
    };
    if let Some(file) = &arguments.graph {
        let (Input::Graph(graph) | Input::Tvm(TvmGraph { graph, .. })) = &input else {
            return Err(Failure::bad_input("--graph writes a graph: records are none"));
        };
        Output::to(Some(file.clone())).write(&graph.to_json())?;
    }
    let memories = memories(&arguments.memory)?;
    let chosen = match &input {
        Input::Graph(graph) | Input::Tvm(TvmGraph { graph, .. }) => {
            let options = StorageOptions {
                policy: arguments.policy,
                ..StorageOptions::default()
            };
            Some(choose(graph, &options).map_err(|fault| failed(&fault))?)
        }
        Input::Records(_) => None,
    };
    let planned = |strategy| match (&input, &chosen) {
        (Input::Records(items), _) => of_records(items, &memories, strategy),
        (_, Some(choice)) => of_graph(choice, &memories, strategy, arguments),
        _ => unreachable!("graphs have a storage choice"),
    };
    let mut report = String::new();
    if arguments.compare {
        report += &format!("{:<22} {:>18} {:>8}\n", "strategy", "bytes", "ratio");
        for strategy in TensorStrategy::all() {
            report += &match planned(strategy) {
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
    let planned = planned(arguments.strategy).map_err(|fault| Failure::new(fault.to_string()))?;
    if let Some(file) = &arguments.trace {
        Output::to(Some(file.clone())).write(&planned.timeline.chrome_trace())?;
    }
    if let (Some(file), Some(choice)) = (&arguments.scopes, &chosen) {
        let Input::Tvm(of) = &input else {
            return Err(Failure::bad_input("--scopes writes a TVM graph back: give one"));
        };
        Output::to(Some(file.clone())).write(&of.write(|id| choice.scope(id).to_owned()))?;
    }
    report += &format!("{} by {}\n", shown(&arguments.file), arguments.strategy);
    for (name, size, bound, capacity) in &planned.memories {
        let capacity = capacity.map_or(String::new(), |capacity| format!(", of {capacity}"));
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
        for occupant in alive.iter().take(20) {
            report += &format!(
                "  {:>16} at {:>16}  {}\n",
                occupant.region.size.to_string(),
                occupant.region.offset.to_string(),
                occupant.name
            );
        }
        if alive.len() > 20 {
            report += &format!("  and {} more\n", alive.len() - 20);
        }
    }
    if arguments.dump {
        report += &planned.dump;
    }
    Output::stdout().write_report(&report)
}

/// A model, with the ranges that it was given.
#[cfg(feature = "onnx")]
fn read_onnx(arguments: &TensorsArguments) -> Result<Input, Failure> {
    use tileheap::tensor::onnx::{OnnxOptions, read_onnx};
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
        "{} is an ONNX file, which this build does not read: cargo install with --features onnx",
        shown(&arguments.file)
    )))
}

/// By what stands in it: a table, lines of JSON, TVM's JSON or this crate's own.
fn read(text: &str) -> Result<Input, tileheap::tensor::TensorFault> {
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
) -> Result<Planned, tileheap::tensor::TensorFault> {
    let one = [MemoryDesc::new("device")];
    let memories = if memories.is_empty() { &one } else { memories };
    let Space { regions, memories } = place(items, memories, strategy)?;
    let rows = items.iter().zip(&regions).map(|(item, region)| {
        format!(
            "  {:<24} {:>16} at {:>16}  {}\n",
            item.name,
            item.size.to_string(),
            region.offset.to_string(),
            item.hull()
        )
    });
    let timeline = Timeline::of_records(items, &regions);
    let flows = dumped(flows(&timeline.occupants, &memories)?);
    Ok(Planned {
        size: memories.iter().map(|memory| memory.size).sum(),
        bound: memories.iter().map(|memory| memory.bound).sum(),
        memories: memories
            .iter()
            .map(|memory| (memory.name.clone(), memory.size, memory.bound, memory.capacity))
            .collect(),
        timeline,
        notes: vec![format!("{} tensors", items.len())],
        dump: format!("Tensors\n{}{flows}", rows.collect::<String>()),
    })
}

fn of_graph(
    choice: &StorageChoice,
    memories: &[MemoryDesc],
    strategy: TensorStrategy,
    arguments: &TensorsArguments,
) -> Result<Planned, tileheap::tensor::TensorFault> {
    let pitch = Alignment::new(64).expect("not 0");
    let needs: Vec<TensorRequirements> = choice
        .layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, pitch))
        .collect();
    let options = TensorPlanOptions {
        strategy,
        memories: memories.to_vec(),
        in_place: !arguments.no_in_place,
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
        arguments.policy,
    )];
    for (node, copies) in &plan.unrolled {
        notes.push(format!(
            "loop `{}`: a repeat length of {copies}",
            choice.graph.node(*node).name
        ));
    }
    let rows = choice.graph.tensor_ids().map(|id| {
        let (tensor, placed) = (choice.graph.tensor(id), plan.tensor(id));
        let storage = placed.layout.rule.storage.name();
        let lives: Vec<String> = placed.lives.iter().map(ToString::to_string).collect();
        let place = match &placed.place {
            None => format!("{:?}", placed.home).to_lowercase(),
            Some(place) => {
                let regions = place.regions();
                let at: Vec<String> = regions
                    .iter()
                    .map(|region| format!("{}+{}", region.memory.0, region.offset.0))
                    .collect();
                at.join(" ")
            }
        };
        let line = format!(
            "  {:<32} {:>16} {storage:<12} {place}  {}\n",
            tensor.name,
            placed.size.to_string(),
            lives.join(" ")
        );
        line
    });
    let flows = dumped(flows(&plan.slots, &plan.memories)?);
    let dump = format!("Tensors\n{}{flows}", rows.collect::<String>());
    Ok(Planned {
        size: plan.size(),
        bound: plan.bound(),
        memories: plan
            .memories
            .iter()
            .map(|memory| (memory.name.clone(), memory.size, memory.bound, memory.capacity))
            .collect(),
        timeline: Timeline::of_plan(&choice.graph, &plan),
        notes,
        dump,
    })
}

/// Who takes bytes over from whom, memory by memory.
fn dumped(flows: Vec<Flow>) -> String {
    flows.iter().map(ToString::to_string).collect()
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
