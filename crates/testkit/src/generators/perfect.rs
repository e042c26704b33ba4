//! Perfect packings: a rectangle of steps and bytes, cut into items that fill it.

use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};
use tileheap_pack::{Item, Packing};

/// A perfect packing to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfectDesc {
    /// Number of items, at most a tenth of the area.
    pub items: usize,
    /// Length of the timeline.
    pub steps: u32,
    /// Height of the packing, in bytes.
    pub height: u64,
    /// One cut in so many is a pinwheel, which no single straight cut divides; 0 for guillotine cuts alone.
    pub pinwheels: u64,
    /// The largest of so many random pieces is cut next: with 1, sizes differ most.
    pub draws: usize,
}

/// A piece of the rectangle.
#[derive(Clone, Copy)]
struct Piece {
    first: u32,
    end: u32,
    low: u64,
    high: u64,
}

/// Items, in random order, that fill a rectangle, and a packing of them that is optimal: no step has a free byte.
///
/// # Panics
/// If there are too many items for the area.
pub fn perfect(seed: u64, desc: PerfectDesc) -> (Vec<Item>, Packing) {
    let mut random = SplitMix64::new(seed);
    let mut pieces = vec![Piece {
        first: 0,
        end: desc.steps,
        low: 0,
        high: desc.height,
    }];
    let area = u64::from(desc.steps) * desc.height;
    assert!(desc.items as u64 * 10 <= area, "too many items for the area");
    while pieces.len() < desc.items {
        let draw = (0..desc.draws.max(1)).map(|_| random.below(pieces.len() as u64) as usize);
        let area = |index: &usize| {
            let Piece {
                first,
                end,
                low,
                high,
            } = pieces[*index];
            u64::from(end - first) * (high - low)
        };
        let index = draw
            .collect::<Vec<_>>()
            .into_iter()
            .max_by_key(area)
            .expect("one was drawn");
        let Piece {
            first,
            end,
            low,
            high,
        } = pieces[index];
        let (length, size) = (u64::from(end - first), high - low);
        let room = desc.items - pieces.len() >= 4 && length >= 3 && size >= 3;
        if desc.pinwheels > 0 && room && random.one_in(desc.pinwheels) {
            // Two cuts in each direction, around a piece in the middle.
            let left = first + 1 + random.below(length - 2) as u32;
            let right = left + 1 + random.below(u64::from(end - left) - 1) as u32;
            let bottom = low + 1 + random.below(size - 2);
            let top = bottom + 1 + random.below(high - bottom - 1);
            let piece = |first, end, low, high| Piece {
                first,
                end,
                low,
                high,
            };
            pieces[index] = piece(left, right, bottom, top);
            pieces.extend([
                piece(first, left, low, top),
                piece(first, right, top, high),
                piece(right, end, bottom, high),
                piece(left, end, low, bottom),
            ]);
            continue;
        }
        let by_time = random.one_in(2);
        if by_time && length >= 2 {
            let cut = first + 1 + random.below(length - 1) as u32;
            pieces[index].end = cut;
            pieces.push(Piece {
                first: cut,
                end,
                low,
                high,
            });
        } else if !by_time && size >= 2 {
            let cut = low + 1 + random.below(size - 1);
            pieces[index].high = cut;
            pieces.push(Piece {
                first,
                end,
                low: cut,
                high,
            });
        }
    }
    for last in (1..pieces.len()).rev() {
        pieces.swap(last, random.below(last as u64 + 1) as usize);
    }
    let item = |piece: &Piece| {
        let span = Span::new(piece.first, piece.end);
        Item::new(span, Bytes(piece.high - piece.low), Alignment::ONE)
    };
    let packing = Packing {
        offsets: pieces.iter().map(|piece| Bytes(piece.low)).collect(),
        height: Bytes(desc.height),
    };
    (pieces.iter().map(item).collect(), packing)
}
