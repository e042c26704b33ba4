//! Parameters of a synthetic frame.

use ash::vk;

/// Parameters of a [`synthetic`](super::synthetic()) frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntheticDesc {
    /// Number of passes; at least 2 are made.
    pub passes: u32,
    /// Number of resources; at least 4 are made: two external inputs, the swapchain image, and one transient.
    pub resources: u32,
    /// Number of batches; at least 1 and at most one for each pass. A submit has one or two batches, a batch one to three
    /// command buffers.
    pub batches: u32,
    /// Number of queues; at least 1. The first can draw, compute and transfer, the others compute and transfer.
    pub queues: u32,
    /// Base extent of scaled images, in texels.
    pub base_extent: vk::Extent2D,
}

impl Default for SyntheticDesc {
    /// Describes a frame of 30 passes and 40 resources, in two batches on one queue, at 1920 x 1080.
    fn default() -> SyntheticDesc {
        SyntheticDesc {
            passes: 30,
            resources: 40,
            batches: 2,
            queues: 1,
            base_extent: vk::Extent2D {
                width: 1920,
                height: 1080,
            },
        }
    }
}
