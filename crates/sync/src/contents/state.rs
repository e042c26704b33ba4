//! The contents of one resource, or of all resources that interpret its bytes consistently, region by region.

use tileheap_units::CompactSort;

use crate::finding::{Certainty, LossReason, MemoryUse};
use crate::operation::Bytes;
use crate::program::SharingMode;
use crate::region::Region;

/// Maximum number of regions tracked per resource; with more, its contents are unknown.
const MAX_REGIONS: usize = 64;

/// The contents of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Written {
        by: MemoryUse,
        /// False if the write may have changed only a part of the region, such as the write of a shader that may access any elements.
        is_certain: bool,
        /// The last write through another image that interprets the bytes in the same way, if later writes replaced what it wrote.
        replaced: Option<MemoryUse>,
    },
    /// Written through another resource that interprets the bytes consistently, after the last write through this one.
    WrittenThrough { by: MemoryUse, last: Option<MemoryUse> },
    /// Undefined: the contents were lost after the last write.
    Lost {
        loss: LossReason,
        verdict: Certainty,
        last: Option<MemoryUse>,
    },
    /// Unknown, since there were too many changes, or the resource was not tracked from the beginning.
    Unknown,
}

/// Discarded bytes of an image with optimal tiling; any region of the image may occupy any of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Discarded {
    /// The first discard since the last write.
    pub(super) loss: LossReason,
    /// The last write before that discard.
    pub(super) last: Option<MemoryUse>,
    /// The discarded bytes, as disjoint ranges in ascending order.
    pub(super) bytes: Vec<(u64, u64)>,
}

/// The contents of a region, and its discarded bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub(super) value: Value,
    /// Bytes discarded since the last write, if not all of them were.
    pub(super) discarded: Option<Discarded>,
    /// A release to another queue family that no acquire or write has followed: until then, the contents are undefined.
    pub(super) released: Option<MemoryUse>,
    /// The queue family that owns the contents; `None` for contents that no command has written through this resource, and if several families may
    /// have written elements of the region.
    pub(super) owner: Option<u32>,
}

impl From<Value> for State {
    fn from(value: Value) -> State {
        State {
            value,
            discarded: None,
            released: None,
            owner: None,
        }
    }
}

impl State {
    /// Returns the state of a resource that was never written.
    pub(super) fn never_written() -> State {
        State::from(Value::Lost {
            loss: LossReason::NeverWritten,
            verdict: Certainty::Certain,
            last: None,
        })
    }

    pub(super) fn is_certainly_lost(&self) -> bool {
        let certain = Certainty::Certain;
        matches!(self.value, Value::Lost { verdict, .. } if verdict == certain)
    }

    /// Returns the release that makes defined contents undefined.
    pub(super) fn release(&self) -> Option<MemoryUse> {
        let is_lost = matches!(self.value, Value::Lost { .. });
        self.released.filter(|_| !is_lost)
    }

    /// Returns the last write, if it is known.
    pub(super) fn last_write(&self) -> Option<MemoryUse> {
        match self.value {
            Value::Written { by, .. } | Value::WrittenThrough { by, .. } => Some(by),
            Value::Lost { last, .. } => last,
            Value::Unknown => None,
        }
    }

    /// Returns the write that defined the value, and `true` if it certainly did.
    pub(super) fn defined_by(&self) -> Option<(MemoryUse, bool)> {
        match self.value {
            Value::Written { by, is_certain, .. } => Some((by, is_certain)),
            Value::WrittenThrough { by, .. } => Some((by, true)),
            Value::Lost { .. } | Value::Unknown => None,
        }
    }

    /// Returns the state after a loss of everything. The first loss since the last write is kept, unless it is less certain; [`LossReason::Discarded`] also
    /// replaces [`LossReason::NeverWritten`].
    pub(super) fn lost(&self, loss: LossReason, verdict: Certainty) -> State {
        if let Value::Lost {
            loss: first,
            verdict: known,
            ..
        } = self.value
        {
            let is_first = first != LossReason::NeverWritten || !matches!(loss, LossReason::Discarded(_));
            if known >= verdict && is_first {
                return self.clone();
            }
        }
        let last = self.last_write();
        let discarded = self.discarded.clone();
        State {
            value: Value::Lost { loss, verdict, last },
            discarded: discarded.filter(|_| verdict < Certainty::Certain),
            released: self.released,
            owner: self.owner,
        }
    }

    /// Returns the state after a store operation, which writes the contents of an attachment: undefined contents stay undefined.
    pub(super) fn stored(&self, by: MemoryUse, family: Option<u32>) -> State {
        let is_undefined = matches!(self.value, Value::Lost { .. }) || self.released.is_some();
        if is_undefined || self.discarded.is_some() {
            return self.clone();
        }
        self.written(by, true, family)
    }

    /// Returns the state after a write by a queue family, which becomes the owner. If it may have written only some elements, and the others may have another
    /// owner, the contents get no owner.
    pub(super) fn written(&self, by: MemoryUse, is_certain: bool, family: Option<u32>) -> State {
        let replaced = match self.value {
            Value::Written { by: before, .. } if before.resource != by.resource => Some(before),
            Value::Written { replaced, .. } => replaced,
            _ => None,
        };
        let value = Value::Written {
            by,
            is_certain,
            replaced,
        };
        State {
            owner: family.filter(|_| is_certain || self.owner == family || self.is_certainly_lost()),
            ..State::from(value)
        }
    }

    /// Returns the state after a write through another resource that interprets the bytes consistently.
    pub(super) fn written_through(&self, by: MemoryUse) -> State {
        let last = match self.value {
            Value::WrittenThrough { last, .. } => last,
            _ => self.last_write(),
        };
        State::from(Value::WrittenThrough { by, last })
    }

    /// Returns the state after a discard of `bytes`, a range of the bytes `all` that the region may occupy.
    pub(super) fn discarded(&self, all: (u64, u64), bytes: (u64, u64), loss: LossReason) -> State {
        if self.is_certainly_lost() {
            return self.clone();
        }
        let mut discarded = self.discarded.clone().unwrap_or_else(|| Discarded {
            loss,
            last: self.last_write(),
            bytes: Vec::new(),
        });
        extend(&mut discarded.bytes, bytes);
        if discarded.bytes[..] == [all] {
            return State::from(Value::Lost {
                loss: discarded.loss,
                verdict: Certainty::Certain,
                last: discarded.last,
            });
        }
        State {
            discarded: Some(discarded),
            ..self.clone()
        }
    }

    /// Iterates over the losses and the writes that findings may name.
    pub(super) fn named(&self) -> impl Iterator<Item = (Option<LossReason>, Option<MemoryUse>)> {
        let value = match self.value {
            Value::Written { by, replaced, .. } => (
                replaced.map(|_| LossReason::WrittenThrough(by)),
                replaced.or(Some(by)),
            ),
            Value::WrittenThrough { by, last } => (Some(LossReason::WrittenThrough(by)), last),
            Value::Lost { loss, last, .. } => (Some(loss), last),
            Value::Unknown => (None, None),
        };
        let discarded = self.discarded.iter();
        let discarded = discarded.map(|discarded| (Some(discarded.loss), discarded.last));
        let released = self.released.iter();
        let released = released.map(|by| (Some(LossReason::Discarded(*by)), None));
        [value].into_iter().chain(discarded).chain(released)
    }

    /// Returns the bytes of an image whose contents are undefined wherever the region is located.
    pub(super) fn undefined_bytes(&self, all: (u64, u64)) -> Vec<(u64, u64)> {
        match &self.discarded {
            _ if self.is_certainly_lost() => vec![all],
            Some(discarded) => discarded.bytes.clone(),
            None => Vec::new(),
        }
    }
}

/// The contents of resources that interpret their bytes consistently.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub(super) bytes: Bytes,
    pub(super) is_optimal: bool,
    pub(super) has_pages: bool,
    pub(super) sharing: SharingMode,
    pub(super) whole: Region,
    /// Disjoint regions that together cover the resource.
    pub(super) states: Vec<(Region, State)>,
}

impl Contents {
    /// Replaces the state of a region.
    pub(super) fn set(&mut self, region: Region, state: State) {
        self.limit(region);
        let states = std::mem::take(&mut self.states);
        for (known, before) in states {
            let rest = known.without(region);
            self.states
                .extend(rest.into_iter().map(|region| (region, before.clone())));
        }
        self.states.push((region, state));
    }

    /// Replaces the contents of a region by a write. Only images that share these contents depend on earlier ones.
    pub(super) fn write(&mut self, region: Region, by: MemoryUse, is_certain: bool, family: Option<u32>) {
        match self.uniform(region, |state| state.written(by, is_certain, family)) {
            Some(state) => self.set(region, state),
            None => self.change(region, |state| state.written(by, is_certain, family)),
        }
    }

    /// Returns the state after a change to a whole region, if that is the same everywhere in the region.
    fn uniform(&self, region: Region, after: impl Fn(&State) -> State) -> Option<State> {
        let mut states = self.within(region).map(|(_, state)| after(state));
        let first = states.next()?;
        states.all(|other| other == first).then_some(first)
    }

    /// Changes each state within a region.
    pub(super) fn change(&mut self, region: Region, after: impl Fn(&State) -> State) {
        self.limit(region);
        for (known, before) in std::mem::take(&mut self.states) {
            if let Some(common) = known.intersection(region) {
                let rest = known.without(region).into_iter();
                self.states.extend(rest.map(|region| (region, before.clone())));
                self.states.push((common, after(&before)));
            } else {
                self.states.push((known, before));
            }
        }
        if !self.is_optimal {
            self.merge();
        }
    }

    /// Makes the contents unknown if there are too many states, unless the region that changes next is the whole resource.
    fn limit(&mut self, region: Region) {
        if self.states.len() > MAX_REGIONS && !region.contains(self.whole) {
            self.states = vec![(self.whole, State::from(Value::Unknown))];
        }
    }

    /// Merges equal states of adjacent bytes.
    fn merge(&mut self) {
        self.states.compact_sort_by_key(|(region, _)| region.bytes());
        self.states.dedup_by(|(later, state), (before, known)| {
            let (own, next) = (before.bytes(), later.bytes());
            let is_one = own.1 == next.0 && known == state;
            if is_one {
                *before = Region::of_bytes(own.0, next.1);
            }
            is_one
        });
    }

    /// Iterates over the states within a region, clipped to it.
    pub(super) fn within(&self, region: Region) -> impl Iterator<Item = (Region, &State)> {
        let states = self.states.iter();
        states.filter_map(move |(known, state)| Some((known.intersection(region)?, state)))
    }

    /// Returns the bytes that a region of the resource occupies; for optimal tiling, those that it may occupy.
    pub(super) fn bytes_of(&self, region: Region) -> (u64, u64) {
        match self.is_optimal {
            true => self.range(),
            false => region.bytes(),
        }
    }

    /// Returns all bytes of the resource.
    pub(super) fn range(&self) -> (u64, u64) {
        (self.bytes.first, self.bytes.end)
    }
}

/// Adds a range to disjoint ranges in ascending order, and merges it with the ranges that it overlaps or touches.
pub(super) fn extend(ranges: &mut Vec<(u64, u64)>, mut range: (u64, u64)) {
    ranges.retain(|known| {
        let is_apart = known.1 < range.0 || range.1 < known.0;
        if !is_apart {
            range = (range.0.min(known.0), range.1.max(known.1));
        }
        is_apart
    });
    let at = ranges.partition_point(|known| known.0 < range.0);
    ranges.insert(at, range);
}

/// Removes a range from disjoint ranges in ascending order, which stay in this order.
pub(super) fn subtract(ranges: &mut Vec<(u64, u64)>, range: (u64, u64)) {
    let parts = std::mem::take(ranges);
    let rest = parts.into_iter().flat_map(|known| {
        let before = (known.0, known.1.min(range.0));
        let after = (known.0.max(range.1), known.1);
        // A disjoint range is on one side only.
        [before, after].into_iter().filter(|part| part.0 < part.1)
    });
    ranges.extend(rest);
}

/// Returns the intersection of two sets of disjoint ranges in ascending order.
pub(super) fn common(one: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let both = one
        .iter()
        .flat_map(|a| other.iter().map(|b| (a.0.max(b.0), a.1.min(b.1))));
    both.filter(|range| range.0 < range.1).collect()
}
