//! What can be wrong with the map of a rewritten frame.

/// What is wrong with the origins of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct OriginError {
    /// The rule that is broken.
    pub rule: OriginRule,
    /// How, with the names in both frames.
    pub message: String,
}

/// The rules of origins, in the order in which they are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OriginRule {
    /// Tables are as long as those of the executed frame, and name passes, resources and accesses that the described one has.
    Index,
    /// The frames have the same queues and semaphores.
    Queues,
    /// A batch runs the passes of one described batch, or of several in a row between which nothing waits or signals.
    Batches,
    /// A pass is what the described passes are that it runs, on the same queue.
    Pass,
    /// A store reads the stretch of a lifetime and writes what follows, after the pass that its origin names.
    Store,
    /// A copy at the border of a strip is of the part that the strip needs or makes, beside the pass that its origin names.
    Border,
    /// A resource is made as the described one is, or as a part of it; a stretch of a lifetime and the image of a strip are transient.
    Resource,
    /// An access is the described access that its origin names.
    Access,
    /// Every described pass runs once, whole or in all of its strips, with all of its accesses, and every described resource is there.
    Coverage,
    /// The values of a resource are numbered in order, and accesses find in them what they find in the described resource.
    Value,
    /// A charge is of a pass that repeats or merges described ones, once for each reason.
    Charge,
}
