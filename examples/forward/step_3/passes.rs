//! The contents of the passes of a bound frame, in any arrangement.

use ash::vk;
use tileheap::execute::{ExecutedFrame, Strip};
use tileheap::frame::PassId;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage};
use tileheap::runtime::{BoundFrame, FrameRecorder, Parity, PassCommands};

use super::frame::Forward;
use crate::drawing::{Drawing, Inputs};
use crate::resources::Resources;
use crate::support::arrangement::{self, Run, runs};
use crate::support::error::Result;
use crate::support::picture::Rendered;

pub(crate) struct Passes {
    device: ash::Device,
    pub(crate) resources: Resources,
    forward: Forward,
    arranged: ExecutedFrame,
    /// The runs of described passes, in order of execution.
    runs: Vec<Run>,
    drawing: Drawing,
}

impl Passes {
    pub(crate) fn new(
        device: &ash::Device,
        resources: Resources,
        forward: Forward,
        arranged: ExecutedFrame,
        bound: &BoundFrame,
    ) -> Result<Passes> {
        let runs = runs(&arranged, |pass| Strip::whole(forward.frame.pass(pass).area)).collect();
        let input = |pass, described| {
            let image = bound.access(pass, arranged.resource_in(pass, described), Parity::Even);
            (image.view, image.layout)
        };
        let first = |described| {
            arranged
                .executed_passes(described)
                .next()
                .expect("every described pass runs")
        };
        let seen = first(forward.forward);
        let inputs = |tone_map| Inputs {
            sun: input(seen, forward.sun),
            lamp: input(seen, forward.lamp),
            hdr: input(tone_map, forward.hdr),
        };
        // In strips, each part of the picture has its own `hdr`.
        let inputs: Vec<Inputs> = arranged.executed_passes(forward.tone_map).map(inputs).collect();
        let target = |described| {
            let pass = first(described);
            let subpass = arranged.subpass_in(pass, described);
            bound.target_in(pass, subpass.expect("the pass runs it"))
        };
        let [depth, shadow, _] = forward.depths;
        let targets = [depth, shadow, forward.forward, forward.tone_map].map(target);
        let drawing = Drawing::new(device, &resources, &inputs, targets)?;
        Ok(Passes {
            device: device.clone(),
            resources,
            forward,
            arranged,
            runs,
            drawing,
        })
    }

    /// The image and the buffer that a frame imports.
    pub(crate) fn imported(&self) -> (ImportedImage, ImportedBuffer) {
        let (picture, read_back) = (self.forward.picture, self.forward.read_back);
        self.resources.canvas.imported(picture, read_back)
    }

    /// Records the frame's command buffers.
    pub(crate) fn record(&self, recorder: &FrameRecorder<'_>) -> Result<()> {
        let mut buffers = self.resources.commands.iter().copied();
        let buffer = |_| buffers.next().expect("as many as are declared");
        let draw = |cmd: &PassCommands<'_>, run: &Run| self.draw(cmd.command_buffer(), run);
        // SAFETY: their pool was reset, and they are used again only after this frame.
        unsafe { arrangement::record(recorder, &self.arranged, &self.runs, buffer, draw) }
    }

    /// Records the draws of a described pass, in its strip.
    fn draw(&self, commands: vk::CommandBuffer, run: &Run) {
        let (forward, drawing, strip) = (&self.forward, &self.drawing, run.strip);
        let whole = forward.frame.pass(run.described).area.extent;
        let area = (strip.viewport(whole), strip.scissor());
        let is = |pass: &PassId| *pass == run.described;
        if let Some(view) = forward.depths.iter().position(is) {
            drawing.depth(commands, area, view as u32);
        } else if is(&forward.forward) {
            drawing.forward(commands, area);
        } else if is(&forward.tone_map) {
            let hdr = self.arranged.resource_in(run.pass, forward.hdr);
            let first = self.arranged.first_texel(hdr);
            let further = [strip.origin.x - first.x, strip.origin.y - first.y];
            drawing.tone_map(commands, area, strip.number as usize, further);
        } else {
            // SAFETY: the pass is being recorded.
            unsafe { self.resources.canvas.read_back(&self.device, commands) };
        }
    }

    /// Returns the picture; every frame must be complete.
    pub(crate) fn finish(mut self) -> Rendered {
        let rendered = self.resources.canvas.rendered();
        // SAFETY: no frame is in flight.
        unsafe {
            self.drawing.destroy();
            self.resources.destroy();
        }
        rendered
    }
}
