//! Values: the versions of a resource's contents, each from its first write until it is no longer needed.
//!
//! ```text
//! passes       0 ao     1 apply   2 down   3 up     4 blur   5 tone
//! pool         w ────── r         w ────── r        w ────── r        one lifetime of six passes
//! in values    w ────── r                                             three lifetimes of two
//!                                 w ────── r
//!                                                   w ────── r
//! ```
//! A value ends before a pass if no part of the resource holds contents that are needed later: each part is cleared or overwritten as a whole next, or never
//! used again. Contents that the caller supplies, that the frame exports, and that a history keeps count as needed.

use std::collections::HashSet;

use tileheap_units::CompactSort;

use super::builder::FrameBuilder;
use super::tables::{Access, HistoryVersion, Resource, ResourceKind};
use super::validate::MAX_NAME_BYTES;
use super::{AccessKind, Frame, PassId, Persistence, ResourceId, SubresourceRange, TileConstraint};

/// One value of a resource, as a separate resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeparateValue {
    /// The resource.
    pub(crate) resource: ResourceId,
    /// The value's number, from 1.
    pub(crate) number: u32,
    /// The number of values of the resource.
    pub(crate) count: u32,
}

/// The division of a resource's contents into values.
struct Division {
    /// The passes in which the second and later values begin, in order.
    starts: Vec<PassId>,
    /// True if the first value needs the resource's contents from before the frame.
    needs_earlier_contents: bool,
}

impl Division {
    /// Index of the value that a pass uses.
    fn value_of(&self, pass: PassId) -> usize {
        self.starts.partition_point(|&start| start <= pass)
    }
}

impl Frame {
    /// The frame in which each value of the `wanted` resources is a separate resource, and, per resource, the value that it holds; `None` if no resource can
    /// be divided.
    ///
    /// For a transient resource, the first value keeps the id, and all values get their own names. External and history resources keep their role
    /// outside the frame: they hold their last value, the first one if it needs the contents from before the frame (or, if external, is used by
    /// another queue), and the previous version; the values between are transient. New resources follow all others.
    ///
    /// Resources with a [`TileConstraint`] and those of [stores](CommandSource::Store) are left as they are.
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`].
    pub(crate) fn with_separate_values(
        &self,
        wanted: impl Fn(ResourceId) -> bool,
    ) -> Option<crate::Result<(Frame, Vec<Option<SeparateValue>>)>> {
        let mut tables = (*self.tables).clone();
        let mut names: HashSet<String> = self.resources().iter().map(|it| it.name.clone()).collect();
        let mut values = vec![None; self.resources().len()];
        let divisible = self
            .resource_ids()
            .filter(|&id| wanted(id) && self.may_divide(id));
        for id in divisible {
            let Some((division, separate)) = self.separate_values(id) else {
                continue;
            };
            let count = division.starts.len() as u32 + 1;
            let described = self.resource(id);
            let mut whole = described.clone();
            whole.prepare_to_divide();
            let mut first = None;
            let mut holders = vec![id; count as usize];
            for &number in &separate {
                let value = SeparateValue {
                    resource: id,
                    number: number as u32 + 1,
                    count,
                };
                let name = name_of_value(&mut names, &described.name, value);
                let one = Resource {
                    name,
                    persistence: Persistence::Transient,
                    level_of: None,
                    ..whole.clone()
                };
                if number == 0 && described.persistence == Persistence::Transient {
                    first = Some(one);
                    values[id.index()] = Some(value);
                    continue;
                }
                holders[number] = ResourceId(tables.resources.len() as u32);
                tables.resources.push(one);
                values.push(Some(value));
            }
            tables.resources[id.index()] = first.unwrap_or(whole);
            for access in &mut tables.accesses {
                let holder = holders[division.value_of(access.pass)];
                if access.resource == id && access.version == HistoryVersion::Current {
                    access.resource = holder;
                }
                if access.resolves == Some(id) {
                    access.resolves = Some(holder);
                }
            }
        }
        if tables.resources.len() == self.resources().len() {
            return None;
        }
        let frame = FrameBuilder::from_tables(tables).build();
        Some(frame.map(|frame| (frame, values)))
    }

    /// The values of a resource, and the indices of those that can be separate resources; `None` if it cannot be divided.
    fn separate_values(&self, id: ResourceId) -> Option<(Division, Vec<usize>)> {
        let division = self.division_of(id);
        let count = division.starts.len() + 1;
        let separate: Vec<usize> = match self.resource(id).persistence {
            Persistence::Transient => (0..count).collect(),
            Persistence::History => (usize::from(division.needs_earlier_contents)..count - 1).collect(),
            Persistence::External(_) => {
                // Its entry and exit states are those that the queues of its first and last pass can wait for.
                let first = self.accesses_to(id).next().map(|access| access.pass);
                let queues = [first, division.starts.last().copied()].map(|pass| Some(self.queue_of(pass?)));
                let needs_earlier_contents = division.needs_earlier_contents || queues[0] != queues[1];
                (usize::from(needs_earlier_contents)..count - 1).collect()
            }
        };
        (count > 1 && !separate.is_empty()).then_some((division, separate))
    }

    /// Returns true if the values of a resource may be placed separately: its placement is not constrained, and the runtime records none of its
    /// accesses.
    fn may_divide(&self, id: ResourceId) -> bool {
        let mut uses = self.accesses_to(id);
        self.resource(id).tile_constraint == TileConstraint::None
            && uses.all(|access| !self.pass(access.pass).contents.is_recorded_by_runtime())
    }

    /// Returns true if contents of a resource from before the frame are needed, by the frame or after it.
    pub(super) fn keeps_earlier_contents(&self, id: ResourceId) -> bool {
        let resource = self.resource(id);
        resource.persistence != Persistence::Transient && self.division_of(id).needs_earlier_contents
    }

    /// Divides a resource into values: walks its passes backwards, and starts a value at each pass before which no part has contents that are needed.
    ///
    /// O(uses * parts).
    fn division_of(&self, id: ResourceId) -> Division {
        let current = |access: &&Access| access.version == HistoryVersion::Current;
        let uses: Vec<&Access> = self.accesses_to(id).filter(current).collect();
        let kept = self.resource(id).persistence != Persistence::Transient;
        let parts = self.parts_of(id);
        let mut needed = vec![kept; parts.len()];
        let mut starts = Vec::new();
        for in_pass in uses.chunk_by(|a, b| a.pass == b.pass).rev() {
            for (needed, &part) in needed.iter_mut().zip(parts) {
                *needed = self.needs_before(in_pass, part, *needed);
            }
            if !needed.contains(&true) {
                starts.push(in_pass[0].pass);
            }
        }
        let first = uses.first().map(|access| access.pass);
        starts.compact_sort();
        let needs_earlier_contents = starts.first().copied() != first;
        // A value begins after another one.
        starts.retain(|&start| Some(start) != first);
        Division {
            starts,
            needs_earlier_contents,
        }
    }

    /// Returns true if the contents of a part before a pass are needed, given whether those after it are; `in_pass` are the pass's accesses to its
    /// current version.
    fn needs_before(&self, in_pass: &[&Access], part: SubresourceRange, needed_after: bool) -> bool {
        let of_part = || in_pass.iter().filter(|access| access.range.intersects(part));
        let all_of_it = |access: &Access| access.share.is_none_or(|share| share.part >= share.of);
        let replaced = of_part().any(|access| self.replaces(access, part) && all_of_it(access));
        // An attachment is cleared or overwritten before anything in its pass reads it in place.
        let in_place = |access: &Access| {
            let reads = [AccessKind::InputAttachment, AccessKind::TileAttachment].contains(&access.kind);
            reads || access.continues_attachment
        };
        let needs = |access: &&&Access| access.needs_contents() && !(replaced && in_place(access));
        let is_optional = in_pass
            .iter()
            .any(|access| self.pass(access.pass).optional.is_some());
        of_part().any(|access| needs(&access)) || needed_after && (!replaced || is_optional)
    }
}

impl Resource {
    /// Resets the usage to the declared one, since validation adds the usage that the accesses to each value need. Images with several levels stay one image.
    fn prepare_to_divide(&mut self) {
        match &mut self.kind {
            ResourceKind::Image { desc, usage, .. } => {
                desc.separate_levels &= desc.mip_levels == 1;
                *usage = desc.usage;
            }
            ResourceKind::Buffer { desc, usage } => *usage = desc.usage,
        }
    }
}

/// A name for a value that no other resource has.
fn name_of_value(names: &mut HashSet<String>, resource: &str, value: SeparateValue) -> String {
    let SeparateValue { number, count, .. } = value;
    let name = |suffix: &str| {
        let mut length = resource.len().min(MAX_NAME_BYTES - suffix.len());
        while !resource.is_char_boundary(length) {
            length -= 1;
        }
        format!("{}{suffix}", &resource[..length])
    };
    let others = (2..).map(|other: u64| name(&format!(" (value {number} of {count}, {other})")));
    let mut all = std::iter::once(name(&format!(" (value {number} of {count})"))).chain(others);
    let free = all
        .find(|name| !names.contains(name))
        .expect("fewer names are in use than there are numbers");
    names.insert(free.clone());
    free
}
