//! The plan of a network by one strategy.

use std::collections::BTreeMap;

use tileheap::units::{Alignment, Bytes, Span};
use tileheap_tensor::graph::TensorSource;
use tileheap_tensor::layout::{ImageExtent, StorageReason};
use tileheap_tensor::plan::flow::{Flow, flows};
use tileheap_tensor::plan::placement::{PlacedRegions, SpaceItem, place};
use tileheap_tensor::plan::timeline::Timeline;
use tileheap_tensor::plan::{Backing, MemoryPlan, Region};
use tileheap_tensor::{
    MemoryDesc, Result, StorageChoice, TensorId, TensorPlan, TensorPlanOptions, TensorRequirements, check,
    plan,
};

use super::options::Strategy;
use crate::documents::TensorLocation;
use crate::values::counted;

/// The plan of a network.
pub(crate) struct Planned {
    pub(crate) size: Bytes,
    pub(crate) bound: Bytes,
    pub(crate) memories: Vec<MemoryPlan>,
    pub(crate) tensors: Vec<Row>,
    /// The names of the graph's inputs and outputs; empty for records.
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) timeline: Timeline,
    pub(crate) flows: Vec<Flow>,
    pub(crate) notes: Vec<String>,
    /// Reasons that tensors are not in images, with the number of tensors for each.
    pub(crate) without_image: Vec<String>,
}

/// The placement of a tensor.
pub(crate) struct Row {
    pub(crate) name: String,
    /// The kind of storage; `None` if unknown.
    pub(crate) storage: Option<&'static str>,
    /// The extent of an image, in texels.
    pub(crate) extent: Option<ImageExtent>,
    /// The TVM storage scope.
    pub(crate) scope: Option<String>,
    /// The reason that the tensor's storage differs from the policy's choice.
    pub(crate) reason: Option<String>,
    pub(crate) backing: Backing,
    pub(crate) size: Bytes,
    /// The regions of the tensor in memory, in chronological order.
    pub(crate) regions: Vec<Region>,
    /// The location of the tensor in each loop iteration; `None` unless planned.
    pub(crate) place: Option<TensorLocation>,
    /// True for a part of another tensor, and for the result of a loop.
    pub(crate) is_within_another: bool,
    pub(crate) lifetimes: Vec<Span>,
}

/// Plans the tensors of a network that is given as records of lifetimes.
pub(super) fn of_records(
    items: &[SpaceItem],
    memories: &[MemoryDesc],
    strategy: Strategy,
) -> Result<Planned> {
    let one = [MemoryDesc::new("device")];
    let memories = if memories.is_empty() { &one } else { memories };
    let PlacedRegions { regions, memories } = place(items, memories, strategy)?;
    let rows = items.iter().zip(&regions).map(|(item, region)| Row {
        name: item.name.clone(),
        storage: None,
        extent: None,
        scope: None,
        reason: None,
        place: Some(TensorLocation::At(*region)),
        backing: Backing::Planned,
        size: item.size,
        regions: vec![*region],
        is_within_another: false,
        lifetimes: item.lifetimes.clone(),
    });
    let timeline = Timeline::of_records(items, &regions);
    let flows = flows(&timeline.allocations, &memories)?;
    Ok(Planned {
        size: memories.iter().map(|memory| memory.size).sum(),
        bound: memories.iter().map(|memory| memory.lower_bound).sum(),
        tensors: rows.collect(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        memories,
        timeline,
        flows,
        notes: vec![counted(items.len() as u64, "tensor")],
        without_image: Vec::new(),
    })
}

/// Plans a graph with the storage that was chosen for its tensors.
pub(super) fn of_graph(
    choice: &StorageChoice,
    policy: &str,
    options: &TensorPlanOptions<'_>,
) -> Result<Planned> {
    let pitch = Alignment::new(64).expect("not 0");
    let needs: Vec<TensorRequirements> = choice
        .layouts
        .iter()
        .map(|layout| TensorRequirements::of_layout(layout, pitch))
        .collect();
    let plan: TensorPlan = plan(&choice.graph, &choice.layouts, &needs, options)?;
    // Checks two consecutive runs, because the second one must still find its weights.
    check(&choice.graph, &needs, &plan, 2)?;
    let images = choice
        .layouts
        .iter()
        .filter(|layout| layout.rule.storage.is_image())
        .count();
    let mut notes = vec![format!(
        "{}, {images} in images, {}, {}, {} (policy {policy})",
        counted(choice.graph.tensors().len() as u64, "tensor"),
        counted(choice.conversions.len() as u64, "conversion"),
        counted(plan.aliasing.len() as u64, "memory reuse"),
        counted(plan.copies.len() as u64, "copy"),
    )];
    notes.extend(choice.graph.notes().iter().cloned());
    if plan.memories.len() > 1 {
        notes.extend(TensorPlan::traffic_note(&choice.graph));
    }
    use StorageReason::{AsRequested, NoImage};
    let is_over = |reason: &&StorageReason| !matches!(reason, AsRequested | NoImage(_));
    match choice.reasons.iter().filter(is_over).count() {
        0 => {}
        1 => notes.push("1 tensor exceeds the image limits and is stored differently: see --dump".to_owned()),
        count => notes.push(format!(
            "{count} tensors exceed the image limits and are stored differently: see --dump"
        )),
    }
    let outside: Vec<u64> = choice
        .graph
        .tensor_ids()
        .filter(|id| choice.graph.tensor(*id).source == TensorSource::Constant)
        .map(|id| choice.layouts[id.index()].bytes().0)
        .collect();
    if !outside.is_empty() {
        let (count, bytes) = (outside.len() as u64, Bytes(outside.iter().sum()));
        let constants = counted(count, "constant");
        notes.push(format!(
            "{constants}, {bytes} in total, outside the planned memory"
        ));
    }
    for copy in &plan.copies {
        let name = |id| &choice.graph.tensor(id).name;
        let node = &choice.graph.node(copy.node).name;
        let to = match copy.from == copy.to {
            true => "the caller's memory".to_owned(),
            false => format!("`{}`", name(copy.to)),
        };
        notes.push(format!(
            "`{node}`: `{}` is copied to {to}, {}: {}",
            name(copy.from),
            copy.time,
            copy.reason
        ));
    }
    for (node, copies) in &plan.unrolled {
        notes.push(format!(
            "loop `{}`: unrolled {copies} times",
            choice.graph.node(*node).name
        ));
    }
    for continued in &plan.continued {
        let name = |node| &choice.graph.node(node).name;
        let more = continued.more.iter().map(u64::to_string).collect::<Vec<_>>();
        notes.push(format!(
            "loop `{}`: inside `{}`, each execution continues the previous one's iteration numbering (offset at each exit: {})",
            name(continued.node),
            name(continued.within),
            more.join(" or ")
        ));
    }
    let rows = choice.graph.tensor_ids().map(|id| {
        let (tensor, placed) = (choice.graph.tensor(id), plan.tensor(id));
        let mut regions: Vec<Region> = Vec::new();
        for region in placed.placement.iter().flat_map(|place| place.regions()) {
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
        Row {
            name: tensor.name.clone(),
            storage: Some(placed.layout.rule.storage.name()),
            extent: placed
                .layout
                .rule
                .storage
                .is_image()
                .then_some(placed.layout.extent),
            scope: Some(choice.scope(id))
                .filter(|scope| !scope.is_empty())
                .map(str::to_owned),
            reason: Some(&choice.reasons[id.index()])
                .filter(is_over)
                .map(StorageReason::to_string),
            place: placed
                .placement
                .as_ref()
                .map(|place| TensorLocation::of(&choice.graph, place)),
            backing: placed.backing,
            size: placed.size,
            is_within_another: placed.placement.is_some() && regions.is_empty(),
            regions,
            lifetimes: placed.lifetimes.clone(),
        }
    });
    let mut without_image: BTreeMap<String, usize> = BTreeMap::new();
    for reason in choice
        .reasons
        .iter()
        .filter(|reason| matches!(reason, NoImage(_)))
    {
        *without_image.entry(reason.to_string()).or_default() += 1;
    }
    let without_image = without_image.into_iter().map(|(reason, count)| match count {
        1 => format!("1 tensor in a buffer: {reason}"),
        _ => format!("{count} tensors in buffers: {reason}"),
    });
    let flows = flows(&plan.allocations, &plan.memories)?;
    let names = |ids: &[TensorId]| {
        ids.iter()
            .map(|&id| choice.graph.tensor(id).name.clone())
            .collect()
    };
    Ok(Planned {
        size: plan.size(),
        bound: plan.lower_bound(),
        tensors: rows.collect(),
        inputs: names(choice.graph.inputs()),
        outputs: names(choice.graph.outputs()),
        timeline: Timeline::of_plan(&choice.graph, &plan),
        flows,
        memories: plan.memories,
        notes,
        without_image: without_image.collect(),
    })
}
