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
    /// Tables are as long as those of the executed frame, and name passes, resources and accesses that the described one has.
    Index,
    /// The frames have the same queues and semaphores.
    Queues,
    /// A batch runs the passes of one described batch, or of several consecutive ones without waits or signals in between.
    Batches,
    /// A pass has the properties of the described passes that it runs, and runs on the same queue.
    Pass,
    /// A store reads the stretch of a lifetime and writes its continuation, after the pass that its origin names.
    Store,
    /// A copy at the border of a strip copies the part that the strip needs or produces, next to the pass that its origin names.
    Border,
    /// A resource is created like the described one, or as a part of it; a stretch of a lifetime and the image of a strip are transient.
    Resource,
    /// An access is the described access that its origin names.
    Access,
    /// Every described pass runs once, whole or in all of its strips, with all of its accesses, and every described resource exists.
    Coverage,
    /// The values of a resource are numbered in order, and accesses see the same contents in them as in the described resource.
    Value,
    /// A charge is for a pass that repeats or merges described ones, once per reason.
    Charge,
}
