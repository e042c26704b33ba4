//! Items of one memory as a packing problem.

use super::item::SpaceItem;
use super::memory::MemoryDesc;
use crate::error::{Error, Result};
use crate::units::{Bytes, Span};
use tileheap_pack::{Item, Problem, ProblemDesc};

/// The packing problem of some items in a memory; an item with several lifetimes is a group.
pub(super) fn problem(items: &[SpaceItem], which: &[u32], memory: &MemoryDesc) -> Result<Problem> {
    let mut parts = Vec::with_capacity(which.len());
    let mut owners = Vec::with_capacity(which.len());
    for (number, &index) in which.iter().enumerate() {
        let item = &items[index as usize];
        let alignment = item.alignment.lcm(memory.alignment).unwrap_or(item.alignment);
        let mut add = |lifetime: Span, together: Option<u32>| {
            let mut part = Item::new(lifetime, item.size, alignment);
            part.together = together;
            parts.push(part);
            owners.push(index);
        };
        let together = (item.lifetimes.len() > 1).then_some(number as u32);
        match item.lifetimes.as_slice() {
            [] => add(Span::default(), together),
            lifetimes => lifetimes.iter().for_each(|lifetime| add(*lifetime, together)),
        }
    }
    let mut desc = ProblemDesc::new(parts);
    desc.capacity = memory.capacity;
    desc.build().map_err(|error| {
        let owner = error.item().map_or(which[0], |item| owners[item as usize]);
        Error::tensor(&items[owner as usize].name, error)
    })
}

/// Gathers the offsets of items from the offsets of their parts; omits items that have no offset.
pub(super) fn gather(items: &[SpaceItem], which: &[u32], offsets: &[Option<Bytes>]) -> Vec<(u32, Bytes)> {
    let mut places = Vec::with_capacity(which.len());
    let mut part = 0;
    for &index in which {
        if let Some(offset) = offsets[part] {
            places.push((index, offset));
        }
        part += items[index as usize].lifetimes.len().max(1);
    }
    places
}
