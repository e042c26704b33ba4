//! Translates between the executed frame and the described one, using only the plan's origin map.

use std::collections::HashMap;

use super::{Plan, PlannedStore};
use crate::execute::{Charges, ExecutedFrame, ResourceValue};
use crate::frame::{Frame, PassId, ResourceId};
use crate::units::Bytes;

/// Per access of the described frame, the resource of the executed frame that holds everything that the access uses: the described resource, or the separate
/// resource of one of its values. Images of strips and stretches of lifetimes are only parts of such resources.
pub(super) fn holders_of_accesses(executed: &ExecutedFrame) -> Vec<ResourceId> {
    let (frame, origins) = (executed.frame(), executed.origins());
    let mut of_value: HashMap<(ResourceId, Option<ResourceValue>), ResourceId> = HashMap::new();
    for id in frame.resource_ids() {
        let origin = origins.resource(id);
        if origin.until.is_none() && origin.area.is_none() {
            of_value.entry((origin.resource, origin.value)).or_insert(id);
        }
    }
    let described = executed.described().accesses().iter();
    let mut holders: Vec<ResourceId> = described.map(|access| origins.whole(access.resource)).collect();
    for (index, access) in frame.accesses().iter().enumerate() {
        let origin = origins.resource(access.resource);
        let holder = of_value.get(&(origin.resource, origin.value));
        if let (Some(described), Some(&holder)) = (origins.access(index), holder) {
            holders[described] = holder;
        }
    }
    holders
}

impl Plan {
    /// The frame as described: without rewrites, and without the stores of split lifetimes.
    pub fn described(&self) -> &Frame {
        self.input.described()
    }

    /// The executed frame, paired with the described one.
    pub fn executed(&self) -> ExecutedFrame {
        let charges = self.input.charges().then(&Charges::NONE, &self.splits);
        ExecutedFrame::new(self.frame.clone(), self.described().clone(), self.origins.clone())
            .with_charges(charges)
    }

    /// The stores that end stretches in tile memory, in the order of the passes; none unless lifetimes are [split](crate::plan::PlanOptions::split).
    pub fn stores(&self) -> impl Iterator<Item = PlannedStore> + use<'_> {
        let stores = self.origins.stores();
        stores.filter_map(|(pass, ..)| match self.frame.accesses_of(pass) {
            [read, write] => Some(PlannedStore {
                pass,
                from: read.resource,
                to: write.resource,
            }),
            // The checker refuses the plan.
            _ => None,
        })
    }

    /// The pass of [`Plan::frame`] that runs this pass of [`Plan::input`]'s frame.
    ///
    /// # Panics
    /// If the pass is not of that frame.
    #[track_caller]
    pub fn pass_of_input(&self, pass: PassId) -> PassId {
        let frame = self.input.frame();
        assert!(
            pass.index() < frame.passes().len(),
            "pass {} is out of range: the number of passes of frame `{}` is {}",
            pass.index(),
            frame.name(),
            frame.passes().len()
        );
        self.splits.executed_pass(pass)
    }

    /// The pass of [`Plan::input`]'s frame that this pass of [`Plan::frame`] runs; for a store, the one that it follows.
    pub fn input_pass(&self, pass: PassId) -> PassId {
        self.splits.described_pass(pass)
    }

    /// The first pass of [`Plan::frame`] that runs this pass of [`Plan::described`].
    pub fn executed_pass(&self, described: PassId) -> PassId {
        self.origins.executed_pass(described)
    }

    /// The pass of [`Plan::described`] that this pass of [`Plan::frame`] runs; for a store, the one that it follows.
    pub fn described_pass(&self, pass: PassId) -> PassId {
        self.origins.described_pass(pass)
    }

    /// The declared resource of which this resource of [`Plan::frame`] is a part: a stretch of its lifetime, or a level.
    pub fn described_resource(&self, resource: ResourceId) -> ResourceId {
        let origin = self.origins.resource(resource).resource;
        let level_of = self.described().resource(origin).level_of;
        level_of.map_or(origin, |level_of| level_of.image)
    }

    /// Returns true if `used`, a resource of [`Plan::frame`], is a part of `resource`, which belongs to the described frame or to the input's: an id that
    /// exists in both refers to the same resource.
    #[cfg(feature = "runtime")]
    pub(crate) fn stands_for(&self, used: ResourceId, resource: ResourceId) -> bool {
        let described = self.origins.resource(used).resource;
        self.splits.resource(used).resource == resource
            || self.described().resources().len() > resource.index()
                && self.described().level_of(described, resource).is_some()
    }

    /// The pass of [`Plan::frame`] that a store follows, ignoring other stores.
    pub(super) fn pass_stored_after(&self, store: &PlannedStore) -> PassId {
        self.pass_of_input(self.input_pass(store.pass))
    }

    /// Bytes that a store writes to memory: the size of the whole resource in tile memory.
    pub fn stored_bytes(&self, store: &PlannedStore) -> Bytes {
        let tile = self.requirements.resources[store.from.index()].tile;
        tile.map_or(Bytes::ZERO, |tile| tile.size)
    }
}
