//! The bytes that buffers of an arena need: a lower bound, and tileheap's own packing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tileheap_pack::{Item, Packer, Problem, Steps, Strategy, Verdict};

use super::types::{Allocations, JudgedArena};
use crate::error::{Error, Result};
use crate::units::{Alignment, Bytes};

/// Sets of buffers that share bytes by design: each is placed as one.
pub(super) struct Groups(Vec<u32>);

impl Groups {
    /// Every buffer alone.
    pub(super) fn new(count: usize) -> Groups {
        Groups((0..count as u32).collect())
    }

    fn root(&mut self, of: u32) -> u32 {
        let mut at = of;
        while self.0[at as usize] != at {
            let above = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = above;
            at = above;
        }
        at
    }

    /// Joins the sets of two buffers.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

/// Bounds and packs every arena.
///
/// # Errors
/// The sizes of an arena's buffers pass 2^64 - 1 bytes.
pub(super) fn arenas(allocations: &Allocations, groups: &mut Groups) -> Result<Vec<JudgedArena>> {
    let buffers = &allocations.buffers;
    let mut lowest: BTreeMap<u32, u64> = BTreeMap::new();
    for (index, buffer) in (0..).zip(buffers) {
        let first = lowest.entry(groups.root(index)).or_insert(u64::MAX);
        *first = buffer.offset.0.min(*first);
    }
    let mut items_of: BTreeMap<u32, usize> = BTreeMap::new();
    for (index, buffer) in (0..).zip(buffers) {
        *items_of.entry(groups.root(index)).or_default() += buffer.lifetimes.len();
    }
    let mut items: Vec<Vec<Item>> = vec![Vec::new(); allocations.arenas.len()];
    let mut used = vec![Bytes::ZERO; allocations.arenas.len()];
    for (index, buffer) in (0..).zip(buffers) {
        let arena = buffer.arena as usize;
        used[arena] = used[arena].max(buffer.end());
        let root = groups.root(index);
        let before = buffer.offset.0 - lowest[&root];
        let alignment = match before % buffer.alignment.get() {
            0 => buffer.alignment,
            _ => Alignment::ONE,
        };
        for &span in &buffer.lifetimes {
            let mut item = Item::new(span, Bytes(before.saturating_add(buffer.size.0)), alignment);
            item.together = (items_of[&root] > 1).then_some(root);
            items[arena].push(item);
        }
    }
    let mut packer = Packer::default();
    let arenas = items.into_iter().zip(used).zip(&allocations.arenas);
    let judged = arenas.map(|((items, used), arena)| {
        let problem = Problem::new(items).map_err(|error| {
            let problem = format!("arena `{}`: {error}", arena.name);
            Error::parse(allocations.format, problem)
        })?;
        let mut go_on = |_| ControlFlow::Continue(());
        let answer = packer.minimise(&problem, Strategy::Auto, Steps::default(), &mut go_on);
        Ok(JudgedArena {
            used,
            bound: answer.bound,
            packed: answer.packing.map_or(used, |packing| packing.height),
            proved: answer.verdict == Verdict::Proved,
        })
    });
    judged.collect()
}
