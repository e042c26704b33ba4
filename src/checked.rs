//! Values that have passed their checker.

use std::fmt;
use std::ops::Deref;

/// A value that its checker accepted, or that this crate made: a plan that may be lowered and bound, or tables that may be executed.
///
/// Builds with debug assertions (for tables, and the feature `check`) also check the values that this crate makes. A checked value cannot be changed:
/// [`into_inner`](Checked::into_inner) returns it for editing, and [`Plan::checked`](crate::plan::Plan::checked) or
/// [`Lowered::check`](crate::lower::Lowered::check) checks it again.
///
/// ```compile_fail,E0596
/// # use tileheap::{Checked, lower::Lowered};
/// fn change(tables: &mut Checked<Lowered>) {
///     tables.image_barriers.clear();
/// }
/// ```
/// ```compile_fail,E0423
/// # use tileheap::{Checked, lower::Lowered};
/// fn unchecked(tables: Lowered) -> Checked<Lowered> {
///     Checked(tables)
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<T>(T);

impl<T> Checked<T> {
    pub(crate) fn new(value: T) -> Checked<T> {
        Checked(value)
    }

    /// Returns the value, which no longer counts as checked.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Display> fmt::Display for Checked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
