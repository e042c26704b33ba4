//! Converts the flags and structs of synchronization2 to those of Vulkan 1.1.

use ash::vk;

use crate::ffi;

/// The access flags in terms of Vulkan 1.1. Flags that synchronization2 split are merged again.
///
/// Source: VK_KHR_synchronization2, "Interactions": the low 32 bits are the same flags.
pub(super) fn access(flags: vk::AccessFlags2) -> vk::AccessFlags {
    use vk::AccessFlags2 as A;
    let mut old = vk::AccessFlags::from_raw(flags.as_raw() as u32);
    if flags.intersects(
        A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM,
    ) {
        old |= vk::AccessFlags::SHADER_READ;
    }
    if flags.intersects(A::SHADER_STORAGE_WRITE | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM) {
        old |= vk::AccessFlags::SHADER_WRITE;
    }
    old
}

/// The stages that are waited for, in terms of Vulkan 1.1; the top of the pipe if there are none.
pub(super) fn source_stages(flags: vk::PipelineStageFlags2) -> vk::PipelineStageFlags {
    stages(flags, vk::PipelineStageFlags::TOP_OF_PIPE)
}

/// The stages that wait, in terms of Vulkan 1.1; the bottom of the pipe if there are none.
pub(super) fn destination_stages(flags: vk::PipelineStageFlags2) -> vk::PipelineStageFlags {
    stages(flags, vk::PipelineStageFlags::BOTTOM_OF_PIPE)
}

fn stages(flags: vk::PipelineStageFlags2, none: vk::PipelineStageFlags) -> vk::PipelineStageFlags {
    use vk::PipelineStageFlags2 as S;
    let mut old = vk::PipelineStageFlags::from_raw(flags.as_raw() as u32);
    if flags.intersects(S::COPY | S::RESOLVE | S::BLIT | S::CLEAR) {
        old |= vk::PipelineStageFlags::TRANSFER;
    }
    if flags.intersects(S::INDEX_INPUT | S::VERTEX_ATTRIBUTE_INPUT) {
        old |= vk::PipelineStageFlags::VERTEX_INPUT;
    }
    if flags.contains(S::PRE_RASTERIZATION_SHADERS) {
        // Naming tessellation or geometry shaders needs their features.
        old |= vk::PipelineStageFlags::ALL_GRAPHICS;
    }
    if old.is_empty() { none } else { old }
}

/// The Vulkan 1.1 form of an image barrier.
pub(super) fn image_barrier(barrier: &vk::ImageMemoryBarrier2<'_>) -> vk::ImageMemoryBarrier<'static> {
    vk::ImageMemoryBarrier::default()
        .src_access_mask(access(barrier.src_access_mask))
        .dst_access_mask(access(barrier.dst_access_mask))
        .old_layout(barrier.old_layout)
        .new_layout(barrier.new_layout)
        .src_queue_family_index(barrier.src_queue_family_index)
        .dst_queue_family_index(barrier.dst_queue_family_index)
        .subresource_range(barrier.subresource_range)
}

/// The Vulkan 1.1 form of a buffer barrier.
pub(super) fn buffer_barrier(barrier: &vk::BufferMemoryBarrier2<'_>) -> vk::BufferMemoryBarrier<'static> {
    vk::BufferMemoryBarrier::default()
        .src_access_mask(access(barrier.src_access_mask))
        .dst_access_mask(access(barrier.dst_access_mask))
        .src_queue_family_index(barrier.src_queue_family_index)
        .dst_queue_family_index(barrier.dst_queue_family_index)
        .size(barrier.size)
}

/// The Vulkan 1.1 form of a memory barrier.
pub(super) fn memory_barrier(barrier: &vk::MemoryBarrier2<'_>) -> vk::MemoryBarrier<'static> {
    vk::MemoryBarrier::default()
        .src_access_mask(access(barrier.src_access_mask))
        .dst_access_mask(access(barrier.dst_access_mask))
}

/// One batch in the structs of Vulkan 1.1.
#[derive(Default)]
pub(super) struct LegacyBatch {
    waits: Vec<vk::Semaphore>,
    wait_stages: Vec<vk::PipelineStageFlags>,
    wait_values: Vec<u64>,
    commands: Vec<vk::CommandBuffer>,
    signals: Vec<vk::Semaphore>,
    signal_values: Vec<u64>,
}

/// The slice of `count` elements at `pointer`.
///
/// # Safety
/// They come from one slice, which is alive.
unsafe fn list<'a, T>(pointer: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's duty.
    unsafe { std::slice::from_raw_parts(pointer, count as usize) }
}

impl LegacyBatch {
    /// Converts a batch from the structs of synchronization2.
    ///
    /// # Safety
    /// The lists of `batch` are alive.
    pub(super) unsafe fn new(batch: &vk::SubmitInfo2<'_>) -> LegacyBatch {
        let mut older = LegacyBatch::default();
        // SAFETY: the caller's duty.
        let waits = unsafe { list(batch.p_wait_semaphore_infos, batch.wait_semaphore_info_count) };
        for wait in waits {
            older.waits.push(wait.semaphore);
            older.wait_stages.push(destination_stages(wait.stage_mask));
            older.wait_values.push(wait.value);
        }
        // SAFETY: the caller's duty.
        let commands = unsafe { list(batch.p_command_buffer_infos, batch.command_buffer_info_count) };
        older
            .commands
            .extend(commands.iter().map(|one| one.command_buffer));
        // SAFETY: the caller's duty.
        let signals = unsafe { list(batch.p_signal_semaphore_infos, batch.signal_semaphore_info_count) };
        for signal in signals {
            older.signals.push(signal.semaphore);
            older.signal_values.push(signal.value);
        }
        older
    }

    pub(super) fn values(&self) -> vk::TimelineSemaphoreSubmitInfo<'_> {
        vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&self.wait_values)
            .signal_semaphore_values(&self.signal_values)
    }

    pub(super) fn info<'a>(
        &'a self,
        values: Option<&'a mut vk::TimelineSemaphoreSubmitInfo<'_>>,
    ) -> vk::SubmitInfo<'a> {
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&self.waits)
            .wait_dst_stage_mask(&self.wait_stages)
            .command_buffers(&self.commands)
            .signal_semaphores(&self.signals);
        match values {
            Some(values) => info.push_next(values),
            None => info,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_flags_are_joined_again() {
        use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
        assert_eq!(access(A::SHADER_SAMPLED_READ | A::UNIFORM_READ), {
            vk::AccessFlags::SHADER_READ | vk::AccessFlags::UNIFORM_READ
        });
        assert_eq!(access(A::SHADER_STORAGE_WRITE), vk::AccessFlags::SHADER_WRITE);
        assert_eq!(source_stages(S::ALL_TRANSFER), vk::PipelineStageFlags::TRANSFER);
        assert_eq!(source_stages(S::COPY), vk::PipelineStageFlags::TRANSFER);
        assert_eq!(
            source_stages(S::INDEX_INPUT),
            vk::PipelineStageFlags::VERTEX_INPUT
        );
        assert_eq!(source_stages(S::NONE), vk::PipelineStageFlags::TOP_OF_PIPE);
        assert_eq!(
            destination_stages(S::NONE),
            vk::PipelineStageFlags::BOTTOM_OF_PIPE
        );
        assert_eq!(
            destination_stages(S::ALL_COMMANDS),
            vk::PipelineStageFlags::ALL_COMMANDS
        );
    }
}
