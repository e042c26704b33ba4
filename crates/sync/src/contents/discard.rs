//! Discards of memory: bytes that become undefined without an access.

use tileheap_units::CompactSort;

use crate::finding::{Certainty, DiscardedContents, LossReason, MemoryUse};
use crate::program::{Discard, MemoryId, Tag};
use crate::region::Region;

use super::AllContents;
use super::state::{Contents, State, Value, common, subtract};

impl AllContents {
    /// Makes bytes undefined; if `discard.reports_contents` is true, returns the first of them that had defined contents.
    pub(crate) fn discard(&mut self, discard: &Discard, batch: u64, tag: Tag) -> Option<DiscardedContents> {
        let range = (discard.first, discard.end);
        let found = if discard.reports_contents {
            self.defined(discard.memory, range)
        } else {
            None
        };
        let loss = LossReason::MemoryDiscarded { batch, tag };
        for class in self.overlapping(discard.memory, range) {
            if let Some(contents) = self.classes.get_mut(&class) {
                contents.discard(range, loss);
            }
        }
        if let Some(written) = self.written.get_mut(&discard.memory) {
            subtract(written, range);
        }
        found.map(|(bytes, last, verdict)| DiscardedContents {
            batch,
            tag,
            bytes,
            last,
            verdict,
        })
    }

    /// Returns the first bytes of a range that have defined contents, with their last write; bytes with certain contents come before others.
    fn defined(&self, memory: MemoryId, range: (u64, u64)) -> Option<((u64, u64), MemoryUse, Certainty)> {
        let classes = self.overlapping(memory, range);
        let each = classes.iter().filter_map(|class| self.classes.get(class));
        let defined = each.filter_map(|contents| contents.defined(range));
        defined.min_by_key(|(bytes, _, verdict)| (std::cmp::Reverse(*verdict), bytes.0))
    }
}

impl Contents {
    fn discard(&mut self, range: (u64, u64), loss: LossReason) {
        let all = self.range();
        let common = (all.0.max(range.0), all.1.min(range.1));
        if common.0 >= common.1 {
            return;
        }
        let region = match self.is_optimal {
            true => self.whole,
            false => Region::of_bytes(common.0, common.1),
        };
        // Certain losses stay unchanged.
        if self.within(region).all(|(_, state)| state.is_certainly_lost()) {
            return;
        }
        if self.is_optimal {
            self.change(self.whole, |state| state.discarded(all, common, loss));
        } else {
            self.change(region, |state| state.lost(loss, Certainty::Certain));
        }
    }

    /// Returns the first bytes of a range in which the resource's contents are defined.
    fn defined(&self, range: (u64, u64)) -> Option<((u64, u64), MemoryUse, Certainty)> {
        match self.is_optimal {
            true => self.defined_in_image(range),
            false => self.defined_in_bytes(range),
        }
    }

    fn defined_in_bytes(&self, range: (u64, u64)) -> Option<((u64, u64), MemoryUse, Certainty)> {
        let states = self.states.iter().filter_map(|(region, state)| {
            let (first, end) = region.bytes();
            let bytes = (first.max(range.0), end.min(range.1));
            let (by, is_certain) = state.defined_by().filter(|_| bytes.0 < bytes.1)?;
            Some((bytes, by, verdict(is_certain)))
        });
        let mut states: Vec<((u64, u64), MemoryUse, Certainty)> = states.collect();
        states.compact_sort_by_key(|state| state.0);
        let most = states.iter().map(|state| state.2).max()?;
        let mut defined = states.into_iter().filter(|state| state.2 == most);
        let mut first = defined.next()?;
        for (bytes, by, _) in defined {
            if bytes.0 == first.0.1 && by == first.1 {
                first.0.1 = bytes.1;
            }
        }
        Some(first)
    }

    /// Like [`Contents::defined`], for an image. Any subresource may occupy any byte of the image: bytes are certainly defined if all subresources are, or if
    /// one is and the range covers the whole image.
    fn defined_in_image(&self, range: (u64, u64)) -> Option<((u64, u64), MemoryUse, Certainty)> {
        let all = self.range();
        let discarded = (all.0.max(range.0), all.1.min(range.1));
        if discarded.0 >= discarded.1 {
            return None;
        }
        let states = || self.states.iter().map(|(_, state)| state);
        let is_entire = |state: &&State| {
            let is_written = matches!(state.value, Value::Written { is_certain: true, .. });
            discarded == all && is_written && state.discarded.is_none()
        };
        if let Some((by, _)) = states().find(is_entire).and_then(State::defined_by) {
            return Some((all, by, Certainty::Certain));
        }
        let held = |state: &State| {
            let mut bytes = vec![discarded];
            let gone = state.discarded.iter().flat_map(|gone| &gone.bytes);
            gone.for_each(|gone| subtract(&mut bytes, *gone));
            bytes
        };
        let is_certain = |state: &State| state.defined_by().is_some_and(|defined| defined.1);
        if states().all(is_certain) {
            let shared = states().map(held).reduce(|one, other| common(&one, &other))?;
            let (by, _) = states().find_map(State::defined_by)?;
            if let Some(bytes) = shared.first() {
                return Some((*bytes, by, Certainty::Certain));
            }
        }
        let possible = states().filter_map(|state| {
            let (by, _) = state.defined_by()?;
            Some((*held(state).first()?, by, Certainty::Possible))
        });
        possible.min_by_key(|(bytes, ..)| bytes.0)
    }
}

fn verdict(is_certain: bool) -> Certainty {
    match is_certain {
        true => Certainty::Certain,
        false => Certainty::Possible,
    }
}
