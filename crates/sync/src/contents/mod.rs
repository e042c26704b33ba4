//! Contents: the last write of every byte or texel and, if it has become undefined since, the reason.
//!
//! ```text
//! write through x (an image)    x: written    y, the image in the same bytes: undefined, overwritten by x
//! write through a (a buffer)    a: written    b, a buffer in the same bytes: written, through a
//! ```
//! Resources that interpret bytes consistently share one state. A write through any other alias makes contents undefined: all subresources of an
//! image with optimal tiling, and the overlapping bytes of a linear resource. Discarded bytes of memory are undefined in all resources there: any of
//! them may belong to any subresource of an image. Contents follow the order in which commands run; whether that order is guaranteed is checked
//! elsewhere. Between a release to another queue family and its acquire, contents are undefined, unless they are written again. Without a transfer,
//! they become undefined when another queue family accesses them.
//!
//! Source: "Memory Aliasing"; "Resource Sharing Mode"; "Queue Family Ownership Transfer"; "Image Layout Transitions"; "Render Pass Load Operations" and
//! "Render Pass Store Operations".

mod discard;
pub(crate) mod ownership;
mod read;
mod state;

use tileheap_units::IdMap;

use crate::finding::{Certainty, LossReason, LostContents, MemoryUse};
use crate::intervals::Intervals;
use crate::operation::{Bytes, padded};
use crate::program::{AccessKind, MemoryId, Resource, ResourceId, SharingMode, Tag, Tiling};
use crate::record::{Kind, LaterAccess};
use crate::region::Region;

use ownership::Families;
use state::{Contents, State, Value, extend};

/// Maximum number of ranges of written bytes tracked per memory; with more, the gaps between ranges also count as written.
const MAX_RANGES: usize = 64;

/// The contents of all resources of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllContents {
    classes: IdMap<ResourceId, Contents>,
    by_memory: IdMap<MemoryId, Intervals>,
    /// Number of resources in each class, by the class's representative.
    members: IdMap<ResourceId, u32>,
    /// Disjoint ranges of each memory that were written and not discarded since, in ascending order.
    written: IdMap<MemoryId, Vec<(u64, u64)>>,
    families: Families,
}

impl AllContents {
    /// Adds a resource to a class. The first resource of a class has no contents, but a linear one includes earlier writes to its bytes.
    pub(crate) fn add(&mut self, class: ResourceId, bytes: Bytes, resource: &Resource) {
        *self.members.entry(class).or_default() += 1;
        if let Some(known) = self.classes.get_mut(&class) {
            // Each resource has an owner of its own, but they share this state.
            known.sharing = SharingMode::Concurrent;
            return;
        }
        let (tiling, whole) = (resource.tiling, Region::whole(resource));
        let mut contents = Contents {
            bytes,
            is_optimal: matches!(tiling, Tiling::Optimal(_)),
            has_pages: tiling != Tiling::Unknown,
            sharing: resource.sharing,
            whole,
            states: vec![(whole, State::never_written())],
        };
        // Linear resources contain earlier writes of other resources to their bytes.
        if tiling == Tiling::Linear {
            let written = self.written.get(&bytes.memory).map_or(&[][..], Vec::as_slice);
            for &(first, end) in written {
                let region = Region::of_bytes(first, end).intersection(whole);
                region
                    .into_iter()
                    .for_each(|region| contents.set(region, State::from(Value::Unknown)));
            }
        }
        self.classes.insert(class, contents);
        let in_memory = self.by_memory.entry(bytes.memory).or_default();
        in_memory.insert(class.0.into(), (bytes.first, bytes.end));
    }

    /// Assumes that all contents of a class are defined.
    pub(crate) fn assume_written(&mut self, class: ResourceId) {
        if let Some(contents) = self.classes.get_mut(&class) {
            contents.states = vec![(contents.whole, State::from(Value::Unknown))];
        }
    }

    /// Removes a resource from a class, and the contents of the class with its last resource.
    pub(crate) fn remove(&mut self, class: ResourceId) {
        let left = self.members.get_mut(&class).map(|members| {
            *members -= 1;
            *members
        });
        if left != Some(0) {
            return;
        }
        self.members.remove(&class);
        if let Some(contents) = self.classes.remove(&class) {
            let Bytes { memory, first, end } = contents.bytes;
            if let Some(classes) = self.by_memory.get_mut(&memory) {
                classes.remove(class.0.into(), (first, end));
            }
        }
    }

    /// Returns `true` if a class still has resources.
    pub(crate) fn has_members(&self, class: ResourceId) -> bool {
        self.members.contains_key(&class)
    }

    /// Calls `each` with the writes and losses that findings may name.
    pub(crate) fn each_use(&self, each: &mut impl FnMut(&MemoryUse)) {
        for (loss, used) in self.states().flat_map(State::named) {
            used.iter().for_each(&mut *each);
            if let Some(
                LossReason::Discarded(by)
                | LossReason::Overwritten(by)
                | LossReason::WrittenThrough(by)
                | LossReason::NotTransferred { by, .. },
            ) = loss
            {
                each(&by);
            }
        }
    }

    /// Calls `each` with the tags of discards that findings may name.
    pub(crate) fn each_discard(&self, each: &mut impl FnMut(Tag)) {
        for (loss, _) in self.states().flat_map(State::named) {
            if let Some(LossReason::MemoryDiscarded { tag, .. }) = loss {
                each(tag);
            }
        }
    }

    fn states(&self) -> impl Iterator<Item = &State> {
        self.classes
            .values()
            .flat_map(|contents| contents.states.iter().map(|(_, state)| state))
    }

    /// Forgets freed memory.
    pub(crate) fn free(&mut self, memory: MemoryId) {
        let all = self.overlapping(memory, (0, u64::MAX));
        self.by_memory.remove(&memory);
        for class in all {
            self.classes.remove(&class);
            self.members.remove(&class);
        }
        self.written.remove(&memory);
    }

    /// Records that a queue family executes commands.
    pub(crate) fn add_family(&mut self, family: u32) {
        self.families.add(family);
    }

    /// Sets the queue families that implicitly acquire images from family `from` without a loss of contents; `to` is a mask of families.
    pub(crate) fn set_implicit_transfers(&mut self, from: u32, to: u32) {
        self.families.set_implicit(from, to);
    }

    /// Returns the finding of a read, if any. Unless the read is partial, its queue family becomes the owner.
    pub(crate) fn read(&mut self, later: &LaterAccess, used: MemoryUse) -> Option<LostContents> {
        let contents = self.classes.get_mut(&later.origin.class)?;
        let region = later.touched.certain;
        if later.kind != Kind::Access(AccessKind::Partial) {
            contents.take_ownership(region, used, later.family, &self.families);
        } else if contents.needs_transfer(region, later.family, &self.families) {
            // It certainly reads one of these elements, but not all of them.
            let mut taken = contents.clone();
            taken.take_ownership(region, used, later.family, &self.families);
            return taken.read(later, used);
        }
        contents.read(later, used)
    }

    /// Returns the classes that share bytes with a range of an address space.
    fn overlapping(&self, memory: MemoryId, range: (u64, u64)) -> Vec<ResourceId> {
        let found = self
            .by_memory
            .get(&memory)
            .map(|classes| classes.overlapping(range));
        let ids = found.into_iter().flatten().map(|id| ResourceId(id as u32));
        ids.collect()
    }

    /// Applies a write to a region, or makes the region undefined if `discards` is true; linear and optimal resources alias pages of `granularity` bytes.
    pub(crate) fn write(&mut self, later: &LaterAccess, used: MemoryUse, discards: bool, granularity: u64) {
        let class = later.origin.class;
        let region = later.touched.certain;
        let is_exact = later.kind != Kind::Access(AccessKind::Partial);
        let Some(contents) = self.classes.get_mut(&class) else {
            return;
        };
        if is_exact {
            contents.take_ownership(region, used, later.family, &self.families);
        }
        let owner = contents.new_owner(later.family);
        if discards {
            contents.change(region, |state| State {
                owner,
                ..state.lost(LossReason::Discarded(used), Certainty::Certain)
            });
        } else if later.kind == Kind::Access(AccessKind::Store) {
            // It writes the results of loads and draws.
            contents.change(region, |state| state.stored(used, owner));
        } else if later.kind != Kind::Transition {
            // A transition keeps existing contents.
            contents.write(region, used, is_exact, owner);
        }
        let (bytes, is_optimal) = (contents.bytes, contents.is_optimal);
        // Any byte of an image may hold any of its subresources.
        let (first, end) = if is_optimal {
            (bytes.first, bytes.end)
        } else {
            region.bytes()
        };
        self.mark_written(bytes.memory, (first, end));
        let others = self.overlapping(bytes.memory, padded((first, end), granularity));
        for other in others.into_iter().filter(|other| *other != class) {
            let Some(alias) = self.classes.get_mut(&other) else {
                continue;
            };
            let own = (alias.bytes.first, alias.bytes.end);
            let common = (first.max(own.0), end.min(own.1));
            let is_common = common.0 < common.1;
            let hit = if alias.is_optimal {
                alias.whole
            } else {
                Region::of_bytes(common.0, common.1)
            };
            if !is_optimal && !alias.is_optimal {
                if is_common && !discards {
                    alias.change(hit, |state| state.written_through(used));
                }
                continue;
            }
            let pages = [(first, end), own].map(|bytes| padded(bytes, granularity));
            let has_pages = later.has_pages && alias.has_pages && is_optimal != alias.is_optimal;
            let is_close = has_pages && pages[0].0 < pages[1].1 && pages[1].0 < pages[0].1;
            let verdict = match (is_common, is_close) {
                (true, _) if is_exact => Certainty::Certain,
                (true, _) => Certainty::Possible,
                // Only shares a page: none of its own bytes are written.
                (false, true) if alias.is_optimal => Certainty::Pedantic,
                _ => continue,
            };
            alias.change(hit, |state| state.lost(LossReason::Overwritten(used), verdict));
        }
    }

    /// Applies a release to another queue family, or an acquire: afterwards all aliases of the region are undefined.
    pub(crate) fn transfer(&mut self, later: &LaterAccess, used: MemoryUse, families: (u32, u32)) {
        let class = later.origin.class;
        let Some(contents) = self.classes.get_mut(&class) else {
            return;
        };
        contents.transfer(later.touched.certain, used, families, &self.families);
        let (first, end) = contents.bytes_of(later.touched.certain);
        for other in self.overlapping(later.origin.bytes.memory, (first, end)) {
            let alias = self.classes.get_mut(&other).filter(|_| other != class);
            let Some(alias) = alias else { continue };
            let hit = match alias.is_optimal {
                true => alias.whole,
                false => Region::of_bytes(first.max(alias.bytes.first), end.min(alias.bytes.end)),
            };
            alias.change(hit, |state| {
                state.lost(LossReason::Overwritten(used), Certainty::Certain)
            });
        }
    }

    fn mark_written(&mut self, memory: MemoryId, range: (u64, u64)) {
        let written = self.written.entry(memory).or_default();
        if written
            .iter()
            .any(|known| known.0 <= range.0 && range.1 <= known.1)
        {
            return;
        }
        extend(written, range);
        if written.len() > MAX_RANGES {
            *written = vec![(written[0].0, written[MAX_RANGES].1)];
        }
    }
}
