//! The bugs. Each comment names the rule that the program breaks, and public reports of programs that broke it.

use clap::ValueEnum;

use crate::stage::Stage;
use crate::support::error::Result;
use crate::{contents, order};

/// A way in which render graphs corrupt transient memory.
///
/// Sections are those of the Vulkan specification. `docs/guide/aliasing.md` has them in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bug {
    // Memory Aliasing: a write through one alias makes the contents undefined to the other, which must be transitioned from
    // UNDEFINED before it is used again.
    // Unity PostProcessing pull request 346: the last target of bloom was released before the pass that reads it. OloEngineBase
    // issue 547: passes that clear attachments did not count for the lifetime of their framebuffer.
    /// An image's lifetime ends before its last reader, and a pass in between gets its memory
    ShortLifetime,
    // Memory Aliasing: uses of the same bytes through two aliases must be separated by a memory dependency if one of them
    // writes; stage NONE makes none.
    // GPUOpen Anvil issue 51: transitions from UNDEFINED that wait for TOP_OF_PIPE.
    /// The barrier before an image's first use waits for stage NONE, since its old contents are not needed
    NoSourceStage,
    // Memory Aliasing: the scope of image barriers must contain all subresources that overlap. VkImageMemoryBarrier: its access
    // scopes are limited to the image that it names, so writes through another stay unavailable.
    // Vulkan-Docs issue 306: are accesses through another resource on the same memory in the scope of a barrier?
    /// An image barrier makes only its own image's writes available, not those of the image that used the memory before
    OwnImageBarrier,
    // Semaphore Waiting: only the named stages wait.
    // VulkanSceneGraph pull request 968 and AdaptiveCpp pull request 2225: waits at a stage that did not hold back the others.
    /// A submit waits for another at the stage that reads its result, after an earlier stage has overwritten its memory
    LateSemaphoreWait,
    // Memory Aliasing, as for the first bug; the bytes that a fill writes become undefined to the image that they overlap.
    // WickedEngine pull request 1704: sizes estimated from format and extent were smaller than the driver's.
    /// A buffer for all mip levels is placed with room for the first one, and is cleared completely
    OversizedClear,
    // Memory Aliasing, as for the first bug.
    // OloEngineBase pull request 250: a pool of transient targets kept a target of the old size after a resize.
    /// After a resize, a larger image is created at the old offset and overlaps the next one
    StaleOffset,
    // Memory Aliasing, as for the first bug.
    // Unity Graphics pull request 2141: another target overwrote the history of temporal antialiasing.
    /// A history image shares memory that the next frame first uses for something else
    TransientHistory,
    // Memory Aliasing, as for the second bug; Implicit Synchronization Guarantees: submission order orders no memory accesses.
    // O3DE pull request 18199: aliased memory was not synchronized with the accesses of the previous frame.
    /// Two frames in flight share memory, and the second does not wait for the first
    FramesInFlight,
    // Memory Aliasing, as for the first bug; Image Layout Transitions: a transition from UNDEFINED discards; Render Pass Load
    // Operations: LOAD preserves the contents.
    // Vulkan-ValidationLayers issue 293: a game that loads contents that it did not store. vkd3d-proton issue 945 (Horizon Zero Dawn):
    // contents that are needed after a transition from UNDEFINED.
    /// The first pass that renders to an image loads it instead of clearing it
    UnclearedTarget,
    // Memory Aliasing, as for the first bug.
    // wgpu pull request 3564: placed buffers that were used without initialization.
    /// A compute shader adds to a buffer that was never cleared
    UnclearedBuffer,
    // Memory Aliasing, as for the second bug; Pipeline Stages: a draw reads its arguments in DRAW_INDIRECT.
    // Ryujinx pull request 3798: buffer barriers lacked the read of indirect commands.
    /// Indirect draw parameters are overwritten after a barrier that waits for their upload but not for the draw
    IndirectArguments,
    // Memory Aliasing, as for the first bug.
    // flutter_scene pull request 215: transient memory was recycled after a fixed number of frames, though still in use.
    /// A result is copied to the host after another image has overwritten its memory
    LateReadback,
    // Render Pass Store Operations: DONT_CARE is a write access. Memory Aliasing, as for the first bug.
    // Vulkan-ValidationLayers issues 2333 and 2349: ANGLE assumed that DONT_CARE does not write. Godot pull request 98670: attachments that
    // need no memory, and those whose contents only need not be kept.
    /// A depth buffer that is not stored is placed over an image that is read later
    UnstoredAttachment,
}

impl Bug {
    /// Runs the program, with or without the bug.
    pub(crate) fn run(self, stage: &Stage<'_>) -> Result<()> {
        let program = match self {
            Bug::ShortLifetime => contents::short_lifetime,
            Bug::NoSourceStage => order::no_source_stage,
            Bug::OwnImageBarrier => order::own_image_barrier,
            Bug::LateSemaphoreWait => order::late_semaphore_wait,
            Bug::OversizedClear => contents::oversized_clear,
            Bug::StaleOffset => contents::stale_offset,
            Bug::TransientHistory => contents::transient_history,
            Bug::FramesInFlight => order::frames_in_flight,
            Bug::UnclearedTarget => contents::uncleared_target,
            Bug::UnclearedBuffer => contents::uncleared_buffer,
            Bug::IndirectArguments => order::indirect_arguments,
            Bug::LateReadback => contents::late_readback,
            Bug::UnstoredAttachment => contents::unstored_attachment,
        };
        program(stage)
    }
}
