//! The contents of passes: pipelines, descriptor sets, draws and dispatches. What surrounds them is the plan's.

use ash::vk;
use tileheap::frame::{PassId, ResourceId};
use tileheap::runtime::{Parity, PassCommands};

use crate::descriptors::Inputs;
use crate::mesh::Meshes;
use crate::pipelines::Pipelines;
use crate::scene::Draw;
use crate::support::commands::set_whole_viewport;
use crate::support::picture::copy_to_buffer;

/// Records into a pass of one frame.
pub(crate) struct PassRecorder<'a> {
    pub(crate) device: &'a ash::Device,
    pub(crate) pipelines: &'a Pipelines,
    pub(crate) inputs: &'a Inputs,
    pub(crate) parity: Parity,
    pub(crate) shared: vk::DescriptorSet,
    pub(crate) vertices: vk::Buffer,
    pub(crate) indices: vk::Buffer,
    pub(crate) meshes: &'a Meshes,
    pub(crate) draws: &'a [Draw],
}

impl PassRecorder<'_> {
    /// Every object, one instanced draw per shape.
    pub(crate) fn draw_objects(&self, cmd: &PassCommands<'_>, pass: PassId) {
        self.bind_render(cmd, pass);
        let buffer = cmd.command_buffer();
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

    pub(crate) fn draw_screen(&self, cmd: &PassCommands<'_>, pass: PassId) {
        self.bind_render(cmd, pass);
        // SAFETY: the pass is being recorded, with all that its pipeline needs.
        unsafe { self.device.cmd_draw(cmd.command_buffer(), 3, 1, 0, 0) };
    }

    pub(crate) fn draw_halos(&self, cmd: &PassCommands<'_>, pass: PassId, lights: u32) {
        self.bind_render(cmd, pass);
        // SAFETY: the pass is being recorded, with all that its pipeline needs.
        unsafe { self.device.cmd_draw(cmd.command_buffer(), 6, lights, 0, 0) };
    }

    pub(crate) fn dispatch(&self, cmd: &PassCommands<'_>, pass: PassId, groups: [u32; 2]) {
        self.bind(cmd, pass, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: the pass is being recorded, with all that its pipeline needs.
        unsafe {
            self.device
                .cmd_dispatch(cmd.command_buffer(), groups[0], groups[1], 1)
        };
    }

    fn bind_render(&self, cmd: &PassCommands<'_>, pass: PassId) {
        self.bind(cmd, pass, vk::PipelineBindPoint::GRAPHICS);
        set_whole_viewport(self.device, cmd.command_buffer(), cmd.area().extent);
    }

    fn bind(&self, cmd: &PassCommands<'_>, pass: PassId, point: vk::PipelineBindPoint) {
        let pipeline = self.pipelines.of(pass);
        let sets = [self.shared, self.inputs.of(pass, self.parity)];
        // SAFETY: the pass is being recorded; pipeline and sets have the same layouts.
        unsafe {
            self.device
                .cmd_bind_pipeline(cmd.command_buffer(), point, pipeline.handle);
            self.device
                .cmd_bind_descriptor_sets(cmd.command_buffer(), point, pipeline.layout, 0, &sets, &[]);
        }
    }

    pub(crate) fn copy(
        &self,
        cmd: &PassCommands<'_>,
        from: ResourceId,
        to: ResourceId,
        extent: vk::Extent2D,
    ) {
        let (image, texels) = (cmd.image(from).handle, cmd.buffer(to).handle);
        // SAFETY: the pass is being recorded; the buffer was declared large enough for the image.
        unsafe { copy_to_buffer(self.device, cmd.command_buffer(), (image, extent), texels) };
    }
}
