//! Aliasing: the tensors whose bytes a node's output reuses.

use std::collections::{BTreeMap, BTreeSet};

use super::expansion::{Expansion, ValueId};
use super::types::{Aliasing, Region};
use crate::graph::TensorId;
use crate::units::Step;
use tileheap_pack::ByteOwners;

/// Every aliasing, by step. A body or graph that runs again aliases with its previous run.
pub(super) fn aliasing(expansion: &Expansion, regions: &[Option<Region>]) -> Vec<Aliasing> {
    let placed = |&(_, value): &(u32, ValueId)| regions[value].is_some();
    let writes: BTreeSet<(u32, ValueId)> = expansion.writes.iter().copied().filter(placed).collect();
    let writes = Vec::from_iter(writes);
    let mut sweep = Sweep {
        regions,
        owners: BTreeMap::new(),
        found: BTreeMap::new(),
    };
    // Twice, so that the first steps meet what the last ones left; each body twice in each.
    let mut rounds = expansion.rounds.clone();
    rounds.sort_unstable_by_key(|&(from, end)| (end, std::cmp::Reverse(from)));
    for _ in 0..2 {
        let mut done = 0;
        for &(from, end) in &rounds {
            let first = writes.partition_point(|&(step, _)| step < from);
            let last = writes.partition_point(|&(step, _)| step < end);
            sweep.run(&writes[done.min(last)..last]);
            sweep.run(&writes[first..last]);
            done = done.max(last);
        }
        sweep.run(&writes[done..]);
    }
    let aliasing = sweep.found.into_iter().map(|((step, value), from)| {
        let tensor = |value: ValueId| expansion.values[value].tensor;
        let to = tensor(value);
        let from: BTreeSet<TensorId> = from.into_iter().map(tensor).filter(|&from| from != to).collect();
        Aliasing {
            step: Step(step),
            node: expansion.timeline[step as usize].node,
            output: to,
            previous: Vec::from_iter(from),
        }
    });
    aliasing
        .filter(|aliasing| !aliasing.previous.is_empty())
        .collect()
}

struct Sweep<'a> {
    regions: &'a [Option<Region>],
    owners: BTreeMap<u32, ByteOwners<ValueId>>,
    found: BTreeMap<(u32, ValueId), BTreeSet<ValueId>>,
}

impl Sweep<'_> {
    fn run(&mut self, writes: &[(u32, ValueId)]) {
        let mut lost = Vec::new();
        for &(step, value) in writes {
            let Some(region) = self.regions[value] else {
                continue;
            };
            lost.clear();
            let end = region.offset.0 + region.size.0;
            let owners = self.owners.entry(region.memory.0).or_default();
            owners.take(region.offset.0, end, value, &mut lost);
            let known = self.found.entry((step, value)).or_default();
            known.extend(
                lost.iter()
                    .map(|&(_, _, from)| from)
                    .filter(|&from| from != value),
            );
        }
    }
}
