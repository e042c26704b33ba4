//! Buffers of a plan as a file describes them, and findings about them.

use serde::Serialize;

use crate::units::{Alignment, Bytes, Span, Step};

/// Buffers in arenas over steps, placed by another planner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Allocations {
    /// The format of the file, for messages.
    pub format: &'static str,
    /// What [`Buffer::index`] counts: `tensor`, `value`, `line`.
    pub numbered: &'static str,
    /// Names of the steps, by number; steps may have none.
    pub steps: Vec<String>,
    /// Ranges of memory that are disjoint from each other.
    pub arenas: Vec<Arena>,
    /// What is placed in them.
    pub buffers: Vec<Buffer>,
    /// Outputs that may take the bytes of an input.
    pub in_place: Vec<InPlace>,
    /// Faults that a reader found.
    pub faults: Vec<Fault>,
    /// Parts of the file that are not judged, and why.
    pub notes: Vec<String>,
}

/// A range of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Arena {
    /// Its name in the file, or a number.
    pub name: String,
    /// The size that the file declares.
    pub size: Option<Bytes>,
}

/// A buffer with its place and lifetimes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// Its number in the file, of what [`Allocations::numbered`] says.
    pub index: u64,
    /// The arena, an index.
    pub arena: u32,
    /// Its first byte.
    pub offset: Bytes,
    /// Its size.
    pub size: Bytes,
    /// A divisor of its offset that the format demands.
    pub alignment: Alignment,
    /// When its contents are needed; ascending and disjoint.
    pub lifetimes: Vec<Span>,
    /// The data that it is a view of; buffers with equal data share it by design.
    pub view: Option<ViewOf>,
}

impl Buffer {
    /// The first byte after it.
    pub fn end(&self) -> Bytes {
        Bytes(self.offset.0.saturating_add(self.size.0))
    }

    /// The address at which its data begins: views of the same data at the same address share bytes by design.
    pub(super) fn data(&self) -> Option<(u32, i128)> {
        let view = self.view?;
        Some((view.data, i128::from(self.offset.0) - i128::from(view.offset)))
    }
}

/// A part of some data that several buffers refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ViewOf {
    /// Equal numbers are the same data.
    pub data: u32,
    /// The first byte of the part.
    pub offset: u64,
}

/// An operator may write its output over the input that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct InPlace {
    /// The step of the operator.
    pub step: Step,
    /// The output, an index.
    pub output: u32,
    /// The input, an index. It has to die in this step.
    pub input: u32,
    /// Whether the output may only be at exactly the offset of the input, as for elementwise operators; otherwise anywhere.
    pub same_offset: bool,
}

/// A buffer that is wrong by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The buffer, an index.
    pub buffer: u32,
    /// The fault.
    #[serde(flatten)]
    pub fault: BufferFault,
}

/// A fault of one buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BufferFault {
    /// It ends after the declared size of its arena.
    OutsideArena {
        /// The first byte after the buffer.
        end: Bytes,
        /// The declared size.
        size: Bytes,
    },
    /// Its offset is not a multiple of the alignment that the format demands.
    Misaligned {
        /// The alignment.
        alignment: Alignment,
    },
    /// It is larger than the storage that it shares with others.
    OutsideStorage {
        /// The storage.
        storage: String,
        /// The first byte after the buffer in it.
        end: Bytes,
        /// Its size.
        size: Bytes,
    },
    /// It is read, but nothing writes it before.
    NeverWritten {
        /// The first step that reads it.
        step: Step,
    },
    /// It is a view of another buffer, but not where that one is.
    DetachedView {
        /// The other buffer, an index.
        base: u32,
        /// The offset that the view has to have.
        expected: Bytes,
    },
}

/// Two buffers that share bytes while both are alive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Overlap {
    /// The buffer that is alive first, an index.
    pub a: u32,
    /// The other one, an index.
    pub b: u32,
    /// The steps in which both are alive.
    pub steps: Vec<Span>,
    /// The first shared byte of the arena.
    pub offset: Bytes,
    /// How many bytes are shared.
    pub bytes: Bytes,
}

/// The bytes of an arena.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgedArena {
    /// Bytes that the plan uses: the end of the last buffer.
    pub used: Bytes,
    /// A lower bound on every plan in which the same buffers share bytes by design.
    pub bound: Bytes,
    /// Bytes that tileheap needs for them.
    pub packed: Bytes,
    /// Whether no plan needs fewer.
    pub proved: bool,
}

/// Allocations with what is wrong with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The input.
    pub allocations: Allocations,
    /// Pairs that share bytes while both are alive, without permission; ordered by the first shared step.
    pub overlaps: Vec<Overlap>,
    /// Faults of single buffers, by index.
    pub faults: Vec<Fault>,
    /// Whether there are more pairs than were examined.
    pub has_more: bool,
    /// The bytes of each arena.
    pub arenas: Vec<JudgedArena>,
}

impl Judged {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.overlaps.is_empty() && self.faults.is_empty()
    }
}
