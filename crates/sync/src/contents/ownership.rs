//! Ownership of contents by queue families.
//!
//! ```text
//! family 0 writes x    x: written, owned by 0
//! family 1 reads x     x: undefined, owned by 1                                  no transfer
//! release 0 → 1        x: released, undefined until an acquire or a write
//! acquire 0 → 1        x: written, owned by 1
//! ```
//! A queue family that accesses contents of another one without a transfer takes ownership, and the contents become undefined: of the accessed bytes, or
//! of all texels of the accessed subresources. Contents without an owner are taken without a loss: those that the host has written, that were not tracked
//! from the beginning, or that were written through another resource in the same bytes. An access to unknown elements does not affect contents of other
//! owners.
//!
//! Source: "Resource Sharing Mode"; "Queue Family Ownership Transfer".

use ash::vk;
use tileheap_units::IdMap;

use crate::finding::{Action, Certainty, LossReason, MemoryUse};
use crate::program::SharingMode;
use crate::region::Region;

use super::state::{Contents, State};

/// The queue families of a device that execute commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Families {
    first: Option<u32>,
    /// True if several families execute commands; otherwise no family accesses contents of another one.
    has_several: bool,
    /// For each family, a mask of the families that implicitly acquire images from it without a loss.
    implicit: IdMap<u32, u32>,
}

impl Families {
    /// Adds the queue family of a batch.
    pub(super) fn add(&mut self, family: u32) {
        if is_of_device(family) {
            self.has_several |= *self.first.get_or_insert(family) != family;
        }
    }

    /// Sets the families that implicitly acquire images from family `from` without a loss of contents; `to` is a mask of families.
    pub(super) fn set_implicit(&mut self, from: u32, to: u32) {
        self.implicit.insert(from, to);
    }

    /// Returns true if contents of family `from` become undefined when family `to` accesses them.
    fn need_transfer(&self, sharing: SharingMode, from: u32, to: u32) -> bool {
        let is_implicit = || {
            let to_families = self.implicit.get(&from).copied().unwrap_or(0);
            to_families.checked_shr(to).is_some_and(|bits| bits & 1 == 1)
        };
        from != to
            && match sharing {
                SharingMode::Concurrent => false,
                SharingMode::Exclusive => true,
                SharingMode::ExclusiveUnlessImplicit => !is_implicit(),
            }
    }
}

/// Returns true if this is a queue family of the device, not a special value such as `VK_QUEUE_FAMILY_EXTERNAL`.
pub(crate) fn is_of_device(family: u32) -> bool {
    ![
        vk::QUEUE_FAMILY_EXTERNAL,
        vk::QUEUE_FAMILY_FOREIGN_EXT,
        vk::QUEUE_FAMILY_IGNORED,
    ]
    .contains(&family)
}

impl Contents {
    /// Returns the owner of contents that a queue family writes.
    pub(super) fn new_owner(&self, family: Option<u32>) -> Option<u32> {
        family.filter(|_| self.sharing != SharingMode::Concurrent)
    }

    /// Returns true if a queue family needs a transfer for some part of a region before it accesses the region.
    pub(super) fn needs_transfer(&self, region: Region, family: Option<u32>, families: &Families) -> bool {
        let Some(family) = family.filter(|_| families.has_several) else {
            return false;
        };
        let needs = |state: &State| state.needs_transfer(self.sharing, family, families);
        self.sharing != SharingMode::Concurrent && self.within(region).any(|(_, state)| needs(state))
    }

    /// Makes a queue family the owner of what it accesses: contents of other families become undefined if they need a transfer.
    pub(super) fn take_ownership(
        &mut self,
        region: Region,
        used: MemoryUse,
        family: Option<u32>,
        families: &Families,
    ) {
        // Subresources of images have one owner.
        let region = match self.is_optimal {
            true => region.subresources(),
            false => region,
        };
        let Some(family) = family.filter(|_| self.is_foreign(region, family, families)) else {
            return;
        };
        let sharing = self.sharing;
        self.change(region, |state| match state.owner {
            Some(_) if state.needs_transfer(sharing, family, families) => state.taken_by(used, family),
            Some(_) if state.released.is_none() => State {
                owner: Some(family),
                ..state.clone()
            },
            _ => state.clone(),
        });
    }

    /// Returns true if another queue family owns some of a region and has not released it.
    fn is_foreign(&self, region: Region, family: Option<u32>, families: &Families) -> bool {
        let is_other = |state: &State| {
            state.released.is_none() && state.owner.is_some_and(|owner| Some(owner) != family)
        };
        families.has_several
            && self.sharing != SharingMode::Concurrent
            && self.within(region).any(|(_, state)| is_other(state))
    }

    /// Applies a release or an acquire. An acquire makes its queue family the owner; contents that need a transfer and were not released become undefined.
    pub(super) fn transfer(
        &mut self,
        region: Region,
        used: MemoryUse,
        (from, to): (u32, u32),
        families: &Families,
    ) {
        if used.action == Action::Release {
            self.change(region, |state| State {
                released: Some(used),
                ..state.clone()
            });
            return;
        }
        let (sharing, owner) = (self.sharing, self.new_owner(Some(to)));
        self.change(region, |state| {
            let is_unreleased = state.released.is_none() && state.owner == Some(from);
            match is_unreleased && families.need_transfer(sharing, from, to) {
                true => state.taken_by(used, to),
                false => State {
                    released: None,
                    owner,
                    ..state.clone()
                },
            }
        });
    }
}

impl State {
    /// Returns true if the contents become undefined when a queue family accesses them. Returns false after a release, since they are undefined already.
    fn needs_transfer(&self, sharing: SharingMode, family: u32, families: &Families) -> bool {
        let owner = self.owner.filter(|_| self.released.is_none());
        owner.is_some_and(|owner| families.need_transfer(sharing, owner, family))
    }

    /// Returns the state after an access by another queue family.
    fn taken_by(&self, by: MemoryUse, to: u32) -> State {
        let from = self.owner.unwrap_or(to);
        State {
            owner: Some(to),
            ..self.lost(LossReason::NotTransferred { by, from, to }, Certainty::Certain)
        }
    }
}
