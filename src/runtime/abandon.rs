//! Lost devices: detecting the loss, and destroying bound frames without waiting for the device.
//!
//! | on a device that is known to be lost | |
//! |---|---|
//! | [`BoundFrame::begin`], [`wait`](BoundFrame::wait), [`completed`](BoundFrame::completed), [`FrameRecorder::submit`], [`Device::collect`], [`Device::trim`] | return the error at once, naming the call that first reported the loss, without calling the driver; frames already known to be complete still count as complete |
//! | [`BoundFrame::retire`], drop | as usual: never wait; [`Device::destroy`] destroys the rest |
//! | [`BoundFrame::abandon`], [`DynamicFrame::abandon`] | destroy at once |
//!
//! Source: Vulkan specification, "Lost Device". Child objects of a lost device are not destroyed implicitly, and must be destroyed before the device.
//! `VK_ERROR_DEVICE_LOST` from a command is equivalent to `VK_SUCCESS` for the purpose of determining what is in use: returned by a wait, it means
//! that nothing is in use any more; returned by a submission, that its command buffers are in use. The program therefore has to wait once more after
//! the loss: with `vkDeviceWaitIdle`, which must return in finite time.

use std::sync::Arc;

use ash::vk;

use super::bound_frame::BoundFrame;
use super::device::Device;
use super::dynamic_frame::DynamicFrame;
use super::error::RuntimeError;
#[cfg(doc)]
use super::frame_recorder::FrameRecorder;

impl Device {
    /// Returns `true` if a call on the device has returned `VK_ERROR_DEVICE_LOST`: a call that this crate made, or one that the program
    /// [reported](Device::report_device_lost). Once true, the result stays true.
    ///
    /// ```no_run
    /// # use tileheap::runtime::*;
    /// # fn f(tile: Device, bound: BoundFrame, recorder: FrameRecorder<'_>) -> tileheap::Result<()> {
    /// // SAFETY: no other thread uses the queues at the same time.
    /// match unsafe { recorder.submit() } {
    ///     Err(error) if error.is_device_lost() => {
    ///         let locked = tile.lock_queues(); // other threads may submit uploads
    ///         // SAFETY: the queues are locked.
    ///         let _ = unsafe { tile.raw().device_wait_idle() }; // returns in finite time, with this error
    ///         drop(locked);
    ///         // SAFETY: the device is lost, and the wait has returned.
    ///         unsafe { bound.abandon() };
    ///         // … abandon all other bound frames, and destroy the program's own objects …
    ///         // SAFETY: the wait has returned, and everything bound is abandoned.
    ///         unsafe { tile.destroy() };
    ///         // … destroy the device and create another …
    ///     }
    ///     other => {
    ///         other?;
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn is_device_lost(&self) -> bool {
        self.state().lost.get().is_some()
    }

    /// Tells the runtime that one of the program's own calls (`vkQueuePresentKHR`, for example) has returned `VK_ERROR_DEVICE_LOST`. Later errors
    /// name that call.
    pub fn report_device_lost(&self, call: &'static str) {
        let (result, what) = (vk::Result::ERROR_DEVICE_LOST, String::new());
        self.state()
            .note_loss(&RuntimeError::Vulkan { call, result, what });
    }
}

impl BoundFrame {
    /// Immediately destroys everything that no other bound frame has borrowed, including unused objects in the pool, regardless of which frame used
    /// them last. For lost devices: waits neither on the host nor on the device.
    ///
    /// # Safety
    /// - The device is lost: a call has returned `VK_ERROR_DEVICE_LOST`.
    /// - Since then, `vkDeviceWaitIdle` has returned (with any result), and nothing was submitted after that.
    ///
    /// Source: Vulkan specification, "Lost Device": `vkDeviceWaitIdle` returns in finite time even on a lost device, and for the purpose of
    /// determining what is in use by the device, `VK_ERROR_DEVICE_LOST` is equivalent to `VK_SUCCESS`.
    pub unsafe fn abandon(mut self) {
        let Some(mut owned) = self.owned.take() else {
            return;
        };
        // SAFETY: the caller's duty. Returns what was borrowed.
        unsafe { owned.destroy() };
        if let Some(series) = Arc::get_mut(&mut self.series) {
            // SAFETY: the caller's duty; no other bound frame belongs to it.
            unsafe { series.abandon() };
        }
    }
}

impl DynamicFrame {
    /// Like [`BoundFrame::abandon`], for all descriptions.
    ///
    /// # Safety
    /// As for [`BoundFrame::abandon`].
    pub unsafe fn abandon(mut self) {
        for bound in self.take_bound() {
            // SAFETY: the caller's duty.
            unsafe { bound.abandon() };
        }
        if let Some(series) = Arc::get_mut(&mut self.series) {
            // SAFETY: the caller's duty; its bound frames are gone.
            unsafe { series.abandon() };
        }
    }
}
