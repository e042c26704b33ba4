//! Recorders and recordings without their borrows, for programs whose objects cannot borrow from each other, such as bindings for other languages.
//!
//! ```text
//! DynamicFrame::select ─► selected ─► begin ─► FrameRecorder::detach          SharedRecorder::record ─► Commands::detach
//!                                                    │                                                        │
//!                     DetachedRecorder ◄─────────────┘       DetachedCommands ◄──────────────────────────────┘
//!                       │ DynamicFrame::attach: FrameRecorder      │ attach: Commands
//!                       └ DynamicFrame::share: SharedRecorder      ┘
//! ```
//! Detaching does not allocate. A detached object is out of date once its frame is submitted, or another frame is selected or begun: then it can no
//! longer be attached.
//! The borrow checker no longer sees that a recorder is in use, so the program must keep other threads from using the dynamic frame
//! mutably at the same time, for example with a lock.

use std::cell::Cell;

use ash::vk;

use super::dynamic_frame::DynamicFrame;
use super::frame_recorder::FrameRecorder;
use super::progress::FrameNumber;
use super::record::{Commands, TileBinding};
use super::selected_frame::SelectedFrame;
pub use super::shared_recorder::SharedRecorder;
use super::use_stamp::UseStamp;
use crate::frame::{CommandBufferId, PassId};
use crate::lower::Parity;

/// A [`FrameRecorder`] without its borrow of the dynamic frame.
#[derive(Debug)]
pub struct DetachedRecorder {
    stamp: UseStamp,
    number: FrameNumber,
    parity: Parity,
    encoded: usize,
}

impl DetachedRecorder {
    /// Same as [`FrameRecorder::number`].
    pub fn number(&self) -> FrameNumber {
        self.number
    }
}

impl FrameRecorder<'_> {
    /// Ends the borrow of the dynamic frame; [`DynamicFrame::attach`] borrows it again to continue.
    pub fn detach(self) -> DetachedRecorder {
        DetachedRecorder {
            stamp: self.bound.stamp,
            number: self.number,
            parity: self.parity,
            encoded: self.encoded,
        }
    }
}

impl DynamicFrame {
    /// The most recently selected frame; `None` once it has begun.
    pub fn selected(&mut self) -> Option<SelectedFrame<'_>> {
        let stamp = self.selected_stamp;
        let bound = self.last_bound_mut().filter(|bound| bound.stamp == stamp)?;
        Some(bound.into())
    }

    /// Borrows the dynamic frame again to continue recording with a detached recorder; `None` if its frame was submitted, another one was selected, or it is
    /// not from this dynamic frame. `recorder` stays valid if the returned recorder is dropped, or [`submit`](FrameRecorder::submit) fails before anything is
    /// submitted.
    pub fn attach(&mut self, recorder: &DetachedRecorder) -> Option<FrameRecorder<'_>> {
        let bound = self.last_bound_mut()?;
        (bound.stamp == recorder.stamp).then_some(FrameRecorder {
            bound,
            number: recorder.number,
            parity: recorder.parity,
            encoded: recorder.encoded,
        })
    }

    /// Like [`DynamicFrame::attach`], for several threads at once.
    pub fn share(&self, recorder: &DetachedRecorder) -> Option<SharedRecorder<'_>> {
        let bound = self.last_selected()?;
        (bound.stamp == recorder.stamp).then_some(SharedRecorder {
            bound,
            parity: recorder.parity,
            encoded: recorder.encoded,
        })
    }
}

/// [`Commands`] without their borrow of the recorder.
#[derive(Debug)]
#[must_use = "a frame cannot be submitted before the recording of its command buffers is finished"]
pub struct DetachedCommands {
    stamp: UseStamp,
    encoded: usize,
    parity: Parity,
    handle: vk::CommandBuffer,
    id: CommandBufferId,
    /// The first row of the passes that are not recorded yet; they end before row `end`.
    next: u32,
    end: u32,
    bound_tile: TileBinding,
    subpass: u32,
    begun: Option<PassId>,
    span: tracing::Span,
}

impl<'a> SharedRecorder<'a> {
    /// Ends the borrow of `commands`, which belong to this recorder; [`SharedRecorder::attach`] borrows again to continue.
    pub fn detach(&self, commands: Commands<'a>) -> DetachedCommands {
        DetachedCommands {
            stamp: commands.bound.stamp,
            encoded: self.encoded,
            parity: commands.parity,
            handle: commands.handle,
            id: commands.id,
            next: commands.next,
            end: commands.end,
            bound_tile: commands.bound_tile.get(),
            subpass: commands.subpass.get(),
            begun: commands.begun,
            span: commands.span,
        }
    }

    /// Attaches detached commands to this recorder again.
    ///
    /// # Errors
    /// If they are from another frame; returns them unchanged.
    pub fn attach(&self, commands: DetachedCommands) -> Result<Commands<'a>, DetachedCommands> {
        if commands.stamp != self.bound.stamp || commands.encoded != self.encoded {
            return Err(commands);
        }
        Ok(Commands {
            bound: self.bound,
            encoded: self.encoded(),
            parity: commands.parity,
            handle: commands.handle,
            id: commands.id,
            next: commands.next,
            end: commands.end,
            bound_tile: Cell::new(commands.bound_tile),
            subpass: Cell::new(commands.subpass),
            per_tile: Cell::new(false),
            begun: commands.begun,
            span: commands.span,
        })
    }
}

impl Commands<'_> {
    /// The pass that has begun and not ended, a pass of [`Plan::input`](crate::plan::Plan)'s frame.
    pub fn begun_pass(&self) -> Option<PassId> {
        self.begun.map(|pass| self.bound.plan.input_pass(pass))
    }

    /// Returns `true` if a pass has begun and has subpasses after the current one.
    pub fn has_next_subpass(&self) -> bool {
        self.begun.is_some() && self.subpass.get() + 1 < self.subpasses()
    }
}
