//! Facts about a program's own recording that the tables do not hold.

use crate::lower::tables::commands::DependencyRow;

/// A program's own recording, as checked by [`Lowered::recorded_violations`](crate::lower::tables::Lowered::recorded_violations).
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The dependencies before and after each row of passes, in order.
    pub around: Vec<[Vec<DependencyRow>; 2]>,
    /// For each access of the frame, what its row does not say.
    pub accesses: Vec<RecordedAccess>,
}

/// How a program makes an access.
#[derive(Clone, Debug, Default)]
pub struct RecordedAccess {
    /// The regions that it is confined to; empty for all of its range.
    pub regions: Vec<Region>,
    /// A store operation writes all of it again, after everything else: waiting for the store implies waiting for the rest.
    pub is_stored: bool,
}

/// Texels of a level in x, y and z, or bytes of a buffer in x: `[first, end)` each.
pub type Region = [[u64; 2]; 3];
