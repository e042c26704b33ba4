//! Submitted batches of `vkQueueSubmit`, `vkQueueSubmit2` and `vkQueueBindSparse` in one form.

use ash::vk;
use vk::PipelineStageFlags2 as S;

use crate::dependencies::stage_flags_2;
use crate::{array, chained};

/// A semaphore with its value (0 if binary) and stages: those that wait for it, or those that must complete before it
/// is signaled.
pub type SemaphoreUse = (vk::Semaphore, u64, S);

/// A batch: semaphores to wait for, command buffers, semaphores to signal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Semaphores to wait for.
    pub waits: Vec<SemaphoreUse>,
    /// Command buffers to run.
    pub commands: Vec<vk::CommandBuffer>,
    /// Semaphores to signal.
    pub signals: Vec<SemaphoreUse>,
}

impl Batch {
    /// Converts a batch of `vkQueueSubmit`.
    pub fn from_v1(info: &vk::SubmitInfo<'_>) -> Batch {
        let stages = array!(info.p_wait_dst_stage_mask, info.wait_semaphore_count);
        let commands = array!(info.p_command_buffers, info.command_buffer_count).to_vec();
        let waits = array!(info.p_wait_semaphores, info.wait_semaphore_count);
        let signals = array!(info.p_signal_semaphores, info.signal_semaphore_count);
        let stages = stages.iter().map(|stages| stage_flags_2(*stages));
        Batch::with_values(info.p_next, (waits, stages), commands, signals)
    }

    /// Converts a batch of `vkQueueBindSparse`, without command buffers.
    pub fn sparse(info: &vk::BindSparseInfo<'_>) -> Batch {
        let waits = array!(info.p_wait_semaphores, info.wait_semaphore_count);
        let signals = array!(info.p_signal_semaphores, info.signal_semaphore_count);
        let stages = std::iter::repeat(S::ALL_COMMANDS);
        Batch::with_values(info.p_next, (waits, stages), Vec::new(), signals)
    }

    fn with_values(
        p_next: *const std::ffi::c_void,
        (waits, stages): (&[vk::Semaphore], impl Iterator<Item = S>),
        commands: Vec<vk::CommandBuffer>,
        signals: &[vk::Semaphore],
    ) -> Batch {
        let values = chained!(p_next => vk::TimelineSemaphoreSubmitInfo<'_>);
        let (mut waited, mut signaled) = (&[][..], &[][..]);
        if let Some(values) = values {
            waited = array!(values.p_wait_semaphore_values, values.wait_semaphore_value_count);
            signaled = array!(
                values.p_signal_semaphore_values,
                values.signal_semaphore_value_count
            );
        }
        let values = |values: &'static [u64]| values.iter().copied().chain(std::iter::repeat(0));
        let waits = waits.iter().zip(values(waited)).zip(stages);
        let signals = signals.iter().zip(values(signaled));
        Batch {
            waits: waits
                .map(|((one, value), stages)| (*one, value, stages))
                .collect(),
            commands,
            signals: signals
                .map(|(one, value)| (*one, value, S::ALL_COMMANDS))
                .collect(),
        }
    }

    /// Converts a batch of `vkQueueSubmit2`.
    pub fn from_v2(info: &vk::SubmitInfo2<'_>) -> Batch {
        let uses = |first, count| {
            let one = |info: &vk::SemaphoreSubmitInfo<'_>| (info.semaphore, info.value, info.stage_mask);
            array!(first, count).iter().map(one).collect()
        };
        let commands = array!(info.p_command_buffer_infos, info.command_buffer_info_count).iter();
        Batch {
            waits: uses(info.p_wait_semaphore_infos, info.wait_semaphore_info_count),
            commands: commands.map(|one| one.command_buffer).collect(),
            signals: uses(info.p_signal_semaphore_infos, info.signal_semaphore_info_count),
        }
    }
}
