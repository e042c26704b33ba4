//! Regions: the bytes or texels of a resource that an access touches or a barrier applies to.

use crate::program::{Resource, ResourcePart, Texels, Tiling};

/// The end of an axis whose length is not specified.
const UNBOUNDED: u64 = u64::MAX;

/// Bytes of a linear resource, or texels of an image: a set of aspects, and half-open ranges along five axes.
///
/// Linear resources use the first axis only, with addresses in their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    aspects: u32,
    /// Ranges `[first, end)` of levels (or bytes), layers, x, y and z.
    axes: [(u64, u64); 5],
}

impl Region {
    /// Returns the region of a part of a resource.
    pub(crate) fn of(resource: &Resource, part: &ResourcePart) -> Region {
        match (part, &resource.tiling) {
            (ResourcePart::Bytes(first, end), _) => {
                let at = |offset: u64| resource.first.saturating_add(offset).min(resource.end);
                Region::of_bytes(at(*first), at(*end))
            }
            (ResourcePart::Texels(texels), Tiling::Optimal(_)) => Region::of_texels(texels),
            // The positions of its texels are unknown.
            (ResourcePart::Texels(_), _) => Region::whole(resource),
        }
    }

    /// Returns the region of the addresses `[first, end)` of an address space.
    pub(crate) fn of_bytes(first: u64, end: u64) -> Region {
        let one = (0, 1);
        Region {
            aspects: 1,
            axes: [(first, end), one, one, one, one],
        }
    }

    fn of_texels(texels: &Texels) -> Region {
        let axis = |run: tileheap_units::Run| (u64::from(run.first), u64::from(run.end));
        let along = |run: tileheap_units::Run| match axis(run) {
            (first, end) if end == u64::from(u32::MAX) => (first, UNBOUNDED),
            bounded => bounded,
        };
        let [x, y, z] = texels.area.map_or([(0, UNBOUNDED); 3], |area| area.map(along));
        Region {
            aspects: texels.aspects.as_raw(),
            axes: [axis(texels.levels), axis(texels.layers), x, y, z],
        }
    }

    /// Returns the region of a whole resource.
    pub(crate) fn whole(resource: &Resource) -> Region {
        match &resource.tiling {
            Tiling::Linear | Tiling::Unknown => Region::of_bytes(resource.first, resource.end),
            Tiling::Optimal(texels) => Region::of_texels(texels),
        }
    }

    /// Returns the whole subresources that the region touches.
    pub(crate) fn subresources(self) -> Region {
        let [levels, layers, ..] = self.axes;
        let all = (0, UNBOUNDED);
        Region {
            axes: [levels, layers, all, all, all],
            ..self
        }
    }

    /// Returns the addresses that the region of a linear resource covers.
    pub(crate) fn bytes(self) -> (u64, u64) {
        self.axes[0]
    }

    /// Returns the texels or bytes in both regions; `None` if there are none.
    pub(crate) fn intersection(self, other: Region) -> Option<Region> {
        let aspects = self.aspects & other.aspects;
        let mut axes = self.axes;
        for (axis, with) in axes.iter_mut().zip(other.axes) {
            *axis = (axis.0.max(with.0), axis.1.min(with.1));
        }
        let is_empty = aspects == 0 || axes.iter().any(|axis| axis.0 >= axis.1);
        (!is_empty).then_some(Region { aspects, axes })
    }

    /// Returns true if this region contains all of another one.
    pub(crate) fn contains(self, other: Region) -> bool {
        let within = |(outer, inner): (&(u64, u64), &(u64, u64))| outer.0 <= inner.0 && inner.1 <= outer.1;
        self.aspects & other.aspects == other.aspects && self.axes.iter().zip(&other.axes).all(within)
    }

    /// Returns the difference of this region and another one, as disjoint pieces.
    pub(crate) fn without(self, other: Region) -> Vec<Region> {
        let Some(common) = self.intersection(other) else {
            return vec![self];
        };
        let mut pieces = Vec::new();
        let aspects = self.aspects & !common.aspects;
        if aspects != 0 {
            pieces.push(Region { aspects, ..self });
        }
        let mut rest = Region {
            aspects: common.aspects,
            ..self
        };
        for (axis, (first, end)) in common.axes.into_iter().enumerate() {
            let (from, to) = rest.axes[axis];
            for (from, to) in [(from, first), (end, to)] {
                if from < to {
                    let mut piece = rest;
                    piece.axes[axis] = (from, to);
                    pieces.push(piece);
                }
            }
            rest.axes[axis] = (first, end);
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use tileheap_units::SplitMix64;

    use super::*;

    fn random(random: &mut SplitMix64) -> Region {
        let mut axis = || {
            let first = random.below(3);
            (first, first + 1 + random.below(3))
        };
        Region {
            axes: [axis(), axis(), axis(), axis(), (0, 1)],
            aspects: 1 + random.below(3) as u32,
        }
    }

    fn cells(region: Region) -> Vec<[u64; 5]> {
        let mut cells = Vec::new();
        let axis = |index: usize| region.axes[index].0..region.axes[index].1;
        for aspect in (0..2).filter(|aspect| region.aspects >> aspect & 1 == 1) {
            for level in axis(0) {
                for layer in axis(1) {
                    for x in axis(2) {
                        cells.extend(axis(3).map(|y| [aspect, level, layer, x, y]));
                    }
                }
            }
        }
        cells.sort_unstable();
        cells
    }

    #[test]
    fn regions_are_sets_of_cells() {
        let mut numbers = SplitMix64::new(1);
        for _ in 0..2_000 {
            let (a, b) = (random(&mut numbers), random(&mut numbers));
            let (in_a, in_b) = (cells(a), cells(b));
            let (both, rest): (Vec<[u64; 5]>, Vec<_>) =
                in_a.iter().copied().partition(|cell| in_b.contains(cell));
            assert_eq!(a.intersection(b).map_or(Vec::new(), cells), both);
            assert_eq!(a.contains(b), in_b.iter().all(|cell| in_a.contains(cell)));
            let mut pieces: Vec<_> = a.without(b).into_iter().flat_map(cells).collect();
            pieces.sort_unstable();
            assert_eq!(pieces, rest);
        }
    }
}
