//! Barriers: the tables' rows as Vulkan's structs, recorded as one call before and one after each pass.
//!
//! Recording hands out slices and builds nothing. Only imported resources change from frame to frame; their handles are written into
//! the structs when a frame begins.

use ash::vk;

use super::create_info::range;
use super::functions::Functions;
use super::legacy;
use super::resources::Handles;
use crate::lower::Lowered;
use crate::lower::tables::commands::{BufferBarrierRow, DependencyRow, ImageBarrierRow, MemoryBarrierRow};
use crate::lower::tables::objects::Binding;

/// The barriers of a frame's tables, row for row.
pub(super) enum Barriers {
    /// `vkCmdPipelineBarrier2`.
    Two(
        Structs<
            vk::ImageMemoryBarrier2<'static>,
            vk::BufferMemoryBarrier2<'static>,
            vk::MemoryBarrier2<'static>,
        >,
    ),
    /// `vkCmdPipelineBarrier`.
    One(
        Structs<
            vk::ImageMemoryBarrier<'static>,
            vk::BufferMemoryBarrier<'static>,
            vk::MemoryBarrier<'static>,
        >,
    ),
}

/// One struct for each row.
pub(super) struct Structs<I, B, M> {
    images: Vec<I>,
    buffers: Vec<B>,
    memory: Vec<M>,
}

impl Barriers {
    pub(super) fn new(tables: &Lowered, handles: &Handles, synchronization_2: bool) -> Barriers {
        let range = |row: &ImageBarrierRow| {
            let mut range = range(&row.range);
            if tables.images[row.image as usize].image_type == vk::ImageType::TYPE_3D {
                // With maintenance9, one layer would be one slice.
                range.layer_count = vk::REMAINING_ARRAY_LAYERS;
            }
            range
        };
        let images = || tables.image_barriers.iter().map(|row| (row, range(row)));
        let mut barriers = if synchronization_2 {
            Barriers::Two(Structs {
                images: images().map(image_2).collect(),
                buffers: tables.buffer_barriers.iter().map(buffer_2).collect(),
                memory: tables.memory_barriers.iter().map(memory_2).collect(),
            })
        } else {
            Barriers::One(Structs {
                images: images().map(image_1).collect(),
                buffers: tables.buffer_barriers.iter().map(buffer_1).collect(),
                memory: tables.memory_barriers.iter().map(memory_1).collect(),
            })
        };
        barriers.write(tables, handles, |_| true);
        barriers
    }

    /// Writes the handles of imported resources into the structs.
    pub(super) fn refresh(&mut self, tables: &Lowered, handles: &Handles) {
        self.write(tables, handles, |binding| binding == Binding::Imported);
    }

    /// Writes the handles of the resources that are bound so.
    fn write(&mut self, tables: &Lowered, handles: &Handles, wanted: impl Fn(Binding) -> bool) {
        for (index, row) in tables.image_barriers.iter().enumerate() {
            if wanted(tables.images[row.image as usize].binding) {
                let image = handles.images[row.image as usize].handle;
                match self {
                    Barriers::Two(two) => two.images[index].image = image,
                    Barriers::One(one) => one.images[index].image = image,
                }
            }
        }
        for (index, row) in tables.buffer_barriers.iter().enumerate() {
            if wanted(tables.buffers[row.buffer as usize].binding) {
                let buffer = handles.buffers[row.buffer as usize];
                let offset = buffer.offset + row.offset.0;
                match self {
                    Barriers::Two(two) => {
                        (two.buffers[index].buffer, two.buffers[index].offset) = (buffer.handle, offset);
                    }
                    Barriers::One(one) => {
                        (one.buffers[index].buffer, one.buffers[index].offset) = (buffer.handle, offset);
                    }
                }
            }
        }
    }

    /// Records the barriers on one side of a pass, in one call; none if there are none.
    ///
    /// # Safety
    /// `commands` is recording, outside a render pass; the functions are those of its device.
    pub(super) unsafe fn record(
        &self,
        tables: &Lowered,
        row: &DependencyRow,
        device: &ash::Device,
        functions: &Functions,
        commands: vk::CommandBuffer,
    ) {
        if row.images.is_empty() && row.buffers.is_empty() && row.memory.is_empty() {
            return;
        }
        match (self, &functions.synchronization_2) {
            (Barriers::Two(two), Some(functions)) => {
                let info = vk::DependencyInfo::default()
                    .image_memory_barriers(row.images.of(&two.images))
                    .buffer_memory_barriers(row.buffers.of(&two.buffers))
                    .memory_barriers(row.memory.of(&two.memory));
                // SAFETY: the caller's duty; the handles are alive, the bound plan's or imported for this frame.
                unsafe { (functions.cmd_pipeline_barrier2_khr)(commands, &info) };
            }
            (Barriers::One(one), _) => {
                let (source, destination) = stages(tables, row);
                // SAFETY: as above.
                unsafe {
                    device.cmd_pipeline_barrier(
                        commands,
                        legacy::source_stages(source),
                        legacy::destination_stages(destination),
                        vk::DependencyFlags::empty(),
                        row.memory.of(&one.memory),
                        row.buffers.of(&one.buffers),
                        row.images.of(&one.images),
                    );
                }
            }
            (Barriers::Two(_), None) => unreachable!("the structs were made for the device's functions"),
        }
    }
}

/// All stages of a dependency, for the call that takes one pair of masks.
fn stages(tables: &Lowered, row: &DependencyRow) -> (vk::PipelineStageFlags2, vk::PipelineStageFlags2) {
    let images = row.images.of(&tables.image_barriers).iter().map(|one| one.scopes);
    let buffers = row
        .buffers
        .of(&tables.buffer_barriers)
        .iter()
        .map(|one| one.scopes);
    let memory = row
        .memory
        .of(&tables.memory_barriers)
        .iter()
        .map(|one| one.scopes);
    let none = vk::PipelineStageFlags2::NONE;
    let all = images.chain(buffers).chain(memory);
    all.fold((none, none), |sum, one| {
        (sum.0 | one.src_stages, sum.1 | one.dst_stages)
    })
}

fn image_2((row, range): (&ImageBarrierRow, vk::ImageSubresourceRange)) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(row.scopes.src_stages)
        .src_access_mask(row.scopes.src_access)
        .dst_stage_mask(row.scopes.dst_stages)
        .dst_access_mask(row.scopes.dst_access)
        .old_layout(row.old_layout)
        .new_layout(row.new_layout)
        .src_queue_family_index(row.families.src)
        .dst_queue_family_index(row.families.dst)
        .subresource_range(range)
}

fn buffer_2(row: &BufferBarrierRow) -> vk::BufferMemoryBarrier2<'static> {
    vk::BufferMemoryBarrier2::default()
        .src_stage_mask(row.scopes.src_stages)
        .src_access_mask(row.scopes.src_access)
        .dst_stage_mask(row.scopes.dst_stages)
        .dst_access_mask(row.scopes.dst_access)
        .src_queue_family_index(row.families.src)
        .dst_queue_family_index(row.families.dst)
        .size(row.size.0)
}

fn memory_2(row: &MemoryBarrierRow) -> vk::MemoryBarrier2<'static> {
    vk::MemoryBarrier2::default()
        .src_stage_mask(row.scopes.src_stages)
        .src_access_mask(row.scopes.src_access)
        .dst_stage_mask(row.scopes.dst_stages)
        .dst_access_mask(row.scopes.dst_access)
}

fn image_1((row, range): (&ImageBarrierRow, vk::ImageSubresourceRange)) -> vk::ImageMemoryBarrier<'static> {
    vk::ImageMemoryBarrier::default()
        .src_access_mask(legacy::access(row.scopes.src_access))
        .dst_access_mask(legacy::access(row.scopes.dst_access))
        .old_layout(row.old_layout)
        .new_layout(row.new_layout)
        .src_queue_family_index(row.families.src)
        .dst_queue_family_index(row.families.dst)
        .subresource_range(range)
}

fn buffer_1(row: &BufferBarrierRow) -> vk::BufferMemoryBarrier<'static> {
    vk::BufferMemoryBarrier::default()
        .src_access_mask(legacy::access(row.scopes.src_access))
        .dst_access_mask(legacy::access(row.scopes.dst_access))
        .src_queue_family_index(row.families.src)
        .dst_queue_family_index(row.families.dst)
        .size(row.size.0)
}

fn memory_1(row: &MemoryBarrierRow) -> vk::MemoryBarrier<'static> {
    vk::MemoryBarrier::default()
        .src_access_mask(legacy::access(row.scopes.src_access))
        .dst_access_mask(legacy::access(row.scopes.dst_access))
}
