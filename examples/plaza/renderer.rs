//! The renderer: pipelines, descriptor sets of every bound frame, and the recording of frames.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::{FrameBuilder, PassId};
use tileheap::lower::Parity;
use tileheap::plan::{Plan, PlanOptions};
use tileheap::runtime::{BoundFrame, Device, DynamicFrame, FrameNumber, Imports, PassCommands};

use crate::frame::{DrawArguments, Plaza, Program, describe, program};
use crate::support::FRAMES_IN_FLIGHT;
use crate::support::commands::{command_buffers, set_viewport};
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::{Called, Result};
use crate::support::picture::{Canvas, Rendered};
use crate::support::pipeline::{Drawing, PipelineTarget, create_sampler};
use crate::support::shaders::push_constant_range;

/// Renders frames of any size, with two in flight.
pub(crate) struct Renderer {
    tile: Device,
    builder: FrameBuilder,
    plaza: Plaza,
    frames: DynamicFrame,
    plan: Arc<Checked<Plan>>,
    pipelines: Pipelines,
    /// Descriptor sets, by the number of the bound frame.
    sets: HashMap<u64, Sets>,
    slots: [Slot; FRAMES_IN_FLIGHT],
    /// Frames submitted so far: the number of the next one, which the scene depends on.
    submitted: u32,
}

impl Renderer {
    /// Creates a renderer whose first frame has this extent.
    pub(crate) fn new(tile: &Device, extent: vk::Extent2D) -> Result<Renderer> {
        let mut builder = FrameBuilder::default();
        let plaza = describe(&mut builder, extent);
        let mut frames = tile.dynamic_frame(PlanOptions::default())?;
        let bound = frames.select(&builder)?;
        let family = bound.queue(plaza.graphics).family;
        Ok(Renderer {
            plan: bound.plan().clone(),
            pipelines: Pipelines::new(tile.raw(), &bound)?,
            sets: HashMap::new(),
            slots: [Slot::new(tile, family, extent)?, Slot::new(tile, family, extent)?],
            submitted: 0,
            tile: tile.clone(),
            builder,
            plaza,
            frames,
        })
    }

    /// The plan of the first frame.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Submits the next frame. Returns the picture of the frame that used its slot before, which is complete now.
    pub(crate) fn draw(&mut self, extent: vk::Extent2D, with_halos: bool) -> Result<Option<Rendered>> {
        let slot = self.next_slot();
        let picture = self.take_picture(slot)?;
        let slot = &mut self.slots[slot];
        slot.begin(&self.tile, extent)?;
        if self.builder.base_extent() != extent {
            self.plaza = describe(&mut self.builder, extent);
        }
        let (plaza, pipelines) = (&self.plaza, &self.pipelines);
        let bound = self.frames.select(&self.builder)?;
        let sets = match self.sets.entry(bound.number()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Sets::write(self.tile.raw(), &pipelines.set_layout, &bound)?),
        };
        let (image, buffer) = slot.canvas.imported(plaza.picture, plaza.read_back);
        let imports = Imports {
            images: &[image],
            buffers: &[buffer],
            ..Imports::default()
        };
        // SAFETY: the canvas is as declared, its last frame is complete, and it outlives this one.
        let recorder = unsafe { bound.begin(&imports) }?;
        let frame = recorder.bound().plan().described();
        let sets = &sets.by_parity[recorder.parity().index()];
        let words = [extent.width, extent.height, self.submitted];
        for (buffer, declared) in slot.buffers.into_iter().zip(plaza.command_buffers) {
            // SAFETY: the slot's pool was reset, and its buffers are used again only after this frame is complete.
            let mut commands = unsafe { recorder.record(buffer, declared) }?;
            let is_in = |pass: &PassId| frame.pass(*pass).command_buffer == declared;
            for pass in frame.pass_ids().filter(is_in) {
                if pass == plaza.halos && !with_halos {
                    commands.skip(pass)?;
                    continue;
                }
                commands.pass(pass, |cmd| match program(&frame.pass(pass).name) {
                    Some((_, _, draws)) => pipelines.draw(cmd, pass, sets[pass.index()], words, draws),
                    // SAFETY: a transfer pass is being recorded.
                    None => unsafe { slot.canvas.read_back(cmd.device(), cmd.command_buffer()) },
                })?;
            }
            commands.finish()?;
        }
        // SAFETY: only this thread uses the queue.
        slot.pending = Some(unsafe { recorder.submit() }?);
        self.submitted += 1;
        Ok(picture)
    }

    /// The pictures of the frames that are still in flight, in order. Destroys the renderer.
    pub(crate) fn finish(mut self) -> Result<Vec<Rendered>> {
        let first = self.next_slot();
        let mut pictures = Vec::new();
        for slot in (first..first + FRAMES_IN_FLIGHT).map(|slot| slot % FRAMES_IN_FLIGHT) {
            pictures.extend(self.take_picture(slot)?);
        }
        let device = self.tile.raw();
        // SAFETY: every frame is complete; a pool frees its sets or command buffers.
        unsafe {
            for slot in &self.slots {
                device.destroy_command_pool(slot.pool, None);
                slot.canvas.destroy(device);
            }
            for sets in self.sets.values() {
                device.destroy_descriptor_pool(sets.pool, None);
            }
            self.pipelines.destroy(device);
        }
        Ok(pictures)
    }

    fn next_slot(&self) -> usize {
        self.submitted as usize % FRAMES_IN_FLIGHT
    }

    /// Waits for the frame that uses a slot, if any, and returns its picture.
    fn take_picture(&mut self, slot: usize) -> Result<Option<Rendered>> {
        let slot = &mut self.slots[slot];
        let Some(frame) = slot.pending.take() else {
            return Ok(None);
        };
        self.frames.wait(frame, u64::MAX)?;
        Ok(Some(slot.canvas.rendered()))
    }
}

/// Command buffers and output of a frame in flight.
struct Slot {
    pool: vk::CommandPool,
    buffers: [vk::CommandBuffer; 2],
    canvas: Canvas,
    pending: Option<FrameNumber>,
}

impl Slot {
    fn new(tile: &Device, family: u32, extent: vk::Extent2D) -> Result<Slot> {
        let (pool, buffers) = command_buffers(tile.raw(), family)?;
        Ok(Slot {
            pool,
            buffers,
            canvas: Canvas::new(tile, extent)?,
            pending: None,
        })
    }

    /// Resets the command buffers, and replaces the canvas if the extent changes. The slot's last frame must be complete.
    fn begin(&mut self, tile: &Device, extent: vk::Extent2D) -> Result<()> {
        let device = tile.raw();
        // SAFETY: the last frame is complete.
        unsafe { device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .called("vkResetCommandPool")?;
        if self.canvas.extent != extent {
            let canvas = std::mem::replace(&mut self.canvas, Canvas::new(tile, extent)?);
            // SAFETY: the last frame is complete.
            unsafe { canvas.destroy(device) };
        }
        Ok(())
    }
}

/// Set 0 of every pass of a bound frame, for both parities: the copies of a history alternate.
struct Sets {
    pool: vk::DescriptorPool,
    /// Descriptor sets, by parity, then by pass.
    by_parity: [Vec<vk::DescriptorSet>; 2],
}

impl Sets {
    /// Writes the sets of all passes: binding n is the n-th image that the pass samples.
    fn write(device: &ash::Device, layout: &SetLayout, bound: &BoundFrame) -> Result<Sets> {
        let frame = bound.plan().described();
        let count = Parity::BOTH.len() * frame.passes().len();
        let pool = create_pool(device, count, &layout.pool_sizes(count))?;
        let mut by_parity = [Vec::new(), Vec::new()];
        for parity in Parity::BOTH {
            for pass in frame.pass_ids() {
                let set = layout.allocate(device, pool)?;
                let accesses = frame.accesses_of(pass).iter().enumerate();
                let sampled = accesses.filter(|(_, access)| access.kind.is_shader());
                for (binding, (n, _)) in (0..).zip(sampled) {
                    let image = bound.access(pass, n, parity);
                    layout.write_image(device, set, binding, image.view, image.layout);
                }
                by_parity[parity.index()].push(set);
            }
        }
        Ok(Sets { pool, by_parity })
    }
}

/// Pipelines of all passes. They depend only on formats, so a resize keeps them.
struct Pipelines {
    set_layout: SetLayout,
    sampler: vk::Sampler,
    layout: vk::PipelineLayout,
    push_constants: vk::PushConstantRange,
    /// The pipeline of each pass; null for the copy.
    by_pass: Vec<vk::Pipeline>,
}

impl Pipelines {
    fn new(device: &ash::Device, bound: &BoundFrame) -> Result<Pipelines> {
        let plan = bound.plan();
        let frame = plan.described();
        let programs: Vec<_> = frame.passes().iter().map(|pass| program(&pass.name)).collect();
        let shaders: Vec<_> = programs
            .iter()
            .flatten()
            .flat_map(|&(vertex, fragment, _)| [vertex].into_iter().chain(fragment))
            .collect();
        let sampler = create_sampler(device, vk::Filter::LINEAR, vk::SamplerMipmapMode::NEAREST)?;
        let set_layout = SetLayout::new(device, &shaders, 0, &[sampler])?;
        let layout = create_pipeline_layout(device, &[set_layout.handle], &shaders)?;
        let mut by_pass = Vec::new();
        for (pass, program) in frame.pass_ids().zip(programs) {
            by_pass.push(match program {
                Some(program) => {
                    let target = bound.target(pass);
                    create_pipeline(device, layout, target, &frame.pass(pass).name, program)?
                }
                None => vk::Pipeline::null(),
            });
        }
        Ok(Pipelines {
            set_layout,
            sampler,
            layout,
            push_constants: push_constant_range(&shaders).expect("shaders declare the frame's number"),
            by_pass,
        })
    }

    /// Records the draws of a pass, over all of its render area.
    fn draw(
        &self,
        cmd: &PassCommands<'_>,
        pass: PassId,
        set: vk::DescriptorSet,
        words: [u32; 3],
        draws: &[DrawArguments],
    ) {
        let (device, commands) = (cmd.device(), cmd.command_buffer());
        let (point, stages) = (vk::PipelineBindPoint::GRAPHICS, self.push_constants.stage_flags);
        set_viewport(device, commands, (cmd.viewport(), cmd.area()));
        // SAFETY: the pass is being recorded; pipeline, set and push constants have the same layout.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.by_pass[pass.index()]);
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]);
            device.cmd_push_constants(commands, self.layout, stages, 0, bytemuck::bytes_of(&words));
            for &[vertices, instances, first_vertex, first_instance] in draws {
                device.cmd_draw(commands, vertices, instances, first_vertex, first_instance);
            }
        }
    }

    /// # Safety
    /// No command buffer that uses the pipelines is pending.
    unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; null is ignored.
        unsafe {
            for &pipeline in &self.by_pass {
                device.destroy_pipeline(pipeline, None);
            }
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout.handle, None);
            device.destroy_sampler(self.sampler, None);
        }
    }
}

fn create_pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    target: &PipelineTarget,
    pass: &str,
    (vertex, fragment, _): Program,
) -> Result<vk::Pipeline> {
    let additive = vk::PipelineColorBlendAttachmentState::default()
        .src_color_blend_factor(vk::BlendFactor::ONE)
        .dst_color_blend_factor(vk::BlendFactor::ONE)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE);
    let culls = match pass {
        "gbuffer" => vk::CullModeFlags::BACK,
        _ => vk::CullModeFlags::NONE,
    };
    let drawing = Drawing {
        culls,
        writes_depth: matches!(pass, "shadow" | "gbuffer"),
        blend: (pass == "halos").then_some(additive),
        ..Drawing::new(layout, target, vertex, fragment)
    };
    drawing.create(device)
}
