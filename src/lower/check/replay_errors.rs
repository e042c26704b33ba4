//! What tables break when they are executed: layouts, hazards, and what is left for the next frame.

use ash::vk;

use crate::units::Bytes;

/// Two uses of the same bytes, of which at least one writes, with too little between them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{second} at bytes [{}, {}) after {first}: {missing}", .bytes.0, .bytes.1)]
#[non_exhaustive]
pub struct HazardError {
    /// The earlier use.
    pub first: Box<HazardUse>,
    /// The later use.
    pub second: Box<HazardUse>,
    /// The bytes of the later use, `[first, end)` in its memory object or the tile heap.
    pub bytes: (Bytes, Bytes),
    /// What is missing.
    pub missing: MissingDependency,
}

/// A use of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HazardUse {
    /// What uses it.
    pub by: UsedBy,
    /// The resource; empty for earlier work.
    pub resource: String,
    /// The pass that uses it, or at which a barrier does; empty for what is outside of the frame.
    pub pass: String,
}

/// What uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsedBy {
    /// A pass reads it.
    Read,
    /// A pass writes it, or a clear before the pass.
    Write,
    /// A barrier changes its layout or the family that owns it, which writes.
    Transition,
    /// The caller, before the frame.
    Entry,
    /// The caller, after the frame.
    Exit,
    /// Earlier work on the same bytes.
    Earlier,
}

impl std::fmt::Display for HazardUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let HazardUse { by, resource, pass } = self;
        match by {
            UsedBy::Read => write!(f, "pass `{pass}` reads `{resource}`"),
            UsedBy::Write => write!(f, "pass `{pass}` writes `{resource}`"),
            UsedBy::Transition => write!(
                f,
                "a barrier at pass `{pass}` changes the layout or owner of `{resource}`"
            ),
            UsedBy::Entry => write!(f, "`{resource}` enters the frame"),
            UsedBy::Exit => write!(f, "`{resource}` leaves the frame"),
            UsedBy::Earlier => f.write_str("earlier work"),
        }
    }
}

/// An image in another layout, or a resource of another queue family, than the tables say.
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
    /// A queue family uses contents that another one owns.
    #[error(
        "pass `{pass}` on queue family {family} uses `{resource}`, which family {owner} owns: release and acquire are missing"
    )]
    Owner {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The pass's queue family.
        family: u32,
        /// The family that owns the contents.
        owner: u32,
    },
    /// An acquire without the release that belongs to it (VUID-vkQueueSubmit2-commandBuffer-03879).
    #[error(
        "the acquire of `{resource}` at pass `{pass}` follows no release from family {src} to {dst} in these layouts (VUID-vkQueueSubmit2-commandBuffer-03879)"
    )]
    NotReleased {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// The family that should have released it.
        src: u32,
        /// The acquiring family.
        dst: u32,
    },
    /// A release without an acquire.
    #[error(
        "`{resource}` is released from family {src} to {dst} at pass `{pass}` and not acquired there before its next use"
    )]
    NotAcquired {
        /// The resource.
        resource: String,
        /// The pass of the release.
        pass: String,
        /// The releasing family.
        src: u32,
        /// The family that should acquire it.
        dst: u32,
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

/// What the frame is said to leave is not what it leaves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AfterError {
    /// A history without the state that it is left in, or with another one.
    #[error("after the frame `{resource}` is {found}, and `after` says {said}")]
    Contents {
        /// The resource.
        resource: String,
        /// What the replay finds.
        found: String,
        /// What the tables say.
        said: String,
    },
    /// A use of bytes for which whatever takes them over would not wait.
    #[error("{user} at bytes [{}, {}): whatever waits for the uses that `after` lists there does not wait for it", .bytes.0, .bytes.1)]
    Uncovered {
        /// The use.
        user: Box<HazardUse>,
        /// Bytes of it that are not covered.
        bytes: (Bytes, Bytes),
    },
    /// A use of a queue or at a value that the frame does not reach.
    #[error("`after` lists a use of queue {queue} at value {value}, which the frame does not reach")]
    Point {
        /// The queue.
        queue: u32,
        /// The value.
        value: i64,
    },
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
