//! An upper bound on the traffic that asynchronous compute could hide: that of compute passes that could run concurrently with render passes.
//!
//! ```text
//! graphics   shadow ──► gbuffer ──► lighting        cull and ssao do not depend on shadow, nor shadow on them:
//! compute    cull ───────┘ ssao ──────┘             at most min(cull + ssao, shadow) is hidden
//! ```
//! Two passes can overlap if neither reads, through any chain of passes, what the other one writes. Reuse of memory or images does not count as a
//! dependency: a program could allocate separate ones.

use std::collections::BTreeMap;

use tileheap::frame::tables::PassKind;
use tileheap::frame::{Frame, LoadOp, PassId};

/// An upper bound on the traffic that work on another queue could hide. O(passes² + accesses).
pub(super) fn hidden_by_async_compute(frame: &Frame, moved: impl Fn(PassId) -> u64) -> u64 {
    let count = frame.passes().len();
    let mut before: Vec<Vec<bool>> = Vec::with_capacity(count);
    let mut writers: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for pass in frame.pass_ids() {
        let mut needs = vec![false; count];
        for access in frame.accesses_of(pass).iter().filter(|access| access.reads) {
            for &writer in writers.get(&access.resource).into_iter().flatten() {
                needs[writer] = true;
                let earlier: &Vec<bool> = &before[writer];
                needs.iter_mut().zip(earlier).for_each(|(all, one)| *all |= *one);
            }
        }
        for access in frame.accesses_of(pass).iter().filter(|access| access.writes) {
            let writers = writers.entry(access.resource).or_default();
            if access.load_op != LoadOp::Load && !access.reads {
                writers.clear();
            }
            writers.push(pass.index());
        }
        before.push(needs);
    }
    let is_of = |pass: &PassId, kind| frame.pass(*pass).kind == kind;
    let can_overlap = |a: PassId, b: PassId| !before[a.index()][b.index()] && !before[b.index()][a.index()];
    let hideable = |kind, other| -> u64 {
        let passes = frame.pass_ids().filter(|pass| is_of(pass, kind));
        let beside = passes.filter(|&pass| {
            let mut others = frame.pass_ids().filter(|other_pass| is_of(other_pass, other));
            others.any(|other_pass| can_overlap(pass, other_pass))
        });
        beside.map(&moved).sum()
    };
    hideable(PassKind::Compute, PassKind::Render).min(hideable(PassKind::Render, PassKind::Compute))
}
