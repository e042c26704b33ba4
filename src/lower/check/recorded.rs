//! What a program's own recording says that tables do not.

use crate::lower::tables::commands::DependencyRow;

/// What a program records by itself, as [`Lowered::recorded_violations`](crate::lower::tables::Lowered::recorded_violations) judges it.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The dependencies in front of each row of passes and behind it, one after the other.
    pub around: Vec<[Vec<DependencyRow>; 2]>,
    /// Of each access of the frame, what its row does not say.
    pub accesses: Vec<RecordedAccess>,
}

/// How a program makes an access.
#[derive(Clone, Debug, Default)]
pub struct RecordedAccess {
    /// What it is confined to; nothing for all of its range.
    pub regions: Vec<Region>,
    /// A store operation writes all of it again, behind everything else: what waits for that waits for the rest.
    pub is_stored: bool,
}

/// Texels of a level across, down and in depth, or bytes of a buffer across: `[first, end)` each.
pub type Region = [[u64; 2]; 3];
