//! Ownership of contents by queue families.

use tileheap_sync::Certainty;
use tileheap_sync::program::*;

use super::{Cell, Naive, Rules, State, Value, Why, cells};

/// The queue families that implicitly acquire from another one without a loss: the owner, and the families as a mask.
pub(in crate::contents) const IMPLICIT: [(u32, u32); 2] = [(0, 0b010), (1, 0b100)];

impl Naive {
    /// Returns true if its contents may have an owner.
    fn has_owner(&self, class: usize) -> bool {
        let rules = self.rules;
        let others = self.resources.iter().filter_map(|other| other.alias_of);
        let is_shared = others.into_iter().any(|other| other.0 as usize == class);
        let is_concurrent = self.resources[class].sharing == SharingMode::Concurrent;
        !(is_shared && rules.equal_images_have_no_owner
            || is_concurrent && rules.concurrent_contents_have_no_owner)
    }

    /// The owner of what is written now.
    pub(super) fn new_owner(&self, class: usize) -> Option<u32> {
        let host = (!self.rules.host_writes_have_no_owner).then_some(0);
        self.family.or(host).filter(|_| self.has_owner(class))
    }

    fn loses(&self, class: usize, from: u32, to: u32) -> bool {
        let may_be_implicit = self.resources[class].sharing == SharingMode::ExclusiveUnlessImplicit;
        let is_named = IMPLICIT
            .iter()
            .any(|(owner, others)| *owner == from && others >> to & 1 == 1);
        let is_implicit = may_be_implicit
            && self.rules.implicit_transfers_keep
            && (is_named || !self.rules.other_implicit_transfers_lose);
        from != to && self.rules.other_families_lose && !is_implicit
    }

    /// The cells whose ownership an access takes.
    fn owned_with(&self, class: usize, part: &ResourcePart) -> Vec<Cell> {
        let touched = cells(part);
        if self.is_linear(class) || !self.rules.subresources_have_one_owner {
            return touched;
        }
        let is_touched = |cell: &&Cell| {
            touched
                .iter()
                .any(|[level, layer, _]| cell[..2] == [*level, *layer])
        };
        self.cells[class].keys().filter(is_touched).copied().collect()
    }

    /// Takes ownership of a part from other queue families.
    pub(super) fn take(&mut self, tag: u64, class: usize, part: &ResourcePart) {
        let Some(family) = self.family.filter(|_| self.has_owner(class)) else {
            return;
        };
        for cell in self.owned_with(class, part) {
            let Some(state) = self.cells[class].get(&cell) else {
                continue;
            };
            let is_released = state.released.is_some() && self.rules.releases_end_ownership;
            let Some(owner) = state.owner.filter(|_| !is_released) else {
                continue;
            };
            let (loses, rules) = (self.loses(class, owner, family), self.rules);
            let Some(state) = self.cells[class].get_mut(&cell) else {
                continue;
            };
            if loses {
                state.lose(Why::Taken(tag), Certainty::Certain, rules);
            }
            state.owner = Some(family);
        }
    }

    pub(super) fn release(&mut self, tag: u64, class: usize, part: &ResourcePart) {
        for cell in cells(part) {
            if let Some(state) = self.cells[class].get_mut(&cell) {
                state.released = Some(tag).filter(|_| self.rules.releases_lose);
            }
        }
    }

    pub(super) fn acquire(&mut self, tag: u64, class: usize, part: &ResourcePart, (from, to): (u32, u32)) {
        let (loses, rules) = (self.loses(class, from, to), self.rules);
        let owner = Some(to).filter(|_| self.has_owner(class));
        for cell in cells(part) {
            let Some(state) = self.cells[class].get_mut(&cell) else {
                continue;
            };
            let is_released = state.released.is_some() || !rules.acquires_need_a_release;
            if state.owner == Some(from) && !is_released && loses {
                state.lose(Why::Taken(tag), Certainty::Certain, rules);
                state.owner = Some(to);
                continue;
            }
            if rules.acquires_restore {
                state.released = None;
            }
            if rules.acquires_pass_ownership {
                state.owner = owner;
            }
        }
    }
}

impl State {
    /// The owner after a queue family has written a cell, or some elements of a region that contains it.
    pub(super) fn owner_after_write(&self, family: Option<u32>, is_exact: bool, rules: Rules) -> Option<u32> {
        let is_undefined = matches!(self.value, Value::Lost(_, Certainty::Certain, _));
        let is_known = is_exact
            || self.owner == family
            || is_undefined && rules.partial_writes_of_nothing_own
            || !rules.partial_writes_keep_owners;
        family.filter(|_| is_known)
    }
}
