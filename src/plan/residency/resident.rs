//! The residents of tile memory.

use super::candidate::Candidate;
use crate::frame::{PassId, ResourceId};
use crate::plan::{MemoryObject, ObjectId, Optimality};
use crate::units::{Bytes, Span};

/// The residents of tile memory and the memory bound for them.
pub(in crate::plan) struct Residency {
    /// The residents.
    pub(in crate::plan) residents: Vec<TileResident>,
    /// Tile memory objects, one per bound size.
    pub(in crate::plan) objects: Vec<MemoryObject>,
    /// Per pass, the bound tile memory object.
    pub(in crate::plan) bound: Vec<Option<ObjectId>>,
    /// Bytes reserved, summed over the passes, if one object served each connected run of lifetimes.
    pub(in crate::plan) reserved_by_runs: Bytes,
    /// Quality of the choice, if there was a search.
    pub(in crate::plan) optimality: Option<Optimality>,
}

/// A resource in tile memory.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) struct TileResident {
    pub(in crate::plan) resource: ResourceId,
    pub(in crate::plan) offset: Bytes,
    pub(in crate::plan) size: Bytes,
    pub(in crate::plan) span: Span,
    /// For a stretch of a lifetime, the pass after which it is stored.
    pub(in crate::plan) stored_after: Option<PassId>,
}

impl TileResident {
    pub(super) fn new(candidate: &Candidate, offset: Bytes) -> TileResident {
        let Candidate {
            resource,
            span,
            size,
            stored_after,
            ..
        } = *candidate;
        TileResident {
            resource,
            offset,
            size,
            span,
            stored_after,
        }
    }
}
