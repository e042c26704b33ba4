//! `plan`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use tileheap_device::profile::DeviceProfile;
use tileheap_json::decode;
use tileheap_pack::Item;
use tileheap_tensor::file_kind::{check_contents, check_uncompiled, has_extension};
use tileheap_tensor::graph::ShapeBound;
use tileheap_tensor::import::ImportedInput;
use tileheap_tensor::import::onnx::{OnnxOptions, is_onnx, read_onnx};
use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::layout::{ImageLimits, StorageReason};
use tileheap_tensor::plan::placement::{PlacedRegions, SpaceItem, place};
use tileheap_tensor::plan::{Backing, CarryRule, MemoryPlan, Offsets, Placement, Region};
use tileheap_tensor::storage::{StoragePolicies, default_policy};
use tileheap_tensor::units::{Alignment, Bytes, Span};
use tileheap_tensor::{
    Graph, MemoryDesc, Result, StorageOptions, TensorId, TensorPlan, TensorPlanOptions, TensorRequirements,
    check, choose,
};

use crate::error::{error, of_plan};
use crate::packing::{Fields, NUMBERS, strategy_of};
use crate::search::{Interruptible, Interrupts};

/// The keyword arguments of `tileheap.plan`.
#[derive(Deserialize)]
struct Options {
    strategy: String,
    policy: Option<String>,
    /// The name and the capacity of each memory.
    memories: Vec<(String, Option<Bytes>)>,
    /// For each tensor that is assigned to a memory, by name, the memory's name.
    memory_of: BTreeMap<String, String>,
    alignment: Alignment,
    in_place: bool,
    inputs: Vec<String>,
    keep_inputs: bool,
    plan_inputs: bool,
    plan_outputs: bool,
    carry: CarryRule,
    unroll_limit: u32,
    bound: ShapeBound,
    ranges: BTreeMap<String, (u64, u64)>,
    /// The path of the file, if there is one.
    file: Option<PathBuf>,
    image_limit: u64,
    /// The name of a device profile.
    profile: Option<String>,
}

/// `tileheap.TensorPlan`, as JSON.
#[derive(Default, Serialize)]
struct Plan {
    memories: Vec<MemoryPlan>,
    names: Vec<String>,
    /// The names of the graph's inputs and outputs; empty for records.
    inputs: Vec<String>,
    outputs: Vec<String>,
    sizes: Vec<Bytes>,
    storage: Vec<Option<&'static str>>,
    reasons: Vec<Option<String>>,
    backing: Vec<&'static str>,
    /// For a part of another tensor, that tensor and the offset in it.
    within: Vec<Option<(String, Bytes)>>,
    /// Width, height and layers of images, in texels.
    extents: Vec<Option<[u64; 3]>>,
    /// Rows of four numbers: tensor, memory, offset and size.
    regions: Vec<u64>,
    /// Rows of three numbers: tensor, first step, and the step after the last one.
    lifetimes: Vec<u64>,
    /// Per reuse: step, node, output, and the tensors that used the bytes before.
    reuses: Vec<(u32, String, String, Vec<String>)>,
    /// Per copy: node, source, destination (`None` for the caller's memory of the source), bytes, time and reason.
    copies: Vec<(String, String, Option<String>, Bytes, String, String)>,
    unrolled: BTreeMap<String, u32>,
    /// The node of each step.
    steps: Vec<String>,
    /// Assumptions that the reader of the graph made.
    notes: Vec<String>,
}

impl Plan {
    fn row(&mut self, name: &str, size: Bytes, regions: Vec<Region>, lifetimes: &[Span]) {
        let index = self.names.len() as u64;
        for region in regions {
            let row = [index, region.memory.0.into(), region.offset.0, region.size.0];
            self.regions.extend(row);
        }
        for lifetime in lifetimes {
            let row = [index, lifetime.first.0.into(), lifetime.end.0.into()];
            self.lifetimes.extend(row);
        }
        self.names.push(name.to_owned());
        self.sizes.push(size);
    }

    /// Makes the alignment of a memory one for a tensor in it.
    fn align(&mut self, region: Region, alignment: Alignment) {
        let memory = &mut self.memories[region.memory.0 as usize];
        memory.alignment = memory.alignment.lcm(alignment).unwrap_or(memory.alignment);
    }

    fn of_records(
        items: &[SpaceItem],
        mut memories: Vec<MemoryDesc>,
        strategy: Interruptible<'_>,
    ) -> Result<Plan> {
        if memories.is_empty() {
            memories.push(MemoryDesc::new("device"));
        }
        let PlacedRegions { regions, memories } = place(items, &memories, &Offsets(strategy))?;
        let mut plan = Plan {
            memories,
            ..Plan::default()
        };
        for (item, region) in items.iter().zip(regions) {
            plan.row(&item.name, item.size, vec![region], &item.lifetimes);
            plan.storage.push(None);
            plan.reasons.push(None);
            plan.backing.push("planned");
            plan.within.push(None);
            plan.extents.push(None);
            plan.align(region, item.alignment);
        }
        Ok(plan)
    }

    fn of_graph(
        mut graph: Graph,
        options: &Options,
        memories: Vec<MemoryDesc>,
        strategy: Interruptible<'_>,
    ) -> Result<Plan> {
        if options.keep_inputs {
            graph = graph.with_kept_inputs();
        }
        let named = |name: &String| StoragePolicies::default().named(name);
        let policy = options
            .policy
            .as_ref()
            .map_or(Ok(default_policy(&graph)), named)?;
        let storage = StorageOptions {
            policy,
            limits: ImageLimits {
                side_2d: options.image_limit,
                ..ImageLimits::default()
            },
            bounding: options.bound,
            ..StorageOptions::default()
        };
        let choice = choose(&graph, &storage)?;
        let graph = &choice.graph;
        let of_layout = |layout| TensorRequirements::of_layout(layout, options.alignment);
        let needs: Vec<TensorRequirements> = choice.layouts.iter().map(of_layout).collect();
        let memory_of = |graph: &Graph, id: TensorId| {
            let given = options.memory_of.get(&graph.tensor(id).name).cloned();
            // Contents of the tile heap are lost when the batch or submit ends.
            let is_kept = || graph.inputs().contains(&id) || graph.outputs().contains(&id);
            given.or_else(|| (options.profile.is_some() && is_kept()).then(|| ORDINARY_MEMORY.to_owned()))
        };
        let plan_options = TensorPlanOptions {
            strategy: &Offsets(strategy),
            memories,
            plan_inputs: options.plan_inputs,
            plan_outputs: options.plan_outputs,
            in_place: options.in_place,
            carry: options.carry,
            unroll_limit: options.unroll_limit,
            memory_of: Some(&memory_of),
            ..TensorPlanOptions::default()
        };
        let planned = tileheap_tensor::plan(graph, &choice.layouts, &needs, &plan_options)?;
        check(graph, &needs, &planned, 2)?; // Two consecutive runs: the second must find its weights.
        let tensor = |id: TensorId| graph.tensor(id).name.clone();
        let mut plan = Plan {
            memories: planned.memories,
            inputs: graph.inputs().iter().map(|&id| tensor(id)).collect(),
            outputs: graph.outputs().iter().map(|&id| tensor(id)).collect(),
            ..Plan::default()
        };
        for (id, placed) in graph.tensor_ids().zip(&planned.tensors) {
            let mut regions: Vec<Region> = placed.placement.iter().flat_map(|of| of.regions()).collect();
            regions.dedup();
            let is_within_another = placed.placement.is_some() && regions.is_empty();
            for &region in &regions {
                plan.align(region, needs[id.index()].alignment);
            }
            plan.row(&tensor(id), placed.size, regions, &placed.lifetimes);
            let storage = placed.layout.rule.storage;
            plan.storage.push(Some(storage.name()));
            plan.backing.push(match (is_within_another, placed.backing) {
                (true, _) => "part of another",
                (_, Backing::Planned) => "planned",
                (_, Backing::External) => "external",
                (_, Backing::Constant) => "constant",
            });
            plan.within.push(match &placed.placement {
                Some(Placement::Within { tensor: of, offset }) => Some((tensor(*of), *offset)),
                _ => None,
            });
            let extent = placed.layout.extent;
            let extent = [extent.width, extent.height, extent.layers];
            plan.extents.push(storage.is_image().then_some(extent));
            let reason = &choice.reasons[id.index()];
            plan.reasons
                .push((*reason != StorageReason::AsRequested).then(|| reason.to_string()));
        }
        let node = |id| graph.node(id).name.clone();
        for reuse in &planned.aliasing {
            let previous = reuse.previous.iter().map(|&id| tensor(id)).collect();
            plan.reuses
                .push((reuse.step.0, node(reuse.node), tensor(reuse.output), previous));
        }
        for copy in &planned.copies {
            let (when, why) = (copy.time.to_string(), copy.reason.to_string());
            plan.copies.push((
                node(copy.node),
                tensor(copy.from),
                (copy.to != copy.from).then(|| tensor(copy.to)),
                copy.size,
                when,
                why,
            ));
        }
        let unrolled = planned.unrolled.iter().map(|&(id, count)| (node(id), count));
        plan.unrolled.extend(unrolled);
        plan.steps
            .extend(planned.timeline.iter().map(|step| node(step.node)));
        plan.notes = graph.notes().to_vec();
        let has_several = plan.memories.len() > 1;
        plan.notes
            .extend(TensorPlan::traffic_note(graph).filter(|_| has_several));
        Ok(plan)
    }
}

/// The name of the memory after the tile heap of a profile.
const ORDINARY_MEMORY: &str = "memory";

impl Options {
    /// The memories that the options name: those in `memories`, or the tile heap of a profile and ordinary memory.
    fn memories_named(&self) -> Result<Vec<MemoryDesc>, String> {
        let memory = |(name, capacity): &(String, Option<Bytes>)| MemoryDesc {
            capacity: *capacity,
            ..MemoryDesc::new(name)
        };
        let Some(profile) = &self.profile else {
            return Ok(self.memories.iter().map(memory).collect());
        };
        if !self.memories.is_empty() {
            return Err("profile: give either `profile` or `memories`".to_owned());
        }
        let found = DeviceProfile::preset(profile).map_err(|error| format!("profile: {error}"))?;
        let tile = found.tile;
        let tile = tile.ok_or_else(|| format!("profile: device `{profile}` has no tile heap"))?;
        let tile = MemoryDesc {
            alignment: tile.block.bytes,
            ..MemoryDesc::limited("tile", tile.size)
        };
        Ok(vec![tile, MemoryDesc::new(ORDINARY_MEMORY)])
    }

    /// Returns a name in `memory_of` that no tensor has.
    fn unknown_tensor(&self, input: &ImportedInput) -> Option<&String> {
        let names: BTreeSet<&str> = match input {
            ImportedInput::Records(items) => items.iter().map(|item| &*item.name).collect(),
            ImportedInput::Graph(graph) | ImportedInput::Tvm(TvmGraph { graph, .. }) => {
                graph.tensor_ids().map(|id| &*graph.tensor(id).name).collect()
            }
        };
        self.memory_of.keys().find(|name| !names.contains(name.as_str()))
    }
}

/// The contents of a file, or records as lists of numbers.
#[derive(FromPyObject)]
pub(crate) enum Source {
    File(Vec<u8>),
    Records(Fields),
}

impl Source {
    /// Reads the input; also returns whether it is an ONNX model.
    fn read(self, options: &Options, py: Python<'_>) -> PyResult<(ImportedInput, bool)> {
        let bytes = match self {
            Source::Records(fields) => return Ok((ImportedInput::Records(records(&fields)), false)),
            Source::File(bytes) => bytes,
        };
        let path = options.file.as_deref().unwrap_or(Path::new(""));
        let kind = check_contents(path, &bytes).and_then(|()| check_uncompiled(&bytes));
        kind.map_err(|problem| error(format!("the file {problem}"), None::<u32>, py))?;
        let is_model = has_extension(path, "onnx") || is_onnx(&bytes);
        if let Some(symbol) = options.ranges.keys().next().filter(|_| !is_model) {
            let message = "ranges: the file is not an ONNX model, and has no dynamic dimensions".to_owned();
            return Err(error(message, Some(symbol), py));
        }
        let read = py.detach(|| {
            if is_model {
                let (ranges, folder) = (options.ranges.clone(), path.parent().map(Into::into));
                let folder = folder.filter(|_| options.file.is_some());
                return Ok(read_onnx(&bytes, &OnnxOptions { ranges, folder }).map(ImportedInput::Graph));
            }
            decode(&bytes).map(|text| ImportedInput::parse(text, &options.inputs))
        });
        let read = read.map_err(|problem| {
            let form = "give a graph as JSON, records as CSV, or an ONNX file";
            error(format!("{problem}: {form}"), None::<u32>, py)
        })?;
        let read = read.map_err(|error| of_plan(&error, is_model, py))?;
        Ok((read, is_model))
    }
}

fn records(fields: &Fields) -> Vec<SpaceItem> {
    let item = |(name, item): (&String, Item)| SpaceItem {
        alignment: item.alignment,
        ..SpaceItem::record(name, item.span, item.size)
    };
    fields.names.iter().zip(fields.items()).map(item).collect()
}

/// The message about an option that has another form.
fn invalid_option(path: &str, problem: &str) -> String {
    // Python's callers write a tuple.
    let problem = match path.starts_with("ranges.") {
        true => problem.replace("a list of length 2 is expected", "(MIN, MAX) is expected"),
        false => problem.to_owned(),
    };
    format!("{path}: {problem}")
}

/// Implements `tileheap.plan`; options and plan are JSON.
#[pyfunction]
pub(crate) fn plan(py: Python<'_>, source: Source, options: &str) -> PyResult<String> {
    let options: Options = tileheap_json::parse(options)
        .map_err(|fault| error(invalid_option(&fault.path, &fault.problem), None::<u32>, py))?;
    let strategy = strategy_of(&options.strategy, py)?;
    if let Some(policy) = &options.policy {
        let known = StoragePolicies::default().named(policy);
        known.map_err(|problem| of_plan(&problem, false, py))?;
    }
    let memories = options.memories_named();
    let memories = memories.map_err(|problem| error(problem, None::<u32>, py))?;
    let (mut input, is_model) = source.read(&options, py)?;
    if let Some(name) = options.unknown_tensor(&input) {
        return Err(error(
            format!("memory_of: no tensor is named `{name}`"),
            Some(name),
            py,
        ));
    }
    if let ImportedInput::Records(items) = &mut input {
        for item in items {
            let memory = options.memory_of.get(&item.name).cloned();
            item.memory = memory.or(item.memory.take());
        }
    }
    if options.policy.is_some() && matches!(input, ImportedInput::Records(_)) {
        let message =
            "`policy` does not apply to tables and problems: their tensors have sizes, but no shapes";
        return Err(error(message.to_owned(), None::<u32>, py));
    }
    let interrupts = Interrupts::new(None);
    let planned = py.detach(|| {
        let strategy = Interruptible(strategy, &interrupts);
        let plan = match input {
            ImportedInput::Records(items) => Plan::of_records(&items, memories, strategy),
            ImportedInput::Graph(graph) | ImportedInput::Tvm(TvmGraph { graph, .. }) => {
                Plan::of_graph(graph, &options, memories, strategy)
            }
        };
        plan.map(|plan| serde_json::to_string(&plan).expect(NUMBERS))
    });
    interrupts.finish(())?;
    planned.map_err(|error| of_plan(&error, is_model, py))
}
