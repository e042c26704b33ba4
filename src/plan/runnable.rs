//! Frames that a device can run.

use std::sync::Arc;

use super::PlanError;
use crate::execute::ExecutedFrame;
use crate::profile::DeviceProfile;

/// A frame with a device that can run it: [`Frame::check_on`](crate::frame::Frame::check_on) has accepted the frame, and [`ExecutedFrame::check`] its origin
/// map.
#[derive(Clone, Copy)]
pub(crate) struct Runnable<'a> {
    executed: &'a ExecutedFrame,
    profile: &'a Arc<DeviceProfile>,
}

impl<'a> Runnable<'a> {
    /// Checks a frame, and its map to the described frame.
    ///
    /// # Errors
    /// The first rule that the frame violates on the device, the first fault of [`ExecutedFrame::check`], or a store in the frame.
    pub(crate) fn new(
        executed: &'a ExecutedFrame,
        profile: &'a Arc<DeviceProfile>,
    ) -> crate::Result<Runnable<'a>> {
        let frame = executed.frame();
        frame.check_on(profile).map_err(PlanError::from)?;
        if !executed.is_as_described() {
            executed.check()?;
            if let Some((pass, ..)) = executed.origins().stores().next() {
                let (frame, pass) = (frame.name().to_owned(), frame.pass(pass).name.clone());
                return Err(PlanError::HasStores { frame, pass }.into());
            }
        }
        Ok(Runnable { executed, profile })
    }

    /// The executed frame, paired with the described one.
    pub(crate) fn executed(self) -> &'a ExecutedFrame {
        self.executed
    }

    pub(crate) fn profile(self) -> &'a Arc<DeviceProfile> {
        self.profile
    }
}
