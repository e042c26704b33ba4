//! Frames that a device can run.

use std::sync::Arc;

use super::PlanError;
use crate::frame::Frame;
use crate::profile::DeviceProfile;

/// A frame with a device that can run it: [`Frame::check_on`] has accepted it.
#[derive(Clone, Copy)]
pub(crate) struct Runnable<'a> {
    frame: &'a Frame,
    profile: &'a Arc<DeviceProfile>,
}

impl<'a> Runnable<'a> {
    /// Checks a frame.
    ///
    /// # Errors
    /// The first rule that it breaks on the device.
    pub(crate) fn new(frame: &'a Frame, profile: &'a Arc<DeviceProfile>) -> Result<Runnable<'a>, PlanError> {
        frame.check_on(profile)?;
        Ok(Runnable { frame, profile })
    }

    pub(crate) fn frame(self) -> &'a Frame {
        self.frame
    }

    pub(crate) fn profile(self) -> &'a Arc<DeviceProfile> {
        self.profile
    }
}
