//! The log of synchronization operations, with summaries of consecutive ones.
//!
//! ```text
//! operations   b b b b … b   b b b b … b   s b b …         b: dependencies, s: any other operation
//! summaries    64 at once    64 at once    one by one      An access that a summary cannot change skips all of its operations.
//! ```

use crate::operation::{Bytes, EdgeKind, Limit, Operation, Union};
use crate::program::QueueId;

/// Numbers of operations per summarized group, the largest first.
const SIZES: [usize; 2] = [4096, 64];

/// Maximum number of different dependencies in a summary; with more there is no summary.
const MAX_SUMMARIZED: usize = 4;

/// Dependencies that agree in everything that determines whether they change the state of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) queue: QueueId,
    pub(crate) union: Union,
    pub(crate) memory: AffectedMemory,
    /// The last step in which one of the dependencies was submitted.
    pub(crate) submitted: u64,
}

/// The memory that the access scopes of the dependencies include.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AffectedMemory {
    Nothing,
    /// Only accesses through resources within these bytes.
    Within(Bytes),
    Everything,
}

impl AffectedMemory {
    fn or(self, other: AffectedMemory) -> AffectedMemory {
        match (self, other) {
            (AffectedMemory::Nothing, one) | (one, AffectedMemory::Nothing) => one,
            (AffectedMemory::Within(one), AffectedMemory::Within(other)) if one.memory == other.memory => {
                AffectedMemory::Within(Bytes {
                    memory: one.memory,
                    first: one.first.min(other.first),
                    end: one.end.max(other.end),
                })
            }
            _ => AffectedMemory::Everything,
        }
    }
}

/// Operations that may not have been applied to the state of every access yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    operations: Vec<Operation>,
    /// The summary of each operation, if it has one.
    each: Vec<Option<Summary>>,
    /// For each group size, the summaries of every group of that many consecutive operations; an empty list if a group has no
    /// summary.
    summaries: [Vec<Vec<Summary>>; SIZES.len()],
    /// For each group size, the summaries of the group that is not complete yet; `None` if it will not have any.
    open: [Option<Vec<Summary>>; SIZES.len()],
}

impl Log {
    /// Returns the number of operations.
    pub(crate) fn len(&self) -> usize {
        self.operations.len()
    }

    /// Returns the operations, in order.
    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Removes all operations.
    pub(crate) fn clear(&mut self) {
        *self = Log::default();
    }

    /// Adds an operation; `is_bounded` is true if the bytes of resources determine which accesses a dependency includes.
    pub(crate) fn push(&mut self, operation: Operation, is_bounded: bool) {
        let summary = summary(&operation, is_bounded);
        self.operations.push(operation);
        self.each.push(summary);
        for ((size, open), complete) in SIZES.iter().zip(&mut self.open).zip(&mut self.summaries) {
            if self.operations.len() % size == 1 {
                *open = Some(Vec::new());
            }
            *open = open.take().and_then(|all| with(all, summary?));
            if self.operations.len() % size == 0 {
                complete.push(open.take().unwrap_or_default());
            }
        }
    }

    /// Iterates over the summaries of groups of operations that begin at an index, each with the group's number of operations, the largest group first.
    pub(crate) fn summaries(&self, index: usize) -> impl Iterator<Item = (usize, &[Summary])> {
        let sizes = SIZES.iter().zip(&self.summaries);
        let long = sizes.filter_map(move |(size, summaries)| {
            let summary = summaries.get(index / size).filter(|_| index % size == 0)?;
            (!summary.is_empty()).then_some((*size, &summary[..]))
        });
        let one = self.each.get(index).and_then(Option::as_ref);
        long.chain(one.map(|one| (1, std::slice::from_ref(one))))
    }
}

/// Adds the dependencies of a summary to a group's summaries; `None` if there would be more than [`MAX_SUMMARIZED`].
fn with(mut all: Vec<Summary>, new: Summary) -> Option<Vec<Summary>> {
    let is_full = all.len() == MAX_SUMMARIZED;
    let known = all
        .iter_mut()
        .find(|one| (one.queue, one.union) == (new.queue, new.union));
    match known {
        Some(known) => {
            known.memory = known.memory.or(new.memory);
            known.submitted = known.submitted.max(new.submitted);
        }
        None if is_full => return None,
        None => all.push(new),
    }
    Some(all)
}

/// Returns the summary of an operation; `None` if it may change the state of any access.
fn summary(operation: &Operation, is_bounded: bool) -> Option<Summary> {
    let Operation::Dependencies {
        queue,
        submitted,
        edges,
        union,
        pass,
        events: None,
        ..
    } = operation
    else {
        return None;
    };
    let of_edge = |limit: &Limit| match limit {
        Limit::Execution => AffectedMemory::Nothing,
        Limit::Part(part) if is_bounded => AffectedMemory::Within(part.bytes),
        Limit::Part(_) | Limit::All => AffectedMemory::Everything,
    };
    let is_transfer = edges.iter().any(|edge| edge.kind != EdgeKind::Plain);
    let all = edges.iter().map(|edge| of_edge(&edge.limit));
    Some(Summary {
        queue: *queue,
        union: *union,
        memory: match is_transfer || pass.is_some() {
            true => AffectedMemory::Everything,
            false => all.fold(AffectedMemory::Nothing, AffectedMemory::or),
        },
        submitted: *submitted,
    })
}
