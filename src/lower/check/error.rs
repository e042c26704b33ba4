//! What is wrong with tables.

use super::replay_errors::ContentsError;
use super::replay_errors::{AfterError, HazardError, LayoutError};

/// What is wrong with tables, by the kind of rule that they break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The tables do not refer to each other, or to the frame, soundly.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// A parameter that the frame, the device or the specification does not allow.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Contents are needed and gone.
    #[error(transparent)]
    Contents(#[from] ContentsError),
    /// An image is in another layout, or something belongs to another queue family, than is said.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Two uses of the same bytes with too little between them.
    #[error(transparent)]
    Hazard(#[from] HazardError),
    /// What the frame is said to leave is not what it leaves.
    #[error(transparent)]
    After(#[from] AfterError),
}

/// Tables that do not refer to each other, or to the frame, soundly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StructureError {
    /// An index past the end of a table.
    #[error("{table} row {row}: {field} is {index}, and there are {len}")]
    Index {
        /// The table.
        table: &'static str,
        /// The row.
        row: usize,
        /// What is indexed.
        field: &'static str,
        /// The index.
        index: u64,
        /// The rows that there are.
        len: usize,
    },
    /// A run that ends before it begins, or past the end of a table.
    #[error("{table} row {row}: {field} [{first}, {end}) is no run of {len} rows")]
    Run {
        /// The table.
        table: &'static str,
        /// The row.
        row: usize,
        /// What is indexed.
        field: &'static str,
        /// Its begin.
        first: u32,
        /// Its end.
        end: u32,
        /// The rows that there are.
        len: usize,
    },
    /// A table of another length than the frame's.
    #[error("{table} has {rows} rows, and the frame has {needs}")]
    Rows {
        /// The table.
        table: &'static str,
        /// Its rows.
        rows: usize,
        /// What the frame has.
        needs: usize,
    },
    /// A row that is not what the frame has there: left out, recorded twice, or in another order.
    #[error("{table} row {row} is {found}, and the frame has {needs} there")]
    Order {
        /// The table.
        table: &'static str,
        /// The row.
        row: usize,
        /// What it is.
        found: String,
        /// What it has to be.
        needs: String,
    },
    /// An access of an image or buffer that does not hold its resource, or holds its other version.
    #[error("pass `{pass}` uses {found} for `{resource}`, which does not hold the version that it declares")]
    Object {
        /// The pass.
        pass: String,
        /// The resource that it declares.
        resource: String,
        /// What the table names.
        found: String,
    },
}

/// A parameter that the frame, the device or the specification does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {parameter} is {found}, and has to be {needs}")]
#[non_exhaustive]
pub struct ParameterError {
    /// The row, by the names of the frame.
    pub what: String,
    /// The field.
    pub parameter: &'static str,
    /// Its value.
    pub found: String,
    /// The values that are allowed, with the rule.
    pub needs: String,
}
