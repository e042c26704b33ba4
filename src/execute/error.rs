//! Faults in the map of a rewritten frame.

/// A fault in the origins of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct OriginError {
    /// The rule that is broken.
    pub rule: OriginRule,
    /// A description of the fault, with the names in both frames.
    pub message: String,
}

/// The rules of origins, in the order in which they are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OriginRule {
    /// Tables must be as long as those of the executed frame, and must refer to passes, resources and accesses of the described frame.
    Index,
    /// The frames must have the same queues and semaphores.
    Queues,
    /// A batch must run the passes of one described batch, or of several consecutive ones without waits or signals in between.
    Batches,
    /// A pass must have the properties of the described passes that it runs, and must run on the same queue.
    Pass,
    /// A store pass must copy from one part of a split lifetime to the next, after the pass named in its `PassOrigin`; only stores and border copies may come between.
    Store,
    /// A copy at the border of a strip must copy the part that the strip needs or produces, next to the pass that its origin names.
    Border,
    /// A resource must be created like the described one, or as a part of it; a stretch of a lifetime and the image of a strip must be transient.
    Resource,
    /// An access must be the described access that its origin names.
    Access,
    /// Every described pass must run once, whole or in all of its strips, with all of its accesses, and every described resource must exist.
    Coverage,
    /// The values of a resource must be numbered in order, and accesses must see the same contents in them as in the described resource.
    Value,
    /// A charge must be for a pass that repeats or merges described ones, once per reason.
    Charge,
}
