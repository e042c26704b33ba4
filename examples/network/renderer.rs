//! The renderer of `examples/forward`, whose frame a network's passes join.

use ash::vk;
use tileheap::frame::tables::Version;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage};
use tileheap::runtime::{BoundFrame, Buffer, Context, FrameRecorder, Parity};

use crate::drawing::{Drawing, Inputs};
use crate::frame::Forward;
use crate::resources::Resources;
use crate::support::error::Result;
use crate::support::picture::{Rendered, copy_to_buffer};

/// Of the picture.
pub(crate) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 320,
    height: 180,
};

/// What records its passes.
pub(crate) struct Renderer {
    frame: Forward,
    resources: Resources,
    drawing: Drawing,
}

impl Renderer {
    pub(crate) fn new(context: &Context, frame: Forward, bound: &BoundFrame) -> Result<Renderer> {
        let (device, family) = (context.device(), context.queues()[0].family);
        let mut resources = Resources::new(device, context.tile().into(), family, EXTENT)?;
        resources.begin(0)?;
        let input = |pass, resource| {
            let image = bound.image_in(pass, resource, Version::Current, Parity::Even);
            (image.view, bound.layout_in(pass, resource, Version::Current))
        };
        let inputs = Inputs {
            sun: input(frame.forward, frame.sun),
            lamp: input(frame.forward, frame.lamp),
            hdr: input(frame.tone_map, frame.hdr),
        };
        let drawing = Drawing::new(device, &resources, &inputs)?;
        Ok(Renderer {
            frame,
            resources,
            drawing,
        })
    }

    /// What a frame is handed in.
    pub(crate) fn imports(&self) -> (ImportedImage, ImportedBuffer) {
        let picture = ImportedImage {
            resource: self.frame.picture,
            image: self.resources.picture.handle,
            view: self.resources.picture.view,
        };
        let buffer = Buffer {
            handle: self.resources.texels.handle,
            size: self.resources.texels.size,
            ..Buffer::default()
        };
        let resource = self.frame.texels;
        (picture, ImportedBuffer { resource, buffer })
    }

    /// Records a frame's command buffers.
    pub(crate) fn record(&self, context: &Context, recorder: &FrameRecorder<'_>) -> Result<()> {
        let (frame, drawing) = (&self.frame, &self.drawing);
        // SAFETY: its pool was reset, and it is used once.
        let mut shadows = unsafe { recorder.record(self.resources.commands[0], frame.commands[0]) }?;
        for (light, pass) in (0..).zip(frame.shadows) {
            shadows.pass(pass, |cmd| drawing.shadow(cmd.command_buffer(), light))?;
        }
        shadows.finish()?;
        // SAFETY: as above.
        let mut seen = unsafe { recorder.record(self.resources.commands[1], frame.commands[1]) }?;
        seen.pass(frame.forward, |cmd| drawing.forward(cmd.command_buffer(), EXTENT))?;
        seen.pass(frame.tone_map, |cmd| {
            drawing.tone_map(cmd.command_buffer(), EXTENT)
        })?;
        seen.pass(frame.read_back, |cmd| {
            let (from, to) = (self.resources.picture.handle, self.resources.texels.handle);
            // SAFETY: the pass is being recorded, and the buffer holds the picture.
            unsafe { copy_to_buffer(context.device(), cmd.command_buffer(), (from, EXTENT), to) };
        })?;
        Ok(seen.finish()?)
    }

    /// The picture; the frame was waited for.
    pub(crate) fn finish(mut self) -> Rendered {
        let rendered = self.resources.rendered();
        // SAFETY: no frame is under way.
        unsafe {
            self.drawing.destroy();
            self.resources.destroy();
        }
        rendered
    }
}
