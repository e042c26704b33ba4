//! The use of a part of a resource by the accesses of one pass.

use ash::vk;

use super::layouts::of_aspect;
use super::tables::DeviceQueueIndex;
use crate::frame::tables::{Access, Resource, ResourceKind};
use crate::frame::{PassId, SubresourceRange};

/// The uses on one queue in an epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueUse {
    pub(super) queue: DeviceQueueIndex,
    /// The first pass of the queue in the epoch.
    pub(super) first: PassId,
    /// The last pass of the queue in the epoch.
    pub(super) last: PassId,
    /// Stages of all accesses.
    pub(super) stages: vk::PipelineStageFlags2,
    /// Flags of all accesses.
    pub(super) access: vk::AccessFlags2,
}

/// The layout of attachments of a dynamic render pass that shaders read in place.
pub(super) const LOCAL_READ: vk::ImageLayout = vk::ImageLayout::RENDERING_LOCAL_READ_KHR;

/// A part of one version of a resource, and the properties that determine the layouts of its accesses.
pub(super) struct Part {
    pub(super) range: SubresourceRange,
    /// The layout of all accesses: `UNDEFINED` for a buffer, `GENERAL` for images that alias one another's contents.
    pub(super) fixed_layout: Option<vk::ImageLayout>,
    /// True if the image has no color aspect.
    pub(super) depth: bool,
    /// True if it can also be a depth or stencil attachment, as the layouts for these require (VUID-VkImageMemoryBarrier2-oldLayout-01208 to -01210).
    pub(super) depth_attached: bool,
    /// True if it is only one of the image's two aspects.
    pub(super) one_aspect: bool,
    /// True if it consists of several slices in one layout that accesses use separately.
    pub(super) sliced: bool,
}

impl Part {
    /// A part of a resource without separate slices.
    pub(super) fn of(resource: &Resource, range: SubresourceRange, is_ladder: bool) -> Part {
        let aspects = resource.aspects();
        Part {
            range,
            fixed_layout: match resource.is_image() {
                false => Some(vk::ImageLayout::UNDEFINED),
                true => is_ladder.then_some(vk::ImageLayout::GENERAL),
            },
            depth: !aspects.contains(vk::ImageAspectFlags::COLOR),
            depth_attached: matches!(resource.kind, ResourceKind::Image { usage, .. }
                if usage.contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT)),
            one_aspect: range.aspects != aspects,
            sliced: false,
        }
    }

    pub(super) fn layout_of(&self, access: &Access) -> vk::ImageLayout {
        if let Some(layout) = self.fixed_layout {
            return layout;
        }
        let layout = access.kind.layout(self.depth_attached, access.writes);
        if self.one_aspect {
            of_aspect(layout, self.range.aspects)
        } else {
            layout
        }
    }
}

/// The use of a part by all accesses of one pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassUse {
    pub(super) queue_use: QueueUse,
    pub(super) layout: vk::ImageLayout,
    pub(super) writes: vk::AccessFlags2,
    /// True if all accesses are to attachments.
    pub(super) attached: bool,
    pub(super) needs_contents: bool,
}

impl PassUse {
    /// Adds another access of the pass.
    pub(super) fn join(&mut self, other: &PassUse) {
        self.attached &= other.attached;
        if self.layout != other.layout {
            let in_place = self.attached && [self.layout, other.layout].contains(&LOCAL_READ);
            self.layout = if in_place {
                LOCAL_READ
            } else {
                vk::ImageLayout::GENERAL
            };
        }
        self.queue_use.stages |= other.queue_use.stages;
        self.queue_use.access |= other.queue_use.access;
        self.writes |= other.writes;
        // An input attachment reads what another access of the same pass cleared or overwrote; nothing orders other accesses.
        match self.attached {
            true => self.needs_contents &= other.needs_contents,
            false => self.needs_contents |= other.needs_contents,
        }
    }
}
