//! Selects the texture for a request: the pool's policy, independent of Vulkan.

use crate::layout::ImageExtent;
use tileheap::units::Bytes;

/// The rule for replacing a free texture that is too small with a larger one instead of adding another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GrowthPolicy {
    /// Never replaces a texture.
    Never,
    /// Replaces the texture that needs the least additional area (on a tie, the one with the least unused area), if the additional area is at most
    /// that of the request.
    ///
    /// Source: TVM's [RFC](crate#sources), "Storage scope based memory planning"; TVM #11876.
    #[default]
    LeastArea,
}

/// The smallest extent that covers both extents.
fn union(a: ImageExtent, b: ImageExtent) -> ImageExtent {
    ImageExtent {
        width: a.width.max(b.width),
        height: a.height.max(b.height),
        layers: a.layers.max(b.layers),
    }
}

/// The decision for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocation {
    /// A free texture is large enough.
    Reuse(usize),
    /// A free texture is replaced by a larger one.
    Grow(usize, ImageExtent),
    /// A new texture.
    New,
}

/// Chooses among free textures of the request's kind: `(index, extent)`, in creation order.
pub(super) fn choose(free: &[(usize, ImageExtent)], wanted: ImageExtent, growth: GrowthPolicy) -> Allocation {
    match growth {
        GrowthPolicy::Never => {
            let holding = free.iter().filter(|(_, sides)| union(*sides, wanted) == *sides);
            let least = holding.min_by_key(|(_, sides)| sides.texels());
            least.map_or(Allocation::New, |(index, _)| Allocation::Reuse(*index))
        }
        GrowthPolicy::LeastArea => {
            let costs = |sides: ImageExtent| {
                let grown = union(sides, wanted);
                (grown.texels() - sides.texels(), grown.texels() - wanted.texels())
            };
            let least = free.iter().min_by_key(|(_, sides)| costs(*sides));
            match least.map(|&(index, sides)| (index, sides, costs(sides).0)) {
                Some((index, _, 0)) => Allocation::Reuse(index),
                Some((index, sides, added)) if added <= wanted.texels() => {
                    Allocation::Grow(index, union(sides, wanted))
                }
                _ => Allocation::New,
            }
        }
    }
}

/// Returns true if the pool may hold `more` additional bytes.
pub(super) fn within(held: Bytes, more: Bytes, cap: Bytes) -> bool {
    held.0.saturating_add(more.0) <= cap.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(width: u64, height: u64) -> ImageExtent {
        ImageExtent {
            width,
            height,
            layers: 1,
        }
    }

    #[test]
    fn growth_follows_the_rule() {
        use Allocation::{Grow, New, Reuse};
        use GrowthPolicy::{LeastArea, Never};
        let free = [(0, sides(100, 10)), (1, sides(40, 40)), (2, sides(50, 40))];
        let high = [(0, sides(1000, 1))];
        let rows: [(&[_], _, _, _); 5] = [
            (&free, (30, 30), LeastArea, Reuse(1)),
            // 41 x 40 fits into the last; 60 x 40 adds 400 texels to it, but 800 to the other.
            (&free, (41, 40), LeastArea, Reuse(2)),
            (&free, (60, 40), LeastArea, Grow(2, sides(60, 40))),
            (&free, (60, 40), Never, New),
            // More would be added than requested.
            (&high, (1, 1000), LeastArea, New),
        ];
        for (free, (width, height), growth, expected) in rows {
            let chosen = choose(free, sides(width, height), growth);
            assert_eq!(chosen, expected, "{width} x {height} by {growth:?}");
        }
    }
}
