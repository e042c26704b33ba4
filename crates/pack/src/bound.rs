//! A lower bound on the height of every packing.

use tileheap_units::CompactSort;

use super::Problem;
use super::by_step::is_dense;
use super::gap::{ROOM, align_up};
use crate::lists::{refill, reset};
use crate::units::{Bytes, Span};

/// Returns the peak of the live set, a lower bound on the height of every packing.
///
/// This is the most bytes live at one step, a group counted once, and at least the end of every item at its fixed or lowest offset. It ignores
/// alignment, conflicts and the gaps that fixed items leave, so the optimum may be higher.
pub fn lower_bound(problem: &Problem) -> Bytes {
    Bounder::default().lower_bound(problem)
}

/// Scratch memory of [`lower_bound`].
#[derive(Debug, Default)]
pub(super) struct Bounder {
    /// Change of the live bytes at each step.
    changes: Vec<u64>,
    /// Steps with the changes of the live bytes there, if there are too many steps for a table.
    events: Vec<(u32, u64)>,
    /// Lifetimes of one group's members.
    spans: Vec<Span>,
}

impl Bounder {
    pub(super) fn lower_bound(&mut self, problem: &Problem) -> Bytes {
        let units = &problem.units;
        let (mut end, mut least) = (0, 0);
        for unit in units {
            end = end.max(unit.hull.end.0);
            let lowest = align_up(unit.bounds().0, unit.alignment).expect(ROOM);
            least = least.max(lowest + unit.size);
        }
        // A table of steps needs no sorting; it pays off unless steps are sparse.
        let peak = if is_dense(end, units.len()) {
            reset(&mut self.changes, end as usize + 1, 0);
            self.each_lifetime(problem, |bounder, span, size| {
                let (first, end) = (span.first.0 as usize, span.end.0 as usize);
                bounder.changes[first] = bounder.changes[first].wrapping_add(size);
                bounder.changes[end] = bounder.changes[end].wrapping_sub(size);
            });
            peak(self.changes.iter().copied())
        } else {
            self.events.clear();
            self.each_lifetime(problem, |bounder, span, size| {
                bounder.events.push((span.first.0, size));
                bounder.events.push((span.end.0, size.wrapping_neg()));
            });
            self.events.compact_sort_by_key(|&(step, _)| step);
            let steps = self.events.chunk_by(|a, b| a.0 == b.0);
            peak(steps.map(|step| {
                step.iter()
                    .fold(0u64, |sum, &(_, change)| sum.wrapping_add(change))
            }))
        };
        Bytes(peak.max(least))
    }

    /// Calls `live` with every span in which a unit takes its bytes: for a group, the union of its members' lifetimes.
    fn each_lifetime(&mut self, problem: &Problem, mut live: impl FnMut(&mut Bounder, Span, u64)) {
        for unit in &problem.units {
            if unit.hull.is_empty() {
                continue;
            }
            if unit.members.len() == 1 {
                live(self, unit.hull, unit.size);
                continue;
            }
            let mut spans = std::mem::take(&mut self.spans);
            refill(&mut spans, problem.spans(unit).filter(|span| !span.is_empty()));
            spans.compact_sort_by_key(|span| span.first);
            let mut union = spans[0];
            for &span in &spans[1..] {
                if span.first > union.end {
                    live(self, union, unit.size);
                    union = span;
                }
                union.end = union.end.max(span.end);
            }
            live(self, union, unit.size);
            self.spans = spans;
        }
    }
}

/// Returns the highest running sum. Changes may be negative and wrap, but the live bytes of every step fit in 64 bits.
fn peak(changes: impl Iterator<Item = u64>) -> u64 {
    let mut live = 0u64;
    changes.fold(0, |peak, change| {
        live = live.wrapping_add(change);
        peak.max(live)
    })
}
