//! What a window shows, and a stand-in for windows where the feature `window` is off.

use ash::vk;
use tileheap::frame::ResourceId;
use tileheap::runtime::Imports;

use super::error::Result;
use super::input::{Flow, Input, Key};
use super::output::{Output, Semaphores};
use super::sheet::Screen;

/// What draws frames for a window.
pub trait Painter {
    /// Another size, scale or format of the picture; no frame is under way.
    fn resize(&mut self, screen: Screen, output: Output) -> Result<()>;

    /// A person did something, and the next frame is to show what follows.
    fn input(&mut self, input: Input) -> Result<Flow> {
        match input {
            Input::Key(Key::Escape) => Ok(Flow::Close),
            _ => Ok(Flow::Continue),
        }
    }

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
