//! Descriptions of frames as arrays of structures. Fields that are zero have their default value.

use ash::vk;

use crate::strings::StringView;
use crate::structs::sized;
use crate::vulkan::*;

sized! { Input:
    QueueDesc to name;
    SemaphoreDesc to name;
    ResourceDesc to size;
    AccessDesc to measured_savings;
    PassDesc to accesses;
    CommandBufferDesc to passes;
    SemaphoreUse to stages;
    BatchDesc to command_buffers;
    SubmitDesc to batches;
    FrameDesc to semaphores;
}

/// A queue that the frame submits to.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct QueueDesc {
    /// `sizeof(ThQueueDesc)`.
    pub struct_size: u32,
    /// The capabilities that the frame needs.
    pub capabilities: vk::QueueFlags,
    /// The name of the queue, unique in the frame.
    pub name: StringView,
}

/// A semaphore between batches.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SemaphoreDesc {
    /// `sizeof(ThSemaphoreDesc)`.
    pub struct_size: u32,
    /// `VK_TRUE` if work outside of the frame also signals or waits for the semaphore, such as swapchain acquisition and presentation.
    pub external: vk::Bool32,
    /// The name of the semaphore, unique in the frame.
    pub name: StringView,
}

/// The state of an external resource before or after the frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ExternalState {
    /// The layout; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers, and before the frame for contents that do not matter.
    pub layout: vk::ImageLayout,
    /// The queue family, outside of the device, that owns the resource.
    pub family: ExternalFamilyValue,
    /// The pipeline stages that access the resource before or after the frame.
    pub stages: vk::PipelineStageFlags2,
    /// The access types of those stages.
    pub access: vk::AccessFlags2,
}

/// An image or a buffer. Its usage derives from the accesses.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ResourceDesc {
    /// `sizeof(ThResourceDesc)`.
    pub struct_size: u32,
    /// Image or buffer.
    pub resource_type: ResourceTypeValue,
    /// The name of the resource, unique in the frame.
    pub name: StringView,
    /// The time for which the contents of the resource are needed.
    pub persistence: PersistenceValue,
    /// The constraint on placing the resource in tile memory.
    pub tile_constraint: TileConstraintValue,
    /// The state of an external resource before the frame.
    pub entry: ExternalState,
    /// The state of an external resource after the frame.
    pub exit: ExternalState,
    /// Bits of `ThResourceFlag`.
    pub flags: ResourceFlags,
    /// The format of an image.
    pub format: vk::Format,
    /// The size of an image in texels; depth 0 means 1. All zeros if `scale` is set.
    pub extent: vk::Extent3D,
    /// The size of an image as fractions of the frame's base extent, rounded up. Zeros if `extent` is set.
    pub scale: [f32; 2],
    /// Mip levels; 0 means 1.
    pub mip_levels: u32,
    /// Array layers; 0 means 1.
    pub array_layers: u32,
    /// Samples per texel; 0 means `VK_SAMPLE_COUNT_1_BIT`.
    pub samples: vk::SampleCountFlags,
    /// Creation flags of an image in addition to those that follow from the plan.
    pub image_flags: vk::ImageCreateFlags,
    /// Usage of an image in addition to that of its accesses.
    pub image_usage: vk::ImageUsageFlags,
    /// Usage of a buffer in addition to that of its accesses.
    pub buffer_usage: vk::BufferUsageFlags,
    /// A number that the caller chooses for structures that it chains to the creation of the image or buffer; 0 for none. Dynamic frames
    /// need 0.
    pub hook: u32,
    /// Zero.
    pub reserved: u32,
    /// The size of a buffer in bytes.
    pub size: u64,
}

/// One use of one resource by one pass.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AccessDesc {
    /// `sizeof(ThAccessDesc)`.
    pub struct_size: u32,
    /// The use of the resource.
    pub kind: AccessKindValue,
    /// The index of the resource.
    pub resource: u32,
    /// The index of the subpass of a render pass that makes the access. Accesses of a pass are listed by subpass.
    pub subpass: u32,
    /// Bits of `ThAccessFlag`. Without `TH_ACCESS_FLAG_READ` and `TH_ACCESS_FLAG_WRITE`, attachments are written, and read if they are loaded;
    /// transfer destinations are written; everything else that can only be read is read. Storage resources, device addresses and tile
    /// attachments need one or both.
    pub flags: AccessFlags,
    /// The load operation of a written attachment. Other resources keep their contents if they are read and written, and lose them if they are only
    /// written.
    pub load_op: vk::AttachmentLoadOp,
    /// The value for `VK_ATTACHMENT_LOAD_OP_CLEAR`, in the numeric type of the format.
    pub clear: ClearUnion,
    /// The pipeline stages of the access; 0 for those that follow from the kind and the pass.
    pub stages: vk::PipelineStageFlags2,
    /// The part of an image. Zeros mean all aspects, and all levels and layers from the first on; for an attachment, level 0 only. Slices of 3D
    /// images count as layers.
    pub range: vk::ImageSubresourceRange,
    /// The type of the view, with `TH_ACCESS_FLAG_VIEW_TYPE`.
    pub view_type: vk::ImageViewType,
    /// The format of the view; `VK_FORMAT_UNDEFINED` for that of the image.
    pub view_format: vk::Format,
    /// The index of the resource whose samples a resolve attachment receives.
    pub resolve_source: u32,
    /// The maximum distance of a read from the fragment's own pixel, in texels, with `TH_ACCESS_FLAG_REACH`; `UINT32_MAX` for anywhere.
    pub reach_texels: u32,
    /// The measured savings of keeping the resource on chip for this access, in bytes of memory traffic per frame, with `TH_ACCESS_FLAG_MEASURED`.
    pub measured_savings: u64,
}

/// A pass: draws of one render pass instance, or dispatches or copies between barriers.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PassDesc {
    /// `sizeof(ThPassDesc)`.
    pub struct_size: u32,
    /// The kind of commands. 0 is a render pass.
    pub pass_type: PassTypeValue,
    /// The name of the pass, unique in the frame.
    pub name: StringView,
    /// Bits of `ThPassFlag`.
    pub flags: PassFlags,
    /// Permission to skip the pass in a frame.
    pub skipped_outputs: SkippedOutputsValue,
    /// The area that the pass renders to, with `TH_PASS_FLAG_RENDER_AREA`. Without the flag, the area is from the origin to the smallest width and the
    /// smallest height of all attachments, input attachments included; the report of a plan names passes that thus leave out a part of an attachment.
    pub render_area: vk::Rect2D,
    /// The view mask of multiview; 0 without multiview.
    pub view_mask: u32,
    /// The samples of the pass's pipelines if they differ from those of the attachments, or 0.
    pub samples: vk::SampleCountFlags,
    /// The cost of one more execution, in bytes of memory traffic, with `TH_PASS_FLAG_STRIPS`.
    pub repeat_bytes: u64,
    /// A number that the caller chooses for structures that it chains to the render pass; 0 for none. Dynamic frames need 0.
    pub hook: u32,
    /// The number of elements of `accesses`.
    pub access_count: u32,
    /// The accesses of the pass.
    pub accesses: *const AccessDesc,
}

/// A primary command buffer.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CommandBufferDesc {
    /// `sizeof(ThCommandBufferDesc)`.
    pub struct_size: u32,
    /// The number of elements of `passes`.
    pub pass_count: u32,
    /// The name of the command buffer, unique in the frame.
    pub name: StringView,
    /// The passes of the command buffer, in order.
    pub passes: *const PassDesc,
}

/// A semaphore that a batch waits for or signals.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SemaphoreUse {
    /// `sizeof(ThSemaphoreUse)`.
    pub struct_size: u32,
    /// The index of the semaphore.
    pub semaphore: u32,
    /// The stages that wait, or whose completion is signaled.
    pub stages: vk::PipelineStageFlags2,
}

/// Command buffers that are submitted together (`VkSubmitInfo2`).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct BatchDesc {
    /// `sizeof(ThBatchDesc)`.
    pub struct_size: u32,
    /// The number of elements of `waits`.
    pub wait_count: u32,
    /// The semaphores that the batch waits for.
    pub waits: *const SemaphoreUse,
    /// The number of elements of `signals`.
    pub signal_count: u32,
    /// The number of elements of `commandBuffers`.
    pub command_buffer_count: u32,
    /// The semaphores that the batch signals.
    pub signals: *const SemaphoreUse,
    /// The command buffers of the batch, in order.
    pub command_buffers: *const CommandBufferDesc,
}

/// One call of `vkQueueSubmit2`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SubmitDesc {
    /// `sizeof(ThSubmitDesc)`.
    pub struct_size: u32,
    /// The index of the queue.
    pub queue: u32,
    /// The number of elements of `batches`.
    pub batch_count: u32,
    /// The batches of the submit, in order.
    pub batches: *const BatchDesc,
}

/// A frame: resources, and passes in the order in which they are submitted.
///
/// Either `submits` or `passes` is used. With `passes`, the frame is one command buffer on one queue; without `queues`, that is a graphics queue.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FrameDesc {
    /// `sizeof(ThFrameDesc)`.
    pub struct_size: u32,
    /// The number of elements of `resources`.
    pub resource_count: u32,
    /// The name of the frame.
    pub name: StringView,
    /// The extent that the scales of images are fractions of, in texels.
    pub base_extent: vk::Extent2D,
    /// Images and buffers. Accesses refer to them by index.
    pub resources: *const ResourceDesc,
    /// The number of elements of `passes`.
    pub pass_count: u32,
    /// The number of elements of `submits`.
    pub submit_count: u32,
    /// The passes of a frame with a single command buffer.
    pub passes: *const PassDesc,
    /// The submits of a frame with several command buffers, batches or queues.
    pub submits: *const SubmitDesc,
    /// The number of elements of `queues`.
    pub queue_count: u32,
    /// The number of elements of `semaphores`.
    pub semaphore_count: u32,
    /// The queues that submits refer to by index.
    pub queues: *const QueueDesc,
    /// The semaphores that batches refer to by index.
    pub semaphores: *const SemaphoreDesc,
}
