//! Writes and queue family transfers of other resources in the same bytes.

use tileheap_sync::Certainty;
use tileheap_sync::program::*;

use super::{Naive, PAGE, State, Value, Why};

impl Naive {
    /// Applies a write of `bytes` through `class` to the contents of another class.
    pub(super) fn write_alias(
        &mut self,
        tag: u64,
        access: &MemoryAccess,
        (class, bytes): (usize, &[u64]),
        other: usize,
    ) {
        let alias = self.resources[other];
        let (is_linear, is_other_linear) = (self.is_linear(class), self.is_linear(other));
        let is_in = |byte: &u64| (alias.first..alias.end).contains(byte);
        let is_shared = bytes.iter().any(is_in);
        let pages = |byte: u64| byte / PAGE;
        let is_near = is_linear != is_other_linear
            && bytes
                .iter()
                .any(|&byte| (pages(alias.first)..=pages(alias.end - 1)).contains(&pages(byte)));
        let verdict = match (is_shared, access.kind) {
            (true, AccessKind::Partial) => Certainty::Possible,
            (true, _) => Certainty::Certain,
            _ => Certainty::Pedantic,
        };
        for (cell, state) in &mut self.cells[other] {
            let is_hit = match (is_other_linear, is_shared) {
                (true, _) => bytes.contains(&(alias.first + cell[0])),
                (false, shared) => shared || is_near,
            };
            if is_hit && is_linear && is_other_linear {
                if !access.discards {
                    let last = match state.value {
                        Value::Through(_, last) => last,
                        _ => state.last(),
                    };
                    let owner = state.owner.filter(|_| !self.rules.aliases_have_no_owner);
                    *state = State::new(Value::Through(tag, last.filter(|_| self.rules.last_write)));
                    state.owner = owner;
                }
            } else if is_hit {
                state.lose(Why::Overwritten(tag), verdict, self.rules);
            }
        }
    }

    /// Releases a part of a resource to another queue family, or acquires it.
    pub(in crate::contents) fn transfer(
        &mut self,
        tag: u64,
        resource: ResourceId,
        part: &ResourcePart,
        families: (u32, u32),
    ) {
        let (class, rules) = (self.class(resource), self.rules);
        match self.family == Some(families.0) {
            true => self.release(tag, class, part),
            false => self.acquire(tag, class, part, families),
        }
        let own = self.resources[class];
        let bytes = match part {
            ResourcePart::Bytes(first, end) => own.first + first..own.first + end,
            ResourcePart::Texels(_) => own.first..own.end,
        };
        for other in 0..self.resources.len() {
            let alias = self.resources[other];
            let is_other = other != class && alias.alias_of.is_none() && rules.transfers_lose_aliases;
            let is_shared = alias.first < bytes.end && bytes.start < alias.end;
            let is_linear = self.is_linear(other);
            for (cell, state) in self.cells[other].iter_mut().filter(|_| is_other && is_shared) {
                if !is_linear || bytes.contains(&(alias.first + cell[0])) {
                    state.lose(Why::Overwritten(tag), Certainty::Certain, rules);
                }
            }
        }
    }
}
