//! CLML's ping-pong: uses the smallest free segment that is large enough, alternately at its start and at its end.
//!
//! Implemented from its description, without published results to compare with. The rule plans a pool of fixed size, and does not place an item if no
//! free segment is large enough. Here the pool sizes from the peak of live bytes upwards are tried, in steps of 1/64 of the peak, until all items are
//! placed.

use tileheap_pack::units::Bytes;
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, Strategy, lower_bound};

use super::facts::{are_plain, takes_bytes};

/// CLML's ping-pong rule, from its description: the smallest free segment, at alternating ends. O(n²) for each pool size tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingPong;

/// The exclusive upper limit on the pool sizes that are tried, in 64ths of the peak of live bytes.
const MAX_POOL_SIZE: u64 = 64 * 8;

impl PackingStrategy for PingPong {
    fn name(&self) -> &str {
        "clml-ping-pong"
    }

    fn description(&self) -> &str {
        "CLML's ping-pong, implemented from its documentation: the smallest free segment, at alternating ends"
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        let items = problem.items();
        let is_simple = are_plain(items) && problem.conflicts().is_empty();
        let least = u128::from(lower_bound(problem).0);
        let mut pools = (64..MAX_POOL_SIZE)
            .map(|part| least * u128::from(part) / 64)
            .map_while(|pool| u64::try_from(pool).ok());
        let found = if is_simple {
            pools.find_map(|pool| place(items, pool))
        } else {
            None
        };
        let Some(offsets) = found else {
            return Strategy::FirstFitByBirth.pack_into(problem, packer, packing);
        };
        let ends = items
            .iter()
            .zip(&offsets)
            .map(|(item, &offset)| offset + item.size);
        packing.height = ends.max().unwrap_or_default();
        packing.offsets = offsets;
    }
}

/// Returns offsets of the items in a pool of `pool` bytes; `None` if no free segment is large enough for some item.
fn place(items: &[Item], pool: u64) -> Option<Vec<Bytes>> {
    let mut order: Vec<usize> = (0..items.len())
        .filter(|&index| takes_bytes(&items[index]))
        .collect();
    order.sort_by_key(|&index| items[index].span.first);
    let mut offsets = vec![Bytes::ZERO; items.len()];
    // Sorted by offset.
    let mut live: Vec<usize> = Vec::new();
    let mut at_begin = true;
    for index in order {
        let item = &items[index];
        live.retain(|&other| items[other].span.end > item.span.first);
        let ends = live.iter().map(|&other| (offsets[other] + items[other].size).0);
        let begins = live.iter().map(|&other| offsets[other].0).chain([pool]);
        let segments = std::iter::once(0).chain(ends).zip(begins);
        let places = segments.filter_map(|(begin, end)| {
            let first = begin.checked_next_multiple_of(item.alignment.get())?;
            let last = end.checked_sub(item.size.0)?;
            let last = last - last % item.alignment.get();
            (first <= last).then_some((end - begin, if at_begin { first } else { last }))
        });
        let (_, offset) = places.min_by_key(|&(length, _)| length)?;
        at_begin = !at_begin;
        offsets[index] = Bytes(offset);
        live.insert(live.partition_point(|&other| offsets[other].0 < offset), index);
    }
    Some(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileheap_pack::pack;
    use tileheap_pack::units::{Alignment, Span};

    /// ```text
    /// 8 ┤┌ b ┐┌ d ┐     a at the start of the pool, b at its end, c at the start of the smallest segment then free,
    /// 4 ┤   ┌── c ─     d at the end of the segment that b left
    /// 0 ┤├── a ───┤
    /// ```
    #[test]
    fn ends_alternate() {
        let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
        let items = vec![item(0, 9, 3), item(0, 2, 2), item(1, 9, 3), item(3, 9, 2)];
        let problem = Problem::new(items).unwrap();
        let packing = pack(&problem, PingPong);
        assert_eq!(packing.offsets, [0, 6, 3, 6].map(Bytes));
        assert_eq!(packing.height, Bytes(8));
    }
}
