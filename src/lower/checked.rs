//! Values that were checked.

use std::ops::Deref;

/// A value that its checker accepted, or that this crate made: it may be executed.
///
/// It cannot be changed; [`into_inner`](Checked::into_inner) returns the value to be edited, and checked again.
///
/// ```compile_fail
/// # use tileheap::lower::{Checked, Lowered};
/// fn change(tables: &mut Checked<Lowered>) {
///     tables.image_barriers.clear();
/// }
/// ```
/// ```compile_fail
/// # use tileheap::lower::{Checked, Lowered};
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

    /// The value, no longer checked.
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
