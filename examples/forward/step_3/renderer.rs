//! A renderer on a planned frame, as described or in another arrangement.

use ash::vk;
use tileheap::arrange::Arrangement;
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, Imports};

use super::frame::describe;
use super::gpu::Gpu;
use super::passes::Passes;
use crate::resources::Resources;
use crate::support::error::Result;
use crate::support::picture::Rendered;

/// Renders `frames` frames, one after the other; returns the last one's picture.
pub(crate) fn render(
    extent: vk::Extent2D,
    frames: u32,
    options: PlanOptions,
    arrangement: Option<&Arrangement>,
) -> Result<Rendered> {
    let mut renderer = Renderer::new(extent, options, arrangement)?;
    (0..frames).try_for_each(|frame| renderer.draw(frame))?;
    Ok(renderer.finish())
}

struct Renderer {
    gpu: Gpu,
    bound: BoundFrame,
    passes: Passes,
}

impl Renderer {
    fn new(
        extent: vk::Extent2D,
        options: PlanOptions,
        arrangement: Option<&Arrangement>,
    ) -> Result<Renderer> {
        let gpu = Gpu::new()?;
        let forward = describe(extent)?;
        let described = Arrangement::described(&forward.frame);
        let arranged = arrangement.unwrap_or(&described).apply(&forward.frame)?;
        let plan = gpu.tile.plan(&arranged, &options)?;
        println!("{plan}");
        let bound = gpu.tile.bind(&plan)?;
        let resources = Resources::new(&gpu.device, gpu.memory(), gpu.machine.family, extent)?;
        let passes = Passes::new(&gpu.device, resources, forward, arranged, &bound)?;
        Ok(Renderer { gpu, bound, passes })
    }

    /// Draws a frame and waits for it.
    fn draw(&mut self, frame: u32) -> Result<()> {
        self.passes.resources.begin(frame)?;
        let (image, buffer) = self.passes.imported();
        let imports = Imports {
            images: &[image],
            buffers: &[buffer],
            ..Imports::default()
        };
        // SAFETY: picture and buffer are as declared, and outlive the frame.
        let recorder = unsafe { self.bound.begin(&imports) }?;
        self.passes.record(&recorder)?;
        // SAFETY: only this thread uses the queue.
        let number = unsafe { recorder.submit() }?;
        self.bound.wait(number, u64::MAX)?;
        Ok(())
    }

    /// Returns the picture; every frame must be complete.
    fn finish(self) -> Rendered {
        let rendered = self.passes.finish();
        // SAFETY: no frame is in flight; objects are destroyed before the objects that they use.
        unsafe {
            self.bound.destroy();
            self.gpu.destroy();
        }
        rendered
    }
}
