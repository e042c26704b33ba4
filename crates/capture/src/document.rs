//! Data about a captured frame besides the frame itself: the object `capture` of a frame document.
//!
//! ```json
//! {
//!   "format": "tileheap-frame", "version": 2, "name": "…", "queues": […], "resources": […], "submits": […],
//!   "capture": { "version": 1, "program": "vkcube", "passes": […], "resources": […], "batches": […], "command_buffers": […], … }
//! }
//! ```
//! `tileheap plan`, `advise` and `report` read the frame and skip this object. Indices are those of the frame that the document
//! describes: resources, passes, batches and command buffers in the order in which the document lists them.

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap::frame::SubresourceRange;
pub use tileheap::lower::check::Region;
use tileheap::names;
use tileheap_json::{JsonSyntaxError, is_default};
use tileheap_layer::dependencies;

/// The field of the frame document.
pub const FIELD: &str = "capture";
/// The version that is written.
pub const VERSION: u64 = 1;

/// A captured frame, apart from its passes and accesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    /// [`VERSION`].
    pub version: u64,
    /// The program's file name.
    pub program: String,
    /// `deviceName` of the physical device.
    pub device: String,
    /// The version of Vulkan that the program requested: `1.3.0`.
    pub api_version: String,
    /// The index of the frame in the program, from 0.
    pub frame: u64,
    /// The event that ended it.
    pub border: Border,
    /// Facts of each pass, in the frame's order.
    pub passes: Vec<PassFacts>,
    /// Facts of each resource, in the frame's order.
    pub resources: Vec<ResourceFacts>,
    /// Bytes of the accesses that were followed: those of every access in the frame, reads and writes counted one by one.
    pub followed_bytes: u64,
    /// Accesses that could not be followed, by kind.
    pub unresolved: Vec<Unresolved>,
    /// Waits and signals of each batch, in the frame's order.
    pub batches: Vec<BatchSync>,
    /// The recorded commands of each command buffer, in the frame's order.
    pub command_buffers: Vec<Vec<Command>>,
}

/// The event that ended a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Border {
    /// `vkQueuePresentKHR`.
    #[default]
    Present,
    /// The requested debug label or marker.
    Label,
    /// The requested number of submits.
    Submits,
    /// The signal file disappeared.
    Signal,
    /// The device was destroyed, or lost, or the program ended: the capture has what was recorded until then.
    End,
}

/// Facts about a pass besides its accesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PassFacts {
    /// Draw commands, those of indirect draws counted by their upper limit.
    #[serde(skip_serializing_if = "is_default")]
    pub draws: u64,
    /// The indirect ones among them; their vertices and indices are not known.
    #[serde(skip_serializing_if = "is_default")]
    pub indirect_draws: u64,
    /// Vertices, times instances.
    #[serde(skip_serializing_if = "is_default")]
    pub vertices: u64,
    /// Indices, times instances.
    #[serde(skip_serializing_if = "is_default")]
    pub indices: u64,
    /// Bytes of vertices and indices that the draws fetch, each vertex counted once for each time it is drawn.
    #[serde(skip_serializing_if = "is_default")]
    pub vertex_bytes: u64,
    /// Dispatches.
    #[serde(skip_serializing_if = "is_default")]
    pub dispatches: u64,
    /// Copies, blits, resolves, fills, updates and clears.
    #[serde(skip_serializing_if = "is_default")]
    pub transfers: u64,
    /// The index of its subpass in its render pass; the first pass of an instance has 0.
    #[serde(skip_serializing_if = "is_default")]
    pub subpass: u32,
    /// Whether it continues a dynamic rendering instance that another command buffer suspended.
    #[serde(skip_serializing_if = "is_default")]
    pub resumes: bool,
    /// Whether it has queries, atomics by unresolved accesses, or anything else that forbids running it twice.
    #[serde(skip_serializing_if = "is_default")]
    pub has_side_effects: bool,
}

/// The inferred lifetime of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inferred {
    /// Written before it is read, and not read in the next frame as far as this one shows.
    Transient,
    /// Read before it is written, and written later.
    History,
    /// Never written in the frame, or shared with the outside.
    #[default]
    External,
}

/// Facts about a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceFacts {
    /// Its lifetime.
    pub inferred: Inferred,
    /// The reason, in words.
    pub reason: String,
    /// The memory that the program bound it to, if it was bound.
    #[serde(skip_serializing_if = "is_default")]
    pub memory: Option<Placement>,
    /// Whether the tiling is linear.
    #[serde(skip_serializing_if = "is_default")]
    pub linear: bool,
    /// Whether it is an image of a swapchain.
    #[serde(skip_serializing_if = "is_default")]
    pub swapchain: bool,
}

/// Where a resource is bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The memory object, by its number in the capture.
    pub object: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Size in bytes, as the driver requires.
    pub size: u64,
}

/// Accesses that could not be followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Unresolved {
    /// Why they could not be followed.
    pub kind: UnresolvedKind,
    /// The number of commands that make them.
    pub count: u64,
    /// An upper limit of the bytes they access, if there is one.
    #[serde(skip_serializing_if = "is_default")]
    pub bytes: Option<u64>,
    /// The passes that make them, in order.
    pub passes: Vec<u32>,
    /// The first of them, in words.
    pub first: String,
}

/// Why an access could not be followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnresolvedKind {
    /// By a buffer device address.
    DeviceAddress,
    /// Through a descriptor buffer.
    DescriptorBuffer,
    /// An array of descriptors, any element of which a shader may use.
    BindlessArray,
    /// A shader that was not understood, or that the layer has not seen: binary shader objects, pipelines that come only from a cache.
    Shader,
    /// Acceleration structures and ray tracing.
    RayTracing,
    /// Video sessions.
    Video,
    /// Sparse memory, device generated commands, memory owned by others: a command that the layer does not follow.
    #[default]
    Command,
    /// A descriptor, a view or a resource that the layer has not seen created.
    UnknownObject,
}

impl UnresolvedKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            UnresolvedKind::DeviceAddress => "buffer device addresses",
            UnresolvedKind::DescriptorBuffer => "descriptor buffers",
            UnresolvedKind::BindlessArray => "arrays of descriptors indexed in shaders",
            UnresolvedKind::Shader => "shaders that were not understood",
            UnresolvedKind::RayTracing => "ray tracing",
            UnresolvedKind::Video => "video",
            UnresolvedKind::Command => "commands that are not followed",
            UnresolvedKind::UnknownObject => "objects that were not seen created",
        }
    }
}

/// The semaphores of a batch, in the order given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchSync {
    /// The semaphores that it waits for.
    #[serde(skip_serializing_if = "is_default")]
    pub waits: Vec<SemaphoreUse>,
    /// The semaphores that it signals.
    #[serde(skip_serializing_if = "is_default")]
    pub signals: Vec<SemaphoreUse>,
    /// Batches of the frame that the host knew to be complete when it submitted this one, with all before them on their queues.
    #[serde(skip_serializing_if = "is_default")]
    pub completed: Vec<u32>,
    /// The queue family that runs it.
    #[serde(skip_serializing_if = "is_default")]
    pub family: u32,
}

/// A semaphore as the program submitted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SemaphoreUse {
    /// Its number in the capture: the same semaphore has the same number.
    pub semaphore: u32,
    /// The value, for a timeline semaphore; 0 for a binary one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub value: u64,
    /// The stages that wait, or whose completion is signalled.
    #[serde(with = "names::bits")]
    pub stages: vk::PipelineStageFlags2,
}

/// A recorded command that accesses or synchronizes, in recording order; those of secondary command buffers appear where they are executed.
///
/// What a render pass object does implicitly is written out: its dependencies (implied ones too) and layout transitions are barriers
/// before, between and after its passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command<R = u32> {
    /// The accesses of a pass happen here.
    Pass {
        /// The pass.
        pass: u32,
        /// The layout in which each of its accesses finds the image, in the frame's order; `None` for buffers.
        layouts: Vec<Option<Layout>>,
        /// The store operation of each of its accesses; `None` for accesses that are not attachments.
        #[serde(default)]
        stores: Vec<Option<Store>>,
        /// The regions that each of its accesses is confined to: render areas, the regions of copies; empty for its whole range.
        #[serde(default)]
        regions: Vec<Vec<Region>>,
    },
    /// A pipeline barrier, or what a render pass does as one.
    Barrier(Vec<Dependency<R>>),
    /// An event is set.
    SetEvent {
        /// Its number in the capture.
        event: u32,
        /// The first scope; the second one is the wait's where it is of the first kind (`vkCmdSetEvent`).
        dependencies: Vec<Dependency<R>>,
    },
    /// An event is reset.
    ResetEvent {
        /// Its number in the capture.
        event: u32,
        /// The stages after which it is reset.
        #[serde(with = "names::bits")]
        stages: vk::PipelineStageFlags2,
    },
    /// Events are waited for.
    WaitEvents {
        /// Their numbers in the capture.
        events: Vec<u32>,
        /// The dependencies that they define.
        dependencies: Vec<Dependency<R>>,
    },
}

/// An image layout by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Layout(#[serde(with = "names::value")] pub vk::ImageLayout);

/// A store operation by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Store(#[serde(with = "names::value")] pub vk::AttachmentStoreOp);

/// One memory dependency. `R` identifies a resource, by its index unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dependency<R = u32> {
    /// First scope.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub src_stages: vk::PipelineStageFlags2,
    /// Accesses made available.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub src_access: vk::AccessFlags2,
    /// Second scope.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub dst_stages: vk::PipelineStageFlags2,
    /// Accesses that it is made visible to.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub dst_access: vk::AccessFlags2,
    /// The memory.
    pub memory: Memory<R>,
    /// Whether the memory belongs to the other one of two alternating resources: the one that the previous frame wrote.
    #[serde(default, skip_serializing_if = "is_default")]
    pub previous: bool,
    /// Queue families of a transfer of ownership.
    #[serde(default, skip_serializing_if = "is_default")]
    pub families: Option<[u32; 2]>,
}

/// The memory of a dependency.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory<R = u32> {
    /// None: an execution dependency, or one of a resource that the frame does not access.
    #[default]
    None,
    /// All: a global memory barrier.
    All,
    /// Of a buffer.
    Buffer {
        /// The buffer.
        resource: R,
        /// First byte.
        offset: u64,
        /// Number of bytes; `None` for everything from the offset on.
        #[serde(default, skip_serializing_if = "is_default")]
        size: Option<u64>,
    },
    /// Of an image; a transition where the layouts differ.
    Image {
        /// The image.
        resource: R,
        /// The part of it; omitted fields mean everything.
        #[serde(default, skip_serializing_if = "is_default")]
        part: SubresourceRange,
        /// The layout before.
        #[serde(with = "names::value")]
        old: vk::ImageLayout,
        /// The layout after.
        #[serde(with = "names::value")]
        new: vk::ImageLayout,
    },
}

impl<R> Dependency<R> {
    /// A dependency of all memory.
    pub(crate) fn global(one: &dependencies::Dependency) -> Dependency<R> {
        Dependency {
            src_stages: one.src,
            src_access: one.src_access,
            dst_stages: one.dst,
            dst_access: one.dst_access,
            memory: Memory::All,
            previous: false,
            families: None,
        }
    }

    /// The same dependency with its resource renamed by `name`, which also says whether that is the previous one; an execution dependency
    /// if the resource has no other name.
    pub(crate) fn renamed<T>(&self, name: &impl Fn(&R) -> Option<(T, bool)>) -> Dependency<T> {
        let mut previous = false;
        let mut name = |resource| {
            let (named, is_previous) = name(resource)?;
            previous = is_previous;
            Some(named)
        };
        let named = match &self.memory {
            Memory::None => None,
            Memory::All => Some(Memory::All),
            Memory::Buffer {
                resource,
                offset,
                size,
            } => name(resource).map(|resource| Memory::Buffer {
                resource,
                offset: *offset,
                size: *size,
            }),
            Memory::Image {
                resource,
                part,
                old,
                new,
            } => name(resource).map(|resource| Memory::Image {
                resource,
                part: *part,
                old: *old,
                new: *new,
            }),
        };
        Dependency {
            memory: named.unwrap_or(Memory::None),
            previous,
            src_stages: self.src_stages,
            src_access: self.src_access,
            dst_stages: self.dst_stages,
            dst_access: self.dst_access,
            families: self.families,
        }
    }
}

impl Capture {
    /// The object of a frame document, if it has one.
    ///
    /// # Errors
    /// The position where the text is not JSON, or where the object does not have this form.
    pub fn from_json(text: &str) -> Result<Option<Capture>, JsonSyntaxError> {
        #[derive(Deserialize)]
        struct Document {
            capture: Option<Capture>,
        }
        tileheap_json::parse(text).map(|document: Document| document.capture)
    }

    /// The share of the accessed bytes that was followed, from 0 to 1; `None` if something was not followed whose size is unknown.
    pub fn followed(&self) -> Option<f64> {
        let mut unresolved = 0u64;
        for one in &self.unresolved {
            unresolved = unresolved.saturating_add(one.bytes?);
        }
        let all = self.followed_bytes.saturating_add(unresolved);
        Some(if all == 0 {
            1.0
        } else {
            self.followed_bytes as f64 / all as f64
        })
    }
}
