//! The renderer: describe, plan and bind when the size changes; record and submit every frame.

use std::mem::offset_of;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::{PassId, ResourceId};
use tileheap::plan::{Plan, PlanOptions};
use tileheap::runtime::{Bound, Device, FrameNumber, Imports, Parity, PassCommands};

use crate::camera::Constants;
use crate::descriptors::{Inputs, allocate_set, create_pool, write_buffer};
use crate::fault::{Called, Result};
use crate::frame::{Deferred, Output, TILE, describe};
use crate::memory::HostBuffer;
use crate::mesh::Meshes;
use crate::pipelines::Pipelines;
use crate::scene::{Draw, Instance, Light, MAX_LIGHTS, Scene};

/// How many frames may be under way: one is recorded while the device works on the other.
pub(crate) const SLOTS: usize = 2;

pub(crate) struct Renderer {
    tile: Device,
    options: PlanOptions,
    scene: Scene,
    draws: Vec<Draw>,
    meshes: Meshes,
    vertices: HostBuffer,
    indices: HostBuffer,
    pipelines: Pipelines,
    sized: Sized,
    slot_pool: vk::DescriptorPool,
    slots: [Slot; SLOTS],
    /// Frames drawn so far: what moves follows from it, and from nothing else.
    frame_index: u32,
}

/// What follows from the size of the picture.
struct Sized {
    deferred: Deferred,
    extent: vk::Extent2D,
    bound: Bound,
    inputs: Inputs,
}

impl Renderer {
    pub(crate) fn new(
        tile: &Device,
        scene: Scene,
        extent: vk::Extent2D,
        output: Output,
        options: PlanOptions,
    ) -> Result<Renderer> {
        let device = tile.raw();
        let meshes = Meshes::build();
        let vertices = HostBuffer::holding(tile, &meshes.vertices, vk::BufferUsageFlags::VERTEX_BUFFER)?;
        let indices = HostBuffer::holding(tile, &meshes.indices, vk::BufferUsageFlags::INDEX_BUFFER)?;

        let (deferred, bound) = plan_and_bind(tile, extent, output, &options)?;
        let pipelines = Pipelines::build(device, &deferred, &bound)?;
        let inputs = Inputs::write(device, &deferred, &bound, &pipelines)?;
        let slot_pool = create_pool(
            device,
            SLOTS as u32,
            &[
                (vk::DescriptorType::UNIFORM_BUFFER, SLOTS as u32),
                (vk::DescriptorType::STORAGE_BUFFER, 2 * SLOTS as u32),
                (vk::DescriptorType::SAMPLER, SLOTS as u32),
            ],
        )?;
        let family = bound.queue(deferred.graphics).family;
        let slot = || Slot::new(tile, family, slot_pool, pipelines.shared, scene.object_count());
        let slots = [slot()?, slot()?];
        Ok(Renderer {
            tile: tile.clone(),
            options,
            draws: scene.draws(),
            scene,
            meshes,
            vertices,
            indices,
            pipelines,
            sized: Sized {
                deferred,
                extent,
                bound,
                inputs,
            },
            slot_pool,
            slots,
            frame_index: 0,
        })
    }

    /// Where everything lives.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        self.sized.bound.plan()
    }

    /// The queue that frames run on.
    pub(crate) fn queue(&self) -> vk::Queue {
        self.sized.bound.queue(self.sized.deferred.graphics).handle
    }

    pub(crate) fn deferred(&self) -> &Deferred {
        &self.sized.deferred
    }

    /// Plans anew for another size. Pipelines stay: their viewports are dynamic, their formats the same.
    pub(crate) fn resize(&mut self, extent: vk::Extent2D, output: Output) -> Result<()> {
        self.wait_idle()?;
        let (deferred, bound) = plan_and_bind(&self.tile, extent, output, &self.options)?;
        let inputs = Inputs::write(self.tile.raw(), &deferred, &bound, &self.pipelines)?;
        let old = std::mem::replace(
            &mut self.sized,
            Sized {
                deferred,
                extent,
                bound,
                inputs,
            },
        );
        // SAFETY: every frame was waited for.
        unsafe { old.inputs.destroy(self.tile.raw()) };
        // SAFETY: as above.
        unsafe { old.bound.destroy() };
        Ok(())
    }

    /// Waits until the next frame has a slot: which one.
    pub(crate) fn next_slot(&mut self) -> Result<usize> {
        let index = self.frame_index as usize % SLOTS;
        if let Some(number) = self.slots[index].pending.take() {
            self.sized.bound.wait(number, u64::MAX)?;
        }
        Ok(index)
    }

    /// Waits until no frame is under way.
    pub(crate) fn wait_idle(&mut self) -> Result<()> {
        for slot in &mut self.slots {
            if let Some(number) = slot.pending.take() {
                self.sized.bound.wait(number, u64::MAX)?;
            }
        }
        Ok(())
    }

    /// Draws a frame into what is handed in.
    pub(crate) fn draw(&mut self, imports: &Imports<'_>) -> Result<()> {
        let index = self.next_slot()?;
        let Sized {
            deferred,
            extent,
            bound,
            inputs,
        } = &mut self.sized;
        let slot = &mut self.slots[index];
        slot.begin(self.tile.raw(), &self.scene, self.frame_index, *extent)?;

        // SAFETY: the caller hands in objects that live until the frame is complete.
        let turn = unsafe { bound.begin(imports) }?;
        let pen = Pen {
            device: self.tile.raw(),
            pipelines: &self.pipelines,
            inputs,
            parity: turn.parity(),
            shared: slot.shared,
            vertices: self.vertices.handle,
            indices: self.indices.handle,
            meshes: &self.meshes,
            draws: &self.draws,
        };
        let (passes, commands) = (&deferred.passes, &deferred.commands);

        // SAFETY: the slot's command buffers were reset, and are used again after this frame only.
        let mut geometry = unsafe { turn.record(slot.command_buffers[0], commands.geometry) }?;
        for pass in [passes.shadow, passes.gbuffer] {
            geometry.pass(pass, |cmd| pen.draw_objects(cmd, pass))?;
        }
        geometry.finish()?;

        // SAFETY: as above.
        let mut lighting = unsafe { turn.record(slot.command_buffers[1], commands.lighting) }?;
        let tiles = [extent.width.div_ceil(TILE), extent.height.div_ceil(TILE)];
        lighting.pass(passes.cull, |cmd| pen.dispatch(cmd, passes.cull, tiles))?;
        for pass in [passes.ao, passes.ao_blur, passes.reflection, passes.lighting] {
            lighting.pass(pass, |cmd| pen.draw_screen(cmd, pass))?;
        }
        let lights = self.scene.light_count() as u32;
        lighting.pass(passes.glow, |cmd| pen.draw_halos(cmd, passes.glow, lights))?;
        lighting.finish()?;

        // SAFETY: as above.
        let mut post = unsafe { turn.record(slot.command_buffers[2], commands.post) }?;
        post.pass(passes.temporal, |cmd| pen.draw_screen(cmd, passes.temporal))?;
        post.pass(passes.exposure, |cmd| pen.dispatch(cmd, passes.exposure, [1, 1]))?;
        post.pass(passes.threshold, |cmd| pen.draw_screen(cmd, passes.threshold))?;
        for pass in passes.down.into_iter().chain(passes.up) {
            post.pass(pass, |cmd| pen.draw_screen(cmd, pass))?;
        }
        post.pass(passes.tone_map, |cmd| pen.draw_screen(cmd, passes.tone_map))?;
        if let Some(read_back) = deferred.read_back {
            post.pass(read_back.pass, |cmd| {
                pen.copy(cmd, deferred.picture, read_back.texels, *extent)
            })?;
        }
        post.finish()?;

        // SAFETY: this thread alone uses the queues.
        slot.pending = Some(unsafe { turn.submit() }?);
        self.frame_index += 1;
        Ok(())
    }

    /// Waits, and destroys everything.
    pub(crate) fn destroy(mut self) -> Result<()> {
        self.wait_idle()?;
        let device = self.tile.raw();
        // SAFETY: no frame is under way, and this is the last use of each.
        unsafe {
            self.sized.inputs.destroy(device);
            self.sized.bound.destroy();
            self.pipelines.destroy(device);
            for slot in &self.slots {
                slot.destroy(device);
            }
            device.destroy_descriptor_pool(self.slot_pool, None);
            self.vertices.destroy(device);
            self.indices.destroy(device);
        }
        Ok(())
    }
}

fn plan_and_bind(
    tile: &Device,
    extent: vk::Extent2D,
    output: Output,
    options: &PlanOptions,
) -> Result<(Deferred, Bound)> {
    let deferred = describe(extent, output)?;
    let plan = tile.plan(&deferred.frame, options)?;
    let bound = tile.bind(&plan)?;
    Ok((deferred, bound))
}

/// What a frame under way needs for itself.
struct Slot {
    pool: vk::CommandPool,
    /// For the frame's three command buffers.
    command_buffers: Vec<vk::CommandBuffer>,
    /// [`Constants`], then lights, then instances, as [`SharedLayout`] says.
    data: HostBuffer,
    /// Set 0.
    shared: vk::DescriptorSet,
    /// The frame that uses the slot.
    pending: Option<FrameNumber>,
}

/// The start of a slot's data; instances follow. No device asks for a larger alignment than 256.
#[repr(C, align(256))]
#[derive(Clone, Copy)]
struct SharedLayout {
    constants: Constants,
    padding: [u8; 512 - size_of::<Constants>()],
    lights: [Light; MAX_LIGHTS],
}

impl Slot {
    fn new(
        tile: &Device,
        family: u32,
        descriptors: vk::DescriptorPool,
        layout: vk::DescriptorSetLayout,
        objects: usize,
    ) -> Result<Slot> {
        let device = tile.raw();
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: the family is one that the device was created with.
        let pool = unsafe { device.create_command_pool(&info, None) }.called("vkCreateCommandPool")?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(3);
        // SAFETY: the pool was just created.
        let command_buffers =
            unsafe { device.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers")?;

        let instances = (objects * size_of::<Instance>()) as vk::DeviceSize;
        let size = size_of::<SharedLayout>() as vk::DeviceSize + instances;
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
        let data = HostBuffer::new(tile, size, usage)?;
        let shared = allocate_set(device, descriptors, layout)?;
        let parts = [
            (vk::DescriptorType::UNIFORM_BUFFER, 0, size_of::<Constants>()),
            (
                vk::DescriptorType::STORAGE_BUFFER,
                offset_of!(SharedLayout, lights),
                MAX_LIGHTS * size_of::<Light>(),
            ),
            (
                vk::DescriptorType::STORAGE_BUFFER,
                size_of::<SharedLayout>(),
                instances as usize,
            ),
        ];
        for (index, (kind, offset, range)) in parts.into_iter().enumerate() {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(shared)
                .dst_binding(index as u32)
                .descriptor_type(kind);
            write_buffer(device, write, data.handle, offset as u64, range as u64);
        }
        Ok(Slot {
            pool,
            command_buffers,
            data,
            shared,
            pending: None,
        })
    }

    /// Takes the slot for a frame: resets its command buffers and writes its data.
    fn begin(&mut self, device: &ash::Device, scene: &Scene, frame: u32, extent: vk::Extent2D) -> Result<()> {
        // SAFETY: the frame that used them is complete.
        unsafe { device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .called("vkResetCommandPool")?;
        let (start, instances) = self.data.bytes().split_at_mut(size_of::<SharedLayout>());
        let constants = Constants::of(frame, extent, scene.light_count());
        start[..size_of::<Constants>()].copy_from_slice(bytemuck::bytes_of(&constants));
        let lights = &mut start[offset_of!(SharedLayout, lights)..];
        scene.write(
            frame,
            bytemuck::cast_slice_mut(instances),
            bytemuck::cast_slice_mut(lights),
        );
        Ok(())
    }

    /// # Safety
    /// The slot's frame is complete.
    unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the pool frees its command buffers.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            self.data.destroy(device);
        }
    }
}

/// Records the contents of passes; what surrounds them is the plan's.
struct Pen<'a> {
    device: &'a ash::Device,
    pipelines: &'a Pipelines,
    inputs: &'a Inputs,
    parity: Parity,
    shared: vk::DescriptorSet,
    vertices: vk::Buffer,
    indices: vk::Buffer,
    meshes: &'a Meshes,
    draws: &'a [Draw],
}

impl Pen<'_> {
    /// Every object, one instanced draw per shape.
    fn draw_objects(&self, cmd: &PassCommands<'_>, pass: PassId) {
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

    fn draw_screen(&self, cmd: &PassCommands<'_>, pass: PassId) {
        self.bind_render(cmd, pass);
        // SAFETY: the pass is being recorded, with all that its pipeline needs.
        unsafe { self.device.cmd_draw(cmd.command_buffer(), 3, 1, 0, 0) };
    }

    fn draw_halos(&self, cmd: &PassCommands<'_>, pass: PassId, lights: u32) {
        self.bind_render(cmd, pass);
        // SAFETY: the pass is being recorded, with all that its pipeline needs.
        unsafe { self.device.cmd_draw(cmd.command_buffer(), 6, lights, 0, 0) };
    }

    fn dispatch(&self, cmd: &PassCommands<'_>, pass: PassId, groups: [u32; 2]) {
        self.bind(cmd, pass, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: the pass is being recorded, with all that its pipeline needs.
        unsafe {
            self.device
                .cmd_dispatch(cmd.command_buffer(), groups[0], groups[1], 1)
        };
    }

    fn bind_render(&self, cmd: &PassCommands<'_>, pass: PassId) {
        self.bind(cmd, pass, vk::PipelineBindPoint::GRAPHICS);
        let area = cmd.area();
        let viewport = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: area.extent.width as f32,
            height: area.extent.height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: the pass is being recorded.
        unsafe {
            self.device.cmd_set_viewport(cmd.command_buffer(), 0, &[viewport]);
            self.device.cmd_set_scissor(cmd.command_buffer(), 0, &[area]);
        }
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

    fn copy(&self, cmd: &PassCommands<'_>, from: ResourceId, to: ResourceId, extent: vk::Extent2D) {
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(extent.into());
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        // SAFETY: the pass is being recorded; the buffer was declared large enough for the image.
        unsafe {
            self.device.cmd_copy_image_to_buffer(
                cmd.command_buffer(),
                cmd.image(from).handle,
                layout,
                cmd.buffer(to).handle,
                &[region],
            );
        }
    }
}
