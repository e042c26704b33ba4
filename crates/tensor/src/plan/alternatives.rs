//! Arms of a branch as alternatives: they follow each other on the timeline, but a value that only one arm reads is dead in the others.
//!
//! ```text
//!            enter  arm 0   arm 1   join
//! x read by both ██ ██      ████·
//! y of arm 0        ··███·              y and z may share bytes; neither is live with what the other arm reads
//! z of arm 1                ·███
//! output                            ██
//! ```
//! The live set of every step is then that of some path through the graph, and the peak is the maximum over all arms.

use super::expansion::{BranchSteps, Expansion, ValueId};
use crate::units::Span;

/// Removes from every lifetime the arms in which the value is not needed. `uses` are the steps up to which values are needed.
///
/// Complexity: spans times the branches and uses within each.
pub(super) fn remove_unneeded_arms(expansion: &mut Expansion, mut uses: Vec<(ValueId, u32)>) {
    if expansion.branches.is_empty() {
        return;
    }
    uses.sort_unstable();
    uses.dedup();
    for value in 0..expansion.values.len() {
        let first = uses.partition_point(|&(of, _)| of < value);
        let end = first + uses[first..].partition_point(|&(of, _)| of == value);
        let ends: Vec<u32> = uses[first..end].iter().map(|&(_, end)| end).collect();
        let spans = std::mem::take(&mut expansion.values[value].spans);
        let mut needed = Vec::with_capacity(spans.len());
        for span in spans {
            let from = needed.len();
            add_needed(&expansion.branches, &ends, span, &mut needed);
            if let Some(exits) = expansion.loop_exits.get(&(value, span.first.0)).cloned() {
                let pieces = needed[from..].iter();
                let exits = pieces.map(|piece: &Span| ((value, piece.first.0), exits.clone()));
                expansion.loop_exits.extend(exits);
            }
        }
        expansion.values[value].spans = needed;
    }
}

/// Adds to `needed` the parts of a span in which a value is needed. `ends` are the steps up to which the value is needed, in ascending order.
fn add_needed(branches: &[BranchSteps], ends: &[u32], span: Span, needed: &mut Vec<Span>) {
    let from = branches.partition_point(|branch| branch.enter < span.first.0);
    for branch in &branches[from..] {
        if branch.enter + 1 >= span.end.0 {
            break;
        }
        if branch.join < span.end.0 {
            continue; // Needed after the branch, hence in every arm.
        }
        needed.push(Span::new(span.first.0, branch.enter + 1));
        for &(first, end) in &branch.arms {
            // The end of the span is the end of some use.
            let within = |last: &u32| first < *last && *last <= end;
            let after = ends.partition_point(|&last| last <= end);
            let last = ends[..after].last().copied().filter(within);
            if let Some(last) = last.max(Some(span.end.0).filter(within)) {
                add_needed(branches, ends, Span::new(first, last), needed);
            }
        }
        return;
    }
    needed.push(span);
}
