//! A bound frame that a dynamic frame lends for one recording.

use std::ops::Deref;

use super::bound_frame::BoundFrame;
use super::frame_recorder::FrameRecorder;
use super::import::Imports;
use crate::Result;
#[cfg(feature = "check")]
use crate::lower::{Lowered, LoweringDesc};

/// The bound frame that [`DynamicFrame::select`](super::DynamicFrame::select) lends: all lookups of a [`BoundFrame`], and
/// [`begin`](SelectedFrame::begin).
///
/// A function that records static and dynamic frames takes an `impl Into<SelectedFrame<'_>>`: `&mut BoundFrame` converts.
///
/// The dynamic frame keeps its bound frames: they cannot be moved out or replaced, and only one frame is recorded at a time.
/// ```compile_fail,E0308
/// # use tileheap::runtime::{BoundFrame, SelectedFrame};
/// fn take(selected: &mut SelectedFrame<'_>, other: BoundFrame) -> BoundFrame {
///     std::mem::replace(selected, other)
/// }
/// ```
/// ```compile_fail,E0596
/// # use tileheap::runtime::{BoundFrame, SelectedFrame};
/// fn take(selected: &mut SelectedFrame<'_>, other: BoundFrame) -> BoundFrame {
///     std::mem::replace(&mut **selected, other)
/// }
/// ```
/// ```compile_fail,E0499
/// # use tileheap::frame::FrameBuilder;
/// # use tileheap::runtime::{DynamicFrame, Imports};
/// # fn f(frames: &mut DynamicFrame, builders: [FrameBuilder; 2], imports: &Imports<'_>) -> tileheap::Result<()> {
/// let one = unsafe { frames.select(&builders[0])?.begin(imports) }?;
/// let other = frames.select(&builders[1])?;
/// # drop((one, other));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SelectedFrame<'a> {
    bound: &'a mut BoundFrame,
}

impl<'a> SelectedFrame<'a> {
    /// Begins a frame, as [`BoundFrame::begin`] does. Select again for the next frame: its bound frame depends on its description and on the
    /// histories that this frame writes.
    ///
    /// # Errors
    /// Same as [`BoundFrame::begin`].
    ///
    /// # Safety
    /// As for [`BoundFrame::begin`].
    pub unsafe fn begin(self, imports: &Imports<'_>) -> Result<FrameRecorder<'a>> {
        // SAFETY: the caller's duty.
        unsafe { self.bound.begin(imports) }
    }

    /// Same as [`BoundFrame::lowering_desc`].
    #[cfg(feature = "check")]
    pub fn lowering_desc(&mut self) -> LoweringDesc {
        self.bound.lowering_desc()
    }

    /// Like [`BoundFrame::adopt`], until the description is bound again in a larger block, with another [`BoundFrame::number`].
    ///
    /// # Errors
    /// Same as [`BoundFrame::adopt`].
    #[cfg(feature = "check")]
    pub fn adopt(&mut self, tables: Lowered, lowering_desc: &LoweringDesc) -> Result<()> {
        self.bound.adopt(tables, lowering_desc)
    }
}

impl<'a> From<&'a mut BoundFrame> for SelectedFrame<'a> {
    fn from(bound: &'a mut BoundFrame) -> SelectedFrame<'a> {
        SelectedFrame { bound }
    }
}

impl Deref for SelectedFrame<'_> {
    type Target = BoundFrame;

    fn deref(&self) -> &BoundFrame {
        self.bound
    }
}
