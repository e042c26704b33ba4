//! A renderer on a planned frame.

use ash::vk;
use tileheap::frame::tables::Version;
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage};
use tileheap::runtime::{BoundFrame, Buffer, Imports, Parity};

use super::frame::{Forward, describe};
use super::gpu::Gpu;
use crate::drawing::{Drawing, Inputs};
use crate::resources::Resources;
use crate::support::error::Result;
use crate::support::picture::{Rendered, copy_to_buffer};

/// Renders so many frames, one after the other; the last one's picture.
pub(crate) fn render(extent: vk::Extent2D, frames: u32) -> Result<Rendered> {
    let mut renderer = Renderer::new(extent)?;
    (0..frames).try_for_each(|frame| renderer.draw(frame))?;
    Ok(renderer.finish())
}

struct Renderer {
    gpu: Gpu,
    resources: Resources,
    forward: Forward,
    bound: BoundFrame,
    drawing: Drawing,
}

impl Renderer {
    fn new(extent: vk::Extent2D) -> Result<Renderer> {
        let gpu = Gpu::new()?;
        let forward = describe(extent)?;
        let plan = gpu.tile.plan(&forward.frame, &PlanOptions::default())?;
        println!("{plan}");
        let bound = gpu.tile.bind(&plan)?;

        let resources = Resources::new(&gpu.device, gpu.memory(), gpu.machine.family, extent)?;
        let input = |pass, resource| {
            let image = bound.image_in(pass, resource, Version::Current, Parity::Even);
            (image.view, bound.layout_in(pass, resource, Version::Current))
        };
        let inputs = Inputs {
            sun: input(forward.forward, forward.sun),
            lamp: input(forward.forward, forward.lamp),
            hdr: input(forward.tone_map, forward.hdr),
        };
        let drawing = Drawing::new(&gpu.device, &resources, &inputs)?;
        Ok(Renderer {
            gpu,
            resources,
            forward,
            bound,
            drawing,
        })
    }

    /// Draws a frame, and waits for it.
    fn draw(&mut self, frame: u32) -> Result<()> {
        self.resources.begin(frame)?;
        let (drawing, resources) = (&self.drawing, &self.resources);
        let (forward, extent) = (&self.forward, resources.extent);
        let images = [ImportedImage {
            resource: forward.picture,
            image: resources.picture.handle,
            view: resources.picture.view,
        }];
        let texels = Buffer {
            handle: resources.texels.handle,
            size: resources.texels.size,
            ..Buffer::default()
        };
        let buffers = [ImportedBuffer {
            resource: forward.texels,
            buffer: texels,
        }];
        let imports = Imports {
            images: &images,
            buffers: &buffers,
            ..Imports::default()
        };
        // SAFETY: picture and buffer are as declared, and outlive the frame.
        let recorder = unsafe { self.bound.begin(&imports) }?;

        // SAFETY: its pool was reset, and it is used again after this frame only.
        let mut shadows = unsafe { recorder.record(resources.commands[0], forward.commands[0]) }?;
        for (light, pass) in forward.shadows.into_iter().enumerate() {
            shadows.pass(pass, |cmd| drawing.shadow(cmd.command_buffer(), light as u32))?;
        }
        shadows.finish()?;

        // SAFETY: as above.
        let mut seen = unsafe { recorder.record(resources.commands[1], forward.commands[1]) }?;
        seen.pass(forward.forward, |cmd| {
            drawing.forward(cmd.command_buffer(), extent)
        })?;
        seen.pass(forward.tone_map, |cmd| {
            drawing.tone_map(cmd.command_buffer(), extent)
        })?;
        seen.pass(forward.read_back, |cmd| {
            let (from, to) = (resources.picture.handle, resources.texels.handle);
            // SAFETY: the pass is being recorded, and the buffer holds the picture.
            unsafe { copy_to_buffer(&self.gpu.device, cmd.command_buffer(), (from, extent), to) };
        })?;
        seen.finish()?;

        // SAFETY: this thread alone uses the queue.
        let number = unsafe { recorder.submit() }?;
        self.bound.wait(number, u64::MAX)?;
        Ok(())
    }

    /// The picture; every frame was waited for.
    fn finish(mut self) -> Rendered {
        let rendered = self.resources.rendered();
        // SAFETY: no frame is under way; users go before what they use.
        unsafe {
            self.drawing.destroy();
            self.bound.destroy();
            self.resources.destroy();
            self.gpu.destroy();
        }
        rendered
    }
}
