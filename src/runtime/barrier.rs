//! Barriers: the tables' rows as Vulkan structs, recorded as one call before and one after each pass.
//!
//! Recording passes slices and builds nothing. Only imported resources change from frame to frame; their handles are written into the structs when a
//! frame begins.

use ash::vk;

use super::create_info::range;
use super::functions::Functions;
use super::legacy;
use super::resources::Handles;
use crate::lower::Lowered;
use crate::lower::tables::commands::{BufferBarrierRow, DependencyRow, ImageBarrierRow};
use crate::lower::tables::objects::MemoryBinding;
use crate::units::Run;

/// The barriers of a frame's tables, row for row.
pub(super) struct Barriers {
    images: Vec<vk::ImageMemoryBarrier2<'static>>,
    buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    memory: Vec<vk::MemoryBarrier2<'static>>,
    /// The same barriers for `vkCmdPipelineBarrier`, on devices without synchronization2.
    legacy: Option<LegacyBarriers>,
}

struct LegacyBarriers {
    images: Vec<vk::ImageMemoryBarrier<'static>>,
    buffers: Vec<vk::BufferMemoryBarrier<'static>>,
    memory: Vec<vk::MemoryBarrier<'static>>,
}

/// Makes a barrier struct of synchronization2 with the scopes of a row.
macro_rules! scoped {
    ($barrier:ident, $row:expr) => {
        vk::$barrier::default()
            .src_stage_mask($row.scopes.src_stages)
            .src_access_mask($row.scopes.src_access)
            .dst_stage_mask($row.scopes.dst_stages)
            .dst_access_mask($row.scopes.dst_access)
    };
}

impl Barriers {
    pub(super) fn new(tables: &Lowered, handles: &Handles, synchronization_2: bool) -> Barriers {
        let image = |row: &ImageBarrierRow| {
            scoped!(ImageMemoryBarrier2, row)
                .old_layout(row.old_layout)
                .new_layout(row.new_layout)
                .src_queue_family_index(row.families.src)
                .dst_queue_family_index(row.families.dst)
                .subresource_range(range(&row.range))
        };
        let buffer = |row: &BufferBarrierRow| {
            scoped!(BufferMemoryBarrier2, row)
                .src_queue_family_index(row.families.src)
                .dst_queue_family_index(row.families.dst)
                .size(row.size.0)
        };
        let mut barriers = Barriers {
            images: tables.image_barriers.iter().map(image).collect(),
            buffers: tables.buffer_barriers.iter().map(buffer).collect(),
            memory: tables
                .memory_barriers
                .iter()
                .map(|row| scoped!(MemoryBarrier2, row))
                .collect(),
            legacy: None,
        };
        barriers.legacy = (!synchronization_2).then(|| LegacyBarriers {
            images: barriers.images.iter().map(legacy::image_barrier).collect(),
            buffers: barriers.buffers.iter().map(legacy::buffer_barrier).collect(),
            memory: barriers.memory.iter().map(legacy::memory_barrier).collect(),
        });
        barriers.write(tables, handles, |_| true);
        barriers
    }

    /// Writes the handles of imported resources into the structs.
    pub(super) fn refresh(&mut self, tables: &Lowered, handles: &Handles) {
        self.write(tables, handles, |binding| binding.is_imported());
    }

    /// Writes the handles of the resources whose binding is `wanted`.
    fn write(&mut self, tables: &Lowered, handles: &Handles, wanted: impl Fn(MemoryBinding) -> bool) {
        for (row, barrier) in tables.image_barriers.iter().zip(&mut self.images) {
            if wanted(tables.images[row.image as usize].binding) {
                barrier.image = handles.images[row.image as usize].handle;
            }
        }
        for (row, barrier) in tables.buffer_barriers.iter().zip(&mut self.buffers) {
            if wanted(tables.buffers[row.buffer as usize].binding) {
                let buffer = handles.buffers[row.buffer as usize];
                (barrier.buffer, barrier.offset) = (buffer.handle, buffer.offset + row.offset.0);
            }
        }
        if let Some(legacy) = &mut self.legacy {
            for (legacy, barrier) in legacy.images.iter_mut().zip(&self.images) {
                legacy.image = barrier.image;
            }
            for (legacy, barrier) in legacy.buffers.iter_mut().zip(&self.buffers) {
                (legacy.buffer, legacy.offset) = (barrier.buffer, barrier.offset);
            }
        }
    }

    /// Records the barriers of a row, all of them before or all of them after one pass; records nothing if the row has none.
    ///
    /// # Safety
    /// `commands` is recording, outside a render pass; the functions are those of its device.
    pub(super) unsafe fn record(
        &self,
        row: &DependencyRow,
        device: &ash::Device,
        functions: &Functions,
        commands: vk::CommandBuffer,
    ) {
        if row.images.is_empty() && row.buffers.is_empty() && row.memory.is_empty() {
            return;
        }
        let (images, buffers) = (row.images.of(&self.images), row.buffers.of(&self.buffers));
        let memory = row.memory.of(&self.memory);
        if let Some(legacy) = &self.legacy {
            // SAFETY: the caller's duty.
            unsafe { self.record_legacy(legacy, row, device, commands) };
            return;
        }
        let functions = functions.synchronization_2.as_ref();
        let functions = functions.expect("without synchronization2, the older structs are recorded");
        let info = vk::DependencyInfo::default()
            .image_memory_barriers(images)
            .buffer_memory_barriers(buffers)
            .memory_barriers(memory);
        // SAFETY: as above.
        unsafe { (functions.cmd_pipeline_barrier2_khr)(commands, &info) };
    }

    /// Records the same barriers with `vkCmdPipelineBarrier`.
    ///
    /// # Safety
    /// As for [`record`](Barriers::record).
    unsafe fn record_legacy(
        &self,
        legacy: &LegacyBarriers,
        row: &DependencyRow,
        device: &ash::Device,
        commands: vk::CommandBuffer,
    ) {
        let record = |row: &DependencyRow| {
            let (source, destination) = self.stages(row);
            // SAFETY: the caller's duty; the handles are alive, the bound plan's or imported for this frame.
            unsafe {
                device.cmd_pipeline_barrier(
                    commands,
                    legacy::source_stages(source),
                    legacy::destination_stages(destination),
                    vk::DependencyFlags::empty(),
                    row.memory.of(&legacy.memory),
                    row.buffers.of(&legacy.buffers),
                    row.images.of(&legacy.images),
                );
            }
        };
        let (source, destination) = self.stages(row);
        let host = (source | destination).contains(vk::PipelineStageFlags2::HOST);
        if !host || !self.changes_family(row) {
            return record(row);
        }
        // With the host among its stages, a call does not change queue families (VUID-vkCmdPipelineBarrier-srcStageMask-09633, -09634).
        let single = |index: usize| Run::new(index as u32, index as u32 + 1);
        for images in row.images.indices().map(single) {
            record(&DependencyRow {
                images,
                ..DependencyRow::default()
            });
        }
        for buffers in row.buffers.indices().map(single) {
            record(&DependencyRow {
                buffers,
                ..DependencyRow::default()
            });
        }
        for memory in row.memory.indices().map(single) {
            record(&DependencyRow {
                memory,
                ..DependencyRow::default()
            });
        }
    }

    /// The stages of all barriers of a row, before and after: `vkCmdPipelineBarrier` takes a single pair.
    fn stages(&self, row: &DependencyRow) -> (vk::PipelineStageFlags2, vk::PipelineStageFlags2) {
        let images = row.images.of(&self.images).iter();
        let buffers = row.buffers.of(&self.buffers).iter();
        let memory = row.memory.of(&self.memory).iter();
        let images = images.map(|one| (one.src_stage_mask, one.dst_stage_mask));
        let buffers = buffers.map(|one| (one.src_stage_mask, one.dst_stage_mask));
        let memory = memory.map(|one| (one.src_stage_mask, one.dst_stage_mask));
        let none = vk::PipelineStageFlags2::NONE;
        let all = images.chain(buffers).chain(memory);
        all.fold((none, none), |sum, one| (sum.0 | one.0, sum.1 | one.1))
    }

    fn changes_family(&self, row: &DependencyRow) -> bool {
        let images = row.images.of(&self.images).iter();
        let buffers = row.buffers.of(&self.buffers).iter();
        let mut images = images.map(|one| (one.src_queue_family_index, one.dst_queue_family_index));
        let mut buffers = buffers.map(|one| (one.src_queue_family_index, one.dst_queue_family_index));
        images.any(|(src, dst)| src != dst) || buffers.any(|(src, dst)| src != dst)
    }
}
