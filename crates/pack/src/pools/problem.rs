//! The validation of problems with pools: items become units, and constraints become edges between them.

use std::collections::{BTreeMap, HashMap};

use tileheap_units::CompactSort;

use super::desc::{Pool, PoolsDesc};
use super::error::{LIMIT, PoolsError};
use crate::Result;
use crate::units::{Alignment, Bytes, Span};

/// The capacity assumed for a pool without a capacity: it holds all items stacked.
pub(super) const UNLIMITED: u64 = LIMIT * 4;

/// The cost of an edge between units that must not share bytes.
pub(super) const FORBIDDEN: u64 = u64::MAX;

/// A validated problem with pools.
#[derive(Clone, Debug, Default)]
pub struct PoolsProblem {
    desc: PoolsDesc,
    pub(super) units: Vec<PoolUnit>,
    /// The unit of each item; the [`PoolUnit`]s after the units of items are reserved ranges.
    pub(super) unit_of: Vec<usize>,
    pub(super) capacities: Vec<u64>,
    /// The sum of the penalties within units, which every packing pays.
    pub(super) fixed_cost: u64,
}

/// A unit: an item, items that share an offset, or a reserved range.
#[derive(Clone, Debug)]
pub(super) struct PoolUnit {
    pub(super) size: u64,
    pub(super) alignment: Alignment,
    /// The lowest and the highest offset of the unit; equal if it is fixed.
    pub(super) low: u64,
    pub(super) high: u64,
    /// The pools that the unit may be placed in.
    pub(super) pools: Vec<u32>,
    pub(super) is_reserved: bool,
    /// Other units that must not share bytes with this one, or only at a cost; in ascending order of index.
    pub(super) edges: Vec<Edge>,
    pub(super) spans: Vec<Span>,
    /// The index of the item that errors name: the unit's first item.
    named_item: usize,
}

/// Another unit, and the cost of sharing bytes with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) other: u32,
    pub(super) cost: u64,
}

impl PoolUnit {
    /// Returns the highest aligned offset in a pool of this capacity; `None` if there is none.
    pub(super) fn highest_in(&self, capacity: u64) -> Option<u64> {
        let last = self.high.min(capacity.checked_sub(self.size)?);
        let last = last - last % self.alignment.get();
        (last >= self.low).then_some(last)
    }
}

impl PoolsDesc {
    /// Validates the problem.
    ///
    /// # Errors
    /// A name that is unknown or occurs twice, a number past its limit, or constraints that contradict each other; all by name.
    pub fn build(self) -> Result<PoolsProblem> {
        let mut problem = PoolsProblem::default();
        check_numbers(&self)?;
        let items = names("item", self.items.iter().map(|item| &item.id))?;
        let pools = names("pool", self.pools.iter().map(|pool| &pool.name))?;
        let capacity = |pool: &Pool| pool.capacity.map_or(UNLIMITED, |capacity| capacity.0);
        problem.capacities = self.pools.iter().map(capacity).collect();
        problem.form_units(&self, &items, &pools)?;
        problem.form_edges(&self, &items)?;
        problem.reserve(&self);
        problem.check_fixed(&self)?;
        problem.desc = self;
        Ok(problem)
    }
}

impl PoolsProblem {
    /// Returns the description.
    pub fn desc(&self) -> &PoolsDesc {
        &self.desc
    }

    fn form_units(
        &mut self,
        desc: &PoolsDesc,
        items: &HashMap<&String, usize>,
        pools: &HashMap<&String, usize>,
    ) -> Result<(), PoolsError> {
        // The first item of each unit; lists that have an item in common are merged.
        let mut first: Vec<usize> = (0..desc.items.len()).collect();
        for list in &desc.share {
            for id in list {
                let (a, b) = (
                    first[find(items, "share", id)?],
                    first[find(items, "share", &list[0])?],
                );
                let of_higher = first.iter_mut().filter(|of| **of == a.max(b));
                of_higher.for_each(|of| *of = a.min(b));
            }
        }
        self.unit_of = vec![0; desc.items.len()];
        for (index, item) in desc.items.iter().enumerate() {
            let mut allowed = Vec::new();
            for name in &item.pools {
                let of = || format!("the item `{}`", item.id);
                let unknown = || PoolsError::UnknownName(of(), "pool", name.clone());
                allowed.push(*pools.get(name).ok_or_else(unknown)? as u32);
            }
            if allowed.is_empty() {
                allowed.extend(0..desc.pools.len() as u32);
            }
            let unit = PoolUnit {
                size: item.size.0,
                alignment: item.alignment,
                low: item.offset.max(item.lowest).map_or(0, |offset| offset.0),
                high: match (item.offset, item.highest) {
                    (Some(offset), Some(highest)) => offset.min(highest).0,
                    (offset, highest) => offset.or(highest).map_or(UNLIMITED, |offset| offset.0),
                },
                pools: allowed,
                is_reserved: false,
                edges: Vec::new(),
                spans: live_spans(&item.lifetimes).collect(),
                named_item: index,
            };
            if first[index] == index {
                self.unit_of[index] = self.units.len();
                self.units.push(unit);
            } else {
                self.unit_of[index] = self.unit_of[first[index]];
                self.units[self.unit_of[index]].join(unit, desc)?;
            }
        }
        for unit in &mut self.units {
            let aligned = Bytes(unit.low).checked_align_up(unit.alignment);
            let (lowest, highest) = (Bytes(unit.low), Bytes(unit.high));
            unit.low = aligned.map_or(u64::MAX, |low| low.0);
            if unit.highest_in(UNLIMITED).is_none() {
                return Err(PoolsError::NoOffset {
                    item: desc.items[unit.named_item].id.clone(),
                    size: Bytes(unit.size),
                    alignment: unit.alignment,
                    lowest,
                    highest,
                });
            }
            // If none is left, nothing fits: an answer, not an error.
            let fits = |pool: &u32| unit.highest_in(self.capacities[*pool as usize]).is_some();
            unit.pools = unit.pools.iter().copied().filter(fits).collect();
        }
        Ok(())
    }

    fn form_edges(&mut self, desc: &PoolsDesc, items: &HashMap<&String, usize>) -> Result<(), PoolsError> {
        let pair = |of: &str, a: &String, b: &String| {
            let (a, b) = (find(items, of, a)?, find(items, of, b)?);
            Ok::<_, PoolsError>((a.min(b), a.max(b)))
        };
        let contradiction = |a: usize, b: usize, why| {
            let name = |item: usize| desc.items[item].id.clone();
            Err(PoolsError::Contradiction(name(a), name(b), why))
        };
        let mut exclusive = std::collections::HashSet::new();
        for (a, b) in &desc.exclusive {
            exclusive.insert(pair("exclusive", a, b)?);
        }
        let mut edges: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut by_unit = |a: usize, b: usize, cost: u64| {
            let (a, b) = (self.unit_of[a], self.unit_of[b]);
            let of = edges.entry((a.min(b), a.max(b))).or_insert(0);
            *of = of.saturating_add(cost);
        };
        for (a, b) in &desc.conflicts {
            let (a, b) = pair("conflicts", a, b)?;
            if self.unit_of[a] == self.unit_of[b] {
                return contradiction(a, b, "they must have the same offset, but are in conflict");
            }
            if exclusive.contains(&(a, b)) {
                return contradiction(a, b, "they are both exclusive and in conflict");
            }
            by_unit(a, b, FORBIDDEN);
        }
        for (a, b, cost) in &desc.penalties {
            let (a, b) = pair("penalties", a, b)?;
            if self.unit_of[a] != self.unit_of[b] {
                by_unit(a, b, *cost);
            } else if self.units[self.unit_of[a]].size > 0 {
                self.fixed_cost += cost;
            }
        }
        let mut by_birth: Vec<(Span, usize)> = Vec::new();
        for (index, item) in desc.items.iter().enumerate() {
            by_birth.extend(live_spans(&item.lifetimes).map(|span| (span, index)));
        }
        by_birth.compact_sort();
        let mut live: Vec<(Span, usize)> = Vec::new();
        for (span, item) in by_birth {
            live.retain(|(other, _)| other.end > span.first);
            for &(_, other) in &live {
                if self.unit_of[other] != self.unit_of[item]
                    && !exclusive.contains(&(other.min(item), other.max(item)))
                {
                    by_unit(other, item, FORBIDDEN);
                }
            }
            live.push((span, item));
        }
        for ((a, b), cost) in edges {
            // An item of 0 bytes shares none.
            if cost > 0 && self.units[a].size > 0 && self.units[b].size > 0 {
                self.connect(a, b, cost);
            }
        }
        Ok(())
    }

    fn connect(&mut self, a: usize, b: usize, cost: u64) {
        for (unit, other) in [(a, b as u32), (b, a as u32)] {
            self.units[unit].edges.push(Edge { other, cost });
        }
    }

    /// Turns reserved ranges into fixed units.
    fn reserve(&mut self, desc: &PoolsDesc) {
        let real = self.units.len();
        for (index, pool) in desc.pools.iter().enumerate() {
            for range in pool.reserved.iter().filter(|range| range.size > Bytes::ZERO) {
                let reserved = self.units.len();
                self.units.push(PoolUnit {
                    size: range.size.0,
                    alignment: Alignment::ONE,
                    low: range.offset.0,
                    high: range.offset.0,
                    pools: vec![index as u32],
                    is_reserved: true,
                    edges: Vec::new(),
                    spans: range.lifetimes.clone(),
                    named_item: index,
                });
                for unit in 0..real {
                    let of = &self.units[unit];
                    let always = range.lifetimes.is_empty() && !of.spans.is_empty();
                    let overlaps = |span: &Span| range.lifetimes.iter().any(|other| other.overlaps(*span));
                    if of.size > 0
                        && of.pools.contains(&(index as u32))
                        && (always || of.spans.iter().any(overlaps))
                    {
                        self.connect(unit, reserved, FORBIDDEN);
                    }
                }
            }
        }
    }

    /// Checks that fixed units of one pool do not overlap.
    fn check_fixed(&self, desc: &PoolsDesc) -> Result<(), PoolsError> {
        let is_fixed = |unit: &PoolUnit| unit.low == unit.high && unit.pools.len() == 1;
        for unit in self.units.iter().filter(|unit| is_fixed(unit)) {
            for edge in unit.edges.iter().filter(|edge| edge.cost == FORBIDDEN) {
                let other = &self.units[edge.other as usize];
                let apart = unit.low + unit.size <= other.low || other.low + other.size <= unit.low;
                if is_fixed(other) && other.pools == unit.pools && !apart && !unit.is_reserved {
                    let (b, why) = match other.is_reserved {
                        true => (
                            &desc.pools[other.named_item].name,
                            "the fixed item overlaps a reserved range of the pool",
                        ),
                        false => (
                            &desc.items[other.named_item].id,
                            "they are fixed at overlapping bytes, which they must not share",
                        ),
                    };
                    let a = desc.items[unit.named_item].id.clone();
                    return Err(PoolsError::Contradiction(a, b.clone(), why));
                }
            }
        }
        Ok(())
    }
}

impl PoolUnit {
    /// Merges a unit that must have the same offset into this one.
    fn join(&mut self, other: PoolUnit, desc: &PoolsDesc) -> Result<(), PoolsError> {
        let contradiction = |why| {
            let (a, b) = (&desc.items[self.named_item].id, &desc.items[other.named_item].id);
            Err(PoolsError::Contradiction(a.clone(), b.clone(), why))
        };
        self.pools.retain(|pool| other.pools.contains(pool));
        if self.pools.is_empty() {
            return contradiction("they must have the same offset, but no pool is allowed for both");
        }
        let alignment = self.alignment.lcm(other.alignment);
        let Some(alignment) = alignment.filter(|lcm| lcm.get() <= LIMIT) else {
            return contradiction(
                "they must have the same offset, but the common multiple of their alignments exceeds 2^48",
            );
        };
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low > high {
            return contradiction(
                "they must have the same offset, but no offset is within the bounds of both",
            );
        }
        (self.alignment, self.low, self.high) = (alignment, low, high);
        self.size = self.size.max(other.size);
        self.spans.extend(other.spans);
        Ok(())
    }
}

fn names<'a>(
    kind: &'static str,
    all: impl Iterator<Item = &'a String>,
) -> Result<HashMap<&'a String, usize>, PoolsError> {
    let mut names = HashMap::new();
    for (index, name) in all.enumerate() {
        if names.insert(name, index).is_some() {
            return Err(PoolsError::DuplicateName(kind, name.clone()));
        }
    }
    Ok(names)
}

fn find(items: &HashMap<&String, usize>, of: &str, name: &String) -> Result<usize, PoolsError> {
    let found = items.get(name).copied();
    found.ok_or_else(|| PoolsError::UnknownName(format!("`{of}`"), "item", name.clone()))
}

fn live_spans(spans: &[Span]) -> impl Iterator<Item = Span> {
    spans.iter().copied().filter(|span| !span.is_empty())
}

/// Checks that all numbers are within the limit, which keeps all sums far below 2^64.
fn check_numbers(desc: &PoolsDesc) -> Result<(), PoolsError> {
    let limited = |what, name: &str, found: u64| match found {
        0..=LIMIT => Ok(()),
        _ => Err(PoolsError::TooLarge(what, name.to_owned(), found)),
    };
    let open = desc.pools.iter().filter(|pool| pool.capacity.is_none()).count();
    if desc.pools.is_empty() || open > 1 {
        return Err(PoolsError::PoolCount(desc.pools.len(), open));
    }
    let forwards = |name: &str, spans: &[Span]| match spans.iter().find(|span| span.first > span.end) {
        None => Ok(()),
        Some(span) => Err(PoolsError::ReversedSpan(
            name.to_owned(),
            span.first.0,
            span.end.0,
        )),
    };
    for pool in &desc.pools {
        limited("the capacity", &pool.name, pool.capacity.unwrap_or_default().0)?;
        for range in &pool.reserved {
            limited("a reserved offset", &pool.name, range.offset.0)?;
            limited("a reserved size", &pool.name, range.size.0)?;
            forwards(&pool.name, &range.lifetimes)?;
        }
    }
    let mut sum = 0u64;
    for item in &desc.items {
        limited("the size", &item.id, item.size.0)?;
        limited("the alignment", &item.id, item.alignment.get())?;
        for offset in [item.offset, item.lowest, item.highest].into_iter().flatten() {
            limited("an offset", &item.id, offset.0)?;
        }
        sum += item.size.0 + item.alignment.get();
        limited("the sum of sizes and alignments up to those", &item.id, sum)?;
        forwards(&item.id, &item.lifetimes)?;
    }
    let mut sum = 0u64;
    for (a, _, cost) in &desc.penalties {
        sum = sum.saturating_add(*cost);
        limited("the sum of penalties up to a penalty", a, sum)?;
    }
    Ok(())
}
