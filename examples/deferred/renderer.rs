//! The renderer: describe, plan and bind when the size changes; record and submit every frame.

use std::sync::Arc;

use ash::vk;
use tileheap::frame::ResourceId;
use tileheap::plan::{Plan, PlanOptions};
use tileheap::runtime::{Bound, Device, Imports};

use crate::descriptors::{Inputs, create_pool};
use crate::frame::{Deferred, TILE, describe};
use crate::mesh::Meshes;
use crate::pen::Pen;
use crate::pipelines::Pipelines;
use crate::scene::{Draw, Scene};
use crate::slot::Slot;
use crate::support::SLOTS;
use crate::support::fault::Result;
use crate::support::memory::HostBuffer;
use crate::support::output::{Output, Semaphores};
use crate::support::window::Painter;

pub(crate) struct Renderer {
    tile: Device,
    options: PlanOptions,
    scene: Scene,
    draws: Vec<Draw>,
    meshes: Meshes,
    vertices: HostBuffer,
    indices: HostBuffer,
    pipelines: Pipelines,
    sized: SizeDependent,
    slot_pool: vk::DescriptorPool,
    slots: [Slot; SLOTS],
    /// Frames drawn so far: what moves follows from it, and from nothing else.
    frame_index: u32,
}

/// What follows from the size of the picture.
struct SizeDependent {
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
            sized: SizeDependent {
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
            SizeDependent {
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
    ///
    /// # Safety
    /// What is handed in is in its declared entry state, and lives until the frame is complete.
    pub(crate) unsafe fn draw(&mut self, imports: &Imports<'_>) -> Result<()> {
        let index = self.next_slot()?;
        let SizeDependent {
            deferred,
            extent,
            bound,
            inputs,
        } = &mut self.sized;
        let slot = &mut self.slots[index];
        slot.begin(self.tile.raw(), &self.scene, self.frame_index, *extent)?;

        // SAFETY: the caller's duty.
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

impl Painter for Renderer {
    fn resize(&mut self, extent: vk::Extent2D, output: Output) -> Result<()> {
        Renderer::resize(self, extent, output)
    }

    fn next_slot(&mut self) -> Result<usize> {
        Renderer::next_slot(self)
    }

    fn declared(&self) -> (ResourceId, Semaphores) {
        let deferred = &self.sized.deferred;
        let semaphores = deferred.semaphores.expect("the frame was described with them");
        (deferred.picture, semaphores)
    }

    unsafe fn draw(&mut self, imports: &Imports<'_>) -> Result<()> {
        // SAFETY: the caller's duty.
        unsafe { Renderer::draw(self, imports) }
    }

    fn queue(&self) -> vk::Queue {
        self.sized.bound.queue(self.sized.deferred.graphics).handle
    }

    fn wait_idle(&mut self) -> Result<()> {
        Renderer::wait_idle(self)
    }

    fn destroy(self) -> Result<()> {
        Renderer::destroy(self)
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
