//! Plans the frame and prints the plan; then renders as before.

use ash::vk;
use tileheap::plan::PlanOptions;

use super::frame::describe;
use super::gpu::Gpu;
use super::renderer;
use crate::support::error::Result;
use crate::support::picture::Rendered;

/// Renders so many frames, one after the other; the last one's picture.
pub(crate) fn render(extent: vk::Extent2D, frames: u32) -> Result<Rendered> {
    let gpu = Gpu::new()?;
    let plan = gpu.tile.plan(&describe(extent)?.frame, &PlanOptions::default())?;
    println!("{plan}");
    // SAFETY: nothing was made of the device.
    unsafe { gpu.destroy() };
    renderer::render(extent, frames)
}
