//! The texture that a request gets: the pool without Vulkan.

use crate::layout::ImageExtent;
use tileheap::units::Bytes;

/// When a free texture that is too small is replaced by a larger one, rather than adding another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GrowthPolicy {
    /// Never.
    Never,
    /// By the least added area, then by the least unused area; if the added area is at most the request's.
    ///
    /// Source: TVM's [RFC](crate#sources), "Storage scope based memory planning"; TVM #11876.
    #[default]
    LeastArea,
    /// Axis by axis, by any axis that improves; none that is more than 5 times longer or shorter than the request, so that a tall
    /// request after a wide one does not make it grow in both.
    ///
    /// Source: TVM's `Pool2D` as it shipped (TVM #10938).
    PerAxis,
}

/// The extent that covers both.
fn union(a: ImageExtent, b: ImageExtent) -> ImageExtent {
    ImageExtent {
        width: a.width.max(b.width),
        height: a.height.max(b.height),
        layers: a.layers.max(b.layers),
    }
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allocation {
    /// A free texture holds it.
    Reuse(usize),
    /// A free texture is replaced by a larger one.
    Grow(usize, ImageExtent),
    /// A new texture.
    New,
}

/// Chooses among free textures of the request's kind: `(index, extent)`, in the order they were made.
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
        GrowthPolicy::PerAxis => per_axis(free, wanted),
    }
}

fn per_axis(free: &[(usize, ImageExtent)], wanted: ImageExtent) -> Allocation {
    const RATIO: u64 = 5;
    let mut best: Option<(usize, ImageExtent)> = None;
    let (mut added, mut wasted) = ((u64::MAX, u64::MAX), (u64::MAX, u64::MAX));
    for &(index, sides) in free {
        let apart = |a: u64, b: u64| a / b.max(1) > RATIO || b / a.max(1) > RATIO;
        if apart(wanted.width, sides.width)
            || apart(wanted.height, sides.height)
            || sides.layers < wanted.layers
        {
            continue;
        }
        let grown = union(sides, wanted);
        let add = (grown.width - sides.width, grown.height - sides.height);
        let waste = (grown.width - wanted.width, grown.height - wanted.height);
        let better = |least: u64, add: u64, least_waste: u64, waste: u64| {
            least > 0 && add < least || least == add && waste < least_waste
        };
        if better(added.0, add.0, wasted.0, waste.0) || better(added.1, add.1, wasted.1, waste.1) {
            best = Some((index, grown));
            (added, wasted) = (add, waste);
        }
    }
    match best {
        Some((index, _)) if added == (0, 0) => Allocation::Reuse(index),
        Some((index, grown)) if added.0 <= wanted.width || added.1 <= wanted.height => {
            Allocation::Grow(index, grown)
        }
        _ => Allocation::New,
    }
}

/// Whether a buffer is staged in a texture before it is read.
///
/// The copy reads every vector of the buffer once and writes it to the texture once; each read afterwards is the texture's
/// instead of the buffer's. It pays where `reads * (buffer_read - texture_read) > buffer_read + texture_write`.
///
/// Source: TVM's [RFC](crate#sources), A0, L0: "the cost of shuffling data from a global buffer to texture memory
/// can nullify a portion of the performance gain".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StagingCost {
    /// A vector's read from a buffer, in any unit.
    pub buffer_read: u32,
    /// A vector's read from a texture, in the same unit.
    pub texture_read: u32,
    /// A vector's write to a texture, in the same unit.
    pub texture_write: u32,
}

impl StagingCost {
    /// A device whose textures alone have a first-level cache. The ratio is an assumption: no public measurement of one
    /// kernel from both is known. `cargo bench --bench textures` measures the device at hand and prints its `StagingCost`.
    pub const CACHED_TEXTURES: StagingCost = StagingCost {
        buffer_read: 2,
        texture_read: 1,
        texture_write: 2,
    };

    /// Whether staging pays for a kernel that reads every vector `reads` times.
    pub fn pays(&self, reads: u64) -> bool {
        let saved = u64::from(self.buffer_read.saturating_sub(self.texture_read));
        let spent = u64::from(self.buffer_read) + u64::from(self.texture_write);
        reads.saturating_mul(saved) > spent
    }
}

/// Whether the pool may hold `more` bytes.
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
        use GrowthPolicy::{LeastArea, Never, PerAxis};
        let free = [(0, sides(100, 10)), (1, sides(40, 40)), (2, sides(50, 40))];
        let (high, long) = ([(0, sides(1000, 1))], [(0, sides(600, 5))]);
        let rows: [(&[_], _, _, _); 8] = [
            (&free, (30, 30), LeastArea, Reuse(1)),
            // 41 x 40 fits in the last; 60 x 40 is 400 texels more of it, 800 of the other.
            (&free, (41, 40), LeastArea, Reuse(2)),
            (&free, (60, 40), LeastArea, Grow(2, sides(60, 40))),
            (&free, (60, 40), Never, New),
            // More added than asked for.
            (&high, (1, 1000), LeastArea, New),
            // Axis by axis a long texture does not grow in both.
            (&long, (5, 600), PerAxis, New),
            (&long, (500, 8), PerAxis, Grow(0, sides(600, 8))),
            (&long, (500, 5), PerAxis, Reuse(0)),
        ];
        for (free, (width, height), growth, expected) in rows {
            let chosen = choose(free, sides(width, height), growth);
            assert_eq!(chosen, expected, "{width} x {height} by {growth:?}");
        }
    }

    #[test]
    fn staging_pays_from_some_number_of_reads_on_and_never_where_textures_are_slower() {
        let cached = StagingCost::CACHED_TEXTURES;
        assert!(!cached.pays(1) && !cached.pays(4) && cached.pays(5));
        let slower = StagingCost {
            buffer_read: 1,
            texture_read: 3,
            texture_write: 3,
        };
        assert!(!slower.pays(u64::MAX));
    }
}
