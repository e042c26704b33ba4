//! The problem: items, conflicts and capacity, validated once so that solvers do not have to.

use serde::{Deserialize, Serialize};

use super::error::Result;
use super::gap::{ROOM, UNPLACED, align_up};
use crate::lists::refill;
use crate::units::{Alignment, Bytes, Run, Span};

/// A resource to place: a size, an alignment and a lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Item {
    /// The item's lifetime. An item with an empty span gets an offset and has no conflicts by time. A lifetime with gaps is a group of items, one for each
    /// span: see [`Item::together`].
    pub span: Span,
    /// The item's size; an item of 0 bytes conflicts with no other.
    pub size: Bytes,
    /// The alignment of the item's offset.
    pub alignment: Alignment,
    /// The item's fixed offset, if any.
    pub fixed: Option<Bytes>,
    /// The lowest offset that the item may have.
    #[serde(default)]
    pub lowest: Bytes,
    /// The highest offset that the item may have. Cheap strategies try to respect it, and [`Packing::fits`] tells whether they did; the answers of
    /// [`fit`](super::fit()) and [`minimize`](super::minimize()) respect it.
    ///
    /// [`Packing::fits`]: super::Packing::fits
    #[serde(default)]
    pub highest: Option<Bytes>,
    /// Items with the same value form a group and share one offset. The group takes its largest size, aligned to the least common multiple, while any
    /// of its members is live.
    pub together: Option<u32>,
}

impl Item {
    /// Creates an item that can be placed anywhere and is not in a group.
    pub const fn new(span: Span, size: Bytes, alignment: Alignment) -> Item {
        Item {
            span,
            size,
            alignment,
            fixed: None,
            lowest: Bytes::ZERO,
            highest: None,
            together: None,
        }
    }
}

/// A packing problem before validation.
///
/// ```
/// use tileheap_pack::{Item, ProblemDesc, Strategy, pack};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
///
/// let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// let swapchain = Item { fixed: Some(Bytes(0)), ..item(0, 9, 2) };
/// let desc = ProblemDesc::new(vec![swapchain, item(0, 3, 4), item(3, 9, 4)])
///     .conflict(1, 2) // on queues that are not ordered, say
///     .capacity(Bytes(8));
/// let packing = pack(&desc.clone().build()?, Strategy::Auto);
/// assert_eq!(packing.height, Bytes(10));
/// assert!(!packing.fits(&desc.build()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemDesc {
    /// The items; everything else refers to them by index.
    pub items: Vec<Item>,
    /// Pairs that must not share bytes, even if their lifetimes do not overlap. Repetition and order do not matter.
    pub conflicts: Vec<(u32, u32)>,
    /// The size of the memory. Strategies ignore it: see [`Packing::fits`](super::Packing::fits).
    pub capacity: Option<Bytes>,
}

impl ProblemDesc {
    /// Creates a problem without conflicts or a capacity.
    pub fn new(items: Vec<Item>) -> ProblemDesc {
        ProblemDesc {
            items,
            ..ProblemDesc::default()
        }
    }

    /// Adds a pair that must not share bytes, even if their lifetimes do not overlap.
    #[must_use]
    pub fn conflict(mut self, a: u32, b: u32) -> ProblemDesc {
        self.conflicts.push((a, b));
        self
    }

    /// Sets the size of the memory.
    #[must_use]
    pub fn capacity(mut self, capacity: Bytes) -> ProblemDesc {
        self.capacity = Some(capacity);
        self
    }

    /// Validates the problem.
    ///
    /// # Errors
    /// A conflict names an item that does not exist or a pair that shares one offset; a fixed offset is misaligned, differs within a group or
    /// collides with another; no aligned offset lies within an item's bounds; or the sizes and alignments sum past 2^64 - 1.
    pub fn build(self) -> Result<Problem> {
        Problem::build(self)
    }
}

/// A validated packing problem: every strategy finds offsets for it, and no sum of sizes exceeds 64 bits.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub(super) desc: ProblemDesc,
    /// The units to place: single items or groups.
    pub(super) units: Vec<Unit>,
    /// Items of each unit, in runs.
    pub(super) members: Vec<u32>,
    /// Conflicting units of each unit, in runs, ascending. Empty if there are no conflicts.
    pub(super) unit_conflicts: Vec<u32>,
    pub(super) is_irregular: bool,
}

/// A single item, or a group whose items share one offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) size: u64,
    pub(super) alignment: Alignment,
    pub(super) fixed: Option<u64>,
    /// The lowest and the highest offset of the unit.
    pub(super) low: u64,
    pub(super) high: Option<u64>,
    /// From the first use to the last; a group may have gaps in between.
    pub(super) hull: Span,
    /// The unit's items: a run of `Problem::members`.
    pub(super) members: Run,
    /// Conflicting units: a run of `Problem::unit_conflicts`.
    pub(super) conflicts: Run,
}

impl Unit {
    /// Returns true if the unit takes bytes at some step.
    pub(super) fn takes_bytes(&self) -> bool {
        self.size > 0 && !self.hull.is_empty()
    }

    /// Returns true if the unit is a single item without constraints on its offset.
    pub(super) fn is_plain(&self) -> bool {
        self.fixed.is_none() && self.low == 0 && self.high.is_none() && self.members.len() == 1
    }

    /// Returns the lowest and the highest offset of the unit; equal if it is fixed.
    pub(super) fn bounds(&self) -> (u64, u64) {
        match self.fixed {
            Some(offset) => (offset, offset),
            None => (self.low, self.high.unwrap_or(u64::MAX)),
        }
    }
}

impl Problem {
    /// Validates a problem that has only items: no conflicts, no capacity.
    ///
    /// # Errors
    /// Same as [`ProblemDesc::build`].
    pub fn new(items: Vec<Item>) -> Result<Problem> {
        ProblemDesc::new(items).build()
    }

    /// Returns the items.
    pub fn items(&self) -> &[Item] {
        &self.desc.items
    }

    /// Returns the pairs that must not share bytes even if their lifetimes do not overlap, as given.
    pub fn conflicts(&self) -> &[(u32, u32)] {
        &self.desc.conflicts
    }

    /// Returns the size of the memory, if given.
    pub fn capacity(&self) -> Option<Bytes> {
        self.desc.capacity
    }

    /// Returns the description, so that its vectors can be reused.
    pub fn into_desc(self) -> ProblemDesc {
        self.desc
    }

    /// Returns a unit's items.
    pub(super) fn members_of(&self, unit: &Unit) -> &[u32] {
        unit.members.of(&self.members)
    }

    /// Iterates over the spans of a unit's items.
    pub(super) fn spans(&self, unit: &Unit) -> impl Iterator<Item = Span> {
        let members = self.members_of(unit).iter();
        members.map(|&item| self.desc.items[item as usize].span)
    }

    /// Returns the unit of each item.
    pub(super) fn unit_of_items(&self) -> Vec<u32> {
        let mut unit_of = vec![0; self.desc.items.len()];
        for (index, unit) in self.units.iter().enumerate() {
            for &item in self.members_of(unit) {
                unit_of[item as usize] = index as u32;
            }
        }
        unit_of
    }

    /// Replaces the contents of `offsets` with the lowest offset of every unit.
    pub(super) fn lowest_offsets(&self, offsets: &mut Vec<u64>) {
        let lowest = |unit: &Unit| align_up(unit.bounds().0, unit.alignment).expect(ROOM);
        refill(offsets, self.units.iter().map(lowest));
    }

    /// Returns the problem restricted to `units`, given in ascending order; its units are in the same order.
    pub(super) fn part(&self, units: &[u32], capacity: Option<u64>) -> Problem {
        let mut part = Problem::default();
        self.part_into(units, capacity, &mut part);
        part
    }

    /// Like [`Problem::part`], reusing the memory of another part. It is not validated: a part of a valid problem is valid.
    pub(super) fn part_into(&self, units: &[u32], capacity: Option<u64>, part: &mut Problem) {
        let Problem {
            desc,
            units: parts,
            members,
            unit_conflicts,
            is_irregular,
        } = part;
        desc.items.clear();
        desc.conflicts.clear();
        desc.capacity = capacity.map(Bytes);
        parts.clear();
        members.clear();
        unit_conflicts.clear();
        for &unit in units {
            let of = self.units[unit as usize];
            let first = members.len() as u32;
            for &item in of.members.of(&self.members) {
                members.push(desc.items.len() as u32);
                desc.items.push(self.desc.items[item as usize]);
            }
            let end = members.len() as u32;
            parts.push(Unit {
                members: Run::from([first, end]),
                conflicts: Run::default(),
                ..of
            });
        }
        *is_irregular = !parts.iter().all(Unit::is_plain);
        if !self.unit_conflicts.is_empty() {
            self.part_conflicts(units, part);
        }
    }

    /// Adds the conflicts of `units` to a part.
    fn part_conflicts(&self, units: &[u32], part: &mut Problem) {
        let mut unit_in_part = vec![u32::MAX; self.units.len()];
        let mut item_in_part = vec![u32::MAX; self.desc.items.len()];
        for (index, (&unit, of)) in units.iter().zip(&part.units).enumerate() {
            unit_in_part[unit as usize] = index as u32;
            let items = self.units[unit as usize].members.of(&self.members);
            for (&item, place) in items.iter().zip(of.members.indices()) {
                item_in_part[item as usize] = place as u32;
            }
        }
        for (&unit, of) in units.iter().zip(&mut part.units) {
            let conflicts = self.units[unit as usize]
                .conflicts
                .of(&self.unit_conflicts)
                .iter();
            let inside = conflicts.map(|&rival| unit_in_part[rival as usize]);
            let first = part.unit_conflicts.len() as u32;
            part.unit_conflicts
                .extend(inside.filter(|&rival| rival != u32::MAX));
            let end = part.unit_conflicts.len() as u32;
            of.conflicts = Run::from([first, end]);
        }
        let pairs = self.desc.conflicts.iter();
        let pairs = pairs
            .map(|&(a, b)| (item_in_part[a as usize], item_in_part[b as usize]))
            .filter(|&(a, b)| a != u32::MAX && b != u32::MAX);
        part.desc.conflicts.extend(pairs);
    }

    /// Returns the end of the highest unit.
    pub(super) fn height(&self, offsets: &[u64]) -> u64 {
        let units = self.units.iter().zip(offsets);
        units.map(|(unit, &offset)| offset + unit.size).max().unwrap_or(0)
    }

    /// Returns true if no unit is above its highest offset.
    pub(super) fn keeps_bounds(&self, offsets: &[u64]) -> bool {
        let mut units = self.units.iter().zip(offsets);
        !self.is_irregular || units.all(|(unit, &offset)| unit.high.is_none_or(|high| offset <= high))
    }

    /// Returns true if two units must not share bytes.
    pub(super) fn interfere(&self, a: u32, b: u32) -> bool {
        let (first, second) = (&self.units[a as usize], &self.units[b as usize]);
        if first.conflicts.of(&self.unit_conflicts).binary_search(&b).is_ok() {
            return true;
        }
        if !first.hull.overlaps(second.hull) {
            return false;
        }
        let plain = first.members.len() == 1 && second.members.len() == 1;
        let meets = |span: Span| self.spans(second).any(|other| span.overlaps(other));
        plain || self.spans(first).any(meets)
    }

    /// Returns true if some unit is fixed, bounded, or a group of several items.
    pub(super) fn is_irregular(&self) -> bool {
        self.is_irregular
    }

    /// Appends the byte ranges of the `conflicts` that are already placed.
    pub(super) fn extend_with_conflicts(
        &self,
        blocks: &mut Vec<(u64, u64)>,
        conflicts: &[u32],
        offsets: &[u64],
    ) {
        for &rival in conflicts {
            let (offset, size) = (offsets[rival as usize], self.units[rival as usize].size);
            if offset != UNPLACED && size > 0 {
                blocks.push((offset, offset + size));
            }
        }
    }
}
