//! ExecuTorch's greedy rule: shared objects at consecutive offsets, each as large as the item that opened it.
//!
//! Source: `exir/memory_planning.py` of pytorch/executorch at cff6f4d, `greedy` with overlapping allocations allowed.

use std::cmp::Reverse;

use tileheap_pack::units::Bytes;
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, Strategy};

use super::facts::{align_up, are_plain};

/// ExecuTorch's greedy rule: shared objects at consecutive offsets. O(n²).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executorch;

#[derive(Clone, Debug)]
struct Object {
    offset: u64,
    end: u64,
    /// The items placed in the object.
    items: Vec<u32>,
}

impl PackingStrategy for Executorch {
    fn name(&self) -> &str {
        "executorch"
    }

    fn description(&self) -> &str {
        "ExecuTorch's greedy rule: shared objects at consecutive offsets"
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        let items = problem.items();
        if !are_plain(items) {
            return Strategy::FirstFitBySize.pack_into(problem, packer, packing);
        }
        let mut conflicts = vec![Vec::new(); items.len()];
        for &(a, b) in problem.conflicts() {
            conflicts[a as usize].push(b);
            conflicts[b as usize].push(a);
        }
        let interfere = |a: u32, b: u32| {
            items[a as usize].span.overlaps(items[b as usize].span) || conflicts[a as usize].contains(&b)
        };
        place(items, interfere, packing);
    }
}

/// Places items, the largest first: each at the start of the first object that is large enough and whose items do not interfere with it; otherwise in the
/// first object with room above all items that interfere with it; otherwise in a new object.
fn place(items: &[Item], interfere: impl Fn(u32, u32) -> bool, packing: &mut Packing) {
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    // ExecuTorch sorts its list by size and then reverses it: of equal sizes, the later comes first.
    order.sort_by_key(|&index| Reverse((items[index as usize].size, index)));
    let mut objects: Vec<Object> = Vec::new();
    packing.height = Bytes::ZERO;
    packing.offsets.clear();
    packing.offsets.resize(items.len(), Bytes::ZERO);
    let offsets = &mut packing.offsets;
    for index in order {
        let item = &items[index as usize];
        let size = item.size.0;
        if size == 0 {
            continue;
        }
        let place_in = |object: &Object, above_others: bool| {
            let others = object.items.iter().filter(|&&other| interfere(other, index));
            let ends = others.map(|&other| offsets[other as usize].0 + items[other as usize].size.0);
            let start = match (ends.max(), above_others) {
                (None, false) => object.offset,
                (Some(top), true) => top,
                _ => return None,
            };
            let offset = align_up(start, item.alignment);
            (offset + size <= object.end).then_some(offset)
        };
        let find = |above| {
            let mut objects = objects.iter().enumerate();
            objects.find_map(|(number, object)| Some((number, place_in(object, above)?)))
        };
        let offset = match find(false).or_else(|| find(true)) {
            Some((number, offset)) => {
                objects[number].items.push(index);
                offset
            }
            None => {
                let offset = align_up(packing.height.0, item.alignment);
                packing.height = Bytes(offset + size);
                objects.push(Object {
                    offset,
                    end: offset + size,
                    items: vec![index],
                });
                offset
            }
        };
        offsets[index as usize] = Bytes(offset);
    }
}
