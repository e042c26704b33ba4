//! Buffers of a plan as described by a file, and the findings about them.

use serde::Serialize;

use crate::units::{Alignment, Bytes, Span, Step};

/// Buffers that another planner placed in arenas, with their lifetimes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Allocations {
    /// The format of the file, for messages.
    pub format: &'static str,
    /// The unit of [`Buffer::index`]: `tensor`, `value`, `line`.
    pub numbered: &'static str,
    /// Names of the steps, by number; empty if the format does not name them.
    pub steps: Vec<String>,
    /// Ranges of memory that are disjoint from each other.
    pub arenas: Vec<Arena>,
    /// The buffers placed in the arenas.
    pub buffers: Vec<Buffer>,
    /// Outputs that may take the bytes of an input.
    pub in_place: Vec<InPlace>,
    /// Faults that the reader found.
    pub faults: Vec<Fault>,
    /// Notes for the user, such as parts of the file that are not judged, with the reason.
    pub notes: Vec<String>,
}

/// A range of memory in which a plan places buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arena {
    /// The arena's name in the file, or a number.
    pub name: String,
    /// The size that the file declares for the arena.
    pub size: Option<Bytes>,
}

/// A buffer with its placement and lifetimes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buffer {
    /// The buffer's name.
    pub name: String,
    /// The buffer's number in the file, in the unit of [`Allocations::numbered`].
    pub index: u64,
    /// The index of the buffer's arena.
    pub arena: u32,
    /// The offset of the buffer's first byte in its arena.
    pub offset: Bytes,
    /// The buffer's size.
    pub size: Bytes,
    /// The alignment that the format requires of the buffer's offset.
    pub alignment: Alignment,
    /// The steps in which the buffer's contents are needed; ascending and disjoint.
    pub lifetimes: Vec<Span>,
    /// The data that the buffer is a view of; buffers with equal data share bytes by design.
    pub view: Option<SharedData>,
}

impl Buffer {
    /// The first byte after the buffer.
    pub fn end(&self) -> Bytes {
        Bytes(self.offset.0.saturating_add(self.size.0))
    }

    /// The data that a view refers to, and the offset in the arena at which that data begins: views that agree in both share bytes by design.
    pub(super) fn data(&self) -> Option<(u32, i128)> {
        let view = self.view?;
        Some((view.data, i128::from(self.offset.0) - i128::from(view.offset)))
    }
}

/// A part of some data that several buffers refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SharedData {
    /// Id of the data: buffers with equal ids refer to the same data.
    pub data: u32,
    /// The offset of the part in the data.
    pub offset: u64,
}

/// Permission for an operator to write its output over an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct InPlace {
    /// The step of the operator.
    pub step: Step,
    /// The index of the output buffer.
    pub output: u32,
    /// The index of the input buffer, whose lifetime has to end in this step.
    pub input: u32,
    /// True if the output must be exactly at the input's offset, as for elementwise operators; otherwise it may be anywhere in the input.
    pub same_offset: bool,
}

/// A fault of a single buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The index of the buffer.
    pub buffer: u32,
    /// The kind of fault.
    #[serde(flatten)]
    pub fault: BufferFault,
}

/// The kind of a buffer's fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BufferFault {
    /// The buffer ends after the declared size of its arena.
    OutsideArena {
        /// The first byte after the buffer.
        end: Bytes,
        /// The declared size of the arena.
        size: Bytes,
    },
    /// The buffer's offset is not a multiple of the alignment that the format requires.
    Misaligned {
        /// The required alignment.
        alignment: Alignment,
    },
    /// The buffer ends after the storage that it shares with others.
    OutsideStorage {
        /// The name of the storage.
        storage: String,
        /// The end of the buffer within the storage.
        end: Bytes,
        /// The size of the storage.
        size: Bytes,
    },
    /// The buffer is read before anything writes it.
    NeverWritten {
        /// The first step that reads the buffer.
        step: Step,
    },
    /// The buffer is a view of another buffer, but not at that buffer's address.
    DetachedView {
        /// The index of the other buffer.
        base: u32,
        /// The required offset of the view.
        expected: Bytes,
    },
}

/// Two buffers that share bytes while both are live.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Overlap {
    /// The index of the buffer that is live first.
    pub a: u32,
    /// The index of the other buffer.
    pub b: u32,
    /// The steps in which both are live.
    pub steps: Vec<Span>,
    /// The first shared byte, as an offset in the arena.
    pub offset: Bytes,
    /// The number of shared bytes.
    pub bytes: Bytes,
}

/// The memory use of an arena.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedArena {
    /// Bytes that the plan uses: the largest end offset of a buffer.
    pub used: Bytes,
    /// A lower bound on the size of every plan in which the same buffers share bytes by design.
    pub bound: Bytes,
    /// The size of tileheap's packing of the same buffers.
    pub packed: Bytes,
    /// True if no plan can be smaller than `packed`.
    pub proved: bool,
}

/// Allocations with the findings about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedAllocations {
    /// The allocations that were judged.
    pub allocations: Allocations,
    /// Pairs that share bytes while both are live, without permission; ordered by the first shared step.
    pub overlaps: Vec<Overlap>,
    /// Faults of single buffers, ordered by the index of the buffer.
    pub faults: Vec<Fault>,
    /// True if the search for overlaps stopped at its limits, so that there may be more.
    pub has_more: bool,
    /// The memory use of each arena.
    pub arenas: Vec<JudgedArena>,
}

impl JudgedAllocations {
    /// Returns true if there are no findings.
    pub fn is_sound(&self) -> bool {
        self.overlaps.is_empty() && self.faults.is_empty()
    }
}
