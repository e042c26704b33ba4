//! The calls and commands that the driver records.

use ash::vk;
use ash::vk::Handle;

/// An object by type and handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Object {
    /// Its type.
    pub kind: vk::ObjectType,
    /// Its handle.
    pub handle: u64,
}

impl Object {
    /// The object of a typed handle.
    pub fn of<T: Handle>(handle: T) -> Object {
        Object {
            kind: T::TYPE,
            handle: handle.as_raw(),
        }
    }
}

/// A call of a function that is no query.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Any that creates an object, but for memory.
    Create {
        /// The function.
        function: &'static str,
        /// What came of it.
        object: Object,
    },
    /// Any that returned an error.
    Failed {
        /// The function.
        function: &'static str,
        /// The error.
        result: vk::Result,
    },
    /// Any that destroys or frees a live object.
    Destroy {
        /// The function.
        function: &'static str,
        /// What is gone.
        object: Object,
    },
    /// `vkAllocateMemory`.
    Allocate {
        /// What came of it.
        memory: vk::DeviceMemory,
        /// Index of the type.
        memory_type: u32,
        /// Bytes.
        size: u64,
        /// The image or buffer it is dedicated to.
        dedicated: Option<Object>,
    },
    /// An image or buffer was bound to memory.
    Bind {
        /// The image or buffer.
        object: Object,
        /// The memory.
        memory: vk::DeviceMemory,
        /// Offset in it.
        offset: u64,
    },
    /// `vkBeginCommandBuffer`.
    Begin {
        /// The command buffer.
        command_buffer: vk::CommandBuffer,
        /// The memory of a chained `VkTileMemoryBindInfoQCOM`.
        inherits: Option<vk::DeviceMemory>,
    },
    /// `vkEndCommandBuffer`.
    End {
        /// The command buffer.
        command_buffer: vk::CommandBuffer,
    },
    /// Any `vkCmd*`.
    Record {
        /// The command buffer.
        command_buffer: vk::CommandBuffer,
        /// The command.
        command: Command,
    },
    /// `vkQueueSubmit` or `vkQueueSubmit2`.
    Submit {
        /// Where to.
        queue: vk::Queue,
        /// The batches.
        batches: Vec<SubmittedBatch>,
        /// The fence, or null.
        fence: vk::Fence,
    },
    /// A wait: of the host for fences, semaphores, a queue or the device.
    Wait {
        /// The function.
        function: &'static str,
    },
    /// `vkSetDebugUtilsObjectNameEXT`.
    Name {
        /// What was named.
        object: Object,
        /// How.
        name: String,
    },
    /// Anything else that changes something: maps, resets, signals.
    Other {
        /// The function.
        function: &'static str,
        /// What it was called for.
        object: Object,
    },
}

/// A batch of a submission, semaphores with their values (0 for binary ones).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmittedBatch {
    /// Waited for.
    pub waits: Vec<(vk::Semaphore, u64)>,
    /// Executed.
    pub command_buffers: Vec<vk::CommandBuffer>,
    /// Signalled.
    pub signals: Vec<(vk::Semaphore, u64)>,
}

/// A command in a command buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `vkCmdBindTileMemoryQCOM`.
    BindTileMemory(Option<vk::DeviceMemory>),
    /// `vkCmdPipelineBarrier` or `vkCmdPipelineBarrier2`.
    Barriers {
        /// Which of the two: the second.
        synchronization_2: bool,
        /// Its memory, buffer and image barriers.
        barriers: Vec<Barrier>,
    },
    /// `vkCmdBeginRendering`, `vkCmdBeginRenderPass`.
    BeginRendering {
        /// Whether it is dynamic rendering.
        dynamic: bool,
        /// Whether secondary command buffers have the contents.
        secondary: bool,
        /// Colour, depth, stencil, and resolve attachments, in that order.
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
    /// A debug label begins, or ends.
    Label(Option<String>),
    /// State, queries and anything else, by the function's name.
    State(&'static str),
}

impl Command {
    /// Whether tile contents outside the bound range die when it executes.
    pub fn is_action(&self) -> bool {
        matches!(
            self,
            Command::Draw | Command::Dispatch | Command::Transfer(_) | Command::BeginRendering { .. }
        )
    }
}

/// What a barrier is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touched {
    /// All memory.
    Memory,
    /// A buffer.
    Buffer(vk::Buffer),
    /// An image.
    Image(vk::Image),
}

/// A barrier; those of `vkCmdPipelineBarrier` widened (the common bits have the same values).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// What it is for.
    pub touched: Touched,
    /// Stages that must have finished.
    pub src_stages: vk::PipelineStageFlags2,
    /// Their accesses.
    pub src_access: vk::AccessFlags2,
    /// Stages that wait.
    pub dst_stages: vk::PipelineStageFlags2,
    /// Their accesses.
    pub dst_access: vk::AccessFlags2,
    /// Of an image.
    pub old_layout: vk::ImageLayout,
    /// Of an image.
    pub new_layout: vk::ImageLayout,
    /// Queue families, from and to.
    pub families: (u32, u32),
}

/// An attachment of a render pass instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its view.
    pub view: vk::ImageView,
    /// The image of that view.
    pub image: vk::Image,
    /// Whether samples are resolved into it.
    pub resolve: bool,
    /// Load operation (`DONT_CARE` for resolve attachments).
    pub load_op: vk::AttachmentLoadOp,
    /// Store operation.
    pub store_op: vk::AttachmentStoreOp,
}
