//! Programs: the recorded and submitted commands of a device, reduced to the parts that affect order and contents.
//!
//! The caller numbers queues, events, semaphores and fences, and gives every command a [`Tag`] that identifies it in findings.

use std::sync::Arc;

use ash::vk;
use tileheap_units::Run;
use vk::{AccessFlags2 as A, ImageLayout, PipelineStageFlags2 as S};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($number:ty);)+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $number);)+
    };
}

numbers! {
    /// Identifies an address space: a `VkDeviceMemory`, or the tile memory of one queue.
    MemoryId(u64);
    /// Identifies a buffer or an image.
    ResourceId(u32);
    /// Identifies a queue of the device.
    QueueId(u64);
    /// Identifies a `VkEvent`.
    EventId(u64);
    /// Identifies a `VkSemaphore` of either type.
    SemaphoreId(u64);
    /// Identifies a `VkFence`.
    FenceId(u64);
    /// Identifies a command in findings; unique within a batch.
    Tag(u64);
}

/// A buffer or an image, bound to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The memory that the resource is bound to.
    pub memory: MemoryId,
    /// The resource's first byte in that memory.
    pub first: u64,
    /// The byte after the resource's last one.
    pub end: u64,
    /// The mapping of the resource to its bytes.
    pub tiling: Tiling,
    /// An image that interprets the same bytes consistently: both are created and bound identically with `VK_IMAGE_CREATE_ALIAS_BIT`, or share
    /// external memory.
    pub alias_of: Option<ResourceId>,
    /// The sharing mode: exclusive contents have an owner.
    pub sharing: SharingMode,
}

/// The sharing mode of a resource: whether one queue family at a time owns its contents.
///
/// Source: "Resource Sharing Mode".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SharingMode {
    /// `VK_SHARING_MODE_CONCURRENT`, or unknown. With the feature `maintenance9` also buffers and linear images, whose contents all queue families
    /// of the device preserve.
    #[default]
    Concurrent,
    /// `VK_SHARING_MODE_EXCLUSIVE`: contents become undefined when another queue family of the device accesses them without a transfer.
    Exclusive,
    /// `VK_SHARING_MODE_EXCLUSIVE`, unless
    /// [`Model::set_implicit_transfers`](crate::Model::set_implicit_transfers) names the two queue families: with the feature `maintenance9`, images
    /// with optimal tiling that cannot be attachments.
    ExclusiveUnlessImplicit,
}

impl SharingMode {
    /// Returns the sharing mode of a buffer. With the feature `maintenance9`, exclusive buffers need no ownership transfers.
    pub fn of_buffer(mode: vk::SharingMode, has_maintenance9: bool) -> SharingMode {
        match mode {
            vk::SharingMode::EXCLUSIVE if !has_maintenance9 => SharingMode::Exclusive,
            _ => SharingMode::Concurrent,
        }
    }

    /// Returns the sharing mode of an image. `usage` must include the stencil usage. With the feature `maintenance9`, some exclusive images need no ownership
    /// transfers.
    pub fn of_image(
        mode: vk::SharingMode,
        tiling: vk::ImageTiling,
        usage: vk::ImageUsageFlags,
        has_maintenance9: bool,
    ) -> SharingMode {
        use vk::ImageUsageFlags as U;
        let attachments = U::COLOR_ATTACHMENT
            | U::DEPTH_STENCIL_ATTACHMENT
            | U::TRANSIENT_ATTACHMENT
            | U::INPUT_ATTACHMENT
            | U::ATTACHMENT_FEEDBACK_LOOP_EXT
            | U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
        match (mode, tiling) {
            (vk::SharingMode::EXCLUSIVE, _) if !has_maintenance9 => SharingMode::Exclusive,
            (vk::SharingMode::EXCLUSIVE, vk::ImageTiling::OPTIMAL) if usage.intersects(attachments) => {
                SharingMode::Exclusive
            }
            (vk::SharingMode::EXCLUSIVE, vk::ImageTiling::OPTIMAL) => SharingMode::ExclusiveUnlessImplicit,
            // The specification does not say whether images with a DRM format modifier are linear.
            _ => SharingMode::Concurrent,
        }
    }
}

/// The mapping of a resource to the bytes of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// A buffer, or a linear image in a layout that the host can access.
    Linear,
    /// A byte range whose tiling is unknown, such as one that earlier work used: `bufferImageGranularity` does not apply to it.
    Unknown,
    /// An image with optimal tiling, with all its subresources (without an area): any of them may occupy any of its bytes.
    Optimal(Texels),
}

/// A part of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourcePart {
    /// Bytes `[first, end)` of a linear resource, relative to the resource's first byte.
    Bytes(u64, u64),
    /// Subresources of an image with optimal tiling, or an area of them.
    Texels(Texels),
}

/// Subresources of an image, or the same area of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texels {
    /// The aspects of the subresources.
    pub aspects: vk::ImageAspectFlags,
    /// The mip levels of the subresources.
    pub levels: Run,
    /// The array layers of the subresources, or the slices of a 3D image.
    pub layers: Run,
    /// The texels along x, y and z; a run that ends at `u32::MAX` includes all texels from its first one. `None` for all texels. Only accesses have
    /// areas, barriers do not.
    pub area: Option<[Run; 3]>,
}

/// One access of a command to one part of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// The resource through which memory is accessed.
    pub resource: ResourceId,
    /// The part of the resource.
    pub part: ResourcePart,
    /// The single pipeline stage that performs the access.
    pub stage: S,
    /// The single access type, which must be one that the stage performs. `NONE` if only the stage is known, as for earlier uses of an
    /// imported resource: it needs an execution dependency with conflicting accesses, and its writes count as available.
    pub access: A,
    /// The kind of access, which determines the region that it touches and its implicit order.
    pub kind: AccessKind,
    /// True for a write that leaves the part undefined: a load or store operation `DONT_CARE`.
    pub discards: bool,
}

/// Kinds of accesses: they touch different regions and have different implicit orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Touches the whole part.
    Whole,
    /// Touches at least one unknown element of the part, like a shader through a descriptor. If it may touch none, the caller has to report findings
    /// about it as only possible.
    Partial,
    /// Draws to an attachment, in rasterization order within its subpass. Touches the whole part.
    Attachment,
    /// A load operation: it happens before other accesses to the attachment in its render pass instance. A load operation that writes may also read and write
    /// back the texels of its subresources outside its area.
    Load,
    /// A store operation: it happens after other accesses to the attachment in its render pass instance, and may also write back the rest of the
    /// subresources.
    Store,
    /// A resolve operation at the end of a subpass: it happens after the draws of that subpass, and touches the same region as a store operation.
    Resolve,
}

/// The two scopes of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DependencyScopes {
    /// The stages of the first synchronization scope.
    pub src: S,
    /// The accesses of the first access scope.
    pub src_access: A,
    /// The stages of the second synchronization scope.
    pub dst: S,
    /// The accesses of the second access scope.
    pub dst_access: A,
}

/// The memory that the access scopes of a dependency are limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyMemory {
    /// No memory: only an execution dependency.
    Execution,
    /// All: a memory barrier.
    All,
    /// Accesses through a part of a resource: a buffer or image memory barrier.
    Part(ResourceId, ResourcePart),
}

/// A layout transition or queue family ownership transfer between the two scopes of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierChange {
    /// The barrier changes nothing.
    None,
    /// Changes the layout; discards the contents if the old layout is `UNDEFINED`.
    Layout {
        /// True if the old layout is `UNDEFINED`.
        discards: bool,
    },
    /// Transfers the resource between queue families: a release on a queue of the first family, an acquire on a queue of the second family. The layout may
    /// change once as part of the transfer. Resources with concurrent sharing are only transferred to and from families outside of the device: any other
    /// barrier for such a resource changes at most its layout, whatever families it names.
    Family {
        /// The queue family that releases.
        from: u32,
        /// The queue family that acquires.
        to: u32,
    },
}

/// A dependency of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The scopes of the dependency.
    pub scopes: DependencyScopes,
    /// The memory that the dependency applies to.
    pub memory: DependencyMemory,
    /// A transition or transfer between the scopes; only with [`DependencyMemory::Part`].
    pub change: BarrierChange,
}

/// A dependency of a render pass object, for all memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassDependency {
    /// The source subpass; `None` for `VK_SUBPASS_EXTERNAL`, commands before the render pass instance.
    pub from: Option<u32>,
    /// The destination subpass; `None` for `VK_SUBPASS_EXTERNAL`, commands after the render pass instance.
    pub to: Option<u32>,
    /// The scopes of the dependency.
    pub scopes: DependencyScopes,
}

/// The layouts of an attachment of a render pass instance, from which its layout transitions follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassAttachment {
    /// The attachment's image; `None` if it is not tracked. The transitions of such an image are not checked, but they still order earlier and later
    /// accesses.
    pub resource: Option<ResourceId>,
    /// The subresources of the attachment.
    pub part: ResourcePart,
    /// The layout before the instance.
    pub initial_layout: ImageLayout,
    /// The subpasses that use the attachment, in order, each with the layout there.
    pub uses: Vec<(u32, ImageLayout)>,
    /// The layout after the instance.
    pub final_layout: ImageLayout,
}

impl PassAttachment {
    /// Returns `true` if a render pass changes the attachment's layout.
    pub fn changes_layout(&self) -> bool {
        let mut layouts = self.uses.iter().map(|(_, layout)| *layout);
        let last = self.final_layout != self.initial_layout;
        last || layouts.any(|layout| layout != self.initial_layout)
    }
}

/// The parts of a render pass object that determine its dependencies and layout transitions, without the implicit ones. Dynamic rendering has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassStructure {
    /// The dependencies, excluding subpass self-dependencies.
    pub dependencies: Vec<PassDependency>,
    /// The attachments. Those that share memory must be created with `VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT`, and are assumed to be.
    pub attachments: Vec<PassAttachment>,
}

/// Bytes of an address space that become undefined without an access, such as tile memory that is no longer bound. Nothing has to be ordered before or after
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discard {
    /// The memory whose bytes become undefined.
    pub memory: MemoryId,
    /// The first byte that becomes undefined.
    pub first: u64,
    /// The byte after the last one that becomes undefined.
    pub end: u64,
    /// True to report defined contents of these bytes, see [`Findings::discarded`](crate::Findings::discarded).
    pub reports_contents: bool,
}

/// A recorded command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// An action command, or the load, store or resolve operations of a subpass. Its accesses are not ordered among each other.
    Action(Vec<MemoryAccess>),
    /// `vkCmdPipelineBarrier2`. Within a render pass instance its scopes are limited to the current subpass.
    Barrier(Vec<Dependency>),
    /// `vkCmdSetEvent2`, with the stages of the first synchronization scope.
    SetEvent(EventId, S),
    /// `vkCmdResetEvent2`.
    ResetEvent(EventId),
    /// `vkCmdWaitEvents2`. The first scopes are those of the dependencies, limited to operations that the events cover.
    WaitEvents(Vec<EventId>, Vec<Dependency>),
    /// Begins a render pass instance with its first subpass: dynamic rendering, or a render pass object. `resumes` is true if it continues the instance that
    /// the queue suspended last.
    BeginRendering {
        /// True for `VK_RENDERING_RESUMING_BIT`.
        resumes: bool,
        /// The dependencies, and the layouts of the attachments.
        pass: Arc<PassStructure>,
    },
    /// Begins the next subpass.
    NextSubpass,
    /// Ends or suspends the render pass instance.
    EndRendering,
    /// Makes bytes of a memory undefined.
    Discard(Discard),
    /// Executes a secondary command buffer.
    Execute(Arc<CommandBuffer>),
}

/// The commands of a command buffer, each with its tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandBuffer {
    /// The commands in the order in which they were recorded.
    pub commands: Vec<(Tag, Command)>,
}

/// A semaphore that a batch waits for or signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SemaphoreUse {
    /// The semaphore that is waited for or signaled.
    pub semaphore: SemaphoreId,
    /// The value of a timeline semaphore; ignored for binary ones.
    pub value: u64,
    /// For a wait, the stages that wait; for a signal, the stages that it covers.
    pub stages: S,
}

/// A `VkSubmitInfo2`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The number of the batch in findings; a command is identified by its batch and its tag.
    pub number: u64,
    /// The queue to which the batch is submitted.
    pub queue: QueueId,
    /// The family of the queue.
    pub family: u32,
    /// Semaphores to wait for.
    pub waits: Vec<SemaphoreUse>,
    /// The command buffers, in order.
    pub command_buffers: Vec<Arc<CommandBuffer>>,
    /// Semaphores to signal.
    pub signals: Vec<SemaphoreUse>,
    /// The fence that is signaled after everything else.
    pub fence: Option<FenceId>,
}

/// A step of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostStep {
    /// `vkQueueSubmit2` with one batch.
    Submit(Batch),
    /// `vkWaitForFences` has returned, or the fence was observed to be signaled.
    WaitFence(FenceId),
    /// `vkResetFences`.
    ResetFence(FenceId),
    /// `vkWaitSemaphores` has returned, or a query returned this value.
    WaitSemaphore(SemaphoreId, u64),
    /// `vkSignalSemaphore`.
    SignalSemaphore(SemaphoreId, u64),
    /// `vkQueueWaitIdle`, or `vkDeviceWaitIdle` with `None`.
    WaitIdle(Option<QueueId>),
    /// The host accesses mapped memory, at [`S::HOST`]; identified by a batch number, which comes first, and a tag.
    Host(u64, Tag, MemoryAccess),
}

/// A whole program: resources, and the steps of the host that submit work and wait for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The resources, by [`ResourceId`].
    pub resources: Vec<Resource>,
    /// `bufferImageGranularity`: a linear and an optimally tiled resource alias whole pages of this many bytes.
    pub granularity: u64,
    /// Timeline semaphores with their initial values; all others are binary.
    pub timelines: Vec<(SemaphoreId, u64)>,
    /// The steps of the host, in order.
    pub steps: Vec<HostStep>,
}
