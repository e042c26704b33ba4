//! What a window shows, and a stand-in for windows where the feature `window` is off.

use ash::vk;
use egui::{Event, Key};
use tileheap::frame::ResourceId;
use tileheap::runtime::Imports;

use super::error::Result;
use super::output::{Output, Semaphores};

/// What follows for the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Close,
}

/// A picture that an overlay is drawn over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    /// In pixels.
    pub extent: vk::Extent2D,
    /// Pixels to a point, at least 1.
    pub scale: f32,
}

impl Screen {
    /// A point for each pixel.
    pub fn plain(extent: vk::Extent2D) -> Screen {
        Screen { extent, scale: 1.0 }
    }

    /// With as many pixels to a point as a window system says; no fewer than one, or text could not be read.
    pub fn scaled(extent: vk::Extent2D, scale: f64) -> Screen {
        Screen {
            extent,
            scale: (scale as f32).max(1.0),
        }
    }

    /// Its sides in points.
    pub fn points(self) -> [f32; 2] {
        [self.extent.width, self.extent.height].map(|pixels| pixels as f32 / self.scale)
    }
}

/// What draws frames for a window.
pub trait Painter {
    /// Another size, scale or format of the picture; no frame is under way.
    fn resize(&mut self, screen: Screen, output: Output) -> Result<()>;

    /// A key was pressed.
    fn key(&mut self, key: Key) -> Result<Flow>;

    /// The pointer or its button moved, and the next frame is to show what follows.
    fn point(&mut self, event: Event);

    /// Waits until the next frame has a slot: which one.
    fn next_slot(&mut self) -> Result<usize>;

    /// The picture and the semaphores that its frame declares.
    fn declared(&self) -> (ResourceId, Semaphores);

    /// Draws a frame into what is handed in.
    ///
    /// # Safety
    /// What is handed in is in its declared entry state, and lives until the frame is complete.
    unsafe fn draw(&mut self, imports: &Imports<'_>) -> Result<()>;

    /// The queue that frames run on.
    fn queue(&self) -> vk::Queue;

    /// Waits until no frame is under way.
    fn wait_idle(&mut self) -> Result<()>;

    /// Waits, and destroys everything.
    fn destroy(self) -> Result<()>;
}

/// A window, and how long it is shown.
#[derive(Clone, Copy, Debug)]
pub struct WindowDesc {
    pub title: &'static str,
    /// In points: pixels, unless the screen wants more of them to a point.
    pub size: vk::Extent2D,
    /// How many frames; until it is closed without.
    pub frames: Option<u32>,
    /// Asks for another size after so many frames.
    pub resize_after: Option<u32>,
}
