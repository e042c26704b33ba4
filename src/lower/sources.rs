//! What a first use of bytes has to wait for: whatever held them before, in this frame or in earlier work.
//!
//! ```text
//! bytes  ┌ A ┐ ┌ B ────┐          B takes bytes of A and C: both must have finished
//!        └───┘ │       │          A takes bytes that earlier work used
//!        ┌ C ──┤       │
//! steps  0   1   2   3
//! ```

use super::state::{ByteUse, Space};
use crate::units::Bytes;

/// What holds bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A placement of the frame.
    Placement(u32),
    /// An entry of [`MemoryState::bytes`](super::MemoryState::bytes).
    Earlier(u32),
}

/// A stretch of bytes and what used it last. Several may share bytes where several queues used them in earlier work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) by: Holder,
}

/// The bytes of one space, from what earlier work left to what the frame leaves.
#[derive(Debug, Default)]
pub(super) struct Holders {
    held: Vec<Held>,
}

impl Holders {
    /// What earlier work left in `space`.
    pub(super) fn begin(&mut self, space: Space, bytes: &[ByteUse]) {
        self.held.clear();
        let here = bytes.iter().enumerate().filter(|(_, one)| one.space == space);
        self.held.extend(here.map(|(index, one)| Held {
            first: one.first.0,
            end: one.end.0,
            by: Holder::Earlier(index as u32),
        }));
    }

    /// Bytes `[first, first + size)` go over to a placement: reports everything that held some of them.
    pub(super) fn take(&mut self, placement: u32, first: Bytes, size: Bytes, mut report: impl FnMut(Holder)) {
        let (first, end) = (first.0, first.0.saturating_add(size.0));
        let mut rest = Vec::new();
        self.held.retain_mut(|held| {
            if held.end <= first || end <= held.first {
                return true;
            }
            report(held.by);
            if held.end > end {
                rest.push(Held { first: end, ..*held });
            }
            held.end = first;
            held.first < first
        });
        self.held.append(&mut rest);
        self.held.push(Held {
            first,
            end,
            by: Holder::Placement(placement),
        });
    }

    /// What holds the bytes in the end.
    pub(super) fn held(&self) -> &[Held] {
        &self.held
    }
}
