//! The contents of passes: pipelines, descriptor sets, draws and dispatches. Everything else follows from the plan.

use ash::vk;
use tileheap::frame::PassId;
use tileheap::lower::Parity;

use crate::descriptors::Inputs;
use crate::frame::{Deferred, INSET, TILE};
use crate::mesh::Meshes;
use crate::pipelines::{Pipelines, Program};
use crate::scene::Draw;
use crate::support::arrangement::Run;
use crate::support::commands::set_viewport;
use crate::support::output::ReadBack;
use crate::support::picture::copy_to_buffer;

/// Records passes of one frame.
pub(crate) struct PassRecorder<'a> {
    pub(crate) device: &'a ash::Device,
    pub(crate) pipelines: &'a Pipelines,
    pub(crate) inputs: &'a Inputs,
    pub(crate) parity: Parity,
    /// Set 0 of each view.
    pub(crate) shared: [vk::DescriptorSet; 2],
    pub(crate) vertices: vk::Buffer,
    pub(crate) indices: vk::Buffer,
    pub(crate) meshes: &'a Meshes,
    pub(crate) draws: &'a [Draw],
    pub(crate) lights: u32,
    pub(crate) deferred: &'a Deferred,
    pub(crate) extent: vk::Extent2D,
}

impl PassRecorder<'_> {
    /// Records a run; `copied` returns the image that is read back, and the buffer that it is copied to.
    pub(crate) fn record(
        &self,
        buffer: vk::CommandBuffer,
        run: &Run,
        copied: impl FnOnce(ReadBack) -> (vk::Image, vk::Buffer),
    ) {
        let (device, program) = (self.device, Program::of(self.deferred, run.described));
        match program {
            Program::Copy => return self.read_back(buffer, run.described, copied),
            Program::Compute(_) | Program::Tiles(_) => self.bind(buffer, run, vk::PipelineBindPoint::COMPUTE),
            Program::Objects(..) | Program::Screen(_) | Program::Halos => {
                self.bind(buffer, run, vk::PipelineBindPoint::GRAPHICS);
                let viewport = run.strip.viewport(self.deferred.whole(run.described));
                set_viewport(device, buffer, (viewport, run.strip.scissor()));
            }
        }
        // SAFETY: the pass is being recorded, with everything that its pipeline needs.
        unsafe {
            match program {
                Program::Objects(..) => self.draw_objects(buffer),
                Program::Screen(_) => device.cmd_draw(buffer, 3, 1, 0, 0),
                Program::Halos => device.cmd_draw(buffer, 6, self.lights, 0, 0),
                Program::Compute(_) => device.cmd_dispatch(buffer, 1, 1, 1),
                Program::Tiles(_) => {
                    let (_, [x, y]) = run.strip.groups([TILE; 2]);
                    device.cmd_dispatch(buffer, x, y, 1);
                }
                Program::Copy => {}
            }
        }
    }

    /// Draws every object, with one instanced draw per shape.
    fn draw_objects(&self, buffer: vk::CommandBuffer) {
        // SAFETY: the pass is being recorded; both buffers outlive the frame.
        unsafe {
            self.device
                .cmd_bind_vertex_buffers(buffer, 0, &[self.vertices], &[0]);
            self.device
                .cmd_bind_index_buffer(buffer, self.indices, 0, vk::IndexType::UINT32);
        }
        for draw in self.draws {
            let indices = &self.meshes.ranges[draw.shape as usize];
            let instances = &draw.instances;
            // SAFETY: indices and instances lie inside their buffers.
            unsafe {
                self.device.cmd_draw_indexed(
                    buffer,
                    indices.len() as u32,
                    instances.len() as u32,
                    indices.start,
                    0,
                    instances.start,
                );
            }
        }
    }

    fn bind(&self, buffer: vk::CommandBuffer, run: &Run, point: vk::PipelineBindPoint) {
        let pipeline = self.pipelines.of(self.deferred, run.described);
        let of_second = self.deferred.frame.pass(run.described).name.ends_with(INSET);
        let sets = [
            self.shared[usize::from(of_second)],
            self.inputs.of(run, self.parity),
        ];
        let layout = pipeline.layout;
        if let Some(range) = pipeline.push_constants {
            let words = self.deferred.push_constants(run);
            // SAFETY: the pass is being recorded; the range is the layout's.
            unsafe {
                self.device.cmd_push_constants(
                    buffer,
                    layout,
                    range.stage_flags,
                    0,
                    bytemuck::cast_slice(&words),
                );
            }
        }
        // SAFETY: the pass is being recorded; pipeline and sets have the same layouts.
        unsafe {
            self.device.cmd_bind_pipeline(buffer, point, pipeline.handle);
            self.device
                .cmd_bind_descriptor_sets(buffer, point, layout, 0, &sets, &[]);
        }
    }

    fn read_back(
        &self,
        buffer: vk::CommandBuffer,
        pass: PassId,
        copied: impl FnOnce(ReadBack) -> (vk::Image, vk::Buffer),
    ) {
        let read_back = self.deferred.parts.read_back;
        let Some(read_back) = read_back.filter(|read_back| read_back.pass == pass) else {
            return;
        };
        let (image, texels) = copied(read_back);
        // SAFETY: the pass is being recorded; the buffer was declared large enough for the image.
        unsafe { copy_to_buffer(self.device, buffer, (image, self.extent), texels) };
    }
}
