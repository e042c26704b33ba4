//! Aliasing: the tensors whose bytes a node's output reuses.

use std::collections::{BTreeMap, BTreeSet};

use super::expansion::{BranchSteps, Expansion, ValueId};
use super::types::{Aliasing, Region};
use crate::graph::TensorId;
use crate::units::Step;
use tileheap_pack::ByteOwners;

/// Every reuse of bytes by another tensor, in order of steps. A body or graph that runs again aliases with its previous
/// iteration; after a branch, any of its arms may be the previous owner.
pub(super) fn aliasing(expansion: &Expansion, regions: &[Option<Region>]) -> Vec<Aliasing> {
    let placed = |&(_, value): &(u32, ValueId)| regions[value].is_some();
    let writes: BTreeSet<(u32, ValueId)> = expansion.writes.iter().copied().filter(placed).collect();
    let mut sweep = Sweep {
        regions,
        writes: Vec::from_iter(writes),
        forks: forks(expansion),
        owners: BTreeMap::new(),
        found: BTreeMap::new(),
        sets: Sets::default(),
    };
    let end = expansion.timeline.len() as u32;
    // Twice, so that the first steps see the owners left by the last ones; each body also runs twice.
    sweep.run((0, end), 0, true);
    sweep.run((0, end), 0, true);
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

/// Steps that may run repeatedly (a loop's body) or alternatively (a branch's arms).
enum Fork<'a> {
    /// A loop's body: its steps, and the steps other than the first at which it may be entered.
    Body((u32, u32), Vec<u32>),
    Arms(&'a BranchSteps),
}

impl Fork<'_> {
    fn steps(&self) -> (u32, u32) {
        match self {
            Fork::Body(steps, _) => *steps,
            Fork::Arms(of) => (of.enter, of.join),
        }
    }
}

/// Returns the bodies and branches in the order of their first steps, enclosing ones before those inside them.
fn forks(expansion: &Expansion) -> Vec<Fork<'_>> {
    let bodies = expansion.rounds.iter().enumerate().map(|(run, &steps)| {
        let continued = expansion
            .continued
            .iter()
            .filter(|continued| continued.run == run);
        let entries = continued.flat_map(|continued| &continued.copies[1..]);
        Fork::Body(steps, entries.copied().collect())
    });
    let mut forks: Vec<Fork<'_>> = bodies
        .chain(expansion.branches.iter().map(Fork::Arms))
        .filter(|fork| fork.steps().0 < fork.steps().1)
        .collect();
    forks.sort_by_key(|fork| {
        let (first, end) = fork.steps();
        (first, std::cmp::Reverse(end))
    });
    forks
}

/// Interned sets of values that may own a range of bytes; after a branch, the values of all arms.
#[derive(Default)]
struct Sets {
    members: Vec<Vec<ValueId>>,
    known: BTreeMap<Vec<ValueId>, u32>,
}

impl Sets {
    fn id(&mut self, members: Vec<ValueId>) -> u32 {
        if let Some(&id) = self.known.get(&members) {
            return id;
        }
        let id = self.members.len() as u32;
        self.members.push(members.clone());
        self.known.insert(members, id);
        id
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let both = [&self.members[a as usize], &self.members[b as usize]]
            .into_iter()
            .flatten();
        let both: BTreeSet<ValueId> = both.copied().collect();
        self.id(both.into_iter().collect())
    }

    /// The possible owners after either of two paths.
    fn either(&mut self, a: &Owners, b: &Owners) -> Owners {
        let mut all = a.clone();
        for (&memory, owners) in b {
            let into = all.entry(memory).or_default();
            for (first, end, set) in owners.ranges() {
                let mut before = Vec::new();
                into.take(first, end, set, &mut before);
                for (first, end, other) in before {
                    let both = self.union(set, other);
                    into.take(first, end, both, &mut Vec::new());
                }
            }
        }
        all
    }
}

/// For each memory, the set of possible owners of each byte.
type Owners = BTreeMap<u32, ByteOwners<u32>>;

struct Sweep<'a> {
    regions: &'a [Option<Region>],
    writes: Vec<(u32, ValueId)>,
    forks: Vec<Fork<'a>>,
    owners: Owners,
    found: BTreeMap<(u32, ValueId), BTreeSet<ValueId>>,
    sets: Sets,
}

impl Sweep<'_> {
    /// Simulates steps; `fork` is the index of the first fork among them or after them. Bodies inside are simulated twice if `twice` is true,
    /// otherwise once. Returns the index after their last fork.
    fn run(&mut self, (mut from, end): (u32, u32), mut fork: usize, twice: bool) -> usize {
        while let Some(next) = self.forks.get(fork).filter(|fork| fork.steps().1 <= end) {
            let (first, after) = next.steps();
            let arms = match next {
                Fork::Arms(of) => Some(*of),
                Fork::Body(..) => None,
            };
            let entries = match next {
                Fork::Body(_, entries) => entries.clone(),
                Fork::Arms(_) => Vec::new(),
            };
            self.write_all(from, first);
            fork = match arms {
                None => {
                    let inside = fork + 1;
                    let before = self.owners.clone();
                    for entry in entries {
                        self.owners.clone_from(&before);
                        let later = self.forks[inside..].partition_point(|fork| fork.steps().0 < entry);
                        self.run((entry, after), inside + later, false);
                    }
                    if twice {
                        self.run((first, after), inside, true);
                    }
                    self.run((first, after), inside, false)
                }
                Some(of) => self.run_arms(of, fork + 1, twice),
            };
            from = after;
        }
        self.write_all(from, end);
        fork
    }

    /// Simulates each arm from the state before the branch, and merges the results.
    fn run_arms(&mut self, of: &BranchSteps, mut fork: usize, twice: bool) -> usize {
        let before = self.owners.clone();
        let mut after: Option<Owners> = None;
        for &arm in &of.arms {
            self.owners.clone_from(&before);
            fork = self.run(arm, fork, twice);
            let owners = std::mem::take(&mut self.owners);
            after = Some(match after {
                Some(others) => self.sets.either(&others, &owners),
                None => owners,
            });
        }
        self.owners = after.unwrap_or(before);
        fork
    }

    fn write_all(&mut self, from: u32, end: u32) {
        let first = self.writes.partition_point(|&(step, _)| step < from);
        let last = self.writes.partition_point(|&(step, _)| step < end);
        let mut lost = Vec::new();
        for index in first..last {
            let (step, value) = self.writes[index];
            let Some(region) = self.regions[value] else {
                continue;
            };
            lost.clear();
            let end = region.offset.0 + region.size.0;
            let own = self.sets.id(vec![value]);
            let owners = self.owners.entry(region.memory.0).or_default();
            owners.take(region.offset.0, end, own, &mut lost);
            let known = self.found.entry((step, value)).or_default();
            let before = lost
                .iter()
                .flat_map(|&(.., set)| &self.sets.members[set as usize]);
            known.extend(before.copied().filter(|&from| from != value));
        }
    }
}
