//! Records, submits and times a workload repeatedly.

use std::slice;

use ash::vk;
use tileheap::arrange::Arrangement;
use tileheap::execute::{ExecutedFrame, Strip};
use tileheap::frame::PassId;
use tileheap::frame::tables::PassKind;
use tileheap::plan::{PlanOptions, PlanTotals};
use tileheap::runtime::{BoundFrame, Device, Imports, Parity, PassCommands};

use crate::support::commands::command_buffers;
use crate::support::descriptors::{SetLayout, create_pipeline_layout, create_pool};
use crate::support::error::{Called, Result, bail};
use crate::support::pipeline::Drawing;
use crate::support::shaders::{CALIBRATE_DRAW_FRAG, CALIBRATE_READ_FRAG, CALIBRATE_VERT, FULLSCREEN_VERT};
use crate::workload::{Program, Workload};

/// A workload, bound as planned.
pub(crate) struct Timed<'a> {
    tile: &'a Device,
    workload: &'a Workload,
    arranged: ExecutedFrame,
    bound: BoundFrame,
    /// The draws of each pass of the executed frame.
    draws: Vec<Vec<Draw>>,
    set_layout: SetLayout,
    layout: vk::PipelineLayout,
    descriptors: vk::DescriptorPool,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    stamps: vk::QueryPool,
    /// Nanoseconds per tick.
    period: f64,
    /// A mask of the valid bits of a timestamp.
    mask: u64,
    bins: Option<u32>,
}

/// The draw, fill or copy of one described pass.
struct Draw {
    program: Program,
    pipeline: vk::Pipeline,
    set: vk::DescriptorSet,
    strip: Strip,
    /// The offset from a pixel to its texel in the image that is read.
    origin: [i32; 2],
}

impl<'a> Timed<'a> {
    pub(crate) fn new(
        tile: &'a Device,
        workload: &'a Workload,
        arrangement: &Arrangement,
        options: &PlanOptions,
    ) -> Result<Timed<'a>> {
        let device = tile.raw();
        let arranged = arrangement.apply(&workload.frame)?;
        let plan = tile.plan(&arranged, options)?;
        let bound = tile.bind(&plan)?;
        let family = tile.queues()[0].family;
        // SAFETY: the physical device is the device's own.
        let properties = unsafe {
            tile.instance()
                .get_physical_device_properties(tile.physical_device())
        };
        // SAFETY: as above.
        let families = unsafe {
            tile.instance()
                .get_physical_device_queue_family_properties(tile.physical_device())
        };
        let bits = families[family as usize].timestamp_valid_bits;
        if bits == 0 {
            bail!("the first queue of this device does not support timestamps");
        }
        let set_layout = SetLayout::new(device, &[&CALIBRATE_READ_FRAG], 0, &[])?;
        let layout = create_pipeline_layout(device, &[set_layout.handle], &[&CALIBRATE_READ_FRAG])?;
        let runs = arranged
            .frame()
            .pass_ids()
            .flat_map(|pass| arranged.described_passes(pass));
        let sets = runs.count();
        let descriptors = create_pool(device, sets, &set_layout.pool_sizes(sets))?;
        let (pool, [commands]) = command_buffers(device, family)?;
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(2);
        // SAFETY: the info is complete.
        let stamps = unsafe { device.create_query_pool(&info, None) }.called("vkCreateQueryPool")?;
        let mut timed = Timed {
            tile,
            workload,
            arranged,
            bound,
            draws: Vec::new(),
            set_layout,
            layout,
            descriptors,
            pool,
            commands,
            stamps,
            period: f64::from(properties.limits.timestamp_period),
            mask: u64::MAX >> (64 - bits),
            bins: None,
        };
        let passes: Vec<PassId> = timed.arranged.frame().pass_ids().collect();
        for pass in passes {
            let described = timed.arranged.described_passes(pass);
            let draws = described.map(|run| timed.draw(pass, run.pass));
            let draws = draws.collect::<Result<_>>()?;
            timed.draws.push(draws);
        }
        Ok(timed)
    }

    /// The totals of the plan.
    pub(crate) fn totals(&self) -> PlanTotals {
        self.bound.plan().totals
    }

    /// The number of bins of the first pass, if the driver reports it.
    pub(crate) fn bins(&self) -> Option<u32> {
        self.bins
    }

    /// The draw of a described pass in the executed pass that contains it.
    fn draw(&self, pass: PassId, described: PassId) -> Result<Draw> {
        let device = self.tile.raw();
        let area = self.workload.frame.pass(described).area;
        let strip = self.arranged.strip(pass);
        let strip = strip.unwrap_or(Strip::whole(area));
        let mut draw = Draw {
            program: self.workload.programs[described.index()],
            pipeline: vk::Pipeline::null(),
            set: vk::DescriptorSet::null(),
            strip,
            origin: [0; 2],
        };
        let (vertex, fragment) = match draw.program {
            Program::Triangles(_) => (&CALIBRATE_VERT, &CALIBRATE_DRAW_FRAG),
            Program::Over => (&FULLSCREEN_VERT, &CALIBRATE_DRAW_FRAG),
            Program::Read { image, .. } => {
                let here = self.arranged.resource_in(pass, image);
                let first = self.arranged.first_texel(here);
                draw.origin = [strip.origin.x - first.x, strip.origin.y - first.y];
                draw.set = self.set_layout.allocate(device, self.descriptors)?;
                let read = self.bound.access(pass, here, Parity::Even);
                self.set_layout
                    .write_image(device, draw.set, 0, read.view, read.layout);
                (&FULLSCREEN_VERT, &CALIBRATE_READ_FRAG)
            }
            Program::Fill(_) | Program::Copy(..) => return Ok(draw),
        };
        let subpass = self.arranged.subpass_in(pass, described);
        let subpass = subpass.expect("the pass runs it");
        let target = self.bound.target_in(pass, subpass);
        let drawing = Drawing::new(self.layout, target, vertex, Some(fragment));
        draw.pipeline = drawing.create(device)?;
        Ok(draw)
    }

    /// Runs the workload once; returns nanoseconds on the device.
    pub(crate) fn run(&mut self) -> Result<f64> {
        let device = self.tile.raw();
        let recording = Recording {
            device,
            layout: self.layout,
            whole: self.workload.frame.base_extent(),
        };
        let mut passes = self.arranged.frame().pass_ids().zip(&self.draws).peekable();
        // SAFETY: the previous run is complete.
        unsafe { device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .called("vkResetCommandPool")?;
        // SAFETY: nothing is imported.
        let recorder = unsafe { self.bound.begin(&Imports::default()) }?;
        if let Some((first, _)) = passes.peek() {
            let first = (*first, self.arranged.frame().pass(*first));
            if first.1.kind == PassKind::Render {
                let tile = recorder
                    .tile_properties(first.0)?
                    .map(|properties| properties.tile_size);
                let vk::Extent2D { width, height } = first.1.area.extent;
                self.bins =
                    tile.map(|tile| width.div_ceil(tile.width.max(1)) * height.div_ceil(tile.height.max(1)));
            }
        }
        // SAFETY: its pool was reset, and nothing else uses it.
        let mut commands = unsafe { recorder.record(self.commands, self.workload.commands) }?;
        let stamp = |at: vk::PipelineStageFlags, query| {
            // SAFETY: before the first pass and after the last one, outside of render passes; the pool has two queries.
            unsafe { device.cmd_write_timestamp(self.commands, at, self.stamps, query) };
        };
        // SAFETY: as above.
        unsafe { device.cmd_reset_query_pool(self.commands, self.stamps, 0, 2) };
        stamp(vk::PipelineStageFlags::TOP_OF_PIPE, 0);
        for (pass, draws) in passes {
            commands.pass(pass, |cmd| {
                for (number, draw) in draws.iter().enumerate() {
                    if number > 0 {
                        cmd.next_subpass();
                    }
                    recording.record(cmd, draw);
                }
            })?;
        }
        stamp(vk::PipelineStageFlags::BOTTOM_OF_PIPE, 1);
        commands.finish()?;
        // SAFETY: only this thread uses the queue.
        let number = unsafe { recorder.submit() }?;
        self.bound.wait(number, u64::MAX)?;
        let mut ticks = [0u64; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: both were written by a submission that is complete.
        unsafe { device.get_query_pool_results(self.stamps, 0, &mut ticks, flags) }
            .called("vkGetQueryPoolResults")?;
        Ok((ticks[1].wrapping_sub(ticks[0]) & self.mask) as f64 * self.period)
    }

    /// Destroys everything; every run must be complete.
    pub(crate) fn destroy(self) {
        let device = self.tile.raw();
        // SAFETY: nothing is pending; objects are destroyed before the objects that they use.
        unsafe {
            for draw in self.draws.iter().flatten() {
                device.destroy_pipeline(draw.pipeline, None);
            }
            device.destroy_query_pool(self.stamps, None);
            device.destroy_command_pool(self.pool, None);
            device.destroy_descriptor_pool(self.descriptors, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout.handle, None);
            self.bound.destroy();
        }
    }
}

/// The state that recording needs in addition to a draw.
struct Recording<'a> {
    device: &'a ash::Device,
    layout: vk::PipelineLayout,
    /// The extent of the described images.
    whole: vk::Extent2D,
}

impl Recording<'_> {
    fn record(&self, cmd: &PassCommands<'_>, draw: &Draw) {
        let (device, commands) = (self.device, cmd.command_buffer());
        let buffer = |resource| cmd.access(resource).buffer();
        // SAFETY: the pass is being recorded, with everything that its program needs.
        unsafe {
            let vertices = match draw.program {
                Program::Fill(to) => {
                    return device.cmd_fill_buffer(commands, buffer(to).handle, 0, vk::WHOLE_SIZE, 7);
                }
                Program::Copy(from, to) => {
                    let region = vk::BufferCopy {
                        size: buffer(from).size,
                        ..vk::BufferCopy::default()
                    };
                    let (from, to) = (buffer(from).handle, buffer(to).handle);
                    return device.cmd_copy_buffer(commands, from, to, slice::from_ref(&region));
                }
                Program::Triangles(count) => 3 * count,
                Program::Over => 3,
                Program::Read { reach, .. } => {
                    let [x, y] = draw.origin;
                    let words = [x, y, reach as i32];
                    let stage = vk::ShaderStageFlags::FRAGMENT;
                    device.cmd_push_constants(commands, self.layout, stage, 0, bytemuck::cast_slice(&words));
                    let point = vk::PipelineBindPoint::GRAPHICS;
                    device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[draw.set], &[]);
                    3
                }
            };
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, draw.pipeline);
            device.cmd_set_viewport(commands, 0, &[draw.strip.viewport(self.whole)]);
            device.cmd_set_scissor(commands, 0, &[draw.strip.scissor()]);
            device.cmd_draw(commands, vertices, 1, 0, 0);
        }
    }
}
