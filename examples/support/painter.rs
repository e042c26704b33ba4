//! The interface of a program that draws frames in a window, available even if the feature `window` is off.

use ash::vk;
use egui::{Event, Key};
use tileheap::frame::ResourceId;
use tileheap::runtime::Imports;

use super::error::Result;
use super::output::{Output, Semaphores};

/// Tells the window to stay open or to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Close,
}

/// The size and scale of a picture with an overlay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    /// The extent in pixels.
    pub extent: vk::Extent2D,
    /// Pixels per point, at least 1.
    pub scale: f32,
}

impl Screen {
    /// A picture with one pixel per point.
    pub fn plain(extent: vk::Extent2D) -> Screen {
        Screen { extent, scale: 1.0 }
    }

    /// A picture with the window system's number of pixels per point, but at least one, for legible text.
    pub fn scaled(extent: vk::Extent2D, scale: f64) -> Screen {
        Screen {
            extent,
            scale: (scale as f32).max(1.0),
        }
    }

    /// The width and height of the picture, in points.
    pub fn points(self) -> [f32; 2] {
        [self.extent.width, self.extent.height].map(|pixels| pixels as f32 / self.scale)
    }
}

/// Draws frames for a window.
pub trait Painter {
    /// Changes size, scale or format of the picture; no frame is in flight.
    fn resize(&mut self, screen: Screen, output: Output) -> Result<()>;

    /// Handles a key press.
    fn key(&mut self, key: Key) -> Result<Flow>;

    /// Handles a movement or button of the pointer before the next frame.
    fn point(&mut self, event: Event);

    /// Waits until the next frame has a slot, and returns it.
    fn next_slot(&mut self) -> Result<usize>;

    /// The picture and the semaphores that its frame declares.
    fn declared(&self) -> (ResourceId, Semaphores);

    /// Draws a frame with imported objects.
    ///
    /// # Safety
    /// Imported objects are in their declared entry state, and live until the frame is complete.
    unsafe fn draw(&mut self, imports: &Imports<'_>) -> Result<()>;

    /// The queue that frames run on.
    fn queue(&self) -> vk::Queue;

    /// Waits until no frame is in flight.
    fn wait_idle(&mut self) -> Result<()>;

    /// Waits, and destroys everything.
    fn destroy(self) -> Result<()>;
}

/// A window, and the number of frames that it shows.
#[derive(Clone, Copy, Debug)]
pub struct WindowDesc {
    pub title: &'static str,
    /// The size in points, which are pixels unless the screen has more pixels per point.
    pub size: vk::Extent2D,
    /// Number of frames; `None` to run until the window is closed.
    pub frames: Option<u32>,
    /// The number of frames after which another window size is requested, once; `None` for never.
    pub resize_after: Option<u32>,
}
