//! The items of a plan: classes of values as a strategy places them, with their memories and bounds.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::bound::graph_bounds;
use super::classes::Coalesced;
use super::expansion::{Expansion, InPlaceCandidate, Rules, Value, ValueId, ValueKind};
use super::item::{ItemImage, SpaceItem};
use super::memory::MemoryDesc;
use super::options::TensorPlanOptions;
use super::place::PlacedRegions;
use super::places::merged;
use crate::graph::TensorId;
use crate::units::{Bytes, Span};

/// Lowers each memory's lower bound, which holds only for the placed items, to that of the graph, which holds for any plan, regardless of what
/// it copies or keeps apart.
pub(super) fn lower_bounds(
    rules: &Rules<'_>,
    item_of: &[Option<usize>],
    coalesced: &Coalesced,
    space: &mut PlacedRegions,
) {
    let expansion = &coalesced.expansion;
    let joined = |candidate: &InPlaceCandidate| {
        let [output, input] = [candidate.output, candidate.input].map(|value| item_of[value]);
        output == input || output.is_none() || input.is_none()
    };
    if expansion.rounds.is_empty()
        && expansion.copies.is_empty()
        && expansion.in_place_candidates.iter().all(joined)
    {
        return; // Nothing was chosen.
    }
    let mut memory_of: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); rules.graph.tensors().len()];
    for (value, item) in expansion.values.iter().zip(item_of) {
        let memory = item.map(|item| space.regions[item].memory.0);
        memory_of[value.tensor.index()].extend(memory);
    }
    let bounds = graph_bounds(rules, &memory_of, space.memories.len());
    for (memory, bound) in space.memories.iter_mut().zip(bounds) {
        memory.lower_bound = memory.lower_bound.min(Bytes(bound));
    }
}

/// The items to place, and the item of each value.
pub(super) fn items(
    rules: &Rules<'_>,
    coalesced: &Coalesced,
    options: &TensorPlanOptions<'_>,
) -> (Vec<SpaceItem>, Vec<Option<usize>>) {
    let expansion = &coalesced.expansion;
    let images = |value: &Value| rules.requirements[value.tensor.index()].image;
    let mixed = options.granularity.get() > 1 && expansion.values.iter().any(images);
    let pins = pins(rules, expansion);
    let mut items = Vec::new();
    let mut item_of = vec![None; expansion.values.len()];
    for members in &coalesced.classes.members {
        let values = members.iter().map(|&value| &expansion.values[value]);
        let Some(first) = values.clone().find(|value| value.kind != ValueKind::External) else {
            continue;
        };
        let spans = values.clone().flat_map(|value| &value.spans).copied();
        let lifetimes: Vec<Span> = spans.filter(|lifetime| !lifetime.is_empty()).collect();
        let needs = &rules.requirements[first.tensor.index()];
        let (mut size, mut alignment) = (needs.size, needs.alignment);
        if mixed && !needs.image {
            // A buffer that starts and ends on the granularity shares no page with an image, wherever the image is.
            alignment = alignment.lcm(options.granularity).unwrap_or(alignment);
            size = size.align_up(options.granularity);
        }
        let tensor = rules.graph.tensor(first.tensor);
        let accesses = values.fold(0, |sum: u64, value| sum.saturating_add(value.accesses));
        for &value in members {
            item_of[value] = Some(items.len());
        }
        items.push(SpaceItem {
            name: tensor.name.clone(),
            lifetimes: merged(lifetimes),
            size,
            alignment,
            memory_type_bits: needs.memory_type_bits,
            memory: rules
                .pin(first.tensor)
                .map(Cow::into_owned)
                .or_else(|| members.iter().find_map(|value| pins.get(value).cloned())),
            image: needs.image.then(|| item_image(rules, first.tensor)),
            storage_id: tensor.storage_id,
            traffic: size.0.saturating_mul(accesses.max(1)),
        });
    }
    (items, item_of)
}

/// The memory to which a tensor with each value is pinned: also an output of a loop, or a view, whose value was made for another tensor.
pub(super) fn pins(rules: &Rules<'_>, expansion: &Expansion) -> BTreeMap<ValueId, String> {
    let mut pins = BTreeMap::new();
    for (id, instances) in rules.graph.tensor_ids().zip(&expansion.instances) {
        let Some(memory) = rules.pin(id) else { continue };
        let values = instances.iter().flat_map(|&(_, bind)| expansion.values_of(bind));
        for value in values {
            pins.entry(value).or_insert_with(|| memory.clone().into_owned());
        }
    }
    pins
}

fn item_image(rules: &Rules<'_>, tensor: TensorId) -> ItemImage {
    let layout = &rules.layouts[tensor.index()];
    let of = rules.graph.tensor(tensor);
    ItemImage {
        width: layout.extent.width,
        height: layout.extent.height * layout.extent.layers,
        element: of.element,
        scope: of.scope.clone().unwrap_or_default(),
    }
}

/// Returns the given memories; if there are none, a memory without limits for each memory type that is the lowest supported type of some item. A
/// single one is named `device`, like that of records.
pub(super) fn memories(items: &[SpaceItem], given: &[MemoryDesc]) -> Vec<MemoryDesc> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let lowest = |item: &SpaceItem| item.memory_type_bits.trailing_zeros();
    let mut types: BTreeSet<u32> = items.iter().map(lowest).collect();
    if types.is_empty() {
        types.insert(0);
    }
    let name = |memory_type: &u32| match types.len() {
        1 => "device".to_owned(),
        _ => format!("type {memory_type}"),
    };
    let memory = |memory_type: &u32| MemoryDesc {
        memory_type_bits: 1u32.checked_shl(*memory_type).unwrap_or(0),
        ..MemoryDesc::new(name(memory_type))
    };
    types.iter().map(memory).collect()
}
