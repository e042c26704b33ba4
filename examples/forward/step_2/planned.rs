//! Plans the frame.

use std::sync::Arc;

use ash::vk;
use tileheap::Checked;
use tileheap::plan::{Plan, PlanOptions};

use super::frame::describe;
use super::gpu::Gpu;
use crate::support::error::Result;

/// The plan of the frame on this device.
pub(crate) fn planned(extent: vk::Extent2D) -> Result<Arc<Checked<Plan>>> {
    let gpu = Gpu::new()?;
    let plan = gpu.tile.plan(&describe(extent)?.frame, &PlanOptions::default())?;
    // SAFETY: nothing was created from the device.
    unsafe { gpu.destroy() };
    Ok(plan)
}
