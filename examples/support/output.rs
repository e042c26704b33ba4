//! The destination of a frame's picture, and the declarations that it needs.

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::{
    BatchId, BufferDesc, CommandBufferId, FrameBuilder, ImageDesc, PassId, Persistence, ResourceId,
    SemaphoreId,
};
use tileheap::units::Bytes;

/// The destination of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// An image that the caller supplies, copied to a buffer that the host reads.
    Buffer,
    /// A swapchain image of this format, between an acquire and a present semaphore.
    Swapchain(vk::Format),
}

/// The copy of the picture to a buffer that is imported with every frame.
#[derive(Clone, Copy, Debug)]
pub struct ReadBack {
    pub pass: PassId,
    pub texels: ResourceId,
}

/// The semaphores of a swapchain image, imported with every frame.
#[derive(Clone, Copy, Debug)]
pub struct Semaphores {
    /// Signaled when the swapchain image was acquired.
    pub acquired: SemaphoreId,
    /// Signaled when the swapchain image may be presented.
    pub presentable: SemaphoreId,
}

impl Output {
    pub fn format(self) -> vk::Format {
        match self {
            Output::Buffer => vk::Format::R8G8B8A8_UNORM,
            Output::Swapchain(format) => format,
        }
    }

    /// Declares the picture, an external image.
    pub fn picture(self, frame: &mut FrameBuilder, extent: vk::Extent2D) -> ResourceId {
        let desc = ImageDesc::new(self.format(), extent);
        frame.resource("picture", desc, Persistence::External(picture_states(self)))
    }

    /// Declares the work after the last pass that writes the picture, in that pass's batch and command buffer.
    pub fn finish(
        self,
        frame: &mut FrameBuilder,
        extent: vk::Extent2D,
        batch: BatchId,
        commands: CommandBufferId,
        picture: ResourceId,
    ) -> (Option<ReadBack>, Option<Semaphores>) {
        match self {
            Output::Buffer => {
                let size = Bytes(u64::from(extent.width) * u64::from(extent.height) * 4);
                let desc = BufferDesc::new(size);
                let texels = frame.resource("texels", desc, Persistence::External(ExternalDesc::READ_BACK));
                let pass = frame
                    .transfer_pass(commands, "read_back")
                    .transfer_source(picture);
                let pass = pass.transfer_destination(texels).id();
                (Some(ReadBack { pass, texels }), None)
            }
            Output::Swapchain(_) => {
                let acquired = frame.external_semaphore("acquired");
                let presentable = frame.external_semaphore("presentable");
                frame.wait(batch, acquired, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
                frame.signal(batch, presentable, vk::PipelineStageFlags2::ALL_COMMANDS);
                let semaphores = Semaphores {
                    acquired,
                    presentable,
                };
                (None, Some(semaphores))
            }
        }
    }
}

fn picture_states(output: Output) -> ExternalDesc {
    match output {
        Output::Swapchain(_) => ExternalDesc::SWAPCHAIN,
        // The previous frame may still copy from it.
        Output::Buffer => {
            let copied = ResourceState::new(
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                vk::PipelineStageFlags2::ALL_TRANSFER,
                vk::AccessFlags2::NONE,
            );
            let entry = ResourceState {
                layout: vk::ImageLayout::UNDEFINED,
                ..copied
            };
            ExternalDesc { entry, exit: copied }
        }
    }
}
