//! Aliasing: what held a placement's bytes before, in this frame or, around its end, in the one before.
//!
//! ```text
//! bytes  ┌ A ┐ ┌ B ────┐          B takes bytes of A and C: both must have finished
//!        └───┘ │       │          A takes bytes of B, as the frame before left them
//!        ┌ C ──┤       │
//! steps  0   1   2   3
//! ```

use super::{ObjectId, Placement};
use crate::units::Bytes;

/// A stretch of bytes and the placement that held it last.
#[derive(Clone, Copy)]
struct Held {
    start: u64,
    end: u64,
    by: u32,
}

/// One space of bytes that placements share: an arena, or the tile heap of a queue.
#[derive(Default)]
pub(super) struct Space {
    held: Vec<Held>,
    /// Bytes taken that nobody had held yet in this frame: the frame before answers for them.
    open: Vec<Held>,
    replaced: Vec<Held>,
}

impl Space {
    /// Walks the placements of one space, given by index in order of their first steps, and reports for each who held
    /// its bytes before: `report(placement, before)`, once per pair and possibly more.
    ///
    /// A placement that nobody else preceded was preceded by itself.
    pub(super) fn walk(&mut self, order: &[u32], placements: &[Placement], mut report: impl FnMut(u32, u32)) {
        self.held.clear();
        self.open.clear();
        for &index in order {
            let placement = &placements[index as usize];
            let start = placement.offset.0;
            self.take(
                Held {
                    start,
                    end: start + placement.size.0,
                    by: index,
                },
                &mut report,
            );
        }
        for gap in &self.open {
            let from = self.held.partition_point(|held| held.end <= gap.start);
            for held in self.held[from..].iter().take_while(|held| held.start < gap.end) {
                report(gap.by, held.by);
            }
        }
    }

    /// Replaces the holders of `taken`'s bytes by its owner.
    fn take(&mut self, taken: Held, report: &mut impl FnMut(u32, u32)) {
        let from = self.held.partition_point(|held| held.end <= taken.start);
        let count = self.held[from..]
            .iter()
            .take_while(|held| held.start < taken.end)
            .count();
        self.replaced.clear();
        let mut free = taken.start;
        for held in &self.held[from..from + count] {
            report(taken.by, held.by);
            if held.start > free {
                self.open.push(Held {
                    start: free,
                    end: held.start,
                    by: taken.by,
                });
            }
            free = held.end;
            if held.start < taken.start {
                self.replaced.push(Held {
                    end: taken.start,
                    ..*held
                });
            }
        }
        if free < taken.end {
            self.open.push(Held { start: free, ..taken });
        }
        self.replaced.push(taken);
        if let Some(last) = self.held[from..from + count].last() {
            if last.end > taken.end {
                self.replaced.push(Held {
                    start: taken.end,
                    ..*last
                });
            }
        }
        self.held
            .splice(from..from + count, self.replaced.iter().copied());
    }
}

/// The space in which a placement's bytes lie: all tile objects are one heap, of which each queue has its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpaceKey {
    Tile { queue: u32 },
    Object(ObjectId),
}

/// The first step at which the bytes are taken, for ordering.
pub(super) fn birth(placement: &Placement) -> (u32, Bytes) {
    (placement.span.first.0, placement.offset)
}
