//! Memory dependencies of barriers, in their original and synchronization2 forms, and of render passes.

use ash::vk;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::{array, chained};

/// The memory that a dependency applies to.
#[derive(Clone, Copy, Debug)]
pub enum DependencyMemory {
    /// No memory: only an execution dependency.
    None,
    /// All memory: a global memory barrier.
    All,
    /// A range of a buffer: offset and size in bytes.
    Buffer(vk::Buffer, u64, u64),
    /// A subresource range of an image, with its layouts before and after.
    Image(
        vk::Image,
        vk::ImageSubresourceRange,
        vk::ImageLayout,
        vk::ImageLayout,
    ),
}

/// A memory dependency.
#[derive(Clone, Copy, Debug)]
pub struct Dependency {
    /// The stages of the first scope.
    pub src_stages: S,
    /// Accesses that are made available.
    pub src_access: A,
    /// The stages of the second scope.
    pub dst_stages: S,
    /// Accesses to which memory is made visible.
    pub dst_access: A,
    /// The memory that the dependency applies to.
    pub memory: DependencyMemory,
    /// The queue families between which the dependency transfers ownership, source and destination; equal if it
    /// transfers nothing.
    pub families: (u32, u32),
}

/// Converts stage flags to `VkPipelineStageFlags2`, which have the same bits.
pub fn stage_flags_2(stages: vk::PipelineStageFlags) -> S {
    S::from_raw(stages.as_raw().into())
}

/// Converts access flags to `VkAccessFlags2`, which have the same bits.
pub fn access_flags_2(access: vk::AccessFlags) -> A {
    A::from_raw(access.as_raw().into())
}

/// A dependency for all memory between two scopes.
fn dependency((src_stages, src_access): (S, A), (dst_stages, dst_access): (S, A)) -> Dependency {
    Dependency {
        src_stages,
        src_access,
        dst_stages,
        dst_access,
        memory: DependencyMemory::All,
        families: (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED),
    }
}

/// The dependency of a barrier in the original form, which has only access masks.
macro_rules! first_scopes {
    ($from:expr, $to:expr, $one:expr) => {
        dependency(
            ($from, access_flags_2($one.src_access_mask)),
            ($to, access_flags_2($one.dst_access_mask)),
        )
    };
}

/// The dependency of a barrier in the synchronization2 form.
macro_rules! second_scopes {
    ($one:expr) => {
        dependency(
            ($one.src_stage_mask, $one.src_access_mask),
            ($one.dst_stage_mask, $one.dst_access_mask),
        )
    };
}

/// The dependency of a buffer barrier with these scopes.
macro_rules! of_buffer {
    ($one:expr, $scopes:expr) => {
        Dependency {
            memory: DependencyMemory::Buffer($one.buffer, $one.offset, $one.size),
            families: ($one.src_queue_family_index, $one.dst_queue_family_index),
            ..$scopes
        }
    };
}

/// The dependency of an image barrier with these scopes.
macro_rules! of_image {
    ($one:expr, $scopes:expr) => {
        Dependency {
            memory: DependencyMemory::Image(
                $one.image,
                $one.subresource_range,
                $one.old_layout,
                $one.new_layout,
            ),
            families: ($one.src_queue_family_index, $one.dst_queue_family_index),
            ..$scopes
        }
    };
}

/// The dependencies of `VkMemoryBarrier`s, with the stages of the command.
#[inline]
pub fn of_memory<'a>(
    (from, to): (vk::PipelineStageFlags, vk::PipelineStageFlags),
    memory: &'a [vk::MemoryBarrier<'_>],
) -> impl Iterator<Item = Dependency> + 'a {
    let (from, to) = (stage_flags_2(from), stage_flags_2(to));
    memory.iter().map(move |it| first_scopes!(from, to, it))
}

/// The dependencies of `vkCmdPipelineBarrier` and `vkCmdWaitEvents`: the execution dependency, and one per barrier.
pub fn from_v1<'a>(
    stages: (vk::PipelineStageFlags, vk::PipelineStageFlags),
    memory: &'a [vk::MemoryBarrier<'_>],
    buffers: &'a [vk::BufferMemoryBarrier<'_>],
    images: &'a [vk::ImageMemoryBarrier<'_>],
) -> impl Iterator<Item = Dependency> + 'a {
    let (from, to) = (stage_flags_2(stages.0), stage_flags_2(stages.1));
    let execution = Dependency {
        memory: DependencyMemory::None,
        ..dependency((from, A::NONE), (to, A::NONE))
    };
    let memory = of_memory(stages, memory);
    let buffers = buffers
        .iter()
        .map(move |it| of_buffer!(it, first_scopes!(from, to, it)));
    let images = images
        .iter()
        .map(move |it| of_image!(it, first_scopes!(from, to, it)));
    std::iter::once(execution)
        .chain(memory)
        .chain(buffers)
        .chain(images)
}

/// The dependencies of `vkCmdPipelineBarrier2` and similar commands: one per barrier.
pub fn from_v2<'a>(info: &'a vk::DependencyInfo<'_>) -> impl Iterator<Item = Dependency> + 'a {
    let memory = array!(info.p_memory_barriers, info.memory_barrier_count).iter();
    let buffers = array!(info.p_buffer_memory_barriers, info.buffer_memory_barrier_count).iter();
    let images = array!(info.p_image_memory_barriers, info.image_memory_barrier_count).iter();
    let memory = memory.map(|it| second_scopes!(it));
    let buffers = buffers.map(|it| of_buffer!(it, second_scopes!(it)));
    let images = images.map(|it| of_image!(it, second_scopes!(it)));
    memory.chain(buffers).chain(images)
}

/// The dependency of a `VkSubpassDependency`.
pub(crate) fn of_subpass(one: &vk::SubpassDependency) -> Dependency {
    first_scopes!(
        stage_flags_2(one.src_stage_mask),
        stage_flags_2(one.dst_stage_mask),
        one
    )
}

/// The dependency of a `VkSubpassDependency2`, whose masks may be in its chain.
pub(crate) fn of_subpass2(one: &vk::SubpassDependency2<'_>) -> Dependency {
    match chained!(one.p_next => vk::MemoryBarrier2<'_>) {
        Some(barrier) => second_scopes!(barrier),
        None => first_scopes!(
            stage_flags_2(one.src_stage_mask),
            stage_flags_2(one.dst_stage_mask),
            one
        ),
    }
}
