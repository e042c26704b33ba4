//! Perfect packings: a rectangle of steps and bytes, cut into items that fill it.

use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};
use tileheap_pack::{Item, Packing};

/// Parameters of a perfect packing to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfectDesc {
    /// Number of items, at most a tenth of the area (`steps` times `height`).
    pub items: usize,
    /// Length of the timeline.
    pub steps: u32,
    /// Height of the packing, in bytes.
    pub height: u64,
    /// One in `pinwheels` cuts is a pinwheel, which no single straight cut divides; 0 for guillotine cuts
    /// only.
    pub pinwheels: u64,
    /// Number of pieces drawn at random for each cut, of which the largest is cut: with 1, sizes vary the most.
    pub draws: usize,
}

/// A piece of the rectangle: first step, end step, first byte and end byte.
#[derive(Clone, Copy)]
struct Piece(u32, u32, u64, u64);

impl Piece {
    fn area(self) -> u64 {
        u64::from(self.1 - self.0) * (self.3 - self.2)
    }
}

/// Items, in random order, that fill a rectangle, and their optimal packing: no step has a free byte.
///
/// # Panics
/// If there are too many items for the area.
pub fn perfect(seed: u64, desc: PerfectDesc) -> (Vec<Item>, Packing) {
    let mut random = SplitMix64::new(seed);
    let mut pieces = vec![Piece(0, desc.steps, 0, desc.height)];
    let area = pieces[0].area();
    assert!(desc.items as u64 * 10 <= area, "too many items for the area");
    while pieces.len() < desc.items {
        let draw = (0..desc.draws.max(1)).map(|_| random.below(pieces.len() as u64) as usize);
        let index = draw
            .max_by_key(|&index| pieces[index].area())
            .expect("one was drawn");
        let Piece(first, end, low, high) = pieces[index];
        let (length, size) = (u64::from(end - first), high - low);
        let room = desc.items - pieces.len() >= 4 && length >= 3 && size >= 3;
        if desc.pinwheels > 0 && room && random.one_in(desc.pinwheels) {
            // Two cuts in each direction, around a piece in the middle.
            let left = first + 1 + random.below(length - 2) as u32;
            let right = left + 1 + random.below(u64::from(end - left) - 1) as u32;
            let bottom = low + 1 + random.below(size - 2);
            let top = bottom + 1 + random.below(high - bottom - 1);
            pieces[index] = Piece(left, right, bottom, top);
            pieces.extend([
                Piece(first, left, low, top),
                Piece(first, right, top, high),
                Piece(right, end, bottom, high),
                Piece(left, end, low, bottom),
            ]);
            continue;
        }
        let by_time = random.one_in(2);
        if by_time && length >= 2 {
            let cut = first + 1 + random.below(length - 1) as u32;
            pieces[index].1 = cut;
            pieces.push(Piece(cut, end, low, high));
        } else if !by_time && size >= 2 {
            let cut = low + 1 + random.below(size - 1);
            pieces[index].3 = cut;
            pieces.push(Piece(first, end, cut, high));
        }
    }
    for last in (1..pieces.len()).rev() {
        pieces.swap(last, random.below(last as u64 + 1) as usize);
    }
    let item = |&Piece(first, end, low, high): &Piece| {
        Item::new(Span::new(first, end), Bytes(high - low), Alignment::ONE)
    };
    let packing = Packing {
        offsets: pieces.iter().map(|piece| Bytes(piece.2)).collect(),
        height: Bytes(desc.height),
    };
    (pieces.iter().map(item).collect(), packing)
}
