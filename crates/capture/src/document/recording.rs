//! The recorded commands of a frame, and the host's actions between its submissions: the `recording` object of a captured frame, which `tileheap
//! check-frame` checks.
//!
//! It does not depend on the frame's passes and resources: commands are not merged, alternating images are separate, and queues are the
//! program's. Indices refer to the lists of [`Recording`]. Memories, resources and queues are numbered in order of first use; semaphores,
//! fences and events have arbitrary numbers, which are the same for the same handle.

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap::frame::SubresourceRange;
use tileheap::names;
use tileheap_json::is_default;
use tileheap_layer::dependencies;

/// Everything that a frame submits, and the actions of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recording {
    /// `bufferImageGranularity` of the device.
    pub granularity: u64,
    /// Allocations of memory, indexed by [`MemoryBinding::object`].
    pub memories: Vec<MemoryFacts>,
    /// The images and buffers that commands refer to.
    pub resources: Vec<Resource>,
    /// Command buffers as they were recorded: one that is submitted twice is listed once.
    pub command_buffers: Vec<CommandBuffer>,
    /// Submissions, and the host's actions before, between and after them.
    pub steps: Vec<RecordedStep>,
    /// Timeline semaphores, with the highest value that was signaled, or whose signal operation was submitted, before the frame.
    pub timelines: Vec<(u32, u64)>,
    /// Binary semaphores that were signaled, or whose signal operation was submitted, before the frame, and that have not been waited for.
    pub signaled: Vec<u32>,
}

/// An allocation of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryFacts {
    /// True if the host has mapped the allocation.
    #[serde(skip_serializing_if = "is_default")]
    pub mapped: bool,
}

/// An image or a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// The debug name of the resource, or a name derived from its kind and the order of creation.
    pub name: String,
    /// The kind of resource, with its description.
    pub kind: ResourceKind,
    /// The memory that the resource is bound to; `None` for images of a swapchain.
    #[serde(default, skip_serializing_if = "is_default")]
    pub placement: Option<MemoryBinding>,
    /// True if the resource was created in the frame, and holds nothing before its first write.
    #[serde(default, skip_serializing_if = "is_default")]
    pub created: bool,
    /// True if the host may write the resource: a buffer or a linear image in mapped memory, or an image that the host can copy to and transition.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host_writes: bool,
    /// True for `VK_SHARING_MODE_CONCURRENT`: queue families do not own the resource.
    #[serde(default, skip_serializing_if = "is_default")]
    pub concurrent: bool,
    /// True for `VK_SHARING_MODE_EXCLUSIVE` if the contents of the resource become undefined when another queue family accesses them without a
    /// transfer. False if this is unknown: in documents of earlier versions, and with the feature `maintenance9` for resources that may need no
    /// transfer.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exclusive: bool,
    /// The reason why accesses to the resource cannot be checked: sparse, protected or external memory, multiple planes; `None` if they can be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unchecked: Option<String>,
}

/// The memory that a resource is bound to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBinding {
    /// The allocation: in a recording an index into [`Recording::memories`], otherwise its number in order of allocation.
    pub object: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Size in bytes, as required by the driver.
    pub size: u64,
}

/// The kind of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceKind {
    /// A buffer.
    Buffer {
        /// The size of the buffer in bytes.
        size: u64,
    },
    /// An image.
    Image {
        /// The format of the image.
        #[serde(with = "names::value")]
        format: vk::Format,
        /// Width, height and depth in texels.
        extent: [u32; 3],
        /// Mip levels.
        levels: u32,
        /// Array layers.
        layers: u32,
        /// True for a 3D image, whose slices count as layers.
        #[serde(default, skip_serializing_if = "is_default")]
        is_3d: bool,
        /// True for linear tiling.
        #[serde(default, skip_serializing_if = "is_default")]
        linear: bool,
        /// True for an image of a swapchain.
        #[serde(default, skip_serializing_if = "is_default")]
        swapchain: bool,
        /// Images with the same number were created with equal structures, with `VK_IMAGE_CREATE_ALIAS_BIT`; `None` without that flag.
        #[serde(default, skip_serializing_if = "is_default")]
        alias_group: Option<u32>,
    },
}

/// A command buffer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandBuffer {
    /// The debug name of the command buffer, or a name derived from its position.
    pub name: String,
    /// The commands that access resources or synchronize, in recording order; those of secondary command buffers are listed where they are executed.
    pub commands: Vec<Command>,
}

/// A recorded command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The name of the command, such as `vkCmdDispatch`. A draw also represents the draws after it that use the same pipeline and descriptors.
    pub call: String,
    /// The position of the command among all commands of the command buffer, from 1, including commands that neither access resources nor synchronize.
    pub number: u32,
    /// The innermost enclosing debug label; empty if there is none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub label: String,
    /// The name of the secondary command buffer that the command was recorded in; empty for a primary one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub secondary: String,
    /// The effect of the command.
    pub action: CommandEffect,
    /// Accesses that could not be followed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unresolved: Vec<UnfollowedAccess>,
}

/// The effect of a command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandEffect {
    /// The command has no effect, or none that was followed.
    #[default]
    None,
    /// The accesses of a command. A draw, or a clear of attachments, also accesses the attachments of its subpass.
    Access(Vec<RecordedAccess>),
    /// A pipeline barrier.
    Barrier(Vec<Dependency>),
    /// Sets an event.
    SetEvent {
        /// The number of the event.
        event: u32,
        /// The stages of the first synchronization scope.
        #[serde(with = "names::bits")]
        stages: vk::PipelineStageFlags2,
    },
    /// Resets an event.
    ResetEvent {
        /// The number of the event.
        event: u32,
    },
    /// Waits for events.
    WaitEvents {
        /// The numbers of the events.
        events: Vec<u32>,
        /// The dependencies.
        dependencies: Vec<Dependency>,
    },
    /// Begins a render pass instance with its first subpass.
    Begin(Box<RenderPassInstance>),
    /// Begins the next subpass.
    NextSubpass,
    /// Ends the render pass instance.
    End,
}

/// An access of a command that could not be followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnfollowedAccess {
    /// The reason why the access could not be followed.
    pub kind: UnresolvedKind,
    /// The shader, descriptor or command, in words.
    pub what: String,
    /// The indices of the resources that may be accessed; empty if any resource may be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: Vec<u32>,
}

/// The reason why an access could not be followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnresolvedKind {
    /// By a buffer device address.
    DeviceAddress,
    /// Through a descriptor buffer.
    DescriptorBuffer,
    /// An array of descriptors, any element of which a shader may use.
    BindlessArray,
    /// A shader that could not be analyzed, or that the layer has not seen: binary shader objects, pipelines that only come from a cache.
    Shader,
    /// Acceleration structures and ray tracing.
    RayTracing,
    /// Video sessions.
    Video,
    /// A command that the layer does not follow, such as device-generated commands or transform feedback.
    #[default]
    Command,
    /// A descriptor, a view or a resource whose creation the layer has not seen.
    UnknownObject,
}

impl UnresolvedKind {
    /// Returns the reason in words.
    pub fn words(self) -> &'static str {
        match self {
            UnresolvedKind::DeviceAddress => "buffer device addresses",
            UnresolvedKind::DescriptorBuffer => "descriptor buffers",
            UnresolvedKind::BindlessArray => "arrays of descriptors indexed in shaders",
            UnresolvedKind::Shader => "shaders that could not be analyzed",
            UnresolvedKind::RayTracing => "ray tracing",
            UnresolvedKind::Video => "video",
            UnresolvedKind::Command => "commands that are not supported",
            UnresolvedKind::UnknownObject => "objects whose creation was not recorded",
        }
    }
}

/// One access: a part of one resource at one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedAccess {
    /// The index of the resource in [`Recording::resources`].
    pub resource: u32,
    /// The part of the resource.
    pub part: ResourcePart,
    /// The stage; exactly one bit.
    #[serde(with = "names::bits")]
    pub stage: vk::PipelineStageFlags2,
    /// The access type; exactly one bit.
    #[serde(with = "names::bits")]
    pub access: vk::AccessFlags2,
    /// True if the whole part is accessed; otherwise an unknown subset is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub whole: bool,
    /// True if it is possible that the command does not perform the access: on some paths of a shader, through one of several descriptors, or in an
    /// indirect or conditional draw.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conditional: bool,
    /// The layout in which the command expects the image; `None` for buffers, and if it expects none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub layout: Option<Layout>,
}

/// An image layout by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Layout(#[serde(with = "names::value")] pub vk::ImageLayout);

/// A part of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourcePart {
    /// Bytes `[first, end)` of a buffer.
    Bytes(u64, u64),
    /// Subresources of an image, or an area of them.
    Texels {
        /// Aspects, levels and layers, fully specified. Slices of 3D images are layers.
        range: SubresourceRange,
        /// Columns and rows, `[first, end)` each, in a single level; `None` for all.
        #[serde(default, skip_serializing_if = "is_default")]
        area: Option<[[u32; 2]; 2]>,
    },
}

/// A dependency of a barrier, or of a wait for events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dependency {
    /// The scopes of the dependency.
    #[serde(flatten)]
    pub scopes: DependencyScopes,
    /// The memory that the dependency affects.
    #[serde(default, skip_serializing_if = "is_default")]
    pub memory: AffectedMemory,
    /// The source and the destination queue family of an ownership transfer; `None` without one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub families: Option<[u32; 2]>,
}

/// The scopes of a dependency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DependencyScopes {
    /// The stages of the first synchronization scope.
    #[serde(skip_serializing_if = "is_default", with = "names::bits")]
    pub src_stages: vk::PipelineStageFlags2,
    /// Accesses that are made available.
    #[serde(skip_serializing_if = "is_default", with = "names::bits")]
    pub src_access: vk::AccessFlags2,
    /// The stages of the second synchronization scope.
    #[serde(skip_serializing_if = "is_default", with = "names::bits")]
    pub dst_stages: vk::PipelineStageFlags2,
    /// Accesses to which memory is made visible.
    #[serde(skip_serializing_if = "is_default", with = "names::bits")]
    pub dst_access: vk::AccessFlags2,
}

impl DependencyScopes {
    /// Converts the scopes of a barrier.
    pub(crate) fn of(one: &dependencies::Dependency) -> DependencyScopes {
        DependencyScopes {
            src_stages: one.src_stages,
            src_access: one.src_access,
            dst_stages: one.dst_stages,
            dst_access: one.dst_access,
        }
    }
}

/// The memory affected by a dependency.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AffectedMemory {
    /// None: an execution dependency only, or a barrier for a resource whose creation was not recorded.
    #[default]
    None,
    /// All memory: a global memory barrier.
    All,
    /// A buffer.
    Buffer {
        /// The index of the buffer.
        resource: u32,
        /// The first byte of the range.
        first: u64,
        /// The byte after the last one of the range.
        end: u64,
    },
    /// Subresources of an image; a layout transition if the layouts differ.
    Image {
        /// The index of the image.
        resource: u32,
        /// The part of the image, fully specified.
        range: SubresourceRange,
        /// The old layout.
        #[serde(with = "names::value")]
        old: vk::ImageLayout,
        /// The new layout.
        #[serde(with = "names::value")]
        new: vk::ImageLayout,
    },
}

/// A render pass instance: a render pass object with its framebuffer, or dynamic rendering, represented as one subpass whose attachments have the
/// same layouts before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RenderPassInstance {
    /// The attachments. Depth and stencil of one view with different layouts are listed separately.
    pub attachments: Vec<Attachment>,
    /// Columns and rows of the render area, `[first, end)` each; `None` if it covers every attachment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub area: Option<[[u32; 2]; 2]>,
    /// The subpasses.
    pub subpasses: Vec<Subpass>,
    /// The dependencies of the render pass object between different subpasses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dependencies: Vec<SubpassDependency>,
    /// True for dynamic rendering that continues a suspended instance.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resumes: bool,
    /// True for dynamic rendering that is suspended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub suspends: bool,
}

/// An attachment of a render pass instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// The index of the image.
    pub resource: u32,
    /// The subresources of the attachment's view that the instance renders.
    pub range: SubresourceRange,
    /// The load operation, of the depth aspect if there is also stencil.
    #[serde(with = "names::value")]
    pub load: vk::AttachmentLoadOp,
    /// The store operation, of the depth aspect if there is also stencil; `NONE` for a resolve target of dynamic rendering.
    #[serde(with = "names::value")]
    pub store: vk::AttachmentStoreOp,
    /// The load operation of the stencil aspect.
    #[serde(with = "names::value")]
    pub stencil_load: vk::AttachmentLoadOp,
    /// The store operation of the stencil aspect.
    #[serde(with = "names::value")]
    pub stencil_store: vk::AttachmentStoreOp,
    /// The layout before the instance.
    #[serde(with = "names::value")]
    pub initial: vk::ImageLayout,
    /// The layout after the instance.
    #[serde(with = "names::value")]
    pub last: vk::ImageLayout,
}

/// The attachments that a subpass uses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subpass {
    /// The attachments that the subpass uses, without preserved and unused ones.
    pub uses: Vec<AttachmentUse>,
    /// The view mask of multiview, or 0 without multiview.
    #[serde(default, skip_serializing_if = "is_default")]
    pub view_mask: u32,
}

/// An attachment in a subpass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttachmentUse {
    /// The index of the attachment in the instance.
    pub attachment: u32,
    /// The role of the attachment in the subpass.
    pub role: Role,
    /// The layout of the attachment in the subpass.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
    /// The aspects that a resolve covers; empty for all of the attachment.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub resolved: vk::ImageAspectFlags,
}

/// The role of an attachment in a subpass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A color attachment.
    Color,
    /// The depth/stencil attachment.
    DepthStencil,
    /// An input attachment.
    Input,
    /// The source of a resolve operation, in addition to its use as a color or depth attachment.
    ResolveSource,
    /// The target of a resolve operation.
    ResolveTarget,
}

/// A dependency of a render pass object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubpassDependency {
    /// The source subpass; `None` for `VK_SUBPASS_EXTERNAL`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub from: Option<u32>,
    /// The destination subpass; `None` for `VK_SUBPASS_EXTERNAL`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub to: Option<u32>,
    /// The scopes of the dependency.
    #[serde(flatten)]
    pub scopes: DependencyScopes,
}

/// An action of the host: a submission, a wait, a signal, or a call of the presentation engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedStep {
    /// A batch is submitted.
    Submit(Batch),
    /// The host observed that a fence is signaled.
    WaitFence(u32),
    /// A fence is reset.
    ResetFence(u32),
    /// The host observed a value of a timeline semaphore.
    WaitSemaphore {
        /// The number of the semaphore.
        semaphore: u32,
        /// The value that the host observed.
        value: u64,
    },
    /// The host signals a timeline semaphore.
    SignalSemaphore {
        /// The number of the semaphore.
        semaphore: u32,
        /// The value that the host signals.
        value: u64,
    },
    /// The host waits until a queue is idle, or the device if `None`.
    WaitIdle(Option<u32>),
    /// The program acquires an image from the presentation engine.
    Acquire {
        /// The index of the image.
        resource: u32,
        /// The number of the semaphore that the acquisition signals, if any.
        #[serde(default, skip_serializing_if = "is_default")]
        semaphore: Option<u32>,
        /// The number of the fence that the acquisition signals, if any.
        #[serde(default, skip_serializing_if = "is_default")]
        fence: Option<u32>,
    },
    /// The program presents images.
    Present {
        /// The indices of the images.
        resources: Vec<u32>,
        /// The numbers of the semaphores that the presentation waits for.
        waits: Vec<u32>,
    },
    /// The host sets or resets an event.
    HostEvent(u32),
    /// A call after which the program may order its work in a way that is not recorded: an exported fence or semaphore, the status of an event, a
    /// wait for presentation.
    Outside(String),
}

/// A submitted batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The number of the queue.
    pub queue: u32,
    /// The family of the queue.
    pub family: u32,
    /// The semaphores that the batch waits for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits: Vec<SemaphoreUse>,
    /// The indices of the command buffers that the batch runs, in order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub command_buffers: Vec<u32>,
    /// The semaphores that the batch signals.
    #[serde(default, skip_serializing_if = "is_default")]
    pub signals: Vec<SemaphoreUse>,
    /// The number of the fence that the batch signals, after all earlier work on its queue; `None` for no fence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fence: Option<u32>,
}

/// A semaphore in a submission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SemaphoreUse {
    /// The number in the capture that identifies the semaphore.
    pub semaphore: u32,
    /// The value, for a timeline semaphore; 0 for a binary one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: u64,
    /// The stages that wait, or whose completion is signaled.
    #[serde(with = "names::bits")]
    pub stages: vk::PipelineStageFlags2,
}
