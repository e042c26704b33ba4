//! The progress of frames, for any thread.

use std::fmt;
use std::sync::Arc;

use super::bound_frame::BoundFrame;
use super::device_state::DeviceState;
use super::dynamic_frame::DynamicFrame;
use super::progress::FrameNumber;
use super::shared_progress::SharedProgress;
use crate::Result;

/// The progress of a [`BoundFrame`] or [`DynamicFrame`] on the device. Any thread can query it and wait for frames while others record and
/// submit. Clones belong to the same frames.
///
/// It must not be used after [`Device::destroy`](super::Device::destroy).
#[derive(Clone)]
pub struct FrameProgress {
    state: Arc<DeviceState>,
    shared: Arc<SharedProgress>,
}

impl FrameProgress {
    /// The newest frame that is complete on the device, along with all frames before it; `None` before the first.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn completed(&self) -> Result<Option<FrameNumber>> {
        self.shared.lock().completed(&self.state)
    }

    /// Waits until `frame` is complete on the device, for at most `timeout` nanoseconds; false if time ran out. Other threads can record and
    /// submit frames meanwhile.
    ///
    /// # Errors
    /// When the device is lost, or the frame was not submitted.
    pub fn wait(&self, frame: FrameNumber, timeout: u64) -> Result<bool> {
        self.shared.wait(&self.state, frame, timeout)
    }
}

impl BoundFrame {
    /// The frame's progress, for any thread.
    pub fn progress(&self) -> FrameProgress {
        FrameProgress {
            state: self.state.clone(),
            shared: self.series.shared_progress().clone(),
        }
    }
}

impl DynamicFrame {
    /// The progress of the frames of all descriptions, for any thread.
    pub fn progress(&self) -> FrameProgress {
        FrameProgress {
            state: self.device.state().clone(),
            shared: self.series.shared_progress().clone(),
        }
    }
}

impl fmt::Debug for FrameProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameProgress")
            .field("submitted", &self.shared.lock().submitted())
            .finish_non_exhaustive()
    }
}
