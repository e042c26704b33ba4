//! The calls and commands that the driver records.

use ash::vk;
use ash::vk::Handle;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    pub kind: vk::ObjectType,
    pub handle: u64,
}

impl Object {
    pub fn of<T: Handle>(handle: T) -> Object {
        Object {
            kind: T::TYPE,
            handle: handle.as_raw(),
        }
    }
}

/// A call of a function that is not a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Any call that creates an object, except memory.
    Create { function: &'static str, object: Object },
    /// The subpasses of `vkCreateRenderPass2`, after the `Create` of the same call.
    Subpasses {
        render_pass: vk::RenderPass,
        subpasses: Vec<Subpass>,
    },
    /// Any call that returned an error.
    Failed {
        function: &'static str,
        result: vk::Result,
    },
    /// Any call that destroys or frees a live object.
    Destroy { function: &'static str, object: Object },
    /// `vkAllocateMemory`.
    Allocate {
        memory: vk::DeviceMemory,
        memory_type: u32,
        size: u64,
        /// The image or buffer that the memory is dedicated to.
        dedicated: Option<Object>,
    },
    /// Binding of an image or buffer to memory.
    Bind {
        object: Object,
        memory: vk::DeviceMemory,
        offset: u64,
    },
    /// Any `vkCmd*`.
    Record {
        command_buffer: vk::CommandBuffer,
        command: Command,
    },
    /// `vkQueueSubmit` or `vkQueueSubmit2`.
    Submit {
        queue: vk::Queue,
        batches: Vec<SubmittedBatch>,
        fence: vk::Fence,
    },
    /// A host wait: for fences, semaphores, a queue or the device.
    Wait { function: &'static str },
    /// `vkSetDebugUtilsObjectNameEXT`.
    Name { object: Object, name: String },
    /// Any other call that changes state: maps, resets, signals.
    Other { function: &'static str, object: Object },
}

/// A subpass as passed to `vkCreateRenderPass2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Subpass {
    pub view_mask: u32,
    pub colors: Vec<Reference>,
    pub resolves: Vec<Reference>,
    pub inputs: Vec<Reference>,
    pub depth: Option<Reference>,
    pub depth_resolve: Option<DepthResolve>,
    pub preserved: Vec<u32>,
}

/// A reference to an attachment, with the aspects of input attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    pub attachment: u32,
    pub layout: vk::ImageLayout,
    pub aspects: vk::ImageAspectFlags,
}

/// `VkSubpassDescriptionDepthStencilResolve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthResolve {
    pub target: Reference,
    pub depth: vk::ResolveModeFlags,
    pub stencil: vk::ResolveModeFlags,
}

/// A batch of a submission, with semaphore values (0 for binary semaphores).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmittedBatch {
    pub waits: Vec<(vk::Semaphore, u64)>,
    pub command_buffers: Vec<vk::CommandBuffer>,
    pub signals: Vec<(vk::Semaphore, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `vkCmdBindTileMemoryQCOM`.
    BindTileMemory(Option<vk::DeviceMemory>),
    /// `vkCmdPipelineBarrier` or `vkCmdPipelineBarrier2`.
    Barriers {
        synchronization_2: bool,
        barriers: Vec<Barrier>,
    },
    /// `vkCmdBeginRendering`, `vkCmdBeginRenderPass`.
    BeginRendering {
        dynamic: bool,
        secondary: bool,
        area: vk::Rect2D,
        /// Color, depth, stencil and resolve attachments, in that order.
        attachments: Vec<Attachment>,
    },
    /// `vkCmdEndRendering`, `vkCmdEndRenderPass`.
    EndRendering,
    /// Any draw.
    Draw,
    /// Any dispatch.
    Dispatch,
    /// Any copy, blit, fill, clear or resolve, by the function's name.
    Transfer(&'static str),
    /// `vkCmdExecuteCommands`.
    Execute(Vec<vk::CommandBuffer>),
    /// Begin (`Some`) or end of a debug label.
    Label(Option<String>),
    /// State, queries and anything else, by the function's name.
    State(&'static str),
}

/// The resource that a barrier applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierTarget {
    Memory,
    Buffer(vk::Buffer),
    Image(vk::Image),
}

/// A barrier; those of `vkCmdPipelineBarrier` converted to 64-bit flags (common bits have the same values).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    pub target: BarrierTarget,
    pub src_stages: vk::PipelineStageFlags2,
    pub src_access: vk::AccessFlags2,
    pub dst_stages: vk::PipelineStageFlags2,
    pub dst_access: vk::AccessFlags2,
    pub old_layout: vk::ImageLayout,
    pub new_layout: vk::ImageLayout,
    /// Source and destination queue families.
    pub families: (u32, u32),
}

/// An attachment of a render pass instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub view: vk::ImageView,
    pub image: vk::Image,
    pub resolve: bool,
    /// Load operation (`DONT_CARE` for resolve attachments).
    pub load_op: vk::AttachmentLoadOp,
    pub store_op: vk::AttachmentStoreOp,
}
