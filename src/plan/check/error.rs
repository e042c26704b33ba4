//! What is wrong with a plan.

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
    /// A sum that is not the sum.
    #[error(transparent)]
    Total(#[from] TotalError),
}
