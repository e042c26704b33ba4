//! Findings: pairs of accesses without the order that they need, and reads of lost contents.

use ash::vk;
use tileheap_device::scopes::WRITES;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::program::{DependencyScopes, ResourceId, ResourcePart, Tag};

/// The certainty of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// A rule of the specification may be broken, depending on something unknown, such as the elements that a shader accesses.
    Possible,
    /// A rule of the specification is broken, although no known implementation needs it.
    Pedantic,
    /// A rule of the specification is broken, and contents can be wrong.
    Certain,
}

/// A command's use of memory, as findings report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The batch, see [`Batch::number`](crate::program::Batch::number).
    pub batch: u64,
    /// The tag of the command.
    pub tag: Tag,
    /// The resource through which the command accesses memory.
    pub resource: ResourceId,
    /// The part of the resource.
    pub part: ResourcePart,
    /// The access or operation.
    pub action: Action,
}

/// An access to memory, or an operation of a barrier that counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A stage performs an access.
    Access(S, A),
    /// A barrier or a render pass changes the layout.
    Transition,
    /// A barrier releases ownership to another queue family.
    Release,
    /// A barrier acquires ownership from another queue family.
    Acquire,
}

/// The part of a dependency that is missing between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MissingDependency {
    /// An execution dependency: the second access may run before the first.
    Execution,
    /// Availability: the first access is a write that is not made available before the second.
    Availability,
    /// Visibility: the first access is an available write that is not made visible to the second.
    Visibility,
}

/// Two accesses to the same memory, at least one of which writes, without the dependency that they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// The earlier access in submission order.
    pub before: MemoryUse,
    /// The later access in submission order.
    pub after: MemoryUse,
    /// The missing part of the dependency.
    pub missing: MissingDependency,
    /// The certainty of the hazard.
    pub verdict: Certainty,
    /// Bytes `[first, end)` of the memory that both commands access and to which the verdict applies; the first range if there are several. For an image with
    /// optimal tiling, all bytes that it occupies; a linear and an optimal resource have whole pages in common.
    pub bytes: (u64, u64),
}

impl Action {
    /// Returns `true` for writes; transitions and queue family ownership transfers count as writes.
    pub fn writes(self) -> bool {
        match self {
            Action::Access(_, access) => WRITES.contains(access),
            _ => true,
        }
    }

    /// Returns the stages and accesses that a scope needs in order to include this access or operation.
    fn scope(self) -> (S, A) {
        match self {
            Action::Access(stage, access) => (stage, access),
            // Only this mask includes operations without a stage.
            _ => (S::ALL_COMMANDS, A::NONE),
        }
    }
}

impl Hazard {
    /// Returns the scopes of a memory barrier that orders the two accesses, if it is placed between them. Between two batches or queues, a semaphore or fence
    /// also works; a transition needs its first scope in its own barrier, or before it with `ALL_COMMANDS` as the second.
    pub fn remedy(&self) -> DependencyScopes {
        let (src, src_access) = self.before.action.scope();
        let (dst, dst_access) = self.after.action.scope();
        let is_read = !self.before.action.writes();
        DependencyScopes {
            src,
            src_access: if is_read { A::NONE } else { src_access },
            dst,
            dst_access: if is_read { A::NONE } else { dst_access },
        }
    }

    /// Returns the name of the specification's section that contains the broken rule.
    pub fn section(&self) -> &'static str {
        let is_transition =
            self.before.action == Action::Transition || self.after.action == Action::Transition;
        let is_transfer = [self.before.action, self.after.action]
            .iter()
            .any(|action| matches!(action, Action::Release | Action::Acquire));
        if self.before.resource != self.after.resource {
            "Memory Aliasing"
        } else if is_transfer {
            "Queue Family Ownership Transfer"
        } else if is_transition {
            "Image Layout Transitions"
        } else {
            "Execution and Memory Dependencies"
        }
    }
}

/// The reason why contents that a command reads are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// The contents were never written.
    NeverWritten,
    /// A transition from `UNDEFINED`, a load or store operation `DONT_CARE`, or a release to another queue family without an acquire.
    Discarded(MemoryUse),
    /// A write through a resource that interprets the bytes differently, or a queue family ownership transfer of another resource in the same bytes.
    Overwritten(MemoryUse),
    /// The contents are defined, but by a write through another resource that interprets the bytes consistently; this may be intended.
    WrittenThrough(MemoryUse),
    /// Another queue family accessed the contents without a transfer of ownership.
    NotTransferred {
        /// The access, or an acquire without a release; the read itself if it is the first access of its family.
        by: MemoryUse,
        /// The queue family that owned the contents.
        from: u32,
        /// The queue family of the access.
        to: u32,
    },
    /// A [`Command::Discard`](crate::program::Command::Discard) of the bytes.
    MemoryDiscarded {
        /// The number of the batch.
        batch: u64,
        /// The tag of the command.
        tag: Tag,
    },
}

/// A read of contents that are undefined, or were written through another resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostContents {
    /// The command's read of the contents.
    pub reader: MemoryUse,
    /// The reason for the loss: the first loss since the last write.
    pub loss: LossReason,
    /// The last write through the resource before the loss, if it is known.
    pub last: Option<MemoryUse>,
    /// The lost bytes `[first, end)` of the memory; if there are several ranges, the one that `loss` is about. Any texel of an image with optimal
    /// tiling may occupy any of its bytes.
    pub bytes: (u64, u64),
    /// True if some of the read contents may be defined: only some are undefined, or written through another resource.
    pub is_partial: bool,
    /// The certainty of the loss; [`LossReason::WrittenThrough`] is only [`Certainty::Possible`].
    pub verdict: Certainty,
}

/// Defined contents of bytes that a command discards, although the program might still need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardedContents {
    /// The batch, see [`Batch::number`](crate::program::Batch::number).
    pub batch: u64,
    /// The tag of the [`Command::Discard`](crate::program::Command::Discard).
    pub tag: Tag,
    /// The first bytes `[first, end)` of the memory that had contents; bytes with certain contents come before others.
    pub bytes: (u64, u64),
    /// The last write to these bytes.
    pub last: MemoryUse,
    /// The certainty that defined contents are lost.
    pub verdict: Certainty,
}

/// All findings of a program, or of some of its steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Missing dependencies between accesses, sorted by the later accesses.
    pub hazards: Vec<Hazard>,
    /// Lost contents that commands read, sorted by the reads.
    pub lost: Vec<LostContents>,
    /// Defined contents that were discarded, for discards with [`reports_contents`](crate::program::Discard::reports_contents).
    pub discarded: Vec<DiscardedContents>,
    /// Accesses, transitions and transfers that were not checked: their resource is unknown, their stage does not perform them, or they are not in
    /// the table of accesses.
    pub unchecked: Vec<MemoryUse>,
}

impl Findings {
    /// Appends the findings of later steps.
    pub fn extend(&mut self, later: Findings) {
        self.hazards.extend(later.hazards);
        self.lost.extend(later.lost);
        self.discarded.extend(later.discarded);
        self.unchecked.extend(later.unchecked);
    }
}
