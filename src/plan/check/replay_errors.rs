//! What a plan breaks when its passes run: barriers, contents, hazards, layouts and operations.

use ash::vk;

use crate::frame::AccessKind;
use crate::plan::passes::TransferHalf;
use crate::units::Bytes;

/// A barrier that Vulkan does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BarrierError {
    /// A stage that the queue does not have (VUID-vkCmdPipelineBarrier2-srcStageMask-09675, -dstStageMask-09676).
    #[error(
        "a barrier of `{resource}` at pass `{pass}` names stage {stage:?}, which queue `{queue}` does not have (VUID-vkCmdPipelineBarrier2-srcStageMask-09675)"
    )]
    Stage {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// The stage.
        stage: vk::PipelineStageFlags2,
        /// The queue.
        queue: String,
    },
    /// An access that none of the named stages makes (VUID-VkImageMemoryBarrier2-srcAccessMask-03900 and so on).
    #[error(
        "a barrier of `{resource}` at pass `{pass}` names access {access:?}, which no stage of {stages:?} makes (VUID-VkImageMemoryBarrier2-srcAccessMask-03900 and following)"
    )]
    Access {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// The access.
        access: vk::AccessFlags2,
        /// The stages.
        stages: vk::PipelineStageFlags2,
    },
    /// A transition to no layout (VUID-VkImageMemoryBarrier2-newLayout-01198).
    #[error(
        "a barrier of image `{resource}` at pass `{pass}` has new layout {layout:?} (VUID-VkImageMemoryBarrier2-newLayout-01198)"
    )]
    NewLayout {
        /// The image.
        resource: String,
        /// The pass.
        pass: String,
        /// The layout.
        layout: vk::ImageLayout,
    },
    /// A buffer with a layout.
    #[error("a barrier of buffer `{resource}` at pass `{pass}` names a layout: buffers have UNDEFINED")]
    BufferLayout {
        /// The buffer.
        resource: String,
        /// The pass.
        pass: String,
    },
    /// Two transitions of one image in one dependency, which are in no order.
    #[error("two barriers at pass `{pass}` change the layout or owner of `{resource}` at once")]
    TwoTransitions {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
    },
    /// One half of a queue transfer on the wrong queue.
    #[error(
        "the {half:?} of `{resource}` at pass `{pass}` is recorded on queue `{queue}` and belongs on `{belongs}`"
    )]
    TransferQueue {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// Which half.
        half: TransferHalf,
        /// Where it is recorded.
        queue: String,
        /// Where it belongs.
        belongs: String,
    },
    /// A transfer from a queue to itself.
    #[error("the {half:?} of `{resource}` at pass `{pass}` transfers from queue `{queue}` to itself")]
    TransferToItself {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// Which half.
        half: TransferHalf,
        /// The queue.
        queue: String,
    },
}

/// Contents that are needed and gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentsError {
    /// A pass needs what a resource held.
    #[error("pass `{pass}` needs the contents of `{resource}`: {loss}")]
    Lost {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where they went.
        loss: ContentsLoss,
    },
    /// The caller gets an external resource back without its contents.
    #[error("external `{resource}` leaves the frame without its contents: {loss}")]
    Exit {
        /// The resource.
        resource: String,
        /// Where they went.
        loss: ContentsLoss,
    },
}

/// What made contents undefined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentsLoss {
    /// Nothing wrote them.
    #[error("nothing wrote them")]
    NeverWritten,
    /// The batch or submit ended, and tile memory forgets.
    #[error("they were in tile memory when the discard window ended after pass `{last}`")]
    WindowEnded {
        /// The window's last pass.
        last: String,
    },
    /// An action command with nothing bound discards all tile contents.
    #[error("pass `{pass}` ran with no tile memory bound")]
    Unbound {
        /// The pass.
        pass: String,
    },
    /// An action command discards what is above the bound object.
    #[error("pass `{pass}` ran with {bound} of tile memory bound, and they reach to {end}")]
    BoundTooSmall {
        /// The pass.
        pass: String,
        /// Size of the bound object.
        bound: Bytes,
        /// Where the contents end.
        end: Bytes,
    },
    /// Another resource wrote, or was initialised in, the same bytes.
    #[error("`{by}` took their bytes at pass `{pass}`")]
    Overwritten {
        /// The other resource.
        by: String,
        /// The pass.
        pass: String,
    },
    /// A barrier with old layout `UNDEFINED` discards them.
    #[error("a barrier at pass `{pass}` discards them: its old layout is UNDEFINED")]
    Discarded {
        /// The pass.
        pass: String,
    },
    /// The attachment's store operation drops them.
    #[error("pass `{pass}` does not store them")]
    NotStored {
        /// The pass.
        pass: String,
    },
}

/// Two uses of the same bytes, of which at least one writes, with too little between them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{second} at bytes [{}, {}) after {first}{}: {missing}", .bytes.0, .bytes.1, when(*.around))]
#[non_exhaustive]
pub struct HazardError {
    /// The earlier use.
    pub first: HazardAccess,
    /// The later use.
    pub second: HazardAccess,
    /// Whether the earlier use was in the frame before.
    pub around: bool,
    /// The bytes of the later use, `[first, end)` in its object or the tile heap.
    pub bytes: (Bytes, Bytes),
    /// What is missing.
    pub missing: MissingDependency,
}

fn when(around: bool) -> &'static str {
    if around { " in the frame before" } else { "" }
}

/// A use of a resource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HazardAccess {
    /// A pass reads it.
    #[error("pass `{pass}` reads `{resource}`")]
    Read {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
    },
    /// A pass writes it.
    #[error("pass `{pass}` writes `{resource}`")]
    Write {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
    },
    /// A barrier changes its layout or owner, which writes.
    #[error("a barrier at pass `{pass}` changes the layout or owner of `{resource}`")]
    Transition {
        /// The pass.
        pass: Box<str>,
        /// The resource.
        resource: Box<str>,
    },
    /// The caller used it before the frame.
    #[error("`{resource}` enters the frame")]
    Entry {
        /// The resource.
        resource: Box<str>,
    },
    /// The caller uses it after the frame.
    #[error("`{resource}` leaves the frame")]
    Exit {
        /// The resource.
        resource: Box<str>,
    },
}

impl HazardAccess {
    /// The resource.
    pub fn resource(&self) -> &str {
        match self {
            HazardAccess::Read { resource, .. }
            | HazardAccess::Write { resource, .. }
            | HazardAccess::Transition { resource, .. }
            | HazardAccess::Entry { resource }
            | HazardAccess::Exit { resource } => resource,
        }
    }

    /// The pass; `None` for the caller's uses.
    pub fn pass(&self) -> Option<&str> {
        match self {
            HazardAccess::Read { pass, .. }
            | HazardAccess::Write { pass, .. }
            | HazardAccess::Transition { pass, .. } => Some(pass),
            HazardAccess::Entry { .. } | HazardAccess::Exit { .. } => None,
        }
    }
}

/// What is missing between two uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MissingDependency {
    /// Nothing makes the later use wait.
    #[error("no chain of barriers makes it wait")]
    Execution,
    /// It waits, but what was written is not made available or visible to it.
    #[error("it waits, but what was written is not made visible to it")]
    Memory,
}

/// An image in another layout, or a resource with another queue, than the plan says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A barrier names a layout that the image is not in (VUID-VkImageMemoryBarrier2-oldLayout-01197).
    #[error(
        "a barrier at pass `{pass}` takes `{resource}` from {named:?}, and it is in {tracked:?} (VUID-VkImageMemoryBarrier2-oldLayout-01197)"
    )]
    Old {
        /// The pass.
        pass: String,
        /// The image.
        resource: String,
        /// The barrier's old layout.
        named: vk::ImageLayout,
        /// The image's layout.
        tracked: vk::ImageLayout,
    },
    /// A pass uses an image in another layout than it is in (VUID-vkCmdDraw-None-09600 and the like).
    #[error(
        "pass `{pass}` uses `{resource}` in {needs:?}, and it is in {tracked:?} (VUID-vkCmdDraw-None-09600)"
    )]
    Use {
        /// The pass.
        pass: String,
        /// The image.
        resource: String,
        /// The access's layout.
        needs: vk::ImageLayout,
        /// The image's layout.
        tracked: vk::ImageLayout,
    },
    /// A layout in which such an access is not allowed.
    #[error("pass `{pass}` uses `{resource}` as {kind:?} in {layout:?}, which does not allow it")]
    Unfit {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The access.
        kind: AccessKind,
        /// Its layout.
        layout: vk::ImageLayout,
    },
    /// One of several images of a resident in another layout than `GENERAL`: layouts are not shared between memory objects, and
    /// a transition of one image says nothing of the others.
    #[error(
        "pass `{pass}` uses `{resource}` in {layout:?}, and it has an image in several tile objects: those stay in GENERAL"
    )]
    Alias {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The access's layout.
        layout: vk::ImageLayout,
    },
    /// A queue uses contents that another queue owns.
    #[error(
        "pass `{pass}` on queue `{queue}` uses `{resource}`, which queue `{owner}` owns: release and acquire are missing"
    )]
    Owner {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The pass's queue.
        queue: String,
        /// Who owns the contents.
        owner: String,
    },
    /// An acquire without the release that belongs to it.
    #[error(
        "the acquire of `{resource}` at pass `{pass}` follows no release from `{from}` to `{to}` in these layouts"
    )]
    NotReleased {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// The queue that should have released it.
        from: String,
        /// The acquiring queue.
        to: String,
    },
    /// A release without an acquire.
    #[error(
        "`{resource}` is released from `{from}` to `{to}` at pass `{pass}` and not acquired there before its next use"
    )]
    NotAcquired {
        /// The resource.
        resource: String,
        /// The pass of the release.
        pass: String,
        /// The releasing queue.
        from: String,
        /// The queue that should acquire it.
        to: String,
    },
    /// An external image leaves the frame in another layout than agreed.
    #[error("external `{resource}` leaves the frame in {tracked:?} and has to leave in {needs:?}")]
    Exit {
        /// The resource.
        resource: String,
        /// The agreed layout.
        needs: vk::ImageLayout,
        /// The image's layout.
        tracked: vk::ImageLayout,
    },
}

/// A load or store operation that does something else than the frame asks for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OperationError {
    /// A load operation against the access's declaration.
    #[error("pass `{pass}` loads attachment `{resource}` with {op:?}, and its declaration needs {needs}")]
    Load {
        /// The pass.
        pass: String,
        /// The attachment.
        resource: String,
        /// The operation.
        op: vk::AttachmentLoadOp,
        /// What it must be.
        needs: &'static str,
    },
    /// A store operation that the device does not have.
    #[error("pass `{pass}` stores attachment `{resource}` with {op:?}: {why}")]
    Store {
        /// The pass.
        pass: String,
        /// The attachment.
        resource: String,
        /// The operation.
        op: vk::AttachmentStoreOp,
        /// What is wrong with it.
        why: &'static str,
    },
}
