//! `store.rs` without shaders: no frame with stores is bound.

use ash::vk;

use super::device_state::DeviceState;
use super::encoded_frame::EncodedFrame;
use super::owned::OwnedObjects;
use super::resources::Handles;
use crate::Result;
use crate::lower::Targets;
use crate::plan::Plan;

/// Whether the crate was built with the shaders for stores.
pub(super) const AVAILABLE: bool = false;

/// The commands recorded inside a store pass.
pub(super) enum StorePass {}

/// Creates everything that is needed to record a plan's stores.
pub(super) fn create(
    _: &DeviceState,
    _: &Plan,
    _: &mut OwnedObjects,
    _: &Targets,
    _: &[EncodedFrame],
    _: &Handles,
) -> Result<Vec<StorePass>> {
    Ok(Vec::new())
}

impl StorePass {
    /// Records the draw or the dispatch.
    ///
    /// # Safety
    /// None: there is no store pass.
    pub(super) unsafe fn record(&self, _: &DeviceState, _: vk::CommandBuffer, _: usize) {
        match *self {}
    }
}
