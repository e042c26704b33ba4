//! Reuse of a description's memory.

#[cfg(feature = "runtime")]
use std::hash::Hasher;

use ash::vk;

use super::tables::SemaphoreOp;
#[cfg(feature = "runtime")]
use super::tables::Tables;
use super::{Frame, FrameBuilder};
#[cfg(feature = "runtime")]
use crate::quick_hash::QuickHasher;

impl FrameBuilder {
    /// Empties the description, so that the next frame is declared into the same memory: from the second time on, a frame that is not larger allocates
    /// nothing.
    pub fn reset(&mut self, name: impl AsRef<str>, base_extent: vk::Extent2D) {
        let FrameBuilder { tables, fault, spare } = self;
        *fault = None;
        (tables.base_extent, tables.name) = (base_extent, {
            let mut own = std::mem::take(&mut tables.name);
            own.clear();
            own.push_str(name.as_ref());
            own
        });
        spare.names.extend(tables.resources.drain(..).map(|one| one.name));
        spare.names.extend(tables.passes.drain(..).map(|one| one.name));
        spare
            .names
            .extend(tables.command_buffers.drain(..).map(|one| one.name));
        spare
            .names
            .extend(tables.semaphores.drain(..).map(|one| one.name));
        spare.names.extend(tables.queues.drain(..).map(|one| one.name));
        for batch in tables.batches.drain(..) {
            spare.operations.extend([batch.waits, batch.signals]);
        }
        tables.submits.clear();
        tables.accesses.clear();
    }

    /// A copy of a name, in reused memory if there is any.
    pub(super) fn named(&mut self, name: impl AsRef<str>) -> String {
        let mut own = self.spare.names.pop().unwrap_or_default();
        own.clear();
        own.push_str(name.as_ref());
        own
    }

    pub(super) fn operations(&mut self) -> Vec<SemaphoreOp> {
        let mut list = self.spare.operations.pop().unwrap_or_default();
        list.clear();
        list
    }

    /// Validates the description without consuming it: [`FrameBuilder::build`] of a copy.
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`].
    pub fn to_frame(&self) -> crate::Result<Frame> {
        self.clone().build()
    }

    /// A hash of the base extent and of the names of resources and passes: the same for equal descriptions.
    #[cfg(feature = "runtime")]
    pub(crate) fn digest(&self) -> u64 {
        let Tables {
            base_extent: vk::Extent2D { width, height },
            ..
        } = self.tables;
        let resources = self.tables.resources.iter().map(|one| &one.name);
        let names = resources.chain(self.tables.passes.iter().map(|one| &one.name));
        let mut hasher = QuickHasher::default();
        hasher.write_u64(u64::from(width) << 32 | u64::from(height));
        names.for_each(|name| hasher.write(name.as_bytes()));
        hasher.finish()
    }
}
