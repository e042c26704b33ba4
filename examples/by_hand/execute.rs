//! Executes the tables: records every command buffer and makes every submit, row by row.

use ash::vk;
use tileheap::ffi::TileMemoryBindInfoQCOM;
use tileheap::frame::PassId;
use tileheap::lower::Lowered;
use tileheap::lower::tables::clears::ClearRow;
use tileheap::lower::tables::commands::{DependencyRow, PassContents, Scopes};
use tileheap::lower::tables::instances::{AttachmentRow, InstanceRow, Operations};
use tileheap::lower::tables::submission::{CommandBufferRow, SemaphoreKind, SemaphoreRow};
use tileheap::lower::tables::{ImageOrBuffer, OptionalIndex};

use crate::gpu::Gpu;
use crate::objects::{Objects, range};
use crate::support::error::{Called, Result, bail};

/// Executes tables on one queue.
pub(crate) struct Executor {
    /// The queue's timeline: each batch signals the number of batches submitted up to and including it.
    timeline: vk::Semaphore,
    submitted: u64,
}

/// Creates a barrier structure of synchronization2 with the stages and accesses of `$scopes`.
macro_rules! scoped {
    ($barrier:ident, $scopes:expr) => {{
        let scopes: &Scopes = $scopes;
        vk::$barrier::default()
            .src_stage_mask(scopes.src_stages)
            .src_access_mask(scopes.src_access)
            .dst_stage_mask(scopes.dst_stages)
            .dst_access_mask(scopes.dst_access)
    }};
}

impl Executor {
    pub(crate) fn new(gpu: &Gpu) -> Result<Executor> {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: timeline semaphores are enabled.
        let timeline = unsafe { gpu.device.create_semaphore(&info, None) }.called("vkCreateSemaphore")?;
        Ok(Executor {
            timeline,
            submitted: 0,
        })
    }

    /// Records a frame into reset command buffers, and submits it; `draw` records the commands of a described pass.
    pub(crate) fn execute(
        &mut self,
        gpu: &Gpu,
        objects: &Objects,
        tables: &Lowered,
        buffers: &[vk::CommandBuffer],
        mut draw: impl FnMut(vk::CommandBuffer, PassId),
    ) -> Result<()> {
        if tables.command_buffers.len() > buffers.len() {
            bail!(
                "the frame needs more command buffers than were allocated: {} instead of {}",
                tables.command_buffers.len(),
                buffers.len()
            );
        }
        for (row, &buffer) in tables.command_buffers.iter().zip(buffers) {
            let recording = Recording {
                gpu,
                objects,
                tables,
                buffer,
            };
            recording.record(row, &mut draw)?;
        }
        let begin = self.submitted;
        for submit in &tables.submits {
            let semaphores = |rows: &[SemaphoreRow]| -> Vec<_> {
                rows.iter().filter_map(|row| self.semaphore(row, begin)).collect()
            };
            let batches = submit.batches.of(&tables.batches).iter();
            let lists: Vec<_> = batches
                .map(|batch| {
                    let commands = buffers[batch.command_buffers.indices()].iter();
                    let commands =
                        commands.map(|&one| vk::CommandBufferSubmitInfo::default().command_buffer(one));
                    let waits = semaphores(batch.waits.of(&tables.waits));
                    (
                        waits,
                        commands.collect::<Vec<_>>(),
                        semaphores(batch.signals.of(&tables.signals)),
                    )
                })
                .collect();
            let infos = lists.iter().map(|(waits, commands, signals)| {
                vk::SubmitInfo2::default()
                    .wait_semaphore_infos(waits)
                    .command_buffer_infos(commands)
                    .signal_semaphore_infos(signals)
            });
            let infos: Vec<_> = infos.collect();
            // A single call: tile memory may keep its contents from batch to batch.
            // SAFETY: the command buffers are executable, and only this thread uses the queue.
            unsafe { gpu.device.queue_submit2(gpu.queue, &infos, vk::Fence::null()) }
                .called("vkQueueSubmit2")?;
            self.submitted += infos.len() as u64;
        }
        Ok(())
    }

    /// The submit info of a wait or a signal; `None` if it refers to a time before the first batch. The frame declares no semaphores.
    fn semaphore(&self, row: &SemaphoreRow, begin: u64) -> Option<vk::SemaphoreSubmitInfo<'static>> {
        assert_eq!(
            row.semaphore.kind,
            SemaphoreKind::Queue,
            "the frame declares none"
        );
        let value = begin
            .checked_add_signed(row.semaphore.value)
            .filter(|&value| value > 0)?;
        let info = vk::SemaphoreSubmitInfo::default()
            .semaphore(self.timeline)
            .value(value);
        Some(info.stage_mask(row.stages))
    }

    /// Waits for all submitted work.
    pub(crate) fn wait(&self, gpu: &Gpu) -> Result<()> {
        let (semaphores, values) = ([self.timeline], [self.submitted]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: the semaphore is alive.
        unsafe { gpu.device.wait_semaphores(&info, u64::MAX) }.called("vkWaitSemaphores")
    }

    /// # Safety
    /// All submitted work is complete.
    pub(crate) unsafe fn destroy(&self, gpu: &Gpu) {
        // SAFETY: the caller's duty.
        unsafe { gpu.device.destroy_semaphore(self.timeline, None) };
    }
}

/// The recording of one command buffer.
struct Recording<'a> {
    gpu: &'a Gpu,
    objects: &'a Objects,
    tables: &'a Lowered,
    buffer: vk::CommandBuffer,
}

impl Recording<'_> {
    fn record(&self, row: &CommandBufferRow, draw: &mut impl FnMut(vk::CommandBuffer, PassId)) -> Result<()> {
        let (device, buffer, tables) = (&self.gpu.device, self.buffer, self.tables);
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let info = vk::CommandBufferBeginInfo::default().flags(once);
        // SAFETY: the command buffer was reset.
        unsafe { device.begin_command_buffer(buffer, &info) }.called("vkBeginCommandBuffer")?;
        let mut bound = OptionalIndex::NONE;
        for pass in row.passes.of(&tables.passes) {
            if std::mem::replace(&mut bound, pass.tile_memory) != pass.tile_memory {
                self.bind_tile_memory(pass.tile_memory);
            }
            self.barriers(&pass.before);
            match pass.contents {
                PassContents::Described => {
                    let instance = pass.instance.get().map(|row| &tables.instances[row as usize]);
                    if let Some(instance) = instance {
                        self.begin(instance)?;
                    }
                    draw(buffer, pass.pass);
                    if instance.is_some() {
                        // SAFETY: it was begun.
                        unsafe { device.cmd_end_rendering(buffer) };
                    }
                }
                PassContents::Clear => self.clear(&tables.clears[pass.row.get().expect("a row") as usize]),
                PassContents::Store => {
                    bail!("this program does not store split lifetimes: plan without `split`")
                }
            }
            self.barriers(&pass.after);
        }
        // SAFETY: it is recording.
        unsafe { device.end_command_buffer(buffer) }.called("vkEndCommandBuffer")
    }

    fn bind_tile_memory(&self, memory: OptionalIndex) {
        let memory = memory.get().map(|row| self.objects.memory(row));
        let info = memory.map(|memory| TileMemoryBindInfoQCOM::default().memory(memory));
        if let Some(tile) = &self.gpu.tile {
            // SAFETY: recording, outside render passes; the memory is a tile memory object.
            unsafe { tile.cmd_bind_tile_memory(self.buffer, info.as_ref()) };
        }
    }

    fn barriers(&self, row: &DependencyRow) {
        let (tables, objects) = (self.tables, self.objects);
        let images = row.images.of(&tables.image_barriers).iter().map(|row| {
            scoped!(ImageMemoryBarrier2, &row.scopes)
                .image(objects.images[row.image as usize])
                .subresource_range(range(&row.range))
                .old_layout(row.old_layout)
                .new_layout(row.new_layout)
                .src_queue_family_index(row.families.src)
                .dst_queue_family_index(row.families.dst)
        });
        let buffers = row.buffers.of(&tables.buffer_barriers).iter().map(|row| {
            scoped!(BufferMemoryBarrier2, &row.scopes)
                .buffer(objects.buffers[row.buffer as usize])
                .offset(row.offset.0)
                .size(row.size.0)
                .src_queue_family_index(row.families.src)
                .dst_queue_family_index(row.families.dst)
        });
        let memory = row.memory.of(&tables.memory_barriers).iter();
        let memory = memory.map(|row| scoped!(MemoryBarrier2, &row.scopes));
        let (images, buffers, memory): (Vec<_>, Vec<_>, Vec<_>) =
            (images.collect(), buffers.collect(), memory.collect());
        if images.is_empty() && buffers.is_empty() && memory.is_empty() {
            return;
        }
        let info = vk::DependencyInfo::default()
            .image_memory_barriers(&images)
            .buffer_memory_barriers(&buffers)
            .memory_barriers(&memory);
        // SAFETY: recording, outside render passes.
        unsafe { self.gpu.device.cmd_pipeline_barrier2(self.buffer, &info) };
    }

    /// Begins a render pass.
    fn begin(&self, row: &InstanceRow) -> Result<()> {
        if !row.dynamic || row.local_read || row.secondary || row.tile_shading || row.hook > 0 {
            bail!(
                "this program supports only dynamic render passes without local reads, secondary command buffers, tile shading or hooks"
            );
        }
        let tables = self.tables;
        let one = |row: OptionalIndex| row.get().map(|row| &tables.attachments[row as usize]);
        let main = |row: &AttachmentRow| (row.operations, row.layout);
        let colors = row.colors.of(&tables.attachments).iter();
        let colors: Vec<_> = colors.map(|color| self.attachment(color, main)).collect();
        let depth = one(row.depth).map(|depth| self.attachment(depth, main));
        let stencil = one(row.stencil);
        let stencil = stencil.map(|row| self.attachment(row, |row| (row.stencil, row.stencil_layout)));
        let mut info = vk::RenderingInfo::default()
            .render_area(row.area)
            .layer_count(row.layers)
            .view_mask(row.view_mask)
            .color_attachments(&colors);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &stencil {
            info = info.stencil_attachment(stencil);
        }
        // SAFETY: recording, outside render passes; the barriers transitioned the attachments to their layouts.
        unsafe { self.gpu.device.cmd_begin_rendering(self.buffer, &info) };
        Ok(())
    }

    fn attachment(
        &self,
        row: &AttachmentRow,
        of: impl Fn(&AttachmentRow) -> (Operations, vk::ImageLayout),
    ) -> vk::RenderingAttachmentInfo<'static> {
        let view = |row: &AttachmentRow| self.objects.view(&self.tables.views[row.view as usize]);
        let (operations, layout) = of(row);
        let info = vk::RenderingAttachmentInfo::default()
            .image_view(view(row))
            .image_layout(layout)
            .load_op(operations.load)
            .store_op(operations.store)
            .clear_value(row.clear.get().to_vk());
        match row
            .resolve
            .get()
            .map(|row| &self.tables.attachments[row as usize])
        {
            None => info,
            Some(target) => info
                .resolve_mode(row.resolve_mode)
                .resolve_image_view(view(target))
                .resolve_image_layout(of(target).1),
        }
    }

    fn clear(&self, row: &ClearRow) {
        let (device, objects, value) = (&self.gpu.device, self.objects, row.value.get().to_vk());
        let image = match row.object.get() {
            ImageOrBuffer::Image(image) => image as usize,
            ImageOrBuffer::Buffer(buffer) => {
                let buffer = objects.buffers[buffer as usize];
                // SAFETY: recording, outside render passes.
                return unsafe { device.cmd_fill_buffer(self.buffer, buffer, 0, vk::WHOLE_SIZE, 0) };
            }
        };
        let (handle, ranges) = (objects.images[image], [range(&row.range)]);
        // SAFETY: as above; the union has the field of the format's numeric type.
        unsafe {
            if row.range.aspects.contains(vk::ImageAspectFlags::COLOR) {
                device.cmd_clear_color_image(self.buffer, handle, row.layout, &value.color, &ranges);
            } else {
                let value = &value.depth_stencil;
                device.cmd_clear_depth_stencil_image(self.buffer, handle, row.layout, value, &ranges);
            }
        }
    }
}
