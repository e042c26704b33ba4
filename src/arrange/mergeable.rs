//! Render passes that some arrangement can merge.
//!
//! ```text
//! passes      shadow 1 │ light 1 │ shadow 2 │ light 2        light 1 reads the atlas into which both shadows are drawn
//! in pairs    shadow 1 + shadow 2: same attachments          light 1 has to run between them: never merged
//! ```

use std::cell::RefCell;
use std::collections::HashMap;

use tileheap_units::CompactSort;

use super::check::{can_merge_pair, dependencies, fusible};
use super::error::{ArrangeError, CannotGroup};
use crate::frame::tables::PassKind;
use crate::frame::{BatchId, Frame, PassId};

/// The reason why no arrangement can merge two passes.
enum Obstacle {
    /// The two passes cannot be merged, whatever runs between them.
    Pair,
    /// Two batches, by number, that cannot be submitted as one, and the reason.
    Batches((u32, u32), &'static str),
    /// A pass that cannot be merged with both has to run between them.
    Between(PassId),
}

/// The pairs of passes that can be in one merged group, in whatever order and batches the frame runs.
pub(super) struct MergeablePasses<'a> {
    frame: &'a Frame,
    /// Per pass, a bit for each pass that has to run before it.
    before: Vec<Vec<u64>>,
    /// Per pass, a bit for each pass that has to run after it.
    after: Vec<Vec<u64>>,
    /// Cache: for each pair of passes in submission order, true if the two could be merged with nothing between them.
    pairs: RefCell<HashMap<(PassId, PassId), bool>>,
}

impl<'a> MergeablePasses<'a> {
    /// Collects the dependencies of a frame, in time and memory proportional to the square of its number of passes.
    pub(super) fn new(frame: &'a Frame) -> MergeablePasses<'a> {
        let count = frame.passes().len();
        let words = count.div_ceil(64);
        let mut before = vec![vec![0; words]; count];
        let mut after = before.clone();
        let mut pairs: Vec<(usize, usize)> = dependencies(frame)
            .map(|(earlier, later, _)| (earlier.index(), later.index()))
            .collect();
        // Passes are in submission order: all that has to run before the earlier one is known before the later one is reached.
        pairs.compact_sort_by_key(|&(_, later)| later);
        pairs.dedup();
        for &(earlier, later) in &pairs {
            add(&mut before, earlier, later);
        }
        pairs.compact_sort_by_key(|&(earlier, _)| std::cmp::Reverse(earlier));
        for &(earlier, later) in &pairs {
            add(&mut after, later, earlier);
        }
        MergeablePasses {
            frame,
            before,
            after,
            pairs: RefCell::default(),
        }
    }

    /// Returns true if `earlier` has to run before `later`.
    pub(super) fn has_to_precede(&self, earlier: PassId, later: PassId) -> bool {
        (self.before[later.index()][earlier.index() / 64] >> (earlier.index() % 64)) & 1 == 1
    }

    /// The passes that have to run between two given passes.
    fn between(&self, first: PassId, second: PassId) -> impl Iterator<Item = PassId> + use<'_> {
        let bits = self.after[first.index()].iter().zip(&self.before[second.index()]);
        let bits = bits.map(|(after, before)| after & before).enumerate();
        let set = bits.filter(|(_, bits)| *bits != 0);
        set.flat_map(|(word, bits)| {
            let set = (0..64).filter(move |bit| (bits >> bit) & 1 == 1);
            set.map(move |bit| PassId((word * 64) as u32 + bit))
        })
    }

    /// Returns the reason why no arrangement can merge two passes; `None` if one can.
    fn obstacle(&self, first: PassId, second: PassId) -> Option<Obstacle> {
        if !self.can_merge_adjacent(first, second) {
            return Some(Obstacle::Pair);
        }
        let [start, end] = [first, second].map(|pass| self.frame.batch_of(pass).0);
        let mut batches = start..end;
        let apart = batches.find_map(|batch| fusible(self.frame, BatchId(batch), BatchId(batch + 1)).err());
        if let Some(ArrangeError::CannotFuse { first, second, why }) = apart {
            return Some(Obstacle::Batches((first, second), why));
        }
        let mut between = self.between(first, second);
        let between = between
            .find(|&pass| !self.can_merge_adjacent(first, pass) || !self.can_merge_adjacent(pass, second));
        between.map(Obstacle::Between)
    }

    /// Returns true if some arrangement can merge two passes.
    pub(super) fn merges(&self, one: PassId, other: PassId) -> bool {
        one != other && self.obstacle(one.min(other), one.max(other)).is_none()
    }

    /// Returns the reason why a pass cannot be merged with any other of `passes`, all of one batch; `None` if it can.
    pub(super) fn why_unmergeable(&self, pass: PassId, passes: &[PassId]) -> Option<CannotGroup> {
        let name = |pass: PassId| self.frame.pass(pass).name.clone();
        let mut why: Option<((PassId, PassId), Obstacle)> = None;
        for &other in passes.iter().filter(|other| **other != pass) {
            let pair = (pass.min(other), pass.max(other));
            let obstacle = self.obstacle(pair.0, pair.1)?;
            // A pass in between is the most informative reason.
            let says_more = |known: &Obstacle| {
                matches!(obstacle, Obstacle::Between(_)) && !matches!(known, Obstacle::Between(_))
            };
            if why.as_ref().is_none_or(|(_, known)| says_more(known)) {
                why = Some((pair, obstacle));
            }
        }
        let Some(((first, second), obstacle)) = why else {
            return Some(CannotGroup::OnlyPass(name(pass)));
        };
        let (first, second) = (name(first), name(second));
        Some(match obstacle {
            Obstacle::Pair => CannotGroup::CannotMerge { first, second },
            Obstacle::Batches(batches, why) => CannotGroup::NotOneBatch {
                first,
                second,
                batches,
                why,
            },
            Obstacle::Between(between) => CannotGroup::PassBetween {
                first,
                second,
                between: name(between),
            },
        })
    }

    /// Returns true if two render passes could be merged if they ran one after the other; independent passes may run in either order.
    fn can_merge_adjacent(&self, first: PassId, second: PassId) -> bool {
        if [first, second].map(|pass| self.frame.pass(pass).kind) != [PassKind::Render; 2] {
            return false;
        }
        let known = self.pairs.borrow().get(&(first, second)).copied();
        known.unwrap_or_else(|| {
            let is_ordered = self.has_to_precede(first, second);
            let merges = can_merge_pair(self.frame, first, second)
                || !is_ordered && can_merge_pair(self.frame, second, first);
            self.pairs.borrow_mut().insert((first, second), merges);
            merges
        })
    }

    /// Returns true if the batches of two passes, and all batches between them, can be submitted as one.
    pub(super) fn share_batch(&self, one: PassId, other: PassId) -> bool {
        self.can_fuse_all(one, other, |_, _| false)
    }

    /// Returns true if tile memory may keep its contents from one pass to another: the batches in between can be submitted as one or, with `by_submit` (only
    /// the end of a submit discards contents), are in one submit.
    pub(super) fn share_window(&self, one: PassId, other: PassId, by_submit: bool) -> bool {
        let batches = self.frame.batches();
        self.can_fuse_all(one, other, |first, second| {
            by_submit && batches[first.index()].submit == batches[second.index()].submit
        })
    }

    fn can_fuse_all(&self, one: PassId, other: PassId, joins: impl Fn(BatchId, BatchId) -> bool) -> bool {
        let [one, other] = [one, other].map(|pass| self.frame.batch_of(pass).0);
        let batches = (one.min(other)..one.max(other)).map(|batch| (BatchId(batch), BatchId(batch + 1)));
        let mut batches = batches.filter(|&(first, second)| !joins(first, second));
        batches.all(|(first, second)| fusible(self.frame, first, second).is_ok())
    }

    /// The passes of a set, and all that have to run between two of them, in submission order.
    pub(super) fn with_those_between(&self, passes: &[PassId]) -> Vec<PassId> {
        let words = self.before.first().map_or(0, Vec::len);
        let union = |bits: &[Vec<u64>]| {
            let mut all = vec![0; words];
            for pass in passes {
                let bits = bits[pass.index()].iter();
                all.iter_mut().zip(bits).for_each(|(all, bits)| *all |= bits);
            }
            all
        };
        let (before, after) = (union(&self.before), union(&self.after));
        let is_between = |pass: &PassId| {
            let (word, bit) = (pass.index() / 64, pass.index() % 64);
            ((before[word] & after[word]) >> bit) & 1 == 1
        };
        let all = self.frame.pass_ids();
        all.filter(|pass| passes.contains(pass) || is_between(pass))
            .collect()
    }
}

/// Adds `pass`, and all passes known to precede (or follow) it, to those that precede (or follow) `to`.
fn add(beyond: &mut [Vec<u64>], pass: usize, to: usize) {
    let mut bits = std::mem::take(&mut beyond[to]);
    bits.iter_mut()
        .zip(&beyond[pass])
        .for_each(|(to, from)| *to |= from);
    bits[pass / 64] |= 1 << (pass % 64);
    beyond[to] = bits;
}
