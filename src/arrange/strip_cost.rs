//! Lower bounds on the cost of repeating passes, for resources that tile memory holds only in strips.
//!
//! ```text
//! hdr 20 MiB, heap 8 MiB     at least 3 strips: draw and light run two more times, or the loads and stores of hdr move
//! ```

use tileheap_units::CompactSort;

use super::mergeable::MergeablePasses;
use super::traffic::Model;
use crate::frame::{PassId, ResourceId};
use crate::units::Bytes;

/// A resource that tile memory can hold for its whole lifetime only in strips.
pub(super) struct OnlyInStrips {
    pub(super) resource: ResourceId,
    /// Minimum number of bytes that it moves unless it is in strips.
    pub(super) moved: Bytes,
    /// Minimum number of strips.
    strips: u32,
    /// The passes that run in these strips.
    run: Vec<PassId>,
}

/// A lower bound on the cost of a resource that tile memory holds only in strips.
#[derive(Clone, Debug)]
pub(super) struct StripCost {
    pub(super) resource: ResourceId,
    /// Minimum number of strips.
    pub(super) strips: u32,
    /// The passes that the strips repeat, each with the bytes of its repeats that are counted for the resource.
    pub(super) repeats: Vec<(PassId, Bytes)>,
}

impl StripCost {
    /// Lower bound, in bytes of traffic, on the repeats of passes that the resource's strips need.
    pub(super) fn bytes(&self) -> Bytes {
        self.repeats.iter().map(|(_, bytes)| *bytes).sum()
    }
}

impl Model<'_> {
    /// Describes a resource that does not fit as a whole, but that strips may hold.
    pub(super) fn only_in_strips(
        &self,
        resource: ResourceId,
        moved: Bytes,
        merging: &MergeablePasses<'_>,
    ) -> OnlyInStrips {
        let strips = self
            .divided_size(resource)
            .div_ceil(self.heap().max(1))
            .clamp(2, u64::from(u32::MAX));
        OnlyInStrips {
            resource,
            moved,
            strips: strips as u32,
            run: self.run_inside(resource, merging).1,
        }
    }

    /// Lower bound on the total bytes of a resource in all of its strips: each part is padded like the whole, or more.
    pub(super) fn divided_size(&self, resource: ResourceId) -> u64 {
        let frame = self.plan.input.frame();
        let described = frame.resource(resource);
        let lists = described.lists().map(|lists| lists.size(frame.base_extent()));
        let contents = lists.unwrap_or_else(|| described.content_size());
        contents.min(self.counted_size(resource)).0
    }

    /// Per pass, the cost of one more execution.
    pub(super) fn repeat_costs(&self) -> Vec<u64> {
        let frame = self.plan.input.frame();
        let repeat = |pass: PassId| self.costs.repeat_of(frame.pass(pass)).0;
        frame.pass_ids().map(repeat).collect()
    }
}

/// Lower bounds on the costs of resources that tile memory holds only in strips. Each repeat of a pass counts for at most one resource,
/// first for the one in the most strips, and is taken out of `left`, which has the cost of one repeat of each pass.
pub(super) fn strip_costs(mut all: Vec<OnlyInStrips>, left: &mut [u64]) -> Vec<StripCost> {
    all.compact_sort_by_key(|one| std::cmp::Reverse(one.strips));
    let mut costs = Vec::new();
    for one in all {
        let times = u64::from(one.strips) - 1;
        let mut needed = one.moved.0;
        let mut repeats = Vec::new();
        for &pass in &one.run {
            let taken = left[pass.index()].min(needed.div_ceil(times));
            left[pass.index()] -= taken;
            let counted = taken.saturating_mul(times).min(needed);
            needed -= counted;
            repeats.extend((counted > 0).then_some((pass, Bytes(counted))));
        }
        costs.push(StripCost {
            resource: one.resource,
            strips: one.strips,
            repeats,
        });
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two resources share the repeats of a pass: the one in more strips takes what it needs, the other one the rest.
    #[test]
    fn each_repeat_counts_once() {
        let one = |resource, moved, strips| OnlyInStrips {
            resource: ResourceId(resource),
            moved: Bytes(moved),
            strips,
            run: vec![PassId(0), PassId(1)],
        };
        let bounds = |moved: [u64; 2]| {
            let costs = strip_costs(vec![one(0, moved[0], 2), one(1, moved[1], 3)], &mut [10, 5]);
            costs
                .iter()
                .map(|cost| (cost.resource.0, cost.bytes().0))
                .collect::<Vec<_>>()
        };
        // Two more runs of both passes cost 30, one more 15.
        assert_eq!(bounds([100, 100]), [(1, 30), (0, 0)]);
        assert_eq!(bounds([100, 10]), [(1, 10), (0, 10)]);
        assert_eq!(bounds([4, 0]), [(1, 0), (0, 4)]);
        assert_eq!(bounds([4, 26]), [(1, 26), (0, 2)]);
    }
}
