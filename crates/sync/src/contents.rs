//! Contents: for every byte or texel the last write, and why it became undefined since.
//!
//! ```text
//! write through x (an image)    x: written    y, the image in the same bytes: undefined, overwritten by x
//! write through a (a buffer)    a: written    b, a buffer in the same bytes: written, through a
//! ```
//! Resources that interpret bytes alike share one state. A write through any other alias makes contents undefined: of an image with optimal
//! tiling all subresources, of a linear resource the bytes that overlap. Contents are those in the order in which commands run; whether they
//! are in that order is another question.
//!
//! Source: "Memory Aliasing"; "Image Layout Transitions"; "Render Pass Load Operations" and "Render Pass Store Operations".

use std::collections::HashMap;

use crate::finding::{Loss, LostContents, Use, Verdict};
use crate::operation::Bytes;
use crate::program::{AccessKind, MemoryId, ResourceId, Tiling};
use crate::record::{Kind, Later, padded};
use crate::region::Region;

/// Regions tracked per resource; beyond that its contents are unknown.
const MAX_REGIONS: usize = 64;

/// The contents of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Written,
    /// Written through another resource that interprets the bytes alike.
    Through(Use),
    Lost(Loss, Verdict),
    /// Too much happened to it, or it was not watched from the beginning.
    Unknown,
}

/// The contents of resources that interpret their bytes alike.
#[derive(Clone, Debug)]
struct Contents {
    bytes: Bytes,
    is_optimal: bool,
    has_pages: bool,
    whole: Region,
    /// Disjoint regions, all of the resource together.
    states: Vec<(Region, State)>,
}

impl Contents {
    fn set(&mut self, region: Region, state: State) {
        if region.contains(self.whole) {
            self.states.clear();
        } else if self.states.len() > MAX_REGIONS {
            self.states = vec![(self.whole, State::Unknown)];
            return;
        }
        let states = std::mem::take(&mut self.states);
        for (known, before) in states {
            let rest = known.without(region);
            self.states
                .extend(rest.into_iter().map(|region| (region, before)));
        }
        self.states.push((region, state));
    }

    /// Marks a region undefined, unless it already is with at least the same verdict.
    fn lose(&mut self, region: Region, loss: Loss, verdict: Verdict) {
        let is_lost = |state: &State| matches!(state, State::Lost(_, known) if *known >= verdict);
        let held = self.states.iter().filter(|(_, state)| !is_lost(state));
        let held: Vec<Region> = held.filter_map(|(known, _)| known.intersection(region)).collect();
        for region in held {
            self.set(region, State::Lost(loss, verdict));
        }
    }

    /// The states within a region.
    fn within(&self, region: Region) -> impl Iterator<Item = State> {
        let states = self.states.iter();
        states.filter_map(move |(known, state)| known.intersection(region).map(|_| *state))
    }
}

/// The contents of all resources of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllContents {
    classes: HashMap<ResourceId, Contents>,
    by_memory: HashMap<MemoryId, Vec<ResourceId>>,
    /// How many resources a class has.
    members: HashMap<ResourceId, u32>,
    /// Disjoint ranges of each memory that were written.
    written: HashMap<MemoryId, Vec<(u64, u64)>>,
}

impl AllContents {
    /// Adds a resource of a class; the first one with nothing in it.
    pub(crate) fn add(&mut self, class: ResourceId, bytes: Bytes, tiling: Tiling, whole: Region) {
        *self.members.entry(class).or_default() += 1;
        if self.classes.contains_key(&class) {
            return;
        }
        // Linear resources hold what others have written to their bytes before.
        let written = self.written.get(&bytes.memory).map_or(&[][..], Vec::as_slice);
        let is_written = written
            .iter()
            .any(|&(first, end)| first < bytes.end && bytes.first < end);
        let state = if tiling == Tiling::Linear && is_written {
            State::Unknown
        } else {
            State::Lost(Loss::NeverWritten, Verdict::Certain)
        };
        let states = vec![(whole, state)];
        let contents = Contents {
            bytes,
            is_optimal: matches!(tiling, Tiling::Optimal(_)),
            has_pages: tiling != Tiling::Unknown,
            whole,
            states,
        };
        self.classes.insert(class, contents);
        self.by_memory.entry(bytes.memory).or_default().push(class);
    }

    /// Assumes that the contents are defined.
    pub(crate) fn assume_written(&mut self, class: ResourceId) {
        if let Some(contents) = self.classes.get_mut(&class) {
            contents.states = vec![(contents.whole, State::Unknown)];
        }
    }

    /// Removes a resource of a class; the last one with its contents.
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
            if let Some(classes) = self.by_memory.get_mut(&contents.bytes.memory) {
                classes.retain(|other| *other != class);
            }
        }
    }

    /// Forgets freed memory.
    pub(crate) fn free(&mut self, memory: MemoryId) {
        for class in self.by_memory.remove(&memory).unwrap_or_default() {
            self.classes.remove(&class);
            self.members.remove(&class);
        }
        self.written.remove(&memory);
    }

    /// The finding of a read: all of the region is undefined, or some of it was written through an alias.
    ///
    /// A region that is only partly unwritten or discarded is not reported: programs load and copy more than they need.
    pub(crate) fn read(&self, later: &Later, used: Use) -> Option<LostContents> {
        let contents = self.classes.get(&later.origin.class)?;
        let mut whole: Option<(Loss, Verdict)> = None;
        let mut through = None;
        let mut is_whole = true;
        for state in contents.within(later.touched.certain) {
            match state {
                State::Lost(loss, verdict) => {
                    if whole.is_none_or(|known| verdict < known.1) {
                        whole = Some((loss, verdict));
                    }
                    if matches!(loss, Loss::Overwritten(_)) {
                        through = Some(loss);
                    }
                }
                State::Through(by) => {
                    is_whole = false;
                    through = Some(Loss::WrittenThrough(by));
                }
                State::Written | State::Unknown => is_whole = false,
            }
        }
        let partly = || through.map(|loss| (loss, Verdict::Possible));
        let (loss, mut verdict) = whole.filter(|_| is_whole).or_else(partly)?;
        if later.kind == Kind::Access(AccessKind::Partial) {
            // A shader may read none of it.
            verdict = verdict.min(Verdict::Possible);
        }
        Some(LostContents {
            reader: used,
            loss,
            verdict,
        })
    }

    /// A command writes a region, or makes it undefined; linear and optimal resources alias pages of `granularity` bytes.
    pub(crate) fn write(&mut self, later: &Later, used: Use, discards: bool, granularity: u64) {
        let class = later.origin.class;
        let region = later.touched.certain;
        let state = match discards {
            true => State::Lost(Loss::Discarded(used), Verdict::Certain),
            false => State::Written,
        };
        let Some(contents) = self.classes.get_mut(&class) else {
            return;
        };
        // A transition keeps what there is.
        if discards || later.kind != Kind::Transition {
            contents.set(region, state);
        }
        let (bytes, is_optimal) = (contents.bytes, contents.is_optimal);
        // Any byte of an image may hold any of its subresources.
        let (first, end) = if is_optimal {
            (bytes.first, bytes.end)
        } else {
            region.bytes()
        };
        extend(self.written.entry(bytes.memory).or_default(), (first, end));
        let is_exact = later.kind != Kind::Access(AccessKind::Partial);
        let classes = self.by_memory.get(&bytes.memory).map_or(&[][..], Vec::as_slice);
        for other in classes.iter().filter(|other| **other != class) {
            let Some(alias) = self.classes.get_mut(other) else {
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
                    alias.set(hit, State::Through(used));
                }
                continue;
            }
            let pages = [(first, end), own].map(|bytes| padded(bytes, granularity));
            let has_pages = later.has_pages && alias.has_pages && is_optimal != alias.is_optimal;
            let is_close = has_pages && pages[0].0 < pages[1].1 && pages[1].0 < pages[0].1;
            let verdict = match (is_common, is_close) {
                (true, _) if is_exact => Verdict::Certain,
                (true, _) => Verdict::Possible,
                // Of the page only: no byte of its own is written.
                (false, true) if alias.is_optimal => Verdict::ByTheLetter,
                _ => continue,
            };
            alias.lose(hit, Loss::Overwritten(used), verdict);
        }
    }
}

/// Adds a range to disjoint ones.
fn extend(ranges: &mut Vec<(u64, u64)>, mut range: (u64, u64)) {
    if ranges
        .iter()
        .any(|known| known.0 <= range.0 && range.1 <= known.1)
    {
        return;
    }
    ranges.retain(|known| {
        let is_apart = known.1 < range.0 || range.1 < known.0;
        if !is_apart {
            range = (range.0.min(known.0), range.1.max(known.1));
        }
        is_apart
    });
    ranges.push(range);
}
