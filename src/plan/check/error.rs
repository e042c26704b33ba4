//! What is wrong with a plan.

use super::replay_errors::{BarrierError, ContentsError, HazardError, LayoutError, OperationError};
use super::table_errors::{BytesError, ResidenceError, SplitError, StructureError, TotalError};

/// What is wrong with a plan, by the kind of rule it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The tables do not refer to each other soundly.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A lifetime that is split as it must not be.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Memory objects, offsets and sizes.
    #[error(transparent)]
    Bytes(#[from] BytesError),
    /// Something lives where it must not.
    #[error(transparent)]
    Residence(#[from] ResidenceError),
    /// Contents are needed and gone, or cannot be reached.
    #[error(transparent)]
    Contents(#[from] ContentsError),
    /// A barrier that Vulkan does not allow.
    #[error(transparent)]
    Barrier(#[from] BarrierError),
    /// An image is in another layout, or with another queue, than is said.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Two uses of the same bytes with too little between them.
    #[error(transparent)]
    Hazard(#[from] HazardError),
    /// Load and store operations.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// A sum that is not the sum.
    #[error(transparent)]
    Total(#[from] TotalError),
}
