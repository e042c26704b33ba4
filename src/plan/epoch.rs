//! Epochs: the uses of one resource, merged into stretches that need no barrier inside.
//!
//! ```text
//! passes     0 write   1 read   2 read   3 write
//! epochs    ├─ w ────┤├─ r ───────────┤├─ w ────┤      a barrier at each boundary, for everyone inside
//! ```

use ash::vk;

use super::timeline::Timeline;
use crate::frame::tables::{Access, Resource, Version};
use crate::frame::{AccessKind, Frame, PassId, QueueId, ResourceId};
use crate::profile::{DeviceProfile, Features};

/// A stretch of uses in one layout on one queue: one writing pass, or any number of passes that only read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    /// Its first pass.
    pub(super) first: PassId,
    /// Its last pass.
    pub(super) last: PassId,
    /// The queue of all its passes.
    pub(super) queue: QueueId,
    /// The image's layout throughout.
    pub(super) layout: vk::ImageLayout,
    /// Stages of all accesses.
    pub(super) stages: vk::PipelineStageFlags2,
    /// Flags of all accesses.
    pub(super) access: vk::AccessFlags2,
    /// The writing flags among them.
    pub(super) writes: vk::AccessFlags2,
    /// Whether contents from before it matter.
    pub(super) needs_contents: bool,
}

impl Epoch {
    fn of(access: &Access, queue: QueueId, resource: &Resource, general: bool, store_none: bool) -> Epoch {
        // Without a store operation that does nothing, ending the pass writes the attachment, tested or not.
        let stored = access.kind == AccessKind::DepthStencilAttachment && !access.writes && !store_none;
        let writes = access.kind.access_flags(false, access.writes || stored);
        Epoch {
            first: access.pass,
            last: access.pass,
            queue,
            layout: layout_of(access, resource, general),
            stages: access.stages,
            access: access.flags() | writes,
            writes,
            needs_contents: access.needs_contents(),
        }
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.writes.is_empty()
    }

    /// Adds another access of the same pass.
    fn join(&mut self, other: Epoch) {
        if self.layout != other.layout {
            self.layout = vk::ImageLayout::GENERAL;
        }
        self.add(other);
        // A clear or an overwrite by one access is what an input attachment of the same pass then reads.
        self.needs_contents = self.needs_contents && other.needs_contents;
    }

    fn add(&mut self, other: Epoch) {
        self.last = other.last;
        self.stages |= other.stages;
        self.access |= other.access;
        self.writes |= other.writes;
    }

    fn continues_with(&self, next: &Epoch) -> bool {
        self.is_read_only() && next.is_read_only() && self.layout == next.layout && self.queue == next.queue
    }
}

/// The layout of an access, `general` where nothing else serves; buffers have none.
pub(super) fn layout_of(access: &Access, resource: &Resource, general: bool) -> vk::ImageLayout {
    if !resource.is_image() {
        return vk::ImageLayout::UNDEFINED;
    }
    if general {
        return vk::ImageLayout::GENERAL;
    }
    let depth = !resource.aspects().contains(vk::ImageAspectFlags::COLOR);
    access.kind.layout(depth, access.writes)
}

/// The epochs of one version of `resource`, appended to `epochs` in timeline order; all in one layout if `general`.
pub(super) fn epochs_of(
    frame: &Frame,
    profile: &DeviceProfile,
    timeline: &Timeline,
    resource: ResourceId,
    version: Version,
    general: bool,
    epochs: &mut Vec<Epoch>,
) {
    let described = frame.resource(resource);
    let store_none = profile.features.contains(Features::STORE_OP_NONE);
    let start = epochs.len();
    let mut open: Option<Epoch> = None;
    for &index in frame.uses_of(resource) {
        let access = &frame.accesses()[index as usize];
        if access.version != version {
            continue;
        }
        let queue = timeline.queue_of(access.pass);
        let next = Epoch::of(access, queue, described, general, store_none);
        match &mut open {
            Some(pass) if pass.last == next.first => pass.join(next),
            _ => {
                close(epochs, start, open.take());
                open = Some(next);
            }
        }
    }
    close(epochs, start, open);
}

/// Ends a pass's epoch: it continues the one before where both only read alike.
fn close(epochs: &mut Vec<Epoch>, start: usize, pass: Option<Epoch>) {
    let Some(pass) = pass else {
        return;
    };
    match epochs[start..].last_mut() {
        Some(last) if last.continues_with(&pass) => last.add(pass),
        _ => epochs.push(pass),
    }
}
