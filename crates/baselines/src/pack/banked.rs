//! ExecuTorch's banked greedy: fixed-size memories, filled one after another.
//!
//! Implemented from its description, without published results to compare with: the largest item first, each in the first bank that has
//! room, at the lowest offset. Four banks together hold the peak of the live bytes; if the largest item is larger than such a bank, all
//! banks have its size.

use std::cmp::Reverse;

use tileheap_pack::units::{Alignment, Bytes};
use tileheap_pack::{Packer, Packing, PackingStrategy, PartialPacking, Problem, Strategy, lower_bound};

use super::facts::{are_plain, takes_bytes};

/// ExecuTorch's banked greedy rule, from its description: places items in descending order of size, each in the first bank with room. O(n²).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankedGreedy;

/// The number of banks for which the size of a bank is computed: together, they hold at least the peak of the live bytes. Fragmentation may require more
/// banks.
const BANKS: u64 = 4;

impl PackingStrategy for BankedGreedy {
    fn name(&self) -> &str {
        "executorch-banked"
    }

    fn description(&self) -> &str {
        "ExecuTorch's banked greedy, implemented from its documentation: the largest first, bank by bank"
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        let items = problem.items();
        let is_simple = are_plain(items) && problem.conflicts().is_empty();
        let Some(bank) = bank_size(problem).filter(|_| is_simple) else {
            return Strategy::FirstFitBySize.pack_into(problem, packer, packing);
        };
        let mut order: Vec<u32> = (0..items.len() as u32).collect();
        order.sort_by_key(|&index| Reverse(items[index as usize].size));
        let mut banks: Vec<PartialPacking> = Vec::new();
        packing.height = Bytes::ZERO;
        packing.offsets.clear();
        packing.offsets.resize(items.len(), Bytes::ZERO);
        for index in order {
            let item = &items[index as usize];
            if !takes_bytes(item) {
                continue;
            }
            let found = banks.iter().enumerate().find_map(|(number, shelf)| {
                let offset = shelf.lowest_fit(item.span, item.size, item.alignment)?;
                Some((number, offset))
            });
            let (number, offset) = found.unwrap_or((banks.len(), Bytes::ZERO));
            if number == banks.len() {
                banks.push(PartialPacking::with_capacity(Some(bank)));
            }
            banks[number].place(index, item.span, offset, item.size);
            packing.offsets[index as usize] = Bytes(bank.0 * number as u64) + offset;
        }
        let ends = items
            .iter()
            .zip(&packing.offsets)
            .map(|(item, &offset)| offset + item.size);
        packing.height = ends.max().unwrap_or_default();
    }
}

/// Returns the size of each bank; `None` if the total size of one bank per item does not fit in 64 bits.
fn bank_size(problem: &Problem) -> Option<Bytes> {
    let items = problem.items();
    let alignment = items
        .iter()
        .map(|item| item.alignment)
        .try_fold(Alignment::ONE, Alignment::lcm)?;
    let largest = items.iter().map(|item| item.size.0).max().unwrap_or(0);
    let share = lower_bound(problem).0.div_ceil(BANKS).max(largest);
    let bank = Bytes(share).checked_align_up(alignment)?;
    bank.0.checked_mul(items.len() as u64).map(|_| bank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileheap_pack::units::Span;
    use tileheap_pack::{Item, pack};

    /// ```text
    /// bank 2  8 ┤├─── d ──┤     banks of 4 bytes: d does not cross a bank boundary, though a packing in 9 bytes has it at 7
    /// bank 1  4 ┤├ b ┤├ c ┤
    /// bank 0  0 ┤├─── a ──┤
    /// ```
    #[test]
    fn nothing_lies_across_banks() {
        let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
        let problem = Problem::new(vec![item(0, 4, 4), item(0, 2, 3), item(2, 4, 3), item(0, 4, 2)]).unwrap();
        let packing = pack(&problem, BankedGreedy);
        let offsets: Vec<u64> = packing.offsets.iter().map(|offset| offset.0).collect();
        assert_eq!(offsets, [0, 4, 4, 8]);
        assert_eq!(packing.height, Bytes(10));
    }
}
